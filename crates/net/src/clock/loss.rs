//! What share of numbered datagrams is lost: of inputs on the server, of snapshots on the client.

/// So many words of 64 datagrams are remembered: half a minute at 60 a second.
const WORDS: usize = 32;

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
#[derive(Clone, Debug, Default)]
pub struct LossMeter {
    newest: Option<u32>,
    /// How many numbers have passed, up to what is remembered.
    len: u32,
    /// Bit `i` of word `w`: whether the datagram `64 w + i` before the newest has arrived.
    arrived: [u64; WORDS],
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
            self.arrived[0] = 1;
            self.len = 1;
            return true;
        };
        let ahead = number.wrapping_sub(newest) as i32;
        if ahead > 0 {
            self.newest = Some(number);
            self.advance(ahead.unsigned_abs());
            self.arrived[0] |= 1;
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
        is_first
    }

    /// The newest number that arrived.
    pub const fn newest(&self) -> Option<u32> {
        self.newest
    }

    /// The share that is lost, from 0 to 1: of as many datagrams, up to two thousand, as fared
    /// no differently from the newest hundred. One in twenty before there is evidence.
    pub fn share(&self) -> f64 {
        let newest = self.count(WORDS_AT_LEAST);
        let mut share = newest.share();
        let mut words = WORDS_AT_LEAST;
        while words < WORDS {
            words *= 2;
            let longer = self.count(words);
            if newest.differs_from(&longer) {
                break;
            }
            share = longer.share();
        }
        share
    }

    /// What became of the newest `words` words.
    fn count(&self, words: usize) -> Count {
        let counted = self.len.min(words as u32 * 64).saturating_sub(GRACE);
        let (mut lost, mut runs) = (0, 0);
        let mut newer = 0;
        for (index, arrived) in self.arrived[..words].iter().enumerate() {
            let first = if index == 0 { GRACE } else { 0 };
            let end = self.len.saturating_sub(index as u32 * 64).min(64);
            let settled = low_bits(end) & !low_bits(first);
            let missing = !arrived & settled;
            lost += missing.count_ones();
            runs += (missing & !(missing << 1 | newer)).count_ones();
            newer = missing >> 63;
        }
        Count { lost: lost.into(), runs: runs.into(), counted: counted.into() }
    }

    /// Makes room for `by` newer datagrams, at most those of the longest gap.
    fn advance(&mut self, by: u32) {
        let by = by.min(LONGEST_GAP);
        self.shift(by);
        self.len = (self.len + by).min(WORDS as u32 * 64);
    }

    /// Moves every bit up by `by`, less than 64.
    fn shift(&mut self, by: u32) {
        let mut carry = 0;
        for word in &mut self.arrived {
            let out = *word >> (64 - by);
            *word = *word << by | carry;
            carry = out;
        }
    }
}

/// What became of some datagrams.
struct Count {
    lost: f64,
    /// How many times one or more were lost in a row.
    runs: f64,
    counted: f64,
}

impl Count {
    fn share(&self) -> f64 {
        (self.lost + PRIOR_LOST) / (self.counted + PRIOR)
    }

    /// Whether these fared differently from the `others`, by more than chance would have it.
    fn differs_from(&self, others: &Count) -> bool {
        let share = others.share();
        // Losses in runs of mean length n scatter as if there were 2 n - 1 times fewer.
        let run_len = (others.lost + PRIOR_LOST) / (others.runs + PRIOR_LOST);
        let variance = self.counted * share * (1.0 - share) * (2.0 * run_len - 1.0);
        let excess = self.lost - self.counted * share;
        let limit = if excess > 0.0 { WORSE_DEVIATIONS } else { BETTER_DEVIATIONS };
        excess.abs() > limit * variance.sqrt() + 1.0
    }
}

/// A word with the lowest `count` of its 64 bits set.
fn low_bits(count: u32) -> u64 {
    1u64.checked_shl(count).unwrap_or(0).wrapping_sub(1)
}
