//! The clients' process: all of them on one thread, at the same rhythm.

use std::error::Error;
use std::thread;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::control::{self, Order, Orders};
use crate::{INPUT_LEN, SNAPSHOT_LEN, TICK};

/// Clients, whoever made them.
pub(crate) trait Crowd {
    /// Takes what has come and sends an input for each.
    fn tick(&mut self);

    /// Waits for the next tick.
    fn wait(&mut self, until: Instant) {
        thread::sleep(until.saturating_duration_since(Instant::now()));
    }

    /// What each has seen; who has seen something is connected.
    fn trails(&mut self) -> &mut [Trail];
}

/// The snapshots that a client has seen.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Trail {
    first: Option<u32>,
    last: u32,
    count: u32,
}

impl Trail {
    /// One came, with this number.
    pub(crate) fn see(&mut self, number: u32) {
        self.last = number.max(self.last);
        self.first.get_or_insert(number);
        self.count += 1;
    }

    /// One came, with its number in front.
    pub(crate) fn see_bytes(&mut self, snapshot: &[u8]) {
        if let (SNAPSHOT_LEN, Some(number)) = (snapshot.len(), snapshot.first_chunk()) {
            self.see(u32::from_be_bytes(*number));
        }
    }

    fn is_begun(&self) -> bool {
        self.first.is_some()
    }

    /// How many were sent between the first and the last that came.
    fn sent(&self) -> u32 {
        self.first.map_or(0, |first| self.last - first + 1)
    }
}

/// What clients say at the end.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Seen {
    /// Snapshots that came, of all clients.
    pub(crate) snapshots: u64,
    /// Those that should have come between a client's first and last.
    pub(crate) sent: u64,
    /// Clients who saw any.
    pub(crate) alive: usize,
    pub(crate) seconds: f64,
}

/// What clients say when all are in.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Connected;

/// An input: the client's number, and more.
pub(crate) fn input(client: usize) -> [u8; INPUT_LEN] {
    let mut bytes = [0x5A; INPUT_LEN];
    bytes[..4].copy_from_slice(&(client as u32).to_be_bytes());
    bytes
}

/// A snapshot: its number, and more.
pub(crate) fn snapshot(number: u32) -> [u8; SNAPSHOT_LEN] {
    let mut bytes = [0xA5; SNAPSHOT_LEN];
    bytes[..4].copy_from_slice(&number.to_be_bytes());
    bytes
}

/// Plays until told to end, and says what came from `begin` on.
pub(crate) fn play(crowd: &mut dyn Crowd, orders: &Orders) -> Result<(), Box<dyn Error>> {
    let mut next = Instant::now();
    let (mut connected, mut begun) = (false, None);
    loop {
        next += TICK;
        crowd.wait(next);
        crowd.tick();
        next = next.max(Instant::now() - TICK);
        if !connected && crowd.trails().iter().all(Trail::is_begun) {
            connected = true;
            control::say(&Connected)?;
        }
        match orders.poll() {
            Some(Order::Begin) => {
                crowd.trails().fill(Trail::default());
                begun = Some(Instant::now());
            }
            Some(Order::End) => break,
            None => {}
        }
    }
    let begun: Instant = begun.ok_or("told to end before it began")?;
    let trails = crowd.trails();
    control::say(&Seen {
        snapshots: trails.iter().map(|trail| u64::from(trail.count)).sum(),
        sent: trails.iter().map(|trail| u64::from(trail.sent())).sum(),
        alive: trails.iter().filter(|trail| trail.is_begun()).count(),
        seconds: begun.elapsed().as_secs_f64(),
    })?;
    Ok(())
}
