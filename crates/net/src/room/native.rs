//! A member who speaks `native`: what has come from it, and what it has.

use super::clock::TickClock;
use super::member::Return;
use super::sight::Sight;
use crate::channel::{BACKLOG_BYTES, Inbox, InputQueue, Newest, Outbox, Received, tick};
use crate::clock::LossMeter;
use crate::sabotage::{self, Sabotage};
use crate::session::Window;
use crate::time::Time;
use crate::wire::native::{Budget, EventBlock, Input, Secret};

/// What is kept for one member, in the order of its use like [`Member`](super::member::Member).
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Native {
    /// The number of the next datagram to the client.
    pub(super) sequence: u32,
    pub(super) budget: Budget,
    /// The share of the client's datagrams that is lost, as it is told: in 255ths.
    pub(super) lost_share: u8,
    /// The newest snapshot that the client has.
    pub(super) has: Option<u32>,
    /// What the parts that are being sent are written against.
    pub(super) baseline: Option<u32>,
    /// How far behind its inputs the client draws the others.
    pub(super) sight: Sight,
    pub(super) inbox: Inbox,
    pub(super) said: Said,
    pub(super) outbox: Outbox,
    pub(super) queue: InputQueue,
    pub(super) window: Window,
    lost: LossMeter,
    pub(super) nonce: u64,
    pub(super) ticket: Secret,
}

impl Native {
    /// Someone new, whose first datagram had the number `peer_sequence`; the next tick is the first
    /// that takes an input.
    pub(super) fn new(
        (nonce, ticket, budget): (u64, Secret, Budget),
        first_sequence: u32,
        peer_sequence: u32,
        tick: u32,
    ) -> Self {
        Native {
            nonce,
            ticket,
            budget,
            sequence: first_sequence,
            window: Window::new(peer_sequence.wrapping_add(1)),
            lost: LossMeter::new(),
            lost_share: 0,
            queue: InputQueue::new(tick::after(tick, 1)),
            has: None,
            baseline: None,
            sight: Sight::default(),
            inbox: Inbox::new(),
            outbox: Outbox::new(),
            said: Said::default(),
        }
    }

    /// The player is back: what was on the way is lost, events are not.
    pub(super) fn begin_again(&mut self, back: Return, tick: u32) {
        // A Resume that comes again begins nothing anew.
        if back.fresh && self.nonce != back.nonce {
            (self.inbox, self.outbox) = (Inbox::new(), Outbox::new());
        }
        self.nonce = back.nonce;
        self.window = Window::new(back.sequence.wrapping_add(1));
        self.lost = LossMeter::new();
        self.lost_share = 0;
        self.queue = InputQueue::new(tick::after(tick, 1));
        self.has = None;
        if sabotage::is(Sabotage::ForgetEvents) {
            self.outbox = Outbox::new();
        }
    }

    pub(super) fn count_arrival(&mut self, sequence: u32) {
        self.lost.handle_arrival(sequence);
        self.lost_share = (self.lost.share() * 255.0 + 0.5) as u8;
    }

    /// Takes the inputs of a datagram; says what they were.
    pub(super) fn handle_input(
        &mut self,
        now: Time,
        clock: &TickClock,
        input: &Input<'_>,
    ) -> Received {
        let record = input.newest;
        let due = clock.due(record.sequence);
        let early_ns = due.as_nanos() as i64 - now.as_nanos() as i64;
        let newest = Newest { tick: record.sequence, buttons: record.input_flags, early_ns };
        let received = self.queue.handle(now, newest, input.history.iter());
        // What an overtaken datagram says is older than what is known.
        if self.queue.newest() == Some(record.sequence) {
            self.sight.handle(input.drawn_back);
        }
        if let Some(echo) = input.snapshot {
            self.handle_ack(tick::before(record.sequence, echo.back.into()), None);
        }
        if let Some(block) = &input.events {
            self.handle_events(block);
        }
        received
    }

    pub(super) fn handle_ack(&mut self, server_tick: u32, events: Option<&EventBlock<'_>>) {
        if self.has.is_none_or(|has| tick::is_after(server_tick, has)) {
            self.has = Some(server_tick);
        }
        if let Some(block) = events {
            self.handle_events(block);
        }
    }

    pub(super) fn handle_events(&mut self, block: &EventBlock<'_>) {
        self.outbox.acknowledge(block.acknowledged);
        self.inbox.handle(&block.events).for_each(|words| self.said.push(words));
    }
}

/// What a player said since the last tick, each behind its length. An inbox lets no more through
/// than it has room for, and a tick is short.
#[derive(Clone, Debug, Default)]
pub(super) struct Said {
    bytes: Vec<u8>,
}

impl Said {
    /// Words beyond this wait for nobody: a player who says more in one tick is not heard.
    const LIMIT: usize = BACKLOG_BYTES;

    fn push(&mut self, words: &[u8]) {
        if let Ok(len) = u8::try_from(words.len())
            && self.bytes.len() + 1 + words.len() <= Said::LIMIT
        {
            self.bytes.push(len);
            self.bytes.extend_from_slice(words);
        }
    }

    pub(super) fn words(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = &self.bytes[..];
        std::iter::from_fn(move || {
            let (len, behind) = rest.split_first()?;
            let (words, behind) = behind.split_at_checked(usize::from(*len))?;
            rest = behind;
            Some(words)
        })
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
    }
}
