//! A server that offers a game with bots, and guests of Networked Pong: literal bytes, forged ones
//! among them.

use std::net::SocketAddr;

use backspin::endpoint::{EndpointConfig, GUEST_SHARE, Limits};
use backspin::game::PlayerId;
use backspin::room::{Room, RoomConfig, RoomEvent};
use backspin::server::Server;
use backspin::time::Time;
use backspin::wire::Name;

use super::desk::{Desk, address, sent_to};
use super::manned::Manned;

type Table = Desk<Server<Manned>>;

const FIND_HOST: &[u8] = &[1];
const HELLO_ACK: &[u8] = &[4];
const UP: &[u8] = &[5, 0, 0, 0xFF];

fn desk_with(limits: Limits) -> Table {
    let mut server = Server::new(EndpointConfig { limits, ..EndpointConfig::default() }, [5; 32])
        .speaking(backspin_classic::dialects());
    server.offer(Time::ZERO, Manned::default(), Name::new("Open"), 8, RoomConfig::default());
    Desk::new(server)
}

fn desk() -> Table {
    desk_with(Limits::default())
}

/// HELLO from where the guest listens; whether it is let in.
fn hello(desk: &mut Table, guest: SocketAddr) -> bool {
    let [high, low] = guest.port().to_be_bytes();
    let sent = desk.receive(guest, &[3, high, low]);
    assert!(sent.iter().all(|(to, _)| *to == guest));
    sent.first().is_some_and(|(_, bytes)| bytes == HELLO_ACK)
}

/// The guest of number `n`, each at an address of its own.
fn guest(n: u16) -> SocketAddr {
    let [high, low] = n.to_be_bytes();
    SocketAddr::from(([10, 1, high, low], 5000))
}

/// Time goes on while these play.
fn play_ms(desk: &mut Table, guests: &[SocketAddr], ms: u64) {
    for _ in 0..ms / 100 {
        guests.iter().for_each(|&guest| drop(desk.receive(guest, UP)));
        desk.advance_ms(100);
    }
}

fn rooms(desk: &Table) -> Vec<String> {
    desk.node.listed().map(|(_, name, _)| name.to_string()).collect()
}

/// How high the bot and the guest in a room are.
fn heights(room: &Room<Manned>) -> [i32; 2] {
    let [bot, guest] = &room.world().dots[..] else { panic!("there are not two of them") };
    [bot.y, guest.y]
}

#[test]
fn every_guest_has_a_room_and_a_bot_of_its_own() {
    let mut desk = desk();
    assert_eq!(rooms(&desk), ["Open 1"]);
    let guests = [guest(1), guest(2)];
    assert!(guests.iter().all(|&guest| hello(&mut desk, guest)));
    assert_eq!(rooms(&desk), ["Open 1", "Guest 1", "Guest 2"]);
    let before = heights(&desk.node.rooms()[1]);
    // Only the first of them steers.
    play_ms(&mut desk, &guests[..1], 500);
    for (room, steers) in desk.node.rooms()[1..].iter().zip([true, false]) {
        assert_eq!(room.bots(), [PlayerId(1)]);
        let members: Vec<_> = room.members().map(|card| (card.player, card.dialect)).collect();
        assert_eq!(members, [(PlayerId(2), "lan")]);
        let [bot, guest] = heights(room);
        assert!(bot > before[0] && (guest < before[1]) == steers, "{bot} {guest} {before:?}");
    }
    assert_eq!(desk.node.rooms()[0].members().count(), 0, "the open room is for others");
}

#[test]
fn the_first_state_shows_the_world_before_its_first_step_and_the_next_one_the_bot() {
    let mut desk = desk();
    let at = guest(1);
    let sent = desk.receive(at, &[3, 0x13, 0x88]);
    let sent = sent_to(&sent, at);
    assert_eq!((sent[0], &sent[1][..5]), (HELLO_ACK, &[6, 0, 0, 0, 0][..]));
    let p1y = |state: &[u8]| f32::from_le_bytes(state[5..9].try_into().unwrap());
    let before = p1y(sent[1]);
    desk.receive(at, &[5, 0, 0, 0]);
    let next = desk.advance_ms(17);
    assert_eq!(p1y(sent_to(&next, at)[0]), before + 5.0);
    assert!(hello(&mut desk, at), "HELLO again is answered again");
    assert_eq!(rooms(&desk).len(), 2, "and opens nothing");
}

#[test]
fn a_room_closes_when_its_guest_is_silent_for_ten_seconds() {
    let mut desk = desk();
    let (stays, goes) = (guest(1), guest(2));
    assert!(hello(&mut desk, stays) && hello(&mut desk, goes));
    play_ms(&mut desk, &[stays, goes], 1_000);
    play_ms(&mut desk, &[stays], 9_500);
    assert_eq!(rooms(&desk), ["Open 1", "Guest 1", "Guest 2"]);
    play_ms(&mut desk, &[stays], 1_000);
    assert_eq!(rooms(&desk), ["Open 1", "Guest 1"]);
    let closed = desk.node.poll_closed().expect("it was closed");
    let gone = [RoomEvent::Dropped(PlayerId(2)), RoomEvent::Freed(PlayerId(2))];
    assert_eq!((closed.number, closed.events.range(2..).copied().collect()), (3, gone.to_vec()));
    assert_eq!(desk.node.endpoint().kept().sessions, 1);
}

#[test]
fn a_hello_that_nobody_plays_behind_keeps_a_room_for_five_seconds() {
    let mut desk = desk();
    let (forged, real) = (guest(1), guest(2));
    assert!(hello(&mut desk, forged) && hello(&mut desk, real));
    play_ms(&mut desk, &[real], 4_800);
    // Whoever forges it says it again: that is no sign of life.
    assert!(hello(&mut desk, forged));
    assert_eq!(rooms(&desk).len(), 3);
    play_ms(&mut desk, &[real], 400);
    assert_eq!(rooms(&desk), ["Open 1", "Guest 2"]);
    let kept = desk.node.endpoint().kept();
    assert_eq!((kept.sessions, kept.addresses, kept.rooms), (1, 1, 2));
}

#[test]
fn guests_at_one_address_have_as_many_rooms_as_it_may_make() {
    let mut desk = desk_with(Limits { rooms_per_ip: 3, ..Limits::default() });
    let at = |port: u16| address(&format!("192.168.0.5:{port}"));
    for port in 1..=3 {
        assert_eq!(desk.receive(at(9), FIND_HOST).len(), 1, "there is room");
        assert!(hello(&mut desk, at(port)));
    }
    assert_eq!(desk.receive(at(9), FIND_HOST), [], "nobody is called in vain");
    assert!(!hello(&mut desk, at(4)));
    assert!(hello(&mut desk, address("192.168.0.6:4")), "elsewhere there is");
    // The first ones were never heard of again.
    desk.advance_ms(5_100);
    assert!(hello(&mut desk, at(4)));
}

#[test]
fn a_flood_of_forged_hellos_takes_a_share_of_the_rooms_and_no_more() {
    let limits = Limits { rooms: 17, ..Limits::default() };
    let share = usize::from(limits.rooms.div_ceil(GUEST_SHARE));
    let mut desk = desk_with(limits);
    let (mut let_in, mut most) = (0, 0);
    for round in 0..30 {
        for n in 0..200 {
            let_in += usize::from(hello(&mut desk, guest(round * 200 + n)));
            most = most.max(desk.node.rooms().len());
        }
        desk.advance_ms(500);
    }
    assert_eq!((share, most), (5, 1 + share), "at the limit, and the open room");
    // Fifteen seconds, five of them each: three times five.
    assert_eq!(let_in, 3 * share);
    assert_eq!(desk.node.endpoint().counts().guest_limit, 6_000 - let_in as u64);
    let kept = desk.node.endpoint().kept();
    assert!(kept.sessions <= share && kept.addresses <= share && kept.answers == 0, "{kept:?}");
    desk.advance_ms(5_100);
    assert_eq!(rooms(&desk), ["Open 1"]);
    assert!(hello(&mut desk, guest(1)), "whoever comes then is let in");
}

#[test]
fn a_server_that_lets_nobody_in_neither_calls_nor_takes_guests() {
    let mut desk = desk();
    assert_eq!(desk.receive(guest(1), FIND_HOST).len(), 1);
    desk.node.drain();
    assert_eq!(desk.receive(guest(1), FIND_HOST), []);
    assert!(!hello(&mut desk, guest(1)));
    assert_eq!(rooms(&desk).len(), 1);
}
