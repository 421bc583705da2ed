//! The world as a client of the `rtype` dialect sees it: players, enemies, bullets and power-ups,
//! in px and px/s; and how the match stands. And the other way round: what a server of the dialect
//! shows, as far as it can be told.

use backspin::game::SpawnName;
use backspin::replication::{Entity, State};
use backspin_classic::wire::rtype;
use backspin_classic::{RtypeMatch, RtypeSight, RtypeThing, RtypeWish};

use crate::boss::Boss;
use crate::command::{Command, Setup};
use crate::difficulty::Difficulty;
use crate::enemy::Species;
use crate::mission::{Mission, Phase, Pilot};
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
/// What has no id of its own in the schema begins here, and stays below what players spawn.
const FIRST_OF_FIELD: u32 = 0x100;
const _: () = assert!(FIRST_OF_FIELD + RtypeThing::SLOTS as u32 <= FIRST_SPAWNED);

/// What players spawn, on a server of ours.
const FIRST_SPAWNED: u32 = SpawnName::FIRST;

const BOSS: [u32; 3] = [0xC832_50FF, 0xA03C_C8FF, 0xE6C8_32FF];

/// How the match stands. It runs until everyone is back in the lobby; nobody is host of a room that
/// is empty.
pub(crate) fn standing(mission: &Mission) -> RtypeMatch {
    let Setup { difficulty, base_lives, .. } = mission.setup;
    RtypeMatch {
        lobby: rtype::LobbyStatus {
            host: mission.host.map_or(0, |host| host.0),
            base_lives: lives(base_lives),
            difficulty: spoken(difficulty),
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

fn spoken(difficulty: Difficulty) -> rtype::Difficulty {
    match difficulty {
        Difficulty::Easy => rtype::Difficulty::Easy,
        Difficulty::Normal => rtype::Difficulty::Normal,
        Difficulty::Hard => rtype::Difficulty::Hard,
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
    Some(rtype::Entity { id: entity.id, kind, x, y, vx, vy, rgba })
}

/// What a command asks a server of the dialect for. It knows neither chat nor who is ready.
pub(crate) fn wish(command: Command) -> Option<RtypeWish> {
    match command {
        Command::Start => Some(RtypeWish::Start),
        Command::Configure(Setup { difficulty, base_lives, .. }) => {
            let (base_lives, difficulty) = (lives(base_lives), spoken(difficulty));
            Some(RtypeWish::Configure(rtype::LobbyConfig { base_lives, difficulty }))
        }
        Command::Ready(_) | Command::Chat(_) | Command::Restart => None,
    }
}

/// Writes what a server shows into an empty state: how the match stands, who plays, and what is in
/// the field.
pub(crate) fn read(told: &RtypeSight<'_>, state: &mut State) {
    // A state that is full has no room for more; that is all.
    let _ = state.push(mission(told));
    for player in told.players.iter().filter(|it| it.player.0 <= schema::PLAYERS_MAX) {
        let lives = i32::from(player.lives).min(Pilot::LIVES_LIMIT);
        let score = player.score.clamp(0, Pilot::SCORE_LIMIT);
        // Lives, away, down, score, chain, chain left, ready, waiting.
        let counts = [lives, 0, -1, score, 0, 0, 1, 0];
        let id = schema::PILOT_IDS + player.player.0;
        let _ = state.push(Entity::new(&SCHEMA, id, schema::PILOT, &counts));
    }
    told.things.iter().for_each(|thing| read_thing(told, thing, state));
}

/// A server that says nothing of a lobby has none: it plays.
fn mission(told: &RtypeSight<'_>) -> Entity {
    let phase = match (told.over, told.lobby) {
        (Some(rtype::GameOverReason::Victory), _) => Phase::Victory,
        (Some(_), _) => Phase::Defeat,
        (None, Some(lobby)) if !lobby.started => Phase::Lobby,
        (None, _) => Phase::Playing,
    };
    let setup = told.lobby.map_or(Setup::default(), |lobby| {
        let config =
            rtype::LobbyConfig { base_lives: lobby.base_lives, difficulty: lobby.difficulty };
        setup(config, Setup::default())
    });
    let host = told.lobby.map_or(0, |lobby| lobby.host.min(schema::PLAYERS_MAX) as i32);
    let score = told.team_score.clamp(0, Pilot::SCORE_LIMIT);
    let (phase, difficulty) = (phase as i32, setup.difficulty as i32);
    // Phase, timer, down, level, wave, distance, scroll, score, host, difficulty, lives, late joining.
    let counts =
        [phase, 0, -1, 1, 0, 0, 0, score, host, difficulty, i32::from(setup.base_lives), 1];
    Entity::new(&SCHEMA, schema::MISSION_ID, schema::MISSION, &counts)
}

/// What our own server shows comes back as what it was, by its colours; what another colours
/// otherwise is a drone, a bullet or a weapon.
fn read_thing(told: &RtypeSight<'_>, thing: &RtypeThing, state: &mut State) {
    let entity = &thing.entity;
    let player = || told.players.iter().find(|it| it.id == entity.id).map(|it| it.player.0);
    let id = match entity.kind {
        rtype::Kind::Player => player().filter(|it| *it <= schema::PLAYERS_MAX),
        // Ships, pods, pilots, mission and boss have the ids below; a server that is ours says them.
        _ => match entity.id {
            id if RType::is_pod_id(id) && entity.rgba == POD => Some(id),
            id if id >= FIRST_SPAWNED && matches!(entity.rgba, SHOT | HEAVY_SHOT) => Some(id),
            Boss::ID if BOSS.contains(&entity.rgba) => Some(Boss::ID),
            _ => Some(FIRST_OF_FIELD + u32::from(thing.slot)),
        },
    };
    if let Some(id) = id {
        let (kind, rest) = kind_of(entity, id);
        let mut counts = [0; 12];
        let fields = SCHEMA.kinds[usize::from(kind)].fields;
        let values = [entity.x, entity.y, entity.vx, entity.vy];
        for ((count, field), value) in counts.iter_mut().zip(fields).zip(values) {
            *count = field.quantise(value);
        }
        counts[4..4 + rest.len()].copy_from_slice(rest);
        let _ = state.push(Entity::new(&SCHEMA, id, kind, &counts));
    }
}

/// The schema's kind of an entity, and its fields behind place and velocity.
fn kind_of(entity: &rtype::Entity, id: u32) -> (u8, &'static [i32]) {
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
            Some(look) if id == Boss::ID => (schema::BOSS, BOSSES[look]),
            _ => {
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
            BULLET => (schema::BULLET, &[]),
            // Whatever colour another server gives it, what flies to the right is a player's.
            _ if entity.vx > 0.0 => (schema::SHOT, &[]),
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
    use backspin::game::{Game, PlayerId};
    use backspin_classic::RtypePlayer;

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

    /// What a server shows, with a player for every ship.
    fn seen(entities: &[rtype::Entity]) -> State {
        let things: Vec<RtypeThing> =
            entities.iter().zip(0..).map(|(&entity, slot)| RtypeThing { entity, slot }).collect();
        let ships = entities.iter().filter(|it| it.kind == rtype::Kind::Player);
        let player = |(number, ship): (u32, &rtype::Entity)| RtypePlayer {
            id: ship.id,
            player: PlayerId(number),
            lives: 3,
            score: 40,
        };
        let players: Vec<RtypePlayer> = (1..).zip(ships).map(player).collect();
        let (things, players) = (&things[..], &players[..]);
        let told = RtypeSight { things, players, lobby: None, over: None, team_score: 70 };
        let mut state = State::new(0);
        read(&told, &mut state);
        state
    }

    /// Kinds and fields of what has a place.
    fn field(state: &State) -> Vec<(u8, Vec<i32>)> {
        let has_place = |it: &&Entity| !matches!(it.kind, schema::PILOT | schema::MISSION);
        state.entities().iter().filter(has_place).map(|it| (it.kind, it.fields.to_vec())).collect()
    }

    #[test]
    fn lobby_lives_and_scores_are_the_mission_and_its_pilots() {
        let players = [RtypePlayer { id: 70_000, player: PlayerId(2), lives: 5, score: 300 }];
        let mut told =
            RtypeSight { things: &[], players: &players, lobby: None, over: None, team_score: 0 };
        let world = |told: &RtypeSight<'_>| {
            let mut state = State::new(0);
            read(told, &mut state);
            RType::default().restore(&state)
        };
        assert_eq!(world(&told).mission.phase, Phase::Playing, "a server without a lobby plays");
        let lobby = rtype::LobbyStatus {
            host: 2,
            base_lives: rtype::Lives::new(6).unwrap(),
            difficulty: rtype::Difficulty::Hard,
            started: false,
            reserved: 0,
        };
        told.lobby = Some(lobby);
        let mission = world(&told).mission;
        assert_eq!((mission.phase, mission.host), (Phase::Lobby, Some(PlayerId(2))));
        assert_eq!((mission.setup.difficulty, mission.setup.base_lives), (Difficulty::Hard, 6));
        told.lobby = Some(rtype::LobbyStatus { started: true, ..lobby });
        told.team_score = 1_200;
        let world_now = world(&told);
        assert_eq!(
            (world_now.mission.phase, world_now.mission.team_score),
            (Phase::Playing, 1_200)
        );
        let cards: Vec<_> =
            world_now.players().map(|it| (it.player, i32::from(it.lives), it.score)).collect();
        assert_eq!(cards, [(PlayerId(2), 5, 300)]);
        told.over = Some(rtype::GameOverReason::Victory);
        assert_eq!(world(&told).mission.phase, Phase::Victory);
        // What a stranger says is brought into range.
        told.team_score = i32::MIN;
        assert_eq!(world(&told).mission.team_score, 0);
    }

    #[test]
    fn a_command_is_a_wish_if_the_dialect_has_a_word_for_it() {
        assert_eq!(wish(Command::Start), Some(RtypeWish::Start));
        let setup = Setup { difficulty: Difficulty::Hard, base_lives: 6, ..Setup::default() };
        let config = rtype::LobbyConfig {
            base_lives: rtype::Lives::new(6).unwrap(),
            difficulty: rtype::Difficulty::Hard,
        };
        assert_eq!(wish(Command::Configure(setup)), Some(RtypeWish::Configure(config)));
        assert_eq!(wish(Command::Chat(1)), None);
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
            Entity::new(&SCHEMA, FIRST_SPAWNED + 1, schema::SHOT, &[PX, 2 * PX, fixed, 4]),
            Entity::new(&SCHEMA, FIRST_SPAWNED + 2, schema::TAIL_SHOT, &[PX, 2 * PX, -fixed, 0]),
            Entity::new(
                &SCHEMA,
                FIRST_SPAWNED + 3,
                schema::HEAVY_SHOT,
                &[PX, 2 * PX, fixed, 0, 24],
            ),
        ];
        let told: Vec<_> = said.iter().filter_map(shown).collect();
        let mut said: Vec<_> = said.iter().map(|it| (it.kind, it.fields.to_vec())).collect();
        let mut seen = field(&seen(&told));
        // The ids are the client's own, and so is the order.
        said.sort_unstable();
        seen.sort_unstable();
        assert_eq!(seen, said);
    }

    #[test]
    fn thousands_of_foreign_ids_become_nothing_else() {
        let things: Vec<_> = (0..900).map(|i| enemy_at(65_536 + 37 * i)).collect();
        let low: Vec<_> = (0..40).map(enemy_at).collect();
        for things in [things, low] {
            let state = seen(&things);
            let world = RType::default().restore(&state);
            assert!(world.boss.is_none());
            assert_eq!(world.mission.team_score, 70);
            assert_eq!(field(&state).len(), things.len());
            assert!(field(&state).iter().all(|(kind, _)| *kind == schema::ENEMY));
        }
    }

    fn enemy_at(id: u32) -> rtype::Entity {
        let (x, y, vx, vy) = (400.0, 300.0, -100.0, 0.0);
        rtype::Entity { id, kind: rtype::Kind::Enemy, x, y, vx, vy, rgba: 0xFF00_00FF }
    }

    #[test]
    fn bullets_that_fly_to_the_right_are_players_shots() {
        let bullet = |vx| rtype::Entity { kind: rtype::Kind::Bullet, vx, ..enemy_at(900_000) };
        assert_eq!(field(&seen(&[bullet(500.0)]))[0].0, schema::SHOT);
        assert_eq!(field(&seen(&[bullet(-500.0)]))[0].0, schema::BULLET);
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
                    let state = seen(&[at(0), at(26), at(0xFFFF), at(u32::MAX)]);
                    let kinds: Vec<u8> = field(&state).iter().map(|it| it.0).collect();
                    let is_shot = kind == rtype::Kind::Bullet && value > 0.0;
                    let expected = if is_shot { schema::SHOT } else { expected };
                    assert_eq!(kinds, [expected; 4]);
                    for entity in state.entities() {
                        let fields = SCHEMA.kinds[usize::from(entity.kind)].fields;
                        assert!(
                            fields
                                .iter()
                                .zip(&entity.fields)
                                .all(|(f, c)| (f.min..=f.max).contains(c))
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
