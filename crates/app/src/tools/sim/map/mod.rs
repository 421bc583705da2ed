//! `backspin sim --map`: a match on every link of a grid, each figure held against its law.
//!
//! `decide` says how: what one cell shows, what slices of the grid show, and which cells are played again.
//! `show` tells which cells and figures are worst, `picture` draws all of them, `kept` holds the
//! figures of a coarse grid against those in a file, so that no cell gets worse unnoticed.

mod decide;
mod heat_map;
mod kept;
mod show;

use std::error::Error;
use std::fmt;
use std::fs;
use std::io;
use std::time::Duration;

use backspin_sim::{
    Bar, Chance, ContactKinds, FIGURES, Jitter, LinkConfig, Loss, Pool, Report, Setup, Share,
    Target, Verdict,
};

use super::Args;
use decide::{PlayedCells, Suspects};

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

    /// The first seed of its matches: that of the map, and the cell's own numbers. Cells that shared seeds
    /// would share their luck as well, and one burst would show in dozens of them.
    fn seed(&self, map: u64) -> u64 {
        let Cell { rtt_ms, jitter_ms, loss_pct, burst, frame_hz } = self;
        let numbers = [rtt_ms, jitter_ms, loss_pct, burst, frame_hz];
        let mixed = numbers.iter().fold(map, |seed, number| {
            let stream = (**number * 100.0).round() as u64;
            Chance::new(seed, stream).u64()
        });
        // Short enough to be typed, with room for those that follow.
        mixed >> 24
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
    /// And what it was counted from.
    share: Option<Share>,
    verdict: Verdict,
    /// What the verdict rests on.
    ground: Ground,
    /// Whether the cell was suspect, and this is of fresh seeds.
    is_again: bool,
}

impl Mark {
    fn new(what: String, unit: &'static str, value: f64, target: Target) -> Self {
        Mark {
            what,
            unit,
            value,
            target,
            strain: target.strain(value),
            bounds_pct: None,
            share: None,
            verdict: Verdict::Unjudged,
            ground: Ground::Own,
            is_again: false,
        }
    }

    /// Percentages are judged by their bounds, however many were counted; the others as in any run.
    fn judged(self, verdict: Verdict, share: Option<Share>) -> Self {
        let verdict = match share {
            None => verdict,
            Some(share) if share.is_within(decide::OWN_DOUBT) => Verdict::Reached,
            Some(share) if share.is_over(decide::OWN_DOUBT) => Verdict::Short,
            Some(_) => Verdict::Undecided,
        };
        Mark { share, verdict, ..self }
    }
}

/// What a verdict rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ground {
    /// The cell's own figures.
    Own,
    /// All slices that the cell lies in.
    Slices,
}

/// A cell that was played.
#[derive(Clone, Debug)]
struct Played {
    cell: Cell,
    /// With so many seeds, and with so many again.
    seeds: (u32, u32),
    /// The first of each.
    seed: u64,
    fresh_seed: u64,
    marks: Vec<Mark>,
    contacts: ContactKinds,
}

impl Played {
    fn new(cell: Cell, setup: &Setup, reports: &[Report]) -> Self {
        let pool = Pool::new(Bar::of(setup), reports);
        let mut marks = Vec::new();
        for (figure, row) in FIGURES.iter().zip(pool.rows()) {
            if let (Some(value), Some(target)) = row.judged() {
                let mark = Mark::new(figure.what.to_owned(), figure.unit, value, target);
                let bounds_pct = row.bounds_pct();
                marks.push(Mark { bounds_pct, ..mark }.judged(row.verdict(), row.share()));
            }
        }
        let pooled = pool.pooled();
        for kind in pool.kinds().iter() {
            let target = Bar::of(setup).contacts(kind.foresight, &pooled);
            let (Some(value), Some(target)) = (kind.disagreement_pct(), target) else { continue };
            let mark = Mark::new(format!("contacts: {}", kind.kind), "%", value, target);
            let bounds_pct = Some(kind.bounds_pct());
            marks.push(Mark { bounds_pct, ..mark }.judged(kind.judge(target), kind.share(target)));
        }
        Played {
            cell,
            seeds: (reports.len() as u32, 0),
            seed: setup.seed,
            fresh_seed: setup.seed + decide::FRESH,
            marks,
            contacts: pool.kinds().clone(),
        }
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
        .map(|cell| {
            let (link, seed) = (cell.link(), cell.seed(base.seed));
            Setup { link, seed, frame_hz: cell.frame_hz, seconds, ..base }
        })
        .collect();
    let max_seeds = args.max_seeds.unwrap_or(if args.coarse { seeds } else { MAX_SEEDS });
    let max_seeds = max_seeds.max(seeds);
    let mut table = PlayedCells::new(cells, setups);
    let is_quick = args.coarse && max_seeds == seeds;
    let suspects = if is_quick { Suspects::Left } else { Suspects::Heard };
    let played = table.decide((seeds, max_seeds), suspects, |matches| args.play_all(matches));
    let title = format!("{}, {} players", args.game.name(), base.players);
    let map = Map { title, seconds, seeds: (seeds, max_seeds), left_out, played: &played };
    show::worst(&mut io::stdout().lock(), &map)?;
    if let Some(path) = &args.svg {
        write(path, &heat_map::draw(&map))?;
    }
    if let Some(path) = &args.page {
        write(path, &show::page(&map))?;
    }
    args.kept.as_ref().map_or(Ok(()), |path| kept::check(path, &table.kept(), args.bless))
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
