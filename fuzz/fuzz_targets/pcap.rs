//! Any bytes as a capture, pcap or pcapng: packets or a sentence, the same however the bytes come,
//! and no more output than the input is worth.
//!
//! The reader is the one of `backspin inspect`, file by file: it is in a binary, which nobody can
//! depend on.
#![no_main]
#![allow(dead_code, reason = "the rest of the command is not here")]

use std::io::{BufRead, BufReader};

use libfuzzer_sys::fuzz_target;
use print::{Printer, Style};

#[path = "../../crates/app/src/tools/inspect/capture/mod.rs"]
mod capture;
#[path = "../../crates/net/tests/counting/mod.rs"]
mod counting;
#[path = "../../crates/app/src/tools/inspect/decode.rs"]
mod decode;
#[path = "../../crates/app/src/tools/inspect/print.rs"]
mod print;
#[path = "../../crates/app/src/tools/inspect/sequence.rs"]
mod sequence;
#[path = "../../crates/app/src/tools/inspect/summary.rs"]
mod summary;

/// Bytes of output for a byte of input: LZ4 makes 255 of one, and each of them a number.
const OUTPUT: usize = 4096;

/// The head of the table, and what a sentence takes.
const BESIDE: usize = 64 * 1024;

fuzz_target!(|data: &[u8]| {
    let (json, error) = inspect(data, data, Style::Json);
    let lines = json.split_inclusive(|&byte| byte == b'\n');
    let mut count = 0;
    for line in lines {
        count += 1;
        let parsed = serde_json::from_slice::<serde_json::Value>(line);
        assert!(parsed.is_ok_and(|value| value.is_object()), "{}", String::from_utf8_lossy(line));
    }
    assert!(count > 0 || error.is_some(), "neither packets nor a sentence");
    let slow = BufReader::with_capacity(1, data);
    assert_eq!(inspect(data, slow, Style::Json), (json, error.clone()));
    assert_eq!(inspect(data, data, Style::Short).1, error);
    assert_eq!(inspect(data, data, Style::Full).1, error);
});

/// What is printed, and why there is no more.
fn inspect(data: &[u8], input: impl BufRead, style: Style) -> (Vec<u8>, Option<String>) {
    let before = counting::bytes_in_use();
    let mut printer = Printer::new(Vec::new(), style);
    let error = capture::inspect("it", input, &mut printer).err().map(|error| error.to_string());
    assert!(printer.out.len() <= OUTPUT * data.len() + BESIDE, "{} bytes", printer.out.len());
    let kept = counting::bytes_in_use() - before - printer.out.capacity() as isize;
    assert!(kept <= 1024, "{kept} bytes are kept");
    (printer.out, error)
}
