//! Captures of every kind, packet by packet.

use std::fs;
use std::path::PathBuf;

use super::writer::{Clock, Order, ethernet, ethernet_pcap, ip, kind, pcap, pcapng};
use super::writer::{simple_pcapng, tcp, udp};
use super::{Run, inspect, inspect_stdin};

const PING: [u8; 12] = [8, 0, 7, 1, 5, 0, 0, 0, 0x39, 0x30, 0, 0];
const PONG: [u8; 12] = [8, 0, 8, 1, 5, 0, 0, 0, 0x39, 0x30, 0, 0];
const CLIENT: &str = "192.0.2.7:50123";
const SERVER: &str = "192.0.2.1:4242";
const CLIENT6: &str = "[2001:db8::7]:50123";
const SERVER6: &str = "[2001:db8::1]:4242";

fn ping_and_pong() -> Vec<(u64, Vec<u8>)> {
    vec![(0, udp(CLIENT, SERVER, &PING)), (16_667, udp(SERVER6, CLIENT6, &PONG))]
}

const PING_AND_PONG: &str = r#"{"dialect":"rtype","packet":"Ping","fields":{"sequence":5,"timestamp":12345},"time":0.0,"from":"192.0.2.7:50123","to":"192.0.2.1:4242"}
{"dialect":"rtype","packet":"Pong","fields":{"sequence":5,"timestamp":12345},"time":0.016667,"from":"[2001:db8::1]:4242","to":"[2001:db8::7]:50123"}
"#;

fn json(capture: &[u8]) -> Run {
    inspect_stdin(&["--json", "-"], capture)
}

#[test]
fn both_formats_are_read_in_both_byte_orders_and_clocks() {
    let frames: Vec<_> =
        ping_and_pong().into_iter().map(|(at_us, packet)| (at_us, ethernet(&packet))).collect();
    for order in [Order::Little, Order::Big] {
        for clock in [Clock::Micros, Clock::Nanos] {
            let capture = pcap(order, clock, 1, &frames);
            assert_eq!(json(&capture).done(), PING_AND_PONG, "pcap, {order:?}, {clock:?}");
            let capture = pcapng(order, clock, 1, &frames);
            assert_eq!(json(&capture).done(), PING_AND_PONG, "pcapng, {order:?}, {clock:?}");
        }
        let untimed: Vec<_> = frames.iter().map(|(_, frame)| frame.clone()).collect();
        let expected =
            PING_AND_PONG.replace(":0.0,\"from", ":null,\"from").replace(":0.016667", ":null");
        assert_eq!(json(&simple_pcapng(order, 1, &untimed)).done(), expected, "{order:?}");
    }
}

#[test]
fn sections_of_a_pcapng_file_may_differ() {
    let frames: Vec<_> =
        ping_and_pong().into_iter().map(|(at_us, packet)| (at_us, ethernet(&packet))).collect();
    let mut capture = pcapng(Order::Big, Clock::Nanos, 1, &frames[..1]);
    let raw = (16_667, udp(SERVER6, CLIENT6, &PONG));
    capture.extend(pcapng(Order::Little, Clock::Micros, 101, &[raw]));
    assert_eq!(json(&capture).done(), PING_AND_PONG);
}

#[test]
fn every_link_layer_is_read() {
    let with = |head: &dyn Fn([u8; 2]) -> Vec<u8>| -> Vec<_> {
        let frame = |packet: Vec<u8>| [head(kind(&packet)), packet].concat();
        ping_and_pong().into_iter().map(|(at_us, packet)| (at_us, frame(packet))).collect()
    };
    let cases = [
        (1, with(&|[a, b]| [vec![2; 12], vec![0x81, 0, 0, 5, a, b]].concat())),
        (1, with(&|[a, b]| [vec![2; 12], vec![0x88, 0xA8, 0, 5, 0x81, 0, 0, 6, a, b]].concat())),
        (101, with(&|_| vec![])),
        (113, with(&|[a, b]| [vec![0; 14], vec![a, b]].concat())),
        (276, with(&|[a, b]| [vec![a, b], vec![0; 18]].concat())),
        (0, with(&|[a, _]| vec![if a == 8 { 2 } else { 30 }, 0, 0, 0])),
        (108, with(&|[a, _]| vec![0, 0, 0, if a == 8 { 2 } else { 24 }])),
    ];
    for (link, frames) in cases {
        let capture = pcap(Order::Little, Clock::Micros, link, &frames);
        assert_eq!(json(&capture).done(), PING_AND_PONG, "link type {link}");
    }
}

#[test]
fn ip_options_and_extension_headers_are_passed_over() {
    let mut with_options = udp(CLIENT, SERVER, &PING);
    with_options[0] = 0x46;
    with_options[3] += 4;
    with_options.splice(20..20, [1, 1, 1, 0]);

    let plain = udp(SERVER6, CLIENT6, &PONG);
    let (from, to) = ("2001:db8::1".parse().expect("one"), "2001:db8::7".parse().expect("one"));
    // Hop by hop, of 16 bytes; a fragment that is the whole; and the datagram.
    let mut extensions = vec![44, 1];
    extensions.extend([0; 14]);
    extensions.extend([17, 0, 0, 0, 0, 0, 0, 9]);
    extensions.extend(&plain[40..]);
    let extended = ip(from, to, 0, &extensions);
    let capture = ethernet_pcap([(0, with_options), (16_667, extended)]);
    assert_eq!(json(&capture).done(), PING_AND_PONG);
}

#[test]
fn a_datagram_that_is_not_ours_is_an_error_of_its_own() {
    let packets =
        [(0, udp(CLIENT, "192.0.2.53:53", &[0xAB; 20])), (1000, udp(CLIENT, SERVER, &PING))];
    let stdout = json(&ethernet_pcap(packets.clone())).done();
    let error = r#"{"dialect":null,"error":"datagram: no dialect's packet has this shape","time":0.0,"from":"192.0.2.7:50123","to":"192.0.2.53:53"}"#;
    assert_eq!(stdout.lines().next(), Some(error));
    assert_eq!(stdout.lines().count(), 2);

    let run = json(&ethernet_pcap(packets[..1].to_vec()));
    let stdout = run.failed("the capture on stdin has no lan, rtype or native packets");
    assert_eq!(stdout, format!("{error}\n"));
    let nothing = "the capture on stdin has no UDP datagrams and no rtype streams";
    assert_eq!(json(&ethernet_pcap([])).failed(nothing), "");
}

#[test]
fn what_cannot_be_read_is_a_sentence() {
    let missing = inspect(&["no-such.pcap"]);
    assert_eq!((missing.code, missing.stdout.as_str()), (Some(1), ""));
    assert!(
        missing.stderr.starts_with("backspin: no-such.pcap cannot be opened: "),
        "{}",
        missing.stderr
    );

    let none = "the capture on stdin: it is not a pcap or pcapng capture";
    for bytes in [
        &b""[..],
        b"abc",
        b"[package]\nname = \"backspin\"\n",
        &[0x0A, 0x0D, 0x0D, 0x0A, 9, 9, 9, 9, 9, 9, 9, 9],
    ] {
        assert_eq!(json(bytes).failed(none), "");
    }
    let compressed = "the capture on stdin: it is compressed: unpack it first";
    assert_eq!(json(&[0x1F, 0x8B, 8, 0]).failed(compressed), "");
}

#[test]
fn a_damaged_capture_is_read_up_to_the_damage() {
    let whole = ethernet_pcap(ping_and_pong());
    let cut = &whole[..whole.len() - 1];
    let first = PING_AND_PONG.lines().next().map(|line| format!("{line}\n")).expect("a line");
    let stdout = json(cut).failed("the capture on stdin: it ends in the middle of a packet");
    assert_eq!(stdout, first);

    let mut long = whole.clone();
    // The second record's length: behind the file's header, and the first record of 16 + 60.
    long[24 + 76 + 8..][..4].copy_from_slice(&[0xFF; 4]);
    let sentence = "the capture on stdin: it says that a packet has 4294967295 bytes: \
                    it is damaged from there on";
    assert_eq!(json(&long).failed(sentence), first);
}

#[test]
fn a_tcp_stream_is_put_together_from_its_segments() {
    let (client, server) = ("192.0.2.7:40000", "192.0.2.1:4243");
    let up = |sequence, payload: &[u8]| tcp(client, server, sequence, false, payload);
    let down = |sequence, payload: &[u8]| tcp(server, client, sequence, false, payload);
    // The count wraps in the middle of the client's name.
    let start = u32::MAX - 5;
    let packets = [
        tcp(client, server, start, true, &[]),
        tcp(server, client, 99, true, &[]),
        down(100, &[0, 0, 100, 1]),
        up(start.wrapping_add(6), b"lice"),
        up(start.wrapping_add(1), &[5, 0, 1, 1]),
        // Late, in part known already.
        up(start.wrapping_add(4), b"\x01A"),
        up(start.wrapping_add(1), &[5, 0, 1, 1]),
        down(104, &[6, 0, 2]),
        down(107, &[1, 0x92, 0x10, 0, 0, 0, 0]),
    ];
    let packets = (0..).step_by(1000).zip(packets);
    let stdout = json(&ethernet_pcap(packets)).done();
    let expected = r#"{"dialect":"rtype","packet":"TcpWelcome","fields":{},"time":0.002,"from":"192.0.2.1:4243","to":"192.0.2.7:40000"}
{"dialect":"rtype","packet":"Hello","fields":{"name":"Alice"},"time":0.005,"from":"192.0.2.7:40000","to":"192.0.2.1:4243"}
{"dialect":"rtype","packet":"HelloAck","fields":{"udp_port":4242,"token":0},"time":0.008,"from":"192.0.2.1:4243","to":"192.0.2.7:40000"}
"#;
    assert_eq!(stdout, expected);
}

#[test]
fn a_stream_on_another_port_is_known_by_how_it_begins() {
    let (client, server) = ("192.0.2.7:40000", "192.0.2.1:7000");
    let web = "192.0.2.1:80";
    let packets = [
        tcp(server, client, 0, true, &[]),
        tcp(server, client, 1, false, &[0, 0]),
        tcp(server, client, 3, false, &[100, 1]),
        tcp(client, web, 0, true, &[]),
        tcp(client, web, 1, false, b"GET / HTTP/1.1\r\n\r\n"),
        tcp(client, web, 19, false, b"more"),
    ];
    let capture = ethernet_pcap((0..).zip(packets));
    let stdout = inspect_stdin(&["-"], &capture).done();
    assert!(
        stdout.contains("192.0.2.1:7000 -> 192.0.2.7:40000  rtype TcpWelcome (tcp)\n"),
        "{stdout}"
    );
    assert!(stdout.contains("\n1 packet, 4 bytes"), "{stdout}");
    assert!(!stdout.contains("malformed"), "{stdout}");
}

#[test]
fn a_stream_with_a_hole_says_so() {
    let (client, server) = ("192.0.2.7:40000", "192.0.2.1:4243");
    let segment = |sequence, payload: &[u8]| tcp(server, client, sequence, false, payload);
    let packets = [segment(1, &[0, 0, 100, 1]), segment(11, &[0, 0, 101, 1])];
    let stdout = json(&ethernet_pcap((0..).zip(packets))).done();
    let gap = "\"error\":\"stream: bytes before these are missing from the capture\"";
    assert!(stdout.lines().nth(1).is_some_and(|line| line.contains(gap)), "{stdout}");

    let packets = [segment(1, &[0, 0, 100, 1, 5]), segment(6, &[0, 1])];
    let stdout = json(&ethernet_pcap((0..).zip(packets))).done();
    let rest = "\"error\":\"payload: the bytes end before it is complete\"";
    assert!(stdout.lines().nth(1).is_some_and(|line| line.contains(rest)), "{stdout}");
}

#[test]
fn a_file_is_named_on_the_command_line() {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("ping-and-pong.pcap");
    fs::write(&path, ethernet_pcap(ping_and_pong())).expect("the capture is written");
    let path = path.to_str().expect("a path in UTF-8");
    assert_eq!(inspect(&["--json", path]).done(), PING_AND_PONG);
}
