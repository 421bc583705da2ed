//! Time on the client: the two clocks that a player feels, and what they are steered by.
//!
//! ```text
//! input_clock         -> the tick that own inputs are for: they reach the server just in time
//! server_clock        -> the tick that the server steps now, as far as the client can know
//! interpolation_clock -> the tick at which others are drawn: snapshots are nearly always there
//! arrival             -> the same for dialects without ticks, by the time at which states arrive
//! loss                -> what share of numbered datagrams is lost, for either side
//! delay_estimator     -> how late is late enough, from the last delays in a window
//! stall               -> how late the client's own thread wakes, and the room to make for it
//! shift               -> delays that have changed for good, and the hurry that a clock is in then
//! slew                -> a clock that is bent, never turned back
//! ```
//!
//! Below is the session, which delivers snapshots and what they report on inputs; above are
//! interpolation, which draws at the time of [`InterpolationClock`], and prediction, which runs up to that
//! of [`InputClock`]. All are controllers without a clock of their own: the local time is passed in,
//! and every figure follows from what was handed over.

mod arrival;
mod delay_estimator;
mod input_clock;
mod interpolation_clock;
mod loss;
mod server_clock;
mod shift;
mod slew;
mod sliding_window;
mod stall;

pub use arrival::{ArrivalClock, Mark};
pub use input_clock::InputClock;
pub use interpolation_clock::{Delay, InterpolationClock};
pub use loss::LossMeter;
pub use server_clock::ServerClock;

use crate::time::Time;
use std::time::Duration;

/// The first of a session: clocks may jump forward, later they are only bent. A little less than the
/// two seconds that a session has to settle: the first snapshot may come late.
pub const JOINING: Duration = Duration::from_millis(1_750);

/// How the client's datagrams fared, as a snapshot reports it. One that was sent before any
/// new datagram came reports nothing.
///
/// It fits into four bytes: the low byte of `echo`, `held` in 1/8 ms, `early` in whole ms, and
/// `lost` in 1/1024.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Feedback {
    /// The newest input that the server has received.
    pub echo: u32,
    /// How long ago the datagram with that input had come when the snapshot was sent.
    pub held: Duration,
    /// How early the datagrams since the last snapshot came for the newest input of each: of
    /// the worst one. Negative is late.
    pub early_us: i32,
    /// The share of the client's datagrams that is lost: [`LossMeter::share`] on the server.
    pub lost: f64,
}

/// Seconds on a local clock since some origin; negative before it.
fn seconds(now: Time, origin: Time) -> f64 {
    if now >= origin { now.since(origin).as_secs_f64() } else { -origin.since(now).as_secs_f64() }
}

/// Ticks from `origin` to `tick`, across the wrap.
fn ticks_since(tick: u32, origin: u32) -> f64 {
    f64::from(tick.wrapping_sub(origin) as i32)
}
