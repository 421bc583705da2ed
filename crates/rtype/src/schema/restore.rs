//! From a state to a world, as far as a player may know it.

use backspin::game::PlayerId;
use backspin::replication::{Entity, State};

use super::{
    BOSS, BULLET, ENEMY, HEAVY_SHOT, MISSION, PILOT, PILOT_IDS, POD, POWER_UP, SHIP, SHOT,
    TAIL_SHOT,
};
use crate::boss::{Boss, BossMind};
use crate::command::Setup;
use crate::difficulty::Difficulty;
use crate::enemy::{Enemy, Mind, Species};
use crate::mission::{Mission, Phase, Pilot};
use crate::pod::{Pod, PodMode};
use crate::power_up::{Bonus, PowerUp};
use crate::ship::{Gear, Refit, Ship};
use crate::shot::Shot;
use crate::space::Moving;
use crate::world::{Bullet, World};

/// Makes `world` what the state says, in the memory that it has.
pub(crate) fn restore(state: &State, world: &mut World) {
    world.mission = Mission::new(Setup::default());
    world.pilots.clear();
    world.ships.clear();
    world.pods.clear();
    world.shots.clear();
    world.sweep();
    world.caught.clear();
    world.director = None;
    for entity in state.entities() {
        let [x, y, vx, vy, a, b, c, d] = entity.fields.first();
        let (id, at) = (entity.id, Moving { x, y, vx, vy });
        match entity.kind {
            SHIP => world.ships.push(ship(entity)),
            POD => {
                let player = PlayerId(id.saturating_sub(8));
                world.pods.push(Pod { player, at, mode: pick(&PodMode::ALL, a) });
            }
            PILOT => world.pilots.push(pilot(entity)),
            MISSION => world.mission = mission(entity),
            BOSS => {
                let (stage, look, mind) = (c as u8, d as u8, BossMind::default());
                world.boss = Some(Boss { look, at, health: a, full: b, stage, mind });
            }
            ENEMY => {
                let (species, mind) = (pick(&Species::ALL, b), Mind::default());
                world.enemies.push(Enemy { id, species, at, health: a, mind });
            }
            BULLET => world.bullets.push(Bullet { id, at }),
            POWER_UP => world.power_ups.push(PowerUp { id, bonus: pick(&Bonus::ALL, a), at }),
            SHOT | TAIL_SHOT => world.shots.push(Shot::new(id, at)),
            HEAVY_SHOT => {
                let (power, met) = (a as u8, b as u32);
                world.shots.push(Shot { id, at, power, is_heavy: true, met });
            }
            _ => {}
        }
    }
}

/// The one with this number. A state's counts are within their ranges, which are as long.
fn pick<T: Copy>(all: &[T], number: i32) -> T {
    all[(number.max(0) as usize).min(all.len() - 1)]
}

fn ship(entity: &Entity) -> Ship {
    let [x, y, vx, vy, cooldown, charge, charging, _, safe, gear, refit, refit_left] =
        entity.fields.first();
    Ship {
        player: PlayerId(entity.id),
        at: Moving { x, y, vx, vy },
        cooldown,
        charge,
        is_charging: charging != 0,
        safe,
        gear: Gear {
            weapon: (gear & 3) as u8,
            speed: (gear >> 2 & 3) as u8,
            has_shield: gear >> 4 & 1 == 1,
        },
        refit: match refit {
            1 => Some((Refit::Weapon, refit_left)),
            2 => Some((Refit::Speed, refit_left)),
            _ => None,
        },
        both_held: gear >> 5 & 1 == 1,
    }
}

fn pilot(entity: &Entity) -> Pilot {
    let [lives, away, _, score, chain, chain_left, ready, waiting] = entity.fields.first();
    Pilot {
        player: PlayerId(entity.id.saturating_sub(PILOT_IDS)),
        lives,
        away,
        score,
        chain,
        chain_left,
        is_ready: ready != 0,
        is_mute: false,
        is_absent: false,
        is_waiting: waiting != 0,
    }
}

fn mission(entity: &Entity) -> Mission {
    let [phase, timer, _, level, wave, distance, scroll, team_score, host, difficulty, lives, late] =
        entity.fields.first();
    Mission {
        phase: pick(&Phase::ALL, phase),
        timer,
        level: level as u8,
        wave: wave as u8,
        distance,
        scroll,
        team_score,
        host: (host > 0).then_some(PlayerId(host as u32)),
        setup: Setup {
            difficulty: pick(&Difficulty::ALL, difficulty),
            base_lives: lives as u8,
            late_joining: late != 0,
        },
    }
}
