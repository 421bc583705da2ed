//! The stars behind everything: three layers, the nearer the faster.

use std::f32::consts::TAU;

use macroquad::math::{Rect, Vec2};

use super::brush::Brush;
use super::colour::{self, faint};

/// Stars of each layer, how fast they drift compared with the nearest, how large and bright they
/// are.
const LAYERS: [(u32, f32, f32, f32); 3] =
    [(90, 0.25, 1.4, 0.35), (60, 0.5, 2.0, 0.55), (30, 1.0, 2.8, 0.85)];

/// The pattern repeats after so many units.
const PERIOD: f32 = 2048.0;

/// Draws the night over `area`, with stars that have drifted `far` units to the left.
pub(super) fn draw(brush: &mut Brush, area: Rect, far: f32, twinkle: f32) {
    brush.fall(area, colour::NIGHT, colour::DUSK);
    let mut number = 0;
    for (count, speed, size, bright) in LAYERS {
        for _ in 0..count {
            number += 1;
            let x = (chance(number, 0) * PERIOD - far * speed).rem_euclid(PERIOD);
            let y = chance(number, 1) * PERIOD;
            if x > area.w || y > area.h {
                continue;
            }
            let phase = twinkle * (0.5 + chance(number, 2)) + chance(number, 3) * TAU;
            let light = bright * (0.75 + 0.25 * phase.sin());
            let tint = colour::between(colour::WHITE, colour::EDGE, chance(number, 4) * 0.6);
            let at = Vec2::new(area.x + x, area.y + y);
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
    fn the_sky_is_the_same_after_a_period_of_the_slowest() {
        let area = Rect::new(0.0, 0.0, 1280.0, 720.0);
        let count = |far| {
            let mut brush = Brush::default();
            draw(&mut brush, area, far, 0.0);
            brush.batches()[0].vertices.len()
        };
        assert_eq!(count(0.0), count(PERIOD * 4.0));
    }
}
