//! The law of the link: what each figure may be at most, as a function of the link.
//!
//! Targets are functions of the link, so that they hold wherever one plays. With R the round trip,
//! J the jitter's span, p the loss and T a tick, all in ms:
//!
//! | figure | at most |
//! |---|---|
//! | lead | R/2 + J + n T + 4, n >= 1 the least with p^(n+1) <= 0.05 % |
//! | drawing delay | J + m T + 2.5, m >= 1 the least with p^m <= 0.25 % |
//! | acknowledgement | the lead's limit + R/2 + what the first snapshot that comes takes more ([`Limit::first_snapshot_ms`]): its median; for the p99, what all but 0.8 % reach, so that 1 % is 1.25 times the limit |
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
//! contacts) gets as much more. Jumps do not: what a burst does to the screen is faded. Lead, delay, acknowledgement and upload have targets where jitter
//! has an end: not with normal or heavy-tailed jitter.
//!
//! Contacts that have to be guessed, a partner's in doubles, have a target of their own:
//! 1.25 times the share that is wrong at best, and no less than the 1 % of all others. The game says how large that is if
//! what others do is known so many ticks late ([`Odds`]); how late it is known follows from the link: as long
//! as an acknowledgement takes, and half an interval. 60 % is the end: who tosses a coin is
//! wrong in two of three that are drawn or judged, and to guess must be better. The contacts after a
//! guess, with the own paddle or an opponent's, get 1 % and the share of those wrong guesses that is still
//! believed when the next contact comes: the server's word takes as long as an acknowledgement, and contacts are two
//! seconds apart.
//!
//! [`target`](super::target) above this holds figures against it.

use super::config::{LinkConfig, Shape};
use super::limit::Limit;
use super::target::{Target, WORST_SEED};
use super::{Preset, Quality, Setup};
use crate::measured::{Foresight, Odds};

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

/// What may go wrong at most, in percent, where each datagram fares by itself.
const MISSED_PCT: f64 = 0.1;
const STARVED_PCT: f64 = 0.3;
const CORRECTED_PCT: f64 = 0.05;
const JUMPED_PCT: f64 = 0.05;
const CONTACTS_PCT: f64 = 1.0;

/// Contacts that must be guessed are wrong in no more than this: who tosses a coin for each is wrong in two of
/// three that are drawn or judged.
const GUESSED_MOST_PCT: f64 = 60.0;

/// How far apart contacts are.
const CONTACTS_APART_MS: f64 = 2_000.0;

/// So many places are looked at where a chance decides how late something is known.
const QUANTILES: u32 = 8;

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
        match foresight {
            Foresight::Known => CONTACTS_PCT,
            Foresight::Follows(odds) => {
                let believed = self.ack_ms(0.5) / CONTACTS_APART_MS;
                CONTACTS_PCT + believed * self.guessed_pct(odds)
            }
            Foresight::Guessed(odds) => {
                self.guessed_pct(odds).clamp(CONTACTS_PCT, GUESSED_MOST_PCT)
            }
        }
    }

    /// How many guesses may be wrong: what cannot be known, and a quarter more.
    fn guessed_pct(&self, odds: Odds) -> f64 {
        let at = |index: usize| f64::from(*odds.get(index).or(odds.last()).unwrap_or(&0)) / 100.0;
        let wrong = |late_ticks: f64| {
            let (whole, part) = (late_ticks.floor(), late_ticks.fract());
            at(whole as usize) * (1.0 - part) + at(whole as usize + 1) * part
        };
        let sum: f64 = (0..QUANTILES)
            .map(|which| (f64::from(which) + 0.5) / f64::from(QUANTILES))
            // What came last is half an interval old.
            .map(|chance| wrong(self.ack_ms(chance) / self.tick_ms() + 0.5))
            .sum();
        OF_LIMIT * sum / f64::from(QUANTILES)
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

    /// What the worst of many seeds may take.
    pub(super) fn widened(target: Target) -> Target {
        match target {
            Target::AtMost(most) => Target::AtMost(most * WORST_SEED),
            Target::AtLeast(least) => Target::AtLeast(least / WORST_SEED),
        }
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

    /// No more than 1 % of acknowledgements take longer: 1.25 times the 0.8 % of which the link says so.
    pub(super) fn ack_ms_p99(&self) -> f64 {
        self.ack_ms(0.992)
    }

    pub(super) fn missed_limit(&self, quality: &Quality) -> Option<f64> {
        Some(OF_LIMIT * self.limit().missed_inputs_pct(quality.lead_ms_p50?))
    }

    pub(super) fn starved_limit(&self, quality: &Quality) -> Option<f64> {
        Some(OF_LIMIT * self.limit().starved_frames_pct(quality.draw_delay_ms_p50?))
    }

    /// A press is made into an input at the next tick, and shown in the next frame.
    pub(super) fn own_input(&self, _: &Quality) -> Option<Target> {
        let ms = self.tick_ms() + 1e3 / self.frame_hz + 0.06;
        Some(Target::AtMost(ms))
    }

    pub(super) fn missed(&self, quality: &Quality) -> Option<Target> {
        let rough = self.missed_limit(quality).map(|limit| limit + BEYOND_LIMIT_PCT);
        self.by_sort(0.0, MISSED_PCT, rough)
    }

    pub(super) fn lead(&self, _: &Quality) -> Option<Target> {
        self.bounded(self.lead_ms())
    }

    pub(super) fn ack(&self, _: &Quality) -> Option<Target> {
        self.bounded(self.ack_ms(0.5))
    }

    pub(super) fn ack_p99(&self, _: &Quality) -> Option<Target> {
        self.bounded(self.ack_ms_p99())
    }

    pub(super) fn draw_delay(&self, _: &Quality) -> Option<Target> {
        self.bounded(self.draw_delay_ms())
    }

    pub(super) fn starved(&self, quality: &Quality) -> Option<Target> {
        let rough = self.starved_limit(quality).map(|limit| limit + BEYOND_LIMIT_PCT);
        self.by_sort(0.0, STARVED_PCT, rough)
    }

    pub(super) fn corrected(&self, quality: &Quality) -> Option<Target> {
        let rough = self.missed_limit(quality).map(|limit| limit + CORRECTED_PCT);
        self.by_sort(0.0, CORRECTED_PCT, rough)
    }

    pub(super) fn jumps(&self, _: &Quality) -> Option<Target> {
        let clean = if self.foresight == Foresight::Known { 0.0 } else { JUMPED_PCT };
        self.by_sort(clean, JUMPED_PCT, Some(JUMPED_PCT))
    }

    /// All kinds together.
    pub(super) fn all_contacts(&self, quality: &Quality) -> Option<Target> {
        self.contacts(self.foresight, quality)
    }

    pub(super) fn past_target(&self, _: &Quality) -> Option<Target> {
        let is_near = 2.0 * self.way_ms() <= SHOTS_END_WITHIN_MS;
        is_near.then_some(Target::AtMost(1.0))
    }

    pub(super) fn clock_error(&self, _: &Quality) -> Option<Target> {
        self.bounded(self.tick_ms() / 2.0)
    }

    pub(super) fn bytes_up(&self, _: &Quality) -> Option<Target> {
        let bytes = (1_900.0 + 0.55 * self.ack_ms(0.5)) * self.tick_rate / 60.0;
        self.bounded(bytes)
    }

    /// What it may cost to send what is on the screen: 64 moving things and the players, as in R-Type.
    /// What a smaller game may cost is the game's own to say.
    pub(super) fn bytes_down(&self, quality: &Quality) -> Option<Target> {
        match quality.entities_mean {
            Some(60.0..=70.0) if !self.is_changing => Some(Target::AtMost(12_000.0)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{Change, FIGURES, Figure, Jitter, Loss};

    fn figure(what: &str) -> &'static Figure {
        FIGURES.iter().find(|figure| figure.what == what).expect("there is such a figure")
    }

    fn missing(percent: f64) -> Quality {
        let (lead_ms_p50, percent) = (Some(103.0), Some(percent));
        Quality { lead_ms_p50, ticks_without_input_pct: percent, ..Quality::default() }
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

    const LEAD: &str = "client lead over the server, median";
    const DELAY: &str = "drawing delay of others, median";
    const MISSING: &str = "server ticks without a real input";

    #[test]
    fn what_must_be_guessed_may_be_wrong_as_often_as_it_cannot_be_known_and_a_quarter_more() {
        // Nothing is known of the last six ticks, and a percent less of each tick before.
        const ODDS: Odds = &[0, 0, 0, 0, 0, 0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 9_000];
        let most = |bar: Bar, foresight| match bar.contacts(foresight, &Quality::default()) {
            Some(Target::AtMost(most)) => most,
            other => panic!("{other:?}"),
        };
        let near = bar(20, 0, Loss::NONE);
        let far = bar(100, 0, Loss::NONE);
        let farthest = bar(900, 0, Loss::NONE);
        assert_eq!(most(near, Foresight::Guessed(ODDS)), 1.0);
        assert_eq!(most(near, Foresight::Follows(ODDS)), 1.0);
        // 120.7 ms are 7.24 ticks, and half a tick more: 2.74 %.
        let late_ms = 50.0 + 1e3 / 60.0 + 4.0 + 50.0;
        let wrong = 1.25 * (late_ms * 0.06 + 0.5 - 5.0);
        let guessed = most(far, Foresight::Guessed(ODDS));
        assert!((guessed - wrong).abs() < 0.01, "{guessed}");
        let follows = most(far, Foresight::Follows(ODDS));
        assert!((follows - 1.0 - wrong * late_ms / 2_000.0).abs() < 0.01, "{follows}");
        assert_eq!(most(farthest, Foresight::Guessed(ODDS)), 60.0);
        assert_eq!(most(farthest, Foresight::Known), 1.0);
        assert_eq!(most(farthest, Foresight::Guessed(&[])), 1.0);
    }

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
