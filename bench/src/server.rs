//! A server's process: keeps the rhythm, and takes the figures.

use std::error::Error;
use std::thread;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::TICK;
use crate::control::{self, Order, Orders};
use crate::machine::{self, Meter};
use crate::profile::{Profile, Samples};

/// A server, whoever made it.
pub(crate) trait Host {
    /// Takes what has come and sends everyone a snapshot.
    fn tick(&mut self);

    /// Waits for the next tick.
    fn wait(&mut self, until: Instant) {
        thread::sleep(until.saturating_duration_since(Instant::now()));
    }

    /// What it has done so far.
    fn done(&self) -> Done;
}

/// What a server has done.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Done {
    /// Inputs that reached the game.
    pub(crate) inputs: u64,
    /// Snapshots that were sent.
    pub(crate) snapshots: u64,
}

/// What a server says at the end.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Served {
    pub(crate) meter: Meter,
    pub(crate) done: Done,
    pub(crate) heap_bytes: u64,
    /// None where the system does not allow it.
    pub(crate) samples: Samples,
}

/// Serves until told to end, and says what it cost from `begin` on.
pub(crate) fn serve(host: &mut dyn Host) -> Result<(), Box<dyn Error>> {
    let orders = Orders::listen();
    let mut next = Instant::now();
    let mut begun = None;
    let mut profile = Profile::begin().ok();
    let mut sample = || profile.as_mut().map(Profile::take).unwrap_or_default();
    loop {
        next += TICK;
        host.wait(next);
        host.tick();
        // A tick that was missed is not made up for.
        next = next.max(Instant::now() - TICK);
        match orders.poll() {
            Some(Order::Begin) => {
                sample();
                begun = Some((host.done(), Meter::begin()));
            }
            Some(Order::End) => break,
            None => {}
        }
    }
    let (meter, samples) = (Meter::end(), sample());
    let (before, first) = begun.ok_or("told to end before it began")?;
    let after = host.done();
    let done = Done {
        inputs: after.inputs - before.inputs,
        snapshots: after.snapshots - before.snapshots,
    };
    let heap_bytes = machine::heap_bytes();
    control::say(&Served { meter: meter.since(first), done, heap_bytes, samples })?;
    Ok(())
}
