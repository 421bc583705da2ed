//! What an `rtype` server has told: its States have no number and may come in several datagrams,
//! with nothing to say which belong together.
//!
//! Datagrams that follow each other within half the time from one State to the next, and name
//! nothing twice, are one State. What a State leaves out is gone, unless the datagram that would
//! have had it seems lost: the first program's server tells ships and enemies in one, shots and
//! power-ups in another, so of a class that a State does not speak of all stays, moving on, for a
//! fifth of a second; and where a class comes in several datagrams, two States must leave it out.
//!
//! Where things fly straight, way and velocity tell how much time lies between two datagrams,
//! better than their arrival does: next to none is the same State, less than none is one that was
//! overtaken.

use std::time::Duration;

use crate::RtypeThing;
use crate::rtype::wire::{Entity, Kind};
use backspin::time::Time;
use backspin::timing::Mark;
use backspin::wire::List;

/// So many things of a server are kept; what one more costs grows with them.
const THING_LIMIT: usize = 1024;

/// What is not spoken of for so long is gone, whatever was lost.
const KEEP_FOR: Duration = Duration::from_millis(200);

/// What is kept moves on for so long.
const CARRY_FOR_S: f32 = 0.1;

/// Half the time from one State to the next, before that is known.
const FIRST_HALF: Duration = Duration::from_millis(10);

/// A thing that moves further from one State to the next is elsewhere: it tells no time.
const ELSEWHERE_PX: f32 = 128.0;

/// All ways together may be off from straight by this share.
const CROOKED: f32 = 0.1;

/// And this, in px squared, is rounding.
const ROUNDING: f32 = 1.0;

/// More time than this between two datagrams is not believed.
const LONGEST_S: f32 = 1.0;

/// Datagrams that were made within this share of the time between two States are of the same.
const SAME: f32 = 0.25;

/// Velocities are trusted after so many States in which things moved by them. One in which they
/// move against them counts for so many less: a server may mean something else by a velocity.
const TRUST_AFTER: u32 = 16;
const TRUST_LIMIT: u32 = 64;
const DISTRUST: u32 = 4;

/// Everything that the server has told and not taken back.
#[derive(Clone, Debug, Default)]
pub(super) struct Reassembler {
    /// By their ids.
    things: Vec<Thing>,
    /// The State that is being told: when its first datagram came, how many there were, and when
    /// it was made, in seconds since the first.
    began: Option<Time>,
    count: u32,
    made_s: f64,
    classes: [Class; 2],
    /// How often things moved by their velocities, up to a limit.
    trust: u32,
    entities: Vec<RtypeThing>,
    next_slot: u16,
}

#[derive(Clone, Copy, Debug)]
struct Thing {
    entity: Entity,
    at: Time,
    /// The State that spoke of it last, when that was made, and how many had spoken of its class
    /// by then.
    count: u32,
    made_s: f64,
    spoken: u32,
    slot: u16,
}

/// Ships and enemies, or shots and power-ups.
#[derive(Clone, Copy, Debug, Default)]
struct Class {
    /// How many States have spoken of it.
    spoken: u32,
    /// Datagrams of the newest State that did.
    pieces: u32,
    /// Whether there was ever more than one.
    in_pieces: bool,
}

/// What a State datagram is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Place {
    /// The first of a State, and what is known of when that was made.
    First(Mark),
    /// More of the same State.
    More,
    /// It was overtaken: it tells what was before.
    Old,
}

impl Thing {
    /// It, moved on to the time of a State, but for no longer than `limit_s`.
    fn at_time(&self, made_s: f64, limit_s: f32) -> Entity {
        let s = ((made_s - self.made_s) as f32).clamp(0.0, limit_s);
        let Entity { x, y, vx, vy, .. } = self.entity;
        Entity { x: x + vx * s, y: y + vy * s, ..self.entity }
    }
}

impl Reassembler {
    /// Where a State datagram that came now belongs. `period` is the time from one State to the
    /// next, where it is known.
    pub(super) fn place(
        &mut self,
        now: Time,
        period: Option<Duration>,
        entities: &List<'_, Entity>,
    ) -> Place {
        match self.elapsed_s(entities).zip(period) {
            Some((elapsed_s, period)) => {
                let same_s = SAME * period.as_secs_f32();
                let is_trusted = self.trust >= TRUST_AFTER;
                if elapsed_s > same_s {
                    self.trust = (self.trust + 1).min(TRUST_LIMIT);
                } else if elapsed_s < -same_s {
                    self.trust = self.trust.saturating_sub(DISTRUST);
                }
                match Duration::try_from_secs_f32(elapsed_s) {
                    _ if !is_trusted => self.place_by_arrival(now, Some(period), entities),
                    Ok(elapsed) if elapsed_s > same_s => Place::First(Mark::After(elapsed)),
                    _ if elapsed_s < -same_s => Place::Old,
                    // Things may stand still with a velocity, too.
                    _ if self.is_within(now, 2 * period) => Place::More,
                    _ => Place::First(Mark::Unknown),
                }
            }
            None => self.place_by_arrival(now, period, entities),
        }
    }

    fn place_by_arrival(
        &self,
        now: Time,
        period: Option<Duration>,
        entities: &List<'_, Entity>,
    ) -> Place {
        let half = period.map_or(FIRST_HALF, |period| period / 2);
        match self.is_within(now, half) && !entities.iter().any(|entity| self.is_told(entity.id)) {
            true => Place::More,
            false => Place::First(Mark::Unknown),
        }
    }

    /// Ends the State that was being told: what it left out is gone. Says whether anything is.
    pub(super) fn finish(&mut self, now: Time) -> bool {
        let before = self.things.len();
        let classes = self.classes;
        self.things.retain(|thing| {
            let class = classes[class_of(thing.entity.kind)];
            let left_out = class.spoken.wrapping_sub(thing.spoken);
            left_out <= u32::from(class.in_pieces) && now.since(thing.at) <= KEEP_FOR
        });
        let is_less = self.things.len() != before;
        if is_less {
            self.look();
        }
        is_less
    }

    /// Takes a State datagram that came now.
    pub(super) fn handle_state(&mut self, now: Time, place: Place, entities: &List<'_, Entity>) {
        match place {
            Place::Old => return,
            Place::First(mark) => {
                let since =
                    self.began.replace(now).map_or(Duration::ZERO, |began| now.since(began));
                self.made_s += match mark {
                    Mark::After(elapsed) => elapsed.as_secs_f64(),
                    Mark::Number(_) | Mark::Unknown => since.as_secs_f64(),
                };
                self.count = self.count.wrapping_add(1);
                self.classes.iter_mut().for_each(|class| class.pieces = 0);
            }
            Place::More => {}
        }
        for (index, class) in self.classes.iter_mut().enumerate() {
            if entities.iter().any(|entity| class_of(entity.kind) == index) {
                class.pieces += 1;
                class.spoken = class.spoken.wrapping_add(u32::from(class.pieces == 1));
                class.in_pieces |= class.pieces > 1;
            }
        }
        let count = self.count;
        entities.iter().for_each(|entity| self.put(now, count, entity));
        self.look();
    }

    /// One thing more. No State has told of it yet.
    pub(super) fn spawn(&mut self, now: Time, entity: Entity) {
        self.put(now, self.count.wrapping_sub(1), entity);
        self.look();
    }

    /// One thing less.
    pub(super) fn despawn(&mut self, id: u32) {
        self.things.retain(|thing| thing.entity.id != id);
        self.look();
    }

    /// Everything there is, by ids, at the time of the newest State.
    pub(super) fn entities(&self) -> &[RtypeThing] {
        &self.entities
    }

    /// Writes [`Reassembler::entities`] anew.
    fn look(&mut self) {
        let (things, made_s) = (&self.things, self.made_s);
        self.entities.clear();
        self.entities.extend(things.iter().map(|thing| RtypeThing {
            entity: thing.at_time(made_s, CARRY_FOR_S),
            slot: thing.slot,
        }));
    }

    fn find(&self, id: u32) -> Result<usize, usize> {
        self.things.binary_search_by_key(&id, |thing| thing.entity.id)
    }

    /// Whether the State that is being told began so short ago.
    fn is_within(&self, now: Time, span: Duration) -> bool {
        self.began.is_some_and(|began| now.since(began) <= span)
    }

    /// Whether the State that is being told has spoken of it.
    fn is_told(&self, id: u32) -> bool {
        self.find(id).is_ok_and(|i| self.things[i].count == self.count)
    }

    /// How much later than the newest State this was made, by what flies straight in both;
    /// negative is earlier. `None` if nothing does, or not all at the same pace.
    fn elapsed_s(&self, entities: &List<'_, Entity>) -> Option<f32> {
        let (mut along, mut squares, mut ways) = (0.0, 0.0, 0.0);
        for then in entities.iter() {
            let Ok(i) = self.find(then.id) else { continue };
            let now = self.things[i].at_time(self.made_s, f32::MAX);
            let (x, y) = (then.x - now.x, then.y - now.y);
            let is_near = x.abs() <= ELSEWHERE_PX && y.abs() <= ELSEWHERE_PX;
            if is_near && (now.vx, now.vy) == (then.vx, then.vy) {
                along += x * now.vx + y * now.vy;
                squares += now.vx * now.vx + now.vy * now.vy;
                ways += x * x + y * y;
            }
        }
        let elapsed_s = along / squares;
        let crooked = ways - elapsed_s * along;
        let is_straight = crooked <= CROOKED * ways + ROUNDING;
        (elapsed_s.abs() <= LONGEST_S && is_straight).then_some(elapsed_s)
    }

    fn put(&mut self, now: Time, count: u32, entity: Entity) {
        let spoken = self.classes[class_of(entity.kind)].spoken;
        let thing = Thing { entity, at: now, count, made_s: self.made_s, spoken, slot: 0 };
        match self.find(entity.id) {
            Ok(i) => self.things[i] = Thing { slot: self.things[i].slot, ..thing },
            Err(i) if self.things.len() < THING_LIMIT => {
                let slot = self.take_slot();
                self.things.insert(i, Thing { slot, ..thing });
            }
            Err(_) => {}
        }
    }

    /// A slot that nothing has; those that were free longest come first.
    fn take_slot(&mut self) -> u16 {
        loop {
            let slot = self.next_slot;
            self.next_slot = (slot + 1) % RtypeThing::SLOTS;
            if self.things.iter().all(|thing| thing.slot != slot) {
                return slot;
            }
        }
    }
}

fn class_of(kind: Kind) -> usize {
    match kind {
        Kind::Player | Kind::Enemy => 0,
        Kind::Bullet | Kind::PowerUp => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: Option<Duration> = Some(Duration::from_millis(50));

    fn thing(id: u32, kind: Kind, x: f32, vx: f32) -> Entity {
        Entity { id, kind, x, y: 0.0, vx, vy: 0.0, rgba: 0 }
    }

    fn tell(told: &mut Reassembler, ms: u64, entities: &[Entity]) -> Place {
        let (now, entities) = (Time::from_millis(ms), List::new(entities));
        let place = told.place(now, PERIOD, &entities);
        if let Place::First(_) = place {
            told.finish(now);
        }
        told.handle_state(now, place, &entities);
        place
    }

    /// An enemy that goes a pixel a ms, told every 50 ms, by a server with this idea of velocity.
    fn flight(velocity: f32) -> Reassembler {
        let mut told = Reassembler::default();
        for i in 0..30u64 {
            let x = (i * 50) as f32;
            let place = tell(&mut told, i * 50, &[thing(7, Kind::Enemy, x, velocity)]);
            assert!(matches!(place, Place::First(_)), "{place:?} at {i}");
        }
        told
    }

    #[test]
    fn what_flies_straight_tells_when_a_state_was_made() {
        let mut told = flight(1000.0);
        // The last was made, and came, at 1450 ms; these come when they like.
        let at = |x| [thing(7, Kind::Enemy, x, 1000.0)];
        assert_eq!(tell(&mut told, 1_460, &at(1_400.0)), Place::Old);
        assert_eq!(tell(&mut told, 1_490, &at(1_455.0)), Place::More);
        let Place::First(Mark::After(after)) = tell(&mut told, 1_491, &at(1_555.0)) else {
            panic!("it is new");
        };
        assert_eq!(after.as_millis(), 100);
        // So far away is elsewhere: nothing is known.
        assert_eq!(tell(&mut told, 1_560, &at(50.0)), Place::First(Mark::Unknown));
    }

    #[test]
    fn a_world_that_stands_still_with_its_velocities_is_told_all_the_same() {
        let mut told = flight(1000.0);
        let still = [thing(7, Kind::Enemy, 1_450.0, 1000.0)];
        let places = (1..10).map(|i| tell(&mut told, 1_450 + i * 50, &still));
        assert!(places.filter(|place| *place != Place::More).count() >= 3);
    }

    #[test]
    fn a_server_that_means_something_else_by_velocity_is_heard_all_the_same() {
        for velocity in [-1000.0, 0.0] {
            flight(velocity);
        }
    }

    #[test]
    fn what_names_nothing_twice_within_half_a_period_is_one_state() {
        let mut told = Reassembler::default();
        let (ship, shot) = ([thing(1, Kind::Player, 0.0, 0.0)], [thing(2, Kind::Bullet, 0.0, 0.0)]);
        let first = Place::First(Mark::Unknown);
        assert_eq!(tell(&mut told, 0, &ship), first);
        assert_eq!(tell(&mut told, 25, &shot), Place::More);
        assert_eq!(tell(&mut told, 30, &ship), first, "it names one twice");
        assert_eq!(tell(&mut told, 56, &shot), first, "it is late");
    }

    #[test]
    fn a_class_that_comes_in_pieces_must_be_left_out_twice() {
        let enemies = |from: u32| [0, 1].map(|i| thing(from + i, Kind::Enemy, 0.0, 0.0));
        let mut told = Reassembler::default();
        for i in 0..3 {
            tell(&mut told, i * 50, &enemies(10));
            tell(&mut told, i * 50 + 1, &enemies(20));
        }
        // The second piece is lost once: nothing is gone.
        tell(&mut told, 150, &enemies(10));
        tell(&mut told, 200, &enemies(10));
        assert_eq!(told.entities().len(), 4);
        tell(&mut told, 250, &enemies(10));
        assert_eq!(told.entities().len(), 2);
    }

    #[test]
    fn a_server_can_tell_of_1024_things_and_no_more() {
        let mut told = Reassembler::default();
        for chunk in 0..20 {
            let things: Vec<_> =
                (0..54).map(|i| thing(chunk * 54 + i, Kind::Enemy, 0.0, 0.0)).collect();
            tell(&mut told, 0, &things);
        }
        assert_eq!(told.entities().len(), THING_LIMIT);
        told.spawn(Time::ZERO, thing(u32::MAX, Kind::Enemy, 0.0, 0.0));
        assert_eq!(told.entities().len(), THING_LIMIT);
    }

    #[test]
    fn a_thing_keeps_its_slot_and_no_two_have_the_same() {
        let mut told = Reassembler::default();
        for i in 0..40_000_u32 {
            let things = [0, 1, 2].map(|j| thing(70_000 + i + j, Kind::Enemy, 0.0, 0.0));
            let slot_before = told.find(70_000 + i).map(|at| told.things[at].slot);
            tell(&mut told, u64::from(i) * 50, &things);
            let slots: Vec<u16> = told.entities().iter().map(|thing| thing.slot).collect();
            let mut once = slots.clone();
            once.sort_unstable();
            once.dedup();
            assert_eq!(once.len(), slots.len());
            assert!(slots.iter().all(|slot| *slot < RtypeThing::SLOTS));
            if let Ok(slot) = slot_before {
                let at = told.find(70_000 + i).unwrap();
                assert_eq!(told.things[at].slot, slot);
            }
        }
    }

    #[test]
    fn numbers_beyond_reason_are_only_numbers() {
        let mut told = Reassembler::default();
        for i in 0..40 {
            let x = if i % 2 == 0 { f32::MAX } else { f32::MIN };
            tell(&mut told, i * 50, &[thing(1, Kind::Enemy, x, x), thing(2, Kind::Bullet, x, -x)]);
        }
        assert_eq!(told.entities().len(), 2);
    }
}
