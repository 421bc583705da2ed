//! Clients whose own thread wakes late: a busy machine is a link, too.

use std::time::Duration;

use backspin_sim::dot::Dots;
use backspin_sim::{Bar, Lateness, Pool, Quality, Setup, measure_with};

const SEEDS: u64 = 6;

/// What two players feel over the reference link, their clients as late as said.
fn feel(lateness: Option<Lateness>) -> Quality {
    let setups = (1..=SEEDS).map(|seed| Setup { seed, lateness, ..Setup::default() });
    let reports: Vec<_> = setups.map(|setup| measure_with(Dots::default(), &setup)).collect();
    let pool = Pool::new(Bar::of(&Setup::default()), &reports);
    let (pooled, median) = (pool.pooled(), pool.median());
    let quality = Quality {
        lead_ms_p50: median.lead_ms_p50,
        draw_delay_ms_p50: median.draw_delay_ms_p50,
        ..pooled
    };
    println!("{lateness:?}, seeds 1 to {SEEDS}: {quality:?}");
    quality
}

#[track_caller]
fn assert_at_most(what: &str, value: Option<f64>, limit: f64) {
    let value = value.expect("it is measured");
    assert!(value <= limit, "{what}: {value} is over {limit}");
}

#[test]
fn a_thread_that_wakes_up_to_20_ms_late_one_time_in_ten_keeps_the_figures() {
    let most = Duration::from_millis(20);
    let felt = feel(Some(Lateness { share: 0.1, most }));
    assert_at_most("ticks without input, %", felt.ticks_without_input_pct, 0.1);
    assert_at_most("starved frames, %", felt.starved_frames_pct, 0.3);
    assert_at_most("corrections, %", felt.corrections_over_1px_pct, 0.05);
    // As if the link's jitter were so much wider, at most; mostly the room for lost datagrams does.
    assert_at_most("lead, ms", felt.lead_ms_p50, 107.3 + 5.0);
    assert_at_most("drawing delay, ms", felt.draw_delay_ms_p50, 55.8 + 5.0);
}

#[test]
fn stalls_that_come_every_few_seconds_are_made_room_for() {
    // With some 120 wake-ups a second, one every three seconds, or two a second.
    for (share, most_ms) in [(0.003, 80), (0.02, 60)] {
        let felt = feel(Some(Lateness { share, most: Duration::from_millis(most_ms) }));
        assert_at_most("ticks without input, %", felt.ticks_without_input_pct, 0.5);
        assert_at_most("starved frames, %", felt.starved_frames_pct, 1.0);
    }
}

#[test]
fn own_things_do_not_leap_when_the_thread_is_late_by_a_tick() {
    let late = |ms| Lateness { share: 0.1, most: Duration::from_millis(ms) };
    assert_at_most("jumps, %", feel(Some(late(16))).visible_jump_pct, 0.2);
}
