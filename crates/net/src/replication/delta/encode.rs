//! From two states to a body.

use super::MAX_BASELINE_TICKS;
use super::change::Change;
use super::ids::NewIds;
use super::{Baseline, gap_bits};
use crate::replication::bits::{BitWriter, ones};
use crate::replication::{ENTITY_LIMIT, Entity, Schema, State};
use crate::wire::Full;

/// A world of up to so many entities is small.
const SMALL_WORLD: usize = 256;

/// Writes `current` against `baseline`, and says how many bytes it is. Both are of `schema`;
/// debug builds make sure.
///
/// # Panics
/// If the baseline is older than [`MAX_BASELINE_TICKS`].
pub fn encode(
    schema: &Schema,
    baseline: Option<&State>,
    current: &State,
    out: &mut [u8],
) -> Result<usize, Full> {
    let baseline = Baseline::new(baseline, current.tick).unwrap_or_else(|ticks| {
        panic!("a baseline is 1 to {MAX_BASELINE_TICKS} ticks old, not {ticks}")
    });
    let now = current.entities();
    debug_assert!(now.iter().all(|entity| entity.conforms(schema)), "not of the schema");
    let mut w = BitWriter::new(out);
    // Most worlds are small: the bits of the largest need not be cleared for each body of theirs.
    let (mut small, mut large);
    let set: &mut [u64] = match baseline.entities.len() {
        0..=SMALL_WORLD => {
            small = [0; SMALL_WORLD / 64];
            &mut small
        }
        _ => {
            large = [0; ENTITY_LIMIT / 64];
            &mut large
        }
    };
    let changed = Changed::find(schema, baseline, now, set);
    encode_changes(schema, baseline, now, &changed, &mut w);
    if changed.kept < now.len() {
        encode_new(schema, baseline, current.tick, now, &mut w);
    }
    w.flag(false);
    w.finish()
}

/// Which entities of the baseline are not as their velocities had them.
struct Changed<'a> {
    /// A bit for each.
    set: &'a [u64],
    /// How many are changed or gone.
    count: u32,
    /// How many are not gone.
    kept: usize,
}

impl<'a> Changed<'a> {
    /// Marks them in `set`, which has a bit for each and is 0.
    fn find(
        schema: &Schema,
        baseline: Baseline<'_>,
        now: &[Entity],
        set: &'a mut [u64],
    ) -> Changed<'a> {
        let (mut count, mut kept, mut rest) = (0, 0, now);
        for (index, before) in baseline.entities.iter().enumerate() {
            let after = pass(&mut rest, before);
            kept += usize::from(after.is_some());
            let kind = &schema.kinds[usize::from(before.kind)];
            if !after.is_some_and(|after| before.is_carried_to(after, kind, baseline.ticks)) {
                set[index / 64] |= 1 << (index % 64);
                count += 1;
            }
        }
        Changed { set, count, kept }
    }

    /// Their indices, among so many entities.
    fn iter(&self, entities: usize) -> impl Iterator<Item = usize> {
        let words = self.set[..entities.div_ceil(64)].iter().enumerate();
        words.flat_map(|(word, &bits)| ones(bits).map(move |bit| word * 64 + bit))
    }
}

fn encode_changes(
    schema: &Schema,
    baseline: Baseline<'_>,
    now: &[Entity],
    changed: &Changed<'_>,
    w: &mut BitWriter<'_>,
) {
    w.count(changed.count);
    let (mut next, mut rest) = (0, now);
    for (index, changes) in changed.iter(baseline.entities.len()).zip((1..=changed.count).rev()) {
        let free = (baseline.entities.len() - next) as u32 - changes;
        if free > 0 {
            w.rice((index - next) as u32, gap_bits(free, changes));
        }
        next = index + 1;
        let before = &baseline.entities[index];
        let after = pass(&mut rest, before);
        w.flag(after.is_none());
        if let Some(after) = after {
            let kind = &schema.kinds[usize::from(before.kind)];
            Change::new(kind, before, baseline.ticks).encode(after, w);
        }
    }
}

fn encode_new(
    schema: &Schema,
    baseline: Baseline<'_>,
    tick: u32,
    now: &[Entity],
    w: &mut BitWriter<'_>,
) {
    let (mut rest, mut ids) = (baseline.entities, NewIds::new(baseline.next_id(), tick));
    for entity in now {
        if pass(&mut rest, entity).is_some() {
            continue;
        }
        w.flag(true);
        ids.encode(entity.id, w);
        w.ranged(u32::from(entity.kind), schema.kinds.len() as u32 - 1);
        let fields = schema.kinds[usize::from(entity.kind)].fields;
        for (field, &value) in fields.iter().zip(&entity.fields) {
            w.bits(value.abs_diff(field.min), field.bits());
        }
    }
}

/// The same thing as `entity` in `rest`, where what comes before it is dropped. An id that is
/// another kind of thing now was given to a new one.
#[inline]
fn pass<'a>(rest: &mut &'a [Entity], entity: &Entity) -> Option<&'a Entity> {
    while let [first, behind @ ..] = rest {
        if first.id >= entity.id {
            return Some(first).filter(|first| (first.id, first.kind) == (entity.id, entity.kind));
        }
        *rest = behind;
    }
    None
}
