//! R-Type in the `rtype` dialect as another program meets it: the built server, plain sockets and
//! literal bytes.
//!
//! ```text
//! server     -> a running `backspin serve`
//! player     -> a scripted client: the TCP step, datagrams, and what it was told
//! joining    -> token, HelloAck, State, Roster, LobbyStatus; without a token
//! playing    -> lobby, countdown, a match: kills, scores, lives; pings; 60 states a second
//! net_log    -> what is written down of the line
//! returning  -> silence, the drop, and the way back with the token
//! strangers  -> what gets silence and changes nothing
//! ```
#![cfg(unix)]

mod joining;
mod net_log;
mod player;
mod playing;
mod returning;
#[path = "../server/mod.rs"]
mod server;
mod strangers;
