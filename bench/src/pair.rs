//! Two builds of this program, turn by turn in one run: is the one dearer than the other?
//!
//! Both builds of a pair run right after each other, and who goes first changes from pair to pair, so
//! whatever the machine does to one it does to the other. Each build brings its own server and its own
//! clients, since their protocols may differ.

use std::error::Error;
use std::fmt::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::report::quantile;
use crate::run::{self, Figures, Job};

/// What a change may cost, as a ratio.
const ALLOWED: f64 = 1.03;

/// Fewer pairs say too little on a shared machine.
const ENOUGH_PAIRS: usize = 75;

/// All pairs of a run, and what they say.
#[derive(Serialize)]
pub(crate) struct Comparison {
    against: PathBuf,
    job: Job,
    /// This build's CPU over the other's, pair by pair.
    cpu_ratios: Vec<f64>,
    /// Pairs that do not count: a turn failed, or did not deliver everything.
    left_out: usize,
    wire_bytes: [f64; 2],
    datagrams: [f64; 2],
    heap_bytes: [f64; 2],
}

/// What the pairs say about [`ALLOWED`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Within,
    Dearer,
    Undecided,
}

impl Comparison {
    /// Measures `pairs` pairs of this build and the one at `against`. One turn that fails on a busy
    /// machine does not end the run; many do.
    pub(crate) fn measure(against: &Path, job: Job, pairs: usize) -> Result<Self, Box<dyn Error>> {
        let own = std::env::current_exe()?;
        let mut comparison = Comparison {
            against: against.to_owned(),
            job,
            cpu_ratios: Vec::new(),
            left_out: 0,
            wire_bytes: [0.0; 2],
            datagrams: [0.0; 2],
            heap_bytes: [0.0; 2],
        };
        let mut turns: [Vec<Figures>; 2] = [Vec::new(), Vec::new()];
        let programs = [own.as_path(), against];
        while comparison.cpu_ratios.len() < pairs && comparison.left_out < pairs.max(ENOUGH_PAIRS) {
            let pair = comparison.cpu_ratios.len() + 1;
            let first = (pair + comparison.left_out) % 2;
            let mut measured = [const { None }; 2];
            for side in [first, 1 - first] {
                measured[side] = Some(run::run(programs[side], &job));
            }
            let [Some(ours), Some(theirs)] = measured else { continue };
            let both = ours.and_then(|ours| Ok([ours, theirs?]));
            let both = both.and_then(|both| match both.iter().all(|it| it.delivers(job.clients)) {
                true => Ok(both),
                false => {
                    Err(format!("not all was delivered: {}; against {}", both[0], both[1]).into())
                }
            });
            match both {
                Ok([ours, theirs]) => {
                    let ratio = ours.cpu_ns_per_tick / theirs.cpu_ns_per_tick;
                    eprintln!("pair {pair} of {pairs}: {ratio:.3}; {ours}; against {theirs}");
                    comparison.cpu_ratios.push(ratio);
                    turns[0].push(ours);
                    turns[1].push(theirs);
                }
                Err(error) => {
                    eprintln!("pair {pair} of {pairs}, left out and tried again: {error}");
                    comparison.left_out += 1;
                }
            }
        }
        let median = |figure: fn(&Figures) -> f64| {
            [0, 1].map(|side: usize| quantile(turns[side].iter().map(figure).collect(), 0.5))
        };
        comparison.wire_bytes = median(|figures| figures.wire_bytes_per_tick);
        comparison.datagrams = median(|figures| figures.datagrams_per_tick);
        comparison.heap_bytes = median(|figures| figures.heap_bytes as f64);
        Ok(comparison)
    }

    pub(crate) fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    pub(crate) fn table(&self) -> String {
        let mut text = format!("{}, against {}\n", self.job, self.against.display());
        let pairs = self.cpu_ratios.len();
        if pairs == 0 {
            return text + "no pair counts: a turn of each failed or lost datagrams\n";
        }
        let middle = quantile(self.cpu_ratios.clone(), 0.5);
        let _ = write!(text, "CPU: {middle:.3} of the other build's, the median of {pairs} pairs");
        if let Some([low, high]) = bounds(&self.cpu_ratios) {
            let _ = write!(text, "; 95 % sure that it lies between {low:.3} and {high:.3}");
        }
        let _ = writeln!(text, "\nat most {ALLOWED}: {}", verdict(&self.cpu_ratios));
        if pairs < ENOUGH_PAIRS {
            let _ = writeln!(text, "{ENOUGH_PAIRS} pairs are wanted before anyone believes it");
        }
        if self.left_out > 0 {
            let left_out = self.left_out;
            let _ =
                writeln!(text, "pairs left out, since a turn failed or lost datagrams: {left_out}");
        }
        for (what, [ours, theirs]) in [
            ("wire bytes per client and tick", self.wire_bytes),
            ("datagrams per client and tick", self.datagrams),
            ("heap bytes", self.heap_bytes),
        ] {
            let _ = writeln!(text, "{what}: {ours:.2}, the other build {theirs:.2}");
        }
        text
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Within => "yes",
            Verdict::Dearer => "no, it is dearer",
            Verdict::Undecided => "not decided, more pairs are needed",
        })
    }
}

fn verdict(ratios: &[f64]) -> Verdict {
    match bounds(ratios) {
        Some([_, high]) if high <= ALLOWED => Verdict::Within,
        Some([low, _]) if low > ALLOWED => Verdict::Dearer,
        _ => Verdict::Undecided,
    }
}

/// Between these the true median lies with 95 % confidence, whatever the distribution: the ranks
/// come from the binomial distribution, by its normal approximation. `None` for fewer than six.
fn bounds(ratios: &[f64]) -> Option<[f64; 2]> {
    let count = ratios.len();
    if count < 6 {
        return None;
    }
    let mut sorted = ratios.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let half_width = 1.96 * (count as f64).sqrt() / 2.0;
    let low = (count as f64 / 2.0 - half_width).floor().max(0.0) as usize;
    Some([sorted[low], sorted[count - 1 - low]])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `count` numbers around `middle`, evenly spread over `span`.
    fn around(middle: f64, span: f64, count: usize) -> Vec<f64> {
        let at = |index: usize| middle + span * (index as f64 / (count - 1) as f64 - 0.5);
        (0..count).map(at).collect()
    }

    #[test]
    fn few_pairs_have_no_bounds() {
        assert_eq!(bounds(&around(1.0, 0.1, 5)), None);
        assert_eq!(verdict(&around(1.0, 0.1, 5)), Verdict::Undecided);
    }

    #[test]
    fn the_bounds_of_a_hundred_pairs_are_the_forty_first_from_each_end() {
        let ratios: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!(bounds(&ratios), Some([41.0, 60.0]));
    }

    #[test]
    fn a_build_is_judged_by_its_bounds_and_not_by_its_median() {
        assert_eq!(verdict(&around(1.00, 0.1, 75)), Verdict::Within);
        assert_eq!(verdict(&around(1.08, 0.1, 75)), Verdict::Dearer);
        assert_eq!(verdict(&around(1.025, 0.1, 75)), Verdict::Undecided);
    }
}
