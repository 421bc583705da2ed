//! R-Type in a window.

use backspin_rtype::enemy::Species;
use backspin_rtype::power_up::Bonus;
use macroquad::color::Color;
use macroquad::math::{Rect, vec2};

use super::{Look, Ship};
use crate::desktop::brush::Brush;
use crate::desktop::colour::{self, Paint, WHITE, faint};
use crate::desktop::sheet::{self, Cell};

/// How much larger things look than they are, so that a near miss is no hit.
const SHIP_GRACE: f32 = 2.3;
const POD_GRACE: f32 = 1.5;
const ENEMY_GRACE: f32 = 1.4;
const BOSS_GRACE: f32 = 1.22;
const BULLET_GRACE: f32 = 2.2;
const BONUS_GRACE: f32 = 1.5;

pub(super) fn draw(look: Look, brush: &mut Brush, area: Rect, paint: Paint, seconds: f32) {
    match look {
        Look::Ship(it) => ship(brush, area, it, paint, seconds),
        Look::Pod { number, .. } => {
            let body = grown(area, POD_GRACE);
            brush.glow(area.center(), area.w * 1.7, faint(paint.crew(number), 0.5));
            brush.cell(sheet::POD, body, seconds * 4.0, WHITE);
        }
        Look::Shot { own } => shot(brush, area, own),
        Look::HeavyShot { own } => heavy_shot(brush, area, own, seconds),
        Look::Enemy(species) => {
            let body = grown(area, ENEMY_GRACE);
            let (cell, angle) = enemy(species, seconds);
            brush.cell(cell, body, angle, WHITE);
        }
        Look::Boss { look, stage } => boss(brush, area, look, stage, seconds),
        Look::Bullet => {
            brush.glow(area.center(), area.w * 2.4, faint(colour::FLAME, 0.45));
            brush.cell(sheet::BULLET, grown(area, BULLET_GRACE), 0.0, WHITE);
        }
        Look::PowerUp(bonus) => power_up(brush, area, bonus, seconds),
    }
}

fn ship(brush: &mut Brush, area: Rect, ship: Ship, paint: Paint, seconds: f32) {
    // Who cannot be hurt blinks, slowly enough for every eye.
    let seen = if ship.safe { 0.55 + 0.3 * (seconds * 9.0).sin() } else { 1.0 };
    let colour = paint.crew(ship.number);
    let mut body = grown(area, SHIP_GRACE);
    let tilt = f32::from(ship.tilt);
    let angle = tilt * 0.10;
    if ship.tilt != 0 {
        (body.y, body.h) = (body.y + body.h * 0.05, body.h * 0.9);
    }
    let middle = body.center();
    let flicker = 0.8 + 0.2 * (seconds * 47.0).sin();
    let tail = vec2(body.x + body.w * 0.04, middle.y);
    let flame = Rect::new(tail.x - 20.0 * flicker, tail.y - 4.5, 26.0 * flicker, 9.0);
    brush.cell(sheet::GLOW, flame, 0.0, faint(colour::FLAME, 0.9 * seen));
    brush.glow(tail, 12.0, faint(colour, 0.7 * seen));
    brush.cell(sheet::SHIP, body, angle, faint(WHITE, seen));
    brush.cell(sheet::SHIP_TRIM, body, angle, faint(colour, seen));
    if ship.shield {
        brush.glow(middle, body.w * 0.72, faint(paint.own(), 0.28));
        let wave = 1.0 + 0.03 * (seconds * 6.0).sin();
        circle(brush, middle, body.w * 0.58 * wave, 1.6, faint(paint.own(), 0.8));
    }
    if ship.charge > 0 {
        let part = f32::from(ship.charge) / 100.0;
        let nose = vec2(body.right() + 2.0, middle.y);
        let swell = if ship.charge >= 100 { 1.0 + 0.15 * (seconds * 20.0).sin() } else { 1.0 };
        brush.glow(nose, (6.0 + 20.0 * part) * swell, faint(paint.own(), 0.4 + 0.5 * part));
        brush.disc(nose, (1.0 + 5.0 * part) * swell, faint(WHITE, 0.9));
    }
}

fn shot(brush: &mut Brush, area: Rect, own: bool) {
    let seen = if own { 1.0 } else { 0.6 };
    let light = Rect::new(area.x - 8.0, area.y - 6.0, area.w + 14.0, area.h + 12.0);
    brush.cell(sheet::GLOW, light, 0.0, faint(colour::SHOT, 0.7 * seen));
    let (tail, tip) = (faint(colour::SHOT, 0.2 * seen), faint(WHITE, seen));
    brush.shades(area, [tail, tip, tip, tail]);
}

fn heavy_shot(brush: &mut Brush, area: Rect, own: bool, seconds: f32) {
    let seen = if own { 1.0 } else { 0.6 };
    let middle = area.center();
    let swell = 1.0 + 0.08 * (seconds * 40.0).sin();
    brush.glow(middle, area.w * 1.5 * swell, faint(colour::BOLT, 0.6 * seen));
    let tail = Rect::new(area.x - area.w * 1.6, area.y + area.h * 0.1, area.w * 2.2, area.h * 0.8);
    let (far, near) = (faint(colour::BOLT, 0.0), faint(colour::BOLT, 0.55 * seen));
    brush.shades(tail, [far, near, near, far]);
    brush.cell(sheet::DISC, grown(area, 1.05 * swell), 0.0, faint(colour::BOLT, seen));
    brush.cell(sheet::DISC, grown(area, 0.62 * swell), 0.0, faint(WHITE, seen));
}

/// A picture, and how it is turned.
fn enemy(species: Species, seconds: f32) -> (Cell, f32) {
    match species {
        Species::Drone => (sheet::DRONE, 0.06 * (seconds * 5.0).sin()),
        Species::Weaver => (sheet::WEAVER, 0.14 * (seconds * 6.0).sin()),
        Species::Diver => (sheet::DIVER, 0.0),
        Species::Turret => (sheet::TURRET, 0.0),
        Species::Carrier => (sheet::CARRIER, 0.0),
        Species::Mine => (sheet::MINE, seconds * 0.9),
    }
}

fn boss(brush: &mut Brush, area: Rect, look: u8, stage: u8, seconds: f32) {
    let body = grown(area, BOSS_GRACE);
    let which = usize::from(look.clamp(1, 3)) - 1;
    // The further it is, the angrier.
    let anger = f32::from(stage.min(3)) / 3.0;
    let pulse = 0.75 + 0.25 * (seconds * (3.0 + 6.0 * anger)).sin();
    brush.glow(area.center(), body.h * 0.72, faint(colour::EMBER, (0.18 + 0.3 * anger) * pulse));
    let tint = colour::between(WHITE, colour::EMBER, 0.35 * anger * pulse);
    brush.cell(sheet::BOSSES[which], body, 0.0, tint);
    let core = area.center();
    brush.glow(core, body.w * 0.26, faint(WHITE, 0.35 * pulse));
}

fn power_up(brush: &mut Brush, area: Rect, bonus: Bonus, seconds: f32) {
    let (cell, colour) = match bonus {
        Bonus::Weapon => (sheet::WEAPON, colour::hex(0xe83848)),
        Bonus::Shield => (sheet::SHIELD, colour::hex(0x3c78ff)),
        Bonus::Speed => (sheet::SPEED, colour::hex(0xd8a800)),
        Bonus::Life => (sheet::LIFE, colour::hex(0x28a848)),
        Bonus::Force => (sheet::FORCE, colour::hex(0xe88818)),
    };
    let pulse = 0.7 + 0.3 * (seconds * 4.0).sin();
    brush.glow(area.center(), area.w * 1.6, faint(colour, 0.6 * pulse));
    let body = grown(area, BONUS_GRACE);
    let square = Rect::new(body.center().x - body.h / 2.0, body.y, body.h, body.h);
    brush.cell(cell, square, 0.0, WHITE);
}

/// A circle of short lines.
fn circle(brush: &mut Brush, middle: macroquad::math::Vec2, radius: f32, wide: f32, colour: Color) {
    const SIDES: usize = 24;
    let point = |i: usize| {
        let angle = i as f32 / SIDES as f32 * std::f32::consts::TAU;
        middle + vec2(angle.cos(), angle.sin()) * radius
    };
    for i in 0..SIDES {
        brush.line(point(i), point(i + 1), wide, colour);
    }
}

/// An area so many times as large, around the same middle.
fn grown(area: Rect, by: f32) -> Rect {
    let (w, h) = (area.w * by, area.h * by);
    let middle = area.center();
    Rect::new(middle.x - w / 2.0, middle.y - h / 2.0, w, h)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thing_is_drawn_around_its_middle() {
        let area = grown(Rect::new(10.0, 20.0, 20.0, 10.0), 2.0);
        assert_eq!(area, Rect::new(0.0, 15.0, 40.0, 20.0));
    }
}
