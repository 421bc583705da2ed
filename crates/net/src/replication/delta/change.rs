//! What changed in one entity: which fields, when it turned, and by how much they differ.

use crate::replication::bits::{BitReader, BitWriter, bit_length, ones};
use crate::replication::{Entity, Field, Kind, Motion};
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
            moving |= u64::from(matches!(field.motion, Motion::Along { .. })) << index;
        }
        Change { kind, before, ticks, variable, moving }
    }

    pub(in crate::replication) fn encode(&self, after: &Entity, w: &mut BitWriter<'_>) {
        self.encode_turned(after, self.turn(after), w);
    }

    /// The same where [`Change::turn`] is known.
    pub(in crate::replication) fn encode_turned(
        &self,
        after: &Entity,
        turn: Option<u32>,
        w: &mut BitWriter<'_>,
    ) {
        let expected = self.expected(after, turn.unwrap_or(0));
        let (expected, after) = (&expected.fields[..], &after.fields[..]);
        let (mut mask, mut changed) = (0, 0);
        for index in ones(self.variable) {
            let differs = u64::from(after[index] != expected[index]);
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
                encode_value(field, expected[index], after[index], w);
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
    pub(in crate::replication) fn turn(&self, after: &Entity) -> Option<u32> {
        let (old, new) = (&self.before.fields[..], &after.fields[..]);
        let turned = self.moving().filter(|(_, velocity)| old[*velocity] != new[*velocity]);
        let turned = turned.fold(0, |set, (index, _)| set | 1_u64 << index);
        let ways = self.moving_of(turned).map(|(index, velocity)| self.way(index, velocity, after));
        match turned.count_ones() as usize {
            0 => None,
            1..=Lines::MOST => {
                let lines = Lines::of(ways.clone());
                Some(lines.map_or_else(|| self.search(ways), |lines| lines.turn(self.ticks)))
            }
            _ => Some(self.search(ways)),
        }
    }

    /// The same by trying all, of ways that may be bent.
    fn search<'w>(&self, ways: impl Iterator<Item = Way<'w>> + Clone) -> u32 {
        let (mut best, mut least) = (0, u64::MAX);
        for turn in 0..=self.ticks {
            let error = ways.clone().map(|way| way.error(turn)).sum();
            if error < least {
                (best, least) = (turn, error);
            }
            if least == 0 {
                break;
            }
        }
        best
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
        self.moving_of(self.moving)
    }

    /// The same of these.
    #[inline]
    fn moving_of(&self, set: u64) -> impl Iterator<Item = (usize, usize)> + Clone {
        ones(set).filter_map(|index| match self.kind.fields[index].motion {
            Motion::Along { velocity, .. } => Some((index, velocity)),
            _ => None,
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

    /// The same as a line, where neither an edge nor a division bends it.
    #[inline]
    fn line(&self) -> Option<Line> {
        let Motion::Along { per_ticks: 1, .. } = self.field.motion else { return None };
        let end =
            |velocity: i32| i64::from(self.from) + i64::from(velocity) * i64::from(self.ticks);
        let range = i64::from(self.field.min)..=i64::from(self.field.max);
        // Whenever it turned, it has been between these.
        let is_inside = [self.from.into(), end(self.old), end(self.new)];
        is_inside.iter().all(|place| range.contains(place)).then(|| Line {
            off: i64::from(self.to) - end(self.old),
            slope: i64::from(self.new) - i64::from(self.old),
        })
    }
}

/// How far a way ends from where it should, by how many ticks ago it turned: `off - slope * turn`.
#[derive(Clone, Copy, Default)]
struct Line {
    off: i64,
    slope: i64,
}

/// The lines of an entity's ways.
struct Lines {
    lines: [Line; Lines::MOST],
    count: usize,
}

impl Lines {
    const MOST: usize = 4;

    /// Of so many ways at most; `None` if one of them is bent.
    #[inline]
    fn of<'w>(ways: impl Iterator<Item = Way<'w>>) -> Option<Lines> {
        let mut lines = Lines { lines: [Line::default(); Lines::MOST], count: 0 };
        for way in ways {
            lines.lines[lines.count] = way.line()?;
            lines.count += 1;
        }
        Some(lines)
    }

    /// The latest turn with the least error.
    #[inline]
    fn turn(&self, ticks: u32) -> u32 {
        let error = |turn: u32| -> u64 {
            let lines = self.lines[..self.count].iter();
            lines.map(|line| (line.off - line.slope * i64::from(turn)).unsigned_abs()).sum()
        };
        // The sum of distances from lines is convex: once it does not fall, it never will again.
        let (mut turn, mut least) = (0, error(0));
        while least > 0 && turn < ticks {
            let next = error(turn + 1);
            if next >= least {
                break;
            }
            (turn, least) = (turn + 1, next);
        }
        turn
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replication::{Schema, Step};

    const fn place(velocity: usize, per_ticks: u16) -> Field {
        let motion = Motion::Along { velocity, per_ticks };
        Field { name: "x", min: -200, max: 200, step: Step::ONE, motion }
    }

    const PACE: Field =
        Field { name: "v", min: -9, max: 9, step: Step::ONE, motion: Motion::Still };

    const SCHEMA: Schema =
        Schema::new(&[Kind { name: "ship", fields: &[place(2, 1), place(3, 1), PACE, PACE] }]);

    #[test]
    fn a_turn_is_the_latest_of_those_that_explain_it_best() {
        let mut dice = 1_u64;
        let mut roll = |upto: i32| {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (dice >> 33) as i32 % (2 * upto + 1) - upto
        };
        let (mut straight, mut bent) = (0, 0);
        for ticks in (1..=20).cycle().take(20_000) {
            let mut ship = || Entity::new(&SCHEMA, 1, 0, &[0; 4].map(|_| roll(9)));
            let (mut before, mut after) = (ship(), ship());
            // Half of them near an edge, which bends their ways.
            for index in [0, 1] {
                before.fields[index] += if ticks % 2 == 0 { 190 } else { 0 };
                after.fields[index] += before.fields[index];
            }
            let change = Change::new(&SCHEMA.kinds[0], &before, ticks);
            let turned: Vec<_> = change.moving().map(|(at, v)| change.way(at, v, &after)).collect();
            let turned: Vec<_> = turned.into_iter().filter(Way::turns).collect();
            let error = |turn: &u32| turned.iter().map(|way| way.error(*turn)).sum::<u64>();
            let best = (0..=ticks).min_by_key(error).filter(|_| !turned.is_empty());
            assert_eq!(change.turn(&after), best, "{before:?} {after:?} {ticks}");
            match turned.iter().all(|way| way.line().is_some()) {
                true => straight += 1,
                false => bent += 1,
            }
        }
        assert!(straight > 5_000 && bent > 5_000, "{straight} {bent}");
    }
}
