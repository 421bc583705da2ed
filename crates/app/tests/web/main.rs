//! `backspin serve --http` as an operator meets it: the built binary, and requests written by hand.
#![cfg(unix)]

mod commands;
mod metrics;
#[path = "../server/mod.rs"]
mod process;
mod reading;
mod server;
mod strangers;
