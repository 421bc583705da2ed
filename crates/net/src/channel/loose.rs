//! Unreliable messages that wait: to be sent, or to be taken.

use super::message::{MESSAGE_BYTES, SendError, UNRELIABLE_BYTES, UNRELIABLE_MESSAGES};
use crate::wire::native::BlockWriter;

/// How much of what came waits to be taken: the datagrams of a few ticks may come at once. More is
/// dropped, as a link would.
const ARRIVED_BYTES: usize = 8 * UNRELIABLE_BYTES;
const ARRIVED_MESSAGES: usize = 8 * UNRELIABLE_MESSAGES;

/// Messages, each behind its length.
#[derive(Clone, Debug, Default)]
pub(super) struct Loose {
    count: usize,
    bytes: Vec<u8>,
    /// How much of the front of `bytes` is done with.
    done: usize,
}

/// The bytes of a length.
const LEN: usize = 2;

impl Loose {
    /// Takes a message to be sent with the next datagrams; or nothing was taken.
    pub(super) fn push(&mut self, message: &[u8]) -> Result<(), SendError> {
        if message.len() > MESSAGE_BYTES {
            return Err(SendError::TooLong);
        }
        if self.count >= UNRELIABLE_MESSAGES {
            return Err(SendError::TickMessages);
        }
        if self.len_bytes() + message.len() > UNRELIABLE_BYTES {
            return Err(SendError::TickBytes);
        }
        self.put(message);
        Ok(())
    }

    /// Keeps a message that came; `false` if there is no room, and it is lost.
    #[must_use]
    pub(super) fn keep(&mut self, message: &[u8]) -> bool {
        let has_room = self.count < ARRIVED_MESSAGES
            && self.len_bytes() + message.len() <= ARRIVED_BYTES
            && message.len() <= MESSAGE_BYTES;
        if has_room {
            self.put(message);
        }
        has_room
    }

    /// The oldest message, once.
    pub(super) fn take(&mut self) -> Option<&[u8]> {
        let range = self.front()?;
        self.drop_front(range.end);
        Some(&self.bytes[range])
    }

    /// Writes what fits, once.
    pub(super) fn poll(&mut self, w: &mut BlockWriter<'_>) {
        while let Some(range) = self.front() {
            if !w.unreliable(&self.bytes[range.clone()]) {
                break;
            }
            self.drop_front(range.end);
        }
        self.tidy();
    }

    /// Whether there are none.
    pub(super) const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Forgets them.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        (self.count, self.done) = (0, 0);
    }

    /// Lets the memory be used again, when everything was taken.
    pub(super) fn tidy(&mut self) {
        if self.count == 0 {
            self.clear();
        }
    }

    /// How many bytes the messages have, without their lengths.
    fn len_bytes(&self) -> usize {
        self.bytes.len() - self.done - self.count * LEN
    }

    fn put(&mut self, message: &[u8]) {
        self.tidy();
        self.bytes.extend_from_slice(&(message.len() as u16).to_be_bytes());
        self.bytes.extend_from_slice(message);
        self.count += 1;
    }

    fn front(&self) -> Option<std::ops::Range<usize>> {
        let len = self.bytes.get(self.done..)?.first_chunk::<LEN>()?;
        let start = self.done + LEN;
        Some(start..start + usize::from(u16::from_be_bytes(*len)))
    }

    fn drop_front(&mut self, end: usize) {
        self.done = end;
        self.count -= 1;
    }
}
