use backspin::game::{Buttons, Event, Game, PlayerId, PlayerInput, SpawnName, Turn};

use super::*;
use crate::enemy::{Mind, Species};
use crate::mission::Phase;
use crate::space::{Moving, PX};

const ME: PlayerId = PlayerId(1);

/// A world in which the match is on, with one ship at (50, 100) that can be hurt, and nothing else.
fn field() -> World {
    let game = RType::default();
    let mut world = game.begin(1);
    game.join(&mut world, ME, &());
    world.start();
    world.ships[0].safe = 0;
    world
}

fn enemy(id: u32, species: Species, x: i32, y: i32) -> Enemy {
    let health = species.traits().health;
    let at = Moving::still(x * PX, y * PX);
    Enemy { id, species, at, health, mind: Mind::default() }
}

fn shot(x: i32, y: i32) -> Shot {
    let id = SpawnName { player: ME, tick: 1, count: 0 }.entity_id();
    Shot::new(id, Moving { x: x * PX, y: y * PX, vx: Shot::SPEED, vy: 0 })
}

fn bullet(x: i32, y: i32) -> Bullet {
    Bullet { id: 512, at: Moving::still(x * PX, y * PX) }
}

/// Judges `world` for a player who saw `past`.
fn judge(world: &mut World, past: Option<&World>, tick: u32) -> Vec<Event> {
    let past: Vec<(u32, World)> = past.map(|past| (tick - 9, past.clone())).into_iter().collect();
    let drawn = Some(f64::from(tick - 9));
    let inputs = [PlayerInput::new(ME, Buttons::default()).with_drawn(drawn)];
    let mut events = Vec::new();
    RType::default().judge(world, &mut Turn::new(tick, &inputs, &past, &mut events));
    events
}

fn kinds(events: &[Event]) -> Vec<u8> {
    events.iter().map(|event| event.kind).collect()
}

#[test]
fn a_shot_destroys_scores_and_leaves_what_was_carried() {
    let mut world = field();
    world.enemies.push(enemy(256, Species::Drone, 500, 100));
    world.enemies[0].mind.cargo = Some(Bonus::Shield);
    world.shots.push(shot(495, 110));
    let events = judge(&mut world, None, 100);
    assert_eq!(kinds(&events), [event::HIT, event::KILL]);
    assert!(world.enemies.is_empty() && world.shots.is_empty());
    assert_eq!((world.pilots[0].score, world.mission.team_score), (100, 100));
    assert_eq!(world.power_ups[0].bonus, Bonus::Shield);
}

#[test]
fn a_shot_hits_what_its_player_saw_and_not_what_is_there_by_now() {
    let mut seen = field();
    seen.enemies.push(enemy(256, Species::Carrier, 500, 100));
    let mut world = seen.clone();
    world.enemies[0].at.x = 300 * PX;
    world.shots.push(shot(310, 110));
    assert!(judge(&mut world.clone(), Some(&seen), 100).is_empty());
    world.shots[0] = shot(495, 110);
    let events = judge(&mut world, Some(&seen), 100);
    assert_eq!((events[0].kind, events[0].value), (event::HIT, 256));
    assert_eq!(world.enemies[0].health, 17);
}

/// Whether a shot that flies from `x` - 16 px to `x` px in tick 100 hits, for a player who saw
/// `before` and then, for the last quarter of the tick, `seen`.
fn hits(before: &World, seen: &World, x: i32, y: i32) -> bool {
    let past = [(90, before.clone()), (91, seen.clone())];
    let inputs = [PlayerInput::new(ME, Buttons::default()).with_drawn(Some(91.25))];
    let (mut world, mut events) = (field(), Vec::new());
    world.shots.push(shot(x, y));
    RType::default().judge(&mut world, &mut Turn::new(100, &inputs, &past, &mut events));
    kinds(&events) == [event::HIT]
}

#[test]
fn a_shot_meets_what_came_or_went_in_the_tick_while_it_was_there() {
    let (empty, mut there) = (field(), field());
    there.enemies.push(enemy(256, Species::Drone, 500, 100));
    // The drone is 28 px wide, the shot 16; until the drone goes, the shot flies 12 px of its 16.
    let (size, behind) = (Shot::SIZE.w / PX, 500 + 28);
    assert!(
        hits(&there, &empty, 500 - size + 5, 105) && !hits(&there, &empty, 500 - size + 4, 105)
    );
    assert!(hits(&empty, &there, behind + 3, 105) && !hits(&empty, &there, behind + 4, 105));
}

#[test]
fn a_shot_meets_an_enemy_on_the_way_that_it_really_took() {
    // A weaver that went down to y = 100 and turns: it was never above.
    let (mut before, mut seen) = (field(), field());
    let weaver = |y, vy| {
        let mut weaver = enemy(256, Species::Drone, 500, y);
        weaver.at.vy = vy * PX;
        weaver
    };
    before.enemies.push(weaver(92, 8));
    seen.enemies.push(weaver(100, -8));
    let below = 100 + 20;
    assert!(hits(&before, &seen, 505, below - 1));
    assert!(!hits(&before, &seen, 505, below));
}

#[test]
fn a_shot_that_was_seen_to_hit_stops_at_what_is_gone_by_now() {
    let mut seen = field();
    seen.enemies.push(enemy(256, Species::Drone, 500, 100));
    let mut world = field();
    world.shots.push(shot(495, 110));
    assert_eq!(kinds(&judge(&mut world, Some(&seen), 100)), [event::HIT]);
    assert!(world.shots.is_empty());
    assert_eq!(world.mission.team_score, 0);
}

#[test]
fn a_heavy_shot_passes_through_what_it_destroys_and_meets_it_once() {
    let mut world = field();
    world.enemies.push(enemy(256, Species::Turret, 500, 100));
    world.enemies.push(enemy(257, Species::Carrier, 540, 100));
    world.shots.push(Shot { power: 10, is_heavy: true, ..shot(495, 105) });
    let seen = world.clone();
    judge(&mut world, Some(&seen), 100);
    assert_eq!((world.shots[0].power, world.enemies.len()), (6, 1));
    // Its player sees the first for a while yet; it does not stop the shot again.
    assert!(judge(&mut world, Some(&seen), 101).is_empty());
    world.shots[0].at.x += 32 * PX;
    judge(&mut world, Some(&seen), 102);
    assert!(world.shots.is_empty());
    assert_eq!(world.enemies[0].health, 12);
}

#[test]
fn a_ship_that_is_hit_costs_a_life_and_comes_back_safe_for_a_second() {
    let mut world = field();
    world.bullets.push(bullet(58, 104));
    let events = judge(&mut world, None, 100);
    assert_eq!(kinds(&events), [event::HURT, event::LIVES]);
    assert_eq!((events[0].entity, events[0].value), (1, 512));
    assert!(world.is_wreck(ME) && world.bullets.is_empty());
    assert_eq!(world.pilots[0].lives, 2);
    let input = [PlayerInput::new(ME, Buttons::default())];
    let mut wait = |ticks: i32| {
        for _ in 0..ticks {
            let mut events = Vec::new();
            RType::default().step(&mut world, &mut Turn::new(1, &input, &[], &mut events));
        }
        world.ships.first().map(|ship| ship.safe)
    };
    assert!(wait(Pilot::WRECK_TICKS - 1).is_some());
    assert_eq!(wait(1), None);
    assert_eq!(wait(Pilot::AWAY_TICKS - Pilot::WRECK_TICKS - 1), None);
    assert_eq!(wait(1), Some(60));
    assert_eq!(wait(60), Some(0));
}

#[test]
fn a_wreck_fires_on_but_takes_nothing_and_is_not_hit_again() {
    let mut world = field();
    world.bullets.push(bullet(58, 104));
    judge(&mut world, None, 100);
    world.bullets.push(bullet(58, 104));
    world.power_ups.push(PowerUp { id: 900, bonus: Bonus::Shield, at: world.ships[0].at });
    assert!(judge(&mut world, None, 101).is_empty());
    assert_eq!((world.bullets.len(), world.power_ups.len(), world.pilots[0].lives), (1, 1, 2));
    let input = [PlayerInput::new(ME, Buttons::SHOOT)];
    RType::default().step(&mut world, &mut Turn::new(102, &input, &[], &mut Vec::new()));
    assert_eq!(world.shots.len(), 1);
}

#[test]
fn a_ship_is_hit_by_what_its_player_saw_there() {
    let mut seen = field();
    seen.bullets.push(bullet(58, 104));
    let mut world = field();
    world.bullets.push(bullet(20, 104));
    assert_eq!(judge(&mut world.clone(), Some(&seen), 100)[0].kind, event::HURT);
    world.bullets[0].at.x = 58 * PX;
    seen.bullets[0].at.x = 96 * PX;
    assert!(judge(&mut world, Some(&seen), 100).is_empty());
}

#[test]
fn a_ship_is_hit_by_what_its_player_saw_also_if_it_is_gone_by_now() {
    let mut seen = field();
    seen.bullets.push(bullet(58, 104));
    let events = judge(&mut field(), Some(&seen), 100);
    assert_eq!((events[0].kind, events[0].value), (event::HURT, 512));
}

#[test]
fn what_the_own_pod_has_caught_hurts_nobody_while_it_is_still_seen() {
    let mut world = field();
    let mut pod = Pod::new(&world.ships[0]);
    pod.at = Moving::still(80 * PX, 100 * PX);
    world.pods.push(pod);
    let mut seen = world.clone();
    seen.bullets.push(bullet(82, 104));
    world.bullets.push(bullet(60, 104));
    assert!(judge(&mut world, Some(&seen), 100).is_empty());
    assert!(world.bullets.is_empty());
    // The player sees it fly on to the ship, and then someone else's.
    seen.bullets[0] = bullet(58, 104);
    assert!(judge(&mut world, Some(&seen), 101).is_empty());
    seen.bullets[0].id = 513;
    assert_eq!(judge(&mut world, Some(&seen), 102)[0].kind, event::HURT);
}

#[test]
fn what_a_pod_has_caught_is_forgotten_when_nobody_can_see_it_any_more() {
    let mut world = field();
    world.catch(ME, 512);
    (0..RType::REWIND_TICKS + 1).for_each(|_| world.forget_caught());
    assert!(world.has_caught(ME, 512));
    world.forget_caught();
    assert!(!world.has_caught(ME, 512));
}

#[test]
fn who_is_safe_is_not_hurt() {
    let mut world = field();
    world.ships[0].safe = 1;
    world.bullets.push(bullet(58, 104));
    assert!(judge(&mut world, None, 100).is_empty());
}

#[test]
fn a_shield_takes_one_hit_and_what_broke_it_does_not_hit_again() {
    let mut world = field();
    world.ships[0].gear.has_shield = true;
    world.bullets.push(bullet(58, 104));
    let seen = world.clone();
    assert_eq!(kinds(&judge(&mut world, Some(&seen), 100)), [event::HURT]);
    assert!(!world.ships[0].gear.has_shield);
    assert!(world.ships[0].safe > RType::REWIND_TICKS);
    assert!(judge(&mut world, Some(&seen), 101).is_empty());
    assert_eq!(world.pilots[0].lives, 3);
}

#[test]
fn who_rams_an_enemy_is_lost_and_harms_it() {
    let mut world = field();
    world.enemies.push(enemy(256, Species::Carrier, 60, 90));
    assert_eq!(kinds(&judge(&mut world, None, 100)), [event::HURT, event::LIVES]);
    assert_eq!(world.enemies[0].health, 18 - RAM);
}

#[test]
fn a_pod_catches_bullets_and_what_it_caught_hurts_nobody() {
    let mut world = field();
    let pod = Pod::new(&world.ships[0]);
    world.pods.push(pod);
    world.bullets.push(bullet(72, 104));
    let mut seen = world.clone();
    assert!(judge(&mut world, Some(&seen), 100).is_empty());
    assert!(world.bullets.is_empty());
    // In what the player sees it flies on for a while.
    seen.bullets[0].at.x = 58 * PX;
    assert!(judge(&mut world, Some(&seen), 101).is_empty());
}

#[test]
fn a_pod_burns_what_it_touches_ten_times_a_second() {
    let mut world = field();
    let pod = Pod::new(&world.ships[0]);
    world.pods.push(pod);
    world.enemies.push(enemy(256, Species::Carrier, 80, 90));
    (60..120).for_each(|tick| _ = judge(&mut world, None, tick));
    assert_eq!(world.enemies[0].health, 18 - 10);
}

#[test]
fn power_ups_do_what_they_say_and_are_points_to_who_has_them() {
    let take = |world: &mut World, bonus| {
        world.add_power_up(bonus, (60 * PX, 106 * PX));
        kinds(&judge(world, None, 100))
    };
    let mut world = field();
    assert_eq!(take(&mut world, Bonus::Shield), [event::POWER_UP]);
    assert!(world.ships[0].gear.has_shield);
    assert_eq!(take(&mut world, Bonus::Life), [event::LIVES, event::POWER_UP]);
    assert_eq!(world.pilots[0].lives, 4);
    take(&mut world, Bonus::Force);
    assert_eq!(world.pods.len(), 1);
    take(&mut world, Bonus::Weapon);
    assert_eq!(world.ships[0].refit, Some((Refit::Weapon, Ship::REFIT_TICKS)));
    // One thing is built in at a time; the next waits for it.
    assert!(take(&mut world, Bonus::Speed).is_empty());
    assert_eq!((world.power_ups.len(), world.mission.team_score), (1, 0));
    world.power_ups.clear();
    world.ships[0].refit = None;
    world.ships[0].gear =
        Gear { weapon: Gear::WEAPON_MAX, speed: Gear::SPEED_MAX, has_shield: true };
    for bonus in [Bonus::Weapon, Bonus::Speed, Bonus::Shield, Bonus::Force] {
        assert_eq!(take(&mut world, bonus), [event::POWER_UP]);
    }
    assert_eq!(world.pilots[0].score, 4 * PowerUp::POINTS);
    (0..9).for_each(|_| _ = take(&mut world, Bonus::Life));
    assert_eq!(world.pilots[0].lives, Pilot::LIVES_LIMIT);
}

#[test]
fn a_lost_ship_leaves_its_pod_behind_to_be_called() {
    let mut world = field();
    let pod = Pod::new(&world.ships[0]);
    world.pods.push(pod);
    world.bullets.push(bullet(52, 104));
    judge(&mut world, None, 100);
    assert_ne!(world.pods[0].mode, crate::pod::PodMode::Waiting);
    (0..Pilot::WRECK_TICKS).for_each(|_| world.replace_ship(ME));
    assert!(world.ships.is_empty());
    assert_eq!(world.pods[0].mode, crate::pod::PodMode::Waiting);
}

#[test]
fn nothing_is_judged_in_the_lobby() {
    let mut world = field();
    world.return_to_lobby();
    world.ships[0].safe = 0;
    world.bullets.push(bullet(58, 104));
    let mut events = Vec::new();
    RType::default().step(&mut world, &mut Turn::new(100, &[], &[], &mut events));
    assert_eq!((world.mission.phase, world.ships.len()), (Phase::Lobby, 1));
}
