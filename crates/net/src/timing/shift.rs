//! Whether the delays have changed for good: a longer route, or a server that lost ticks.
//!
//! A window of two seconds is slow to see that, since what was before is still in it. But delays that
//! all lie beyond what most of them were, for a quarter of a second, do not come about by chance, and
//! datagrams that were held back and handed over at once do not take so long. Then what was before
//! says nothing any more.

use crate::time::Time;
use std::time::Duration;

/// So long, and so many delays.
const LONG: Duration = Duration::from_millis(250);
const MANY: usize = 8;

/// Less than this is not worth a word: clocks drift apart by that much, and are bent for it.
const LEAST_S: f64 = 0.005;

/// A longer silence is no evidence: what comes after it begins anew, and may all come at once.
const SILENCE: Duration = Duration::from_millis(100);

/// A clock that is far off after that is nearly right again so soon: two seconds are a player's
/// patience, and noticing takes a part of them.
const MENDED_WITHIN: Duration = Duration::from_millis(1_000);

/// What is left then goes more slowly, for so much longer.
const SETTLED_WITHIN: Duration = Duration::from_millis(500);

/// No bend is so sharp that less than this would be left.
const SHORTEST_S: f64 = 0.1;

/// Watches for delays that are all beyond a limit.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shift {
    run: Option<Run>,
}

#[derive(Clone, Copy, Debug)]
struct Run {
    since: Time,
    last: Time,
    count: usize,
    /// What counted as usual when it began.
    limit: f64,
}

impl Shift {
    /// Takes a sample in seconds, and up to where samples are usual. If all are beyond for long enough: how many
    /// there are of the new sort, and the watch begins anew.
    pub(super) fn handle(&mut self, now: Time, sample: f64, limit: Option<f64>) -> Option<usize> {
        let limit = self.run.map(|run| run.limit).or(limit.map(|limit| limit + LEAST_S))?;
        if sample <= limit {
            self.run = None;
            return None;
        }
        let first = Run { since: now, last: now, count: 0, limit };
        let run = self.run.get_or_insert(first);
        if now.since(run.last) > SILENCE {
            *run = first;
        }
        run.last = now;
        run.count += 1;
        if run.count < MANY || now.since(run.since) < LONG {
            return None;
        }
        self.run.take().map(|run| run.count)
    }
}

/// The time in which a clock that is far off must be right again.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hurry {
    /// When nearly all must be mended.
    aim: Option<Time>,
}

impl Hurry {
    pub(super) fn begin(&mut self, now: Time) {
        self.aim = Some(now + MENDED_WITHIN);
    }

    pub(super) fn is_on(&self, now: Time) -> bool {
        self.aim.is_some_and(|aim| now < aim + SETTLED_WITHIN)
    }

    /// How much a clock must be bent to be right in time; nothing while there is no hurry.
    pub(super) fn bend(&self, now: Time, error_s: f64) -> f64 {
        let Some(aim) = self.aim.filter(|_| self.is_on(now)) else { return 0.0 };
        error_s.abs() / aim.since(now).as_secs_f64().max(SHORTEST_S)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes samples, one every so many ms, and says after which the shift was noticed.
    fn noticed(every_ms: u64, samples: &[f64]) -> Option<(usize, usize)> {
        let mut shift = Shift::default();
        (0..).zip(samples).find_map(|(index, sample)| {
            let now = Time::from_millis(1_000 + index * every_ms);
            Some((index as usize, shift.handle(now, *sample, Some(0.015))?))
        })
    }

    #[test]
    fn delays_that_are_all_beyond_for_a_quarter_of_a_second_have_shifted() {
        let later = [[0.005; 10], [0.04; 10], [0.04; 10]].concat();
        // From the eleventh on: the seventeenth of them is 256 ms after the first.
        assert_eq!(noticed(16, &later), Some((26, 17)));
        assert_eq!(noticed(16, &[0.019; 60]), None);
    }

    #[test]
    fn one_that_is_as_usual_in_between_shows_that_nothing_has() {
        let mixed: Vec<f64> = (0..100).map(|i| if i % 12 == 0 { 0.019 } else { 0.04 }).collect();
        assert_eq!(noticed(16, &mixed), None);
    }

    #[test]
    fn what_was_held_and_comes_at_once_is_no_shift() {
        assert_eq!(noticed(0, &[0.4; 40]), None);
        let mut shift = Shift::default();
        assert_eq!(shift.handle(Time::from_millis(0), 0.03, Some(0.015)), None);
        for _ in 0..40 {
            assert_eq!(shift.handle(Time::from_millis(400), 0.4, Some(0.015)), None);
        }
    }

    #[test]
    fn a_hurry_ends_in_time_and_bends_as_much_as_that_takes() {
        let mut hurry = Hurry::default();
        assert_eq!(hurry.bend(Time::ZERO, 0.5), 0.0);
        hurry.begin(Time::from_millis(100));
        assert!((hurry.bend(Time::from_millis(100), -0.5) - 0.5).abs() < 1e-9);
        assert!((hurry.bend(Time::from_millis(600), 0.1) - 0.2).abs() < 1e-9);
        assert!((hurry.bend(Time::from_millis(1_300), 0.01) - 0.1).abs() < 1e-9);
        assert!(hurry.is_on(Time::from_millis(1_599)) && !hurry.is_on(Time::from_millis(1_600)));
        assert_eq!(hurry.bend(Time::from_millis(1_600), 0.1), 0.0);
    }
}
