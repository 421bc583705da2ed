//! What enemies and bosses decide: each thinks once a tick, after everything has moved.

use backspin::game::Turn;

use super::Threat;
use crate::boss::Boss;
use crate::difficulty::percent;
use crate::enemy::{Deed, Enemy, Species};
use crate::level::{Fire, Level};
use crate::mission::Phase;
use crate::rules::RType;
use crate::ship::Ship;
use crate::space::{DIRECTIONS, FIELD, Moving, PX, aim, direction};
use crate::world::World;

/// How fast bullets are on normal, in 1/16 px a tick: 180 px/s.
const BULLET_SPEED: i32 = 3 * PX;
/// Splinters of a mine.
const SPLINTERS: usize = 8;
/// What comes from further left than this is not aimed any more.
const HARMLESS_X: i32 = 120 * PX;

impl RType {
    /// Enemies and the boss decide.
    pub(super) fn let_think(
        &self,
        world: &mut World,
        turn: &Turn<'_, RType>,
        level: &Level,
        threat: Threat,
    ) {
        let mut index = 0;
        while index < world.enemies.len() {
            let mut enemy = world.enemies[index];
            let middle = enemy.at.middle(enemy.size());
            let prey = world.nearest_ship(middle);
            let deed = enemy.think(prey);
            if deed.is_some() {
                let ticks = enemy.species.traits().reload_ticks as i32;
                enemy.mind.reload = percent(ticks, threat.reload) as u32;
            }
            world.enemies[index] = enemy;
            match deed {
                Some(Deed::Burst) => {
                    world.enemies.remove(index);
                    world.burst(middle, threat);
                    continue;
                }
                Some(deed) => world.act(&enemy, deed, prey, threat),
                None => {}
            }
            index += 1;
        }
        if world.mission.phase == Phase::Boss
            && let Some(mut boss) = world.boss
        {
            let fire = boss.think(&level.boss, threat.reload);
            world.boss = Some(boss);
            if let Some(fire) = fire {
                world.fire_boss(boss.at.middle(Boss::SIZE), fire, turn.tick(), threat);
            }
        }
    }
}

impl Threat {
    fn bullet_speed(self) -> i32 {
        percent(BULLET_SPEED, self.bullet_speed)
    }
}

impl World {
    /// The middle of the ship nearest to a point.
    pub(crate) fn nearest_ship(&self, (x, y): (i32, i32)) -> Option<(i32, i32)> {
        let ships = self.ships.iter().map(|ship| ship.at.middle(Ship::SIZE));
        ships.min_by_key(|ship| (ship.0 - x).abs() + (ship.1 - y).abs())
    }

    fn act(&mut self, enemy: &Enemy, deed: Deed, prey: Option<(i32, i32)>, threat: Threat) {
        let from = enemy.at.middle(enemy.size());
        if !(0..=FIELD.w).contains(&from.0) {
            return;
        }
        let speed = threat.bullet_speed();
        match deed {
            Deed::Ahead if from.0 > HARMLESS_X => {
                // Faster than who fires, or it would fly into its own bullet.
                let ahead = if enemy.at.vx > 0 { 1 } else { -1 };
                self.add_bullet(from, (ahead * (enemy.at.vx.abs() + speed / 2), 0));
            }
            Deed::Aimed if from.0 > HARMLESS_X => {
                if let Some(prey) = prey {
                    self.add_bullet(from, aim(from, prey, speed));
                }
            }
            Deed::Launch => {
                let at = Moving { x: enemy.at.x, y: from.1, vx: -48, vy: 0 };
                self.add_enemy(Species::Drone, at, None, threat);
            }
            Deed::Ahead | Deed::Aimed | Deed::Burst => {}
        }
    }

    fn burst(&mut self, from: (i32, i32), threat: Threat) {
        for splinter in 0..SPLINTERS {
            let way = splinter * DIRECTIONS / SPLINTERS;
            self.add_bullet(from, direction(way, threat.bullet_speed() * 3 / 4));
        }
    }

    fn fire_boss(&mut self, from: (i32, i32), fire: Fire, tick: u32, threat: Threat) {
        let speed = threat.bullet_speed();
        match fire {
            Fire::Aimed => {
                if let Some(prey) = self.nearest_ship(from) {
                    self.add_bullet(from, aim(from, prey, speed * 5 / 4));
                }
            }
            Fire::Fan => {
                for way in [DIRECTIONS - 4, DIRECTIONS - 2, 0, 2, 4] {
                    self.add_bullet(from, direction(way, speed));
                }
            }
            Fire::Ring => {
                // Turned a little each time, so that no place is safe for ever.
                let turned = (tick / 7) as usize % 3;
                for way in (0..DIRECTIONS).step_by(3) {
                    self.add_bullet(from, direction(way + turned, speed));
                }
            }
            Fire::Wall => {
                let Some(director) = &mut self.director else { return };
                let gap = director.chance.below(7) as i32;
                for place in (0..8).filter(|place| !(gap..gap + 2).contains(place)) {
                    let y = (40 + place * 74) * PX;
                    self.add_bullet((from.0, y), (-speed, 0));
                }
            }
            Fire::Drones => {
                for y in [-40 * PX, 40 * PX] {
                    let at = Moving { x: from.0, y: from.1 + y, vx: -48, vy: 0 };
                    self.add_enemy(Species::Drone, at, None, threat);
                }
            }
        }
    }
}
