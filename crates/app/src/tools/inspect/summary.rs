//! The summary of a capture: packets by type, malformed and skipped packets, and loss and reordering of every
//! sender.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

use super::capture::frame::{Path, Skip};
use super::decode::{Decoded, NoPacket, Numbered};
use super::print::{Place, Transport, counted};
use super::sequence::Sequence;

/// The most counts that are kept.
const MAX_FLOWS: usize = 4096;

/// What a capture held so far.
#[derive(Default)]
pub(super) struct Summary {
    packets: BTreeMap<(&'static str, &'static str, Transport), Tally>,
    malformed: BTreeMap<&'static str, Tally>,
    skipped: BTreeMap<Skip, u64>,
    flows: HashMap<(Path, &'static str), usize>,
    /// In the order in which they began.
    sequences: Vec<(Path, &'static str, Sequence)>,
    untracked: u64,
    last_seconds: f64,
}

#[derive(Clone, Copy, Default)]
struct Tally {
    count: u64,
    bytes: u64,
}

impl Tally {
    fn add(&mut self, len: usize) {
        self.count += 1;
        self.bytes += len as u64;
    }

    fn sum<'a>(tallies: impl Iterator<Item = &'a Tally>) -> Tally {
        tallies.fold(Tally::default(), |sum, tally| Tally {
            count: sum.count + tally.count,
            bytes: sum.bytes + tally.bytes,
        })
    }
}

impl Summary {
    pub(super) fn packet(&mut self, packet: &Decoded, place: &Place) {
        let key = (packet.dialect, packet.name, place.transport);
        self.packets.entry(key).or_default().add(packet.len);
        self.last_seconds = place.seconds.unwrap_or(0.0).max(self.last_seconds);
        if let Some(numbered) = packet.numbered {
            self.number(numbered, place.path);
        }
    }

    pub(super) fn no_packet(&mut self, error: &NoPacket, len: usize) {
        self.malformed.entry(error.reason()).or_default().add(len);
    }

    pub(super) fn skip(&mut self, skip: Skip) {
        *self.skipped.entry(skip).or_default() += 1;
    }

    /// How many packets there were.
    pub(super) fn packets(&self) -> u64 {
        Tally::sum(self.packets.values()).count
    }

    /// How many payloads were no packet.
    pub(super) fn malformed(&self) -> u64 {
        Tally::sum(self.malformed.values()).count
    }

    /// Prints everything.
    pub(super) fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let Tally { count, bytes } = Tally::sum(self.packets.values());
        let seconds = self.last_seconds;
        let (packets, bytes) = (counted(count, "packet"), counted(bytes, "byte"));
        writeln!(out, "\n{packets}, {bytes}, {seconds:.3} s")?;
        self.print_packets(out)?;
        self.print_sequences(out)?;
        self.print_malformed(out)?;
        self.print_skipped(out)
    }

    fn number(&mut self, Numbered { count, number }: Numbered, path: Path) {
        if let Some(&flow) = self.flows.get(&(path, count)) {
            self.sequences[flow].2.see(number);
        } else if self.sequences.len() < MAX_FLOWS {
            self.flows.insert((path, count), self.sequences.len());
            self.sequences.push((path, count, Sequence::new(number)));
        } else {
            self.untracked += 1;
        }
    }

    fn print_packets(&self, out: &mut impl Write) -> io::Result<()> {
        let rows = self.packets.iter().map(|(&(dialect, name, transport), tally)| {
            let name = format!("{name}{}", transport.mark());
            [dialect.to_owned(), name, tally.count.to_string(), tally.bytes.to_string()]
        });
        print_table(out, ["dialect", "packet", "count", "bytes"], rows.collect(), 2)
    }

    fn print_sequences(&self, out: &mut impl Write) -> io::Result<()> {
        let rows = self.sequences.iter().map(|(Path { from, to }, count, sequence)| {
            let figures = sequence.figures();
            let loss = 100.0 * figures.lost as f64 / figures.sent as f64;
            [
                format!("{from} -> {to}"),
                (*count).to_owned(),
                figures.sent.to_string(),
                figures.lost.to_string(),
                format!("{loss:.1} %"),
                figures.reordered.to_string(),
                figures.duplicates.to_string(),
            ]
        });
        let head = ["sequence numbers", "of", "sent", "lost", "loss", "reordered", "duplicates"];
        print_table(out, head, rows.collect(), 2)?;
        match self.untracked {
            0 => Ok(()),
            more => writeln!(out, "{} of other flows are not shown", counted(more, "packet")),
        }
    }

    fn print_malformed(&self, out: &mut impl Write) -> io::Result<()> {
        let rows = self.malformed.iter().map(|(&reason, tally)| {
            [reason.to_owned(), tally.count.to_string(), tally.bytes.to_string()]
        });
        print_table(out, ["malformed", "count", "bytes"], rows.collect(), 1)
    }

    fn print_skipped(&self, out: &mut impl Write) -> io::Result<()> {
        let rows = self.skipped.iter().map(|(skip, count)| {
            let why = match skip {
                Skip::Other => "neither UDP nor rtype's TCP".to_owned(),
                Skip::Fragment => "fragment of an IP packet".to_owned(),
                Skip::CutShort => "cut short by the capture".to_owned(),
                Skip::Link(link) => format!("link type {link} is unknown"),
            };
            [why, count.to_string()]
        });
        print_table(out, ["skipped", "frames"], rows.collect(), 1)
    }
}

/// Prints rows, if there are any, under a head: the first `left` columns left-aligned, the others
/// right-aligned.
fn print_table<const N: usize>(
    out: &mut impl Write,
    head: [&str; N],
    rows: Vec<[String; N]>,
    left: usize,
) -> io::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut widths = head.map(str::len);
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.len());
        }
    }
    writeln!(out)?;
    for row in std::iter::once(head.map(str::to_owned)).chain(rows) {
        for (i, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            let gap = if i == 0 { "" } else { "  " };
            match i < left {
                true => write!(out, "{gap}{cell:<width$}")?,
                false => write!(out, "{gap}{cell:>width$}")?,
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_flows_are_counted_and_the_rest_is_mentioned() {
        let mut summary = Summary::default();
        let numbered = Numbered { count: "native", number: 1 };
        for flow in 0..MAX_FLOWS as u32 + 1 {
            let [_, _, high, low] = flow.to_be_bytes();
            let (from, to) = (([192, 0, high, low], 4300), ([192, 0, 2, 7], 4300));
            let path = Path { from: from.into(), to: to.into() };
            summary.number(numbered, path);
            summary.number(numbered, path);
        }
        let mut out = Vec::new();
        summary.print_sequences(&mut out).expect("a vector takes everything");
        let text = String::from_utf8(out).expect("UTF-8");
        assert_eq!(text.lines().filter(|line| line.contains("->")).count(), MAX_FLOWS);
        assert!(text.ends_with("\n2 packets of other flows are not shown\n"));
    }
}
