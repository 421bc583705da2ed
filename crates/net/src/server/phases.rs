//! When rooms tick: in turns, so that no room waits for all others, and those of one turn together.
//!
//! All rooms at one instant would make the last of them late by the work of all the others; each at
//! an instant of its own would wake the machine for every room, and send little in each call.

use std::time::Duration;

use crate::time::Time;

/// A tick has so many turns.
const PHASES: usize = 16;

/// Players whose rooms tick in one turn, before the next turn is begun: some two milliseconds of
/// work. Shorter turns cost more for each datagram: see DESIGN.md.
const PLAYERS: u32 = 256;

/// Who ticks when. Times count from the first room's beginning.
#[derive(Clone, Debug, Default)]
pub(super) struct Phases {
    origin: Option<Time>,
    /// How many can play in the rooms of each turn.
    players: [u32; PHASES],
    /// The turn of each slot's room, and how many can play there.
    slots: Vec<Option<(usize, u32)>>,
}

impl Phases {
    /// Finds a turn for a room; says when its world may begin, less than a tick after `now`.
    pub(super) fn begin(&mut self, slot: usize, now: Time, rate: u8, players: u8) -> Time {
        let players = u32::from(players);
        let origin = *self.origin.get_or_insert(now);
        let has_room = |&phase: &usize| self.players[phase] + players <= PLAYERS;
        let emptiest = || (0..PHASES).min_by_key(|&phase| self.players[phase]);
        let phase = (0..PHASES).find(has_room).or_else(emptiest).unwrap_or(0);
        self.players[phase] += players;
        if self.slots.len() <= slot {
            self.slots.resize(slot + 1, None);
        }
        self.slots[slot] = Some((phase, players));
        let tick = |count: u64| Duration::from_nanos(count * 1_000_000_000 / u64::from(rate));
        let first = origin + tick(1) * place(phase) / PHASES as u32;
        let mut ticks = now.since(first).as_nanos() as u64 * u64::from(rate) / 1_000_000_000;
        while first + tick(ticks) < now {
            ticks += 1;
        }
        first + tick(ticks)
    }

    /// The room in this slot is no more.
    pub(super) fn end(&mut self, slot: usize) {
        if let Some((phase, players)) = self.slots.get_mut(slot).and_then(Option::take) {
            self.players[phase] -= players;
        }
    }
}

/// Where in a tick a turn is: the first ones far from each other.
const fn place(phase: usize) -> u32 {
    (phase as u32).reverse_bits() >> (u32::BITS - PHASES.ilog2())
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: u8 = 60;
    const TICK: Duration = Duration::from_nanos(1_000_000_000 / RATE as u64);

    fn turn_of(phases: &Phases, slot: usize) -> usize {
        phases.slots[slot].unwrap().0
    }

    #[test]
    fn the_first_room_begins_at_once() {
        let now = Time::from_millis(1_234);
        assert_eq!(Phases::default().begin(0, now, RATE, 4), now);
    }

    #[test]
    fn rooms_of_one_turn_tick_together_whenever_they_are_opened() {
        let mut phases = Phases::default();
        let first = phases.begin(0, Time::from_millis(500), RATE, 4);
        for slot in 1..16 {
            let now = Time::from_millis(500 + 37_777 * slot as u64);
            let begin = phases.begin(slot, now, RATE, 4);
            assert!(begin >= now && begin.since(now) < TICK + Duration::from_nanos(2));
            let ticks = (begin.since(first).as_secs_f64() * f64::from(RATE)).round() as u64;
            let due = first + Duration::from_nanos(ticks * 1_000_000_000 / u64::from(RATE));
            assert!(begin.since(due) + due.since(begin) < Duration::from_nanos(2), "slot {slot}");
        }
    }

    #[test]
    fn a_turn_that_is_full_is_followed_by_the_farthest() {
        let mut phases = Phases::default();
        let begins = [0, 1, 2, 3, 4, 5].map(|slot| phases.begin(slot, Time::ZERO, RATE, 128));
        assert_eq!(begins.map(|begin| begin.as_nanos() / 1_000_000), [0, 0, 8, 8, 4, 4]);
    }

    #[test]
    fn the_place_of_a_room_that_is_gone_is_taken() {
        let mut phases = Phases::default();
        for slot in 0..6 {
            phases.begin(slot, Time::ZERO, RATE, 128);
        }
        phases.end(2);
        phases.end(2);
        phases.begin(6, Time::ZERO, RATE, 128);
        assert_eq!(turn_of(&phases, 6), 1);
    }

    #[test]
    fn more_than_fit_are_shared_out_evenly() {
        let mut phases = Phases::default();
        for slot in 0..PHASES * PLAYERS as usize / 4 * 3 {
            phases.begin(slot, Time::ZERO, RATE, 4);
        }
        assert_eq!(phases.players, [PLAYERS * 3; PHASES]);
    }
}
