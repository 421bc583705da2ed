//! The proxy's output: a line per second for people, JSON objects for programs.

use std::fmt;
use std::io::{self, Write};
use std::net::SocketAddr;

use backspin::time::Time;
use backspin_sim::Faults;
use serde::Serialize;

use super::flight::Way;
use crate::tools::sim::link::LinkWords;

/// What has been done so far.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Report {
    /// How many there are now.
    pub(super) players: usize,
    /// Datagrams from players there was no room for.
    pub(super) refused: u64,
    /// Datagrams that came to a player's socket from somewhere other than the game.
    pub(super) foreign: u64,
    pub(super) there: Counts,
    pub(super) back: Counts,
}

/// What became of the datagrams of one direction, copies included.
///
/// Always `received + duplicated == forwarded + lost + overflowed + unsent + under_way`.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Counts {
    pub(super) received: u64,
    pub(super) forwarded: u64,
    pub(super) lost: u64,
    pub(super) duplicated: u64,
    pub(super) reordered: u64,
    pub(super) corrupted: u64,
    pub(super) under_way: u64,
    /// Too many were under way.
    pub(super) overflowed: u64,
    /// The system did not take it, or the player had left.
    pub(super) unsent: u64,
}

/// Prints.
pub(super) struct Show {
    pub(super) json: bool,
}

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
enum Event<'a> {
    Listening {
        listen: SocketAddr,
        target: SocketAddr,
        link: LinkWords,
    },
    Second {
        seconds: f64,
        #[serde(flatten)]
        report: &'a Report,
    },
    Summary {
        seconds: f64,
        #[serde(flatten)]
        report: &'a Report,
    },
}

impl Report {
    pub(super) fn counts_mut(&mut self, way: Way) -> &mut Counts {
        match way {
            Way::There => &mut self.there,
            Way::Back => &mut self.back,
        }
    }
}

impl Counts {
    /// One more is under way, if there was room for it.
    pub(super) fn launch(&mut self, launched: Result<(), ()>) {
        match launched {
            Ok(()) => self.under_way += 1,
            Err(()) => self.overflowed += 1,
        }
    }

    /// One that was under way is sent on, if that could be done.
    pub(super) fn land(&mut self, sent: Result<(), ()>) {
        self.under_way -= 1;
        match sent {
            Ok(()) => self.forwarded += 1,
            Err(()) => self.unsent += 1,
        }
    }

    pub(super) fn add(&mut self, other: &Counts) {
        self.received += other.received;
        self.forwarded += other.forwarded;
        self.lost += other.lost;
        self.duplicated += other.duplicated;
        self.reordered += other.reordered;
        self.corrupted += other.corrupted;
        self.under_way += other.under_way;
        self.overflowed += other.overflowed;
        self.unsent += other.unsent;
    }

    /// What the link did.
    pub(super) fn add_faults(&mut self, faults: &Faults) {
        self.received += faults.sent;
        self.lost += faults.dropped();
        self.duplicated += faults.duplicated;
        self.reordered += faults.reordered;
        self.corrupted += faults.corrupted;
    }
}

impl Show {
    pub(super) fn open(
        &self,
        listen: SocketAddr,
        target: SocketAddr,
        link: LinkWords,
    ) -> io::Result<()> {
        match self.json {
            true => print(&Event::Listening { listen, target, link }),
            false => say(format_args!(
                "{listen} forwards to {target}: {link}\nCtrl-C stops it\n\n\
                 \x20 time  players  {:<50}from the game",
                "to the game"
            )),
        }
    }

    pub(super) fn second(&self, now: Time, report: &Report) -> io::Result<()> {
        match self.json {
            true => print(&Event::Second { seconds: seconds(now), report }),
            false => {
                let there = report.there.to_string();
                let (time, players) = (now.as_millis() / 1_000, report.players);
                say(format_args!("{time:>4} s  {players:>7}  {there:<50}{}", report.back))
            }
        }
    }

    pub(super) fn close(&self, now: Time, report: &Report) -> io::Result<()> {
        match self.json {
            true => print(&Event::Summary { seconds: seconds(now), report }),
            false => {
                let (time, Report { there, back, .. }) = (seconds(now), report);
                say(format_args!(
                    "\nIn {time} s:\n  to the game    {there}\n  from the game  {back}"
                ))?;
                let rest = [
                    (report.refused, "from players there was no room for"),
                    (report.foreign, "from somewhere other than the game"),
                    (there.overflowed + back.overflowed, "over the limit of delayed datagrams"),
                    (there.unsent + back.unsent, "that could not be forwarded"),
                ];
                for (count, which) in rest.into_iter().filter(|(count, _)| *count > 0) {
                    say(format_args!("  dropped        {count} {which}"))?;
                }
                Ok(())
            }
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} forwarded, {} lost", self.forwarded, self.lost)?;
        let more = [
            (self.duplicated, "doubled"),
            (self.reordered, "reordered"),
            (self.corrupted, "corrupted"),
            (self.under_way, "delayed"),
        ];
        for (count, what) in more.into_iter().filter(|(count, _)| *count > 0) {
            write!(f, ", {count} {what}")?;
        }
        Ok(())
    }
}

fn seconds(now: Time) -> f64 {
    now.as_millis() as f64 / 1e3
}

fn say(words: fmt::Arguments<'_>) -> io::Result<()> {
    writeln!(io::stdout(), "{words}")
}

fn print(event: &Event<'_>) -> io::Result<()> {
    let mut line = serde_json::to_vec(event)?;
    line.push(b'\n');
    // A script waits for it.
    let mut out = io::stdout().lock();
    out.write_all(&line)?;
    out.flush()
}
