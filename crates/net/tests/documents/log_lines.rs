//! What a client, a room and the endpoint have to say of the line, when somebody reads it.

use std::net::SocketAddr;

use backspin::client::Client;
use backspin::server::Server;
use backspin_classic::Dialect;
use backspin_sim::dot::Dots;

use crate::desk::{Desk, address, sent_to};
use crate::ends::{
    HELLO_ACK, STATE, client, hello_from, playing_client, server, server_address as from_server,
};

const PLENTY: usize = 10_000;

/// An `rtype` server that keeps its lines, with Alice on it.
fn server_with_alice() -> (Desk<Server<Dots>>, SocketAddr) {
    let mut desk = server();
    desk.node.keep_lines(PLENTY);
    let alice = address("10.0.0.2:5000");
    let hello = hello_from(&mut desk, 1, "10.0.0.2");
    desk.receive(alice, &hello);
    (desk, alice)
}

/// What the endpoint and the room have kept since this was asked last.
fn lines(desk: &mut Desk<Server<Dots>>) -> Vec<String> {
    let mut lines: Vec<_> =
        std::iter::from_fn(|| desk.node.poll_line()).map(|line| line.to_string()).collect();
    let room = &mut desk.node.rooms_mut()[0];
    lines.extend(std::iter::from_fn(|| room.poll_line()).map(|line| line.to_string()));
    lines
}

fn client_lines(desk: &mut Desk<Client<Dots>>) -> Vec<String> {
    std::iter::from_fn(|| desk.node.poll_line()).map(|line| line.to_string()).collect()
}

/// Those that begin so.
fn beginning<'a>(lines: &'a [String], words: &str) -> Vec<&'a str> {
    lines.iter().map(String::as_str).filter(|line| line.starts_with(words)).collect()
}

/// The bytes of the next Ping to `to`, if there is one within so many ms.
fn next_ping(desk: &mut Desk<Server<Dots>>, to: SocketAddr, ms: u64) -> Option<[u8; 8]> {
    (0..ms).find_map(|_| {
        let sent = desk.advance_ms(1);
        let ping = sent_to(&sent, to).into_iter().find(|bytes| bytes[..4] == [8, 0, 7, 1])?;
        ping[4..].try_into().ok()
    })
}

fn pong(bytes: [u8; 8]) -> Vec<u8> {
    [&[8, 0, 8, 1], &bytes[..]].concat()
}

fn input(sequence: u32, bits: u8) -> Vec<u8> {
    [&[5, 0, 3, 1], &sequence.to_le_bytes()[..], &[bits]].concat()
}

#[test]
fn inputs_of_rtype_are_received_processed_lost_and_acknowledged_in_lines() {
    let (mut desk, alice) = server_with_alice();
    assert_eq!(beginning(&lines(&mut desk), "HelloAck"), ["HelloAck sent to 10.0.0.2:5000"]);
    desk.receive(alice, &input(100, 8));
    desk.receive(alice, &input(103, 8));
    // An old one is ignored.
    desk.receive(alice, &input(102, 0));
    desk.advance_ms(17);
    let lines = lines(&mut desk);
    let inputs = [
        "[Server] INPUT_RECV    player=1 seq=100 (gap=0)",
        "[Server] INPUT_PROCESS player=1 seq=100 last_ack=100",
        "[Server] INPUT_RECV    player=1 seq=103 (gap=2)",
        "Player 1 lost 2 inputs (seq 101-102)",
        "[Server] INPUT_PROCESS player=1 seq=103 last_ack=103",
    ];
    assert_eq!(lines[..5], inputs, "{lines:?}");
    let sent = beginning(&lines, "[Server] SNAPSHOT_SENT tick=");
    assert!(sent[0].ends_with(" entities=1 (player1_ack=103)"), "{sent:?}");
}

#[test]
fn a_silent_player_is_inactive_for_5s_once() {
    let (mut desk, alice) = server_with_alice();
    desk.receive(alice, &input(0, 0));
    desk.advance_ms(4_990);
    assert!(beginning(&lines(&mut desk), "Player").is_empty());
    desk.advance_ms(4_000);
    assert_eq!(beginning(&lines(&mut desk), "Player"), ["Player 1 inactive for 5s"]);
}

#[test]
fn a_server_logs_each_latency_and_those_above_300_ms_in_the_words_of_document_001() {
    let (mut desk, alice) = server_with_alice();
    desk.receive(alice, &input(0, 0));
    for (wait, line) in [
        (45, "Player 1 latency: 45ms (seq=0)"),
        (300, "Player 1 latency: 300ms (seq=1)"),
        (310, "Player 1 has high latency: 310ms"),
        (311, "Player 1 has high latency: 311ms"),
    ] {
        let ping = next_ping(&mut desk, alice, 2_000).expect("a Ping");
        lines(&mut desk);
        // The Ping may have left within this millisecond.
        desk.advance_ms(wait);
        desk.receive(alice, &pong(ping));
        let said = lines(&mut desk);
        let said = beginning(&said, "Player 1");
        let (before, ms) = line.split_once("ms").unwrap();
        let digits = before.trim_end_matches(|it: char| it.is_ascii_digit());
        let one_more = format!("{digits}{}ms{ms}", wait + 1);
        assert!(said.len() == 1 && (said[0] == line || said[0] == one_more), "{said:?}: {line}");
    }
}

#[test]
fn pongs_to_a_server_are_complained_of_in_the_words_of_document_000() {
    let (mut desk, alice) = server_with_alice();
    desk.receive(alice, &input(0, 0));
    let ping = next_ping(&mut desk, alice, 2_000).expect("a Ping");
    lines(&mut desk);
    let timestamp = u32::from_le_bytes([ping[4], ping[5], ping[6], ping[7]]);
    let stamped = |stamp: u32| [&ping[..4], &stamp.to_le_bytes()].concat().try_into().unwrap();
    desk.receive(alice, &pong([99, 0, 0, 0, ping[4], ping[5], ping[6], ping[7]]));
    desk.receive(alice, &pong(stamped(timestamp.wrapping_add(1_000))));
    desk.receive(alice, &pong(stamped(timestamp.wrapping_sub(1))));
    let complaints = [
        "Pong for unknown sequence: 99",
        "Pong timestamp is in the future!",
        "Timestamp mismatch in Pong!",
    ];
    assert_eq!(lines(&mut desk), complaints);
}

#[test]
fn a_pong_that_proves_an_address_is_not_complained_of_however_often_it_comes() {
    let mut desk = server();
    desk.node.keep_lines(PLENTY);
    // Not where the stream comes from: the address has to be proved.
    let hello = hello_from(&mut desk, 1, "10.0.0.2");
    let elsewhere = address("10.0.0.9:5000");
    let mut pings = Vec::new();
    for _ in 0..2 {
        let sent = desk.receive(elsewhere, &hello);
        let bytes = sent_to(&sent, elsewhere)[1];
        assert_eq!(bytes[..4], [8, 0, 7, 1]);
        pings.push(<[u8; 8]>::try_from(&bytes[4..]).unwrap());
    }
    assert_eq!(pings[0], pings[1], "the same for every Hello");
    for ping in pings {
        desk.receive(elsewhere, &pong(ping));
        desk.receive(elsewhere, &pong(ping));
    }
    assert!(desk.node.rooms()[0].members().any(|member| member.path.remote == elsewhere));
    let lines = lines(&mut desk);
    assert!(beginning(&lines, "Pong").is_empty(), "{lines:?}");
    assert_eq!(beginning(&lines, "HelloAck sent to 10.0.0.9:5000").len(), 3, "{lines:?}");
}

#[test]
fn a_client_logs_its_inputs_latencies_and_complaints() {
    let mut desk = playing_client();
    desk.node.keep_lines(PLENTY);
    let mut ping = None;
    for _ in 0..1_100 {
        let sent = desk.advance_ms(1);
        if let Some((_, bytes)) = sent.iter().find(|(_, bytes)| bytes[2] == 7) {
            ping = <[u8; 8]>::try_from(&bytes[4..]).ok();
            break;
        }
    }
    let ping = ping.expect("a Ping");
    let inputs = client_lines(&mut desk);
    assert!(inputs.len() > 30, "{inputs:?}");
    let prefix = "[Client] INPUT_SENT    seq=";
    let sequence = |line: &String| {
        let rest = line.strip_prefix(prefix).unwrap_or_else(|| panic!("{line}"));
        let (sequence, rest) = rest.split_once(' ').unwrap();
        assert!(rest.starts_with("flags=0x00 ts="), "{line}");
        sequence.parse::<u32>().unwrap()
    };
    let numbers: Vec<_> = inputs.iter().map(sequence).collect();
    assert!(numbers.windows(2).all(|pair| pair[1] == pair[0] + 1), "{numbers:?}");
    desk.advance_ms(45);
    client_lines(&mut desk);
    desk.receive(from_server(), &pong([77, 1, 0, 0, 0, 0, 0, 0]));
    desk.receive(from_server(), &pong(ping));
    let number = u32::from_le_bytes(ping[..4].try_into().unwrap());
    let said = client_lines(&mut desk);
    assert_eq!(said[0], "Pong for unknown sequence: 333");
    // The Ping may have left within its millisecond.
    let latency = [45, 46].map(|ms| format!("Latency: {ms}ms (seq={number})"));
    assert!(latency.contains(&said[1]) && said.len() == 2, "{said:?}");
}

#[test]
fn what_a_client_drops_is_told_in_the_words_of_002_and_003() {
    let mut desk = client(Dialect::Rtype);
    desk.node.keep_lines(PLENTY);
    let stranger = address("10.0.0.66:4242");
    desk.receive(stranger, &HELLO_ACK);
    desk.receive(stranger, &STATE);
    desk.receive(from_server(), &[1, 0, 2, 1, 9]);
    desk.receive(from_server(), &[9, 0, 2, 1]);
    desk.receive(from_server(), &[0, 0, 99, 1]);
    let said = client_lines(&mut desk);
    let begin = [
        "HelloAck from unexpected sender: 10.0.0.66:4242",
        "Invalid sender: 10.0.0.66:4242",
        "HelloAck has unexpected payload: 5 bytes from 10.0.0.1:4242",
        "Invalid packet size: 4 bytes from 10.0.0.1:4242",
        "Wrong message type: 4 bytes from 10.0.0.1:4242",
    ];
    assert_eq!(said.len(), begin.len(), "{said:?}");
    for (line, begin) in said.iter().zip(begin) {
        assert!(line.starts_with(begin), "{line}: {begin}");
    }
}

#[test]
fn what_the_door_answers_and_drops_is_told() {
    let (mut desk, _) = server_with_alice();
    lines(&mut desk);
    let stranger = address("10.0.0.66:6000");
    desk.receive(stranger, &[1]);
    desk.receive(stranger, &input(1, 0));
    desk.receive(stranger, &HELLO_ACK);
    desk.receive(stranger, &[9, 0, 3, 1, 0]);
    desk.receive(stranger, &[0xFF; 40]);
    let said = lines(&mut desk);
    let begin = [
        "Discovery answered: 10.0.0.66:6000",
        "Invalid sender: 10.0.0.66:6000",
        "Wrong message type: HelloAck from 10.0.0.66:6000",
        "Invalid packet size: 5 bytes from 10.0.0.66:6000",
        "Wrong message type: 40 bytes from 10.0.0.66:6000",
    ];
    assert_eq!(said.len(), begin.len(), "{said:?}");
    for (line, begin) in said.iter().zip(begin) {
        assert!(line.starts_with(begin), "{line}: {begin}");
    }
}

#[test]
fn nothing_is_kept_for_nobody() {
    let mut desk = server();
    let alice = address("10.0.0.2:5000");
    let hello = hello_from(&mut desk, 1, "10.0.0.2");
    desk.receive(alice, &hello);
    desk.receive(alice, &input(1, 0));
    desk.receive(address("10.0.0.66:6000"), &[0xFF; 40]);
    desk.advance_ms(100);
    assert_eq!(lines(&mut desk), [""; 0]);
    let mut desk = playing_client();
    desk.advance_ms(100);
    desk.receive(address("10.0.0.66:4242"), &HELLO_ACK);
    assert_eq!(client_lines(&mut desk), [""; 0]);
}
