//! A thread that works on the newest value it was given: callers never wait for a disk, and values that were
//! replaced
//! before it got to them are skipped.

use std::fmt;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The way to the thread, which ends when this is dropped.
pub(crate) struct Newest<T> {
    tray: Arc<Tray<T>>,
    /// Hangs up when the thread has ended.
    ended: Receiver<()>,
}

struct Tray<T> {
    papers: Mutex<Papers<T>>,
    changed: Condvar,
}

struct Papers<T> {
    newest: Option<T>,
    working: bool,
    closing: bool,
}

impl<T: Send + 'static> Newest<T> {
    /// Starts the thread. `work` says how soon a value that it could not work on is tried again.
    pub(crate) fn start(
        name: &str,
        work: impl FnMut(&T) -> Result<(), Duration> + Send + 'static,
    ) -> io::Result<Self> {
        let papers = Mutex::new(Papers { newest: None, working: false, closing: false });
        let tray = Arc::new(Tray { papers, changed: Condvar::new() });
        let (ending, ended) = sync_channel::<()>(0);
        let its = Arc::clone(&tray);
        let run = move || {
            let _ending = ending;
            its.run(work);
        };
        std::thread::Builder::new().name(name.to_owned()).spawn(run)?;
        Ok(Newest { tray, ended })
    }

    /// Hands over a value, and waits for nothing.
    pub(crate) fn put(&self, value: T) {
        self.tray.lock().newest = Some(value);
        self.tray.changed.notify_one();
    }

    /// Whether there is nothing left to work on.
    pub(crate) fn is_done(&self) -> bool {
        let papers = self.tray.lock();
        papers.newest.is_none() && !papers.working
    }

    /// Has the last value worked on, and waits for that. Whether the thread has ended in time.
    pub(crate) fn close(&self, within: Duration) -> bool {
        self.tray.close();
        self.ended.recv_timeout(within) != Err(RecvTimeoutError::Timeout)
    }
}

impl<T> Drop for Newest<T> {
    fn drop(&mut self) {
        self.tray.close();
    }
}

impl<T> fmt::Debug for Newest<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Newest")
    }
}

impl<T> Tray<T> {
    fn lock(&self) -> MutexGuard<'_, Papers<T>> {
        self.papers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn close(&self) {
        self.lock().closing = true;
        self.changed.notify_one();
    }

    fn run(&self, mut work: impl FnMut(&T) -> Result<(), Duration>) {
        let mut papers = self.lock();
        loop {
            let Some(value) = papers.newest.take() else {
                if papers.closing {
                    return;
                }
                papers = self.changed.wait(papers).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            papers.working = true;
            drop(papers);
            let done = work(&value);
            papers = self.lock();
            papers.working = false;
            if let Err(pause) = done {
                papers.newest.get_or_insert(value);
                if papers.closing {
                    return;
                }
                let waited = self.changed.wait_timeout(papers, pause);
                papers = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
    }
}
