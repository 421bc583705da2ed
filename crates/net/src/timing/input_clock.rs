//! The input clock, which own inputs are made by: ahead of the server's, so that they reach it just in
//! time.
//!
//! Every report says how long a datagram took, on both clocks together: `lag = (time of the
//! tick that its input was for - early) - local time when that input was due`. That holds
//! whatever this clock showed then, so it can be steered straight to where nearly all lags and
//! a margin for lost datagrams fit, without waiting for the effect and without swinging.
//!
//! A thread that woke late makes all inputs that were due meanwhile at once, and sends them in one
//! datagram. The report is about the newest; the others took longer by what they were due earlier.

use super::delay_estimator::DelayEstimator;
use super::shift::{Hurry, Shift};
use super::slew::{Bend, MAX_BEND, Slew};
use super::sliding_window::SlidingWindow;
use super::stall::{LATE, Stalls};
use super::{Feedback, JOINING, seconds, ticks_since};
use crate::time::Time;
use std::time::Duration;

/// So many reports are looked at: about two seconds.
const REPORTS: usize = 128;

/// What being further ahead is worth: 2 ms for 16 ticks without input less in 100,000.
const PRICE: f64 = 0.08;

/// No more ticks without input than this share, whatever the price.
const FAULTS: f64 = 0.000_7;

/// What is assumed lost before the first report, and the margin for that in ticks.
const LOST_AT_FIRST: f64 = 0.05;
const MARGIN_AT_FIRST: f64 = 2.5;

/// A longer round trip is not believed at first. It may have been a spike, and a clock set too
/// far ahead comes back slowly, one set too far back jumps with the first reports.
const RTT_AT_FIRST: Duration = Duration::from_millis(150);

/// So many reports show where most datagrams come: enough to jump there while joining.
const REPORTS_AT_FIRST: usize = 3;

/// And so many where this share does, if what is wanted is so much further.
const REPORTS_SOON: usize = 16;
const FAR_S: f64 = 0.04;
const MOST: f64 = 0.86;

/// A lag that is longer than so many of the last is unusual; so many datagrams that come together
/// are told apart.
const USUAL: f64 = 0.9;
const TOGETHER: f64 = 4.0;

/// Lags that are all longer than this share of those before, or all shorter than as many, have changed
/// for good: the route, or the server lost ticks.
const UNUSUAL: f64 = 0.75;

/// Of all time, the share in which inputs may miss their ticks because the own thread woke late.
const STALLED: f64 = 0.002;

/// So many inputs that were made at once count, each with its own lag.
const AT_ONCE: u8 = 8;

/// The most that it is slowed down once the player plays: to be too far ahead costs little.
const SLOWER: f64 = 0.02;

/// Nobody is believed to be earlier or later than this. The first inputs are late by nearly all of
/// a round trip, which may be 1.5 s.
const EARLY_LIMIT_US: i32 = 2_000_000;

/// So many of the last inputs are known by the time at which they were due.
const REMEMBERED: usize = 256;

/// The client's clock that runs ahead of the server's. When it passes a whole number, the input
/// with that number is due: made, and sent.
#[derive(Clone, Debug)]
pub struct InputClock {
    tick_rate: f64,
    began: Time,
    /// Ticks are counted from here inside.
    origin: u32,
    slew: Slew,
    lags_s: SlidingWindow<REPORTS>,
    longer: Shift,
    shorter: Shift,
    hurry: Hurry,
    lost: f64,
    /// How many reports have come.
    reports: u32,
    /// The newest input that was reported.
    echo: Option<u32>,
    /// When the last inputs were due, by their numbers' low bits, in local seconds.
    due_s: [f64; REMEMBERED],
    /// The first that is not in there.
    next: u32,
    /// When an input was made last, and for each how many before it were late and made with it.
    made: Option<Time>,
    made_with: [u8; REMEMBERED],
    stalls: Stalls,
}

impl InputClock {
    /// Begins a session in which, as far as is known, the server's clock shows `server_tick`
    /// now and a round trip takes `rtt`.
    ///
    /// # Panics
    /// If `tick_rate` is 0.
    pub fn new(now: Time, tick_rate: u8, server_tick: f64, rtt: Duration) -> Self {
        assert!(tick_rate > 0, "a server that never steps has no clock to be ahead of");
        let tick_rate = f64::from(tick_rate);
        // What the server's clock surely showed, and what it takes there and back.
        let told = (server_tick - rtt.as_secs_f64() / 2.0 * tick_rate).max(0.0);
        let origin = told as u32;
        let lead = rtt.min(RTT_AT_FIRST).as_secs_f64() * tick_rate + MARGIN_AT_FIRST;
        let first = told - f64::from(origin) + lead;
        InputClock {
            tick_rate,
            began: now,
            origin,
            slew: Slew::new(now, first, tick_rate),
            lags_s: SlidingWindow::new(),
            longer: Shift::default(),
            shorter: Shift::default(),
            hurry: Hurry::default(),
            lost: LOST_AT_FIRST,
            reports: 0,
            echo: None,
            due_s: [f64::NAN; REMEMBERED],
            next: origin.wrapping_add(first as u32),
            made: None,
            made_with: [0; REMEMBERED],
            stalls: Stalls::default(),
        }
    }

    /// The tick that own inputs are made for now, with its fraction; never runs backwards.
    pub fn tick(&self, now: Time) -> f64 {
        f64::from(self.origin) + self.slew.at(now)
    }

    /// When the input for `tick` is due: [`InputClock::tick`] has passed it then. Ask again after
    /// each [`InputClock::handle_feedback`].
    pub fn due(&self, tick: u32) -> Time {
        self.slew.when(ticks_since(tick, self.origin))
    }

    /// The rate at which it runs now: 1 is that of the local clock.
    pub fn rate(&self, now: Time) -> f64 {
        self.slew.rate(now)
    }

    /// When the input for `tick` was due, if it was lately: that is when it was sent. Serves
    /// [`super::ServerClock::handle_echo`] where nobody keeps the time of sending itself.
    pub fn was_due(&self, tick: u32) -> Option<Time> {
        let due_s = self.remembered(tick)?;
        Some(self.began + Duration::try_from_secs_f64(due_s).ok()?)
    }

    /// How late it is for the input for `tick`.
    pub fn late(&self, now: Time, tick: u32) -> Duration {
        now.since(self.was_due(tick).unwrap_or_else(|| self.due(tick)))
    }

    /// The client's thread came so late to do something that was due.
    pub fn handle_late(&mut self, now: Time, late: Duration) {
        self.stalls.handle_late(now, late);
    }

    /// The input for `tick` is made now; those that are made at the same time go out with it.
    pub fn handle_input(&mut self, now: Time, tick: u32) {
        let before = self.made_with[tick.wrapping_sub(1) as usize % REMEMBERED];
        let is_with =
            self.made.replace(now) == Some(now) && self.late(now, tick.wrapping_sub(1)) > LATE;
        self.made_with[tick as usize % REMEMBERED] =
            if is_with { before + 1 } else { 0 }.min(AT_ONCE - 1);
    }

    /// Takes what a snapshot reported, as it arrives, and bends the clock accordingly.
    pub fn handle_feedback(&mut self, now: Time, feedback: &Feedback) {
        self.remember(now);
        self.lost = feedback.lost;
        self.reports = self.reports.saturating_add(1);
        let Some(due_s) = self.remembered(feedback.echo) else { return };
        let tick_s = ticks_since(feedback.echo, self.origin) / self.tick_rate;
        let early_us = feedback.early_us.clamp(-EARLY_LIMIT_US, EARLY_LIMIT_US);
        let is_joining = now.since(self.began) < JOINING;
        let lag_s = tick_s - f64::from(early_us) / 1e6 - due_s;
        let usual_s = [1.0 - UNUSUAL, UNUSUAL].map(|share| self.lags_s.quantile(share));
        self.take_lag(feedback.echo, is_joining, lag_s);
        if !is_joining {
            self.handle_shift(now, lag_s, usual_s);
        }
        let reach = DelayEstimator {
            interval_s: 1.0 / self.tick_rate,
            lost: self.lost,
            price: PRICE,
            faults: FAULTS,
            sure_lost: self.sure_lost(),
            after_s: 0.0,
        };
        let Some(chosen_s) = reach.choose(&self.lags_s) else { return };
        let lag_s =
            self.stalls.reach_s(&self.lags_s, STALLED).map_or(chosen_s, |it| it.max(chosen_s));

        let local_s = seconds(now, self.began);
        let target = (local_s + lag_s) * self.tick_rate;
        if !is_joining {
            let least = self.hurry.bend(now, self.slew.error_s(now, target));
            let most = Bend { slower: SLOWER.max(least), faster: MAX_BEND.max(least) };
            return self.slew.steer(now, target, most);
        }
        if self.lags_s.len() >= REPORTS_AT_FIRST {
            let short_s = local_s + lag_s - self.slew.at(now) / self.tick_rate;
            let enough = match self.lags_s.len() {
                // Bending would take longer than joining may.
                REPORTS_SOON.. if short_s > FAR_S => MOST,
                _ => 0.5,
            };
            let enough_s = self.lags_s.quantile(enough).unwrap_or(lag_s).min(lag_s);
            self.slew.jump(now, (local_s + enough_s) * self.tick_rate);
        }
        self.slew.steer(now, target, Bend::UNSEEN);
    }

    /// Looks whether all lags of late are longer or shorter than usual.
    fn handle_shift(&mut self, now: Time, lag_s: f64, usual_s: [Option<f64>; 2]) {
        let [least_s, most_s] = usual_s;
        let shorter = self.shorter.handle(now, -lag_s, least_s.map(|it| -it));
        if let Some(count) = self.longer.handle(now, lag_s, most_s).or(shorter) {
            self.lags_s.keep_last(count);
            self.hurry.begin(now);
        }
    }

    /// The share of inputs that is lost without what the server assumes before it knows better:
    /// one in twenty, and one more than it saw.
    fn sure_lost(&self) -> f64 {
        (self.lost - 1.0 / (f64::from(self.reports) + 20.0)).max(0.0)
    }

    /// Takes the lag of the worst datagram that a report is about. One that is unusually late came
    /// together with those after it: they were as late, each an interval less. While joining, it may
    /// be the clock's own jump.
    fn take_lag(&mut self, echo: u32, is_joining: bool, lag_s: f64) {
        let since = self.echo.replace(echo).map_or(1.0, |last| ticks_since(echo, last));
        let made_with = self.made_with[echo as usize % REMEMBERED];
        if made_with > 0 && since > f64::from(made_with) {
            for older in (0..=made_with).rev() {
                self.lags_s.push(lag_s + f64::from(older) / self.tick_rate);
            }
            return;
        }
        let is_unusual = self.lags_s.quantile(USUAL).is_some_and(|usual_s| lag_s > usual_s);
        let together =
            if is_unusual && !is_joining { since.clamp(1.0, TOGETHER) as u32 } else { 1 };
        for later in 0..together {
            self.lags_s.push(lag_s - f64::from(later) / self.tick_rate);
        }
    }

    /// Notes when inputs were due up to now, before the clock is bent otherwise.
    fn remember(&mut self, now: Time) {
        let passed = self.slew.at(now);
        // After a long silence only the last ones matter.
        let oldest = self.origin.wrapping_add((passed as u32).saturating_sub(REMEMBERED as u32));
        if ticks_since(oldest, self.next) > 0.0 {
            self.next = oldest;
        }
        while ticks_since(self.next, self.origin) <= passed {
            self.due_s[self.next as usize % REMEMBERED] = seconds(self.due(self.next), self.began);
            self.next = self.next.wrapping_add(1);
        }
    }

    fn remembered(&self, tick: u32) -> Option<f64> {
        let back = self.next.wrapping_sub(tick) as usize;
        let due_s = self.due_s[tick as usize % REMEMBERED];
        ((1..=REMEMBERED).contains(&back) && due_s.is_finite()).then_some(due_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    fn ms(ms: u64) -> Time {
        Time::from_millis(ms)
    }

    fn ahead() -> InputClock {
        InputClock::new(ms(1_000), 50, 700.0, Duration::from_millis(100))
    }

    /// Reports on the inputs due from one time to another, from a server that stepped tick 700
    /// at 1000 ms and is `way_ms` away.
    fn report(ahead: &mut InputClock, from_ms: u64, end_ms: u64, way_ms: u64) {
        report_from(ahead, from_ms, end_ms, way_ms, 0);
    }

    /// The same from a server that has lost ticks since, `lost_ms` in all.
    fn report_from(ahead: &mut InputClock, from_ms: u64, end_ms: u64, way_ms: u64, lost_ms: i64) {
        let way = Duration::from_millis(way_ms);
        let mut input = ahead.tick(ms(from_ms)) as u32 + 1;
        let mut reports = VecDeque::new();
        loop {
            let due = ahead.due(input).max(ms(from_ms));
            if let Some((heard, feedback)) = reports.pop_front_if(|(heard, _)| *heard <= due) {
                ahead.handle_feedback(heard, &feedback);
            } else if due >= ms(end_ms) {
                return;
            } else {
                let tick_us = (i64::from(input) - 700) * 20_000 + 1_000_000 + lost_ms * 1_000;
                let early_us = (tick_us - (due + way).as_micros() as i64) as i32;
                let feedback = Feedback { echo: input, held: Duration::ZERO, early_us, lost: 0.0 };
                reports.push_back((due + way + way, feedback));
                input += 1;
            }
        }
    }

    fn lead_ms(ahead: &InputClock, now_ms: u64) -> f64 {
        (ahead.tick(ms(now_ms)) - 700.0) * 20.0 - (now_ms as f64 - 1_000.0)
    }

    #[test]
    fn it_begins_half_a_round_trip_and_a_margin_ahead() {
        assert!((ahead().tick(ms(1_000)) - 705.0).abs() < 1e-9);
        let spike = InputClock::new(ms(1_000), 50, 700.0, Duration::from_secs(3));
        assert!(spike.tick(ms(1_000)) < 700.0, "a spike is not believed");
    }

    #[test]
    fn without_reports_it_runs_straight() {
        let ahead = ahead();
        assert!((ahead.tick(ms(11_000)) - 1_205.0).abs() < 1e-6);
        assert_eq!(ahead.rate(ms(11_000)), 1.0);
    }

    #[test]
    fn an_input_is_due_when_the_clock_passes_it_and_remembered() {
        let mut ahead = ahead();
        let due = ahead.due(720);
        assert!(ahead.tick(due) >= 720.0);
        assert_eq!(ahead.was_due(720), None);
        report(&mut ahead, 1_000, 3_000, 50);
        let was_due = ahead.was_due(720).unwrap();
        assert!(was_due.since(due).max(due.since(was_due)) < Duration::from_millis(20));
        assert_eq!(ahead.was_due(900), None);
    }

    #[test]
    fn a_steady_path_settles_at_its_length_and_the_margin() {
        let mut ahead = ahead();
        report(&mut ahead, 1_000, 9_000, 50);
        let lead_ms = lead_ms(&ahead, 9_020);
        assert!((51.0..54.0).contains(&lead_ms), "{lead_ms}");
    }

    #[test]
    fn while_joining_it_jumps_and_later_it_bends() {
        let mut joining = ahead();
        report(&mut joining, 1_000, 1_600, 200);
        assert!(lead_ms(&joining, 1_700) > 195.0, "{}", lead_ms(&joining, 1_700));

        let mut playing = ahead();
        report(&mut playing, 1_000, 6_000, 50);
        let before_ms = lead_ms(&playing, 6_100);
        report(&mut playing, 6_000, 6_500, 200);
        assert!((playing.rate(ms(6_600)) - (1.0 + MAX_BEND)).abs() < 1e-9);
        assert!(lead_ms(&playing, 6_600) - before_ms < 25.0);
    }

    #[test]
    fn inputs_that_are_made_at_once_count_each_with_its_own_lag() {
        let mut ahead = ahead();
        report(&mut ahead, 1_000, 6_000, 50);
        let usual_s = ahead.lags_s.quantile(1.0).unwrap();
        // 50 ms late, three inputs leave together, and the report is about the newest.
        let first = ahead.tick(ms(6_000)) as u32 + 1;
        let made = ahead.due(first) + Duration::from_millis(50);
        let last = ahead.tick(made) as u32;
        assert_eq!(last - first, 2);
        (first..=last).for_each(|tick| ahead.handle_input(made, tick));
        let way = Duration::from_millis(50);
        let tick_us = (i64::from(last) - 700) * 20_000 + 1_000_000;
        let early_us = (tick_us - (made + way).as_micros() as i64) as i32;
        let held = Duration::ZERO;
        ahead
            .handle_feedback(made + way + way, &Feedback { echo: last, held, early_us, lost: 0.0 });
        let late_ms: Vec<_> =
            ahead.lags_s.iter().map(|lag_s| ((lag_s - usual_s) * 1e3).round()).collect();
        assert!(late_ms.ends_with(&[50.0, 30.0, 10.0]), "{late_ms:?}");
    }

    #[test]
    fn stalls_every_few_seconds_are_led_by_as_much() {
        let mut ahead = ahead();
        report(&mut ahead, 1_000, 9_000, 50);
        let before_ms = lead_ms(&ahead, 9_020);
        for at in [9_030, 12_000, 15_000, 18_000] {
            ahead.handle_late(ms(at), Duration::from_millis(40));
        }
        report(&mut ahead, 18_000, 21_000, 50);
        // All but 32 ms of what they take in 16 s, in four parts.
        let more_ms = lead_ms(&ahead, 21_020) - before_ms;
        assert!((29.0..33.0).contains(&more_ms), "{more_ms}");
    }

    #[test]
    fn after_a_server_lost_ticks_the_lead_is_back_within_two_seconds() {
        let mut ahead = ahead();
        report(&mut ahead, 1_000, 6_000, 50);
        let before_ms = lead_ms(&ahead, 6_020);
        // It stood for 400 ms, so its ticks come so much later from now on.
        report_from(&mut ahead, 6_020, 8_000, 50, 400);
        let after_ms = lead_ms(&ahead, 8_020) + 400.0;
        assert!((after_ms - before_ms).abs() < 10.0, "{before_ms} {after_ms}");
    }

    #[test]
    fn reports_on_inputs_never_made_or_long_forgotten_do_nothing() {
        let mut ahead = ahead();
        for echo in [0, 699, 704, 5_000, u32::MAX] {
            let feedback = Feedback { echo, held: Duration::ZERO, early_us: i32::MIN, lost: 1.0 };
            ahead.handle_feedback(ms(1_010), &feedback);
        }
        assert_eq!(ahead.rate(ms(1_010)), 1.0);
    }

    #[test]
    fn a_long_silence_is_survived() {
        let mut ahead = ahead();
        report(&mut ahead, 1_000, 3_000, 50);
        report(&mut ahead, 600_000, 602_000, 50);
        assert!((51.0..60.0).contains(&lead_ms(&ahead, 602_020)));
    }
}
