//! Being awake when it is time.
//!
//! A machine that is shared wakes a sleeper late now and then: a processor that has nothing to do is
//! given to others, and comes back when they let it. So a loop that must not be late, and has been,
//! gets up a little before its deadlines, does what can be done before them, and stands the rest of
//! the time awake. Where sleep ends in
//! time it sleeps to the end; where others take the processor from one who is awake just as often,
//! standing does no good, and it sleeps as well.

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

/// Standing must be late so many times less often than sleep to be worth it.
const WORTH: f32 = 2.0;

/// How long before its deadlines a loop gets up.
#[derive(Debug, Default)]
pub(crate) struct Vigil {
    early: Duration,
    /// How often sleep ended late, of late.
    slept_in: Share,
    /// How often the processor was taken from it while it stood.
    pushed: Share,
}

/// How often something happens, from 0 to 1; the last few hundred times count.
#[derive(Debug, Default)]
struct Share(f32);

impl Share {
    const TIMES: f32 = 256.0;

    fn count(&mut self, happened: bool) {
        self.0 += (f32::from(u8::from(happened)) - self.0) / Share::TIMES;
    }
}

impl Vigil {
    /// How long before a deadline to get up.
    pub(crate) fn early(&self) -> Duration {
        match self.pushed.0 * WORTH > self.slept_in.0 {
            true => Duration::ZERO,
            false => self.early,
        }
    }

    /// It meant to sleep until `due`, and woke.
    pub(crate) fn woke(&mut self, due: Time, now: Time) {
        let is_late = now.since(due) > LATE;
        self.slept_in.count(is_late);
        if is_late {
            self.early = (self.early * 2).clamp(FIRST, MOST);
        } else {
            self.early -= self.early / EASE;
            if self.early < LEAST {
                self.early = Duration::ZERO;
            }
        }
        // Forgotten in time, so that it is tried again.
        self.pushed.0 -= self.pushed.0 / (4.0 * Share::TIMES);
    }

    /// It stood awake for `deadline`, and saw it pass.
    pub(crate) fn stood(&mut self, deadline: Time, now: Time) {
        self.pushed.count(now.since(deadline) > LATE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEADLINE: Time = Time::from_millis(100);

    /// Sleeps to a deadline, wakes so late, and stands what is left.
    fn sleep(vigil: &mut Vigil, late: Duration) {
        let due = DEADLINE - vigil.early();
        vigil.woke(due, due + late);
    }

    #[test]
    fn who_is_never_late_sleeps_to_the_end() {
        let mut vigil = Vigil::default();
        for _ in 0..10_000 {
            sleep(&mut vigil, LATE);
            assert_eq!(vigil.early(), Duration::ZERO);
        }
    }

    #[test]
    fn who_is_late_gets_up_sooner_up_to_a_limit() {
        let mut vigil = Vigil::default();
        let nights = [1, 2, 3, 4].map(|_| {
            sleep(&mut vigil, Duration::from_millis(9));
            vigil.early()
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
        assert_eq!(vigil.early(), Duration::ZERO);
    }

    #[test]
    fn one_night_in_a_hundred_is_enough_to_stay_wary() {
        let mut vigil = Vigil::default();
        for night in 0..2_000 {
            let late = if night % 100 == 0 { Duration::from_millis(1) } else { Duration::ZERO };
            sleep(&mut vigil, late);
        }
        assert!(vigil.early() > MOST / 2, "{vigil:?}");
    }

    /// So many sleeps, every `sleep`th of them late; who stands is late every `stand`th time. Says
    /// how often it stood.
    fn nights(vigil: &mut Vigil, count: u32, sleep: u32, stand: u32) -> u32 {
        let (late, mut stood) = (Duration::from_millis(1), 0);
        for night in 0..count {
            let due = DEADLINE - vigil.early();
            let slept_in = night % sleep == 0;
            vigil.woke(due, if slept_in { due + late } else { due });
            if due < DEADLINE {
                stood += 1;
                let is_pushed = stood % stand == 0;
                vigil.stood(DEADLINE, if is_pushed { DEADLINE + late } else { DEADLINE });
            }
        }
        stood
    }

    #[test]
    fn standing_that_does_good_is_done() {
        let vigil = &mut Vigil::default();
        nights(vigil, 1_000, 20, 200);
        assert!(nights(vigil, 1_000, 20, 200) > 900, "{vigil:?}");
    }

    #[test]
    fn standing_that_does_no_good_is_given_up_and_tried_again() {
        let vigil = &mut Vigil::default();
        nights(vigil, 1_000, 3, 3);
        let stood = nights(vigil, 1_000, 3, 3);
        assert!((1..=300).contains(&stood), "{stood} {vigil:?}");
        nights(vigil, 3_000, 20, 1_000_000);
        assert!(nights(vigil, 1_000, 20, 1_000_000) > 900, "{vigil:?}");
    }
}
