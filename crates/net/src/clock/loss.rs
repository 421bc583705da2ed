//! What share of numbered datagrams is lost, and how far ahead that asks a clock to be.

/// So many words of 64 datagrams are remembered: 17 s at 60 a second.
const WORDS: usize = 16;

/// The newest so many may still be on their way, overtaken by others: not yet called lost.
const GRACE: u32 = 4;

/// A longer gap is an outage, not loss that repeating could mend: the rest of it is left out.
const LONGEST_GAP: u32 = 16;

/// What is assumed before there is evidence: so many datagrams, and so many of them lost.
const PRIOR: f64 = 20.0;
const PRIOR_LOST: f64 = 1.0;

/// Recent loss is believed at once when it is so many deviations above that of long ago.
const SUDDEN_DEVIATIONS: f64 = 3.0;

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

    /// The share that is lost, from 0 to 1: of the last thousand, or of the last two seconds
    /// if that is suddenly far more. One in twenty before there is evidence.
    pub fn share(&self) -> f64 {
        let (lost, counted) = self.count(WORDS);
        let share = (lost + PRIOR_LOST) / (counted + PRIOR);
        let (recently_lost, recently) = self.count(2);
        let excess = recently_lost - recently * share;
        let deviation = (recently * share * (1.0 - share)).sqrt();
        if excess > SUDDEN_DEVIATIONS * deviation + 1.0 { recently_lost / recently } else { share }
    }

    /// How many are lost of the newest `words` words, and how many that is of.
    fn count(&self, words: usize) -> (f64, f64) {
        let len = self.len.min(words as u32 * 64);
        let counted = len.saturating_sub(GRACE);
        let mut arrived = 0;
        for (index, word) in self.arrived[..words].iter().enumerate() {
            let settled = if index == 0 { *word >> GRACE } else { *word };
            arrived += settled.count_ones();
        }
        (f64::from(counted.saturating_sub(arrived)), f64::from(counted))
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

/// How many further copies, in intervals, a share of lost datagrams asks for until all but one
/// in so many have come: a table instead of a logarithm, whose last bit is the platform's.
pub(super) struct Copies(&'static [(f64, f64)]);

impl Copies {
    /// For inputs: all but about 15 in 100,000. `8.8 / -ln(p) - 1`.
    pub(super) const INPUTS: Copies = Copies(&[
        (0.0, 0.0),
        (0.001, 0.27),
        (0.0025, 0.47),
        (0.005, 0.66),
        (0.01, 0.91),
        (0.02, 1.25),
        (0.035, 1.63),
        (0.05, 1.94),
        (0.075, 2.40),
        (0.1, 2.82),
        (0.15, 3.64),
        (0.2, 4.47),
        (0.25, 5.35),
    ]);

    /// For snapshots: all but about 3 in 1,000. `5.84 / -ln(p) - 1`.
    pub(super) const SNAPSHOTS: Copies = Copies(&[
        (0.0, 0.0),
        (0.003, 0.01),
        (0.005, 0.10),
        (0.01, 0.27),
        (0.02, 0.49),
        (0.035, 0.74),
        (0.05, 0.95),
        (0.075, 1.25),
        (0.1, 1.54),
        (0.15, 2.08),
        (0.2, 2.63),
        (0.25, 3.21),
    ]);

    /// For this share of loss; beyond a quarter no more than for a quarter.
    pub(super) fn at(&self, lost: f64) -> f64 {
        let above = self.0.partition_point(|(share, _)| *share < lost);
        match (above.checked_sub(1).and_then(|below| self.0.get(below)), self.0.get(above)) {
            (Some(low), Some(high)) => low.1 + (lost - low.0) / (high.0 - low.0) * (high.1 - low.1),
            (None, Some(only)) | (Some(only), None) => only.1,
            (None, None) => 0.0,
        }
    }
}
