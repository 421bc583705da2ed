//! Contacts as players see them, held against those that the server judged: the same boxes and the
//! same test as in [`contact`](crate::contact), on what is drawn.

use backspin::game::{Contact, Event, PlayerId, SpawnName};
use backspin::replica::Drawn;

use crate::boss::Boss;
use crate::enemy::Species;
use crate::event;
use crate::schema;
use crate::ship::Ship;
use crate::shot::Shot;
use crate::space::{Area, Moving, PX, Passage, Size, Way};
use crate::world::Bullet;

/// The contact that the server's event speaks of.
pub(crate) fn judged(event: &Event) -> Option<Contact> {
    let player = match event.kind {
        event::HIT => SpawnName::owner(event.entity)?,
        event::HURT => PlayerId(event.entity.into()),
        _ => return None,
    };
    Some(Contact { key: event.entity.into(), player: Some(player) })
}

/// The contacts that `player` sees in the frame `now`: own shots that meet enemies, and what meets
/// the own ship. A shot or a ship meets once, whatever it is that it meets: of two enemies in the
/// same place it does not matter which.
pub(crate) fn contacts(
    before: &[Drawn],
    now: &[Drawn],
    player: PlayerId,
    meet: &mut dyn FnMut(Contact),
) {
    for own in now {
        let entity = &own.entity;
        let hits = match entity.kind {
            schema::SHOT | schema::TAIL_SHOT | schema::HEAVY_SHOT
                if SpawnName::owner(entity.id) == Some(player) =>
            {
                let shot = shot(own, before);
                targets(before, now).any(|it| it.area.is_in_sight() && it.meets(&shot))
            }
            schema::SHIP if u32::from(entity.id) == player.0 && is_vulnerable(own) => {
                let hull = passage(Ship::hull(&place(own)), own, before);
                targets(before, now).chain(bullets(before, now)).any(|thing| thing.meets(&hull))
            }
            _ => false,
        };
        if hits {
            meet(Contact { key: entity.id.into(), player: Some(player) });
        }
    }
}

/// How a box on the screen came there since the frame before. What was not drawn before has not
/// moved.
fn passage(area: Area, drawn: &Drawn, before: &[Drawn]) -> Passage {
    let before = before.iter().find(|before| before.entity.id == drawn.entity.id);
    let (now, then) = (place(drawn), before.map_or(place(drawn), place));
    Passage { area, way: Way { x: now.x - then.x, y: now.y - then.y } }
}

/// A shot; one that is new has come a tick's way, out of the muzzle.
fn shot(shot: &Drawn, before: &[Drawn]) -> Passage {
    let heavy = shot.entity.kind == schema::HEAVY_SHOT;
    let size = if heavy { Shot::HEAVY_SIZE } else { Shot::SIZE };
    let at = place(shot);
    let passage = passage(at.area(size), shot, before);
    if passage.way == Way::default() { at.passage(size) } else { passage }
}

/// Whether the ship is not one that nothing can hurt.
fn is_vulnerable(ship: &Drawn) -> bool {
    ship.entity.fields[8] == 0
}

/// Where something is drawn.
fn place(drawn: &Drawn) -> Moving {
    let [x, y, ..] = drawn.fields.map(|px| (px * PX as f32).round() as i32);
    let [_, _, vx, vy, ..] = drawn.entity.fields;
    Moving { x, y, vx, vy }
}

/// The enemies and the boss.
fn targets<'a>(before: &'a [Drawn], now: &'a [Drawn]) -> impl Iterator<Item = Passage> + 'a {
    now.iter().filter_map(|drawn| {
        let size = match drawn.entity.kind {
            schema::ENEMY => enemy_size(drawn),
            schema::BOSS => Boss::SIZE,
            _ => return None,
        };
        Some(passage(place(drawn).area(size), drawn, before))
    })
}

fn enemy_size(drawn: &Drawn) -> Size {
    let species = drawn.entity.fields[5].max(0) as usize;
    Species::ALL[species.min(Species::ALL.len() - 1)].size()
}

fn bullets<'a>(before: &'a [Drawn], now: &'a [Drawn]) -> impl Iterator<Item = Passage> + 'a {
    let bullets = now.iter().filter(|drawn| drawn.entity.kind == schema::BULLET);
    bullets.map(|drawn| passage(place(drawn).area(Bullet::SIZE), drawn, before))
}

#[cfg(test)]
mod tests {
    use backspin::game::Reach;
    use backspin::replica::Entity;

    use super::*;

    const ME: PlayerId = PlayerId(1);

    fn drawn(id: u16, kind: u8, counts: &[i32]) -> Drawn {
        let entity = Entity::new(&schema::SCHEMA, id, kind, counts);
        Drawn { entity, fields: schema::SCHEMA.kinds[usize::from(kind)].values(&entity) }
    }

    fn seen(before: &[Drawn], now: &[Drawn]) -> Vec<u64> {
        let mut keys = Vec::new();
        contacts(before, now, ME, &mut |contact| keys.push(contact.key));
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
        assert!(seen(&[], &[shot, drone]).is_empty());
        assert_eq!(seen(&[my_shot(480)], &[shot, drone]), [u64::from(shot.entity.id)]);
        assert_eq!(seen(&[], &[my_shot(490), drone]), [u64::from(shot.entity.id)]);
    }

    #[test]
    fn the_own_ship_meets_bullets_unless_nothing_can_hurt_it() {
        let ship = |safe| {
            let counts = [50 * PX, 100 * PX, 0, 0, 0, 0, 0, -1, safe, 1];
            drawn(1, schema::SHIP, &counts)
        };
        let bullet = drawn(512, schema::BULLET, &[55 * PX, 102 * PX, -48, 0]);
        assert_eq!(seen(&[], &[ship(0), bullet]), [1]);
        assert!(seen(&[], &[ship(1), bullet]).is_empty());
        let beside = drawn(512, schema::BULLET, &[75 * PX, 102 * PX, -48, 0]);
        assert!(seen(&[], &[ship(0), beside]).is_empty());
    }

    #[test]
    fn what_was_judged_has_the_key_of_what_is_drawn() {
        let shot = my_shot(0).entity.id;
        let event = |kind, entity| Event { kind, entity, value: 9, reach: Reach::Own };
        let contact = |key| Contact { key, player: Some(ME) };
        assert_eq!(judged(&event(event::HIT, shot)), Some(contact(shot.into())));
        assert_eq!(judged(&event(event::HURT, 1)), Some(contact(1)));
        assert_eq!(judged(&event(event::KILL, 256)), None);
    }
}
