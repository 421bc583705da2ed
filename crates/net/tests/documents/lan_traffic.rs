//! Document 002, section 8.1: what a match costs in bytes.

use backspin_classic::Dialect;

use crate::desk::{address, sent_to};
use crate::ends::{client, connections, server, server_address};

const SECONDS: usize = 10;

#[test]
fn inputs_are_240_bytes_a_second() {
    let (mut desk, host) = (client(Dialect::Lan), server_address());
    assert_eq!(desk.advance_ms(0), [(host, vec![3, 0x13, 0x88])], "HELLO, 3 bytes");
    desk.receive(host, &[4]);
    assert_eq!(connections(&mut desk), 1);
    let mut sent = Vec::new();
    for seq in 0..100 * SECONDS as u32 {
        let mut state = [0; 31];
        state[0] = 6;
        state[1..5].copy_from_slice(&seq.to_be_bytes());
        sent.extend(desk.receive(host, &state));
        sent.extend(desk.advance_ms(10));
    }
    assert!(sent.iter().all(|(to, bytes)| *to == host && *bytes == [5, 0, 0, 0]), "{sent:?}");
    let bytes = 4 * sent.len();
    assert!(bytes.abs_diff(240 * SECONDS) <= 2 * 4, "{bytes} bytes in {SECONDS} s");
}

#[test]
fn states_are_1860_bytes_a_second() {
    let (mut desk, guest) = (server(), address("192.168.0.5:54001"));
    let sent = desk.receive(guest, &[3, 0xD2, 0xF1]);
    assert_eq!(sent[0], (guest, vec![4]), "HELLO_ACK, 1 byte");
    let mut sent = Vec::new();
    for _ in 0..100 * SECONDS {
        sent.extend(desk.receive(guest, &[5, 0, 0, 0]));
        sent.extend(desk.advance_ms(10));
    }
    let states = sent_to(&sent, guest);
    assert!(states.iter().all(|bytes| bytes.len() == 31 && bytes[0] == 6));
    assert_eq!(states.len(), sent.len());
    let bytes = 31 * states.len();
    assert!(bytes.abs_diff(1_860 * SECONDS) <= 2 * 31, "{bytes} bytes in {SECONDS} s");
}
