//! Our clients in the dialects of others: drawing by arrival time, and predicting without
//! acknowledgements or, in `ack`, with them.

mod acks;
mod hosts;
mod scene;
mod servers;
