//! Our client, and a server of literal bytes.

use backspin::client::{Client, ClientConfig, ClientEvent};
use backspin::game::PlayerId;
use backspin::node::StreamEvent;
use backspin::session::EndReason;
use backspin::wire::Name;
use backspin_classic::Dialect;
use backspin_sim::dot::Dots;

use super::desk::{Desk, address};

const HELLO_ACK: [u8; 4] = [0, 0, 2, 1];
const TOKEN: [u8; 4] = [0x78, 0x56, 0x34, 0x12];
/// One entity: id 1, a player at (50, 100).
const STATE: [u8; 31] = [
    27, 0, 4, 1, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0x48, 0x42, 0, 0, 0xC8, 0x42, 0, 0, 0, 0, 0, 0, 0, 0,
    0xFF, 0xFF, 0xAA, 0x55,
];

fn desk(dialect: Dialect) -> Desk<Client<Dots>> {
    let server = address("10.0.0.1:4242");
    let mut config = ClientConfig::new(server, Name::new("Alice"));
    config.own_port = 5000;
    Desk::new(dialect.client(backspin::time::Time::ZERO, Dots::default(), config, [3; 32]))
}

/// A client that has done the TCP step and knows its token.
fn with_token() -> Desk<Client<Dots>> {
    let mut desk = desk(Dialect::Rtype);
    let server = address("10.0.0.1:4243");
    assert_eq!(desk.stream(0, StreamEvent::Opened(server.into())), []);
    let name = desk.stream(0, StreamEvent::Received(&[0, 0, 100, 1]));
    assert_eq!(name, [Some(b"\x05\x00\x01\x01Alice".to_vec())]);
    // The first program writes its answer in two pieces.
    assert_eq!(desk.stream(0, StreamEvent::Received(&[6, 0, 2, 1])), []);
    let ack = [&[0x92, 0x10], &TOKEN[..]].concat();
    assert_eq!(desk.stream(0, StreamEvent::Received(&ack)), []);
    desk
}

fn hello() -> Vec<u8> {
    [&[20, 0, 1, 1], &TOKEN[..], b"Alice\0\0\0\0\0\0\0\0\0\0\0"].concat()
}

fn events(desk: &mut Desk<Client<Dots>>) -> Vec<ClientEvent<()>> {
    std::iter::from_fn(|| desk.node.poll_event()).collect()
}

fn ended_with(desk: &mut Desk<Client<Dots>>) -> String {
    desk.node.ended().expect("it is over").to_string()
}

#[test]
fn a_hello_ack_lets_us_in() {
    let mut desk = with_token();
    let server = address("10.0.0.1:4242");
    let first = desk.advance_ms(0);
    assert_eq!(first, [(server, hello())]);
    desk.receive(server, &HELLO_ACK);
    assert_eq!(events(&mut desk), [ClientEvent::Connected(PlayerId(0))]);
    // No more hellos: inputs.
    let sent = desk.advance_ms(100);
    assert!(sent.iter().all(|(_, bytes)| bytes[2] != 1), "{sent:?}");
    assert!(sent.iter().any(|(_, bytes)| bytes[..4] == [5, 0, 3, 1]), "{sent:?}");
}

#[test]
fn a_lost_hello_ack_is_asked_for_again_and_a_state_says_the_same() {
    let mut desk = with_token();
    let server = address("10.0.0.1:4242");
    assert_eq!(desk.advance_ms(499).len(), 1);
    // Half a second without an answer: again, and one copy more.
    assert_eq!(desk.advance_ms(2), [(server, hello()), (server, hello())]);
    desk.receive(server, &STATE);
    assert_eq!(events(&mut desk), [ClientEvent::Connected(PlayerId(0))]);
    assert_eq!(desk.node.state().entities().len(), 1);
}

#[test]
fn a_second_hello_ack_changes_nothing() {
    let mut desk = with_token();
    let server = address("10.0.0.1:4242");
    desk.advance_ms(0);
    desk.receive(server, &HELLO_ACK);
    desk.receive(server, &HELLO_ACK);
    assert_eq!(events(&mut desk), [ClientEvent::Connected(PlayerId(0))]);
}

#[test]
fn a_strangers_hello_ack_is_ignored() {
    let mut desk = with_token();
    desk.advance_ms(0);
    for stranger in ["10.0.0.9:4242", "10.0.0.1:4243"] {
        desk.receive(address(stranger), &HELLO_ACK);
    }
    assert_eq!(events(&mut desk), []);
    assert_eq!(desk.node.counts().foreign, 2);
}

#[test]
fn no_hello_ack_at_all_ends_after_five_seconds_with_the_address() {
    let mut desk = with_token();
    let sent = desk.advance_ms(4_999);
    assert!(sent.len() > 6 && sent.iter().all(|(_, bytes)| *bytes == hello()));
    assert_eq!(desk.node.ended(), None);
    desk.advance_ms(2);
    let server = address("10.0.0.1:4242");
    assert_eq!(desk.node.ended(), Some(&EndReason::NoAnswer { address: server.into() }));
    assert!(ended_with(&mut desk).contains("10.0.0.1:4242"));
    assert_eq!(desk.advance_ms(1_000), []);
}

#[test]
fn a_hello_ack_with_a_payload_is_none() {
    let mut desk = with_token();
    desk.advance_ms(0);
    desk.receive(address("10.0.0.1:4242"), &[1, 0, 2, 1, 0]);
    assert_eq!((events(&mut desk), desk.node.counts().malformed), (vec![], 1));
}

#[test]
fn another_version_is_said_so() {
    let mut desk = with_token();
    desk.advance_ms(0);
    desk.receive(address("10.0.0.1:4242"), &[0, 0, 2, 2]);
    assert_eq!(desk.node.ended(), Some(&EndReason::WrongVersion { server: 2, ours: 1 }));
    let words = ended_with(&mut desk);
    assert!(words.contains("version 2") && words.contains("version 1"), "{words}");
}

#[test]
fn a_server_that_falls_silent_is_shown_at_five_and_given_up_at_ten_seconds() {
    for dialect in [Dialect::Rtype, Dialect::Lan] {
        let server = address("10.0.0.1:4242");
        let mut desk = match dialect {
            Dialect::Rtype => with_token(),
            _ => desk(dialect),
        };
        desk.advance_ms(0);
        match dialect {
            Dialect::Rtype => desk.receive(server, &HELLO_ACK),
            _ => desk.receive(server, &[4]),
        };
        events(&mut desk);
        desk.advance_ms(4_980);
        assert_eq!(events(&mut desk), []);
        desk.advance_ms(40);
        assert_eq!(events(&mut desk), [ClientEvent::Quiet]);
        desk.advance_ms(4_960);
        assert_eq!(desk.node.ended(), None);
        desk.advance_ms(60);
        assert_eq!(desk.node.ended(), Some(&EndReason::NotResponding), "{dialect}");
        assert!(!ended_with(&mut desk).is_empty());
    }
}

#[test]
fn an_rtype_client_that_hears_nothing_knocks_with_its_token() {
    let mut desk = with_token();
    let server = address("10.0.0.1:4242");
    desk.advance_ms(0);
    desk.receive(server, &HELLO_ACK);
    // Nothing is shown yet: the Ping that asks for its address may have been lost.
    let sent = desk.advance_ms(1_100);
    assert_eq!(sent.iter().filter(|(_, bytes)| *bytes == hello()).count(), 1);
    desk.receive(server, &HELLO_ACK);
    let sent = desk.receive(server, &[8, 0, 7, 1, 1, 2, 3, 4, 5, 6, 7, 8]);
    assert!(sent.contains(&(server, vec![8, 0, 8, 1, 1, 2, 3, 4, 5, 6, 7, 8])));
    desk.receive(server, &STATE);
    let quiet = desk.advance_ms(4_900);
    assert!(quiet.iter().all(|(_, bytes)| *bytes != hello()));
    let sent = desk.advance_ms(1_000);
    assert!(sent.contains(&(server, hello())));
    desk.receive(server, &STATE);
    assert!(events(&mut desk).contains(&ClientEvent::Heard));
    assert!(!desk.advance_ms(2_000).contains(&(server, hello())));
}

#[test]
fn a_server_that_answers_pings_and_shows_nothing_is_given_up_all_the_same() {
    let mut desk = with_token();
    let server = address("10.0.0.1:4242");
    desk.advance_ms(0);
    desk.receive(server, &HELLO_ACK);
    let mut knocked = false;
    for _ in 0..101 {
        for (_, bytes) in desk.advance_ms(100) {
            knocked |= bytes == hello();
            // Anyone's ping is answered, also of a client that the server has forgotten.
            if bytes[2] == 7 {
                desk.receive(server, &[&[8, 0, 8, 1], &bytes[4..]].concat());
            }
        }
    }
    assert!(knocked, "it asks to be let in again");
    assert_eq!(desk.node.ended(), Some(&EndReason::NotResponding));
    assert!(desk.node.pings().answered > 5);
}

#[test]
fn nobody_at_the_tcp_port_is_a_sentence() {
    let mut desk = desk(Dialect::Rtype);
    desk.stream(0, StreamEvent::Failed);
    let address = address("10.0.0.1:4243");
    assert_eq!(desk.node.ended(), Some(&EndReason::Unreachable { address: address.into() }));
}

#[test]
fn a_lan_guest_repeats_hello_until_it_is_acknowledged() {
    let mut desk = desk(Dialect::Lan);
    let host = address("10.0.0.1:4242");
    assert_eq!(desk.advance_ms(0), [(host, vec![3, 0x13, 0x88])]);
    assert_eq!(desk.advance_ms(501).len(), 2);
    desk.receive(host, &[4]);
    assert_eq!(events(&mut desk).len(), 1);
    let sent = desk.advance_ms(1_000);
    assert!((59..=61).contains(&sent.len()), "{} inputs in a second", sent.len());
    assert!(sent.iter().all(|(_, bytes)| *bytes == [5, 0, 0, 0]));
}

#[test]
fn a_lan_guest_takes_the_first_state_and_then_only_larger_ones() {
    let mut desk = desk(Dialect::Lan);
    let host = address("10.0.0.1:4242");
    desk.advance_ms(0);
    let mut state = [0; 31];
    state[0] = 6;
    for (seq, taken) in [(7_u32, 1), (6, 1), (7, 1), (8, 2), (0x8000_0000, 2), (9, 3)] {
        state[1..5].copy_from_slice(&seq.to_be_bytes());
        desk.receive(host, &state);
        assert_eq!(desk.node.counts().states, taken, "state {seq}");
    }
}

#[test]
fn a_lan_host_that_stays_silent_is_busy_or_gone() {
    let mut desk = desk(Dialect::Lan);
    desk.advance_ms(5_001);
    let address = address("10.0.0.1:4242");
    assert_eq!(desk.node.ended(), Some(&EndReason::HostSilent { address: address.into() }));
}

#[test]
fn pings_are_answered_verbatim_and_pongs_are_judged() {
    let mut desk = with_token();
    let server = address("10.0.0.1:4242");
    desk.advance_ms(0);
    desk.receive(server, &HELLO_ACK);
    let sent = desk.receive(server, &[8, 0, 7, 1, 5, 0, 0, 0, 0x39, 0x30, 0, 0]);
    assert!(sent.contains(&(server, vec![8, 0, 8, 1, 5, 0, 0, 0, 0x39, 0x30, 0, 0])), "{sent:?}");
    let sent = desk.advance_ms(1_100);
    let ping = sent.iter().find(|(_, bytes)| bytes[2] == 7).expect("a ping a second").1.clone();
    let mut pong = ping;
    pong[2] = 8;
    let mut corrupt = pong.clone();
    corrupt[8] ^= 1;
    desk.receive(server, &corrupt);
    desk.receive(server, &pong);
    desk.receive(server, &pong);
    desk.receive(server, &[8, 0, 8, 1, 99, 0, 0, 0, 0, 0, 0, 0]);
    let counts = desk.node.pings();
    let figures = (counts.answered, counts.corrupt, counts.duplicate, counts.unknown);
    assert_eq!(figures, (1, 1, 1, 1), "{counts:?}");
}

fn native(kind: u8, sequence: u32, payload: &[u8]) -> Vec<u8> {
    let len = (payload.len() as u16).to_be_bytes();
    [&[1, kind, 0], &len[..], &sequence.to_be_bytes(), payload].concat()
}

/// A client in a room whose last tick is 0x0001_FFFE, and the low byte of its first input's tick.
fn in_native_room() -> (Desk<Client<Dots>>, u8) {
    let (mut desk, server) = (desk(Dialect::Native), address("10.0.0.1:4242"));
    let hello = desk.advance_ms(0)[0].1.clone();
    let nonce = &hello[17..25];
    let challenge = [nonce, &[7; 16], &[0]].concat();
    desk.receive(server, &native(0x81, 0, &challenge));
    let join = desk.advance_ms(0)[0].1.clone();
    assert_eq!(join[1], 0x02, "Join");
    let place = [0, 1, 0, 0, 0, 9, 0, 0, 0, 1]; // session, player, room
    let accept = [nonce, &place, &[0, 1, 0xFF, 0xFE], &[60, 4, 0xB0, 0], &[8; 16]].concat();
    desk.receive(server, &native(0x82, 1000, &accept));
    let sent = desk.advance_ms(17);
    let first = &sent[0].1;
    assert_eq!((first[1], &first[9..11]), (0x14, &[0, 1][..]), "an input of the session");
    assert_eq!(first[17..], [0], "no snapshot yet, and nothing older");
    (desk, first[14])
}

#[test]
fn an_echoed_input_measures_the_round_trip_and_the_next_input_echoes_the_snapshot() {
    let (mut desk, echo) = in_native_room();
    let server = address("10.0.0.1:4242");
    desk.advance_ms(60);
    // Tick 0x0002_0001 by its low half, empty; that input had come 10 ms before.
    desk.receive(server, &native(0xA1, 1001, &[0, 1, 0x40, echo, 80, 20, 0, 0, 0x80]));
    assert_eq!(desk.node.server_tick(), 0x0002_0001);
    let rtt = desk.node.round_trip().mean().unwrap().as_millis();
    assert!((50..=67).contains(&rtt), "{rtt} ms");
    let sent = desk.advance_ms(17);
    let input = &sent[0].1;
    let back = input[14].wrapping_sub(1);
    assert_eq!((input[17] & 1, input[18]), (1, back), "the snapshot is echoed");
}

#[test]
fn an_echo_that_says_nothing_of_the_time_measures_nothing() {
    let (mut desk, echo) = in_native_room();
    let server = address("10.0.0.1:4242");
    desk.advance_ms(60);
    // Held for too long; never sent.
    for (sequence, echo, held) in [(1001, echo, 255), (1002, echo.wrapping_add(100), 80)] {
        desk.receive(server, &native(0xA1, sequence, &[0, 1, 0x40, echo, held, 20, 0, 0, 0x80]));
    }
    assert_eq!(desk.node.round_trip().samples(), 0);
    desk.receive(server, &native(0xA1, 1004, &[0, 2, 0x40, echo, 254, 20, 0, 0, 0x80]));
    assert_eq!(desk.node.round_trip().samples(), 1);
}

#[test]
fn inputs_that_come_late_move_the_next_ones_ahead() {
    let (mut desk, first) = in_native_room();
    let server = address("10.0.0.1:4242");
    let mut newest = first;
    for n in 0..30_u8 {
        // Each 60 ms late.
        let report = [0, 1 + n, 0x40, newest, 0, 0xC4, 0, 0, 0x80];
        desk.receive(server, &native(0xA1, 1001 + u32::from(n), &report));
        let sent = desk.advance_ms(17);
        newest = sent.last().map_or(newest, |(_, bytes)| bytes[14]);
    }
    let ticks = newest.wrapping_sub(first);
    assert!(ticks > 30 + 3, "{ticks} ticks in half a second");
}
