//! How often a loop looks at its sockets: at once where little comes, once for every deadline where a
//! crowd plays.
//!
//! A wake-up on a busy machine costs as much as some dozens of datagrams, since all that it needs has
//! left the caches. Nothing is lost by looking late, as long as it is before the node's deadline and
//! the system says when each datagram came.

use std::time::Duration;

use backspin::time::Time;

/// Sockets are read no more often than this. What comes less often is read at once.
const GATHER: Duration = Duration::from_micros(500);

/// A crowd is left alone for no longer: a tick, at most. No stranger waits longer for an answer.
const CROWD_GATHER: Duration = Duration::from_millis(20);

/// A crowd is read no longer before the deadline.
const HEAD_START_LIMIT: Duration = Duration::from_millis(5);

/// So many datagrams a second are a crowd's: some thirty players.
const CROWD_PER_S: u128 = 2_000;

/// How long is counted before it is called a crowd, or no longer.
const SPAN: Duration = Duration::from_millis(50);

/// When to look next, by what came.
#[derive(Debug)]
pub(crate) struct Pace {
    /// Whether the system says when datagrams came.
    dated: bool,
    is_crowd: bool,
    /// What came since.
    since: Time,
    came: u128,
    last_look: Time,
    /// How long it takes to read the crowd, on average of late.
    reading: Duration,
    /// When something was read last.
    last_read: Option<Time>,
}

impl Pace {
    pub(crate) fn new(dated: bool) -> Self {
        let (since, last_look) = (Time::ZERO, Time::ZERO);
        Pace {
            dated,
            is_crowd: false,
            since,
            came: 0,
            last_look,
            reading: Duration::ZERO,
            last_read: None,
        }
    }

    /// Sockets were looked at from `begun` to `now`, and so many datagrams were there.
    pub(crate) fn looked(&mut self, begun: Time, now: Time, came: usize) {
        self.last_look = now;
        if came > 0 {
            self.last_read = Some(now);
        }
        self.came += came as u128;
        if came > 0 {
            self.reading = (self.reading * 7 + now.since(begun)) / 8;
        }
        let span = now.since(self.since);
        if span >= SPAN {
            self.is_crowd =
                self.dated && self.came * 1_000_000_000 >= CROWD_PER_S * span.as_nanos();
            (self.since, self.came) = (now, 0);
        }
    }

    /// Whether so much comes that something is there at every look.
    pub(crate) fn is_crowd(&self) -> bool {
        self.is_crowd
    }

    /// Until when nothing is looked at, whatever comes: `deadline` at most. A crowd is looked at so
    /// much `early` as its reader gets up.
    pub(crate) fn rest_until(&self, deadline: Time, early: Duration) -> Option<Time> {
        if !self.is_crowd {
            return Some(deadline.min(self.last_read? + GATHER));
        }
        // To be done at the deadline or a little after it: to be done before it is to wait twice.
        let start = deadline - HEAD_START_LIMIT.min(self.reading * 3 / 4 + early);
        // What comes after the crowd was read is read at the deadline.
        let rest = if self.last_look < start { start } else { deadline };
        Some(rest.min(self.last_look + CROWD_GATHER))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: Duration = Duration::from_nanos(1_000_000_000 / 60);

    /// It takes so long to read a datagram.
    const COST: Duration = Duration::from_nanos(2_500);

    /// Looks whenever it may, with so many datagrams in each tick, for a second; says how often in
    /// the last tick, and how long after its end it was done.
    fn looks_in_a_tick(pace: &mut Pace, per_tick: u64) -> (u32, Duration) {
        let (mut looks, mut now, mut taken) = (0, Time::ZERO, 0);
        let mut deadline = Time::ZERO;
        for tick in 1..=60 {
            deadline = Time::ZERO + TICK * tick;
            looks = 0;
            while now < deadline {
                // At once if something came; else when the next does.
                let ns = (taken + 1) * TICK.as_nanos() as u64;
                let next = Time::from_nanos(ns.div_ceil(per_tick));
                let rest = pace.rest_until(deadline, Duration::ZERO).unwrap_or(now);
                now = if rest == deadline { deadline } else { rest.max(next).min(deadline) };
                let there = now.as_nanos() * per_tick / TICK.as_nanos() as u64;
                let begun = now;
                now += COST * (there - taken) as u32;
                pace.looked(begun, now, (there - taken) as usize);
                taken = there;
                looks += 1;
            }
        }
        (looks, now.since(deadline))
    }

    #[test]
    fn a_crowd_is_looked_at_once_and_has_been_read_soon_after_the_deadline() {
        for crowd in [64, 256, 1024] {
            let (looks, late) = looks_in_a_tick(&mut Pace::new(true), crowd);
            let reading = COST * crowd as u32;
            assert_eq!(looks, 1, "{crowd}");
            assert!(late > Duration::ZERO && late < reading / 2, "{crowd}: {late:?}");
        }
    }

    #[test]
    fn who_gets_up_early_reads_the_crowd_then_and_looks_again_at_the_deadline() {
        let mut pace = Pace::new(true);
        looks_in_a_tick(&mut pace, 256);
        let (early, reading) = (Duration::from_millis(1), pace.reading);
        let deadline = pace.last_look + TICK;
        let start = deadline - (reading * 3 / 4 + early);
        assert_eq!(pace.rest_until(deadline, early), Some(start));
        pace.looked(start, start + reading, 256);
        assert_eq!(pace.rest_until(deadline, early), Some(deadline));
    }

    #[test]
    fn a_crowd_without_a_deadline_is_looked_at_all_the_same() {
        let mut pace = Pace::new(true);
        looks_in_a_tick(&mut pace, 256);
        let now = Time::from_millis(1_000);
        pace.looked(now, now, 256);
        assert_eq!(
            pace.rest_until(now + Duration::from_secs(9), Duration::ZERO),
            Some(now + CROWD_GATHER)
        );
    }

    #[test]
    fn what_comes_seldom_is_looked_at_when_it_comes() {
        assert_eq!(looks_in_a_tick(&mut Pace::new(true), 4).0, 4);
        assert_eq!(looks_in_a_tick(&mut Pace::new(true), 16).0, 16);
    }

    #[test]
    fn a_crowd_that_is_not_dated_is_read_every_half_millisecond() {
        let (looks, _) = looks_in_a_tick(&mut Pace::new(false), 1024);
        assert!((26..=34).contains(&looks), "{looks}");
    }

    #[test]
    fn a_crowd_that_has_gone_is_none() {
        let mut pace = Pace::new(true);
        looks_in_a_tick(&mut pace, 256);
        let now = Time::from_millis(2_000);
        pace.looked(now, now, 1);
        let later = now + Duration::from_millis(16);
        assert_eq!(pace.rest_until(later, Duration::ZERO), Some(now + GATHER));
    }
}
