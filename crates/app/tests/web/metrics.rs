//! `/metrics`, read as Prometheus reads it, and held against `/api/rooms`.

use std::collections::BTreeMap;
use std::time::Instant;

use serde_json::Value;

use crate::server::{PATIENCE, Server};

/// Every line by its name and labels.
type Metrics = BTreeMap<String, f64>;

/// Reads the text format, version 0.0.4, and nothing that is not in it.
fn parse(text: &str) -> Metrics {
    let mut metrics = Metrics::new();
    let mut kinds = BTreeMap::new();
    assert!(text.ends_with('\n'));
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
            assert!(kinds.insert(name.to_owned(), kind).is_none(), "told twice: {line}");
            continue;
        }
        if line.starts_with("# HELP ") {
            continue;
        }
        let (series, value) = line.rsplit_once(' ').unwrap();
        let name = series.split('{').next().unwrap();
        assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{line}");
        let base = ["_bucket", "_sum", "_count"];
        let base = base.iter().find_map(|end| name.strip_suffix(end));
        let is_known = kinds.contains_key(name)
            || base.is_some_and(|base| kinds.get(base).is_some_and(|kind| *kind == "histogram"));
        assert!(is_known, "{line} has no type");
        assert!(metrics.insert(series.to_owned(), value.parse().unwrap()).is_none(), "{line}");
    }
    metrics
}

/// What both say about the same moment.
fn both(server: &Server) -> (Metrics, Value) {
    let limit = Instant::now() + PATIENCE;
    loop {
        let before = server.told();
        let metrics = parse(&server.get("/metrics").body);
        if server.told()["number"] == before["number"] {
            return (metrics, before);
        }
        assert!(Instant::now() < limit, "no two looks see the same");
    }
}

#[test]
fn the_numbers_are_those_of_the_rooms() {
    let server = Server::start();
    let _players = [server.join("An\"na\\"), server.join("Ben")];
    server.wait_for_players(2);
    let (metrics, told) = both(&server);
    let same = |series: &str, value: &Value, unit: f64| {
        let metric = metrics.get(series).unwrap_or_else(|| panic!("no {series}: {metrics:#?}"));
        let value = value.as_f64().unwrap_or_else(|| panic!("{series}: {value}"));
        assert!((metric - value * unit).abs() < 1e-9, "{series}: {metric}, not {value}");
    };
    same("backspin_uptime_seconds", &told["uptime_ms"], 1e-3);
    same("backspin_sessions", &told["sessions"], 1.0);
    let [late, held_up] =
        ["late", "late_by_machine"].map(|kind| told["ticks"][kind].as_u64().unwrap());
    for (cause, count) in [("server", late - held_up), ("machine", held_up)] {
        same(&format!("backspin_ticks_late_total{{cause=\"{cause}\"}}"), &count.into(), 1.0);
    }
    same("backspin_ticks_skipped_total", &told["skipped_ticks"], 1.0);
    same("backspin_tick_seconds_count", &told["ticks"]["count"], 1.0);
    for (direction, way) in [("in", "in"), ("out", "out")] {
        let labels = format!("{{direction=\"{direction}\"}}");
        same(
            &format!("backspin_bytes_total{labels}"),
            &told["traffic"][format!("bytes_{way}")],
            1.0,
        );
        let datagrams = &told["traffic"][format!("datagrams_{way}")];
        same(&format!("backspin_datagrams_total{labels}"), datagrams, 1.0);
    }
    for (reason, count) in told["dropped"].as_object().unwrap() {
        let series = format!("backspin_datagrams_dropped_total{{reason=\"{reason}\"}}");
        same(&series, count, 1.0);
    }
    same("backspin_players{game=\"Pong\"}", &2.into(), 1.0);
    let members = told["rooms"][0]["members"].as_array().unwrap();
    for (metric, field, unit) in [
        ("round_trip_seconds", "rtt_ms", 1e-3),
        ("jitter_seconds", "jitter_ms", 1e-3),
        ("loss_ratio", "loss", 1.0),
    ] {
        let mut values: Vec<_> = members.iter().map(|m| m[field].as_f64().unwrap()).collect();
        values.sort_unstable_by(f64::total_cmp);
        for (rank, value) in [("median", values[0]), ("p95", values[1]), ("worst", values[1])] {
            same(&format!("backspin_player_{metric}{{rank=\"{rank}\"}}"), &value.into(), unit);
        }
    }
    // Each of the two is rounded to a tenth there, and their sum here.
    for (metric, field) in [("inputs", "input_rate"), ("input_gaps", "gap_rate")] {
        let sum: f64 = members.iter().map(|member| member[field].as_f64().unwrap()).sum();
        let metric = metrics[&format!("backspin_{metric}_per_second")];
        assert!((metric - sum).abs() < 0.151, "{field}: {metric}, not {sum}");
    }
    assert!(metrics.keys().all(|series| !series.contains("Ben")), "{metrics:#?}");
}

#[test]
fn the_numbers_are_those_of_a_match_that_goes_on() {
    let server = Server::start();
    let _players = [server.join("Anna"), server.join("Ben")];
    let told = server.wait_for_players(2);
    let later = server.wait_for(|later| {
        later["number"].as_u64().unwrap() >= told["number"].as_u64().unwrap() + 3
    });
    let number = |of: &Value| of.as_f64().unwrap();
    let seconds = (number(&later["uptime_ms"]) - number(&told["uptime_ms"])) / 1e3;
    let gained = |pointer: &str| {
        let at = |of: &Value| number(of.pointer(pointer).unwrap());
        (at(&later) - at(&told)) / seconds
    };
    // Sixty ticks a second, each with an input and a snapshot for two. A busy machine lets some go,
    // so that what is counted twice or in another unit shows, and no more.
    for (pointer, a_second) in [
        ("/rooms/0/tick", 60.0),
        ("/rooms/0/members/0/inputs", 60.0),
        ("/traffic/datagrams_in", 120.0),
        ("/traffic/datagrams_out", 120.0),
    ] {
        let got = gained(pointer);
        assert!((0.25 * a_second..1.6 * a_second).contains(&got), "{pointer}: {got} a second");
    }
    // Rooms that were opened at different times tick at different times.
    let rooms = later["rooms"].as_array().unwrap().len() as f64;
    let ticks = gained("/ticks/count");
    assert!((15.0..96.0 * rooms).contains(&ticks), "{ticks} ticks a second in {rooms} rooms");
    for member in later["rooms"][0]["members"].as_array().unwrap() {
        let rtt = number(&member["rtt_ms"]);
        assert!((0.001..1_000.0).contains(&rtt), "on one machine it takes {rtt} ms");
    }
}
