//! Every named limit of the endpoint, at it and one past it.

use backspin::client::{Client, ClientConfig};
use backspin::endpoint::{ANSWER_LIMIT, EndpointConfig, Limits};
use backspin::node::{Node, Path, Transmit};
use backspin::room::RoomConfig;
use backspin::server::{Server, WATCHERS};
use backspin::session::EndReason;
use backspin::time::Time;
use backspin::wire::Name;
use backspin::wire::native::Role;
use backspin_sim::dot::Dots;

use super::desk::{Desk, address};
use super::server::{join, play};

fn desk(rooms: u64, limits: Limits) -> Desk<Server<Dots>> {
    let mut server = Server::new(EndpointConfig { limits, ..EndpointConfig::default() }, [5; 32])
        .speaking(backspin_classic::dialects());
    for room in 0..rooms {
        server.open(Time::ZERO, Dots::default(), Name::new("Dots"), room, RoomConfig::default());
    }
    Desk::new(server)
}

/// A `lan` HELLO is the shortest way to a session.
fn hello(desk: &mut Desk<Server<Dots>>, ip: &str, port: u16) -> bool {
    let [high, low] = port.to_be_bytes();
    !desk.receive(address(&format!("{ip}:{port}")), &[3, high, low]).is_empty()
}

const PING: [u8; 12] = [8, 0, 7, 1, 1, 0, 0, 0, 2, 0, 0, 0];

#[test]
fn a_room_holds_its_players_and_no_more() {
    let mut desk = desk(1, Limits::default());
    assert!((1..=4).all(|port| hello(&mut desk, "10.0.0.2", port)));
    assert!(!hello(&mut desk, "10.0.0.2", 5));
}

#[test]
fn a_room_holds_its_watchers_and_no_more() {
    let mut desk = desk(1, Limits::default());
    let mut watch = |number: u8| {
        let (server, own) = (address("10.0.0.1:4300"), address(&format!("10.0.0.2:{number}")));
        let config = ClientConfig::new(server, Name::new("Eve"));
        let config = ClientConfig { role: Role::Watch, ..config };
        let mut client = Client::new(desk.now, Dots::default(), config, [number; 32]);
        let mut out = [0; 2048];
        // Hello, then Join.
        for _ in 0..2 {
            client.handle_timeout(desk.now);
            while let Some(Transmit { len, .. }) = client.poll_transmit(desk.now, &mut out) {
                let sent = desk.receive(own, &out[..len]);
                for (_, mut bytes) in sent.into_iter().filter(|(to, _)| *to == own) {
                    client.handle_datagram(desk.now, Path::to(server), &mut bytes);
                }
            }
        }
        (client.is_playing(), client.ended().copied())
    };
    assert!((1..=WATCHERS).all(|number| watch(number) == (true, None)));
    assert_eq!(watch(WATCHERS + 1), (false, Some(EndReason::Full)));
}

#[test]
fn sessions_in_all() {
    let mut desk = desk(8, Limits { sessions: 10, ..Limits::default() });
    assert!((1..=10).all(|host| hello(&mut desk, &format!("10.0.0.{host}"), 5000)));
    assert!(!hello(&mut desk, "10.0.0.11", 5000));
    assert_eq!(desk.node.endpoint().sessions(), 10);
}

#[test]
fn sessions_from_one_address() {
    let mut desk = desk(8, Limits { sessions_per_ip: 3, ..Limits::default() });
    assert!((1..=3).all(|port| hello(&mut desk, "10.0.0.2", port)));
    assert!(!hello(&mut desk, "10.0.0.2", 4));
    assert!(hello(&mut desk, "10.0.0.3", 4));
}

#[test]
fn strangers_datagrams_a_second() {
    let mut desk = desk(1, Limits { stranger_datagrams_per_s: 20, ..Limits::default() });
    let answered = |desk: &mut Desk<Server<Dots>>, ip: &str| {
        let asks = (0..100).filter(|_| {
            let sent = desk.receive(address(&format!("{ip}:1")), &PING);
            !sent.is_empty()
        });
        asks.count()
    };
    assert_eq!(answered(&mut desk, "192.0.2.1"), 20);
    assert_eq!(answered(&mut desk, "192.0.2.2"), 20, "another address has its own");
    desk.advance_ms(500);
    assert_eq!(answered(&mut desk, "192.0.2.1"), 10, "half a second, half of them");
    assert_eq!(desk.node.endpoint().counts().stranger_limit, 80 + 80 + 90);
}

#[test]
fn a_players_datagrams_a_second() {
    let mut desk = desk(1, Limits { player_datagrams_per_s: 50, ..Limits::default() });
    assert!(hello(&mut desk, "10.0.0.2", 5000));
    let player = address("10.0.0.2:5000");
    for _ in 0..60 {
        desk.receive(player, &[5, 0, 0, 1]);
    }
    assert_eq!(desk.node.endpoint().counts().player_limit, 10);
}

#[test]
fn answers_that_wait() {
    let mut desk = desk(1, Limits::default());
    let path = |host: usize| {
        let ip = format!("192.0.{}.{}:1", host / 200, host % 200 + 1);
        Path::to(address(&ip))
    };
    for host in 0..ANSWER_LIMIT + 1 {
        desk.node.handle_datagram(Time::ZERO, path(host), &mut PING.to_vec());
    }
    assert_eq!(desk.drain().len(), ANSWER_LIMIT);
    assert_eq!(desk.node.endpoint().counts().answer_limit, 1);
}

#[test]
fn answers_that_wait_for_one_member() {
    use backspin::room::ANSWER_LIMIT;
    let mut desk = super::server::desk();
    let mut peer = join(&mut desk, address("10.0.0.2:5000"));
    play(&mut desk, &mut peer, 100);
    // All of them come before the server sends anything.
    for _ in 0..ANSWER_LIMIT + 3 {
        let mut ping = peer.ping();
        desk.node.handle_datagram(desk.now, Path::to(peer.at), &mut ping);
    }
    let is_pong = |bytes: &[u8]| bytes[1] == 0x85;
    let sent = desk.drain();
    assert_eq!(sent.iter().filter(|(_, bytes)| is_pong(bytes)).count(), ANSWER_LIMIT);
    assert_eq!(desk.node.endpoint().counts().answer_limit, 3);
    // The next batch is answered again.
    let mut ping = peer.ping();
    desk.node.handle_datagram(desk.now, Path::to(peer.at), &mut ping);
    assert!(desk.drain().iter().any(|(_, bytes)| is_pong(bytes)));
    assert_eq!(desk.node.endpoint().counts().answer_limit, 3);
}

#[test]
fn streams_in_all_and_from_one_address() {
    use backspin::node::StreamEvent;
    let limits = Limits { streams: 5, streams_per_ip: 3, ..Limits::default() };
    let mut desk = desk(1, limits);
    let mut open = |id: u64, ip: &str| {
        let peer = address(&format!("{ip}:1"));
        desk.stream(id, StreamEvent::Opened(peer.into())) == [Some(vec![0, 0, 100, 1])]
    };
    assert!((1..=3).all(|id| open(id, "10.0.0.2")));
    assert!(!open(4, "10.0.0.2"));
    assert!(open(5, "10.0.0.3") && open(6, "10.0.0.3"));
    assert!(!open(7, "10.0.0.4"));
}
