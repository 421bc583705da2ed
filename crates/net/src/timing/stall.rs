//! How late the client's own thread wakes, and the room that the clocks make for it.
//!
//! A busy machine is a link, too. What it does often is in the delays of the last two seconds, which
//! the clocks look at anyway. But a scheduler that takes the processor away for 40 ms every few
//! seconds does as much harm and is forgotten in between, so the longest stalls are remembered for
//! longer. One alone is an accident; and nobody waits for a machine that was asleep.

use super::sliding_window::SlidingWindow;
use crate::time::Time;
use std::time::Duration;

/// What is done no later is in time.
pub(super) const LATE: Duration = Duration::from_millis(1);

/// The longest stall of each half second is remembered, for 16 s.
const STRETCH: Duration = Duration::from_millis(500);
const STRETCHES: usize = 32;

/// No longer stall is made room for.
const LONGEST_S: f64 = 0.1;

/// A stall may begin when this share of datagrams has come.
const MOST: f64 = 0.86;

/// The longest stalls of late.
#[derive(Clone, Debug, Default)]
pub(super) struct Stalls {
    /// By the number of the half second since time zero.
    longest_s: [f64; STRETCHES],
    stretch: u64,
}

impl Stalls {
    /// Something was done so long after it was due.
    pub(super) fn handle_late(&mut self, now: Time, late: Duration) {
        let stretch = (now.as_nanos() / STRETCH.as_nanos() as u64).max(self.stretch);
        let passed = (stretch - self.stretch).min(STRETCHES as u64);
        for gone in 0..passed {
            self.longest_s[((stretch - gone) % STRETCHES as u64) as usize] = 0.0;
        }
        self.stretch = stretch;
        if late > LATE {
            let longest_s = &mut self.longest_s[(stretch % STRETCHES as u64) as usize];
            *longest_s = longest_s.max(late.as_secs_f64()).min(LONGEST_S);
        }
    }

    /// How late to be so that what is later than all room takes no more than a share `allowed` of
    /// the time, where datagrams come as late as these. Nothing where there are no stalls.
    pub(super) fn reach_s<const N: usize>(
        &self,
        late_s: &SlidingWindow<N>,
        allowed: f64,
    ) -> Option<f64> {
        let room_s = self.room_s(allowed);
        (room_s > 0.0).then_some(late_s.quantile(MOST)? + room_s)
    }

    /// The least room beyond which all stalls together are no longer than allowed.
    fn room_s(&self, allowed: f64) -> f64 {
        let mut longest_s = self.longest_s;
        longest_s.sort_unstable_by(|a, b| b.total_cmp(a));
        let allowed_s = allowed * STRETCH.as_secs_f64() * STRETCHES as f64;
        let (mut sum_s, mut room_s) = (0.0, 0.0);
        for (count, stall_s) in (1..).zip(longest_s) {
            if stall_s <= room_s {
                break;
            }
            sum_s += stall_s;
            room_s = (sum_s - allowed_s) / f64::from(count);
        }
        // One alone is no habit.
        room_s.clamp(0.0, longest_s[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALLOWED: f64 = 0.002;

    /// Stalls of so many ms, each so many ms after time zero.
    fn stalls(all: &[(u64, u64)]) -> Stalls {
        let mut stalls = Stalls::default();
        for &(at, late) in all {
            stalls.handle_late(Time::from_millis(at), Duration::from_millis(late));
        }
        stalls
    }

    fn room_ms(stalls: &Stalls) -> f64 {
        (stalls.room_s(ALLOWED) * 1e3).round()
    }

    #[test]
    fn a_machine_that_wakes_in_time_needs_no_room() {
        let every_tick: Vec<_> = (0..1_000).map(|tick| (tick * 16, 1)).collect();
        let stalls = stalls(&every_tick);
        assert_eq!(room_ms(&stalls), 0.0);
        let mut window = SlidingWindow::<4>::new();
        window.push(7.0);
        assert_eq!(stalls.reach_s(&window, ALLOWED), None);
    }

    #[test]
    fn what_is_left_of_all_stalls_is_no_longer_than_allowed() {
        // 32 ms of 16 s are allowed: what is left of four stalls of 40 ms is 4 times 8 ms.
        let four: Vec<_> = (0..4).map(|it| (it * 4_000, 40)).collect();
        assert_eq!(room_ms(&stalls(&four)), 32.0);
        // Of 80, 60 and 10 it is 16, 16 and nothing; the longest alone decides nothing.
        assert_eq!(room_ms(&stalls(&[(0, 80), (5_000, 60), (9_000, 10)])), 54.0);
        assert_eq!(room_ms(&stalls(&[(0, 80), (5_000, 20)])), 20.0);
    }

    #[test]
    fn one_stall_is_an_accident_however_long_it_was() {
        assert_eq!(room_ms(&stalls(&[(3_000, 400)])), 0.0);
    }

    #[test]
    fn no_stall_counts_for_more_than_the_longest_that_room_is_made_for() {
        assert!(stalls(&[(0, 9_000), (9_000, 9_000)]).room_s(ALLOWED) < LONGEST_S);
    }

    #[test]
    fn stalls_are_forgotten_after_16_seconds() {
        let mut stalls = stalls(&[(1_000, 50), (2_000, 50)]);
        stalls.handle_late(Time::from_millis(16_900), Duration::ZERO);
        assert!(room_ms(&stalls) > 0.0);
        stalls.handle_late(Time::from_millis(17_100), Duration::ZERO);
        assert_eq!(room_ms(&stalls), 0.0);
        // A long silence is survived, and so is a time before the last.
        stalls.handle_late(Time::from_millis(900_000), Duration::from_millis(50));
        stalls.handle_late(Time::from_millis(100), Duration::from_millis(50));
        assert_eq!(room_ms(&stalls), 0.0);
    }
}
