//! Those who ask too much, too slowly, or for someone else.

use std::io::Write;
use std::time::Instant;

use crate::server::{PATIENCE, Server};

#[test]
fn a_request_that_is_too_large_is_refused_and_the_next_is_answered() {
    let server = Server::start();
    let long = format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(100_000));
    assert_eq!(server.send(long.as_bytes()).code, 431);
    let fields = "A: b\r\n".repeat(65);
    assert_eq!(server.ask("GET /", &fields).code, 431);
    assert_eq!(server.ask("POST /api/drain", "Content-Length: 9\r\n").code, 413);
    assert_eq!(server.ask("GET /", "Transfer-Encoding: chunked\r\n").code, 413);
    assert_eq!(server.send(b"\x01\x03\0\0\x27\r\n\r\n").code, 400);
    assert_eq!(server.get("/healthz").code, 200);
}

#[test]
fn another_name_for_this_machine_is_not_believed() {
    let server = Server::start();
    let port = server.page.port();
    let to = |host: &str| {
        let request = format!("GET /api/rooms HTTP/1.1\r\nHost: {host}\r\n\r\n");
        server.send(request.as_bytes()).code
    };
    assert_eq!(to(&format!("localhost:{port}")), 200);
    assert_eq!(to(&format!("127.0.0.1:{port}")), 200);
    assert_eq!(to(&format!("rebound.example:{port}")), 421);
    assert_eq!(server.send(b"GET /api/rooms HTTP/1.1\r\n\r\n").code, 421);
}

#[test]
fn the_match_goes_on_while_many_ask_slowly_or_never_read() {
    let server = Server::start();
    let _players = [server.join("Anna"), server.join("Ben")];
    let before = server.wait_for_players(2);
    // Half a request each, and streams that nobody reads.
    let halves: Vec<_> = (0..20)
        .map(|_| {
            let mut stream = server.connect();
            stream.write_all(b"GET / HTTP/1.1\r\nHost: local").unwrap();
            stream
        })
        .collect();
    let unread: Vec<_> = (0..20)
        .map(|_| {
            let mut stream = server.connect();
            let path = "/api/rooms/1/events";
            write!(stream, "GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", server.page).unwrap();
            stream
        })
        .collect();
    let limit = Instant::now() + PATIENCE;
    let (mut after, mut asked) = (server.told(), 0);
    while after["number"].as_u64().unwrap() < before["number"].as_u64().unwrap() + 4 {
        assert_eq!(server.get("/metrics").code, 200);
        after = server.told();
        asked += 2;
        assert!(Instant::now() < limit, "{asked} requests, and the loop says nothing");
    }
    let ticks = |told: &serde_json::Value| told["rooms"][0]["tick"].as_f64().unwrap();
    let millis = |told: &serde_json::Value| told["uptime_ms"].as_f64().unwrap();
    let rate = (ticks(&after) - ticks(&before)) / (millis(&after) - millis(&before)) * 1e3;
    assert!((50.0..=70.0).contains(&rate), "{rate} ticks a second, {asked} requests");
    assert_eq!(after["rooms"][0]["members"].as_array().unwrap().len(), 2);
    drop((halves, unread));
}
