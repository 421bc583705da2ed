//! Whole conversations of strangers with a server: nobody is sent more `native` or `ack` bytes than came
//! from there before a cookie came back, nor more than three times what came and 200 bytes in the old
//! dialects, headers included; and nothing panics.
//!
//! The input is a script: a byte that names the sender and the time that passes, two for the
//! length, then the datagram. With the highest bit of the length it is a piece of the stream that the
//! first of the four has for `rtype`; the token that this brings is put into every Hello of the
//! others.
#![no_main]

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use backspin::endpoint::EndpointConfig;
use backspin::node::{Node, Path, StreamAction, StreamEvent, StreamId, StreamNode};
use backspin::room::RoomConfig;
use backspin::server::Server;
use backspin::time::Time;
use backspin::wire::Name;
use backspin_classic::Dialect;
use backspin_classic::wire::rtype::Message;
use backspin_sim::dot::Dots;
use libfuzzer_sys::fuzz_target;

const STRANGERS: usize = 4;

/// The one who has a stream, so that its address is proved in `rtype`.
const CALLER: usize = 0;

/// Bytes of IPv4 and UDP around a datagram.
const HEADERS: usize = 28;

/// Bytes in the old dialects that are answered for nothing.
const FREE: usize = 200;

/// The bit of a length that says "stream".
const STREAM: u16 = 0x8000;

/// What the server may still send to somebody.
#[derive(Clone, Copy)]
struct Credit {
    native: usize,
    old: usize,
}

struct Street {
    server: Server<Dots>,
    now: Time,
    credit: [Credit; STRANGERS],
    streams: u64,
    token: Option<[u8; 4]>,
}

fuzz_target!(|data: &[u8]| {
    let mut street = Street::new();
    let mut rest = data;
    while let [who, low, high, tail @ ..] = rest {
        let head = u16::from_le_bytes([*low, *high]);
        let len = usize::from(head & !STREAM).min(tail.len());
        let (bytes, tail) = tail.split_at(len);
        rest = tail;
        street.wait(Duration::from_millis(u64::from(who >> 2) * 50));
        match head & STREAM {
            0 => street.receive(usize::from(who % 4), bytes),
            _ => street.stream(bytes),
        }
    }
});

impl Street {
    fn new() -> Self {
        let mut server =
            Server::new(EndpointConfig::default(), [9; 32]).speaking(backspin_classic::dialects());
        server.open(Time::ZERO, Dots::default(), Name::new("Dots"), 0, RoomConfig::default());
        let credit = [Credit { native: 0, old: FREE }; STRANGERS];
        Street { server, now: Time::ZERO, credit, streams: 0, token: None }
    }

    fn wait(&mut self, span: Duration) {
        let until = self.now + span;
        while let Some(due) = self.server.poll_timeout().filter(|&due| due <= until) {
            self.now = self.now.max(due);
            self.server.handle_timeout(self.now);
            self.drain();
        }
        self.now = until;
    }

    fn receive(&mut self, stranger: usize, bytes: &[u8]) {
        let mut bytes = bytes.to_vec();
        if let ([20, 0, 1, 1, old @ ..], Some(token)) = (&mut bytes[..], self.token)
            && old.len() == 20
        {
            old[..4].copy_from_slice(&token);
        }
        let credit = &mut self.credit[stranger];
        match Dialect::detect(&bytes) {
            Some(Dialect::Native | Dialect::Ack) => credit.native += bytes.len(),
            _ => credit.old += 3 * (bytes.len() + HEADERS),
        }
        self.server.handle_datagram(self.now, Path::to(address(stranger)), &mut bytes);
        self.drain();
    }

    /// An empty piece opens the next stream.
    fn stream(&mut self, bytes: &[u8]) {
        let event = match bytes {
            [] => {
                self.streams += 1;
                StreamEvent::Opened(address(CALLER).into())
            }
            bytes => StreamEvent::Received(bytes),
        };
        self.server.handle_stream(self.now, StreamId(self.streams), event);
        self.drain();
    }

    /// No script can guess a cookie or the bytes of a Ping: everyone stays a stranger, but who has a
    /// stream.
    fn drain(&mut self) {
        let mut out = [0; 2048];
        while let Some((_, action)) = self.server.poll_stream(self.now, &mut out) {
            if let StreamAction::Send(len) = action
                && let Ok(Some((Message::HelloAck(ack), _))) = Message::decode_next(&out[..len])
            {
                self.token = Some(ack.token.to_le_bytes());
            }
        }
        while let Some(transmit) = self.server.poll_transmit(self.now, &mut out) {
            let to = transmit.path.remote.socket_addr().expect("a socket address").ip();
            let stranger = (0..STRANGERS).find(|&stranger| address(stranger).ip() == to);
            let stranger = stranger.expect("only who wrote is answered");
            let Credit { native, old } = &mut self.credit[stranger];
            let (credit, len) = match Dialect::detect(&out[..transmit.len]) {
                Some(Dialect::Native | Dialect::Ack) => (native, transmit.len),
                Some(Dialect::Rtype) if stranger == CALLER => continue,
                _ => (old, transmit.len + HEADERS),
            };
            *credit = credit.checked_sub(len).expect("more bytes than came");
        }
    }
}

fn address(stranger: usize) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1 + stranger as u8)), 5000)
}
