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
    let goal = goal(world, ship);
    let best = WAYS.iter().min_by_key(|&&way| danger(world, ship, way) + detour(ship, way, goal));
    let &(x, y) = best.unwrap_or(&WAYS[0]);
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

/// How bad a way is: what would be met on it.
fn danger(world: &World, ship: &Ship, way: (i32, i32)) -> i32 {
    let mut sum = 0;
    for (ticks, harm) in LOOKS {
        if ticks <= ship.safe {
            continue;
        }
        let hull = Ship::hull(&after(ship, way, ticks));
        let meets = |at: &Moving, size: Size, room: i32| {
            let then = Moving { x: at.x + at.vx * ticks, y: at.y + at.vy * ticks, ..*at };
            then.area(size).inset(-room, -room).meets(&hull)
        };
        let mut things = 0;
        for bullet in &world.bullets {
            things += i32::from(meets(&bullet.at, Bullet::SIZE, BULLET_ROOM));
        }
        for enemy in &world.enemies {
            things += i32::from(meets(&enemy.at, enemy.size(), ENEMY_ROOM));
        }
        if let Some(boss) = &world.boss {
            things += 3 * i32::from(meets(&boss.at, Boss::SIZE, 2 * ENEMY_ROOM));
        }
        sum += things * harm;
    }
    sum
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
