use backspin::wire::Name;

use super::*;
use crate::serve::meter::{Ticks, Traffic};
use crate::web::status::{Drops, RoomStatus};

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
        skipped_ticks: 0,
        slow: false,
        left_out: 0,
        last_left_out: None,
        chat: Vec::new(),
        bots: Vec::new(),
        members: vec![member()],
    };
    let mut dropped = Drops { unsent: 4, ..Drops::default() };
    dropped.endpoint.malformed = 7;
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
    let refused = Refused { tokens: 6, ..Refused::default() };
    let text = text(&status(), &PageCounts { bans: 3, refused, ..PageCounts::default() });
    has(&text, "backspin_uptime_seconds 1.5");
    has(&text, "backspin_bytes_total{direction=\"out\"} 99");
    has(&text, "backspin_datagrams_dropped_total{reason=\"malformed\"} 7");
    has(&text, "backspin_datagrams_dropped_total{reason=\"unsent\"} 4");
    has(&text, "backspin_rooms{game=\"Pong\"} 1");
    has(&text, "backspin_players{game=\"Pong\"} 1");
    has(&text, "backspin_spectators{game=\"Pong\"} 0");
    has(&text, "backspin_bans 3");
    has(&text, "backspin_left_out_total{limit=\"byte_budget\"} 0");
    has(&text, "backspin_http_refused_total{reason=\"token\"} 6");
}

#[test]
fn every_reason_to_drop_has_a_line() {
    let text = text(&status(), &PageCounts::default());
    let told = text.lines().filter(|line| line.starts_with("backspin_datagrams_dropped_total{"));
    assert_eq!(told.count(), Drops::default().by_reason().len());
    has(&text, "backspin_datagrams_dropped_total{reason=\"password_limit\"} 0");
    has(&text, "backspin_datagrams_dropped_total{reason=\"banned\"} 0");
}

#[test]
fn players_are_told_by_rank_and_in_sum_and_never_by_name() {
    let mut status = status();
    let rtts = [90, 10, 30, 20].map(|ms| Some(Duration::from_millis(ms)));
    let members = rtts.map(|rtt| MemberStatus { rtt, gap_rate: 0.5, ..member() });
    status.rooms[0].members = members.into();
    status.rooms[0].members.push(MemberStatus { watches: true, ..member() });
    let text = text(&status, &PageCounts::default());
    has(&text, "backspin_player_round_trip_seconds{rank=\"median\"} 0.02");
    has(&text, "backspin_player_round_trip_seconds{rank=\"worst\"} 0.09");
    has(&text, "backspin_player_loss_ratio{rank=\"p95\"} 0.0123");
    has(&text, "backspin_inputs_per_second 239.8");
    has(&text, "backspin_input_gaps_per_second 2");
    has(&text, "backspin_spectators{game=\"Pong\"} 1");
    // What is not known is not told.
    assert!(!text.contains("player_jitter_seconds{"));
    assert!(!text.contains("a\\\"b") && !text.contains("Pong 1"), "{text}");
}

#[test]
fn buckets_count_everything_up_to_their_bound() {
    let text = text(&status(), &PageCounts::default());
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
    let text = text(&status(), &PageCounts::default());
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
