//! What the figures of a measured match must reach, and where: DESIGN.md's table as data.
//!
//! `quality` and `pool` below it hold their figures against this and print the outcome.

use std::fmt;

use super::{Quality, Setup};

/// What a figure must reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// No more than this.
    AtMost(f64),
    /// No less than this.
    AtLeast(f64),
}

/// Which targets a run is held against: they were set for certain links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bar {
    /// 100 ms round trip, 20 ms jitter, 5 % independent loss.
    Reference,
    /// The same with the losses in bursts.
    ReferenceInBursts,
    /// 100 ms round trip and nothing wrong: no fault at all.
    Clean,
    /// Any other link, and one that changes in mid-run: what holds wherever one plays.
    Anywhere,
}

/// How a figure of many seeds is held against its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// All seeds together.
    Pooled,
    /// The median of the seeds, and the worst seed at most [`WORST_SEED`] times the target.
    Median,
    /// Every seed.
    Worst,
}

/// How the figures stand to a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// There is no figure, or no target here.
    Unjudged,
    /// It is reached.
    Reached,
    /// It is not.
    Short,
}

/// The worst seed may take so many times what the median may.
pub const WORST_SEED: f64 = 1.2;

/// One line of the table: what is measured, and what it must reach where.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    /// What, for people.
    pub what: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// How many seeds are judged.
    pub rule: Rule,
    value: fn(&Quality) -> Option<f64>,
    reference: Option<Target>,
    in_bursts: Option<Target>,
    clean: Option<Target>,
    anywhere: Option<Target>,
    /// Where the target depends on the match, not on the link alone.
    by_match: fn(&Quality) -> Option<Target>,
}

impl Target {
    /// Whether `value` reaches it.
    pub fn holds(self, value: f64) -> bool {
        match self {
            Target::AtMost(most) => value <= most,
            Target::AtLeast(least) => value >= least,
        }
    }

    /// The same for the worst of many seeds.
    fn widened(self) -> Target {
        match self {
            Target::AtMost(most) => Target::AtMost(most * WORST_SEED),
            Target::AtLeast(least) => Target::AtLeast(least / WORST_SEED),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::AtMost(most) => write!(f, "<= {most}"),
            Target::AtLeast(least) => write!(f, ">= {least}"),
        }
    }
}

impl Bar {
    /// The bar for a run.
    pub fn of(setup: &Setup) -> Bar {
        let (link, reference) = (setup.link, super::Preset::Reference.config());
        let clean = super::LinkConfig { delay: reference.delay, ..super::LinkConfig::PERFECT };
        let mut in_bursts = reference;
        in_bursts.loss.burst_len = link.loss.burst_len;
        match link {
            _ if !setup.rtt_step.is_zero() => Bar::Anywhere,
            link if link == reference => Bar::Reference,
            link if link == in_bursts && link.loss.burst_len <= 3.0 => Bar::ReferenceInBursts,
            link if link == clean => Bar::Clean,
            _ => Bar::Anywhere,
        }
    }
}

impl Bar {
    /// How many contacts of each kind may be drawn otherwise than judged, in percent.
    pub const fn contacts(self) -> Option<Target> {
        match self {
            Bar::Reference | Bar::ReferenceInBursts => Some(Target::AtMost(1.0)),
            Bar::Clean => Some(Target::AtMost(0.0)),
            Bar::Anywhere => None,
        }
    }
}

impl Figure {
    const fn new(
        what: &'static str,
        unit: &'static str,
        rule: Rule,
        value: fn(&Quality) -> Option<f64>,
    ) -> Figure {
        let (reference, in_bursts, clean, anywhere) = (None, None, None, None);
        let by_match = |_: &Quality| None;
        Figure { what, unit, rule, value, reference, in_bursts, clean, anywhere, by_match }
    }

    const fn anywhere(self, target: Target) -> Figure {
        let target = Some(target);
        Figure { anywhere: target, ..self }.independent(target).in_bursts(target).clean(target)
    }

    const fn independent(self, reference: Option<Target>) -> Figure {
        Figure { reference, ..self }
    }

    const fn in_bursts(self, in_bursts: Option<Target>) -> Figure {
        Figure { in_bursts, ..self }
    }

    const fn clean(self, clean: Option<Target>) -> Figure {
        Figure { clean, ..self }
    }

    /// On the reference link with independent losses, with bursts, and with none.
    const fn at_most(self, independent: f64, in_bursts: f64, clean: f64) -> Figure {
        let most = Target::AtMost;
        let (independent, in_bursts) = (Some(most(independent)), Some(most(in_bursts)));
        self.independent(independent).in_bursts(in_bursts).clean(Some(most(clean)))
    }

    /// The figure.
    pub fn of(&self, quality: &Quality) -> Option<f64> {
        (self.value)(quality)
    }

    /// What it must reach there, in a match like that.
    pub fn target(&self, bar: Bar, quality: &Quality) -> Option<Target> {
        let by_match = (self.by_match)(quality);
        match bar {
            Bar::Reference => self.reference.or(by_match),
            Bar::ReferenceInBursts => self.in_bursts.or(by_match),
            Bar::Clean => self.clean.or(by_match),
            Bar::Anywhere => self.anywhere,
        }
    }

    /// Why a figure that has a target with independent losses has none here.
    pub fn note(&self, bar: Bar) -> &'static str {
        match bar {
            Bar::ReferenceInBursts if self.reference.is_some() && self.in_bursts.is_none() => {
                "judged on independent loss only"
            }
            _ => "",
        }
    }

    /// One run's verdict.
    pub fn judge(&self, bar: Bar, quality: &Quality) -> Verdict {
        self.decide(bar, quality, Target::holds)
    }

    /// The verdict of many seeds, by the figure's [`Rule`].
    pub fn judge_seeds(
        &self,
        bar: Bar,
        pooled: &Quality,
        median: &Quality,
        worst: &Quality,
    ) -> Verdict {
        match self.rule {
            Rule::Pooled => self.judge(bar, pooled),
            Rule::Worst => self.judge(bar, worst),
            Rule::Median => match self.judge(bar, median) {
                Verdict::Reached => {
                    self.decide(bar, worst, |target, value| target.widened().holds(value))
                }
                verdict => verdict,
            },
        }
    }

    fn decide(&self, bar: Bar, quality: &Quality, holds: impl Fn(Target, f64) -> bool) -> Verdict {
        match (self.target(bar, quality), self.of(quality)) {
            (Some(target), Some(value)) if holds(target, value) => Verdict::Reached,
            (Some(_), Some(_)) => Verdict::Short,
            _ => Verdict::Unjudged,
        }
    }

    /// A figure of this kind, for people.
    pub(super) fn cell(&self, value: Option<f64>) -> String {
        let digits = match self.unit {
            "%" | "x" => 3,
            "B/s" => 0,
            "" if value.is_none_or(|value| value.fract() == 0.0) => 0,
            "s" | "" => 2,
            _ => 1,
        };
        let cell = value.map(|value| format!("{value:.digits$} {}", self.unit));
        cell.map_or("-".to_owned(), |cell| cell.trim_end().to_owned())
    }

    /// Its target, for people.
    pub(super) fn target_cell(&self, bar: Bar, quality: &Quality) -> String {
        let cell = self.target(bar, quality).map(|target| format!("{target} {}", self.unit));
        cell.unwrap_or_default().trim_end().to_owned()
    }
}

/// What it may cost to send what is on the screen: 64 moving things and the players, as in R-Type.
/// What a smaller game may cost is the game's own to say.
const fn down_budget(quality: &Quality) -> Option<Target> {
    match quality.entities_mean {
        Some(60.0..=70.0) => Some(Target::AtMost(12_000.0)),
        _ => None,
    }
}

/// What stands behind a line of the table.
pub(super) fn remark(verdict: Verdict, note: &str) -> String {
    match (verdict, note) {
        (Verdict::Reached, _) => "  ok".to_owned(),
        (Verdict::Short, _) => "  short of it".to_owned(),
        (Verdict::Unjudged, "") => String::new(),
        (Verdict::Unjudged, note) => format!("  {note}"),
    }
}

/// The table, line by line.
pub const FIGURES: [Figure; 23] = {
    use Rule::{Median, Pooled, Worst};
    use Target::{AtLeast, AtMost};
    let own_input =
        Figure::new("own input to own screen, p99", "ms", Median, |q| q.own_input_ms_p99);
    let missing = Figure::new("server ticks without a real input", "%", Pooled, |q| {
        q.ticks_without_input_pct
    });
    let lead = Figure::new("client lead over the server, median", "ms", Median, |q| q.lead_ms_p50);
    let lead_p95 = Figure::new("client lead over the server, p95", "ms", Median, |q| q.lead_ms_p95);
    let ack = Figure::new("input to acknowledgement, median", "ms", Median, |q| q.ack_ms_p50);
    let ack_p99 = Figure::new("input to acknowledgement, p99", "ms", Median, |q| q.ack_ms_p99);
    let delay =
        Figure::new("drawing delay of others, median", "ms", Median, |q| q.draw_delay_ms_p50);
    let delay_p95 =
        Figure::new("drawing delay of others, p95", "ms", Median, |q| q.draw_delay_ms_p95);
    let starved = Figure::new("starved frames", "%", Pooled, |q| q.starved_frames_pct);
    let corrected = Figure::new("own position corrected by > 1 px", "%", Pooled, |q| {
        q.corrections_over_1px_pct
    });
    let jumps = Figure::new("visible jumps", "%", Pooled, |q| q.visible_jump_pct);
    let disagreed = Figure::new("contacts drawn otherwise than judged", "%", Pooled, |q| {
        q.contact_disagreement_pct
    });
    let contacts = Figure::new("contacts", "", Pooled, |q| Some(q.contacts as f64));
    let past = Figure::new("shots drawn past what they hit, p99", "frames", Median, |q| {
        q.past_target_frames_p99
    });
    let past_px = Figure::new("the same, p99", "px", Median, |q| q.past_target_px_p99);
    let burst =
        Figure::new("contact to burst, median", "ms", Median, |q| q.contact_to_burst_ms_p50);
    let recovery = Figure::new("recovery after a longer round trip", "s", Median, |q| q.recovery_s);
    let slowest = Figure::new("playback rate, slowest", "x", Worst, |q| q.playback_rate_min);
    let fastest = Figure::new("playback rate, fastest", "x", Worst, |q| q.playback_rate_max);
    let clock = Figure::new("clock error, p99", "ms", Median, |q| q.clock_error_ms_p99);
    let things = Figure::new("things on the screen, mean", "", Pooled, |q| q.entities_mean);
    let down = Figure::new("bytes a second down", "B/s", Pooled, |q| q.bytes_per_s_down);
    let up = Figure::new("bytes a second up", "B/s", Pooled, |q| q.bytes_per_s_up);
    [
        own_input.anywhere(AtMost(33.4)),
        missing.at_most(0.1, 2.5, 0.0),
        lead.at_most(105.0, 105.0, 70.0),
        lead_p95,
        ack.at_most(168.0, 168.0, 168.0),
        ack_p99.independent(Some(AtMost(195.0))).clean(Some(AtMost(195.0))),
        delay.at_most(54.0, 54.0, 25.0),
        delay_p95,
        starved.at_most(0.3, 3.0, 0.0),
        corrected.independent(Some(AtMost(0.05))).clean(Some(AtMost(0.0))),
        jumps.at_most(0.05, 0.05, 0.0),
        disagreed.at_most(1.0, 1.0, 0.0),
        contacts,
        past.anywhere(AtMost(1.0)),
        past_px,
        burst,
        recovery.anywhere(AtMost(2.0)),
        slowest.anywhere(AtLeast(0.95)),
        fastest.anywhere(AtMost(1.05)),
        clock.at_most(8.34, 8.34, 8.34),
        things,
        Figure { by_match: down_budget, ..down },
        up.at_most(2_000.0, 2_000.0, 2_000.0),
    ]
};

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::sim::{Jitter, Loss, Preset};

    fn figure(what: &str) -> &'static Figure {
        FIGURES.iter().find(|figure| figure.what == what).expect("there is such a figure")
    }

    fn lead(ms: f64) -> Quality {
        Quality { lead_ms_p50: Some(ms), ..Quality::default() }
    }

    fn missing(percent: f64) -> Quality {
        Quality { ticks_without_input_pct: Some(percent), ..Quality::default() }
    }

    fn rates(min: f64) -> Quality {
        Quality { playback_rate_min: Some(min), ..Quality::default() }
    }

    #[test]
    fn targets_are_those_of_the_link_they_were_set_for() {
        let bar = |change: fn(&mut Setup)| {
            let mut setup = Setup::new(Preset::Reference.config(), 1);
            change(&mut setup);
            Bar::of(&setup)
        };
        assert_eq!(bar(|_| ()), Bar::Reference);
        assert_eq!(bar(|setup| setup.link.loss.burst_len = 3.0), Bar::ReferenceInBursts);
        assert_eq!(bar(|setup| setup.link.loss.burst_len = 9.0), Bar::Anywhere);
        let clean = |setup: &mut Setup| {
            setup.link.jitter = Jitter::NONE;
            setup.link.loss = Loss::NONE;
        };
        assert_eq!(bar(clean), Bar::Clean);
        assert_eq!(bar(|setup| setup.rtt_step = Duration::from_millis(50)), Bar::Anywhere);
        assert_eq!(bar(|setup| setup.link = Preset::Mobile.config()), Bar::Anywhere);
    }

    #[test]
    fn percentages_are_judged_pooled() {
        let figure = figure("server ticks without a real input");
        let judge =
            |bar, pooled| figure.judge_seeds(bar, &missing(pooled), &missing(0.0), &missing(50.0));
        assert_eq!(judge(Bar::Reference, 0.1), Verdict::Reached);
        assert_eq!(judge(Bar::Reference, 0.11), Verdict::Short);
        assert_eq!(judge(Bar::ReferenceInBursts, 2.5), Verdict::Reached);
        assert_eq!(judge(Bar::ReferenceInBursts, 2.6), Verdict::Short);
        assert_eq!(judge(Bar::Anywhere, 90.0), Verdict::Unjudged);
    }

    #[test]
    fn times_are_judged_by_the_median_and_the_worst_seed_within_a_fifth_more() {
        let figure = figure("client lead over the server, median");
        let judge = |median, worst| {
            figure.judge_seeds(Bar::Reference, &lead(900.0), &lead(median), &lead(worst))
        };
        assert_eq!(judge(105.0, 126.0), Verdict::Reached);
        assert_eq!(judge(105.1, 106.0), Verdict::Short);
        assert_eq!(judge(105.0, 126.1), Verdict::Short);
        let nothing = Quality::default();
        let unknown = figure.judge_seeds(Bar::Reference, &nothing, &nothing, &nothing);
        assert_eq!(unknown, Verdict::Unjudged);
    }

    #[test]
    fn playback_is_judged_by_every_seed_on_every_link() {
        let figure = figure("playback rate, slowest");
        let judge =
            |worst| figure.judge_seeds(Bar::Anywhere, &rates(1.0), &rates(1.0), &rates(worst));
        assert_eq!(judge(0.95), Verdict::Reached);
        assert_eq!(judge(0.94), Verdict::Short);
    }

    #[test]
    fn what_is_judged_on_independent_loss_only_says_so_in_bursts() {
        let noted = |bar| FIGURES.iter().filter(|figure| !figure.note(bar).is_empty()).count();
        assert_eq!((noted(Bar::Reference), noted(Bar::ReferenceInBursts)), (0, 2));
        let unjudged = figure("input to acknowledgement, p99")
            .target(Bar::ReferenceInBursts, &Quality::default());
        assert_eq!(unjudged, None);
    }

    #[test]
    fn what_may_be_sent_depends_on_what_there_is_to_show() {
        let target = |things| {
            let quality = Quality { entities_mean: Some(things), ..Quality::default() };
            figure("bytes a second down").target(Bar::Reference, &quality)
        };
        assert_eq!(target(2.0), None);
        assert_eq!(target(66.0), Some(Target::AtMost(12_000.0)));
        assert_eq!(target(20.0), None);
    }
}
