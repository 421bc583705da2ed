//! Our clients in the old dialects: drawing by arrival time, and predicting without
//! acknowledgements.

mod hosts;
mod scene;
mod servers;
