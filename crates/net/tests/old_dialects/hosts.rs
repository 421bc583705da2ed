//! Against hosts that are not ours.
