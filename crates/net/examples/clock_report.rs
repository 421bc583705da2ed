//! Prints what a player feels of the clocks on every link: 100 seeds of 120 s, or as many as
//! the arguments say.
//!
//! ```text
//! cargo run --release --example clock_report -- [SEEDS] [SECONDS]
//! ```

#[path = "../tests/clocks/scene.rs"]
mod scene;

use std::time::Duration;

use backspin_sim::{Jitter, LinkConfig, Loss, Preset};
use scene::{Felt, Scenario, percentile, play};

fn main() {
    let mut numbers = std::env::args().skip(1).map(|arg| arg.parse().expect("a number"));
    let seeds: u64 = numbers.next().unwrap_or(100);
    let seconds = numbers.next().unwrap_or(120) as u32;
    let reference = Preset::Reference.config();
    let bursts = LinkConfig { loss: Loss::bursts(0.05, 3.0), ..reference };
    let quiet = LinkConfig { jitter: Jitter::NONE, loss: Loss::NONE, ..reference };
    let step = Duration::from_millis(50);
    let mut bursts_step = Scenario::new(bursts, seconds).with_rtt_step(step);
    bursts_step.bad_share = 0.15;

    println!("{HEAD}");
    row("reference", &Scenario::new(reference, seconds), seeds);
    row("  bursts of 3", &Scenario::new(bursts, seconds), seeds);
    row("  100/0/0", &Scenario::new(quiet, seconds), seeds);
    row("  +50 ms", &Scenario::new(reference, seconds).with_rtt_step(step), seeds);
    row("  bursts +50 ms", &bursts_step, seeds);
    row("  100/0/0 +50 ms", &Scenario::new(quiet, seconds).with_rtt_step(step), seeds);
    let slower = LinkConfig { delay: reference.delay + step, ..reference };
    let mut swaying = Scenario::new(reference, seconds);
    swaying.changes =
        (1..seconds / 5).map(|i| (i * 5, if i % 2 == 0 { reference } else { slower })).collect();
    row("  +-100 ms each 5 s", &swaying, seeds);
    let mut fading = Scenario::new(quiet, seconds);
    fading.changes =
        (1..seconds / 10).map(|i| (i * 10, if i % 2 == 0 { quiet } else { reference })).collect();
    row("  0/0 or 20/5, 10 s", &fading, seeds);
    for preset in Preset::ALL.into_iter().filter(|preset| *preset != Preset::Reference) {
        row(preset.name(), &Scenario::new(preset.config(), seconds), seeds);
    }
}

const HEAD: &str = "\
link                 no input% starved%  lead p50 worst   p95   ack p50 worst   p99 worst  \
draw p50 worst   p95  clock p99 worst  recovery worst  ahead rates  behind rates";

fn row(name: &str, scenario: &Scenario, seeds: u64) {
    let runs: Vec<Felt> = (1..=seeds).map(|seed| play(scenario, seed)).collect();
    let pooled = |part: fn(&Felt) -> u32, whole: fn(&Felt) -> u32| {
        let sum = |count: fn(&Felt) -> u32| f64::from(runs.iter().map(count).sum::<u32>());
        sum(part) / sum(whole) * 100.0
    };
    let figure = |figure: &dyn Fn(&Felt) -> f64| {
        let all: Vec<f64> = runs.iter().map(figure).collect();
        (percentile(&all, 50.0), percentile(&all, 100.0))
    };
    let lead = figure(&|felt| percentile(&felt.lead, 50.0));
    let lead95 = figure(&|felt| percentile(&felt.lead, 95.0));
    let ack = figure(&|felt| percentile(&felt.ack, 50.0));
    let ack99 = figure(&|felt| percentile(&felt.ack, 99.0));
    let draw = figure(&|felt| percentile(&felt.draw_delay, 50.0));
    let draw95 = figure(&|felt| percentile(&felt.draw_delay, 95.0));
    let clock = figure(&|felt| percentile(&felt.clock_error, 99.0));
    let recovery = figure(&|felt| felt.recovery_s);
    let rates = |rates: fn(&Felt) -> &Vec<f64>| {
        let low = runs.iter().flat_map(rates).copied().fold(f64::INFINITY, f64::min);
        let high = runs.iter().flat_map(rates).copied().fold(0.0, f64::max);
        format!("{low:.3}-{high:.3}")
    };
    println!(
        "{name:<20} {:>9.3} {:>8.3}  {:>8.1} {:>5.1} {:>5.1}   {:>7.1} {:>5.1} {:>5.1} {:>5.1}  \
         {:>8.1} {:>5.1} {:>5.1}  {:>9.1} {:>5.1}  {:>8.1} {:>5.1}  {} {}",
        pooled(|felt| felt.ticks_without_input, |felt| felt.ticks),
        pooled(|felt| felt.starved_frames, |felt| felt.frames),
        lead.0,
        lead.1,
        lead95.0,
        ack.0,
        ack.1,
        ack99.0,
        ack99.1,
        draw.0,
        draw.1,
        draw95.0,
        clock.0,
        clock.1,
        recovery.0,
        recovery.1,
        rates(|felt| &felt.ahead_rates),
        rates(|felt| &felt.behind_rates),
    );
}
