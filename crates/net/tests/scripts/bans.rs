//! An operator keeps an address out: what those who play there and those who try hear of it.

use std::net::IpAddr;
use std::time::Duration;

use backspin::node::StreamEvent;
use backspin::peer::LimitKey;
use backspin::session::EndReason;
use backspin::wire::native::{CloseReason, Datagram, Packet};

use super::desk::{address, sent_to};
use super::server::{
    NONCE, admitted, cookie, desk, join, native, play, rtype_hello, tcp_step, words,
};

const BANNED: &str = "You are banned from this server. Ask whoever runs it, or join another one.";

fn key(text: &str) -> LimitKey {
    LimitKey::from(text.parse::<IpAddr>().unwrap())
}

#[test]
fn everyone_at_the_address_reads_that_they_are_banned_and_the_others_play_on() {
    let mut desk = desk();
    let (alice, sister) = (address("10.0.0.2:5000"), address("10.0.0.2:5001"));
    let [alice, sister] = [alice, sister].map(|at| join(&mut desk, at));
    let mut bob = join(&mut desk, address("10.0.0.3:5000"));
    desk.node.ban(desk.now, key("10.0.0.2"), None).unwrap();
    let sent = play(&mut desk, &mut bob, 500);
    for peer in [&alice, &sister] {
        let last = sent_to(&sent, peer.at).last().map(|bytes| Datagram::decode(bytes).unwrap());
        let Some(Packet::Close(close)) = last.map(|datagram| datagram.packet) else {
            panic!("{last:?}");
        };
        assert_eq!(close.reason, CloseReason::Banned);
        assert_eq!(EndReason::from(close.reason).to_string(), BANNED);
    }
    assert_eq!(desk.node.endpoint().sessions(), 1);
    assert!(play(&mut desk, &mut bob, 1_000).len() > 50);
}

#[test]
fn whoever_asks_for_anything_is_told_in_fewer_bytes_until_the_ban_is_over() {
    let mut desk = desk();
    let at = address("10.0.0.2:5000");
    let alice = join(&mut desk, at);
    let cookie = cookie(&mut desk, address("10.0.0.2:5001"));
    let lasts = Duration::from_secs(60);
    desk.node.ban(desk.now, at.ip().into(), Some(desk.now + lasts)).unwrap();
    desk.advance_ms(500);
    let asked = [&[0, 2], &b"DOTS"[..], &[0, 1], &NONCE, &[0; 32]].concat();
    let hello = native(0x01, 77, &asked);
    let name = b"Alice\0\0\0\0\0\0\0\0\0\0\0";
    let wish = [&[0, 2], &b"DOTS"[..], &[0, 1, 0, 0, 0, 0, 4, 0xB0]].concat();
    let join_as = [&NONCE[..], &cookie, &wish, &[0; 5], name, &[0; 16], &[0; 3]].concat();
    let create = [&NONCE[..], &cookie, &wish, name, name, &[0; 16], &[0; 3]].concat();
    let resume = [&NONCE[..], &cookie, &alice.ticket, &[0]].concat();
    let list = [&NONCE[..], &cookie, b"DOTS", &[0; 2]].concat();
    let other = address("10.0.0.2:5001");
    for (what, bytes) in [
        ("Hello", hello.clone()),
        ("Join", native(0x02, 78, &join_as)),
        ("CreateRoom", native(0x0A, 78, &create)),
        ("Resume", native(0x09, 78, &resume)),
        ("ListRooms", native(0x07, 78, &list)),
    ] {
        assert!(Datagram::decode(&bytes).is_ok(), "{what}: {:?}", Datagram::decode(&bytes));
        let sent = desk.receive(other, &bytes);
        assert_eq!(sent.len(), 1, "{what}");
        assert_eq!(words(&sent[0].1), BANNED, "{what}");
        assert!(sent[0].1.len() < bytes.len(), "{what}");
    }
    // What asks for nothing gets nothing.
    assert_eq!(desk.receive(other, &native(0x05, 79, &[0; 8])), []);
    assert_eq!(desk.receive(other, b"nonsense"), []);
    assert_eq!(desk.node.endpoint().counts().banned, 7);
    desk.advance_ms(60_000);
    join(&mut desk, other);
}

#[test]
fn a_ban_that_is_lifted_holds_nobody() {
    let mut desk = desk();
    let at = address("[2001:db8::7]:5000");
    desk.node.ban(desk.now, key("2001:db8::1"), None).unwrap();
    assert!(desk.node.endpoint().is_banned(desk.now, at.ip().into()));
    assert_eq!(desk.node.endpoint().kept().bans, 1);
    desk.node.lift_ban(key("2001:db8::2"));
    join(&mut desk, at);
    assert_eq!(desk.node.endpoint().kept().bans, 0);
}

#[test]
fn the_old_dialects_have_no_word_for_it_but_the_way_to_the_menu() {
    let mut desk = desk();
    let (alice, guest) = (address("10.0.0.2:5000"), address("10.0.0.2:54001"));
    let token = tcp_step(&mut desk, 1, "10.0.0.2");
    let unused = tcp_step(&mut desk, 2, "10.0.0.2");
    assert!(admitted(&desk.receive(alice, &rtype_hello(token)), alice));
    let sent = desk.receive(guest, &[3, 0xD2, 0xF1]);
    assert_eq!(sent_to(&sent, guest)[0], [4]);
    desk.node.ban(desk.now, alice.ip().into(), Some(desk.now + Duration::from_secs(9))).unwrap();
    // Both streams are closed, and a new one is before a word.
    let start_game = Some(vec![0, 0, 101, 1]);
    assert_eq!(desk.stream(1, StreamEvent::Received(&[])), [start_game, None]);
    let opened = StreamEvent::Opened(address("10.0.0.2:40001").into());
    assert_eq!(desk.stream(3, opened), [None]);
    let sent = desk.advance_ms(1_000);
    assert_eq!(sent_to(&sent, alice).last().map(|bytes| bytes[2]), Some(17), "ReturnToMenu");
    assert_eq!(desk.node.endpoint().sessions(), 0);
    for bytes in [&rtype_hello(token)[..], &rtype_hello(unused), &[1], &[3, 0xD2, 0xF1]] {
        assert_eq!(desk.receive(alice, bytes), []);
    }
    // The token that nobody had used is gone with the ban.
    desk.advance_ms(9_000);
    assert!(!admitted(&desk.receive(alice, &rtype_hello(unused)), alice));
    let token = tcp_step(&mut desk, 4, "10.0.0.2");
    assert!(admitted(&desk.receive(alice, &rtype_hello(token)), alice));
}
