//! Sessions scripted in literal bytes: one machine of ours, and a peer that is nothing but what
//! stands here.

mod client;
mod desk;
mod limits;
mod rewind;
mod server;
