//! Netcode for fast games over UDP: the pure stack.
//!
//! The path of a datagram is the list of modules, from the outside in:
//!
//! ```text
//! udp -> wire -> endpoint -> session -> channel -> room -> game              an input, to the server
//! udp -> wire -> client -> session -> replication -> timing -> game          a snapshot, to the screen
//! ```
//!
//! Nothing here owns a clock, a socket, a thread or chance: time and seeds are arguments.
//! A real socket loop and the simulator drive the very same objects.
//!
//! To write a game of your own, begin with the [`guide`].
#![forbid(unsafe_code)]

pub mod channel;
pub mod chat;
pub mod client;
pub mod dialect;
pub mod endpoint;
pub mod finder;
pub mod game;
pub mod guide;
pub mod host;
pub mod local;
pub mod matching;
pub mod node;
pub mod peer;
pub mod replication;
pub mod room;
#[doc(hidden)]
pub mod sabotage;
pub mod server;
pub mod session;
pub mod time;
pub mod timing;
pub mod typed;
pub mod wire;

// What the derives write names the crate so, also within it.
extern crate self as backspin;

// The unit tests draw from the simulator's chance and play its game. They are compiled into the tests, since the
// crate that has them is built on this one.
#[cfg(test)]
#[path = "../../sim/src/chance.rs"]
#[allow(dead_code, missing_docs, unreachable_pub, reason = "whole in its own crate")]
mod chance;
#[cfg(test)]
#[path = "../../sim/src/dot.rs"]
#[allow(dead_code, missing_docs, unreachable_pub, reason = "whole in its own crate")]
mod dot;

/// The game in the README compiles, and plays.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;
