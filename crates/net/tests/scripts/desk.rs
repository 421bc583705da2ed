//! One machine on a desk: bytes are put in, time is moved on, bytes come out.

use std::net::SocketAddr;
use std::time::Duration;

use backspin::node::{Path, StreamAction, StreamEvent, StreamId, StreamNode};
use backspin::time::Time;

/// A datagram that came out, and where to.
pub(crate) type Sent = (SocketAddr, Vec<u8>);

pub(crate) struct Desk<N> {
    pub(crate) node: N,
    pub(crate) now: Time,
}

impl<N: StreamNode> Desk<N> {
    pub(crate) fn new(node: N) -> Self {
        Desk { node, now: Time::ZERO }
    }

    /// Hands over a datagram and returns what it brings about at once.
    pub(crate) fn receive(&mut self, from: SocketAddr, bytes: &[u8]) -> Vec<Sent> {
        self.node.handle_datagram(self.now, Path::to(from), &mut bytes.to_vec());
        self.drain()
    }

    /// Moves time on, deadline by deadline, and returns everything that was sent meanwhile.
    pub(crate) fn advance_ms(&mut self, ms: u64) -> Vec<Sent> {
        let until = self.now + Duration::from_millis(ms);
        let mut sent = self.drain();
        while let Some(due) = self.node.poll_timeout().filter(|&due| due <= until) {
            self.now = self.now.max(due);
            self.node.handle_timeout(self.now);
            sent.extend(self.drain());
        }
        self.now = until;
        sent
    }

    /// What the machine wants to send now.
    pub(crate) fn drain(&mut self) -> Vec<Sent> {
        let mut out = [0; 2048];
        let mut sent = Vec::new();
        while let Some(transmit) = self.node.poll_transmit(self.now, &mut out) {
            let to = transmit.path.remote.socket_addr().expect("a socket address");
            sent.push((to, out[..transmit.len].to_vec()));
        }
        sent
    }

    /// Hands over what happened to a stream, and returns what is to be written to it or `None`
    /// where it is to be closed.
    pub(crate) fn stream(&mut self, id: u64, event: StreamEvent<'_>) -> Vec<Option<Vec<u8>>> {
        self.node.handle_stream(self.now, StreamId(id), event);
        let mut out = [0; 2048];
        let mut written = Vec::new();
        while let Some((stream, action)) = self.node.poll_stream(self.now, &mut out) {
            match action {
                _ if stream != StreamId(id) => {}
                StreamAction::Send(len) => written.push(Some(out[..len].to_vec())),
                StreamAction::Close => written.push(None),
                StreamAction::Open(_) => {}
            }
        }
        written
    }
}

/// What went to `to`.
pub(crate) fn sent_to(sent: &[Sent], to: SocketAddr) -> Vec<&[u8]> {
    sent.iter().filter(|(address, _)| *address == to).map(|(_, bytes)| &bytes[..]).collect()
}

pub(crate) fn address(text: &str) -> SocketAddr {
    text.parse().unwrap()
}
