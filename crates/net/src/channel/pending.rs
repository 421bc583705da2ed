//! The client's inputs that no snapshot has acknowledged yet: what each datagram carries, what
//! prediction replays, and how a player learns that the line is bad.
//!
//! The client pushes one input per tick, writes the newest of them into each Input, and hands
//! every snapshot's tick back. On the other side [`super::InputQueue`] takes them.

use std::fmt;
use std::time::Duration;

use super::tick;
use crate::time::Time;
use crate::typed::RawInput;
use crate::wire::native::MAX_HISTORY;

/// How many inputs without acknowledgement are kept; then the oldest is given up.
///
/// An input waits for a round trip and a few ticks: at 60 Hz these are enough for 1,500 ms and half
/// a second of silence.
pub const PENDING_LIMIT: usize = 128;

// One datagram carries fewer on a slow line. What it leaves out is of no use to the server: an input
// arrives a few ticks before its own tick, so the ticks of those a second older have run.
const _: () = assert!(PENDING_LIMIT > MAX_HISTORY);

/// More pending inputs than this, beyond what the round trip explains, are
/// [`Alarm::HighLatency`].
pub const HIGH_LATENCY_OVER: u32 = 30;

/// More pending inputs than this, beyond what the round trip explains, are
/// [`Alarm::ConnectionLost`].
pub const LOST_OVER: u32 = 60;

/// An input that waits longer than this is [`Alarm::Lag`].
pub const LAG_OVER: Duration = Duration::from_millis(200);

/// An alarm is lowered when its limit was kept for so long: at the limit itself a sign would
/// flicker with every snapshot.
pub const CALM_AFTER: Duration = Duration::from_millis(500);

/// How many ticks a snapshot reports on.
const REPORTED_TICKS: u32 = u8::BITS;

/// One input, as it was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PendingInput {
    /// The server tick that it is for.
    pub tick: u32,
    /// What the player does.
    pub input: RawInput,
    /// When it was made.
    pub sent_at: Time,
}

/// The inputs without acknowledgement, tick after tick without a gap.
#[derive(Clone, Debug)]
pub struct Pending {
    ring: [PendingInput; PENDING_LIMIT],
    /// Where the newest lies.
    head: usize,
    /// How many of the newest are pending.
    len: usize,
    /// How many of the newest are in the ring, pending or not.
    remembered: usize,
    /// The newest tick that a snapshot acknowledged.
    acknowledged: Option<u32>,
    /// The newest tick whose fate is counted; `None` before the first input.
    reported: Option<u32>,
    alarms: [AlarmState; Alarm::ALL.len()],
    counts: PendingCounts,
}

impl Pending {
    /// Nothing pending.
    pub const fn new() -> Self {
        let none = PendingInput { tick: 0, input: RawInput(0), sent_at: Time::ZERO };
        Pending {
            ring: [none; PENDING_LIMIT],
            head: 0,
            len: 0,
            remembered: 0,
            acknowledged: None,
            reported: None,
            alarms: [AlarmState::Low; Alarm::ALL.len()],
            counts: PendingCounts::NONE,
        }
    }

    /// Keeps the input for `tick`. Ticks that were skipped since the one before get its input,
    /// which went on then: a history on the wire has no gaps.
    ///
    /// # Panics
    /// In debug builds, if `tick` is 0 or does not come after the newest.
    pub fn push(&mut self, now: Time, tick: u32, input: RawInput) {
        debug_assert!(tick != 0, "0 is no tick");
        self.settle();
        match self.last() {
            Some(last) => {
                debug_assert!(tick::is_after(tick, last.tick), "ticks rise");
                self.fill(now, last, tick);
            }
            None => self.reported = Some(tick::before(tick, 1)),
        }
        self.append(PendingInput { tick, input, sent_at: now });
    }

    /// A snapshot of `server_tick` came: the inputs up to it are no longer pending. Says how
    /// many those were. 0 acknowledges nothing.
    pub fn acknowledge(&mut self, server_tick: u32) -> u32 {
        if server_tick == 0 {
            return 0;
        }
        if self.acknowledged.is_none_or(|newest| tick::is_after(server_tick, newest)) {
            self.acknowledged = Some(server_tick);
        }
        self.settle()
    }

    /// A snapshot of `server_tick` said for which ticks there was no input: bit n for the tick n
    /// before it. Says how many misses are news; each tick counts once.
    pub fn handle_missing(&mut self, server_tick: u32, missing: u8) -> u32 {
        let Some(reported) = self.reported else { return 0 };
        if server_tick == 0 || !tick::is_after(server_tick, reported) {
            return 0;
        }
        let missed = (0..REPORTED_TICKS)
            .filter(|back| missing & 1 << back != 0)
            .filter(|back| tick::is_after(tick::before(server_tick, *back), reported))
            .count() as u32;
        self.reported = Some(server_tick);
        self.counts.missed += u64::from(missed);
        missed
    }

    /// Gives up everything, as for a session that begins anew. Counts and alarms go on.
    pub fn clear(&mut self) {
        self.counts.given_up += self.len as u64;
        (self.len, self.remembered) = (0, 0);
        (self.acknowledged, self.reported) = (None, None);
    }

    /// The newest pending input.
    pub fn newest(&self) -> Option<PendingInput> {
        self.iter().next()
    }

    /// All pending inputs, newest first: the first is an Input's newest, the next are its history.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = PendingInput> + '_ {
        (0..self.len).map(|back| self.at(back))
    }

    /// The pending inputs after `tick`, oldest first: what is replayed on top of its snapshot.
    pub fn after(&self, tick: u32) -> impl Iterator<Item = PendingInput> + '_ {
        let inputs = (0..self.len).rev().map(|back| self.at(back));
        inputs.skip_while(move |input| !tick::is_after(input.tick, tick))
    }

    /// A pending input.
    pub fn input_for(&self, tick: u32) -> Option<RawInput> {
        self.iter().find(|pending| pending.tick == tick).map(|pending| pending.input)
    }

    /// When the input for `tick` was made, if it is one of the last [`PENDING_LIMIT`]. An
    /// acknowledgement does not forget it: the echo of an input may come with it.
    pub fn sent_at(&self, tick: u32) -> Option<Time> {
        let mut remembered = (0..self.remembered).map(|back| self.at(back));
        remembered.find(|input| input.tick == tick).map(|input| input.sent_at)
    }

    /// How many are pending.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether none is pending.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How long the oldest pending input has waited.
    pub fn oldest_age(&self, now: Time) -> Option<Duration> {
        let oldest = self.len.checked_sub(1).map(|back| self.at(back))?;
        Some(now.since(oldest.sent_at))
    }

    /// How many inputs were made since the last acknowledged one, with those that were given up.
    pub fn waiting(&self) -> u32 {
        let since = |newest: PendingInput| Some(tick::since(newest.tick, self.acknowledged?));
        let waiting = self.last().and_then(since).unwrap_or(0);
        waiting.max(self.len as i32).unsigned_abs()
    }

    /// The next alarm that was raised or lowered. Call it once a frame, until `None`.
    ///
    /// `explained` is how many inputs are pending for no other reason than the length of the way:
    /// the server is well, and the snapshots come as early as they have lately.
    pub fn poll_alarm(&mut self, now: Time, explained: u32) -> Option<AlarmEvent> {
        Alarm::ALL.into_iter().find_map(|alarm| self.step_alarm(alarm, now, explained))
    }

    /// Whether an alarm is raised, as of the last [`Pending::poll_alarm`].
    pub const fn is_raised(&self, alarm: Alarm) -> bool {
        matches!(self.alarms[alarm as usize], AlarmState::Raised { .. })
    }

    /// What has happened so far.
    pub const fn counts(&self) -> &PendingCounts {
        &self.counts
    }

    fn step_alarm(&mut self, alarm: Alarm, now: Time, explained: u32) -> Option<AlarmEvent> {
        let over = self.is_over(alarm, now, explained);
        let state = &mut self.alarms[alarm as usize];
        match *state {
            AlarmState::Low if over => {
                *state = AlarmState::Raised { over_at: now };
                Some(AlarmEvent::Raised(alarm))
            }
            AlarmState::Raised { .. } if over => {
                *state = AlarmState::Raised { over_at: now };
                None
            }
            AlarmState::Raised { over_at } if now.since(over_at) >= CALM_AFTER => {
                *state = AlarmState::Low;
                Some(AlarmEvent::Lowered(alarm))
            }
            _ => None,
        }
    }

    fn is_over(&self, alarm: Alarm, now: Time, explained: u32) -> bool {
        let unexplained = self.waiting().saturating_sub(explained);
        match alarm {
            Alarm::Lag => self.oldest_age(now).is_some_and(|age| age > LAG_OVER),
            Alarm::HighLatency => unexplained > HIGH_LATENCY_OVER,
            Alarm::ConnectionLost => unexplained > LOST_OVER,
        }
    }

    /// The input `back` before the newest.
    fn at(&self, back: usize) -> PendingInput {
        self.ring[(self.head + PENDING_LIMIT - back) % PENDING_LIMIT]
    }

    /// The newest input, pending or not.
    fn last(&self) -> Option<PendingInput> {
        (self.remembered > 0).then(|| self.at(0))
    }

    /// Drops what is acknowledged.
    fn settle(&mut self) -> u32 {
        let Some(acknowledged) = self.acknowledged else { return 0 };
        let left = self.after(acknowledged).count();
        let settled = self.len - left;
        self.len = left;
        self.counts.acknowledged += settled as u64;
        settled as u32
    }

    /// Makes the inputs between `last` and `tick`, as far as the server can still use them.
    fn fill(&mut self, now: Time, last: PendingInput, tick: u32) {
        let from = match self.acknowledged {
            Some(acknowledged) if tick::is_after(acknowledged, last.tick) => acknowledged,
            _ => last.tick,
        };
        let skipped = tick::since(tick, from) - 1;
        let filled = skipped.clamp(0, PENDING_LIMIT as i32 - 1).unsigned_abs();
        for back in (1..=filled).rev() {
            self.append(PendingInput { tick: tick::before(tick, back), sent_at: now, ..last });
        }
        self.counts.filled += u64::from(filled);
    }

    fn append(&mut self, input: PendingInput) {
        if self.len == PENDING_LIMIT {
            self.counts.given_up += 1;
            self.len -= 1;
        }
        self.head = (self.head + 1) % PENDING_LIMIT;
        self.ring[self.head] = input;
        self.len += 1;
        self.remembered = PENDING_LIMIT.min(self.remembered + 1);
        self.counts.sent += 1;
    }
}

impl Default for Pending {
    fn default() -> Self {
        Pending::new()
    }
}

/// What is wrong with the line, as a screen shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Alarm {
    /// The oldest pending input is older than [`LAG_OVER`]: the lag sign.
    Lag,
    /// More than [`HIGH_LATENCY_OVER`] inputs are pending that the round trip does not explain: a
    /// warning.
    HighLatency,
    /// More than [`LOST_OVER`] of them are: the client resumes.
    ConnectionLost,
}

impl Alarm {
    /// All of them, the mildest first.
    pub const ALL: [Alarm; 3] = [Alarm::Lag, Alarm::HighLatency, Alarm::ConnectionLost];
}

impl fmt::Display for Alarm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Alarm::Lag => "lag",
            Alarm::HighLatency => "high latency",
            Alarm::ConnectionLost => "connection lost, trying again",
        })
    }
}

/// A change that a screen shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlarmEvent {
    /// The limit was exceeded.
    Raised(Alarm),
    /// It has been kept for [`CALM_AFTER`].
    Lowered(Alarm),
}

#[derive(Clone, Copy, Debug)]
enum AlarmState {
    Low,
    Raised { over_at: Time },
}

/// What became of the inputs: `sent` is the sum of `acknowledged`, `given_up` and what is
/// pending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PendingCounts {
    /// Inputs made, those for skipped ticks too.
    pub sent: u64,
    /// Those of them that were for skipped ticks.
    pub filled: u64,
    /// Inputs up to a snapshot's tick.
    pub acknowledged: u64,
    /// Inputs for which there was no room any more before they were acknowledged.
    pub given_up: u64,
    /// Ticks for which the server had no input, as it reports.
    pub missed: u64,
}

impl PendingCounts {
    const NONE: PendingCounts =
        PendingCounts { sent: 0, filled: 0, acknowledged: 0, given_up: 0, missed: 0 };

    /// The share of inputs that the server did not have in time; 0 before the first
    /// acknowledgement.
    pub fn loss(&self) -> f64 {
        match self.acknowledged + self.given_up {
            0 => 0.0,
            settled => (self.missed as f64 / settled as f64).min(1.0),
        }
    }
}

#[cfg(test)]
mod tests;
