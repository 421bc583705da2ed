use std::sync::mpsc::{Receiver, sync_channel};

use backspin::chat::{ChatLine, ChatText};

use super::*;
use crate::web::request::Head;
use crate::web::status::RoomStatus;

fn site(token: Option<&str>, limit: usize) -> (Site, Receiver<Command>) {
    let (commands, done) = sync_channel(limit);
    (Site::new(token.map(str::to_owned), commands, Bans::default()), done)
}

fn key(text: &str) -> LimitKey {
    LimitKey::from(text.parse::<IpAddr>().unwrap())
}

fn status() -> Status {
    let address = Some(key("::ffff:192.0.2.7"));
    let name = backspin::wire::Name::new("Anna");
    let member =
        MemberStatus { player: 2, name, address, present: true, ..MemberStatus::default() };
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
        members: vec![member],
    };
    Status { number: 1, rooms: vec![room], ..Status::default() }
}

fn ask(site: &mut Site, line: &str, fields: &str) -> Answer {
    let text = format!("{line} HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n");
    let Head::Whole(request) = Head::read(text.as_bytes()) else { panic!("{text}") };
    let (client, counts) = ("192.0.2.1".parse().unwrap(), PageCounts::default());
    let asked =
        Asked { request: &request, client, now: Instant::now(), age: Duration::ZERO, counts };
    site.answer(&asked, &status())
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
    let (mut site, _done) = site(None, 1);
    let paths = ["/", "/page.css", "/page.js", "/chart.js", "/stage.js", "/icon.svg"];
    for path in paths.iter().chain(&["/healthz", "/metrics", "/api/rooms", "/?x=1"]) {
        assert_eq!(code(&ask(&mut site, &format!("GET {path}"), "")), Code::OK, "{path}");
        assert_eq!(code(&ask(&mut site, &format!("HEAD {path}"), "")), Code::OK, "{path}");
        let posted = ask(&mut site, &format!("POST {path}"), "");
        assert_eq!(code(&posted), Code::METHOD_NOT_ALLOWED, "{path}");
    }
    assert_eq!(ask(&mut site, "GET /api/events", ""), Answer::Stream(Topic::Status));
    assert_eq!(ask(&mut site, "GET /api/rooms/1/events", ""), Answer::Stream(Topic::Room(1)));
    let missing = ["/x", "//", "/../page.js", "/api/rooms/0/events", "/api/rooms/2/events"];
    for path in missing.iter().chain(&["/api/rooms/+1/events", "/api/rooms//events", "/page"]) {
        assert_eq!(code(&ask(&mut site, &format!("GET {path}"), "")), Code::NOT_FOUND, "{path}");
    }
}

const KICK: &str = "POST /api/rooms/1/players/2/kick";
const GOOD: &str = "Authorization: Bearer s3cret\r\n";

#[test]
fn without_a_token_nothing_can_be_changed() {
    let (mut site, done) = site(None, 1);
    for line in [KICK, "POST /api/drain"] {
        assert_eq!(code(&ask(&mut site, line, GOOD)), Code::NOT_FOUND);
    }
    assert!(done.try_recv().is_err());
}

#[test]
fn a_wrong_token_changes_nothing_and_the_right_one_does() {
    let (mut site, done) = site(Some("s3cret"), 2);
    for fields in ["", "Authorization: Bearer s3cre\r\n", "Authorization: Bearer s3crets\r\n"] {
        assert_eq!(code(&ask(&mut site, KICK, fields)), Code::UNAUTHORIZED, "{fields}");
    }
    let foreign = format!("{GOOD}Origin: http://evil.example\r\n");
    assert_eq!(code(&ask(&mut site, KICK, &foreign)), Code::FORBIDDEN);
    assert_eq!(code(&ask(&mut site, "GET /api/drain", GOOD)), Code::METHOD_NOT_ALLOWED);
    assert_eq!(code(&ask(&mut site, "POST /api/rooms/1/players/3/kick", GOOD)), Code::NOT_FOUND);
    assert_eq!(code(&ask(&mut site, "POST /api/rooms/2/players/2/kick", GOOD)), Code::NOT_FOUND);
    assert!(done.try_recv().is_err());
    assert_eq!(code(&ask(&mut site, KICK, GOOD)), Code::ACCEPTED);
    assert_eq!(code(&ask(&mut site, "POST /api/drain", GOOD)), Code::ACCEPTED);
    // The loop has not taken them yet, and there is no place for more.
    assert_eq!(code(&ask(&mut site, KICK, GOOD)), Code::SERVICE_UNAVAILABLE);
    assert_eq!(done.try_recv(), Ok(Command::Kick { room: 1, player: PlayerId(2) }));
    assert_eq!(done.try_recv(), Ok(Command::Drain));
}

#[test]
fn a_drain_can_be_undone() {
    let (mut site, done) = site(Some("s3cret"), 2);
    assert_eq!(code(&ask(&mut site, "DELETE /api/drain", "")), Code::UNAUTHORIZED);
    assert_eq!(code(&ask(&mut site, "DELETE /api/drain", GOOD)), Code::ACCEPTED);
    assert_eq!(done.try_recv(), Ok(Command::Undrain));
}

/// What `/api/bans` says.
fn listed(site: &mut Site) -> serde_json::Value {
    let Answer::Reply(reply) = ask(site, "GET /api/bans", GOOD) else { panic!("a stream") };
    let text = String::from_utf8(reply.encode(crate::web::reply::WithBody::Yes)).unwrap();
    serde_json::from_str(text.split_once("\r\n\r\n").unwrap().1).unwrap()
}

#[test]
fn a_kick_can_last_and_is_lifted_again() {
    let (mut site, done) = site(Some("s3cret"), 4);
    for (query, lasts) in
        [("minutes=60", Some(Duration::from_secs(3600))), ("minutes=forever", None)]
    {
        assert_eq!(code(&ask(&mut site, &format!("{KICK}?{query}"), GOOD)), Code::ACCEPTED);
        let Ok(Command::Ban { address, lasts: sent }) = done.try_recv() else { panic!("no ban") };
        assert_eq!((address.to_string(), sent), ("192.0.2.7".into(), lasts));
    }
    let told = listed(&mut site);
    assert_eq!(told["bans"].as_array().unwrap().len(), 1, "{told}");
    assert_eq!(
        (&told["bans"][0]["address"], &told["bans"][0]["name"]),
        (&"192.0.2.7".into(), &"Anna".into())
    );
    assert!(told["bans"][0]["until_unix_ms"].is_null());
    assert_eq!(code(&ask(&mut site, "DELETE /api/bans/192.0.2.8", GOOD)), Code::NOT_FOUND);
    assert_eq!(code(&ask(&mut site, "DELETE /api/bans/192.0.2.7", GOOD)), Code::ACCEPTED);
    assert_eq!(done.try_recv(), Ok(Command::LiftBan(key("192.0.2.7"))));
    assert_eq!(listed(&mut site)["bans"].as_array().unwrap().len(), 0);
}

#[test]
fn an_address_can_be_banned_by_itself() {
    let (mut site, done) = site(Some("s3cret"), 4);
    let network = key("2001:db8:0:1::");
    let line = "POST /api/bans/2001:db8:0:1::5?minutes=1";
    assert_eq!(code(&ask(&mut site, line, GOOD)), Code::ACCEPTED);
    let lasts = Some(Duration::from_secs(60));
    assert_eq!(done.try_recv(), Ok(Command::Ban { address: network, lasts }));
    assert_eq!(listed(&mut site)["bans"][0]["address"], "2001:db8:0:1::/64");
    assert_eq!(code(&ask(&mut site, "DELETE /api/bans/2001:db8:0:1::/64", GOOD)), Code::ACCEPTED);
    assert_eq!(done.try_recv(), Ok(Command::LiftBan(network)));
    for query in ["", "?minutes=0", "?minutes=-1", "?minutes=5256001", "?minutes=", "?hours=1"] {
        let line = format!("POST /api/bans/192.0.2.7{query}");
        assert_eq!(code(&ask(&mut site, &line, GOOD)), Code::BAD_REQUEST, "{query}");
    }
    assert_eq!(
        code(&ask(&mut site, "POST /api/bans/192.0.2.7?minutes=5256000", GOOD)),
        Code::ACCEPTED
    );
    for path in ["host", "", "192.0.2.7/64", "192.0.2.7/8"] {
        let line = format!("POST /api/bans/{path}?minutes=1");
        assert_eq!(code(&ask(&mut site, &line, GOOD)), Code::NOT_FOUND, "{path}");
    }
    assert_eq!(code(&ask(&mut site, &format!("{KICK}?minutes=x"), GOOD)), Code::BAD_REQUEST);
}

#[test]
fn who_is_banned_is_told_to_the_operator_alone() {
    let (mut site, _done) = site(Some("s3cret"), 1);
    assert_eq!(code(&ask(&mut site, "GET /api/bans", "")), Code::UNAUTHORIZED);
    assert_eq!(code(&ask(&mut site, "GET /api/bans", GOOD)), Code::OK);
    assert_eq!(code(&ask(&mut site, "POST /api/bans", GOOD)), Code::METHOD_NOT_ALLOWED);
    assert!(!site.told(&status()).contains("192.0.2"), "an address is told to anyone");
}

#[test]
fn a_loop_that_says_nothing_is_ill() {
    let well = |age, draining| health(&Status { draining, ..status() }, age).code;
    assert_eq!(well(Duration::ZERO, false), Code::OK);
    assert_eq!(well(HEALTHY - Duration::from_nanos(1), true), Code::OK);
    assert_eq!(well(HEALTHY, false), Code::SERVICE_UNAVAILABLE);
}

#[test]
fn chat_is_read_with_the_token_alone_and_shown_with_care() {
    let (mut site, _done) = site(Some("s3cret"), 1);
    let mut status = status();
    status.rooms[0].chat = vec![ChatLine {
        player: PlayerId(2),
        name: Name::new("Anna"),
        text: ChatText::new("<b>hi</b> \u{202e}olleh").unwrap(),
    }];
    let mut read = |fields: &str| {
        let text = format!("GET /api/chat HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n");
        let Head::Whole(request) = Head::read(text.as_bytes()) else { panic!("{text}") };
        let (client, counts) = ("192.0.2.1".parse().unwrap(), PageCounts::default());
        let asked =
            Asked { request: &request, client, now: Instant::now(), age: Duration::ZERO, counts };
        match site.answer(&asked, &status) {
            Answer::Reply(reply) => reply,
            Answer::Stream(topic) => panic!("a stream about {topic:?}"),
        }
    };
    assert_eq!(read("").code, Code::UNAUTHORIZED);
    let reply = read("Authorization: Bearer s3cret\r\n");
    assert_eq!(reply.code, Code::OK);
    let lines: serde_json::Value = serde_json::from_str(&reply.body).unwrap();
    assert_eq!(lines[0]["name"], "Anna");
    assert_eq!(lines[0]["text"], "<b>hi</b> \\u{202e}olleh", "the page shows it as text");
    // Nobody else reads it: neither on the page nor for machines.
    let told = serde_json::to_string(&status).unwrap();
    assert!(!told.contains("olleh"), "{told}");
}
