//! Our client and our server, each alone on a desk, and what the other end says in literal bytes.

use std::net::SocketAddr;

use backspin::client::{Client, ClientConfig, ClientEvent};
use backspin::endpoint::EndpointConfig;
use backspin::node::StreamEvent;
use backspin::room::{RoomConfig, RoomEvent};
use backspin::server::Server;
use backspin::time::Time;
use backspin::wire::Name;
use backspin_classic::Dialect;
use backspin_sim::dot::Dots;

use crate::desk::{Desk, address};

pub(crate) const HELLO_ACK: [u8; 4] = [0, 0, 2, 1];

/// One entity: id 1, a player at (50, 100).
pub(crate) const STATE: [u8; 31] = [
    27, 0, 4, 1, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0x48, 0x42, 0, 0, 0xC8, 0x42, 0, 0, 0, 0, 0, 0, 0, 0,
    0xFF, 0xFF, 0xAA, 0x55,
];

/// Where the server is that our client speaks to.
pub(crate) fn server_address() -> SocketAddr {
    address("10.0.0.1:4242")
}

pub(crate) fn client(dialect: Dialect) -> Desk<Client<Dots>> {
    let mut config = ClientConfig::new(server_address(), Name::new("Alice"));
    config.own_port = 5000;
    Desk::new(dialect.client(Time::ZERO, Dots::default(), config, [3; 32]))
}

/// An `rtype` client that has its token and has sent its first Hello.
pub(crate) fn asking_client() -> Desk<Client<Dots>> {
    let mut desk = client(Dialect::Rtype);
    desk.stream(0, StreamEvent::Opened(address("10.0.0.1:4243").into()));
    desk.stream(0, StreamEvent::Received(&[0, 0, 100, 1]));
    desk.stream(0, StreamEvent::Received(b"\x06\0\x02\x01\x92\x10\x78\x56\x34\x12"));
    let sent = desk.advance_ms(0);
    assert_eq!(sent.len(), 1, "a Hello");
    desk
}

/// One that was acknowledged and shown the world.
pub(crate) fn playing_client() -> Desk<Client<Dots>> {
    let mut desk = asking_client();
    desk.receive(server_address(), &HELLO_ACK);
    desk.receive(server_address(), &STATE);
    assert_eq!(connections(&mut desk), 1);
    desk
}

/// How often the client says that it is connected.
pub(crate) fn connections(desk: &mut Desk<Client<Dots>>) -> usize {
    let events = std::iter::from_fn(|| desk.node.poll_event());
    events.filter(|event| matches!(event, ClientEvent::Connected(_))).count()
}

pub(crate) fn server() -> Desk<Server<Dots>> {
    let mut server =
        Server::new(EndpointConfig::default(), [5; 32]).speaking(backspin_classic::dialects());
    server.open(Time::ZERO, Dots::default(), Name::new("Dots"), 0, RoomConfig::default());
    Desk::new(server)
}

/// The TCP step from `ip`, and the UDP Hello for its token.
pub(crate) fn hello_from(desk: &mut Desk<Server<Dots>>, stream: u64, ip: &str) -> Vec<u8> {
    desk.stream(stream, StreamEvent::Opened(address(&format!("{ip}:40000")).into()));
    let ack = desk.stream(stream, StreamEvent::Received(b"\x05\0\x01\x01Alice"));
    let ack = ack[0].clone().expect("a token");
    [&[20, 0, 1, 1], &ack[6..10], b"Alice\0\0\0\0\0\0\0\0\0\0\0"].concat()
}

pub(crate) fn room_events(desk: &mut Desk<Server<Dots>>) -> Vec<RoomEvent> {
    let room = &mut desk.node.rooms_mut()[0];
    std::iter::from_fn(|| room.poll_event()).collect()
}
