//! Lines for a reader who may not read: a bounded queue, and a thread that writes.
//!
//! Callers put a line into the queue and continue. If nobody reads (a pipe with a paused reader, a full
//! disk), the queue
//! fills, and lines that no longer fit are dropped and counted; a notice says how many as soon as there is
//! room. The log of
//! a server and the event lines of `--ui none` go through this.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

/// At the end of the program, how long to wait for a reader that takes nothing.
const STALL: Duration = Duration::from_millis(500);

/// And for a slow reader.
const LONGEST_CLOSE: Duration = Duration::from_millis(1_500);

/// How long to wait before a full non-blocking stream is tried again.
const FULL_PAUSE: Duration = Duration::from_millis(10);

/// What is written at once, so that a slow reader is seen to read.
const PIECE: usize = 4096;

/// The queue and its thread. Dropped, it waits a moment for what is left to be written.
pub(crate) struct Spool(Feed);

/// Where lines are put; any number of threads may.
#[derive(Clone)]
pub(crate) struct Feed(Arc<Shared>);

struct Shared {
    queue: Mutex<Queue>,
    /// Something was put into the queue, or it is closed.
    filled: Condvar,
    /// Something was written, or the thread has ended.
    written: Condvar,
    /// Bytes in the queue, at the most.
    limit: usize,
    /// All lines that were ever dropped.
    dropped: AtomicU64,
}

#[derive(Default)]
struct Queue {
    bytes: Vec<u8>,
    /// Lines that were dropped since the last notice.
    dropped: u64,
    /// What the thread has written of all, in pieces.
    pieces: u64,
    /// Whose own lines always fit: they say how many did not.
    writer: Option<ThreadId>,
    /// Nobody was at the other end when something was written last.
    is_broken: bool,
    is_closed: bool,
    /// There is no more but a notice.
    is_ending: bool,
    /// The thread has ended.
    is_over: bool,
}

impl Spool {
    /// Starts to write to `out`, through a queue of `limit` bytes. After lines were dropped `notice`
    /// is to say how many, with a line of its own.
    pub(crate) fn start(
        name: &str,
        mut out: impl Write + Send + 'static,
        limit: usize,
        notice: impl Fn(&Feed, u64) + Send + 'static,
    ) -> io::Result<Self> {
        let feed = Feed(Arc::new(Shared {
            queue: Mutex::default(),
            filled: Condvar::new(),
            written: Condvar::new(),
            limit,
            dropped: AtomicU64::new(0),
        }));
        let its = feed.clone();
        let work = move || {
            its.lock().writer = Some(thread::current().id());
            its.run(&mut out, &notice);
        };
        thread::Builder::new().name(name.to_owned()).spawn(work)?;
        Ok(Spool(feed))
    }

    /// Where its lines are put.
    pub(crate) fn feed(&self) -> &Feed {
        &self.0
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        let Feed(shared) = &self.0;
        let until = Instant::now() + LONGEST_CLOSE;
        let mut queue = self.0.lock();
        queue.is_closed = true;
        shared.filled.notify_one();
        while !queue.is_over && Instant::now() < until {
            let seen = queue.pieces;
            let waited = shared
                .written
                .wait_timeout_while(queue, STALL, |queue| !queue.is_over && queue.pieces == seen);
            let (held, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            queue = held;
            if timeout.timed_out() {
                break;
            }
        }
    }
}

impl Feed {
    /// Puts a line, with its end, into the queue, or counts it as dropped. An error says that there
    /// is nobody to read, as far as is known.
    pub(crate) fn put(&self, line: &[u8]) -> io::Result<()> {
        let Feed(shared) = self;
        let mut queue = self.lock();
        let is_room = !queue.is_closed && queue.bytes.len() + line.len() <= shared.limit;
        if is_room || queue.writer == Some(thread::current().id()) {
            queue.bytes.extend_from_slice(line);
            shared.filled.notify_one();
        } else {
            queue.dropped += 1;
            shared.dropped.fetch_add(1, Ordering::Relaxed);
        }
        if queue.is_broken { Err(io::ErrorKind::BrokenPipe.into()) } else { Ok(()) }
    }

    /// How many lines were dropped in all.
    pub(crate) fn dropped(&self) -> u64 {
        self.0.dropped.load(Ordering::Relaxed)
    }

    /// Nobody holds it while something is written.
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.0.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, out: &mut impl Write, notice: &impl Fn(&Feed, u64)) {
        let (mut bytes, mut is_torn) = (Vec::new(), false);
        // How many lines the notices say were dropped that are still in the queue.
        let mut untold = 0;
        while let Some(dropped) = self.take(&mut bytes) {
            let telling = std::mem::replace(&mut untold, dropped);
            if dropped > 0 {
                // It comes behind what is about to be written, where the lines are missing.
                notice(self, dropped);
            }
            let done = if is_torn { self.write(out, b"\n") } else { Ok(()) };
            let done = match done {
                Ok(()) => self.write(out, &bytes),
                Err((_, error)) => Err((bytes.len(), error)),
            };
            match done {
                Ok(()) => is_torn = false,
                Err((left, error)) => {
                    let (good, rest) = bytes.split_at(bytes.len() - left);
                    is_torn = good.last().map_or(is_torn, |byte| *byte != b'\n');
                    let lines = rest.iter().filter(|byte| **byte == b'\n').count() as u64;
                    self.count_lost(lines, telling, &error);
                }
            }
            bytes.clear();
        }
        self.lock().is_over = true;
        self.0.written.notify_all();
    }

    /// Waits for something to write and takes all of it; says how many lines were dropped behind it.
    /// Nothing when it is closed and empty.
    fn take(&self, bytes: &mut Vec<u8>) -> Option<u64> {
        let is_idle = |queue: &mut Queue| queue.bytes.is_empty() && !queue.is_closed;
        let held = self.0.filled.wait_while(self.lock(), is_idle);
        let mut queue = held.unwrap_or_else(PoisonError::into_inner);
        // The very last may be a notice, and if that cannot be written there is none about it.
        if queue.bytes.is_empty() && (queue.dropped == 0 || queue.is_ending) {
            return None;
        }
        queue.is_ending = queue.bytes.is_empty();
        std::mem::swap(bytes, &mut queue.bytes);
        Some(std::mem::take(&mut queue.dropped))
    }

    /// Writes all of it, however long that takes; else how much is left, and why.
    fn write(&self, out: &mut impl Write, bytes: &[u8]) -> Result<(), (usize, io::Error)> {
        let mut rest = bytes;
        while !rest.is_empty() {
            match out.write(&rest[..rest.len().min(PIECE)]) {
                Ok(0) => return Err((rest.len(), io::ErrorKind::WriteZero.into())),
                Ok(len) => {
                    rest = &rest[len..];
                    let mut queue = self.lock();
                    queue.pieces += 1;
                    queue.is_broken = false;
                    drop(queue);
                    self.0.written.notify_all();
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    thread::sleep(FULL_PAUSE);
                }
                Err(error) => return Err((rest.len(), error)),
            }
        }
        out.flush().map_err(|error| (0, error))
    }

    /// Counts lines that could not be written, and those that a notice among them was about.
    fn count_lost(&self, lines: u64, untold: u64, error: &io::Error) {
        let lines = lines.saturating_sub(u64::from(untold > 0));
        let mut queue = self.lock();
        queue.dropped += lines + untold;
        queue.is_broken = error.kind() == io::ErrorKind::BrokenPipe;
        self.0.dropped.fetch_add(lines, Ordering::Relaxed);
    }
}

/// For a writer of whole lines, as the log is.
impl Write for Feed {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.put(line)?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// This program's stdout, past the lock of everyone else who writes to it: that one is never held
/// while nobody reads.
pub(crate) fn stdout() -> io::Result<Box<dyn Write + Send>> {
    own(io::stdout())
}

/// The same of stderr.
pub(crate) fn stderr() -> io::Result<Box<dyn Write + Send>> {
    own(io::stderr())
}

#[cfg(unix)]
fn own(stream: impl std::os::fd::AsFd) -> io::Result<Box<dyn Write + Send>> {
    let own = stream.as_fd().try_clone_to_owned()?;
    Ok(Box::new(std::fs::File::from(own)))
}

#[cfg(not(unix))]
fn own(stream: impl Write + Send + 'static) -> io::Result<Box<dyn Write + Send>> {
    Ok(Box::new(stream))
}

/// Writes a few words to a stream, and gives up where nobody reads them.
pub(crate) fn say(out: io::Result<Box<dyn Write + Send>>, words: &str) {
    // If the stream is gone, or no thread can be started, nobody can be told.
    let Ok(out) = out else { return };
    if let Ok(spool) = Spool::start("words", out, words.len(), |_, _| {}) {
        let _ = spool.feed().put(words.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

    use super::*;

    /// A pipe that takes a piece when the test reads one.
    struct Pipe(SyncSender<Vec<u8>>);

    impl Write for Pipe {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.send(bytes.to_vec()).map_err(|_| io::ErrorKind::BrokenPipe)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn spool(limit: usize) -> (Spool, Receiver<Vec<u8>>) {
        let (sender, receiver) = sync_channel(0);
        let notice = |feed: &Feed, n| feed.put(format!("{n} dropped\n").as_bytes()).unwrap();
        (Spool::start("test", Pipe(sender), limit, notice).unwrap(), receiver)
    }

    fn read_all(pipe: &Receiver<Vec<u8>>) -> String {
        String::from_utf8(pipe.iter().flatten().collect()).unwrap()
    }

    #[test]
    fn lines_beyond_the_limit_are_dropped_and_told_in_their_place() {
        let (spool, pipe) = spool(30);
        let mut put = 0;
        while spool.feed().dropped() < 7 {
            spool.feed().put(format!("line {put:04}\n").as_bytes()).unwrap();
            put += 1;
        }
        let reader = thread::spawn(move || read_all(&pipe));
        // The reader is back: there is room soon.
        while spool.feed().lock().dropped > 0 {
            thread::sleep(Duration::from_millis(1));
        }
        spool.feed().put(b"the last\n").unwrap();
        drop(spool);
        let read = reader.join().unwrap();
        let lines: Vec<&str> = read.lines().collect();
        let kept = put - 7;
        assert_eq!(lines.len(), kept + 2, "{read}");
        for (number, line) in lines[..kept].iter().enumerate() {
            assert_eq!(*line, format!("line {number:04}"));
        }
        assert_eq!(lines[kept..], ["7 dropped", "the last"]);
    }

    #[test]
    fn a_line_at_the_limit_fits_and_one_byte_more_does_not() {
        let (spool, pipe) = spool(10);
        // The first is with the thread, which waits for the reader.
        spool.feed().put(b"x\n").unwrap();
        while !spool.feed().lock().bytes.is_empty() {
            thread::sleep(Duration::from_millis(1));
        }
        spool.feed().put(b"123456789\n").unwrap();
        assert_eq!(spool.feed().dropped(), 0);
        spool.feed().put(b"\n").unwrap();
        assert_eq!(spool.feed().dropped(), 1);
        let reader = thread::spawn(move || read_all(&pipe));
        drop(spool);
        assert_eq!(reader.join().unwrap(), "x\n123456789\n1 dropped\n");
    }

    #[test]
    fn nobody_is_waited_for_who_does_not_read() {
        let (spool, pipe) = spool(1000);
        spool.feed().put(b"a line\n").unwrap();
        let began = Instant::now();
        drop(spool);
        assert!(began.elapsed() < STALL * 3, "{:?}", began.elapsed());
        drop(pipe);
    }

    #[test]
    fn who_is_gone_is_told_of() {
        let (spool, pipe) = spool(1000);
        drop(pipe);
        let limit = Instant::now() + Duration::from_secs(10);
        while spool.feed().put(b"a line\n").is_ok() {
            assert!(Instant::now() < limit, "nobody notices");
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// A disk that is full in the middle of a line, once.
    struct FullOnce(SyncSender<Vec<u8>>, usize);

    impl Write for FullOnce {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.1 += 1;
            match self.1 {
                1 => {
                    self.0.send(bytes[..3].to_vec()).unwrap();
                    Ok(3)
                }
                2 => Err(io::ErrorKind::StorageFull.into()),
                _ => {
                    self.0.send(bytes.to_vec()).unwrap();
                    Ok(bytes.len())
                }
            }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_full_disk_costs_lines_and_not_the_next_ones() {
        let (sender, pipe) = sync_channel(100);
        let notice = |feed: &Feed, n| feed.put(format!("{n} dropped\n").as_bytes()).unwrap();
        let spool = Spool::start("test", FullOnce(sender, 0), 1000, notice).unwrap();
        spool.feed().put(b"first\n").unwrap();
        while spool.feed().dropped() == 0 {
            thread::sleep(Duration::from_millis(1));
        }
        drop(spool);
        assert_eq!(read_all(&pipe), "fir\n1 dropped\n");
    }
}
