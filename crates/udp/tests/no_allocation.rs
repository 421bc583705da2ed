//! A loop that runs allocates nothing, whatever comes and goes: proved by an allocator that counts.

#[path = "../../net/tests/counting/mod.rs"]
mod counting;

use std::net::UdpSocket;
use std::time::Duration;

use backspin::node::{Node, Path, StreamNode, Transmit};
use backspin::time::Time;
use backspin_udp::{Backend, Loop, Socket};

/// Sends back as many as it got, at its next deadline.
struct Echo {
    owed: usize,
    to: Path,
    due: Time,
}

impl Node for Echo {
    fn handle_datagram(&mut self, now: Time, path: Path, _bytes: &mut [u8]) {
        self.owed += 1;
        self.to = path;
        self.due = now + Duration::from_millis(1);
    }

    fn handle_timeout(&mut self, now: Time) {
        self.due = now + Duration::from_millis(1);
    }

    fn poll_transmit(&mut self, _now: Time, out: &mut [u8]) -> Option<Transmit> {
        self.owed = self.owed.checked_sub(1)?;
        out[..200].fill(7);
        Some(Transmit { path: self.to, len: 200 })
    }

    fn poll_timeout(&self) -> Option<Time> {
        Some(self.due)
    }
}

impl StreamNode for Echo {}

#[test]
fn a_loop_that_runs_allocates_nothing() {
    for backend in [Backend::Batched, Backend::Portable] {
        let socket = Socket::bind_with("127.0.0.1:0".parse().unwrap(), backend).unwrap();
        let peer = UdpSocket::bind("127.0.0.1:0").unwrap();
        peer.connect(socket.local_addr().unwrap()).unwrap();
        peer.set_nonblocking(true).unwrap();
        let mut driver = Loop::new(vec![socket]).unwrap();
        let to = Path::to(peer.local_addr().unwrap());
        let mut node = Echo { owed: 0, to, due: Time::ZERO };
        let patience = driver.now() + Duration::from_secs(10);
        let (mut answers, before) = (0, counting::allocations());
        for _ in 0..50 {
            for _ in 0..100 {
                peer.send(&[1; 13]).unwrap();
            }
            answers += 100;
            while answers > 0 {
                driver.turn(&mut node, patience).unwrap();
                assert!(driver.now() < patience, "{answers} answers are missing");
                while peer.recv(&mut [0; 256]).is_ok() {
                    answers -= 1;
                }
            }
        }
        assert_eq!(counting::allocations(), before, "{backend:?}");
    }
}
