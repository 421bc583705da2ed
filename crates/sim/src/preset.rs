//! Links by name, for command lines and scenarios: each is a [`LinkConfig`] in a line.

use super::config::{Bandwidth, Jitter, LinkConfig, Loss, Reorder};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// A kind of network that players really have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Preset {
    /// One switch: 0.5 ms round trip, 0.2 ms jitter, nothing lost.
    Lan,
    /// Wireless at home, server nearby: 20 ms round trip, heavy-tailed jitter of 8 ms (spikes
    /// to 160), 0.5 % loss in bursts of 2.
    Wifi,
    /// A cable at home, server in the country: 30 ms round trip, normal jitter of 4 ms, 0.1 %
    /// loss, 20 Mbit/s.
    Broadband,
    /// What Backspin is measured on: 100 ms round trip, uniform jitter of 20 ms, 5 % loss each
    /// way, independent.
    Reference,
    /// A cable at home, server across the ocean: 90 ms round trip, normal jitter of 6 ms, 0.5 %
    /// loss in bursts of 2, 20 Mbit/s.
    Transatlantic,
    /// A phone on the move: 70 ms round trip, heavy-tailed jitter of 25 ms (spikes to 500),
    /// 1.5 % loss in bursts of 4, 0.5 % reordered, 5 Mbit/s.
    Mobile,
    /// Everything wrong at once: 250 ms round trip, heavy-tailed jitter of 60 ms (spikes to
    /// 1,200), 15 % loss in bursts of 4, 2 % duplicated, 5 % reordered, 0.5 % corrupted,
    /// 512 kbit/s.
    Awful,
}

impl Preset {
    /// Every preset, from the kindest to the cruellest.
    pub const ALL: [Preset; 7] = [
        Preset::Lan,
        Preset::Wifi,
        Preset::Broadband,
        Preset::Reference,
        Preset::Transatlantic,
        Preset::Mobile,
        Preset::Awful,
    ];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Preset::Lan => "lan",
            Preset::Wifi => "wifi",
            Preset::Broadband => "broadband",
            Preset::Reference => "reference",
            Preset::Transatlantic => "transatlantic",
            Preset::Mobile => "mobile",
            Preset::Awful => "awful",
        }
    }

    /// The faults of each direction.
    pub const fn config(self) -> LinkConfig {
        const PERFECT: LinkConfig = LinkConfig::PERFECT;
        match self {
            Preset::Lan => LinkConfig {
                delay: Duration::from_micros(250),
                jitter: Jitter::uniform(Duration::from_micros(200)),
                ..PERFECT
            },
            Preset::Wifi => LinkConfig {
                delay: Duration::from_millis(10),
                jitter: Jitter::heavy_tailed(Duration::from_millis(8)),
                loss: Loss::bursts(0.005, 2.0),
                ..PERFECT
            },
            Preset::Broadband => LinkConfig {
                delay: Duration::from_millis(15),
                jitter: Jitter::normal(Duration::from_millis(4)),
                loss: Loss::independent(0.001),
                bandwidth: Some(Bandwidth { bits_per_s: 20_000_000, queue_bytes: 256_000 }),
                ..PERFECT
            },
            Preset::Reference => LinkConfig {
                delay: Duration::from_millis(50),
                jitter: Jitter::uniform(Duration::from_millis(20)),
                loss: Loss::independent(0.05),
                ..PERFECT
            },
            Preset::Transatlantic => LinkConfig {
                delay: Duration::from_millis(45),
                jitter: Jitter::normal(Duration::from_millis(6)),
                loss: Loss::bursts(0.005, 2.0),
                bandwidth: Some(Bandwidth { bits_per_s: 20_000_000, queue_bytes: 256_000 }),
                ..PERFECT
            },
            Preset::Mobile => LinkConfig {
                delay: Duration::from_millis(35),
                jitter: Jitter::heavy_tailed(Duration::from_millis(25)),
                loss: Loss::bursts(0.015, 4.0),
                reorder: Reorder::often(0.005),
                bandwidth: Some(Bandwidth { bits_per_s: 5_000_000, queue_bytes: 128_000 }),
                ..PERFECT
            },
            Preset::Awful => LinkConfig {
                delay: Duration::from_millis(125),
                jitter: Jitter::heavy_tailed(Duration::from_millis(60)),
                loss: Loss::bursts(0.15, 4.0),
                duplicate_probability: 0.02,
                reorder: Reorder::often(0.05),
                corrupt_probability: 0.005,
                bandwidth: Some(Bandwidth { bits_per_s: 512_000, queue_bytes: 32_000 }),
            },
        }
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Preset {
    type Err = UnknownPreset;

    fn from_str(name: &str) -> Result<Self, UnknownPreset> {
        Preset::ALL.into_iter().find(|preset| preset.name() == name).ok_or(UnknownPreset)
    }
}

/// No preset has this name.
#[derive(Clone, Copy, Debug, thiserror::Error, PartialEq, Eq)]
#[error("no link has this name: choose one of {}", Preset::ALL.map(Preset::name).join(", "))]
pub struct UnknownPreset;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_found_by_its_name_and_can_be_done() {
        for preset in Preset::ALL {
            assert_eq!(preset.name().parse(), Ok(preset));
            assert_eq!(preset.to_string(), preset.name());
            assert_eq!(preset.config().check(), Ok(()), "{preset}");
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_known_ones() {
        let error = "dialup".parse::<Preset>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "no link has this name: choose one of lan, wifi, broadband, reference, \
             transatlantic, mobile, awful"
        );
    }

    #[test]
    fn reference_is_what_the_design_measures_on() {
        let expected = LinkConfig {
            jitter: Jitter::uniform(Duration::from_millis(20)),
            loss: Loss { probability: 0.05, burst_len: 1.0 },
            ..LinkConfig::PERFECT
        };
        let config = Preset::Reference.config();
        assert_eq!(config, expected.with_rtt(Duration::from_millis(100)));
    }
}
