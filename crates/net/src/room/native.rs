//! What is kept of a member who speaks `native`, beside its session: inputs, and what it has seen.

use super::clock::TickClock;
use super::sight::Sight;
use crate::channel::{BACKLOG_BYTES, InputQueue, Newest, Received, tick};
use crate::time::Time;
use crate::wire::native::Input;

/// What is kept for one member, in the order of its use like [`Member`](super::member::Member).
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Native {
    /// The newest snapshot that the client has.
    pub(super) has: Option<u32>,
    /// What the parts that are being sent are written against.
    pub(super) baseline: Option<u32>,
    /// How far behind its inputs the client draws the others.
    pub(super) sight: Sight,
    pub(super) messages: Messages,
    pub(super) queue: InputQueue,
}

impl Native {
    /// Someone new; the tick after this one is the first that takes an input.
    pub(super) fn new(tick: u32) -> Self {
        Native {
            queue: InputQueue::new(tick::after(tick, 1)),
            has: None,
            baseline: None,
            sight: Sight::default(),
            messages: Messages::default(),
        }
    }

    /// The player is back after a break: what was on the way is lost.
    pub(super) fn begin_again(&mut self, tick: u32) {
        self.queue = InputQueue::new(tick::after(tick, 1));
        self.has = None;
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
            self.handle_ack(tick::before(record.sequence, echo.back.into()));
        }
        received
    }

    pub(super) fn handle_ack(&mut self, server_tick: u32) {
        if self.has.is_none_or(|has| tick::is_after(server_tick, has)) {
            self.has = Some(server_tick);
        }
    }
}

/// What a player said since the last tick, each behind its length. An inbox lets no more through
/// than it has room for, and a tick is short.
#[derive(Clone, Debug, Default)]
pub(super) struct Messages {
    bytes: Vec<u8>,
}

impl Messages {
    /// Words beyond this wait for nobody: a player who says more in one tick is not heard.
    const LIMIT: usize = BACKLOG_BYTES;

    pub(super) fn push(&mut self, words: &[u8]) {
        if let Ok(len) = u8::try_from(words.len())
            && self.bytes.len() + 1 + words.len() <= Messages::LIMIT
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
