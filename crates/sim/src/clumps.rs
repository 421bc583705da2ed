//! How sure a percentage is. Faults of one cause come together, so they say less than as many that
//! came one by one.

use std::ops::AddAssign;
use std::time::Duration;

use super::exact;
use super::target::{Target, Verdict};
use backspin::time::Time;

/// Faults within a block of this length may have one cause: it is what the clocks look back on.
const BLOCK: Duration = Duration::from_secs(2);

/// Assumed beside what was seen: two faults that came together.
const PRIOR: (f64, f64) = (2.0, 4.0);

/// A count of faults, and how they come in blocks of two seconds. Counts of players and seeds add up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clumps {
    count: u64,
    /// The sum of the squares of the blocks' counts.
    squares: u64,
    blocks: u64,
    /// The block of the last fault, and how many it has.
    last: Option<(u64, u64)>,
}

impl Clumps {
    /// Notes so many faults at a time; times never go back.
    pub(super) fn note(&mut self, at: Time, faults: u64) {
        let block = at.as_nanos() / BLOCK.as_nanos() as u64;
        let before = self.last.filter(|(last, _)| *last == block).map_or(0, |(_, count)| count);
        let after = before + faults;
        self.count += faults;
        self.squares += after * after - before * before;
        self.last = Some((block, after));
    }

    /// The counting is over; it took so long.
    #[must_use]
    pub(super) fn over(mut self, span: Duration) -> Self {
        self.blocks = (span.as_nanos() / BLOCK.as_nanos()).max(1) as u64;
        self.last = None;
        self
    }

    /// How many faults.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Between which percentages the true share lies in 95 of 100 cases, if these are the faults of
    /// so many chances.
    pub fn bounds_pct(&self, chances: u64) -> (f64, f64) {
        let scatter = self.scatter();
        exact::bounds_pct(self.count as f64 / scatter, chances as f64 / scatter)
    }

    /// How these faults of so many chances stand to a target in percent: not decided while the bounds
    /// lie on both sides of it. Where there must be none, one is too many.
    pub(super) fn judge(&self, chances: u64, target: Target) -> Verdict {
        let (least, most) = self.bounds_pct(chances);
        match target {
            _ if chances == 0 => Verdict::Unjudged,
            Target::AtMost(0.0) if self.count == 0 => Verdict::Reached,
            _ if target.holds(most) => Verdict::Reached,
            _ if !target.holds(least) => Verdict::Short,
            _ => Verdict::Undecided,
        }
    }

    /// How many times more the count scatters than one of faults that come one by one.
    pub(super) fn scatter(&self) -> f64 {
        let (count, blocks) = (self.count as f64, self.blocks as f64);
        let variance = match self.blocks {
            // Nobody knows when they came.
            0 | 1 => count,
            _ => (self.squares as f64 - count * count / blocks) * blocks / (blocks - 1.0),
        };
        ((variance + PRIOR.1) / (count + PRIOR.0)).max(1.0)
    }
}

/// Faults of which nobody knows when they came.
impl From<u64> for Clumps {
    fn from(count: u64) -> Self {
        Clumps { count, squares: count, blocks: 0, last: None }
    }
}

impl AddAssign for Clumps {
    fn add_assign(&mut self, other: Clumps) {
        self.count += other.count;
        self.squares += other.squares;
        self.blocks += other.blocks;
        self.last = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Chance;

    /// A run of so many seconds at 60 chances each: every clump has `size` faults.
    fn run(chance: &mut Chance, seconds: u64, rate: f64, size: u64) -> Clumps {
        let mut clumps = Clumps::default();
        for tick in 0..seconds * 60 {
            if chance.unit() < rate / size as f64 {
                clumps.note(Time::from_nanos(tick * 16_666_667), size);
            }
        }
        clumps.over(Duration::from_secs(seconds))
    }

    #[test]
    fn the_true_share_lies_within_the_bounds_in_at_least_nineteen_of_twenty_runs() {
        let mut chance = Chance::new(3, 0);
        for (rate, size) in [(0.002, 1), (0.002, 4), (0.04, 1), (0.04, 5)] {
            let within = (0..250).filter(|_| {
                let (least, most) = run(&mut chance, 300, rate, size).bounds_pct(300 * 60);
                (least..=most).contains(&(100.0 * rate))
            });
            let within = within.count();
            assert!(within >= 230, "{within} of 250 with {rate} in {size}s");
        }
    }

    #[test]
    fn a_verdict_needs_both_bounds_on_one_side_and_none_is_none() {
        let judge = |faults: u64, chances, most: f64| {
            Clumps::from(faults).judge(chances, Target::AtMost(most))
        };
        assert_eq!(judge(1, 1_800, 0.05), Verdict::Undecided);
        assert_eq!(judge(0, 1_800, 0.05), Verdict::Undecided);
        assert_eq!(judge(0, 20_000, 0.05), Verdict::Reached);
        assert_eq!(judge(10, 7_200, 0.05), Verdict::Short);
        assert_eq!(judge(0, 1_800, 0.0), Verdict::Reached);
        assert_eq!(judge(1, 1_800, 0.0), Verdict::Short);
        assert_eq!(judge(0, 0, 0.05), Verdict::Unjudged);
    }

    #[test]
    fn faults_that_come_together_say_less() {
        let (mut one_by_one, mut at_once) = (Clumps::default(), Clumps::default());
        (0..12).for_each(|i| one_by_one.note(Time::from_millis(i * 5_000), 1));
        at_once.note(Time::from_millis(7_000), 4);
        at_once.note(Time::from_millis(7_900), 8);
        let bounds = |clumps: Clumps| clumps.over(Duration::from_secs(60)).bounds_pct(3_600);
        assert_eq!((one_by_one.count(), at_once.count()), (12, 12));
        assert!(bounds(one_by_one).0 > 2.0 * bounds(at_once).0);
        assert!(bounds(one_by_one).1 < bounds(at_once).1 / 2.0);
    }
}
