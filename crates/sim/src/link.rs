//! One direction of a network path: says of each datagram when and how often it arrives.
//!
//! It carries nothing itself. A harness in simulated time, or a proxy between real sockets,
//! asks it about each datagram and keeps the bytes until they are due. A datagram passes, in
//! this order:
//!
//! ```text
//! partition -> queue -> loss -> corruption -> delay, jitter, reordering -> duplication
//! ```
//!
//! So what is lost has used bandwidth, and a copy has not. `config` above says how much of
//! each; `fault` counts them.

use super::{Bandwidth, Chance, Fault, Faults, LinkConfig, Loss};
use backspin::time::Time;
use std::time::Duration;

/// One direction of a path, with its faults, its chance and its counts.
#[derive(Clone, Debug)]
pub struct Link {
    config: LinkConfig,
    chance: Chance,
    partition: Partition,
    weather: Weather,
    queue: Queue,
    faults: Faults,
}

/// When a datagram arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Deliveries {
    /// Never, for this reason.
    Dropped(Fault),
    /// At this instant.
    Once(Time),
    /// At both instants, the earlier one first; they may be equal.
    Twice([Time; 2]),
}

impl Deliveries {
    /// The instants of arrival, the earliest first: none, one or two.
    pub fn times(&self) -> &[Time] {
        match self {
            Deliveries::Dropped(_) => &[],
            Deliveries::Once(time) => std::slice::from_ref(time),
            Deliveries::Twice(times) => times,
        }
    }
}

/// Whether a link carries anything at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Partition {
    /// It does.
    #[default]
    Healed,
    /// Everything sent vanishes. What was sent before still arrives.
    Cut,
}

impl Link {
    /// An idle link.
    ///
    /// # Panics
    /// If [`LinkConfig::check`] refuses the config.
    pub fn new(config: LinkConfig, mut chance: Chance) -> Self {
        assert_possible(&config);
        let weather = Weather::at_random(config.loss, &mut chance);
        Link {
            config,
            chance,
            partition: Partition::Healed,
            weather,
            queue: Queue::default(),
            faults: Faults::default(),
        }
    }

    /// Says when a datagram sent `now` arrives; if it arrives corrupt, `bytes` already is.
    ///
    /// `now` should not run backwards; the queue takes an earlier instant for the latest one.
    pub fn send(&mut self, now: Time, bytes: &mut [u8]) -> Deliveries {
        let len = bytes.len() as u64;
        self.faults.sent += 1;
        self.faults.sent_bytes += len;
        let departure = match self.depart(now, len) {
            Ok(departure) => departure,
            Err(fault) => {
                self.faults.note(fault);
                return Deliveries::Dropped(fault);
            }
        };
        self.corrupt(bytes);
        let deliveries = self.arrive(departure);
        let copies = deliveries.times().len() as u64;
        self.faults.delivered += copies;
        self.faults.delivered_bytes += copies * len;
        deliveries
    }

    /// What the link does from now on; datagrams already sent keep their times.
    ///
    /// A new bandwidth drains what has waited since the last datagram, too.
    ///
    /// # Panics
    /// If [`LinkConfig::check`] refuses the config.
    pub fn set_config(&mut self, config: LinkConfig) {
        assert_possible(&config);
        // A step in delay must not end a burst that is going on.
        if config.loss != self.config.loss {
            self.weather = Weather::at_random(config.loss, &mut self.chance);
        }
        if config.bandwidth.is_none() {
            self.queue = Queue::default();
        }
        self.config = config;
    }

    /// What the link does to datagrams.
    pub const fn config(&self) -> &LinkConfig {
        &self.config
    }

    /// Cuts the link or heals it.
    pub fn set_partition(&mut self, partition: Partition) {
        self.partition = partition;
    }

    /// Whether the link carries anything at all.
    pub const fn partition(&self) -> Partition {
        self.partition
    }

    /// What the link has done so far.
    pub const fn counts(&self) -> &Faults {
        &self.faults
    }

    /// When a datagram has left the queue and survived the way, or what became of it.
    fn depart(&mut self, now: Time, len: u64) -> Result<Time, Fault> {
        if self.partition == Partition::Cut {
            return Err(Fault::Partitioned);
        }
        let departure = match self.config.bandwidth {
            None => now,
            Some(bandwidth) => self.queue.push(now, len, bandwidth).ok_or(Fault::QueueDropped)?,
        };
        self.weather.next(self.config.loss, &mut self.chance).map_or(Ok(departure), Err)
    }

    fn corrupt(&mut self, bytes: &mut [u8]) {
        if !bytes.is_empty() && self.chance.happens(self.config.corrupt_probability) {
            let bit = self.chance.below(bytes.len() as u64 * 8);
            bytes[(bit / 8) as usize] ^= 1 << (bit % 8);
            self.faults.note(Fault::Corrupted);
        }
    }

    fn arrive(&mut self, departure: Time) -> Deliveries {
        let LinkConfig { delay, jitter, reorder, duplicate_probability, .. } = self.config;
        let mut arrival = departure + delay + jitter.draw(&mut self.chance);
        if self.chance.happens(reorder.probability) {
            arrival += reorder.hold;
            self.faults.note(Fault::Reordered);
        }
        if !self.chance.happens(duplicate_probability) {
            return Deliveries::Once(arrival);
        }
        self.faults.note(Fault::Duplicated);
        let copy = departure + delay + jitter.draw(&mut self.chance);
        Deliveries::Twice([arrival.min(copy), arrival.max(copy)])
    }
}

/// Both directions of a path, with chances of their own.
#[derive(Clone, Debug)]
pub struct Duplex {
    /// From the side that opened the path.
    pub there: Link,
    /// To the side that opened the path.
    pub back: Link,
}

impl Duplex {
    /// Path number `path` of a run with this seed; both directions do the same.
    ///
    /// Paths draw from the streams that begin at [`Duplex::FIRST_STREAM`]: leave them alone.
    ///
    /// # Panics
    /// If [`LinkConfig::check`] refuses the config.
    pub fn new(config: LinkConfig, seed: u64, path: u32) -> Self {
        let stream = Self::FIRST_STREAM + 2 * u64::from(path);
        let [there, back] =
            [stream, stream + 1].map(|stream| Link::new(config, Chance::new(seed, stream)));
        Duplex { there, back }
    }

    /// The first stream of [`Chance`] that a path may use; all others lie below.
    pub const FIRST_STREAM: u64 = 1 << 32;
}

fn assert_possible(config: &LinkConfig) {
    if let Err(error) = config.check() {
        panic!("{error}");
    }
}

/// Loss after Gilbert and Elliott: a chain that moves with every datagram, and loses each one
/// that it meets in a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Weather {
    Clear,
    Burst,
}

impl Weather {
    /// Begins as the chain is found in the long run, so that the first datagram of a run is as
    /// likely to be lost as any other.
    fn at_random(loss: Loss, chance: &mut Chance) -> Self {
        if is_bursty(loss) && chance.happens(loss.probability) {
            Weather::Burst
        } else {
            Weather::Clear
        }
    }

    /// Moves on by one datagram and says whether it is lost.
    fn next(&mut self, loss: Loss, chance: &mut Chance) -> Option<Fault> {
        let Loss { probability, burst_len } = loss;
        if !is_bursty(loss) {
            return chance.happens(probability).then_some(Fault::Lost);
        }
        // A burst ends with chance 1 / burst_len, hence its length. It begins with the chance
        // that makes as many beginnings as ends when a share `probability` is in bursts.
        let end = 1.0 / burst_len;
        *self = match *self {
            Weather::Burst if chance.happens(end) => Weather::Clear,
            Weather::Clear if chance.happens(end * probability / (1.0 - probability)) => {
                Weather::Burst
            }
            unchanged => unchanged,
        };
        (*self == Weather::Burst).then_some(Fault::BurstLost)
    }
}

fn is_bursty(loss: Loss) -> bool {
    // All or nothing has no bursts to begin or end.
    loss.burst_len > 1.0 && loss.probability > 0.0 && loss.probability < 1.0
}

/// What waits before the bandwidth limit.
///
/// Kept as an amount that drains steadily, not as a list, in billionths of a bit: one bit/s
/// drains one of them per nanosecond, so nothing is ever rounded.
#[derive(Clone, Copy, Debug, Default)]
struct Queue {
    waiting_nanobits: u128,
    /// When that was so.
    at: Time,
}

impl Queue {
    /// When the last bit of a datagram leaves, unless it does not fit.
    fn push(&mut self, now: Time, len: u64, limit: Bandwidth) -> Option<Time> {
        let rate = u128::from(limit.bits_per_s);
        let drained = now.since(self.at).as_nanos() * rate;
        self.waiting_nanobits = self.waiting_nanobits.saturating_sub(drained);
        self.at = self.at.max(now);
        let waiting = self.waiting_nanobits + u128::from(len) * NANOBITS_PER_BYTE;
        if waiting > u128::from(limit.queue_bytes) * NANOBITS_PER_BYTE {
            return None;
        }
        self.waiting_nanobits = waiting;
        let wait_ns = u64::try_from(waiting.div_ceil(rate)).unwrap_or(u64::MAX);
        Some(self.at + Duration::from_nanos(wait_ns))
    }
}

const NANOBITS_PER_BYTE: u128 = 8 * 1_000_000_000;

#[cfg(test)]
mod tests;
