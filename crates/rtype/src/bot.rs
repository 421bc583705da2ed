//! A bot: flies a ship well enough to finish the first level on easy.
//!
//! It has no memory. Every time it is asked it tries nine ways to go, looks half a second ahead for
//! what it would meet on each, and takes the one that is safest and nearest to where it wants to
//! be: at a power-up, or in line with something to shoot.

use backspin::game::{Buttons, PlayerId};

use crate::boss::Boss;
use crate::mission::Phase;
use crate::power_up::{Bonus, PowerUp};
use crate::ship::Ship;
use crate::space::{Area, FIELD, Moving, PX, Size};
use crate::world::{Bullet, World};

/// When it looks for what it would meet, in ticks from now, and how bad it is to be hit then.
const LOOKS: [(i32, i32); 7] =
    [(1, 9_000), (4, 8_000), (8, 6_000), (13, 4_000), (19, 2_500), (26, 1_500), (34, 800)];

/// It goes on in the same direction for so long, in its mind.
const COMMITS: i32 = 16;

/// How far it stays away from bullets and from enemies.
const BULLET_ROOM: i32 = 7 * PX;
const ENEMY_ROOM: i32 = 12 * PX;

/// Where it likes to be when there is nothing else to do, px from the left.
const HOME_X: i32 = 160 * PX;

/// The nine ways to go.
const WAYS: [(i32, i32); 9] =
    [(0, 0), (0, -1), (0, 1), (-1, 0), (1, 0), (-1, -1), (-1, 1), (1, -1), (1, 1)];

/// What a bot would hold in the place of `player`.
pub fn hold(world: &World, player: PlayerId) -> Buttons {
    let Some(ship) = world.ship(player).filter(|_| world.mission.phase != Phase::Lobby) else {
        return Buttons::default();
    };
    let (dangers, goal) = (dangers(world, ship), goal(world, ship));
    let cost = |index: usize| dangers[index] + detour(ship, WAYS[index], goal);
    let (x, y) = WAYS[(0..WAYS.len()).min_by_key(|&index| cost(index)).unwrap_or(0)];
    let mut held = if world.mission.phase.is_on() { Buttons::SHOOT } else { Buttons::default() };
    for (wants, button) in [
        (x < 0, Buttons::LEFT),
        (x > 0, Buttons::RIGHT),
        (y < 0, Buttons::UP),
        (y > 0, Buttons::DOWN),
    ] {
        if wants {
            held = held | button;
        }
    }
    held
}

/// Where the ship is after so many ticks on a way.
fn after(ship: &Ship, (x, y): (i32, i32), ticks: i32) -> Moving {
    let way = ship.speed() * ticks.min(COMMITS);
    let x = (ship.at.x + x * way).clamp(0, FIELD.w - Ship::SIZE.w);
    let y = (ship.at.y + y * way).clamp(0, FIELD.h - Ship::SIZE.h);
    Moving::still(x, y)
}

/// How bad each way is: what would be met on it.
fn dangers(world: &World, ship: &Ship) -> [i32; WAYS.len()] {
    let mut sums = [0; WAYS.len()];
    for (ticks, harm) in LOOKS.into_iter().filter(|&(ticks, _)| ticks > ship.safe) {
        let hulls = WAYS.map(|way| Ship::hull(&after(ship, way, ticks)));
        // Most things are out of reach on every way.
        let reach = hulls.iter().fold(hulls[0], |reach, hull| reach.with(hull));
        let mut fear = |at: &Moving, size: Size, room: i32, harm: i32| {
            let then = Moving { x: at.x + at.vx * ticks, y: at.y + at.vy * ticks, ..*at };
            let area = then.area(size).inset(-room, -room);
            if !area.meets(&reach) {
                return;
            }
            for (sum, hull) in sums.iter_mut().zip(&hulls) {
                *sum += harm * i32::from(area.meets(hull));
            }
        };
        for bullet in &world.bullets {
            fear(&bullet.at, Bullet::SIZE, BULLET_ROOM, harm);
        }
        for enemy in &world.enemies {
            fear(&enemy.at, enemy.size(), ENEMY_ROOM, harm);
        }
        if let Some(boss) = &world.boss {
            fear(&boss.at, Boss::SIZE, 2 * ENEMY_ROOM, 3 * harm);
        }
    }
    sums
}

/// How far a way leads from the goal, px.
fn detour(ship: &Ship, way: (i32, i32), goal: (i32, i32)) -> i32 {
    let there = after(ship, way, COMMITS / 2);
    ((there.x - goal.0).abs() / 3 + (there.y - goal.1).abs()) / PX
}

/// Where the ship wants to be.
fn goal(world: &World, ship: &Ship) -> (i32, i32) {
    if let Some(power_up) = wanted(world, ship) {
        let (x, y) = power_up.at.middle(PowerUp::SIZE);
        return (x - Ship::SIZE.w / 2, y - Ship::SIZE.h / 2);
    }
    let number = ship.player.0.saturating_sub(1) as i32;
    // A little apart from the others.
    let x = HOME_X - 25 * PX * (number % 4);
    if let Some(boss) = &world.boss {
        let (_, y) = boss.at.middle(Boss::SIZE);
        return (x, y + (2 * (number % 4) - 3) * 16 * PX);
    }
    match prey(world, ship) {
        Some(area) => (x, (area.top + area.bottom) / 2 - Ship::SIZE.h / 2),
        None => (x, FIELD.h / 5 * (1 + number % 4)),
    }
}

/// The nearest power-up that the ship has use for and can reach.
fn wanted<'a>(world: &'a World, ship: &Ship) -> Option<&'a PowerUp> {
    let is_good = |power_up: &&PowerUp| {
        let refits = matches!(power_up.bonus, Bonus::Weapon | Bonus::Speed);
        let far = (power_up.at.x - ship.at.x).abs().max((power_up.at.y - ship.at.y).abs());
        far < 350 * PX && !(refits && ship.refit.is_some()) && power_up.at.x > 0
    };
    let distance =
        |power_up: &&PowerUp| (power_up.at.x - ship.at.x).abs() + (power_up.at.y - ship.at.y).abs();
    world.power_ups.iter().filter(is_good).min_by_key(distance)
}

/// What to shoot at: something ahead, the nearer the better, each ship another.
fn prey(world: &World, ship: &Ship) -> Option<Area> {
    let number = ship.player.0 as usize;
    let ahead = world.enemies.iter().filter(|enemy| {
        let x = enemy.at.x;
        x > ship.at.x + 60 * PX && x < FIELD.w
    });
    let cost = |index: usize, at: &Moving| {
        let turn = (index + number) % world.pilots.len().max(1);
        (at.x - ship.at.x).abs() / 2 + (at.y - ship.at.y).abs() + turn as i32 * 120 * PX
    };
    let nearest = ahead.enumerate().min_by_key(|(index, enemy)| cost(*index, &enemy.at));
    nearest.map(|(_, enemy)| enemy.at.area(enemy.size()))
}

#[cfg(test)]
mod tests {
    use backspin::game::Game;

    use super::*;
    use crate::rules::RType;

    const ME: PlayerId = PlayerId(1);

    fn field() -> World {
        let game = RType::default();
        let mut world = game.begin(1);
        game.join(&mut world, ME, &());
        world.start();
        world.ships[0].safe = 0;
        world.ships[0].at = Moving::still(HOME_X, 300 * PX);
        world
    }

    #[test]
    fn it_holds_nothing_in_the_lobby_and_without_a_ship() {
        let mut world = field();
        assert_eq!(hold(&world, PlayerId(2)), Buttons::default());
        world.return_to_lobby();
        assert_eq!(hold(&world, ME), Buttons::default());
    }

    #[test]
    fn it_gets_out_of_the_way_of_a_bullet_and_goes_on_shooting() {
        let mut world = field();
        let y = world.ships[0].at.y;
        let at = Moving { x: HOME_X + 80 * PX, y, vx: -48, vy: 0 };
        world.bullets.push(Bullet { id: 512, at });
        let held = hold(&world, ME);
        assert!(held.contains(Buttons::SHOOT));
        assert_ne!(held.axis(Buttons::UP, Buttons::DOWN), 0);
    }

    #[test]
    fn it_goes_for_a_power_up_near_by() {
        let mut world = field();
        world.add_power_up(Bonus::Shield, (HOME_X + 100 * PX, 400 * PX));
        let held = hold(&world, ME);
        assert!(held.contains(Buttons::DOWN | Buttons::RIGHT), "{held:?}");
    }

    #[test]
    fn it_lines_up_with_something_to_shoot() {
        let mut world = field();
        let mut high = world.ships[0].at;
        (high.x, high.y) = (700 * PX, 100 * PX);
        let (species, mind) = (crate::enemy::Species::Turret, Default::default());
        world.enemies.push(crate::enemy::Enemy { id: 256, species, at: high, health: 4, mind });
        assert!(hold(&world, ME).contains(Buttons::UP));
    }
}
