//! How the statement "every cell is within the law" is decided.
//!
//! A match of half a minute says little about one fault in two thousand frames, and the map has
//! thousands of figures: some look bad by chance, and most are too few to be sure of. So three things
//! must hold of a percentage:
//!
//! 1. **Slices.** Cells that agree in one number are taken together: all with the same round trip, with
//!    the same jitter, with the same screen (each apart for loss that comes by itself and in bursts), and
//!    with the same loss. Each slice must surely be within what its cells may have on average. The doubt
//!    that is left, 5 % for all slices of a figure and all looks at them together, is shared among them.
//!    The cells of a slice that is not sure yet are played with twice the seeds, up to `--max-seeds`.
//! 2. **Suspects.** A cell whose own 95 % bounds lie beyond the law, or whose time does, is suspect. It is
//!    played again with fresh seeds, eight and then twice as many: those that made it suspect say nothing
//!    any more, since they were chosen for looking bad. It misses if the fresh ones are surely beyond the law; the
//!    doubt, 5 %, is shared among all suspects. A time misses as it would in any other run.
//! 3. **Cells.** A cell reaches the law if its own bounds say so; or if no fresh seeds refute it and
//!    all its slices hold. Otherwise it is not decided.
//!
//! What could hide is a fault at one crossing of four numbers that is too rare to be noticed in the cell's own
//! matches; [`Share::noticed_from_pct`] says how rare that is, and the map prints it.

use std::collections::BTreeMap;

use backspin_sim::{Report, Setup, Share, Verdict};

use super::super::crew;
use super::{Cell, Ground, Mark, Played, kept};

/// In so many of all cases an answer may be wrong by chance.
const DOUBT: f64 = 0.05;

/// One cell alone is asked with this much, on either side, as any other run is.
pub(super) const OWN_DOUBT: f64 = DOUBT / 2.0;

/// So many seeds at first for a suspect, and at least twice as many at last.
const AGAIN: u32 = 8;

/// Their first, as seen from the cell's own first: nobody plays so many.
pub(super) const FRESH: u64 = 1 << 20;

/// Whether suspects are played again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Suspects {
    /// They are.
    Heard,
    /// They are not: where figures are only kept.
    Left,
}

/// Cells that agree in a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Slice {
    axis: Axis,
    /// In hundredths, so that it has an order.
    number: u64,
    in_bursts: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Axis {
    RoundTrip,
    Jitter,
    Loss,
    Screen,
}

impl Slice {
    /// All that a cell lies in.
    fn of(cell: &Cell) -> [Slice; 4] {
        let in_bursts = cell.burst > 1.0;
        let all = [
            (Axis::RoundTrip, cell.rtt_ms),
            (Axis::Jitter, cell.jitter_ms),
            (Axis::Loss, cell.loss_pct),
            (Axis::Screen, cell.frame_hz),
        ];
        all.map(|(axis, number)| {
            let number = (number * 100.0).round() as u64;
            Slice { axis, number, in_bursts }
        })
    }
}

/// Each figure of each slice.
type Slices = BTreeMap<(String, Slice), Share>;

/// All cells, and what was played on them.
pub(super) struct PlayedCells {
    cells: Vec<Cell>,
    setups: Vec<Setup>,
    /// What every cell is judged by.
    first: Vec<Vec<Report>>,
    /// What suspects are judged by.
    again: Vec<Vec<Report>>,
}

impl PlayedCells {
    pub(super) fn new(cells: Vec<Cell>, setups: Vec<Setup>) -> Self {
        let none = vec![Vec::new(); cells.len()];
        PlayedCells { cells, setups, first: none.clone(), again: none }
    }

    /// Plays until all is decided, or every cell has as many seeds as it may.
    pub(super) fn decide(
        &mut self,
        (seeds, max_seeds): (u32, u32),
        suspects: Suspects,
        play: impl Fn(&[Setup]) -> Vec<Report>,
    ) -> Vec<Played> {
        let mut due: Vec<usize> = (0..self.cells.len()).collect();
        let looks = looks(seeds, max_seeds);
        let mut goal = seeds;
        let mut played = loop {
            play_up_to(&self.setups, &due, goal, &mut self.first, &play);
            let played = self.judged(&self.first);
            let held = held(&slices(&played), looks);
            due = unsure(&played, &held);
            if goal == max_seeds || due.is_empty() {
                break with_slices(played, &held);
            }
            goal = (goal * 2).min(max_seeds);
        };
        if suspects == Suspects::Heard {
            self.hear_suspects(&mut played, max_seeds.max(2 * AGAIN), play);
        }
        played
    }

    /// The lines that are kept, of each cell's first seed.
    pub(super) fn kept(&self) -> Vec<String> {
        kept::lines(&self.cells, &self.first)
    }

    fn judged(&self, reports: &[Vec<Report>]) -> Vec<Played> {
        let all = self.cells.iter().zip(&self.setups).zip(reports);
        all.map(|((cell, setup), reports)| Played::new(*cell, setup, reports)).collect()
    }

    /// Plays suspects with fresh seeds, and judges them by those.
    fn hear_suspects(
        &mut self,
        played: &mut [Played],
        max_seeds: u32,
        play: impl Fn(&[Setup]) -> Vec<Report>,
    ) {
        let mut open: Vec<(usize, usize)> = Vec::new();
        for (which, played) in played.iter().enumerate() {
            let marks = played.marks.iter().enumerate().filter(|(_, mark)| is_suspect(mark));
            open.extend(marks.map(|(mark, _)| (which, mark)));
        }
        let doubt = DOUBT / (open.len() as f64 * looks(AGAIN, max_seeds));
        let fresh = |setup: &Setup| Setup { seed: setup.seed + FRESH, ..*setup };
        let fresh: Vec<Setup> = self.setups.iter().map(fresh).collect();
        let mut goal = AGAIN;
        while !open.is_empty() {
            let mut due: Vec<usize> = open.iter().map(|(which, _)| *which).collect();
            due.dedup();
            play_up_to(&fresh, &due, goal, &mut self.again, &play);
            let is_last = goal == max_seeds;
            open.retain(|(which, mark)| {
                let again = Played::new(self.cells[*which], &fresh[*which], &self.again[*which]);
                let played = &mut played[*which];
                played.seeds.1 = self.again[*which].len() as u32;
                let verdict = hear(&mut played.marks[*mark], again.marks, doubt);
                verdict == Verdict::Undecided && !is_last
            });
            goal = (goal * 2).min(max_seeds);
        }
    }
}

/// Puts what fresh seeds say in the place of what made a cell suspect. What is neither refuted nor sure by
/// itself stands and falls with its slices, which the mark says already. The verdict of the fresh ones.
fn hear(mark: &mut Mark, again: Vec<Mark>, doubt: f64) -> Verdict {
    let Some(again) = again.into_iter().find(|again| again.what == mark.what) else {
        return Verdict::Undecided;
    };
    let verdict = sentence(&again, doubt);
    *mark = match (verdict, mark.ground) {
        (Verdict::Undecided, Ground::Slices) => {
            Mark { verdict: Verdict::Reached, ground: Ground::Slices, is_again: true, ..again }
        }
        _ => Mark { verdict, ground: mark.ground, is_again: true, ..again },
    };
    if verdict != Verdict::Undecided {
        mark.ground = Ground::Own;
    }
    verdict
}

/// How often is looked at most, if seeds are doubled.
fn looks(seeds: u32, max_seeds: u32) -> f64 {
    let doublings = (f64::from(max_seeds) / f64::from(seeds)).log2().ceil();
    1.0 + doublings.max(0.0)
}

/// Plays the cells that are due until each has `goal` seeds.
fn play_up_to(
    setups: &[Setup],
    due: &[usize],
    goal: u32,
    reports: &mut [Vec<Report>],
    play: impl Fn(&[Setup]) -> Vec<Report>,
) {
    let matches: Vec<Setup> = due
        .iter()
        .flat_map(|which| {
            let all = crew::with_seeds(&setups[*which], goal);
            all.into_iter().skip(reports[*which].len())
        })
        .collect();
    let mut more = play(&matches).into_iter();
    for which in due {
        let missing = (goal as usize).saturating_sub(reports[*which].len());
        reports[*which].extend(more.by_ref().take(missing));
    }
}

/// Takes the cells of each slice together. Where nothing is allowed, each cell says all by itself.
fn slices(played: &[Played]) -> Slices {
    let mut slices = Slices::new();
    for Played { cell, marks, .. } in played {
        for mark in marks {
            let Some(share) = mark.share.filter(|share| share.allowed_pct() > 0.0) else {
                continue;
            };
            for slice in Slice::of(cell) {
                let key = (mark.what.clone(), slice);
                slices.entry(key).and_modify(|sum| *sum += share).or_insert(share);
            }
        }
    }
    slices
}

/// Which slices surely hold.
fn held(slices: &Slices, looks: f64) -> BTreeMap<(String, Slice), bool> {
    let mut counts: BTreeMap<&str, f64> = BTreeMap::new();
    slices.keys().for_each(|(what, _)| *counts.entry(what).or_default() += 1.0);
    let doubt = |what: &str| DOUBT / (counts[what] * looks);
    slices.iter().map(|(key, share)| (key.clone(), share.is_within(doubt(&key.0)))).collect()
}

/// Whether all slices of a figure in a cell hold.
fn holds(held: &BTreeMap<(String, Slice), bool>, cell: &Cell, what: &str) -> bool {
    Slice::of(cell).iter().all(|slice| {
        // A figure without a share has no slices.
        held.get(&(what.to_owned(), *slice)).is_some_and(|held| *held)
    })
}

/// The cells with a percentage that neither they themselves nor their slices are sure of.
fn unsure(played: &[Played], held: &BTreeMap<(String, Slice), bool>) -> Vec<usize> {
    let is_unsure = |played: &Played| {
        played.marks.iter().any(|mark| {
            let is_open = mark.share.is_some_and(|share| share.allowed_pct() > 0.0)
                && mark.verdict != Verdict::Reached;
            is_open && !holds(held, &played.cell, &mark.what)
        })
    };
    (0..).zip(played).filter(|(_, played)| is_unsure(played)).map(|(which, _)| which).collect()
}

/// What the cells are not sure of themselves, their slices may be.
fn with_slices(mut played: Vec<Played>, held: &BTreeMap<(String, Slice), bool>) -> Vec<Played> {
    for Played { cell, marks, .. } in &mut played {
        for mark in marks {
            let is_open = mark.verdict == Verdict::Undecided && mark.share.is_some();
            if is_open && holds(held, cell, &mark.what) {
                (mark.verdict, mark.ground) = (Verdict::Reached, Ground::Slices);
            } else if mark.verdict == Verdict::Short && holds(held, cell, &mark.what) {
                // Kept for the case that fresh seeds do not refute it.
                mark.ground = Ground::Slices;
            }
        }
    }
    played
}

/// Whether a cell must be heard again.
fn is_suspect(mark: &Mark) -> bool {
    match mark.share {
        Some(share) => share.is_over(OWN_DOUBT),
        None => matches!(mark.verdict, Verdict::Short | Verdict::Undecided),
    }
}

/// What fresh seeds say of a suspect.
fn sentence(again: &Mark, doubt: f64) -> Verdict {
    match again.share {
        None => again.verdict,
        Some(share) if share.is_over(doubt) => Verdict::Short,
        Some(share) if share.is_within(OWN_DOUBT) => Verdict::Reached,
        Some(_) => Verdict::Undecided,
    }
}

#[cfg(test)]
mod tests {
    use backspin_sim::dot::Dots;
    use backspin_sim::{Tally, measure_with};

    use super::super::grid;
    use super::*;

    const STARVED: &str = "starved frames";

    /// The cells with independent loss of the coarse grid, each judged by starved frames alone: so many of
    /// 2,000 in each match, by cell and by whether its seed is fresh.
    fn decide(
        starved: impl Fn(usize, bool) -> u64,
        seeds: (u32, u32),
    ) -> (Vec<Played>, Vec<Setup>) {
        let cells: Vec<Cell> =
            grid(true).0.into_iter().filter(|it| it.loss_pct == 10.0 && it.burst == 1.0).collect();
        let setup =
            |cell: &Cell| Setup { seconds: 1, seed: cell.seed(1), ..Setup::new(cell.link(), 0) };
        let setups: Vec<Setup> = cells.iter().map(setup).collect();
        let template = measure_with(Dots::default(), &setups[0]);
        let firsts: Vec<u64> = setups.iter().map(|setup| setup.seed).collect();
        let play = |matches: &[Setup]| -> Vec<Report> {
            let report = |setup: &Setup| {
                let since = |first: &u64| setup.seed.wrapping_sub(*first);
                let which = firsts.iter().position(|first| since(first) < 2 * FRESH).unwrap();
                let is_fresh = since(&firsts[which]) >= FRESH;
                let starved_frames = starved(which, is_fresh).into();
                let tally = Tally { starved_frames, frames: 2_000, ..Tally::default() };
                Report { tally, quality: tally.fill(Default::default()), ..template.clone() }
            };
            matches.iter().map(report).collect()
        };
        let mut table = PlayedCells::new(cells, setups.clone());
        (table.decide(seeds, Suspects::Heard, play), setups)
    }

    fn starved(played: &Played) -> &Mark {
        played.marks.iter().find(|mark| mark.what == STARVED).unwrap()
    }

    #[test]
    fn what_no_cell_is_sure_of_large_slices_are_and_small_ones_are_played_on() {
        // 0.15 % of 0.3: six faults of 4,000 leave a cell undecided. Six cells have a round trip of
        // 120 ms, and two have one of half a millisecond.
        let verdicts = |seeds| {
            let (played, _) = decide(|_, _| 3, seeds);
            assert!(played.iter().all(|played| !starved(played).is_again));
            [120.0, 0.5].map(|rtt_ms| {
                let played = played.iter().find(|played| played.cell.rtt_ms == rtt_ms).unwrap();
                (starved(played).verdict, starved(played).ground)
            })
        };
        let (by_slices, open) =
            ((Verdict::Reached, Ground::Slices), (Verdict::Undecided, Ground::Own));
        assert_eq!(verdicts((2, 2)), [by_slices, open]);
        let [_, small] = verdicts((2, 8));
        assert_eq!(small.0, Verdict::Reached);
    }

    #[test]
    fn a_suspect_misses_only_if_fresh_seeds_say_so() {
        let (by_chance, _) =
            decide(|which, is_fresh| if which == 3 && !is_fresh { 40 } else { 0 }, (1, 1));
        let mark = starved(&by_chance[3]);
        assert_eq!((mark.verdict, mark.is_again), (Verdict::Reached, true), "{mark:?}");
        let (always, setups) = decide(|which, _| if which == 3 { 40 } else { 0 }, (1, 1));
        let mark = starved(&always[3]);
        assert_eq!((mark.verdict, mark.is_again), (Verdict::Short, true), "{mark:?}");
        assert_eq!(always[3].fresh_seed, setups[3].seed + FRESH);
        assert_eq!(always[3].seeds, (1, AGAIN));
        assert!(always.iter().enumerate().all(|(which, it)| which == 3 || !starved(it).is_again));
    }

    #[test]
    fn a_slice_that_is_over_leaves_its_cells_undecided() {
        // Each cell has too few to be suspect, all of them together have too many.
        let (played, _) = decide(|_, _| 7, (1, 2));
        let verdicts = played.iter().map(|played| starved(played).verdict);
        assert!(verdicts.clone().all(|verdict| verdict != Verdict::Reached));
        assert!(verdicts.into_iter().any(|verdict| verdict == Verdict::Undecided));
    }

    #[test]
    fn a_cell_lies_in_a_slice_of_each_number_and_bursts_are_apart() {
        let cell = Cell { rtt_ms: 0.5, jitter_ms: 2.0, loss_pct: 5.0, burst: 1.0, frame_hz: 59.94 };
        let (alone, in_bursts) = (Slice::of(&cell), Slice::of(&Cell { burst: 3.0, ..cell }));
        assert_eq!(alone.map(|slice| slice.number), [50, 200, 500, 5_994]);
        assert!(alone.iter().zip(&in_bursts).all(|(a, b)| a != b && a.number == b.number));
        assert_eq!([looks(1, 1), looks(2, 16), looks(8, 20)], [1.0, 4.0, 3.0]);
    }
}
