//! R-Type sessions.

mod board;
mod client;
mod reassembler;

pub use client::RtypeClient;
