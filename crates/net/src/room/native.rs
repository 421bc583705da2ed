//! What is kept of a member who speaks `native`, beside its session: inputs, and what it has seen.

use super::clock::TickClock;
use super::sight::Sight;
use crate::channel::{InputQueue, Newest, Received, tick};
use crate::replication::ClientView;
use crate::time::Time;
use crate::wire::native::Input;

/// What is kept for one member, in the order of its use like [`Member`](super::member::Member).
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Native {
    /// The newest snapshot that the client has.
    pub(super) newest: Option<u32>,
    /// The newest that it has all of: what the next is written against.
    pub(super) has: Option<u32>,
    /// Which of the last 64 snapshots were sent whole; the last is bit 0, and of this tick.
    wholes: u64,
    last: u32,
    /// How far behind its inputs the client draws the others.
    pub(super) sight: Sight,
    pub(super) queue: InputQueue,
    /// What the client has of a world that is its own.
    pub(super) view: Option<Box<ClientView>>,
    /// Counts those.
    epoch: u8,
}

impl Native {
    /// Someone new; the tick after this one is the first that takes an input.
    pub(super) fn new(tick: u32) -> Self {
        Native {
            queue: InputQueue::new(tick::after(tick, 1)),
            newest: None,
            has: None,
            wholes: 0,
            last: tick,
            view: None,
            epoch: 0,
            sight: Sight::default(),
        }
    }

    /// The player is back after a break: what was on the way is lost.
    pub(super) fn begin_again(&mut self, tick: u32) {
        self.queue = InputQueue::new(tick::after(tick, 1));
        (self.newest, self.has, self.wholes, self.view) = (None, None, 0, None);
    }

    /// A snapshot of `tick` goes out, with everything in it or a part of a view.
    pub(super) fn note_sent(&mut self, tick: u32, every: u32, is_whole: bool) {
        let snapshots = tick.wrapping_sub(self.last) / every;
        self.wholes = self.wholes.checked_shl(snapshots).unwrap_or(0) | u64::from(is_whole);
        self.last = tick;
    }

    /// Whether the snapshot of `tick` has gone out, as a view.
    pub(super) fn has_view_of(&self, tick: u32) -> bool {
        self.view.is_some() && self.last == tick
    }

    /// What the client has of the world where it is not sent whole.
    pub(super) fn view(&mut self) -> &mut ClientView {
        self.view.get_or_insert_with(|| {
            self.epoch = self.epoch.wrapping_add(1);
            Box::new(ClientView::new(self.epoch))
        })
    }

    /// Takes the inputs of a datagram; says what they were.
    pub(super) fn handle_input(
        &mut self,
        now: Time,
        clock: &TickClock,
        input: &Input<'_>,
        every: u32,
    ) -> Received {
        let record = input.newest;
        let due = clock.due(record.sequence);
        let early_ns = due.as_nanos() as i64 - now.as_nanos() as i64;
        let newest = Newest { tick: record.sequence, input: record.input_flags, early_ns };
        let received = self.queue.handle(now, newest, input.history.iter());
        // What an overtaken datagram says is older than what is known.
        if self.queue.newest() == Some(record.sequence) {
            self.sight.handle(input.drawn_back);
        }
        if let Some(echo) = input.snapshot {
            self.handle_ack(tick::before(record.sequence, echo.back.into()), every);
        }
        received
    }

    pub(super) fn handle_ack(&mut self, server_tick: u32, every: u32) {
        if self.newest.is_none_or(|newest| tick::is_after(server_tick, newest)) {
            self.newest = Some(server_tick);
        }
        let back = self.last.wrapping_sub(server_tick) / every;
        let is_whole = self.wholes.checked_shr(back).is_some_and(|wholes| wholes & 1 == 1);
        if is_whole && self.has.is_none_or(|has| tick::is_after(server_tick, has)) {
            self.has = Some(server_tick);
        }
    }
}
