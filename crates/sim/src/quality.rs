//! The figures of a measured match, and how they stand to what they must reach.

use std::fmt;
use std::ops::AddAssign;

use super::Digest;
use super::clumps::Clumps;
use super::kinds::{ContactKinds, KindRow};
use super::law::Bar;
use super::target::{FIGURES, Figure, Verdict, remark};

/// What a run was like, and its digest. Prints as a table.
#[derive(Clone, Debug)]
pub struct Report {
    /// The same for the same seed, link and code.
    pub digest: Digest,
    /// The figures.
    pub quality: Quality,
    /// What they were counted from.
    pub tally: Tally,
    /// What they are held against.
    pub bar: Bar,
    /// By how much snapshots moved the predicted own position.
    pub corrections: Corrections,
    /// What met, by kind.
    pub kinds: ContactKinds,
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
    /// In how many frames something that ends with its contact, a shot, is drawn from the contact
    /// on. 1 is that of the contact itself.
    pub past_target_frames_p99: Option<f64>,
    /// How far it is drawn on after the frame of the contact, in the unit of x and y.
    pub past_target_px_p99: Option<f64>,
    /// From a drawn contact that is the end of its target until that is gone from the screen.
    pub contact_to_burst_ms_p50: Option<f64>,
    /// Seconds until the faults after a longer round trip have passed.
    pub recovery_s: Option<f64>,
    /// The same until the lead is within 25 ms of where it stays.
    pub lead_back_s: Option<f64>,
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

/// What the figures were counted from, so that many runs can be taken together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Server ticks, each player's counted.
    pub ticks: u64,
    /// Those without the player's real input.
    pub ticks_without_input: Clumps,
    /// Frames drawn.
    pub frames: u64,
    /// Those past the newest snapshot.
    pub starved_frames: Clumps,
    /// Those in which something jumped.
    pub jumped_frames: Clumps,
    /// Things drawn, summed over all frames.
    pub drawn: u64,
    /// States that the clients took.
    pub states: u64,
    /// Inputs made: client ticks.
    pub inputs: u64,
    /// Those in which the own position was corrected.
    pub corrected: Clumps,
    /// Inputs acknowledged.
    pub acks: u64,
    /// Those that took longer than 99 % may.
    pub late_acks: Clumps,
    /// Contacts that were drawn, judged or both.
    pub contacts: u64,
    /// Those that were drawn and judged otherwise.
    pub contacts_disagreed: u64,
    /// UDP payload to all clients.
    pub bytes_down: u64,
    /// UDP payload from all clients.
    pub bytes_up: u64,
    /// Seconds measured, each player's counted.
    pub player_seconds: u64,
}

impl Tally {
    /// The figures that are counts over counts; the others stay as they are in `quality`.
    #[must_use]
    pub fn fill(&self, quality: Quality) -> Quality {
        Quality {
            ticks_without_input_pct: percent(self.ticks_without_input.count(), self.ticks),
            starved_frames_pct: percent(self.starved_frames.count(), self.frames),
            corrections_over_1px_pct: percent(self.corrected.count(), self.inputs),
            visible_jump_pct: percent(self.jumped_frames.count(), self.frames),
            contact_disagreement_pct: percent(self.contacts_disagreed, self.contacts),
            contacts: self.contacts,
            entities_mean: ratio(self.drawn, self.frames),
            bytes_per_s_down: ratio(self.bytes_down, self.player_seconds),
            bytes_per_s_up: ratio(self.bytes_up, self.player_seconds),
            ..quality
        }
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.ticks += other.ticks;
        self.ticks_without_input += other.ticks_without_input;
        self.frames += other.frames;
        self.starved_frames += other.starved_frames;
        self.jumped_frames += other.jumped_frames;
        self.drawn += other.drawn;
        self.states += other.states;
        self.inputs += other.inputs;
        self.corrected += other.corrected;
        self.acks += other.acks;
        self.late_acks += other.late_acks;
        self.contacts += other.contacts;
        self.contacts_disagreed += other.contacts_disagreed;
        self.bytes_down += other.bytes_down;
        self.bytes_up += other.bytes_up;
        self.player_seconds += other.player_seconds;
    }
}

/// One line of a table of figures.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    figure: &'static Figure,
    quality: &'a Quality,
    bar: Bar,
}

impl Quality {
    /// The figures held against `bar`, line by line; [`Report::HEADING`] stands above them.
    pub fn rows(&self, bar: Bar) -> impl Iterator<Item = Row<'_>> {
        FIGURES.iter().map(move |figure| Row { figure, quality: self, bar })
    }
}

impl Report {
    /// What stands above the rows.
    pub const HEADING: &'static str =
        "what                                        measured        target";

    /// The table, line by line.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.quality.rows(self.bar)
    }

    /// The contacts by kind, line by line; [`ContactKinds::HEADING`] stands above them.
    pub fn kind_rows(&self) -> impl Iterator<Item = KindRow> {
        self.kinds.rows(self.bar, self.quality)
    }
}

impl Row<'_> {
    /// How the figure stands to its target.
    pub fn verdict(&self) -> Verdict {
        self.figure.judge(self.bar, self.quality)
    }

    /// The figure and what it must reach, in a few words.
    pub fn summary(&self) -> String {
        let Row { figure, quality, bar } = self;
        let (cell, target) = (figure.cell(figure.of(quality)), figure.target_cell(*bar, quality));
        match target.as_str() {
            "" => format!("{}: {cell}", figure.what),
            target => format!("{}: {cell} ({target})", figure.what),
        }
    }
}

/// `{:#}` leaves out what the link allows, and fits 80 columns.
impl fmt::Display for Row<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Row { figure, quality, bar } = self;
        let (cell, target) = (figure.cell(figure.of(quality)), figure.target_cell(*bar, quality));
        let note = if f.alternate() { String::new() } else { figure.note(*bar, quality) };
        let remark = remark(self.verdict(), &note);
        let line = format!("{:<38} {cell:>13} {target:>13}{remark}", figure.what);
        f.write_str(line.trim_end())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", Report::HEADING)?;
        self.rows().try_for_each(|row| writeln!(f, "{row}"))?;
        if !self.kinds.is_empty() {
            writeln!(f, "\n{}", ContactKinds::HEADING)?;
            self.kind_rows().try_for_each(|row| writeln!(f, "{row}"))?;
        }
        write!(f, "\ndigest {}", self.digest)
    }
}

pub(super) fn percentile(samples: &mut [f64], percent: usize) -> Option<f64> {
    samples.sort_unstable_by(f64::total_cmp);
    let last = samples.len().checked_sub(1)?;
    samples.get(last * percent / 100).copied()
}

fn percent(part: u64, whole: u64) -> Option<f64> {
    ratio(part, whole).map(|share| share * 100.0)
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_follow_from_their_counts_and_nothing_counted_is_no_figure() {
        let tally = Tally {
            ticks: 200,
            ticks_without_input: 1.into(),
            frames: 400,
            starved_frames: 2.into(),
            jumped_frames: 4.into(),
            drawn: 800,
            states: 300,
            inputs: 1_000,
            corrected: 3.into(),
            acks: 900,
            late_acks: 9.into(),
            contacts: 8,
            contacts_disagreed: 2,
            bytes_down: 3_000,
            bytes_up: 5_000,
            player_seconds: 2,
        };
        let lead_ms_p50 = Some(101.0);
        let quality = tally.fill(Quality { lead_ms_p50, ..Quality::default() });
        let expected = Quality {
            lead_ms_p50,
            ticks_without_input_pct: Some(0.5),
            starved_frames_pct: Some(0.5),
            corrections_over_1px_pct: Some(0.3),
            visible_jump_pct: Some(1.0),
            contact_disagreement_pct: Some(25.0),
            contacts: 8,
            entities_mean: Some(2.0),
            bytes_per_s_down: Some(1_500.0),
            bytes_per_s_up: Some(2_500.0),
            ..Quality::default()
        };
        assert_eq!(quality, expected);
        assert_eq!(Tally::default().fill(Quality::default()), Quality::default());
        let mut twice = tally;
        twice += tally;
        assert_eq!(twice.fill(quality), Quality { contacts: 16, ..expected });
    }
}
