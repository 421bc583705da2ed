//! The names of what a link does to datagrams, and a count for each; `link` keeps them, the
//! tools print them.

use std::fmt;

/// Something that a link did to a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// Lost by itself, independently of the datagrams around it.
    Lost,
    /// Lost in a burst together with its neighbours.
    BurstLost,
    /// Found the queue before the bandwidth limit full.
    QueueDropped,
    /// Sent while the link was cut.
    Partitioned,
    /// Delivered twice.
    Duplicated,
    /// Held back so that later ones overtake it.
    Reordered,
    /// One of its bits was flipped.
    Corrupted,
}

impl Fault {
    /// The name in tables and logs.
    pub const fn name(self) -> &'static str {
        match self {
            Fault::Lost => "lost",
            Fault::BurstLost => "burst-lost",
            Fault::QueueDropped => "queue-dropped",
            Fault::Partitioned => "partitioned",
            Fault::Duplicated => "duplicated",
            Fault::Reordered => "reordered",
            Fault::Corrupted => "corrupted",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What one link has done so far.
///
/// Always `sent + duplicated == delivered + dropped()`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Datagrams given to the link.
    pub sent: u64,
    /// Datagrams that arrive, each copy counted.
    pub delivered: u64,
    /// See [`Fault::Lost`].
    pub lost: u64,
    /// See [`Fault::BurstLost`].
    pub burst_lost: u64,
    /// See [`Fault::QueueDropped`].
    pub queue_dropped: u64,
    /// See [`Fault::Partitioned`].
    pub partitioned: u64,
    /// See [`Fault::Duplicated`].
    pub duplicated: u64,
    /// See [`Fault::Reordered`].
    pub reordered: u64,
    /// See [`Fault::Corrupted`].
    pub corrupted: u64,
    /// Bytes of the datagrams given to the link.
    pub sent_bytes: u64,
    /// Bytes of the datagrams that arrive, each copy counted.
    pub delivered_bytes: u64,
}

impl Faults {
    /// Datagrams that never arrive, for whatever reason.
    pub const fn dropped(&self) -> u64 {
        self.lost + self.burst_lost + self.queue_dropped + self.partitioned
    }

    pub(super) fn note(&mut self, fault: Fault) {
        *self.count_mut(fault) += 1;
    }

    fn count_mut(&mut self, fault: Fault) -> &mut u64 {
        match fault {
            Fault::Lost => &mut self.lost,
            Fault::BurstLost => &mut self.burst_lost,
            Fault::QueueDropped => &mut self.queue_dropped,
            Fault::Partitioned => &mut self.partitioned,
            Fault::Duplicated => &mut self.duplicated,
            Fault::Reordered => &mut self.reordered,
            Fault::Corrupted => &mut self.corrupted,
        }
    }
}

#[cfg(test)]
impl Fault {
    /// Every fault.
    pub(super) const ALL: [Fault; 7] = [
        Fault::Lost,
        Fault::BurstLost,
        Fault::QueueDropped,
        Fault::Partitioned,
        Fault::Duplicated,
        Fault::Reordered,
        Fault::Corrupted,
    ];
}

#[cfg(test)]
impl Faults {
    /// How often this fault struck.
    pub(super) fn count(mut self, fault: Fault) -> u64 {
        *self.count_mut(fault)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_has_its_own_name_and_its_own_count() {
        for (index, fault) in Fault::ALL.into_iter().enumerate() {
            let mut faults = Faults::default();
            faults.note(fault);
            for (other_index, other) in Fault::ALL.into_iter().enumerate() {
                assert_eq!(faults.count(other), u64::from(index == other_index), "{fault}");
                assert_eq!(fault.name() == other.name(), index == other_index);
            }
        }
        assert_eq!(Fault::QueueDropped.to_string(), "queue-dropped");
    }
}
