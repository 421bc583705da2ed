//! A clock that follows a target by running a little faster or slower, never backwards.

use crate::sabotage::{self, Sabotage};
use crate::time::Time;
use std::time::Duration;

/// The most that a clock is bent. Below 5 % by more than two quartz crystals differ, so that
/// the rate stays within 5 % of the server's time as well.
pub(super) const MAX_BEND: f64 = 0.049;

/// A small error is gone in about this long.
const SETTLE_S: f64 = 0.25;

/// Further back than this, bending would take six seconds: the clock jumps forward instead.
const TOO_SLOW_S: f64 = 0.3;

/// Further ahead than this, the clock stands still until its target has come.
const TOO_FAST_S: f64 = 1.0;

/// By how much a clock may be slowed down and sped up, as shares of its rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bend {
    pub(super) slower: f64,
    pub(super) faster: f64,
}

impl Bend {
    /// As much as nobody sees.
    pub(super) const UNSEEN: Bend = Bend { slower: MAX_BEND, faster: MAX_BEND };
}

/// What a clock shows for any local time from its last steering on, in ticks.
///
/// It is bent until the last known error is used up and runs straight from there, so that a
/// clock that hears nothing more does not run away.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slew {
    /// Ticks per second when straight.
    per_s: f64,
    from: Time,
    value: f64,
    bend: f64,
    bend_for_s: f64,
}

impl Slew {
    /// Shows `value` at `now` and gains `per_s` every second.
    pub(super) const fn new(now: Time, value: f64, per_s: f64) -> Self {
        Slew { per_s, from: now, value, bend: 0.0, bend_for_s: 0.0 }
    }

    /// What it shows at `now`, or at the last steering if that was later.
    pub(super) fn at(&self, now: Time) -> f64 {
        let gone_s = now.since(self.from).as_secs_f64();
        self.value + (gone_s + self.bend * gone_s.min(self.bend_for_s)) * self.per_s
    }

    /// When it shows `value` or more; the last steering if it did so then.
    pub(super) fn when(&self, value: f64) -> Time {
        let ahead_s = (value - self.value) / self.per_s;
        if ahead_s <= 0.0 {
            return self.from;
        }
        let bent_s = (1.0 + self.bend) * self.bend_for_s;
        let wait_s = if ahead_s <= bent_s {
            ahead_s / (1.0 + self.bend)
        } else {
            self.bend_for_s + (ahead_s - bent_s)
        };
        let mut time = self.from + Duration::try_from_secs_f64(wait_s).unwrap_or(Duration::MAX);
        // Fractions round either way, but whoever wakes then must find the value reached.
        let mut step = Duration::from_nanos(1);
        while self.at(time) < value && step < Duration::from_millis(1) {
            time += step;
            step *= 2;
        }
        time
    }

    /// How fast it runs at `now`: 1 is straight.
    pub(super) fn rate(&self, now: Time) -> f64 {
        let is_bent = now.since(self.from).as_secs_f64() < self.bend_for_s;
        1.0 + if is_bent { self.bend } else { 0.0 }
    }

    /// How many seconds `target` is further than what it shows at `now`.
    pub(super) fn error_s(&self, now: Time, target: f64) -> f64 {
        (target - self.at(now)) / self.per_s
    }

    /// Bends the clock towards showing `target` at `now`, by no more than this.
    pub(super) fn steer(&mut self, now: Time, target: f64, most: Bend) {
        let value = self.at(now);
        let error_s = self.error_s(now, target);
        if !error_s.is_finite() {
            return;
        }
        if error_s > TOO_SLOW_S {
            return self.jump(now, target);
        }
        self.from = self.from.max(now);
        self.value = value;
        self.bend = if error_s < -TOO_FAST_S {
            -1.0
        } else {
            (error_s / SETTLE_S).clamp(-most.slower.min(1.0), most.faster)
        };
        self.bend_for_s = if self.bend == 0.0 { 0.0 } else { error_s / self.bend };
    }

    /// Shows `target` at `now` if that is further than it is; otherwise nothing happens.
    pub(super) fn jump(&mut self, now: Time, target: f64) {
        if target > self.at(now) || sabotage::is(Sabotage::ClockBack) {
            *self = Slew::new(self.from.max(now), target, self.per_s);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::from_millis(ms)
    }

    #[test]
    fn a_clock_bends_until_the_error_is_gone_and_then_runs_straight() {
        let mut slew = Slew::new(ms(0), 100.0, 60.0);
        slew.steer(ms(0), 106.0, Bend::UNSEEN);
        assert_eq!(slew.rate(ms(1)), 1.0 + MAX_BEND);
        // A tenth of a second at 4.9 % takes two.
        assert_eq!(slew.rate(ms(2_100)), 1.0);
        assert!((slew.at(ms(3_000)) - 286.0).abs() < 1e-9);
    }

    #[test]
    fn a_clock_too_far_ahead_slows_down_by_no_more_than_asked() {
        let mut slew = Slew::new(ms(0), 100.0, 60.0);
        slew.steer(ms(0), 98.8, Bend { slower: 0.02, ..Bend::UNSEEN });
        assert!((slew.rate(ms(1)) - 0.98).abs() < 1e-12);
        assert!((slew.at(ms(1_500)) - 188.8).abs() < 1e-9);
    }

    #[test]
    fn a_clock_that_is_lost_jumps_forward_or_stands_still() {
        let mut slew = Slew::new(ms(0), 100.0, 60.0);
        slew.steer(ms(10), 200.0, Bend::UNSEEN);
        assert_eq!(slew.at(ms(10)), 200.0);
        slew.steer(ms(10), 110.0, Bend::UNSEEN);
        assert_eq!(slew.at(ms(1_500)), 200.0);
        assert!((slew.at(ms(2_510)) - 260.0).abs() < 1e-9);
    }

    #[test]
    fn at_its_due_time_a_value_is_reached_and_a_moment_before_it_is_not() {
        for tick in [1_000u32, 4_294_967_000] {
            let mut slew = Slew::new(ms(7), f64::from(tick) + 0.3, 60.0);
            slew.steer(ms(9), f64::from(tick) + 4.7, Bend::UNSEEN);
            for next in 1..200 {
                let value = f64::from(tick) + f64::from(next);
                let due = slew.when(value);
                assert!(slew.at(due) >= value, "{value}");
                assert!(slew.at(due - Duration::from_micros(1)) < value, "{value}");
            }
        }
    }

    #[test]
    fn it_never_runs_backwards_even_if_asked_about_the_past() {
        let mut slew = Slew::new(ms(100), 5.0, 60.0);
        let shown = slew.at(ms(200));
        slew.steer(ms(200), 1.0, Bend::UNSEEN);
        assert_eq!(slew.at(ms(150)), shown);
        slew.steer(ms(150), 1.0, Bend::UNSEEN);
        assert_eq!(slew.at(ms(200)), shown);
        slew.jump(ms(200), 2.0);
        assert_eq!(slew.at(ms(200)), shown);
        slew.steer(ms(200), f64::NAN, Bend::UNSEEN);
        assert_eq!(slew.at(ms(200)), shown);
    }
}
