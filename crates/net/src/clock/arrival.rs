//! The clock that others are drawn by where states have no ticks: by the time of their arrival.
//!
//! Arrival is made of the sender's rhythm and of the network's unrest. A loop that follows the
//! rhythm stamps each state with the time at which it would have come on a quiet network, so
//! that what moves steadily is drawn moving steadily; the drawing stays behind by what nearly
//! always lies between a stamp and the arrival of the next state.

use super::slew::{MAX_BEND, Slew};
use super::window::Window;
use super::{JOINING, seconds};
use crate::time::Time;
use std::time::Duration;

/// So many stretches of time are looked at: two seconds, or as long as so many states take.
const STRETCHES: usize = 128;

/// States that come faster than this are looked at together.
const STRETCH_S: f64 = 0.015;

/// In this share of stretches there is always something to draw towards.
const PUNCTUAL: f64 = 0.97;

/// The margin on a network without unrest.
const MIN_MARGIN_S: f64 = 0.002;

/// How long the rhythm's loop averages over.
const AVERAGE_S: f64 = 0.25;

/// An arrival so far from the rhythm begins it anew: a pause, not unrest.
const PAUSE_S: f64 = 0.5;

/// Where states have no numbers, a gap of more periods than this has lost some.
const GAP_PERIODS: f64 = 1.75;

/// The clock that others are drawn by in dialects whose states have no ticks: from 17 uneven
/// ones a second to a thousand.
///
/// Its scale is seconds, from an origin of its own.
#[derive(Clone, Debug, Default)]
pub struct ArrivalClock {
    flow: Option<Flow>,
}

#[derive(Clone, Debug)]
struct Flow {
    began: Time,
    /// The newest state: when it came, its stamp, and its number if it has one.
    arrival_s: f64,
    stamp_s: f64,
    number: Option<u32>,
    /// From one state to the next; unknown until there are two.
    period_s: Option<f64>,
    /// How long a stamp had to last until the next state came, at worst in each stretch.
    waits_s: Window<STRETCHES>,
    stretch_from_s: f64,
    longest_s: f64,
    slew: Slew,
}

impl ArrivalClock {
    /// Waits for the first state.
    pub fn new() -> Self {
        ArrivalClock::default()
    }

    /// Takes a state that arrived, with its number if it has one, and says what time it shows
    /// on the scale of [`ArrivalClock::drawn`]: later than all before it. Nothing if it is not
    /// newer than the newest: it is of no use any more.
    ///
    /// A state that comes in several datagrams has arrived with the first.
    pub fn handle_state(&mut self, now: Time, number: Option<u32>) -> Option<f64> {
        match &mut self.flow {
            Some(flow) => flow.handle_state(now, number),
            None => {
                self.flow = Some(Flow::new(now, number));
                Some(0.0)
            }
        }
    }

    /// The time that is drawn now, in seconds; never runs backwards. Nothing before the first
    /// state.
    pub fn drawn(&self, now: Time) -> Option<f64> {
        self.flow.as_ref().map(|flow| flow.slew.at(now))
    }

    /// The rate at which it runs now: 1 is that of the local clock.
    pub fn rate(&self, now: Time) -> f64 {
        self.flow.as_ref().map_or(1.0, |flow| flow.slew.rate(now))
    }

    /// From one state to the next, on average.
    pub fn period(&self) -> Option<Duration> {
        Duration::try_from_secs_f64(self.flow.as_ref()?.period_s?).ok()
    }

    /// How far the drawing is meant to be behind the stamps.
    pub fn delay(&self) -> Duration {
        let delay_s = self.flow.as_ref().and_then(Flow::delay_s).unwrap_or_default();
        Duration::try_from_secs_f64(delay_s).unwrap_or_default()
    }
}

impl Flow {
    fn new(now: Time, number: Option<u32>) -> Self {
        Flow {
            began: now,
            arrival_s: 0.0,
            stamp_s: 0.0,
            number,
            period_s: None,
            waits_s: Window::new(),
            stretch_from_s: 0.0,
            longest_s: 0.0,
            slew: Slew::new(now, 0.0, 1.0),
        }
    }

    fn handle_state(&mut self, now: Time, number: Option<u32>) -> Option<f64> {
        let arrival_s = seconds(now, self.began).max(self.arrival_s);
        let steps = self.steps(arrival_s, number)?;
        self.note_wait(arrival_s);
        self.stamp(arrival_s, steps);
        (self.arrival_s, self.number) = (arrival_s, number);
        if let Some(delay_s) = self.delay_s() {
            let target_s = arrival_s - delay_s;
            if now.since(self.began) < JOINING {
                self.slew.jump(now, target_s);
            }
            self.slew.steer(now, target_s, MAX_BEND);
        }
        Some(self.stamp_s)
    }

    /// How many states further than the newest this one is.
    fn steps(&self, arrival_s: f64, number: Option<u32>) -> Option<f64> {
        if let (Some(number), Some(newest)) = (number, self.number) {
            let ahead = number.wrapping_sub(newest) as i32;
            return (ahead > 0).then_some(f64::from(ahead));
        }
        let periods = self.period_s.map_or(1.0, |period_s| (arrival_s - self.stamp_s) / period_s);
        Some(if periods > GAP_PERIODS { periods.round() } else { 1.0 })
    }

    /// Puts the next stamp where the rhythm expects it, and the rhythm nearer to the arrival.
    fn stamp(&mut self, arrival_s: f64, steps: f64) {
        let period_s = self.period_s.unwrap_or((arrival_s - self.arrival_s) / steps);
        let expected_s = self.stamp_s + period_s * steps;
        let error_s = arrival_s - expected_s;
        if error_s.abs() > PAUSE_S {
            self.stamp_s = arrival_s.max(self.stamp_s);
            return;
        }
        let gain = period_s * steps / (period_s * steps + AVERAGE_S);
        // Critically damped: it settles without swinging.
        self.period_s = Some((period_s + error_s * gain * gain / (4.0 * steps)).max(0.0));
        self.stamp_s = (expected_s + error_s * gain).max(self.stamp_s);
    }

    fn note_wait(&mut self, arrival_s: f64) {
        self.longest_s = self.longest_s.max(arrival_s - self.stamp_s);
        if arrival_s - self.stretch_from_s >= STRETCH_S {
            self.waits_s.push(self.longest_s);
            self.stretch_from_s = arrival_s;
            self.longest_s = 0.0;
        }
    }

    fn delay_s(&self) -> Option<f64> {
        Some(self.waits_s.quantile(PUNCTUAL)? + MIN_MARGIN_S)
    }
}
