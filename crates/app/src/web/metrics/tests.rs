use backspin::wire::Name;

use super::*;
use crate::serve::meter::{Ticks, Traffic};
use crate::web::status::Drops;

fn member() -> MemberStatus {
    MemberStatus {
        player: 2,
        name: Name::new("a\"b\\c\nd"),
        dialect: "native",
        present: true,
        rtt: Some(Duration::from_micros(12_345)),
        loss: Some(0.012_34),
        inputs: 600,
        input_rate: 59.96,
        gaps: Some(3),
        ..MemberStatus::default()
    }
}

fn status() -> Status {
    let mut ticks = Ticks::default();
    for micros in [50, 51, 900, 200_000] {
        ticks.work.count_in(Duration::from_micros(micros));
    }
    let room = RoomStatus {
        room: 1,
        name: Name::new("Pong 1"),
        game: "Pong",
        capacity: 2,
        tick: 9,
        tick_rate: 60,
        bots: Vec::new(),
        members: vec![member()],
    };
    let mut dropped = Drops { unsent: 4, ..Drops::default() };
    dropped.front.malformed = 7;
    Status {
        number: 1,
        uptime: Duration::from_millis(1_500),
        traffic: Traffic { bytes_out: 99, ..Traffic::default() },
        ticks,
        dropped,
        rooms: vec![room],
        ..Status::default()
    }
}

#[track_caller]
fn has(text: &str, line: &str) {
    assert!(text.lines().any(|found| found == line), "no line {line} in\n{text}");
}

#[test]
fn every_number_stands_on_its_line() {
    let text = text(&status());
    has(&text, "backspin_uptime_seconds 1.5");
    has(&text, "backspin_bytes_total{direction=\"out\"} 99");
    has(&text, "backspin_datagrams_dropped_total{reason=\"malformed\"} 7");
    has(&text, "backspin_datagrams_dropped_total{reason=\"unsent\"} 4");
    has(&text, "backspin_rooms{game=\"Pong\"} 1");
    has(&text, "backspin_room_players{room=\"1\",name=\"Pong 1\",game=\"Pong\"} 1");
}

#[test]
fn a_name_cannot_end_its_label_or_its_line() {
    // A line break is shown as what it is before it is escaped.
    let name = "a\\\"b\\\\c\\\\u{a}d";
    let labels =
        format!("room=\"1\",player=\"2\",name=\"{name}\",dialect=\"native\",role=\"play\"");
    let text = text(&status());
    has(&text, &format!("backspin_player_round_trip_seconds{{{labels}}} 0.012345"));
    has(&text, &format!("backspin_player_loss_ratio{{{labels}}} 0.0123"));
    has(&text, &format!("backspin_player_input_rate{{{labels}}} 60"));
    has(&text, &format!("backspin_player_input_gaps_total{{{labels}}} 3"));
    // What is not known is not told.
    assert!(!text.contains("player_jitter_seconds{"));
    let mut raw = String::new();
    write!(Escaped(&mut raw), "a\nb").unwrap();
    assert_eq!(raw, "a\\nb");
}

#[test]
fn buckets_count_everything_up_to_their_bound() {
    let text = text(&status());
    has(&text, "backspin_tick_seconds_bucket{le=\"0.00005\"} 1");
    has(&text, "backspin_tick_seconds_bucket{le=\"0.0001\"} 2");
    has(&text, "backspin_tick_seconds_bucket{le=\"0.001\"} 3");
    has(&text, "backspin_tick_seconds_bucket{le=\"0.1\"} 3");
    has(&text, "backspin_tick_seconds_bucket{le=\"+Inf\"} 4");
    has(&text, "backspin_tick_seconds_count 4");
    has(&text, "backspin_tick_seconds_sum 0.201001");
}

#[test]
fn every_metric_says_what_it_is_before_its_first_line() {
    let text = text(&status());
    let mut told = Vec::new();
    for line in text.lines() {
        match line.strip_prefix("# TYPE ") {
            Some(kind) => told.push(kind.split(' ').next().unwrap()),
            None if line.starts_with('#') => {}
            None => {
                let name = line.split(['{', ' ']).next().unwrap();
                let base = ["_bucket", "_sum", "_count"];
                let base = base.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
                let newest = *told.last().unwrap();
                assert!(newest == name || newest == base, "{line} behind {newest}");
            }
        }
    }
    let mut once = told.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), told.len(), "a metric is told twice");
}
