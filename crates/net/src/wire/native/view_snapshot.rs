//! The world as one client may see it, or a part of that: each datagram stands alone.

use super::{Feedback, MessageBlock};
use crate::wire::malformed::Malformed;
use crate::wire::{Reader, Writer};

/// What a client may see, against what it has. Its body is the replication layer's
/// ([`view`](crate::replication::view)).
///
/// ```text
/// 0      2       3       4
/// | tick | epoch | flags | [Feedback] [MessageBlock] body ...
/// ```
///
/// `flags` has bit 0 in the first datagram of its tick, bit 1 if there is a Feedback and bit 2 if there
/// is a MessageBlock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ViewSnapshot<'a> {
    /// The low half of the tick after which the world looked so: see
    /// [`nearest_tick`](super::nearest_tick).
    pub tick: u16,
    /// Counts the views of a session: with another, the client begins with nothing.
    pub epoch: u8,
    /// Whether it is the first of its tick, with what the player itself steers.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::wire::flag_as_number"))]
    pub is_first: bool,
    /// How this client's inputs fared; a watcher has none.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub feedback: Option<Feedback>,
    /// What the server has to say.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub messages: Option<MessageBlock<'a>>,
    /// The change, in the game's schema.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::wire::hex::serialize"))]
    pub body: &'a [u8],
}

impl<'a> ViewSnapshot<'a> {
    /// The most bytes that there are before the messages and the body.
    pub const MAX_HEAD_LEN: usize = 9;

    const FIRST: u8 = 1;
    const FEEDBACK: u8 = 2;
    const MESSAGES: u8 = 4;

    pub(super) fn decode(r: &mut Reader<'a>) -> Result<Self, Malformed> {
        let (tick, epoch, flags) = (r.u16_be("tick")?, r.u8("epoch")?, r.u8("flags")?);
        if flags > ViewSnapshot::FIRST | ViewSnapshot::FEEDBACK | ViewSnapshot::MESSAGES {
            return Err(Malformed::out_of_range("flags", flags));
        }
        let has = |bit| flags & bit != 0;
        Ok(ViewSnapshot {
            tick,
            epoch,
            is_first: has(ViewSnapshot::FIRST),
            feedback: r.optional(has(ViewSnapshot::FEEDBACK), Feedback::decode)?,
            messages: r.optional(has(ViewSnapshot::MESSAGES), MessageBlock::decode)?,
            body: r.take_rest(),
        })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        let first = if self.is_first { ViewSnapshot::FIRST } else { 0 };
        let feedback = self.feedback.map_or(0, |_| ViewSnapshot::FEEDBACK);
        let messages = self.messages.map_or(0, |_| ViewSnapshot::MESSAGES);
        w.u16_be(self.tick);
        w.u8(self.epoch);
        w.u8(first | feedback | messages);
        if let Some(feedback) = self.feedback {
            feedback.encode(w);
        }
        if let Some(messages) = self.messages {
            messages.encode(w);
        }
        w.bytes(self.body);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::native::{BlockWriter, MessageKind, Packet};
    use crate::wire::testing::{check_native, native_fault};

    /// Everything that a head can have, and a body of two bytes.
    const BYTES: [u8; 18] = [
        1, 2, 9, 7, // tick, epoch, flags
        0x81, 8, 0xF0, 5, 0x40, // Feedback
        2, 3, 4, 5, 6, 1, 8, b'x', // MessageBlock
        0xAB, // body
    ];

    #[test]
    fn a_view_has_a_head_of_four_bytes_and_what_its_flags_say() {
        let mut room = [0; 16];
        let mut w = BlockWriter::new(&mut room);
        assert!(w.reliable(0x0506, MessageKind::Game, [b"x", b""]));
        let view = ViewSnapshot {
            tick: 0x0102,
            epoch: 9,
            is_first: true,
            feedback: Some(Feedback { echo: 0x81, held: 8, early: -16, missing: 5, lost: 0x40 }),
            messages: Some(w.finish(0x0304)),
            body: &[0xAB],
        };
        check_native(0xA4, &BYTES, Packet::ViewSnapshot(view));
        let plain =
            ViewSnapshot { is_first: false, feedback: None, messages: None, body: &[], ..view };
        check_native(0xA4, &[1, 2, 9, 0], Packet::ViewSnapshot(plain));
    }

    #[test]
    fn flags_that_mean_nothing_are_out_of_range() {
        let fault = Malformed::out_of_range("flags", 8);
        assert_eq!(native_fault(0xA4, &[1, 2, 9, 8]), fault);
    }
}
