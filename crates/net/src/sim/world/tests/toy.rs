//! A node that does what a test tells it to, and remembers what it saw.

use crate::node::{Node, Path, StreamNode, Transmit};
use crate::time::Time;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;

#[derive(Debug, Default)]
pub(super) struct Toy {
    pub(super) outbox: VecDeque<(Path, Vec<u8>)>,
    pub(super) heard: Vec<Heard>,
    pub(super) timeouts: Vec<Time>,
    pub(super) manner: Manner,
    pub(super) ticker: Option<Ticker>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Heard {
    pub(super) at: Time,
    pub(super) path: Path,
    pub(super) bytes: Vec<u8>,
}

/// What a toy does with a datagram besides remembering it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Manner {
    #[default]
    Listen,
    /// Sends it back.
    Echo,
    /// Does not even remember it.
    Ignore,
}

/// Sends a numbered datagram to every peer at a fixed rate.
#[derive(Clone, Debug)]
pub(super) struct Ticker {
    pub(super) peers: Vec<SocketAddr>,
    pub(super) period: Duration,
    pub(super) next: Time,
    pub(super) len: usize,
    pub(super) ticks: u64,
}

impl Toy {
    pub(super) fn echo() -> Self {
        Toy { manner: Manner::Echo, ..Toy::default() }
    }

    /// Ticks at once and then after every `period` of its own clock.
    pub(super) fn ticking(peers: &[SocketAddr], period: Duration) -> Self {
        let peers = peers.to_vec();
        let ticker = Ticker { peers, period, next: Time::ZERO, len: 8, ticks: 0 };
        Toy { ticker: Some(ticker), ..Toy::default() }
    }

    pub(super) fn say(&mut self, to: SocketAddr, bytes: &[u8]) {
        self.outbox.push_back((Path::to(to), bytes.to_vec()));
    }

    /// The first byte of each datagram heard.
    pub(super) fn heard_first(&self) -> Vec<u8> {
        self.heard.iter().map(|heard| heard.bytes[0]).collect()
    }

    pub(super) fn heard_at(&self) -> Vec<Time> {
        self.heard.iter().map(|heard| heard.at).collect()
    }
}

impl Node for Toy {
    fn handle_datagram(&mut self, at: Time, path: Path, bytes: &mut [u8]) {
        if self.manner == Manner::Ignore {
            return;
        }
        self.heard.push(Heard { at, path, bytes: bytes.to_vec() });
        if self.manner == Manner::Echo {
            self.outbox.push_back((path, bytes.to_vec()));
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        let Some(ticker) = &mut self.ticker else { return };
        self.timeouts.push(now);
        ticker.next += ticker.period;
        ticker.ticks += 1;
        for &peer in &ticker.peers {
            let mut bytes = ticker.ticks.to_le_bytes().to_vec();
            bytes.resize(ticker.len, 0);
            self.outbox.push_back((Path::to(peer), bytes));
        }
    }

    fn poll_transmit(&mut self, _: Time, out: &mut [u8]) -> Option<Transmit> {
        let (path, bytes) = self.outbox.pop_front()?;
        out[..bytes.len()].copy_from_slice(&bytes);
        Some(Transmit { path, len: bytes.len() })
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.ticker.as_ref().map(|ticker| ticker.next)
    }
}

impl StreamNode for Toy {}
