//! Everything in the field, as plain things in px.

use backspin::game::PlayerId;
use backspin_rtype::World;
use backspin_rtype::boss::Boss;
use backspin_rtype::pod::Pod;
use backspin_rtype::power_up::PowerUp;
use backspin_rtype::ship::{self, Ship};
use backspin_rtype::space::{FIELD, Moving, PX, Size};
use backspin_rtype::{Bullet, shot::Shot};

use super::super::look::{Look, Ship as ShipLook};
use super::number;
use crate::games::OwnLook;
use crate::screen::{self, Scene, Thing};

/// The field as the rules have it, `own` things marked.
pub(super) fn of(world: &World, own: Option<PlayerId>) -> Scene {
    let is_own = |player: PlayerId| own == Some(player);
    let power_ups = world
        .power_ups()
        .iter()
        .map(|power_up| thing(Look::PowerUp(power_up.bonus), &power_up.at, PowerUp::SIZE));
    let boss = world
        .boss
        .iter()
        .map(|boss| thing(Look::Boss { look: boss.look, stage: boss.stage }, &boss.at, Boss::SIZE));
    let enemies = world
        .enemies()
        .iter()
        .map(|enemy| thing(Look::Enemy(enemy.species), &enemy.at, enemy.size()));
    let shots = world.shots().iter().map(|shot: &Shot| {
        let own = is_own(shot.owner());
        let look = if shot.is_heavy { Look::HeavyShot { own } } else { Look::Shot { own } };
        thing(look, &shot.at, shot.size())
    });
    let pods = world.players().filter_map(|card| world.pod(card.player)).map(|pod| {
        let (number, own) = (number(pod.player), is_own(pod.player));
        thing(Look::Pod { number, own }, &pod.at, Pod::SIZE)
    });
    // The own ship is never behind another.
    let others = world.ships().iter().filter(|ship| !is_own(ship.player));
    let mine = world.ships().iter().filter(|ship| is_own(ship.player));
    let ships = others
        .chain(mine)
        .map(|ship| thing(Look::Ship(look(ship, is_own(ship.player))), &ship.at, Ship::SIZE));
    let bullets =
        world.bullets().iter().map(|bullet| thing(Look::Bullet, &bullet.at, Bullet::SIZE));
    let things = power_ups.chain(boss).chain(enemies).chain(shots).chain(pods);
    Scene {
        width: px(FIELD.w),
        height: px(FIELD.h),
        scroll: px(world.mission.distance),
        things: things.chain(ships).chain(bullets).collect(),
        bursts: Vec::new(),
    }
}

fn look(ship: &ship::Ship, own: bool) -> ShipLook {
    ShipLook {
        number: number(ship.player),
        own,
        shield: ship.gear.has_shield,
        safe: ship.safe > 0,
        charge: (ship.charge * 100 / Ship::CHARGE_TICKS).clamp(0, 100) as u8,
        tilt: ship.at.vy.signum() as i8,
    }
}

fn thing(look: Look, at: &Moving, size: Size) -> Thing {
    let look = screen::Look::Own(OwnLook::Rtype(look));
    Thing { look, x: px(at.x), y: px(at.y), width: px(size.w), height: px(size.h) }
}

pub(super) fn px(units: i32) -> f32 {
    units as f32 / PX as f32
}
