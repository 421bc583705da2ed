//! Clocks that run at different rates: each node of a simulated world reads its own.
//!
//! The harness keeps true time, and puts a [`Drift`] between it and every node.

use backspin::time::Time;
use std::time::Duration;

/// A clock that starts at some offset and runs a little fast or slow for ever.
///
/// Exact in integers, so that a run replays to the last nanosecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drift {
    /// Local nanoseconds in a million true ones.
    local_per_million: u32,
    offset_ns: u64,
}

impl Drift {
    /// The furthest that a clock may be off, in parts per million: twice what a cheap quartz
    /// crystal is allowed.
    pub const LIMIT_PPM: i32 = 200;

    /// The clock that shows true time.
    pub const NONE: Drift = Drift { local_per_million: 1_000_000, offset_ns: 0 };

    /// A clock that shows `offset` at the true origin and gains `rate_ppm` microseconds a
    /// second from there on (loses them if negative).
    ///
    /// # Panics
    /// If the rate lies beyond ±[`Drift::LIMIT_PPM`], or the offset beyond what a [`Time`]
    /// holds (584 years).
    pub const fn new(rate_ppm: i32, offset: Duration) -> Self {
        assert!(
            -Self::LIMIT_PPM <= rate_ppm && rate_ppm <= Self::LIMIT_PPM,
            "a clock drifts by at most 200 ppm"
        );
        assert!(offset.as_nanos() <= u64::MAX as u128, "the offset must fit into a Time");
        Drift {
            local_per_million: (MILLION as i32 + rate_ppm) as u32,
            offset_ns: offset.as_nanos() as u64,
        }
    }

    /// What this clock shows at the instant `real`; never runs backwards.
    pub fn local(self, real: Time) -> Time {
        let gone = u128::from(real.as_nanos()) * u128::from(self.local_per_million) / MILLION;
        saturate(u128::from(self.offset_ns) + gone)
    }

    /// The first true instant at which this clock shows `local` or more: when to wake a node
    /// whose deadline is `local`. The origin, if it showed that from the start.
    pub fn real(self, local: Time) -> Time {
        let gone = u128::from(local.as_nanos().saturating_sub(self.offset_ns));
        // `local` rounds down, so the first instant to reach a value rounds up.
        saturate((gone * MILLION).div_ceil(u128::from(self.local_per_million)))
    }
}

const MILLION: u128 = 1_000_000;

fn saturate(ns: u128) -> Time {
    Time::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Chance;

    /// Clocks of every kind, each with an instant from the first nanosecond to 50 years.
    fn cases() -> impl Iterator<Item = (Drift, u64)> {
        let mut chance = Chance::new(1, 0);
        (0..5_000).map(move |_| {
            let rate_ppm = chance.below(401) as i32 - Drift::LIMIT_PPM;
            let offset = Duration::from_nanos(chance.u64() >> (5 + chance.below(59)));
            (Drift::new(rate_ppm, offset), chance.u64() >> (3 + chance.below(61)))
        })
    }

    #[test]
    fn a_fast_clock_gains_and_a_slow_one_loses_what_was_asked() {
        let hour = Time::from_millis(3_600_000);
        let offset = Duration::from_millis(5);
        assert_eq!(Drift::new(200, offset).local(hour), Time::from_millis(3_600_725));
        assert_eq!(Drift::new(-200, offset).local(hour), Time::from_millis(3_599_285));
        assert_eq!(Drift::NONE.local(hour), hour);
        assert_eq!(Drift::NONE, Drift::new(0, Duration::ZERO));
    }

    #[test]
    fn a_clock_never_runs_backwards() {
        for (drift, ns) in cases() {
            let now = drift.local(Time::from_nanos(ns));
            let next = drift.local(Time::from_nanos(ns + 1));
            assert!(now <= next, "{drift:?} at {ns}");
            assert!(next.since(now) <= Duration::from_nanos(2), "{drift:?} leaps at {ns}");
        }
    }

    #[test]
    fn waking_at_a_local_deadline_is_never_early_and_never_a_nanosecond_late() {
        for (drift, ns) in cases() {
            let deadline = drift.local(Time::ZERO) + Duration::from_nanos(ns);
            let wake = drift.real(deadline);
            assert!(drift.local(wake) >= deadline, "{drift:?} wakes early for {deadline:?}");
            if wake > Time::ZERO {
                let before = wake - Duration::from_nanos(1);
                assert!(drift.local(before) < deadline, "{drift:?} wakes late for {deadline:?}");
            }
        }
    }

    #[test]
    fn a_deadline_before_the_clock_began_is_due_at_the_origin() {
        let drift = Drift::new(50, Duration::from_secs(9));
        assert_eq!(drift.real(Time::from_millis(8_999)), Time::ZERO);
        assert_eq!(drift.real(Time::from_millis(9_000)), Time::ZERO);
        assert_eq!(drift.real(Time::from_nanos(9_000_000_001)), Time::from_nanos(1));
    }

    #[test]
    fn the_end_of_time_saturates() {
        let end = Time::from_nanos(u64::MAX);
        assert_eq!(Drift::new(200, Duration::from_secs(1)).local(end), end);
        assert_eq!(Drift::new(-200, Duration::ZERO).real(end), end);
    }

    #[test]
    fn a_drift_at_the_limit_is_taken() {
        Drift::new(Drift::LIMIT_PPM, Duration::ZERO);
        Drift::new(-Drift::LIMIT_PPM, Duration::ZERO);
    }

    #[test]
    #[should_panic(expected = "at most 200 ppm")]
    fn a_drift_past_the_limit_is_a_callers_mistake() {
        Drift::new(Drift::LIMIT_PPM + 1, Duration::ZERO);
    }
}
