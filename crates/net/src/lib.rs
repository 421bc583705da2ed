//! Netcode for fast games over UDP: the pure stack.
//!
//! The path of a datagram is the list of modules, from the outside in:
//!
//! ```text
//! socket -> wire -> session -> channel -> replica -> game        in
//! socket <- wire <- session <- channel <- replica <- game        out
//! ```
//!
//! Nothing here owns a clock, a socket, a thread or chance: time and seeds are arguments.
//! A real socket loop and the simulator drive the very same objects.
//!
//! To write a game of your own, begin with the [`guide`].
#![forbid(unsafe_code)]
// With a dialect switched off, what the others share with it has fewer users; the full build is
// the one that must be tight.
#![cfg_attr(
    not(all(feature = "lan", feature = "rtype")),
    allow(dead_code, irrefutable_let_patterns, unused_imports, unused_variables)
)]

pub mod channel;
pub mod client;
pub mod clock;
pub mod dot;
pub mod finder;
pub mod front;
pub mod game;
pub mod guide;
pub mod host;
pub mod local;
pub mod matching;
pub mod node;
pub mod record;
pub mod replica;
pub mod room;
pub mod sabotage;
pub mod server;
pub mod session;
pub mod sim;
pub mod time;
pub mod wire;

/// The game in the README compiles, and plays.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;
