//! A thread that writes recordings, so that no tick waits for a disk.
//!
//! Bytes wait in a bounded queue. A full disk is retried, and nothing is missing once there is space. When
//! the queue is
//! full as well, all recordings of this thread end; new ones can start when it has caught up.

use std::collections::HashMap;
use std::error::Error;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use tracing::{info, warn};

use super::file::{Sink, SinkError};

/// How often a disk that is full is tried again.
const RETRY_EVERY: Duration = Duration::from_millis(500);

/// What an order costs in the queue beside its bytes.
const ORDER_LEN: usize = 128;

/// The thread, and the way to it.
pub(crate) struct Scribe {
    orders: Sender<Order>,
    /// Hangs up when the thread has ended.
    ended: Receiver<()>,
    shared: Arc<Shared>,
    tracks: u64,
}

#[derive(Default)]
struct Shared {
    /// Bytes in the queue.
    queued: AtomicUsize,
    /// And the longest.
    limit: usize,
    /// The program ends: a full disk is not waited for.
    is_ending: AtomicBool,
}

/// A recording, as whoever makes it sees it.
#[derive(Clone)]
pub(crate) struct Track {
    number: u64,
    /// Why it goes on no more.
    over: Arc<OnceLock<String>>,
}

impl Track {
    /// Why its file cannot be written, if it cannot.
    pub(crate) fn cause(&self) -> Option<&str> {
        self.over.get().map(String::as_str)
    }

    fn is_over(&self) -> bool {
        self.over.get().is_some()
    }

    /// Only the first cause counts.
    fn close(&self, cause: String) {
        let _ = self.over.set(cause);
    }
}

/// A recording goes on no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Over {
    /// Its file cannot be written, which was logged.
    Failed,
    /// The disk is too slow for it.
    Behind,
}

/// A file that is to be made.
#[derive(Clone, Debug)]
pub(crate) struct NewFile {
    pub(crate) dir: PathBuf,
    pub(crate) stem: String,
    pub(crate) extension: &'static str,
    /// What to log before the file's name when it is complete.
    pub(crate) praise: String,
}

enum Order {
    /// Makes a file.
    Begin(Track, NewFile),
    /// Goes on with one that is there.
    Adopt(Track, Sink),
    Write(Track, Vec<u8>),
    /// There is no more.
    End(Track),
}

impl Scribe {
    /// A thread with a queue of `limit` bytes.
    pub(crate) fn start(name: &str, limit: usize) -> Result<Self, Box<dyn Error>> {
        let (orders, given) = channel();
        let (ending, ended) = sync_channel::<()>(0);
        let shared = Arc::new(Shared { limit, ..Shared::default() });
        let mut work = Work { shared: Arc::clone(&shared), open: HashMap::new() };
        let run = move || {
            let _ending = ending;
            given.iter().for_each(|order| work.obey(order));
        };
        thread::Builder::new().name(name.to_owned()).spawn(run)?;
        Ok(Scribe { orders, ended, shared, tracks: 0 })
    }

    /// Begins a recording in a new file.
    pub(crate) fn begin(&mut self, title: NewFile) -> Track {
        let track = self.track();
        self.order(Order::Begin(track.clone(), title), ORDER_LEN);
        track
    }

    /// Begins one in a file that is there.
    pub(crate) fn adopt(&mut self, sink: Sink) -> Track {
        let track = self.track();
        self.order(Order::Adopt(track.clone(), sink), ORDER_LEN);
        track
    }

    fn track(&mut self) -> Track {
        self.tracks += 1;
        Track { number: self.tracks, over: Arc::default() }
    }

    /// Has bytes written to the end of a recording, and takes them. Where it is over nothing is
    /// taken, and [`Scribe::end`] is all that is left to do.
    pub(crate) fn write(&self, track: &Track, bytes: &mut Vec<u8>) -> Result<(), Over> {
        if track.is_over() {
            return Err(Over::Failed);
        }
        if bytes.is_empty() {
            return Ok(());
        }
        let len = bytes.len() + ORDER_LEN;
        if self.shared.queued.load(Ordering::Relaxed) + len > self.shared.limit {
            return Err(Over::Behind);
        }
        self.order(Order::Write(track.clone(), std::mem::take(bytes)), len);
        Ok(())
    }

    /// A recording has come to its end.
    pub(crate) fn end(&self, track: Track) {
        self.order(Order::End(track), ORDER_LEN);
    }

    /// A recording ends where it is: what waits to be written of it is left out.
    pub(crate) fn abandon(&self, track: Track) {
        track.close("the disk is too slow".into());
        self.end(track);
    }

    /// Whether it has caught up enough for recordings to begin.
    pub(crate) fn has_room(&self) -> bool {
        self.shared.queued.load(Ordering::Relaxed) <= self.shared.limit / 2
    }

    /// Waits for what is not written yet, until a time at the latest.
    pub(crate) fn finish(self, until: Instant) {
        self.shared.is_ending.store(true, Ordering::Relaxed);
        drop(self.orders);
        let patience = until.saturating_duration_since(Instant::now());
        if self.ended.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
            warn!("the disk does not answer: recordings are missing their end");
        }
    }

    fn order(&self, order: Order, len: usize) {
        self.shared.queued.fetch_add(len, Ordering::Relaxed);
        // A thread that is gone has panicked, and said so.
        let _ = self.orders.send(order);
    }
}

/// What the thread has.
struct Work {
    shared: Arc<Shared>,
    open: HashMap<u64, File>,
}

struct File {
    sink: Sink,
    praise: Option<String>,
}

impl Work {
    fn obey(&mut self, order: Order) {
        let len = match order {
            Order::Begin(track, title) => {
                self.begin(&track, title);
                ORDER_LEN
            }
            Order::Adopt(track, sink) => {
                self.open.insert(track.number, File { sink, praise: None });
                ORDER_LEN
            }
            Order::Write(track, bytes) => {
                self.write(&track, &bytes);
                bytes.len() + ORDER_LEN
            }
            Order::End(track) => {
                self.end(&track);
                ORDER_LEN
            }
        };
        self.shared.queued.fetch_sub(len, Ordering::Relaxed);
    }

    fn begin(&mut self, track: &Track, title: NewFile) {
        if track.is_over() {
            return;
        }
        match Sink::create(&title.dir, &title.stem, title.extension) {
            Ok(sink) => {
                let praise = Some(title.praise);
                self.open.insert(track.number, File { sink, praise });
            }
            Err(error) => fail(track, &error),
        }
    }

    fn write(&mut self, track: &Track, bytes: &[u8]) {
        let Some(File { sink, .. }) = self.open.get_mut(&track.number) else { return };
        let (mut rest, mut is_told) = (bytes, false);
        while !rest.is_empty() && !track.is_over() {
            match sink.write(rest) {
                Ok(len) => rest = &rest[len..],
                Err(error) if !error.is_full() => fail(track, &error),
                Err(error) if self.shared.is_ending.load(Ordering::Relaxed) => fail(track, &error),
                Err(error) => {
                    if !std::mem::replace(&mut is_told, true) {
                        warn!("{error}; trying again");
                    }
                    thread::sleep(RETRY_EVERY);
                }
            }
        }
        if is_told && rest.is_empty() {
            info!("there is space again, and nothing is missing in {}", sink.path());
        }
    }

    fn end(&mut self, track: &Track) {
        let Some(File { sink, praise }) = self.open.remove(&track.number) else { return };
        match (track.is_over(), praise) {
            (true, _) if sink.is_empty() => sink.remove(),
            (false, Some(praise)) => info!("{praise} {}", sink.path()),
            _ => {}
        }
    }
}

fn fail(track: &Track, error: &SinkError) {
    track.close(error.to_string());
    warn!("recording stopped, the game continues: {error}");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory of one test, gone afterwards.
    struct Dir(PathBuf);

    impl Dir {
        fn new(test: &str) -> Self {
            let name = format!("backspin-scribe-{test}-{}", std::process::id());
            let dir = std::env::temp_dir().join(name);
            std::fs::create_dir_all(&dir).unwrap();
            Dir(dir)
        }

        fn title(&self, stem: &str) -> NewFile {
            let (dir, stem) = (self.0.clone(), stem.to_owned());
            NewFile { dir, stem, extension: "test", praise: "recorded in".into() }
        }

        fn read(&self, name: &str) -> Option<Vec<u8>> {
            std::fs::read(self.0.join(name)).ok()
        }
    }

    impl Drop for Dir {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(10)
    }

    #[test]
    fn what_is_written_is_in_its_file_in_order() {
        let dir = Dir::new("order");
        let mut scribe = Scribe::start("test", 1 << 20).unwrap();
        let (one, two) = (scribe.begin(dir.title("one")), scribe.begin(dir.title("two")));
        for byte in 0..100 {
            scribe.write(&one, &mut vec![byte]).unwrap();
            scribe.write(&two, &mut vec![byte; 2]).unwrap();
        }
        scribe.end(one);
        scribe.end(two);
        scribe.finish(soon());
        assert_eq!(dir.read("one-1.test").unwrap(), (0..100).collect::<Vec<u8>>());
        assert_eq!(dir.read("two-1.test").unwrap().len(), 200);
    }

    /// A pipe without a reader stands in for a disk that hangs.
    #[cfg(unix)]
    #[test]
    fn a_disk_that_stands_still_ends_recordings_at_the_limit_and_they_begin_anew() {
        let dir = Dir::new("still");
        let fifo = dir.0.join("fifo");
        let made = std::process::Command::new("mkfifo").arg(&fifo).status().unwrap();
        assert!(made.success());
        let mut scribe = Scribe::start("test", 10_000).unwrap();
        let sink = Sink::open_for_test(&fifo);
        let track = scribe.adopt(sink);
        let mut written = 0;
        let over = loop {
            match scribe.write(&track, &mut vec![0; 1000]) {
                Ok(()) => written += 1,
                Err(over) => break over,
            }
        };
        // The pipe took its 64 KiB, then the queue its limit.
        assert!((8..=80).contains(&written), "{written}");
        assert_eq!(over, Over::Behind);
        assert!(!scribe.has_room());
        scribe.abandon(track);
        let reader = std::fs::File::open(&fifo).unwrap();
        let drain = thread::spawn(move || {
            std::io::copy(&mut std::io::BufReader::new(reader), &mut std::io::sink())
        });
        let limit = soon();
        while !scribe.has_room() {
            assert!(Instant::now() < limit, "it does not catch up");
            thread::sleep(Duration::from_millis(1));
        }
        let anew = scribe.begin(dir.title("anew"));
        scribe.write(&anew, &mut b"again".to_vec()).unwrap();
        scribe.end(anew);
        scribe.finish(soon());
        assert_eq!(dir.read("anew-1.test").unwrap(), b"again");
        drain.join().unwrap().unwrap();
    }

    #[test]
    fn a_file_that_cannot_be_made_is_over_and_leaves_the_others_alone() {
        let dir = Dir::new("unmade");
        let mut scribe = Scribe::start("test", 1 << 20).unwrap();
        // A file where there should be a directory.
        std::fs::write(dir.0.join("file"), "").unwrap();
        let bad = scribe.begin(NewFile { dir: dir.0.join("file"), ..dir.title("bad") });
        let good = scribe.begin(dir.title("good"));
        let limit = soon();
        while scribe.write(&bad, &mut b"lost".to_vec()).is_ok() {
            assert!(Instant::now() < limit, "nobody notices");
            thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(scribe.write(&bad, &mut Vec::new()), Err(Over::Failed));
        scribe.write(&good, &mut b"kept".to_vec()).unwrap();
        scribe.finish(soon());
        assert_eq!(dir.read("good-1.test").unwrap(), b"kept");
    }
}
