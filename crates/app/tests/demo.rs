//! `backspin demo` as a newcomer meets it: the built binary, its output and its exit codes.

use std::process::{Command, Output};

use serde_json::Value;

fn demo(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_backspin")).arg("demo").args(args).output().unwrap()
}

#[test]
fn it_shows_a_line_a_second_and_ends_with_the_verdict() {
    let output = demo(&["--seconds", "2"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    for second in ["   1 s  ", "   2 s  "] {
        assert_eq!(text.lines().filter(|line| line.starts_with(second)).count(), 1, "{text}");
    }
    let last = text.lines().last().unwrap();
    assert_eq!(last, "PASS: the server and both bots agree on where everything is.");
}

#[test]
fn its_json_is_one_object_in_which_everyone_agrees() {
    let output = demo(&["--seconds", "1", "--json"]);
    let outcome: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{outcome}");
    assert_eq!(outcome["passed"], true);
    assert_eq!(outcome["problems"], Value::Array(Vec::new()));
    let dots = &outcome["server"]["dots"];
    assert_eq!(dots.as_array().map(Vec::len), Some(2));
    let bots = outcome["bots"].as_array().unwrap();
    assert_eq!(bots.len(), 2);
    for bot in bots {
        assert_eq!(&bot["dots"], dots);
        assert!(bot["states"].as_u64().unwrap() >= 30, "{bot}");
        assert!(bot["round_trip_ms"].as_f64().unwrap() > 0.0, "{bot}");
    }
    assert_ne!(bots[0]["player"], bots[1]["player"]);
}

#[test]
fn no_seconds_are_wrong_usage() {
    assert_eq!(demo(&["--seconds", "0"]).status.code(), Some(2));
}
