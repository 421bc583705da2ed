//! A state that is too large for one datagram, in parts. PROTOCOL.md 5.12 specifies them.
//!
//! A part has the entities of a range of ids, written against those of the same range of the
//! baseline, so that it decodes alone. The ranges of a tick's parts follow one another and have
//! every id: what a part does not mention in its range is not there.
//!
//! ```text
//! 0      2      4
//! | from | upto | the delta of these ids ...
//! ```
//!
//! A room keeps [`FragmentCache`] beside its [`Bodies`](super::Bodies); a client has an [`Assembly`].

mod assembly;
mod cut;

pub use assembly::{ASSEMBLY_TICKS, Assembly, FragmentError};
pub use cut::{FragmentCache, Parts};

use super::delta::IdRange;
use crate::wire::native::Part;
use crate::wire::{Malformed, Reader};

/// A snapshot has at most so many parts.
pub const MAX_PARTS: usize = Part::MAX_COUNT as usize;

/// The bytes of a range.
const RANGE_LEN: usize = 4;

impl IdRange {
    fn encode(self) -> [u8; RANGE_LEN] {
        let ([a, b], [c, d]) = (self.from.to_be_bytes(), self.upto.to_be_bytes());
        [a, b, c, d]
    }

    /// The range that a body begins with, if `part` can have it, and what follows it.
    fn decode(part: Part, body: &[u8]) -> Result<(Self, &[u8]), Malformed> {
        let mut r = Reader::new(body);
        let ids = IdRange { from: r.u16_be("from")?, upto: r.u16_be("upto")? };
        // The first part begins with the first id, the last one ends with the last, no other does.
        if (ids.from == 0) != (part.index() == 0) {
            return Err(Malformed::out_of_range("from", ids.from));
        }
        let is_last = part.index() + 1 == part.count();
        if ids.upto < ids.from || (ids.upto == u16::MAX) != is_last {
            return Err(Malformed::out_of_range("upto", ids.upto));
        }
        Ok((ids, r.take_rest()))
    }
}

#[cfg(test)]
mod tests;
