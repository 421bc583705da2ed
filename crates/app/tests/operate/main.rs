//! A server as its operator runs it: settings, signals, load, results.
#![cfg(unix)]

#[path = "../server/mod.rs"]
mod server;

mod guests;
mod load;
mod results;
mod settings;
