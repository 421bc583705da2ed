//! The messages of one session, both ways: what must arrive once and in order, and what may be lost.
//!
//! Whoever owns it puts [`MessageChannel::poll`]'s block into the datagrams that leave anyway or, while
//! it is due, into more of them; hands the other side's blocks to [`MessageChannel::handle`]; and takes
//! what has come. Numbers wrap.

use std::time::Duration;

use super::inbox::Inbox;
use super::loose::Loose;
use super::message::SendError;
use super::outbox::Outbox;
use crate::sabotage::{self, Sabotage};
use crate::time::Time;
use crate::wire::native::{BlockWriter, MessageBlock, MessageKind};

/// The messages of one session. Most sessions have none most of the time: then this is all there is.
#[derive(Clone, Debug, Default)]
pub struct MessageChannel {
    /// Whether there is anything to be sent, now or later, or to be acknowledged.
    is_busy: bool,
    /// Whether anything has come that was not taken.
    has_mail: bool,
    boxes: Option<Box<Boxes>>,
}

/// What there is once something was said.
#[derive(Clone, Debug, Default)]
struct Boxes {
    outbox: Outbox,
    inbox: Inbox,
    going: Loose,
    came: Loose,
}

impl MessageChannel {
    /// Nothing was said yet.
    pub const fn new() -> Self {
        MessageChannel { is_busy: false, has_mail: false, boxes: None }
    }

    /// Takes a message that must arrive; or nothing was taken.
    pub fn send(&mut self, kind: MessageKind, message: &[u8]) -> Result<(), SendError> {
        self.boxes.get_or_insert_default().outbox.push(kind, message)?;
        self.is_busy = true;
        Ok(())
    }

    /// Takes a message that is sent once; or nothing was taken.
    pub fn send_unreliable(&mut self, message: &[u8]) -> Result<(), SendError> {
        self.boxes.get_or_insert_default().going.push(message)?;
        self.is_busy = true;
        Ok(())
    }

    /// Takes the other side's block. Says how many unreliable messages had no room.
    pub fn handle(&mut self, block: &MessageBlock<'_>) -> usize {
        let has_messages = !block.reliable.is_empty() || !block.unreliable.is_empty();
        let boxes = match &mut self.boxes {
            // A mere acknowledgement of nothing.
            None if !has_messages => return 0,
            boxes => boxes.get_or_insert_default(),
        };
        boxes.outbox.acknowledge(block.acknowledged, block.selective);
        block.reliable.iter().for_each(|message| boxes.inbox.handle(&message));
        if sabotage::is(Sabotage::LooseTwice) {
            block.unreliable.iter().for_each(|message| _ = boxes.came.keep(message));
        }
        let lost = block.unreliable.iter().filter(|message| !boxes.came.keep(message)).count();
        self.has_mail |= has_messages;
        self.is_busy = boxes.is_busy();
        lost
    }

    /// The next reliable message of the other side, if it has come. It counts as delivered.
    pub fn take(&mut self) -> Option<(MessageKind, &[u8])> {
        if !self.has_mail {
            return None;
        }
        self.boxes.as_mut()?.inbox.take().inspect(|_| self.is_busy = true)
    }

    /// The next unreliable message of the other side.
    pub fn take_unreliable(&mut self) -> Option<&[u8]> {
        if !self.has_mail {
            return None;
        }
        self.boxes.as_mut()?.came.take()
    }

    /// Whether anything may have come that was not taken.
    pub const fn has_mail(&self) -> bool {
        self.has_mail
    }

    /// Whoever takes messages has taken what it wanted for now: memory that is free can be used again.
    pub fn tidy(&mut self) {
        let Some(boxes) = &mut self.boxes else { return };
        boxes.inbox.tidy();
        boxes.came.tidy();
        self.has_mail = boxes.inbox.is_ready() || !boxes.came.is_empty();
    }

    /// Whether a block is due: something is to be sent, or the other side is to be told what has come.
    /// `again_after` is about a round trip.
    pub fn is_due(&self, now: Time, again_after: Duration) -> bool {
        self.is_busy
            && self.boxes.as_ref().is_some_and(|boxes| {
                boxes.inbox.owes()
                    || !boxes.going.is_empty()
                    || boxes.outbox.due(again_after).is_some_and(|due| due <= now)
            })
    }

    /// Whether it has to be asked: most sessions have nothing to say.
    pub const fn is_busy(&self) -> bool {
        self.is_busy
    }

    /// What is due, in at most as many bytes as `room` has; nothing where nothing is, or where there is
    /// no room for any of it. What is left stays due.
    pub fn poll<'a>(
        &mut self,
        now: Time,
        again_after: Duration,
        room: &'a mut [u8],
    ) -> Option<MessageBlock<'a>> {
        if room.len() < MessageBlock::MIN_LEN || !self.is_due(now, again_after) {
            return None;
        }
        let boxes = self.boxes.as_mut()?;
        let owes = boxes.inbox.owes();
        let mut w = BlockWriter::new(room);
        w.selective(boxes.inbox.held());
        boxes.outbox.poll(now, again_after, &mut w);
        boxes.going.poll(&mut w);
        let block = w.finish(boxes.inbox.expected());
        if block.reliable.is_empty() && block.unreliable.is_empty() && !owes {
            return None;
        }
        boxes.inbox.acknowledge();
        self.is_busy = boxes.is_busy();
        Some(block)
    }

    /// The other side was away: what it has not acknowledged is sent again, what was to be sent once is
    /// too old.
    pub fn resume(&mut self) {
        if let Some(boxes) = &mut self.boxes {
            boxes.outbox.resend();
            boxes.going.clear();
        }
    }

    /// How many reliable messages are without acknowledgement.
    pub fn unacknowledged(&self) -> usize {
        self.boxes.as_ref().map_or(0, |boxes| boxes.outbox.len())
    }
}

impl Boxes {
    fn is_busy(&self) -> bool {
        !self.outbox.is_empty() || !self.going.is_empty() || self.inbox.owes()
    }
}

#[cfg(test)]
mod tests;
