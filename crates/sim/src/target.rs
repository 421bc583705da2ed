//! What the figures of a measured match must reach: the law of the link.
//!
//! Targets are functions of the link, so that they hold wherever one plays. With R the round trip,
//! J the jitter's span, p the loss and T a tick, all in ms:
//!
//! | figure | at most |
//! |---|---|
//! | lead | R/2 + J + n T + 4, n >= 1 the least with p^(n+1) <= 0.05 % |
//! | drawing delay | J + m T + 2.5, m >= 1 the least with p^m <= 0.25 % |
//! | acknowledgement | the lead's limit + R/2 + what the first snapshot that comes takes more (its median; for the p99 what 99.2 % reach, as a run scatters; from [`Limit::first_snapshot_ms`]) |
//! | upload | 1,900 B/s + 0.55 B/s for each ms until an acknowledgement |
//! | own input to own screen | a tick + a frame |
//! | ticks without input | 0.1 % |
//! | starved frames | 0.3 % |
//! | corrections, jumps | 0.05 % |
//! | contacts of each kind | 1 % |
//!
//! An acknowledgement is a snapshot of the input's tick or a later one: the input waits for its
//! tick as long as the lead, and the first snapshot that comes then takes half a round trip and
//! what jitter and loss add. A datagram up has the newest input whole and those before it that are
//! not acknowledged, each about 1.2 bits: 60 times a second that is 9 B/s for each tick until the
//! acknowledgement, 0.55 for each ms.
//!
//! Without jitter and loss there is no fault at all, but where contacts must be guessed: a wrong guess
//! is put right on the screen, so jumps are held to 0.05 % there, too. In bursts and heavy tails the link itself
//! decides: ticks without input and starved frames are at most 1.25 times what [`Limit`] says of
//! the measured lead and delay, and 0.02 %; what follows from a missed input (corrections and
//! contacts) gets as much more. Jumps do not: what a burst does to the screen is faded. The p99 of
//! acknowledgements gets a tick more, and at most 1.25 times. Lead, delay, acknowledgement and upload have targets where jitter
//! has an end: not with normal or heavy-tailed jitter.
//!
//! Contacts that have to be guessed, a partner's in doubles, have a target of their own: one in ten up
//! to the reference link. Further away a guess is older: a partner changes course about every 300 ms
//! (the simulator's do, and people hardly do it more often), and every other change decides the
//! contact, so each 6 ms that an acknowledgement takes longer may cost 1 % more. 60 % is the end: who
//! tosses a coin is wrong in two of three that are drawn or judged, and to guess must be better. The
//! contacts after a guess, with the own paddle or an opponent's, are held to 1 % up to the reference
//! link like all others. Further away a fifth of what the guesses have more is added: the server's word on a
//! guess takes up to a fifth of the two seconds between two contacts, so one in five wrong guesses is
//! still believed when the next contact comes.
//!
//! A percentage of many seeds misses its target only if its exact 95 % confidence bound does
//! ([`Clumps`]), and reaches it only if the other one does; in between it is not decided. A time that
//! is over its target is not decided with fewer than six seeds.
//!
//! `quality` and `pool` below it hold their figures against this and print the outcome.

use std::fmt;

use super::clumps::Clumps;
use super::config::{LinkConfig, Shape};
use super::kinds::ENOUGH_CONTACTS;
use super::limit::Limit;
use super::{Preset, Quality, Setup, Tally};
use crate::measured::Foresight;

/// What a figure must reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// No more than this.
    AtMost(f64),
    /// No less than this.
    AtLeast(f64),
}

/// What a run is held against: the targets of its link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    link: LinkConfig,
    tick_rate: f64,
    frame_hz: f64,
    /// A link that changes has targets only for what holds wherever one plays.
    is_changing: bool,
    /// Of the contacts that can be foreseen least.
    foresight: Foresight,
}

/// What sort of link it is, for its targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    /// Nothing goes wrong.
    Clean,
    /// Each datagram is lost or late by itself, and jitter has an end.
    Independent,
    /// Jitter has an end, but losses come in bursts, or something else goes wrong.
    Bursts,
    /// Jitter has a tail.
    Tails,
}

/// How a figure of many seeds is held against its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// All seeds together. Of a percentage, its 95 % confidence bounds: see [`Clumps`].
    Pooled,
    /// All seeds together: of what is counted, no more than 1 % is beyond the target.
    Tail,
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
    /// Too little was seen to say which.
    Undecided,
}

/// The worst seed may take so many times what the median may.
pub const WORST_SEED: f64 = 1.2;

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

/// What may go wrong at most, in percent, where each datagram fares by itself.
const MISSED_PCT: f64 = 0.1;
const STARVED_PCT: f64 = 0.3;
const CORRECTED_PCT: f64 = 0.05;
const JUMPED_PCT: f64 = 0.05;
const CONTACTS_PCT: f64 = 1.0;

/// Contacts that must be guessed, such as a partner's in doubles: up to the reference link, for each
/// ms that an acknowledgement takes longer than there (one change of course in 300 ms, half of which
/// decide the contact), and at most. Who tosses a coin for each is wrong in two of three that are drawn
/// or judged.
const GUESSED_PCT: f64 = 10.0;
const GUESSED_PCT_PER_MS: f64 = 1.0 / 6.0;
const GUESSED_MOST_PCT: f64 = 60.0;

/// So much of what they have more than on the reference link is added for those that follow them: the
/// server's word comes within 0.44 s on the map, and contacts are two seconds apart.
const FOLLOWS_SHARE: f64 = 0.2;

/// In bursts and tails: so many times what the link allows, and so much more.
const OF_LIMIT: f64 = 1.25;
const BEYOND_LIMIT_PCT: f64 = 0.02;

/// Up to this round trip a shot must end with its contact; a game rewinds no further.
const SHOTS_END_WITHIN_MS: f64 = 300.0;

impl Bar {
    /// The bar for a run of a game with 60 ticks a second.
    pub fn of(setup: &Setup) -> Bar {
        Bar {
            link: setup.link,
            tick_rate: 60.0,
            frame_hz: setup.frame_hz,
            is_changing: setup.change.is_some(),
            foresight: Foresight::Known,
        }
    }

    /// The bar of the reference link, at 60 frames a second.
    pub fn reference() -> Bar {
        Bar::of(&Setup::new(Preset::Reference.config(), 1))
    }

    /// The same for a game with so many ticks a second.
    #[must_use]
    pub fn with_tick_rate(self, tick_rate: u8) -> Bar {
        Bar { tick_rate: f64::from(tick_rate.max(1)), ..self }
    }

    /// The same for a game whose contacts cannot all be known in time: all kinds together are held
    /// against the target of those that can be foreseen least.
    #[must_use]
    pub(super) fn with_foresight(self, foresight: Foresight) -> Bar {
        Bar { foresight, ..self }
    }

    /// Whether only what holds on every link has a target.
    pub const fn is_changing(&self) -> bool {
        self.is_changing
    }

    /// What somebody who knew the link would reach.
    pub fn limit(&self) -> Limit {
        Limit::of(&self.link, self.tick_rate)
    }

    /// How many contacts of a kind may be drawn otherwise than judged, in percent.
    pub fn contacts(&self, foresight: Foresight, quality: &Quality) -> Option<Target> {
        let most = self.contacts_pct(foresight);
        let spared = self.missed_limit(quality).zip(self.starved_limit(quality));
        self.by_sort(most, most, spared.map(|(a, b)| most + a + b))
    }

    fn contacts_pct(&self, foresight: Foresight) -> f64 {
        // The longer the server's word takes, the further what somebody else does is guessed.
        let beyond_ms = self.ack_ms(0.5) - Bar::reference().ack_ms(0.5);
        let guessed = (GUESSED_PCT + beyond_ms.max(0.0) * GUESSED_PCT_PER_MS).min(GUESSED_MOST_PCT);
        match foresight {
            Foresight::Known => CONTACTS_PCT,
            Foresight::Follows => CONTACTS_PCT + (guessed - GUESSED_PCT) * FOLLOWS_SHARE,
            Foresight::Guessed => guessed,
        }
    }

    fn sort(&self) -> Sort {
        let LinkConfig { jitter, loss, duplicate_probability, reorder, .. } = self.link;
        let is_plain = duplicate_probability == 0.0
            && reorder.probability == 0.0
            && self.link.corrupt_probability == 0.0
            && self.link.bandwidth.is_none();
        match jitter.shape {
            Shape::Normal | Shape::HeavyTailed => Sort::Tails,
            Shape::Uniform if !is_plain => Sort::Bursts,
            Shape::Uniform if loss.probability == 0.0 && jitter.span.is_zero() => Sort::Clean,
            Shape::Uniform if loss.probability == 0.0 || loss.burst_len <= 1.0 => Sort::Independent,
            Shape::Uniform => Sort::Bursts,
        }
    }

    /// A percentage for each sort of link; `rough` is that of bursts and tails.
    fn by_sort(&self, clean: f64, independent: f64, rough: Option<f64>) -> Option<Target> {
        if self.is_changing {
            return None;
        }
        match self.sort() {
            Sort::Clean => Some(Target::AtMost(clean)),
            Sort::Independent => Some(Target::AtMost(independent)),
            Sort::Bursts | Sort::Tails => rough.map(Target::AtMost),
        }
    }

    /// A time or a number that is known where jitter has an end.
    fn bounded(&self, most: f64) -> Option<Target> {
        let is_bounded = !self.is_changing && self.sort() != Sort::Tails;
        is_bounded.then_some(Target::AtMost(most))
    }

    /// What the worst of many seeds may take. In bursts of 3 the loss of half a minute scatters by a fifth,
    /// and the law's own formulas go up by a whole copy at the shares that links are given here (5 % is the
    /// last with two copies): a seed that lost more than its link says may wait for that copy.
    fn widened(&self, target: Target) -> Target {
        let copy_ms = match self.sort() {
            Sort::Clean | Sort::Independent => 0.0,
            Sort::Bursts | Sort::Tails => self.tick_ms(),
        };
        match target {
            Target::AtMost(most) => Target::AtMost((most * WORST_SEED).max(most + copy_ms)),
            Target::AtLeast(least) => Target::AtLeast(least / WORST_SEED),
        }
    }

    fn always(target: Target) -> Option<Target> {
        Some(target)
    }

    pub(super) fn tick_ms(&self) -> f64 {
        1e3 / self.tick_rate
    }

    pub(super) fn way_ms(&self) -> f64 {
        self.link.delay.as_secs_f64() * 1e3
    }

    fn jitter_ms(&self) -> f64 {
        self.link.jitter.span.as_secs_f64() * 1e3
    }

    /// The least count from 1 on with loss^(count + more) within a share.
    fn copies(&self, more: i32, share: f64) -> f64 {
        let loss = self.link.loss.probability;
        // 0.05 squared is a few bits above 0.0025.
        let enough = |count: &i32| loss.powi(count + more) <= share * (1.0 + 1e-9);
        f64::from((1..=64).find(enough).unwrap_or(64))
    }

    fn lead_ms(&self) -> f64 {
        self.way_ms() + self.jitter_ms() + self.copies(1, 0.000_5) * self.tick_ms() + 4.0
    }

    fn draw_delay_ms(&self) -> f64 {
        self.jitter_ms() + self.copies(0, 0.002_5) * self.tick_ms() + 2.5
    }

    fn ack_ms(&self, chance: f64) -> f64 {
        self.lead_ms() + self.way_ms() + self.limit().first_snapshot_ms(chance)
    }

    /// No more than 1 % of acknowledgements take longer. In bursts all may be 1.25 times the limit; of that
    /// no more is allowed than the copy more that the loss of the last seconds asks for at times.
    pub(super) fn ack_ms_p99(&self) -> f64 {
        let ms = self.ack_ms(0.992);
        match self.sort() {
            Sort::Clean | Sort::Independent => ms,
            Sort::Bursts | Sort::Tails => (ms + self.tick_ms()).min(OF_LIMIT * ms),
        }
    }

    fn bytes_up(&self) -> f64 {
        (1_900.0 + 0.55 * self.ack_ms(0.5)) * self.tick_rate / 60.0
    }

    fn missed_limit(&self, quality: &Quality) -> Option<f64> {
        Some(OF_LIMIT * self.limit().missed_inputs_pct(quality.lead_ms_p50?))
    }

    fn starved_limit(&self, quality: &Quality) -> Option<f64> {
        Some(OF_LIMIT * self.limit().starved_frames_pct(quality.draw_delay_ms_p50?))
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
        (self.limit)(&bar, quality).filter(|_| !bar.is_changing)
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
        let Seeds { count, tally, pooled, median, worst } = seeds;
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
                    self.decide(bar, worst, |target, value| bar.widened(target).holds(value))
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

/// What it may cost to send what is on the screen: 64 moving things and the players, as in R-Type.
/// What a smaller game may cost is the game's own to say.
const fn down_budget(bar: &Bar, quality: &Quality) -> Option<Target> {
    match quality.entities_mean {
        Some(60.0..=70.0) if !bar.is_changing => Some(Target::AtMost(12_000.0)),
        _ => None,
    }
}

/// What stands behind a line of the table.
pub(super) fn remark(verdict: Verdict, note: &str) -> String {
    match (verdict, note) {
        (Verdict::Reached, "") => "  ok".to_owned(),
        (Verdict::Reached, note) => format!("  ok, {note}"),
        (Verdict::Short, "") => "  short of it".to_owned(),
        (Verdict::Short, note) => format!("  short of it, {note}"),
        (Verdict::Undecided, "") => "  not decided".to_owned(),
        (Verdict::Undecided, note) => format!("  not decided, {note}"),
        (Verdict::Unjudged, "") => String::new(),
        (Verdict::Unjudged, note) => format!("  {note}"),
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
        own_input.must(|bar, _| Bar::always(AtMost(bar.tick_ms() + 1e3 / bar.frame_hz + 0.06))),
        missing
            .must(|bar, q| {
                let rough = bar.missed_limit(q).map(|limit| limit + BEYOND_LIMIT_PCT);
                bar.by_sort(0.0, MISSED_PCT, rough)
            })
            .can(|bar, q| Some(bar.limit().missed_inputs_pct(q.lead_ms_p50?))),
        lead.must(|bar, _| bar.bounded(bar.lead_ms())),
        lead_p95,
        ack.must(|bar, _| bar.bounded(bar.ack_ms(0.5))),
        ack_p99.must(|bar, _| bar.bounded(bar.ack_ms_p99())),
        delay.must(|bar, _| bar.bounded(bar.draw_delay_ms())),
        delay_p95,
        starved
            .must(|bar, q| {
                let rough = bar.starved_limit(q).map(|limit| limit + BEYOND_LIMIT_PCT);
                bar.by_sort(0.0, STARVED_PCT, rough)
            })
            .can(|bar, q| Some(bar.limit().starved_frames_pct(q.draw_delay_ms_p50?))),
        corrected.must(|bar, q| {
            let rough = bar.missed_limit(q).map(|limit| limit + CORRECTED_PCT);
            bar.by_sort(0.0, CORRECTED_PCT, rough)
        }),
        jumps.must(|bar, _| {
            let clean = if bar.foresight == Foresight::Known { 0.0 } else { JUMPED_PCT };
            bar.by_sort(clean, JUMPED_PCT, Some(JUMPED_PCT))
        }),
        disagreed.must(|bar, q| bar.contacts(bar.foresight, q)),
        contacts,
        past.must(|bar, _| match 2.0 * bar.way_ms() <= SHOTS_END_WITHIN_MS {
            true => Bar::always(AtMost(1.0)),
            false => None,
        }),
        past_px,
        burst,
        recovery.must(|_, _| Bar::always(AtMost(2.0))),
        slowest.must(|_, _| Bar::always(AtLeast(0.95))),
        fastest.must(|_, _| Bar::always(AtMost(1.05))),
        clock.must(|bar, _| bar.bounded(bar.tick_ms() / 2.0)),
        things,
        down.must(down_budget),
        up.must(|bar, _| bar.bounded(bar.bytes_up())),
    ]
};

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{Change, Jitter, Loss};

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

    fn most(what: &str, bar: Bar, quality: &Quality) -> Option<f64> {
        match figure(what).target(bar, quality)? {
            Target::AtMost(most) => Some(most),
            Target::AtLeast(_) => None,
        }
    }

    fn seeds(median: Quality, worst: Quality) -> Seeds {
        Seeds { count: 6, tally: Tally::default(), pooled: median, median, worst }
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
        // In bursts it may take a copy more, within a quarter more.
        let p99 = |rtt_ms, loss| bar(rtt_ms, 0, loss).ack_ms_p99();
        let (alone, bursts) = (Loss::independent(0.01), Loss::bursts(0.01, 3.0));
        assert!((p99(0, bursts) / p99(0, alone) - 1.25).abs() < 1e-9);
        assert!((p99(300, bursts) - p99(300, alone) - 16.667).abs() < 0.001);
    }

    #[test]
    fn what_must_be_guessed_may_be_wrong_more_often_the_later_the_server_is_heard() {
        let most = |bar: Bar, foresight| match bar.contacts(foresight, &Quality::default()) {
            Some(Target::AtMost(most)) => most,
            other => panic!("{other:?}"),
        };
        let near = bar(20, 5, Loss::independent(0.01));
        let far = bar(200, 40, Loss::independent(0.05));
        let farthest = bar(300, 60, Loss::independent(0.1));
        for foresight in [Foresight::Known, Foresight::Follows] {
            assert_eq!(most(near, foresight), 1.0);
            assert_eq!(most(Bar::reference(), foresight), 1.0);
        }
        assert_eq!(most(farthest, Foresight::Known), 1.0);
        assert_eq!(most(near, Foresight::Guessed), 10.0);
        assert_eq!(most(Bar::reference(), Foresight::Guessed), 10.0);
        let guessed = most(far, Foresight::Guessed);
        assert!((29.0..33.0).contains(&guessed), "{guessed}");
        let guessed = most(farthest, Foresight::Guessed);
        assert!((50.0..58.0).contains(&guessed), "{guessed}");
        assert_eq!(most(bar(900, 60, Loss::independent(0.1)), Foresight::Guessed), 60.0);
        assert!(most(far, Foresight::Follows) < most(farthest, Foresight::Follows));
    }

    const LEAD: &str = "client lead over the server, median";
    const DELAY: &str = "drawing delay of others, median";
    const MISSING: &str = "server ticks without a real input";

    #[test]
    fn the_law_says_what_it_must_of_links_computed_by_hand() {
        let near = |bar: Bar, what: &str, ms: f64| {
            let target = most(what, bar, &Quality::default()).expect("it has a target");
            assert!((target - ms).abs() < 0.05, "{what}: {target}, not {ms}");
        };
        let five = Loss::independent(0.05);
        near(bar(100, 20, five), LEAD, 107.3);
        near(bar(100, 20, five), DELAY, 55.8);
        near(bar(100, 0, Loss::NONE), LEAD, 70.7);
        near(bar(100, 0, Loss::NONE), DELAY, 19.2);
        // 0.1^4 is the first within 0.05 %, 0.1^3 the first within 0.25 %.
        near(bar(300, 60, Loss::independent(0.1)), LEAD, 264.0);
        near(bar(300, 60, Loss::independent(0.1)), DELAY, 112.5);
        near(bar(40, 5, Loss::independent(0.01)), LEAD, 45.7);
        near(bar(40, 5, Loss::independent(0.01)), DELAY, 40.8);
    }

    #[test]
    fn on_the_reference_link_no_formula_is_looser_than_the_number_it_replaced() {
        let (bar, quality) = (Bar::reference(), Quality::default());
        let most = |what| most(what, bar, &quality).expect("it has a target");
        assert!(most("input to acknowledgement, median") <= 168.0);
        assert!(most("input to acknowledgement, p99") <= 195.0);
        assert!(most("bytes a second up") <= 2_000.0);
        assert!(most("own input to own screen, p99") <= 33.4);
    }

    #[test]
    fn a_faster_screen_must_answer_sooner() {
        let setup = Setup { frame_hz: 144.0, ..Setup::default() };
        let target = most("own input to own screen, p99", Bar::of(&setup), &Quality::default());
        assert!((target.unwrap() - 23.7).abs() < 0.05, "{target:?}");
    }

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
    fn in_bursts_and_tails_a_quarter_more_than_the_link_allows_is_enough() {
        let mut in_bursts = Preset::Reference.config();
        in_bursts.loss.burst_len = 3.0;
        for link in [in_bursts, Preset::Wifi.config(), Preset::Mobile.config()] {
            let bar = Bar::of(&Setup::new(link, 1));
            let limit = bar.limit().missed_inputs_pct(103.0);
            let target = most(MISSING, bar, &missing(0.0)).unwrap();
            assert!((target - (1.25 * limit + 0.02)).abs() < 1e-9, "{target} for {limit}");
            // Nothing is known of a match without a lead.
            assert_eq!(most(MISSING, bar, &Quality::default()), None);
        }
        let wifi = Bar::of(&Setup::new(Preset::Wifi.config(), 1));
        assert_eq!(most(LEAD, wifi, &Quality::default()), None);
        assert!(most(LEAD, Bar::of(&Setup::new(in_bursts, 1)), &Quality::default()).is_some());
    }

    #[test]
    fn a_link_that_changes_has_only_the_targets_that_hold_everywhere() {
        let change = Some(Change::Step(80));
        let bar = Bar::of(&Setup { change, ..Setup::default() });
        assert!(bar.is_changing());
        assert_eq!(most(LEAD, bar, &Quality::default()), None);
        assert_eq!(bar.contacts(Foresight::Known, &Quality::default()), None);
        assert!(most("own input to own screen, p99", bar, &Quality::default()).is_some());
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
        // In bursts a seed may wait for a copy more.
        let (figure, bursts) = (self::figure(DELAY), bar(80, 0, Loss::bursts(0.05, 3.0)));
        let delay = |ms| Quality { draw_delay_ms_p50: Some(ms), ..Quality::default() };
        let judge = |worst| figure.judge_seeds(bursts, &seeds(delay(35.5), delay(worst)));
        assert_eq!(judge(52.0), Verdict::Reached);
        assert_eq!(judge(52.6), Verdict::Short);
    }

    #[test]
    fn playback_is_judged_by_every_seed_on_every_link() {
        let figure = figure("playback rate, slowest");
        let mobile = Bar::of(&Setup::new(Preset::Mobile.config(), 1));
        let judge = |worst| figure.judge_seeds(mobile, &seeds(rates(1.0), rates(worst)));
        assert_eq!(judge(0.95), Verdict::Reached);
        assert_eq!(judge(0.94), Verdict::Short);
    }

    #[test]
    fn what_may_be_sent_depends_on_what_there_is_to_show() {
        let target = |things| {
            let quality = Quality { entities_mean: Some(things), ..Quality::default() };
            figure("bytes a second down").target(Bar::reference(), &quality)
        };
        assert_eq!(target(2.0), None);
        assert_eq!(target(66.0), Some(Target::AtMost(12_000.0)));
        assert_eq!(target(20.0), None);
    }
}
