//! What an address has to prove, who holds a place, and for how long, in literal bytes.

use std::net::SocketAddr;

use backspin::endpoint::{CLAIM_WITHIN, EndpointConfig, Limits, Tokenless, Unguarded};
use backspin::node::StreamEvent;
use backspin::room::RoomConfig;
use backspin::server::Server;
use backspin::time::Time;
use backspin::wire::Name;
use backspin_sim::dot::Dots;

use super::desk::{Desk, Sent, address, sent_to};

const HELLO_ACK: &[u8] = &[0, 0, 2, 1];
const INPUT: &[u8] = &[5, 0, 3, 1, 0, 0, 0, 0, 8];
const START_MATCH: &[u8] = &[0, 0, 14, 1];

/// Bytes of IPv4 and UDP around every datagram.
const HEADERS: usize = 28;

fn desk_with(config: EndpointConfig) -> Desk<Server<Dots>> {
    let mut server = Server::new(config, [5; 32]).speaking(backspin_classic::dialects());
    server.open(Time::ZERO, Dots::default(), Name::new("Dots"), 0, RoomConfig::default());
    Desk::new(server)
}

fn desk() -> Desk<Server<Dots>> {
    desk_with(EndpointConfig::default())
}

fn tcp_step(desk: &mut Desk<Server<Dots>>, id: u64, peer: &str) -> [u8; 4] {
    desk.stream(id, StreamEvent::Opened(address(peer).into()));
    let ack = desk.stream(id, StreamEvent::Received(b"\x05\x00\x01\x01Alice"));
    let ack = ack[0].clone().expect("an answer");
    [ack[6], ack[7], ack[8], ack[9]]
}

fn hello(token: [u8; 4]) -> Vec<u8> {
    [&[20, 0, 1, 1], &token[..], b"Alice\0\0\0\0\0\0\0\0\0\0\0"].concat()
}

/// The eight bytes of the Ping that follows a HelloAck, if that is all that was sent there.
fn asked(sent: &[Sent], to: SocketAddr) -> Option<Vec<u8>> {
    match sent_to(sent, to)[..] {
        [HELLO_ACK, [8, 0, 7, 1, bytes @ ..]] => Some(bytes.to_vec()),
        _ => None,
    }
}

fn pong(bytes: &[u8]) -> Vec<u8> {
    [&[8, 0, 8, 1], bytes].concat()
}

fn shows_state(sent: &[Sent], to: SocketAddr) -> bool {
    sent_to(sent, to).iter().any(|bytes| bytes[2] == 4)
}

fn wire_bytes<'a>(datagrams: impl IntoIterator<Item = &'a [u8]>) -> usize {
    datagrams.into_iter().map(|bytes| bytes.len() + HEADERS).sum()
}

#[test]
fn an_rtype_token_from_elsewhere_reflects_no_more_than_three_times_its_bytes() {
    let mut desk = desk();
    let victim = address("10.6.6.6:5000");
    let token = tcp_step(&mut desk, 1, "10.0.0.2:40000");
    let (hello, mut got, mut sent) = (hello(token), 0, Vec::new());
    for _ in 0..10 {
        for bytes in [&hello[..], START_MATCH, INPUT] {
            got += wire_bytes([bytes]);
            sent.extend(desk.receive(victim, bytes));
        }
        sent.extend(desk.advance_ms(4_000));
    }
    let told = wire_bytes(sent_to(&sent, victim));
    assert!(told > 0 && told <= 3 * got, "{told} for {got}");
    assert!(!shows_state(&sent, victim));
    assert_eq!(desk.node.endpoint().sessions(), 0, "and it holds no place");
}

#[test]
fn an_address_that_sends_the_ping_back_is_proved_and_shown_the_world() {
    let mut desk = desk();
    let alice = address("10.7.7.7:5000");
    let token = tcp_step(&mut desk, 1, "10.0.0.2:40000");
    let bytes = asked(&desk.receive(alice, &hello(token)), alice).expect("HelloAck and Ping");
    // The Ping was lost: the same Hello, the same question.
    assert_eq!(asked(&desk.receive(alice, &hello(token)), alice), Some(bytes.clone()));
    assert_eq!(desk.receive(address("10.7.7.8:5000"), &pong(&bytes)), [], "from elsewhere");
    let mut guess = bytes.clone();
    guess[7] ^= 1;
    assert_eq!(desk.receive(alice, &pong(&guess)), [], "another answer");
    assert!(shows_state(&desk.receive(alice, &pong(&bytes)), alice));
    // It stays proved, also at another port.
    let moved = address("10.7.7.7:6000");
    desk.receive(alice, INPUT);
    desk.advance_ms(9_000);
    assert!(shows_state(&desk.receive(moved, &hello(token)), moved));
}

#[test]
fn the_bytes_of_two_pings_have_nothing_in_common() {
    let mut desk = desk();
    let mut seen = Vec::new();
    for n in 1..=8 {
        let token = tcp_step(&mut desk, n, &format!("10.0.0.{n}:40000"));
        let at = address(&format!("10.7.7.{n}:5000"));
        let bytes = asked(&desk.receive(at, &hello(token)), at).expect("HelloAck and Ping");
        seen.extend([bytes[..4].to_vec(), bytes[4..].to_vec()]);
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 16);
}

#[test]
fn where_the_stream_comes_from_is_proved_for_thirty_seconds_after_it_closed() {
    for (peer, player, is_same) in [
        ("10.0.0.2:40000", "10.0.0.2:5000", true),
        ("[::ffff:10.0.0.2]:40000", "10.0.0.2:5000", true),
        ("[2001:db8::1]:40000", "[2001:db8::2]:5000", true),
        ("[2001:db8::1]:40000", "[2001:db8:0:1::1]:5000", false),
        ("10.0.0.2:40000", "10.0.0.3:5000", false),
    ] {
        let (mut desk, at) = (desk(), address(player));
        let token = tcp_step(&mut desk, 1, peer);
        let sent = desk.receive(at, &hello(token));
        assert_eq!(shows_state(&sent, at), is_same, "{peer} {player}");
    }
    // A player who has been elsewhere comes back to where the stream was.
    for (closed_for_ms, is_proved) in [(29_000, true), (31_000, false)] {
        let (mut desk, home, away) = (desk(), address("10.0.0.2:5000"), address("10.7.7.7:5000"));
        let token = tcp_step(&mut desk, 1, "10.0.0.2:40000");
        let bytes = asked(&desk.receive(away, &hello(token)), away).expect("HelloAck and Ping");
        desk.receive(away, &pong(&bytes));
        desk.receive(away, INPUT);
        desk.stream(1, StreamEvent::Closed);
        for _ in 0..closed_for_ms / 1_000 - 6 {
            desk.advance_ms(1_000);
            desk.receive(away, INPUT);
        }
        desk.advance_ms(6_000);
        let sent = desk.receive(home, &hello(token));
        assert_eq!(shows_state(&sent, home), is_proved, "{closed_for_ms}");
    }
}

#[test]
fn a_place_is_free_five_seconds_after_the_last_answer_to_a_hello_that_nothing_followed() {
    let mut desk = desk();
    let alice = address("10.0.0.2:5000");
    let token = tcp_step(&mut desk, 1, "10.0.0.2:40000");
    desk.receive(alice, &hello(token));
    desk.advance_ms(4_000);
    desk.receive(alice, &hello(token));
    desk.advance_ms(4_900);
    assert_eq!(desk.node.endpoint().sessions(), 1);
    desk.advance_ms(200);
    assert_eq!(desk.node.endpoint().sessions(), 0);
    assert_eq!(desk.receive(alice, &hello(token)), [], "and nothing is held for a return");
    assert_eq!(CLAIM_WITHIN.as_secs(), 5);
}

#[test]
fn a_stream_ends_with_its_unused_token_and_soon_after_the_start() {
    let closes = |desk: &mut Desk<Server<Dots>>, id: u64, ms: u64| {
        desk.advance_ms(ms);
        // The stream says nothing more, but what is to be done to it is asked for.
        desk.stream(id, StreamEvent::Received(&[])).contains(&None)
    };
    let mut desk =
        desk_with(EndpointConfig { tokenless: Tokenless::Allowed, ..EndpointConfig::default() });
    desk.stream(1, StreamEvent::Opened(address("10.0.0.2:40000").into()));
    assert!(!closes(&mut desk, 1, 9_900) && closes(&mut desk, 1, 200), "no Hello");
    tcp_step(&mut desk, 2, "10.0.0.2:40000");
    assert!(!closes(&mut desk, 2, 29_900) && closes(&mut desk, 2, 200), "unused");
    let (alice, token) = (address("10.0.0.3:5000"), tcp_step(&mut desk, 3, "10.0.0.3:40000"));
    desk.receive(alice, &hello(token));
    desk.receive(alice, INPUT);
    assert!(!closes(&mut desk, 3, 4_900) && closes(&mut desk, 3, 200), "after StartGame");
    // A player without a token is kept by its stream.
    tcp_step(&mut desk, 4, "10.0.0.4:40000");
    desk.receive(address("10.0.0.4:5000"), b"\x05\x00\x01\x01Alice");
    assert!(!closes(&mut desk, 4, 300_000));
    assert_eq!(desk.node.endpoint().kept().streams, 1);
    // It goes with the player.
    desk.receive(address("10.0.0.4:5000"), &[0, 0, 16, 1]);
    assert!(closes(&mut desk, 4, 30_100));
    assert_eq!((desk.node.endpoint().kept().streams, desk.node.endpoint().kept().tokens), (0, 0));
}

#[test]
fn idle_streams_of_a_few_do_not_shut_the_door_for_others() {
    let mut desk = desk();
    for id in 1..=300 {
        let peer = format!("10.0.{}.2:40000", id % 16);
        desk.stream(id, StreamEvent::Opened(address(&peer).into()));
    }
    assert_eq!(desk.node.endpoint().kept().streams, 256);
    desk.advance_ms(10_100);
    tcp_step(&mut desk, 1_000, "10.9.9.9:40000");
}

#[test]
fn an_ipv6_56_has_four_times_the_sessions_and_streams_of_a_64_and_a_48_eight_times() {
    let limits = Limits { sessions_per_ip: 1, streams_per_ip: 2, ..Limits::default() };
    let mut desk = desk_with(EndpointConfig {
        limits,
        reach: backspin::endpoint::Audience::Everywhere,
        ..EndpointConfig::default()
    });
    for _ in 0..15 {
        desk.node.open(Time::ZERO, Dots::default(), Name::new("Dots"), 0, RoomConfig::default());
    }
    // Networks of one /48: eight /64s in each of two /56s, and some of a third.
    let network = |n: u64| format!("2001:db8:0:{:x}:", 0x100 * (n / 8) + n % 8);
    let let_in = |desk: &mut Desk<Server<Dots>>, n: u64| {
        let at = address(&format!("[{}:1]:5000", network(n)));
        !desk.receive(at, &[3, 0x13, 0x88]).is_empty()
    };
    let sessions: Vec<u64> = (0..24).filter(|&n| let_in(&mut desk, n)).collect();
    assert_eq!(sessions, [0, 1, 2, 3, 8, 9, 10, 11]);
    let opens = |desk: &mut Desk<Server<Dots>>, id: u64| {
        let peer = address(&format!("[{}:1]:40000", network(id / 3)));
        desk.stream(id, StreamEvent::Opened(peer.into())) == [Some(vec![0, 0, 100, 1])]
    };
    let streams: Vec<u64> = (0..72).filter(|&id| opens(&mut desk, id)).map(|id| id / 3).collect();
    assert_eq!(streams, [0, 0, 1, 1, 2, 2, 3, 3, 8, 8, 9, 9, 10, 10, 11, 11]);
}

#[test]
fn a_token_guards_the_dialects_that_cannot_carry_it() {
    for (unguarded, answers) in [(Unguarded::Refused, false), (Unguarded::Allowed, true)] {
        let config =
            EndpointConfig { token: b"moth".to_vec(), unguarded, ..EndpointConfig::default() };
        let (mut desk, at) = (desk_with(config), address("10.0.0.2:5000"));
        for bytes in [&[1][..], &[3, 0x13, 0x88], &[8, 0, 7, 1, 5, 0, 0, 0, 0x39, 0x30, 0, 0]] {
            assert_eq!(!desk.receive(at, bytes).is_empty(), answers, "{bytes:?}");
        }
        let welcome = desk.stream(1, StreamEvent::Opened(at.into()));
        assert_eq!(welcome, [answers.then(|| vec![0, 0, 100, 1])]);
        assert_eq!(desk.node.endpoint().counts().unguarded, if answers { 0 } else { 4 });
    }
}
