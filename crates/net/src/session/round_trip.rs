//! How far away a peer is: the samples of [`super::Pinger`], and of timestamps that snapshots
//! echo, become a mean, a jitter and a grade.
//!
//! All in whole nanoseconds, so that every platform gets the same figures from the same samples.

use std::fmt;
use std::time::Duration;

/// The share of a new sample in the moving averages is one in this many: alpha is 0.2.
const SMOOTHING: i64 = 5;

/// A sample further from the mean than so many deviations is an outlier.
const OUTLIER_DEVIATIONS: i128 = 3;

/// Before so many samples the deviation means too little to call anything an outlier.
const SETTLED_SAMPLES: u64 = 8;

/// The smallest deviation that is believed. A steady line would otherwise call its first
/// millisecond of unrest an outlier, and every one after it.
const DEVIATION_FLOOR: Duration = Duration::from_millis(1);

/// The path has changed when so many of the [`Recent`] samples were outliers: five in a row, or
/// every other one for a while.
const FOLLOWED_OUTLIERS: u32 = 5;

/// The last sixteen verdicts, the newest in bit 0, an outlier as 1.
type Recent = u16;

/// No sample counts as longer: it keeps the arithmetic far from its limits.
const LONGEST: Duration = Duration::from_secs(60);

/// The round trip to one peer.
#[derive(Clone, Debug, Default)]
pub struct RoundTrip {
    estimate: Option<Estimate>,
    latest: Option<Duration>,
    range: Option<(Duration, Duration)>,
    sum_ns: u128,
    samples: u64,
    outliers: u64,
    recent: Recent,
}

/// What became of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sample {
    /// It is in the averages.
    Taken,
    /// It lay too far off: counted, and left out of the averages.
    Outlier,
}

impl RoundTrip {
    /// Takes a measured round trip.
    ///
    /// One beyond three deviations is left out, unless there have been so many of late that it is
    /// the path that changed: then the estimate starts again from it.
    pub fn sample(&mut self, rtt: Duration) -> Sample {
        let rtt = rtt.min(LONGEST);
        self.latest = Some(rtt);
        let (min, max) = self.range.unwrap_or((rtt, rtt));
        self.range = Some((min.min(rtt), max.max(rtt)));

        let ns = rtt.as_nanos() as i64;
        let is_outlier = self.estimate.is_some_and(|estimate| estimate.is_outlier(ns));
        self.recent = self.recent << 1 | Recent::from(is_outlier);
        if is_outlier && self.recent.count_ones() < FOLLOWED_OUTLIERS {
            self.outliers += 1;
            return Sample::Outlier;
        }
        match &mut self.estimate {
            Some(estimate) if !is_outlier => estimate.add(ns),
            start => {
                *start = Some(Estimate::new(ns));
                self.recent = 0;
            }
        }
        self.samples += 1;
        self.sum_ns += rtt.as_nanos();
        Sample::Taken
    }

    /// The moving average, with alpha 0.2: where the round trip is now. The first sample sets it.
    ///
    /// It follows within a few samples, and so it scatters: by a third of the samples' own
    /// deviation. [`RoundTrip::average`] does not.
    pub fn mean(&self) -> Option<Duration> {
        self.estimate.map(|estimate| span(estimate.mean_ns))
    }

    /// The plain mean of all samples taken since the beginning.
    pub fn average(&self) -> Option<Duration> {
        let ns = self.sum_ns.checked_div(self.samples.into())?;
        Some(Duration::from_nanos(ns as u64))
    }

    /// The last sample, also if it is an outlier.
    pub fn latest(&self) -> Option<Duration> {
        self.latest
    }

    /// The shortest sample since the beginning, outliers included.
    pub fn min(&self) -> Option<Duration> {
        self.range.map(|(min, _)| min)
    }

    /// The longest sample since the beginning, outliers included.
    pub fn max(&self) -> Option<Duration> {
        self.range.map(|(_, max)| max)
    }

    /// The shortest, the [`average`](RoundTrip::average), and the longest.
    pub fn range(&self) -> Option<[Duration; 3]> {
        Some([self.min()?, self.average()?, self.max()?])
    }

    /// How far samples lie from the mean, on average and smoothed as it is. It takes two.
    pub fn jitter(&self) -> Option<Duration> {
        self.estimate?.spread.map(|spread| span(spread.absolute_ns))
    }

    /// What the mean is worth to a player.
    pub fn grade(&self) -> Option<Grade> {
        self.mean().map(Grade::of)
    }

    /// How many samples were taken into the averages.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// How many samples were left out.
    pub fn outliers(&self) -> u64 {
        self.outliers
    }
}

/// What a round trip is worth to a player. The best is the smallest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Grade {
    /// Less than 50 ms.
    Excellent,
    /// Less than 100 ms.
    Good,
    /// Less than 200 ms.
    Fair,
    /// 200 ms or more.
    Poor,
}

impl Grade {
    /// The grade of this round trip.
    pub const fn of(rtt: Duration) -> Self {
        match rtt.as_millis() {
            0..50 => Grade::Excellent,
            50..100 => Grade::Good,
            100..200 => Grade::Fair,
            _ => Grade::Poor,
        }
    }
}

impl fmt::Display for Grade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Grade::Excellent => "Excellent",
            Grade::Good => "Good",
            Grade::Fair => "Fair",
            Grade::Poor => "Poor",
        })
    }
}

/// What is known since the path last changed.
#[derive(Clone, Copy, Debug)]
struct Estimate {
    mean_ns: i64,
    /// From the second sample on.
    spread: Option<Spread>,
    samples: u64,
}

/// How samples scatter around the mean, smoothed like it.
#[derive(Clone, Copy, Debug)]
struct Spread {
    absolute_ns: i64,
    /// The square of the deviation. Whether something lies beyond three of it needs no root.
    square_ns2: i128,
}

impl Estimate {
    fn new(ns: i64) -> Self {
        Estimate { mean_ns: ns, spread: None, samples: 1 }
    }

    fn is_outlier(&self, ns: i64) -> bool {
        const FLOOR_NS2: i128 = (DEVIATION_FLOOR.as_nanos() * DEVIATION_FLOOR.as_nanos()) as i128;
        let Some(spread) = self.spread.filter(|_| self.samples >= SETTLED_SAMPLES) else {
            return false;
        };
        let deviation = i128::from(ns - self.mean_ns);
        let limit = OUTLIER_DEVIATIONS * OUTLIER_DEVIATIONS * spread.square_ns2.max(FLOOR_NS2);
        deviation * deviation > limit
    }

    fn add(&mut self, ns: i64) {
        let deviation = ns - self.mean_ns;
        let square_ns2 = i128::from(deviation) * i128::from(deviation);
        let spread = self.spread.get_or_insert(Spread { absolute_ns: deviation.abs(), square_ns2 });
        spread.absolute_ns += (deviation.abs() - spread.absolute_ns) / SMOOTHING;
        spread.square_ns2 += (square_ns2 - spread.square_ns2) / i128::from(SMOOTHING);
        self.mean_ns += deviation / SMOOTHING;
        self.samples += 1;
    }
}

/// Averages of what is not negative are not negative.
fn span(ns: i64) -> Duration {
    Duration::from_nanos(ns.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::Chance;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn after(samples: impl IntoIterator<Item = Duration>) -> RoundTrip {
        let mut round_trip = RoundTrip::default();
        samples.into_iter().for_each(|rtt| {
            round_trip.sample(rtt);
        });
        round_trip
    }

    /// Round trips of 50 ms and 0 to 20 ms more each way.
    fn jittery(seed: u64) -> impl Iterator<Item = Duration> {
        let mut chance = Chance::new(seed, 0);
        std::iter::repeat_with(move || {
            ms(50) + Duration::from_nanos(chance.below(20_000_001) + chance.below(20_000_001))
        })
    }

    fn off_by(a: Duration, b: Duration) -> Duration {
        a.abs_diff(b)
    }

    #[test]
    fn nothing_is_known_before_the_first_sample_which_sets_the_mean() {
        let mut round_trip = RoundTrip::default();
        assert_eq!((round_trip.mean(), round_trip.min(), round_trip.max()), (None, None, None));
        assert_eq!((round_trip.average(), round_trip.jitter()), (None, None));
        assert_eq!(round_trip.grade(), None);

        assert_eq!(round_trip.sample(ms(70)), Sample::Taken);
        assert_eq!(round_trip.mean(), Some(ms(70)));
        assert_eq!(round_trip.average(), Some(ms(70)));
        assert_eq!((round_trip.min(), round_trip.max()), (Some(ms(70)), Some(ms(70))));
        assert_eq!(round_trip.jitter(), None);
    }

    #[test]
    fn the_mean_moves_a_fifth_of_the_way() {
        let mut round_trip = after([ms(100)]);
        round_trip.sample(ms(150));
        assert_eq!(round_trip.mean(), Some(ms(110)));
        assert_eq!(round_trip.jitter(), Some(ms(50)));
        round_trip.sample(ms(60));
        assert_eq!(round_trip.mean(), Some(ms(100)));
        assert_eq!(round_trip.jitter(), Some(ms(50)));
        round_trip.sample(ms(100));
        assert_eq!(round_trip.mean(), Some(ms(100)));
        assert_eq!(round_trip.jitter(), Some(ms(40)));
        assert_eq!((round_trip.min(), round_trip.max()), (Some(ms(60)), Some(ms(150))));
        assert_eq!(round_trip.average(), Some(Duration::from_micros(102_500)));
    }

    #[test]
    fn grades_change_at_50_100_and_200_ms() {
        let grades = [
            (49, Grade::Excellent),
            (50, Grade::Good),
            (99, Grade::Good),
            (100, Grade::Fair),
            (199, Grade::Fair),
            (200, Grade::Poor),
            (800, Grade::Poor),
        ];
        for (rtt, grade) in grades {
            assert_eq!(after([ms(rtt)]).grade(), Some(grade), "{rtt} ms");
        }
        assert_eq!(format!("{:>9}|{}", Grade::Fair, Grade::Excellent), "     Fair|Excellent");
        assert!(Grade::Excellent < Grade::Poor);
    }

    #[test]
    fn a_constant_link_is_measured_exactly_and_rejects_nothing() {
        let round_trip = after([ms(50); 1000]);
        assert_eq!(round_trip.mean(), Some(ms(50)));
        assert_eq!(round_trip.jitter(), Some(Duration::ZERO));
        assert_eq!((round_trip.samples(), round_trip.outliers()), (1000, 0));
    }

    #[test]
    fn a_constant_link_takes_a_milliseconds_rounding() {
        let mut round_trip = after([ms(50); 100]);
        for rtt in [ms(49), ms(51), ms(50), ms(52), ms(53)] {
            assert_eq!(round_trip.sample(rtt), Sample::Taken);
        }
        assert!(off_by(round_trip.mean().unwrap(), ms(50)) <= ms(1));
    }

    #[test]
    fn a_spike_is_counted_and_left_out_of_the_averages_only() {
        let mut round_trip = after(jittery(1).take(100));
        let before = (round_trip.mean(), round_trip.average(), round_trip.jitter());
        let outliers = round_trip.outliers();
        assert_eq!(round_trip.sample(ms(900)), Sample::Outlier);
        assert_eq!((round_trip.mean(), round_trip.average(), round_trip.jitter()), before);
        assert_eq!(round_trip.outliers(), outliers + 1);
        assert_eq!(round_trip.max(), Some(ms(900)));
    }

    #[test]
    fn nothing_is_rejected_before_eight_samples() {
        let mut round_trip = after([ms(50); 7]);
        assert_eq!(round_trip.clone().sample(ms(900)), Sample::Taken);
        round_trip.sample(ms(50));
        assert_eq!(round_trip.sample(ms(900)), Sample::Outlier);
    }

    #[test]
    fn a_path_that_changed_is_followed_with_the_fifth_outlier_in_a_row() {
        for changed in [ms(20), ms(100)] {
            let mut round_trip = after([ms(50); 100]);
            for _ in 0..4 {
                assert_eq!(round_trip.sample(changed), Sample::Outlier);
                assert_eq!(round_trip.mean(), Some(ms(50)));
            }
            assert_eq!(round_trip.sample(changed), Sample::Taken);
            assert_eq!(round_trip.mean(), Some(changed));
            assert_eq!(round_trip.outliers(), 4);
        }
    }

    #[test]
    fn a_path_that_became_restless_is_followed_too() {
        let mut round_trip = after([ms(50); 100]);
        let restless = (0..60).map(|index| if index % 2 == 0 { ms(50) } else { ms(150) });
        restless.for_each(|rtt| {
            round_trip.sample(rtt);
        });
        assert!(off_by(round_trip.mean().unwrap(), ms(100)) <= ms(12), "{round_trip:?}");
        assert!(off_by(round_trip.jitter().unwrap(), ms(50)) <= ms(12), "{round_trip:?}");
        assert_eq!(round_trip.outliers(), 4);
    }

    #[test]
    fn rare_spikes_are_never_followed() {
        let calm = (0..10_000).map(|index| if index % 20 == 19 { ms(400) } else { ms(50) });
        let round_trip = after(calm);
        assert_eq!(round_trip.outliers(), 500);
        assert_eq!(round_trip.mean(), Some(ms(50)));
    }

    #[test]
    fn over_jitter_the_average_is_within_2_ms_and_the_mean_scatters_by_less_than_3() {
        const SEEDS: u64 = 200;
        let (mut square, mut outliers, mut samples) = (0.0, 0, 0);
        for seed in 0..SEEDS {
            let round_trip = after(jittery(seed).take(600));
            let average = round_trip.average().unwrap();
            assert!(off_by(average, ms(70)) <= ms(2), "seed {seed}: {average:?}");
            let jitter = round_trip.jitter().unwrap();
            assert!((ms(2)..ms(14)).contains(&jitter), "seed {seed}: {jitter:?}");
            let error_ms = off_by(round_trip.mean().unwrap(), ms(70)).as_secs_f64() * 1e3;
            square += error_ms * error_ms;
            outliers += round_trip.outliers();
            samples += round_trip.samples();
        }
        let scatter_ms = (square / SEEDS as f64).sqrt();
        println!("scatter {scatter_ms} ms, {outliers} outliers in {samples}");
        assert!(scatter_ms < 3.0, "{scatter_ms}");
        // What is only jitter is hardly ever taken for an outlier.
        assert!(outliers * 50 < samples, "{outliers} of {samples}");
    }

    #[test]
    fn absurd_samples_overflow_nothing() {
        let round_trip = after([Duration::MAX, Duration::ZERO].repeat(50));
        assert_eq!(round_trip.max(), Some(LONGEST));
        assert_eq!(round_trip.min(), Some(Duration::ZERO));
        assert_eq!(round_trip.grade(), Some(Grade::Poor));
    }
}
