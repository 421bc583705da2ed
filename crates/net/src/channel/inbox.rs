//! The other side's reliable messages: kept until all before them have come and they are taken.
//!
//! A message is acknowledged when it is taken. So who does not take them, because it is busy or because
//! the other side says too much, is not sent more than the window holds.

use std::collections::VecDeque;

use super::message::{WINDOW_BYTES, WINDOW_MESSAGES};
use crate::sabotage::{self, Sabotage};
use crate::wire::native::{Message, MessageKind};

/// An empty inbox keeps memory for so many bytes.
const KEPT_BYTES: usize = 4 << 10;

/// The other side's messages.
#[derive(Clone, Debug, Default)]
pub(super) struct Inbox {
    /// The number of the message that is taken next.
    expected: u16,
    owes: bool,
    /// From `expected` on: which have come, and where they lie.
    slots: VecDeque<Option<Slot>>,
    /// What has come and was not taken, and here and there what was taken since.
    bytes: Vec<u8>,
    /// How much of it was not taken.
    held_bytes: usize,
    /// Where what is left goes when there is no room behind it.
    spare: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    start: u32,
    len: u16,
    kind: MessageKind,
}

impl Slot {
    fn range(self) -> std::ops::Range<usize> {
        let start = self.start as usize;
        start..start + usize::from(self.len)
    }
}

impl Inbox {
    /// Waits for this message; a new one waits for 0.
    #[cfg(test)]
    pub(super) fn expecting(expected: u16) -> Self {
        Inbox { expected, ..Inbox::default() }
    }

    /// Keeps a message, if it is one of the next and there is room: else it will come again.
    pub(super) fn handle(&mut self, message: &Message<'_>) {
        // Also for what cannot be used: who sends it has not heard where we are.
        self.owes = true;
        if sabotage::is(Sabotage::EventTwice) && message.number == self.expected.wrapping_sub(1) {
            self.slots.push_front(None);
            self.expected = message.number;
        }
        let ahead = usize::from(message.number.wrapping_sub(self.expected));
        if ahead >= WINDOW_MESSAGES || self.held_bytes + message.bytes.len() > WINDOW_BYTES {
            return;
        }
        if self.slots.len() <= ahead {
            self.slots.resize(ahead + 1, None);
        }
        if self.slots[ahead].is_some() {
            return;
        }
        if self.bytes.len() + message.bytes.len() > WINDOW_BYTES {
            self.compact();
        }
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(message.bytes);
        self.held_bytes += message.bytes.len();
        let (len, kind) = (message.bytes.len() as u16, message.kind);
        self.slots[ahead] = Some(Slot { start, len, kind });
    }

    /// The next message, if it has come. It counts as delivered.
    pub(super) fn take(&mut self) -> Option<(MessageKind, &[u8])> {
        if sabotage::is(Sabotage::MessageGap) && matches!(self.slots.front(), Some(None)) {
            self.slots.pop_front();
            self.expected = self.expected.wrapping_add(1);
        }
        let slot = (*self.slots.front()?)?;
        self.slots.pop_front();
        self.expected = self.expected.wrapping_add(1);
        self.owes = true;
        self.held_bytes -= usize::from(slot.len);
        Some((slot.kind, &self.bytes[slot.range()]))
    }

    /// Whether [`Inbox::take`] has something.
    pub(super) fn is_ready(&self) -> bool {
        matches!(self.slots.front(), Some(Some(_)))
    }

    /// Gives memory back, when everything was taken.
    pub(super) fn tidy(&mut self) {
        // The last slot is always of one that has come.
        if self.slots.is_empty() && !self.bytes.is_empty() {
            self.bytes.clear();
            if self.bytes.capacity() + self.spare.capacity() > 4 * KEPT_BYTES {
                self.bytes.shrink_to(KEPT_BYTES);
                self.spare = Vec::new();
            }
        }
    }

    /// The number of the message that is waited for.
    pub(super) const fn expected(&self) -> u16 {
        self.expected
    }

    /// Which messages from that on have come, by how far behind it they are.
    pub(super) fn held(&self) -> impl Iterator<Item = u16> + use<'_> {
        let slots = self.slots.iter().enumerate();
        slots.filter(|(_, slot)| slot.is_some()).map(|(at, _)| at as u16)
    }

    /// Whether messages came or were taken since the last [`Inbox::acknowledge`]: then the other side is
    /// to be told soon.
    pub(super) const fn owes(&self) -> bool {
        self.owes
    }

    /// The acknowledgement, for a datagram that is sent now: [`Inbox::expected`].
    pub(super) const fn acknowledge(&mut self) -> u16 {
        self.owes = false;
        self.expected
    }

    /// Lets go what was taken: what is left lies one behind the other.
    fn compact(&mut self) {
        self.spare.clear();
        for slot in self.slots.iter_mut().flatten() {
            let start = self.spare.len() as u32;
            self.spare.extend_from_slice(&self.bytes[slot.range()]);
            slot.start = start;
        }
        std::mem::swap(&mut self.bytes, &mut self.spare);
    }
}
