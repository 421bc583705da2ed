//! A capture file, from the outside in: its `file` format holds frames, a [`frame`]'s link, network and
//! transport headers
//! hold a payload, and TCP segments make a [`stream`].
//!
//! Captures are untrusted: nothing here trusts a length, and memory is bounded. The fuzz target `pcap` is
//! built from these
//! files and the ones that they use.

mod file;
pub(super) mod frame;
mod stream;

use std::error::Error;
use std::io::{self, BufRead, Write};

use super::decode;
use super::print::{Place, Printer, Transport};
use super::summary::Summary;
use file::{Capture, Frame};
use frame::{Carried, Path, Skip};
use stream::{Found, Streams};

/// Prints every packet of the capture `input`, which people know as `name`, and the summary.
pub(super) fn inspect(
    name: &str,
    input: impl BufRead,
    printer: &mut Printer<impl Write>,
) -> Result<(), Box<dyn Error>> {
    let mut capture = Capture::open(input).map_err(|error| format!("{name}: {error}"))?;
    let mut inspection = Inspection::new(printer);
    // What a damaged capture holds before the damage is shown all the same.
    let damage = loop {
        match capture.next_frame() {
            Ok(Some(frame)) => inspection.handle_frame(&frame)?,
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
    };
    let summary = inspection.finish()?;
    if !printer.is_json() {
        summary.print(&mut printer.out)?;
    }
    match (damage, summary.packets(), summary.malformed()) {
        (Some(error), _, _) => Err(format!("{name}: {error}").into()),
        (None, 0, 0) => Err(format!("{name} has no UDP datagrams and no rtype streams").into()),
        (None, 0, _) => Err(format!("{name} has no lan, rtype or native packets").into()),
        _ => Ok(()),
    }
}

/// A capture on its way through the decoder to the printer and the summary.
struct Inspection<'a, W> {
    printer: &'a mut Printer<W>,
    summary: Summary,
    streams: Streams,
    first_ns: Option<i128>,
    last_seconds: Option<f64>,
}

impl<'a, W: Write> Inspection<'a, W> {
    fn new(printer: &'a mut Printer<W>) -> Self {
        let (summary, streams) = Default::default();
        Inspection { printer, summary, streams, first_ns: None, last_seconds: None }
    }

    fn handle_frame(&mut self, frame: &Frame<'_>) -> io::Result<()> {
        let first_ns = self.first_ns.or(frame.at_ns);
        self.first_ns = first_ns;
        let since = frame.at_ns.zip(first_ns).map(|(at, first)| (at - first) as f64 / 1e9);
        self.last_seconds = since;
        match frame::open(frame.link, frame.bytes) {
            Ok(Carried::Datagram { path, payload }) => {
                let found = decode::datagram(payload);
                let found = found.map_err(|error| (error, payload.len()));
                self.handle_found(found, Place { seconds: since, path, transport: Transport::Udp })
            }
            Ok(Carried::Segment { path, segment }) => {
                let mut all = Vec::new();
                let ours = self
                    .streams
                    .handle_segment(path, &segment, &mut |path, found| all.push((path, found)));
                if !ours {
                    self.summary.skip(Skip::Other);
                }
                self.handle_messages(all)
            }
            Err(skip) => {
                self.summary.skip(skip);
                Ok(())
            }
        }
    }

    fn handle_messages(&mut self, all: Vec<(Path, Found)>) -> io::Result<()> {
        let (seconds, transport) = (self.last_seconds, Transport::Tcp);
        all.into_iter().try_for_each(|(path, found)| {
            self.handle_found(found, Place { seconds, path, transport })
        })
    }

    fn handle_found(&mut self, found: Found, place: Place) -> io::Result<()> {
        match found {
            Ok(packet) => {
                self.summary.packet(&packet, &place);
                self.printer.packet(&packet, Some(&place))
            }
            Err((error, len)) => {
                self.summary.no_packet(&error, len);
                self.printer.no_packet(&error, len, Some(&place))
            }
        }
    }

    fn finish(mut self) -> io::Result<Summary> {
        let mut all = Vec::new();
        self.streams.finish(&mut |path, found| all.push((path, found)));
        self.handle_messages(all)?;
        Ok(self.summary)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::super::hex;
    use super::super::print::Style;
    use super::*;

    /// Ethernet, IPv4 and UDP around an rtype HelloAck; and a TCP segment with a TcpWelcome.
    const UDP: &str = "020202020202 020202020202 0800 \
        45 00 0020 0001 0000 40 11 0000 c0000201 c0000207 1092 c3cb 000c 0000 00000201";
    const TCP: &str = "020202020202 020202020202 86dd \
        60000000 0018 06 40 20010db8000000000000000000000001 20010db8000000000000000000000007 \
        1093 c3cb 00000001 00000000 50 10 0100 0000 0000 00006401";

    const PCAP_HEAD: &str = "d4c3b2a1 0200 0400 00000000 00000000 00000400 01000000";
    const SECTION: &str = "0a0d0d0a 1c000000 4d3c2b1a 0100 0000 ffffffffffffffff 1c000000";
    const INTERFACE: &str = "01000000 1c000000 0100 0000 00000000 0900 0100 09000000 1c000000";

    fn pcap() -> Vec<u8> {
        let record = |len, frame: &str| format!("00000000 00000000 {len} {len} {frame}");
        let (udp, tcp) = (record("2e000000", UDP), record("4e000000", TCP));
        bytes(&format!("{PCAP_HEAD} {udp} {tcp}"))
    }

    fn pcapng() -> Vec<u8> {
        let packet = |len, caught, frame: &str| {
            format!(
                "06000000 {len} 00000000 00000000 00000000 {caught} {caught} {frame} 0000 {len}"
            )
        };
        let udp = packet("50000000", "2e000000", UDP);
        let tcp = packet("70000000", "4e000000", TCP);
        bytes(&format!("{SECTION} {INTERFACE} {udp} {tcp}"))
    }

    fn bytes(text: &str) -> Vec<u8> {
        hex::parse(text).expect("hexadecimal")
    }

    /// How many lines of JSON a capture gives, and why it failed.
    fn lines(capture: &[u8]) -> (usize, Option<String>) {
        let mut printer = Printer::new(Vec::new(), Style::Json);
        let done = inspect("it", capture, &mut printer);
        let lines = printer.out.iter().filter(|&&byte| byte == b'\n').count();
        (lines, done.err().map(|error| error.to_string()))
    }

    #[test]
    fn every_truncation_gives_packets_or_a_sentence() {
        for capture in [pcap(), pcapng()] {
            assert_eq!(lines(&capture), (2, None));
            for len in 0..capture.len() {
                let (lines, error) = lines(&capture[..len]);
                assert!(lines <= 1 && (lines == 1 || error.is_some()), "{len}: {lines}, {error:?}");
            }
        }
    }

    #[test]
    fn every_changed_byte_gives_packets_or_a_sentence() {
        for capture in [pcap(), pcapng()] {
            for at in 0..capture.len() {
                for value in 0..=255 {
                    let mut changed = capture.clone();
                    changed[at] = value;
                    let (lines, error) = lines(&changed);
                    assert!(lines > 0 || error.is_some(), "{at}: {value}");
                }
            }
        }
    }

    #[test]
    fn noise_behind_a_good_head_gives_packets_or_a_sentence() {
        let mut state = 1_u64;
        for round in 0..20_000 {
            let mut capture = if round % 2 == 0 { pcap() } else { pcapng() };
            for _ in 0..1 + round % 8 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let at = 4 + (state >> 33) as usize % (capture.len() - 4);
                capture[at] = (state >> 25) as u8;
            }
            let (lines, error) = lines(&capture);
            assert!(lines > 0 || error.is_some(), "round {round}");
        }
    }

    #[test]
    fn every_seed_of_the_fuzz_target_is_a_capture_and_together_they_have_both_transports() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/pcap");
        let (mut transports, mut kinds) = (HashSet::new(), HashSet::new());
        for file in folder.read_dir().expect("the seeds") {
            let bytes = std::fs::read(file.expect("a file").path()).expect("a seed");
            assert!(matches!(lines(&bytes), (1.., None)), "{:?}", lines(&bytes));
            kinds.insert(bytes[..4].to_vec());
            let mut printer = Printer::new(Vec::new(), Style::Short);
            inspect("it", &bytes[..], &mut printer).expect("a capture");
            transports.insert(String::from_utf8_lossy(&printer.out).contains("(tcp)"));
        }
        assert_eq!((transports.len(), kinds.len()), (2, 3), "little, big and next generation");
    }

    #[test]
    fn a_section_has_so_many_interfaces_and_no_more() {
        let with = |interfaces: usize| {
            let tail = pcapng().split_off(28 + 28);
            [bytes(SECTION), bytes(INTERFACE).repeat(interfaces), tail].concat()
        };
        assert_eq!(lines(&with(file::MAX_INTERFACES)), (2, None));
        let damaged = Some("it: it is damaged from there on".to_owned());
        assert_eq!(lines(&with(file::MAX_INTERFACES + 1)), (0, damaged));
    }

    #[test]
    fn a_packet_is_so_long_and_no_longer() {
        let record = |len: u32| {
            let mut capture = bytes(&format!("{PCAP_HEAD} 0000000000000000"));
            capture.extend([len.to_le_bytes(); 2].concat());
            capture.extend(bytes(UDP));
            capture.resize(24 + 16 + len as usize, 0);
            lines(&capture)
        };
        assert_eq!(record(file::MAX_BLOCK_LEN), (1, None));
        assert!(record(file::MAX_BLOCK_LEN + 1).1.is_some_and(|error| error.contains("524289")));
    }

    #[test]
    fn a_block_of_another_kind_may_be_as_long_as_it_likes() {
        let mut capture = bytes(SECTION);
        let len = 3 * file::MAX_BLOCK_LEN;
        capture.extend(bytes("aa0a0000"));
        capture.extend(len.to_le_bytes());
        capture.resize(28 + len as usize, 0);
        capture.extend(&pcapng()[28..]);
        assert_eq!(lines(&capture), (2, None));
    }
}
