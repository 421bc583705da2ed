//! What is told of measured matches: a table for people, an object for programs.

use std::io::{self, Write};

use backspin::sim::{Bar, Pool, Quality, Report, Setup};
use serde::Serialize;

use super::Args;
use super::link::LinkWords;
use crate::tools::paint::Paint;

/// What there is to tell.
#[derive(Clone, Copy)]
pub(super) enum Shown<'a> {
    One(&'a Report),
    Pool(&'a Pool),
}

#[derive(Serialize)]
struct OneJson {
    game: &'static str,
    seed: u64,
    seconds: u32,
    link: LinkWords,
    digest: String,
    quality: Quality,
}

#[derive(Serialize)]
struct PoolJson {
    game: &'static str,
    /// How many.
    seeds: usize,
    seconds: u32,
    link: LinkWords,
    pooled: Quality,
    median: Quality,
    worst: Quality,
}

/// One object in a line.
pub(super) fn json(
    out: &mut impl Write,
    args: &Args,
    setup: &Setup,
    shown: Shown<'_>,
) -> io::Result<()> {
    let (game, seconds, link) =
        (args.game.name(), setup.seconds, LinkWords::new(&setup.link, setup.rtt_step));
    let json = match shown {
        Shown::One(report) => {
            let (seed, digest, quality) = (setup.seed, report.digest.to_string(), report.quality);
            serde_json::to_string(&OneJson { game, seed, seconds, link, digest, quality })
        }
        Shown::Pool(pool) => {
            let (pooled, median, worst) = (pool.pooled(), pool.median(), pool.worst());
            let seeds = pool.len();
            serde_json::to_string(&PoolJson { game, seeds, seconds, link, pooled, median, worst })
        }
    };
    writeln!(out, "{}", json?)
}

/// What was played in a line, and the table.
pub(super) fn table(
    out: &mut impl Write,
    args: &Args,
    setup: &Setup,
    shown: Shown<'_>,
) -> io::Result<()> {
    let paint = Paint::for_stdout();
    let bots = if setup.players == 1 { "bot" } else { "bots" };
    let swarm = match args.swarm {
        0 => String::new(),
        swarm => format!(" and a swarm of {swarm}"),
    };
    let (game, players, seconds) = (args.game.name(), setup.players, setup.seconds);
    let seeds = match shown {
        Shown::One(_) => format!("seed {}", setup.seed),
        Shown::Pool(pool) => {
            format!("seeds {} to {}", setup.seed, setup.seed + (pool.len() as u64 - 1))
        }
    };
    writeln!(out, "{game}, {players} {bots}{swarm}, {seconds} s, {seeds}")?;
    writeln!(out, "link: {}\n", LinkWords::new(&setup.link, setup.rtt_step))?;
    match shown {
        Shown::One(report) => {
            writeln!(out, "{}", Report::HEADING)?;
            for row in report.rows() {
                writeln!(out, "{}", paint.line(row.verdict(), &row.to_string()))?;
            }
            tell_bar(out, report.bar)?;
            writeln!(out, "\ndigest {}", report.digest)
        }
        Shown::Pool(pool) => {
            writeln!(out, "{}", Pool::HEADING)?;
            for row in pool.rows() {
                writeln!(out, "{}", paint.line(row.verdict(), &row.to_string()))?;
            }
            writeln!(
                out,
                "\nPercentages, bytes and playback are pooled over all seeds; the other pooled\n\
                 figures are means of the seeds. Percentages and bytes are judged pooled, times\n\
                 by the median with the worst seed within 1.2 times, playback by the worst seed."
            )?;
            tell_bar(out, Bar::of(setup))
        }
    }
}

/// Says which targets are missing, and why.
fn tell_bar(out: &mut impl Write, bar: Bar) -> io::Result<()> {
    match bar {
        Bar::Anywhere => writeln!(
            out,
            "\nOnly what must hold on every link has a target here; the others are set for the\n\
             reference link that does not change, and for the same without jitter and loss."
        ),
        _ => Ok(()),
    }
}
