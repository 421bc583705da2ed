//! The world: Snapshot, the full form of document 004; and DeltaSnapshot, against one that the
//! client has. The delta's body is the replica layer's; its head is a few bytes, because most
//! bodies are no longer.

use super::EventBlock;
use crate::wire::malformed::{Fault, Malformed};
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
    fn decode(r: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Feedback {
            echo: r.u8("echo")?,
            held: r.u8("held")?,
            early: r.i8("early")?,
            missing: r.u8("missing")?,
            lost: r.u8("lost")?,
        })
    }

    fn encode(&self, w: &mut Writer<'_>) {
        w.bytes(&[self.echo, self.held, self.early.cast_unsigned(), self.missing, self.lost]);
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

    /// There are at most so many.
    pub const MAX_COUNT: u8 = 15;

    /// Piece `index` of `count`, at most [`Part::MAX_COUNT`].
    pub const fn new(index: u8, count: u8) -> Option<Self> {
        if index < count && count <= Part::MAX_COUNT { Some(Part { index, count }) } else { None }
    }

    /// Which piece, from 0.
    pub const fn index(self) -> u8 {
        self.index
    }

    /// Of how many.
    pub const fn count(self) -> u8 {
        self.count
    }

    /// Whether there is nothing else.
    pub fn is_whole(&self) -> bool {
        *self == Part::WHOLE
    }

    fn decode(r: &mut Reader<'_>) -> Result<Self, Malformed> {
        let byte = r.u8("part")?;
        match Part::new(byte >> 4, byte & 15) {
            // The whole is what is there when nothing is said of parts.
            Some(Part::WHOLE) => Err(Malformed::new("part", Fault::NotCanonical)),
            Some(part) => Ok(part),
            None => Err(Malformed::out_of_range("part", byte)),
        }
    }

    fn encode(&self, w: &mut Writer<'_>) {
        w.u8(self.index << 4 | self.count);
    }
}

/// The world, against one that the client has. Its body is the replica layer's.
///
/// ```text
/// 0      2      3
/// | tick | base | [more:u8] [Feedback] [part:u8] [EventBlock] body ...
/// ```
///
/// `base` has `baseline_back` in bits 0 to 5, bit 6 if there is a Feedback and bit 7 if there is
/// `more`; `more` (never 0) has bit 0 if there is `part` and bit 1 if there is an EventBlock.
/// `part` has its index in the high four bits and the count (2 or more) in the low four.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct DeltaSnapshot<'a> {
    /// The low half of the tick after which the world looked so: see [`nearest_tick`].
    pub tick: u16,
    /// The baseline is of so many ticks before; 0 is none, and at most [`MAX_BASELINE_BACK`].
    pub baseline_back: u8,
    /// How this client's inputs fared; a watcher has none.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub feedback: Option<Feedback>,
    /// Which piece; the whole is not written.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Part::is_whole"))]
    pub part: Part,
    /// What must reach the client.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub events: Option<EventBlock<'a>>,
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
    /// The most bytes that there are before the events and the body.
    pub const MAX_HEAD_LEN: usize = 10;

    const BASELINE_BACK: u8 = 0x3F;
    const FEEDBACK: u8 = 0x40;
    const MORE: u8 = 0x80;
    const MORE_PART: u8 = 1;
    const MORE_EVENTS: u8 = 2;

    pub(super) fn decode(r: &mut Reader<'a>) -> Result<Self, Malformed> {
        let (tick, base) = (r.u16_be("tick")?, r.u8("base")?);
        let baseline_back = match base & DeltaSnapshot::BASELINE_BACK {
            back @ 0..=MAX_BASELINE_BACK => back,
            other => return Err(Malformed::out_of_range("baseline_back", other)),
        };
        let more = match base & DeltaSnapshot::MORE {
            0 => 0,
            _ => DeltaSnapshot::decode_more(r)?,
        };
        Ok(DeltaSnapshot {
            tick,
            baseline_back,
            feedback: match base & DeltaSnapshot::FEEDBACK {
                0 => None,
                _ => Some(Feedback::decode(r)?),
            },
            part: match more & DeltaSnapshot::MORE_PART {
                0 => Part::WHOLE,
                _ => Part::decode(r)?,
            },
            events: match more & DeltaSnapshot::MORE_EVENTS {
                0 => None,
                _ => Some(EventBlock::decode(r)?),
            },
            body: r.take_rest(),
        })
    }

    fn decode_more(r: &mut Reader<'_>) -> Result<u8, Malformed> {
        const ALL: u8 = DeltaSnapshot::MORE_PART | DeltaSnapshot::MORE_EVENTS;
        match r.u8("more")? {
            // "There is more: nothing" is written as nothing.
            0 => Err(Malformed::new("more", Fault::NotCanonical)),
            more @ 1..=ALL => Ok(more),
            other => Err(Malformed::out_of_range("more", other)),
        }
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        debug_assert!(self.baseline_back <= MAX_BASELINE_BACK, "the history is no longer");
        let part = if self.part.is_whole() { 0 } else { DeltaSnapshot::MORE_PART };
        let more = part | self.events.map_or(0, |_| DeltaSnapshot::MORE_EVENTS);
        let feedback = self.feedback.map_or(0, |_| DeltaSnapshot::FEEDBACK);
        let base = self.baseline_back | feedback | if more == 0 { 0 } else { DeltaSnapshot::MORE };
        let [high, low] = self.tick.to_be_bytes();
        w.bytes(&[high, low, base]);
        if more != 0 {
            w.u8(more);
        }
        if let Some(feedback) = self.feedback {
            feedback.encode(w);
        }
        if part != 0 {
            self.part.encode(w);
        }
        if let Some(events) = self.events {
            events.encode(w);
        }
        w.bytes(self.body);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::native::{Events, Packet};
    use crate::wire::testing::{check_native, native_fault};

    const SNAPSHOT: [u8; 32] = [
        0, 0, 1, 2, 0, 1, // server_tick, entity_count
        0, 0, 0, 7, 0, 2, 0x42, 0x48, 0, 0, 0xC2, 0xC8, 0, 0, // entity_id to y
        0, 0x96, 0xFF, 0x6A, 0, 3, 0x80, 0, 0, 0, 1, 0, // vx to last_ack_sequence
    ];
    /// Everything that a head can have, and a body of two bytes.
    const DELTA: [u8; 19] = [
        1, 2, 0xE0, 3, // tick, base, more
        0x81, 8, 0xF0, 5, 0x40, // Feedback
        0x12, 3, 4, 5, 6, 1, 1, b'x', // part, EventBlock
        0xAB, 0xCD,
    ];
    const FEEDBACK: Feedback = Feedback { echo: 0x81, held: 8, early: -16, missing: 5, lost: 0x40 };

    fn delta(events: Option<EventBlock<'_>>) -> DeltaSnapshot<'_> {
        DeltaSnapshot {
            tick: 0x0102,
            baseline_back: 32,
            feedback: Some(FEEDBACK),
            part: Part::new(1, 2).unwrap(),
            events,
            body: &[0xAB, 0xCD],
        }
    }

    fn changed(at: usize, value: u8) -> Malformed {
        let mut bytes = DELTA;
        bytes[at] = value;
        native_fault(0xA1, &bytes)
    }

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
    fn every_combination_of_optional_fields_has_its_bytes() {
        let mut room = [0; 2];
        let events = Events::new(0x0506, [&b"x"[..]], &mut room);
        let block = EventBlock { acknowledged: 0x0304, events };
        for present in 0..8 {
            let has = |bit: u8| present & bit != 0;
            let whole = delta(has(4).then_some(block));
            let delta = DeltaSnapshot {
                feedback: has(1).then_some(FEEDBACK),
                part: if has(2) { whole.part } else { Part::WHOLE },
                ..whole
            };
            let mut bytes = vec![1, 2, 32 | (present & 1) << 6];
            if present > 1 {
                bytes[2] |= 0x80;
                bytes.push(present >> 1);
            }
            bytes.extend(if has(1) { &DELTA[4..9] } else { &[] });
            bytes.extend(if has(2) { &DELTA[9..10] } else { &[] });
            bytes.extend(if has(4) { &DELTA[10..17] } else { &[] });
            bytes.extend(&DELTA[17..]);
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
            part: Part::WHOLE,
            events: None,
            body: &[],
        };
        check_native(0xA1, &[1, 2, 0], Packet::DeltaSnapshot(delta));
    }

    #[test]
    fn numbers_out_of_range_are_named() {
        for back in [33, 63] {
            assert_eq!(changed(2, 0xC0 | back), Malformed::out_of_range("baseline_back", back));
        }
        assert_eq!(changed(3, 0), Malformed::new("more", Fault::NotCanonical));
        for more in [4, 7, 0x80, 255] {
            assert_eq!(changed(3, more), Malformed::out_of_range("more", more));
        }
    }

    #[test]
    fn a_head_that_is_cut_short_is_named() {
        let names = [
            "tick",
            "tick",
            "base",
            "more",
            "echo",
            "held",
            "early",
            "missing",
            "lost",
            "part",
            "acknowledged",
            "acknowledged",
            "first",
            "first",
            "count",
            "length",
            "event",
        ];
        for (len, field) in names.into_iter().enumerate() {
            let truncated = Malformed::new(field, Fault::Truncated);
            assert_eq!(native_fault(0xA1, &DELTA[..len]), truncated, "{len} bytes");
        }
        assert!(Packet::decode(0xA1, &DELTA[..names.len()]).is_ok(), "a body may be empty");
    }

    #[test]
    fn a_part_is_one_of_at_most_fifteen_and_the_whole_is_none() {
        for byte in 0..=255_u8 {
            let (index, count) = (byte >> 4, byte & 15);
            let mut bytes = DELTA;
            bytes[9] = byte;
            match Part::new(index, count) {
                Some(Part::WHOLE) => {
                    assert_eq!(changed(9, byte), Malformed::new("part", Fault::NotCanonical));
                }
                Some(part) => {
                    assert!(index < count && (part.index(), part.count()) == (index, count));
                    assert!(Packet::decode(0xA1, &bytes).is_ok());
                }
                None => {
                    assert!(index >= count);
                    assert_eq!(changed(9, byte), Malformed::out_of_range("part", byte));
                }
            }
        }
        assert_eq!(Part::new(0, 16), None);
        assert_eq!(Part::new(0, 0), None);
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
