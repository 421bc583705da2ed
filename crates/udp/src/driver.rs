//! The loop that drives a node: sleep until the deadline or until something arrives, pass it on, send.

use std::io;
use std::time::Duration;

use backspin::node::{Node, Path, Prefetch, StreamNode};
use backspin::time::Time;

use crate::batch::{Backend, Inbox, Outbox};
use crate::clock::Clock;
#[cfg(target_os = "linux")]
use crate::linux;
use crate::prefetch::prefetch;
use crate::schedule::{Schedule, Stall};
use crate::send_pool::SendPool;
use crate::streams::Streams;
use crate::wait::Waiter;
use crate::{Listener, Socket};

/// More than any good datagram, so that a longer one is seen to be too long. An odd number of cache
/// lines: buffers that lie a power of two apart all want the same few places in the cache.
const RECEIVE_LEN: usize = 33 * 64;

/// How many full inboxes are taken from a socket before the node may answer: a flood must not keep
/// the node from its ticks.
const DRAIN_LIMIT: usize = 2;

/// What a datagram will touch is brought near while so many before it are handed over.
const LEAD: usize = 4;

/// How often a node is asked to do what is due before its sockets are read again: more often than any
/// that does it in bits needs.
const STEP_LIMIT: usize = 1024;

/// Sockets have the tokens below, listeners and streams those from here on.
const FIRST_STREAM_TOKEN: usize = SOCKET_LIMIT;

/// A path counts sockets in a byte.
const SOCKET_LIMIT: usize = 256;

/// The clock, the sockets, the streams and the waiting of one thread.
#[derive(Debug)]
pub struct Loop {
    clock: Clock,
    waiter: Waiter,
    senders: SendPool,
    /// For each socket, whether there may be something to read. The system says when there is, and
    /// only an empty read that there is not.
    readable: Vec<bool>,
    /// Nobody waits for the sockets while a crowd plays: they are read when it is time. The system
    /// would say so for every datagram that comes, and for every one that has left.
    unwatched: bool,
    pub(crate) streams: Streams,
    inbox: Inbox,
    outbox: Outbox,
    stream_buffer: Box<[u8; RECEIVE_LEN]>,
    /// Something was left unread: do not wait for a signal that has been given.
    unread: bool,
    schedule: Schedule,
    stall: Stall,
    /// How long it was held up before the node last did what was due.
    held_up: Duration,
    /// The latest time that the node was told: it never goes back.
    told: Time,
    unsent: u64,
}

/// Why a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// Something came or a deadline passed.
    Work,
    /// The caller's own limit was reached.
    Limit,
}

impl Loop {
    /// A loop over `sockets`; a path's `socket` counts them in this order. The node may open
    /// streams, and nobody can open one to it.
    pub fn new(sockets: Vec<Socket>) -> io::Result<Self> {
        Loop::with_listeners(sockets, Vec::new())
    }

    /// A loop over `sockets` whose node is also given the streams that others open at
    /// `listeners`. It waits as its sockets are read: portably if one of them is.
    ///
    /// # Panics
    /// If there are more than 256 sockets.
    pub fn with_listeners(mut sockets: Vec<Socket>, listeners: Vec<Listener>) -> io::Result<Self> {
        assert!(sockets.len() <= SOCKET_LIMIT, "a path has no number for so many sockets");
        let portable = sockets.iter().any(|socket| socket.backend() == Backend::Portable);
        let waiter = Waiter::new(if portable { Backend::Portable } else { Backend::Batched })?;
        for (i, socket) in sockets.iter_mut().enumerate() {
            waiter.add(socket, i)?;
        }
        let registry = waiter.registry().try_clone()?;
        let has_timestamps = sockets.iter().all(Socket::tells_arrivals);
        Ok(Loop {
            clock: Clock::start(),
            waiter,
            readable: vec![true; sockets.len()],
            unwatched: false,
            senders: SendPool::new(sockets.into(), 0)?,
            streams: Streams::new(registry, listeners, FIRST_STREAM_TOKEN)?,
            inbox: Inbox::new(RECEIVE_LEN),
            outbox: Outbox::new(),
            stream_buffer: Box::new([0; RECEIVE_LEN]),
            unread: false,
            schedule: Schedule::new(has_timestamps),
            stall: Stall::default(),
            held_up: Duration::ZERO,
            told: Time::ZERO,
            unsent: 0,
        })
    }

    /// The same loop on `clock`: where several loops of one program share it, their times can be
    /// compared. For a loop that has not turned yet.
    #[must_use]
    pub fn with_clock(self, clock: Clock) -> Self {
        Loop { clock, ..self }
    }

    /// The same loop with so many threads that send for it when a crowd plays.
    pub fn with_senders(self, threads: usize) -> io::Result<Self> {
        Ok(Loop { senders: self.senders.with_threads(threads)?, ..self })
    }

    /// This loop's clock, for another thread that looks at the node.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// The time on this loop's clock.
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// The sockets.
    pub fn sockets(&self) -> &[Socket] {
        self.senders.sockets()
    }

    /// The listeners.
    pub fn listeners(&self) -> impl Iterator<Item = &Listener> {
        self.streams.listeners()
    }

    /// Datagrams that the system did not take, or that had no socket.
    pub fn unsent(&self) -> u64 {
        self.unsent
    }

    /// When the node last did what was due, how long the machine had held it up: it had something to
    /// do and was not let run, since it last had nothing to do. A node that is late by more is late
    /// by its own work, or by what was done between two turns, also where that only waited.
    pub fn held_up(&self) -> Duration {
        self.held_up
    }

    /// Waits until something comes, the node's deadline passes, or `limit` is reached; hands the
    /// node what is due and sends what it wants sent.
    ///
    /// Neither a peer nor a socket ends the loop; an error is one of waiting, on this machine.
    pub fn turn(&mut self, node: &mut impl StreamNode, limit: Time) -> io::Result<Wake> {
        self.stall.come_back(self.now(), run_time());
        self.flush(node);
        self.wait(node.poll_timeout().map_or(limit, |due| due.min(limit)))?;
        node.handle_wake(self.now());
        let mut came = self.streams.receive(self.clock, node, &mut self.stream_buffer[..]);
        came |= self.receive(node);
        let (now, mut due) = (self.now(), false);
        // Whatever falls due meanwhile waits for the next turn: sockets are not to be forgotten.
        for _ in 0..STEP_LIMIT {
            if node.poll_timeout().is_none_or(|due| due > now) {
                break;
            }
            self.told = self.now();
            if !due {
                self.held_up = self.stall.so_far(self.told, run_time());
            }
            node.prefetch(Prefetch::Timeout(self.told), prefetch);
            node.handle_timeout(self.told);
            self.flush(node);
            due = true;
        }
        self.flush(node);
        self.stall.leave(self.now(), run_time());
        Ok(if came || due { Wake::Work } else { Wake::Limit })
    }

    /// Sends what the node wants sent, and waits for nothing.
    pub fn flush(&mut self, node: &mut impl StreamNode) {
        self.streams.perform(self.clock, node, &mut self.stream_buffer[..]);
        loop {
            self.told = self.now();
            while let Some(slot) = self.outbox.slot()
                && let Some(transmit) = node.poll_transmit(self.told, slot)
            {
                self.outbox.push(transmit);
            }
            if self.outbox.is_empty() {
                return;
            }
            self.unsent += self.senders.send(&mut self.outbox);
        }
    }

    /// Waits for something to come, until `deadline`.
    fn wait(&mut self, deadline: Time) -> io::Result<()> {
        let busy = self.unread || self.streams.is_busy();
        if !busy && let Some(until) = self.schedule.sleep_until(deadline) {
            // Nothing to sleep off, mostly: whatever came last came long ago.
            self.pause(until, |_, pause| {
                std::thread::sleep(pause);
                Ok(())
            })?;
        }
        if self.unwatched != self.schedule.is_crowd() {
            self.watch(!self.schedule.is_crowd());
        }
        // A crowd is there already: nothing to be woken for before the next look.
        match busy || self.schedule.is_crowd() {
            true => self.waiter.wait(Duration::ZERO)?,
            false => self.pause(deadline, Waiter::wait)?,
        }
        for event in self.waiter.events() {
            match self.readable.get_mut(event.token().0) {
                Some(readable) => *readable = true,
                None => self.streams.handle_event(event, FIRST_STREAM_TOKEN),
            }
        }
        Ok(())
    }

    /// Has the sockets watched, or not. Where the system refuses, they are read without having been
    /// asked for, until it does not.
    fn watch(&mut self, on: bool) {
        let mut all = true;
        for (i, socket) in self.senders.sockets().iter().enumerate() {
            all &= self.waiter.watch(socket, i, on).is_ok();
        }
        self.unwatched = !(on && all);
        self.readable.fill(true);
    }

    /// Sleeps until a time by `nap`, which may end sooner.
    fn pause(
        &mut self,
        until: Time,
        nap: impl FnOnce(&mut Waiter, Duration) -> io::Result<()>,
    ) -> io::Result<()> {
        let now = self.clock.now();
        nap(&mut self.waiter, until.since(now))?;
        if until > now {
            self.stall.wake(until, self.clock.now(), run_time());
        }
        Ok(())
    }

    /// Drains every socket that may have something, once.
    fn receive(&mut self, node: &mut impl StreamNode) -> bool {
        let (begun, mut came) = (self.clock.now(), 0);
        self.unread = false;
        if self.unwatched {
            self.readable.fill(true);
        }
        for (i, socket) in self.senders.sockets().iter().enumerate() {
            let mut inboxes = 0;
            while self.readable[i] {
                // An error leaves the socket alone until the system says that more has come.
                let count = socket.receive(&mut self.inbox).unwrap_or(0);
                self.readable[i] = count > 0;
                came += count;
                let now = self.clock.now();
                hand_over(&mut self.inbox, node, &mut self.told, now, i as u8);
                inboxes += 1;
                if !self.inbox.is_full() {
                    // Nothing more, as it seems; the next wake-up looks again.
                    break;
                }
                if inboxes == DRAIN_LIMIT {
                    self.unread = true;
                    break;
                }
            }
        }
        self.schedule.looked(begun, self.clock.now(), came);
        came > 0
    }
}

/// Hands over what has come to a socket, and has what each datagram will touch brought near in the
/// meantime: first what says whose it is, and when that is there, what leads to its sender, and then
/// what is kept of it.
fn hand_over(inbox: &mut Inbox, node: &mut impl Node, told: &mut Time, now: Time, socket: u8) {
    for step in 0..inbox.len() + 3 * LEAD {
        let earlier = |steps| step.checked_sub(steps * LEAD);
        if let Some(bytes) = inbox.bytes(step) {
            node.prefetch(Prefetch::Sender(bytes), prefetch);
        }
        if let Some(bytes) = earlier(1).and_then(|at| inbox.bytes(at)) {
            node.prefetch(Prefetch::Way(bytes), prefetch);
        }
        if let Some(bytes) = earlier(2).and_then(|at| inbox.bytes(at)) {
            node.prefetch(Prefetch::Datagram(bytes), prefetch);
        }
        if let Some((envelope, ago, bytes)) = earlier(3).and_then(|at| inbox.arrival(at)) {
            // When it came, and not when we looked: whoever measures time by it would be misled.
            *told = (*told).max(now - ago);
            let (local, remote) = (envelope.local, envelope.remote.into());
            node.handle_datagram(*told, Path { socket, local, remote }, bytes);
        }
    }
}

/// How long this thread has had a processor, where the system says so.
fn run_time() -> Option<Duration> {
    #[cfg(target_os = "linux")]
    return linux::run_time();
    #[cfg(not(target_os = "linux"))]
    None
}

#[cfg(test)]
mod tests;
