//! The client's side: parts that come one by one, of neighbouring ticks in any order.

use std::fmt;

use super::MAX_PARTS;
use crate::replication::delta::{self, IdRange};
use crate::replication::{ENTITY_LIMIT, Schema, State};
use crate::wire::Malformed;
use crate::wire::native::{MAX_BASELINE_BACK, Part};

/// Parts of so many ticks may come mixed; of two ticks this far apart the older makes room.
pub const ASSEMBLY_TICKS: usize = 4;

/// A tick's place is its remainder, which does not jump where ticks wrap.
const _: () = assert!(ASSEMBLY_TICKS.is_power_of_two());

/// States of which some parts have come.
#[derive(Clone, Debug, Default)]
pub struct Assembly {
    slots: [Slot; ASSEMBLY_TICKS],
    /// The part that is being read.
    part: State,
}

/// Why a part was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FragmentError {
    /// Its body is none.
    Malformed(Malformed),
    /// It does not go together with the parts of its tick that have come: another count, ids
    /// that are another part's, or too many entities.
    Contradiction,
    /// It has come before.
    Duplicate,
    /// A newer tick has taken the place of its own.
    Late,
}

/// One tick.
#[derive(Clone, Debug)]
struct Slot {
    /// How many parts it has; 0 is no tick.
    count: u8,
    /// Which of them have come: a bit for each.
    come: u16,
    ranges: [IdRange; MAX_PARTS],
    state: State,
}

impl Assembly {
    /// Takes a part of the state of tick `tick`, and gives the state when this was all that was
    /// missing. `baseline` is what the part was written against, of `schema`. What is refused
    /// changes nothing.
    pub fn handle(
        &mut self,
        schema: &Schema,
        baseline: Option<&State>,
        tick: u32,
        part: Part,
        body: &[u8],
    ) -> Result<Option<&State>, FragmentError> {
        let slot = &mut self.slots[tick as usize % ASSEMBLY_TICKS];
        let known = slot.knows(tick)?;
        if known {
            slot.expects(part)?;
        }
        let (ids, body) = IdRange::decode(part, body)?;
        if known && !slot.has_room_for(part, ids) {
            return Err(FragmentError::Contradiction);
        }
        delta::decode_range(schema, baseline, tick, ids, body, &mut self.part)?;
        if !known {
            slot.begin(tick, part);
        }
        slot.add(part, ids, &self.part)?;
        Ok(slot.is_whole().then_some(&slot.state))
    }
}

impl Slot {
    /// Whether the slot is this tick's; an error if it is a newer one's.
    fn knows(&self, tick: u32) -> Result<bool, FragmentError> {
        match self.state.tick.wrapping_sub(tick) {
            _ if self.count == 0 => Ok(false),
            0 => Ok(true),
            // One that is further ahead than any delta reaches is not believed.
            ahead if ahead <= MAX_BASELINE_BACK.into() => Err(FragmentError::Late),
            _ => Ok(false),
        }
    }

    fn expects(&self, part: Part) -> Result<(), FragmentError> {
        if part.count() != self.count {
            return Err(FragmentError::Contradiction);
        }
        if self.has(part.index()) { Err(FragmentError::Duplicate) } else { Ok(()) }
    }

    fn has(&self, index: u8) -> bool {
        self.come >> index & 1 == 1
    }

    /// Whether the ids are in the right place beside those of the parts that have come.
    fn has_room_for(&self, part: Part, ids: IdRange) -> bool {
        let index = part.index();
        (0..self.count).filter(|&other| self.has(other)).all(|other| {
            let there = self.ranges[usize::from(other)];
            let (low, high) = if other < index { (there, ids) } else { (ids, there) };
            let between = i32::from(high.from) - i32::from(low.upto) - 1;
            match i32::from(other.abs_diff(index)) - 1 {
                // Neighbours: no id is left out.
                0 => between == 0,
                parts => between >= parts,
            }
        })
    }

    fn begin(&mut self, tick: u32, part: Part) {
        self.count = part.count();
        self.come = 0;
        self.state.clear(tick);
    }

    fn add(&mut self, part: Part, ids: IdRange, read: &State) -> Result<(), FragmentError> {
        let entities = self.state.entities_mut();
        if entities.len() + read.entities().len() > ENTITY_LIMIT {
            return Err(FragmentError::Contradiction);
        }
        let place = entities.partition_point(|entity| entity.id < ids.from);
        entities.extend_from_slice(read.entities());
        entities[place..].rotate_right(read.entities().len());
        self.come |= 1 << part.index();
        self.ranges[usize::from(part.index())] = ids;
        Ok(())
    }

    fn is_whole(&self) -> bool {
        self.come.count_ones() == u32::from(self.count)
    }
}

impl Default for Slot {
    fn default() -> Self {
        Slot { count: 0, come: 0, ranges: [IdRange::ALL; MAX_PARTS], state: State::default() }
    }
}

impl From<Malformed> for FragmentError {
    fn from(malformed: Malformed) -> Self {
        FragmentError::Malformed(malformed)
    }
}

impl fmt::Display for FragmentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FragmentError::Malformed(malformed) => malformed.fmt(f),
            FragmentError::Contradiction => {
                f.write_str("the other parts of its tick contradict it")
            }
            FragmentError::Duplicate => f.write_str("it has come before"),
            FragmentError::Late => f.write_str("a newer tick has taken its place"),
        }
    }
}

impl std::error::Error for FragmentError {}
