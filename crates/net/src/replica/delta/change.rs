//! What changed in one entity: which fields, when it turned, and by how much they differ.

use crate::replica::bits::{BitReader, BitWriter, bit_length};
use crate::replica::{Entity, Field, Kind, MAX_FIELDS, Motion};
use crate::wire::{Fault, Malformed};

/// An entity that is in the baseline and in the new state, and not as its velocity had it.
pub(super) struct Change<'a> {
    pub(super) kind: &'a Kind,
    /// As the baseline has it.
    pub(super) before: &'a Entity,
    /// How old the baseline is.
    pub(super) ticks: u32,
}

impl Change<'_> {
    pub(super) fn encode(&self, after: &Entity, w: &mut BitWriter<'_>) {
        let turn = self.turn(after);
        let mut expected = [0; MAX_FIELDS];
        let (mut mask, mut mask_len) = (0, 0);
        for (index, field) in self.kind.fields.iter().enumerate() {
            expected[index] = self.expected(index, after, turn.unwrap_or(0));
            if field.min < field.max {
                mask = mask << 1 | u32::from(after.fields[index] != expected[index]);
                mask_len += 1;
            }
        }
        w.bits(mask, mask_len);
        if let Some(turn) = turn {
            w.ranged(turn, self.ticks);
        }
        for (index, field) in self.in_order() {
            if after.fields[index] != expected[index] {
                encode_value(field, expected[index], after.fields[index], w);
            }
        }
    }

    pub(super) fn decode(&self, r: &mut BitReader<'_>) -> Result<Entity, Malformed> {
        let changed = self.decode_mask(r)?;
        let turned = self.moving().any(|(_, velocity)| changed >> velocity & 1 == 1);
        let turn = if turned { r.ranged("turn", self.ticks)? } else { 0 };
        let mut after = *self.before;
        for (index, field) in self.in_order() {
            let expected = self.expected(index, &after, turn);
            after.fields[index] = match changed >> index & 1 {
                0 => expected,
                _ => decode_value(field, expected, r)?,
            };
        }
        if turned && self.turn(&after) != Some(turn) {
            return Err(Malformed::new("turn", Fault::NotCanonical));
        }
        Ok(after)
    }

    /// Which fields are not as expected, each at its index.
    fn decode_mask(&self, r: &mut BitReader<'_>) -> Result<u32, Malformed> {
        let mut changed = 0;
        for (index, field) in self.kind.fields.iter().enumerate() {
            if field.min < field.max {
                changed |= r.bits("mask", 1)? << index;
            }
        }
        if changed == 0 {
            return Err(Malformed::new("mask", Fault::NotCanonical));
        }
        Ok(changed)
    }

    /// What field `index` would be if it had followed its velocity, the old one until `turn`
    /// ticks ago and the new one since.
    #[inline]
    fn expected(&self, index: usize, after: &Entity, turn: u32) -> i32 {
        let (field, base) = (&self.kind.fields[index], self.before.fields[index]);
        let Motion::Along { velocity, per_ticks } = field.motion else { return base };
        let (old, new) = (self.before.fields[velocity], after.fields[velocity]);
        if old == new {
            return field.carried(base, old, per_ticks, self.ticks);
        }
        let there = field.carried(base, old, per_ticks, self.ticks - turn);
        field.carried(there, new, per_ticks, turn)
    }

    /// How many ticks ago it turned: what explains best where it is, and the latest such. `None`
    /// if no velocity changed.
    fn turn(&self, after: &Entity) -> Option<u32> {
        let (mut turned, mut count) = ([0; MAX_FIELDS], 0);
        for (index, velocity) in self.moving() {
            if self.before.fields[velocity] != after.fields[velocity] {
                turned[count] = index;
                count += 1;
            }
        }
        let (mut best, mut least) = (None, u64::MAX);
        let ticks = if count > 0 { 0..self.ticks + 1 } else { 0..0 };
        for turn in ticks {
            let off =
                |&index: &usize| after.fields[index].abs_diff(self.expected(index, after, turn));
            let error = turned[..count].iter().map(|index| u64::from(off(index))).sum();
            if error < least {
                (best, least) = (Some(turn), error);
            }
            if least == 0 {
                break;
            }
        }
        best
    }

    /// The fields that move, each with its velocity.
    #[inline]
    fn moving(&self) -> impl Iterator<Item = (usize, usize)> {
        self.kind.fields.iter().enumerate().filter_map(|(index, field)| match field.motion {
            Motion::Along { velocity, .. } => Some((index, velocity)),
            Motion::Still => None,
        })
    }

    /// All fields: velocities and all else that stays before what moves.
    #[inline]
    fn in_order(&self) -> impl Iterator<Item = (usize, &'static Field)> {
        let fields = || self.kind.fields.iter().enumerate();
        let still = fields().filter(|(_, field)| matches!(field.motion, Motion::Still));
        still.chain(fields().filter(|(_, field)| !matches!(field.motion, Motion::Still)))
    }
}

/// Up to 2^n away from what was expected is near.
fn near_bits(field: &Field) -> u32 {
    field.bits() / 2
}

fn encode_value(field: &Field, expected: i32, value: i32, w: &mut BitWriter<'_>) {
    let (low, distance) = (near_bits(field), value.abs_diff(expected) - 1);
    let far = bit_length(distance) > low;
    w.flag(far);
    if far {
        w.bits(value.abs_diff(field.min), field.bits());
    } else {
        w.flag(value < expected);
        w.bits(distance, low);
    }
}

fn decode_value(field: &Field, expected: i32, r: &mut BitReader<'_>) -> Result<i32, Malformed> {
    let low = near_bits(field);
    if r.flag(field.name)? {
        let value = field.min.wrapping_add_unsigned(r.ranged(field.name, field.span())?);
        match value.abs_diff(expected) {
            0 => Err(Malformed::new(field.name, Fault::NotCanonical)),
            distance if bit_length(distance - 1) <= low => {
                Err(Malformed::new(field.name, Fault::NotCanonical))
            }
            _ => Ok(value),
        }
    } else {
        let less = r.flag(field.name)?;
        let distance = i64::from(r.bits(field.name, low)?) + 1;
        let value = i64::from(expected) + if less { -distance } else { distance };
        match i32::try_from(value) {
            Ok(value) if (field.min..=field.max).contains(&value) => Ok(value),
            _ => Err(Malformed::out_of_range(field.name, value)),
        }
    }
}
