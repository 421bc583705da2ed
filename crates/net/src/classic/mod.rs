//! The dialects of others, each a folder.

pub mod lan;
pub mod rtype;

use crate::dialect::Dialect;
use crate::game::Game;

/// All of them, in the order in which a server lists them.
pub fn dialects<G: Game>() -> &'static [&'static dyn Dialect<G>] {
    &[&rtype::Rtype, &lan::Lan]
}
