//! What changed in one entity: which fields, when it turned, and by how much they differ.

use crate::replica::bits::{BitReader, BitWriter, bit_length};
use crate::replica::{Entity, Field, Kind, Motion};
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
        let expected = |index| self.expected(index, after, turn.unwrap_or(0));
        for (index, _) in self.variable() {
            w.flag(after.fields[index] != expected(index));
        }
        if let Some(turn) = turn {
            w.ranged(turn, self.ticks);
        }
        for (index, field) in self.in_order() {
            let (value, expected) = (after.fields[index], expected(index));
            if value != expected {
                encode_value(field, expected, value, w);
            }
        }
    }

    pub(super) fn decode(&self, r: &mut BitReader<'_>) -> Result<Entity, Malformed> {
        let mut changed = 0_u32;
        for (index, _) in self.variable() {
            changed |= r.bits("mask", 1)? << index;
        }
        if changed == 0 {
            return Err(Malformed::new("mask", Fault::NotCanonical));
        }
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

    /// What field `index` would be if it had followed its velocity, the old one until `turn`
    /// ticks ago and the new one since.
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

    /// How many ticks ago it turned: what explains best where it is. `None` if no velocity
    /// changed.
    fn turn(&self, after: &Entity) -> Option<u32> {
        let turned = |&(_, velocity): &(usize, usize)| {
            self.before.fields[velocity] != after.fields[velocity]
        };
        self.moving().find(turned)?;
        let error = |turn: &u32| -> u64 {
            let off = |(index, _): (usize, usize)| {
                u64::from(after.fields[index].abs_diff(self.expected(index, after, *turn)))
            };
            self.moving().filter(turned).map(off).sum()
        };
        // The first of the least.
        (0..=self.ticks).min_by_key(error)
    }

    /// The fields that move, each with its velocity.
    fn moving(&self) -> impl Iterator<Item = (usize, usize)> {
        self.kind.fields.iter().enumerate().filter_map(|(index, field)| match field.motion {
            Motion::Along { velocity, .. } => Some((index, velocity)),
            Motion::Still => None,
        })
    }

    /// The fields that can change.
    fn variable(&self) -> impl Iterator<Item = (usize, &'static Field)> {
        self.kind.fields.iter().enumerate().filter(|(_, field)| field.min < field.max)
    }

    /// All fields: velocities and all else that stays before what moves.
    fn in_order(&self) -> impl Iterator<Item = (usize, &'static Field)> {
        let fields = || self.kind.fields.iter().enumerate();
        let still = fields().filter(|(_, field)| field.motion == Motion::Still);
        still.chain(fields().filter(|(_, field)| field.motion != Motion::Still))
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
