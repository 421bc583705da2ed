//! The clock that others are drawn by where states have no ticks: by the time of their arrival.
//!
//! Arrival is made of the sender's rhythm and of the network's unrest. A loop that follows the
//! rhythm stamps each state with the time at which it would have come on a quiet network, so
//! that what moves steadily is drawn moving steadily; the drawing stays behind by what nearly
//! always lies between a stamp and the arrival of the next state.

use super::slew::{Bend, Slew};
use super::sliding_window::SlidingWindow;
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

/// So long the rhythm is the plain mean; then a loop follows it that averages over a quarter.
const FIRST_S: f64 = 1.0;
const AVERAGE_S: f64 = 0.25;

/// Where states have no numbers, it is the middle of so many gaps: losing some hardly moves it.
const GAPS: usize = 32;

/// An arrival so much later than expected begins the rhythm anew: a pause, not unrest.
const PAUSE_S: f64 = 0.25;

/// So does one that is earlier by this and by two periods: states come faster than before.
const HASTE_S: f64 = 0.05;

/// States faster than this share a period: a rhythm must not stand still.
const MIN_PERIOD_S: f64 = 0.000_5;

/// Where states have no numbers, a gap of more periods than this has lost some.
const GAP_PERIODS: f64 = 1.75;

/// What is known of when a state was made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mark {
    /// Its number: one more with every state.
    Number(u32),
    /// It was made so long after the newest: the world has moved on by so much.
    After(Duration),
    /// Nothing.
    Unknown,
}

/// The clock that others are drawn by in dialects whose states have no ticks: from 17 uneven
/// ones a second to a thousand.
///
/// Its scale is seconds, from an origin of its own.
#[derive(Clone, Debug, Default)]
pub struct ArrivalClock {
    flow: Option<Flow>,
    /// When the thread that hands states over woke: none can be drawn before.
    woke: Time,
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
    /// Where the rhythm began, and how many states ago.
    rhythm_from_s: f64,
    rhythm_len: f64,
    gaps_s: SlidingWindow<GAPS>,
    /// How long a stamp had to last until the next state came, at worst in each stretch.
    waits_s: SlidingWindow<STRETCHES>,
    stretch_from_s: f64,
    longest_s: f64,
    slew: Slew,
}

impl ArrivalClock {
    /// Waits for the first state.
    pub fn new() -> Self {
        ArrivalClock::default()
    }

    /// The client's thread runs again: states that are taken next could not be drawn before.
    pub fn handle_wake(&mut self, now: Time) {
        self.woke = now;
    }

    /// Takes a state that arrived, with what is known of when it was made, and says what time it
    /// shows on the scale of [`ArrivalClock::drawn`]: later than all before it. Nothing if it is not
    /// newer than the newest: it is of no use any more.
    ///
    /// A state that comes in several datagrams has arrived with the first.
    pub fn handle_state(&mut self, now: Time, mark: Mark) -> Option<f64> {
        match &mut self.flow {
            Some(flow) => flow.handle_state(now, self.woke, mark),
            None => {
                self.flow = Some(Flow::new(now, mark.number()));
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

impl Mark {
    fn number(self) -> Option<u32> {
        match self {
            Mark::Number(number) => Some(number),
            Mark::After(_) | Mark::Unknown => None,
        }
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
            rhythm_from_s: 0.0,
            rhythm_len: 0.0,
            gaps_s: SlidingWindow::new(),
            waits_s: SlidingWindow::new(),
            stretch_from_s: 0.0,
            longest_s: 0.0,
            slew: Slew::new(now, 0.0, 1.0),
        }
    }

    fn handle_state(&mut self, now: Time, woke: Time, mark: Mark) -> Option<f64> {
        let arrival_s = seconds(now, self.began).max(self.arrival_s);
        let number = mark.number();
        let steps = self.steps(arrival_s, mark)?;
        self.note_wait(arrival_s.max(seconds(woke, self.began)));
        self.gaps_s.push(arrival_s - self.arrival_s);
        let mean_s = match number {
            Some(_) => (arrival_s - self.rhythm_from_s) / (self.rhythm_len + steps),
            None => self.gaps_s.quantile(0.5)?,
        };
        self.stamp(arrival_s, steps, mean_s);
        (self.arrival_s, self.number) = (arrival_s, number);
        if let Some(delay_s) = self.delay_s() {
            let target_s = arrival_s - delay_s;
            if now.since(self.began) < JOINING {
                self.slew.jump(now, target_s);
            }
            self.slew.steer(now, target_s, Bend::UNSEEN);
        }
        Some(self.stamp_s)
    }

    /// How many states further than the newest this one is.
    fn steps(&self, arrival_s: f64, mark: Mark) -> Option<f64> {
        if let (Some(number), Some(newest)) = (mark.number(), self.number) {
            let ahead = number.wrapping_sub(newest) as i32;
            return (ahead > 0).then_some(f64::from(ahead));
        }
        let settled = self.period_s.filter(|_| arrival_s - self.rhythm_from_s > FIRST_S);
        if let (Mark::After(since), Some(period_s)) = (mark, settled) {
            return Some(since.as_secs_f64() / period_s).filter(|&steps| steps > 0.0);
        }
        let periods = settled.map_or(1.0, |period_s| (arrival_s - self.stamp_s) / period_s);
        Some(if periods > GAP_PERIODS { periods.round() } else { 1.0 })
    }

    /// Puts the next stamp where the rhythm expects it, and the rhythm nearer to the arrival.
    fn stamp(&mut self, arrival_s: f64, steps: f64, mean_s: f64) {
        self.rhythm_len += steps;
        let is_first = arrival_s - self.rhythm_from_s < FIRST_S;
        let period_s = self.period_s.filter(|_| !is_first).unwrap_or(mean_s);
        let elapsed_s = period_s * steps;
        let expected_s = self.stamp_s + elapsed_s;
        let error_s = arrival_s - expected_s;
        if error_s > PAUSE_S || error_s < -HASTE_S.max(2.0 * period_s) {
            self.stamp_s = arrival_s.max(self.stamp_s);
            (self.rhythm_from_s, self.rhythm_len) = (arrival_s, 0.0);
            return;
        }
        let gain = elapsed_s / (elapsed_s + AVERAGE_S);
        // Critically damped: it settles without swinging.
        let change_s = if is_first { 0.0 } else { error_s * gain * gain / (4.0 * steps) };
        self.period_s = Some((period_s + change_s).max(MIN_PERIOD_S));
        self.stamp_s = (expected_s + error_s * gain).max(self.stamp_s);
    }

    /// Until `there_s` there was nothing after the newest stamp to draw towards.
    fn note_wait(&mut self, there_s: f64) {
        self.longest_s = self.longest_s.max(there_s - self.stamp_s);
        if there_s - self.stretch_from_s >= STRETCH_S {
            self.waits_s.push(self.longest_s);
            self.stretch_from_s = there_s;
            self.longest_s = 0.0;
        }
    }

    fn delay_s(&self) -> Option<f64> {
        Some(self.waits_s.quantile(PUNCTUAL)? + MIN_MARGIN_S)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_wakes_late_is_waited_for_and_does_not_bend_the_rhythm() {
        let [still, late] = [0, 40].map(|late_ms| {
            let mut clock = ArrivalClock::new();
            for state in 0..300u32 {
                let came = Time::from_millis(1_000 + u64::from(state) * 20);
                // Every tenth state, and the one after it, is read late.
                let woke = Time::from_millis(1_000 + u64::from(state / 10 * 200) + late_ms);
                clock.handle_wake(woke);
                clock.handle_state(came, Mark::Number(state));
            }
            clock
        });
        assert_eq!(still.period(), late.period());
        let waits = [still, late].map(|clock| clock.delay().as_millis());
        // Until 40 ms after it came there was only the state before it, 20 ms older.
        assert_eq!(waits, [22, 62]);
    }

    #[test]
    fn nothing_is_drawn_before_the_first_state() {
        let clock = ArrivalClock::new();
        assert_eq!((clock.drawn(Time::ZERO), clock.period()), (None, None));
        assert_eq!((clock.delay(), clock.rate(Time::ZERO)), (Duration::ZERO, 1.0));
    }

    #[test]
    fn a_state_that_is_not_newer_is_of_no_use() {
        let mut clock = ArrivalClock::new();
        assert!(clock.handle_state(Time::ZERO, Mark::Number(7)).is_some());
        assert!(clock.handle_state(Time::from_millis(20), Mark::Number(9)).is_some());
        assert_eq!(clock.handle_state(Time::from_millis(21), Mark::Number(8)), None);
        assert_eq!(clock.handle_state(Time::from_millis(22), Mark::Number(9)), None);
    }

    #[test]
    fn without_numbers_a_lost_state_leaves_the_rhythm_alone() {
        let mut clock = ArrivalClock::new();
        for index in (0..400u64).filter(|index| index % 10 != 5) {
            clock.handle_state(Time::from_millis(index * 50), Mark::Unknown);
        }
        let period = clock.period().unwrap();
        assert!(period.abs_diff(Duration::from_millis(50)) < Duration::from_millis(1));
    }

    #[test]
    fn a_host_that_draws_faster_or_slower_from_now_on_is_followed_within_five_seconds() {
        for numbered in [true, false] {
            let mut clock = ArrivalClock::new();
            let (mut now_ms, mut number) = (0, 0);
            for period_ms in [16, 2, 16, 60, 7] {
                let end_ms = now_ms + 5_000;
                while now_ms < end_ms {
                    now_ms += period_ms;
                    number += 1;
                    let mark = if numbered { Mark::Number(number) } else { Mark::Unknown };
                    clock.handle_state(Time::from_millis(now_ms), mark);
                }
                let behind_s =
                    now_ms as f64 / 1e3 - clock.drawn(Time::from_millis(now_ms)).unwrap();
                let fine_s = 0.1 + 2.0 * period_ms as f64 / 1e3;
                println!("{numbered} {period_ms} ms: {behind_s} s behind, {:?}", clock.period());
                assert!((0.0..fine_s).contains(&behind_s), "{behind_s} at {period_ms} ms");
            }
        }
    }

    #[test]
    fn after_a_pause_the_rhythm_begins_anew() {
        let mut clock = ArrivalClock::new();
        for index in 0..100u64 {
            clock.handle_state(Time::from_millis(index * 20), Mark::Unknown);
        }
        for index in 0..100u64 {
            clock.handle_state(Time::from_millis(60_000 + index * 20), Mark::Unknown);
        }
        let now = Time::from_millis(60_000 + 99 * 20);
        let behind_s = 61.98 - clock.drawn(now).unwrap();
        assert!((0.0..0.05).contains(&behind_s), "{behind_s}");
    }
}
