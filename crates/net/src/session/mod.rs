//! The parts of a session: small machines that a front, a room and a client are put together
//! from.
//!
//! ```text
//! pinger      questions of our own, and what their answers are worth
//! round_trip  the figures that their samples make
//! ```
//!
//! Below lies [`crate::wire`], which these know by name only; above, whoever owns the packets.
//! None has a clock or chance of its own, and none allocates after it was made.

mod pinger;
mod round_trip;

pub use pinger::{PingCounts, Pinger, Question, Verdict};
pub use round_trip::{Grade, RoundTrip, Sample};
