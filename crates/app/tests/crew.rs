//! `backspin rtype` as players and other programs meet it: the built binary on real sockets.
#![cfg(unix)]

#[path = "pong/program.rs"]
#[allow(dead_code, reason = "the tests of Pong need more of it")]
mod program;
#[path = "server/mod.rs"]
mod server;

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::{Duration, Instant};

use serde_json::Value;

use program::{HERE, Program, free_port, host, join, socket};
use server::{Ports, Server};

/// What the programs play.
const GAME: &str = "rtype";

/// All states that a program tells for so long, by their ticks.
fn states(program: &mut Program, span: Duration) -> BTreeMap<u64, Value> {
    let until = Instant::now() + span;
    let mut states = BTreeMap::new();
    while Instant::now() < until {
        let Some(event) = program.next() else { break };
        if event["event"] == "state" {
            states.insert(event["tick"].as_u64().unwrap(), event);
        }
    }
    states
}

#[test]
fn on_the_reference_link_two_bots_and_a_watcher_agree_with_the_host_in_every_tick() {
    let (mut host, port) = host(&["--bot", "--name", "Ann", "--difficulty", "easy"]);
    let (_lag, address) = Program::lag(port, &["--preset", "reference"]);
    let mut guest = join(address.port(), &["--bot", "--name", "Ben"]);
    let connected = guest.event("connected");
    assert_eq!((&connected["player"], &connected["dialect"]), (&2.into(), &"native".into()));
    let two = guest.event_where("roster", |it| it["players"].as_array().unwrap().len() == 2);
    assert_eq!(two["players"][0]["name"], "Ann");
    assert_eq!(
        (&two["players"][0]["host"], &two["players"][1]["host"]),
        (&true.into(), &false.into())
    );
    // Both bots want to play, so it begins.
    assert_eq!(guest.event("level")["name"], "Outer Belt");
    let mut watcher = Program::start(&["watch", &format!("127.0.0.1:{port}"), "--name", "Eve"]);
    watcher.event("connected");
    guest.event_where("score", |it| it["team"].as_i64().unwrap() >= 400);
    let span = Duration::from_secs(8);
    let there = std::thread::spawn(move || states(&mut host, 2 * span));
    let beside = std::thread::spawn(move || states(&mut watcher, span));
    let here = states(&mut guest, span);
    let (there, beside) = (there.join().unwrap(), beside.join().unwrap());
    for told in [&here, &beside] {
        let both: Vec<_> = told.iter().filter(|(tick, _)| there.contains_key(tick)).collect();
        assert!(both.len() > 120, "{} of {} ticks are told by both", both.len(), told.len());
        for (tick, state) in both {
            assert_eq!(state, &there[tick]);
        }
    }
    let (_, last) = here.last_key_value().unwrap();
    assert!(last["score"].as_i64().unwrap() > 400 && last["ships"] == 2, "{last}");
}

#[test]
fn a_line_of_1300_ms_is_joined_in_native() {
    let (_host, port) = host(&["--bot", "--name", "Ann"]);
    // Nothing is at the TCP port beside it: that ends nothing.
    let (_lag, address) = Program::lag(port, &["--rtt-ms", "1300"]);
    let mut guest = join(address.port(), &["--bot", "--name", "Ben"]);
    let connected = guest.event("connected");
    assert_eq!((&connected["player"], &connected["dialect"]), (&2.into(), &"native".into()));
    guest.event_where("quality", |it| it["pending_inputs"].as_u64() > Some(64));
    guest.event("level");
}

#[test]
fn the_first_programs_server_is_joined_without_being_named() {
    // UDP and, one above, TCP.
    let (udp, tcp) = loop {
        let udp = socket();
        let port = udp.local_addr().unwrap().port();
        if let Some(above) = port.checked_add(1)
            && let Ok(tcp) = TcpListener::bind((HERE, above))
        {
            break (udp, tcp);
        }
    };
    let port = udp.local_addr().unwrap().port();
    let mut guest = join(port, &["--name", "Ben"]);
    let began = Instant::now();
    let (mut stream, _) = tcp.accept().unwrap();
    stream.write_all(b"\0\0\x64\x01").unwrap();
    let mut hello = [0; 7];
    stream.read_exact(&mut hello).unwrap();
    assert_eq!(&hello, b"\x03\0\x01\x01Ben");
    let [low, high] = port.to_le_bytes();
    stream.write_all(&[6, 0, 2, 1, low, high, 0, 0, 0, 0]).unwrap();
    let mut bytes = [0; 100];
    let client = loop {
        let (len, from) = udp.recv_from(&mut bytes).unwrap();
        // The other questions are Hellos in `native`.
        if bytes[..len].ends_with(b"\x01\x01\0\0\0\0Ben\0\0\0\0\0\0\0\0\0\0\0\0\0") {
            break from;
        }
    };
    udp.send_to(b"\0\0\x02\x01", client).unwrap();
    assert_eq!(guest.event("connected")["dialect"], "rtype");
    let joined = began.elapsed();
    assert!(joined < Duration::from_millis(3_000), "it took {joined:?}");
}

#[test]
fn alone_without_a_pilot_the_last_life_is_lost_and_that_is_told() {
    let mut program = Program::start(&["solo", "--difficulty", "hard", "--lives", "1"]);
    assert_eq!(program.event("roster")["players"][0]["lives"], 1);
    assert_eq!(program.event("level")["level"], 1);
    program.say("down");
    program.say("right");
    assert_eq!(program.event("wave")["wave"], 1);
    let lives = program.event("lives");
    assert_eq!((&lives["player"], &lives["lives"]), (&1.into(), &0.into()));
    let over = program.event("game_over");
    assert_eq!((&over["victory"], &over["level"]), (&false.into(), &1.into()));
    let ended = program.end();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(ended.event("disconnected").unwrap()["reason"], "You left the game.");
}

#[test]
fn a_script_sets_the_match_up_starts_it_shoots_charges_and_leaves() {
    let (mut host, port) = host(&["--name", "Ann"]);
    let mut guest = join(port, &["--name", "Ben"]);
    guest.event("connected");
    // Who is there may be known before the first snapshot, how many lives they have only with it.
    guest.event_where("roster", |it| it["players"][0]["lives"] == 3);
    // Only the host decides, and not before everyone who is there is ready.
    host.event_where("roster", |it| it["players"].as_array().unwrap().len() == 2);
    guest.say("start");
    host.say("start");
    host.say("hard");
    host.say("lives 6");
    let setup = guest.event_where("roster", |it| it["base_lives"] == 6);
    assert_eq!(setup["difficulty"], "hard");
    guest.say("ready");
    host.event_where("roster", |it| it["players"][1]["ready"] == true);
    host.say("start");
    guest.event_where("state", |it| it["phase"] == "countdown");
    // Hard takes a life.
    assert_eq!(guest.event("lives")["lives"], 5);
    guest.event("level");
    guest.say("fire");
    guest.event_where("state", |it| it["shots"].as_u64() >= Some(3));
    guest.say("release");
    guest.event_where("state", |it| it["shots"] == 0);
    // A heavy shot flies alone.
    guest.say("hold");
    std::thread::sleep(Duration::from_millis(900));
    guest.say("release");
    guest.event_where("state", |it| it["shots"] == 1);
    host.say("again");
    guest.event_where("state", |it| it["phase"] == "lobby");
    guest.say("quit");
    assert_eq!(guest.end().code, Some(0));
    assert_eq!(
        host.event_where("disconnected", |it| it["player"] == 2)["reason"],
        "left the match"
    );
    host.say("quit");
    assert_eq!(host.end().code, Some(0));
}

#[test]
fn a_guest_that_was_killed_is_back_in_its_ship() {
    let (mut host, port) = host(&["--bot"]);
    let home = program::Home::new();
    let address = format!("127.0.0.1:{port}");
    let mut guest = Program::start_in(&home, &["join", &address, "--bot"]);
    assert_eq!(guest.event("connected")["player"], 2);
    guest.event("wave");
    guest.kill();
    let mut guest = Program::start_in(&home, &["join", &address, "--bot"]);
    assert_eq!(guest.event("connected")["player"], 2);
    assert_eq!(host.event_where("connected", |it| it["resumed"] == true)["player"], 2);
    let state = guest.event("state");
    assert!(state["wave"].as_u64() >= Some(1) && state["phase"] == "playing", "{state}");
}

#[test]
fn what_goes_wrong_is_told_in_a_sentence() {
    let nobody = free_port().to_string();
    let address = format!("127.0.0.1:{nobody}");
    let guest = Program::start(&["join", &address, "--dialect", "native"]);
    guest.end().failed_with("No answer from 127.0.0.1");
    Program::start(&["join", "attic:0"]).end().failed_with("is not a port");
    let (_host, port) = host(&[]);
    let taken = port.to_string();
    Program::start(&["host", "--port", &taken]).end().failed_with("is in use by another program");
    let mut finder = Program::start(&["join", "--port", &taken]);
    let found = finder.event("discovered");
    assert_eq!((&found["players"], &found["capacity"]), (&1.into(), &4.into()));
    finder.event("connected");
}

#[test]
fn a_guest_of_the_old_dialect_flies_along() {
    let (mut host, port) = host(&["--bot", "--name", "Ann", "--difficulty", "easy"]);
    let mut guest = join(port, &["--dialect", "rtype", "--bot", "--name", "Ben"]);
    assert_eq!(guest.event("connected")["dialect"], "rtype");
    let roster = guest.event_where("roster", |it| it["players"].as_array().unwrap().len() == 2);
    assert_eq!(
        (&roster["players"][1]["name"], &roster["players"][1]["lives"]),
        (&"Ben".into(), &4.into())
    );
    guest.event_where("state", |it| it["ships"] == 2 && it["enemies"].as_u64() > Some(0));
    // Both shoot something.
    host.event_where("score", |it| {
        let players = it["players"].as_array().unwrap();
        players.len() == 2 && players.iter().all(|score| score[1].as_i64() > Some(0))
    });
}

#[test]
fn quick_asks_every_server_and_joins_the_best_room() {
    let [near, far] = [Server::start(Ports::rtype, &[]), Server::start(Ports::rtype, &[])];
    // The second is 40 ms away, and nobody is at the third.
    let (_lag, lagged) = Program::lag(far.rtype().port(), &["--rtt-ms", "40"]);
    let (near, lagged) = (near.rtype().to_string(), lagged.to_string());
    let nobody = format!("127.0.0.1:{}", free_port());
    let mut guest = Program::start(&["quick", &lagged, &nobody, &near]);
    let told: Vec<_> = (0..3).map(|_| guest.event("server")).collect();
    assert_eq!(told[0]["rooms"][0]["name"], "R-Type 1");
    assert!(told[0]["ping_ms"].as_f64() > Some(30.0), "{}", told[0]);
    assert!(told[1]["error"].is_string() && told[1]["rooms"].as_array().unwrap().is_empty());
    assert!(told[2]["ping_ms"].as_f64() < Some(30.0), "{}", told[2]);
    assert_eq!(guest.event("picked")["address"], near.as_str());
    assert_eq!(guest.event("connected")["address"], near.as_str());
    Program::start(&["quick", &nobody]).end().failed_with("No answer from 127.0.0.1");
}

#[test]
fn a_matchmaker_puts_four_players_into_one_room_on_the_near_server() {
    const KEY: &str = "000102030405060708090a0b0c0d0e0f";
    let [near, far] = [(); 2].map(|()| Server::start(Ports::native, &["--match-key", KEY]));
    let (_lag, lagged) = Program::lag(far.ports.native, &["--rtt-ms", "80"]);
    let (near, lagged) = (near.native().to_string(), lagged.to_string());
    let (mut matchmaker, address) = Program::matchmaker(KEY, &[&lagged, &near]);
    for _ in 0..2 {
        assert_eq!(matchmaker.event("server")["state"], "ready");
    }
    let address = address.to_string();
    let mut four: Vec<_> = (0..4).map(|_| Program::start(&["quick", &address, "--bot"])).collect();
    let mut rooms = Vec::new();
    for player in &mut four {
        let matched = player.event("matched");
        assert_eq!((&matched["address"], &matched["players"]), (&near.as_str().into(), &4.into()));
        assert!(matched["worst_ms"].as_f64() < Some(80.0), "{matched}");
        assert_eq!(player.event("connected")["address"], near.as_str());
        rooms.push(matched["room"].clone());
    }
    assert!(rooms.iter().all(|room| *room == rooms[0] && room != ""), "{rooms:?}");
    // They are all in it, and it is no room of the server's own.
    four[0].event_where("roster", |it| it["players"].as_array().unwrap().len() == 4);
    let made = matchmaker.event("made");
    assert_eq!((&made["room"], &made["players"]), (&rooms[0], &4.into()));
    // Who takes it for a server is told what it is.
    let guest = Program::start(&["join", &address, "--dialect", "native"]);
    guest.end().failed_with("This is a matchmaker");
}

#[test]
fn a_room_is_made_found_by_its_name_and_kept_by_its_password() {
    let server = Server::start(Ports::rtype, &[]);
    let address = server.rtype().to_string();
    let room = |args: &[&str]| {
        let mut all = vec!["join", &address, "--room", "Attic"];
        all.extend(args);
        Program::start(&all)
    };
    room(&[]).end().failed_with("has no room \"Attic\"; it has \"R-Type 1\"");
    let mut ann = room(&["--create", "--password", "moth", "--name", "Ann"]);
    assert_eq!(ann.event("connected")["player"], 1);
    room(&["--password", "wasp"]).end().failed_with("The password of the room is another");
    let mut ben = room(&["--password", "moth", "--name", "Ben"]);
    assert_eq!(ben.event("connected")["player"], 2);
    ann.event_where("roster", |it| it["players"].as_array().unwrap().len() == 2);
    // Whoever has no name for a room is in another one.
    let mut eve = Program::start(&["join", &address, "--name", "Eve"]);
    assert_eq!(eve.event("connected")["player"], 1);
    // Its host leaves, and the next is host.
    ann.say("quit");
    ben.event_where("roster", |it| {
        it["players"][0]["host"] == true && it["players"][0]["name"] == "Ben"
    });
}
