//! State over time: what a game's entities are made of, how a world of them is written against
//! an older one, and which older ones are kept.
//!
//! Below is the wire, which carries a [`delta`]'s bytes as the body of a
//! [`DeltaSnapshot`](crate::wire::native::DeltaSnapshot); above is the game, whose world is
//! written into a [`State`] by its [`Schema`]. Nothing here knows a clock or chance, and nothing
//! allocates once its buffers have grown to the size of the game.
//!
//! ```text
//! game -> State -> History, Bodies -> delta::encode, or view -> body       server
//! game <- State <- SnapshotBuffer  <- delta::decode, or view <- body       client
//! ```

pub mod bits;
pub mod delta;
mod fields;
pub mod history;
mod place;
mod prediction;
pub mod schema;
mod snapshot_buffer;
pub mod state;
mod time_blend;
mod unacked_prediction;
pub mod view;

pub use fields::Fields;
pub use history::{Bodies, HISTORY_LEN, History};
pub(crate) use prediction::blend;
pub use prediction::{Correction, Prediction};
pub use schema::{Field, Kind, MAX_FIELDS, Mistake, Motion, Schema, Step};
pub use snapshot_buffer::{Drawn, KEPT, SnapshotBuffer, draw_between};
pub use state::{ENTITY_LIMIT, Entity, PushError, State};
pub(crate) use time_blend::{Course, Moment, TimeBlend};
pub use unacked_prediction::UnackedPrediction;
pub use view::{ClientView, KnownWorld, View, Viewer};
