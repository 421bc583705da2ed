//! Adds up what the bots got.

use std::collections::BTreeMap;
use std::ops::{AddAssign, Sub};
use std::time::Duration;

use backspin::session::EndReason;
use hdrhistogram::Histogram;

/// What one bot has sent and received, or all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) inputs: u64,
    pub(super) late_inputs: u64,
    pub(super) snapshots: u64,
    pub(super) datagrams_expected: u64,
    pub(super) datagrams_received: u64,
    pub(super) bytes_down: u64,
    pub(super) bytes_up: u64,
}

/// What is done to each count.
macro_rules! each_count {
    ($($count:ident)*) => {
        impl AddAssign for Counts {
            fn add_assign(&mut self, other: Counts) {
                $(self.$count += other.$count;)*
            }
        }

        impl Sub for Counts {
            type Output = Counts;

            /// A client that came back restarts its counts.
            fn sub(self, before: Counts) -> Counts {
                Counts { $($count: self.$count.saturating_sub(before.$count)),* }
            }
        }
    };
}

each_count! {
    inputs late_inputs snapshots datagrams_expected datagrams_received bytes_down bytes_up
}

impl Counts {
    /// The share of datagrams from the server that did not come.
    pub(super) fn lost(&self) -> f64 {
        let lost = self.datagrams_expected.saturating_sub(self.datagrams_received);
        share(lost, self.datagrams_expected)
    }

    /// The share of inputs that left late.
    pub(super) fn late(&self) -> f64 {
        share(self.late_inputs, self.inputs)
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// All of it.
#[derive(Debug)]
pub(super) struct Tally {
    pub(super) clients: usize,
    /// Connected bots at the start of the measurement, at its end, and the most in between.
    pub(super) connected_first: usize,
    pub(super) connected_last: usize,
    /// How long it was measured.
    pub(super) time: Duration,
    /// The time that bots were in, added up.
    pub(super) client_time: Duration,
    pub(super) counts: Counts,
    /// Connections that were lost, other than by churn; some came back.
    pub(super) lost: u64,
    /// For how long this program did nothing, at most.
    pub(super) longest_pause: Duration,
    /// Bots that went by churn.
    pub(super) churned: u64,
    /// Why bots were refused or sent away.
    pub(super) ends: BTreeMap<String, u64>,
    round_trips_us: Histogram<u32>,
}

/// Longer round trips count as this one.
const ROUND_TRIP_LIMIT_US: u64 = 60_000_000;

impl Tally {
    pub(super) fn new(clients: usize) -> Self {
        let round_trips_us = Histogram::new_with_bounds(1, ROUND_TRIP_LIMIT_US, 3);
        Tally {
            clients,
            connected_first: 0,
            connected_last: 0,
            time: Duration::ZERO,
            client_time: Duration::ZERO,
            counts: Counts::default(),
            lost: 0,
            longest_pause: Duration::ZERO,
            churned: 0,
            ends: BTreeMap::new(),
            round_trips_us: round_trips_us.expect("these bounds are valid"),
        }
    }

    /// How many were in.
    pub(super) fn connected(&self) -> usize {
        self.connected_first.max(self.connected_last)
    }

    pub(super) fn end(&mut self, reason: EndReason) {
        *self.ends.entry(reason.to_string()).or_default() += 1;
    }

    pub(super) fn round_trip(&mut self, round_trip: Duration) {
        self.round_trips_us.saturating_record(round_trip.as_micros() as u64);
    }

    /// A percentile of the round trips, in milliseconds.
    pub(super) fn round_trip_ms(&self, percent: f64) -> Option<f64> {
        let some = !self.round_trips_us.is_empty();
        some.then(|| self.round_trips_us.value_at_percentile(percent) as f64 / 1_000.0)
    }

    /// `count` for each second that a bot was in.
    pub(super) fn per_client_second(&self, count: u64) -> f64 {
        match self.client_time.as_secs_f64() {
            0.0 => 0.0,
            seconds => count as f64 / seconds,
        }
    }

    /// Why no bot could be measured.
    pub(super) fn why_nobody(&self) -> String {
        let most = self.ends.iter().max_by_key(|(_, count)| **count);
        let why = most.map_or("Nobody connected in time.", |(why, _)| why);
        format!("no bot connected: {why}")
    }
}
