//! What share of numbered datagrams is lost: of inputs on the server, of snapshots on the client.

use std::cmp::Ordering;

/// So many words of 64 datagrams are remembered: half a minute at 60 a second.
const WORDS: usize = 32;

/// The same in datagrams.
const LEN: u32 = WORDS as u32 * 64;

/// Loss is judged by at least the newest so many words: two seconds.
const WORDS_AT_LEAST: usize = 2;

/// The newest so many may still be on their way, overtaken by others: not yet called lost.
const GRACE: u32 = 4;

/// A longer gap is an outage, not loss that repeating could mend: the rest of it is left out.
const LONGEST_GAP: u32 = 16;

/// What is assumed before there is evidence: so many datagrams, and so many of them lost.
const PRIOR: f64 = 20.0;
const PRIOR_LOST: f64 = 1.0;

/// Loss has become worse or better when the recent one is so many deviations from that of
/// longer ago.
const WORSE_DEVIATIONS: f64 = 2.5;
const BETTER_DEVIATIONS: f64 = 3.0;

/// Counts which of a peer's numbered datagrams have arrived.
///
/// What comes late has arrived; what comes twice counts once. Numbers wrap.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct LossMeter {
    newest: Option<u32>,
    /// How many numbers have passed, up to what is remembered.
    len: u32,
    /// How many of them have not arrived.
    missing: u32,
    /// Bit `i` of word `w`: whether the datagram `64 w + i` before the newest has arrived. What was
    /// before the first counts as arrived. Apart, since on a good line nobody looks.
    arrived: Box<[u64; WORDS]>,
}

impl Default for LossMeter {
    fn default() -> Self {
        LossMeter { newest: None, len: 0, missing: 0, arrived: Box::new([u64::MAX; WORDS]) }
    }
}

impl LossMeter {
    /// A meter that has seen nothing.
    pub fn new() -> Self {
        LossMeter::default()
    }

    /// Takes the number of a datagram that arrived. Says whether it is the first with this
    /// number; one too old to tell is not.
    pub fn handle_arrival(&mut self, number: u32) -> bool {
        let Some(newest) = self.newest else {
            self.newest = Some(number);
            self.len = 1;
            return true;
        };
        let ahead = number.wrapping_sub(newest) as i32;
        if ahead > 0 {
            self.newest = Some(number);
            self.advance(ahead.unsigned_abs());
            return true;
        }
        let back = ahead.unsigned_abs();
        let Some(word) = self.arrived.get_mut(back as usize / 64).filter(|_| back < self.len)
        else {
            return false;
        };
        let bit = 1 << (back % 64);
        let is_first = *word & bit == 0;
        *word |= bit;
        self.missing -= u32::from(is_first);
        is_first
    }

    /// The newest number that arrived.
    pub const fn newest(&self) -> Option<u32> {
        self.newest
    }

    /// The share that is lost, from 0 to 1: of as many datagrams, up to two thousand, as fared
    /// no differently from the newest hundred. One in twenty before there is evidence.
    pub fn share(&self) -> f64 {
        self.count().share()
    }

    /// The share that is lost by itself, after one that came, as far as is sure: half a deviation less
    /// than was seen, and nothing before there is evidence. Where each datagram is lost by chance that is
    /// the share of all; in bursts it is less, and only this much is mended by waiting for one more.
    pub fn sure_share(&self) -> f64 {
        let Count { counted, lost, runs, .. } = self.count();
        let after_one_that_came = counted - lost;
        if after_one_that_came <= 0.0 {
            return 0.0;
        }
        let seen = (runs / after_one_that_came).min(1.0);
        let deviation = (seen * (1.0 - seen) / after_one_that_came).sqrt();
        (seen - deviation / 2.0).max(0.0)
    }

    /// What became of as many datagrams as fared no differently from the newest.
    fn count(&self) -> Count {
        let mut count = Count::default();
        if self.missing == 0 {
            // Nothing lost is no different from nothing lost: all of it counts.
            count.counted = f64::from(self.len.saturating_sub(GRACE));
            return count;
        }
        let mut newest = Count::default();
        let mut alike = count;
        for index in 0..WORDS {
            self.add_word(index, &mut count);
            let words = index + 1;
            if words < WORDS_AT_LEAST || !words.is_power_of_two() {
                continue;
            }
            if words == WORDS_AT_LEAST {
                newest = count;
            }
            match newest.compare(&count) {
                Ordering::Equal => alike = count,
                Ordering::Less => return alike,
                // Not diluted by what was before: to be too late costs more than to be early.
                Ordering::Greater => return newest,
            }
        }
        alike
    }

    /// Adds what became of the datagrams of one word, after those of the newer ones.
    fn add_word(&self, index: usize, count: &mut Count) {
        let first = if index == 0 { GRACE } else { 0 };
        let end = self.len.saturating_sub(index as u32 * 64).min(64);
        let settled = low_bits(end) & !low_bits(first);
        let missing = !self.arrived[index] & settled;
        let newer = u64::from(count.is_last_lost);
        count.counted += f64::from(end.saturating_sub(first));
        count.lost += f64::from(missing.count_ones());
        count.runs += f64::from((missing & !(missing << 1 | newer)).count_ones());
        count.is_last_lost = missing >> 63 == 1;
    }

    /// Makes room for `by` newer datagrams, at most those of the longest gap; the newest has
    /// arrived.
    fn advance(&mut self, by: u32) {
        let by = by.min(LONGEST_GAP);
        self.len = (self.len + by).min(LEN);
        if by == 1 && self.missing == 0 {
            // Every day on a good line: all ones, moved up by a one, are no other than before.
            return;
        }
        self.shift(by);
        self.arrived[0] |= 1;
        self.missing = self.arrived.iter().map(|word| word.count_zeros()).sum();
    }

    /// Moves every bit up by `by`, less than 64.
    fn shift(&mut self, by: u32) {
        let mut carry = 0;
        for word in self.arrived.iter_mut() {
            let out = *word >> (64 - by);
            *word = *word << by | carry;
            carry = out;
        }
    }
}

/// What became of some datagrams.
#[derive(Clone, Copy, Default)]
struct Count {
    counted: f64,
    lost: f64,
    /// How many times one or more were lost in a row.
    runs: f64,
    /// Whether a run goes on beyond the oldest of them.
    is_last_lost: bool,
}

impl Count {
    fn share(&self) -> f64 {
        (self.lost + PRIOR_LOST) / (self.counted + PRIOR)
    }

    /// Whether these fared better (less) or worse than the `others`, by more than chance would
    /// have it. Times that something was lost are compared, not datagrams: one long burst is no
    /// change of a link that has bursts, and no repeating would have mended it.
    fn compare(&self, others: &Count) -> Ordering {
        let expected = self.counted * (others.runs + PRIOR_LOST) / (others.counted + PRIOR);
        let deviation = expected.sqrt();
        let excess = self.runs - expected;
        if excess > WORSE_DEVIATIONS * deviation + 1.0 {
            Ordering::Greater
        } else if excess < -BETTER_DEVIATIONS * deviation - 1.0 {
            Ordering::Less
        } else {
            Ordering::Equal
        }
    }
}

/// A word with the lowest `count` of its 64 bits set.
fn low_bits(count: u32) -> u64 {
    1u64.checked_shl(count).unwrap_or(0).wrapping_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::Chance;

    /// The share as it is found with all words looked at, whether anything is missing or not.
    fn share_of_all(meter: &LossMeter) -> f64 {
        LossMeter { missing: u32::MAX, ..meter.clone() }.share()
    }

    #[test]
    fn what_is_skipped_on_a_good_line_changes_nothing() {
        let mut chance = Chance::new(9, 0);
        for loss in [0.0, 0.0005, 0.01] {
            let mut meter = LossMeter::new();
            let mut plain = std::collections::VecDeque::new();
            for number in (u32::MAX - 1000..=u32::MAX).chain(0..4000) {
                let lost = chance.happens(loss) && meter.newest().is_some();
                if !plain.is_empty() || !lost {
                    plain.push_front(!lost);
                    plain.truncate(LEN as usize);
                }
                if lost {
                    continue;
                }
                meter.handle_arrival(number);
                assert_eq!(meter.share(), share_of_all(&meter));
                let arrived = |i: usize| meter.arrived[i / 64] >> (i % 64) & 1 == 1;
                assert!(plain.iter().enumerate().all(|(i, &plain)| arrived(i) == plain));
                assert_eq!(meter.missing as usize, plain.iter().filter(|&&came| !came).count());
            }
        }
    }

    fn after(arrived: impl IntoIterator<Item = u32>) -> LossMeter {
        let mut meter = LossMeter::new();
        arrived.into_iter().for_each(|number| {
            meter.handle_arrival(number);
        });
        meter
    }

    /// `count` numbers from `first` on, without a share `lost` in runs of `run_len`.
    fn lossy(first: u32, count: u32, lost: f64, run_len: u32, seed: u64) -> Vec<u32> {
        let mut chance = Chance::new(seed, 0);
        let mut gone = 0;
        let keep = |offset: u32| {
            if gone == 0 && chance.happens(lost / f64::from(run_len)) {
                gone = run_len;
            }
            let is_kept = gone == 0;
            gone = gone.saturating_sub(1);
            is_kept.then(|| first.wrapping_add(offset))
        };
        (0..count).filter_map(keep).collect()
    }

    #[test]
    fn caution_comes_first_and_evidence_lowers_it() {
        assert_eq!(LossMeter::new().share(), 0.05);
        assert!(after(0..200).share() < 0.006);
        assert!(after(0..5_000).share() < 0.000_5);
        assert_eq!(LossMeter::new().sure_share(), 0.0);
        assert_eq!(after(0..200).sure_share(), 0.0);
        let tenth = |seed| after(lossy(0, 2_000, 0.1, 1, seed)).sure_share();
        let mean = (0..100).map(tenth).sum::<f64>() / 100.0;
        assert!((0.09..0.1).contains(&mean), "{mean}");
    }

    #[test]
    fn what_is_lost_in_runs_is_not_mended_by_one_more() {
        let mended = |seed| after(lossy(0, 2_000, 0.06, 3, seed)).sure_share();
        let mean = (0..100).map(mended).sum::<f64>() / 100.0;
        assert!((0.015..0.022).contains(&mean), "{mean}");
        assert_eq!(after([0]).sure_share(), 0.0);
    }

    #[test]
    fn one_long_run_is_no_change_of_a_link_that_has_runs() {
        let mut calm = 0;
        for seed in 0..100 {
            let mut meter = after(lossy(0, 2_000, 0.01, 3, seed));
            let before = meter.share();
            for number in 2_010..2_070 {
                meter.handle_arrival(number);
            }
            calm += u32::from(meter.share() < before + 0.01);
        }
        assert!(calm > 95, "{calm} of 100");
    }

    #[test]
    fn what_comes_late_has_arrived_and_what_comes_twice_counts_once() {
        let mut meter = after((0..500).filter(|number| number % 10 != 3));
        assert!((meter.share() - 0.1).abs() < 0.01, "{}", meter.share());
        assert!(!meter.handle_arrival(498));
        for late in (0..500).filter(|number| number % 10 == 3) {
            assert!(meter.handle_arrival(late), "{late}");
            assert!(!meter.handle_arrival(late), "{late}");
        }
        assert!(meter.share() < 0.003);
        assert_eq!(meter.newest(), Some(499));
    }

    #[test]
    fn what_is_too_old_to_tell_is_not_new() {
        let mut meter = after(5_000..10_000);
        assert!(!meter.handle_arrival(10_000 - 64 * WORDS as u32));
        assert!(!meter.handle_arrival(1));
    }

    #[test]
    fn five_in_a_hundred_are_measured_within_one_also_across_the_wrap() {
        let mut square = 0.0;
        for seed in 0..100 {
            let share = after(lossy(u32::MAX - 1_000, 3_000, 0.05, 1, seed)).share();
            square += (share - 0.05) * (share - 0.05) / 100.0;
        }
        assert!(square.sqrt() < 0.01, "{}", square.sqrt());
    }

    #[test]
    fn loss_that_begins_is_seen_within_two_seconds_also_after_a_long_calm() {
        for seed in 0..100 {
            let mut meter = after(0..3_000);
            lossy(3_000, 150, 0.1, 1, seed).into_iter().for_each(|number| {
                meter.handle_arrival(number);
            });
            assert!(meter.share() > 0.02, "seed {seed}: {}", meter.share());
        }
    }

    #[test]
    fn loss_in_runs_is_not_taken_for_change() {
        let share = |seed| after(lossy(0, 4_000, 0.05, 3, seed)).share();
        let far = (0..100).filter(|&seed| (share(seed) - 0.05).abs() > 0.025).count();
        assert!(far < 10, "{far} of 100");
    }

    #[test]
    fn an_outage_is_not_loss() {
        let mut meter = after(0..2_000);
        assert!(meter.handle_arrival(3_000_000));
        assert!((3_000_001..3_000_600).all(|number| meter.handle_arrival(number)));
        assert!(meter.share() < 0.02, "{}", meter.share());
    }
}
