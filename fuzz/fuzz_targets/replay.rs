//! A match replay with right checksums and any frames: shown or refused, in bounded memory.
//!
//! How the input is read, and the checks, are the tests' own, where the seeds run, too.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/net/tests/counting/mod.rs"]
mod counting;
#[path = "../../crates/record/tests/hostile_file/mod.rs"]
mod hostile_file;

fuzz_target!(|data: &[u8]| {
    let _ = hostile_file::replay(data, counting::bytes_in_use);
});
