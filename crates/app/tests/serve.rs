//! `backspin serve` as players meet it: the built binary, plain sockets, literal bytes.
#![cfg(unix)]

use std::io::{self, BufRead, BufReader, Read};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

const HERE: Ipv4Addr = Ipv4Addr::LOCALHOST;

/// What never takes so long, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(10);

/// Ports that nobody has.
#[derive(Clone, Copy, Debug)]
struct Ports {
    native: u16,
    lan: u16,
    rtype: u16,
}

/// A running server; it is killed if a test fails.
struct Server {
    child: Child,
    ports: Ports,
    /// What it said before it was ready.
    greeting: Vec<String>,
}

impl Ports {
    /// Ports that are free now; another program may take one before the server does.
    fn free() -> Ports {
        loop {
            let sockets = [(); 3].map(|()| UdpSocket::bind((HERE, 0)).unwrap());
            let [native, lan, rtype] =
                sockets.each_ref().map(|socket| socket.local_addr().unwrap().port());
            let above = rtype.checked_add(1).map(|port| TcpListener::bind((HERE, port)));
            if let Some(Ok(_)) = above {
                return Ports { native, lan, rtype };
            }
        }
    }

    fn command(self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_backspin"));
        command.args(["serve", "--bind", "127.0.0.1", "--name", "den", "--results="]);
        command.args(["--native-port", &self.native.to_string()]);
        command.args(["--lan-port", &self.lan.to_string()]);
        command.args(["--rtype-port", &self.rtype.to_string()]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

impl Server {
    /// A server that is ready.
    fn start() -> Server {
        Server::start_at(Ports::free, &[])
    }

    /// A server at such ports; others are tried where another program was quicker.
    fn start_at(ports: impl Fn() -> Ports, args: &[&str]) -> Server {
        for _ in 0..10 {
            let ports = ports();
            let mut child = ports.command().args(args).spawn().unwrap();
            let lines = BufReader::new(child.stdout.take().unwrap()).lines();
            let mut server = Server { child, ports, greeting: Vec::new() };
            for line in lines {
                let line = line.unwrap();
                server.greeting.push(line.clone());
                if line == "Ctrl-C stops it" {
                    return server;
                }
            }
            let stderr = server.stderr();
            assert!(stderr.contains("is taken by another program"), "{stderr}");
        }
        panic!("other programs took every port that was free");
    }

    fn native(&self) -> Peer {
        Peer::to(self.ports.native)
    }

    fn lan(&self) -> Peer {
        Peer::to(self.ports.lan)
    }

    fn rtype(&self) -> Peer {
        Peer::to(self.ports.rtype)
    }

    /// Asks it to stop, as an operator does.
    fn terminate(&self) {
        let kill = format!("kill -TERM {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    }

    fn wait(&mut self) -> ExitStatus {
        let limit = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < limit, "the server does not end");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn stderr(&mut self) -> String {
        let mut text = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
        text
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A stranger with a socket.
struct Peer {
    socket: UdpSocket,
}

impl Peer {
    fn to(port: u16) -> Peer {
        let socket = UdpSocket::bind((HERE, 0)).unwrap();
        socket.connect((HERE, port)).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        Peer { socket }
    }

    fn send(&self, bytes: &[u8]) {
        self.socket.send(bytes).unwrap();
    }

    #[track_caller]
    fn receive(&self) -> Vec<u8> {
        let mut buffer = [0; 2048];
        let len = self.socket.recv(&mut buffer).expect("an answer comes");
        buffer[..len].to_vec()
    }

    /// The next datagram of `rtype` with this type.
    #[track_caller]
    fn receive_rtype(&self, kind: u8) -> Vec<u8> {
        let limit = Instant::now() + PATIENCE;
        loop {
            let bytes = self.receive();
            if bytes[2] == kind {
                return bytes;
            }
            assert!(Instant::now() < limit, "no packet of type {kind} comes");
        }
    }
}

const RTYPE_PING: [u8; 12] = *b"\x08\0\x07\x01\x05\0\0\0\x39\x30\0\0";
const RTYPE_PONG: [u8; 12] = *b"\x08\0\x08\x01\x05\0\0\0\x39\x30\0\0";

#[test]
fn an_rtype_ping_gets_its_pong() {
    let server = Server::start();
    let peer = server.rtype();
    peer.send(&RTYPE_PING);
    assert_eq!(peer.receive(), RTYPE_PONG);
}

#[test]
fn a_lan_search_finds_the_host_and_the_native_port() {
    let server = Server::start();
    let peer = server.lan();
    peer.send(b"\x01");
    let [lan, native] = [server.ports.lan, server.ports.native].map(u16::to_be_bytes);
    assert_eq!(peer.receive(), [2, lan[0], lan[1], b'B', b'S', native[0], native[1], 0]);
}

#[test]
fn a_native_ping_and_a_native_search_are_answered() {
    let server = Server::start();
    let peer = server.native();
    peer.send(b"\x01\x04\0\0\x0a\0\0\0\x08\0\0\0\0\0\x05\0\0\x30\x39");
    assert_eq!(peer.receive(), b"\x01\x85\0\0\x08\0\0\0\x08\0\0\0\x05\0\0\x30\x39");
    // Any game.
    let mut discover = *b"\x01\x03\0\0\x27\0\0\0\x07\x01\x02\x03\x04\x05\x06\x07\x08\
        \0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    let here = b"\x01\x83\0\0\x27\0\0\0\x07\x01\x02\x03\x04\x05\x06\x07\x08\
        PONG\0\x01\0\x01\0\0\0\x02\0\0\x01den\0\0\0\0\0\0\0\0\0\0\0\0\0";
    peer.send(&discover);
    assert_eq!(peer.receive(), here);
    // Each game by its name.
    discover[17..21].copy_from_slice(b"RTYP");
    peer.send(&discover);
    let here = b"\x01\x83\0\0\x27\0\0\0\x07\x01\x02\x03\x04\x05\x06\x07\x08\
        RTYP\0\x02\0\x01\0\0\0\x04\0\0\x01den\0\0\0\0\0\0\0\0\0\0\0\0\0";
    assert_eq!(peer.receive(), here);
    // A game that is not played here: silence, and the next question is answered.
    discover[17..21].copy_from_slice(b"DOTS");
    peer.send(&discover);
    peer.send(&RTYPE_PING);
    assert_eq!(peer.receive(), RTYPE_PONG);
}

#[test]
fn garbage_gets_silence_at_every_port() {
    let server = Server::start();
    for peer in [server.native(), server.lan(), server.rtype()] {
        let garbage: [&[u8]; 8] = [
            b"",
            b"\x07",
            b"\x02\xd2\xf0",
            b"GET / HTTP/1.1\r\n\r\n",
            // A Ping of another version, one with a byte too many, one without its last.
            b"\x08\0\x07\x02\x05\0\0\0\x39\x30\0\0",
            b"\x08\0\x07\x01\x05\0\0\0\x39\x30\0\0\0",
            b"\x08\0\x07\x01\x05\0\0\0\x39\x30\0",
            &[0xff; 1400],
        ];
        garbage.iter().for_each(|bytes| peer.send(bytes));
        peer.send(&RTYPE_PING);
        assert_eq!(peer.receive(), RTYPE_PONG);
    }
}

/// Does `rtype`'s TCP step as Alice.
fn ask_for_token(ports: Ports) -> io::Result<(TcpStream, [u8; 4])> {
    let mut stream = TcpStream::connect((HERE, ports.rtype + 1))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut welcome = [0; 4];
    stream.read_exact(&mut welcome)?;
    assert_eq!(&welcome, b"\0\0\x64\x01");
    io::Write::write_all(&mut stream, b"\x05\0\x01\x01Alice")?;
    let mut ack = [0; 10];
    stream.read_exact(&mut ack)?;
    assert_eq!(ack[..4], *b"\x06\0\x02\x01");
    assert_eq!(ack[4..6], ports.rtype.to_le_bytes());
    let token = [ack[6], ack[7], ack[8], ack[9]];
    assert_ne!(token, [0; 4]);
    Ok((stream, token))
}

/// The UDP Hello of Alice.
fn hello(token: [u8; 4]) -> Vec<u8> {
    [b"\x14\0\x01\x01", &token[..], b"Alice\0\0\0\0\0\0\0\0\0\0\0"].concat()
}

#[test]
fn the_tcp_step_gives_a_token_that_lets_a_player_in() {
    let server = Server::start();
    let (mut stream, token) = ask_for_token(server.ports).unwrap();
    let peer = server.rtype();
    // A token that nobody was given gets silence.
    peer.send(&hello(token.map(|byte| !byte)));
    peer.send(&hello(token));
    assert_eq!(peer.receive(), b"\0\0\x02\x01");
    let state = peer.receive_rtype(4);
    assert_eq!(state[4..6], [1, 0], "one ship");
    assert_eq!(state[6..11], [1, 0, 0, 0, 1], "player 1");
    let roster = peer.receive_rtype(9);
    assert_eq!(roster[4..9], [1, 1, 0, 0, 0], "player 1 alone");
    assert_eq!(&roster[9..26], b"\x03Alice\0\0\0\0\0\0\0\0\0\0\0");
    assert_eq!(peer.receive_rtype(12), b"\x08\0\x0C\x01\x01\0\0\0\x03\x01\0\0", "the lobby");
    let mut start = [0; 4];
    stream.read_exact(&mut start).unwrap();
    assert_eq!(&start, b"\0\0\x65\x01");
}

#[test]
fn a_hello_without_a_token_is_let_in_only_where_that_is_allowed() {
    let raw_name = b"\x05\0\x01\x01Alice";
    let strict = Server::start();
    let (_stream, _) = ask_for_token(strict.ports).unwrap();
    let peer = strict.rtype();
    peer.send(raw_name);
    peer.send(&RTYPE_PING);
    assert_eq!(peer.receive(), RTYPE_PONG);
    let lenient = Server::start_at(Ports::free, &["--allow-tokenless"]);
    let (_stream, _) = ask_for_token(lenient.ports).unwrap();
    let peer = lenient.rtype();
    peer.send(raw_name);
    assert_eq!(peer.receive(), b"\0\0\x02\x01");
}

#[test]
fn a_log_that_nobody_reads_does_not_stop_the_server() {
    let mut server = Server::start();
    drop(server.child.stderr.take());
    let (_stream, token) = ask_for_token(server.ports).unwrap();
    let peer = server.rtype();
    peer.send(&hello(token));
    peer.receive_rtype(4);
    peer.receive_rtype(4);
    server.terminate();
    assert_eq!(server.wait().code(), Some(0));
}

#[test]
fn an_input_moves_the_players_ship() {
    let server = Server::start();
    let (_stream, token) = ask_for_token(server.ports).unwrap();
    let peer = server.rtype();
    peer.send(&hello(token));
    let x = |state: &[u8]| f32::from_le_bytes(state[11..15].try_into().unwrap());
    let before = x(&peer.receive_rtype(4));
    // Right.
    peer.send(b"\x05\0\x03\x01\0\0\0\0\x08");
    let limit = Instant::now() + PATIENCE;
    while x(&peer.receive_rtype(4)) <= before {
        assert!(Instant::now() < limit, "the ship does not move");
    }
}

#[test]
fn sigterm_says_goodbye_and_ends_well_within_a_second() {
    let mut server = Server::start();
    let (mut stream, token) = ask_for_token(server.ports).unwrap();
    let peer = server.rtype();
    peer.send(&hello(token));
    peer.receive_rtype(4);
    let asked = Instant::now();
    server.terminate();
    assert_eq!(peer.receive_rtype(17), b"\0\0\x11\x01");
    assert_eq!(server.wait().code(), Some(0));
    assert!(asked.elapsed() < Duration::from_secs(1), "it took {:?}", asked.elapsed());
    // The stream ends in order: StartGame, then nothing.
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).unwrap();
    assert_eq!(rest, b"\0\0\x65\x01");
    let log = server.stderr();
    assert!(log.contains("player 1 joined as Alice from 127.0.0.1:"), "{log}");
    assert!(log.contains("stopped"), "{log}");
}

#[test]
fn it_says_where_it_listens() {
    let server = Server::start();
    let Ports { native, lan, rtype } = server.ports;
    let above = rtype + 1;
    let told = [
        "den serves Pong and R-Type".to_owned(),
        format!("  native  UDP 127.0.0.1:{native}"),
        format!("  lan     UDP 127.0.0.1:{lan}"),
        format!("  rtype   UDP 127.0.0.1:{rtype}, TCP 127.0.0.1:{above}"),
        "Ctrl-C stops it".to_owned(),
    ];
    assert_eq!(server.greeting, told);
}

/// Runs a server that does not start.
fn fail(mut command: Command) -> (Option<i32>, String) {
    let output = command.output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_taken_port_stops_the_start_with_a_sentence() {
    let server = Server::start();
    let ports = Ports { native: server.ports.native, ..Ports::free() };
    let at = SocketAddr::from((HERE, ports.native));
    let sentence =
        format!("backspin: UDP {at} is taken by another program; stop it or choose another port\n");
    assert_eq!(fail(ports.command()), (Some(1), sentence));
    // The same for the TCP port.
    let ports = Ports::free();
    let listener = TcpListener::bind((HERE, ports.rtype + 1)).unwrap();
    let at = listener.local_addr().unwrap();
    let sentence =
        format!("backspin: TCP {at} is taken by another program; stop it or choose another port\n");
    assert_eq!(fail(ports.command()), (Some(1), sentence));
}

#[test]
fn a_server_without_a_port_does_not_start() {
    let ports = Ports { native: 0, lan: 0, rtype: 0 };
    let sentence = "backspin: there is no port to listen on; give one of them a number\n";
    assert_eq!(fail(ports.command()), (Some(1), sentence.to_owned()));
}

#[test]
fn a_server_without_a_room_does_not_start() {
    let mut command = Ports::free().command();
    command.args(["--pong-rooms", "0", "--rtype-rooms", "0"]);
    let sentence = "backspin: there is no room to play in; give one of the games some\n";
    assert_eq!(fail(command), (Some(1), sentence.to_owned()));
}

#[test]
fn lan_leads_to_pong_and_rtype_to_r_type_only() {
    let pong_only = Server::start_at(Ports::free, &["--rtype-rooms", "0"]);
    // A HELLO gets its ack and states of Pong: both paddles at 390.
    let guest = pong_only.lan();
    let port = guest.socket.local_addr().unwrap().port().to_be_bytes();
    guest.send(&[3, port[0], port[1]]);
    assert_eq!(guest.receive(), [4]);
    let state = guest.receive();
    assert_eq!((state.len(), &state[..1]), (31, &[6][..]));
    assert_eq!(state[5..13], [390.0_f32.to_le_bytes(), 390.0_f32.to_le_bytes()].concat());
    // A token is given, and leads nowhere.
    let (_stream, token) = ask_for_token(pong_only.ports).unwrap();
    let peer = pong_only.rtype();
    peer.send(&hello(token));
    peer.send(&RTYPE_PING);
    assert_eq!(peer.receive(), RTYPE_PONG);

    let rtype_only = Server::start_at(Ports::free, &["--pong-rooms", "0"]);
    let guest = rtype_only.lan();
    let port = guest.socket.local_addr().unwrap().port().to_be_bytes();
    guest.send(b"\x01");
    guest.send(&[3, port[0], port[1]]);
    guest.send(&RTYPE_PING);
    assert_eq!(guest.receive(), RTYPE_PONG);
}

#[test]
fn dialects_may_share_a_port() {
    let one = || {
        let port = Ports::free().rtype;
        Ports { native: port, lan: port, rtype: port }
    };
    let server = Server::start_at(one, &[]);
    let peer = server.rtype();
    peer.send(&RTYPE_PING);
    assert_eq!(peer.receive(), RTYPE_PONG);
    peer.send(b"\x01");
    let [high, low] = server.ports.lan.to_be_bytes();
    assert_eq!(peer.receive(), [2, high, low, b'B', b'S', high, low, 0]);
}
