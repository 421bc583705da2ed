//! How often a loop looks at its sockets: at once where little comes, once before every deadline
//! where a crowd plays.
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

/// A crowd is read so long before the deadline, for each of its datagrams: there is time to read
/// them all, and whatever else comes does not make the node late.
const HEAD_START: Duration = Duration::from_micros(4);

/// And no longer before it.
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
    /// What a look brings, at most, of late.
    most: u32,
    /// When something was read last.
    last_read: Option<Time>,
}

impl Pace {
    pub(crate) fn new(dated: bool) -> Self {
        let (since, last_look) = (Time::ZERO, Time::ZERO);
        Pace { dated, is_crowd: false, since, came: 0, last_look, most: 0, last_read: None }
    }

    /// Sockets were looked at, and so many datagrams were there.
    pub(crate) fn looked(&mut self, now: Time, came: usize) {
        self.last_look = now;
        if came > 0 {
            self.last_read = Some(now);
        }
        self.came += came as u128;
        self.most = (self.most - self.most / 8).max(came as u32);
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

    /// Until when nothing is looked at, whatever comes: `deadline` at most.
    pub(crate) fn rest_until(&self, deadline: Time) -> Option<Time> {
        if !self.is_crowd {
            return Some(deadline.min(self.last_read? + GATHER));
        }
        let start = deadline - HEAD_START_LIMIT.min(HEAD_START * self.most);
        // What comes after the crowd was read is read at the deadline.
        let rest = if self.last_look < start { start } else { deadline };
        Some(rest.min(self.last_look + CROWD_GATHER))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: Duration = Duration::from_nanos(1_000_000_000 / 60);

    /// Looks whenever it may, with so many datagrams in each tick, for a second; says how often in
    /// the last tick.
    fn looks_in_a_tick(pace: &mut Pace, per_tick: u64) -> u32 {
        let (mut looks, mut now, mut taken) = (0, Time::ZERO, 0);
        for tick in 1..=60 {
            let deadline = Time::ZERO + TICK * tick;
            looks = 0;
            while now < deadline {
                // At once if something came; else when the next does.
                let ns = (taken + 1) * TICK.as_nanos() as u64;
                let next = Time::from_nanos(ns.div_ceil(per_tick));
                let rest = pace.rest_until(deadline).unwrap_or(now);
                now = if rest == deadline { deadline } else { rest.max(next).min(deadline) };
                let there = now.as_nanos() * per_tick / TICK.as_nanos() as u64;
                pace.looked(now, (there - taken) as usize);
                taken = there;
                looks += 1;
            }
        }
        looks
    }

    #[test]
    fn a_crowd_is_looked_at_just_before_the_deadline_and_at_it() {
        assert_eq!(looks_in_a_tick(&mut Pace::new(true), 256), 2);
        assert_eq!(looks_in_a_tick(&mut Pace::new(true), 4096), 2);
    }

    #[test]
    fn a_crowd_without_a_deadline_is_looked_at_all_the_same() {
        let mut pace = Pace::new(true);
        looks_in_a_tick(&mut pace, 256);
        let now = Time::from_millis(1_000);
        pace.looked(now, 256);
        assert_eq!(pace.rest_until(now + Duration::from_secs(9)), Some(now + CROWD_GATHER));
    }

    #[test]
    fn what_comes_seldom_is_looked_at_when_it_comes() {
        assert_eq!(looks_in_a_tick(&mut Pace::new(true), 4), 4);
        assert_eq!(looks_in_a_tick(&mut Pace::new(true), 16), 16);
    }

    #[test]
    fn a_crowd_that_is_not_dated_is_read_every_half_millisecond() {
        assert_eq!(looks_in_a_tick(&mut Pace::new(false), 4096), 34);
    }

    #[test]
    fn a_crowd_that_has_gone_is_none() {
        let mut pace = Pace::new(true);
        looks_in_a_tick(&mut pace, 256);
        let now = Time::from_millis(2_000);
        pace.looked(now, 1);
        let later = now + Duration::from_millis(16);
        assert_eq!(pace.rest_until(later), Some(now + GATHER));
    }
}
