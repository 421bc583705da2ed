//! Explosions and sounds between two frames.
//!
//! Whatever disappears inside the field was destroyed, because things leave the field long before they are
//! removed. So
//! players and spectators see the same. What a player sees hit before the server confirms it, such as an own
//! shot, sparks
//! at once; what dies explodes when the server says so.

use backspin::client::Frame;
use backspin::game::{PlayerId, SpawnName};
use backspin_rtype::boss::Boss;
use backspin_rtype::mission::Phase;
use backspin_rtype::power_up::PowerUp;
use backspin_rtype::ship::Ship;
use backspin_rtype::space::{FIELD, Moving, Size};
use backspin_rtype::{Bullet, RType, World, schema, shot::Shot};

use super::scene::px;
use crate::screen::stage::{Happenings, Sight};
use crate::screen::{BurstKind, Cue};

/// Compares two pictures, one after the other.
pub(super) fn between(before: &Sight<'_, RType>, now: &Sight<'_, RType>, out: &mut Happenings) {
    impacts(before.frame, now.frame, out);
    let own = now.own;
    // What stopped has sparked then.
    let has_stopped = |id| before.frame.impacts_of(id).any(|impact| impact.stops);
    let (before, now) = (before.world, now.world);
    // A new match, or the way back to the lobby, takes everything away at once. After the end the
    // last wreck is still to burst.
    let is_flown = |world: &World| !matches!(world.mission.phase, Phase::Lobby | Phase::Countdown);
    if !is_flown(before) || !is_flown(now) {
        return;
    }
    ships(before, now, own, out);
    targets(before, now, out);
    // With a boss all of its bullets go.
    let swept = before.boss.is_some() && now.boss.is_none();
    if !swept {
        shots(before, now, own, has_stopped, out);
    }
    for power_up in before.power_ups() {
        let is_there = now.power_ups().iter().any(|it| it.id == power_up.id);
        if !is_there && is_inside(&power_up.at, PowerUp::SIZE) {
            burst(out, BurstKind::Taken, &power_up.at, PowerUp::SIZE);
            cue(out, Cue::PowerUp);
        }
    }
}

fn ships(before: &World, now: &World, own: Option<PlayerId>, out: &mut Happenings) {
    for then in before.ships() {
        let is_own = own == Some(then.player);
        match now.ship(then.player) {
            // The ship of a player who left is gone.
            None if now.pilot(then.player).is_some() => {
                burst(out, BurstKind::Ship, &then.at, Ship::SIZE);
                cue(out, if is_own { Cue::Hurt } else { Cue::Explosion });
            }
            Some(ship) if then.gear.has_shield && !ship.gear.has_shield => {
                burst(out, BurstKind::Spark, &ship.at, Ship::SIZE);
                cue(out, if is_own { Cue::Hurt } else { Cue::Hit });
            }
            _ => {}
        }
    }
}

fn targets(before: &World, now: &World, out: &mut Happenings) {
    for enemy in before.enemies() {
        match now.enemies().iter().find(|it| it.id == enemy.id) {
            None if is_inside(&enemy.at, enemy.size()) => {
                burst(out, BurstKind::Enemy, &enemy.at, enemy.size());
                cue(out, Cue::Explosion);
            }
            Some(it) if it.health < enemy.health => cue(out, Cue::Hit),
            _ => {}
        }
    }
    match (&before.boss, &now.boss) {
        (None, Some(_)) => cue(out, Cue::Boss),
        (Some(boss), None) => {
            burst(out, BurstKind::Boss, &boss.at, Boss::SIZE);
            cue(out, Cue::Explosion);
        }
        (Some(then), Some(boss)) if boss.health < then.health => cue(out, Cue::Hit),
        _ => {}
    }
}

/// What was just seen to meet.
fn impacts(before: &Frame, now: &Frame, out: &mut Happenings) {
    for impact in &now.impacts {
        let Some(drawn) = now.find(impact.entity) else { continue };
        let (size, fields) = match drawn.entity.kind {
            schema::SHIP => (Ship::SIZE, &drawn.fields),
            schema::BULLET => (Bullet::SIZE, &drawn.fields),
            schema::HEAVY_SHOT => (Shot::HEAVY_SIZE, &drawn.fields),
            _ => (Shot::SIZE, &drawn.fields),
        };
        let was = before.find(impact.entity).map_or(fields, |drawn| &drawn.fields);
        let at = |index: usize| was[index] + (fields[index] - was[index]) * impact.at;
        let is_shot = SpawnName::owner(impact.entity).is_some();
        // A shot sparks at its tip.
        let tip = match (is_shot, fields[2] > 0.0) {
            (false, _) => px(size.w) / 2.0,
            (true, true) => px(size.w),
            (true, false) => 0.0,
        };
        out.bursts.push((BurstKind::Spark, at(0) + tip, at(1) + px(size.h) / 2.0));
        if is_shot {
            cue(out, Cue::Hit);
        }
    }
}

fn shots(
    before: &World,
    now: &World,
    own: Option<PlayerId>,
    has_stopped: impl Fn(u32) -> bool,
    out: &mut Happenings,
) {
    for shot in before.shots() {
        let is_there = now.shots().iter().any(|it| it.id == shot.id);
        // A frame's way from the edge it has flown out.
        let next = Moving { x: shot.at.x + 2 * shot.at.vx, ..shot.at };
        if !is_there && !has_stopped(shot.id) && is_inside(&next, shot.size()) {
            burst(out, BurstKind::Spark, &next, shot.size());
        }
    }
    for shot in now.shots() {
        let is_new = !before.shots().iter().any(|it| it.id == shot.id);
        if is_new && own.is_none_or(|own| own == shot.owner()) {
            cue(out, if Shot::LIGHT < shot.power { Cue::HeavyShot } else { Cue::Shot });
        }
    }
    for bullet in before.bullets() {
        let is_there = now.bullets().iter().any(|it| it.id == bullet.id);
        if !is_there && !has_stopped(bullet.id) && is_inside(&bullet.at, Bullet::SIZE) {
            burst(out, BurstKind::Spark, &bullet.at, Bullet::SIZE);
        }
    }
}

/// Whether some of it is in the field.
fn is_inside(at: &Moving, size: Size) -> bool {
    let field = Moving::default().area(FIELD);
    at.area(size).meets(&field)
}

fn burst(out: &mut Happenings, kind: BurstKind, at: &Moving, size: Size) {
    out.bursts.push((kind, px(at.x + size.w / 2), px(at.y + size.h / 2)));
}

/// The same sound twice at once is only louder.
fn cue(out: &mut Happenings, cue: Cue) {
    if !out.cues.contains(&cue) {
        out.cues.push(cue);
    }
}
