//! `ack` as others meet it: the client in docs, in plain Python, against the built server; and our own.
#![cfg(unix)]

#[path = "pong/program.rs"]
#[allow(dead_code, reason = "the tests of Pong need more of it")]
mod program;
#[path = "server/mod.rs"]
mod server;

use std::path::Path;
use std::process::{Command, Stdio};

use program::{Program, host, join};
use server::{Home, Ports, Server};

/// What our own programs play.
const GAME: &str = "rtype";

/// The numbers behind `seq=` in the lines that begin so.
fn numbers(text: &str, beginning: &str) -> Vec<u32> {
    let lines = text.lines().filter_map(|line| line.strip_prefix(beginning));
    let number = |rest: &str| {
        let digits = rest.split("seq=").nth(1)?.split(' ').next()?;
        digits.parse().ok()
    };
    lines.map(|rest| number(rest).unwrap_or_else(|| panic!("no number in {rest:?}"))).collect()
}

fn assert_rising(numbers: &[u32], what: &str) {
    for pair in numbers.windows(2) {
        assert!(pair[0] < pair[1], "{what}: {} after {}", pair[1], pair[0]);
    }
}

#[test]
fn the_python_client_flies_ten_seconds_over_a_link_that_loses_doubles_and_mixes() {
    let found = Command::new("python3").arg("--version").stdout(Stdio::null()).status();
    if !found.is_ok_and(|status| status.success()) {
        eprintln!("skipped: there is no python3");
        return;
    }
    let home = Home::new();
    let log = home.path().join("net.log");
    let server = Server::start_in(&home, Ports::native, &["--net-log", &log.display().to_string()]);
    let bad = ["--loss", "10", "--duplicate", "10", "--reorder", "10", "--rtt-ms", "40"];
    let (_lag, address) = Program::lag(server.native().port(), &bad);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/ack_client.py");
    let port = address.port().to_string();
    let output = Command::new("python3")
        .arg(&script)
        .args(["127.0.0.1", &port, "10", "RTYP"])
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{errors}\n{said}");
    server.signal("TERM");
    let (_, told) = server.wait();
    let log = std::fs::read_to_string(&log).unwrap();

    // What it sends is numbered, and what it is told acknowledges ever more of it.
    let sent = numbers(&said, "[Client] INPUT_SENT ");
    let acks = numbers(&said, "[Client] ACK_RECEIVED ");
    assert_eq!(sent, (1..=sent.len() as u32).collect::<Vec<_>>());
    assert_rising(&acks, "acknowledgements");
    assert!(sent.len() > 300 && acks.len() > sent.len() / 4, "{} of {}", acks.len(), sent.len());
    assert!(*acks.last().unwrap() > sent.len() as u32 / 2, "{:?}", acks.last());

    // The link has doubled one in ten and mixed the order; each is taken once at most, in order.
    let received = numbers(&log, "[Server] INPUT_RECV ");
    let processed = numbers(&log, "[Server] INPUT_PROCESS ");
    assert_rising(&received, "received");
    assert_rising(&processed, "processed");
    assert!(acks.iter().all(|ack| processed.contains(ack)), "nothing else is acknowledged");
    let lost: usize = log.lines().filter(|line| line.contains(" lost ")).count();
    assert!(lost > 0 && received.len() < sent.len(), "{lost} of {}", sent.len());
    assert!(log.contains("[Server] SNAPSHOT_SENT tick="), "{told}");
    assert!(said.lines().last().unwrap().contains("phase 2"), "{said}");
}

#[test]
fn our_own_client_flies_in_ack_beside_a_native_host() {
    let (mut host, port) = host(&["--bot", "--name", "Ann", "--difficulty", "easy"]);
    let mut guest = join(port, &["--dialect", "ack", "--bot", "--name", "Ben"]);
    assert_eq!(guest.event("connected")["dialect"], "ack");
    guest.event_where("state", |it| it["ships"] == 2 && it["enemies"].as_u64() > Some(0));
    host.event_where("score", |it| {
        let players = it["players"].as_array().unwrap();
        players.len() == 2 && players.iter().all(|score| score[1].as_i64() > Some(0))
    });
}

#[test]
fn a_search_in_a_dialect_that_has_none_is_refused_in_words() {
    Program::start(&["join", "--dialect", "ack"]).end().failed_with("name the address");
}
