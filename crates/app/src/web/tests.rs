//! The page's thread on real sockets, with statuses that are made up here.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::{Duration, Instant};

use backspin::game::Game;
use backspin::replica::State;
use backspin_pong::Pong;

use super::board::Scene;
use super::connection::ASK_WITHIN;
use super::desk::{CONNECTION_LIMIT, STREAM_LIMIT};
use super::status::{RoomStatus, Status};
use super::*;

/// What never takes so long, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

fn page() -> Page {
    let at = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    Page::open(at, None, Time::ZERO).unwrap()
}

fn put_status(page: &Page, number: u64) {
    let room = RoomStatus {
        room: 1,
        name: backspin::wire::Name::new("one"),
        game: "Pong",
        capacity: 2,
        tick: 1,
        tick_rate: 60,
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

#[test]
fn one_connection_too_many_is_told_so_and_places_become_free_again() {
    let page = page();
    put_status(&page, 1);
    let mut open: Vec<_> = (0..CONNECTION_LIMIT).map(|_| connect(&page)).collect();
    // The last of them has its place: so have all before it.
    let last = open.last_mut().unwrap();
    write!(last, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let text = read_until(last, "\r\n\r\n");
    assert!(text.starts_with("HTTP/1.1 200 "), "{text}");
    open.push(connect(&page));
    let mut text = String::new();
    // The place of the last may be free already; then two fill it.
    open.push(connect(&page));
    open.push(connect(&page));
    open.last_mut().unwrap().read_to_string(&mut text).unwrap();
    assert!(text.starts_with("HTTP/1.1 503 "), "{text}");
    drop(open);
    wait_for(|| {
        let mut text = String::new();
        let read = ask(&page, "/healthz").read_to_string(&mut text);
        read.is_ok() && text.starts_with("HTTP/1.1 200 ")
    });
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
