//! What ships fire: named by player and tick, so that a predicted shot and the server's are one.

use backspin::game::{PlayerId, SpawnName};

use crate::pod::Pod;
use crate::ship::Ship;
use crate::space::{FIELD, Moving, PX, Size};

/// A shot in the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shot {
    /// Made of a [`SpawnName`].
    pub id: u32,
    /// Where.
    pub at: Moving,
    /// What it can still destroy.
    pub power: u8,
    /// Whether it was charged: then it passes through what it destroys.
    pub is_heavy: bool,
    /// What a heavy shot met last, which it does not meet again.
    pub(crate) met: u32,
}

impl Shot {
    /// The power of a shot that was not charged.
    pub const LIGHT: u8 = 1;

    /// The power of the heaviest.
    pub const POWER_MAX: u8 = 24;

    /// How fast it flies, in 1/16 px a tick: 960 px/s.
    pub const SPEED: i32 = 16 * PX;

    /// How far the outer shots of the greatest weapon spread.
    pub(crate) const SPREAD: i32 = 32;

    /// How large a light one is.
    pub const SIZE: Size = Size::px(16, 4);

    /// How large a heavy one is.
    pub const HEAVY_SIZE: Size = Size::px(28, 20);

    pub(crate) fn new(id: u32, at: Moving) -> Self {
        Shot { id, at, power: Shot::LIGHT, is_heavy: false, met: 0 }
    }

    /// A light shot that begins at a height.
    fn light(ship: &Ship, tick: u32, count: u8, y: i32, vy: i32) -> Self {
        let x = ship.at.x + Ship::SIZE.w;
        let at = Moving { x, y: y - Shot::SIZE.h / 2, vx: Shot::SPEED, vy };
        Shot::new(name(ship.player, tick, count), at)
    }

    /// All that a ship and its pod fire at once.
    pub(crate) fn volley(ship: &Ship, tick: u32, pod: Option<&Pod>, fired: &mut Volley) {
        let middle = ship.at.y + Ship::SIZE.h / 2;
        let barrels: &[(i32, i32)] = match ship.gear.weapon {
            0 | 1 => &[(0, 0)],
            2 => &[(-5 * PX, 0), (5 * PX, 0)],
            _ => &[(0, 0), (-3 * PX, -Shot::SPREAD), (3 * PX, Shot::SPREAD)],
        };
        for (count, (y, vy)) in (0..).zip(barrels) {
            fired.push(Shot::light(ship, tick, count, middle + y, *vy));
        }
        if let Some(pod) = pod {
            let (x, vx) = pod.muzzle();
            let y = pod.at.y + Pod::SIZE.h / 2 - Shot::SIZE.h / 2;
            let id = name(ship.player, tick, Volley::LIMIT as u8 - 1);
            fired.push(Shot::new(id, Moving { x, y, vx, vy: 0 }));
        }
    }

    /// The heavy shot of a charge.
    pub(crate) fn heavy(ship: &Ship, tick: u32, charge: i32) -> Self {
        let power = (charge / 5).clamp(1, i32::from(Shot::POWER_MAX)) as u8;
        let y = ship.at.y + (Ship::SIZE.h - Shot::HEAVY_SIZE.h) / 2;
        let at = Moving { x: ship.at.x + Ship::SIZE.w, y, vx: Shot::SPEED, vy: 0 };
        Shot { id: name(ship.player, tick, 0), at, power, is_heavy: true, met: 0 }
    }

    /// How large it is.
    pub fn size(&self) -> Size {
        if self.is_heavy { Shot::HEAVY_SIZE } else { Shot::SIZE }
    }

    /// Who fired it.
    pub fn owner(&self) -> PlayerId {
        // Every shot's id is made of a spawn's name.
        SpawnName::owner(self.id).unwrap_or(PlayerId(0))
    }

    /// One tick on, if it is still in the field: whether it was. It is seen to cross the edge.
    pub(crate) fn fly(&mut self) -> bool {
        let Moving { x, y, .. } = self.at;
        self.at.go();
        (-Shot::SPEED..FIELD.w).contains(&x) && (-Shot::SPEED..FIELD.h).contains(&y)
    }
}

fn name(player: PlayerId, tick: u32, count: u8) -> u32 {
    SpawnName { player, tick, count }.entity_id()
}

/// What one ship fires in one tick.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Volley {
    shots: [Option<Shot>; Volley::LIMIT],
}

impl Volley {
    /// As many as a [`SpawnName`] can count.
    pub(crate) const LIMIT: usize = 4;

    pub(crate) fn push(&mut self, shot: Shot) {
        if let Some(place) = self.shots.iter_mut().find(|place| place.is_none()) {
            *place = Some(shot);
        }
    }

    pub(crate) fn first(&self) -> Option<&Shot> {
        self.shots[0].as_ref()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Shot> + '_ {
        self.shots.iter().flatten().copied()
    }
}

#[cfg(test)]
mod tests {
    use backspin::game::{Buttons, Game, PlayerInput, Turn};

    use super::*;
    use crate::rules::RType;
    use crate::ship::Gear;
    use crate::world::World;

    fn full_armed(players: u32) -> World {
        let game = RType::default();
        let mut world = game.begin(1);
        (1..=players).for_each(|player| game.join(&mut world, PlayerId(player), &()));
        for ship in &mut world.ships {
            (ship.at.x, ship.gear.weapon) = (0, Gear::WEAPON_MAX);
            world.pods.push(Pod::new(ship));
        }
        world
    }

    #[test]
    fn a_volley_has_a_shot_for_each_barrel_and_one_of_the_pod() {
        let mut ship = Ship::new(PlayerId(2));
        for weapon in 1..=Gear::WEAPON_MAX {
            ship.gear.weapon = weapon;
            let pod = Pod::new(&ship);
            let (mut alone, mut both) = (Volley::default(), Volley::default());
            Shot::volley(&ship, 9, None, &mut alone);
            Shot::volley(&ship, 9, Some(&pod), &mut both);
            assert_eq!(alone.iter().count(), weapon.into());
            assert_eq!(both.iter().count(), usize::from(weapon) + 1);
            let mut ids: Vec<u32> = both.iter().map(|shot| shot.id).collect();
            ids.dedup();
            assert_eq!(ids.len(), usize::from(weapon) + 1);
            assert!(both.iter().all(|shot| shot.owner() == PlayerId(2)));
        }
    }

    #[test]
    fn a_shot_is_gone_the_tick_after_it_left_the_field() {
        let mut shot =
            Shot::new(SpawnName::FIRST, Moving { x: FIELD.w - 1, y: 0, vx: Shot::SPEED, vy: 0 });
        assert!(shot.fly() && shot.at.x > FIELD.w);
        assert!(!shot.fly());
    }

    #[test]
    fn ships_cannot_shoot_up_to_the_limit() {
        let mut world = full_armed(4);
        let inputs = [1, 2, 3, 4].map(|player| PlayerInput::new(PlayerId(player), Buttons::SHOOT));
        let mut most = 0;
        for tick in 1..=300 {
            let mut events = Vec::new();
            RType::default().step(&mut world, &mut Turn::new(tick, &inputs, &[], &mut events));
            most = most.max(world.shots.len());
        }
        assert!((100..World::SHOT_LIMIT).contains(&most), "{most}");
    }

    #[test]
    fn nothing_is_fired_beyond_the_limit() {
        let mut world = full_armed(1);
        let shot = Shot::new(SpawnName::FIRST, Moving::still(0, 0));
        (0..World::SHOT_LIMIT).for_each(|_| world.add_shot(shot));
        assert_eq!(world.shots.len(), World::SHOT_LIMIT);
        world.add_shot(shot);
        assert_eq!(world.shots.len(), World::SHOT_LIMIT);
    }
}
