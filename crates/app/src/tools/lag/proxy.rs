//! The proxy's sockets and loop: wait, read, pass to the relay, send what is due.

use std::collections::BTreeSet;
use std::io;
use std::time::Duration;

use backspin::time::Time;
use backspin_sim::LinkConfig;
use backspin_udp::{Backend, Inbox, Socket, Waiter};

use super::relay::{FRONT, Relay, Setup};
use super::show::Report;

/// One socket for all players, and a relay behind it.
pub(in crate::tools) struct Proxy {
    front: Socket,
    relay: Relay,
    waiter: Waiter,
    inbox: Inbox,
    /// Sockets that may have something to read, by their names.
    readable: BTreeSet<usize>,
}

/// The longest datagram there is fits.
const DATAGRAM_LEN: usize = 65_536;

/// How many inboxes are taken from a socket before the others have their turn.
const DRAIN_LIMIT: usize = 4;

impl Proxy {
    /// Forwards what comes to `front`.
    pub(in crate::tools) fn new(mut front: Socket, setup: Setup) -> io::Result<Self> {
        let waiter = Waiter::new(Backend::Batched)?;
        waiter.add(&mut front, FRONT)?;
        let inbox = Inbox::new(DATAGRAM_LEN);
        Ok(Proxy { front, relay: Relay::new(setup), waiter, inbox, readable: BTreeSet::new() })
    }

    /// Waits until something comes, is due, or `limit` is reached, and does what is to be done.
    /// Nothing that a player or the game does ends it; an error is one of waiting.
    pub(in crate::tools) fn turn(&mut self, now: impl Fn() -> Time, limit: Time) -> io::Result<()> {
        let deadline = self.relay.next_due().map_or(limit, |due| due.min(limit));
        let idle = self.readable.is_empty();
        let patience = if idle { deadline.since(now()) } else { Duration::ZERO };
        self.waiter.wait(patience)?;
        self.readable.extend(self.waiter.ready());
        for name in std::mem::take(&mut self.readable) {
            self.drain(name, &now);
        }
        self.relay.deliver(now(), &self.front);
        self.relay.expire(now(), &self.waiter);
        Ok(())
    }

    /// What the links do from now on; what is under way keeps its time.
    pub(super) fn set_link(&mut self, link: LinkConfig) {
        self.relay.set_link(link);
    }

    /// What has been done so far.
    pub(super) fn report(&self) -> Report {
        self.relay.report()
    }

    /// Reads a socket until it is empty, or notes that it is not.
    fn drain(&mut self, name: usize, now: &impl Fn() -> Time) {
        for _ in 0..DRAIN_LIMIT {
            let Some(socket) = self.relay.socket(name, &self.front) else { return };
            // An error is an earlier datagram's, or passes like one.
            if socket.receive(&mut self.inbox).unwrap_or(0) == 0 {
                return;
            }
            let now = now();
            for (envelope, ago, bytes) in self.inbox.arrivals() {
                // A machine that wakes us late is not to make the link longer.
                let came = now - ago;
                match name {
                    FRONT => self.relay.handle_player(came, envelope, bytes, &self.waiter),
                    name => self.relay.handle_game(came, name, envelope, bytes),
                }
            }
        }
        self.readable.insert(name);
    }
}
