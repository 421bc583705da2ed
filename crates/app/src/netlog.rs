//! `--net-log`: a line for every input, acknowledgement and ping, in the words of the documents.
//!
//! Clients, rooms and the endpoint keep lines only while someone wants them ([`backspin::channel::Journal`]).
//! They are
//! read between two ticks and written through a [`Spool`], so that the game's thread never waits for a disk.

use std::error::Error;
use std::fmt::{self, Write as _};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use backspin::channel::{LineKind, LogLine};
use backspin::game::Game;
use backspin::session::{Allowance, Bucket, Rate};
use backspin::time::Time;

use crate::folders;
use crate::play::Seat;
use crate::spool::{self, Feed, Spool};

/// The most bytes of lines waiting to be written: a second of a hundred players.
const LIMIT: usize = 1024 * 1024;

/// How many lines a client, a room or the endpoint keeps until they are read: a second of a full room.
pub(crate) const KEPT: usize = 4096;

/// The rate limit of each kind of line that anyone can cause with a datagram.
const RATE: Rate = Rate { per_second: 10, burst: 10 };

/// How long after a line was left out it is said how many were.
const TELL_AFTER: Duration = Duration::from_secs(1);

/// Where the lines go. Clones write to the same place; the last that is dropped waits a moment for
/// what is left to be written.
#[derive(Clone)]
pub(crate) struct NetLog(Arc<Mutex<Writing>>);

struct Writing {
    spool: Spool,
    sparing: Sparing,
    /// The room that the last line was about, where there are several.
    room: Option<u32>,
    text: String,
}

impl NetLog {
    /// Opens the file, overwriting it; `-` is stderr.
    pub(crate) fn open(path: &Path) -> Result<Self, Box<dyn Error>> {
        let out: Box<dyn Write + Send> = match path.as_os_str() == "-" {
            true => spool::stderr()?,
            false => Box::new(create(path).map_err(|error| {
                format!("the net log cannot be written to {}: {error}", path.display())
            })?),
        };
        let notice = |feed: &Feed, lines: u64| {
            // It fails if the reader is gone, so there is nobody to tell.
            let _ = feed.put(format!("{}\n", LogLine::Missed { lines }).as_bytes());
        };
        let spool = Spool::start("net log", out, LIMIT, notice)?;
        let writing =
            Writing { spool, sparing: Sparing::default(), room: None, text: String::new() };
        Ok(NetLog(Arc::new(Mutex::new(writing))))
    }

    /// Writes what a seat has kept since this was called last.
    pub(crate) fn take<G: Game>(&self, now: Time, seat: &mut Seat<G>) {
        if let Seat::Host(host) = seat {
            let server = host.server_mut();
            self.write(now, None, || server.poll_line());
            for room in server.rooms_mut() {
                self.write(now, None, || room.poll_line());
            }
        }
        if let Some(client) = seat.client_mut() {
            self.write(now, None, || client.poll_line());
        }
    }

    /// Writes all lines that there are: of a room, where there are several.
    pub(crate) fn write(
        &self,
        now: Time,
        room: Option<u32>,
        mut lines: impl FnMut() -> Option<LogLine>,
    ) {
        let mut writing = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(line) = lines() {
            writing.write(now, room, line);
        }
        writing.tell_left_out(now);
    }
}

/// An empty file: it tells addresses, so that a new one is its owner's alone.
fn create(path: &Path) -> io::Result<File> {
    folders::private().write(true).create(true).truncate(true).open(path)
}

impl fmt::Debug for NetLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NetLog")
    }
}

impl Writing {
    fn write(&mut self, now: Time, room: Option<u32>, line: LogLine) {
        if line.kind().is_some_and(|kind| !self.sparing.allows(now, kind)) {
            return;
        }
        // Players are counted in each room.
        if let Some(number) = room.filter(|_| self.room != room) {
            self.room = room;
            self.put(format_args!("# room {number}"));
        }
        self.put(format_args!("{line}"));
    }

    fn tell_left_out(&mut self, now: Time) {
        while let Some(left_out) = self.sparing.poll(now) {
            self.put(format_args!("{left_out}"));
        }
    }

    fn put(&mut self, line: fmt::Arguments<'_>) {
        self.text.clear();
        // Writing to a String cannot fail, and a file that cannot be written stops no match.
        let _ = writeln!(self.text, "{line}");
        let _ = self.spool.feed().put(self.text.as_bytes());
    }
}

/// Limits the lines of each kind, and counts those left out.
#[derive(Default)]
pub(crate) struct Sparing {
    kinds: [Spared; LineKind::ALL.len()],
}

#[derive(Default)]
struct Spared {
    lines: Bucket,
    left_out: u64,
    /// Since the first of them.
    since: Time,
}

/// Lines of a kind that were not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LeftOut {
    kind: LineKind,
    lines: u64,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} more were left out, too many at once", self.kind, self.lines)
    }
}

impl Sparing {
    /// Whether a line of this kind may be written now.
    pub(crate) fn allows(&mut self, now: Time, kind: LineKind) -> bool {
        let spared = &mut self.kinds[kind as usize];
        if spared.lines.allow(now, RATE, 1) == Allowance::Yes {
            return true;
        }
        if spared.left_out == 0 {
            spared.since = now;
        }
        spared.left_out += 1;
        false
    }

    /// Lines that were left out, when it is time to say so. Ask until there are none.
    pub(crate) fn poll(&mut self, now: Time) -> Option<LeftOut> {
        LineKind::ALL.into_iter().find_map(|kind| {
            let spared = &mut self.kinds[kind as usize];
            let is_due = spared.left_out > 0 && now.since(spared.since) >= TELL_AFTER;
            is_due.then(|| LeftOut { kind, lines: std::mem::take(&mut spared.left_out) })
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_millis(ms)
    }

    #[test]
    fn ten_lines_a_second_of_a_kind_are_written_and_the_rest_is_counted() {
        let mut sparing = Sparing::default();
        let mut written = 0;
        let mut told = Vec::new();
        // A thousand a second for three seconds, and one of another kind.
        for ms in 60_000..63_000 {
            written += usize::from(sparing.allows(at(ms), LineKind::Sender));
            told.extend(sparing.poll(at(ms)));
        }
        assert!(sparing.allows(at(63_000), LineKind::Size));
        told.extend(sparing.poll(at(64_100)));
        assert!((30..=40).contains(&written), "{written}");
        let left_out: u64 = told.iter().map(|it| it.lines).sum();
        assert_eq!(written as u64 + left_out, 3_000, "{told:?}");
        assert!(told.len() <= 4 && told.iter().all(|it| it.kind == LineKind::Sender), "{told:?}");
        let text = LeftOut { kind: LineKind::Sender, lines: 7 }.to_string();
        assert_eq!(text, "Invalid sender: 7 more were left out, too many at once");
    }

    #[test]
    fn lines_come_to_the_file_as_they_are_and_rooms_are_told_apart() {
        let path = std::env::temp_dir().join(format!("backspin-netlog-{}", std::process::id()));
        let log = NetLog::open(&path).unwrap();
        let line = |seq| LogLine::InputRecv { player: 1, seq, gap: 0 };
        let write = |room, lines: &mut dyn Iterator<Item = LogLine>| {
            log.write(at(1_000), room, || lines.next());
        };
        write(Some(1), &mut [line(1), line(2)].into_iter());
        write(Some(1), &mut [line(3)].into_iter());
        write(Some(2), &mut [line(4)].into_iter());
        write(None, &mut [LogLine::PongFuture].into_iter());
        drop(log);
        let text = fs::read_to_string(&path).unwrap();
        fs::remove_file(&path).unwrap();
        let recv = |seq| format!("[Server] INPUT_RECV    player=1 seq={seq} (gap=0)\n");
        let whole = format!(
            "# room 1\n{}{}{}# room 2\n{}Pong timestamp is in the future!\n",
            recv(1),
            recv(2),
            recv(3),
            recv(4)
        );
        assert_eq!(text, whole);
    }

    #[test]
    fn a_file_that_cannot_be_made_is_named() {
        let error = NetLog::open(Path::new("/nowhere/at/all")).err().unwrap().to_string();
        assert!(error.contains("/nowhere/at/all"), "{error}");
    }
}
