//! The world as a client of the `rtype` dialect sees it: players, enemies, bullets and power-ups,
//! in px and px/s; and how the match stands. And the other way round: what a server of the dialect
//! shows, as far as it can be told.

use backspin::game::RtypeMatch;
use backspin::replica::{Entity, MAX_FIELDS, State};
use backspin::wire::rtype;

use crate::command::Setup;
use crate::difficulty::Difficulty;
use crate::enemy::Species;
use crate::mission::{Mission, Phase};
use crate::power_up::Bonus;
use crate::rules::RType;
use crate::schema::{self, SCHEMA};
use crate::ship::Gear;
use crate::shot::Shot;

/// A player's colour, as document 001 has it.
const PLAYER: u32 = 0x55AA_FFFF;
const BULLET: u32 = 0xFF5A_3CFF;
const SHOT: u32 = 0xFFF0_78FF;
const HEAVY_SHOT: u32 = 0x78F0_FFFF;
const POD: u32 = 0xFFA0_28FF;
const BOSS: [u32; 3] = [0xC832_50FF, 0xA03C_C8FF, 0xE6C8_32FF];

/// How the match stands. It runs until everyone is back in the lobby; nobody is host of a room that
/// is empty.
pub(crate) fn standing(mission: &Mission) -> RtypeMatch {
    let Setup { difficulty, base_lives, .. } = mission.setup;
    RtypeMatch {
        lobby: rtype::LobbyStatus {
            host: mission.host.map_or(0, |host| host.0),
            base_lives: lives(base_lives),
            difficulty: match difficulty {
                Difficulty::Easy => rtype::Difficulty::Easy,
                Difficulty::Normal => rtype::Difficulty::Normal,
                Difficulty::Hard => rtype::Difficulty::Hard,
            },
            started: !matches!(mission.phase, Phase::Lobby | Phase::Countdown),
            reserved: 0,
        },
        team_score: mission.team_score,
        over: match mission.phase {
            Phase::Victory => Some(rtype::GameOverReason::Victory),
            Phase::Defeat => Some(rtype::GameOverReason::AllDead),
            _ => None,
        },
    }
}

/// The same number: a setup allows as many as the dialect does.
fn lives(base: u8) -> rtype::Lives {
    const MOST: rtype::Lives = rtype::Lives::new(Setup::LIVES_MAX).unwrap();
    rtype::Lives::new(base).unwrap_or(MOST)
}

/// The setup that a host asks for; the dialect has no word for who comes late.
pub(crate) fn setup(config: rtype::LobbyConfig, before: Setup) -> Setup {
    let difficulty = match config.difficulty {
        rtype::Difficulty::Easy => Difficulty::Easy,
        rtype::Difficulty::Normal => Difficulty::Normal,
        rtype::Difficulty::Hard => Difficulty::Hard,
    };
    Setup { difficulty, base_lives: config.base_lives.count(), ..before }
}

/// What an entity of a captured state is to the old dialect; `None` if it is nothing there.
///
/// A pod is a bullet to it: it flies like one, and cannot be taken.
pub(crate) fn shown(entity: &Entity) -> Option<rtype::Entity> {
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

/// Writes what a server shows into an empty state. What our own server shows comes back as what it
/// was, by its colours; what another colours otherwise is a drone, a bullet or a weapon.
pub(crate) fn read(entities: &[rtype::Entity], state: &mut State) {
    for entity in entities {
        let Ok(id) = u16::try_from(entity.id) else { continue };
        let (kind, rest) = kind_of(entity, id);
        let mut counts = [0; MAX_FIELDS];
        let fields = SCHEMA.kinds[usize::from(kind)].fields;
        let values = [entity.x, entity.y, entity.vx, entity.vy];
        for ((count, field), value) in counts.iter_mut().zip(fields).zip(values) {
            *count = field.quantise(value);
        }
        counts[4..4 + rest.len()].copy_from_slice(rest);
        // A state that is full has no room for more; that is all.
        let _ = state.push(Entity::new(&SCHEMA, id, kind, &counts));
    }
}

/// The schema's kind of an entity, and its fields behind place and velocity.
fn kind_of(entity: &rtype::Entity, id: u16) -> (u8, &'static [i32]) {
    // Cooldown, charge, charging, down, safe, gear: a plain ship.
    const PLAIN_SHIP: &[i32] = &[0, 0, 0, -1, 0, Gear::PLAIN.weapon as i32];
    // Health, full, stage, look; health and species; bonus.
    const BOSSES: [&[i32]; 3] = [&[1, 1, 0, 1], &[1, 1, 0, 2], &[1, 1, 0, 3]];
    const ENEMIES: [&[i32]; 6] = [&[1, 0], &[1, 1], &[1, 2], &[1, 3], &[1, 4], &[1, 5]];
    const BONUSES: [&[i32]; 5] = [&[0], &[1], &[2], &[3], &[4]];
    let rgba = entity.rgba;
    match entity.kind {
        rtype::Kind::Player => (schema::SHIP, PLAIN_SHIP),
        rtype::Kind::Enemy => match BOSS.iter().position(|boss| *boss == rgba) {
            Some(look) => (schema::BOSS, BOSSES[look]),
            None => {
                let species = (0..ENEMIES.len()).find(|species| enemy(*species) == rgba);
                (schema::ENEMY, ENEMIES[species.unwrap_or(0)])
            }
        },
        rtype::Kind::Bullet => match rgba {
            SHOT if entity.vx < 0.0 => (schema::TAIL_SHOT, &[]),
            SHOT => (schema::SHOT, &[]),
            HEAVY_SHOT => (schema::HEAVY_SHOT, &[Shot::POWER_MAX as i32]),
            // A pod belongs to the player whose number its id has.
            POD if RType::is_pod_id(id) => (schema::POD, &[]),
            _ => (schema::BULLET, &[]),
        },
        rtype::Kind::PowerUp => {
            let bonus = (0..BONUSES.len()).find(|bonus| power_up(*bonus) == rgba);
            (schema::POWER_UP, BONUSES[bonus.unwrap_or(0)])
        }
    }
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
    fn what_our_own_server_shows_comes_back_as_what_it_was() {
        let fixed = Shot::SPEED;
        let said = [
            Entity::new(&SCHEMA, 2, schema::SHIP, &[50 * PX, 99 * PX, 40, -40, 0, 0, 0, 0, 0, 1]),
            Entity::new(&SCHEMA, 9, schema::POD, &[PX, 2 * PX, 3, 4]),
            Entity::new(&SCHEMA, 26, schema::BOSS, &[700 * PX, 80 * PX, -9, 0, 1, 1, 0, 3]),
            Entity::new(&SCHEMA, 0x101, schema::ENEMY, &[PX, 2 * PX, -30, 4, 1, 5]),
            Entity::new(&SCHEMA, 0x201, schema::BULLET, &[PX, 2 * PX, -30, 4]),
            Entity::new(&SCHEMA, 0x601, schema::POWER_UP, &[PX, 2 * PX, 0, 0, 3]),
            Entity::new(&SCHEMA, 0x8001, schema::SHOT, &[PX, 2 * PX, fixed, 4]),
            Entity::new(&SCHEMA, 0x8002, schema::TAIL_SHOT, &[PX, 2 * PX, -fixed, 0]),
            Entity::new(&SCHEMA, 0x8003, schema::HEAVY_SHOT, &[PX, 2 * PX, fixed, 0, 24]),
        ];
        let told: Vec<_> = said.iter().filter_map(shown).collect();
        let mut state = State::new(0);
        read(&told, &mut state);
        assert_eq!(state.entities(), said);
    }

    #[test]
    fn what_a_stranger_shows_is_within_its_ranges_and_known_by_its_kind() {
        let kinds = [
            (rtype::Kind::Player, schema::SHIP),
            (rtype::Kind::Enemy, schema::ENEMY),
            (rtype::Kind::Bullet, schema::BULLET),
            (rtype::Kind::PowerUp, schema::POWER_UP),
        ];
        for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, -1e9, 0.0] {
            for (kind, expected) in kinds {
                for rgba in [0, u32::MAX, POD] {
                    let at = |id| rtype::Entity {
                        id,
                        kind,
                        x: value,
                        y: value,
                        vx: value,
                        vy: value,
                        rgba,
                    };
                    let mut state = State::new(0);
                    // An id that no entity here can have is left out.
                    read(&[at(0), at(0xFFFF), at(0x1_0000), at(u32::MAX)], &mut state);
                    assert_eq!(state.entities().len(), 2);
                    for entity in state.entities() {
                        assert_eq!(entity.kind, expected);
                        let fields = SCHEMA.kinds[usize::from(entity.kind)].fields;
                        assert!(
                            fields
                                .iter()
                                .zip(entity.fields)
                                .all(|(f, c)| (f.min..=f.max).contains(&c))
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn whatever_has_a_place_is_shown_and_nothing_else() {
        for (kind, its) in (0..).zip(SCHEMA.kinds) {
            let seen = shown(&Entity::new(&SCHEMA, 1, kind, &[]));
            assert_eq!(seen.is_some(), its.index_of("x").is_some(), "{}", its.name);
        }
    }
}
