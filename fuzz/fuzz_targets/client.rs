//! A client in every dialect against a hostile server: it does not panic, answers little, never
//! plays back in time, keeps bounded memory, and ends only with a reason.
//!
//! The script and the checks are the tests' own, where the seeds run, too.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/net/tests/counting/mod.rs"]
mod counting;
#[path = "../../crates/net/tests/hostile_server/mod.rs"]
mod hostile_server;

fuzz_target!(|data: &[u8]| {
    hostile_server::play(data, counting::bytes_in_use);
});
