//! Who comes in, who does not, and how it ends.

use backspin::endpoint::EndpointConfig;
use backspin::game::PlayerId;
use backspin::room::RoomEvent;
use backspin::wire::native::CloseReason;
use backspin_rtype::RType;
use backspin_rtype::mission::Phase;

use crate::desk::{address, sent_to};
use crate::table::*;

#[test]
fn before_the_cookie_came_back_nothing_is_kept_and_no_answer_is_longer_than_its_question() {
    let mut table = Table::new();
    let cookie = table.cookie(alice());
    for payload in [join([9; 16], b"RTYP", b""), join(cookie, b"RTYP", b"")] {
        // A cookie that is none, and one of somebody else.
        let sent = table.say(bobby(), JOIN, &payload);
        assert_eq!(kinds(&sent, bobby()), [CHALLENGE]);
        assert!(sent[0].1.len() < 9 + payload.len());
    }
    // One that is too old.
    table.desk.advance_ms(10_000);
    assert_eq!(kinds(&table.join_with(alice(), cookie), alice()), [CHALLENGE]);
    // Of a game that nobody has, with a token that nobody wants: not a word before the cookie.
    let sent = table.say(alice(), JOIN, &join([9; 16], b"TETR", b"sesame"));
    assert_eq!(kinds(&sent, alice()), [CHALLENGE]);
    let kept = table.desk.node.endpoint().kept();
    assert_eq!((kept.sessions, kept.addresses, kept.answers), (0, 0, 0));
    assert_eq!(table.desk.node.endpoint().counts().bad_proof, 4);
}

#[test]
fn a_strangers_input_and_leave_get_silence_and_its_ping_comes_back() {
    let mut table = Table::new();
    assert_eq!(table.input(alice(), 1, UP), []);
    assert_eq!(table.say(alice(), LEAVE, &[]), []);
    assert_eq!(table.desk.node.endpoint().counts().stray, 2);
    let sent = table.say(alice(), PING, &[0, 0, 0, 5, 0, 0, 0x30, 0x39]);
    // With the number of the question: nobody counts for a stranger.
    assert_eq!(sent[0].1, datagram(PONG, 3, &[0, 0, 0, 5, 0, 0, 0x30, 0x39]));
}

#[test]
fn who_joins_is_told_who_it_is_and_sees_the_world_at_once() {
    let mut table = Table::new();
    let cookie = table.cookie(alice());
    let sent = table.join_with(alice(), cookie);
    let welcome = [&[0, 0, 0, 1, 0, 0, 0, 1], &0_u32.to_be_bytes()[..], &[60]].concat();
    assert_eq!(sent_to(&sent, alice())[0], datagram(WELCOME, 1, &welcome));
    let snapshot = &snapshots(&sent, alice())[0];
    assert_eq!((snapshot.sequence, snapshot.more), (2, false));
    let ship = snapshot.entities[0];
    assert_eq!((ship.id, ship.kind, ship.x, ship.y, ship.health), (1, 1, 50.0, 100.0, 3));
    // The same JOIN later gets the same WELCOME, and makes nobody new.
    for _ in 0..90 {
        table.tick();
    }
    let again = table.join_with(alice(), cookie);
    assert_eq!(sent_to(&again, alice())[0][9..], welcome);
    assert_eq!(table.world().players().count(), 1);
}

#[test]
fn a_refusal_says_why_in_a_number_and_a_sentence() {
    let config = EndpointConfig { token: b"sesame".to_vec(), ..EndpointConfig::default() };
    let mut table = Table::with(RType::default(), config);
    let refused = |table: &mut Table, game, token: &[u8]| {
        let cookie = table.cookie(bobby());
        let sent = table.say(bobby(), JOIN, &join(cookie, game, token));
        let [bytes] = sent_to(&sent, bobby())[..] else { panic!("{sent:02x?}") };
        assert_eq!(bytes[1], REFUSED);
        (bytes[9], String::from_utf8(bytes[10..].to_vec()).unwrap())
    };
    for token in [&b""[..], b"sesam", b"open"] {
        let (reason, words) = refused(&mut table, b"RTYP", token);
        assert_eq!(
            (reason, &*words),
            (6, "The token is wrong. Ask whoever runs the server for one.")
        );
    }
    let (reason, words) = refused(&mut table, b"TETR", b"sesame");
    assert_eq!((reason, &*words), (4, "The server does not have this game."));
    // Any game is one that is here, and four have a place.
    for player in 2..=5 {
        let from = address(&format!("10.0.1.{player}:5000"));
        let cookie = table.cookie(from);
        let sent = table.say(from, JOIN, &join(cookie, &[0; 4], b"sesame"));
        assert_eq!(kinds(&sent, from)[0], WELCOME);
    }
    let (reason, words) = refused(&mut table, b"RTYP", b"sesame");
    assert_eq!((reason, &*words), (1, "The server is full. Try again later."));
    table.desk.node.drain();
    let (reason, words) = refused(&mut table, b"RTYP", b"sesame");
    assert_eq!((reason, &*words), (11, "The server is about to stop. Try again later."));
}

#[test]
fn five_seconds_of_silence_are_logged_and_ten_end_it_with_timeout() {
    let mut table = Table::new();
    table.join(alice());
    table.input(alice(), 1, 0);
    table.desk.advance_ms(5_100);
    let room = &mut table.desk.node.rooms_mut()[0];
    let events: Vec<_> = std::iter::from_fn(|| room.poll_event()).collect();
    assert!(events.iter().any(|event| matches!(event, RoomEvent::Quiet(_))), "{events:?}");
    assert!(table.lines().contains(&"Player 1 inactive for 5s".into()));
    // A PING is a sign of life like any other.
    assert_eq!(kinds(&table.say(alice(), PING, &[7; 8]), alice()), [PONG]);
    let sent = table.desk.advance_ms(9_900);
    assert!(!kinds(&sent, alice()).contains(&BYE));
    let sent = table.desk.advance_ms(200);
    let byes: Vec<_> = sent_to(&sent, alice()).into_iter().filter(|it| it[1] == BYE).collect();
    assert_eq!(byes.len(), 3, "it may be lost");
    assert!(byes.iter().all(|bye| bye[9..] == *b"\x02Timeout"));
    assert_eq!(table.world().players().count(), 0);
    // It is a stranger again, who may come in as anyone.
    assert_eq!(table.input(alice(), 2, 0), []);
    assert_eq!(table.join(alice()), 0x1_0001, "and is not taken for who it was");
}

#[test]
fn a_player_who_joined_and_says_nothing_has_ten_seconds_too() {
    let mut table = Table::new();
    table.join(alice());
    table.desk.advance_ms(9_900);
    assert_eq!(table.world().players().count(), 1);
    table.desk.advance_ms(200);
    assert_eq!(table.world().players().count(), 0);
}

#[test]
fn a_join_said_again_is_a_sign_of_life() {
    let mut table = Table::new();
    table.join(alice());
    // Its WELCOME is lost again and again.
    for _ in 0..5 {
        table.desk.advance_ms(6_000);
        let cookie = table.cookie(alice());
        let sent = table.join_with(alice(), cookie);
        assert_eq!(sent_to(&sent, alice())[0][1], WELCOME);
        assert_eq!(table.desk.node.endpoint().sessions(), 1);
    }
    let heard = RoomEvent::Heard(PlayerId(1));
    let room = &mut table.desk.node.rooms_mut()[0];
    assert!(std::iter::from_fn(|| room.poll_event()).any(|event| event == heard));
    table.desk.advance_ms(10_500);
    assert_eq!(table.desk.node.endpoint().sessions(), 0);
}

#[test]
fn who_leaves_is_gone_at_once_and_who_is_sent_away_is_told_why() {
    let mut table = Table::new();
    table.join(alice());
    table.join(bobby());
    table.say(alice(), LEAVE, &[]);
    assert_eq!(table.world().players().count(), 1);
    assert_eq!(table.say(alice(), LEAVE, &[]), [], "a stranger's");
    table.desk.node.close(CloseReason::Stopping);
    let sent = table.desk.drain();
    let byes = sent_to(&sent, bobby());
    assert_eq!(byes.len(), 3);
    assert!(byes.iter().all(|bye| bye[9..] == *b"\x03The server was stopped. Try again later."));
}

#[test]
fn a_room_whose_host_speaks_ack_starts_by_itself_after_five_seconds() {
    let mut table = Table::new();
    table.join(alice());
    table.join(bobby());
    assert!(table.world().players().all(|player| player.is_ready));
    table.tick();
    assert_eq!(table.world().mission.phase, Phase::Countdown);
    let mut number = 0;
    let mut pass = |table: &mut Table, ticks: u32| {
        for _ in 0..ticks {
            number += 1;
            table.input(alice(), number, 0);
            table.input(bobby(), number, 0);
            table.tick();
        }
    };
    pass(&mut table, 298);
    assert_eq!(table.world().mission.phase, Phase::Countdown);
    pass(&mut table, 2);
    assert_eq!(table.world().mission.phase, Phase::Playing);
}

#[test]
fn a_length_in_little_endian_is_counted_and_told() {
    let mut table = Table::new();
    table.desk.node.keep_lines(16);
    let mut bytes = datagram(INPUT, 1, &input(1, UP));
    bytes.swap(3, 4);
    assert_eq!(table.desk.receive(alice(), &bytes), []);
    let counts = table.desk.node.endpoint().counts();
    assert_eq!((counts.malformed, counts.byte_order), (1, 1));
    assert_eq!(
        table.desk.node.poll_line().unwrap().to_string(),
        "Invalid packet size: 23 bytes from 10.0.0.2:5000, payload_length: fits only in \
         little-endian; every number here is big-endian (htons, htonl)"
    );
    // A length that fits neither way has no hint.
    table.desk.receive(alice(), &bytes[..22]);
    assert_eq!(table.desk.node.endpoint().counts().byte_order, 1);
}
