//! State over time: what a game's entities are made of, how a world of them is written against
//! an older one, and which older ones are kept.
//!
//! Below is the wire, which carries a [`delta`]'s bytes as the body of a
//! [`DeltaSnapshot`](crate::wire::native::DeltaSnapshot); above is the game, whose world is
//! written into a [`State`] by its [`Schema`]. Nothing here knows a clock or chance, and nothing
//! allocates once its buffers have grown to the size of the game.
//!
//! ```text
//! game -> State -> History, Bodies, Cuts -> delta::encode -> body       server
//! game <- State <- Picture, Assembly     <- delta::decode <- body       client
//! ```

pub mod bits;
pub mod delta;
pub mod full;
pub mod history;
pub mod parts;
mod picture;
mod place;
mod prediction;
pub mod schema;
mod slide;
pub mod state;
mod trail;

pub use full::FullForm;
pub use history::{Bodies, HISTORY_LEN, History};
pub use parts::{Assembly, Cuts};
pub use picture::{Drawn, KEPT, Picture, draw_between};
pub(crate) use prediction::blend;
pub use prediction::{Correction, Prediction};
pub use schema::{Field, Kind, MAX_FIELDS, Mistake, Motion, Schema, Step};
pub(crate) use slide::{Course, Moment, Sliding};
pub use state::{ENTITY_LIMIT, Entity, PushError, State};
pub use trail::Trail;
