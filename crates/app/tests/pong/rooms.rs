//! Rooms of a server: made, found by their names or numbers, kept by their passwords.

use crate::program::{Program, free_port};
use crate::server::{Ports, Server};

#[test]
fn a_room_is_made_found_by_its_name_and_kept_by_its_password() {
    let server = Server::start(Ports::native, &[]);
    let address = server.native().to_string();
    let room = |args: &[&str]| {
        let mut all = vec!["join", &address, "--room", "Attic"];
        all.extend(args);
        Program::start(&all)
    };
    room(&[]).end().failed_with("has no room \"Attic\"; it has \"Pong 1\"");
    let mut ann = room(&["--create", "--password", "moth", "--name", "Ann"]);
    assert_eq!(ann.event("connected")["player"], 1);
    room(&["--password", "wasp"]).end().failed_with("The password of the room is another");
    // Whoever names no room is in another one.
    let mut eve = Program::start(&["join", &address, "--name", "Eve"]);
    assert_eq!(eve.event("connected")["player"], 1);
    let mut ben = room(&["--password", "moth", "--name", "Ben"]);
    assert_eq!(ben.event("connected")["player"], 2);
    let watch = ["watch", &address, "--room", "Attic", "--password", "moth", "--name", "Dan"];
    Program::start(&watch).event("connected");
}

#[test]
fn a_room_needs_an_address_and_a_new_one_needs_a_name() {
    for args in [&["join", "--room", "Attic"][..], &["join", "127.0.0.1", "--create"]] {
        assert_eq!(Program::start(args).end().code, Some(2), "{args:?}");
    }
}

#[test]
fn quick_joins_the_best_room_and_says_so_where_there_is_none() {
    let server = Server::start(Ports::native, &[]);
    let (address, nobody) = (server.native().to_string(), format!("127.0.0.1:{}", free_port()));
    let mut guest = Program::start(&["quick", &nobody, &address]);
    assert_eq!(guest.event("picked")["address"], address.as_str());
    assert_eq!(guest.event("connected")["address"], address.as_str());
    Program::start(&["quick", &nobody]).end().failed_with("No answer from 127.0.0.1");
}

#[test]
fn a_matchmaker_puts_two_players_into_one_room() {
    const KEY: &str = "000102030405060708090a0b0c0d0e0f";
    let server = Server::start(Ports::native, &["--match-key", KEY]);
    let (mut matchmaker, address) = Program::matchmaker(KEY, &[&server.native().to_string()]);
    assert_eq!(matchmaker.event("server")["state"], "ready");
    let address = address.to_string();
    let mut two = [(); 2].map(|()| Program::start(&["quick", &address, "--bot", "easy"]));
    let rooms = two.each_mut().map(|player| player.event("matched")["room"].clone());
    assert!(rooms[0] == rooms[1] && rooms[0] != "", "{rooms:?}");
    for player in &mut two {
        player.event("connected");
    }
}
