//! Guests of Networked Pong on a server: sockets and literal bytes against the built binary.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::time::Instant;

use serde_json::Value;

use crate::server::{HERE, Home, PATIENCE, Ports, Server, free_port};

const UP: i8 = -1;
const STILL: i8 = 0;

/// State 0: both paddles at 390, the ball at (710, 440) with (-400, -250), no point.
const FIRST: [u8; 31] = *b"\x06\0\0\0\0\
    \0\0\xc3\x43\0\0\xc3\x43\0\x80\x31\x44\0\0\xdc\x43\0\0\xc8\xc3\0\0\x7a\xc3\0\0";

/// A guest who speaks and listens at one port.
struct Guest(UdpSocket);

impl Guest {
    fn new(server: SocketAddr) -> Self {
        let socket = UdpSocket::bind((HERE, 0)).unwrap();
        socket.connect(server).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        Guest(socket)
    }

    /// HELLO, its answer, and the state that follows at once.
    fn join(server: SocketAddr) -> Self {
        let guest = Guest::new(server);
        guest.say_hello();
        assert_eq!(guest.hear(), [4]);
        assert_eq!(guest.hear(), FIRST);
        guest
    }

    fn say_hello(&self) {
        let [high, low] = self.0.local_addr().unwrap().port().to_be_bytes();
        self.0.send(&[3, high, low]).unwrap();
    }

    fn hear(&self) -> Vec<u8> {
        let mut bytes = [0; 64];
        let len = self.0.recv(&mut bytes).expect("something comes");
        bytes[..len].to_vec()
    }

    /// Steers for the next tick and sees what comes of it.
    fn pass(&self, steer: i8) -> State {
        self.0.send(&[5, 0, 0, steer as u8]).unwrap();
        State::decode(&self.hear())
    }
}

#[derive(Debug)]
struct State {
    p1y: f32,
    p2y: f32,
    score: [u8; 2],
}

impl State {
    fn decode(bytes: &[u8]) -> Self {
        assert_eq!((bytes.len(), bytes[0]), (31, 6));
        let float = |at: usize| f32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        State { p1y: float(5), p2y: float(9), score: [bytes[29], bytes[30]] }
    }
}

/// What the page says at a path.
fn get(page: u16, path: &str) -> String {
    let mut stream = TcpStream::connect((HERE, page)).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    reply.split_once("\r\n\r\n").unwrap().1.to_owned()
}

/// The rooms where someone is: name, who, and how many bots.
fn rooms(page: u16) -> Vec<String> {
    let told: Value = serde_json::from_str(&get(page, "/api/rooms")).unwrap();
    let rooms = told["rooms"].as_array().unwrap().iter();
    let used = rooms.filter(|room| room["members"][0].is_object());
    used.map(|room| {
        let names = room["members"].as_array().unwrap().iter().map(|member| &member["name"]);
        let names: Vec<_> = names.map(|name| name.as_str().unwrap()).collect();
        let bots = room["bots"].as_array().unwrap().len();
        format!("{}: {} and {bots}", room["name"].as_str().unwrap(), names.join(", "))
    })
    .collect()
}

/// Plays on until the rooms are these.
#[track_caller]
fn wait_for_rooms(page: u16, guests: &[&Guest], expected: &[&str]) {
    let limit = Instant::now() + PATIENCE;
    loop {
        for _ in 0..20 {
            for guest in guests {
                guest.pass(STILL);
            }
        }
        let rooms = rooms(page);
        if rooms == expected {
            return;
        }
        assert!(Instant::now() < limit, "{rooms:?} is not {expected:?}");
    }
}

#[test]
fn every_guest_has_a_room_with_a_bot_until_it_is_gone() {
    let home = Home::new();
    let page = free_port();
    let matches = home.path().join("matches");
    let args = ["--http", &page.to_string(), "--record-matches", matches.to_str().unwrap()];
    let server = Server::start_in(&home, Ports::native, &args);
    let at = server.native();
    let [high, low] = at.port().to_be_bytes();
    let asker = Guest::new(at);
    asker.0.send(&[1]).unwrap();
    assert_eq!(asker.hear(), [2, high, low, b'B', b'S', high, low, 0]);

    let (ann, ben) = (Guest::join(at), Guest::join(at));
    let (mut at_the_top, mut bot_moves, limit) = (false, false, Instant::now() + PATIENCE);
    while !at_the_top || !bot_moves {
        let (above, idle) = (ann.pass(UP), ben.pass(STILL));
        assert_eq!(idle.p2y, 390.0, "nobody else steers");
        at_the_top |= above.p2y == 0.0;
        bot_moves |= idle.p1y != 390.0;
        assert!(Instant::now() < limit, "{above:?} {idle:?}");
    }
    // Someone who says hello and is not heard of again, and someone who speaks native.
    let forged = Guest::join(at);
    let address = at.to_string();
    let mut native = home.command(&["pong", "join", &address, "--ui", "none", "--name", "Cleo"]);
    let mut native = native.spawn().unwrap();
    let [first, second] = ["Guest 1: Guest and 1", "Guest 2: Guest and 1"];
    wait_for_rooms(page, &[&ann, &ben], &["Pong 1: Cleo and 0", first, second]);
    native.kill().unwrap();
    native.wait().unwrap();
    drop(forged);
    // Whoever forges guests fills no disk.
    let recorded = std::fs::read_dir(matches).unwrap().map(|entry| entry.unwrap().file_name());
    let recorded: Vec<_> = recorded.map(|name| name.into_string().unwrap()).collect();
    let is_recorded = |room| recorded.iter().any(|name| name.contains(&format!("room{room}-")));
    let told: Value = serde_json::from_str(&get(page, "/api/rooms")).unwrap();
    let guests = told["rooms"].as_array().unwrap().iter().find(|room| room["name"] == "Guest 1");
    let guests = guests.unwrap()["room"].as_u64().unwrap();
    let rooms = [1, guests, guests + 1, guests + 2];
    assert_eq!(rooms.map(is_recorded), [true, true, true, false], "{recorded:?}");
    let metrics = get(page, "/metrics");
    let line = "backspin_players{game=\"Pong\"} 3\n";
    assert!(metrics.contains(line), "{line} is not in {metrics}");
    for reason in ["reach", "guest_limit"] {
        let line = format!("backspin_datagrams_dropped_total{{reason=\"{reason}\"}} 0");
        assert!(metrics.contains(&line), "{line} is not in {metrics}");
    }
}

#[test]
fn a_match_against_the_bot_is_kept_and_another_one_follows() {
    let home = Home::new();
    let server = Server::start_in(&home, Ports::native, &[]);
    let guest = Guest::join(server.native());
    let limit = Instant::now() + 4 * PATIENCE;
    let mut state = guest.pass(STILL);
    let mut next = |until: fn(&State) -> bool| {
        while !until(&state) {
            state = guest.pass(STILL);
            assert!(Instant::now() < limit, "{state:?}");
        }
        state.score
    };
    // A guest who sleeps.
    let [bot, own] = next(|state| state.score[0] == 5);
    assert_eq!(next(|state| state.score[0] == 0), [0, 0]);
    let done = home.command(&["results", "--json"]).output().unwrap();
    let result: Value = serde_json::from_slice(&done.stdout).unwrap();
    let player = |place: usize| {
        let player = &result["players"][place];
        (player["name"].as_str().unwrap(), player["score"].as_u64().unwrap(), &player["won"])
    };
    assert_eq!(player(0), ("Bot", bot.into(), &true.into()));
    assert_eq!(player(1), ("Guest", own.into(), &false.into()));
}
