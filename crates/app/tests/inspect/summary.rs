//! What people read of a whole capture.

use super::inspect_stdin;
use super::writer::{Clock, Order};
use super::writer::{ethernet, ethernet_pcap, pcap, tcp, udp};

const CLIENT: &str = "192.0.2.7:50123";
const SERVER: &str = "192.0.2.1:4300";

/// A native ServerPing: 17 bytes.
fn native(sequence: u32) -> Vec<u8> {
    let mut bytes = vec![1, 0x84, 0, 0, 8];
    bytes.extend(sequence.to_be_bytes());
    bytes.extend([0; 8]);
    bytes
}

/// A lan STATE_UPDATE: 31 bytes.
fn state(seq: u32) -> Vec<u8> {
    let mut bytes = vec![6];
    bytes.extend(seq.to_be_bytes());
    bytes.resize(31, 0);
    bytes
}

/// An rtype Input: 9 bytes.
fn input(sequence: u32) -> Vec<u8> {
    let mut bytes = vec![5, 0, 3, 1];
    bytes.extend(sequence.to_le_bytes());
    bytes.push(8);
    bytes
}

fn summary_of(capture: &[u8]) -> String {
    let stdout = inspect_stdin(&["-"], capture).done();
    let (_, summary) = stdout.split_once("\n\n").expect("an empty line before the summary");
    summary.to_owned()
}

#[test]
fn a_line_has_time_addresses_and_packet() {
    let packets = [
        (0, udp(CLIENT, "192.0.2.1:4242", &input(0))),
        (1_500_000, udp("[2001:db8::1]:54000", "[2001:db8::7]:54001", &state(7))),
        (2_000_000, udp(CLIENT, "192.0.2.1:4242", &[9])),
    ];
    let stdout = inspect_stdin(&["-"], &ethernet_pcap(packets)).done();
    let expected = "  0.000000  192.0.2.7:50123 -> 192.0.2.1:4242  rtype Input sequence=0 bits=8
  1.500000  [2001:db8::1]:54000 -> [2001:db8::7]:54001  lan STATE_UPDATE seq=7 p1y=0.0 p2y=0.0 \
ballx=0.0 bally=0.0 ballvx=0.0 ballvy=0.0 p1=0 p2=0
  2.000000  192.0.2.7:50123 -> 192.0.2.1:4242           malformed (1 byte): \
datagram: no dialect's packet has this shape

2 packets, 40 bytes, 1.500 s
";
    assert_eq!(stdout.get(..expected.len()), Some(expected), "{stdout}");
}

#[test]
fn the_whole_summary_reads_well() {
    // Native from near the end of the count: 100 sent, 5 lost, one late, one twice.
    let first = u32::MAX - 49;
    let mut order: Vec<u32> = (0..100).filter(|n| ![20, 40, 41, 60, 80].contains(n)).collect();
    order.swap(10, 11);
    order.insert(30, order[29]);
    let mut packets: Vec<_> =
        order.iter().map(|&n| udp(SERVER, CLIENT, &native(first.wrapping_add(n)))).collect();
    // Lan: 4 of 5 states. Rtype: inputs in order, and pings on a count of their own.
    let (host, guest) = ("192.0.2.2:54000", "192.0.2.3:54001");
    packets.extend([1, 2, 3, 5].map(|seq| udp(host, guest, &state(seq))));
    packets.extend([1, 2, 3].map(|n| udp(CLIENT, "192.0.2.1:4242", &input(n))));
    let ping = [8, 0, 7, 1, 5, 0, 0, 0, 0x39, 0x30, 0, 0];
    packets.push(udp(CLIENT, "192.0.2.1:4242", &ping));
    packets.push(tcp("192.0.2.1:4243", "192.0.2.7:40000", 1, false, &[0, 0, 100, 1]));
    packets.push(udp(CLIENT, "192.0.2.53:53", &[0xAB; 20]));
    packets.push(udp(CLIENT, SERVER, &[1, 0x84, 0, 0, 9, 0, 0, 0, 0]));
    let mut fragment = udp(CLIENT, SERVER, &native(1));
    fragment[6] = 0x20;
    packets.push(fragment);
    packets.push(tcp(CLIENT, "192.0.2.1:80", 1, false, b"GET / HTTP/1.1\r\n\r\n"));

    let summary = summary_of(&ethernet_pcap((0..).step_by(10_000).zip(packets)));
    let expected = "\
105 packets, 1799 bytes, 1.040 s

dialect  packet            count  bytes
lan      STATE_UPDATE          4    124
native   ServerPing           96   1632
rtype    Input                 3     27
rtype    Ping                  1     12
rtype    TcpWelcome (tcp)      1      4

sequence numbers                    of                sent  lost    loss  reordered  duplicates
192.0.2.1:4300 -> 192.0.2.7:50123   native             100     5   5.0 %          1           1
192.0.2.2:54000 -> 192.0.2.3:54001  lan STATE_UPDATE     5     1  20.0 %          0           0
192.0.2.7:50123 -> 192.0.2.1:4242   rtype Input          3     0   0.0 %          0           0
192.0.2.7:50123 -> 192.0.2.1:4242   rtype Ping           1     0   0.0 %          0           0

malformed   count  bytes
no_dialect      1     20
wrong_size      1      9

skipped                      frames
neither UDP nor rtype's TCP       1
fragment of an IP packet          1
";
    assert_eq!(summary, expected);
}

#[test]
fn each_direction_has_its_own_count_and_strangers_have_none() {
    // A Discover's number says nothing about the session that follows.
    let mut discover = vec![1, 3, 0, 0, 39, 0, 0, 0, 50];
    discover.resize(48, 0);
    let packets = [
        udp(CLIENT, SERVER, &discover),
        udp(SERVER, CLIENT, &native(7)),
        udp(SERVER, CLIENT, &native(9)),
        udp(CLIENT, SERVER, &[1, 6, 0, 0, 2, 0, 0, 0, 5, 0, 1]),
    ];
    let summary = summary_of(&ethernet_pcap((0..).zip(packets)));
    let rows: Vec<_> = summary.lines().filter(|line| line.contains("->")).collect();
    assert_eq!(
        rows,
        [
            "192.0.2.1:4300 -> 192.0.2.7:50123  native     3     1  33.3 %          0           0",
            "192.0.2.7:50123 -> 192.0.2.1:4300  native     1     0   0.0 %          0           0",
        ]
    );
}

#[test]
fn frames_that_say_too_little_are_counted() {
    let frame = ethernet(&udp(CLIENT, SERVER, &native(1)));
    let frames = [(0, frame.clone()), (1, frame[..50].to_vec())];
    let summary = summary_of(&pcap(Order::Little, Clock::Micros, 1, &frames));
    assert!(
        summary.ends_with("\nskipped                   frames\ncut short by the capture       1\n"),
        "{summary}"
    );

    let unknown = pcap(Order::Little, Clock::Micros, 147, &frames);
    let run = inspect_stdin(&["-"], &unknown);
    let stdout = run.failed("the capture on stdin has no UDP datagrams and no rtype streams");
    assert!(stdout.ends_with("\nlink type 147 is unknown       2\n"), "{stdout}");
}
