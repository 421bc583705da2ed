//! A running server with a page, players for it, and someone who asks.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

pub(crate) use crate::process::PATIENCE;
use crate::process::{HERE, Home, Ports, wait};

pub(crate) const TOKEN: &str = "s3cret";

/// A server.
pub(crate) struct Server {
    process: crate::process::Server,
    pub(crate) page: SocketAddr,
}

/// A player; it is killed when a test ends.
pub(crate) struct Player {
    child: Child,
    _home: Home,
}

/// A reply.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) code: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Player {
    /// Waits until it ends by itself: its code, and what it told.
    pub(crate) fn wait(mut self) -> (Option<i32>, String) {
        let status = wait(&mut self.child);
        let mut told = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut told).unwrap();
        (status.code(), told)
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    /// One that anyone may read and nobody may change.
    pub(crate) fn start() -> Self {
        Server::start_with(&[])
    }

    /// One that whoever has the token may change.
    pub(crate) fn start_with_token() -> Self {
        Server::start_with(&["--http-token", TOKEN])
    }

    fn start_with(args: &[&str]) -> Self {
        let args = [&["--name", "den", "--http", "127.0.0.1:0"], args].concat();
        Server::ready(crate::process::Server::start(Ports::native, &args))
    }

    /// One that whoever has the token may change, in a home that others know, too.
    pub(crate) fn start_in(home: &Home) -> Self {
        let args = ["--name", "den", "--http", "127.0.0.1:0", "--http-token", TOKEN];
        Server::ready(crate::process::Server::start_in(home, Ports::native, &args))
    }

    fn ready(process: crate::process::Server) -> Self {
        let page = process.greeting.iter().find_map(|line| line.strip_prefix("  page    http://"));
        let page = page.unwrap().trim_end_matches('/').parse().unwrap();
        let server = Server { process, page };
        // There is something to tell.
        server.wait_for(|told| told["number"].as_u64() > Some(0));
        server
    }

    /// A bot that plays Pong here.
    pub(crate) fn join(&self, name: &str) -> Player {
        let home = Home::new();
        let address = self.process.native().to_string();
        let mut command = home.command(&["pong", "join", &address, "--bot", "normal"]);
        command.args(["--ui", "none", "--seconds", "120", "--name", name]);
        command.stdout(Stdio::null());
        Player { child: command.spawn().unwrap(), _home: home }
    }

    /// A connection to the page.
    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.page).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Sends a request as it stands, and reads the whole reply.
    pub(crate) fn send(&self, request: &[u8]) -> Reply {
        let mut stream = self.connect();
        // A request that is refused early is not read to its end.
        let _ = stream.write_all(request);
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        Reply::read(&text)
    }

    /// A request with these fields.
    pub(crate) fn ask(&self, line: &str, fields: &str) -> Reply {
        let host = self.page;
        self.send(format!("{line} HTTP/1.1\r\nHost: {host}\r\n{fields}\r\n").as_bytes())
    }

    pub(crate) fn get(&self, path: &str) -> Reply {
        self.ask(&format!("GET {path}"), "")
    }

    /// A command with the token.
    pub(crate) fn command(&self, path: &str) -> Reply {
        self.ask(&format!("POST {path}"), &format!("Authorization: Bearer {TOKEN}\r\n"))
    }

    /// The same by another method.
    pub(crate) fn command_by(&self, method: &str, path: &str) -> Reply {
        self.ask(&format!("{method} {path}"), &format!("Authorization: Bearer {TOKEN}\r\n"))
    }

    /// What `/api/bans` says.
    pub(crate) fn bans(&self) -> Value {
        let reply = self.command_by("GET", "/api/bans");
        assert_eq!(reply.code, 200, "{reply:?}");
        serde_json::from_str(&reply.body).unwrap()
    }

    /// What `/api/rooms` says.
    pub(crate) fn told(&self) -> Value {
        let reply = self.get("/api/rooms");
        assert_eq!(reply.code, 200, "{reply:?}");
        serde_json::from_str(&reply.body).unwrap()
    }

    /// Asks until it is as wanted.
    #[track_caller]
    pub(crate) fn wait_for(&self, mut fits: impl FnMut(&Value) -> bool) -> Value {
        let limit = Instant::now() + PATIENCE;
        loop {
            let told = self.told();
            if fits(&told) {
                return told;
            }
            assert!(Instant::now() < limit, "it does not come to that: {told}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until so many play in the first room and their round trips are measured.
    #[track_caller]
    pub(crate) fn wait_for_players(&self, count: usize) -> Value {
        let measured =
            |member: &Value| member["jitter_ms"].is_number() && member["loss"].is_number();
        self.wait_for(|told| {
            let members = told["rooms"][0]["members"].as_array().unwrap();
            members.len() == count && members.iter().all(measured)
        })
    }

    /// A stream of events, behind its head.
    pub(crate) fn follow(&self, path: &str) -> BufReader<TcpStream> {
        let mut stream = self.connect();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.page).unwrap();
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        assert_eq!(line, "HTTP/1.1 200 OK\r\n");
        while line != "\r\n" {
            line.clear();
            reader.read_line(&mut line).unwrap();
        }
        reader
    }

    /// Ends it as an operator does: its code, and what it told.
    pub(crate) fn terminate(self) -> (Option<i32>, String) {
        self.process.signal("TERM");
        let (status, told) = self.process.wait();
        (status.code(), told)
    }
}

/// The next event's kind and data.
pub(crate) fn next_event(reader: &mut BufReader<TcpStream>) -> (String, Value) {
    let (mut kind, mut line) = (String::new(), String::new());
    loop {
        line.clear();
        assert_ne!(reader.read_line(&mut line).unwrap(), 0, "the stream ends");
        if let Some(told) = line.strip_prefix("event: ") {
            kind = told.trim_end().to_owned();
        }
        if let Some(data) = line.strip_prefix("data: ") {
            return (kind, serde_json::from_str(data).unwrap());
        }
    }
}

impl Reply {
    #[track_caller]
    fn read(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{text:?}"));
        let code = head.split(' ').nth(1).and_then(|code| code.parse().ok());
        Reply { code: code.unwrap(), head: head.to_owned(), body: body.to_owned() }
    }
}

/// A port that someone has, for as long as this lives.
pub(crate) fn taken_port() -> TcpListener {
    TcpListener::bind((HERE, 0)).unwrap()
}
