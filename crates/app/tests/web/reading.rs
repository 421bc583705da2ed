//! What anyone may read.

use std::time::{Duration, Instant};

use crate::process::{Home, Ports};
use crate::server::{Server, next_event, taken_port};

#[test]
fn every_path_answers_as_what_it_is() {
    let server = Server::start();
    for (path, kind, begins) in [
        ("/", "text/html", "<!doctype html>"),
        ("/page.css", "text/css", ":root {"),
        ("/page.js", "text/javascript", "//"),
        ("/chart.js", "text/javascript", "//"),
        ("/stage.js", "text/javascript", "//"),
        ("/icon.svg", "image/svg+xml", "<svg"),
        ("/healthz", "text/plain", "ok\n"),
        ("/metrics", "text/plain; version=0.0.4", "# HELP backspin_build_info"),
        ("/api/rooms", "application/json", "{\"version\":"),
    ] {
        let reply = server.get(path);
        assert_eq!(reply.code, 200, "{path}");
        assert!(reply.head.contains(&format!("Content-Type: {kind}")), "{path}: {}", reply.head);
        assert!(reply.head.contains("Content-Security-Policy: default-src 'none'"), "{path}");
        assert!(reply.body.starts_with(begins), "{path}: {}", reply.body);
        let len = format!("Content-Length: {}", reply.body.len());
        assert!(reply.head.contains(&len), "{path}: {}", reply.head);
        let head = server.ask(&format!("HEAD {path}"), "");
        assert_eq!((head.code, &*head.body), (200, ""), "{path}");
    }
    assert_eq!(server.get("/nothing").code, 404);
    assert_eq!(server.ask("DELETE /metrics", "").code, 405);
}

#[test]
fn the_page_loads_only_what_the_server_has() {
    let server = Server::start();
    let page = server.get("/").body;
    let links = page.split(['"', '\'']).filter(|text| text.starts_with('/'));
    let links: Vec<_> = links.map(|path| (path, server.get(path).code)).collect();
    assert!(links.len() >= 6 && links.iter().all(|(_, code)| *code == 200), "{links:?}");
    assert!(!page.contains("http://") && !page.contains("https://"));
}

#[test]
fn a_status_comes_every_second() {
    let server = Server::start();
    let mut events = server.follow("/api/events");
    assert_eq!(next_event(&mut events).0, "history");
    let began = Instant::now();
    let numbers: Vec<_> = (0..3)
        .map(|_| {
            let (kind, told) = next_event(&mut events);
            assert_eq!(kind, "status");
            assert_eq!(told["status"]["name"], "den");
            told["status"]["number"].as_u64().unwrap()
        })
        .collect();
    assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
    assert!(began.elapsed() >= Duration::from_millis(900), "{:?}", began.elapsed());
}

#[test]
fn a_room_can_be_watched_at_twenty_to_thirty_scenes_a_second() {
    let server = Server::start();
    let _players = [server.join("Anna"), server.join("Ben")];
    server.wait_for_players(2);
    let mut scenes = server.follow("/api/rooms/1/events");
    let (kind, first) = next_event(&mut scenes);
    assert_eq!(kind, "scene");
    assert_eq!(first["field"], serde_json::json!([1440, 900]));
    let things = first["things"].as_array().unwrap();
    let kinds: Vec<_> = things.iter().map(|thing| thing[0].as_str().unwrap()).collect();
    assert_eq!(kinds, ["paddle", "paddle", "ball"]);
    let mut last = first.clone();
    for _ in 0..60 {
        last = next_event(&mut scenes).1;
    }
    let ticks = last["tick"].as_u64().unwrap() - first["tick"].as_u64().unwrap();
    // Sixty scenes, two or three ticks apart; on a busy machine one is missed now and then.
    assert!((120..=240).contains(&ticks), "{ticks} ticks");
    assert_ne!(last["things"], first["things"], "nothing moves");
    assert_eq!(server.get("/api/rooms/99/events").code, 404);
}

#[test]
fn a_taken_port_stops_the_start_with_a_sentence() {
    let taken = taken_port();
    let at = taken.local_addr().unwrap();
    let home = Home::new();
    let serve = |at: &str| home.serve(Ports::native()).args(["--http", at]).output();
    let output = serve(&at.to_string()).unwrap();
    let sentence = format!(
        "backspin: the page (--http): TCP {at} is in use by another program; stop it or choose \
         another port\n"
    );
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), sentence);
    let output = serve("attic").unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_server_with_a_page_open_still_stops_in_order() {
    let server = Server::start();
    let _open = server.follow("/api/events");
    let _watched = server.follow("/api/rooms/1/events");
    let asked = Instant::now();
    let (code, log) = server.terminate();
    assert_eq!(code, Some(0), "{log}");
    assert!(asked.elapsed() < Duration::from_secs(5), "it took {:?}", asked.elapsed());
}
