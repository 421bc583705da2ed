//! Sessions scripted in literal bytes: one machine of ours, and a peer that is nothing but what
//! stands here.

mod bans;
mod client;
mod desk;
mod guests;
mod limits;
#[path = "../manned/mod.rs"]
mod manned;
mod proofs;
mod rewind;
mod server;
