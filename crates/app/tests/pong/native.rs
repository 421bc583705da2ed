//! Matches between our own programs: on a bad line, after a crash, with watchers, again, by four,
//! and on one machine alone.

use crate::program::{Home, Program, host, join};
use crate::score;

#[test]
fn on_a_line_that_loses_a_tenth_both_sides_agree_on_the_score() {
    let (mut host, port) = host(&["--points", "1", "--bot", "hard"]);
    let link = ["--loss", "10", "--rtt-ms", "40", "--jitter-ms", "10", "--duplicate", "2"];
    let (_lag, address) = Program::lag(port, &link);
    let mut guest = join(address.port(), &[]);
    let (there, here) = (host.event("game_over"), guest.event("game_over"));
    assert_eq!(score(&there), score(&here));
    assert_eq!(there["winner"], here["winner"]);
    assert!(score(&here).contains(&1), "{here}");
}

#[test]
fn a_line_of_1300_ms_is_joined_in_native_and_played() {
    let (mut host, port) = host(&["--points", "3", "--bot", "hard"]);
    // A HELLO would get through as well, and take the only place.
    let (_lag, address) = Program::lag(port, &["--rtt-ms", "1300", "--lan"]);
    let mut guest = join(address.port(), &[]);
    assert_eq!(guest.event("connected")["dialect"], "native");
    // More than one datagram carries, and no reason to think that the connection is lost.
    let mut pending = 0;
    let here = loop {
        let event = guest.next().expect("it goes on");
        match event["event"].as_str() {
            Some("quality") => {
                pending = pending.max(event["pending_inputs"].as_u64().unwrap());
                assert!(event["ping_ms"].is_null() || event["ping_ms"].as_f64() >= Some(1_300.0));
            }
            Some("game_over") => break event,
            other => assert_ne!(other, Some("trying")),
        }
    };
    assert!((78..=128).contains(&pending), "{pending}");
    assert_eq!(score(&host.event("game_over")), score(&here));
}

#[test]
fn a_guest_that_was_killed_is_back_in_its_place_with_the_score() {
    let (mut host, port) = host(&[]);
    let home = Home::new();
    let address = format!("127.0.0.1:{port}");
    let mut guest = Program::start_in(&home, &["join", &address]);
    assert_eq!(guest.event("connected")["player"], 2);
    assert_eq!(score(&guest.event("score")), [0, 1]);
    guest.kill();
    let mut guest = Program::start_in(&home, &["join", &address]);
    assert_eq!(guest.event("connected")["player"], 2);
    let back = host.event_where("connected", |event| event["resumed"] == true);
    assert_eq!(back["player"], 2);
    let [left, right] = score(&guest.event("state"));
    assert!(left == 0 && right >= 1, "{left} : {right}");
}

#[test]
fn who_watches_sees_the_match_and_another_begins_when_both_want_it() {
    let (mut host, port) = host(&["--points", "1"]);
    let mut guest = join(port, &[]);
    let mut watcher = Program::start(&["watch", &format!("127.0.0.1:{port}")]);
    let watching = watcher.event("connected");
    assert!(watching["player"].as_u64().unwrap() > 2, "{watching}");
    for program in [&mut host, &mut guest, &mut watcher] {
        assert_eq!(score(&program.event("game_over")), [0, 1]);
    }
    // A watcher has no say.
    watcher.say("again");
    host.say("again");
    guest.say("again");
    for program in [&mut host, &mut guest, &mut watcher] {
        assert_eq!(score(&program.event("score")), [0, 0]);
        assert_eq!(score(&program.event("game_over")), [0, 1]);
    }
    // Nobody had to come in again.
    let printed = guest.printed();
    assert!(printed.iter().all(|event| event["event"] != "connected"), "{printed:?}");
}

#[test]
fn a_host_is_joined_by_name_and_over_ipv6() {
    let (mut host, port) = host(&["--name", "Ann"]);
    for (address, name) in [("localhost", "Bob"), ("[::1]", "Eve")] {
        let mut guest = Program::start(&["join", &format!("{address}:{port}"), "--name", name]);
        let connected = guest.event("connected");
        assert_eq!((&connected["player"], &connected["name"]), (&2.into(), &name.into()));
        let seen = host.event_where("connected", |event| event["player"] == 2);
        assert_eq!(seen["name"], name);
        guest.say("quit");
        assert_eq!(guest.end().code, Some(0));
        assert_eq!(host.event("disconnected")["player"], 2);
    }
}

#[test]
fn two_play_on_one_machine() {
    let mut both = Program::start(&["local", "--points", "1", "--bot", "hard"]);
    // Who sits alone at the keyboard has the other paddle, and leaves it where it is.
    let over = both.event("game_over");
    assert!(score(&over).contains(&1), "{over}");
    both.say("again");
    assert_eq!(score(&both.event("score")), [0, 0]);
    both.say("quit");
    assert_eq!(both.end().code, Some(0));
}

#[test]
fn four_play_doubles() {
    let (mut host, port) = host(&["--doubles", "--points", "1"]);
    let mut guests = [2, 3, 4].map(|player| {
        let mut guest = join(port, &[]);
        assert_eq!(guest.event("connected")["player"], player);
        guest
    });
    let over = host.event("game_over");
    for guest in &mut guests {
        assert_eq!(guest.event("game_over"), over);
    }
}
