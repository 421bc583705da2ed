//! How a client gets in, and what it is told first.

use std::io::Read;
use std::time::Duration;

use crate::player::{DISCONNECT, HELLO_ACK, Player, START_MATCH, STATE, tcp_step};
use crate::server::{Ports, Server};

#[test]
fn a_token_brings_hello_ack_state_roster_and_lobby() {
    let server = Server::start(Ports::rtype, &[]);
    let mut ticket = tcp_step(&server, b"Alice");
    let mut alice = Player::new(&server);
    alice.send(&ticket.hello());
    let first: Vec<_> = (0..4).map(|_| alice.receive()).collect();
    assert_eq!(first[0], HELLO_ACK);
    // One entity: player 1, a ship, at (50, 100), at rest, in the players' colour.
    let ship = b"\x1B\0\x04\x01\x01\0\
        \x01\0\0\0\x01\0\0\x48\x42\0\0\xC8\x42\0\0\0\0\0\0\0\0\xFF\xFF\xAA\x55";
    assert_eq!(first[1], ship);
    // One player: 1, with three lives.
    let roster = b"\x16\0\x09\x01\x01\x01\0\0\0\x03Alice\0\0\0\0\0\0\0\0\0\0\0";
    // Host 1, three lives, normal, not started. A tick may have come between.
    let lobby = b"\x08\0\x0C\x01\x01\0\0\0\x03\x01\0\0";
    alice.until("roster and lobby", |alice| !alice.roster.is_empty() && alice.lobby.is_some());
    assert!(first[2..].iter().all(|bytes| bytes[2] != 9 || bytes == roster));
    assert!(first[2..].iter().all(|bytes| bytes[2] != 12 || bytes == lobby));
    assert_eq!((&alice.roster[..], alice.lobby), (&[(1, 3)][..], Some((1, 3, 1, 0))));
    // The stream says that the game is on.
    let mut start = [0; 4];
    ticket.stream.read_exact(&mut start).unwrap();
    assert_eq!(&start, b"\0\0\x65\x01");
}

#[test]
fn everyone_is_told_who_comes_and_goes() {
    let server = Server::start(Ports::rtype, &[]);
    let (mut alice, _alices) = Player::join(&server, b"Alice");
    let (mut bobby, _bobbys) = Player::join(&server, b"Bobby");
    alice.until("roster of two", |alice| alice.roster == [(1, 3), (2, 3)]);
    bobby.until("roster of two", |bobby| bobby.roster == [(1, 3), (2, 3)]);
    bobby.until("both ships", |bobby| bobby.ship(1).is_some() && bobby.ship(2).is_some());
    assert_eq!(bobby.lobby, Some((1, 3, 1, 0)), "who was first is host");
    bobby.send(DISCONNECT);
    alice.until("roster of one", |alice| alice.roster == [(1, 3)]);
}

#[test]
fn with_the_fifth_a_second_room_opens() {
    let server = Server::start(Ports::rtype, &[]);
    let names = [b"Alice", b"Bobby", b"Carol", b"David", b"Emily"];
    let mut players = names.map(|name| Player::join(&server, name));
    let (fourth, fifth) = (3, 4);
    players[fourth].0.until("roster of four", |player| player.roster.len() == 4);
    // The fifth is host of another lobby, alone.
    let (emily, _) = &mut players[fifth];
    assert_eq!((&emily.roster[..], emily.lobby), (&[(1, 3)][..], Some((1, 3, 1, 0))));
    emily.send(START_MATCH);
    emily.until("start", |emily| emily.lobby == Some((1, 3, 1, 1)));
    // Nobody starts with her: what is newest is read first.
    let (david, _) = &mut players[fourth];
    david.listen(Duration::from_millis(1_500), STATE);
    assert_eq!(david.lobby, Some((1, 3, 1, 0)));
}

#[test]
fn a_raw_name_is_let_in_only_where_that_is_allowed_and_only_after_the_tcp_step() {
    let raw_name = b"\x05\0\x01\x01Alice";
    let strict = Server::start(Ports::rtype, &[]);
    let _ticket = tcp_step(&strict, b"Alice");
    Player::new(&strict).gets_silence(raw_name);

    let lenient = Server::start(Ports::rtype, &["--allow-tokenless"]);
    Player::new(&lenient).gets_silence(raw_name);
    let _ticket = tcp_step(&lenient, b"Alice");
    let mut alice = Player::new(&lenient);
    alice.send(raw_name);
    assert_eq!(alice.receive(), HELLO_ACK);
    alice.until("roster", |alice| alice.roster == [(1, 3)]);
    // Its step is used up: the next raw name belongs to nobody.
    Player::new(&lenient).gets_silence(raw_name);
}
