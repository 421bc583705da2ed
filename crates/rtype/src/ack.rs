//! The world as `ack` has it: ships, enemies, bullets, power-ups and the scoreboard, in px and px/s. And the
//! other way round.

use backspin::game::PlayerId;
use backspin::replication::{Entity, MAX_FIELDS, State};
use backspin_classic::EntityState;
use backspin_classic::wire::ack::entity_type;
use backspin_classic::{AckBoard, AckSight};

use crate::boss::Boss;
use crate::enemy::Species;
use crate::mission::{Phase, Pilot};
use crate::power_up::Bonus;
use crate::rules::RType;
use crate::schema::{self, SCHEMA};
use crate::shot::Shot;
use crate::world::World;

/// The flags of a ship: its gear as the schema has it, and whether nothing hurts it now.
const GEAR: u16 = 63;
const SAFE: u16 = 64;

/// The flag of a boss; its look is below, and that of an enemy is its species.
const BOSS: u16 = 0x100;

/// The flags of what is a bullet here.
const SHOT: u16 = 1;
const TAIL_SHOT: u16 = 2;
const HEAVY_SHOT: u16 = 3;
const POD: u16 = 4;

/// What has another id than those of the schema begins here.
const FIRST_OF_FIELD: u32 = 0x100;

/// What an entity of a captured state is to the dialect; `None` if it is nothing there. A ship's health is its
/// pilot's lives.
pub(crate) fn shown(world: &World, entity: &Entity, plain: EntityState) -> Option<EntityState> {
    use entity_type::{BULLET, ENEMY, PLAYER, POWER_UP};
    let number = |field: usize| entity.fields[field].max(0) as u16;
    let (entity_type, health, flags) = match entity.kind {
        schema::SHIP => {
            let pilot = world.pilot(PlayerId(entity.id));
            let lives = pilot.map_or(1, |pilot| pilot.lives.max(0) as u16);
            (PLAYER, lives, number(9) | if number(8) > 0 { SAFE } else { 0 })
        }
        schema::ENEMY => (ENEMY, plain.health, number(5)),
        schema::BOSS => (ENEMY, plain.health, BOSS | number(7)),
        schema::BULLET => (BULLET, 1, 0),
        schema::SHOT => (BULLET, 1, SHOT),
        schema::TAIL_SHOT => (BULLET, 1, TAIL_SHOT),
        schema::HEAVY_SHOT => (BULLET, 1, HEAVY_SHOT),
        schema::POD => (BULLET, 1, POD),
        schema::POWER_UP => (POWER_UP, 1, number(4)),
        _ => return None,
    };
    Some(EntityState { entity_type, health, flags, ..plain })
}

/// The player's score and the team's, the player's lives, and the phase.
pub(crate) fn board(world: &World, player: PlayerId) -> AckBoard {
    let (lives, score) = world.pilot(player).map_or((0, 0), |pilot| (pilot.lives, pilot.score));
    AckBoard {
        scores: [score, world.mission.team_score],
        lives: lives.max(0) as u16,
        phase: world.mission.phase as u16,
    }
}

/// Writes what a server shows into an empty state. Its numbers may be anything.
pub(crate) fn read(told: &AckSight<'_>, state: &mut State) {
    // A state that is full has no room for more; that is all.
    let phase = i32::from(told.board.phase).min(Phase::ALL.len() as i32 - 1);
    let score = told.board.scores.map(|score| score.clamp(0, Pilot::SCORE_LIMIT));
    // Phase, timer, down, level, wave, distance, scroll, score, host, difficulty, lives, late joining.
    let mission = [phase, 0, -1, 1, 0, 0, 0, score[1], 0, 1, 3, 1];
    let _ = state.push(Entity::new(&SCHEMA, schema::MISSION_ID, schema::MISSION, &mission));
    let mut pilot = |player: PlayerId, lives: u16, score: i32| {
        let lives = i32::from(lives).min(Pilot::LIVES_LIMIT);
        // Lives, away, down, score, chain, chain left, ready, waiting.
        let counts = [lives, 0, -1, score, 0, 0, 1, 0];
        let id = schema::PILOT_IDS + player.0;
        let _ = state.push(Entity::new(&SCHEMA, id, schema::PILOT, &counts));
    };
    pilot(told.player, told.board.lives, score[0]);
    for ship in told.entities.iter().filter(|it| it.entity_type == entity_type::PLAYER) {
        if let Some(player) = told.player_of(ship).filter(|player| *player != told.player) {
            pilot(player, ship.health, 0);
        }
    }
    for entity in told.entities.iter().filter(|entity| entity.health > 0) {
        if let Some((id, kind, rest)) = kind_of(told, entity) {
            let mut counts = [0; MAX_FIELDS];
            let velocity = [entity.vx, entity.vy].map(f32::from);
            let values = [entity.x, entity.y, velocity[0], velocity[1]];
            let fields = SCHEMA.kinds[usize::from(kind)].fields;
            for ((count, field), value) in counts.iter_mut().zip(fields).zip(values) {
                *count = field.quantise(value);
            }
            counts[4..10].copy_from_slice(&rest);
            let _ = state.push(Entity::new(&SCHEMA, id, kind, &counts));
        }
    }
}

/// The schema's id and kind of an entity, and its fields behind place and velocity.
fn kind_of(told: &AckSight<'_>, entity: &EntityState) -> Option<(u32, u8, [i32; 6])> {
    let flags = entity.flags;
    let (health, flag) = (i32::from(entity.health), i32::from(flags));
    // What a server of ours numbers so is what it is; all else comes behind.
    let id = match entity.entity_id & 0xFFFF {
        id if id >= FIRST_OF_FIELD => id,
        id => FIRST_OF_FIELD + id,
    };
    let own_id = entity.entity_id & 0xFFFF;
    Some(match entity.entity_type {
        entity_type::PLAYER => {
            let player = told.player_of(entity)?;
            let safe = if flags & SAFE != 0 { 1 } else { 0 };
            // Cooldown, charge, charging, down, safe, gear.
            (player.0, schema::SHIP, [0, 0, 0, -1, safe, i32::from(flags & GEAR)])
        }
        entity_type::ENEMY if flags & BOSS != 0 && own_id == Boss::ID => {
            // Health, full, stage, look.
            (Boss::ID, schema::BOSS, [health, health, 0, flag & 3, 0, 0])
        }
        entity_type::ENEMY => {
            let species = flag.min(Species::ALL.len() as i32 - 1);
            (id, schema::ENEMY, [health, species, 0, 0, 0, 0])
        }
        entity_type::BULLET if flags == POD && RType::is_pod_id(own_id) => {
            (own_id, schema::POD, [0; 6])
        }
        entity_type::BULLET => match flags {
            SHOT => (id, schema::SHOT, [0; 6]),
            TAIL_SHOT => (id, schema::TAIL_SHOT, [0; 6]),
            HEAVY_SHOT => (id, schema::HEAVY_SHOT, [Shot::POWER_MAX as i32, 0, 0, 0, 0, 0]),
            _ => (id, schema::BULLET, [0; 6]),
        },
        entity_type::POWER_UP => {
            let bonus = flag.min(Bonus::ALL.len() as i32 - 1);
            (id, schema::POWER_UP, [bonus, 0, 0, 0, 0, 0])
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use backspin::game::{Game, PlayerInput, SpawnName, Turn};
    use backspin_classic::FullForm;

    use super::*;
    use crate::rules::Opening;

    const ALICE: PlayerId = PlayerId(1);

    /// An id of sixteen bits, as a room of the dialect makes it.
    fn short(id: u32) -> u32 {
        SpawnName::read(id).map_or(id, |name| {
            0x8000 | (name.player.0 - 1) << 12 | (name.tick & 0x3FF) << 2 | u32::from(name.count)
        })
    }

    fn say(world: &World, state: &State) -> Vec<EntityState> {
        let full = FullForm::new(&SCHEMA);
        let said = |entity: &Entity| {
            let plain = full.entity(entity)?;
            shown(world, entity, EntityState { entity_id: short(entity.id), ..plain })
        };
        state.entities().iter().filter_map(said).collect()
    }

    #[test]
    fn what_a_server_shows_of_a_match_comes_back_where_and_what_it_was() {
        let game = RType { opening: Opening::AtOnce, ..RType::default() };
        let mut world = game.begin(7);
        (1..=2).for_each(|player| game.join(&mut world, PlayerId(player), &()));
        let mut kinds = [0_u32; 11];
        for tick in 1..3_600 {
            let inputs = [1, 2].map(|player| {
                let buttons = game.bot_input(&world, PlayerId(player)).unwrap_or_default();
                PlayerInput::new(PlayerId(player), buttons)
            });
            game.step(&mut world, &mut Turn::new(tick, &inputs, &[], &mut Vec::new()));
            let mut state = State::new(0);
            game.capture(&world, &mut state);
            let (entities, board) = (say(&world, &state), board(&world, ALICE));
            let mut seen = State::new(0);
            let told = AckSight { player: ALICE, own: 1, entities: &entities, board };
            read(&told, &mut seen);
            for was in state
                .entities()
                .iter()
                .filter(|it| SCHEMA.kinds[usize::from(it.kind)].index_of("x").is_some())
            {
                kinds[usize::from(was.kind)] += 1;
                let is = seen.find(short(was.id));
                let lives = world.pilot(PlayerId(was.id)).map_or(1, |pilot| pilot.lives);
                let Some(is) = is else {
                    assert!(was.kind == schema::SHIP && lives == 0, "{was:?} is not there");
                    continue;
                };
                assert_eq!((is.kind, &is.fields[..4]), (was.kind, &was.fields[..4]));
                if was.kind == schema::SHIP {
                    assert_eq!(is.fields[9], was.fields[9], "the gear decides how fast it flies");
                }
            }
            let restored = game.restore(&seen);
            assert_eq!(restored.mission.team_score, world.mission.team_score);
            assert_eq!(restored.mission.phase, world.mission.phase);
        }
        assert!(kinds[usize::from(schema::ENEMY)] > 0 && kinds[usize::from(schema::SHOT)] > 0);
    }

    #[test]
    fn whatever_a_stranger_says_is_brought_into_the_field() {
        for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e38, -0.0] {
            let mut entities = Vec::new();
            for entity_type in [1, 2, 3, 4, 16, 17, 256, 9_999] {
                for entity_id in [0, 1, 9, 25, 26, 0xFFFF, 0x1_0001, u32::MAX] {
                    for flags in [0, POD, BOSS, 0xFFFF] {
                        entities.push(EntityState {
                            entity_id,
                            entity_type,
                            x: value,
                            y: value,
                            vx: i16::MIN,
                            vy: i16::MAX,
                            health: 0xFFFF,
                            flags,
                            last_ack_sequence: 1,
                        });
                    }
                }
            }
            let board = AckBoard { scores: [i32::MIN, i32::MAX], lives: 0xFFFF, phase: 0xFFFF };
            let mut state = State::new(0);
            read(&AckSight { player: ALICE, own: 77, entities: &entities, board }, &mut state);
            assert!(state.entities().iter().all(|it| it.conforms(&SCHEMA)), "{value}");
            let world = RType::default().restore(&state);
            assert_eq!(world.mission.team_score, Pilot::SCORE_LIMIT);
        }
    }
}
