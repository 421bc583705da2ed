//! The replay window, the receiving side of the `native` header's sequence: what is new, late,
//! repeated or not the peer's at all, and how much was lost.
//!
//! The header carries the low half of a 64-bit count; here it becomes whole again. Whoever owns
//! the session hands every decoded header to its window before it believes the packet.

use crate::sabotage::{self, Sabotage};

/// How far ahead of the newest a datagram may be.
///
/// A peer whose datagrams did not arrive for the ten seconds until it is dropped must still fit:
/// that is 400 a second, a snapshot in six parts at 60 Hz. And someone who cannot see the
/// sequence hits a window of this size once in a million guesses, and needs two such hits in a row.
const AHEAD: u32 = 4096;

/// How far behind the newest a datagram may be: one bit for each. At 60 a second that is a
/// second of reordering.
const BEHIND: u32 = u64::BITS;

/// A datagram that is so far ahead is not believed before a second one confirms it.
///
/// A bit that flipped on the way would move the window by up to [`AHEAD`], and the peer would not be
/// heard for a minute. After a real silence this costs one datagram.
const DOUBTED: u32 = BEHIND;

/// What a datagram is, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Newer than all before. Take it.
    Newest {
        /// How many numbers between the newest before and this one have not arrived.
        gap: u32,
    },
    /// Overtaken by a newer one, but not seen before. Take it.
    Late,
    /// Seen before. Drop it.
    Duplicate,
    /// Too far behind to know, or from before the beginning. Drop it.
    TooOld,
    /// Too far ahead to be the peer's, or not yet confirmed to be. Drop it.
    TooFar,
}

impl Arrival {
    /// Whether the datagram is to be taken.
    pub const fn is_taken(self) -> bool {
        matches!(self, Arrival::Newest { .. } | Arrival::Late)
    }
}

/// Which of the peer's numbers have arrived, and what became of the others.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct ReplayWindow {
    first: u64,
    /// One past the newest.
    next: u64,
    /// Which of the numbers before `next` have arrived; `next - 1` is bit 0.
    seen: u64,
    /// One past the last number that was too far ahead to be believed.
    doubted: u64,
    /// All but what the numbers say themselves.
    counts: ArrivalCounts,
}

impl ReplayWindow {
    /// A window that expects `first`; what was sent before it is [`Arrival::TooOld`].
    pub const fn new(first: u32) -> Self {
        let first = first as u64;
        ReplayWindow { first, next: first, seen: 0, doubted: 0, counts: ArrivalCounts::NONE }
    }

    /// Judges, remembers and counts a number.
    pub fn handle(&mut self, sequence: u32) -> Arrival {
        // The nearest number with this low half, on whichever side.
        let distance = sequence.wrapping_sub(self.next as u32).cast_signed();
        let arrival = match u32::try_from(distance) {
            Ok(gap) => self.handle_new(gap),
            Err(_) => self.handle_old(distance.unsigned_abs()),
        };
        let counts = &mut self.counts;
        match arrival {
            Arrival::Newest { .. } => counts.received += 1,
            Arrival::Late => {
                counts.received += 1;
                counts.late += 1;
            }
            Arrival::Duplicate => counts.duplicates += 1,
            Arrival::TooOld => counts.too_old += 1,
            Arrival::TooFar => counts.too_far += 1,
        }
        arrival
    }

    /// The newest number, whole; `None` before the first arrival.
    pub const fn newest(&self) -> Option<u64> {
        if self.next == self.first { None } else { Some(self.next - 1) }
    }

    /// The share of the last 64 numbers, the newest among them, that have not arrived; 0 before
    /// the first. What is still on its way counts until it arrives.
    pub fn recent_loss(&self) -> f64 {
        match self.expected().min(BEHIND.into()) {
            0 => 0.0,
            expected => {
                let lost = expected - u64::from(self.seen.count_ones());
                lost as f64 / expected as f64
            }
        }
    }

    /// What has happened so far.
    pub const fn counts(&self) -> ArrivalCounts {
        ArrivalCounts { expected: self.expected(), ..self.counts }
    }

    /// How many there are up to the newest.
    const fn expected(&self) -> u64 {
        self.next - self.first
    }

    fn handle_new(&mut self, gap: u32) -> Arrival {
        if gap >= AHEAD {
            return Arrival::TooFar;
        }
        let step = gap + 1;
        if gap >= DOUBTED {
            let number = self.next + u64::from(gap);
            let before = std::mem::replace(&mut self.doubted, number + 1);
            if !(before..before + u64::from(DOUBTED)).contains(&number) {
                return Arrival::TooFar;
            }
        }
        self.seen = self.seen.checked_shl(step).unwrap_or(0) | 1;
        self.next += u64::from(step);
        Arrival::Newest { gap }
    }

    /// `back` is at least 1, which is the newest.
    fn handle_old(&mut self, back: u32) -> Arrival {
        if back > BEHIND || self.next - self.first < u64::from(back) {
            return Arrival::TooOld;
        }
        let bit = 1 << (back - 1);
        if self.seen & bit != 0 && !sabotage::is(Sabotage::TakeDuplicates) {
            return Arrival::Duplicate;
        }
        self.seen |= bit;
        Arrival::Late
    }
}

/// What became of the peer's datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArrivalCounts {
    /// Numbers up to the newest that arrived: how many the peer has sent, as far as is known.
    pub expected: u64,
    /// Datagrams taken.
    pub received: u64,
    /// Those of them that a newer one had overtaken.
    pub late: u64,
    /// See [`Arrival::Duplicate`].
    pub duplicates: u64,
    /// See [`Arrival::TooOld`].
    pub too_old: u64,
    /// See [`Arrival::TooFar`].
    pub too_far: u64,
}

impl ArrivalCounts {
    const NONE: ArrivalCounts =
        ArrivalCounts { expected: 0, received: 0, late: 0, duplicates: 0, too_old: 0, too_far: 0 };

    /// How many have not arrived. What is still on its way counts until it does.
    pub const fn lost(&self) -> u64 {
        self.expected - self.received
    }

    /// The share of datagrams lost; 0 before the first.
    pub fn loss(&self) -> f64 {
        match self.expected {
            0 => 0.0,
            expected => self.lost() as f64 / expected as f64,
        }
    }

    /// How many lay outside the window, on either side.
    pub const fn out_of_window(&self) -> u64 {
        self.too_old + self.too_far
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    const NEXT: Arrival = Arrival::Newest { gap: 0 };

    #[test]
    fn datagrams_in_order_are_all_newest_across_the_wrap() {
        let mut window = ReplayWindow::new(u32::MAX - 1);
        assert_eq!(window.newest(), None);
        for sequence in [u32::MAX - 1, u32::MAX, 0, 1, 2] {
            assert_eq!(window.handle(sequence), NEXT);
        }
        assert_eq!(window.newest(), Some((1 << 32) + 2));
        let counts = window.counts();
        assert_eq!((counts.expected, counts.received, counts.lost()), (5, 5, 0));
        assert_eq!(counts.loss(), 0.0);
    }

    #[test]
    fn a_gap_is_lost_until_the_late_one_comes_and_then_it_is_a_duplicate() {
        let mut window = ReplayWindow::new(10);
        assert_eq!(window.handle(10), NEXT);
        assert_eq!(window.handle(13), Arrival::Newest { gap: 2 });
        assert_eq!((window.counts().lost(), window.counts().loss()), (2, 0.5));
        assert_eq!(window.handle(11), Arrival::Late);
        assert_eq!((window.counts().lost(), window.counts().loss()), (1, 0.25));
        assert_eq!(window.handle(11), Arrival::Duplicate);
        assert_eq!(window.handle(13), Arrival::Duplicate);
        assert_eq!(window.newest(), Some(13));
        let counts = window.counts();
        assert_eq!((counts.received, counts.late, counts.duplicates), (3, 1, 2));
    }

    #[test]
    fn the_first_may_be_lost() {
        let mut window = ReplayWindow::new(100);
        assert_eq!(window.handle(103), Arrival::Newest { gap: 3 });
        assert_eq!(window.counts().lost(), 3);
        assert_eq!(window.handle(100), Arrival::Late);
    }

    #[test]
    fn nothing_comes_from_before_the_beginning() {
        for first in [0, 1, 70, u32::MAX] {
            let mut window = ReplayWindow::new(first);
            assert_eq!(window.handle(first.wrapping_sub(1)), Arrival::TooOld);
            assert_eq!(window.handle(first), NEXT);
            assert_eq!(window.handle(first.wrapping_sub(1)), Arrival::TooOld);
            assert_eq!(window.counts().received, 1);
        }
    }

    #[test]
    fn the_window_reaches_4096_ahead_and_no_further() {
        let mut window = ReplayWindow::new(7);
        assert_eq!(window.handle(7 + AHEAD), Arrival::TooFar);
        assert_eq!(window.handle(7 + AHEAD - 2), Arrival::TooFar);
        assert_eq!(window.handle(7 + AHEAD - 1), Arrival::Newest { gap: AHEAD - 1 });
        assert_eq!(window.counts().too_far, 2);
    }

    #[test]
    fn one_flipped_bit_does_not_silence_a_peer() {
        let mut window = ReplayWindow::new(0);
        window.handle(0);
        assert_eq!(window.handle(1 ^ (1 << 11)), Arrival::TooFar);
        (2..100).for_each(|sequence| assert!(window.handle(sequence).is_taken()));
        // Another flip does not confirm the first, nor does a repeat.
        assert_eq!(window.handle(100 ^ (1 << 10)), Arrival::TooFar);
        assert_eq!(window.handle(101 ^ (1 << 11)), Arrival::TooFar);
        assert_eq!(window.handle(101 ^ (1 << 11)), Arrival::TooFar);
        assert_eq!(window.handle(102), Arrival::Newest { gap: 2 });
    }

    #[test]
    fn the_window_reaches_64_behind_the_newest_and_no_further() {
        let mut window = ReplayWindow::new(0);
        window.handle(0);
        window.handle(199);
        window.handle(200);
        // The newest is the first of the 64.
        assert_eq!(window.handle(200 - BEHIND), Arrival::TooOld);
        assert_eq!(window.handle(201 - BEHIND), Arrival::Late);
        assert_eq!(window.handle(201 - BEHIND), Arrival::Duplicate);
        assert_eq!(window.counts().too_old, 1);
        // And the first after the gap, which was not confirmed.
        assert_eq!(window.counts().out_of_window(), 2);
    }

    #[test]
    fn recent_loss_forgets_what_is_64_behind() {
        let mut window = ReplayWindow::new(10);
        assert_eq!(window.recent_loss(), 0.0);
        window.handle(11);
        assert_eq!(window.recent_loss(), 0.5);
        window.handle(10);
        assert_eq!(window.recent_loss(), 0.0);
        window.handle(13);
        assert_eq!(window.recent_loss(), 0.25);
        // 12 is the oldest of the 64 when 75 comes, and gone with 76.
        (14..=75).for_each(|sequence| {
            window.handle(sequence);
        });
        assert_eq!(window.recent_loss(), 1.0 / 64.0);
        window.handle(76);
        assert_eq!(window.recent_loss(), 0.0);
        assert_eq!(window.counts().lost(), 1);
        window.handle(75 + AHEAD);
        window.handle(76 + AHEAD);
        assert_eq!(window.recent_loss(), 63.0 / 64.0);
    }

    #[test]
    fn a_replay_from_the_previous_lap_is_refused() {
        let mut window = ReplayWindow::new(0);
        (0..=BEHIND).for_each(|sequence| {
            window.handle(sequence);
        });
        assert_eq!(window.handle(0), Arrival::TooOld);
        assert_eq!(window.handle(u32::MAX), Arrival::TooOld);
        assert_eq!(window.handle(1 << 31), Arrival::TooFar);
    }

    #[test]
    fn a_peer_comes_back_after_ten_seconds_of_400_datagrams() {
        let mut window = ReplayWindow::new(0);
        window.handle(0);
        assert_eq!(window.handle(4_000), Arrival::TooFar);
        assert_eq!(window.handle(4_001), Arrival::Newest { gap: 4_000 });
    }

    /// The same judgement with whole numbers and a set of everything.
    struct Model {
        first: i128,
        newest: i128,
        doubted: Option<i128>,
        seen: BTreeSet<i128>,
    }

    impl Model {
        fn handle(&mut self, number: i128) -> Arrival {
            if number > self.newest + i128::from(AHEAD) {
                Arrival::TooFar
            } else if number > self.newest {
                let gap = (number - self.newest - 1) as u32;
                if gap >= DOUBTED {
                    let after = self.doubted.replace(number).map(|doubted| number - doubted);
                    if !after.is_some_and(|after| (1..=i128::from(DOUBTED)).contains(&after)) {
                        return Arrival::TooFar;
                    }
                }
                self.newest = number;
                self.seen.insert(number);
                Arrival::Newest { gap }
            } else if number < self.first || number <= self.newest - i128::from(BEHIND) {
                Arrival::TooOld
            } else if self.seen.insert(number) {
                Arrival::Late
            } else {
                Arrival::Duplicate
            }
        }
    }

    proptest! {
        #[test]
        fn whole_numbers_and_their_low_halves_are_judged_alike(
            first in prop_oneof![any::<u32>(), (u32::MAX - 200)..=u32::MAX, 0..200u32],
            steps in proptest::collection::vec(
                prop_oneof![4 => -3..4i64, 2 => -70..70i64, 1 => -5_000..5_000i64],
                0..400,
            ),
        ) {
            let mut window = ReplayWindow::new(first);
            let first = i128::from(first);
            let mut model = Model { first, newest: first - 1, doubted: None, seen: BTreeSet::new() };
            for step in steps {
                let number = model.newest + 1 + i128::from(step);
                prop_assert_eq!(window.handle(number as u32), model.handle(number));
            }
            let counts = window.counts();
            prop_assert_eq!(counts.received, model.seen.len() as u64);
            prop_assert_eq!(i128::from(counts.expected), model.newest + 1 - first);
            prop_assert!((0.0..=1.0).contains(&counts.loss()));
            let newest = window.newest().map(i128::from);
            prop_assert_eq!(newest, (model.newest >= first).then_some(model.newest));
        }

        #[test]
        fn no_datagram_is_taken_twice(
            first in any::<u32>(),
            sequences in proptest::collection::vec(0..300u32, 0..600),
        ) {
            let mut window = ReplayWindow::new(first);
            let mut taken = BTreeSet::new();
            for offset in sequences {
                let arrival = window.handle(first.wrapping_add(offset));
                prop_assert!(!arrival.is_taken() || taken.insert(offset));
            }
            prop_assert_eq!(window.counts().received, taken.len() as u64);
        }
    }
}
