//! A hostile peer that scripts whole sessions against a server on which others play: it moves no
//! one's dot, learns no one's ticket, ends no one's session, and costs no more than it may.
//!
//! The script, the honest players and the checks are the tests' own, where the seeds run, too.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/net/tests/counting/mod.rs"]
mod counting;
#[path = "../../crates/net/tests/hostile/mod.rs"]
mod hostile;

fuzz_target!(|data: &[u8]| {
    hostile::play(data, hostile::Extent::SHORT, counting::bytes_in_use);
});
