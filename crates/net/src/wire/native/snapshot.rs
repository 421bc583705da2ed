//! The world: Snapshot, the full form of document 004; and DeltaSnapshot, against one that the
//! client has. The delta's body is the replica layer's.

use crate::wire::malformed::Malformed;
use crate::wire::{List, Reader, Record, Writer};

/// A baseline is at most so many ticks old: the room's history.
pub const MAX_BASELINE_BACK: u8 = 32;

/// One thing in the world.
///
/// ```text
/// 0           4             6   10  14   16   18       20      22                  26
/// | entity_id | entity_type | x | y | vx | vy | health | flags | last_ack_sequence |
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct EntityState {
    /// The same for as long as the thing lives.
    pub entity_id: u32,
    /// What it is, as the game numbers it.
    pub entity_type: u16,
    /// Position.
    pub x: f32,
    /// Position.
    pub y: f32,
    /// Velocity, px/s.
    pub vx: i16,
    /// Velocity, px/s.
    pub vy: i16,
    /// Health.
    pub health: u16,
    /// As the game numbers them.
    pub flags: u16,
    /// The last input of its player that was applied; 0 for what no player controls.
    pub last_ack_sequence: u32,
}

impl Record for EntityState {
    const LEN: usize = 26;

    #[inline]
    fn decode(r: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(EntityState {
            entity_id: r.u32_be("entity_id")?,
            entity_type: r.u16_be("entity_type")?,
            x: r.f32_be("x")?,
            y: r.f32_be("y")?,
            vx: r.i16_be("vx")?,
            vy: r.i16_be("vy")?,
            health: r.u16_be("health")?,
            flags: r.u16_be("flags")?,
            last_ack_sequence: r.u32_be("last_ack_sequence")?,
        })
    }

    #[inline]
    fn encode(&self, w: &mut Writer<'_>) {
        w.u32_be(self.entity_id);
        w.u16_be(self.entity_type);
        w.f32_be(self.x);
        w.f32_be(self.y);
        w.i16_be(self.vx);
        w.i16_be(self.vy);
        w.u16_be(self.health);
        w.u16_be(self.flags);
        w.u32_be(self.last_ack_sequence);
    }
}

/// The world, in full.
///
/// ```text
/// 0             4              6                   6 + 26 entity_count
/// | server_tick | entity_count | EntityState ...   |
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Snapshot<'a> {
    /// The tick after which the world looked so.
    pub server_tick: u32,
    /// What is there.
    pub entities: List<'a, EntityState>,
}

impl<'a> Snapshot<'a> {
    pub(super) fn decode(r: &mut Reader<'a>) -> Result<Self, Malformed> {
        let server_tick = r.u32_be("server_tick")?;
        let count = usize::from(r.u16_be("entity_count")?);
        Ok(Snapshot { server_tick, entities: List::decode(r, "entity_count", count)? })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        w.u32_be(self.server_tick);
        match u16::try_from(self.entities.len()) {
            Ok(count) => w.u16_be(count),
            Err(_) => w.overflow(),
        }
        self.entities.encode(w);
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Snapshot<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut fields = serializer.serialize_struct("Snapshot", 3)?;
        fields.serialize_field("server_tick", &self.server_tick)?;
        fields.serialize_field("entity_count", &self.entities.len())?;
        fields.serialize_field("entities", &self.entities)?;
        fields.end()
    }
}

/// How the client's inputs fared.
///
/// ```text
/// 0         1       3                7      9
/// | missing | early | echo_timestamp | held |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Feedback {
    /// Bit n: there was no input for the tick n before this one.
    pub missing: u8,
    /// How early the newest input came for its tick, in 1/16 ms; negative is late.
    pub early: i16,
    /// The newest input's timestamp.
    pub echo_timestamp: u32,
    /// How long ago that input had come when this was sent, in 1/16 ms.
    pub held: u16,
}

impl Feedback {
    fn decode(r: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Feedback {
            missing: r.u8("missing")?,
            early: r.i16_be("early")?,
            echo_timestamp: r.u32_be("echo_timestamp")?,
            held: r.u16_be("held")?,
        })
    }

    fn encode(&self, w: &mut Writer<'_>) {
        w.u8(self.missing);
        w.i16_be(self.early);
        w.u32_be(self.echo_timestamp);
        w.u16_be(self.held);
    }
}

/// Which piece of a snapshot that did not fit one datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Part {
    index: u8,
    count: u8,
}

impl Part {
    /// The whole in one piece.
    pub const WHOLE: Part = Part { index: 0, count: 1 };

    /// Piece `index` of `count`, at most 15.
    pub const fn new(index: u8, count: u8) -> Option<Self> {
        if index < count && count < 16 { Some(Part { index, count }) } else { None }
    }

    /// Which piece, from 0.
    pub const fn index(self) -> u8 {
        self.index
    }

    /// Of how many.
    pub const fn count(self) -> u8 {
        self.count
    }

    fn decode(r: &mut Reader<'_>) -> Result<Self, Malformed> {
        let byte = r.u8("part")?;
        Part::new(byte >> 4, byte & 15).ok_or(Malformed::out_of_range("part", byte))
    }
}

/// The world, against one that the client has. Provisional: its body is still to be measured.
///
/// ```text
/// 0             4               5      6         7
/// | server_tick | baseline_back | part | present | [Feedback] body ...
/// ```
///
/// `part` has its index in the high four bits and the count in the low four; `present` is 1 if
/// there is a Feedback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct DeltaSnapshot<'a> {
    /// The tick after which the world looked so.
    pub server_tick: u32,
    /// The baseline is of so many ticks before; 0 is none, and at most [`MAX_BASELINE_BACK`].
    pub baseline_back: u8,
    /// Which piece.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub part: Part,
    /// How this client's inputs fared; a watcher has none.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub feedback: Option<Feedback>,
    /// The change, in the game's schema.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::wire::hex::serialize"))]
    pub body: &'a [u8],
}

impl<'a> DeltaSnapshot<'a> {
    pub(super) fn decode(r: &mut Reader<'a>) -> Result<Self, Malformed> {
        Ok(DeltaSnapshot {
            server_tick: r.u32_be("server_tick")?,
            baseline_back: match r.u8("baseline_back")? {
                back @ 0..=MAX_BASELINE_BACK => back,
                other => return Err(Malformed::out_of_range("baseline_back", other)),
            },
            part: Part::decode(r)?,
            feedback: match r.flag("present")? {
                true => Some(Feedback::decode(r)?),
                false => None,
            },
            body: r.take_rest(),
        })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        w.u32_be(self.server_tick);
        debug_assert!(self.baseline_back <= MAX_BASELINE_BACK, "the history is no longer");
        w.u8(self.baseline_back);
        w.u8(self.part.index << 4 | self.part.count);
        w.flag(self.feedback.is_some());
        if let Some(feedback) = self.feedback {
            feedback.encode(w);
        }
        w.bytes(self.body);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::malformed::Fault;
    use crate::wire::native::Packet;
    use crate::wire::testing::{check_native, native_fault};

    const SNAPSHOT: [u8; 32] = [
        0, 0, 1, 2, 0, 1, // server_tick, entity_count
        0, 0, 0, 7, 0, 2, 0x42, 0x48, 0, 0, 0xC2, 0xC8, 0, 0, // entity_id to y
        0, 0x96, 0xFF, 0x6A, 0, 3, 0x80, 0, 0, 0, 1, 0, // vx to last_ack_sequence
    ];
    const DELTA: [u8; 18] =
        [0, 0, 1, 2, 32, 0x12, 1, 0x81, 0xFF, 0xF0, 1, 2, 3, 4, 0, 0x20, 0xAB, 0xCD];

    #[test]
    fn a_snapshot_counts_its_entities() {
        let entities = [EntityState {
            entity_id: 7,
            entity_type: 2,
            x: 50.0,
            y: -100.0,
            vx: 150,
            vy: -150,
            health: 3,
            flags: 0x8000,
            last_ack_sequence: 256,
        }];
        let snapshot = Snapshot { server_tick: 258, entities: List::new(&entities) };
        check_native(0xA0, &SNAPSHOT, Packet::Snapshot(snapshot));
        let empty = Snapshot { server_tick: 258, entities: List::new(&[]) };
        check_native(0xA0, &[0, 0, 1, 2, 0, 0], Packet::Snapshot(empty));
    }

    #[test]
    fn a_count_that_the_bytes_contradict_is_refused() {
        for (stated, bytes) in [(0, [0, 0]), (2, [0, 2]), (65535, [0xFF, 0xFF])] {
            let mut snapshot = SNAPSHOT;
            snapshot[4..6].copy_from_slice(&bytes);
            let fault = Fault::WrongSize { stated, actual: 1 };
            assert_eq!(native_fault(0xA0, &snapshot), Malformed::new("entity_count", fault));
        }
    }

    #[test]
    fn a_position_that_is_not_finite_is_named() {
        for (at, field) in [(12, "x"), (16, "y")] {
            let mut bytes = SNAPSHOT;
            bytes[at..at + 4].copy_from_slice(&f32::NEG_INFINITY.to_be_bytes());
            assert_eq!(native_fault(0xA0, &bytes), Malformed::new(field, Fault::NotFinite));
        }
    }

    #[test]
    fn a_delta_carries_feedback_and_its_body() {
        let feedback =
            Feedback { missing: 0x81, early: -16, echo_timestamp: 0x0102_0304, held: 32 };
        let delta = DeltaSnapshot {
            server_tick: 258,
            baseline_back: 32,
            part: Part::new(1, 2).unwrap(),
            feedback: Some(feedback),
            body: &[0xAB, 0xCD],
        };
        check_native(0xA1, &DELTA, Packet::DeltaSnapshot(delta));
    }

    #[test]
    fn a_watchers_delta_has_no_feedback() {
        let delta = DeltaSnapshot {
            server_tick: 258,
            baseline_back: 0,
            part: Part::WHOLE,
            feedback: None,
            body: &[],
        };
        check_native(0xA1, &[0, 0, 1, 2, 0, 1, 0], Packet::DeltaSnapshot(delta));
    }

    #[test]
    fn numbers_out_of_range_are_named() {
        let changed = |at: usize, value| {
            let mut bytes = DELTA;
            bytes[at] = value;
            native_fault(0xA1, &bytes)
        };
        for back in [33, 255] {
            assert_eq!(changed(4, back), Malformed::out_of_range("baseline_back", back));
        }
        for present in [2, 255] {
            assert_eq!(changed(6, present), Malformed::out_of_range("present", present));
        }
        assert_eq!(native_fault(0xA1, &DELTA[..15]), Malformed::new("held", Fault::Truncated));
    }

    #[test]
    fn a_part_is_one_of_at_most_fifteen() {
        for byte in 0..=255_u8 {
            let (index, count) = (byte >> 4, byte & 15);
            let mut bytes = DELTA;
            bytes[5] = byte;
            match Part::new(index, count) {
                Some(part) => {
                    assert!(index < count && (part.index(), part.count()) == (index, count));
                    assert!(Packet::decode(0xA1, &bytes).is_ok());
                }
                None => {
                    assert!(index >= count);
                    assert_eq!(native_fault(0xA1, &bytes), Malformed::out_of_range("part", byte));
                }
            }
        }
        assert_eq!(Part::new(0, 16), None);
        assert_eq!(Part::new(0, 0), None);
    }
}
