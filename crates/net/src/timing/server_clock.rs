//! The client's estimate of the server's clock.
//!
//! Each report in a snapshot completes a round trip: the snapshot's tick was stepped half of it
//! ago, give or take half of what the round trip was longer than the shortest. So the shortest
//! of late is the one to believe.

use super::{seconds, ticks_since};
use crate::time::Time;
use std::time::Duration;

/// So many round trips are looked at: about four seconds.
const ROUND_TRIPS: usize = 256;

/// What the server's clock shows, as far as the client can know: with as much delay on the way
/// there as on the way back, and no jitter on the shortest round trip, exactly.
#[derive(Clone, Debug)]
pub struct ServerClock {
    tick_rate: f64,
    began: Time,
    origin: u32,
    ring: [Sample; ROUND_TRIPS],
    len: usize,
    next: usize,
    /// The shortest, the first of equal ones, and where it is.
    best: Sample,
    best_place: usize,
}

#[derive(Clone, Copy, Debug)]
struct Sample {
    rtt_s: f64,
    /// The server's time less the local one, in seconds from both origins.
    offset_s: f64,
}

impl ServerClock {
    /// Begins with a guess: the server's clock shows `server_tick` now and a round trip takes
    /// `rtt`. The first report replaces it.
    ///
    /// # Panics
    /// If `tick_rate` is 0.
    pub fn new(now: Time, tick_rate: u8, server_tick: f64, rtt: Duration) -> Self {
        assert!(tick_rate > 0, "a server that never steps has no clock");
        let tick_rate = f64::from(tick_rate);
        let origin = server_tick as u32;
        let offset_s = (server_tick - f64::from(origin)) / tick_rate;
        let guess = Sample { rtt_s: rtt.as_secs_f64(), offset_s };
        ServerClock {
            tick_rate,
            began: now,
            origin,
            ring: [guess; ROUND_TRIPS],
            len: 0,
            next: 0,
            best: guess,
            best_place: 0,
        }
    }

    /// The server's tick now, with its fraction. It may step by a little, also back.
    pub fn tick(&self, now: Time) -> f64 {
        let server_s = seconds(now, self.began) + self.best.offset_s;
        f64::from(self.origin) + server_s * self.tick_rate
    }

    /// The shortest round trip of late.
    pub fn rtt(&self) -> Duration {
        Duration::try_from_secs_f64(self.best.rtt_s).unwrap_or_default()
    }

    /// Takes a snapshot for `tick` that arrived now and echoes an input sent at `sent`, which
    /// the server had received `held` before it stepped that tick.
    pub fn handle_echo(&mut self, now: Time, tick: u32, sent: Time, held: Duration) {
        let rtt_s = (seconds(now, sent) - held.as_secs_f64()).max(0.0);
        let tick_s = ticks_since(tick, self.origin) / self.tick_rate;
        let offset_s = tick_s + rtt_s / 2.0 - seconds(now, self.began);
        let place = self.next;
        self.ring[place] = Sample { rtt_s, offset_s };
        self.next = (place + 1) % ROUND_TRIPS;
        self.len = (self.len + 1).min(ROUND_TRIPS);
        if place == self.best_place {
            // The shortest, or the guess, has made room: only then all are looked through.
            self.set_best(0);
            (1..self.len).for_each(|place| self.consider(place));
        } else {
            self.consider(place);
        }
    }

    /// Believes a round trip if it is shorter than the best.
    fn consider(&mut self, place: usize) {
        if (self.ring[place].rtt_s, place) < (self.best.rtt_s, self.best_place) {
            self.set_best(place);
        }
    }

    fn set_best(&mut self, place: usize) {
        (self.best, self.best_place) = (self.ring[place], place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::Chance;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn the_guess_runs_until_the_first_echo() {
        let clock = ServerClock::new(Time::from_millis(500), 60, 1_000.5, ms(80));
        assert_eq!(clock.rtt(), ms(80));
        assert!((clock.tick(Time::from_millis(1_500)) - 1_060.5).abs() < 1e-9);
    }

    #[test]
    fn an_even_path_is_told_exactly_and_the_time_held_does_not_count() {
        let mut clock = ServerClock::new(Time::from_millis(500), 60, 900.0, ms(300));
        // The server steps tick 1000 at 1000 ms; the snapshot takes 40 ms, as the input did.
        let sent = Time::from_millis(950);
        clock.handle_echo(Time::from_millis(1_040), 1_000, sent, ms(10));
        assert_eq!(clock.rtt(), ms(80));
        assert!((clock.tick(Time::from_millis(1_040)) - 1_002.4).abs() < 1e-9);
    }

    #[test]
    fn the_shortest_round_trip_is_believed_until_it_is_old() {
        let mut clock = ServerClock::new(Time::ZERO, 50, 0.0, ms(100));
        let mut chance = Chance::new(1, 0);
        for tick in 1..2_000u32 {
            let there = ms(50) + Duration::from_micros(chance.below(20_000));
            let back = ms(50) + Duration::from_micros(chance.below(20_000));
            let stepped = Time::from_millis(1_000 + u64::from(tick) * 20);
            clock.handle_echo(stepped + back, tick, stepped - there, Duration::ZERO);
            if tick > 100 {
                let error = clock.tick(stepped) - f64::from(tick);
                assert!(error.abs() * 20.0 < 4.0, "{error} at {tick}");
            }
        }
        assert!((ms(100)..ms(108)).contains(&clock.rtt()), "{:?}", clock.rtt());
        for tick in 2_000..2_300u32 {
            let stepped = Time::from_millis(1_000 + u64::from(tick) * 20);
            clock.handle_echo(stepped + ms(80), tick, stepped - ms(80), Duration::ZERO);
        }
        assert_eq!(clock.rtt(), ms(160));
    }

    #[test]
    fn the_shortest_is_that_of_all_that_are_kept() {
        let mut clock = ServerClock::new(Time::ZERO, 50, 0.0, ms(100));
        let mut chance = Chance::new(2, 0);
        let mut all = Vec::new();
        for tick in 1..3_000u32 {
            let stepped = Time::from_millis(1_000 + u64::from(tick) * 20);
            // Long stretches that rise and fall, and few different values, so that equal ones meet.
            let swing = u64::from(tick / 400 % 2 * 400).abs_diff(u64::from(tick % 400));
            let way = ms(10 + swing / 8 + chance.below(3));
            clock.handle_echo(stepped + way, tick, stepped - way, Duration::ZERO);
            all.push(way * 2);
            let kept = &all[all.len().saturating_sub(ROUND_TRIPS)..];
            assert_eq!(Some(&clock.rtt()), kept.iter().min(), "at {tick}");
        }
    }

    #[test]
    fn an_echo_from_the_future_does_no_harm() {
        let mut clock = ServerClock::new(Time::ZERO, 60, 10.0, ms(50));
        clock.handle_echo(Time::from_millis(5), 10, Time::from_millis(900), Duration::MAX);
        assert_eq!(clock.rtt(), Duration::ZERO);
        assert!(clock.tick(Time::from_millis(5)).is_finite());
    }
}
