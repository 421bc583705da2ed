//! The real clock of a loop.

use std::time::Instant;

use backspin::time::Time;

/// Counts from when it was started: with the loop, unless that was given another's.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    origin: Instant,
}

impl Clock {
    /// Starts to count.
    pub fn start() -> Self {
        Clock { origin: Instant::now() }
    }

    /// The time since then.
    pub fn now(self) -> Time {
        Time::ZERO + self.origin.elapsed()
    }
}
