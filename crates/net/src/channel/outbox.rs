//! Own reliable messages, until they are acknowledged.
//!
//! Each is sent at once, and again on its own when about a round trip has brought no word of it. What
//! is small rides along once more with the next: a loss then costs a tick, not a round trip. While
//! nothing at all is acknowledged, one datagram of repeats in a round trip is enough to find out when
//! the other side is there again.

use std::collections::VecDeque;
use std::time::Duration;

use super::message::{
    MESSAGE_BYTES, QUEUE_BYTES, QUEUE_MESSAGES, SendError, WINDOW_BYTES, WINDOW_MESSAGES,
};
use crate::time::Time;
use crate::wire::native::{BlockWriter, MessageKind, Selective};

/// How many bytes of what was sent once ride along with something new.
const REPEAT_BYTES: usize = 128;

/// A queue that is empty keeps memory for so many bytes and messages; what a burst needed beyond that is
/// given back.
const KEPT_BYTES: usize = 4 << 10;
const KEPT_MESSAGES: usize = 256;

/// Own messages, until they are acknowledged.
#[derive(Clone, Debug)]
pub(super) struct Outbox {
    /// The number of the first of them.
    first: u16,
    /// How many of them have been sent.
    sent: u16,
    /// How many bytes those have.
    sent_bytes: u32,
    /// Whether anything was acknowledged since something was sent again.
    has_progress: bool,
    resent_at: Time,
    /// When that was sent which was sent longest ago, of what may have to be sent again.
    oldest: Option<Time>,
    entries: VecDeque<Entry>,
    bytes: VecDeque<u8>,
}

/// A message in the queue.
#[derive(Clone, Copy, Debug)]
struct Entry {
    sent_at: Time,
    len: u16,
    kind: MessageKind,
    /// How often it was sent, at least.
    copies: u8,
    /// Whether the other side holds it already, behind one that is missing.
    has_arrived: bool,
}

impl Outbox {
    /// Nothing to send; the first message has number 0.
    pub(super) const fn new() -> Self {
        Outbox {
            first: 0,
            sent: 0,
            sent_bytes: 0,
            has_progress: true,
            resent_at: Time::ZERO,
            oldest: None,
            entries: VecDeque::new(),
            bytes: VecDeque::new(),
        }
    }

    /// The same, with another first number.
    #[cfg(test)]
    pub(super) fn starting_at(first: u16) -> Self {
        Outbox { first, ..Outbox::new() }
    }

    /// Takes a message that must arrive, and says its number; or nothing was taken.
    pub(super) fn push(&mut self, kind: MessageKind, message: &[u8]) -> Result<u16, SendError> {
        if message.len() > MESSAGE_BYTES {
            return Err(SendError::TooLong);
        }
        if self.entries.len() >= QUEUE_MESSAGES {
            return Err(SendError::QueueMessages);
        }
        if self.bytes.len() + message.len() > QUEUE_BYTES {
            return Err(SendError::QueueBytes);
        }
        self.bytes.extend(message);
        let number = self.first.wrapping_add(self.entries.len() as u16);
        let len = message.len() as u16;
        self.entries.push_back(Entry {
            sent_at: Time::ZERO,
            len,
            kind,
            copies: 0,
            has_arrived: false,
        });
        Ok(number)
    }

    /// Writes what is to be sent now. `again_after` is about a round trip. What has no room stays due:
    /// call again for the next datagram.
    pub(super) fn poll(&mut self, now: Time, again_after: Duration, w: &mut BlockWriter<'_>) {
        let has_new = self.has_new();
        let may_resend = self.may_resend(now, again_after);
        if !has_new && !may_resend {
            return;
        }
        let is_late = |entry: &Entry| may_resend && now.since(entry.sent_at) >= again_after;
        let mut repeat_left = match has_new {
            true => self.room_to_repeat(w.left(), is_late),
            false => 0,
        };
        let (mut offset, mut resent) = (0, false);
        for at in 0..self.entries.len() {
            let entry = self.entries[at];
            let (start, end) = (offset, offset + usize::from(entry.len));
            offset = end;
            let is_new = at >= usize::from(self.sent);
            let repeated_len = BlockWriter::reliable_len(entry.len.into());
            let late = !is_new && !entry.has_arrived && is_late(&entry);
            let repeat = !is_new && !entry.has_arrived && !late && entry.copies == 1;
            let repeat = repeat && repeated_len <= repeat_left;
            if is_new && !self.has_new() {
                break;
            }
            if !is_new && !late && !repeat {
                continue;
            }
            let number = self.first.wrapping_add(at as u16);
            if !w.reliable(number, entry.kind, pieces(&self.bytes, start, end)) {
                break;
            }
            let entry = &mut self.entries[at];
            (entry.sent_at, entry.copies) = (now, entry.copies.saturating_add(1));
            resent |= late;
            if repeat {
                repeat_left -= repeated_len;
            }
            if is_new {
                self.sent += 1;
                self.sent_bytes += u32::from(self.entries[at].len);
            }
        }
        if resent {
            (self.has_progress, self.resent_at) = (false, now);
        }
        self.find_oldest();
    }

    /// When [`Outbox::poll`] has something: at once is [`Time::ZERO`], never `None`.
    pub(super) fn due(&self, again_after: Duration) -> Option<Time> {
        if self.has_new() {
            return Some(Time::ZERO);
        }
        let late = self.oldest? + again_after;
        Some(if self.has_progress { late } else { late.max(self.resent_at + again_after) })
    }

    /// The other side waits for the message `next`: all before it have been delivered, and those that it
    /// holds have come. Says how many were delivered that were not known to be.
    pub(super) fn acknowledge(&mut self, next: u16, selective: Selective<'_>) -> u16 {
        let arrived = next.wrapping_sub(self.first);
        // A newer acknowledgement has overtaken this one, or it is of what was never sent.
        if arrived.cast_signed() < 0 || arrived > self.sent {
            return 0;
        }
        let bytes: usize =
            self.entries.drain(..usize::from(arrived)).map(|it| usize::from(it.len)).sum();
        self.bytes.drain(..bytes);
        self.first = next;
        self.sent -= arrived;
        self.sent_bytes -= bytes as u32;
        let mut is_news = arrived > 0;
        for at in selective.iter().take_while(|&at| at < self.sent) {
            let entry = &mut self.entries[usize::from(at)];
            is_news |= !std::mem::replace(&mut entry.has_arrived, true);
        }
        if is_news {
            self.has_progress = true;
            self.find_oldest();
        }
        if self.entries.is_empty() {
            self.shrink();
        }
        arrived
    }

    /// Everything that is not known to have arrived is to be sent again: the other side was away.
    pub(super) fn resend(&mut self) {
        let sent = self.entries.iter_mut().take(self.sent.into());
        sent.for_each(|entry| entry.sent_at = Time::ZERO);
        self.has_progress = true;
        self.find_oldest();
    }

    /// How many messages are without acknowledgement.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether everything has arrived.
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether there is a message that was never sent and may be: the other side has room for it.
    fn has_new(&self) -> bool {
        let sent = usize::from(self.sent);
        sent < WINDOW_MESSAGES
            && self.entries.get(sent).is_some_and(|next| {
                self.sent_bytes as usize + usize::from(next.len) <= WINDOW_BYTES
            })
    }

    fn may_resend(&self, now: Time, again_after: Duration) -> bool {
        let is_late = self.oldest.is_some_and(|oldest| now.since(oldest) >= again_after);
        is_late && (self.has_progress || now.since(self.resent_at) >= again_after)
    }

    /// How much room what was sent once may take: none from what has to be sent.
    fn room_to_repeat(&self, left: usize, is_late: impl Fn(&Entry) -> bool) -> usize {
        let sent = usize::from(self.sent);
        let has_to = self.entries.iter().enumerate().take(WINDOW_MESSAGES);
        let has_to =
            has_to.filter(|(at, entry)| *at >= sent || !entry.has_arrived && is_late(entry));
        let mut room = left;
        for (_, entry) in has_to {
            let Some(rest) = room.checked_sub(BlockWriter::reliable_len(entry.len.into())) else {
                return 0;
            };
            room = rest;
        }
        // What is skipped over takes a byte to say so, and a block begins with three.
        room.saturating_sub(8).min(REPEAT_BYTES)
    }

    fn find_oldest(&mut self) {
        let sent = self.entries.iter().take(self.sent.into());
        self.oldest = sent.filter(|entry| !entry.has_arrived).map(|entry| entry.sent_at).min();
    }

    fn shrink(&mut self) {
        if self.bytes.capacity() > 4 * KEPT_BYTES {
            self.bytes.shrink_to(KEPT_BYTES);
        }
        if self.entries.capacity() > 4 * KEPT_MESSAGES {
            self.entries.shrink_to(KEPT_MESSAGES);
        }
    }
}

impl Default for Outbox {
    fn default() -> Self {
        Outbox::new()
    }
}

/// The bytes from `start` to `end`, which may lie in two pieces.
fn pieces(bytes: &VecDeque<u8>, start: usize, end: usize) -> [&[u8]; 2] {
    let (front, back) = bytes.as_slices();
    let cut = |at: usize| (at.min(front.len()), at.saturating_sub(front.len()));
    let ((front_start, back_start), (front_end, back_end)) = (cut(start), cut(end));
    [&front[front_start..front_end], &back[back_start..back_end]]
}

#[cfg(test)]
impl Outbox {
    /// How many bytes it has allocated.
    pub(super) fn memory(&self) -> usize {
        self.bytes.capacity() + self.entries.capacity() * size_of::<Entry>()
    }
}
