//! Pixels by formula.

use macroquad::texture::Image;

use super::Cell;

/// A sheet in the making.
pub(super) struct Sheet {
    size: u16,
    bytes: Vec<u8>,
}

impl Sheet {
    /// An empty one: white, and seen nowhere.
    pub(super) fn new(size: u16) -> Self {
        let pixels = usize::from(size) * usize::from(size);
        Sheet { size, bytes: [255, 255, 255, 0].repeat(pixels) }
    }

    /// Fills a cell with white as dense as `density` says at each point of the square from -1 to 1.
    pub(super) fn fill(&mut self, cell: Cell, density: impl Fn(f32, f32) -> f32) {
        for row in 0..cell.size {
            for column in 0..cell.size {
                let at = |px: u16| (f32::from(px) + 0.5) / f32::from(cell.size) * 2.0 - 1.0;
                let alpha = density(at(column), at(row)).clamp(0.0, 1.0);
                let line = usize::from(cell.y + row) * usize::from(self.size);
                let pixel = (line + usize::from(cell.x + column)) * 4;
                self.bytes[pixel + 3] = (alpha * 255.0).round() as u8;
            }
        }
    }

    pub(super) fn image(self) -> Image {
        Image { width: self.size, height: self.size, bytes: self.bytes }
    }
}
