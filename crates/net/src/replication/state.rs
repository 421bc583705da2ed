//! The entities of one tick.
//!
//! A game writes its world into a [`State`]; the delta carries it; a client reads it back.

use std::fmt;
use std::hash::Hasher;

use siphasher::sip::SipHasher24;

use super::fields::Fields;
use super::schema::{Kind, Motion, Schema};

/// A state has at most so many entities.
pub const ENTITY_LIMIT: usize = 16_384;

/// One thing in the world.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Entity {
    /// The same for as long as the thing lives.
    pub id: u32,
    /// Its index among the schema's kinds.
    pub kind: u8,
    /// Its counts, in the order of the kind's fields.
    pub fields: Fields<i32>,
}

/// Everything there is after one tick: sorted by id, each id once.
#[derive(Debug, Default)]
pub struct State {
    /// The tick after which the world looked so.
    pub tick: u32,
    entities: Vec<Entity>,
    refused: Option<PushError>,
    refusals: u32,
}

impl PartialEq for State {
    /// Two states are the same if they show the same; what was refused on the way is not shown.
    fn eq(&self, other: &State) -> bool {
        self.tick == other.tick && self.entities == other.entities
    }
}

impl Eq for State {}

impl Entity {
    /// An entity of `schema` with these counts, each brought into its field's range. Counts that
    /// are not given are taken as 0, those beyond the kind's fields are dropped.
    ///
    /// # Panics
    /// If the schema has no such kind.
    pub fn new(schema: &Schema, id: u32, kind: u8, counts: &[i32]) -> Self {
        let known = schema.kinds[usize::from(kind)].fields;
        let fields = Fields::from_fn(known.len(), |index| {
            let count = counts.get(index).copied().unwrap_or(0);
            count.clamp(known[index].min, known[index].max)
        });
        Entity { id, kind, fields }
    }

    /// What its velocities make of it after `ticks`.
    ///
    /// # Panics
    /// If it is not of `schema`.
    pub fn extrapolate(&self, schema: &Schema, ticks: u32) -> Entity {
        let mut then = self.clone();
        then.carry(&schema.kinds[usize::from(self.kind)], ticks);
        then
    }

    /// The same in place, of a known kind.
    #[inline]
    pub(super) fn carry(&mut self, kind: &Kind, ticks: u32) {
        for (index, field) in kind.fields.iter().enumerate() {
            // A velocity does not move itself, so it is still as it was.
            if let Motion::Along { velocity, .. } = field.motion {
                self.fields[index] =
                    field.carried(self.fields[index], self.fields[velocity], ticks);
            }
        }
    }

    /// Whether `after` is what its velocities make of it.
    #[inline]
    pub(super) fn is_carried_to(&self, after: &Entity, kind: &Kind, ticks: u32) -> bool {
        let (from, to) = (&self.fields[..], &after.fields[..]);
        kind.fields.iter().zip(from.iter().zip(to)).all(|(field, (&before, &after))| {
            match field.motion {
                Motion::Along { velocity, .. } => {
                    after == field.carried(before, from[velocity], ticks)
                }
                _ => after == before,
            }
        })
    }

    /// Whether it is of `schema`: its kind is known, its counts are in their ranges.
    pub fn conforms(&self, schema: &Schema) -> bool {
        let Some(kind) = schema.kinds.get(usize::from(self.kind)) else { return false };
        let in_range =
            |(field, count): (&super::Field, &i32)| (field.min..=field.max).contains(count);
        kind.fields.len() == self.fields.len() && kind.fields.iter().zip(&self.fields).all(in_range)
    }
}

impl State {
    /// An empty state of tick `tick`.
    pub const fn new(tick: u32) -> Self {
        State { tick, entities: Vec::new(), refused: None, refusals: 0 }
    }

    /// Begins again with tick `tick`; the memory is kept.
    pub fn clear(&mut self, tick: u32) {
        self.tick = tick;
        self.entities.clear();
        (self.refused, self.refusals) = (None, 0);
    }

    /// Adds an entity in its place. In the order of ids it is cheapest.
    pub fn push(&mut self, entity: Entity) -> Result<(), PushError> {
        let pushed = self.insert(entity);
        if let Err(error) = pushed {
            self.refused = self.refused.or(Some(error));
            self.refusals += 1;
        }
        pushed
    }

    fn insert(&mut self, entity: Entity) -> Result<(), PushError> {
        if self.entities.len() >= ENTITY_LIMIT {
            return Err(PushError::Limit);
        }
        match self.entities.last() {
            Some(last) if last.id >= entity.id => match self.place(entity.id) {
                Ok(_) => return Err(PushError::Duplicate(entity.id)),
                Err(place) => self.entities.insert(place, entity),
            },
            _ => self.entities.push(entity),
        }
        Ok(())
    }

    /// Why an entity was left out since the state began, if one was.
    pub fn refused(&self) -> Option<PushError> {
        self.refused
    }

    /// How many were.
    pub fn refusals(&self) -> u32 {
        self.refusals
    }

    /// Leaves only the entities of which `keep` says so.
    pub fn retain(&mut self, keep: impl FnMut(&Entity) -> bool) {
        self.entities.retain(keep);
    }

    /// Takes away what is not of the schema; says the first of them and how many they were.
    pub(crate) fn drop_off_schema(&mut self, schema: &Schema) -> Option<(u32, usize)> {
        let first = self.entities.iter().find(|entity| !entity.conforms(schema))?.id;
        let before = self.entities.len();
        self.retain(|entity| entity.conforms(schema));
        Some((first, before - self.entities.len()))
    }

    /// The entities, sorted by id.
    #[inline]
    pub fn entities(&self) -> &[Entity] {
        &self.entities
    }

    /// The entity with this id.
    pub fn find(&self, id: u32) -> Option<&Entity> {
        self.place(id).ok().map(|place| &self.entities[place])
    }

    /// The same, where it is likely to be in this place or near it.
    #[inline]
    pub(super) fn find_near(&self, id: u32, place: usize) -> Option<&Entity> {
        self.entities.get(self.place_near(id, place)).filter(|entity| entity.id == id)
    }

    /// Where this id is, or would be: in this place or near it, mostly. What the search costs depends
    /// on how far away it is, and not on how many entities there are.
    #[inline]
    pub(super) fn place_near(&self, id: u32, place: usize) -> usize {
        match self.entities.get(place).map(id_of) {
            Some(there) if there == id => place,
            Some(there) if there < id => self.place_above(id, place),
            _ => self.place_below(id, place.min(self.entities.len())),
        }
    }

    /// The same, where the entity in this place comes before it.
    fn place_above(&self, id: u32, place: usize) -> usize {
        let is_before = |entity: &Entity| id_of(entity) < id;
        let (mut from, mut step) = (place + 1, 1);
        let mut upto = from;
        while self.entities.get(upto).is_some_and(is_before) {
            from = upto + 1;
            step *= 2;
            upto = (upto + step).min(self.entities.len());
        }
        from + self.entities[from..upto].partition_point(is_before)
    }

    /// The same, where nothing from this place on comes before it.
    fn place_below(&self, id: u32, place: usize) -> usize {
        let is_before = |entity: &Entity| id_of(entity) < id;
        let (mut from, mut upto, mut step) = (place, place, 1);
        while from > 0 && !is_before(&self.entities[from - 1]) {
            upto = from - 1;
            from = from.saturating_sub(step);
            step *= 2;
        }
        from + self.entities[from..upto].partition_point(is_before)
    }

    /// Puts an entity in its place, or in that of the one with its id.
    pub(super) fn replace(&mut self, entity: Entity) {
        match self.place(entity.id) {
            Ok(place) => self.entities[place] = entity,
            Err(place) if self.entities.len() < ENTITY_LIMIT => self.entities.insert(place, entity),
            Err(_) => {}
        }
    }

    /// Takes an entity away.
    pub(super) fn remove(&mut self, id: u32) {
        if let Ok(place) = self.place(id) {
            self.entities.remove(place);
        }
    }

    /// The same to be changed; its id must stay.
    pub(super) fn find_mut(&mut self, id: u32) -> Option<&mut Entity> {
        self.place(id).ok().map(|place| &mut self.entities[place])
    }

    /// A number that stands for all of it: two states that differ have different ones, but for
    /// chance. (SipHash-2-4 of tick, ids, kinds and fields; it is the same on every machine.)
    pub fn digest(&self) -> u64 {
        let mut hasher = SipHasher24::new_with_key(b"backspin digest.");
        hasher.write(&self.tick.to_le_bytes());
        for entity in &self.entities {
            hasher.write(&entity.id.to_le_bytes());
            hasher.write(&[entity.kind]);
            entity.fields.iter().for_each(|field| hasher.write(&field.to_le_bytes()));
        }
        hasher.finish()
    }

    fn place(&self, id: u32) -> Result<usize, usize> {
        self.entities.binary_search_by_key(&id, id_of)
    }

    /// The list itself, for the decoder, which leaves it sorted and within the limit.
    pub(super) fn entities_mut(&mut self) -> &mut Vec<Entity> {
        &mut self.entities
    }
}

/// The id of an entity that a search looks at.
#[inline]
fn id_of(entity: &Entity) -> u32 {
    #[cfg(test)]
    LOOKS.set(LOOKS.get() + 1);
    entity.id
}

#[cfg(test)]
thread_local! {
    /// How many entities were looked at in searches of this thread.
    pub(super) static LOOKS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

impl Clone for State {
    fn clone(&self) -> Self {
        let State { tick, refused, refusals, .. } = *self;
        State { tick, entities: self.entities.clone(), refused, refusals }
    }

    /// Keeps the memory.
    fn clone_from(&mut self, source: &Self) {
        self.tick = source.tick;
        self.entities.clone_from(&source.entities);
        (self.refused, self.refusals) = (source.refused, source.refusals);
    }
}

/// Why an entity was not added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PushError {
    /// There are [`ENTITY_LIMIT`] already.
    Limit,
    /// There is one with this id already.
    Duplicate(u32),
}

impl fmt::Display for PushError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PushError::Limit => write!(f, "a state has at most {ENTITY_LIMIT} entities"),
            PushError::Duplicate(id) => write!(f, "there is an entity {id} already"),
        }
    }
}

impl std::error::Error for PushError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replication::{Field, Step};

    const SCHEMA: Schema = Schema::new(&[Kind {
        name: "ship",
        fields: &[
            Field {
                name: "x",
                min: 0,
                max: 100,
                step: Step::ONE,
                motion: Motion::Along { velocity: 1, per_ticks: 2 },
            },
            Field { name: "vx", min: -9, max: 9, step: Step::ONE, motion: Motion::Still },
        ],
    }]);

    fn entity(id: u32) -> Entity {
        Entity::new(&SCHEMA, id, 0, &[50, -3])
    }

    fn ids(state: &State) -> Vec<u32> {
        state.entities().iter().map(|entity| entity.id).collect()
    }

    #[test]
    fn entities_are_sorted_however_they_come() {
        let mut state = State::new(7);
        for id in [5, 9, 1, 7, u32::MAX, 0] {
            assert_eq!(state.push(entity(id)), Ok(()));
        }
        assert_eq!(ids(&state), [0, 1, 5, 7, 9, u32::MAX]);
        for id in [0, 7, u32::MAX] {
            assert_eq!(state.push(entity(id)), Err(PushError::Duplicate(id)));
            assert_eq!(state.find(id), Some(&entity(id)));
        }
        assert_eq!(state.find(6), None);
        state.clear(8);
        assert_eq!(state, State::new(8));
    }

    #[test]
    fn a_place_is_found_from_wherever_the_search_begins() {
        for len in 0..40 {
            let mut state = State::default();
            (0..len).for_each(|nth| state.push(entity(10 + 3 * nth)).unwrap());
            for (id, near) in (0..140).flat_map(|id| (0..45).map(move |near| (id, near))) {
                let place = state.entities.partition_point(|entity| entity.id < id);
                assert_eq!(state.place_near(id, near), place, "{id} near {near} of {len}");
                assert_eq!(state.find_near(id, near), state.find(id));
            }
        }
    }

    #[test]
    fn a_state_takes_16384_entities_and_no_more() {
        let mut state = State::default();
        for id in 0..16_384 {
            assert_eq!(state.push(entity(id)), Ok(()));
        }
        assert_eq!(state.push(entity(16_384)), Err(PushError::Limit));
        assert_eq!(state.entities().len(), ENTITY_LIMIT);
    }

    #[test]
    fn counts_are_brought_into_their_ranges() {
        let made = Entity::new(&SCHEMA, 1, 0, &[101, -10, 7]);
        assert_eq!(made.fields[..], [100, -9]);
        assert!(made.conforms(&SCHEMA));
        let with = |fields: &[i32]| {
            let fields = Fields::from_fn(fields.len(), |index| fields[index]);
            Entity { fields, ..made.clone() }
        };
        assert!(with(&[100, -9]).conforms(&SCHEMA));
        assert!(!with(&[100, -9, 1]).conforms(&SCHEMA) && !with(&[100]).conforms(&SCHEMA));
        assert!(!with(&[101, 0]).conforms(&SCHEMA));
        assert!(!Entity { kind: 1, ..made.clone() }.conforms(&SCHEMA));
    }

    #[test]
    fn velocity_carries_an_entity_to_the_edge() {
        assert_eq!(entity(1).extrapolate(&SCHEMA, 3).fields[..2], [45, -3]);
        assert_eq!(entity(1).extrapolate(&SCHEMA, 99).fields[..2], [0, -3]);
        assert_eq!(entity(1).extrapolate(&SCHEMA, 0), entity(1));
    }

    #[test]
    fn every_part_of_a_state_counts_in_its_digest() {
        let state = |tick, entities: &[Entity]| {
            let mut state = State::new(tick);
            entities.iter().for_each(|entity| state.push(entity.clone()).unwrap());
            state.digest()
        };
        let mut other = entity(1);
        other.fields[1] += 1;
        let digests = [
            state(1, &[]),
            state(2, &[]),
            state(1, &[entity(1)]),
            state(1, &[entity(2)]),
            state(1, &[other.clone()]),
            state(1, &[Entity { kind: 1, ..entity(1) }]),
            state(1, &[entity(1), entity(2)]),
        ];
        for (index, digest) in digests.iter().enumerate() {
            assert!(!digests[..index].contains(digest), "{index}");
        }
        // Computed apart from this code, from SipHash's specification.
        assert_eq!(digests[2], 0x11FA_0CBE_4D08_9805);
    }
}
