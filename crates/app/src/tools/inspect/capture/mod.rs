//! A capture file, from the outside in: its [`file`] format holds frames, a [`frame`]'s link,
//! network and transport headers hold a payload, and TCP segments make a [`stream`].
//!
//! A capture is written by strangers: nothing here trusts a length, and what is kept is bounded.

mod file;
pub(super) mod frame;
mod stream;

use std::error::Error;
use std::io::{self, BufRead, Write};

use backspin::wire::native::Scratch;

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
        (None, 0, 0) => Err(format!("{name} has no UDP datagram and no stream of rtype").into()),
        (None, 0, _) => Err(format!("{name} has no packet of lan, rtype or native").into()),
        _ => Ok(()),
    }
}

/// A capture on its way through the decoder to the printer and the summary.
struct Inspection<'a, W> {
    printer: &'a mut Printer<W>,
    summary: Summary,
    streams: Streams,
    scratch: Scratch,
    first_ns: Option<i128>,
    last_seconds: Option<f64>,
}

impl<'a, W: Write> Inspection<'a, W> {
    fn new(printer: &'a mut Printer<W>) -> Self {
        let (summary, streams, scratch) = Default::default();
        Inspection { printer, summary, streams, scratch, first_ns: None, last_seconds: None }
    }

    fn handle_frame(&mut self, frame: &Frame<'_>) -> io::Result<()> {
        let first_ns = self.first_ns.or(frame.at_ns);
        self.first_ns = first_ns;
        let since = frame.at_ns.zip(first_ns).map(|(at, first)| (at - first) as f64 / 1e9);
        self.last_seconds = since;
        match frame::open(frame.link, frame.bytes) {
            Ok(Carried::Datagram { path, payload }) => {
                let found = decode::datagram(payload, &mut self.scratch);
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
