//! The loop that drives a node: sleep to the deadline or the next datagram, hand over, send.

use std::io;
use std::time::{Duration, Instant};

use backspin::node::{Node, Path};
use backspin::time::Time;
use mio::{Events, Interest, Poll, Token};

use crate::Socket;

/// One byte more than any good datagram, so that a longer one is seen to be too long.
const RECEIVE_LEN: usize = 2048;

/// How many datagrams are taken from a socket before the node may answer: a flood must not keep
/// the node from its ticks.
const DRAIN_LIMIT: usize = 256;

/// The system's waiting is good to a millisecond; the rest is slept off.
const COARSE: Duration = Duration::from_millis(1);

/// The clock, the sockets and the waiting of one thread.
#[derive(Debug)]
pub struct Loop {
    origin: Instant,
    poll: Poll,
    events: Events,
    sockets: Vec<Socket>,
    buffer: Box<[u8; RECEIVE_LEN]>,
    /// A socket was left with datagrams in it: do not wait for a signal that has been given.
    unread: bool,
}

/// Why a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// Datagrams came or a deadline passed.
    Work,
    /// The caller's own limit was reached.
    Limit,
}

impl Loop {
    /// A loop over `sockets`; a path's `socket` counts them in this order.
    pub fn new(mut sockets: Vec<Socket>) -> io::Result<Self> {
        let poll = Poll::new()?;
        for (i, socket) in sockets.iter_mut().enumerate() {
            poll.registry().register(socket.source(), Token(i), Interest::READABLE)?;
        }
        Ok(Loop {
            origin: Instant::now(),
            poll,
            events: Events::with_capacity(64),
            sockets,
            buffer: Box::new([0; RECEIVE_LEN]),
            unread: false,
        })
    }

    /// The time on this loop's clock.
    pub fn now(&self) -> Time {
        Time::ZERO + self.origin.elapsed()
    }

    /// The sockets.
    pub fn sockets(&self) -> &[Socket] {
        &self.sockets
    }

    /// Waits until a datagram comes, the node's deadline passes, or `limit` is reached; hands the
    /// node what is due and sends what it wants sent.
    pub fn turn(&mut self, node: &mut impl Node, limit: Time) -> io::Result<Wake> {
        self.transmit(node)?;
        let deadline = node.poll_timeout().unwrap_or(limit).min(limit);
        self.wait(deadline)?;
        let came = self.receive(node)?;
        let due = node.poll_timeout().is_some_and(|due| due <= self.now());
        if due {
            node.handle_timeout(self.now());
        }
        self.transmit(node)?;
        Ok(if came || due { Wake::Work } else { Wake::Limit })
    }

    fn wait(&mut self, deadline: Time) -> io::Result<()> {
        let patience = deadline.since(self.now());
        let coarse = if self.unread { Duration::ZERO } else { patience.saturating_sub(COARSE) };
        match self.poll.poll(&mut self.events, Some(coarse)) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
            other => other?,
        }
        if self.events.is_empty() && !self.unread {
            std::thread::sleep(deadline.since(self.now()));
        }
        Ok(())
    }

    /// Drains every socket, once. The signal comes only when a socket was empty before, so all are
    /// tried.
    fn receive(&mut self, node: &mut impl Node) -> io::Result<bool> {
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

    fn transmit(&mut self, node: &mut impl Node) -> io::Result<()> {
        while let Some(transmit) = node.poll_transmit(self.now(), &mut self.buffer[..]) {
            if let Some(socket) = self.sockets.get(usize::from(transmit.path.socket)) {
                socket.send(transmit.path.remote, &self.buffer[..transmit.len])?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use backspin::node::Transmit;

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
