//! `backspin serve --http` as an operator meets it: the built binary, and requests written by hand.
#![cfg(unix)]

mod commands;
mod metrics;
mod reading;
mod server;
mod strangers;
