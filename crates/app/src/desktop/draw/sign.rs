//! Draws the connection grade: four bars, lit by grade.

use backspin::session::Grade;
use macroquad::color::Color;
use macroquad::math::{Rect, Vec2};

use crate::desktop::canvas::Canvas;
use crate::desktop::colour::faint;
use crate::screen::bars;

/// A bar, and the step to the next.
const BAR: f32 = 5.0;
const STEP: f32 = 7.0;

/// How wide a sign is.
pub(super) const WIDE: f32 = 3.0 * STEP + BAR;

/// Draws a sign whose bars stand on `at`.
pub(super) fn draw(canvas: &mut Canvas, at: Vec2, grade: Grade, colour: Color) {
    for (i, bar) in places(at).into_iter().enumerate() {
        let is_lit = i < bars(grade);
        canvas.brush.rect(bar, if is_lit { colour } else { faint(colour, 0.22) });
    }
}

fn places(at: Vec2) -> [Rect; 4] {
    [0.0, 1.0, 2.0, 3.0].map(|i| {
        let tall = 5.0 + 4.0 * i;
        Rect::new(at.x + i * STEP, at.y - tall, BAR, tall)
    })
}

#[cfg(test)]
mod tests {
    use macroquad::math::vec2;

    use super::*;

    #[test]
    fn bars_rise_side_by_side_within_the_sign() {
        let places = places(vec2(10.0, 100.0));
        for pair in places.windows(2) {
            assert!(pair[0].right() < pair[1].x && pair[0].h < pair[1].h);
        }
        assert!(places.iter().all(|bar| bar.bottom() == 100.0 && bar.right() <= 10.0 + WIDE));
    }

    #[test]
    fn the_better_the_grade_the_more_bars_are_lit() {
        let grades = [Grade::Poor, Grade::Fair, Grade::Good, Grade::Excellent];
        assert_eq!(grades.map(bars), [1, 2, 3, 4]);
    }
}
