//! `backspin sim --dialects`: what a guest of an old program's kind sees, in a table.

use std::error::Error;
use std::io::{self, Write};
use std::time::Duration;

use backspin::sim::{Bar, Pool, Setup};
use backspin::wire::Dialect;

use super::link::LinkWords;
use super::{Args, crew};

/// How far away, in ms.
const ROUND_TRIPS: [u64; 3] = [40, 100, 200];

/// Runs the command: `lan` in Pong and `rtype` in R-Type, each with another player in `native`.
pub(super) fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let base = args.setup()?;
    let seeds = args.seeds.unwrap_or(1);
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "| dialect | link | drawing delay, median | p95 | own corrected by \\> 1 px | jumps | \
         contacts otherwise |\n|---|---|--:|--:|--:|--:|--:|"
    )?;
    for dialect in [Dialect::Lan, Dialect::Rtype] {
        for rtt_ms in ROUND_TRIPS {
            let link = base.link.with_rtt(Duration::from_millis(rtt_ms));
            let setup = Setup { link, dialect, ..base };
            let setups = crew::with_seeds(&setup, seeds);
            let reports = match dialect {
                Dialect::Lan => crew::play_all(args.pong(), &setups),
                _ => crew::play_all(args.rtype(), &setups),
            };
            let pool = Pool::new(Bar::of(&setup), &reports);
            let (pooled, median) = (pool.pooled(), pool.median());
            if pooled.corrections_over_1px_pct.is_none() {
                return Err(format!("the `{dialect}` guest did not get into the match").into());
            }
            let cell = |value: Option<f64>, digits: usize, unit: &str| match value {
                Some(value) => format!("{value:.digits$} {unit}"),
                None => "-".to_owned(),
            };
            writeln!(
                out,
                "| `{dialect}` | {} | {} | {} | {} | {} | {} |",
                LinkWords::of(&link),
                cell(median.draw_delay_ms_p50, 1, "ms"),
                cell(median.draw_delay_ms_p95, 1, "ms"),
                cell(pooled.corrections_over_1px_pct, 3, "%"),
                cell(pooled.visible_jump_pct, 3, "%"),
                cell(pooled.contact_disagreement_pct, 2, "%"),
            )?;
        }
    }
    writeln!(
        out,
        "\nThe delay is the client's own account: states of these dialects carry no ticks. Nothing\n\
         is acknowledged and nothing rewound for `lan`, so what is predicted is corrected more often."
    )?;
    Ok(())
}
