//! The world against one that the client has: DeltaSnapshot. Its body is the replication layer's; its
//! head is a few bytes, because most bodies are no longer.

use super::MessageBlock;
use crate::wire::malformed::Malformed;
use crate::wire::{Reader, Writer};

/// A baseline is at most so many snapshots old: the room's history.
pub const MAX_BASELINE_BACK: u8 = 32;

/// How the client's inputs fared.
///
/// ```text
/// 0      1      2       3         4      5
/// | echo | held | early | missing | lost |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Feedback {
    /// The low byte of the tick of the newest input received.
    pub echo: u8,
    /// That input had come so many 1/8 ms before this was sent; 255 is that or more.
    pub held: u8,
    /// Of the datagrams that came since the last snapshot, how early the least early one was: its
    /// newest input's tick time less its arrival, in ms, rounded down, saturated. Negative is late.
    pub early: i8,
    /// Bit n: there was no input for the tick n before this one.
    pub missing: u8,
    /// The share of the client's datagrams that were lost lately, in 1/255.
    pub lost: u8,
}

impl Feedback {
    pub(super) fn decode(r: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Feedback {
            echo: r.u8("echo")?,
            held: r.u8("held")?,
            early: r.i8("early")?,
            missing: r.u8("missing")?,
            lost: r.u8("lost")?,
        })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        w.bytes(&[self.echo, self.held, self.early.cast_unsigned(), self.missing, self.lost]);
    }
}

/// The world, against one that the client has. Its body is the replica layer's.
///
/// ```text
/// 0      2      3
/// | tick | base | [Feedback] [MessageBlock] body ...
/// ```
///
/// `base` has `baseline_back` in bits 0 to 5, bit 6 if there is a Feedback and bit 7 if there is a
/// MessageBlock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct DeltaSnapshot<'a> {
    /// The low half of the tick after which the world looked so: see [`nearest_tick`].
    pub tick: u16,
    /// The baseline is of so many snapshots before; 0 is none, and at most [`MAX_BASELINE_BACK`].
    pub baseline_back: u8,
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

/// The tick with the low half `low` that is nearest to `near`, on whichever side; of two as near,
/// the one before. Ticks wrap.
pub fn nearest_tick(low: u16, near: u32) -> u32 {
    let distance = low.wrapping_sub(near as u16).cast_signed();
    near.wrapping_add_signed(distance.into())
}

impl<'a> DeltaSnapshot<'a> {
    /// The most bytes that there are before the messages and the body.
    pub const MAX_HEAD_LEN: usize = 8;

    const BASELINE_BACK: u8 = 0x3F;
    const FEEDBACK: u8 = 0x40;
    const MESSAGES: u8 = 0x80;

    pub(super) fn decode(r: &mut Reader<'a>) -> Result<Self, Malformed> {
        let (tick, base) = (r.u16_be("tick")?, r.u8("base")?);
        let baseline_back = match base & DeltaSnapshot::BASELINE_BACK {
            back @ 0..=MAX_BASELINE_BACK => back,
            other => return Err(Malformed::out_of_range("baseline_back", other)),
        };
        let has = |bit| base & bit != 0;
        Ok(DeltaSnapshot {
            tick,
            baseline_back,
            feedback: r.optional(has(DeltaSnapshot::FEEDBACK), Feedback::decode)?,
            messages: r.optional(has(DeltaSnapshot::MESSAGES), MessageBlock::decode)?,
            body: r.take_rest(),
        })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        debug_assert!(self.baseline_back <= MAX_BASELINE_BACK, "the history is no longer");
        let feedback = self.feedback.map_or(0, |_| DeltaSnapshot::FEEDBACK);
        let messages = self.messages.map_or(0, |_| DeltaSnapshot::MESSAGES);
        let base = self.baseline_back | feedback | messages;
        let [high, low] = self.tick.to_be_bytes();
        w.bytes(&[high, low, base]);
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
    use crate::wire::Fault;
    use crate::wire::native::{BlockWriter, MessageKind, Packet};
    use crate::wire::testing::{check_native, native_fault};

    /// Everything that a head can have, and a body of two bytes.
    const DELTA: [u8; 18] = [
        1, 2, 0xE0, // tick, base
        0x81, 8, 0xF0, 5, 0x40, // Feedback
        2, 3, 4, 5, 6, 1, 8, b'x', // MessageBlock
        0xAB, 0xCD,
    ];
    const FEEDBACK: Feedback = Feedback { echo: 0x81, held: 8, early: -16, missing: 5, lost: 0x40 };

    fn delta(messages: Option<MessageBlock<'_>>) -> DeltaSnapshot<'_> {
        DeltaSnapshot {
            tick: 0x0102,
            baseline_back: 32,
            feedback: Some(FEEDBACK),
            messages,
            body: &[0xAB, 0xCD],
        }
    }

    fn changed(at: usize, value: u8) -> Malformed {
        let mut bytes = DELTA;
        bytes[at] = value;
        native_fault(0xA1, &bytes)
    }

    #[test]
    fn every_combination_of_optional_fields_has_its_bytes() {
        let mut room = [0; 16];
        let mut w = BlockWriter::new(&mut room);
        assert!(w.reliable(0x0506, MessageKind::Game, [b"x", b""]));
        let block = w.finish(0x0304);
        for (has_feedback, has_messages) in [(false, false), (false, true), (true, false)] {
            let whole = delta(has_messages.then_some(block));
            let delta = DeltaSnapshot { feedback: has_feedback.then_some(FEEDBACK), ..whole };
            let base = 32 | u8::from(has_feedback) << 6 | u8::from(has_messages) << 7;
            let mut bytes = vec![1, 2, base];
            bytes.extend(if has_feedback { &DELTA[3..8] } else { &[] });
            bytes.extend(if has_messages { &DELTA[8..16] } else { &[] });
            bytes.extend(&DELTA[16..]);
            check_native(0xA1, &bytes, Packet::DeltaSnapshot(delta));
        }
        check_native(0xA1, &DELTA, Packet::DeltaSnapshot(delta(Some(block))));
    }

    #[test]
    fn a_watchers_delta_may_be_three_bytes() {
        let delta = DeltaSnapshot {
            tick: 0x0102,
            baseline_back: 0,
            feedback: None,
            messages: None,
            body: &[],
        };
        check_native(0xA1, &[1, 2, 0], Packet::DeltaSnapshot(delta));
    }

    #[test]
    fn numbers_out_of_range_are_named() {
        for back in [33, 63] {
            assert_eq!(changed(2, 0xC0 | back), Malformed::out_of_range("baseline_back", back));
        }
    }

    #[test]
    fn a_head_that_is_cut_short_is_named() {
        let names = [
            "tick",
            "tick",
            "base",
            "echo",
            "held",
            "early",
            "missing",
            "lost",
            "present",
            "acknowledged",
            "acknowledged",
            "first",
            "first",
            "count",
            "head",
            "message",
        ];
        for (len, field) in names.into_iter().enumerate() {
            let truncated = Malformed::new(field, Fault::Truncated);
            assert_eq!(native_fault(0xA1, &DELTA[..len]), truncated, "{len} bytes");
        }
        assert!(Packet::decode_payload(0xA1, &DELTA[..names.len()]).is_ok(), "a body may be empty");
    }

    #[test]
    fn a_tick_is_known_by_its_low_half() {
        assert_eq!(nearest_tick(7, 7), 7);
        assert_eq!(nearest_tick(9, 7), 9);
        assert_eq!(nearest_tick(5, 7), 5);
        // Across the wrap of the low half, in both directions.
        assert_eq!(nearest_tick(2, 0x0003_FFFE), 0x0004_0002);
        assert_eq!(nearest_tick(0xFFFE, 0x0004_0002), 0x0003_FFFE);
        // Across the wrap of the tick itself.
        assert_eq!(nearest_tick(2, u32::MAX), 2);
        assert_eq!(nearest_tick(0xFFFF, 2), u32::MAX);
    }

    #[test]
    fn the_nearest_tick_is_at_most_half_a_lap_away() {
        for near in [0, 1, 0x7FFF, 0x8000, 0xFFFF, 0x1_0000, 0x1234_5678, u32::MAX - 1, u32::MAX] {
            for distance in i16::MIN..=i16::MAX {
                let tick = near.wrapping_add_signed(distance.into());
                assert_eq!(nearest_tick(tick as u16, near), tick, "{distance} from {near}");
            }
        }
    }
}
