//! `backspin serve` as players meet it: the built binary, plain sockets, literal bytes.
#![cfg(unix)]

#[path = "server/mod.rs"]
mod server;

use std::io::{self, Read};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::process::Command;
use std::time::{Duration, Instant};

use server::{HERE, Home, PATIENCE, Ports, Server};

/// A server with a port for each dialect.
fn start(args: &[&str]) -> Server {
    Server::start(Ports::all, &[&["--name", "den"], args].concat())
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
    let server = start(&[]);
    let peer = Peer::to(server.ports.rtype);
    peer.send(&RTYPE_PING);
    assert_eq!(peer.receive(), RTYPE_PONG);
}

#[test]
fn a_lan_search_finds_the_host_and_the_native_port() {
    let server = start(&[]);
    let peer = Peer::to(server.ports.lan);
    peer.send(b"\x01");
    let [lan, native] = [server.ports.lan, server.ports.native].map(u16::to_be_bytes);
    assert_eq!(peer.receive(), [2, lan[0], lan[1], b'B', b'S', native[0], native[1], 0]);
}

#[test]
fn a_native_ping_and_a_native_search_are_answered() {
    let server = start(&[]);
    let peer = Peer::to(server.ports.native);
    peer.send(b"\x01\x04\0\0\x0a\0\0\0\x08\0\0\0\0\0\x05\0\0\x30\x39");
    assert_eq!(peer.receive(), b"\x01\x85\0\0\x08\0\0\0\x08\0\0\0\x05\0\0\x30\x39");
    // Any game.
    let mut discover = *b"\x01\x03\0\0\x27\0\0\0\x07\x01\x02\x03\x04\x05\x06\x07\x08\
        \0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    let here = b"\x01\x83\0\0\x27\0\0\0\x07\x01\x02\x03\x04\x05\x06\x07\x08\
        PONG\0\x02\0\x02\0\0\0\x02\0\0\x01den\0\0\0\0\0\0\0\0\0\0\0\0\0";
    peer.send(&discover);
    assert_eq!(peer.receive(), here);
    // Each game by its name.
    discover[17..21].copy_from_slice(b"RTYP");
    peer.send(&discover);
    let here = b"\x01\x83\0\0\x27\0\0\0\x07\x01\x02\x03\x04\x05\x06\x07\x08\
        RTYP\0\x03\0\x02\0\0\0\x04\0\0\x01den\0\0\0\0\0\0\0\0\0\0\0\0\0";
    assert_eq!(peer.receive(), here);
    // A game that is not played here: silence, and the next question is answered.
    discover[17..21].copy_from_slice(b"DOTS");
    peer.send(&discover);
    peer.send(&RTYPE_PING);
    assert_eq!(peer.receive(), RTYPE_PONG);
}

#[test]
fn garbage_gets_silence_at_every_port() {
    let server = start(&[]);
    for peer in
        [Peer::to(server.ports.native), Peer::to(server.ports.lan), Peer::to(server.ports.rtype)]
    {
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
    let server = start(&[]);
    let (mut stream, token) = ask_for_token(server.ports).unwrap();
    let peer = Peer::to(server.ports.rtype);
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
    let strict = start(&[]);
    let (_stream, _) = ask_for_token(strict.ports).unwrap();
    let peer = Peer::to(strict.ports.rtype);
    peer.send(raw_name);
    peer.send(&RTYPE_PING);
    assert_eq!(peer.receive(), RTYPE_PONG);
    let lenient = start(&["--allow-tokenless"]);
    let (_stream, _) = ask_for_token(lenient.ports).unwrap();
    let peer = Peer::to(lenient.ports.rtype);
    peer.send(raw_name);
    assert_eq!(peer.receive(), b"\0\0\x02\x01");
}

#[test]
fn a_log_that_nobody_reads_does_not_stop_the_server() {
    let home = Home::new();
    let server = Server::launch(&home, Ports::all, |command| {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        command.stderr(writer)
    });
    let (_stream, token) = ask_for_token(server.ports).unwrap();
    let peer = Peer::to(server.ports.rtype);
    peer.send(&hello(token));
    peer.receive_rtype(4);
    peer.receive_rtype(4);
    server.signal("TERM");
    assert_eq!(server.wait().0.code(), Some(0));
}

#[test]
fn a_late_tick_is_told_where_the_log_is_to_tell_more() {
    for (level, is_told) in [("debug", true), ("info", false)] {
        let server = start(&["--log", level]);
        // An answer: the loop turns.
        let peer = Peer::to(server.ports.rtype);
        peer.send(&RTYPE_PING);
        assert_eq!(peer.receive(), RTYPE_PONG);
        server.signal("STOP");
        std::thread::sleep(Duration::from_millis(100));
        server.signal("CONT");
        peer.send(&RTYPE_PING);
        assert_eq!(peer.receive(), RTYPE_PONG);
        server.signal("TERM");
        let (_, log) = server.wait();
        // Whoever stopped it has held it up, for most of that time at least.
        let held_up = log.split(" ms late, held up for ").skip(1);
        let longest =
            held_up.filter_map(|line| line.split(' ').next()?.parse().ok()).fold(0.0, f64::max);
        assert_eq!(longest > 50.0, is_told, "{level}: {log}");
    }
}

#[test]
fn an_input_moves_the_players_ship() {
    let server = start(&[]);
    let (_stream, token) = ask_for_token(server.ports).unwrap();
    let peer = Peer::to(server.ports.rtype);
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
    let server = start(&[]);
    let (mut stream, token) = ask_for_token(server.ports).unwrap();
    let peer = Peer::to(server.ports.rtype);
    peer.send(&hello(token));
    peer.receive_rtype(4);
    let asked = Instant::now();
    server.signal("TERM");
    assert_eq!(peer.receive_rtype(17), b"\0\0\x11\x01");
    let (status, log) = server.wait();
    assert_eq!(status.code(), Some(0));
    assert!(asked.elapsed() < Duration::from_secs(1), "it took {:?}", asked.elapsed());
    // The stream ends in order: StartGame, then nothing.
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).unwrap();
    assert_eq!(rest, b"\0\0\x65\x01");
    assert!(log.contains("player 1 joined as Alice from 127.0.0.1:"), "{log}");
    assert!(log.contains("stopped"), "{log}");
}

#[test]
fn it_says_where_it_listens() {
    let server = start(&[]);
    let Ports { native, lan, rtype } = server.ports;
    let above = rtype + 1;
    let told = [
        format!("  native  UDP 127.0.0.1:{native}"),
        format!("  lan     UDP 127.0.0.1:{lan}"),
        format!("  rtype   UDP 127.0.0.1:{rtype}, TCP 127.0.0.1:{above}"),
        "Ctrl-C stops it".to_owned(),
    ];
    assert!(server.greeting[0].starts_with("den serves Pong"), "{:?}", server.greeting);
    assert_eq!(server.greeting[1..], told);
}

/// Runs a server that does not start.
fn fail(mut command: Command) -> (Option<i32>, String) {
    let output = command.output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_taken_port_stops_the_start_with_a_sentence() {
    let server = start(&[]);
    let ports = Ports { native: server.ports.native, ..Ports::all() };
    let at = SocketAddr::from((HERE, ports.native));
    let sentence = format!(
        "backspin: UDP {at} is in use by another program; stop it or choose another port\n"
    );
    assert_eq!(fail(Home::new().serve(ports)), (Some(1), sentence));
    // The same for the TCP port.
    let (ports, at, _listener) = std::iter::repeat_with(Ports::all)
        .find_map(|ports| {
            let at = SocketAddr::from((HERE, ports.rtype + 1));
            TcpListener::bind(at).ok().map(|listener| (ports, at, listener))
        })
        .unwrap();
    let sentence = format!(
        "backspin: TCP {at} is in use by another program; stop it or choose another port\n"
    );
    assert_eq!(fail(Home::new().serve(ports)), (Some(1), sentence));
}

#[test]
fn a_server_without_a_port_does_not_start() {
    let ports = Ports { native: 0, lan: 0, rtype: 0 };
    let sentence = "backspin: every port is 0: there is nothing to listen on; set at least one\n";
    assert_eq!(fail(Home::new().serve(ports)), (Some(1), sentence.to_owned()));
}

#[test]
fn a_server_without_a_room_does_not_start() {
    let home = Home::new();
    let settings = home.serve(Ports::all()).arg("--print-config").output().unwrap().stdout;
    let settings = String::from_utf8(settings).unwrap();
    let names = settings.lines().filter_map(|line| line.split_once(" = ")).map(|it| it.0);
    let mut command = home.serve(Ports::all());
    for name in names.filter(|name| name.ends_with("-rooms")) {
        command.args([&format!("--{name}"), "0"]);
    }
    let sentence = "backspin: every game has 0 rooms; set at least one of them higher\n";
    assert_eq!(fail(command), (Some(1), sentence.to_owned()));
}

#[test]
fn lan_leads_to_pong_and_rtype_to_r_type_only() {
    let pong_only = start(&["--rtype-rooms", "0"]);
    // A HELLO gets its ack and states of Pong: both paddles at 390.
    let guest = Peer::to(pong_only.ports.lan);
    let port = guest.socket.local_addr().unwrap().port().to_be_bytes();
    guest.send(&[3, port[0], port[1]]);
    assert_eq!(guest.receive(), [4]);
    let state = guest.receive();
    assert_eq!((state.len(), &state[..1]), (31, &[6][..]));
    assert_eq!(state[5..13], [390.0_f32.to_le_bytes(), 390.0_f32.to_le_bytes()].concat());
    // A token is given, and leads nowhere.
    let (_stream, token) = ask_for_token(pong_only.ports).unwrap();
    let peer = Peer::to(pong_only.ports.rtype);
    peer.send(&hello(token));
    peer.send(&RTYPE_PING);
    assert_eq!(peer.receive(), RTYPE_PONG);

    let rtype_only = start(&["--pong-rooms", "0"]);
    let guest = Peer::to(rtype_only.ports.lan);
    let port = guest.socket.local_addr().unwrap().port().to_be_bytes();
    guest.send(b"\x01");
    guest.send(&[3, port[0], port[1]]);
    guest.send(&RTYPE_PING);
    assert_eq!(guest.receive(), RTYPE_PONG);
}

#[test]
fn dialects_may_share_a_port() {
    let one = || {
        let port = Ports::all().rtype;
        Ports { native: port, lan: port, rtype: port }
    };
    let server = Server::start(one, &[]);
    let peer = Peer::to(server.ports.rtype);
    peer.send(&RTYPE_PING);
    assert_eq!(peer.receive(), RTYPE_PONG);
    peer.send(b"\x01");
    let [high, low] = server.ports.lan.to_be_bytes();
    assert_eq!(peer.receive(), [2, high, low, b'B', b'S', high, low, 0]);
}
