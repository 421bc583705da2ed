//! A running backspin: what it prints, line by line, and what it is told.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;

pub(crate) const HERE: Ipv4Addr = Ipv4Addr::LOCALHOST;

/// What never takes so long, even on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A folder of its own for what a program keeps.
pub(crate) struct Home(PathBuf);

impl Home {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("backspin-{}-{}-{number}", crate::GAME, std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Home(path)
    }
}

impl Home {
    /// A file in it.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // What is left behind is in the way of nobody.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A program; it is killed if a test fails.
pub(crate) struct Program {
    child: Child,
    events: Receiver<Value>,
    stderr: Option<JoinHandle<String>>,
    _home: Option<Home>,
}

/// How a program ended.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stderr: String,
    /// What it printed that nobody had read yet.
    pub(crate) events: Vec<Value>,
}

impl Program {
    /// The game that these tests are about, without a face, with a home of its own.
    pub(crate) fn start(args: &[&str]) -> Self {
        let home = Home::new();
        let mut program = Program::start_in(&home, args);
        program._home = Some(home);
        program
    }

    /// The same, with what earlier programs have kept there.
    pub(crate) fn start_in(home: &Home, args: &[&str]) -> Self {
        let mut args = args.to_vec();
        args.extend(["--ui", "none", "--json"]);
        Program::spawn(&home.0, crate::GAME, &args)
    }

    /// `backspin lag` in front of a game at `port`, and where to join it.
    pub(crate) fn lag(port: u16, args: &[&str]) -> (Self, SocketAddr) {
        let target = format!("127.0.0.1:{port}");
        let mut all = vec!["--listen", "127.0.0.1:0", "--target", &target, "--json"];
        all.extend(args);
        let mut lag = Program::spawn(&std::env::temp_dir(), "lag", &all);
        let address = lag.event("listening")["listen"].as_str().unwrap().parse().unwrap();
        (lag, address)
    }

    /// `backspin match` for these servers, and where players come to.
    pub(crate) fn matchmaker(key: &str, servers: &[&str]) -> (Self, SocketAddr) {
        let port = free_port();
        let text = port.to_string();
        let mut all = vec!["--bind", "127.0.0.1", "--port", &text, "--match-key", key, "--json"];
        servers.iter().for_each(|server| all.extend(["--server", server]));
        let mut matchmaker = Program::spawn(&std::env::temp_dir(), "match", &all);
        matchmaker.event("listening");
        (matchmaker, (HERE, port).into())
    }

    fn spawn(home: &Path, command: &str, args: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_backspin"))
            .arg(command)
            .args(args)
            .env("XDG_STATE_HOME", home)
            .env("BACKSPIN_SEARCH_FROM", "127.0.0.1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, events) = mpsc::channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in stdout.lines() {
                let event = serde_json::from_str(&line.unwrap()).unwrap();
                if sender.send(event).is_err() {
                    break;
                }
            }
        });
        let mut errors = child.stderr.take().unwrap();
        let stderr = std::thread::spawn(move || {
            let mut text = String::new();
            errors.read_to_string(&mut text).unwrap();
            text
        });
        Program { child, events, stderr: Some(stderr), _home: None }
    }

    /// A line on its stdin.
    pub(crate) fn say(&mut self, line: &str) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    /// The next event, of any kind; `None` if it has ended.
    pub(crate) fn next(&mut self) -> Option<Value> {
        match self.events.recv_timeout(PATIENCE) {
            Ok(event) => Some(event),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("it prints nothing"),
        }
    }

    /// What it has printed and nobody has read yet.
    pub(crate) fn printed(&self) -> Vec<Value> {
        self.events.try_iter().collect()
    }

    /// The next event that is called so; those before it are passed over.
    pub(crate) fn event(&mut self, name: &str) -> Value {
        self.event_where(name, |_| true)
    }

    /// The next event that is called so, and is such a one.
    pub(crate) fn event_where(&mut self, name: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let limit = Instant::now() + PATIENCE;
        let mut before = Vec::new();
        loop {
            let Some(event) = self.next() else {
                panic!("it ended without {name:?}: {before:?} {}", self.errors());
            };
            if event["event"] == name && fits(&event) {
                return event;
            }
            assert!(Instant::now() < limit, "there is no such {name:?}: {before:?}");
            if event["event"] != "state" {
                before.push(event);
            }
        }
    }

    fn errors(&mut self) -> String {
        self.stderr.take().map_or(String::new(), |thread| thread.join().unwrap())
    }

    /// Ctrl-C.
    pub(crate) fn interrupt(&self) {
        let kill = format!("kill -INT {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    }

    /// SIGKILL: no goodbye.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits until it has ended by itself.
    pub(crate) fn end(self) -> Ended {
        self.end_within(PATIENCE)
    }

    pub(crate) fn end_within(mut self, patience: Duration) -> Ended {
        let limit = Instant::now() + patience;
        let code = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status.code();
            }
            assert!(Instant::now() < limit, "it does not end");
            std::thread::sleep(Duration::from_millis(5));
        };
        // All of it is in the pipe by now.
        let events = self.events.iter().collect();
        Ended { code, stderr: self.errors(), events }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Ended {
    pub(crate) fn event(&self, name: &str) -> Option<&Value> {
        self.events.iter().find(|event| event["event"] == name)
    }

    /// It failed, and says why.
    pub(crate) fn failed_with(&self, words: &str) {
        assert_eq!(self.code, Some(1), "{}", self.stderr);
        assert!(self.stderr.contains(words), "{}", self.stderr);
        // One sentence or two, for a person: nothing of the program's insides.
        assert!(self.stderr.lines().count() == 1 && self.stderr.len() < 300, "{}", self.stderr);
    }
}

/// A host of ours at a port that was free; others are tried where another program was quicker.
pub(crate) fn host(args: &[&str]) -> (Program, u16) {
    for _ in 0..10 {
        let port = free_port();
        let number = port.to_string();
        let mut all = vec!["host", "--port", &number];
        all.extend(args);
        let mut program = Program::start(&all);
        match program.next() {
            Some(event) if event["event"] == "hosting" => return (program, port),
            other => assert!(other.is_none(), "{other:?}"),
        }
        let stderr = program.errors();
        assert!(stderr.contains("is in use by another program"), "{stderr}");
    }
    panic!("other programs took every port that was free");
}

/// A guest of ours at `port` of this machine.
pub(crate) fn join(port: u16, args: &[&str]) -> Program {
    let address = format!("127.0.0.1:{port}");
    let mut all = vec!["join", &address];
    all.extend(args);
    Program::start(&all)
}

/// A port that nobody has now; another program may take it at any time.
pub(crate) fn free_port() -> u16 {
    socket().local_addr().unwrap().port()
}

/// A socket of this machine that waits no longer than anyone should.
pub(crate) fn socket() -> UdpSocket {
    let socket = UdpSocket::bind((HERE, 0)).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket
}
