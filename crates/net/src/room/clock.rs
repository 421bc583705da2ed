//! A room's time: when its ticks are due, and when each of the last was shown.

use std::mem::offset_of;
use std::time::Duration;

use crate::node::{Fetch, fetch_to};
use crate::time::Time;

/// How many ticks it is remembered when they were shown: a second at 60 Hz. Who is further away is
/// pinged.
const SHOWN: usize = 64;

/// Counts the ticks of a room.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct TickClock {
    epoch: Time,
    rate: u8,
    /// By the tick's number.
    shown: [Option<(u32, Time)>; SHOWN],
}

impl TickClock {
    /// Where what every tick touches ends.
    pub(super) const HEAD_LEN: usize = offset_of!(TickClock, shown);

    /// A clock whose tick 0 is at `epoch`.
    pub(super) const fn new(epoch: Time, rate: u8) -> Self {
        TickClock { epoch, rate, shown: [None; SHOWN] }
    }

    /// When a tick is due.
    pub(super) fn due(&self, tick: u32) -> Time {
        let rate = u64::from(self.rate);
        self.epoch + Duration::from_nanos(u64::from(tick) * 1_000_000_000 / rate)
    }

    /// The tick at `now`, with its fraction.
    pub(super) fn ticks_at(&self, now: Time) -> f64 {
        now.since(self.epoch).as_nanos() as f64 * f64::from(self.rate) / 1e9
    }

    /// Stands still for so many ticks.
    pub(super) fn lose(&mut self, ticks: u32) {
        let period = Duration::from_nanos(1_000_000_000 / u64::from(self.rate));
        self.epoch += period * ticks;
    }

    /// The state of a tick goes out to someone: the first of them counts.
    pub(super) fn show(&mut self, tick: u32, now: Time) {
        let slot = &mut self.shown[tick as usize % SHOWN];
        if slot.is_none_or(|(shown, _)| shown != tick) {
            *slot = Some((tick, now));
        }
    }

    /// Has what is noted of `tick` when it is shown brought near.
    pub(super) fn prefetch(&self, tick: u32, fetch: Fetch) {
        let slot = &self.shown[tick as usize % SHOWN];
        fetch_to(slot, size_of_val(slot), fetch);
    }

    /// How long a state was on its way, and the word that it came, which was held for a while.
    pub(super) fn round_trip(&self, now: Time, tick: u32, held: Duration) -> Option<Duration> {
        let (shown, at) = self.shown[tick as usize % SHOWN]?;
        (shown == tick).then(|| now.since(at).saturating_sub(held))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_trip_is_from_the_first_showing_without_what_it_was_held() {
        let mut clock = TickClock::new(Time::ZERO, 60);
        clock.show(7, Time::from_millis(100));
        clock.show(7, Time::from_millis(101));
        let (now, held) = (Time::from_millis(150), Duration::from_millis(8));
        assert_eq!(clock.round_trip(now, 7, held), Some(Duration::from_millis(42)));
        assert_eq!(clock.round_trip(now, 7, Duration::from_secs(1)), Some(Duration::ZERO));
        assert_eq!(clock.round_trip(now, 8, held), None);
        clock.show(7 + SHOWN as u32, now);
        assert_eq!(clock.round_trip(now, 7, held), None);
    }

    #[test]
    fn ticks_that_are_lost_are_not_made_up_for() {
        let mut clock = TickClock::new(Time::from_millis(1_000), 50);
        assert_eq!(clock.due(3), Time::from_millis(1_060));
        clock.lose(2);
        assert_eq!(clock.due(3), Time::from_millis(1_100));
        assert!((clock.ticks_at(Time::from_millis(1_100)) - 3.0).abs() < 1e-9);
    }
}
