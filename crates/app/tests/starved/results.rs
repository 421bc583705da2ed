//! A database that another program holds.

use std::fs;
use std::time::Duration;

use rusqlite::Connection;

use crate::process::{Home, PATIENCE, Ports, Server};
use crate::{Program, ask, wait_until};

/// A whole match takes a while: five points, each a serve and a flight.
const MATCH: Duration = Duration::from_secs(120);

fn join(home: &Home, server: &Server, args: &[&str]) -> Program {
    let address = server.native().to_string();
    let mut command = home.command(&["pong", "join", &address, "--ui", "none"]);
    Program::start(command.args(args).stdout(std::process::Stdio::null()))
}

/// The lines of `backspin results`, and what it says beside them.
fn results(home: &Home) -> (Vec<String>, String) {
    let done = home.command(&["results", "--json"]).output().unwrap();
    let told = String::from_utf8(done.stderr).unwrap();
    assert!(done.status.success(), "{told}");
    let lines = String::from_utf8(done.stdout).unwrap();
    (lines.lines().map(str::to_owned).collect(), told)
}

#[test]
fn a_match_that_ends_while_the_database_is_locked_outlives_the_server_and_is_there_once() {
    let home = Home::new();
    let mut server = Server::start_in(&home, Ports::native, &["--http", "127.0.0.1:0"]);
    let file = home.path().join("backspin").join("results.db");
    let noted = home.path().join("backspin").join("results.db.pending-1");
    let other = Connection::open(&file).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    {
        let mut keen = join(&home, &server, &["--bot", "hard", "--name", "Keen"]);
        let _idle = join(&home, &server, &["--name", "Idle"]);
        wait_until("the match is noted", MATCH, || {
            assert_eq!(ask(&server, "/healthz").0, 200);
            assert!(keen.0.try_wait().unwrap().is_none(), "its connection is lost");
            fs::read_to_string(&noted).unwrap().lines().count() == 1
        });
        server.kill();
    }
    // A server that starts while it is locked is no worse.
    let mut server = Server::start_in(&home, Ports::native, &["--http", "127.0.0.1:0"]);
    assert_eq!(ask(&server, "/healthz").0, 200);
    server.kill();
    other.execute_batch("COMMIT").unwrap();
    let (none, told) = results(&home);
    assert!(none.is_empty(), "{none:?}");
    assert!(told.contains("1 more finished matches are in"), "{told}");
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let mut server = Server::start_in(&home, Ports::native, &[]);
    other.execute_batch("COMMIT").unwrap();
    wait_until("the result is kept", PATIENCE, || results(&home).0.len() == 1);
    wait_until("the side file is empty", PATIENCE, || results(&home).1.is_empty());
    let kept = results(&home).0;
    assert!(kept[0].contains("Keen"), "{kept:?}");
    server.kill();
    let server = Server::start_in(&home, Ports::native, &[]);
    assert_eq!(results(&home).0, kept);
    server.signal("TERM");
    let (status, told) = server.wait();
    assert!(status.success() && !told.contains("ERROR"), "{told}");
}
