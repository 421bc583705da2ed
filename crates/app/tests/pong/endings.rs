//! What goes wrong, and what is said then: each a sentence that says what to do, and exit code 1.

use std::net::{Ipv4Addr, UdpSocket};
use std::time::{Duration, Instant};

use crate::field::Field;
use crate::lan::{FIND_HOST, STILL, State, guest_input, receive};
use crate::lan_guest::Guest;
use crate::lan_host::{Host, port_of};
use crate::program::{HERE, Program, free_port, host, join, socket};

#[test]
fn a_taken_port_is_told() {
    let other = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
    let port = port_of(&other).to_string();
    let ended = Program::start(&["host", "--port", &port]).end();
    ended.failed_with("is in use by another program");
    assert!(ended.stderr.contains(&port), "{}", ended.stderr);
}

#[test]
fn what_is_no_address_is_told_with_what_to_write() {
    for (address, words) in [
        ("no-such-host.invalid", "check the spelling"),
        ("attic:99999", "numbers from 1 to 65535"),
        ("[::1", "write IPv6 with a port like"),
    ] {
        Program::start(&["join", address]).end().failed_with(words);
        Program::start(&["watch", address]).end().failed_with(words);
    }
}

#[test]
fn a_full_match_is_told() {
    let (_host, port) = host(&[]);
    let mut first = join(port, &[]);
    first.event("connected");
    join(port, &[]).end().failed_with("The server is full");
    let number = port.to_string();
    let ended = Program::start(&["join", "--port", &number, "--seconds", "2"]).end();
    assert_eq!(ended.event("discovered").unwrap()["players"], 2);
    ended.failed_with("is full; try again later");
}

/// All of this waits for someone who says nothing, so it waits at once.
#[test]
fn every_silence_ends_and_is_told() {
    let claims: [fn(); 11] = [
        a_search_goes_on_until_a_host_is_there_or_someone_stops_it,
        nobody_at_the_address,
        nobody_to_watch,
        nobody_on_the_network,
        a_lan_host_that_plays_with_someone_else,
        a_lan_host_that_falls_silent_is_lost_after_ten_seconds,
        a_lan_host_whose_match_was_over_is_no_loss,
        a_silent_lan_guest_gets_the_states_it_has_paid_for_and_loses_its_place_after_ten_seconds,
        a_lan_guest_that_quits_is_missed_after_ten_seconds,
        a_lan_host_that_quits_is_missed_after_ten_seconds,
        a_host_that_was_killed,
    ];
    std::thread::scope(|scope| {
        for claim in claims {
            scope.spawn(claim);
        }
    });
}

fn nobody_at_the_address() {
    let port = free_port();
    let ended = join(port, &[]).end();
    ended.failed_with(&format!("127.0.0.1:{port}"));
    assert!(ended.stderr.contains("Check the address"), "{}", ended.stderr);
}

fn nobody_to_watch() {
    let port = free_port();
    let ended = Program::start(&["watch", &format!("127.0.0.1:{port}")]).end();
    ended.failed_with(&format!("No answer from 127.0.0.1:{port}"));
}

fn nobody_on_the_network() {
    let port = free_port().to_string();
    let ended = Program::start(&["join", "--port", &port, "--seconds", "3"]).end();
    ended.failed_with("backspin pong host");
}

/// Longer than the fifteen seconds after which nobody used to look any more.
fn a_search_goes_on_until_a_host_is_there_or_someone_stops_it() {
    let port = free_port().to_string();
    let mut stopped = Program::start(&["join", "--port", &port]);
    let mut patient = Program::start(&["join", "--port", &port]);
    assert!(stopped.event("searching")["seconds"].as_u64().unwrap() >= 5);
    stopped.interrupt();
    let ended = stopped.end();
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    patient.event_where("searching", |event| event["seconds"].as_u64().unwrap() >= 15);
    let _host = Program::start(&["host", "--port", &port]);
    assert_eq!(patient.event("connected")["player"], 2);
}

fn a_lan_host_that_plays_with_someone_else() {
    let (_host, port) = host(&[]);
    let guest = Guest::new(port);
    guest.join();
    join(port, &["--dialect", "lan"]).end().failed_with("someone else");
}

fn a_lan_host_that_falls_silent_is_lost_after_ten_seconds() {
    let socket = socket();
    let mut guest = join(port_of(&socket), &["--dialect", "lan"]);
    let host = Host::meet(socket, 0);
    host.show(&Field::new().state(0));
    guest.event("state");
    let began = Instant::now();
    let ended = guest.end();
    let silence = began.elapsed();
    assert!(silence >= Duration::from_millis(9_900), "lost after {silence:?}");
    ended.failed_with("Connection to server lost");
    let reason = ended.event("disconnected").unwrap()["reason"].as_str().unwrap();
    assert!(reason.starts_with("Connection to server lost"), "{reason}");
}

fn a_lan_host_whose_match_was_over_is_no_loss() {
    let socket = socket();
    let mut guest = join(port_of(&socket), &["--dialect", "lan"]);
    let host = Host::meet(socket, 0);
    host.show(&State { score: [5, 2], ..Field::new().state(9) });
    assert_eq!(guest.event("game_over")["winner"], 1);
    assert_eq!(guest.end().code, Some(0));
}

fn a_silent_lan_guest_gets_the_states_it_has_paid_for_and_loses_its_place_after_ten_seconds() {
    let (mut host, port) = host(&[]);
    let guest = Guest::new(port);
    guest.join();
    host.event_where("connected", |event| event["player"] == 2);
    // State 0 came with HELLO_ACK; whoever says nothing gets no more, and two inputs are worth three.
    guest.ear.set_read_timeout(Some(Duration::from_millis(1_500))).unwrap();
    let until_silence = |guest: &Guest| {
        let mut count = 0;
        while guest.ear.recv_from(&mut [0; 64]).is_ok() {
            count += 1;
        }
        count
    };
    assert_eq!(until_silence(&guest), 0);
    guest.say(&guest_input(STILL));
    guest.say(&guest_input(STILL));
    let spoke = Instant::now();
    assert_eq!(until_silence(&guest), 3);

    let gone = host.event_where("disconnected", |event| event["player"] == 2);
    assert!(gone["reason"].as_str().unwrap().contains("timed out"), "{gone}");
    let silence = spoke.elapsed();
    assert!(silence >= Duration::from_millis(9_900), "dropped after {silence:?}");

    // The dialect has no way back: the place is anyone's.
    let asker = socket();
    asker.send_to(&FIND_HOST, (HERE, port)).unwrap();
    assert_eq!(receive(&asker).0.len(), 8);
    let next = Guest::new(port);
    assert_eq!(next.join(), Field::new().state(0));
}

fn a_lan_guest_that_quits_is_missed_after_ten_seconds() {
    let (mut host, port) = host(&[]);
    let mut guest = join(port, &["--dialect", "lan"]);
    guest.event("state");
    guest.say("quit");
    assert_eq!(guest.end().code, Some(0));
    let gone = host.event("disconnected");
    assert_eq!(gone["player"], 2);
    assert!(gone["reason"].as_str().unwrap().contains("timed out"), "{gone}");
    let mut next = join(port, &["--dialect", "lan"]);
    assert_eq!(next.event("connected")["player"], 2);
}

fn a_lan_host_that_quits_is_missed_after_ten_seconds() {
    let (mut host, port) = host(&[]);
    let mut guest = join(port, &["--dialect", "lan"]);
    guest.event("state");
    host.say("quit");
    assert_eq!(host.end().code, Some(0));
    guest.end().failed_with("Connection to server lost");
}

/// A guest tries to come back for as long as its place may be kept, then gives up.
fn a_host_that_was_killed() {
    let (mut host, port) = host(&[]);
    let mut guest = join(port, &[]);
    guest.event("state");
    host.kill();
    let killed = Instant::now();
    let trying = guest.event("trying");
    assert!(trying["seconds_left"].as_f64().unwrap() > 20.0, "{trying}");
    let ended = guest.end_within(Duration::from_secs(60));
    ended.failed_with("Connection to server lost");
    let after = killed.elapsed();
    assert!(after > Duration::from_secs(35), "given up after {after:?}");
}
