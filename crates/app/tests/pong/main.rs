//! `backspin pong` as players and other programs meet it: the built binary on real sockets.
//!
//! ```text
//! program    -> a running backspin: what it prints, what it is told
//! lan        -> the datagrams of Networked Pong, byte by byte
//! field      -> its rules, written a second time
//! lan_guest  -> a scripted guest plays against our host
//! lan_host   -> a scripted host plays against our guest
//! scenarios  -> the six of Networked Pong's report
//! native     -> matches between our own programs
//! refusals   -> what goes wrong, and what is said then
//! rhythm     -> when states leave; measured, not judged
//! ```
#![cfg(unix)]

mod field;
mod lan;
mod lan_guest;
mod lan_host;
mod native;
mod program;
mod refusals;
mod rhythm;
mod scenarios;
