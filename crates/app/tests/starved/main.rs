//! What happens when nobody reads, and nothing can be written: the built binary with pipes that are
//! really full, a database that is really locked and a disk that has really no room. The game goes
//! on, and the signal to stop is heard.
#![cfg(unix)]

mod disk;
mod events;
mod log;
#[path = "../server/mod.rs"]
mod process;
mod results;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use process::{Home, PATIENCE, Server};

/// A program that is asked to stop ends within two seconds; a busy machine may take longer.
const IN_TIME: Duration = Duration::from_secs(5);

/// The smallest pipe there is.
const PIPE_LEN: usize = 4096;

/// A program that is killed when the test ends.
struct Program(Child);

impl Program {
    fn start(command: &mut Command) -> Self {
        Program(command.spawn().unwrap())
    }

    /// Asks it to stop; how long that took.
    fn stop(&mut self) -> Duration {
        let began = Instant::now();
        process::signal(self.0.id(), "TERM");
        assert!(process::wait(&mut self.0).success());
        began.elapsed()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What the server's page says at `path`: the code, and all of the reply.
fn ask(server: &Server, path: &str) -> (u16, String) {
    let page = server.greeting.iter().find_map(|line| line.strip_prefix("  page    http://"));
    let page = page.unwrap().trim_end_matches('/');
    let mut stream = TcpStream::connect(page).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {page}\r\n\r\n").unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    let code = reply.split(' ').nth(1).and_then(|code| code.parse().ok());
    (code.unwrap(), reply)
}

/// The value of a metric without labels.
fn metric(server: &Server, name: &str) -> f64 {
    let (_, reply) = ask(server, "/metrics");
    let value = reply.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    value.unwrap_or_else(|| panic!("{reply}")).parse().unwrap()
}

/// So many bots play for a while; none of them loses its connection.
#[track_caller]
fn play(home: &Home, server: &Server, clients: u32, seconds: u32) {
    let mut command = home.command(&["load", "--json", "--game", "pong", "--ramp", "20"]);
    command.args(["--target", &server.native().to_string()]);
    command.args(["--clients", &clients.to_string(), "--seconds", &seconds.to_string()]);
    let done = command.output().unwrap();
    let told = String::from_utf8_lossy(&done.stderr);
    let outcome: serde_json::Value =
        serde_json::from_slice(&done.stdout).unwrap_or_else(|_| panic!("{told}"));
    assert_eq!(outcome["connected"], clients, "{outcome}");
    assert_eq!((&outcome["ended"], &outcome["lost_connections"]), (&0.into(), &0.into()));
}

/// Waits until it is so.
#[track_caller]
fn wait_until(what: &str, patience: Duration, mut is_so: impl FnMut() -> bool) {
    let limit = Instant::now() + patience;
    while !is_so() {
        assert!(Instant::now() < limit, "it never happens: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}
