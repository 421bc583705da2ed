//! What players feel over the reference link, and what it costs.

use std::time::Duration;

use backspin_rtype::{Opening, RType};
use backspin_sim::{LinkConfig, Preset, Report, Setup, measure_with};

fn measured(game: RType, link: LinkConfig, players: u8, seconds: u32) -> Report {
    let setup = Setup { players, seconds, ..Setup::new(link, 1) };
    let report = measure_with(game, &setup);
    println!("{report}");
    report
}

fn match_at_once() -> RType {
    RType { opening: Opening::AtOnce, ..RType::default() }
}

#[test]
fn with_every_input_on_time_nothing_is_corrected() {
    let clean = LinkConfig::default().with_rtt(Duration::from_millis(100));
    let report = measured(match_at_once(), clean, 2, 60);
    assert_eq!(report.tally.ticks_without_input.count(), 0);
    assert_eq!(report.corrections.ticks, 0, "{:?}", report.corrections);
}

/// `cargo test -p backspin-rtype --release --test quality -- --ignored --nocapture`
#[test]
#[ignore = "a table for the notes"]
fn over_the_reference_link() {
    println!("a match of four");
    measured(match_at_once(), Preset::Reference.config(), 4, 120);
    println!("64 things");
    measured(RType { swarm: 64, ..RType::default() }, Preset::Reference.config(), 4, 120);
}
