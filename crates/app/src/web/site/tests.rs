use std::sync::mpsc::{Receiver, sync_channel};

use super::*;
use crate::web::request::Head;
use crate::web::status::RoomStatus;

fn site(token: Option<&str>, limit: usize) -> (Site, Receiver<Command>) {
    let (commands, done) = sync_channel(limit);
    (Site { token: token.map(str::to_owned), commands }, done)
}

fn status() -> Status {
    let member = MemberStatus { player: 2, present: true, ..MemberStatus::default() };
    let room = RoomStatus {
        room: 1,
        name: backspin::wire::Name::new("one"),
        game: "Pong",
        capacity: 2,
        tick: 1,
        tick_rate: 60,
        bots: Vec::new(),
        members: vec![member],
    };
    Status { number: 1, rooms: vec![room], ..Status::default() }
}

fn ask(site: &Site, line: &str, fields: &str) -> Answer {
    let text = format!("{line} HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n");
    let Head::Whole(request) = Head::read(text.as_bytes()) else { panic!("{text}") };
    site.answer(&request, &status(), Duration::ZERO)
}

#[track_caller]
fn code(answer: &Answer) -> Code {
    match answer {
        Answer::Reply(reply) => reply.code,
        Answer::Stream(topic) => panic!("a stream about {topic:?}"),
    }
}

#[test]
fn every_path_is_there_and_no_other() {
    let (site, _done) = site(None, 1);
    let paths = ["/", "/page.css", "/page.js", "/chart.js", "/stage.js", "/icon.svg"];
    for path in paths.iter().chain(&["/healthz", "/metrics", "/api/rooms", "/?x=1"]) {
        assert_eq!(code(&ask(&site, &format!("GET {path}"), "")), Code::Ok, "{path}");
        assert_eq!(code(&ask(&site, &format!("HEAD {path}"), "")), Code::Ok, "{path}");
        let posted = ask(&site, &format!("POST {path}"), "");
        assert_eq!(code(&posted), Code::MethodNotAllowed, "{path}");
    }
    assert_eq!(ask(&site, "GET /api/events", ""), Answer::Stream(Topic::Status));
    assert_eq!(ask(&site, "GET /api/rooms/1/events", ""), Answer::Stream(Topic::Room(1)));
    let missing = ["/x", "//", "/../page.js", "/api/rooms/0/events", "/api/rooms/2/events"];
    for path in missing.iter().chain(&["/api/rooms/+1/events", "/api/rooms//events", "/page"]) {
        assert_eq!(code(&ask(&site, &format!("GET {path}"), "")), Code::NotFound, "{path}");
    }
}

const KICK: &str = "POST /api/rooms/1/players/2/kick";
const GOOD: &str = "Authorization: Bearer s3cret\r\n";

#[test]
fn without_a_token_nothing_can_be_changed() {
    let (site, done) = site(None, 1);
    for line in [KICK, "POST /api/drain"] {
        assert_eq!(code(&ask(&site, line, GOOD)), Code::NotFound);
    }
    assert!(done.try_recv().is_err());
}

#[test]
fn a_wrong_token_changes_nothing_and_the_right_one_does() {
    let (site, done) = site(Some("s3cret"), 2);
    for fields in ["", "Authorization: Bearer s3cre\r\n", "Authorization: Bearer s3crets\r\n"] {
        assert_eq!(code(&ask(&site, KICK, fields)), Code::Unauthorized, "{fields}");
    }
    let foreign = format!("{GOOD}Origin: http://evil.example\r\n");
    assert_eq!(code(&ask(&site, KICK, &foreign)), Code::Forbidden);
    assert_eq!(code(&ask(&site, "GET /api/drain", GOOD)), Code::MethodNotAllowed);
    assert_eq!(code(&ask(&site, "POST /api/rooms/1/players/3/kick", GOOD)), Code::NotFound);
    assert_eq!(code(&ask(&site, "POST /api/rooms/2/players/2/kick", GOOD)), Code::NotFound);
    assert!(done.try_recv().is_err());
    assert_eq!(code(&ask(&site, KICK, GOOD)), Code::Accepted);
    assert_eq!(code(&ask(&site, "POST /api/drain", GOOD)), Code::Accepted);
    // The loop has not taken them yet, and there is no place for more.
    assert_eq!(code(&ask(&site, KICK, GOOD)), Code::ServiceUnavailable);
    assert_eq!(done.try_recv(), Ok(Command::Kick { room: 1, player: PlayerId(2) }));
    assert_eq!(done.try_recv(), Ok(Command::Drain));
}

#[test]
fn a_loop_that_says_nothing_is_ill() {
    let well = |age, draining| health(&Status { draining, ..status() }, age).code;
    assert_eq!(well(Duration::ZERO, false), Code::Ok);
    assert_eq!(well(HEALTHY - Duration::from_nanos(1), true), Code::Ok);
    assert_eq!(well(HEALTHY, false), Code::ServiceUnavailable);
}
