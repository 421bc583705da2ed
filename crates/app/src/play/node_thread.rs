//! A thread that drives a node, so that ticks are sent on time however slowly a screen draws.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use backspin::node::{Node, Path, StreamAction, StreamEvent, StreamId, StreamNode, Transmit};
use backspin::time::Time;
use backspin_udp::{Clock, Loop};

/// A node that a loop drives in one thread and someone else looks at in another: locked for one
/// call at a time, never while the loop waits.
#[derive(Debug)]
pub(crate) struct Access<N>(Arc<Mutex<N>>);

impl<N> Access<N> {
    pub(crate) fn new(node: N) -> Self {
        Access(Arc::new(Mutex::new(node)))
    }

    /// A panic in another thread has already ended the match.
    pub(crate) fn lock(&self) -> MutexGuard<'_, N> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<N> Clone for Access<N> {
    fn clone(&self) -> Self {
        Access(Arc::clone(&self.0))
    }
}

impl<N: Node> Node for Access<N> {
    fn handle_datagram(&mut self, now: Time, path: Path, bytes: &mut [u8]) {
        self.lock().handle_datagram(now, path, bytes);
    }

    fn handle_wake(&mut self, now: Time) {
        self.lock().handle_wake(now);
    }

    fn handle_timeout(&mut self, now: Time) {
        self.lock().handle_timeout(now);
    }

    fn poll_transmit(&mut self, now: Time, out: &mut [u8]) -> Option<Transmit> {
        self.lock().poll_transmit(now, out)
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.lock().poll_timeout()
    }
}

impl<N: StreamNode> StreamNode for Access<N> {
    fn accepts_streams(&self) -> bool {
        self.lock().accepts_streams()
    }

    fn handle_stream(&mut self, now: Time, stream: StreamId, event: StreamEvent<'_>) {
        self.lock().handle_stream(now, stream, event);
    }

    fn poll_stream(&mut self, now: Time, out: &mut [u8]) -> Option<(StreamId, StreamAction)> {
        self.lock().poll_stream(now, out)
    }
}

/// How long a turn lasts at most: so soon is seen what was pressed, said or stopped.
const TURN: Duration = Duration::from_millis(5);

/// A thread that works until it is dropped.
#[derive(Debug)]
pub(crate) struct Worker {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl Worker {
    /// Starts `work`, which ends soon after the flag is set.
    pub(crate) fn start(
        name: &str,
        work: impl FnOnce(&AtomicBool) -> io::Result<()> + Send + 'static,
    ) -> io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = thread::Builder::new().name(name.into()).spawn(move || work(&stopped))?;
        Ok(Worker { stop, thread: Some(thread) })
    }

    /// Why the thread has ended by itself, if it has.
    pub(crate) fn failure(&mut self) -> Option<io::Error> {
        let thread = self.thread.take_if(|thread| thread.is_finished())?;
        let name = thread.thread().name().unwrap_or_default().to_owned();
        match thread.join() {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error),
            Err(_) => Some(io::Error::other(format!("the {name} thread has panicked"))),
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // An error at the very end harms nobody.
            let _ = thread.join();
        }
    }
}

/// A node with a loop and a thread of its own. Dropped, it stops and sends what is left to send.
#[derive(Debug)]
pub(crate) struct NodeThread<N> {
    seat: Access<N>,
    clock: Clock,
    worker: Worker,
}

impl<N: StreamNode + Send + 'static> NodeThread<N> {
    /// Sets `node` to work in `driver`.
    pub(crate) fn new(mut driver: Loop, node: N) -> io::Result<Self> {
        let (seat, clock) = (Access::new(node), driver.clock());
        let mut node = seat.clone();
        let worker = Worker::start("match", move |stop| {
            while !stop.load(Ordering::Relaxed) {
                let limit = driver.now() + TURN;
                driver.turn(&mut node, limit)?;
            }
            driver.flush(&mut node);
            Ok(())
        })?;
        Ok(NodeThread { seat, clock, worker })
    }

    /// The time on the match's clock.
    pub(crate) fn now(&self) -> Time {
        self.clock.now()
    }

    /// The node, between two of the loop's calls.
    pub(crate) fn seat(&self) -> MutexGuard<'_, N> {
        self.seat.lock()
    }

    /// The node, for others to look at while the match lasts.
    pub(crate) fn access(&self) -> Access<N> {
        self.seat.clone()
    }

    /// Why the thread has ended by itself, if it has.
    pub(crate) fn failure(&mut self) -> Option<io::Error> {
        self.worker.failure()
    }
}
