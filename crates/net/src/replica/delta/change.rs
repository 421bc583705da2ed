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
            after.fields[index] = self.expected(index, &after, turn);
            if changed >> index & 1 == 1 {
                after.fields[index] = decode_value(field, after.fields[index], r)?;
            }
        }
        if turned && self.turn(&after) != Some(turn) {
            return Err(Malformed::new("turn", Fault::NotCanonical));
        }
        Ok(after)
    }

    /// Which fields are not as expected: bit n is field n.
    fn decode_mask(&self, r: &mut BitReader<'_>) -> Result<u32, Malformed> {
        let fields = self.kind.fields;
        let variable = |field: &Field| field.min < field.max;
        let mut mask =
            r.bits("mask", fields.iter().filter(|field| variable(field)).count() as u32)?;
        if mask == 0 {
            return Err(Malformed::new("mask", Fault::NotCanonical));
        }
        let mut changed = 0;
        for (index, field) in fields.iter().enumerate().rev() {
            if variable(field) {
                changed |= (mask & 1) << index;
                mask >>= 1;
            }
        }
        Ok(changed)
    }

    /// What field `index` would be if it had followed its velocity, the old one until `turn`
    /// ticks ago and the new one since.
    #[inline]
    fn expected(&self, index: usize, after: &Entity, turn: u32) -> i32 {
        match self.kind.fields[index].motion {
            Motion::Still => self.before.fields[index],
            Motion::Along { velocity, .. } => self.way(index, velocity, after).end(turn),
        }
    }

    /// How many ticks ago it turned: what explains best where it is, and the latest such. `None`
    /// if no velocity changed.
    fn turn(&self, after: &Entity) -> Option<u32> {
        let mut ways = self.moving().map(|(index, velocity)| self.way(index, velocity, after));
        let mut turned = [ways.find(Way::turns)?; MAX_FIELDS];
        let mut count = 1;
        for way in ways.filter(Way::turns) {
            turned[count] = way;
            count += 1;
        }
        let (mut best, mut least) = (0, u64::MAX);
        for turn in 0..=self.ticks {
            let error = turned[..count].iter().map(|way| way.error(turn)).sum();
            if error < least {
                (best, least) = (turn, error);
            }
            if least == 0 {
                break;
            }
        }
        Some(best)
    }

    #[inline]
    fn way(&self, index: usize, velocity: usize, after: &Entity) -> Way<'_> {
        Way {
            field: &self.kind.fields[index],
            from: self.before.fields[index],
            to: after.fields[index],
            old: self.before.fields[velocity],
            new: after.fields[velocity],
            ticks: self.ticks,
        }
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

/// A field that moves, from the baseline to now.
#[derive(Clone, Copy)]
struct Way<'a> {
    field: &'a Field,
    from: i32,
    to: i32,
    /// The velocity before and after.
    old: i32,
    new: i32,
    ticks: u32,
}

impl Way<'_> {
    #[inline]
    fn turns(&self) -> bool {
        self.old != self.new
    }

    /// Where it ends if the velocity changed `turn` ticks ago.
    #[inline]
    fn end(&self, turn: u32) -> i32 {
        if !self.turns() {
            return self.field.carried(self.from, self.old, self.ticks);
        }
        let there = self.field.carried(self.from, self.old, self.ticks - turn);
        self.field.carried(there, self.new, turn)
    }

    /// How far that is from where it is.
    #[inline]
    fn error(&self, turn: u32) -> u64 {
        u64::from(self.to.abs_diff(self.end(turn)))
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
