//! What a player sees meet before the server has said so: own shots stop at what they hit, bullets
//! at the own ship and pod. The same boxes and the same test as in [`contact`](crate::contact).

use backspin::client::Frame;
use backspin::game::{Impact, PlayerId, SpawnName};
use backspin::replication::Drawn;

use crate::drawn::{Screen, Thing};
use crate::rules::RType;
use crate::schema;
use crate::shot::Shot;
use crate::space::{Passage, TickPart};

/// What meets from one frame to the next, of what concerns `player`.
pub(crate) fn seen(before: &Frame, now: &Frame, player: PlayerId, meet: &mut dyn FnMut(Impact)) {
    let screen = Screen { before, now };
    let things: Vec<Thing> = screen.things().collect();
    let own = |drawn: &&Drawn| {
        let id = drawn.entity.id;
        let is_ship_or_pod = id == player.0 || id == RType::pod_id(player);
        is_ship_or_pod || SpawnName::owner(id) == Some(player)
    };
    let mut caught = Vec::new();
    for own in now.entities.iter().filter(own) {
        match own.entity.kind {
            schema::SHOT | schema::TAIL_SHOT | schema::HEAVY_SHOT => {
                if let Some(passage) = screen.shot(own) {
                    shot(now, &things, own, &passage, meet);
                }
            }
            schema::POD => {
                let pod = screen.pod(own);
                for bullet in things.iter().filter(|thing| !thing.is_target) {
                    if let Some(at) = bullet.meets_at(&pod) {
                        caught.push(bullet.id);
                        meet(stop(bullet.id, own.entity.id, at));
                    }
                }
            }
            _ => {}
        }
    }
    let ship = now.find(player.0).filter(|ship| ship.entity.kind == schema::SHIP);
    if let Some(ship) = ship.filter(|ship| screen.is_vulnerable(ship)) {
        let hull = screen.hull(ship);
        let counts = |thing: &&Thing| !caught.contains(&thing.id);
        let met = first(things.iter().filter(counts), &hull);
        if let Some((thing, at)) = met {
            let (entity, target) = (ship.entity.id, thing.id);
            meet(Impact { stops: false, ..stop(entity, target, at) });
            if !thing.is_target {
                meet(stop(target, entity, at));
            }
        }
    }
}

/// A shot stops at the first thing it meets, unless it is a heavy one with power to spare.
fn shot(
    now: &Frame,
    things: &[Thing],
    shot: &Drawn,
    passage: &Passage,
    meet: &mut dyn FnMut(Impact),
) {
    let (id, is_heavy) = (shot.entity.id, shot.entity.kind == schema::HEAVY_SHOT);
    let [_, _, _, _, power, met] = shot.entity.fields.first();
    let counts = |thing: &&Thing| {
        let is_met = is_heavy && u32::try_from(met) == Ok(thing.id);
        let is_awaited = now.impacts_of(id).any(|impact| impact.target == thing.id);
        thing.is_target && thing.area().is_in_sight() && !is_met && !is_awaited
    };
    let Some((target, at)) = first(things.iter().filter(counts), passage) else { return };
    let power = if is_heavy { power } else { i32::from(Shot::LIGHT) };
    let left = power - now.impacts_of(id).map(|impact| impact.value).sum::<i32>();
    let health = health_left(now, target.id);
    let dealt = left.min(health).max(0);
    let stops = !is_heavy || left <= dealt;
    meet(Impact { stops, ends_target: dealt >= health, value: dealt, ..stop(id, target.id, at) });
}

/// What is left of a target when all that the player saw hit it has.
fn health_left(now: &Frame, target: u32) -> i32 {
    let health = now.find(target).map_or(0, |drawn| drawn.entity.fields[4]);
    let hits = now.awaited.iter().filter(|impact| impact.target == target);
    (health - hits.map(|impact| impact.value).sum::<i32>()).max(0)
}

/// What is met first, and when.
fn first<'a>(
    things: impl Iterator<Item = &'a Thing>,
    own: &Passage,
) -> Option<(&'a Thing, TickPart)> {
    let met = things.filter_map(|thing| Some((thing, thing.meets_at(own)?)));
    met.min_by_key(|(_, at)| at.0)
}

fn stop(entity: u32, target: u32, at: TickPart) -> Impact {
    let at = at.0 as f32 / TickPart::WHOLE as f32;
    Impact { entity, target, at, stops: true, ends_target: false, value: 0 }
}

#[cfg(test)]
mod tests {
    use backspin::replication::Entity;

    use super::*;
    use crate::space::PX;

    const ME: PlayerId = PlayerId(1);

    fn drawn(id: u32, kind: u8, counts: &[i32]) -> Drawn {
        let entity = Entity::new(&schema::SCHEMA, id, kind, counts);
        Drawn { fields: schema::SCHEMA.kinds[usize::from(kind)].values(&entity), entity }
    }

    /// From one tick to the next.
    fn impacts(before: &[Drawn], now: &[Drawn], awaited: &[Impact]) -> Vec<Impact> {
        let frame = |tick, entities: &[Drawn]| {
            let mut entities = entities.to_vec();
            entities.sort_by_key(|drawn| drawn.entity.id);
            let awaited = awaited.to_vec();
            let (drawn_tick, ahead_tick) = (Some(tick), Some(tick + 9.0));
            Frame { entities, drawn_tick, ahead_tick, awaited, ..Frame::default() }
        };
        let mut found = Vec::new();
        seen(&frame(99.0, before), &frame(100.0, now), ME, &mut |impact| found.push(impact));
        found
    }

    fn id(count: u8) -> u32 {
        SpawnName { player: ME, tick: 7, count }.entity_id()
    }

    fn drone(health: i32) -> Drawn {
        drawn(256, schema::ENEMY, &[500 * PX, 95 * PX, 0, 0, health, 0])
    }

    fn light(x: i32) -> Drawn {
        drawn(id(0), schema::SHOT, &[x * PX, 100 * PX, Shot::SPEED, 0])
    }

    fn heavy(x: i32, power: i32) -> Drawn {
        drawn(id(1), schema::HEAVY_SHOT, &[x * PX, 95 * PX, Shot::SPEED, 0, power, 0])
    }

    #[test]
    fn a_shot_stops_at_the_first_thing_it_meets_when_it_meets_it() {
        // It is 16 px wide: half of its way of 16 px leads to the drone at 500 px.
        let found = impacts(&[light(476), drone(2)], &[light(492), drone(2)], &[]);
        let [Impact { entity, target, at, stops, value, .. }] = found[..] else {
            panic!("{found:?}")
        };
        assert_eq!((entity, target, stops, value), (id(0), 256, true, 1));
        assert!((0.49..0.53).contains(&at), "{at}");
        assert!(impacts(&[light(400), drone(2)], &[light(416), drone(2)], &[]).is_empty());
    }

    #[test]
    fn a_heavy_shot_passes_through_what_it_destroys_and_no_further_than_its_power() {
        let meet = |power, awaited: &[Impact]| {
            impacts(&[heavy(465, power), drone(3)], &[heavy(481, power), drone(3)], awaited)
        };
        assert!(!meet(8, &[])[0].stops && meet(3, &[])[0].stops);
        // What it is seen to have spent on another counts.
        let spent = Impact {
            entity: id(1),
            target: 300,
            at: 0.0,
            stops: false,
            ends_target: false,
            value: 6,
        };
        assert!(meet(8, &[spent])[0].stops);
        // And it meets the same thing once.
        assert!(meet(8, &[Impact { target: 256, ..spent }]).is_empty());
    }

    fn ship(safe: i32) -> Drawn {
        drawn(1, schema::SHIP, &[50 * PX, 100 * PX, 0, 0, 0, 0, 0, -1, safe, 1])
    }

    fn bullet(x: i32) -> Drawn {
        drawn(600, schema::BULLET, &[x * PX, 102 * PX, -6 * PX, 0])
    }

    #[test]
    fn a_bullet_stops_at_the_own_ship_once() {
        let found = impacts(&[ship(0), bullet(70)], &[ship(0), bullet(64)], &[]);
        assert_eq!(
            found.iter().map(|it| (it.entity, it.stops)).collect::<Vec<_>>(),
            [(1, false), (600, true)]
        );
        let safe = impacts(&[ship(9), bullet(70)], &[ship(8), bullet(64)], &[]);
        assert!(safe.is_empty(), "{safe:?}");
        let hit = impacts(&[ship(0), bullet(70)], &[ship(0), bullet(64)], &found);
        assert!(hit.is_empty(), "{hit:?}");
    }

    #[test]
    fn the_own_pod_catches_a_bullet_before_it_reaches_the_ship() {
        let pod = drawn(RType::pod_id(ME), schema::POD, &[64 * PX, 100 * PX, 0, 0, 0]);
        let found = impacts(&[ship(0), pod.clone(), bullet(70)], &[ship(0), pod, bullet(62)], &[]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].entity, found[0].target, found[0].stops), (600, 9, true));
    }
}
