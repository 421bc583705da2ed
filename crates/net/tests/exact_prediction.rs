//! With every input on time and nobody else's doing, what the server says is what was predicted,
//! to the bit.

use std::time::Duration;

use backspin_sim::dot::Dots;
use backspin_sim::{Corrections, LinkConfig, Loss, Measured, Setup, check_rules, measure_with};

#[path = "../examples/tag/rules.rs"]
#[allow(dead_code)]
pub mod tag;

impl Measured for tag::Tag {}

/// One player, 100 ms there and back, nothing lost; the clocks drift by up to 200 ppm.
fn assert_exact<G: Measured + Copy>(game: G) {
    let link = LinkConfig::PERFECT.with_rtt(Duration::from_millis(100));
    // A build without optimisation is slow, and the first prediction is as good as any.
    let seconds = if cfg!(debug_assertions) { 5 } else { 60 };
    for seed in 1..=100 {
        let setup = Setup { players: 1, seconds, ..Setup::new(link, seed) };
        let report = measure_with(game, &setup);
        assert_eq!(report.quality.ticks_without_input_pct, Some(0.0), "seed {seed}");
        assert_eq!(report.corrections, Corrections::default(), "seed {seed}");
        assert_eq!(report.quality.corrections_over_1px_pct, Some(0.0), "seed {seed}");
    }
}

#[test]
fn dots_that_are_alone_are_never_corrected() {
    assert_exact(Dots::default());
}

#[test]
fn runners_that_are_alone_are_never_corrected() {
    assert_exact(tag::Tag);
}

/// Where inputs are lost there is something to count.
#[test]
fn corrections_are_counted_where_there_are_some() {
    let link = LinkConfig {
        loss: Loss::bursts(0.05, 10.0),
        ..LinkConfig::PERFECT.with_rtt(Duration::from_millis(100))
    };
    let report = measure_with(tag::Tag, &Setup { players: 1, seconds: 60, ..Setup::new(link, 1) });
    assert!(report.corrections.ticks > 0 && report.corrections.furthest > 0.0, "{report}");
}

#[test]
fn the_rules_of_tag_hold() {
    let checked = check_rules::<tag::Tag>().unwrap_or_else(|error| panic!("{error}"));
    assert!(checked.events > 100, "{checked}");
}
