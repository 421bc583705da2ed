//! The figures of a measured match, and how they stand to what they must reach.

use std::fmt;

use super::Digest;

/// What a run was like, and its digest. Prints as a table.
#[derive(Clone, Debug)]
pub struct Report {
    /// The same for the same seed, link and code.
    pub digest: Digest,
    /// The figures.
    pub quality: Quality,
    /// By how much snapshots moved the predicted own position.
    pub corrections: Corrections,
}

/// How far off predictions were, however little.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Corrections {
    /// Client ticks in which a snapshot moved the predicted own position at all.
    pub ticks: u64,
    /// The furthest, in the unit of x and y.
    pub furthest: f32,
}

/// The figures; `None` is "nothing to measure".
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Quality {
    /// From a press to the first frame that shows it.
    pub own_input_ms_p99: Option<f64>,
    /// Server ticks for which the player's own input of that tick was not there.
    pub ticks_without_input_pct: Option<f64>,
    /// How far the ahead clock is before the server's true clock.
    pub lead_ms_p50: Option<f64>,
    /// The same.
    pub lead_ms_p95: Option<f64>,
    /// From making an input to receiving a snapshot whose tick has applied it.
    pub ack_ms_p50: Option<f64>,
    /// The same.
    pub ack_ms_p99: Option<f64>,
    /// True server time, minus the time that the behind clock draws, minus the link's base delay.
    pub draw_delay_ms_p50: Option<f64>,
    /// The same.
    pub draw_delay_ms_p95: Option<f64>,
    /// Frames whose drawn time lies past the newest snapshot received.
    pub starved_frames_pct: Option<f64>,
    /// Client ticks in which a snapshot moved the predicted own position by more than 1 px.
    pub corrections_over_1px_pct: Option<f64>,
    /// Frames in which anything drawn moved more than 4 px beyond its own motion.
    pub visible_jump_pct: Option<f64>,
    /// Contacts that were drawn and judged otherwise, or the reverse.
    pub contact_disagreement_pct: Option<f64>,
    /// Contacts in all.
    pub contacts: u64,
    /// Seconds until the faults after a longer round trip have passed.
    pub recovery_s: Option<f64>,
    /// The slowest that the behind clock ran.
    pub playback_rate_min: Option<f64>,
    /// The fastest.
    pub playback_rate_max: Option<f64>,
    /// The client's estimate of the server's clock against the truth.
    pub clock_error_ms_p99: Option<f64>,
    /// Things on the screen.
    pub entities_mean: Option<f64>,
    /// UDP payload to each client.
    pub bytes_per_s_down: Option<f64>,
    /// UDP payload from each client.
    pub bytes_per_s_up: Option<f64>,
}

/// One line of the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// What.
    pub what: &'static str,
    /// The figure.
    pub value: Option<f64>,
    /// Its unit.
    pub unit: &'static str,
    /// What it must reach on the reference link, if anything.
    pub target: Option<Target>,
}

/// What a figure must reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// No more than this.
    AtMost(f64),
    /// No less than this.
    AtLeast(f64),
}

impl Row {
    /// Whether the figure reaches its target; without either there is nothing to fall short of.
    pub fn holds(&self) -> bool {
        match (self.value, self.target) {
            (Some(value), Some(Target::AtMost(most))) => value <= most,
            (Some(value), Some(Target::AtLeast(least))) => value >= least,
            _ => true,
        }
    }
}

impl Quality {
    /// The table of DESIGN.md: independent loss on the reference link.
    pub fn rows(&self) -> Vec<Row> {
        use Target::{AtLeast, AtMost};
        let row = |what, value, unit, target| Row { what, value, unit, target };
        vec![
            row("own input to own screen, p99", self.own_input_ms_p99, "ms", Some(AtMost(33.4))),
            row("server ticks without a real input", self.ticks_without_input_pct, "%", Some(AtMost(0.1))),
            row("client lead over the server, median", self.lead_ms_p50, "ms", Some(AtMost(105.0))),
            row("client lead over the server, p95", self.lead_ms_p95, "ms", None),
            row("input to acknowledgement, median", self.ack_ms_p50, "ms", Some(AtMost(168.0))),
            row("input to acknowledgement, p99", self.ack_ms_p99, "ms", Some(AtMost(195.0))),
            row("drawing delay of others, median", self.draw_delay_ms_p50, "ms", Some(AtMost(54.0))),
            row("drawing delay of others, p95", self.draw_delay_ms_p95, "ms", None),
            row("starved frames", self.starved_frames_pct, "%", Some(AtMost(0.3))),
            row("own position corrected by > 1 px", self.corrections_over_1px_pct, "%", Some(AtMost(0.05))),
            row("visible jumps", self.visible_jump_pct, "%", Some(AtMost(0.05))),
            row("contacts drawn otherwise than judged", self.contact_disagreement_pct, "%", Some(AtMost(1.0))),
            row("recovery after a longer round trip", self.recovery_s, "s", Some(AtMost(2.0))),
            row("playback rate, slowest", self.playback_rate_min, "", Some(AtLeast(0.95))),
            row("playback rate, fastest", self.playback_rate_max, "", Some(AtMost(1.05))),
            row("clock error, p99", self.clock_error_ms_p99, "ms", Some(AtMost(8.34))),
            row("things on the screen", self.entities_mean, "", None),
            row("bytes a second down", self.bytes_per_s_down, "B/s", None),
            row("bytes a second up", self.bytes_per_s_up, "B/s", Some(AtMost(2_000.0))),
        ]
    }
}

impl fmt::Display for Quality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<38} {:>13} {:>13}", "what", "measured", "target")?;
        for row in self.rows() {
            let digits = if row.unit == "%" || row.unit.is_empty() { 3 } else { 1 };
            let measured = row.value.map_or("-".to_owned(), |value| {
                format!("{value:.digits$} {}", row.unit).trim_end().to_owned()
            });
            let target = row.target.map_or(String::new(), |target| match target {
                Target::AtMost(most) => format!("<= {most} {}", row.unit).trim_end().to_owned(),
                Target::AtLeast(least) => format!(">= {least}"),
            });
            let verdict = if row.holds() { "" } else { "  short of it" };
            writeln!(f, "{:<38} {measured:>13} {target:>13}{verdict}", row.what)?;
        }
        Ok(())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\ndigest {}", self.quality, self.digest)
    }
}

pub(super) fn percentile(samples: &mut [f64], percent: usize) -> Option<f64> {
    samples.sort_unstable_by(f64::total_cmp);
    let last = samples.len().checked_sub(1)?;
    samples.get(last * percent / 100).copied()
}

pub(super) fn percent(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 * 100.0 / whole as f64)
}

pub(super) fn mean(samples: &[f64]) -> Option<f64> {
    (!samples.is_empty()).then(|| samples.iter().sum::<f64>() / samples.len() as f64)
}
