//! A field in characters, and what any game can draw on it.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use crate::screen::{Scene, Thing};

/// The quarters of a character, by bits: upper left, upper right, lower left, lower right.
pub(super) const QUARTERS: [&str; 16] =
    [" ", "▘", "▝", "▀", "▖", "▌", "▞", "▛", "▗", "▚", "▐", "▜", "▄", "▙", "▟", "█"];

/// A field in characters.
pub(crate) struct Grid {
    pub(super) area: Rect,
    /// Characters for a unit of the scene.
    pub(crate) scale: (f32, f32),
}

impl Grid {
    /// The scene fills the area.
    pub(super) fn new(scene: &Scene, area: Rect) -> Self {
        let scale =
            |cells: u16, length: f32| if length > 0.0 { f32::from(cells) / length } else { 0.0 };
        Grid { area, scale: (scale(area.width, scene.width), scale(area.height, scene.height)) }
    }

    pub(crate) fn set(&self, buffer: &mut Buffer, (x, y): (i32, i32), symbol: &str, style: Style) {
        let (Ok(x), Ok(y)) = (u16::try_from(x), u16::try_from(y)) else { return };
        if x >= self.area.width || y >= self.area.height {
            return;
        }
        if let Some(cell) = buffer.cell_mut(Position::new(self.area.x + x, self.area.y + y)) {
            cell.set_symbol(symbol).set_style(style);
        }
    }

    /// A sprite around the middle of a thing.
    pub(crate) fn sprite(&self, thing: &Thing, sprite: &str, buffer: &mut Buffer, style: Style) {
        let (x, y) = self.middle(thing);
        let left = (x - sprite.chars().count() as f32 / 2.0).round() as i32;
        self.write((left, y.floor() as i32), sprite, buffer, style);
    }

    pub(crate) fn write(
        &self,
        (left, row): (i32, i32),
        text: &str,
        buffer: &mut Buffer,
        style: Style,
    ) {
        for (column, letter) in (left..).zip(text.chars()) {
            self.set(buffer, (column, row), letter.encode_utf8(&mut [0; 4]), style);
        }
    }

    pub(crate) fn middle(&self, thing: &Thing) -> (f32, f32) {
        let x = (thing.x + thing.width / 2.0) * self.scale.0;
        (x, (thing.y + thing.height / 2.0) * self.scale.1)
    }

    /// What is large: `is_inside` says which points of a unit square belong to it.
    pub(crate) fn shape(
        &self,
        thing: &Thing,
        buffer: &mut Buffer,
        style: Style,
        is_inside: impl Fn(f32, f32) -> bool,
    ) {
        let cells = |at: f32, scale: f32| at * scale;
        let (left, top) = (cells(thing.x, self.scale.0), cells(thing.y, self.scale.1));
        let width = cells(thing.width, self.scale.0).max(2.0);
        let height = cells(thing.height, self.scale.1).max(1.0);
        // Nothing is larger than the screen, and little of it is beside it.
        let columns = left.floor().max(-1.0) as i32..=(left + width).ceil().min(1e4) as i32;
        for x in columns {
            for y in top.floor().max(-1.0) as i32..=(top + height).ceil().min(1e4) as i32 {
                let quarter = |dx: f32, dy: f32| {
                    let u = (x as f32 + 0.25 + dx - left) / width;
                    let v = (y as f32 + 0.25 + dy - top) / height;
                    let within = (0.0..1.0).contains(&u) && (0.0..1.0).contains(&v);
                    within && is_inside(u, v)
                };
                let corners =
                    [quarter(0.0, 0.0), quarter(0.5, 0.0), quarter(0.0, 0.5), quarter(0.5, 0.5)];
                let bits = corners.iter().rev().fold(0, |bits, on| bits << 1 | usize::from(*on));
                if bits > 0 {
                    self.set(buffer, (x, y), QUARTERS[bits], style);
                }
            }
        }
    }
}
