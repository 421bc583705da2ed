//! R-Type as whoever has read only document 004 plays it: our server, and players of literal bytes.

#[allow(dead_code, reason = "streams are another dialect's")]
#[path = "../../../net/tests/scripts/desk.rs"]
mod desk;
mod door;
mod inputs;
mod snapshots;
mod table;
