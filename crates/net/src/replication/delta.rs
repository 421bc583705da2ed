//! A state written against an older one. PROTOCOL.md 5.12 specifies the body bit by bit.
//!
//! Every entity of the baseline is carried on to the new tick by its own velocity. One that is
//! where that puts it costs almost nothing; of the others only what differs is sent; and since
//! what differs is mostly that it turned, the tick of the turn is sent instead of where it led.
//!
//! ```text
//! | changes | gap gone [mask [turn] values] ... | 1 id kind fields ... | 0 | padding |
//!           of what the baseline has            of what is new
//! ```

mod change;
mod decode;
mod encode;

pub use decode::{decode, decode_range};
pub use encode::{encode, encode_range};

use super::state::{Entity, State};
use crate::wire::native::MAX_BASELINE_BACK;

/// The ids of a part, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdRange {
    /// The lowest.
    pub from: u16,
    /// The highest, not below the lowest.
    pub upto: u16,
}

impl IdRange {
    /// The whole.
    pub const ALL: IdRange = IdRange { from: 0, upto: u16::MAX };

    /// Whether `id` is one of them.
    pub const fn contains(self, id: u16) -> bool {
        self.from <= id && id <= self.upto
    }

    /// Those of `entities`, which are sorted by id.
    fn of(self, entities: &[Entity]) -> &[Entity] {
        if self == IdRange::ALL {
            return entities;
        }
        let start = entities.partition_point(|entity| entity.id < self.from);
        let end = entities.partition_point(|entity| entity.id <= self.upto);
        entities.get(start..end).unwrap_or_default()
    }
}

/// What a state is written against: nothing, or the entities of some ticks ago.
#[derive(Clone, Copy)]
struct Baseline<'a> {
    entities: &'a [Entity],
    /// How old they are, at most [`MAX_BASELINE_BACK`] ticks.
    ticks: u32,
    /// The ids that there may be.
    ids: IdRange,
}

impl<'a> Baseline<'a> {
    /// The baseline of the `ids` of a state of tick `tick`, or how old it would have to be.
    fn new(baseline: Option<&'a State>, tick: u32, ids: IdRange) -> Result<Self, u32> {
        let Some(baseline) = baseline else {
            return Ok(Baseline { entities: &[], ticks: 0, ids });
        };
        match tick.wrapping_sub(baseline.tick) {
            ticks if (1..=u32::from(MAX_BASELINE_BACK)).contains(&ticks) => {
                Ok(Baseline { entities: ids.of(baseline.entities()), ticks, ids })
            }
            ticks => Err(ticks),
        }
    }

    /// The id that the first new entity is likely to have.
    fn next_id(&self) -> i32 {
        self.entities.last().map_or(self.ids.from.into(), |last| i32::from(last.id) + 1)
    }
}

/// The entity with this id among those sorted by id.
fn find(entities: &[Entity], id: u16) -> Option<&Entity> {
    let place = entities.binary_search_by_key(&id, |entity| entity.id);
    place.ok().map(|place| &entities[place])
}

/// How many low bits a gap has if `free` of the entities ahead are unchanged and `changes` are
/// not: about the mean gap.
fn gap_bits(free: u32, changes: u32) -> u32 {
    (free / (changes + 1)).checked_ilog2().unwrap_or(0)
}

#[cfg(test)]
mod tests;
