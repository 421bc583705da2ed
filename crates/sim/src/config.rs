//! What one direction of a network path does to datagrams, as plain data.
//!
//! A person's numbers become a [`LinkConfig`] and are checked here; `preset` has named ones;
//! `link` carries them out.

use super::{Chance, Fault};
use std::fmt;
use std::time::Duration;
use thiserror::Error;

/// The faults of one direction. Start from [`LinkConfig::PERFECT`] and change what is wrong.
///
/// Probabilities are shares of datagrams from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkConfig {
    /// The least time from sending to arriving.
    pub delay: Duration,
    /// What each datagram takes longer than that.
    pub jitter: Jitter,
    /// How many datagrams vanish, and how they cluster.
    pub loss: Loss,
    /// How many arrive twice, the copy with jitter of its own.
    pub duplicate_probability: f64,
    /// How many are held back, beyond what jitter reorders anyway.
    pub reorder: Reorder,
    /// How many arrive with one bit flipped.
    pub corrupt_probability: f64,
    /// The narrowest part of the path, if it matters.
    pub bandwidth: Option<Bandwidth>,
}

/// A delay that differs for every datagram; no order is kept, so it reorders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jitter {
    /// The size; what it means is the shape's matter.
    pub span: Duration,
    /// How the extra delays spread.
    pub shape: Shape,
}

/// How jitter of span `J` spreads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Anything from 0 to `J`, all equally likely; mean `J / 2`.
    Uniform,
    /// Around `J / 2` with deviation `J / 4`, cut off at 0, never beyond `2 J`; mean 0.502 `J`.
    Normal,
    /// Mostly small with rare spikes: half the datagrams below `J / 5`, one in nine above `J`,
    /// one in a hundred above `4.5 J`, never beyond `20 J`; mean 0.488 `J`.
    HeavyTailed,
}

/// Which share of datagrams vanishes, and how many in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss {
    /// The share lost in the long run.
    pub probability: f64,
    /// How many datagrams in a row a burst takes, on average. Exactly 1 means no bursts:
    /// each datagram is lost or not by itself.
    pub burst_len: f64,
}

/// Extra reordering.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reorder {
    /// The share of datagrams held back.
    pub probability: f64,
    /// For how long; whatever is sent meanwhile may overtake.
    pub hold: Duration,
}

/// A limit on the rate, with a queue before it.
///
/// Bytes are UDP payload, as everywhere in Backspin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bandwidth {
    /// How fast the queue drains.
    pub bits_per_s: u64,
    /// How many bytes may wait, the one being sent included; what does not fit is dropped.
    pub queue_bytes: u64,
}

impl LinkConfig {
    /// Delivers everything at once.
    pub const PERFECT: LinkConfig = LinkConfig {
        delay: Duration::ZERO,
        jitter: Jitter::NONE,
        loss: Loss::NONE,
        duplicate_probability: 0.0,
        reorder: Reorder::NONE,
        corrupt_probability: 0.0,
        bandwidth: None,
    };

    /// The longest delay, jitter span or hold.
    pub const DELAY_LIMIT: Duration = Duration::from_secs(60);

    /// The longest mean burst, in datagrams.
    pub const BURST_LIMIT: f64 = 100_000.0;

    /// The smallest queue: one Ethernet frame's worth, or full datagrams would never pass.
    pub const QUEUE_BYTES_MIN: u64 = 1_500;

    /// The same faults with half of the round trip `rtt` as the delay.
    pub fn with_rtt(self, rtt: Duration) -> Self {
        LinkConfig { delay: rtt / 2, ..self }
    }

    /// Whether a link can do this; the error is a sentence for whoever chose the numbers.
    pub fn check(&self) -> Result<(), LinkError> {
        check_share(Fault::Lost, self.loss.probability)?;
        check_share(Fault::Duplicated, self.duplicate_probability)?;
        check_share(Fault::Reordered, self.reorder.probability)?;
        check_share(Fault::Corrupted, self.corrupt_probability)?;
        check_span(Span::Delay, self.delay)?;
        check_span(Span::Jitter, self.jitter.span)?;
        check_span(Span::Hold, self.reorder.hold)?;
        self.loss.check()?;
        if self.reorder.probability > 0.0 && self.reorder.hold.is_zero() {
            return Err(LinkError::NoHold);
        }
        match self.bandwidth {
            Some(Bandwidth { bits_per_s: 0, .. }) => Err(LinkError::NoBandwidth),
            Some(Bandwidth { queue_bytes, .. }) if queue_bytes < Self::QUEUE_BYTES_MIN => {
                Err(LinkError::QueueTooShort { queue_bytes })
            }
            _ => Ok(()),
        }
    }
}

impl Default for LinkConfig {
    fn default() -> Self {
        Self::PERFECT
    }
}

impl Jitter {
    /// Every datagram takes equally long.
    pub const NONE: Jitter = Jitter::uniform(Duration::ZERO);

    /// Jitter of the shape [`Shape::Uniform`].
    pub const fn uniform(span: Duration) -> Self {
        Jitter { span, shape: Shape::Uniform }
    }

    /// Jitter of the shape [`Shape::Normal`].
    pub const fn normal(span: Duration) -> Self {
        Jitter { span, shape: Shape::Normal }
    }

    /// Jitter of the shape [`Shape::HeavyTailed`].
    pub const fn heavy_tailed(span: Duration) -> Self {
        Jitter { span, shape: Shape::HeavyTailed }
    }

    /// No extra delay is longer.
    pub fn max(self) -> Duration {
        match self.shape {
            Shape::Uniform => self.span,
            Shape::Normal => self.span * 2,
            Shape::HeavyTailed => self.span * 20,
        }
    }

    /// The extra delay of one datagram.
    pub(super) fn draw(self, chance: &mut Chance) -> Duration {
        let span_ns = self.span.as_nanos() as u64;
        if span_ns == 0 {
            return Duration::ZERO;
        }
        let extra_ns = match self.shape {
            Shape::Uniform => chance.below(span_ns + 1),
            Shape::Normal => (span_ns as f64 * (0.5 + 0.25 * chance.normal())).max(0.0) as u64,
            Shape::HeavyTailed => (span_ns as f64 * 0.5 * chance.heavy_tailed()) as u64,
        };
        Duration::from_nanos(extra_ns).min(self.max())
    }
}

impl Loss {
    /// Nothing is lost.
    pub const NONE: Loss = Loss::independent(0.0);

    /// Each datagram is lost or not by itself.
    pub const fn independent(probability: f64) -> Self {
        Loss { probability, burst_len: 1.0 }
    }

    /// Losses come in bursts of `burst_len` datagrams on average.
    pub const fn bursts(probability: f64, burst_len: f64) -> Self {
        Loss { probability, burst_len }
    }

    fn check(self) -> Result<(), LinkError> {
        let Loss { probability, burst_len } = self;
        if !(1.0..=LinkConfig::BURST_LIMIT).contains(&burst_len) {
            return Err(LinkError::BurstOutOfRange { burst_len });
        }
        // At least one datagram must get through between two bursts. A link that loses
        // everything is one endless burst, whatever its length is said to be. The slack lets
        // a burst of 9 pass for 90 %, where the quotient comes out a few bits above 9.
        let shortest = probability / (1.0 - probability) - 1e-9;
        if burst_len > 1.0 && probability < 1.0 && burst_len < shortest {
            return Err(LinkError::BurstTooShort { burst_len, shortest });
        }
        Ok(())
    }
}

impl Reorder {
    /// Nothing is held back.
    pub const NONE: Reorder = Reorder { probability: 0.0, hold: Duration::ZERO };

    /// This share of datagrams is held back for 50 ms: three others overtake it at 60 a second.
    pub const fn often(probability: f64) -> Self {
        Reorder { probability, hold: Duration::from_millis(50) }
    }
}

/// Why a link cannot do what a [`LinkConfig`] says.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, Error, PartialEq)]
pub enum LinkError {
    /// A probability is not between 0 and 1.
    #[error("{} % of datagrams cannot be {fault}: choose from 0 to 100 %", tidy(probability * 100.0))]
    NotAShare { fault: Fault, probability: f64 },
    /// A duration is beyond [`LinkConfig::DELAY_LIMIT`].
    #[error(
        "a {span} of {} s is too long for a link: choose at most {} s",
        tidy(length.as_secs_f64()),
        LinkConfig::DELAY_LIMIT.as_secs()
    )]
    TooLong { span: Span, length: Duration },
    /// The mean burst is below 1 or beyond [`LinkConfig::BURST_LIMIT`].
    #[error(
        "losses cannot come in bursts of {} datagrams: choose from 1 (no bursts) to {}",
        tidy(*burst_len),
        LinkConfig::BURST_LIMIT
    )]
    BurstOutOfRange { burst_len: f64 },
    /// So much loss cannot come in bursts so short; `shortest` is the shortest mean burst that gives it.
    #[error(
        "bursts of {} datagrams cannot add up to this much loss: choose a burst of at least {}, or 1 for \
         independent loss",
        tidy(*burst_len),
        tidy((shortest * 1_000.0).ceil() / 1_000.0)
    )]
    BurstTooShort { burst_len: f64, shortest: f64 },
    /// Datagrams are to be reordered by holding them back for no time.
    #[error("reordered datagrams must be held back for some time: choose a hold above 0 ms")]
    NoHold,
    /// The bandwidth is 0.
    #[error("a bandwidth of 0 bits/s delivers nothing: choose at least 1, or no limit")]
    NoBandwidth,
    /// The queue is below [`LinkConfig::QUEUE_BYTES_MIN`].
    #[error(
        "a queue of {queue_bytes} bytes does not hold a full datagram: choose at least {}",
        LinkConfig::QUEUE_BYTES_MIN
    )]
    QueueTooShort { queue_bytes: u64 },
}

/// A duration in a [`LinkConfig`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// [`LinkConfig::delay`].
    Delay,
    /// [`Jitter::span`].
    Jitter,
    /// [`Reorder::hold`].
    Hold,
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Span::Delay => "delay",
            Span::Jitter => "jitter",
            Span::Hold => "reordering hold",
        })
    }
}

fn check_share(fault: Fault, probability: f64) -> Result<(), LinkError> {
    // Written so that NaN is refused too.
    if (0.0..=1.0).contains(&probability) {
        Ok(())
    } else {
        Err(LinkError::NotAShare { fault, probability })
    }
}

fn check_span(span: Span, length: Duration) -> Result<(), LinkError> {
    if length <= LinkConfig::DELAY_LIMIT {
        Ok(())
    } else {
        Err(LinkError::TooLong { span, length })
    }
}

/// To three decimals, so that 1.3 * 100 reads as 130 and not as 130.00000000000003.
fn tidy(number: f64) -> f64 {
    (number * 1_000.0).round() / 1_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERFECT: LinkConfig = LinkConfig::PERFECT;

    fn sentence(config: LinkConfig) -> String {
        config.check().expect_err("this link should be refused").to_string()
    }

    /// The average extra delay that a shape promises.
    fn mean_of(jitter: Jitter) -> Duration {
        match jitter.shape {
            Shape::Uniform => jitter.span / 2,
            // Cutting off at 0 lifts the mean a little above a half.
            Shape::Normal => jitter.span.mul_f64(0.501_948),
            // A tail of mean `J / 2`, cut off at 40 times that: 40 / 41 of it remain.
            Shape::HeavyTailed => jitter.span * 20 / 41,
        }
    }

    #[test]
    fn numbers_at_their_limits_are_taken() {
        let limit = LinkConfig::DELAY_LIMIT;
        let config = LinkConfig {
            delay: limit,
            jitter: Jitter::heavy_tailed(limit),
            loss: Loss::bursts(1.0, LinkConfig::BURST_LIMIT),
            duplicate_probability: 1.0,
            reorder: Reorder { probability: 1.0, hold: limit },
            corrupt_probability: 1.0,
            bandwidth: Some(Bandwidth { bits_per_s: 1, queue_bytes: 1_500 }),
        };
        assert_eq!(config.check(), Ok(()));
        assert_eq!(PERFECT.check(), Ok(()));
        assert_eq!(LinkConfig::default(), PERFECT);
    }

    #[test]
    fn a_share_outside_0_to_100_percent_is_refused_in_words() {
        let loss = |p| LinkConfig { loss: Loss::independent(p), ..PERFECT };
        assert_eq!(
            sentence(loss(1.3)),
            "130 % of datagrams cannot be lost: choose from 0 to 100 %"
        );
        assert!(loss(-0.001).check().is_err());
        assert!(loss(f64::NAN).check().is_err());
        let twice = LinkConfig { duplicate_probability: 1.01, ..PERFECT };
        assert!(sentence(twice).starts_with("101 % of datagrams cannot be duplicated"));
        let held = LinkConfig { reorder: Reorder::often(2.0), ..PERFECT };
        assert!(sentence(held).contains("cannot be reordered"));
        let flipped = LinkConfig { corrupt_probability: 2.0, ..PERFECT };
        assert!(sentence(flipped).contains("cannot be corrupted"));
    }

    #[test]
    fn a_span_past_the_limit_is_refused_in_words() {
        let long = Duration::from_millis(60_001);
        assert_eq!(
            sentence(LinkConfig { delay: long, ..PERFECT }),
            "a delay of 60.001 s is too long for a link: choose at most 60 s"
        );
        let jitter = LinkConfig { jitter: Jitter::normal(long), ..PERFECT };
        assert!(sentence(jitter).starts_with("a jitter of"));
        let held = LinkConfig { reorder: Reorder { probability: 0.1, hold: long }, ..PERFECT };
        assert!(sentence(held).starts_with("a reordering hold of"));
    }

    #[test]
    fn bursts_that_no_chain_can_give_are_refused_in_words() {
        let bursts = |p, len| LinkConfig { loss: Loss::bursts(p, len), ..PERFECT };
        assert_eq!(
            sentence(bursts(0.05, 0.5)),
            "losses cannot come in bursts of 0.5 datagrams: choose from 1 (no bursts) to 100000"
        );
        assert!(bursts(0.05, f64::NAN).check().is_err());
        assert!(bursts(0.05, 100_000.5).check().is_err());
        assert_eq!(
            sentence(bursts(0.9, 3.0)),
            "bursts of 3 datagrams cannot add up to this much loss: choose a burst of at least \
             9, or 1 for independent loss"
        );
        assert_eq!(bursts(0.9, 9.0).check(), Ok(()), "exactly one datagram between bursts");
        assert!(bursts(0.9, 8.999).check().is_err());
        assert_eq!(bursts(0.9, 1.0).check(), Ok(()), "independent loss has no such limit");
    }

    #[test]
    fn what_would_do_nothing_or_deliver_nothing_is_refused_in_words() {
        let reorder = Reorder { probability: 0.1, hold: Duration::ZERO };
        assert!(sentence(LinkConfig { reorder, ..PERFECT }).contains("choose a hold above 0"));
        let narrow = |bits_per_s, queue_bytes| LinkConfig {
            bandwidth: Some(Bandwidth { bits_per_s, queue_bytes }),
            ..PERFECT
        };
        assert!(sentence(narrow(0, 1_500)).contains("choose at least 1, or no limit"));
        assert_eq!(
            sentence(narrow(1, 1_499)),
            "a queue of 1499 bytes does not hold a full datagram: choose at least 1500"
        );
    }

    #[test]
    fn jitter_keeps_its_stated_mean_and_bounds() {
        let span = Duration::from_millis(20);
        for jitter in [Jitter::uniform(span), Jitter::normal(span), Jitter::heavy_tailed(span)] {
            let mut chance = Chance::new(1, 0);
            let draws: Vec<Duration> = (0..40_000).map(|_| jitter.draw(&mut chance)).collect();
            let mean = draws.iter().sum::<Duration>() / draws.len() as u32;
            let error = mean.abs_diff(mean_of(jitter));
            assert!(error < Duration::from_micros(200), "{jitter:?}: {mean:?}");
            assert!(draws.iter().all(|&draw| draw <= jitter.max()), "{jitter:?}");
        }
    }

    #[test]
    fn the_shapes_spread_as_they_say() {
        let span = Duration::from_millis(20);
        let share_above = |jitter: Jitter, limit: Duration| {
            let mut chance = Chance::new(2, 0);
            (0..20_000).filter(|_| jitter.draw(&mut chance) > limit).count() as f64 / 20_000.0
        };
        let near = |share: f64, claim: f64| (share - claim).abs() < 0.01;
        let uniform = Jitter::uniform(span);
        assert!(near(share_above(uniform, span / 4), 0.75));
        assert!(near(share_above(uniform, span * 3 / 4), 0.25));
        let normal = Jitter::normal(span);
        assert!(near(share_above(normal, Duration::ZERO), 0.977));
        assert!(near(share_above(normal, span * 3 / 4), 0.159));
        let heavy = Jitter::heavy_tailed(span);
        assert!(near(share_above(heavy, span / 5), 0.51));
        assert!(near(share_above(heavy, span), 1.0 / 9.0));
        assert!((share_above(heavy, span * 9 / 2) - 0.01).abs() < 0.003);
        let spikes = share_above(heavy, span * 20 - Duration::from_nanos(1));
        assert!(spikes > 0.0 && spikes < 0.002, "some reach the bound, few: {spikes}");
    }
}
