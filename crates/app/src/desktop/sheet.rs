//! The one texture: everything that is drawn is a piece of it, painted by code when the window
//! opens.

mod paint;

use macroquad::math::Rect;
use macroquad::texture::Image;

/// The sheet's width and height in px.
pub(super) const SIZE: u16 = 512;

/// A piece of the sheet, in px.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    x: u16,
    y: u16,
    size: u16,
}

/// White all over.
pub(super) const SOLID: Cell = Cell { x: 0, y: 0, size: 8 };
/// A disc that fills its cell.
pub(super) const DISC: Cell = Cell { x: 16, y: 0, size: 64 };
/// Light, brightest in the middle.
pub(super) const GLOW: Cell = Cell { x: 0, y: 80, size: 128 };

impl Cell {
    /// Where it is, as a texture is asked for it; a little inside, so that no neighbour bleeds in.
    pub(super) fn uv(self) -> Rect {
        const INSET: f32 = 0.5;
        let part = |px: f32| px / f32::from(SIZE);
        let size = part(f32::from(self.size) - 2.0 * INSET);
        Rect::new(part(f32::from(self.x) + INSET), part(f32::from(self.y) + INSET), size, size)
    }
}

/// Paints the sheet.
pub(super) fn paint() -> Image {
    let mut sheet = paint::Sheet::new(SIZE);
    sheet.fill(SOLID, |_, _| 1.0);
    let edge = |distance: f32| (0.5 - distance * 32.0).clamp(0.0, 1.0);
    sheet.fill(DISC, |x, y| edge(x.hypot(y) - 0.96));
    sheet.fill(GLOW, |x, y| {
        let left = (1.0 - x.hypot(y)).max(0.0);
        left * left
    });
    sheet.image()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_is_on_the_sheet_and_on_no_other() {
        let cells = [SOLID, DISC, GLOW];
        for (i, one) in cells.iter().enumerate() {
            assert!(one.x + one.size <= SIZE && one.y + one.size <= SIZE, "{one:?}");
            for two in &cells[i + 1..] {
                let apart = |a: u16, al: u16, b: u16, bl: u16| a + al <= b || b + bl <= a;
                let clear = apart(one.x, one.size, two.x, two.size)
                    || apart(one.y, one.size, two.y, two.size);
                assert!(clear, "{one:?} {two:?}");
            }
        }
    }

    #[test]
    fn a_disc_is_full_in_its_middle_and_empty_in_its_corner() {
        let image = paint();
        let alpha = |x: u16, y: u16| image.get_pixel(x.into(), y.into()).a;
        assert_eq!(alpha(DISC.x + 32, DISC.y + 32), 1.0);
        assert_eq!(alpha(DISC.x, DISC.y), 0.0);
        assert_eq!(alpha(GLOW.x, GLOW.y), 0.0);
    }
}
