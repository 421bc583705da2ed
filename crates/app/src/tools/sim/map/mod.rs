//! `backspin sim --map`: a match on every link of a grid, each figure held against its law.
//!
//! A percentage is judged by its confidence bounds: cells that miss a target or are not decided are
//! played with more seeds, up to a cap. `show` tells which cells and figures are worst, `picture` draws all of them, `kept` holds the
//! figures of a coarse grid against those in a file, so that no cell gets worse unnoticed.

mod kept;
mod picture;
mod show;

use std::error::Error;
use std::fmt;
use std::fs;
use std::io;
use std::time::Duration;

use backspin_sim::{
    Bar, ContactKinds, FIGURES, Jitter, LinkConfig, Loss, Pool, Report, Setup, Target, Verdict,
};

use super::{Args, crew};

/// The whole grid, in ms, percent, datagrams and frames a second.
const ROUND_TRIPS: [f64; 11] =
    [0.5, 5.0, 10.0, 20.0, 40.0, 80.0, 120.0, 160.0, 200.0, 250.0, 300.0];
const JITTERS: [f64; 7] = [0.0, 2.0, 5.0, 10.0, 20.0, 40.0, 60.0];
const LOSSES: [(f64, f64); 7] =
    [(0.0, 1.0), (1.0, 1.0), (5.0, 1.0), (10.0, 1.0), (1.0, 3.0), (5.0, 3.0), (10.0, 3.0)];
const FRAME_RATES: [f64; 2] = [60.0, 144.0];

/// A few of each, for every day.
const COARSE_ROUND_TRIPS: [f64; 4] = [0.5, 20.0, 120.0, 300.0];
const COARSE_JITTERS: [f64; 3] = [0.0, 10.0, 60.0];
const COARSE_LOSSES: [(f64, f64); 3] = [(0.0, 1.0), (10.0, 1.0), (5.0, 3.0)];

/// At most so many seeds for a cell that is not decided, where nobody says.
const MAX_SEEDS: u32 = 32;

/// How long each match is, where nobody says.
const SECONDS: u32 = 60;
const COARSE_SECONDS: u32 = 15;

/// A link of the grid, and a screen.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cell {
    rtt_ms: f64,
    jitter_ms: f64,
    loss_pct: f64,
    burst: f64,
    frame_hz: f64,
}

impl Cell {
    fn link(&self) -> LinkConfig {
        let ms = |ms: f64| Duration::from_secs_f64(ms / 1e3);
        let jitter = Jitter::uniform(ms(self.jitter_ms));
        let loss = Loss::bursts(self.loss_pct / 100.0, self.burst);
        LinkConfig { jitter, loss, ..LinkConfig::PERFECT }.with_rtt(ms(self.rtt_ms))
    }

    /// Queues that add more than twice what the path takes are long ones: there is no such link.
    fn is_possible(&self) -> bool {
        self.jitter_ms <= (2.0 * self.rtt_ms).max(2.0)
    }
}

/// Round trip / jitter / loss, bursts if there are any, and frames a second.
impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cell { rtt_ms, jitter_ms, loss_pct, burst, frame_hz } = self;
        write!(f, "{rtt_ms}/{jitter_ms}/{loss_pct}")?;
        if *burst > 1.0 {
            write!(f, "x{burst}")?;
        }
        write!(f, "@{frame_hz}")
    }
}

/// Every cell of the grid that can be, in order, and how many were left out.
fn grid(coarse: bool) -> (Vec<Cell>, usize) {
    let (round_trips, jitters, losses): (&[f64], &[f64], &[(f64, f64)]) = match coarse {
        true => (&COARSE_ROUND_TRIPS, &COARSE_JITTERS, &COARSE_LOSSES),
        false => (&ROUND_TRIPS, &JITTERS, &LOSSES),
    };
    let mut cells = Vec::new();
    for frame_hz in FRAME_RATES {
        for &(loss_pct, burst) in losses {
            for &jitter_ms in jitters {
                cells.extend(round_trips.iter().map(|&rtt_ms| Cell {
                    rtt_ms,
                    jitter_ms,
                    loss_pct,
                    burst,
                    frame_hz,
                }));
            }
        }
    }
    let all = cells.len();
    cells.retain(Cell::is_possible);
    let left_out = all - cells.len();
    (cells, left_out)
}

/// One figure of one cell.
#[derive(Clone, Debug)]
struct Mark {
    what: String,
    unit: &'static str,
    value: f64,
    target: Target,
    /// How many times what it may be.
    strain: f64,
    /// Of a percentage: between which the true one lies.
    bounds_pct: Option<(f64, f64)>,
    verdict: Verdict,
}

/// A cell that was played.
#[derive(Debug)]
struct Played {
    cell: Cell,
    /// With so many seeds.
    seeds: u32,
    marks: Vec<Mark>,
    contacts: ContactKinds,
}

impl Played {
    fn new(cell: Cell, setup: &Setup, reports: &[Report]) -> Self {
        let pool = Pool::new(Bar::of(setup), reports);
        let mut marks = Vec::new();
        for (figure, row) in FIGURES.iter().zip(pool.rows()) {
            if let (Some(value), Some(target)) = row.judged() {
                let (what, unit) = (figure.what.to_owned(), figure.unit);
                let (strain, verdict) = (target.strain(value), row.verdict());
                let bounds_pct = row.bounds_pct();
                marks.push(Mark { what, unit, value, target, strain, bounds_pct, verdict });
            }
        }
        let pooled = pool.pooled();
        for kind in pool.kinds().iter() {
            let target = Bar::of(setup).contacts(kind.foresight, &pooled);
            let (Some(value), Some(target)) = (kind.disagreement_pct(), target) else { continue };
            let (strain, verdict) = (target.strain(value), kind.judge(target));
            let bounds_pct = Some(kind.bounds_pct());
            let what = format!("contacts: {}", kind.kind);
            marks.push(Mark { what, unit: "%", value, target, strain, bounds_pct, verdict });
        }
        Played { cell, seeds: reports.len() as u32, marks, contacts: pool.kinds().clone() }
    }

    /// Whether more seeds may say more: a figure is not decided, or a percentage misses its target,
    /// which in a few seeds of many cells happens by chance.
    fn is_worth_more(&self) -> bool {
        self.marks.iter().any(|mark| match mark.verdict {
            Verdict::Undecided => true,
            Verdict::Short => mark.bounds_pct.is_some(),
            Verdict::Reached | Verdict::Unjudged => false,
        })
    }
}

/// A map: what was played, and how.
#[derive(Debug)]
struct Map<'a> {
    title: String,
    seconds: u32,
    /// So many for every cell, and so many at most.
    seeds: (u32, u32),
    left_out: usize,
    played: &'a [Played],
}

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let (cells, left_out) = grid(args.coarse);
    let seconds = args.seconds.unwrap_or(if args.coarse { COARSE_SECONDS } else { SECONDS });
    let seeds = args.seeds.unwrap_or(1);
    let base = args.setup()?;
    let setups: Vec<Setup> = cells
        .iter()
        .map(|cell| Setup { link: cell.link(), frame_hz: cell.frame_hz, seconds, ..base })
        .collect();
    let max_seeds = args.max_seeds.unwrap_or(if args.coarse { seeds } else { MAX_SEEDS });
    let max_seeds = max_seeds.max(seeds);
    let mut reports: Vec<Vec<Report>> = vec![Vec::new(); setups.len()];
    let mut played = Vec::new();
    let mut goal = seeds;
    loop {
        play_up_to(args, &setups, &played, goal, &mut reports);
        let judge = |((cell, setup), reports): ((&Cell, &Setup), &Vec<Report>)| {
            Played::new(*cell, setup, reports)
        };
        played = cells.iter().zip(&setups).zip(&reports).map(judge).collect();
        if goal == max_seeds || !played.iter().any(Played::is_worth_more) {
            break;
        }
        goal = (goal * 2).min(max_seeds);
    }
    let title = format!("{}, {} players", args.game.name(), base.players);
    let map = Map { title, seconds, seeds: (seeds, max_seeds), left_out, played: &played };
    show::worst(&mut io::stdout().lock(), &map)?;
    if let Some(path) = &args.svg {
        write(path, &picture::draw(&map))?;
    }
    if let Some(path) = &args.page {
        write(path, &show::page(&map))?;
    }
    match &args.kept {
        Some(path) => kept::check(path, &kept::lines(&cells, &reports), args.bless),
        None => Ok(()),
    }
}

/// Plays all cells at first, and then those for which more seeds may say more, until each has `goal`
/// of them.
fn play_up_to(
    args: &Args,
    setups: &[Setup],
    played: &[Played],
    goal: u32,
    reports: &mut [Vec<Report>],
) {
    let is_due = |which: usize| played.get(which).is_none_or(Played::is_worth_more);
    let due: Vec<usize> = (0..setups.len()).filter(|which| is_due(*which)).collect();
    let matches: Vec<Setup> = due
        .iter()
        .flat_map(|which| {
            let all = crew::with_seeds(&setups[*which], goal);
            all.into_iter().skip(reports[*which].len())
        })
        .collect();
    let mut more = args.play_all(&matches).into_iter();
    for which in due {
        let missing = goal as usize - reports[which].len();
        reports[which].extend(more.by_ref().take(missing));
    }
}

fn write(path: &std::path::Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("{} cannot be written: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_is_that_of_the_law_without_what_cannot_be() {
        let (cells, left_out) = grid(false);
        assert_eq!(cells.len() + left_out, 11 * 7 * 7 * 2);
        assert_eq!(cells.len(), 66 * 7 * 2);
        assert!(cells.iter().all(|cell| cell.link().check().is_ok()));
        assert!(!cells.iter().any(|cell| cell.rtt_ms < 1.0 && cell.jitter_ms > 2.0));
        let (coarse, _) = grid(true);
        assert!((24..=72).contains(&coarse.len()), "{}", coarse.len());
    }

    #[test]
    fn a_cell_is_named_by_its_numbers() {
        let cell = Cell { rtt_ms: 0.5, jitter_ms: 2.0, loss_pct: 5.0, burst: 3.0, frame_hz: 59.94 };
        assert_eq!(cell.to_string(), "0.5/2/5x3@59.94");
        let alone = Cell { burst: 1.0, ..cell };
        assert_eq!(alone.to_string(), "0.5/2/5@59.94");
    }
}
