//! What changed in one entity: which fields, when it turned, and by how much they differ.

use crate::replication::bits::{BitReader, BitWriter, bit_length, ones};
use crate::replication::{Entity, Field, Kind, MAX_FIELDS, Motion};
use crate::wire::{Fault, Malformed};

/// An entity that is in the baseline and in the new state, and not as its velocity had it.
pub(in crate::replication) struct Change<'a> {
    kind: &'a Kind,
    /// As the baseline has it.
    before: &'a Entity,
    /// How old the baseline is.
    ticks: u32,
    /// The fields that are no constants; bit n is field n in all sets.
    variable: u64,
    /// The fields that move.
    moving: u64,
}

impl<'a> Change<'a> {
    #[inline]
    pub(in crate::replication) fn new(kind: &'a Kind, before: &'a Entity, ticks: u32) -> Self {
        let (mut variable, mut moving) = (0, 0);
        for (index, field) in kind.fields.iter().enumerate() {
            variable |= u64::from(field.min < field.max) << index;
            moving |= u64::from(!matches!(field.motion, Motion::Still)) << index;
        }
        Change { kind, before, ticks, variable, moving }
    }

    pub(in crate::replication) fn encode(&self, after: &Entity, w: &mut BitWriter<'_>) {
        let turn = self.turn(after);
        let expected = self.expected(after, turn.unwrap_or(0));
        let (mut mask, mut changed) = (0, 0);
        for index in ones(self.variable) {
            let differs = u64::from(after.fields[index] != expected.fields[index]);
            mask = mask << 1 | differs;
            changed |= differs << index;
        }
        w.mask(mask, self.variable.count_ones());
        if let Some(turn) = turn {
            w.ranged(turn, self.ticks);
        }
        for set in [changed & !self.moving, changed & self.moving] {
            for index in ones(set) {
                let field = &self.kind.fields[index];
                encode_value(field, expected.fields[index], after.fields[index], w);
            }
        }
    }

    pub(in crate::replication) fn decode(
        &self,
        r: &mut BitReader<'_>,
    ) -> Result<Entity, Malformed> {
        let changed = self.decode_mask(r)?;
        let turned = self.moving().any(|(_, velocity)| changed >> velocity & 1 == 1);
        let turn = if turned { r.ranged("turn", self.ticks)? } else { 0 };
        let mut after = self.before.clone();
        for index in ones(changed & !self.moving) {
            let count = &mut after.fields[index];
            *count = decode_value(&self.kind.fields[index], *count, r)?;
        }
        // What moves is expected where the velocities, known by now, carry it.
        let expected = self.expected(&after, turn);
        for index in ones(self.moving) {
            let count = expected.fields[index];
            after.fields[index] = match changed >> index & 1 {
                0 => count,
                _ => decode_value(&self.kind.fields[index], count, r)?,
            };
        }
        if turned && self.turn(&after) != Some(turn) {
            return Err(Malformed::new("turn", Fault::NotCanonical));
        }
        Ok(after)
    }

    /// The fields that are not as expected.
    #[inline]
    fn decode_mask(&self, r: &mut BitReader<'_>) -> Result<u64, Malformed> {
        let len = self.variable.count_ones();
        let mask = r.mask("mask", len)?;
        if mask == 0 {
            return Err(Malformed::new("mask", Fault::NotCanonical));
        }
        let bits = (0..len).rev().map(|place| mask >> place & 1);
        Ok(ones(self.variable).zip(bits).fold(0, |set, (index, bit)| set | bit << index))
    }

    /// What it would be if it had followed its velocities: the old ones until `turn` ticks ago,
    /// and those of `after` since. All else is as it was.
    #[inline]
    fn expected(&self, after: &Entity, turn: u32) -> Entity {
        let mut expected = self.before.clone();
        for (index, velocity) in self.moving() {
            expected.fields[index] = self.way(index, velocity, after).end(turn);
        }
        expected
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
        ones(self.moving).filter_map(|index| match self.kind.fields[index].motion {
            Motion::Along { velocity, .. } => Some((index, velocity)),
            Motion::Still => None,
        })
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
    if bit_length(distance) > low {
        w.flag(true);
        w.bits(value.abs_diff(field.min), field.bits());
    } else {
        // Not far, the sign, and how far.
        w.bits(u32::from(value < expected) << low | distance, low + 2);
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
