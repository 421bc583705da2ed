//! Draws a view in the window.

mod arena;
mod chat;
mod field;
mod hud;
mod list;
mod overlay;
#[cfg(test)]
pub(super) mod sample;
mod sign;

use std::time::Duration;

use macroquad::math::{Rect, vec2};

use super::canvas::{Canvas, Style};
use super::colour::Paint;
use super::effects::Effects;
use super::stars::{self, Sky};
use crate::screen::{Page, Tone, View};

/// How fast the stars drift in a menu, in units a second.
const DRIFT: f32 = 9.0;

/// The smallest text, the usual one, and that of what can be chosen.
const SMALL: f32 = 22.0;
const TEXT: f32 = 25.0;
const ROW: f32 = 30.0;

/// What the keys do is written so high above the lower edge.
const FOOT: f32 = 44.0;

/// What is drawn from one picture to the next.
#[derive(Default)]
pub(super) struct Drawing {
    effects: Effects,
    far: f32,
    seconds: f32,
}

/// Where a picture can be clicked, in px.
#[derive(Debug, Default)]
pub(super) struct Spots {
    rows: Vec<(Rect, usize)>,
}

impl Spots {
    pub(super) fn row_at(&self, x: f32, y: f32) -> Option<usize> {
        let hit = self.rows.iter().find(|(area, _)| area.contains(vec2(x, y)));
        hit.map(|(_, row)| *row)
    }
}

impl Drawing {
    /// Draws what is seen `span` after the picture before.
    pub(super) fn draw(&mut self, canvas: &mut Canvas, view: &View, span: Duration) -> Spots {
        let paint = Paint(view.palette);
        self.seconds += span.as_secs_f32();
        self.far += span.as_secs_f32() * DRIFT;
        let scroll = match &view.page {
            Page::Arena(arena) => arena.scene.scroll,
            Page::List(_) => 0.0,
        };
        let area = canvas.area();
        let sky = Sky { far: self.far + scroll, seconds: self.seconds };
        stars::draw(&mut canvas.brush, area, sky);
        let mut spots = Spots::default();
        let size = canvas.size();
        let page = Rect::new(0.0, 0.0, size.x, size.y - FOOT);
        match &view.page {
            Page::List(it) => {
                self.effects = Effects::default();
                list::page(canvas, page, it, paint, &mut spots, self.seconds);
            }
            Page::Arena(it) => {
                self.effects.follow(it, paint, span);
                let shake = if view.shake { self.effects.shake() } else { vec2(0.0, 0.0) };
                let moment =
                    arena::Moment { effects: &self.effects, shake, flashing: view.flashing, sky };
                arena::draw(canvas, page, it, paint, &moment);
                if let Some(dialog) = &it.dialog {
                    canvas.layer();
                    list::dialog(canvas, page, dialog, paint, &mut spots);
                }
            }
        }
        let foot = vec2(size.x / 2.0, size.y - FOOT / 2.0 + SMALL * 0.3);
        canvas.write(&view.hint, foot, Style::new(SMALL, paint.tone(Tone::Dim)).middle());
        spots
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_click_finds_the_row_that_it_is_on() {
        let row = |y: f32| Rect::new(10.0, y, 100.0, 20.0);
        let spots = Spots { rows: vec![(row(0.0), 3), (row(20.0), 4)] };
        assert_eq!(spots.row_at(50.0, 19.0), Some(3));
        assert_eq!(spots.row_at(50.0, 21.0), Some(4));
        assert_eq!(spots.row_at(5.0, 21.0), None);
        assert_eq!(spots.row_at(50.0, 41.0), None);
    }
}
