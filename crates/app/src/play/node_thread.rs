//! A seat that a thread of its own keeps on time: however slowly a screen draws, ticks leave when
//! they are due.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
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

    /// Whoever panicked with it has ended the program's match already.
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

/// A node with a loop and a thread of its own. Dropped, it stops and sends what is left to send.
#[derive(Debug)]
pub(crate) struct NodeThread<N> {
    seat: Access<N>,
    clock: Clock,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl<N: StreamNode + Send + 'static> NodeThread<N> {
    /// Sets `node` to work in `driver`.
    pub(crate) fn new(mut driver: Loop, node: N) -> io::Result<Self> {
        let (seat, clock) = (Access::new(node), driver.clock());
        let stop = Arc::new(AtomicBool::new(false));
        let (mut node, stopped) = (seat.clone(), Arc::clone(&stop));
        let work = move || {
            while !stopped.load(Ordering::Relaxed) {
                let limit = driver.now() + TURN;
                driver.turn(&mut node, limit)?;
            }
            driver.flush(&mut node);
            Ok(())
        };
        let thread = std::thread::Builder::new().name("table".into()).spawn(work)?;
        Ok(NodeThread { seat, clock, stop, thread: Some(thread) })
    }

    /// The time on the table's clock.
    pub(crate) fn now(&self) -> Time {
        self.clock.now()
    }

    /// The node, between two of the loop's calls.
    pub(crate) fn seat(&self) -> MutexGuard<'_, N> {
        self.seat.lock()
    }

    /// The node, for whoever looks at it as long as the table is there.
    pub(crate) fn access(&self) -> Access<N> {
        self.seat.clone()
    }

    /// Why the thread has ended by itself, if it has.
    pub(crate) fn failure(&mut self) -> Option<io::Error> {
        let thread = self.thread.take_if(|thread| thread.is_finished())?;
        match thread.join() {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error),
            Err(_) => Some(io::Error::other("the thread of the match has panicked")),
        }
    }
}

impl<N> Drop for NodeThread<N> {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // What went wrong at the very end is nobody's loss.
            let _ = thread.join();
        }
    }
}
