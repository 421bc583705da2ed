//! The last ten minutes in one sample per second, for the charts of a page that is opened later.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use super::status::{Quantiles, Status, round_share};

/// How many samples are kept: ten minutes.
pub(super) const SAMPLE_LIMIT: usize = 600;

/// What is drawn of one second.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Sample {
    /// How long the server had been running.
    uptime_s: f64,
    players: usize,
    /// Of the players' round trips, in ms: the middle one and the longest.
    rtt_ms: Option<f64>,
    rtt_worst_ms: Option<f64>,
    /// The mean of all players' losses.
    loss: Option<f64>,
    /// Of this second's ticks, in µs.
    tick_p50_us: Option<u64>,
    tick_p99_us: Option<u64>,
    /// Bytes and datagrams in this second.
    bytes_in: u64,
    bytes_out: u64,
    dropped: u64,
}

/// The samples, the oldest first.
#[derive(Debug, Default)]
pub(super) struct History {
    samples: VecDeque<Sample>,
    last: Option<Arc<Status>>,
}

impl History {
    /// Takes a status; the first one only begins a second.
    pub(super) fn push(&mut self, status: Arc<Status>) {
        if let Some(last) = self.last.replace(Arc::clone(&status))
            && let Some(sample) = Sample::between(&last, &status)
        {
            if self.samples.len() == SAMPLE_LIMIT {
                self.samples.pop_front();
            }
            self.samples.push_back(sample);
        }
    }

    /// All of them.
    pub(super) fn samples(&self) -> &VecDeque<Sample> {
        &self.samples
    }

    /// The newest.
    pub(super) fn newest(&self) -> Option<&Sample> {
        self.samples.back()
    }
}

impl Sample {
    fn between(before: &Status, after: &Status) -> Option<Sample> {
        let elapsed = after.uptime.checked_sub(before.uptime)?;
        if elapsed.is_zero() {
            return None;
        }
        let a_second = |now: u64, then: u64| {
            (now.saturating_sub(then) as f64 / elapsed.as_secs_f64()).round() as u64
        };
        let mut trips: Vec<_> = after.players().filter_map(|player| player.rtt).collect();
        trips.sort_unstable();
        let millis = |time: &Duration| time.as_micros() as f64 / 1e3;
        let losses: Vec<_> = after.players().filter_map(|player| player.loss).collect();
        let mean = losses.iter().sum::<f64>() / losses.len() as f64;
        let ticks = Quantiles::of(&after.ticks.work.since(&before.ticks.work));
        Some(Sample {
            uptime_s: after.uptime.as_millis() as f64 / 1e3,
            players: after.players().count(),
            rtt_ms: trips.get(trips.len().saturating_sub(1) / 2).map(millis),
            rtt_worst_ms: trips.last().map(millis),
            loss: (!losses.is_empty()).then(|| round_share(mean)),
            tick_p50_us: ticks.p50,
            tick_p99_us: ticks.p99,
            bytes_in: a_second(after.traffic.bytes_in, before.traffic.bytes_in),
            bytes_out: a_second(after.traffic.bytes_out, before.traffic.bytes_out),
            dropped: a_second(after.dropped.total(), before.dropped.total()),
        })
    }
}
