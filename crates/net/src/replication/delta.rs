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

pub(super) mod change;
mod decode;
mod encode;
mod ids;

pub(super) use change::Change;
pub use decode::decode;
pub use encode::encode;

use super::state::{Entity, State};
use crate::game::{MAX_SEND_EVERY, SpawnName};
use crate::wire::native::MAX_BASELINE_BACK;

/// A baseline is at most so many ticks old.
pub const MAX_BASELINE_TICKS: u32 = MAX_BASELINE_BACK as u32 * MAX_SEND_EVERY as u32;

/// What a state is written against: nothing, or the entities of some ticks ago.
#[derive(Clone, Copy)]
struct Baseline<'a> {
    entities: &'a [Entity],
    /// How old they are.
    ticks: u32,
}

impl<'a> Baseline<'a> {
    /// The baseline of a state of tick `tick`, or how old it would have to be.
    fn new(baseline: Option<&'a State>, tick: u32) -> Result<Self, u32> {
        let Some(baseline) = baseline else {
            return Ok(Baseline { entities: &[], ticks: 0 });
        };
        match tick.wrapping_sub(baseline.tick) {
            ticks if (1..=MAX_BASELINE_TICKS).contains(&ticks) => {
                Ok(Baseline { entities: baseline.entities(), ticks })
            }
            ticks => Err(ticks),
        }
    }

    /// The id that the first new entity of the game's own is likely to have.
    fn next_id(&self) -> u32 {
        let known = self.entities.partition_point(|entity| entity.id < SpawnName::FIRST);
        let last = known.checked_sub(1).map(|last| self.entities[last].id + 1);
        last.unwrap_or(0).min(SpawnName::FIRST - 1)
    }
}

/// The entity with this id among those sorted by id.
fn find(entities: &[Entity], id: u32) -> Option<&Entity> {
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
