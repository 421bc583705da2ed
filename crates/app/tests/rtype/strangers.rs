//! What gets silence, and changes nothing; and what is sent to who proves nothing.

use std::net::{IpAddr, UdpSocket};
use std::time::{Duration, Instant};

use crate::player::{DISCONNECT, HELLO_ACK, PING, Player, START_MATCH, tcp_step};
use crate::server::{Ports, Server};

const ELSEWHERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(127, 0, 0, 9));

/// Alice's ship has not moved, she is still host of a lobby, and nobody else is there.
#[track_caller]
fn nothing_changed(alice: &mut Player) {
    let before = alice.ship(1).unwrap();
    alice.lobby = None;
    alice.until("lobby", |alice| alice.lobby.is_some());
    assert_eq!(alice.lobby, Some((1, 3, 1, 0)));
    assert_eq!(alice.roster, [(1, 3)]);
    let after = alice.ship(1).unwrap();
    assert_eq!((before.x, before.y), (after.x, after.y));
    assert_eq!(alice.world.len(), 1);
}

#[test]
fn a_wrong_token_and_a_replayed_one_get_silence() {
    let server = Server::start(Ports::rtype, &[]);
    let (mut alice, alices) = Player::join(&server, b"Alice");
    let mut wrong = alices.hello();
    wrong[7] ^= 0x80;
    let mut zero = alices.hello();
    zero[4..8].fill(0);
    for from in [crate::server::HERE.into(), ELSEWHERE] {
        let mut thief = Player::from(from, &server);
        for hello in [&wrong, &zero] {
            thief.gets_silence(hello);
        }
    }
    Player::new(&server).gets_silence(&alices.hello());
    // From another address than her stream's it is asked for, and nothing comes of the answer.
    let mut thief = Player::from(ELSEWHERE, &server);
    thief.send(&alices.hello());
    assert_eq!((thief.receive(), thief.receive()[2]), (HELLO_ACK.to_vec(), PING));
    thief.gets_silence(&[0, 0, 14, 1]);
    nothing_changed(&mut alice);
    // A token that was not used yet is good once, for whoever comes with it.
    let bobbys = tcp_step(&server, b"Bobby");
    let mut bobby = Player::from(ELSEWHERE, &server);
    bobby.enter(&bobbys);
    Player::new(&server).gets_silence(&bobbys.hello());
    alice.until("roster of two", |alice| alice.roster.len() == 2);
}

#[test]
fn what_a_foreign_address_says_is_nobodys() {
    let server = Server::start(Ports::rtype, &[]);
    let (mut alice, _alices) = Player::join(&server, b"Alice");
    for from in [crate::server::HERE.into(), ELSEWHERE] {
        let mut stranger = Player::from(from, &server);
        assert_ne!(stranger.address(), alice.address());
        let input: &[u8] = &[5, 0, 3, 1, 9, 0, 0, 0, 8];
        for bytes in [
            input,
            START_MATCH,
            DISCONNECT,
            &[2, 0, 13, 1, 6, 2],
            &[8, 0, 8, 1, 0, 0, 0, 0, 0, 0, 0, 0],
        ] {
            stranger.gets_silence(bytes);
        }
    }
    nothing_changed(&mut alice);
}

#[test]
fn malformed_headers_and_payloads_are_dropped() {
    let server = Server::start(Ports::rtype, &[]);
    let (mut alice, _alices) = Player::join(&server, b"Alice");
    let mut malformed: Vec<Vec<u8>> = vec![Vec::new()];
    // A good Input, cut anywhere and with a byte too many.
    let input = [5, 0, 3, 1, 9, 0, 0, 0, 8];
    malformed.extend((1..input.len()).map(|len| input[..len].to_vec()));
    malformed.push([&input[..], &[0]].concat());
    // Every byte of a header wrong: the size, the type, the version.
    for (at, wrong) in [(0, 0), (0, 4), (0, 6), (0, 255), (1, 1), (1, 255)] {
        let mut bytes = input;
        bytes[at] = wrong;
        malformed.push(bytes.to_vec());
    }
    for kind in [0, 18, 99, 100, 101, 255] {
        malformed.push([0, 0, kind, 1].to_vec());
    }
    for version in [0, 2, 255] {
        malformed.push([0, 0, 14, version].to_vec());
        malformed.push([5, 0, 3, version, 9, 0, 0, 0, 8].to_vec());
    }
    // Buttons that do not exist, lives and difficulties out of range.
    malformed.extend([64, 128, 255].map(|bits| [5, 0, 3, 1, 9, 0, 0, 0, bits].to_vec()));
    malformed.extend([[0, 1], [7, 1], [1, 3], [255, 255]].map(|[a, b]| vec![2, 0, 13, 1, a, b]));
    // What only a server says.
    malformed.push([0, 0, 2, 1].to_vec());
    malformed.push([0, 0, 17, 1].to_vec());
    malformed.push([1, 0, 15, 1, 0].to_vec());
    malformed.push([4, 0, 6, 1, 1, 0, 0, 0].to_vec());
    // From her own address they mean no more than from anyone's; strangers are slowed down after
    // 64 a second, so they come from several.
    malformed.iter().for_each(|bytes| alice.send(bytes));
    for (bytes, last) in malformed.iter().zip((10..40).cycle()) {
        Player::from(IpAddr::from([127, 0, 0, last]), &server).gets_silence(bytes);
    }
    nothing_changed(&mut alice);
}

#[test]
fn nonsense_on_the_stream_closes_it_and_gives_no_token() {
    use std::io::{Read, Write};
    let server = Server::start(Ports::rtype, &[]);
    // Another version, a name of 65 bytes, something that only a server says.
    for nonsense in [&b"\x05\0\x01\x02Alice"[..], b"\x41\0\x01\x01", b"\0\0\x64\x01"] {
        let mut stream = std::net::TcpStream::connect(server.rtype_tcp()).unwrap();
        stream.set_read_timeout(Some(crate::server::PATIENCE)).unwrap();
        stream.write_all(nonsense).unwrap();
        let mut told = Vec::new();
        // It may be reset: what we wrote was not read to its end.
        let _ = stream.read_to_end(&mut told);
        assert!(told.is_empty() || told == b"\0\0\x64\x01", "{told:?}");
    }
    Player::join(&server, b"Alice");
}

/// The experiment that turned 27 kB into 124 MB: tokens of one address, used from another that never
/// asked for anything. `BACKSPIN_LONG=1` plays all forty seconds of it.
#[test]
fn tokens_that_are_used_from_elsewhere_yield_at_most_three_times_the_bytes() {
    const HEADERS: usize = 28;
    let seconds = if std::env::var_os("BACKSPIN_LONG").is_some() { 40 } else { 6 };
    let server = Server::start(Ports::rtype, &[]);
    let victims: Vec<UdpSocket> = (0..60)
        .map(|_| {
            let victim = UdpSocket::bind((ELSEWHERE, 0)).unwrap();
            victim.connect(server.rtype()).unwrap();
            victim.set_nonblocking(true).unwrap();
            victim
        })
        .collect();
    let (mut sent, mut got) = (0, 0);
    let mut say = |victim: &UdpSocket, bytes: &[u8]| sent += victim.send(bytes).unwrap() + HEADERS;
    for victim in &victims {
        // Streams from one address are limited; its tokens outlive them.
        let ticket = tcp_step(&server, b"Alice");
        say(victim, &ticket.hello());
        say(victim, START_MATCH);
    }
    let began = Instant::now();
    let mut inputs = 0;
    while began.elapsed() < Duration::from_secs(seconds) {
        if began.elapsed() >= Duration::from_secs(4) * inputs {
            inputs += 1;
            victims.iter().for_each(|victim| say(victim, &[5, 0, 3, 1, 0, 0, 0, 0, 8]));
        }
        let mut buffer = [0; 2048];
        for victim in &victims {
            while let Ok(len) = victim.recv(&mut buffer) {
                got += len + HEADERS;
            }
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    println!("{sent} bytes sent, {got} received in {seconds} s");
    assert!(got > 0 && got <= 3 * sent, "{got} bytes for {sent}");
}
