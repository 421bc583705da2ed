//! When a loop sleeps and reads its sockets, and how long the machine kept it from running.
//!
//! With little traffic, sockets are read as it arrives. With many players, they are read once for every
//! deadline of the
//! node: a wake-up on a busy machine costs as much as dozens of datagrams, because everything it needs has
//! left the caches.
//! Nothing is lost by reading late, as long as it is before the deadline and the system timestamps each
//! datagram.

use std::time::Duration;

use backspin::time::Time;

/// Sockets are read no more often than this. What comes less often is read at once.
const GATHER: Duration = Duration::from_micros(500);

/// A crowd waits no longer to be read: a tick, at most. No stranger waits longer for an answer.
const CROWD_GATHER: Duration = Duration::from_millis(20);

/// A crowd is read this long before the deadline, at most.
const HEAD_START_LIMIT: Duration = Duration::from_millis(5);

/// So many datagrams a second make a crowd: some thirty players.
const CROWD_PER_S: u128 = 2_000;

/// How long datagrams are counted before it is called a crowd, or no longer.
const SPAN: Duration = Duration::from_millis(50);

/// When to read next, by what came.
#[derive(Debug, Default)]
pub(crate) struct Schedule {
    /// Whether the system says when datagrams came.
    has_timestamps: bool,
    is_crowd: bool,
    /// When the current count began, and what came since.
    since: Time,
    came: u128,
    last_look: Time,
    /// When something was read last.
    last_read: Option<Time>,
    /// How long it takes to read the crowd, a moving average.
    reading: Duration,
}

impl Schedule {
    pub(crate) fn new(has_timestamps: bool) -> Self {
        Schedule { has_timestamps, ..Schedule::default() }
    }

    /// Sockets were read from `begun` to `now`, and had so many datagrams.
    pub(crate) fn looked(&mut self, begun: Time, now: Time, came: usize) {
        self.last_look = now;
        if came > 0 {
            self.last_read = Some(now);
            self.reading = (self.reading * 7 + now.since(begun)) / 8;
        }
        self.came += came as u128;
        let span = now.since(self.since);
        if span >= SPAN {
            self.is_crowd =
                self.has_timestamps && self.came * 1_000_000_000 >= CROWD_PER_S * span.as_nanos();
            (self.since, self.came) = (now, 0);
        }
    }

    /// Whether so much comes that there is something at every look.
    pub(crate) fn is_crowd(&self) -> bool {
        self.is_crowd
    }

    /// Until when to sleep, whatever comes: `deadline` at most. `None` if nothing ever came.
    pub(crate) fn sleep_until(&self, deadline: Time) -> Option<Time> {
        if !self.is_crowd {
            return Some(deadline.min(self.last_read? + GATHER));
        }
        // To be done at the deadline or a little after it: to be done before it is to wait twice.
        let start = deadline - HEAD_START_LIMIT.min(self.reading * 3 / 4);
        // What comes after the crowd was read is read at the deadline.
        let until = if self.last_look < start { start } else { deadline };
        Some(until.min(self.last_look + CROWD_GATHER))
    }
}

/// For how long a loop had something to do and was not let run, since it last had nothing to do.
///
/// A loop that is late had too much to do, or its sleep ended late, another program had the processor,
/// or the host of a virtual machine had given it to someone else. The system knows which: it counts how
/// long each thread has had a processor. Between two turns the loop's owner does its own work; if that
/// waits for something, as a write to a full pipe does, it is the owner's doing and does not count.
#[derive(Debug, Default)]
pub(crate) struct Stall {
    overslept: Duration,
    /// When the last sleep ended, and how long the thread had run by then, where the system says so.
    woke: Option<(Time, Duration)>,
    /// For how long it had no processor since then, between its turns.
    away: Duration,
    /// When its last turn ended, and how long its thread had run by then.
    left: Option<(Time, Duration)>,
}

impl Stall {
    /// A sleep until `due` is over, or was ended by something that came. The thread has `run` so long
    /// in all. Whatever it was kept from before, it has made up for by then.
    pub(crate) fn wake(&mut self, due: Time, now: Time, run: Option<Duration>) {
        let woke = run.map(|run| (now, run));
        *self = Stall { overslept: now.since(due), woke, away: Duration::ZERO, left: None };
    }

    /// A turn is over.
    pub(crate) fn leave(&mut self, now: Time, run: Option<Duration>) {
        self.left = run.map(|run| (now, run));
    }

    /// The next turn begins.
    pub(crate) fn come_back(&mut self, now: Time, run: Option<Duration>) {
        self.away += off_processor(self.left.take(), now, run);
    }

    pub(crate) fn so_far(&self, now: Time, run: Option<Duration>) -> Duration {
        self.overslept + off_processor(self.woke, now, run).saturating_sub(self.away)
    }
}

/// For how long a thread had no processor since a time.
fn off_processor(since: Option<(Time, Duration)>, now: Time, run: Option<Duration>) -> Duration {
    since.zip(run).map_or(Duration::ZERO, |((since, run_before), run)| {
        now.since(since).saturating_sub(run.saturating_sub(run_before))
    })
}

#[cfg(test)]
mod tests;
