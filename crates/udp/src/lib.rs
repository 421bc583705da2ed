//! UDP sockets for Backspin nodes.
