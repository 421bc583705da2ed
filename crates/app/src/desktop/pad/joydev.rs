//! Gamepads as files: Linux's joystick devices.
//!
//! One thread per pad waits for its reports; another looks for new pads.

use std::fs::File;
use std::io::Read;
use std::sync::mpsc::Sender;
use std::thread;

use super::{ANYONE, EVERY, MAX_PADS, Report, Word};

/// Bytes of a report.
const REPORT_LEN: usize = 8;

/// Looks for pads for as long as someone listens.
pub(super) fn watch(words: &Sender<Word>) {
    let mut readers: [Option<thread::JoinHandle<()>>; MAX_PADS] = Default::default();
    while words.send(ANYONE).is_ok() {
        for (number, reader) in readers.iter_mut().enumerate() {
            reader.take_if(|it| it.is_finished());
            if reader.is_none()
                && let Ok(file) = File::open(format!("/dev/input/js{number}"))
            {
                let words = words.clone();
                *reader = Some(thread::spawn(move || report(file, number, &words)));
            }
        }
        thread::sleep(EVERY);
    }
}

/// Passes on a pad's reports until it is unplugged.
fn report(mut file: impl Read, number: usize, words: &Sender<Word>) {
    let mut bytes = [0; REPORT_LEN];
    while file.read_exact(&mut bytes).is_ok() {
        let Some(report) = decode(bytes) else { continue };
        if words.send((number, Some(report))).is_err() {
            return;
        }
    }
    let _ = words.send((number, None));
}

/// A report as the device's file has it.
///
/// ```text
/// 0         4       6      7        8
/// | time    | value | kind | number |     little endian on every machine with such a device
/// ```
fn decode(bytes: [u8; REPORT_LEN]) -> Option<Report> {
    const BUTTON: u8 = 1;
    const AXIS: u8 = 2;
    /// How it was when the device was opened.
    const FIRST: u8 = 0x80;
    let [_, _, _, _, low, high, kind, number] = bytes;
    let value = i16::from_ne_bytes([low, high]);
    match kind & !FIRST {
        BUTTON => Some(Report::Button { number, down: value != 0 }),
        AXIS => Some(Report::Axis { number, value }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    fn bytes(kind: u8, number: u8, value: i16) -> [u8; REPORT_LEN] {
        let [low, high] = value.to_ne_bytes();
        [1, 2, 3, 4, low, high, kind, number]
    }

    #[test]
    fn how_it_was_at_first_counts_and_what_is_unknown_does_not() {
        let down = Report::Button { number: 3, down: true };
        assert_eq!(decode(bytes(1, 3, 1)), Some(down));
        assert_eq!(decode(bytes(0x81, 3, 1)), Some(down));
        assert_eq!(decode(bytes(2, 1, -9)), Some(Report::Axis { number: 1, value: -9 }));
        assert_eq!(decode(bytes(4, 3, 1)), None);
    }

    #[test]
    fn a_file_that_ends_is_a_pad_that_was_unplugged() {
        let (sender, words) = mpsc::channel();
        let mut reports = bytes(1, 0, 1).to_vec();
        reports.extend(bytes(2, 1, 32_767));
        // The last report is cut off.
        reports.extend([0; 3]);
        report(&reports[..], 1, &sender);
        let button = Report::Button { number: 0, down: true };
        let axis = Report::Axis { number: 1, value: 32_767 };
        let told: Vec<Word> = words.try_iter().collect();
        assert_eq!(told, [(1, Some(button)), (1, Some(axis)), (1, None)]);
    }
}
