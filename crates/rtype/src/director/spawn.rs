//! How enemies, bullets and power-ups come into the world: with an id that nothing has, and not
//! beyond the limits.

use std::ops::RangeInclusive;

use super::Threat;
use crate::difficulty::percent;
use crate::enemy::{Enemy, Mind, Species};
use crate::level::{Side, Spawn};
use crate::power_up::{Bonus, PowerUp};
use crate::rules::RType;
use crate::space::{FIELD, Moving, PX};
use crate::world::{Bullet, World};

/// The ids of enemies.
const ENEMY_IDS: RangeInclusive<u32> = 0x100..=0x1FF;
/// The ids of bullets.
const BULLET_IDS: RangeInclusive<u32> = 0x200..=0x5FF;
/// The ids of power-ups.
const POWER_UP_IDS: RangeInclusive<u32> = 0x600..=0x63F;

/// How fast weavers zigzag, in 1/16 px a tick.
const WEAVE_SPEED: i32 = 32;

/// The ids that were given last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ids {
    enemy: u32,
    bullet: u32,
    power_up: u32,
}

impl Default for Ids {
    fn default() -> Self {
        Ids { enemy: *ENEMY_IDS.end(), bullet: *BULLET_IDS.end(), power_up: *POWER_UP_IDS.end() }
    }
}

/// The id after `last` that nothing has: there are more ids than there may be things.
fn next_id(last: u32, range: RangeInclusive<u32>, is_taken: impl Fn(u32) -> bool) -> u32 {
    let after = |id: u32| if range.contains(&(id + 1)) { id + 1 } else { *range.start() };
    let mut id = after(last);
    while is_taken(id) {
        id = after(id);
    }
    id
}

impl World {
    /// An enemy of a level's list.
    pub(super) fn add_spawn(&mut self, spawn: &Spawn, threat: Threat) {
        let (size, speed) = (spawn.species.size(), spawn.species.traits().speed);
        let y = (spawn.y * PX - size.h / 2).clamp(0, FIELD.h - size.h);
        let (x, vx) = match spawn.side {
            Side::Right => (FIELD.w, -speed),
            Side::Left => (-size.w, speed),
        };
        self.add_enemy(spawn.species, Moving { x, y, vx, vy: 0 }, spawn.drops, threat);
    }

    /// An enemy anywhere.
    pub(super) fn add_enemy(
        &mut self,
        species: Species,
        mut at: Moving,
        cargo: Option<Bonus>,
        threat: Threat,
    ) {
        let Some(director) = &mut self.director else { return };
        if self.enemies.len() >= World::ENEMY_LIMIT {
            return;
        }
        if species == Species::Weaver {
            // Towards the middle first, so that it stays in the field.
            at.vy = if at.y < FIELD.h / 2 { WEAVE_SPEED } else { -WEAVE_SPEED };
        }
        let traits = species.traits();
        // Not all of a formation at the same time.
        let reload = match traits.reload_ticks as i32 {
            0 => 0,
            ticks => {
                let ticks = percent(ticks, threat.reload);
                director.chance.between(ticks / 3, ticks)
            }
        };
        let mind = Mind { age: 0, reload: reload.max(0) as u32, cargo };
        let id = next_id(director.ids.enemy, ENEMY_IDS, |id| {
            self.enemies.iter().any(|enemy| enemy.id == id)
        });
        director.ids.enemy = id;
        let health = percent(traits.health, threat.health);
        self.enemies.push(Enemy { id, species, at, health, mind });
    }

    /// A bullet whose middle is at a point.
    pub(super) fn add_bullet(&mut self, (x, y): (i32, i32), (vx, vy): (i32, i32)) {
        let Some(director) = &mut self.director else { return };
        if self.bullets.len() >= World::BULLET_LIMIT || (vx, vy) == (0, 0) {
            return;
        }
        let id = next_id(director.ids.bullet, BULLET_IDS, |id| {
            self.bullets.iter().any(|bullet| bullet.id == id)
        });
        director.ids.bullet = id;
        let limited = |v: i32| v.clamp(-Bullet::SPEED_LIMIT, Bullet::SPEED_LIMIT);
        let (x, y) = (x - Bullet::SIZE.w / 2, y - Bullet::SIZE.h / 2);
        self.bullets.push(Bullet { id, at: Moving { x, y, vx: limited(vx), vy: limited(vy) } });
    }

    /// A power-up whose middle is at a point.
    pub(crate) fn add_power_up(&mut self, bonus: Bonus, at: (i32, i32)) {
        let Some(director) = &mut self.director else { return };
        if self.power_ups.len() >= World::POWER_UP_LIMIT {
            return;
        }
        let id = next_id(director.ids.power_up, POWER_UP_IDS, |id| {
            self.power_ups.iter().any(|power_up| power_up.id == id)
        });
        director.ids.power_up = id;
        self.power_ups.push(PowerUp::at(id, bonus, at));
    }
}

impl RType {
    /// Keeps so many enemies and bullets in the field, half and half, for ever.
    pub(super) fn keep_swarm(&self, world: &mut World, threat: Threat) {
        let half = usize::from(self.swarm).div_ceil(2);
        while world.enemies.len() < half.min(World::ENEMY_LIMIT) {
            let Some(director) = &mut world.director else { return };
            let kinds = [Species::Drone, Species::Weaver, Species::Mine, Species::Turret];
            let species = kinds[director.chance.below(kinds.len() as u32) as usize];
            let y = director.chance.between(60, 540) * PX;
            // Some come from further out, so that they do not come in step.
            let x = FIELD.w + director.chance.between(0, 100) * PX;
            let at = Moving { x, y, vx: -species.traits().speed, vy: 0 };
            world.add_enemy(species, at, None, threat);
        }
        let bullets = usize::from(self.swarm / 2).min(World::BULLET_LIMIT);
        for _ in world.bullets.len()..bullets {
            let Some(director) = &mut world.director else { return };
            let from = director.chance.below(world.enemies.len().max(1) as u32) as usize;
            let vy = director.chance.between(-24, 24);
            let Some(enemy) = world.enemies.get(from) else { return };
            let at = enemy.at.middle(enemy.size());
            world.add_bullet(at, (-44, vy));
        }
    }
}
