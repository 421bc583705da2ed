//! A field between two sides in characters, finer than a character: tall things end in eighths, small things
//! in quarters.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::draw::Paint;
use super::grid::{Grid, QUARTERS};
use crate::games::Painted;
use crate::screen::{Look, Scene, Thing};

/// The lower eighths of a character, none to seven.
const EIGHTHS: [&str; 8] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇"];

/// Beyond this, in parts of a character, nothing is seen on any screen.
const FAR: f32 = 1e6;

/// Draws a scene so that it fills `area`.
pub(super) fn draw(scene: &Scene, area: Rect, buffer: &mut Buffer, paint: Paint) {
    let grid = Grid::new(scene, area);
    for thing in &scene.things {
        match thing.look {
            Look::Net => grid.net(thing, buffer, paint.look(thing.look)),
            Look::Ball => grid.small(thing, buffer, paint.look(thing.look)),
            Look::OwnPaddle | Look::OtherPaddle => {
                grid.tall(thing, buffer, paint.look(thing.look));
            }
            Look::Own(look) => look.cells(thing, &grid, buffer, paint),
        }
    }
}

impl Grid {
    /// A place in `parts` of a character, from the field's corner.
    fn part(&self, at: f32, scale: f32, parts: f32) -> i32 {
        (at * scale * parts).round().clamp(-FAR, FAR) as i32
    }

    fn net(&self, thing: &Thing, buffer: &mut Buffer, style: Style) {
        let middle = (thing.x + thing.width / 2.0) * self.scale.0;
        for y in 0..i32::from(self.area.height) {
            self.set(buffer, (middle as i32, y), "┊", style);
        }
    }

    /// At least a character wide; its ends are exact to an eighth of one.
    fn tall(&self, thing: &Thing, buffer: &mut Buffer, style: Style) {
        let left = self.part(thing.x, self.scale.0, 1.0);
        let right = self.part(thing.x + thing.width, self.scale.0, 1.0).max(left + 1);
        let top = self.part(thing.y, self.scale.1, 8.0);
        let bottom = self.part(thing.y + thing.height, self.scale.1, 8.0).max(top + 1);
        for y in top.div_euclid(8)..=(bottom - 1).div_euclid(8) {
            let (from, to) = ((top - 8 * y).max(0), (bottom - 8 * y).min(8));
            let (symbol, style) = match (from, to) {
                (0, 8) => ("█", style),
                (from, 8) => (EIGHTHS[8 - from as usize], style),
                // The upper part of a character is the lower part of one turned inside out.
                (_, to) => (EIGHTHS[8 - to as usize], style.add_modifier(Modifier::REVERSED)),
            };
            for x in left..right {
                self.set(buffer, (x, y), symbol, style);
            }
        }
    }

    /// At least a character wide and half a one high, which is about a square.
    fn small(&self, thing: &Thing, buffer: &mut Buffer, style: Style) {
        let left = self.part(thing.x, self.scale.0, 2.0);
        let right = self.part(thing.x + thing.width, self.scale.0, 2.0).max(left + 2);
        let top = self.part(thing.y, self.scale.1, 2.0);
        let bottom = self.part(thing.y + thing.height, self.scale.1, 2.0).max(top + 1);
        for y in top.div_euclid(2)..=(bottom - 1).div_euclid(2) {
            for x in left.div_euclid(2)..=(right - 1).div_euclid(2) {
                let inside = |dx, dy| {
                    let (x, y) = (2 * x + dx, 2 * y + dy);
                    (left..right).contains(&x) && (top..bottom).contains(&y)
                };
                let corners = [inside(0, 0), inside(1, 0), inside(0, 1), inside(1, 1)];
                let bits = corners.iter().rev().fold(0, |bits, on| bits << 1 | usize::from(*on));
                self.set(buffer, (x, y), QUARTERS[bits], style);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::Palette;

    fn picture(look: Look, (x, y): (f32, f32), (width, height): (f32, f32)) -> Vec<String> {
        let scene = Scene {
            width: 40.0,
            height: 40.0,
            things: vec![Thing { look, x, y, width, height }],
            ..Scene::default()
        };
        let area = Rect::new(0, 0, 4, 4);
        let mut buffer = Buffer::empty(area);
        draw(&scene, area, &mut buffer, Paint(Palette::Usual));
        let line = |y| (0..4).map(|x| buffer.cell((x, y)).unwrap().symbol()).collect::<String>();
        (0..4).map(line).collect()
    }

    #[test]
    fn a_ball_moves_by_half_a_character() {
        let size = (10.0, 5.0);
        assert_eq!(picture(Look::Ball, (0.0, 0.0), size), ["▀   ", "    ", "    ", "    "]);
        assert_eq!(picture(Look::Ball, (5.0, 5.0), size), ["▗▖  ", "    ", "    ", "    "]);
        assert_eq!(picture(Look::Ball, (30.0, 35.0), size), ["    ", "    ", "    ", "   ▄"]);
    }

    #[test]
    fn a_ball_that_is_out_is_cut_off_and_a_tiny_one_is_still_seen() {
        assert_eq!(picture(Look::Ball, (-50.0, 0.0), (10.0, 5.0)), ["    "; 4]);
        assert_eq!(picture(Look::Ball, (35.0, 0.0), (10.0, 5.0)), ["   ▝", "    ", "    ", "    "]);
        assert_eq!(picture(Look::Ball, (0.0, 0.0), (0.1, 0.1)), ["▀   ", "    ", "    ", "    "]);
    }

    #[test]
    fn a_paddle_moves_by_an_eighth_of_a_character() {
        let size = (10.0, 20.0);
        assert_eq!(picture(Look::OwnPaddle, (10.0, 0.0), size), [" █  ", " █  ", "    ", "    "]);
        // The lowest row has the upper eighth, drawn as seven eighths turned inside out.
        assert_eq!(picture(Look::OwnPaddle, (10.0, 1.25), size), [" ▇  ", " █  ", " ▇  ", "    "]);
        assert_eq!(picture(Look::OwnPaddle, (10.0, 5.0), size), [" ▄  ", " █  ", " ▄  ", "    "]);
    }

    #[test]
    fn no_thing_of_any_size_leaves_the_field() {
        for look in [Look::Ball, Look::OwnPaddle, Look::Net] {
            for at in [-1e9, -3.0, 39.0, 1e9] {
                picture(look, (at, at), (100.0, 1e4));
            }
        }
    }
}
