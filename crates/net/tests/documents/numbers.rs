//! Document 004, section 3.2: the numbers of datagrams and of inputs.

use backspin::wire::native::{Datagram, Packet};
use backspin_classic::Dialect;

use crate::ends::{client, server_address};

/// A `native` datagram in literal bytes.
fn native(kind: u8, sequence: u32, payload: &[u8]) -> Vec<u8> {
    let len = (payload.len() as u16).to_be_bytes();
    [&[1, kind, 0], &len[..], &sequence.to_be_bytes(), payload].concat()
}

#[test]
fn every_datagram_has_the_next_number_and_every_input_a_later_tick() {
    let (mut desk, server) = (client(Dialect::Native), server_address());
    let hello = desk.advance_ms(0)[0].1.clone();
    let nonce = &hello[17..25];
    desk.receive(server, &native(0x81, 0, &[nonce, &[7; 16], &[0]].concat()));
    desk.advance_ms(0);
    // Session, player and room; the last tick; rate and budget; the ticket.
    let place = [0, 1, 0, 0, 0, 9, 0, 0, 0, 1];
    let accept = [nonce, &place, &[0, 1, 0xFF, 0xFE], &[60, 4, 0xB0, 0], &[8; 16]].concat();
    desk.receive(server, &native(0x82, 1_000, &accept));
    // Nobody acknowledges: after sixty it would try to come back.
    let sent = desk.advance_ms(900);
    let datagrams: Vec<_> =
        sent.iter().map(|(_, bytes)| Datagram::decode(bytes).expect("well formed")).collect();
    for pair in datagrams.windows(2) {
        assert_eq!(pair[1].sequence.wrapping_sub(pair[0].sequence), 1, "{pair:?}");
    }
    let ticks: Vec<u32> = datagrams
        .iter()
        .filter_map(|datagram| match datagram.packet {
            Packet::Input(input) => Some(input.newest.sequence),
            _ => None,
        })
        .collect();
    assert!((50..=58).contains(&ticks.len()), "{} inputs in 0.9 s", ticks.len());
    assert!(ticks.windows(2).all(|pair| pair[1] > pair[0]), "{ticks:?}");
}
