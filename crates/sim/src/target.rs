//! What the figures of a measured match must reach: each held against the [`law`](super::law) of its
//! link.
//!
//! A percentage of many seeds misses its target only if its exact 95 % confidence bound does
//! ([`Clumps`]), and reaches it only if the other one does; in between it is not decided. A time that
//! is over its target is not decided with fewer than six seeds.
//!
//! `quality` and `pool` below it hold their figures against this and print the outcome.

use std::fmt;

use super::clumps::Clumps;
use super::kinds::ENOUGH_CONTACTS;
use super::law::Bar;
use super::share::Share;
use super::{Quality, Tally};

/// What a figure must reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// No more than this.
    AtMost(f64),
    /// No less than this.
    AtLeast(f64),
}

/// How a figure of many seeds is held against its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// All seeds together. Of a percentage, its 95 % confidence bounds: see [`Clumps`].
    Pooled,
    /// All seeds together: of what is counted, no more than 1 % is beyond the target.
    Tail,
    /// The median of the seeds, and the worst seed of twenty at most [`WORST_SEED`] times the target.
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
    /// Too little was seen to say which.
    Undecided,
}

/// The worst seed may take so many times what the median may.
pub const WORST_SEED: f64 = 1.2;

/// The worst of so many: one seed in twenty may be worse, or a target could only be missed if enough are
/// played.
pub(super) const WORST_OF: usize = 20;

/// Fewer seeds may all lie beyond a median that holds: the chance of it for six is 1 in 64.
const SEEDS_FOR_MEDIAN: usize = 6;

/// How many may be beyond a limit of 99 %, in percent.
const TAIL_PCT: f64 = 1.0;

/// Seeds of one match, taken together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seeds {
    pub(super) count: usize,
    pub(super) tally: Tally,
    pub(super) pooled: Quality,
    pub(super) median: Quality,
    pub(super) worst: Quality,
    /// The worst but for one in [`WORST_OF`].
    pub(super) worst_but_few: Quality,
}

/// What a percentage was counted from: faults, and of how many.
type Counted = (Clumps, u64);

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
    counted: Option<fn(&Tally) -> Counted>,
    /// From so many on, a percentage is judged as it is.
    enough: u64,
    target: fn(&Bar, &Quality) -> Option<Target>,
    /// What somebody who knew the link would reach.
    limit: fn(&Bar, &Quality) -> Option<f64>,
}

impl Target {
    /// Whether `value` reaches it.
    pub fn holds(self, value: f64) -> bool {
        match self {
            Target::AtMost(most) => value <= most,
            Target::AtLeast(least) => value >= least,
        }
    }

    /// How many times what it may be a value is: up to 1 it holds. Of a target of nothing, any value
    /// is more than allowed.
    pub fn strain(self, value: f64) -> f64 {
        match self {
            Target::AtMost(0.0) if value <= 0.0 => 0.0,
            Target::AtMost(0.0) => 1.0 + value,
            Target::AtMost(most) => value / most,
            Target::AtLeast(least) => least / value.max(1e-9),
        }
    }

    /// The same with thousandths at most, for people.
    pub(super) fn rounded(self) -> Target {
        let thousandths = |value: f64| (value * 1e3).round() / 1e3;
        match self {
            Target::AtMost(most) => Target::AtMost(thousandths(most)),
            Target::AtLeast(least) => Target::AtLeast(thousandths(least)),
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

impl Figure {
    const fn new(
        what: &'static str,
        unit: &'static str,
        rule: Rule,
        value: fn(&Quality) -> Option<f64>,
    ) -> Figure {
        Figure {
            what,
            unit,
            rule,
            value,
            counted: None,
            enough: u64::MAX,
            target: |_, _| None,
            limit: |_, _| None,
        }
    }

    const fn must(self, target: fn(&Bar, &Quality) -> Option<Target>) -> Figure {
        Figure { target, ..self }
    }

    const fn counts(self, counted: fn(&Tally) -> Counted) -> Figure {
        Figure { counted: Some(counted), ..self }
    }

    const fn enough(self, enough: u64) -> Figure {
        Figure { enough, ..self }
    }

    const fn can(self, limit: fn(&Bar, &Quality) -> Option<f64>) -> Figure {
        Figure { limit, ..self }
    }

    /// The figure.
    pub fn of(&self, quality: &Quality) -> Option<f64> {
        (self.value)(quality)
    }

    /// What it must reach there, in a match like that.
    pub fn target(&self, bar: Bar, quality: &Quality) -> Option<Target> {
        (self.target)(&bar, quality)
    }

    /// What somebody who knew the link would reach with the lead and the drawing delay of that
    /// match, where that is known.
    pub fn limit(&self, bar: Bar, quality: &Quality) -> Option<f64> {
        (self.limit)(&bar, quality).filter(|_| !bar.is_changing())
    }

    /// The limit, for people.
    pub(super) fn note(&self, bar: Bar, quality: &Quality) -> String {
        let limit = self.limit(bar, quality);
        limit.map(|limit| format!("limit {limit:.3} {}", self.unit)).unwrap_or_default()
    }

    /// One run's verdict.
    pub fn judge(&self, bar: Bar, quality: &Quality) -> Verdict {
        self.decide(bar, quality, Target::holds)
    }

    /// The verdict of many seeds, by the figure's [`Rule`].
    pub(super) fn judge_seeds(&self, bar: Bar, seeds: &Seeds) -> Verdict {
        let Seeds { count, tally, pooled, median, worst, worst_but_few } = seeds;
        let counted = self.counted.map(|counted| counted(tally));
        match (self.rule, counted, self.target(bar, pooled)) {
            (Rule::Pooled, Some((faults, chances)), Some(target)) if chances < self.enough => {
                faults.judge(chances, target)
            }
            (Rule::Tail, Some((late, chances)), Some(_)) => {
                late.judge(chances, Target::AtMost(TAIL_PCT))
            }
            (Rule::Pooled | Rule::Tail, ..) => self.judge(bar, pooled),
            (Rule::Worst, ..) => self.judge(bar, worst),
            (Rule::Median, ..) => match self.judge(bar, median) {
                Verdict::Reached => {
                    let holds = |target, value| Bar::widened(target).holds(value);
                    self.decide(bar, worst_but_few, holds)
                }
                Verdict::Short if *count < SEEDS_FOR_MEDIAN => Verdict::Undecided,
                verdict => verdict,
            },
        }
    }

    /// Between which percentages the true one lies in 95 of 100 cases.
    pub(super) fn bounds_pct(&self, tally: &Tally) -> Option<(f64, f64)> {
        let (faults, chances) = self.counted.filter(|_| self.rule == Rule::Pooled)?(tally);
        (chances > 0).then(|| faults.bounds_pct(chances))
    }

    /// The percentage that is judged, and what it may be. Of a time whose p99 is judged: how many took
    /// longer.
    pub(super) fn share(&self, bar: Bar, seeds: &Seeds) -> Option<Share> {
        let Target::AtMost(most) = self.target(bar, &seeds.pooled)? else { return None };
        let (faults, chances) = self.counted?(&seeds.tally);
        let allowed_pct = if self.rule == Rule::Tail { TAIL_PCT } else { most };
        (chances > 0).then(|| match self.enough {
            u64::MAX => Share::new(faults, chances, allowed_pct),
            _ => Share::one_by_one(faults.count(), chances, allowed_pct),
        })
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
        let Some(target) = self.target(bar, quality) else { return String::new() };
        let tidy = match (target, self.unit) {
            (Target::AtMost(most), "ms" | "B/s") => Target::AtMost((most * 10.0).round() / 10.0),
            (target, _) => target.rounded(),
        };
        format!("{tidy} {}", self.unit).trim_end().to_owned()
    }
}

/// What stands behind a line of the table.
pub(super) fn remark(verdict: Verdict, note: &str) -> String {
    let word = match verdict {
        Verdict::Reached => "ok",
        Verdict::Short => "short of it",
        Verdict::Undecided => "not decided",
        Verdict::Unjudged => "",
    };
    match (word, note) {
        ("", "") => String::new(),
        (word, "") | ("", word) => format!("  {word}"),
        (word, note) => format!("  {word}, {note}"),
    }
}

/// The table, line by line.
pub const FIGURES: [Figure; 23] = {
    use Rule::{Median, Pooled, Tail, Worst};
    use Target::{AtLeast, AtMost};
    let own_input =
        Figure::new("own input to own screen, p99", "ms", Median, |q| q.own_input_ms_p99);
    let missing = Figure::new("server ticks without a real input", "%", Pooled, |q| {
        q.ticks_without_input_pct
    })
    .counts(|tally| (tally.ticks_without_input, tally.ticks));
    let lead = Figure::new("client lead over the server, median", "ms", Median, |q| q.lead_ms_p50);
    let lead_p95 = Figure::new("client lead over the server, p95", "ms", Median, |q| q.lead_ms_p95);
    let ack = Figure::new("input to acknowledgement, median", "ms", Median, |q| q.ack_ms_p50);
    let ack_p99 = Figure::new("input to acknowledgement, p99", "ms", Tail, |q| q.ack_ms_p99)
        .counts(|tally| (tally.late_acks, tally.acks));
    let delay =
        Figure::new("drawing delay of others, median", "ms", Median, |q| q.draw_delay_ms_p50);
    let delay_p95 =
        Figure::new("drawing delay of others, p95", "ms", Median, |q| q.draw_delay_ms_p95);
    let starved = Figure::new("starved frames", "%", Pooled, |q| q.starved_frames_pct)
        .counts(|tally| (tally.starved_frames, tally.frames));
    let corrected = Figure::new("own position corrected by > 1 px", "%", Pooled, |q| {
        q.corrections_over_1px_pct
    })
    .counts(|tally| (tally.corrected, tally.inputs));
    let jumps = Figure::new("visible jumps", "%", Pooled, |q| q.visible_jump_pct)
        .counts(|tally| (tally.jumped_frames, tally.frames));
    let disagreed = Figure::new("contacts drawn otherwise than judged", "%", Pooled, |q| {
        q.contact_disagreement_pct
    })
    .counts(|tally| (tally.contacts_disagreed.into(), tally.contacts))
    .enough(ENOUGH_CONTACTS);
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
        own_input.must(Bar::own_input),
        missing.must(Bar::missed).can(|bar, q| Some(bar.limit().missed_inputs_pct(q.lead_ms_p50?))),
        lead.must(Bar::lead),
        lead_p95,
        ack.must(Bar::ack),
        ack_p99.must(Bar::ack_p99),
        delay.must(Bar::draw_delay),
        delay_p95,
        starved
            .must(Bar::starved)
            .can(|bar, q| Some(bar.limit().starved_frames_pct(q.draw_delay_ms_p50?))),
        corrected.must(Bar::corrected),
        jumps.must(Bar::jumps),
        disagreed.must(Bar::all_contacts),
        contacts,
        past.must(Bar::past_target),
        past_px,
        burst,
        recovery.must(|_, _| Some(AtMost(2.0))),
        slowest.must(|_, _| Some(AtLeast(0.95))),
        fastest.must(|_, _| Some(AtMost(1.05))),
        clock.must(Bar::clock_error),
        things,
        down.must(Bar::bytes_down),
        up.must(Bar::bytes_up),
    ]
};

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{Jitter, LinkConfig, Loss, Preset, Setup};

    fn figure(what: &str) -> &'static Figure {
        FIGURES.iter().find(|figure| figure.what == what).expect("there is such a figure")
    }

    fn lead(ms: f64) -> Quality {
        Quality { lead_ms_p50: Some(ms), ..Quality::default() }
    }

    fn missing(percent: f64) -> Quality {
        let (lead_ms_p50, percent) = (Some(103.0), Some(percent));
        Quality { lead_ms_p50, ticks_without_input_pct: percent, ..Quality::default() }
    }

    fn rates(min: f64) -> Quality {
        Quality { playback_rate_min: Some(min), ..Quality::default() }
    }

    fn bar(rtt_ms: u64, jitter_ms: u64, loss: Loss) -> Bar {
        let jitter = Jitter::uniform(Duration::from_millis(jitter_ms));
        let link = LinkConfig { jitter, loss, ..LinkConfig::PERFECT };
        Bar::of(&Setup::new(link.with_rtt(Duration::from_millis(rtt_ms)), 1))
    }

    fn seeds(median: Quality, worst: Quality) -> Seeds {
        let (tally, worst_but_few) = (Tally::default(), worst);
        Seeds { count: 6, tally, pooled: median, median, worst, worst_but_few }
    }

    #[test]
    fn an_acknowledgement_is_late_if_more_than_one_in_a_hundred_is() {
        let figure = figure("input to acknowledgement, p99");
        let judge = |late: u64, acks| {
            let tally = Tally { acks, late_acks: late.into(), ..Tally::default() };
            let ack = Quality { ack_ms_p99: Some(999.0), ..Quality::default() };
            figure.judge_seeds(Bar::reference(), &Seeds { tally, ..seeds(ack, ack) })
        };
        assert_eq!(judge(800, 100_000), Verdict::Reached);
        assert_eq!(judge(1_200, 100_000), Verdict::Short);
        assert_eq!(judge(12, 1_000), Verdict::Undecided);
    }

    const LEAD: &str = "client lead over the server, median";
    const MISSING: &str = "server ticks without a real input";

    #[test]
    fn percentages_are_judged_pooled() {
        let figure = figure(MISSING);
        let judge = |bar, faults: u64, ticks| {
            let tally = Tally { ticks, ticks_without_input: faults.into(), ..Tally::default() };
            let seeds = seeds(missing(0.0), missing(50.0));
            figure.judge_seeds(bar, &Seeds { tally, pooled: tally.fill(missing(0.0)), ..seeds })
        };
        let independent = Bar::reference();
        assert_eq!(judge(independent, 50, 100_000), Verdict::Reached);
        assert_eq!(judge(independent, 150, 100_000), Verdict::Short);
        // The same shares of a short run say nothing.
        assert_eq!(judge(independent, 1, 2_000), Verdict::Undecided);
        assert_eq!(judge(independent, 3, 2_000), Verdict::Undecided);
        assert_eq!(judge(bar(100, 0, Loss::NONE), 1, 100_000), Verdict::Short);
        assert_eq!(judge(bar(100, 0, Loss::NONE), 0, 2_000), Verdict::Reached);
    }

    #[test]
    fn times_are_judged_by_the_median_and_the_worst_seed_within_a_fifth_more() {
        let figure = figure(LEAD);
        let judge =
            |median, worst| figure.judge_seeds(Bar::reference(), &seeds(lead(median), lead(worst)));
        assert_eq!(judge(107.3, 128.7), Verdict::Reached);
        assert_eq!(judge(107.4, 108.0), Verdict::Short);
        assert_eq!(judge(107.3, 128.9), Verdict::Short);
        let few = Seeds { count: 5, ..seeds(lead(107.4), lead(108.0)) };
        assert_eq!(figure.judge_seeds(Bar::reference(), &few), Verdict::Undecided);
        let nothing = seeds(Quality::default(), Quality::default());
        assert_eq!(figure.judge_seeds(Bar::reference(), &nothing), Verdict::Unjudged);
    }

    #[test]
    fn playback_is_judged_by_every_seed_on_every_link() {
        let figure = figure("playback rate, slowest");
        let mobile = Bar::of(&Setup::new(Preset::Mobile.config(), 1));
        let judge = |worst| figure.judge_seeds(mobile, &seeds(rates(1.0), rates(worst)));
        assert_eq!(judge(0.95), Verdict::Reached);
        assert_eq!(judge(0.94), Verdict::Short);
    }
}
