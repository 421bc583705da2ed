//! How the ids of new entities are written, in rising order: those that the game gives follow each
//! other closely, and what an input brought into the world is named by player, tick and count.
//!
//! ```text
//! 0 signed | 0 count ... | 1 player back count | player back count ...
//! the game's own ids     | names of spawns: the bit before them only once
//! ```

use crate::game::SpawnName;
use crate::replication::bits::{BitReader, BitWriter};
use crate::wire::{Fault, Malformed};

/// Writes or reads the ids of one list.
pub(super) struct NewIds {
    /// The id that the first is likely to have.
    next: u32,
    /// The tick of the state that they are in.
    tick: u32,
    last: Option<u32>,
}

impl NewIds {
    /// A list for a state of this tick.
    pub(super) fn new(next: u32, tick: u32) -> Self {
        NewIds { next, tick, last: None }
    }

    fn has_spawns(&self) -> bool {
        self.last.is_some_and(|last| last >= SpawnName::FIRST)
    }

    /// Writes the next id, above all before it.
    pub(super) fn encode(&mut self, id: u32, w: &mut BitWriter<'_>) {
        let spawn = SpawnName::read(id);
        if !self.has_spawns() {
            w.flag(spawn.is_some());
        }
        match (spawn, self.last) {
            (Some(spawn), _) => spawn.encode(self.tick, w),
            (None, None) => w.signed(id.wrapping_sub(self.next).cast_signed()),
            (None, Some(last)) => w.count(id - last - 1),
        }
        self.last = Some(id);
    }

    /// Reads the next id.
    pub(super) fn decode(&mut self, r: &mut BitReader<'_>) -> Result<u32, Malformed> {
        let is_spawn = self.has_spawns() || r.flag("spawn")?;
        let id = match (is_spawn, self.last) {
            (true, _) => SpawnName::decode(self.tick, r)?.entity_id().into(),
            (false, None) => i64::from(self.next) + i64::from(r.signed("id")?),
            (false, Some(last)) => i64::from(last) + 1 + i64::from(r.count("id")?),
        };
        let is_own = |id: u32| is_spawn || id < SpawnName::FIRST;
        let rises = |id: u32| self.last.is_none_or(|last| id > last);
        match u32::try_from(id).ok().filter(|id| is_own(*id)) {
            None => Err(Malformed::out_of_range("id", id)),
            Some(id) if !rises(id) => Err(Malformed::new("id", Fault::NotCanonical)),
            Some(id) => {
                self.last = Some(id);
                Ok(id)
            }
        }
    }
}
