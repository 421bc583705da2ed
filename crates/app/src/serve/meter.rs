//! The cost of a server: how long its ticks take, how late they begin, and the traffic of its sockets.

use std::time::{Duration, Instant};

use backspin::node::{
    Fetch, Node, Path, Prefetch, StreamAction, StreamEvent, StreamId, StreamNode, Transmit,
};
use backspin::time::Time;
use tracing::debug;

/// A tick that begins later than this is counted as late.
pub(crate) const LATE: Duration = Duration::from_millis(2);

/// Durations, counted in buckets: those that `/metrics` is scraped in, so that the page's quantiles and
/// Prometheus' come from the same counts. `load`, which nobody scrapes, has a finer one.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Histogram {
    /// How many were not above each of [`Histogram::BOUNDS`], but above the bound before; and how
    /// many were above all.
    pub(crate) counts: [u64; Histogram::BOUNDS.len() + 1],
    /// All of them together.
    pub(crate) sum: Duration,
}

impl Histogram {
    /// From what nobody notices to six ticks.
    pub(crate) const BOUNDS: [Duration; 12] = [
        Duration::from_micros(50),
        Duration::from_micros(100),
        Duration::from_micros(250),
        Duration::from_micros(500),
        Duration::from_millis(1),
        Duration::from_millis(2),
        Duration::from_millis(4),
        Duration::from_millis(8),
        Duration::from_millis(16),
        Duration::from_millis(33),
        Duration::from_millis(50),
        Duration::from_millis(100),
    ];

    /// Counts one.
    pub(crate) fn count_in(&mut self, value: Duration) {
        self.counts[Histogram::BOUNDS.partition_point(|bound| *bound < value)] += 1;
        self.sum += value;
    }

    /// How many there are.
    pub(crate) fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// What has come since `before`, an earlier state of the same histogram.
    pub(crate) fn since(&self, before: &Histogram) -> Histogram {
        let mut counts = self.counts;
        counts
            .iter_mut()
            .zip(before.counts)
            .for_each(|(now, then)| *now = now.saturating_sub(then));
        Histogram { counts, sum: self.sum.saturating_sub(before.sum) }
    }

    /// The value that a share of all does not exceed, as well as the buckets tell; `None` if there
    /// is none at all.
    pub(crate) fn quantile(&self, share: f64) -> Option<Duration> {
        let total = self.total();
        let rank = (share * total as f64).ceil().max(1.0);
        let (mut below, mut from) = (0, Duration::ZERO);
        for (count, bound) in self.counts.iter().zip(Histogram::BOUNDS) {
            if rank <= (below + count) as f64 {
                // Values are taken to lie evenly in their bucket, one of them in the middle.
                let part = (rank - 0.5 - below as f64) / *count as f64;
                return Some(from + (bound - from).mul_f64(part));
            }
            (below, from) = (below + count, bound);
        }
        (total > 0).then_some(from)
    }
}

/// What went through the sockets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Traffic {
    pub(crate) datagrams_in: u64,
    pub(crate) bytes_in: u64,
    pub(crate) datagrams_out: u64,
    pub(crate) bytes_out: u64,
}

/// How the ticks went. Rooms whose ticks fall together count as one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ticks {
    /// From when the worlds that are due are stepped until everyone in them has been sent theirs.
    pub(crate) work: Histogram,
    /// How long after their time they began.
    pub(crate) lateness: Histogram,
    /// Those that began later than [`LATE`].
    pub(crate) late: u64,
    /// Those of them that would not have if the machine had let the server run: another program had
    /// the processor, or another virtual machine.
    pub(crate) held_up: u64,
}

/// Counts for one loop.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    pub(crate) traffic: Traffic,
    pub(crate) ticks: Ticks,
    /// Log lines that were not read in time.
    pub(crate) log_dropped: u64,
    /// When the work on the tick of this turn began, and how late that was.
    begun: Option<(Instant, Duration)>,
}

/// Whether there was a tick in a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TurnKind {
    Tick,
    Idle,
}

impl Meter {
    /// A node that is measured while it is driven for a turn.
    pub(crate) fn on<'a, N>(&'a mut self, node: &'a mut N) -> Metered<'a, N> {
        Metered { meter: self, node }
    }

    /// Ends a turn: everything has been sent. The machine had held it up for so long when its tick
    /// began.
    pub(crate) fn end_turn(&mut self, held_up: Duration) -> TurnKind {
        let Some((begun, late)) = self.begun.take() else { return TurnKind::Idle };
        self.ticks.work.count_in(begun.elapsed());
        self.ticks.lateness.count_in(late);
        if late > LATE {
            self.ticks.late += 1;
            self.ticks.held_up += u64::from(late.saturating_sub(held_up) <= LATE);
            let ms = |span: Duration| 1e3 * span.as_secs_f64();
            debug!("a tick began {:.1} ms late, held up for {:.1} ms", ms(late), ms(held_up));
        }
        TurnKind::Tick
    }
}

/// A node, and what is counted as it is driven.
pub(crate) struct Metered<'a, N> {
    meter: &'a mut Meter,
    node: &'a mut N,
}

impl<N: Node> Node for Metered<'_, N> {
    fn handle_datagram(&mut self, now: Time, path: Path, bytes: &mut [u8]) {
        self.meter.traffic.datagrams_in += 1;
        self.meter.traffic.bytes_in += bytes.len() as u64;
        self.node.handle_datagram(now, path, bytes);
    }

    fn handle_timeout(&mut self, now: Time) {
        // A turn that does what is due bit by bit is one.
        if self.meter.begun.is_none()
            && let Some(due) = self.node.poll_timeout()
        {
            self.meter.begun = Some((Instant::now(), now.since(due)));
        }
        self.node.handle_timeout(now);
    }

    fn poll_transmit(&mut self, now: Time, out: &mut [u8]) -> Option<Transmit> {
        let transmit = self.node.poll_transmit(now, out)?;
        self.meter.traffic.datagrams_out += 1;
        self.meter.traffic.bytes_out += transmit.len as u64;
        Some(transmit)
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.node.poll_timeout()
    }

    fn prefetch(&self, coming: Prefetch<'_>, fetch: Fetch) {
        self.node.prefetch(coming, fetch);
    }
}

impl<N: StreamNode> StreamNode for Metered<'_, N> {
    fn accepts_streams(&self) -> bool {
        self.node.accepts_streams()
    }

    fn handle_stream(&mut self, now: Time, stream: StreamId, event: StreamEvent<'_>) {
        self.node.handle_stream(now, stream, event);
    }

    fn poll_stream(&mut self, now: Time, out: &mut [u8]) -> Option<(StreamId, StreamAction)> {
        self.node.poll_stream(now, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn us(micros: u64) -> Duration {
        Duration::from_micros(micros)
    }

    #[test]
    fn a_value_at_a_bound_is_below_it() {
        let mut histogram = Histogram::default();
        for micros in [0, 50, 51, 100_000, 100_001] {
            histogram.count_in(us(micros));
        }
        let last = Histogram::BOUNDS.len();
        assert_eq!(histogram.counts[..2], [2, 1]);
        assert_eq!(histogram.counts[last - 1..], [1, 1]);
        assert_eq!(histogram.total(), 5);
        assert_eq!(histogram.sum, us(200_102));
    }

    #[test]
    fn a_late_tick_is_the_machines_if_it_would_have_been_in_time_without_it() {
        let ms = Duration::from_millis;
        let mut meter = Meter::default();
        for (late, held_up) in [(2, 0), (9, 7), (9, 8), (9, 6), (3, 0)] {
            meter.begun = Some((Instant::now(), ms(late)));
            assert_eq!(meter.end_turn(ms(held_up)), TurnKind::Tick);
        }
        assert_eq!((meter.ticks.late, meter.ticks.held_up), (4, 2));
        assert_eq!(meter.ticks.lateness.total(), 5);
        assert_eq!(meter.end_turn(ms(0)), TurnKind::Idle);
    }

    #[test]
    fn quantiles_lie_in_the_bucket_of_their_value() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.quantile(0.5), None);
        (0..98).for_each(|_| histogram.count_in(us(70)));
        (0..2).for_each(|_| histogram.count_in(us(3_000)));
        let p50 = histogram.quantile(0.5).unwrap();
        assert!(p50 > us(50) && p50 <= us(100), "{p50:?}");
        let p99 = histogram.quantile(0.99).unwrap();
        assert!(p99 > us(2_000) && p99 <= us(4_000), "{p99:?}");
        // Above all bounds there is no more to say than that.
        let before = histogram.clone();
        histogram.count_in(Duration::from_secs(1));
        assert_eq!(histogram.since(&before).quantile(0.5), Some(us(100_000)));
    }
}
