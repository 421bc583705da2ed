//! Draws the field: plain things, and those that a game draws itself.
//!
//! Pure: shapes only, so that its cost can be measured without a window.

use macroquad::color::Color;
use macroquad::math::Rect;

use crate::desktop::brush::Brush;
use crate::desktop::colour::{self, Paint, WHITE, faint};
use crate::games::Painted;
use crate::screen::{Look, Scene, Thing};

/// Draws everything in the scene at `seconds` of the UI's own time.
pub(super) fn things(brush: &mut Brush, scene: &Scene, paint: Paint, seconds: f32) {
    for thing in &scene.things {
        draw(brush, thing, paint, seconds);
    }
}

fn draw(brush: &mut Brush, thing: &Thing, paint: Paint, seconds: f32) {
    let area = Rect::new(thing.x, thing.y, thing.width, thing.height);
    match thing.look {
        Look::Net => net(brush, area),
        Look::Ball => {
            let middle = area.center();
            brush.glow(middle, area.w * 2.4, faint(paint.own(), 0.5));
            brush.disc(middle, area.w * 0.62, WHITE);
        }
        Look::OwnPaddle => paddle(brush, area, paint.own()),
        Look::OtherPaddle => paddle(brush, area, paint.other()),
        Look::Own(look) => look.window(brush, area, paint, seconds),
    }
}

fn net(brush: &mut Brush, area: Rect) {
    const DASHES: usize = 30;
    let step = area.h / DASHES as f32;
    for i in 0..DASHES {
        let y = area.y + (i as f32 + 0.25) * step;
        brush.rect(Rect::new(area.x, y, area.w, step / 2.0), faint(colour::EDGE, 0.9));
    }
}

fn paddle(brush: &mut Brush, area: Rect, colour: Color) {
    brush.halo(area, 26.0, faint(colour, 0.35));
    brush.rect(area, colour);
    let shine = Rect::new(area.x + area.w * 0.3, area.y + 6.0, area.w * 0.4, area.h - 12.0);
    brush.rect(shine, faint(WHITE, 0.55));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desktop::draw::sample;
    use crate::screen::Palette;

    #[test]
    fn everything_in_a_scene_is_drawn() {
        let scene = sample::busy().scene;
        let mut brush = Brush::default();
        let mut before = 0;
        for thing in &scene.things {
            draw(&mut brush, thing, Paint(Palette::Usual), 1.0);
            let drawn = brush.batches().iter().map(|it| it.vertices.len()).sum();
            assert!(drawn > before, "{:?}", thing.look);
            before = drawn;
        }
    }
}
