//! The one texture. Everything drawn is a piece of it, painted by code when the window opens.

mod paint;
mod sprites;

use macroquad::math::Rect;
use macroquad::texture::Image;

/// The sheet's width and height in px.
const SIZE: u16 = 1024;

/// A piece of the sheet, in px.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    x: u16,
    y: u16,
    w: u16,
    h: u16,
}

const fn cell(x: u16, y: u16, w: u16, h: u16) -> Cell {
    Cell { x, y, w, h }
}

/// White all over.
pub(crate) const SOLID: Cell = cell(0, 0, 8, 8);
/// A disc that fills its cell.
pub(crate) const DISC: Cell = cell(16, 0, 64, 64);
/// Light, brightest in the middle.
pub(crate) const GLOW: Cell = cell(96, 0, 128, 128);
pub(crate) const SHIP: Cell = cell(240, 0, 160, 96);
/// What of a ship has its player's colour.
pub(crate) const SHIP_TRIM: Cell = cell(408, 0, 160, 96);
pub(crate) const POD: Cell = cell(576, 0, 96, 96);
pub(crate) const BULLET: Cell = cell(680, 0, 64, 64);
pub(crate) const MINE: Cell = cell(752, 0, 112, 112);
pub(crate) const DRONE: Cell = cell(0, 144, 140, 100);
pub(crate) const WEAVER: Cell = cell(148, 144, 140, 120);
pub(crate) const DIVER: Cell = cell(296, 144, 160, 90);
pub(crate) const TURRET: Cell = cell(464, 144, 112, 112);
pub(crate) const CARRIER: Cell = cell(584, 144, 288, 176);
pub(crate) const WEAPON: Cell = cell(0, 336, 80, 80);
pub(crate) const SHIELD: Cell = cell(88, 336, 80, 80);
pub(crate) const SPEED: Cell = cell(176, 336, 80, 80);
pub(crate) const LIFE: Cell = cell(264, 336, 80, 80);
pub(crate) const FORCE: Cell = cell(352, 336, 80, 80);
pub(crate) const BOSSES: [Cell; 3] =
    [cell(0, 432, 330, 390), cell(340, 432, 330, 390), cell(680, 432, 330, 390)];

impl Cell {
    /// Where it is, as a texture is asked for it; a little inside, so that no neighbour bleeds in.
    pub(crate) fn uv(self) -> Rect {
        const INSET: f32 = 0.5;
        let part = |px: u16, more: f32| (f32::from(px) + more) / f32::from(SIZE);
        Rect::new(
            part(self.x, INSET),
            part(self.y, INSET),
            part(self.w, -2.0 * INSET),
            part(self.h, -2.0 * INSET),
        )
    }
}

/// Paints the sheet.
pub(crate) fn paint() -> Image {
    let mut sheet = paint::Sheet::new(SIZE);
    sprites::paint(&mut sheet);
    sheet.image()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CELLS: [Cell; 18] = [
        SOLID, DISC, GLOW, SHIP, SHIP_TRIM, POD, BULLET, MINE, DRONE, WEAVER, DIVER, TURRET,
        CARRIER, WEAPON, SHIELD, SPEED, LIFE, FORCE,
    ];

    #[test]
    fn every_cell_is_on_the_sheet_and_on_no_other() {
        let cells: Vec<_> = CELLS.into_iter().chain(BOSSES).collect();
        for (i, one) in cells.iter().enumerate() {
            assert!(one.x + one.w <= SIZE && one.y + one.h <= SIZE, "{one:?}");
            for two in &cells[i + 1..] {
                let apart = |a: u16, al: u16, b: u16, bl: u16| a + al <= b || b + bl <= a;
                let clear = apart(one.x, one.w, two.x, two.w) || apart(one.y, one.h, two.y, two.h);
                assert!(clear, "{one:?} {two:?}");
            }
        }
    }

    #[test]
    fn every_cell_has_something_in_it_and_nothing_at_its_corners() {
        let image = paint();
        for cell in CELLS.into_iter().chain(BOSSES).filter(|cell| *cell != SOLID) {
            let alpha = |x: u16, y: u16| image.get_pixel(x.into(), y.into()).a;
            let seen = (0..cell.w).filter(|x| alpha(cell.x + x, cell.y + cell.h / 2) > 0.5).count();
            assert!(seen > usize::from(cell.w) / 4 || cell == SHIP_TRIM, "{cell:?}: {seen}");
            for (x, y) in [(0, 0), (cell.w - 1, 0), (0, cell.h - 1), (cell.w - 1, cell.h - 1)] {
                assert_eq!(alpha(cell.x + x, cell.y + y), 0.0, "{cell:?}");
            }
        }
    }
}
