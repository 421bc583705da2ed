//! What is told of measured matches: a table for people, an object for programs.

use std::io::{self, Write};

use backspin_sim::{Bar, ContactKind, ContactKinds, KindRow, Pool, Quality, Report, Setup};
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
    frame_hz: f64,
    link: LinkWords,
    digest: String,
    quality: Quality,
    contact_kinds: Vec<KindJson>,
}

#[derive(Serialize)]
struct PoolJson {
    game: &'static str,
    /// How many.
    seeds: usize,
    seconds: u32,
    frame_hz: f64,
    link: LinkWords,
    pooled: Quality,
    median: Quality,
    worst: Quality,
    contact_kinds: Vec<KindJson>,
}

/// The contacts of one kind.
#[derive(Serialize)]
struct KindJson {
    kind: &'static str,
    contacts: u64,
    only_drawn: u64,
    only_judged: u64,
    disagreement_pct: Option<f64>,
    /// Where the true share lies, in 95 of 100 cases.
    at_least_pct: f64,
    at_most_pct: f64,
}

impl KindJson {
    fn new(kind: &ContactKind) -> Self {
        let (at_least_pct, at_most_pct) = kind.bounds_pct();
        KindJson {
            kind: kind.kind,
            contacts: kind.contacts(),
            only_drawn: kind.only_drawn,
            only_judged: kind.only_judged,
            disagreement_pct: kind.disagreement_pct(),
            at_least_pct,
            at_most_pct,
        }
    }

    fn all(kinds: &ContactKinds) -> Vec<KindJson> {
        kinds.iter().map(KindJson::new).collect()
    }
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
        Shown::One(report) => serde_json::to_string(&OneJson {
            game,
            seed: setup.seed,
            seconds,
            frame_hz,
            link,
            digest: report.digest.to_string(),
            quality: report.quality,
            contact_kinds: KindJson::all(&report.kinds),
        }),
        Shown::Pool(pool) => serde_json::to_string(&PoolJson {
            game,
            seeds: pool.len(),
            seconds,
            frame_hz,
            link,
            pooled: pool.pooled(),
            median: pool.median(),
            worst: pool.worst(),
            contact_kinds: KindJson::all(pool.kinds()),
        }),
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
                 by the median with the worst seed within 1.2 times, playback by the worst seed."
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
    match value {
        Some(value) => format!("| {value:.digits$}{unit} "),
        None => "| - ".to_owned(),
    }
}
