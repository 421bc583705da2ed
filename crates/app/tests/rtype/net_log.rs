//! What a server writes down of the line: the net log, and the log at level debug.

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use crate::player::Player;
use crate::server::{HERE, Home, PATIENCE, Ports, Server};

/// Lets the server read what was sent, and write what it says of it.
fn settle() {
    std::thread::sleep(Duration::from_millis(300));
}

#[test]
fn a_server_writes_inputs_latencies_and_bad_pongs_to_the_net_log() {
    let home = Home::new();
    let file = home.path().join("net.log");
    let mut server = Server::start_in(&home, Ports::rtype, &["--net-log", file.to_str().unwrap()]);
    let (mut alice, _ticket) = Player::join(&server, b"Alice");
    alice.until("a Ping", |alice| alice.pings > 1);
    // A number that no Ping of the server has.
    alice.send(&[8, 0, 8, 1, 0xFF, 0xFF, 0, 0, 1, 0, 0, 0]);
    for sequence in [100_u32, 103] {
        alice.send(&[&[5, 0, 3, 1], &sequence.to_le_bytes()[..], &[8]].concat());
    }
    let limit = Instant::now() + PATIENCE;
    let wanted = [
        "HelloAck sent to 127.0.0.1:",
        "[Server] SNAPSHOT_SENT tick=",
        "Player 1 latency: ",
        "Pong for unknown sequence: 65535\n",
        "[Server] INPUT_RECV    player=1 seq=103 (gap=2)\n",
        "Player 1 lost 2 inputs (seq 101-102)\n",
        "[Server] INPUT_PROCESS player=1 seq=103 last_ack=103\n",
        "# room ",
    ];
    let text = loop {
        let text = std::fs::read_to_string(&file).unwrap();
        if wanted.iter().all(|line| text.contains(line)) {
            break text;
        }
        assert!(Instant::now() < limit, "{text}");
        alice.receive_within(Duration::from_millis(20));
    };
    assert!(!text.contains("Pong timestamp") && !text.contains("mismatch"), "{text}");
    server.kill();
}

#[test]
fn a_flood_of_what_is_dropped_is_ten_lines_a_second_of_each_kind_at_level_debug() {
    let mut server =
        Server::start(Ports::rtype, &["--log", "debug", "--joins-per-address", "9999"]);
    let began = Instant::now();
    let stranger = UdpSocket::bind((HERE, 0)).unwrap();
    stranger.connect(server.rtype()).unwrap();
    // A search, an Input from nobody, a size that is wrong, a type that there is not.
    let kinds: [&[u8]; 4] = [&[1], b"\x05\0\x03\x01\0\0\0\0\0", b"\x09\0\x03\x01\0", &[0xFF; 40]];
    for _ in 0..100 {
        for bytes in kinds {
            stranger.send(bytes).unwrap();
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    settle();
    // What was left out is told a second later, when a turn has passed.
    std::thread::sleep(Duration::from_millis(1_200));
    let seconds = began.elapsed().as_secs_f64().ceil() as usize;
    let told = server.kill();
    for kind in ["Invalid sender", "Invalid packet size", "Wrong message type"] {
        let lines = told.lines().filter(|line| line.contains(kind));
        let (left_out, lines): (Vec<_>, Vec<_>) =
            lines.partition(|line| line.contains("more were left out"));
        assert!(lines.len() >= 10 && lines.len() <= 10 * (seconds + 1), "{kind}:\n{told}");
        assert!(lines.iter().all(|line| line.contains("DEBUG")), "{kind}:\n{told}");
        assert!(!left_out.is_empty(), "{kind}:\n{told}");
    }
}
