//! `backspin load` against a real server.

use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::server::{Home, Ports, Server, free_port, signal};

fn load(home: &Home, args: &[&str]) -> (bool, Value, String) {
    let done = home.command(&["load", "--json"]).args(args).output().unwrap();
    let told = String::from_utf8(done.stderr).unwrap();
    let outcome = serde_json::from_slice(&done.stdout).unwrap_or_else(|_| panic!("{told}"));
    (done.status.success(), outcome, told)
}

#[test]
fn bots_play_both_games() {
    let home = Home::new();
    let server = Server::start_in(&home, Ports::native, &[]);
    let target = server.native().to_string();
    for game in ["pong", "rtype"] {
        let args = ["--target", &target, "--game", game, "--clients", "12", "--seconds", "2"];
        let (good, outcome, told) = load(&home, &args);
        assert!(good, "{told}");
        assert_eq!((&outcome["clients"], &outcome["connected"]), (&12.into(), &12.into()));
        for figure in [
            "seconds",
            "inputs_sent",
            "snapshots_received",
            "snapshot_rate_per_client",
            "bytes_per_client_s_down",
            "bytes_per_client_s_up",
            "rtt_ms_p50",
            "rtt_ms_p99",
        ] {
            assert!(outcome[figure].as_f64().is_some_and(|it| it > 0.0), "{figure}: {outcome}");
        }
        assert_eq!(outcome["ended"], 0, "{outcome}");
    }
}

#[test]
fn those_who_go_are_replaced_or_come_back() {
    let home = Home::new();
    let server = Server::start_in(&home, Ports::native, &["--log", "info"]);
    let target = server.native().to_string();
    let args = ["--target", &target, "--game", "pong", "--clients", "10", "--seconds", "4"];
    let (good, outcome, told) = load(&home, &[&args[..], &["--churn", "20"]].concat());
    assert!(good, "{told}");
    assert_eq!(outcome["churned"], 6, "{outcome}");
    assert_eq!(outcome["ended"], 0, "{outcome}");
    server.signal("TERM");
    let (status, told) = server.wait();
    assert!(status.success());
    let count = |what: &str| told.lines().filter(|line| line.contains(what)).count();
    // The last of them may still be on their way when the time is over.
    assert!((2..=3).contains(&count("is back from")), "{told}");
    assert!((12..=13).contains(&count("joined as")), "{told}");
}

#[test]
fn a_pause_of_the_program_is_told_and_costs_no_connection() {
    let home = Home::new();
    let server = Server::start_in(&home, Ports::native, &[]);
    let target = server.native().to_string();
    let args = ["--target", &target, "--game", "pong", "--clients", "12", "--seconds", "5"];
    let lost_in_a_pause = || {
        let load = home.command(&["load", "--json"]).args(args).spawn().unwrap();
        thread::sleep(Duration::from_secs(3));
        signal(load.id(), "STOP");
        thread::sleep(Duration::from_millis(1_500));
        signal(load.id(), "CONT");
        let done = load.wait_with_output().unwrap();
        let outcome: Value = serde_json::from_slice(&done.stdout).unwrap();
        assert!(outcome["longest_pause_ms"].as_f64().is_some_and(|ms| ms >= 1_400.0), "{outcome}");
        assert_eq!(outcome["connected"], 12, "{outcome}");
        outcome["lost_connections"].as_u64().unwrap()
    };
    // A busy machine may stop the server for a second as well, but not time and again.
    assert!((0..3).any(|_| lost_in_a_pause() == 0));
}

#[test]
fn nobody_there_is_a_sentence() {
    let home = Home::new();
    let target = format!("127.0.0.1:{}", free_port());
    let args = ["--target", &target, "--game", "pong", "--clients", "2", "--seconds", "1"];
    let (good, outcome, told) = load(&home, &args);
    assert!(!good);
    assert_eq!(outcome["connected"], 0);
    assert!(told.contains(&format!("No answer from {target}")), "{told}");
}
