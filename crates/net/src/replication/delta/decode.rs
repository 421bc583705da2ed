//! From a body, and the state that it was written against, to a state.

use super::change::Change;
use super::ids::NewIds;
use super::{Baseline, find, gap_bits};
use crate::replication::bits::BitReader;
use crate::replication::{ENTITY_LIMIT, Entity, Fields, Schema, State};
use crate::wire::{Fault, Malformed};

/// Reads the state of tick `tick` into `out` from a body that was written against `baseline`,
/// which is of `schema`. If the body is malformed, `out` is empty.
pub fn decode(
    schema: &Schema,
    baseline: Option<&State>,
    tick: u32,
    bytes: &[u8],
    out: &mut State,
) -> Result<(), Malformed> {
    out.clear(tick);
    let baseline = Baseline::new(baseline, tick)
        .map_err(|ticks| Malformed::out_of_range("baseline_back", ticks))?;
    let mut r = BitReader::new(bytes);
    let entities = out.entities_mut();
    let result = decode_changes(schema, baseline, &mut r, entities)
        .and_then(|()| decode_new(schema, baseline, tick, &mut r, entities))
        .and_then(|()| r.finish("body"));
    if result.is_err() {
        entities.clear();
    }
    result
}

fn decode_changes(
    schema: &Schema,
    baseline: Baseline<'_>,
    r: &mut BitReader<'_>,
    out: &mut Vec<Entity>,
) -> Result<(), Malformed> {
    let mut left = baseline.entities;
    let carry = |entities: &[Entity], out: &mut Vec<Entity>| {
        let start = out.len();
        out.extend(entities.iter().cloned());
        for entity in &mut out[start..] {
            entity.carry(&schema.kinds[usize::from(entity.kind)], baseline.ticks);
        }
    };
    let count = r.count("changes")?;
    if count as usize > left.len() {
        return Err(Malformed::out_of_range("changes", count));
    }
    for changes in (1..=count).rev() {
        let free = left.len() as u32 - changes;
        let gap = if free > 0 { r.rice("gap", gap_bits(free, changes), free)? } else { 0 };
        let (passed, rest) = left.split_at(gap as usize);
        carry(passed, out);
        // A gap is at most `free`, so the changed ones are still ahead.
        let [before, rest @ ..] = rest else { break };
        if !r.flag("gone")? {
            let kind = &schema.kinds[usize::from(before.kind)];
            out.push(Change::new(kind, before, baseline.ticks).decode(r)?);
        }
        left = rest;
    }
    carry(left, out);
    Ok(())
}

fn decode_new(
    schema: &Schema,
    baseline: Baseline<'_>,
    tick: u32,
    r: &mut BitReader<'_>,
    out: &mut Vec<Entity>,
) -> Result<(), Malformed> {
    let (kept, mut ids) = (out.len(), NewIds::new(baseline.next_id(), tick));
    while r.flag("more")? {
        if out.len() >= ENTITY_LIMIT {
            return Err(Malformed::out_of_range("more", ENTITY_LIMIT as i64 + 1));
        }
        let id = ids.decode(r)?;
        if find(&out[..kept], id).is_some() {
            return Err(Malformed::out_of_range("id", id));
        }
        let entity = decode_entity(schema, id, r)?;
        if find(baseline.entities, id).is_some_and(|before| before.kind == entity.kind) {
            // It should have been a change.
            return Err(Malformed::new("kind", Fault::NotCanonical));
        }
        out.push(entity);
    }
    let (before, new) = out.split_at(kept);
    if let (Some(last), Some(first)) = (before.last(), new.first())
        && first.id < last.id
    {
        out.sort_unstable_by_key(|entity| entity.id);
    }
    Ok(())
}

fn decode_entity(schema: &Schema, id: u32, r: &mut BitReader<'_>) -> Result<Entity, Malformed> {
    let last_kind = schema.kinds.len().saturating_sub(1) as u32;
    let kind = r.ranged("kind", last_kind)?;
    let Some(fields) = schema.kinds.get(kind as usize).map(|kind| kind.fields) else {
        return Err(Malformed::out_of_range("kind", kind));
    };
    let mut entity = Entity { id, kind: kind as u8, fields: Fields::zeros(fields.len()) };
    for (place, field) in entity.fields.iter_mut().zip(fields) {
        *place = field.min.wrapping_add_unsigned(r.ranged(field.name, field.span())?);
    }
    Ok(entity)
}
