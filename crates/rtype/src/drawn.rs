//! Contacts as players see them, held against those that the server judged: the same boxes and the
//! same test as in [`contact`](crate::contact), on what is drawn.

use backspin::client::Frame;
use backspin::game::{Event, PlayerId, SpawnName};
use backspin::replication::Drawn;
use backspin_sim::Contact;

use crate::boss::Boss;
use crate::enemy::Species;
use crate::event;
use crate::pod::Pod;
use crate::schema;
use crate::ship::Ship;
use crate::shot::Shot;
use crate::space::{Area, FIELD, Moving, PX, Passage, Size, TickPart, Way};
use crate::world::Bullet;

/// The contact that the server's event speaks of.
pub(crate) fn judged(event: &Event) -> Option<Contact> {
    let key = event.entity.into();
    match event.kind {
        event::HIT => {
            let contact = Contact::new(key, Some(SpawnName::owner(event.entity)?));
            Some(Contact { target: u32::try_from(event.value).ok(), ..contact })
        }
        event::HURT => Some(Contact::new(key, Some(PlayerId(event.entity)))),
        _ => None,
    }
}

/// A shot meets something, or a ship does; a player is only told of the own.
pub(crate) fn contact_kind(key: u64) -> &'static str {
    match u32::try_from(key).ok().and_then(SpawnName::owner) {
        Some(_) => "own shots",
        None => "own ship",
    }
}

/// The contacts that `player` sees from one frame to the next: own shots that meet enemies, and what
/// meets the own ship. A shot or a ship meets once, whatever it is that it meets: of two enemies in
/// the same place it does not matter which.
pub(crate) fn contacts(
    before: &Frame,
    now: &Frame,
    player: PlayerId,
    meet: &mut dyn FnMut(Contact),
) {
    let screen = Screen { before, now };
    let things: Vec<Thing> = screen.things().collect();
    let gone = before.entities.iter().filter(|own| find(now, own.entity.id).is_none());
    for own in now.entities.iter().chain(gone) {
        let entity = &own.entity;
        let contact = Contact::new(entity.id.into(), Some(player));
        if is_shot_of(own, player) {
            let Some(shot) = screen.shot(own) else { continue };
            let is_hit = |it: &&Thing| it.is_target && it.area().is_in_sight() && it.meets(&shot);
            if let Some(hit) = things.iter().find(is_hit) {
                let spent = (entity.kind != schema::HEAVY_SHOT).then_some(entity.id);
                meet(Contact { spent, target: Some(hit.id), ..contact });
            }
        } else if entity.kind == schema::SHIP && entity.id == player.0 {
            let is_vulnerable = screen.is_vulnerable(own);
            let hull = screen.hull(own);
            if is_vulnerable && things.iter().any(|thing| thing.meets(&hull)) {
                meet(contact);
            }
        }
    }
}

fn is_shot_of(drawn: &Drawn, player: PlayerId) -> bool {
    matches!(drawn.entity.kind, schema::SHOT | schema::TAIL_SHOT | schema::HEAVY_SHOT)
        && SpawnName::owner(drawn.entity.id) == Some(player)
}

/// Two frames, and what moves evenly from one to the other.
pub(crate) struct Screen<'a> {
    pub(crate) before: &'a Frame,
    pub(crate) now: &'a Frame,
}

/// What an own thing can meet: where it was between the two frames, and in which part of that time.
pub(crate) struct Thing {
    pub(crate) id: u32,
    pub(crate) is_target: bool,
    passage: Passage,
    /// Of the time from frame to frame.
    length: TickPart,
    before_end: TickPart,
}

impl Thing {
    pub(crate) fn area(&self) -> &Area {
        &self.passage.area
    }

    /// Whether it meets what moved like this from frame to frame.
    pub(crate) fn meets(&self, own: &Passage) -> bool {
        own.stretch(self.length, self.before_end).meets(&self.passage)
    }

    /// When it first does, of the time from frame to frame, to a few 256ths; `None` if it does not.
    pub(crate) fn meets_at(&self, own: &Passage) -> Option<TickPart> {
        if !self.meets(own) {
            return None;
        }
        let (mut without, mut with) = (0, TickPart::WHOLE);
        while with - without > 2 {
            let middle = (without + with) / 2;
            match self.meets_until(own, middle) {
                true => with = middle,
                false => without = middle,
            }
        }
        Some(TickPart(with))
    }

    /// Whether it meets in the first part of the time.
    fn meets_until(&self, own: &Passage, part: i32) -> bool {
        let end = TickPart::WHOLE - self.before_end.0;
        let until = part.min(end);
        let length = until - (end - self.length.0);
        if length <= 0 {
            return false;
        }
        let of_way = |part: i32| TickPart(part * TickPart::WHOLE / self.length.0.max(1));
        let thing = self.passage.stretch(of_way(length), of_way(end - until));
        own.stretch(TickPart(length), TickPart(TickPart::WHOLE - until)).meets(&thing)
    }
}

impl<'a> Screen<'a> {
    /// The part of the own ship that can be hurt.
    pub(crate) fn hull(&self, ship: &Drawn) -> Passage {
        let at = place(ship);
        let before = find(self.before, ship.entity.id).map_or(at, place);
        Passage { area: Ship::hull(&at), way: at.way_from(&before) }
    }

    /// Whether something may hurt the own ship: what happens between the frames happens to the ship
    /// of either.
    pub(crate) fn is_vulnerable(&self, ship: &Drawn) -> bool {
        let was = find(self.before, ship.entity.id).unwrap_or(ship);
        is_vulnerable(ship, self.now) || is_vulnerable(was, self.before)
    }

    /// The own pod.
    pub(crate) fn pod(&self, pod: &Drawn) -> Passage {
        let at = place(pod);
        let before = find(self.before, pod.entity.id).map_or(at, place);
        Passage { area: at.area(Pod::SIZE), way: at.way_from(&before) }
    }

    /// A shot, from frame to frame. One that is new comes out of the muzzle; one that is gone flew
    /// on, and what it met on that way was the end of it.
    pub(crate) fn shot(&self, shot: &Drawn) -> Option<Passage> {
        let size = match shot.entity.kind {
            schema::HEAVY_SHOT => Shot::HEAVY_SIZE,
            _ => Shot::SIZE,
        };
        let id = shot.entity.id;
        let (before, at) = match (find(self.before, id).map(place), find(self.now, id).map(place)) {
            (Some(before), Some(at)) => (before, at),
            (Some(before), None) => {
                let (from, until) = self.ticks()?;
                // Nobody sees what flies on behind the edge.
                if !(0..FIELD.w).contains(&before.x) {
                    return None;
                }
                (before, before.later(TickPart::nearest(until - from)))
            }
            (None, at) => {
                let [x, y, vx, vy] = shot.entity.fields.first();
                let ticks = self.age(id) + 1;
                (Moving { x: x - ticks * vx, y: y - ticks * vy, vx, vy }, at?)
            }
        };
        Some(Passage { area: at.area(size), way: at.way_from(&before) })
    }

    /// How many ticks ago an own shot was fired that no frame has shown yet.
    fn age(&self, shot: u32) -> i32 {
        let newest = self.now.ahead_tick.map_or(0, |tick| tick.ceil() as u32);
        let age = newest.wrapping_sub(SpawnName::low_tick(shot)) & SpawnName::LOW_TICKS;
        // It was in the frame before unless it was fired about then.
        if self.now.ahead_tick.is_some() && age < 8 { age as i32 } else { 0 }
    }

    /// Enemies, bosses and bullets.
    pub(crate) fn things(&self) -> impl Iterator<Item = Thing> + '_ {
        let now = self.now.entities.iter().filter_map(|drawn| self.thing(drawn));
        let gone = self.before.entities.iter().filter_map(|drawn| self.gone(drawn));
        now.chain(gone)
    }

    /// Something that is drawn now. What is new came with the last tick.
    fn thing(&self, drawn: &Drawn) -> Option<Thing> {
        let (size, is_target) = size(drawn)?;
        let at = place(drawn);
        let whole = TickPart(TickPart::WHOLE);
        let (way, length) = match (find(self.before, drawn.entity.id), self.ticks()) {
            (Some(before), _) => (at.way_from(&place(before)), whole),
            (None, Some((from, until))) => {
                let since = until.fract().min(until - from);
                let way = at.way_from(&at.later(TickPart::nearest(-since)));
                (way, TickPart::nearest(since / (until - from)))
            }
            (None, None) => (Way::default(), whole),
        };
        let passage = Passage { area: at.area(size), way };
        let (id, before_end) = (drawn.entity.id, TickPart::default());
        Some(Thing { id, is_target, passage, length, before_end })
    }

    /// Something that was drawn in the frame before and is gone: it moved on until the next tick.
    fn gone(&self, drawn: &Drawn) -> Option<Thing> {
        let (size, is_target) = size(drawn)?;
        let (from, until) = self.ticks()?;
        let id = drawn.entity.id;
        let has_stopped = self.before.impacts_of(id).any(|impact| impact.stops);
        if find(self.now, id).is_some() || has_stopped {
            return None;
        }
        let left = (1.0 - from.fract()).min(until - from);
        let before = place(drawn);
        let at = before.later(TickPart::nearest(left));
        let passage = Passage { area: at.area(size), way: at.way_from(&before) };
        let length = TickPart::nearest(left / (until - from));
        let before_end = TickPart(TickPart::WHOLE - length.0);
        Some(Thing { id, is_target, passage, length, before_end })
    }

    /// The ticks at which the two frames show what is not the player's own, if time went on.
    fn ticks(&self) -> Option<(f64, f64)> {
        let (from, until) = (self.before.drawn_tick?, self.now.drawn_tick?);
        (from < until).then_some((from, until))
    }
}

/// How large an enemy, a boss or a bullet is, and whether shots hit it.
fn size(drawn: &Drawn) -> Option<(Size, bool)> {
    match drawn.entity.kind {
        schema::ENEMY => Some((enemy_size(drawn), true)),
        schema::BOSS => Some((Boss::SIZE, true)),
        schema::BULLET => Some((Bullet::SIZE, false)),
        _ => None,
    }
}

fn find(frame: &Frame, id: u32) -> Option<&Drawn> {
    frame.find(id)
}

/// Whether the ship is not one that nothing can hurt: it is as good as hit if it was seen to be. One
/// that is safe from the next tick on, which near the server is known before it is drawn, is not
/// yet.
pub(crate) fn is_vulnerable(ship: &Drawn, frame: &Frame) -> bool {
    let is_hit = frame.awaited.iter().any(|impact| impact.entity == ship.entity.id);
    let safe = ship.entity.fields[8];
    (safe == 0 || ship.fields[8] < safe as f32) && !is_hit
}

/// Where something is drawn.
fn place(drawn: &Drawn) -> Moving {
    let [x, y] = drawn.fields.first().map(|px: f32| (px * PX as f32).round() as i32);
    let [_, _, vx, vy] = drawn.entity.fields.first();
    Moving { x, y, vx, vy }
}

fn enemy_size(drawn: &Drawn) -> Size {
    let species = drawn.entity.fields[5].max(0) as usize;
    Species::ALL[species.min(Species::ALL.len() - 1)].size()
}

#[cfg(test)]
mod tests {
    use backspin::game::Reach;
    use backspin::replication::Entity;

    use super::*;

    const ME: PlayerId = PlayerId(1);

    fn drawn(id: u32, kind: u8, counts: &[i32]) -> Drawn {
        let entity = Entity::new(&schema::SCHEMA, id, kind, counts);
        Drawn { fields: schema::SCHEMA.kinds[usize::from(kind)].values(&entity), entity }
    }

    fn frame(drawn_tick: f64, entities: &[Drawn]) -> Frame {
        let mut entities = entities.to_vec();
        entities.sort_by_key(|drawn| drawn.entity.id);
        Frame { entities, drawn_tick: Some(drawn_tick), ..Frame::default() }
    }

    /// From tick 99.25 to the next.
    fn seen(before: &[Drawn], now: &[Drawn]) -> Vec<u64> {
        let mut keys = Vec::new();
        let (before, now) = (frame(99.25, before), frame(100.25, now));
        contacts(&before, &now, ME, &mut |contact| keys.push(contact.key));
        keys
    }

    fn my_shot(x: i32) -> Drawn {
        let id = SpawnName { player: ME, tick: 7, count: 0 }.entity_id();
        drawn(id, schema::SHOT, &[x * PX, 100 * PX, Shot::SPEED, 0])
    }

    #[test]
    fn an_own_shot_meets_what_it_passed_between_two_frames() {
        let drone = drawn(256, schema::ENEMY, &[500 * PX, 95 * PX, 0, 0, 1, 0]);
        let shot = my_shot(600);
        assert!(seen(&[], &[shot.clone(), drone.clone()]).is_empty());
        assert_eq!(
            seen(&[my_shot(480), drone.clone()], &[shot.clone(), drone.clone()]),
            [u64::from(shot.entity.id)]
        );
        assert_eq!(
            seen(std::slice::from_ref(&drone), &[my_shot(490), drone.clone()]),
            [u64::from(shot.entity.id)]
        );
    }

    #[test]
    fn what_comes_or_goes_between_two_frames_is_met_while_it_is_there() {
        let drone = drawn(256, schema::ENEMY, &[500 * PX, 95 * PX, 0, 0, 1, 0]);
        // The shot is 16 px wide; the drone goes after three quarters of the time, 120 px on.
        let meets = |before: &[Drawn], now: &[Drawn]| !seen(before, now).is_empty();
        assert!(meets(&[my_shot(400), drone.clone()], &[my_shot(560)]));
        assert!(!meets(&[my_shot(350), drone.clone()], &[my_shot(510)]));
        // And comes with the last quarter, 40 px before the end.
        assert!(meets(&[my_shot(400)], &[my_shot(560), drone.clone()]));
        assert!(!meets(&[my_shot(420)], &[my_shot(580), drone]));
    }

    #[test]
    fn a_shot_that_is_gone_has_met_what_it_reached_within_the_frame_and_no_more() {
        let drone = drawn(256, schema::ENEMY, &[500 * PX, 95 * PX, 0, 0, 1, 0]);
        let id = u64::from(my_shot(0).entity.id);
        // It is 16 px wide and flies 16 px a tick.
        let there = std::slice::from_ref(&drone);
        let gone_at = |x| seen(&[my_shot(x), drone.clone()], there);
        assert_eq!(gone_at(470), [id]);
        assert!(gone_at(467).is_empty());
        // At 144 frames a second it flies less than half as far until the next.
        let (before, now) = (frame(99.0, &[my_shot(470), drone.clone()]), frame(99.417, there));
        contacts(&before, &now, ME, &mut |contact| panic!("{contact:?}"));
        let (before, now) = (frame(99.0, &[my_shot(480), drone.clone()]), frame(99.417, there));
        let mut spent = Vec::new();
        contacts(&before, &now, ME, &mut |contact| spent.extend(contact.spent));
        assert_eq!(spent.into_iter().map(u64::from).collect::<Vec<_>>(), [id]);
    }

    #[test]
    fn a_ship_that_is_safe_since_it_was_hit_was_seen_to_be_hit() {
        let ship =
            |x, safe| drawn(1, schema::SHIP, &[x * PX, 100 * PX, 0, 0, 0, 0, 0, -1, safe, 1]);
        let bullet = drawn(512, schema::BULLET, &[55 * PX, 102 * PX, 0, 0]);
        assert_eq!(seen(&[ship(50, 0), bullet.clone()], &[ship(50, 1), bullet.clone()]), [1]);
        assert!(seen(&[ship(50, 1), bullet.clone()], &[ship(50, 1), bullet]).is_empty());
    }

    #[test]
    fn the_own_ship_meets_bullets_unless_nothing_can_hurt_it() {
        let ship = |safe| {
            let counts = [50 * PX, 100 * PX, 0, 0, 0, 0, 0, -1, safe, 1];
            drawn(1, schema::SHIP, &counts)
        };
        let bullet = drawn(512, schema::BULLET, &[55 * PX, 102 * PX, -48, 0]);
        assert_eq!(seen(&[], &[ship(0), bullet.clone()]), [1]);
        assert!(seen(&[], &[ship(1), bullet]).is_empty());
        let beside = drawn(512, schema::BULLET, &[75 * PX, 102 * PX, -48, 0]);
        assert!(seen(&[], &[ship(0), beside]).is_empty());
    }

    #[test]
    fn what_was_judged_has_the_key_of_what_is_drawn() {
        let shot = my_shot(0).entity.id;
        let event = |kind, entity| Event { kind, entity, value: 9, reach: Reach::Own };
        let contact = |key| Contact::new(key, Some(ME));
        let hit = Contact { target: Some(9), ..contact(shot.into()) };
        assert_eq!(judged(&event(event::HIT, shot)), Some(hit));
        assert_eq!(judged(&event(event::HURT, 1)), Some(contact(1)));
        assert_eq!(judged(&event(event::KILL, 256)), None);
        assert_eq!([contact_kind(shot.into()), contact_kind(1)], ["own shots", "own ship"]);
    }
}
