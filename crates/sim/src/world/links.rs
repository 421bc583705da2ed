//! The links between hosts: one pair of them for every two hosts that have something to say.

use super::HostId;
use crate::{Duplex, Faults, Link, LinkConfig, Partition};
use std::collections::BTreeMap;

/// Every link of a world, made when it is first needed.
#[derive(Debug)]
pub(super) struct Links {
    seed: u64,
    config: LinkConfig,
    pairs: BTreeMap<Pair, Duplex>,
}

/// The number of two hosts' path.
///
/// It depends on these two alone: the chance of a link is the same however many other hosts
/// there are, and in whatever order links are first used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pair(pub(super) u32);

impl Pair {
    /// The pair of two hosts, in either order.
    ///
    /// # Panics
    /// If they are the same.
    pub(super) fn of(a: HostId, b: HostId) -> Self {
        assert!(a != b, "{a} has no link to itself");
        let (low, high) = (a.0.min(b.0), a.0.max(b.0));
        Pair(high * (high - 1) / 2 + low)
    }
}

impl Links {
    /// # Panics
    /// If [`LinkConfig::check`] refuses the config.
    pub(super) fn new(seed: u64, config: LinkConfig) -> Self {
        if let Err(error) = config.check() {
            panic!("{error}");
        }
        Links { seed, config, pairs: BTreeMap::new() }
    }

    /// What a link does that was never told otherwise.
    pub(super) fn config(&self) -> &LinkConfig {
        &self.config
    }

    /// The link that carries datagrams from one host to another.
    pub(super) fn link(&mut self, from: HostId, to: HostId) -> &mut Link {
        let pair = Pair::of(from, to);
        let (seed, config) = (self.seed, self.config);
        let duplex = self.pairs.entry(pair).or_insert_with(|| Duplex::new(config, seed, pair.0));
        if from < to { &mut duplex.there } else { &mut duplex.back }
    }

    pub(super) fn counts(&self, from: HostId, to: HostId) -> Faults {
        let Some(duplex) = self.pairs.get(&Pair::of(from, to)) else {
            return Faults::default();
        };
        *if from < to { &duplex.there } else { &duplex.back }.counts()
    }

    pub(super) fn set_partition(&mut self, a: HostId, b: HostId, partition: Partition) {
        self.link(a, b).set_partition(partition);
        self.link(b, a).set_partition(partition);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_of_hosts_has_its_own_number_whoever_else_there_is() {
        let mut next = 0;
        for high in 1..50 {
            for low in 0..high {
                assert_eq!(Pair::of(HostId(low), HostId(high)), Pair(next));
                assert_eq!(Pair::of(HostId(high), HostId(low)), Pair(next));
                next += 1;
            }
        }
    }
}
