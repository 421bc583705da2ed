//! From two states to a body.

use super::change::Change;
use super::{Baseline, gap_bits};
use crate::replica::bits::BitWriter;
use crate::replica::{ENTITY_LIMIT, Entity, Schema, State};
use crate::wire::Full;

/// Writes `current` against `baseline`, and says how many bytes it is.
///
/// # Panics
/// If an entity is not of `schema`, or the baseline is not of the 32 ticks before.
pub fn encode(
    schema: &Schema,
    baseline: Option<&State>,
    current: &State,
    out: &mut [u8],
) -> Result<usize, Full> {
    let baseline = Baseline::new(baseline, current.tick)
        .unwrap_or_else(|ticks| panic!("a baseline is 1 to 32 ticks old, not {ticks}"));
    let now = current.entities();
    debug_assert!(now.iter().all(|entity| entity.conforms(schema)), "{current:?}");
    let mut w = BitWriter::new(out);
    encode_changes(schema, baseline, now, &mut w);
    encode_new(schema, baseline, now, &mut w);
    w.finish()
}

fn encode_changes(schema: &Schema, baseline: Baseline<'_>, now: &[Entity], w: &mut BitWriter<'_>) {
    let mut changed = [0_u64; ENTITY_LIMIT / 64];
    let mut changes = 0;
    for (index, (before, after)) in pairs(baseline.entities, now).enumerate() {
        let kind = &schema.kinds[usize::from(before.kind)];
        if after != Some(&before.carried(kind, baseline.ticks)) {
            changed[index / 64] |= 1 << (index % 64);
            changes += 1;
        }
    }
    w.count(changes);
    let mut left = baseline.entities.len() as u32;
    let mut gap = 0;
    for (index, (before, after)) in pairs(baseline.entities, now).enumerate() {
        if changed[index / 64] & 1 << (index % 64) == 0 {
            gap += 1;
            continue;
        }
        let free = left - changes;
        if free > 0 {
            w.rice(gap, gap_bits(free, changes));
        }
        w.flag(after.is_none());
        if let Some(after) = after {
            let kind = &schema.kinds[usize::from(before.kind)];
            Change { kind, before, ticks: baseline.ticks }.encode(after, w);
        }
        left -= gap + 1;
        changes -= 1;
        gap = 0;
        if changes == 0 {
            break;
        }
    }
}

fn encode_new(schema: &Schema, baseline: Baseline<'_>, now: &[Entity], w: &mut BitWriter<'_>) {
    let mut last = None;
    for entity in new(baseline.entities, now) {
        w.flag(true);
        let id = i32::from(entity.id);
        match last {
            None => w.signed(id - baseline.next_id()),
            Some(last) => w.count((id - last - 1) as u32),
        }
        last = Some(id);
        w.ranged(u32::from(entity.kind), schema.kinds.len() as u32 - 1);
        let fields = schema.kinds[usize::from(entity.kind)].fields;
        for (field, &value) in fields.iter().zip(&entity.fields) {
            w.bits(value.abs_diff(field.min), field.bits());
        }
    }
    w.flag(false);
}

/// Each entity of the baseline with what became of it; `None` if it is gone.
fn pairs<'a>(
    before: &'a [Entity],
    now: &'a [Entity],
) -> impl Iterator<Item = (&'a Entity, Option<&'a Entity>)> {
    let mut now = now.iter().peekable();
    before.iter().map(move |before| {
        while now.next_if(|after| after.id < before.id).is_some() {}
        let after = now.next_if(|after| after.id == before.id);
        // An id that is another kind of thing now was given to a new one.
        (before, after.filter(|after| after.kind == before.kind))
    })
}

/// The entities that the baseline does not have.
fn new<'a>(before: &'a [Entity], now: &'a [Entity]) -> impl Iterator<Item = &'a Entity> {
    let mut before = before.iter().peekable();
    now.iter().filter(move |after| {
        while before.next_if(|before| before.id < after.id).is_some() {}
        let before = before.next_if(|before| before.id == after.id);
        before.is_none_or(|before| before.kind != after.kind)
    })
}
