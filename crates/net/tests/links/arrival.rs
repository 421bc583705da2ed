//! States without ticks, drawn by when they arrive.

use std::time::Duration;

use backspin::time::Time;
use backspin::timing::{ArrivalClock, Mark};
use backspin_sim::{Chance, Deliveries, Jitter, Link, LinkConfig, Loss};

/// What a guest sees of a thing that moves by one a second.
struct Seen {
    starved_share: f64,
    delay_ms: f64,
    /// How far it is drawn from where steady motion would have it, 95 in a hundred.
    off_ms: f64,
}

/// Watches states for 60 s, made every `period_ms` and up to `uneven_ms` later.
fn watch(period_ms: f64, uneven_ms: f64, link: LinkConfig, seed: u64) -> Seen {
    let mut chance = Chance::new(seed, 0);
    let mut link = Link::new(link, Chance::new(seed, 1));
    let mut arrivals = Vec::new();
    for index in 0..(60_000.0 / period_ms) as u32 {
        let made_ms = f64::from(index) * period_ms + chance.unit() * uneven_ms;
        let made = Time::from_nanos((made_ms * 1e6) as u64);
        if let Deliveries::Once(at) = link.send(made, &mut [0; 100]) {
            arrivals.push((at, index, made_ms));
        }
    }
    arrivals.sort_by_key(|(at, index, _)| (*at, *index));
    let mut clock = ArrivalClock::new();
    // Stamp and true time of the states to draw between.
    let mut states: Vec<(f64, f64)> = Vec::new();
    let (mut starved, mut frames, mut last) = (0, 0, 0.0);
    let (mut delays, mut offs) = (Vec::new(), Vec::new());
    let mut arrivals = arrivals.into_iter().peekable();
    for frame in 0..3_600u32 {
        let now = Time::from_nanos(u64::from(frame) * 16_666_667);
        while let Some((at, index, made_ms)) = arrivals.next_if(|(at, ..)| *at <= now) {
            if let Some(stamp_s) = clock.handle_state(at, Mark::Number(index)) {
                assert!(states.last().is_none_or(|(newest_s, _)| stamp_s >= *newest_s));
                states.push((stamp_s, made_ms));
            }
        }
        let Some(drawn_s) = clock.drawn(now) else { continue };
        assert!(drawn_s >= last, "it ran back");
        last = drawn_s;
        if frame < 180 {
            continue;
        }
        frames += 1;
        let next = states.partition_point(|(stamp_s, _)| *stamp_s < drawn_s);
        let (Some(to), Some(from)) = (states.get(next), states.get(next - 1)) else {
            starved += 1;
            continue;
        };
        let share = (drawn_s - from.0) / (to.0 - from.0).max(1e-9);
        let shown_ms = from.1 + share * (to.1 - from.1);
        delays.push(now.as_nanos() as f64 / 1e6 - shown_ms);
        offs.push(shown_ms - drawn_s * 1e3);
    }
    delays.sort_by(f64::total_cmp);
    offs.sort_by(f64::total_cmp);
    let middle = offs[offs.len() / 2];
    let mut off: Vec<f64> = offs.iter().map(|off| (off - middle).abs()).collect();
    off.sort_by(f64::total_cmp);
    Seen {
        starved_share: f64::from(starved) / f64::from(frames),
        delay_ms: delays[delays.len() / 2],
        off_ms: off[off.len() * 95 / 100],
    }
}

fn check(name: &str, seen: &Seen, delay_ms: f64, off_ms: f64) {
    let Seen { starved_share, delay_ms: delay, off_ms: off } = seen;
    println!("{name}: starved {starved_share}, delay {delay} ms, off by {off} ms");
    assert!(*starved_share < 0.03, "{name}: {starved_share} of frames starve");
    assert!(*delay < delay_ms, "{name}: {delay} ms behind");
    assert!(*off < off_ms, "{name}: off by {off} ms");
}

#[test]
fn states_of_every_rate_are_drawn_steadily() {
    let lan = LinkConfig {
        delay: Duration::from_micros(250),
        jitter: Jitter::uniform(Duration::from_micros(200)),
        ..LinkConfig::PERFECT
    };
    let far = LinkConfig {
        delay: Duration::from_millis(50),
        jitter: Jitter::uniform(Duration::from_millis(20)),
        loss: Loss::independent(0.05),
        ..LinkConfig::PERFECT
    };
    for seed in 0..3 {
        check("60 a second, lan", &watch(16.667, 0.0, lan, seed), 22.0, 1.0);
        check("1000 a second, lan", &watch(1.0, 0.3, lan, seed), 8.0, 1.0);
        check("17 uneven a second, lan", &watch(59.0, 20.0, lan, seed), 100.0, 12.0);
        check("60 a second, far", &watch(16.667, 0.0, far, seed), 120.0, 8.0);
        check("1000 a second, far", &watch(1.0, 0.3, far, seed), 100.0, 8.0);
        check("17 uneven a second, far", &watch(59.0, 20.0, far, seed), 220.0, 16.0);
    }
}
