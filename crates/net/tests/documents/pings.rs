//! Documents 000 and 001: Ping and Pong of `rtype`.

use backspin::client::Client;
use backspin::game::PlayerId;
use backspin::room::RoomEvent;
use backspin_sim::dot::Dots;

use crate::desk::{Desk, address, sent_to};
use crate::ends::{
    STATE, hello_from, playing_client, room_events, server, server_address as from_server,
};

/// The documents' example: sequence 5, timestamp 12345.
const PING: [u8; 12] = [8, 0, 7, 1, 5, 0, 0, 0, 0x39, 0x30, 0, 0];
const PONG: [u8; 12] = [8, 0, 8, 1, 5, 0, 0, 0, 0x39, 0x30, 0, 0];

/// What is nearly `bytes`: of another version, or of another size by its header or its length.
fn spoiled(bytes: [u8; 12]) -> Vec<Vec<u8>> {
    let with = |at: usize, byte| {
        let mut bytes = bytes;
        bytes[at] = byte;
        bytes.to_vec()
    };
    let mut spoiled = vec![with(3, 0), with(3, 2), with(0, 7), with(0, 9), with(1, 1)];
    spoiled.push(bytes[..11].to_vec());
    spoiled.push([&bytes[..], &[0]].concat());
    // The header and the length agree, but on another size.
    spoiled.push([&with(0, 7)[..11]].concat());
    spoiled.push([&with(0, 9)[..], &[0]].concat());
    spoiled
}

#[test]
fn a_ping_of_another_version_or_size_is_not_answered() {
    let (mut server, mut client) = (server(), playing_client());
    let stranger = address("192.0.2.7:1234");
    let pongs = |sent: Vec<(_, Vec<u8>)>| sent.iter().filter(|(_, it)| it[2] == 8).count();
    for bytes in spoiled(PING) {
        assert_eq!(server.receive(stranger, &bytes), [], "{bytes:?}");
        assert_eq!(pongs(client.receive(from_server(), &bytes)), 0, "{bytes:?}");
    }
    // And the right one is, at the same instant.
    assert_eq!(server.receive(stranger, &PING), [(stranger, PONG.to_vec())]);
    assert!(client.receive(from_server(), &PING).contains(&(from_server(), PONG.to_vec())));
}

/// Moves on until our client pings: the Pong that fits, a millisecond later at most.
fn next_pong(desk: &mut Desk<Client<Dots>>) -> [u8; 12] {
    for _ in 0..2_000 {
        let sent = desk.advance_ms(1);
        if let Some((_, ping)) = sent.iter().find(|(_, bytes)| bytes[2] == 7) {
            let mut pong: [u8; 12] = ping[..].try_into().expect("12 bytes");
            assert_eq!(pong[..4], [8, 0, 7, 1]);
            pong[2] = 8;
            return pong;
        }
    }
    panic!("no Ping in two seconds")
}

#[test]
fn a_pong_of_another_version_type_or_size_or_of_no_ping_measures_nothing() {
    let mut desk = playing_client();
    let pong = next_pong(&mut desk);
    desk.advance_ms(50);
    let of_another_type = |kind| {
        let mut bytes = pong;
        bytes[2] = kind;
        bytes.to_vec()
    };
    let mut wrong = spoiled(pong);
    wrong.extend([7, 9, 18].map(of_another_type));
    let mut unknown = pong;
    unknown[7] ^= 0x80;
    wrong.push(unknown.to_vec());
    for bytes in wrong {
        desk.receive(from_server(), &bytes);
        assert_eq!(desk.node.round_trip().samples(), 0, "{bytes:?}");
    }
    desk.receive(address("10.0.0.1:4243"), &pong);
    assert_eq!(desk.node.round_trip().samples(), 0, "from another port");
    desk.receive(from_server(), &pong);
    assert_eq!(desk.node.round_trip().samples(), 1);
}

#[test]
fn a_pong_50_ms_after_its_ping_is_a_round_trip_of_50_ms_once() {
    let mut desk = playing_client();
    let pong = next_pong(&mut desk);
    desk.advance_ms(50);
    desk.receive(from_server(), &pong);
    let rtt_ms = desk.node.round_trip().mean().unwrap().as_secs_f64() * 1e3;
    assert!((50.0..=51.0).contains(&rtt_ms), "{rtt_ms} ms");
    // It is not pending any more: a second Pong says nothing.
    desk.advance_ms(300);
    desk.receive(from_server(), &pong);
    assert_eq!((desk.node.round_trip().samples(), desk.node.pings().duplicate), (1, 1));
}

#[test]
fn pings_count_up_by_one_a_second_and_cost_12_bytes_each_way() {
    let mut desk = playing_client();
    let mut pings = Vec::new();
    for _ in 0..100 {
        let sent = desk.advance_ms(100);
        desk.receive(from_server(), &STATE);
        pings.extend(sent.into_iter().map(|(_, bytes)| bytes).filter(|bytes| bytes[2] == 7));
    }
    // The first may have gone with the State before.
    assert!((9..=11).contains(&pings.len()), "{} in ten seconds", pings.len());
    let number = |ping: &[u8], at| u32::from_le_bytes(ping[at..at + 4].try_into().unwrap());
    for pair in pings.windows(2) {
        assert_eq!(number(&pair[1], 4).wrapping_sub(number(&pair[0], 4)), 1, "sequence");
        let apart = number(&pair[1], 8).wrapping_sub(number(&pair[0], 8));
        // A Ping goes out with the next input.
        assert!((1_000..=1_017).contains(&apart), "timestamps {apart} ms apart");
    }
    let mut server = server();
    for ping in pings {
        let pong = server.receive(address("192.0.2.7:1234"), &ping);
        assert_eq!((ping.len(), pong[0].1.len(), pong.len()), (12, 12, 1));
        server.advance_ms(1_000);
    }
}

#[test]
fn a_player_who_pings_every_five_seconds_is_kept_and_one_who_stops_is_dropped_after_ten() {
    let mut desk = server();
    let alice = address("10.0.0.2:5000");
    let hello = hello_from(&mut desk, 1, "10.0.0.2");
    desk.receive(alice, &hello);
    let dropped = RoomEvent::Dropped(PlayerId(1));
    for _ in 0..12 {
        let sent = desk.receive(alice, &PING);
        assert!(sent_to(&sent, alice).contains(&&PONG[..]));
        desk.advance_ms(5_000);
    }
    assert!(!room_events(&mut desk).contains(&dropped), "after a minute of Pings");
    desk.receive(alice, &PING);
    desk.advance_ms(9_900);
    assert!(!room_events(&mut desk).contains(&dropped));
    desk.advance_ms(200);
    assert!(room_events(&mut desk).contains(&dropped));
    // A stranger's Pings hold no place.
    desk.receive(address("10.0.0.9:5000"), &PING);
    assert!(!room_events(&mut desk).iter().any(|event| matches!(event, RoomEvent::Joined(..))));
}

#[test]
fn a_player_more_than_300_ms_away_is_told_of_once() {
    for (way_ms, is_far) in [(290, false), (310, true)] {
        let mut desk = server();
        let alice = address("10.0.0.2:5000");
        let hello = hello_from(&mut desk, 1, "10.0.0.2");
        desk.receive(alice, &hello);
        room_events(&mut desk);
        let mut answered = 0;
        for _ in 0..1_000 {
            let sent = desk.advance_ms(5);
            let ping = sent_to(&sent, alice).into_iter().find(|bytes| bytes[2] == 7);
            if let Some(ping) = ping.map(<[u8]>::to_vec) {
                desk.advance_ms(way_ms);
                desk.receive(alice, &[&[8, 0, 8, 1], &ping[4..]].concat());
                answered += 1;
            }
        }
        assert!(answered >= 5, "{answered} Pings of the server were answered");
        let told: Vec<_> = room_events(&mut desk)
            .into_iter()
            .filter_map(|event| match event {
                RoomEvent::HighLatency(player, ms) => Some((player, ms)),
                _ => None,
            })
            .collect();
        match is_far {
            true => assert!(matches!(told[..], [(PlayerId(1), 310..=315)]), "{told:?}"),
            false => assert_eq!(told, []),
        }
    }
}
