//! What a player sees meet before the server has said so: own shots stop at what they hit, bullets
//! at the own ship and pod. The same boxes and the same test as in [`contact`](crate::contact).

use backspin::client::Frame;
use backspin::game::{Impact, PlayerId, SpawnName};
use backspin::replica::Drawn;

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
        let is_ship_or_pod = u32::from(id) == player.0 || id == RType::pod_id(player);
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
    let ship = now.find(player.0 as u16).filter(|ship| ship.entity.kind == schema::SHIP);
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
    let [_, _, _, _, power, met, ..] = shot.entity.fields;
    let counts = |thing: &&Thing| {
        let is_met = is_heavy && u16::try_from(met) == Ok(thing.id);
        let is_awaited = now.impacts_of(id).any(|impact| impact.target == thing.id);
        thing.is_target && thing.area().is_in_sight() && !is_met && !is_awaited
    };
    let Some((target, at)) = first(things.iter().filter(counts), passage) else { return };
    let power = if is_heavy { power } else { i32::from(Shot::LIGHT) };
    let left = power - now.impacts_of(id).map(|impact| impact.value).sum::<i32>();
    let dealt = left.min(health_left(now, target.id)).max(0);
    let stops = !is_heavy || left <= dealt;
    meet(Impact { stops, value: dealt, ..stop(id, target.id, at) });
}

/// What is left of a target when all that the player saw hit it has.
fn health_left(now: &Frame, target: u16) -> i32 {
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

fn stop(entity: u16, target: u16, at: TickPart) -> Impact {
    let at = at.0 as f32 / TickPart::WHOLE as f32;
    Impact { entity, target, at, stops: true, value: 0 }
}
