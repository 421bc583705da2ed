//! The event lines of `--ui none` on a pipe that nobody reads.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Duration;

use rustix::pipe::fcntl_setpipe_size;
use serde_json::Value;

use crate::process::{Home, PATIENCE};
use crate::{IN_TIME, PIPE_LEN, Program, wait_until};

/// A match of two bots here, and the pipe that it is told to.
fn start(home: &Home, args: &[&str]) -> (Program, std::io::PipeReader) {
    let (reader, writer) = std::io::pipe().unwrap();
    fcntl_setpipe_size(&reader, PIPE_LEN).unwrap();
    let local = ["pong", "local", "--ui", "none", "--bot", "hard", "--versus", "hard"];
    let mut command = home.command(&local);
    (Program::start(command.args(args).stdout(writer).stderr(Stdio::null())), reader)
}

/// Longer than it takes to fill a pipe and all that waits for it.
const UNREAD: Duration = Duration::from_secs(11);

#[test]
fn a_match_plays_on_while_nobody_reads_and_says_how_many_lines_are_missing() {
    let home = Home::new();
    let (mut program, reader) = start(&home, &["--json"]);
    std::thread::sleep(UNREAD);
    let (mut before, mut dropped, mut after) = (None, None, None);
    for line in BufReader::new(reader).lines() {
        let line: Value = serde_json::from_str(&line.unwrap()).unwrap();
        match (line["event"].as_str().unwrap(), dropped) {
            ("state", None) => before = line["tick"].as_u64(),
            ("dropped", None) => dropped = line["lines"].as_u64(),
            ("state", Some(_)) => {
                after = line["tick"].as_u64();
                break;
            }
            _ => {}
        }
    }
    let (before, dropped, after) = (before.unwrap(), dropped.unwrap(), after.unwrap());
    assert!(dropped > 0);
    // A state for every tick, and a few other lines: what is missing was played.
    let missing = after - before;
    assert!(missing > 30 && dropped <= 2 * missing, "{before} {dropped} {after}");
    // Nobody reads any more: it ends by itself.
    wait_until("it ends", PATIENCE, || program.0.try_wait().unwrap().is_some());
    assert!(program.0.wait().unwrap().success());
}

#[test]
fn the_signal_to_stop_is_heard_while_nobody_reads() {
    let home = Home::new();
    let (mut program, _reader) = start(&home, &["--json"]);
    std::thread::sleep(UNREAD / 2);
    let took = program.stop();
    assert!(took < IN_TIME, "{took:?}");
}

#[test]
fn a_flood_on_stdin_does_not_stop_the_match() {
    let home = Home::new();
    let mut yes = std::process::Command::new("yes");
    let mut flood = yes.arg("up").stdout(Stdio::piped()).spawn().unwrap();
    let input = flood.stdout.take().unwrap();
    let mut command = home.command(&["pong", "local", "--ui", "none", "--json"]);
    command.args(["--versus", "easy"]).stdin(input).stderr(Stdio::null());
    let mut program = Program::start(&mut command);
    let _flood = Program(flood);
    let lines = BufReader::new(program.0.stdout.take().unwrap()).lines();
    let states = lines.map_while(Result::ok).filter(|line| line.contains(r#""state""#));
    assert_eq!(states.take(30).count(), 30);
    assert!(program.stop() < IN_TIME);
}
