//! Networked Pong.

mod client;
mod probe;

pub use client::LanClient;
pub use probe::probe;
