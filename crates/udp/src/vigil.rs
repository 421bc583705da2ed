//! Being awake when it is time.
//!
//! A machine that is shared wakes a sleeper late now and then: a processor that has nothing to do is
//! given to others, and comes back when they let it. So a loop that must not be late, and has been,
//! gets up a little before its deadlines and stands the rest of the time awake. Where sleep ends in
//! time it sleeps to the end; where others take the processor from one who is awake as well,
//! standing does no good, and it sleeps again.

use std::time::Duration;

use backspin::time::Time;

/// What comes no later is in time.
const LATE: Duration = Duration::from_micros(300);

/// Who was late gets up so much sooner, and twice that if it was too little.
const FIRST: Duration = Duration::from_micros(500);

/// And no sooner: an eighth of a tick.
const MOST: Duration = Duration::from_millis(2);

/// What is left after many wake-ups in time is not worth getting up for.
const LEAST: Duration = Duration::from_micros(50);

/// A wake-up in time makes it shorter by this part: half is gone after some 350, six seconds of ticks.
const EASE: u32 = 512;

/// How long before its deadlines a loop gets up.
#[derive(Debug, Default)]
pub(crate) struct Vigil {
    early: Duration,
}

impl Vigil {
    /// When to get up for `deadline`.
    pub(crate) fn rise(&self, deadline: Time) -> Time {
        deadline - self.early
    }

    /// It meant to sleep until `due`, and woke.
    pub(crate) fn woke(&mut self, due: Time, now: Time) {
        if now.since(due) > LATE {
            self.early = (self.early * 2).clamp(FIRST, MOST);
        } else {
            self.early -= self.early / EASE;
            if self.early < LEAST {
                self.early = Duration::ZERO;
            }
        }
    }

    /// It stood awake for `deadline`, and saw it pass.
    pub(crate) fn stood(&mut self, deadline: Time, now: Time) {
        if now.since(deadline) > LATE {
            self.early /= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEADLINE: Time = Time::from_millis(100);

    /// Sleeps to a deadline, wakes so late, and stands what is left.
    fn sleep(vigil: &mut Vigil, late: Duration) {
        let due = vigil.rise(DEADLINE);
        vigil.woke(due, due + late);
    }

    fn early(vigil: &Vigil) -> Duration {
        DEADLINE.since(vigil.rise(DEADLINE))
    }

    #[test]
    fn who_is_never_late_sleeps_to_the_end() {
        let mut vigil = Vigil::default();
        for _ in 0..10_000 {
            sleep(&mut vigil, LATE);
            assert_eq!(vigil.rise(DEADLINE), DEADLINE);
        }
    }

    #[test]
    fn who_is_late_gets_up_sooner_up_to_a_limit() {
        let mut vigil = Vigil::default();
        let nights = [1, 2, 3, 4].map(|_| {
            sleep(&mut vigil, Duration::from_millis(9));
            early(&vigil)
        });
        assert_eq!(nights, [FIRST, FIRST * 2, MOST, MOST]);
    }

    #[test]
    fn it_is_forgotten_when_sleep_is_good_again() {
        let mut vigil = Vigil::default();
        sleep(&mut vigil, Duration::from_millis(9));
        for _ in 0..2_000 {
            sleep(&mut vigil, Duration::ZERO);
        }
        assert_eq!(early(&vigil), Duration::ZERO);
    }

    #[test]
    fn one_night_in_a_hundred_is_enough_to_stay_wary() {
        let mut vigil = Vigil::default();
        for night in 0..2_000 {
            let late = if night % 100 == 0 { Duration::from_millis(1) } else { Duration::ZERO };
            sleep(&mut vigil, late);
        }
        assert!(early(&vigil) > MOST / 2, "{vigil:?}");
    }

    #[test]
    fn standing_that_does_no_good_is_given_up() {
        let mut vigil = Vigil::default();
        for _ in 0..20 {
            sleep(&mut vigil, Duration::from_millis(1));
            for _ in 0..3 {
                vigil.stood(DEADLINE, DEADLINE + Duration::from_millis(1));
            }
        }
        assert!(early(&vigil) < FIRST, "{vigil:?}");
    }
}
