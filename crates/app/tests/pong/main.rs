//! `backspin pong` as players and other programs meet it: the built binary on real sockets.
//!
//! ```text
//! program    -> a running backspin: what it prints, what it is told
//! lan        -> the datagrams of Networked Pong, byte by byte
//! field      -> its rules, written a second time
//! endings    -> what goes wrong, and what is said then
//! lan_guest  -> a scripted guest plays against our host
//! lan_host   -> a scripted host plays against our guest
//! scenarios  -> the six of Networked Pong's report
//! native     -> matches between our own programs
//! net_log    -> what happens on the line, in the documents' words
//! rooms      -> rooms of a server
//! rhythm     -> when states leave; measured, not judged
//! ```
#![cfg(unix)]

mod endings;
mod field;
mod lan;
mod lan_guest;
mod lan_host;
mod native;
mod net_log;
mod program;
mod rhythm;
mod rooms;
mod scenarios;
#[path = "../server/mod.rs"]
mod server;

/// What the programs play.
const GAME: &str = "pong";

/// Both scores of an event.
fn score(event: &serde_json::Value) -> [u64; 2] {
    ["p1_score", "p2_score"].map(|name| event[name].as_u64().unwrap())
}
