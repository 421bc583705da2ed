//! Parts of the stack over simulated links, each by itself.

mod arrival;
mod messages;
mod retry;
