//! The client's side: what has come of the world, entity by entity, and the states it makes.

use std::collections::VecDeque;
use std::fmt;

use super::MAX_BASE_TICKS;
use super::body::{self, Goner, Slots, Terms, Unread, Value};
use crate::replication::{Entity, Schema, SnapshotBuffer, State};
use crate::wire::Malformed;

/// Values of one entity that are kept: those of the last snapshots, against which it may be written, and
/// the one before them.
const VALUES: usize = 1 + MAX_BASE_TICKS as usize;

/// Things out of sight that nobody asked about; older ones are forgotten.
const LEFT_LIMIT: usize = 1024;

/// What a client knows of the world.
#[derive(Debug, Default)]
pub struct KnownWorld {
    epoch: Option<u8>,
    slots: Vec<Slot>,
    /// The slots that something is in, by its id.
    order: Vec<(u32, u32)>,
    goners: Vec<Goner>,
    values: Vec<Value>,
    /// The ids that the last datagram took away.
    gone: Vec<u32>,
    /// What went out of sight, and when: nobody has asked yet.
    left: VecDeque<(u32, u32)>,
}

/// What is, or was, in a slot.
#[derive(Clone, Debug, Default)]
struct Slot {
    life: Life,
    /// What has come of it, by tick.
    values: VecDeque<(u32, Entity)>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Life {
    /// Nothing was ever in it.
    #[default]
    Unused,
    /// Something with this id and kind, since this tick.
    Known { id: u32, kind: u8, since: u32 },
    /// That went away at this tick.
    Left { at: u32 },
}

/// Why a datagram was not taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ViewError {
    /// Its body is none.
    Malformed(Malformed),
    /// It is of an earlier view, or stands on something that has not come.
    Stray,
}

/// A datagram of a view.
#[derive(Clone, Copy, Debug)]
pub struct ViewPart<'a> {
    /// The view's.
    pub epoch: u8,
    /// The snapshot's.
    pub tick: u32,
    /// Ticks from one snapshot to the next.
    pub every: u32,
    /// What it says.
    pub body: &'a [u8],
}

impl Slots for Vec<Slot> {
    fn named(&self, slot: u32, tick: u32) -> Option<(u32, u8)> {
        match self.get(slot as usize)?.life {
            // What is late may speak of what was in the slot before.
            Life::Known { id, kind, since } if tick.wrapping_sub(since) as i32 >= 0 => {
                Some((id, kind))
            }
            _ => None,
        }
    }

    fn value(&self, slot: u32, tick: u32) -> Option<&Entity> {
        let values = &self.get(slot as usize)?.values;
        values.iter().rev().find(|(at, _)| *at == tick).map(|(_, value)| value)
    }
}

impl KnownWorld {
    /// Takes a datagram, and puts what it says into the states of its tick and after. Says whether the
    /// tick is one of which nothing had come. What is refused changes nothing.
    pub fn handle<const LEN: usize>(
        &mut self,
        schema: &Schema,
        part: ViewPart<'_>,
        picture: &mut SnapshotBuffer<LEN>,
    ) -> Result<bool, ViewError> {
        let ViewPart { epoch, tick, every, body } = part;
        if self.epoch.is_some_and(|known| known.wrapping_sub(epoch).cast_signed() > 0) {
            return Err(ViewError::Stray);
        }
        let newest = picture.newest().unwrap_or(tick);
        let late = newest.wrapping_sub(tick).cast_signed();
        // Its place is a newer one's.
        if late >= LEN as i32 {
            return Err(ViewError::Stray);
        }
        let is_new = self.epoch != Some(epoch);
        let none = Vec::new();
        let slots = if is_new { &none } else { &self.slots };
        let terms = Terms { schema, tick, every };
        body::decode(terms, slots, body, &mut self.goners, &mut self.values)?;
        if is_new {
            self.epoch = Some(epoch);
            self.slots.clear();
            self.order.clear();
        }
        self.gone.clear();
        for index in 0..self.goners.len() {
            let Goner { slot, destroyed } = self.goners[index];
            if let Some(id) = self.leave(slot, tick).filter(|_| !destroyed) {
                if self.left.len() == LEFT_LIMIT {
                    self.left.pop_front();
                }
                self.left.push_back((tick, id));
            }
        }
        let mut values = std::mem::take(&mut self.values);
        values.retain(|value| self.take(value, tick));
        let is_first = picture.at(tick).is_none();
        if is_first {
            self.build(schema, late > 0, picture.place_for(tick));
        }
        // What came late counts for the states after it, too.
        for later in u32::from(is_first)..=late.max(0).cast_unsigned() {
            if let Some(state) = picture.at_mut(tick.wrapping_add(later)) {
                self.mend(schema, &values, state);
            }
        }
        self.values = values;
        Ok(is_first)
    }

    /// What went out of the player's sight by `tick`, and may be there still.
    pub fn poll_left(&mut self, tick: f64) -> Option<u32> {
        let (at, _) = self.left.front()?;
        if f64::from(*at) > tick { None } else { self.left.pop_front().map(|(_, id)| id) }
    }

    /// Whether something newer than `tick` speaks of the slot.
    fn is_over(life: Life, tick: u32) -> bool {
        match life {
            Life::Unused => false,
            Life::Known { since, .. } => (tick.wrapping_sub(since) as i32) < 0,
            Life::Left { at } => tick.wrapping_sub(at) as i32 <= 0,
        }
    }

    /// Empties a slot. What was in it stays readable, for states from before that. What has not come yet
    /// is over all the same: it may have been overtaken.
    fn leave(&mut self, slot: u32, tick: u32) -> Option<u32> {
        if self.slots.len() <= slot as usize {
            self.slots.resize_with(slot as usize + 1, Slot::default);
        }
        let it = &mut self.slots[slot as usize];
        if KnownWorld::is_over(it.life, tick) {
            return None;
        }
        let life = std::mem::replace(&mut it.life, Life::Left { at: tick });
        let Life::Known { id, .. } = life else {
            // Nobody knows what was in it since.
            it.values.clear();
            return None;
        };
        if let Ok(place) = self.order.binary_search_by_key(&id, |known| known.0)
            && self.order[place].1 == slot
        {
            self.order.remove(place);
        }
        self.gone.push(id);
        Some(id)
    }

    /// Keeps a value; `false` if it is of something that was there before.
    fn take(&mut self, value: &Value, tick: u32) -> bool {
        let Value { slot, is_new, ref entity } = *value;
        if self.slots.len() <= slot as usize {
            self.slots.resize_with(slot as usize + 1, Slot::default);
        }
        let life = self.slots[slot as usize].life;
        if KnownWorld::is_over(life, tick) && !is_repeat(life, entity) {
            return false;
        }
        if is_new && !is_repeat(life, entity) {
            // Nothing that was in the slot, and no other slot with this id, counts any more: unless that came
            // into sight again later, and has overtaken this.
            self.leave(slot, tick);
            if let Ok(place) = self.order.binary_search_by_key(&entity.id, |known| known.0) {
                let other = self.order[place].1;
                if KnownWorld::is_over(self.slots[other as usize].life, tick) {
                    return false;
                }
                self.leave(other, tick);
            }
            let (id, kind, since) = (entity.id, entity.kind, tick);
            self.slots[slot as usize].life = Life::Known { id, kind, since };
            self.slots[slot as usize].values.clear();
            let place = self.order.partition_point(|known| known.0 < id);
            self.order.insert(place, (id, slot));
        }
        let values = &mut self.slots[slot as usize].values;
        let place = values.partition_point(|(at, _)| (at.wrapping_sub(tick) as i32) < 0);
        if values.get(place).is_none_or(|(at, _)| *at != tick) {
            values.insert(place, (tick, entity.clone()));
        }
        // One that is older is kept, too: it says how things were until the next, and a state between
        // the two may still be made.
        let newest = values.back().map_or(tick, |(at, _)| *at);
        let is_old = |at: u32| newest.wrapping_sub(at) >= MAX_BASE_TICKS;
        while values.len() > VALUES || values.get(1).is_some_and(|(at, _)| is_old(*at)) {
            values.pop_front();
        }
        true
    }

    /// What is in a slot was like this at `tick`.
    fn at(&self, schema: &Schema, slot: u32, tick: u32) -> Option<Entity> {
        let values = &self.slots[slot as usize].values;
        let known = values.partition_point(|(at, _)| tick.wrapping_sub(*at) as i32 >= 0);
        let (at, value) = &values[known.checked_sub(1)?];
        Some(value.extrapolate(schema, tick.wrapping_sub(*at)))
    }

    /// Makes the state of a tick, of all that is known; of one that is late also what has gone since.
    fn build(&self, schema: &Schema, is_late: bool, state: &mut State) {
        let tick = state.tick;
        if !is_late {
            let known = self.order.iter().filter_map(|(_, slot)| self.at(schema, *slot, tick));
            state.entities_mut().extend(known);
            return;
        }
        for (slot, it) in self.slots.iter().enumerate() {
            let was_there = match it.life {
                Life::Unused => false,
                Life::Known { .. } => true,
                Life::Left { at } => (tick.wrapping_sub(at) as i32) < 0,
            };
            if let Some(entity) = self.at(schema, slot as u32, tick).filter(|_| was_there) {
                state.replace(entity);
            }
        }
    }

    /// Puts what came into a state that was made before.
    fn mend(&self, schema: &Schema, values: &[Value], state: &mut State) {
        for &id in &self.gone {
            state.remove(id);
            if let Ok(place) = self.order.binary_search_by_key(&id, |known| known.0)
                && let Some(entity) = self.at(schema, self.order[place].1, state.tick)
            {
                state.replace(entity);
            }
        }
        for value in values {
            if let Some(entity) = self.at(schema, value.slot, state.tick) {
                state.replace(entity);
            }
        }
    }
}

/// Whether a value that says it is new is of what is known already.
fn is_repeat(life: Life, entity: &Entity) -> bool {
    matches!(life, Life::Known { id, kind, .. } if (id, kind) == (entity.id, entity.kind))
}

impl Clone for KnownWorld {
    fn clone(&self) -> Self {
        KnownWorld {
            epoch: self.epoch,
            slots: self.slots.clone(),
            order: self.order.clone(),
            left: self.left.clone(),
            ..KnownWorld::default()
        }
    }
}

impl From<Unread> for ViewError {
    fn from(unread: Unread) -> Self {
        match unread {
            Unread::Malformed(malformed) => ViewError::Malformed(malformed),
            Unread::Stray => ViewError::Stray,
        }
    }
}

impl fmt::Display for ViewError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ViewError::Malformed(malformed) => malformed.fmt(f),
            ViewError::Stray => f.write_str("it stands on something that has not come"),
        }
    }
}

impl std::error::Error for ViewError {}
