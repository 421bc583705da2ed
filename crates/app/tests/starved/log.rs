//! A log on a pipe that nobody reads.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;
use std::time::Instant;

use rustix::pipe::fcntl_setpipe_size;

use crate::process::{HERE, Home, PATIENCE, Ports, Server};
use crate::{IN_TIME, PIPE_LEN, Program, ask, metric, play, wait_until};

const DROPPED: &str = "backspin_log_lines_dropped_total";

/// A server that tells more than anyone reads, and the pipe it tells it to.
fn start(home: &Home) -> (Server, std::io::PipeReader) {
    let (reader, writer) = std::io::pipe().unwrap();
    fcntl_setpipe_size(&reader, PIPE_LEN).unwrap();
    let server = Server::launch(home, Ports::native, |command| {
        command.args(["--log", "trace", "--http", "127.0.0.1:0"]);
        command.stderr(writer.try_clone().unwrap())
    });
    (server, reader)
}

#[test]
fn nobody_reads_the_log_and_everyone_plays_on_until_the_server_is_stopped() {
    let home = Home::new();
    let (server, mut reader) = start(&home);
    wait_until("lines are dropped", PATIENCE, || {
        play(&home, &server, 10, 1);
        assert_eq!(ask(&server, "/healthz").0, 200);
        metric(&server, DROPPED) > 0.0
    });
    play(&home, &server, 10, 2);
    assert_eq!(ask(&server, "/healthz").0, 200);
    let began = Instant::now();
    server.signal("TERM");
    let (status, _) = server.wait();
    assert!(status.success());
    assert!(began.elapsed() < IN_TIME, "{:?}", began.elapsed());
    let mut told = Vec::new();
    reader.read_to_end(&mut told).unwrap();
    // A pipe is full when the next piece does not fit.
    assert!((1..=PIPE_LEN).contains(&told.len()), "{} bytes were in the pipe", told.len());
}

#[test]
fn a_server_whose_greeting_nobody_reads_serves() {
    let home = Home::new();
    let (reader, mut writer) = std::io::pipe().unwrap();
    fcntl_setpipe_size(&reader, PIPE_LEN).unwrap();
    writer.write_all(&[b'\n'; PIPE_LEN]).unwrap();
    let ports = Ports::native();
    let mut command = home.serve(ports);
    let mut server = Program::start(command.stdout(writer).stderr(Stdio::null()));
    let target = format!("{HERE}:{}", ports.native);
    let load = ["load", "--game", "pong", "--clients", "2", "--seconds", "1", "--target", &target];
    wait_until("bots are let in", PATIENCE, || home.command(&load).status().unwrap().success());
    let took = server.stop();
    assert!(took < IN_TIME, "{took:?}");
}

#[test]
fn who_reads_the_log_again_is_told_how_much_is_missing() {
    let home = Home::new();
    let (server, reader) = start(&home);
    wait_until("lines are dropped", PATIENCE, || {
        play(&home, &server, 10, 1);
        metric(&server, DROPPED) > 0.0
    });
    let mut lines = BufReader::new(reader).lines().map(Result::unwrap);
    let told = lines.find(|line| line.contains("log lines were dropped")).unwrap();
    let words: Vec<&str> = told.split_whitespace().collect();
    let count = words.windows(2).find(|pair| pair[1] == "log").unwrap()[0];
    assert!(count.parse::<u64>().unwrap() > 0, "{told}");
    // What comes from now on is read as before.
    play(&home, &server, 1, 1);
    assert!(lines.any(|line| line.contains("joined as")));
}
