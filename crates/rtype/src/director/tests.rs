use std::sync::Arc;

use backspin::game::{Event, Game, PlayerId, PlayerInput, Turn};

use super::*;
use crate::command::Setup;
use crate::difficulty::Difficulty;
use crate::enemy::Species;
use crate::power_up::Bonus;
use crate::ship::Ship;
use crate::space::{Moving, PX};

const ME: PlayerId = PlayerId(1);
const PLAIN: Threat = Threat { health: 100, reload: 100, bullet_speed: 100 };

/// Two levels of one drone each, and small bosses.
fn game() -> RType {
    let text = |name: &str| {
        format!(
            "name = \"{name}\"\nscroll = 60\nthreat = 100\n[[wave]]\nat = 60\nenemy = \"drone\"\n\
             count = 1\nformation = \"line\"\ny = 500\nspacing = 50\n\
             [boss]\nhealth = 100\npoints = 1000\nlook = 1\n\
             [[boss.stage]]\nbelow = 100\nmove = \"hover\"\nspeed = 60\nfire = \"aimed\"\nevery = 600\n\
             [[boss.stage]]\nbelow = 50\nmove = \"hover\"\nspeed = 60\nfire = \"drones\"\nevery = 600\n"
        )
    };
    let levels = ["One", "Two"].map(|name| Level::parse(&text(name)).unwrap());
    RType { levels: Arc::from(levels), opening: Opening::AtOnce, ..RType::default() }
}

fn begin(game: &RType) -> World {
    let mut world = game.begin(1);
    game.join(&mut world, ME, &());
    world
}

/// Steps until `phase`, with a ship that nothing can hurt; what happened on the way.
fn until(game: &RType, world: &mut World, phase: Phase) -> Vec<Event> {
    let mut events = Vec::new();
    for tick in 0..5_000 {
        world.ships.iter_mut().for_each(|ship| ship.safe = Ship::SAFE_TICKS);
        step(game, world, tick, &mut events);
        if world.mission.phase == phase {
            return events;
        }
    }
    panic!("{phase:?} never comes: {:?}", world.mission);
}

fn step(game: &RType, world: &mut World, tick: u32, events: &mut Vec<Event>) {
    let inputs = [PlayerInput::new(ME, backspin::game::Buttons::default())];
    game.step(world, &mut Turn::new(tick, &inputs, &[], events));
}

fn told(events: &[Event], kind: u8) -> Vec<i32> {
    events.iter().filter(|event| event.kind == kind).map(|event| event.value).collect()
}

#[test]
fn waves_the_boss_the_next_level_and_victory_come_one_after_the_other() {
    let game = game();
    let mut world = begin(&game);
    let events = until(&game, &mut world, Phase::Boss);
    assert_eq!(told(&events, event::LEVEL), [1]);
    assert_eq!(told(&events, event::WAVE), [1]);
    assert_eq!(told(&events, event::BOSS), [0]);
    world.boss.as_mut().unwrap().health = 0;
    let events = until(&game, &mut world, Phase::LevelClear);
    assert_eq!(told(&events, event::BOSS), [-1]);
    assert_eq!(told(&events, event::SCORE), [0, 1_000]);
    let events = until(&game, &mut world, Phase::Boss);
    assert_eq!(told(&events, event::LEVEL), [2]);
    world.boss.as_mut().unwrap().health = 0;
    let events = until(&game, &mut world, Phase::Victory);
    assert_eq!(told(&events, event::GAME_OVER), [2]);
    assert_eq!(world.mission.team_score, 2_000);
    // Who starts at once starts again.
    let events = until(&game, &mut world, Phase::Countdown);
    assert_eq!(told(&events, event::LOBBY), [Phase::Lobby as i32, Phase::Countdown as i32]);
}

#[test]
fn a_boss_changes_its_stage_with_its_health() {
    let game = game();
    let mut world = begin(&game);
    until(&game, &mut world, Phase::Boss);
    let mut events = Vec::new();
    world.boss.as_mut().unwrap().health = 50;
    step(&game, &mut world, 1, &mut events);
    assert_eq!(told(&events, event::BOSS), [1]);
    assert_eq!(world.boss.unwrap().stage, 1);
}

#[test]
fn the_match_is_lost_when_nobody_has_a_life_left() {
    let game = game();
    let mut world = begin(&game);
    until(&game, &mut world, Phase::Playing);
    world.pilots[0].lives = 0;
    let mut events = Vec::new();
    step(&game, &mut world, 1, &mut events);
    assert_eq!(world.mission.phase, Phase::Defeat);
    assert_eq!(told(&events, event::GAME_OVER), [0]);
}

#[test]
fn a_boss_is_stronger_for_more_ships_and_on_hard() {
    let health = |difficulty, ships| {
        let setup = Setup { difficulty, ..Setup::default() };
        let game = RType { setup, ..game() };
        let mut world = begin(&game);
        (2..=ships).for_each(|player| game.join(&mut world, PlayerId(player), &()));
        until(&game, &mut world, Phase::Boss);
        world.boss.unwrap().full
    };
    assert_eq!(health(Difficulty::Normal, 1), 100);
    assert_eq!(health(Difficulty::Normal, 4), 250);
    assert_eq!(health(Difficulty::Hard, 1), 150);
    assert_eq!(health(Difficulty::Easy, 1), 70);
}

#[test]
fn enemies_bullets_and_power_ups_stop_at_their_limits_and_have_ids_of_their_own() {
    let mut world = begin(&game());
    let at = Moving { x: 500 * PX, y: 300 * PX, vx: -48, vy: 0 };
    for round in 0..3 {
        for _ in 0..World::ENEMY_LIMIT {
            world.add_enemy(Species::Drone, at, None, PLAIN);
        }
        for _ in 0..World::BULLET_LIMIT {
            world.add_bullet((0, 0), (-48, 0));
        }
        for _ in 0..World::POWER_UP_LIMIT {
            world.add_power_up(Bonus::Life, (0, 0));
        }
        let full = world.clone();
        world.add_enemy(Species::Drone, at, None, PLAIN);
        world.add_bullet((0, 0), (-48, 0));
        world.add_power_up(Bonus::Life, (0, 0));
        assert_eq!(world, full, "{round}");
        let ids = full.enemies.iter().map(|enemy| enemy.id);
        let ids = ids.chain(full.bullets.iter().map(|bullet| bullet.id));
        let ids = ids.chain(full.power_ups.iter().map(|power_up| power_up.id));
        let mut ids: Vec<u32> = ids.collect();
        ids.sort_unstable();
        let count = ids.len();
        ids.dedup();
        assert_eq!((ids.len(), count), (count, 64 + 128 + 8));
        // Half of them stay for the next round, so that ids that are taken are met.
        world.enemies.retain(|enemy| enemy.id % 2 == 0);
        world.bullets.retain(|bullet| bullet.id % 2 == 0);
        world.power_ups.retain(|power_up| power_up.id % 2 == 0);
    }
}

#[test]
fn a_swarm_keeps_as_many_as_it_is_told_and_never_ends() {
    let game = RType { swarm: 64, ..RType::default() };
    let mut world = begin(&game);
    for tick in 1..6_000 {
        step(&game, &mut world, tick, &mut Vec::new());
        if world.mission.phase == Phase::Playing && tick > 200 {
            let things = world.enemies.len() + world.bullets.len();
            assert!(things >= 60, "tick {tick}: {things}");
        }
    }
    assert_eq!((world.mission.phase, world.pilots[0].lives), (Phase::Playing, 3));
}

#[test]
fn the_swarm_itself_stops_at_the_limits() {
    let game = RType { swarm: u16::MAX, ..RType::default() };
    let mut world = begin(&game);
    (1..300).for_each(|tick| step(&game, &mut world, tick, &mut Vec::new()));
    assert_eq!(world.enemies.len(), World::ENEMY_LIMIT);
    assert_eq!(world.bullets.len(), World::BULLET_LIMIT);
}

#[test]
fn no_level_is_played_beyond_the_last() {
    let levels = vec![game().levels[0].clone(); Level::LIMIT + 1];
    let game = RType { levels: levels.into(), ..game() };
    let mut world = begin(&game);
    for level in 1..=Level::LIMIT {
        until(&game, &mut world, Phase::Boss);
        assert_eq!(usize::from(world.mission.level), level);
        world.boss.as_mut().unwrap().health = 0;
        step(&game, &mut world, 1, &mut Vec::new());
    }
    assert_eq!(world.mission.phase, Phase::Victory);
}
