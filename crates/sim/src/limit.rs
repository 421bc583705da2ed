//! What a link allows: the faults that are left if lead and drawing delay were chosen by somebody
//! who knew the link.
//!
//! Whatever the clocks do, a datagram that is lost or late is. What helps is that each input rides
//! in every datagram until it is acknowledged, and that every snapshot has the newest state: an
//! input is missed only if no copy comes in time. How likely that is follows from the link's own
//! distribution, jitter, bursts and tails included, and from how long is waited: a curve over the
//! lead, and one over the drawing delay. [`target`](super::target) holds measured figures against
//! them.
//!
//! Not looked at: a queue before a narrow part of the path, which a game's few bytes never fill.

use super::config::{LinkConfig, Shape};

/// No further copies count: beyond, the chance is nil on every link that can be played on.
const COPIES: u32 = 240;

/// Frames fall anywhere between two snapshots; so many places are looked at.
const PHASES: u32 = 64;

/// A link and how often something is sent over it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    link: LinkConfig,
    interval_ms: f64,
}

impl Limit {
    /// The limits of `link` for a game of `tick_rate` ticks a second, with an input and a snapshot
    /// in each.
    pub fn of(link: &LinkConfig, tick_rate: f64) -> Self {
        Limit { link: *link, interval_ms: 1_000.0 / tick_rate }
    }

    /// Which percentage of inputs cannot be there for their tick if they are made `lead_ms` before
    /// it: all datagrams that could bring one in time were lost or late.
    pub fn missed_inputs_pct(&self, lead_ms: f64) -> f64 {
        100.0 * self.none_within(lead_ms - ms(self.link.delay))
    }

    /// Which percentage of frames has nothing to draw towards if others are drawn `delay_ms` and
    /// the link's base delay behind the server.
    pub fn starved_frames_pct(&self, delay_ms: f64) -> f64 {
        let sum: f64 = (0..PHASES)
            .map(|phase| (f64::from(phase) + 0.5) / f64::from(PHASES) * self.interval_ms)
            .map(|until_next_ms| self.none_within(delay_ms - until_next_ms))
            .sum();
        100.0 * sum / f64::from(PHASES)
    }

    /// How long after the base delay the first of all snapshots from some tick on has come, with
    /// this chance: 0.5 is the median.
    pub fn first_snapshot_ms(&self, chance: f64) -> f64 {
        let (mut least, mut most) = (0.0, f64::from(COPIES) * self.interval_ms);
        for _ in 0..48 {
            let middle = f64::midpoint(least, most);
            if self.none_within(middle) > 1.0 - chance { least = middle } else { most = middle }
        }
        most
    }

    /// The chance that of datagrams sent every interval, the first `wait_ms` before the end, none
    /// has come by then; the base delay is not counted.
    fn none_within(&self, wait_ms: f64) -> f64 {
        let loss = self.link.loss;
        let share = loss.probability;
        let is_bursty = loss.burst_len > 1.0 && share > 0.0 && share < 1.0;
        let end = if is_bursty { 1.0 / loss.burst_len } else { 1.0 - share };
        let begin = if is_bursty { end * share / (1.0 - share) } else { share };
        // The chance that nothing has come, and that the link is clear or in a burst.
        let (mut clear, mut burst) = (1.0 - share, share);
        for copy in 0..COPIES {
            let wait_ms = wait_ms - f64::from(copy) * self.interval_ms;
            if wait_ms < 0.0 {
                break;
            }
            if copy > 0 {
                (clear, burst) =
                    (clear * (1.0 - begin) + burst * end, clear * begin + burst * (1.0 - end));
            }
            clear *= self.late(wait_ms);
        }
        clear + burst
    }

    /// The chance that a datagram that is not lost is of no use within so long.
    fn late(&self, wait_ms: f64) -> f64 {
        let LinkConfig { reorder, duplicate_probability: twice, corrupt_probability, .. } =
            self.link;
        let plain = self.beyond(wait_ms);
        let held = self.beyond(wait_ms - ms(reorder.hold));
        let late = plain + reorder.probability * (held - plain);
        let late = late * (1.0 - twice + twice * plain);
        corrupt_probability + (1.0 - corrupt_probability) * late
    }

    /// The chance that jitter adds more than this.
    fn beyond(&self, extra_ms: f64) -> f64 {
        let jitter = self.link.jitter;
        let (span_ms, max_ms) = (ms(jitter.span), ms(jitter.max()));
        if extra_ms < 0.0 {
            return 1.0;
        }
        if extra_ms >= max_ms {
            return 0.0;
        }
        let share = extra_ms / span_ms;
        match jitter.shape {
            Shape::Uniform => 1.0 - share,
            Shape::Normal => 1.0 - sum_of_twelve_below((share - 0.5) / 0.25),
            Shape::HeavyTailed => (1.0 + 2.0 * share).powi(-2),
        }
    }
}

fn ms(span: std::time::Duration) -> f64 {
    span.as_secs_f64() * 1e3
}

/// The chance that twelve uniform numbers less their mean, which pass for normal in the simulator,
/// come to less than this (Irwin and Hall).
fn sum_of_twelve_below(deviations: f64) -> f64 {
    if deviations > 0.0 {
        // The terms cancel each other badly in the upper half.
        return 1.0 - sum_of_twelve_below(-deviations);
    }
    let sum = (deviations + 6.0).max(0.0);
    let (mut chance, mut choose) = (0.0, 1.0);
    for k in 0..=12 {
        let rest = sum - f64::from(k);
        if rest <= 0.0 {
            break;
        }
        let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
        chance += sign * choose * rest.powi(12);
        choose *= f64::from(12 - k) / f64::from(k + 1);
    }
    const TWELVE_FACTORIAL: f64 = 479_001_600.0;
    chance / TWELVE_FACTORIAL
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{Chance, Jitter, Link, Loss, Preset, Reorder};
    use backspin::time::Time;

    fn limit(link: LinkConfig) -> Limit {
        Limit::of(&link, 60.0)
    }

    #[test]
    fn the_reference_link_trades_lead_for_inputs_and_delay_for_frames_as_the_design_says() {
        let limit = limit(Preset::Reference.config());
        for (lead_ms, pct) in [(87.0, 0.20), (95.0, 0.11), (100.0, 0.05), (103.0, 0.014)] {
            let missed = limit.missed_inputs_pct(lead_ms);
            assert!((missed / pct - 1.0).abs() < 0.05, "{lead_ms} ms: {missed} %");
        }
        for (delay_ms, pct) in [(45.0, 0.7), (50.0, 0.23), (53.0, 0.12)] {
            let starved = limit.starved_frames_pct(delay_ms);
            assert!((starved / pct - 1.0).abs() < 0.05, "{delay_ms} ms: {starved} %");
        }
    }

    #[test]
    fn without_faults_half_the_round_trip_and_an_interval_are_enough() {
        let clean = LinkConfig::PERFECT.with_rtt(Duration::from_millis(100));
        assert_eq!(limit(clean).missed_inputs_pct(50.0), 0.0);
        assert_eq!(limit(clean).missed_inputs_pct(49.9), 100.0);
        assert_eq!(limit(clean).starved_frames_pct(16.7), 0.0);
        assert!((limit(clean).starved_frames_pct(8.333) - 50.0).abs() < 1.0);
        assert!(limit(clean).first_snapshot_ms(0.99) < 0.001);
    }

    /// How often none of the copies sent over a simulated link comes within so long.
    fn simulated(link: LinkConfig, wait_ms: f64) -> f64 {
        let (mut sim, runs) = (Link::new(link, Chance::new(5, 0)), 400_000u64);
        let interval = Duration::from_nanos(16_666_667);
        let mut arrivals: Vec<Option<Duration>> = Vec::new();
        for number in 0..runs {
            let now = Time::ZERO + interval * number as u32;
            let mut bytes = [0x55; 8];
            let times = sim.send(now, &mut bytes);
            let first = times.times().first().filter(|_| bytes == [0x55; 8]);
            arrivals.push(first.map(|at| at.since(now).saturating_sub(link.delay)));
        }
        let copies = (wait_ms / 16.666_667) as usize + 1;
        let wait = |copy: usize| wait_ms - copy as f64 * 16.666_667;
        let missed = arrivals.windows(copies).filter(|window| {
            let in_time = |(copy, at): (usize, &Option<Duration>)| {
                at.is_some_and(|at| at.as_secs_f64() * 1e3 <= wait(copy))
            };
            !window.iter().enumerate().any(in_time)
        });
        missed.count() as f64 / (arrivals.len() - copies + 1) as f64
    }

    #[test]
    fn a_simulated_link_fares_as_computed_also_in_bursts_and_tails() {
        let reference = Preset::Reference.config();
        let in_bursts = LinkConfig { loss: Loss::bursts(0.1, 3.0), ..reference };
        let mut held = reference;
        held.reorder = Reorder::often(0.2);
        held.duplicate_probability = 0.3;
        held.corrupt_probability = 0.1;
        let wifi = Preset::Wifi.config();
        let normal = LinkConfig { jitter: Jitter::normal(Duration::from_millis(20)), ..reference };
        let mobile = LinkConfig { bandwidth: None, ..Preset::Mobile.config() };
        for link in [reference, in_bursts, held, wifi, normal, mobile] {
            for wait_ms in [5.0, 15.0, 30.0] {
                let (known, seen) = (limit(link).none_within(wait_ms), simulated(link, wait_ms));
                let slack = 0.05 * known + 0.000_5;
                assert!((known - seen).abs() < slack, "{link:?} {wait_ms}: {known} {seen}");
            }
        }
    }

    #[test]
    fn the_sum_of_twelve_is_nearly_normal() {
        for (deviations, below) in [(-2.0, 0.0228), (-1.0, 0.1587), (0.0, 0.5), (1.0, 0.8413)] {
            let chance = sum_of_twelve_below(deviations);
            assert!((chance - below).abs() < 0.003, "{deviations}: {chance}");
        }
        assert_eq!(sum_of_twelve_below(-6.0), 0.0);
        assert_eq!(sum_of_twelve_below(7.0), 1.0);
    }
}
