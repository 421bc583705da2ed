//! `backspin demo` as a newcomer meets it: the built binary, its output and its exit codes.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn demo(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_backspin")).arg("demo").args(args).output().unwrap()
}

/// Whatever the machine was busy with: points were played, and both sides agree on them.
fn check(output: &Output) -> Value {
    let outcome: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{outcome}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!((&outcome["game"], &outcome["agreed"]), (&"pong".into(), &true.into()));
    let points = |side: usize| outcome["score"][side].as_u64().unwrap();
    assert!(points(0) + points(1) > 0, "{outcome}");
    assert_eq!(outcome["passed"], true);
    assert!(outcome["machine"]["frames"].as_u64().unwrap() > 500, "{outcome}");
    outcome
}

#[test]
fn over_real_sockets_points_are_played_and_both_sides_agree() {
    let outcome = check(&demo(&["--seconds", "12", "--json"]));
    assert!(outcome["seconds"].as_u64().unwrap() >= 12, "{outcome}");
    assert_eq!(
        (&outcome["link"]["rtt_ms"], &outcome["link"]["loss_pct"]),
        (&100.0.into(), &5.0.into())
    );
    // The link was there: no machine is so fast that an input comes back sooner.
    assert!(outcome["quality"]["ack_ms_p50"].as_f64().unwrap() > 100.0, "{outcome}");
}

#[test]
fn the_simulated_match_is_won_reaches_every_target_and_is_always_the_same() {
    let output = demo(&["--fast", "--json"]);
    let outcome = check(&output);
    assert_eq!(outcome["problems"], Value::Array(Vec::new()));
    assert_eq!(outcome["score"][0], 5);
    assert_eq!(demo(&["--fast", "--json"]).stdout, output.stdout);
}

#[test]
fn people_get_a_line_a_second_then_the_verdict_what_it_felt_like_and_six_figures() {
    let output = demo(&["--fast", "--seconds", "10"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{text}");
    for second in ["   1 s  0 : 0   ping ", "  10 s  1 : 0   ping "] {
        assert_eq!(text.lines().filter(|line| line.starts_with(second)).count(), 1, "{text}");
    }
    assert!(!text.contains('\x1b'), "{text}");
    let end: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("PASS")).collect();
    // In the first ten seconds the drawing delay is still a little over its target.
    assert!(end[0].starts_with("PASS: 1 : 0 after 10 s, both sides agree; "), "{text}");
    assert!(
        end[1].starts_with("Your paddle would have answered in 17 ms; without prediction in 1")
    );
    let judged = |line: &&&str| line.ends_with("  ok") || line.ends_with("  short of it");
    assert_eq!(end.iter().filter(judged).count(), 6, "{text}");
    assert!(end.len() <= 22 && end.iter().all(|line| line.len() <= 80), "{text}");
}

#[test]
fn all_figures_are_shown_to_who_asks() {
    let output = demo(&["--fast", "--seconds", "10", "--all"]);
    let text = String::from_utf8(output.stdout).unwrap();
    for what in ["own input to own screen, p99 ", "starved frames ", "bytes a second up "] {
        assert_eq!(text.lines().filter(|line| line.starts_with(what)).count(), 1, "{text}");
    }
    assert!(!text.contains("--all"), "{text}");
}

#[test]
fn a_match_without_a_point_is_a_failure_that_says_what_to_do() {
    let output = demo(&["--fast", "--seconds", "3"]);
    assert_eq!(output.status.code(), Some(1));
    let words = "backspin: FAIL: no point was played in 3 s; give it ten or more (--seconds 10)\n";
    assert_eq!(String::from_utf8(output.stderr).unwrap(), words);
    assert!(!String::from_utf8(output.stdout).unwrap().contains("PASS"));
}

#[cfg(unix)]
#[test]
fn stopped_before_a_point_it_says_one_sentence() {
    use rustix::process::{Pid, Signal, kill_process};
    let mut child = Command::new(env!("CARGO_BIN_EXE_backspin"))
        .args(["demo", "--seconds", "30"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The first words come after signals are heard, and seconds before the first point.
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    assert!(line.starts_with("Pong over real UDP"), "{line}");
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert!(!rest.contains("PASS") && !rest.contains("target"), "{rest}");
    let output = child.wait_with_output().unwrap();
    let words = "backspin: stopped before the first point, so there is nothing to judge yet\n";
    assert_eq!(String::from_utf8(output.stderr).unwrap(), words);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn no_seconds_are_wrong_usage() {
    assert_eq!(demo(&["--seconds", "0"]).status.code(), Some(2));
}
