//! What is sent of a world: everything that ships and their things depend on, exactly; of enemies
//! where they are and how they look, not what they are up to.
//!
//! Timers count down along a constant velocity of -1, and a charge along one of 0 or 1, so that
//! they cost nothing while they run.

mod capture;
mod restore;
#[cfg(test)]
mod tests;

use backspin::replication::{Field, Kind, Motion, Schema, Step};

use crate::boss::Boss;
use crate::mission::{Mission, Pilot};
use crate::pod::Pod;
use crate::power_up::PowerUp;
use crate::ship::Ship;
use crate::shot::Shot;
use crate::space::{BEYOND_X, BEYOND_Y, FIELD, PX};
use crate::world::Bullet;

pub(crate) use capture::capture;
pub(crate) use restore::restore;

/// The schema's kind of a ship.
pub const SHIP: u8 = 0;
/// The schema's kind of a pod.
pub const POD: u8 = 1;
/// The schema's kind of a pilot, which has no place.
pub const PILOT: u8 = 2;
/// The schema's kind of the mission, which has no place.
pub const MISSION: u8 = 3;
/// The schema's kind of a boss.
pub const BOSS: u8 = 4;
/// The schema's kind of an enemy.
pub const ENEMY: u8 = 5;
/// The schema's kind of what enemies fire.
pub const BULLET: u8 = 6;
/// The schema's kind of a power-up.
pub const POWER_UP: u8 = 7;
/// The schema's kind of a shot to the right.
pub const SHOT: u8 = 8;
/// The schema's kind of a shot to the left.
pub const TAIL_SHOT: u8 = 9;
/// The schema's kind of a heavy shot.
pub const HEAVY_SHOT: u8 = 10;

/// The mission's entity.
pub const MISSION_ID: u32 = 25;

/// Pilots' entities begin behind this.
pub(crate) const PILOT_IDS: u32 = 16;

/// So many players have entities.
pub(crate) const PLAYERS_MAX: u32 = 8;

/// How fast enemies and bosses may be, in 1/16 px a tick.
const ENEMY_SPEED: i32 = 511;

pub(crate) const SCHEMA: Schema = Schema::new(&[
    Kind {
        name: "ship",
        fields: &[
            along("x", 0, FIELD.w - Ship::SIZE.w, 2),
            along("y", 0, FIELD.h - Ship::SIZE.h, 3),
            velocity("vx", Ship::SPEED_LIMIT),
            velocity("vy", Ship::SPEED_LIMIT),
            timer("cooldown", Ship::COOLDOWN_TICKS, 7),
            timer("charge", Ship::CHARGE_TICKS, 6),
            still("charging", 0, 1),
            DOWN,
            timer("safe", Ship::SAFE_TICKS, 7),
            // Weapon, speed, shield, both buttons: 2, 2, 1 and 1 bits.
            still("gear", 0, 63),
            // 0 is nothing, 1 a weapon, 2 an engine.
            still("refit", 0, 2),
            timer("refit_left", Ship::REFIT_TICKS, 7),
        ],
    },
    Kind {
        name: "pod",
        fields: &[
            X,
            Y,
            velocity("vx", Pod::LAUNCH_SPEED),
            velocity("vy", Pod::LAUNCH_SPEED),
            still("mode", 0, 5),
        ],
    },
    Kind {
        name: "pilot",
        fields: &[
            still("lives", 0, Pilot::LIVES_LIMIT),
            timer("away", Pilot::AWAY_TICKS, 2),
            DOWN,
            still("score", 0, Pilot::SCORE_LIMIT),
            still("chain", 0, Pilot::CHAIN_LIMIT),
            timer("chain_left", Pilot::CHAIN_TICKS, 2),
            still("ready", 0, 1),
            still("waiting", 0, 1),
        ],
    },
    Kind {
        name: "mission",
        fields: &[
            still("phase", 0, 6),
            timer("timer", Mission::END_TICKS, 2),
            DOWN,
            still("level", 1, 9),
            still("wave", 0, 255),
            timer("distance", Mission::DISTANCE_LIMIT, 6),
            still("scroll", 0, 64),
            still("team_score", 0, Pilot::SCORE_LIMIT),
            // 0 is nobody.
            still("host", 0, 8),
            still("difficulty", 0, 2),
            still("base_lives", 1, 6),
            still("late_joining", 0, 1),
        ],
    },
    Kind {
        name: "boss",
        fields: &[
            X,
            Y,
            velocity("vx", ENEMY_SPEED),
            velocity("vy", ENEMY_SPEED),
            still("health", 0, Boss::HEALTH_LIMIT),
            still("full", 1, Boss::HEALTH_LIMIT),
            still("stage", 0, 5),
            still("look", 1, 3),
        ],
    },
    Kind {
        name: "enemy",
        fields: &[
            X,
            Y,
            velocity("vx", 127),
            velocity("vy", 127),
            still("health", 0, 255),
            still("species", 0, 5),
        ],
    },
    Kind {
        name: "bullet",
        fields: &[X, Y, velocity("vx", Bullet::SPEED_LIMIT), velocity("vy", Bullet::SPEED_LIMIT)],
    },
    Kind {
        name: "power_up",
        fields: &[X, Y, fixed("vx", PowerUp::DRIFT), fixed("vy", 0), still("bonus", 0, 4)],
    },
    Kind { name: "shot", fields: &[X, Y, fixed("vx", Shot::SPEED), velocity("vy", Shot::SPREAD)] },
    Kind { name: "tail_shot", fields: &[X, Y, fixed("vx", -Shot::SPEED), fixed("vy", 0)] },
    Kind {
        name: "heavy_shot",
        fields: &[
            X,
            Y,
            fixed("vx", Shot::SPEED),
            fixed("vy", 0),
            still("power", 0, Shot::POWER_MAX as i32),
            still("met", 0, 511),
        ],
    },
]);
const _: () = assert!(SCHEMA.check().is_ok());

/// Where things other than ships may be; their velocities follow.
const X: Field = along("x", -BEYOND_X, FIELD.w + BEYOND_X, 2);
const Y: Field = along("y", -BEYOND_Y, FIELD.h + BEYOND_Y, 3);

/// What makes timers count down.
const DOWN: Field = still("down", -1, -1);

/// A place, in px.
const fn along(name: &'static str, min: i32, max: i32, velocity: usize) -> Field {
    let motion = Motion::Along { velocity, per_ticks: 1 };
    Field { name, min, max, step: Step::new(1, PX as u32), motion }
}

/// A velocity, in px/s: 1/16 px a tick is 15/4 of it.
const fn velocity(name: &'static str, limit: i32) -> Field {
    let (min, max, step) = (-limit, limit, Step::new(15, 4));
    Field { name, min, max, step, motion: Motion::Still }
}

/// A velocity that never changes, and costs nothing.
const fn fixed(name: &'static str, count: i32) -> Field {
    Field { min: count, max: count, ..velocity(name, 0) }
}

/// A count that stays until something happens.
const fn still(name: &'static str, min: i32, max: i32) -> Field {
    Field { name, min, max, step: Step::ONE, motion: Motion::Still }
}

/// A count that goes on by itself, from 0 to `max`.
const fn timer(name: &'static str, max: i32, velocity: usize) -> Field {
    let motion = Motion::Along { velocity, per_ticks: 1 };
    Field { name, min: 0, max, step: Step::ONE, motion }
}
