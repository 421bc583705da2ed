//! `backspin sim --dialects`: what a guest sees who does not speak `native`, in a table.

use std::error::Error;
use std::io::{self, Write};
use std::time::Duration;

use backspin_classic::Dialect;
use backspin_classic::ack::Ack;
use backspin_classic::lan::Lan;
use backspin_classic::rtype::Rtype;
use backspin_pong::Pong;
use backspin_rtype::{Opening, RType};
use backspin_sim::{Bar, Pool, Report, Setup};

use super::link::LinkWords;
use super::show::cell;
use super::{Args, crew};

/// How far away, in ms.
const ROUND_TRIPS: [u64; 3] = [40, 100, 200];

/// The default length of a match. One of Networked Pong ends at five points, mostly after half
/// a minute, and then nothing moves.
const SECONDS: u32 = 15;

/// The only match that a guest of Networked Pong understands.
const PONG: Pong = Pong { points: 5, doubles: false, countdown: 0 };

/// A guest that takes fewer states per second is not in the match.
const STATES_PER_S: u64 = 10;

/// Who plays what.
const GUESTS: [(Dialect, &str); 4] = [
    (Dialect::Lan, "Pong"),
    (Dialect::Rtype, "R-Type"),
    (Dialect::Ack, "Pong"),
    (Dialect::Ack, "R-Type"),
];

/// Runs the command: `lan` in Pong, `rtype` in R-Type and `ack` in both, each with another player in `native`.
/// The link is the one that was asked for, but for its round trip.
pub(super) fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let base = Setup { seconds: args.seconds.unwrap_or(SECONDS), ..args.setup()? };
    let seeds = args.seeds.unwrap_or(1);
    let mut out = io::stdout().lock();
    writeln!(out, "2 players, {} s, seeds {} on: {seeds}\n", base.seconds, base.seed)?;
    writeln!(
        out,
        "| guest | link | states a second | drawing delay, median | p95 | starved | own corrected \
         by \\> 1 px | jumps |\n|---|---|--:|--:|--:|--:|--:|--:|"
    )?;
    for (dialect, game) in GUESTS {
        for rtt_ms in ROUND_TRIPS {
            let link = base.link.with_rtt(Duration::from_millis(rtt_ms));
            let setup = Setup { link, ..base };
            let setups = crew::with_seeds(&setup, seeds);
            let rtype = RType { opening: Opening::AtOnce, ..RType::default() };
            let reports = match (dialect, game) {
                (Dialect::Ack, "Pong") => crew::play_all_speaking(PONG, &setups, &[&Ack]),
                (Dialect::Ack, _) => crew::play_all_speaking(rtype, &setups, &[&Ack]),
                (_, "Pong") => crew::play_all_speaking(PONG, &setups, &[&Lan]),
                _ => crew::play_all_speaking(rtype, &setups, &[&Rtype]),
            };
            for (setup, report) in setups.iter().zip(&reports) {
                check(dialect, setup, report)?;
            }
            let words = format!("`{dialect}`, {game} | {}", LinkWords::of(&link));
            writeln!(out, "| {words} {}", row(&Pool::new(Bar::of(&setup), &reports), &reports))?;
        }
    }
    Ok(())
}

/// Whether the guest was in the match all the time, with something to see and to steer.
fn check(dialect: Dialect, setup: &Setup, report: &Report) -> Result<(), String> {
    let seconds = u64::from(setup.seconds);
    let tally = &report.tally;
    if tally.states >= seconds * STATES_PER_S && tally.drawn > tally.frames && tally.inputs > 0 {
        return Ok(());
    }
    Err(format!(
        "the `{dialect}` guest did not get into the match, or not for long (seed {}, {} ms away): in \
         {seconds} s it took {} states, made {} inputs, and {} things were drawn in {} frames",
        setup.seed,
        setup.link.delay.as_millis() * 2,
        tally.states,
        tally.inputs,
        tally.drawn,
        tally.frames
    ))
}

fn row(pool: &Pool, reports: &[Report]) -> String {
    let (pooled, median) = (pool.pooled(), pool.median());
    let sum = |of: fn(&Report) -> u64| reports.iter().map(of).sum::<u64>() as f64;
    let states_per_s = sum(|it| it.tally.states) / sum(|it| it.tally.player_seconds);
    [
        cell(Some(states_per_s), 1, ""),
        cell(median.draw_delay_ms_p50, 1, " ms"),
        cell(median.draw_delay_ms_p95, 1, " ms"),
        cell(pooled.starved_frames_pct, 2, " %"),
        cell(pooled.corrections_over_1px_pct, 2, " %"),
        cell(pooled.visible_jump_pct, 3, " %"),
    ]
    .concat()
        + "|"
}
