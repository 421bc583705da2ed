//! The six scenarios of Networked Pong's report, section 9.1, between our own programs.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::field::Field;
use crate::lan::State;
use crate::lan_host::{Host, port_of};
use crate::program::{Program, host, join, socket};
use crate::score;

#[test]
fn local_discovery_a_guest_finds_the_host_within_five_seconds() {
    let find = |offered: &[&str], spoken: &[&str], dialect: &str| {
        let (mut host, port) = host(&[&["--name", "Attic"], offered].concat());
        let number = port.to_string();
        let began = Instant::now();
        let mut guest = Program::start(&[&["join", "--port", &number], spoken].concat());
        let found = guest.event("discovered");
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
        assert_eq!(found["dialect"], dialect, "{found}");
        let address = found["address"].as_str().unwrap();
        assert!(address.ends_with(&format!(":{port}")), "{found}");
        if dialect == "native" {
            assert_eq!((&found["name"], &found["players"]), (&"Attic".into(), &1.into()));
        }
        let connected = guest.event("connected");
        assert_eq!((&connected["player"], &connected["dialect"]), (&2.into(), &dialect.into()));
        host.event_where("connected", |event| event["player"] == 2);
    };
    std::thread::scope(|scope| {
        scope.spawn(|| find(&[], &[], "native"));
        scope.spawn(|| find(&[], &["--dialect", "lan"], "lan"));
        scope.spawn(|| find(&["--dialect", "lan"], &[], "lan"));
        scope.spawn(|| find(&["--dialect", "native"], &[], "native"));
    });
}

#[test]
fn handshake_the_first_hello_ack_connects() {
    let socket = socket();
    let mut guest = join(port_of(&socket), &["--dialect", "lan"]);
    let _host = Host::meet(socket, 0);
    let connected = guest.next().unwrap();
    assert_eq!((&connected["event"], &connected["player"]), (&"connected".into(), &2.into()));
}

/// The longest stretch of the host's ticks of which the guest has told none.
fn longest_gap(host: &[Value], guest: &[Value]) -> u64 {
    // A moment of the match is known by its ball: with paddles that never meet it, no two are
    // alike but those before a serve.
    let moment = |event: &Value| {
        let [left, right] = score(event);
        let px = |name| (event[name].as_f64().unwrap() * 60.0).round() as i64;
        (left, right, px("ball_x"), px("ball_y"))
    };
    let is_state = |event: &&Value| event["event"] == "state" && moment(event).2 != 710 * 60;
    let tick = |event: &Value| event["tick"].as_u64().unwrap();
    let ticks: HashMap<_, _> =
        host.iter().filter(is_state).map(|event| (moment(event), tick(event))).collect();
    let told: Vec<u64> = guest
        .iter()
        .filter(is_state)
        .filter_map(|event| ticks.get(&moment(event)).copied())
        .collect();
    assert!(told.is_sorted() && told.len() > 100, "{} states", told.len());
    told.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap()
}

#[test]
fn packet_loss_below_a_tenth_leaves_the_match_smooth() {
    let play = |dialect: &str, through: &[&str]| {
        let (mut host, port) = host(&[]);
        let (_lag, address) = Program::lag(port, &[&["--loss", "8"], through].concat());
        let mut guest = join(address.port(), &["--dialect", dialect, "--seconds", "9"]);
        // A point, so that a serve is among it.
        let mut seen = Vec::new();
        while seen.iter().filter(|event: &&Value| event["event"] == "score").count() < 2 {
            seen.push(guest.next().unwrap());
        }
        let connected = seen.iter().find(|event| event["event"] == "connected").unwrap();
        assert_eq!(connected["dialect"], dialect);
        host.say("quit");
        let gap = longest_gap(&host.end().events, &seen);
        // Half a second.
        assert!(gap < 30, "{dialect}: nothing for {gap} ticks");
    };
    std::thread::scope(|scope| {
        scope.spawn(|| play("lan", &["--lan"]));
        scope.spawn(|| play("native", &[]));
    });
}

#[test]
fn out_of_order_old_states_are_ignored() {
    let socket = socket();
    let mut guest = join(port_of(&socket), &["--dialect", "lan"]);
    let host = Host::meet(socket, 0);
    let numbered = |seq, score| State { score, ..Field::new().state(seq) };
    host.show(&numbered(7, [1, 0]));
    assert_eq!(score(&guest.event("score")), [1, 0]);
    // Numbers are compared as signed ones: the last is less than all of them.
    for seq in [6, 7, 0, 0x8000_0001] {
        host.show(&numbered(seq, [4, 4]));
    }
    std::thread::sleep(Duration::from_millis(50));
    host.show(&numbered(8, [2, 0]));
    assert_eq!(score(&guest.event("score")), [2, 0]);
}

#[test]
fn win_condition_both_sides_show_the_winner() {
    let (mut host, port) = host(&["--points", "1"]);
    let mut guest = join(port, &[]);
    let shown = [host.event("game_over"), guest.event("game_over")];
    for over in shown {
        assert_eq!((&over["winner"], score(&over)), (&2.into(), [0, 1]));
    }
}

/// In lan it takes ten seconds of silence: see `endings`.
#[test]
fn disconnect_a_guest_that_quits_is_missed_at_once() {
    let (mut host, port) = host(&[]);
    let mut guest = join(port, &[]);
    guest.event("state");
    guest.say("quit");
    let gone = host.event("disconnected");
    assert_eq!((&gone["player"], &gone["reason"]), (&2.into(), &"left the match".into()));
    let ended = guest.end();
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert_eq!(ended.event("disconnected").unwrap()["reason"], "You left the game.");
    // The host waits for someone else.
    let mut next = join(port, &[]);
    assert_eq!(next.event("connected")["player"], 2);
}

#[test]
fn disconnect_a_host_that_quits_ends_the_match_at_once() {
    let (mut host, port) = host(&[]);
    let mut guest = join(port, &[]);
    guest.event("state");
    host.say("quit");
    let left = Instant::now();
    let gone = guest.event("disconnected");
    assert!(left.elapsed() < Duration::from_secs(5), "{:?}", left.elapsed());
    assert_eq!(gone["reason"], "Player ended the match.");
    guest.end().failed_with("Player ended the match.");
    assert_eq!(host.end().code, Some(0));
}
