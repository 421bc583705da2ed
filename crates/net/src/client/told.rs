//! What an `rtype` server has told: its States have no number and may come in several datagrams,
//! with nothing to say which belong together.
//!
//! Datagrams that follow each other within half the time from one State to the next, and name
//! nothing twice, are one State. What a State leaves out is gone, unless the datagram that would
//! have had it seems lost: the first program's server tells ships and enemies in one, shots and
//! power-ups in another, so of a class that a State does not speak of all stays, moving on, for a
//! fifth of a second; and where a class comes in several datagrams, two States must leave it out.
//!
//! What flies straight tells how much time lies between two States, by the way and the velocity:
//! better than their arrival does. Against its velocity things move only in a State that was
//! overtaken on the way.

use std::time::Duration;

use crate::clock::Mark;
use crate::replica::ENTITY_LIMIT;
use crate::time::Time;
use crate::wire::List;
use crate::wire::rtype::{Entity, Kind};

/// What is not spoken of for so long is gone, whatever was lost.
const KEEP_FOR: Duration = Duration::from_millis(200);

/// What is kept moves on for so long.
const CARRY_FOR: Duration = Duration::from_millis(100);

/// Half the time from one State to the next, before that is known.
const FIRST_HALF: Duration = Duration::from_millis(10);

/// A thing that moves further from one State to the next is elsewhere: it tells no time.
const ELSEWHERE_PX: f32 = 128.0;

/// All ways together may be off from straight by this share.
const CROOKED: f32 = 0.1;

/// Velocities are trusted after so many States in which things moved by them. One in which they
/// move against them counts for so many less: a server may mean something else by a velocity.
const TRUST_AFTER: u32 = 16;
const TRUST_LIMIT: u32 = 64;
const DISTRUST: u32 = 4;

/// Everything that the server has told and not taken back.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// By their ids.
    things: Vec<Thing>,
    /// The State that is being told: when its first datagram came, and how many there were.
    began: Option<Time>,
    count: u32,
    classes: [Class; 2],
    /// How often things moved by their velocities, up to a limit.
    trust: u32,
    entities: Vec<Entity>,
}

#[derive(Clone, Copy, Debug)]
struct Thing {
    entity: Entity,
    at: Time,
    /// The State that spoke of it last, and how many had spoken of its class by then.
    count: u32,
    spoken: u32,
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

impl Told {
    /// Where a State datagram that came now belongs. `period` is the time from one State to the
    /// next, where it is known.
    pub(super) fn place(
        &mut self,
        now: Time,
        period: Option<Duration>,
        entities: &List<'_, Entity>,
    ) -> Place {
        let half = period.map_or(FIRST_HALF, |period| period / 2);
        let soon = self.began.is_some_and(|began| now.since(began) <= half);
        if soon && !entities.iter().any(|entity| self.is_told(entity.id)) {
            return Place::More;
        }
        let is_trusted = self.trust >= TRUST_AFTER;
        match self.elapsed_s(entities) {
            Some(elapsed_s) if elapsed_s > 0.0 => {
                self.trust = (self.trust + 1).min(TRUST_LIMIT);
                let known = Duration::try_from_secs_f32(elapsed_s).ok().filter(|_| is_trusted);
                Place::First(known.map_or(Mark::Unknown, Mark::After))
            }
            Some(elapsed_s) if elapsed_s < 0.0 => {
                self.trust = self.trust.saturating_sub(DISTRUST);
                if is_trusted { Place::Old } else { Place::First(Mark::Unknown) }
            }
            _ => Place::First(Mark::Unknown),
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
            Place::First(_) => {
                self.began = Some(now);
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
    pub(super) fn entities(&self) -> &[Entity] {
        &self.entities
    }

    /// Writes [`Told::entities`] anew.
    fn look(&mut self) {
        let (count, began) = (self.count, self.began);
        self.entities.clear();
        self.entities.extend(self.things.iter().map(|thing| {
            let Thing { entity, at, .. } = *thing;
            if thing.count == count {
                return entity;
            }
            let since = began.map_or(Duration::ZERO, |began| began.since(at)).min(CARRY_FOR);
            let s = since.as_secs_f32();
            Entity { x: entity.x + entity.vx * s, y: entity.y + entity.vy * s, ..entity }
        }));
    }

    fn find(&self, id: u32) -> Result<usize, usize> {
        self.things.binary_search_by_key(&id, |thing| thing.entity.id)
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
            let Thing { entity: now, count, .. } = self.things[i];
            let (x, y) = (then.x - now.x, then.y - now.y);
            let is_near = x.abs() <= ELSEWHERE_PX && y.abs() <= ELSEWHERE_PX;
            if count == self.count && is_near && (now.vx, now.vy) == (then.vx, then.vy) {
                along += x * now.vx + y * now.vy;
                squares += now.vx * now.vx + now.vy * now.vy;
                ways += x * x + y * y;
            }
        }
        let elapsed_s = along / squares;
        let crooked = ways - elapsed_s * along;
        (elapsed_s.is_finite() && crooked <= CROOKED * ways).then_some(elapsed_s)
    }

    fn put(&mut self, now: Time, count: u32, entity: Entity) {
        let spoken = self.classes[class_of(entity.kind)].spoken;
        let thing = Thing { entity, at: now, count, spoken };
        match self.find(entity.id) {
            Ok(i) => self.things[i] = thing,
            Err(i) if self.things.len() < ENTITY_LIMIT => self.things.insert(i, thing),
            Err(_) => {}
        }
    }
}

fn class_of(kind: Kind) -> usize {
    match kind {
        Kind::Player | Kind::Enemy => 0,
        Kind::Bullet | Kind::PowerUp => 1,
    }
}
