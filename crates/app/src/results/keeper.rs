//! A thread that saves results: first in a side file, then in the database.
//!
//! Callers hand a result over and continue. If the database cannot take it (it is locked, the disk is full),
//! the thread
//! retries; what is left when the program ends stays in the side file for the next server.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use tracing::{error, info, warn};

use super::journal::{Entry, Journal};
use super::store::{self, MatchResult, Store, StoreError};
use crate::seed;

/// Results on their way to the thread, at the most. Only a disk that has stood still for long makes
/// so many wait.
const QUEUE_LIMIT: usize = 4096;

/// The most results in the thread itself; the others wait in the queue.
const WAITING_LIMIT: usize = 16_384;

/// How long another program may hold the database before the thread looks for new results again.
const BUSY_PATIENCE: Duration = Duration::from_millis(100);

/// How often a database is tried again that did not take a result.
const RETRY_EVERY: Duration = Duration::from_millis(500);

/// At the end of the program it is tried for no longer than this: the side file has everything.
const LAST_TRIES: Duration = Duration::from_millis(700);

/// The thread, and the way to it.
pub(crate) struct Keeper {
    entries: SyncSender<(u64, Entry)>,
    /// Hangs up when the thread has ended.
    ended: Receiver<()>,
    /// What every key of this server begins with.
    run: u64,
    /// How many keys there are.
    keys: u64,
    /// How many results are not in the database yet.
    waiting: Arc<AtomicUsize>,
    /// How many of the keys are settled: in the side file, or lost with a word.
    settled: Arc<AtomicU64>,
}

/// What the thread has.
struct Work {
    entries: Receiver<(u64, Entry)>,
    /// The number of the newest of them.
    newest: u64,
    database: PathBuf,
    /// Nothing while it cannot be opened.
    store: Option<Store>,
    journal: Journal,
    /// What is not in the database yet, the oldest first.
    unkept: Vec<Entry>,
    /// How many of them are in the side file.
    noted: usize,
    waiting: Arc<AtomicUsize>,
    settled: Arc<AtomicU64>,
    /// The errors that were reported: of the side file, of the database.
    told: [Option<String>; 2],
}

impl Keeper {
    /// Keeps results in the database at `path`, and takes in what earlier servers left beside it. A
    /// database that another program holds right now is no obstacle.
    pub(crate) fn start(path: &Path) -> Result<Self, Box<dyn Error>> {
        let store = match Store::open(path, store::PATIENCE) {
            Ok(store) => {
                store.set_patience(BUSY_PATIENCE)?;
                Some(store)
            }
            Err(error) if error.is_busy() => None,
            Err(error) => return Err(error.into()),
        };
        let (journal, left) = Journal::claim(path).map_err(|error| {
            format!("cannot write pending results beside {}: {error}", path.display())
        })?;
        if left.damaged > 0 {
            let path = journal.path().display();
            warn!("skipped {} damaged results in {path}", left.damaged);
        }
        if !left.entries.is_empty() {
            info!("took over {} results from an earlier server", left.entries.len());
        }
        let waiting = Arc::new(AtomicUsize::new(left.entries.len()));
        let settled = Arc::new(AtomicU64::new(0));
        let (entries, given) = sync_channel(QUEUE_LIMIT);
        let (ending, ended) = sync_channel::<()>(0);
        let mut work = Work {
            entries: given,
            newest: 0,
            database: path.to_owned(),
            store,
            journal,
            noted: left.entries.len(),
            unkept: left.entries,
            waiting: Arc::clone(&waiting),
            settled: Arc::clone(&settled),
            told: [None, None],
        };
        let run = move || {
            let _ending = ending;
            work.run();
        };
        thread::Builder::new().name("results".into()).spawn(run)?;
        Ok(Keeper { entries, ended, run: seed::world()?, keys: 0, waiting, settled })
    }

    /// Has a result kept, and waits for nothing. Says its number, for [`Keeper::is_settled`].
    pub(crate) fn keep(&mut self, result: MatchResult) -> u64 {
        self.keys += 1;
        let key = format!("{:016x}-{}", self.run, self.keys);
        self.waiting.fetch_add(1, Ordering::Relaxed);
        match self.entries.try_send((self.keys, Entry { key, result })) {
            Ok(()) => {}
            Err(TrySendError::Full((_, lost))) => {
                self.waiting.fetch_sub(1, Ordering::Relaxed);
                let room = lost.result.room;
                error!(
                    "the result of a match in room {room} is LOST: {QUEUE_LIMIT} others are \
                     already waiting for the disk"
                );
            }
            Err(TrySendError::Disconnected(_)) => {
                error!("a result is lost: the thread that writes results has ended");
            }
        }
        self.keys
    }

    /// Whether nothing more can be done for a result before its players see it: it is in the side
    /// file, or could not be written there and is tried again.
    pub(crate) fn is_settled(&self, number: u64) -> bool {
        self.settled.load(Ordering::Acquire) >= number
    }

    /// Waits for what is not kept yet, until a time at the latest.
    pub(crate) fn finish(self, until: Instant) {
        drop(self.entries);
        let patience = until.saturating_duration_since(Instant::now());
        if self.ended.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
            let waiting = self.waiting.load(Ordering::Relaxed);
            error!("the disk does not answer: {waiting} results may be lost");
        }
    }
}

impl Work {
    fn run(&mut self) {
        let mut closed: Option<Instant> = None;
        self.store();
        loop {
            if closed.is_none() && !self.hear() {
                closed = Some(Instant::now());
            }
            self.note();
            self.store();
            if let Some(since) = closed {
                if self.unkept.is_empty() {
                    return;
                }
                if since.elapsed() > LAST_TRIES {
                    return self.tell_left();
                }
                thread::sleep(RETRY_EVERY / 10);
            }
        }
    }

    /// Waits for results, or until it is time to try again. Says whether more may come.
    fn hear(&mut self) -> bool {
        let first = match self.unkept.is_empty() {
            true => self.entries.recv().map_err(|_| RecvTimeoutError::Disconnected),
            false if self.unkept.len() >= WAITING_LIMIT => {
                thread::sleep(RETRY_EVERY);
                return true;
            }
            false => self.entries.recv_timeout(RETRY_EVERY),
        };
        match first {
            Ok(first) => {
                for (number, entry) in [first].into_iter().chain(self.entries.try_iter()) {
                    self.newest = number;
                    self.unkept.push(entry);
                    if self.unkept.len() >= WAITING_LIMIT {
                        break;
                    }
                }
            }
            Err(RecvTimeoutError::Disconnected) => return false,
            Err(RecvTimeoutError::Timeout) => {}
        }
        true
    }

    /// Brings what is new into the side file.
    fn note(&mut self) {
        match self.journal.append(&self.unkept[self.noted..]) {
            Ok(()) => {
                self.noted = self.unkept.len();
                self.told[0] = None;
            }
            Err(error) => {
                let path = self.journal.path().display();
                let words = format!("{path} cannot be written: {error}");
                self.tell(0, words);
            }
        }
        self.settled.store(self.newest, Ordering::Release);
    }

    /// Brings everything into the database.
    fn store(&mut self) {
        if self.unkept.is_empty() {
            return;
        }
        if let Err(error) = self.try_store() {
            return self.tell(1, error.to_string());
        }
        if self.told[1].take().is_some() {
            info!("{} waiting results are in the database now", self.unkept.len());
        }
        self.waiting.fetch_sub(self.unkept.len(), Ordering::Relaxed);
        self.unkept.clear();
        self.noted = 0;
        if let Err(error) = self.journal.clear() {
            // They are found there again, and known by their keys.
            warn!("cannot empty {}: {error}", self.journal.path().display());
        }
    }

    fn try_store(&mut self) -> Result<(), StoreError> {
        let store = match &mut self.store {
            Some(store) => store,
            none => none.insert(Store::open(&self.database, BUSY_PATIENCE)?),
        };
        let kept = store.keep(&self.unkept);
        if kept.as_ref().is_err_and(|error| !error.is_busy()) {
            // Whatever is wrong with this connection is not wrong with the next.
            self.store = None;
        }
        kept
    }

    /// Says what is wrong, once.
    fn tell(&mut self, part: usize, words: String) {
        if self.told[part].as_ref() != Some(&words) {
            let count = self.unkept.len();
            error!("{count} results are waiting and will be tried again: {words}");
            self.told[part] = Some(words);
        }
    }

    fn tell_left(&self) {
        let (path, noted) = (self.journal.path().display(), self.noted);
        if noted > 0 {
            warn!("{noted} results are in {path}; the next server picks them up");
        }
        let lost = self.unkept.len() - noted;
        if lost > 0 {
            error!("{lost} results are LOST: neither {path} nor the database can be written");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::io::{BufRead, BufReader, Read, Write};
    use std::process::{Command, Stdio};

    use super::super::journal::Pending;
    use super::super::store::tests::{Folder, pong};
    use super::super::store::{Filter, Store};
    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(10)
    }

    #[track_caller]
    fn wait_until(mut is_so: impl FnMut() -> bool) {
        let limit = soon();
        while !is_so() {
            assert!(Instant::now() < limit, "it never happens");
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// When the matches ended that are in the database.
    fn kept(path: &Path) -> Vec<u64> {
        let all = Filter { limit: u32::MAX, ..Filter::default() };
        let matches = Store::read(path).unwrap().matches(&all).unwrap();
        matches.iter().map(|result| result.ended_ms).collect()
    }

    #[test]
    fn what_is_kept_is_in_the_database_and_nowhere_else() {
        let folder = Folder::new("keeper");
        let mut keeper = Keeper::start(&folder.file()).unwrap();
        for number in 1..=5 {
            keeper.keep(pong(number, "Ann", "Bob"));
        }
        keeper.finish(soon());
        assert_eq!(kept(&folder.file()), [5, 4, 3, 2, 1]);
        assert_eq!(Pending::of(&folder.file()).entries, []);
    }

    #[test]
    fn what_ends_while_the_database_is_locked_is_noted_and_kept_later() {
        let folder = Folder::new("locked");
        let mut keeper = Keeper::start(&folder.file()).unwrap();
        let other = rusqlite::Connection::open(folder.file()).unwrap();
        other.execute_batch("BEGIN EXCLUSIVE").unwrap();
        for number in 1..=6 {
            let began = Instant::now();
            let result = keeper.keep(pong(number, "Ann", "Bob"));
            assert!(began.elapsed() < Duration::from_millis(500), "it waits for the database");
            wait_until(|| keeper.is_settled(result));
            assert_eq!(Pending::of(&folder.file()).entries.len(), number as usize);
        }
        other.execute_batch("COMMIT").unwrap();
        wait_until(|| Pending::of(&folder.file()).entries.is_empty());
        assert_eq!(kept(&folder.file()), [6, 5, 4, 3, 2, 1]);
    }

    #[test]
    fn a_keeper_that_ends_while_the_database_is_locked_leaves_the_rest_to_the_next() {
        let folder = Folder::new("next");
        let mut keeper = Keeper::start(&folder.file()).unwrap();
        let other = rusqlite::Connection::open(folder.file()).unwrap();
        other.execute_batch("BEGIN EXCLUSIVE").unwrap();
        keeper.keep(pong(1, "Ann", "Bob"));
        let began = Instant::now();
        keeper.finish(soon());
        assert!(began.elapsed() < 4 * LAST_TRIES, "{:?}", began.elapsed());
        // A lock is no obstacle to the start of the next one either.
        let next = Keeper::start(&folder.file()).unwrap();
        other.execute_batch("COMMIT").unwrap();
        wait_until(|| kept(&folder.file()) == [1]);
        next.finish(soon());
        assert_eq!(Pending::of(&folder.file()).entries, []);
    }

    /// The folder of a keeper that is to be killed, for the process that is.
    const VICTIM: &str = "BACKSPIN_TEST_VICTIM";

    /// Not a test: what the next one starts and kills. It keeps results one after the other and says
    /// which of them are noted.
    #[test]
    #[ignore = "a process that a test starts"]
    fn victim() {
        let Some(path) = std::env::var_os(VICTIM).map(PathBuf::from) else { return };
        let first: u64 = std::env::var("BACKSPIN_TEST_FIRST").unwrap().parse().unwrap();
        let mut keeper = Keeper::start(&path).unwrap();
        for number in first.. {
            let result = keeper.keep(pong(number, "Ann", "Bob"));
            wait_until(|| keeper.is_settled(result));
            // Past the capture of the test's own output.
            std::io::stdout().write_all(format!("noted {number}\n").as_bytes()).unwrap();
        }
    }

    #[test]
    fn whoever_is_killed_at_any_moment_loses_no_result_and_doubles_none() {
        let folder = Folder::new("killed");
        drop(Store::open(&folder.file(), store::PATIENCE).unwrap());
        let (mut noted, mut next) = (BTreeSet::new(), 1);
        for round in 0..12 {
            let mut command = Command::new(std::env::current_exe().unwrap());
            command.args(["--exact", "results::keeper::tests::victim", "--ignored"]);
            command.arg("--nocapture").env(VICTIM, folder.file());
            command.env("BACKSPIN_TEST_FIRST", next.to_string());
            let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
            let mut lines = BufReader::new(child.stdout.take().unwrap());
            let mut said = String::new();
            while !said.contains("noted ") {
                assert_ne!(lines.read_line(&mut said).unwrap(), 0, "{said}");
            }
            // Spread over what it does, without chance.
            thread::sleep(Duration::from_micros(round * 7_919 % 40_000));
            child.kill().unwrap();
            child.wait().unwrap();
            lines.read_to_string(&mut said).unwrap();
            let numbers = said.split("noted ").skip(1).filter_map(|rest| rest.split_once('\n'));
            noted.extend(numbers.map(|(number, _)| number.parse::<u64>().unwrap()));
            next = noted.last().unwrap() + 2;
        }
        Keeper::start(&folder.file()).unwrap().finish(soon());
        let kept = kept(&folder.file());
        let once: BTreeSet<u64> = kept.iter().copied().collect();
        assert_eq!(once.len(), kept.len(), "some are there twice");
        assert!(noted.is_subset(&once), "lost: {:?}", noted.difference(&once));
        assert!(noted.len() >= 12);
        assert_eq!(Pending::of(&folder.file()).entries, []);
    }
}
