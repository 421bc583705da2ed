//! The loop that drives a node: sleep to the deadline or until something comes, hand over, send.

use std::io;
use std::time::Duration;

use backspin::node::{Path, StreamNode};
use backspin::time::Time;
use mio::{Events, Interest, Poll, Token};

use crate::clock::Clock;
use crate::streams::Streams;
use crate::{Listener, Socket};

/// One byte more than any good datagram, so that a longer one is seen to be too long.
const RECEIVE_LEN: usize = 2048;

/// How many datagrams are taken from a socket before the node may answer: a flood must not keep
/// the node from its ticks.
const DRAIN_LIMIT: usize = 256;

/// The system's waiting is good to a millisecond; the rest is slept off.
const COARSE: Duration = Duration::from_millis(1);

/// Sockets have the tokens below, listeners and streams those from here on.
const FIRST_STREAM_TOKEN: usize = SOCKET_LIMIT;

/// A path counts sockets in a byte.
const SOCKET_LIMIT: usize = 256;

/// The clock, the sockets, the streams and the waiting of one thread.
#[derive(Debug)]
pub struct Loop {
    clock: Clock,
    poll: Poll,
    events: Events,
    sockets: Vec<Socket>,
    pub(crate) streams: Streams,
    buffer: Box<[u8; RECEIVE_LEN]>,
    /// Something was left unread: do not wait for a signal that has been given.
    unread: bool,
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
    /// `listeners`.
    ///
    /// # Panics
    /// If there are more than 256 sockets.
    pub fn with_listeners(mut sockets: Vec<Socket>, listeners: Vec<Listener>) -> io::Result<Self> {
        assert!(sockets.len() <= SOCKET_LIMIT, "a path has no number for so many sockets");
        let poll = Poll::new()?;
        for (i, socket) in sockets.iter_mut().enumerate() {
            poll.registry().register(socket.source(), Token(i), Interest::READABLE)?;
        }
        let registry = poll.registry().try_clone()?;
        Ok(Loop {
            clock: Clock::start(),
            poll,
            events: Events::with_capacity(64),
            sockets,
            streams: Streams::new(registry, listeners, FIRST_STREAM_TOKEN)?,
            buffer: Box::new([0; RECEIVE_LEN]),
            unread: false,
            unsent: 0,
        })
    }

    /// The time on this loop's clock.
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// The sockets.
    pub fn sockets(&self) -> &[Socket] {
        &self.sockets
    }

    /// The listeners.
    pub fn listeners(&self) -> impl Iterator<Item = &Listener> {
        self.streams.listeners()
    }

    /// Datagrams that the system did not take, or that had no socket.
    pub fn unsent(&self) -> u64 {
        self.unsent
    }

    /// Waits until something comes, the node's deadline passes, or `limit` is reached; hands the
    /// node what is due and sends what it wants sent.
    ///
    /// What a peer does ends no turn; an error is this machine's.
    pub fn turn(&mut self, node: &mut impl StreamNode, limit: Time) -> io::Result<Wake> {
        self.flush(node);
        let deadline = node.poll_timeout().unwrap_or(limit).min(limit);
        self.wait(deadline)?;
        let mut came = self.streams.receive(self.clock, node, &mut self.buffer[..]);
        came |= self.receive(node)?;
        let due = node.poll_timeout().is_some_and(|due| due <= self.now());
        if due {
            node.handle_timeout(self.now());
        }
        self.flush(node);
        Ok(if came || due { Wake::Work } else { Wake::Limit })
    }

    /// Sends what the node wants sent, and waits for nothing.
    pub fn flush(&mut self, node: &mut impl StreamNode) {
        self.streams.perform(self.clock, node, &mut self.buffer[..]);
        while let Some(transmit) = node.poll_transmit(self.now(), &mut self.buffer[..]) {
            let socket = self.sockets.get(usize::from(transmit.path.socket));
            let bytes = &self.buffer[..transmit.len];
            let sent = socket.map(|socket| socket.send(transmit.path.remote, bytes));
            self.unsent += u64::from(!matches!(sent, Some(Ok(()))));
        }
    }

    fn wait(&mut self, deadline: Time) -> io::Result<()> {
        let unread = self.unread || self.streams.is_busy();
        let patience = deadline.since(self.now());
        let coarse = if unread { Duration::ZERO } else { patience.saturating_sub(COARSE) };
        match self.poll.poll(&mut self.events, Some(coarse)) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
            other => other?,
        }
        for event in &self.events {
            self.streams.handle_event(event, FIRST_STREAM_TOKEN);
        }
        if self.events.is_empty() && !unread {
            std::thread::sleep(deadline.since(self.now()));
        }
        Ok(())
    }

    /// Drains every socket, once. The signal comes only when a socket was empty before, so all are
    /// tried.
    fn receive(&mut self, node: &mut impl StreamNode) -> io::Result<bool> {
        let mut came = false;
        self.unread = false;
        for i in 0..self.sockets.len() {
            let mut taken = 0;
            while let Some((len, remote)) = self.sockets[i].receive(&mut self.buffer[..])? {
                let path = Path { socket: i as u8, local: None, remote };
                node.handle_datagram(self.now(), path, &mut self.buffer[..len]);
                came = true;
                taken += 1;
                if taken == DRAIN_LIMIT {
                    self.unread = true;
                    break;
                }
            }
        }
        Ok(came)
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use backspin::node::{Node, Transmit};

    use super::*;

    /// Sends everything back, and once, at its deadline, a word of its own.
    struct Echo {
        answers: Vec<(Path, Vec<u8>)>,
        deadline: Option<(Time, SocketAddr)>,
    }

    impl Node for Echo {
        fn handle_datagram(&mut self, _now: Time, path: Path, bytes: &mut [u8]) {
            self.answers.push((path, bytes.to_vec()));
        }

        fn handle_timeout(&mut self, now: Time) {
            if let Some((_, to)) = self.deadline.take_if(|(due, _)| *due <= now) {
                self.answers.push((Path::to(to), b"tick".to_vec()));
            }
        }

        fn poll_transmit(&mut self, _now: Time, out: &mut [u8]) -> Option<Transmit> {
            let (path, bytes) = self.answers.pop()?;
            out[..bytes.len()].copy_from_slice(&bytes);
            Some(Transmit { path, len: bytes.len() })
        }

        fn poll_timeout(&self) -> Option<Time> {
            self.deadline.map(|(due, _)| due)
        }
    }

    impl StreamNode for Echo {}

    fn loopback() -> Socket {
        Socket::bind("127.0.0.1:0".parse().unwrap()).unwrap()
    }

    fn run(driver: &mut Loop, node: &mut Echo, span: Duration) {
        let limit = driver.now() + span;
        while driver.now() < limit {
            driver.turn(node, limit).unwrap();
        }
    }

    #[test]
    fn a_node_answers_over_the_socket_that_was_asked() {
        let mut driver = Loop::new(vec![loopback(), loopback()]).unwrap();
        let mut node = Echo { answers: Vec::new(), deadline: None };
        let peer = loopback();
        let asked = driver.sockets()[1].local_addr().unwrap();
        peer.send(asked, b"hello").unwrap();
        run(&mut driver, &mut node, Duration::from_millis(20));
        let mut buffer = [0; 16];
        assert_eq!(peer.receive(&mut buffer).unwrap(), Some((5, asked)));
        assert_eq!(&buffer[..5], b"hello");
    }

    #[test]
    fn a_deadline_wakes_the_loop_without_a_datagram() {
        let mut driver = Loop::new(vec![loopback()]).unwrap();
        let peer = loopback();
        let due = driver.now() + Duration::from_millis(10);
        let deadline = Some((due, peer.local_addr().unwrap()));
        let mut node = Echo { answers: Vec::new(), deadline };
        run(&mut driver, &mut node, Duration::from_millis(30));
        let mut buffer = [0; 16];
        assert_eq!(peer.receive(&mut buffer).unwrap().map(|(len, _)| len), Some(4));
    }
}
