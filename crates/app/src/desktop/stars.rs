//! The stars behind everything: three layers, the nearer the faster.

use std::f32::consts::TAU;

use macroquad::color::Color;
use macroquad::math::{Rect, Vec2};

use super::brush::Brush;
use super::colour::{self, faint};

/// Stars of each layer, how fast they drift compared with the nearest, how large and bright they
/// are.
const LAYERS: [(u32, f32, f32, f32); 3] =
    [(170, 0.25, 1.5, 0.45), (90, 0.5, 2.1, 0.65), (40, 1.0, 3.0, 0.9)];

/// Far clouds of light: colour, place in parts of the sky, radius.
const CLOUDS: [(Color, f32, f32, f32); 3] = [
    (colour::hex(0x3a2f9a), 0.2, 0.75, 420.0),
    (colour::hex(0x145a80), 0.55, 0.2, 360.0),
    (colour::hex(0x6a1f6a), 0.85, 0.85, 380.0),
];

/// The pattern repeats after this many units.
const PERIOD: f32 = 2048.0;

/// The sky at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sky {
    /// How far the nearest stars have drifted to the left, in units.
    pub(super) far: f32,
    /// The UI's own time.
    pub(super) seconds: f32,
}

/// Draws the night over `area`.
pub(super) fn draw(brush: &mut Brush, area: Rect, sky: Sky) {
    brush.fall(area, colour::NIGHT, colour::DUSK);
    clouds(brush, area, sky);
    stars(brush, area, sky, None);
}

/// Draws the night over all of `area` but the `window`: what is there goes behind it.
pub(super) fn draw_around(brush: &mut Brush, area: Rect, window: Rect, sky: Sky) {
    let Rect { x, y, w, h } = area;
    let (right, bottom) = (window.right(), window.bottom());
    let shade = |at: f32| colour::between(colour::NIGHT, colour::DUSK, (at - y) / h);
    for part in [
        Rect::new(x, y, window.x - x, h),
        Rect::new(right, y, x + w - right, h),
        Rect::new(window.x, y, window.w, window.y - y),
        Rect::new(window.x, bottom, window.w, y + h - bottom),
    ] {
        brush.fall(part, shade(part.y), shade(part.bottom()));
    }
    stars(brush, area, sky, Some(window));
}

fn clouds(brush: &mut Brush, area: Rect, sky: Sky) {
    for (i, (colour, x, y, radius)) in CLOUDS.into_iter().enumerate() {
        let drift = sky.far * (0.04 + 0.02 * i as f32);
        let wide = area.w + 2.0 * radius;
        let x = (x * wide - drift).rem_euclid(wide) - radius;
        let middle = Vec2::new(area.x + x, area.y + y * area.h);
        brush.glow(middle, radius, faint(colour, 0.30));
    }
}

/// Stars everywhere but in the `window`.
fn stars(brush: &mut Brush, area: Rect, sky: Sky, window: Option<Rect>) {
    let mut number = 0;
    for (count, speed, size, bright) in LAYERS {
        for _ in 0..count {
            number += 1;
            let x = (chance(number, 0) * PERIOD - sky.far * speed).rem_euclid(PERIOD);
            let y = chance(number, 1) * PERIOD;
            if x > area.w || y > area.h {
                continue;
            }
            let at = Vec2::new(area.x + x, area.y + y);
            if window.is_some_and(|window| window.contains(at)) {
                continue;
            }
            let phase = sky.seconds * (0.5 + chance(number, 2)) + chance(number, 3) * TAU;
            let light = bright * (0.75 + 0.25 * phase.sin());
            let tint = colour::between(colour::WHITE, colour::EDGE, chance(number, 4) * 0.6);
            brush.rect(Rect::new(at.x, at.y, size, size), faint(tint, light));
        }
    }
}

/// A number from 0 to 1 that is always the same for the same star.
fn chance(star: u32, which: u32) -> f32 {
    let mut bits = star.wrapping_mul(0x9E37_79B9) ^ which.wrapping_mul(0x85EB_CA6B);
    bits ^= bits >> 16;
    bits = bits.wrapping_mul(0x7FEB_352D);
    bits ^= bits >> 15;
    bits = bits.wrapping_mul(0x846C_A68B);
    bits ^= bits >> 16;
    bits as f32 / u32::MAX as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_are_spread_over_the_whole_sky() {
        let total: u32 = LAYERS.iter().map(|(count, ..)| count).sum();
        let in_left = (1..=total).filter(|&star| chance(star, 0) < 0.5).count() as u32;
        assert!(in_left > total / 3 && in_left < total * 2 / 3, "{in_left} of {total}");
    }

    #[test]
    fn the_stars_are_the_same_when_all_layers_have_come_around() {
        let area = Rect::new(0.0, 0.0, 1280.0, 720.0);
        let count = |far| {
            let mut brush = Brush::default();
            stars(&mut brush, area, Sky { far, seconds: 0.0 }, None);
            brush.batches()[0].vertices.len()
        };
        // 4, 9 and 20 times.
        assert_eq!(count(0.0), count(PERIOD * 20.0));
    }
}
