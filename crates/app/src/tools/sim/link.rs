//! The options that describe a link.

use std::fmt;
use std::time::Duration;

use backspin_sim::{Bandwidth, Change, Jitter, LinkConfig, Loss, Preset, Reorder, Setup, Shape};
use serde::Serialize;

use crate::games::command::named;

/// A named link, and what is to be different about it.
#[derive(clap::Args)]
pub(crate) struct LinkArgs {
    /// A named link: lan, wifi, broadband, reference, transatlantic, mobile or awful
    #[arg(long, value_name = "NAME")]
    preset: Option<Preset>,

    /// The round trip time, half of it each way
    #[arg(long, value_name = "MS", value_parser = parse_ms)]
    rtt_ms: Option<Duration>,

    /// How much later a datagram may arrive; --jitter-shape says how often
    #[arg(long, value_name = "MS", value_parser = parse_ms)]
    jitter_ms: Option<Duration>,

    /// The distribution of the jitter
    ///
    /// uniform: from 0 to MS, all equally likely. normal: around half of MS, at most twice MS. heavy: mostly small,
    /// with rare spikes to 20 times MS.
    #[arg(long, value_name = "SHAPE", value_parser = named(SHAPES, shape_name))]
    jitter_shape: Option<Shape>,

    /// Share of datagrams lost, each way
    #[arg(long, value_name = "PCT")]
    loss: Option<f64>,

    /// How many are lost in a row, on average; 1 is independent loss
    #[arg(long, value_name = "LEN")]
    burst: Option<f64>,

    /// Share of datagrams that arrive twice
    #[arg(long, value_name = "PCT")]
    duplicate: Option<f64>,

    /// Share of datagrams held back until later ones have passed
    #[arg(long, value_name = "PCT")]
    reorder: Option<f64>,

    /// Share of datagrams that arrive with a flipped bit
    #[arg(long, value_name = "PCT")]
    corrupt: Option<f64>,

    /// The bandwidth of the narrowest part of the path, each way
    #[arg(long, value_name = "KBIT")]
    bandwidth_kbit: Option<u32>,
}

/// What waits before a narrow part, at most, where a preset says nothing else.
const QUEUE_BYTES: u64 = 128_000;

/// A link as shown to people and programs.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct LinkWords {
    rtt_ms: f64,
    jitter_ms: f64,
    jitter_shape: &'static str,
    loss_pct: f64,
    burst: f64,
    duplicate_pct: f64,
    reorder_pct: f64,
    corrupt_pct: f64,
    bandwidth_bits_per_s: Option<u64>,
    rtt_step_ms: f64,
    change: Option<String>,
}

/// A number of milliseconds, also a broken one.
pub(crate) fn parse_ms(text: &str) -> Result<Duration, String> {
    let ms: f64 = text.parse().map_err(|_| "give a number of milliseconds".to_owned())?;
    Duration::try_from_secs_f64(ms / 1e3)
        .map_err(|_| "give 0 ms or more, and less than a year".to_owned())
}

impl LinkArgs {
    /// What the link does; it may be impossible. Without a preset the changes are made to `base`.
    pub(crate) fn config(&self, base: LinkConfig) -> LinkConfig {
        let mut link = self.preset.map_or(base, Preset::config);
        if let Some(rtt) = self.rtt_ms {
            link = link.with_rtt(rtt);
        }
        if let Some(span) = self.jitter_ms {
            link.jitter = Jitter { span, ..link.jitter };
        }
        if let Some(shape) = self.jitter_shape {
            link.jitter = Jitter { shape, ..link.jitter };
        }
        let share = |percent: f64| percent / 100.0;
        if let Some(percent) = self.loss {
            link.loss = Loss { probability: share(percent), ..link.loss };
        }
        if let Some(burst_len) = self.burst {
            link.loss = Loss { burst_len, ..link.loss };
        }
        if let Some(percent) = self.duplicate {
            link.duplicate_probability = share(percent);
        }
        if let Some(percent) = self.reorder {
            link.reorder = Reorder::often(share(percent));
        }
        if let Some(percent) = self.corrupt {
            link.corrupt_probability = share(percent);
        }
        if let Some(kbit) = self.bandwidth_kbit {
            let queue_bytes = link.bandwidth.map_or(QUEUE_BYTES, |limit| limit.queue_bytes);
            link.bandwidth = Some(Bandwidth { bits_per_s: 1_000 * u64::from(kbit), queue_bytes });
        }
        link
    }
}

const SHAPES: [Shape; 3] = [Shape::Uniform, Shape::Normal, Shape::HeavyTailed];

/// A shape on the command line and in JSON.
fn shape_name(shape: Shape) -> &'static str {
    match shape {
        Shape::Uniform => "uniform",
        Shape::Normal => "normal",
        Shape::HeavyTailed => "heavy",
    }
}

impl LinkWords {
    /// The link of a match, and how it changes on the way.
    pub(crate) fn new(setup: &Setup) -> Self {
        let words = LinkWords::of(&setup.link);
        let rtt_step_ms = match setup.change {
            Some(Change::Step(ms)) => f64::from(ms),
            _ => 0.0,
        };
        LinkWords { rtt_step_ms, change: setup.change.map(|it| it.to_string()), ..words }
    }

    /// A link whose round trip grows by `step` on the way.
    pub(crate) fn stepped(link: &LinkConfig, step: Duration) -> Self {
        let rtt_step_ms = tidy(step.as_secs_f64() * 1e3);
        let change = (rtt_step_ms > 0.0).then(|| format!("{rtt_step_ms} ms more from halfway on"));
        LinkWords { rtt_step_ms, change, ..LinkWords::of(link) }
    }

    /// A link that does not change.
    pub(crate) fn of(link: &LinkConfig) -> Self {
        let ms = |span: Duration| tidy(span.as_secs_f64() * 1e3);
        let percent = |share: f64| tidy(share * 100.0);
        LinkWords {
            rtt_ms: ms(link.delay * 2),
            jitter_ms: ms(link.jitter.span),
            jitter_shape: shape_name(link.jitter.shape),
            loss_pct: percent(link.loss.probability),
            burst: link.loss.burst_len,
            duplicate_pct: percent(link.duplicate_probability),
            reorder_pct: percent(link.reorder.probability),
            corrupt_pct: percent(link.corrupt_probability),
            bandwidth_bits_per_s: link.bandwidth.map(|bandwidth| bandwidth.bits_per_s),
            rtt_step_ms: 0.0,
            change: None,
        }
    }
}

impl fmt::Display for LinkWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ms round trip, {} ms jitter", self.rtt_ms, self.jitter_ms)?;
        match self.jitter_shape {
            "normal" => f.write_str(" (normal)")?,
            "heavy" => f.write_str(" (heavy-tailed)")?,
            _ => {}
        }
        write!(f, ", {} % loss", self.loss_pct)?;
        if self.burst > 1.0 {
            write!(f, " in bursts of {}", self.burst)?;
        }
        let more = [
            (self.duplicate_pct, "doubled"),
            (self.reorder_pct, "reordered"),
            (self.corrupt_pct, "corrupted"),
        ];
        for (percent, what) in more.into_iter().filter(|(percent, _)| *percent > 0.0) {
            write!(f, ", {percent} % {what}")?;
        }
        if let Some(bits) = self.bandwidth_bits_per_s {
            write!(f, ", {} Mbit/s", bits as f64 / 1e6)?;
        }
        self.change.as_ref().map_or(Ok(()), |change| write!(f, ", {change}"))
    }
}

/// Without what binary fractions add at the end.
fn tidy(number: f64) -> f64 {
    (number * 1e9).round() / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_told_in_the_words_it_was_asked_for() {
        let mut setup = Setup::default();
        let words = |setup: &Setup| LinkWords::new(setup).to_string();
        assert_eq!(words(&setup), "100 ms round trip, 20 ms jitter, 5 % loss");
        setup.link = Preset::Awful.config();
        setup.change = Some(Change::Step(50));
        assert_eq!(
            words(&setup),
            "250 ms round trip, 60 ms jitter (heavy-tailed), 15 % loss in bursts of 4, \
             2 % doubled, 5 % reordered, 0.5 % corrupted, 0.512 Mbit/s, \
             50 ms more from the middle on"
        );
    }

    #[test]
    fn broken_milliseconds_are_understood_and_impossible_ones_refused() {
        assert_eq!(parse_ms("0.5"), Ok(Duration::from_micros(500)));
        for text in ["-1", "nan", "inf", "1e300", "five", ""] {
            assert!(parse_ms(text).is_err(), "{text}");
        }
    }
}
