//! Document 003: HelloAck of `rtype`.

use crate::desk::address;
use crate::ends::{
    HELLO_ACK, STATE, asking_client, connections, hello_from, server, server_address,
};

#[test]
fn a_hello_ack_is_four_bytes_at_once_and_to_where_the_hello_came_from() {
    let mut desk = server();
    let hello = hello_from(&mut desk, 1, "10.0.0.2");
    // Not where the TCP stream came from: from where the Hello did.
    let sender = address("10.0.0.2:5123");
    let sent = desk.receive(sender, &hello);
    assert_eq!(sent[0], (sender, vec![0x00, 0x00, 0x02, 0x01]));
    assert!(sent.iter().all(|(to, _)| *to == sender), "{sent:?}");
    let kinds: Vec<u8> = sent.iter().map(|(_, bytes)| bytes[2]).collect();
    assert_eq!(kinds[..3], [2, 4, 9], "HelloAck, State, Roster");
    assert_eq!(kinds.iter().filter(|kind| **kind == 2).count(), 1, "once");
    assert_eq!(desk.node.rooms()[0].world().dots.len(), 1, "the player is there");
}

#[test]
fn nothing_but_those_four_bytes_from_the_server_is_a_hello_ack() {
    let mut wrong: Vec<Vec<u8>> = (0..4).map(|len| HELLO_ACK[..len].to_vec()).collect();
    // Another type; a payload; a payload that the header does not say; one that is not there.
    wrong.push(vec![0, 0, 1, 1]);
    wrong.push([&[10, 0, 2, 1][..], &[0; 10]].concat());
    wrong.push(vec![0, 0, 2, 1, 0]);
    wrong.push(vec![10, 0, 2, 1]);
    let mut desk = asking_client();
    for bytes in wrong {
        desk.receive(server_address(), &bytes);
        assert_eq!(connections(&mut desk), 0, "{bytes:?}");
    }
    for elsewhere in ["10.0.0.9:4242", "10.0.0.1:4241"] {
        desk.receive(address(elsewhere), &HELLO_ACK);
        assert_eq!(connections(&mut desk), 0, "{elsewhere}");
    }
    desk.receive(server_address(), &HELLO_ACK);
    assert_eq!(connections(&mut desk), 1);
}

#[test]
fn a_flood_of_hello_acks_connects_once_and_brings_about_nothing_more() {
    let run = |copies: usize| {
        let mut desk = asking_client();
        let mut sent = Vec::new();
        for _ in 0..20 {
            for _ in 0..copies {
                sent.extend(desk.receive(server_address(), &HELLO_ACK));
            }
            desk.receive(server_address(), &STATE);
            sent.extend(desk.advance_ms(50));
        }
        (connections(&mut desk), sent)
    };
    let (flooded, calm) = (run(1_000), run(1));
    assert_eq!(flooded.0, 1);
    assert_eq!(flooded, calm, "what is sent is the same, datagram for datagram");
}
