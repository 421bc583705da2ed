//! From a world to a state.

use backspin::replication::{Entity, State};

use super::{
    BOSS, BULLET, ENEMY, HEAVY_SHOT, MISSION, MISSION_ID, PILOT, PILOT_IDS, POD, POWER_UP, SCHEMA,
    SHIP, SHOT, TAIL_SHOT,
};
use crate::boss::Boss;
use crate::mission::{Mission, Pilot};
use crate::rules::RType;
use crate::ship::{Refit, Ship};
use crate::shot::Shot;
use crate::space::Moving;
use crate::world::World;

/// Writes what is sent of a world into an empty state.
pub(crate) fn capture(world: &World, state: &mut State) {
    // Every range of ids is its own, and there are far fewer things than a state holds.
    let mut push = |id: u32, kind: u8, counts: &[i32]| {
        let _ = state.push(Entity::new(&SCHEMA, id, kind, counts));
    };
    for ship in &world.ships {
        push(ship.player.0, SHIP, &ship_counts(ship));
    }
    for pod in &world.pods {
        let Moving { x, y, vx, vy } = pod.at;
        push(RType::pod_id(pod.player), POD, &[x, y, vx, vy, pod.mode as i32]);
    }
    for pilot in &world.pilots {
        push(PILOT_IDS + pilot.player.0, PILOT, &pilot_counts(pilot));
    }
    push(MISSION_ID, MISSION, &mission_counts(&world.mission));
    if let Some(Boss { look, at, health, full, stage, .. }) = world.boss {
        let Moving { x, y, vx, vy } = at;
        push(Boss::ID, BOSS, &[x, y, vx, vy, health, full, stage.into(), look.into()]);
    }
    for enemy in &world.enemies {
        let Moving { x, y, vx, vy } = enemy.at;
        push(enemy.id, ENEMY, &[x, y, vx, vy, enemy.health, enemy.species as i32]);
    }
    for bullet in &world.bullets {
        let Moving { x, y, vx, vy } = bullet.at;
        push(bullet.id, BULLET, &[x, y, vx, vy]);
    }
    for power_up in &world.power_ups {
        let Moving { x, y, vx, vy } = power_up.at;
        push(power_up.id, POWER_UP, &[x, y, vx, vy, power_up.bonus as i32]);
    }
    for &Shot { id, at, power, is_heavy, met } in &world.shots {
        let Moving { x, y, vx, vy } = at;
        match is_heavy {
            true => push(id, HEAVY_SHOT, &[x, y, vx, vy, power.into(), met as i32]),
            false if vx < 0 => push(id, TAIL_SHOT, &[x, y, vx, vy]),
            false => push(id, SHOT, &[x, y, vx, vy]),
        }
    }
}

fn ship_counts(ship: &Ship) -> [i32; 12] {
    let Moving { x, y, vx, vy } = ship.at;
    let gear = i32::from(ship.gear.weapon)
        | i32::from(ship.gear.speed) << 2
        | i32::from(ship.gear.has_shield) << 4
        | i32::from(ship.both_held) << 5;
    let (refit, refit_left) = match ship.refit {
        None => (0, 0),
        Some((Refit::Weapon, ticks)) => (1, ticks),
        Some((Refit::Speed, ticks)) => (2, ticks),
    };
    let charging = i32::from(ship.is_charging);
    [x, y, vx, vy, ship.cooldown, ship.charge, charging, -1, ship.safe, gear, refit, refit_left]
}

fn pilot_counts(pilot: &Pilot) -> [i32; 8] {
    [
        pilot.lives,
        pilot.away,
        -1,
        pilot.score,
        pilot.chain,
        pilot.chain_left,
        pilot.is_ready.into(),
        pilot.is_waiting.into(),
    ]
}

fn mission_counts(mission: &Mission) -> [i32; 12] {
    [
        mission.phase as i32,
        mission.timer,
        -1,
        mission.level.into(),
        mission.wave.into(),
        mission.distance,
        mission.scroll,
        mission.team_score,
        mission.host.map_or(0, |host| host.0 as i32),
        mission.setup.difficulty as i32,
        mission.setup.base_lives.into(),
        mission.setup.late_joining.into(),
    ]
}
