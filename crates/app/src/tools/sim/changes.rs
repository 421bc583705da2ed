//! `backspin sim --changes`: one match for each way in which links change, in a table.

use std::error::Error;
use std::io::{self, Write};

use backspin_sim::{Change, Quality, Setup};

use super::link::LinkWords;
use super::show::cell;
use super::{Args, crew};
use backspin_sim::{Bar, Pool};

/// Runs the command: the changes are made to the link that was asked for.
pub(super) fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let base = args.setup()?;
    let seeds = args.seeds.unwrap_or(1);
    let setups: Vec<Setup> = Change::ALL
        .iter()
        .flat_map(|(_, change)| crew::with_seeds(&Setup { change: Some(*change), ..base }, seeds))
        .collect();
    let reports = args.play_all(&setups);
    let mut out = io::stdout().lock();
    let (game, players, seconds) = (args.game.name(), base.players, base.seconds);
    writeln!(out, "{game}, {players} players, {seconds} s, seeds {} on: {seeds}", base.seed)?;
    writeln!(out, "link: {}\n", LinkWords::new(&base))?;
    writeln!(
        out,
        "| change | recovery, median | worst | lead back | slowest | fastest | no input | starved | corrected \
         | jumps |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    )?;
    for ((name, change), reports) in Change::ALL.iter().zip(reports.chunks(seeds as usize)) {
        let bar = Bar::of(&Setup { change: Some(*change), ..base });
        let pool = Pool::new(bar, reports);
        writeln!(out, "| {name}: {change} {}", row(&pool.median(), &pool.worst(), &pool.pooled()))?;
    }
    writeln!(
        out,
        "\nRecovery must be within 2 s, playback from 0.95 to 1.05 (a machine that slept jumps to\n\
         where the match is), and a correction is faded: jumps are at most 0.05 % of frames."
    )?;
    Ok(())
}

fn row(median: &Quality, worst: &Quality, pooled: &Quality) -> String {
    [
        cell(median.recovery_s, 2, " s"),
        cell(worst.recovery_s, 2, " s"),
        cell(worst.lead_back_s, 2, " s"),
        cell(worst.playback_rate_min, 3, ""),
        cell(worst.playback_rate_max, 3, ""),
        cell(pooled.ticks_without_input_pct, 2, " %"),
        cell(pooled.starved_frames_pct, 2, " %"),
        cell(pooled.corrections_over_1px_pct, 3, " %"),
        cell(pooled.visible_jump_pct, 3, " %"),
    ]
    .concat()
        + "|"
}
