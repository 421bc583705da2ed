//! The page's thread on real sockets, with made-up statuses.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::{Duration, Instant};

use backspin::game::Game;
use backspin::replication::State;
use backspin_pong::Pong;

use super::board::Scene;
use super::connection::ASK_WITHIN;
use super::desk::STREAM_LIMIT;
use super::status::{RoomStatus, Status};
use super::visitors::{ADDRESS_LIMIT, CONNECTION_LIMIT, HEALTH_RESERVE, LOOPBACK_RESERVE};
use super::*;

/// What never takes so long, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

fn page() -> Page {
    page_behind("")
}

/// A page that believes these proxies.
fn page_behind(proxies: &str) -> Page {
    let at = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let config = PageConfig { at, token: Some("s3cret".into()), proxies: proxies.parse().unwrap() };
    Page::open(config, Bans::default(), Time::ZERO).unwrap()
}

fn put_status(page: &Page, number: u64) {
    let room = RoomStatus {
        room: 1,
        name: backspin::wire::Name::new("one"),
        game: "Pong",
        capacity: 2,
        tick: 1,
        tick_rate: 60,
        skipped_ticks: 0,
        slow: false,
        left_out: 0,
        last_left_out: None,
        chat: Vec::new(),
        bots: Vec::new(),
        members: Vec::new(),
    };
    let uptime = Duration::from_secs(number);
    let status = Status { number, uptime, rooms: vec![room], ..Status::default() };
    page.board.put_status(Arc::new(status));
}

/// Puts up a scene; the page is woken as by the loop.
fn put_scene(page: &Page, tick: u32) {
    let game = Pong::default();
    let mut state = State::new(tick);
    game.capture(&game.begin(0), &mut state);
    page.board.put_scene(1, Scene { game: game.id(), tick_rate: 60, state });
    page.board.wake();
}

fn is_watched(page: &Page) -> bool {
    let mut rooms = Vec::new();
    page.board.list_watched(&mut rooms);
    !rooms.is_empty()
}

fn connect(page: &Page) -> TcpStream {
    let stream = TcpStream::connect(page.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

fn ask(page: &Page, path: &str) -> TcpStream {
    let mut stream = connect(page);
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", page.address).unwrap();
    stream
}

fn get(page: &Page, path: &str) -> String {
    let mut text = String::new();
    ask(page, path).read_to_string(&mut text).unwrap();
    text
}

/// Reads until `wanted` has come.
#[track_caller]
fn read_until(stream: &mut TcpStream, wanted: &str) -> String {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let count = stream.read(&mut buffer).unwrap();
        assert_ne!(count, 0, "it ended before {wanted:?}");
        bytes.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&bytes);
        if text.contains(wanted) {
            return text.into_owned();
        }
    }
}

/// Waits for what another thread does.
#[track_caller]
fn wait_for(mut happens: impl FnMut() -> bool) {
    let limit = Instant::now() + PATIENCE;
    while !happens() {
        assert!(Instant::now() < limit, "it does not happen");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_stream_begins_with_what_was_and_goes_on_with_what_is_new() {
    let page = page();
    // What the page has not seen it cannot tell.
    for number in 1..=3 {
        put_status(&page, number);
        let told = format!("\"number\":{number},");
        wait_for(|| get(&page, "/api/rooms").contains(&told));
    }
    let mut stream = ask(&page, "/api/events");
    let text = read_until(&mut stream, "\"number\":3,");
    assert!(text.contains("Content-Type: text/event-stream\r\n"), "{text}");
    assert!(text.contains("event: history\ndata: [{\"uptime_s\":2.0,"), "{text}");
    put_status(&page, 4);
    let text = read_until(&mut stream, "\"number\":4,");
    assert!(!text.contains("history"), "{text}");
}

#[test]
fn a_room_is_watched_for_as_long_as_someone_reads() {
    let page = page();
    put_status(&page, 1);
    assert!(!is_watched(&page));
    let mut stream = ask(&page, "/api/rooms/1/events");
    read_until(&mut stream, "retry");
    assert!(is_watched(&page));
    put_scene(&page, 7);
    let text = read_until(&mut stream, "\"tick\":7,");
    assert!(text.contains("event: scene\ndata: {"), "{text}");
    drop(stream);
    wait_for(|| !is_watched(&page));
    assert!(page.board.scene(1).is_none(), "an old scene is left behind");
}

/// Asks as someone at `client` would, behind a proxy.
fn ask_for(page: &Page, client: &str, line: &str, fields: &str) -> TcpStream {
    let mut stream = connect(page);
    let host = page.address;
    write!(stream, "{line} HTTP/1.1\r\nHost: {host}\r\nX-Forwarded-For: {client}\r\n{fields}\r\n")
        .unwrap();
    stream
}

fn answer_for(page: &Page, client: &str, line: &str, fields: &str) -> String {
    let mut text = String::new();
    ask_for(page, client, line, fields).read_to_string(&mut text).unwrap();
    text
}

/// Connections that are open and say nothing, until all of them have their places.
fn idle(page: &Page, count: usize) -> Vec<TcpStream> {
    let open: Vec<_> = (0..count).map(|_| connect(page)).collect();
    // They are taken in their order: when one behind them is answered, they have been.
    assert!(get(page, "/healthz").starts_with("HTTP/1.1 200 "));
    open
}

#[test]
fn one_connection_too_many_is_told_so_and_places_become_free_again() {
    let page = page();
    put_status(&page, 1);
    let open = idle(&page, CONNECTION_LIMIT + LOOPBACK_RESERVE);
    let text = get(&page, "/metrics");
    assert!(text.starts_with("HTTP/1.1 503 ") && text.contains("Retry-After: 5\r\n"), "{text}");
    // Whoever looks after the server is answered, and whoever waits for nothing makes room.
    assert!(get(&page, "/healthz").starts_with("HTTP/1.1 200 "));
    let waiting: Vec<_> = (0..2 * HEALTH_RESERVE).map(|_| connect(&page)).collect();
    assert!(get(&page, "/healthz").starts_with("HTTP/1.1 200 "));
    drop((open, waiting));
    wait_for(|| get(&page, "/metrics").starts_with("HTTP/1.1 200 "));
}

#[test]
fn an_address_that_holds_its_share_leaves_the_others_theirs() {
    let page = page_behind("127.0.0.1");
    put_status(&page, 1);
    let events = "GET /api/events";
    let mut streams: Vec<_> =
        (0..ADDRESS_LIMIT).map(|_| ask_for(&page, "203.0.113.7", events, "")).collect();
    streams.iter_mut().for_each(|stream| drop(read_until(stream, "event: status")));
    let refused = answer_for(&page, "203.0.113.7", "GET /metrics", "");
    assert!(refused.starts_with("HTTP/1.1 429 "), "{refused}");
    assert!(answer_for(&page, "203.0.113.8", "GET /metrics", "").starts_with("HTTP/1.1 200 "));
    assert!(answer_for(&page, "203.0.113.7", "GET /healthz", "").starts_with("HTTP/1.1 200 "));
    // What it claims to ask for is its own word.
    let forged = answer_for(&page, "203.0.113.8, 203.0.113.7", "GET /metrics", "");
    assert!(forged.starts_with("HTTP/1.1 429 "), "{forged}");
    assert!(get(&page, "/metrics").contains("http_refused_total{reason=\"address\"} 2\n"));
}

#[test]
fn this_machine_is_answered_when_others_have_taken_every_place() {
    let page = page_behind("127.0.0.1");
    put_status(&page, 1);
    let mut streams = Vec::new();
    for n in 0..STREAM_LIMIT {
        let client = format!("203.0.113.{}", n / ADDRESS_LIMIT);
        streams.push(ask_for(&page, &client, "GET /api/events", ""));
    }
    streams.iter_mut().for_each(|stream| drop(read_until(stream, "event: status")));
    let _half = idle(&page, CONNECTION_LIMIT - STREAM_LIMIT);
    let text = answer_for(&page, "203.0.113.200", "GET /metrics", "");
    assert!(text.starts_with("HTTP/1.1 503 "), "{text}");
    assert!(get(&page, "/metrics").starts_with("HTTP/1.1 200 "));
    assert!(answer_for(&page, "203.0.113.200", "GET /healthz", "").starts_with("HTTP/1.1 200 "));
}

#[test]
fn five_wrong_tokens_are_enough_for_a_minute_and_others_may_still_try() {
    let page = page_behind("127.0.0.1");
    put_status(&page, 1);
    let drain = |client: &str, token: &str| {
        let fields = format!("Authorization: Bearer {token}\r\n");
        answer_for(&page, client, "POST /api/drain", &fields)
    };
    // No token at all is no try.
    assert!(answer_for(&page, "2001:db8::1", "POST /api/drain", "").starts_with("HTTP/1.1 401 "));
    for n in 0..5 {
        let text = drain(&format!("2001:db8::{n}"), "guess");
        assert!(text.starts_with("HTTP/1.1 401 "), "{n}: {text}");
    }
    // The right one does not help now: who guesses is not to learn when it is.
    for token in ["guess", "s3cret"] {
        let text = drain("2001:db8::ffff", token);
        assert!(text.starts_with("HTTP/1.1 429 "), "{text}");
        assert!(text.contains("Retry-After: ") && text.contains("Too many wrong tokens"), "{text}");
    }
    assert!(drain("2001:db8:0:1::1", "s3cret").starts_with("HTTP/1.1 202 "));
    assert!(get(&page, "/metrics").contains("http_refused_total{reason=\"token\"} 7\n"));
}

#[test]
fn streams_leave_connections_for_requests() {
    let page = page();
    put_status(&page, 1);
    let mut streams: Vec<_> = (0..STREAM_LIMIT).map(|_| ask(&page, "/api/events")).collect();
    streams.iter_mut().for_each(|stream| drop(read_until(stream, "event: status")));
    let text = get(&page, "/api/events");
    assert!(text.starts_with("HTTP/1.1 503 "), "{text}");
    assert!(get(&page, "/metrics").starts_with("HTTP/1.1 200 "));
    streams.pop();
    wait_for(|| {
        let mut first = [0; 12];
        ask(&page, "/api/events").read_exact(&mut first).unwrap();
        &first == b"HTTP/1.1 200"
    });
}

#[test]
fn who_does_not_read_misses_what_was_new_and_holds_nobody_up() {
    let page = page();
    put_status(&page, 1);
    let mut lazy = ask(&page, "/api/rooms/1/events");
    let mut quick = ask(&page, "/api/rooms/1/events");
    read_until(&mut lazy, "retry");
    read_until(&mut quick, "retry");
    // More than the system keeps for one who does not read.
    let scenes = 60_000;
    for tick in 1..=scenes {
        put_scene(&page, tick);
        if tick % 1_000 == 0 {
            read_until(&mut quick, &format!("\"tick\":{tick},"));
        }
    }
    let text = read_until(&mut lazy, &format!("\"tick\":{scenes},"));
    let got = text.matches("event: scene").count();
    assert!(got < scenes as usize, "all {got} scenes were kept for one who did not read");
}

#[test]
fn half_a_request_is_not_waited_for() {
    let page = page();
    put_status(&page, 1);
    let asked = Instant::now();
    let mut slow = connect(&page);
    slow.write_all(b"GET / HT").unwrap();
    assert!(get(&page, "/healthz").starts_with("HTTP/1.1 200 "));
    let mut text = String::new();
    slow.read_to_string(&mut text).unwrap();
    assert!(text.starts_with("HTTP/1.1 408 "), "{text}");
    assert!(asked.elapsed() >= ASK_WITHIN);
}

#[test]
fn a_page_that_is_dropped_ends_its_streams() {
    let page = page();
    put_status(&page, 1);
    let mut stream = ask(&page, "/api/events");
    read_until(&mut stream, "event: status");
    drop(page);
    let mut rest = Vec::new();
    // Whether in order or not, it is over.
    let _ = stream.read_to_end(&mut rest);
}
