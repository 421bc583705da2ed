//! The world as a client of the `rtype` dialect sees it: players, enemies, bullets and power-ups,
//! in px and px/s.

use backspin::replica::Entity;
use backspin::wire::rtype;

use crate::enemy::Species;
use crate::power_up::Bonus;
use crate::rules::RType;
use crate::schema::{self, SCHEMA};

/// A player's colour, as document 001 has it.
const PLAYER: u32 = 0x55AA_FFFF;
const BULLET: u32 = 0xFF5A_3CFF;
const SHOT: u32 = 0xFFF0_78FF;
const HEAVY_SHOT: u32 = 0x78F0_FFFF;
const POD: u32 = 0xFFA0_28FF;
const BOSS: [u32; 3] = [0xC832_50FF, 0xA03C_C8FF, 0xE6C8_32FF];

impl RType {
    /// What an entity of a captured state is to the old dialect; `None` if it is nothing there.
    ///
    /// A pod is a bullet to it: it flies like one, and cannot be taken.
    pub fn rtype_entity(&self, entity: &Entity) -> Option<rtype::Entity> {
        shown(entity)
    }
}

fn shown(entity: &Entity) -> Option<rtype::Entity> {
    let number = |field: usize| entity.fields[field].max(0) as usize;
    let (kind, rgba) = match entity.kind {
        schema::SHIP => (rtype::Kind::Player, PLAYER),
        schema::ENEMY => (rtype::Kind::Enemy, enemy(number(5))),
        schema::BOSS => (rtype::Kind::Enemy, BOSS[number(7).clamp(1, 3) - 1]),
        schema::BULLET => (rtype::Kind::Bullet, BULLET),
        schema::SHOT | schema::TAIL_SHOT => (rtype::Kind::Bullet, SHOT),
        schema::HEAVY_SHOT => (rtype::Kind::Bullet, HEAVY_SHOT),
        schema::POD => (rtype::Kind::Bullet, POD),
        schema::POWER_UP => (rtype::Kind::PowerUp, power_up(number(4))),
        _ => return None,
    };
    let fields = SCHEMA.kinds[usize::from(entity.kind)].fields;
    let [x, y, vx, vy] = [0, 1, 2, 3].map(|field| fields[field].value(entity.fields[field]));
    Some(rtype::Entity { id: entity.id.into(), kind, x, y, vx, vy, rgba })
}

fn enemy(species: usize) -> u32 {
    match Species::ALL.get(species) {
        Some(Species::Drone) | None => 0xDC50_50FF,
        Some(Species::Weaver) => 0xDC8C_3CFF,
        Some(Species::Diver) => 0xE650_AAFF,
        Some(Species::Turret) => 0x8C8C_A0FF,
        Some(Species::Carrier) => 0x9650_B4FF,
        Some(Species::Mine) => 0x5AB4_5AFF,
    }
}

fn power_up(bonus: usize) -> u32 {
    match Bonus::ALL.get(bonus) {
        Some(Bonus::Weapon) | None => 0xFF3C_3CFF,
        Some(Bonus::Shield) => 0x3C78_FFFF,
        Some(Bonus::Speed) => 0xFFF0_3CFF,
        Some(Bonus::Life) => 0x3CE6_3CFF,
        Some(Bonus::Force) => 0xFFA0_28FF,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::PX;

    #[test]
    fn a_ship_is_shown_in_px_and_px_a_second() {
        let counts = [50 * PX, 100 * PX, 40, -40];
        let seen = shown(&Entity::new(&SCHEMA, 1, schema::SHIP, &counts)).unwrap();
        let ship = rtype::Entity {
            id: 1,
            kind: rtype::Kind::Player,
            x: 50.0,
            y: 100.0,
            vx: 150.0,
            vy: -150.0,
            rgba: 0x55AA_FFFF,
        };
        assert_eq!(seen, ship);
    }

    #[test]
    fn whatever_has_a_place_is_shown_and_nothing_else() {
        for (kind, its) in (0..).zip(SCHEMA.kinds) {
            let seen = shown(&Entity::new(&SCHEMA, 1, kind, &[]));
            assert_eq!(seen.is_some(), its.index_of("x").is_some(), "{}", its.name);
        }
    }
}
