//! Loss, reordering and duplicates of one sender, from the sequence numbers seen.

/// A number further than this from the newest is no loss: another session has begun, or it is
/// somebody else's.
const MAX_JUMP: i64 = 1024;

const WINDOW: usize = MAX_JUMP as usize;

/// The numbers of one sender, wrapping at 2^32.
#[derive(Clone, Debug)]
pub(super) struct Sequence {
    run: Run,
    /// A number that jumped too far. With a neighbour, it is the start of a new run.
    stray: Option<u32>,
    total: Figures,
}

/// What the numbers tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Figures {
    /// Numbers between the lowest and the highest, both included.
    pub(super) sent: u64,
    /// Those never seen.
    pub(super) lost: u64,
    /// Those seen after a higher one.
    pub(super) reordered: u64,
    /// Sightings beyond a number's first.
    pub(super) duplicates: u64,
}

impl Sequence {
    /// The count in which `number` was seen first.
    pub(super) fn new(number: u32) -> Self {
        Sequence { run: Run::new(number), stray: None, total: Figures::default() }
    }

    /// The next number seen.
    pub(super) fn see(&mut self, number: u32) {
        if self.run.see(number) {
            self.stray = None;
            return;
        }
        let stray = self.stray.replace(number);
        if let Some(stray) = stray.filter(|&stray| distance(stray, number).abs() <= MAX_JUMP) {
            self.total.add(self.run.figures());
            self.run = Run::new(stray);
            self.run.see(number);
            self.stray = None;
        }
    }

    /// The figures of all numbers so far.
    pub(super) fn figures(&self) -> Figures {
        let mut total = self.total;
        total.add(self.run.figures());
        total
    }
}

impl Figures {
    fn add(&mut self, other: Figures) {
        self.sent += other.sent;
        self.lost += other.lost;
        self.reordered += other.reordered;
        self.duplicates += other.duplicates;
    }
}

/// Numbers that belong together. Places are counted from the first number seen, so that they do
/// not wrap.
#[derive(Clone, Debug)]
struct Run {
    newest: u32,
    highest: i64,
    lowest: i64,
    /// Which of the newest [`WINDOW`] places were seen, each at its place modulo the window.
    seen: Box<[bool; WINDOW]>,
    distinct: u64,
    reordered: u64,
    duplicates: u64,
}

impl Run {
    fn new(number: u32) -> Self {
        let mut seen = Box::new([false; WINDOW]);
        seen[0] = true;
        Run {
            newest: number,
            highest: 0,
            lowest: 0,
            seen,
            distinct: 1,
            reordered: 0,
            duplicates: 0,
        }
    }

    /// Takes `number`, unless it is too far away.
    fn see(&mut self, number: u32) -> bool {
        let distance = distance(self.newest, number);
        let place = self.highest + distance;
        match distance {
            ..=0 if distance > -MAX_JUMP => self.see_old(place),
            1..=MAX_JUMP => {
                for skipped in self.highest + 1..place {
                    self.seen[slot(skipped)] = false;
                }
                self.seen[slot(place)] = true;
                self.distinct += 1;
                (self.newest, self.highest) = (number, place);
            }
            _ => return false,
        }
        true
    }

    fn see_old(&mut self, place: i64) {
        if std::mem::replace(&mut self.seen[slot(place)], true) {
            self.duplicates += 1;
        } else {
            self.distinct += 1;
            self.reordered += 1;
            self.lowest = self.lowest.min(place);
        }
    }

    fn figures(&self) -> Figures {
        let sent = (self.highest - self.lowest + 1) as u64;
        Figures {
            sent,
            lost: sent - self.distinct,
            reordered: self.reordered,
            duplicates: self.duplicates,
        }
    }
}

/// How far ahead of `from` is `to`, the shorter way round.
fn distance(from: u32, to: u32) -> i64 {
    i64::from(to.wrapping_sub(from) as i32)
}

fn slot(place: i64) -> usize {
    place.rem_euclid(WINDOW as i64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(numbers: impl IntoIterator<Item = u32>) -> [u64; 4] {
        let mut numbers = numbers.into_iter();
        let mut sequence = Sequence::new(numbers.next().expect("a first number"));
        numbers.for_each(|number| sequence.see(number));
        let Figures { sent, lost, reordered, duplicates } = sequence.figures();
        [sent, lost, reordered, duplicates]
    }

    #[test]
    fn numbers_in_order_lose_nothing() {
        assert_eq!(figures(1..=5000), [5000, 0, 0, 0]);
        assert_eq!(figures([7]), [1, 0, 0, 0]);
    }

    #[test]
    fn loss_reordering_and_duplicates_are_told_apart() {
        assert_eq!(figures([1, 2, 4, 6, 5, 5, 8]), [8, 2, 1, 1]);
        assert_eq!(figures([2, 1, 3]), [3, 0, 1, 0]);
        assert_eq!(figures([1, 1, 1]), [1, 0, 0, 2]);
    }

    #[test]
    fn the_count_wraps() {
        let around = [u32::MAX - 1, u32::MAX, 1, 0, 2, 4];
        assert_eq!(figures(around), [7, 1, 1, 0]);
    }

    #[test]
    fn a_gap_is_loss_up_to_the_longest_jump() {
        assert_eq!(figures([0, 1024]), [1025, 1023, 0, 0]);
        assert_eq!(figures([0, 1025]), [1, 0, 0, 0]);
        assert_eq!(figures([2000, 2000 - 1023]), [1024, 1022, 1, 0]);
        assert_eq!(figures([2000, 2000 - 1024]), [1, 0, 0, 0]);
    }

    #[test]
    fn a_new_session_is_no_loss_and_a_stray_number_is_nothing() {
        assert_eq!(figures([1, 2, 90_000, 90_002, 90_003]), [6, 1, 0, 0]);
        assert_eq!(figures([1, 2, 90_000, 3, 500_000, 4]), [4, 0, 0, 0]);
    }

    #[test]
    fn a_number_older_than_the_window_is_nothing() {
        let run = (0..3000).chain([2500, 1]);
        assert_eq!(figures(run), [3000, 0, 0, 1]);
    }

    #[test]
    fn whatever_the_numbers_no_more_are_lost_than_sent() {
        let mut number = 1_u32;
        let mut sequence = Sequence::new(0);
        for _ in 0..100_000 {
            number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            sequence.see(number >> 21);
            let figures = sequence.figures();
            assert!(figures.lost <= figures.sent, "{figures:?}");
        }
    }
}
