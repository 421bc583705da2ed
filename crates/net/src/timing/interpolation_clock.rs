//! The interpolation clock, which others are drawn by: behind the server's, so that snapshots are
//! nearly always there, and no further. It is the clock of the jitter buffer: what lies between
//! arriving and being drawn is kept in the snapshot buffer.
//!
//! A snapshot's lateness is its local time of arrival less the time of its tick. The clock stays
//! behind the arrival of nearly all of them by one interval, to have something to draw towards,
//! and by as much again as lost snapshots ask for. A snapshot that lies in the socket while the
//! client's own thread is not let run cannot be drawn: it arrives when the thread wakes.

use super::delay_estimator::DelayEstimator;
use super::loss::LossMeter;
use super::shift::{Hurry, Shift};
use super::slew::{Bend, MAX_BEND, Slew};
use super::sliding_window::SlidingWindow;
use super::stall::Stalls;
use super::{seconds, ticks_since};
use crate::time::Time;
use std::time::Duration;

/// So many snapshots are looked at: about two seconds.
const SNAPSHOTS: usize = 128;

/// What being further behind is worth: 1.25 ms for one starved frame less in a thousand.
const PRICE: f64 = 0.8;

/// No more starved frames than this share, whatever the price.
const FAULTS: f64 = 0.002_5;

/// Of all time, the share in which frames may starve because the own thread woke late.
const STALLED: f64 = 0.004;

/// Snapshots that are all later than this share of those before come later from now on.
const USUAL: f64 = 0.75;

/// If they are later by more than this, bending would take longer than anyone should wait: all frames
/// starve meanwhile, so the clock may as well stand still.
const FAR_S: f64 = 0.075;

/// So long after the first snapshot it may jump forward: no longer than the session is joining.
const BEGINNING: Duration = Duration::from_secs(1);

/// Nearly all snapshots, for the jitter on a screen.
const NEARLY_ALL: f64 = 0.97;

/// The client's clock that runs behind the server's: at its time others are drawn.
#[derive(Clone, Debug)]
pub struct InterpolationClock {
    tick_rate: f64,
    /// Ticks from one snapshot to the next.
    every: u32,
    course: Option<Course>,
    loss: LossMeter,
    late_s: SlidingWindow<SNAPSHOTS>,
    shift: Shift,
    hurry: Hurry,
    /// When the client's thread woke last.
    woke: Time,
    stalls: Stalls,
}

/// What is known from the first snapshot on.
#[derive(Clone, Copy, Debug)]
struct Course {
    began: Time,
    origin: u32,
    slew: Slew,
}

/// How far the drawing is behind the fastest snapshots, and why: for a screen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Delay {
    /// How far it is meant to be behind them.
    pub total: Duration,
    /// How much later than the fastest nearly all snapshots come.
    pub jitter: Duration,
    /// From one snapshot to the next.
    pub interval: Duration,
    /// The share of snapshots that gets lost.
    pub lost: f64,
}

impl InterpolationClock {
    /// Waits for the first snapshot of a server that sends one `every` so many ticks.
    ///
    /// # Panics
    /// If either is 0.
    pub fn new(tick_rate: u8, every: u32) -> Self {
        assert!(tick_rate > 0 && every > 0, "a server that never sends cannot be drawn");
        InterpolationClock {
            tick_rate: f64::from(tick_rate),
            every,
            course: None,
            loss: LossMeter::new(),
            late_s: SlidingWindow::new(),
            shift: Shift::default(),
            hurry: Hurry::default(),
            woke: Time::ZERO,
            stalls: Stalls::default(),
        }
    }

    /// The client's thread runs again: snapshots that are taken next could not be drawn before.
    pub fn handle_wake(&mut self, now: Time) {
        self.woke = now;
    }

    /// The client's thread came so late to do something that was due.
    pub fn handle_late(&mut self, now: Time, late: Duration) {
        self.stalls.handle_late(now, late);
    }

    /// Takes the tick of a snapshot that arrived: of every one, in whatever order.
    pub fn handle_snapshot(&mut self, now: Time, tick: u32) {
        self.stalls.handle_late(self.woke, self.woke.since(now));
        let now = now.max(self.woke);
        if !self.loss.handle_arrival(tick / self.every) {
            return;
        }
        let (began, origin) = self.course.as_ref().map_or((now, tick), |c| (c.began, c.origin));
        let local_s = seconds(now, began);
        let late_s = local_s - ticks_since(tick, origin) / self.tick_rate;
        let usual_s = self.late_s.quantile(USUAL);
        self.late_s.push(late_s);
        let has_shifted = match self.shift.handle(now, late_s, usual_s) {
            Some(count) => {
                self.late_s.keep_last(count);
                true
            }
            None => false,
        };
        let Some(late_s) = self.reach_s() else { return };
        let target = (local_s - late_s - self.interval_s()) * self.tick_rate;
        let first = Course { began, origin, slew: Slew::new(now, target, self.tick_rate) };
        let course = self.course.get_or_insert(first);
        if now.since(began) < BEGINNING {
            course.slew.jump(now, target);
        }
        if has_shifted && course.slew.error_s(now, target) < -FAR_S {
            self.hurry.begin(now);
        }
        let slower = if self.hurry.is_on(now) { 1.0 } else { MAX_BEND };
        course.slew.steer(now, target, Bend { slower, ..Bend::UNSEEN });
    }

    /// The server's tick that is drawn now, with its fraction; never runs backwards. Nothing
    /// before the first snapshot.
    pub fn drawn(&self, now: Time) -> Option<f64> {
        let course = self.course.as_ref()?;
        Some(f64::from(course.origin) + course.slew.at(now))
    }

    /// The rate at which it runs now: 1 is that of the local clock.
    pub fn rate(&self, now: Time) -> f64 {
        self.course.as_ref().map_or(1.0, |course| course.slew.rate(now))
    }

    /// The newest tick that arrived, rounded down to a snapshot's.
    pub fn newest(&self) -> Option<u32> {
        self.loss.newest().map(|number| number * self.every)
    }

    /// How far behind, and why.
    pub fn delay(&self) -> Delay {
        let base_s = self.late_s.quantile(0.0).unwrap_or_default();
        let jitter_s = self.late_s.quantile(NEARLY_ALL).unwrap_or_default() - base_s;
        let total_s = self.reach_s().unwrap_or_default() - base_s + self.interval_s();
        let span = |s| Duration::try_from_secs_f64(s).unwrap_or_default();
        Delay {
            total: span(total_s),
            jitter: span(jitter_s),
            interval: span(self.interval_s()),
            lost: self.loss.share(),
        }
    }

    /// How late a snapshot may be.
    fn reach_s(&self) -> Option<f64> {
        let interval_s = self.interval_s();
        let reach = DelayEstimator {
            interval_s,
            lost: self.loss.share(),
            price: PRICE,
            faults: FAULTS,
            sure_lost: self.loss.sure_share(),
            // A frame may fall anywhere before the snapshot that it is drawn towards.
            after_s: interval_s,
        };
        let chosen_s = reach.choose(&self.late_s)?;
        Some(self.stalls.reach_s(&self.late_s, STALLED).map_or(chosen_s, |it| it.max(chosen_s)))
    }

    fn interval_s(&self) -> f64 {
        f64::from(self.every) / self.tick_rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: f64) -> Time {
        Time::from_nanos((ms * 1e6) as u64)
    }

    #[test]
    fn nothing_is_drawn_before_the_first_snapshot() {
        assert_eq!(InterpolationClock::new(60, 1).drawn(ms(5.0)), None);
    }

    #[test]
    fn on_a_quiet_link_it_draws_an_interval_and_a_margin_behind_every_rate() {
        for every in [1, 2, 6] {
            let mut behind = InterpolationClock::new(60, every);
            let interval_ms = f64::from(every) * 1_000.0 / 60.0;
            let mut now_ms = 0.0;
            for index in 0..1_500 {
                now_ms = 3_000.0 + f64::from(index) * interval_ms;
                behind.handle_snapshot(ms(now_ms), 4_000 + index * every);
            }
            let newest = f64::from(4_000 + 1_499 * every);
            let delay_ms = (newest - behind.drawn(ms(now_ms)).unwrap()) * 1_000.0 / 60.0;
            assert!((interval_ms..interval_ms + 3.0).contains(&delay_ms), "{every}: {delay_ms}");
            let shown = behind.delay();
            assert!((shown.total.as_secs_f64() * 1e3 - delay_ms).abs() < 0.1, "{shown:?}");
            assert!(shown.jitter < Duration::from_micros(1));
            assert!(shown.lost < 0.01);
            assert_eq!(behind.newest(), Some(newest as u32 / every * every));
            assert_eq!(behind.rate(ms(now_ms + 1.0)).round(), 1.0);
        }
    }

    #[test]
    fn snapshots_that_nobody_could_read_arrive_when_the_thread_wakes() {
        // Once a second the thread is 50 ms late: three snapshots lie in the socket.
        let delay_ms = |late_ms: f64| {
            let mut behind = InterpolationClock::new(60, 1);
            for tick in 0..600 {
                let came_ms = f64::from(tick) * 1_000.0 / 60.0;
                let stall_ms = f64::from(tick / 60 * 1_000);
                if (stall_ms..stall_ms + late_ms).contains(&came_ms) {
                    behind.handle_wake(ms(stall_ms + late_ms));
                }
                behind.handle_snapshot(ms(came_ms), tick);
            }
            behind.delay().total.as_secs_f64() * 1e3
        };
        assert!(delay_ms(0.0) < 20.0);
        let late = delay_ms(50.0);
        assert!((50.0..80.0).contains(&late), "{late}");
    }

    #[test]
    fn after_a_server_lost_ticks_it_stands_until_they_are_made_up_for_and_never_runs_back() {
        let mut behind = InterpolationClock::new(60, 1);
        let delay_ms = |behind: &InterpolationClock, now_ms: f64, newest: u32| {
            (f64::from(newest) - behind.drawn(ms(now_ms)).unwrap()) * 1_000.0 / 60.0
        };
        let mut last = f64::NEG_INFINITY;
        for tick in 0..780u32 {
            // From the six hundredth on all come half a second later.
            let lost_ms = if tick < 600 { 0.0 } else { 500.0 };
            let now_ms = 1_000.0 + f64::from(tick) * 1_000.0 / 60.0 + lost_ms;
            behind.handle_snapshot(ms(now_ms), tick);
            let drawn = behind.drawn(ms(now_ms)).unwrap();
            assert!(drawn >= last, "{drawn} after {last}");
            last = drawn;
            if tick == 599 || tick >= 720 {
                // Two seconds after the first of them it is as far behind as before.
                let delay_ms = delay_ms(&behind, now_ms, tick);
                assert!((16.0..21.0).contains(&delay_ms), "{tick}: {delay_ms}");
            }
        }
    }

    #[test]
    fn it_counts_on_across_the_wrap_of_ticks() {
        let mut behind = InterpolationClock::new(60, 1);
        let first = u32::MAX - 100;
        for index in 0..200 {
            behind.handle_snapshot(ms(f64::from(index) * 16.667), first.wrapping_add(index));
        }
        let drawn = behind.drawn(ms(199.0 * 16.667)).unwrap() - f64::from(first);
        assert!((195.0..199.0).contains(&drawn), "{drawn}");
    }

    #[test]
    fn a_snapshot_that_comes_twice_changes_nothing() {
        let mut behind = InterpolationClock::new(60, 1);
        for index in 0..100 {
            behind.handle_snapshot(ms(f64::from(index) * 16.667), index);
        }
        let before = behind.delay();
        behind.handle_snapshot(ms(2_000.0), 50);
        assert_eq!(behind.delay(), before);
    }

    #[test]
    fn absurd_ticks_never_turn_it_back() {
        let mut behind = InterpolationClock::new(60, 1);
        let mut last = f64::NEG_INFINITY;
        for (index, tick) in [7, u32::MAX, 0, 1 << 31, 8, 9, 4_000_000].into_iter().enumerate() {
            let now = ms(index as f64 * 20.0);
            behind.handle_snapshot(now, tick);
            let drawn = behind.drawn(now).unwrap();
            assert!(drawn >= last && drawn.is_finite(), "{drawn} after {last}");
            last = drawn;
        }
    }
}
