//! The server's inputs of one player, until their tick runs: each is taken once, for its tick.
//!
//! A member hands over every Input that its session took; the room takes one input per tick, and
//! tells the client in the snapshot how they fared. On the other side is [`super::Pending`].

use super::tick;
use crate::sabotage::{self, Sabotage};
use crate::time::Time;
use crate::typed::RawInput;
use crate::wire::native::MAX_HISTORY;

/// How many ticks ahead inputs are kept, the next tick being the first: a client leads by half a
/// round trip and its jitter, so that this is a second at 60 Hz.
pub const EARLY_LIMIT: u32 = u64::BITS;

/// A missing input is replaced by the one before at most so many ticks in a row, then by no
/// buttons.
///
/// That is half a second at 60 Hz. Losing all datagrams of a way for so long in bursts of 3 on
/// average happens once in 200,000 bursts: behind a longer silence the line is down, and the
/// player, who sees the warning for as many pending inputs by then, should not run on into a
/// wall.
pub const REPEAT_LIMIT: u32 = 30;

/// How many ticks that have run are remembered, to tell a late input from one that was there.
const PAST_LIMIT: u32 = u64::BITS;

/// The newest input of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Newest {
    /// The server tick that it is for; not 0.
    pub tick: u32,
    /// What the player does.
    pub input: RawInput,
    /// How long before its tick runs it came; negative is late.
    pub early_ns: i64,
}

/// What the inputs of one datagram were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// Kept for their tick.
    pub new: u32,
    /// Their tick has run without them. Never applied; counted when they come first.
    pub stale: u32,
    /// They had come before: with every datagram, most of its history.
    pub duplicate: u32,
    /// Too far ahead to be kept.
    pub too_early: u32,
    /// Inputs between the newest before and the oldest here, which no datagram has brought.
    pub gap: u32,
}

/// What a player does in a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// The input to apply.
    pub input: RawInput,
    /// Where it comes from.
    pub source: InputSource,
}

/// Where the input of a tick comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InputSource {
    /// The player's input for this tick.
    Real,
    /// It was not there: the one before goes on.
    Repeated,
    /// None was there for more than [`REPEAT_LIMIT`] ticks, or ever: the game's default.
    Released,
}

/// How a player's datagrams came since the last report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// The newest input's tick.
    pub echo_tick: u32,
    /// When that came.
    pub arrived: Time,
    /// The smallest [`Newest::early_ns`] of them all.
    pub early_ns: i64,
}

/// One player's inputs, from the next tick on. A server has many: what every tick touches lies
/// together.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct InputQueue {
    report: Option<Report>,
    /// Which inputs for `next` and on have come; that of `next` is bit 0.
    here: u64,
    /// Which inputs of ticks that have run ever came; the tick before `next` is bit 0.
    past: u64,
    last_ack: Option<u32>,
    /// The newest tick for which an input came.
    newest: Option<u32>,
    /// The tick that runs next.
    next: u32,
    /// The last real input.
    held: RawInput,
    /// Ticks since.
    repeats: u8,
    missing: u8,
    /// Where in the ring the input for `next` lies.
    head: u8,
    ring: [RawInput; EARLY_LIMIT as usize],
}

impl InputQueue {
    /// An empty queue; `next_tick` is the first that [`InputQueue::take`] is called for.
    pub const fn new(next_tick: u32) -> Self {
        InputQueue {
            next: next_tick,
            ring: [RawInput(0); EARLY_LIMIT as usize],
            head: 0,
            here: 0,
            past: 0,
            held: RawInput(0),
            repeats: 0,
            last_ack: None,
            newest: None,
            missing: 0,
            report: None,
        }
    }

    /// Takes in the inputs of a datagram: the newest, and those of the ticks before it, newest
    /// first.
    pub fn handle(
        &mut self,
        now: Time,
        newest: Newest,
        history: impl IntoIterator<Item = RawInput, IntoIter: ExactSizeIterator>,
    ) -> Received {
        debug_assert!(newest.tick != 0, "0 is no tick");
        self.note(now, newest);
        let mut received = Received::default();
        self.handle_input(newest.tick, newest.input, &mut received);
        let history = history.into_iter().take(MAX_HISTORY);
        let oldest = tick::before(newest.tick, history.len() as u32);
        if self.has_all(oldest, history.len() as u32) {
            // Every day on a good line: nothing is lost, and history brings nothing new.
            received.duplicate += history.len() as u32;
        } else {
            let mut tick = newest.tick;
            for input in history {
                tick = tick::before(tick, 1);
                self.handle_input(tick, input, &mut received);
            }
        }
        received.gap = self.advance(newest.tick, oldest);
        received
    }

    /// The input of the next tick, or what stands for it. Call once per tick, in order.
    ///
    /// # Panics
    /// In debug builds, if `tick` is not the next.
    pub fn take(&mut self, tick: u32) -> Taken {
        debug_assert!(tick == self.next, "one tick after another");
        let input = (self.here & 1 == 1).then_some(self.ring[usize::from(self.head)]);
        self.here = match sabotage::is(Sabotage::InputTwice) {
            true => self.here.rotate_right(1),
            false => self.here >> 1,
        };
        self.head = (self.head + 1) % EARLY_LIMIT as u8;
        self.next = tick::after(self.next, 1);
        self.past = self.past << 1 | u64::from(input.is_some());
        self.missing = self.missing << 1 | u8::from(input.is_none());
        match input {
            Some(input) => {
                (self.held, self.repeats, self.last_ack) = (input, 0, Some(tick));
                Taken { input, source: InputSource::Real }
            }
            None => self.repeat(),
        }
    }

    /// The next tick.
    pub const fn next_tick(&self) -> u32 {
        self.next
    }

    /// The newest tick for which an input came.
    pub const fn newest(&self) -> Option<u32> {
        self.newest
    }

    /// The last tick whose real input was applied.
    pub const fn last_ack(&self) -> Option<u32> {
        self.last_ack
    }

    /// Bit n: there was no input for the tick n before the last.
    pub const fn missing(&self) -> u8 {
        self.missing
    }

    /// How the datagrams since the last report came; `None` if none did.
    pub const fn take_report(&mut self) -> Option<Report> {
        self.report.take()
    }

    /// Remembers what the next report says. Inputs that are not kept count, too: their client
    /// most needs to hear of it.
    fn note(&mut self, now: Time, newest: Newest) {
        let Newest { tick, early_ns, .. } = newest;
        let fresh = Report { echo_tick: tick, arrived: now, early_ns };
        let report = self.report.get_or_insert(fresh);
        if tick::is_after(tick, report.echo_tick) {
            (report.echo_tick, report.arrived) = (tick, now);
        }
        report.early_ns = report.early_ns.min(early_ns);
    }

    fn handle_input(&mut self, tick: u32, input: RawInput, received: &mut Received) {
        let ahead = match tick::since(tick, self.next) {
            late if late < 0 && sabotage::is(Sabotage::StaleInput) => 0,
            ahead => ahead,
        };
        if ahead >= EARLY_LIMIT.cast_signed() {
            received.too_early += 1;
        } else if ahead < 0 {
            match self.mark_past(ahead.unsigned_abs()) {
                Past::Missing => received.stale += 1,
                Past::Known => received.duplicate += 1,
            }
        } else {
            let bit = 1 << ahead;
            if self.here & bit != 0 {
                received.duplicate += 1;
            } else {
                self.here |= bit;
                let at = usize::from(self.head) + ahead as usize;
                self.ring[at % self.ring.len()] = input;
                received.new += 1;
            }
        }
    }

    /// Whether the inputs of so many ticks, at most 63, from `oldest` on have come; not if that is
    /// more than is remembered.
    fn has_all(&self, oldest: u32, ticks: u32) -> bool {
        let ones = |ticks: u32| (1_u64 << ticks) - 1;
        let ahead = tick::since(oldest, self.next);
        let back = (-ahead).max(0).unsigned_abs();
        let (past, skipped) = (back.min(ticks), ahead.max(0).unsigned_abs());
        let here = ticks - past;
        if back > PAST_LIMIT || skipped + here > EARLY_LIMIT {
            return false;
        }
        // With nothing to come there may be a shift by all 64 bits, whose mask is empty anyway.
        let past = ones(past).wrapping_shl(back - past);
        let here = ones(here).wrapping_shl(skipped);
        self.past & past == past && self.here & here == here
    }

    /// An input came for the tick `back` before the next; what was known of it until now.
    fn mark_past(&mut self, back: u32) -> Past {
        if back > PAST_LIMIT {
            return Past::Missing;
        }
        let bit = 1 << (back - 1);
        let known = self.past & bit != 0;
        self.past |= bit;
        if known { Past::Known } else { Past::Missing }
    }

    /// Moves the newest on; how many inputs before `oldest` are left out.
    fn advance(&mut self, newest: u32, oldest: u32) -> u32 {
        let before = self.newest;
        let ahead = tick::since(newest, self.next);
        let credible = -PAST_LIMIT.cast_signed() <= ahead && ahead < EARLY_LIMIT.cast_signed();
        if !credible || before.is_some_and(|before| !tick::is_after(newest, before)) {
            return 0;
        }
        self.newest = Some(newest);
        let gap = before.map_or(0, |before| tick::since(oldest, before) - 1);
        gap.max(0).unsigned_abs()
    }

    fn repeat(&mut self) -> Taken {
        if self.last_ack.is_none() || u32::from(self.repeats) >= REPEAT_LIMIT {
            return Taken { input: RawInput(0), source: InputSource::Released };
        }
        self.repeats += 1;
        Taken { input: self.held, source: InputSource::Repeated }
    }
}

enum Past {
    Missing,
    Known,
}

#[cfg(test)]
mod tests;
