//! The output of measured matches: a table for people, an object for programs.

use std::io::{self, Write};

use backspin_sim::{Bar, ContactKind, ContactKinds, KindRow, Pool, Report, Setup};
use serde_json::{Value, json};

use super::Args;
use super::link::LinkWords;
use crate::tools::paint::Paint;

/// What there is to tell.
#[derive(Clone, Copy)]
pub(super) enum Shown<'a> {
    One(&'a Report),
    Pool(&'a Pool),
}

/// One object in a line.
pub(super) fn json(
    out: &mut impl Write,
    args: &Args,
    setup: &Setup,
    shown: Shown<'_>,
) -> io::Result<()> {
    let (game, seconds, link) = (args.game.name(), setup.seconds, LinkWords::new(setup));
    let frame_hz = setup.frame_hz;
    let json = match shown {
        Shown::One(report) => json!({
            "game": game,
            "seed": setup.seed,
            "seconds": seconds,
            "frame_hz": frame_hz,
            "link": link,
            "digest": report.digest.to_string(),
            "quality": report.quality,
            "contact_kinds": kinds(&report.kinds),
        }),
        Shown::Pool(pool) => json!({
            "game": game,
            "seeds": pool.len(),
            "seconds": seconds,
            "frame_hz": frame_hz,
            "link": link,
            "pooled": pool.pooled(),
            "median": pool.median(),
            "worst": pool.worst(),
            "contact_kinds": kinds(pool.kinds()),
        }),
    };
    writeln!(out, "{json}")
}

/// The contacts of each kind. The true share lies between the bounds in 95 of 100 cases.
fn kinds(kinds: &ContactKinds) -> Value {
    let kind = |kind: &ContactKind| {
        let (at_least_pct, at_most_pct) = kind.bounds_pct();
        json!({
            "kind": kind.kind,
            "contacts": kind.contacts(),
            "only_drawn": kind.only_drawn,
            "only_judged": kind.only_judged,
            "disagreement_pct": kind.disagreement_pct(),
            "at_least_pct": at_least_pct,
            "at_most_pct": at_most_pct,
        })
    };
    kinds.iter().map(kind).collect()
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
    let frames = match setup.frame_hz {
        60.0 => String::new(),
        hz => format!(", {hz} frames a second"),
    };
    writeln!(out, "{game}, {players} {bots}{swarm}, {seconds} s{frames}, {seeds}")?;
    writeln!(out, "link: {}\n", LinkWords::new(setup))?;
    match shown {
        Shown::One(report) => {
            writeln!(out, "{}", Report::HEADING)?;
            for row in report.rows() {
                writeln!(out, "{}", paint.line(row.verdict(), &row.to_string()))?;
            }
            tell_kinds(out, paint, report.kind_rows())?;
            tell_bar(out, report.bar)?;
            writeln!(out, "\ndigest {}", report.digest)
        }
        Shown::Pool(pool) => {
            writeln!(out, "{}", Pool::HEADING)?;
            for row in pool.rows() {
                writeln!(out, "{}", paint.line(row.verdict(), &row.to_string()))?;
            }
            tell_kinds(out, paint, pool.kind_rows())?;
            writeln!(
                out,
                "\nPercentages, bytes and playback are pooled over all seeds; the other pooled\n\
                 figures are means of the seeds. Percentages and bytes are judged pooled, times\n\
                 by the median with the worst seed of 20 within 1.2 times, playback by the worst."
            )?;
            tell_bar(out, Bar::of(setup))
        }
    }
}

/// What met, by kind, if anything did.
fn tell_kinds(
    out: &mut impl Write,
    paint: Paint,
    rows: impl Iterator<Item = KindRow>,
) -> io::Result<()> {
    let mut rows = rows.peekable();
    if rows.peek().is_some() {
        writeln!(out, "\n{}", ContactKinds::HEADING)?;
    }
    rows.try_for_each(|row| writeln!(out, "{}", paint.line(row.verdict(), &row.to_string())))
}

/// Says which targets are missing, and why.
fn tell_bar(out: &mut impl Write, bar: Bar) -> io::Result<()> {
    match bar.is_changing() {
        true => writeln!(
            out,
            "\nOnly what must hold on every link has a target here; the others are set for links\n\
             that do not change."
        ),
        false => Ok(()),
    }
}

/// A cell of a table that is Markdown, with what separates it from the one before.
pub(super) fn cell(value: Option<f64>, digits: usize, unit: &str) -> String {
    value.map_or("| - ".to_owned(), |value| format!("| {value:.digits$}{unit} "))
}
