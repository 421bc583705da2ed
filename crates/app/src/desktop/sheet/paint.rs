//! Pixels by formula: a shape is a function of a point's distance to it.

use macroquad::color::Color;
use macroquad::math::{Vec2, vec2};
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

    /// Paints a cell: its height is from -1 to 1, its width as much longer as it is.
    pub(super) fn cell(&mut self, cell: Cell) -> Easel<'_> {
        Easel { sheet: self, cell }
    }

    pub(super) fn image(self) -> Image {
        Image { width: self.size, height: self.size, bytes: self.bytes }
    }
}

/// A cell in the making.
pub(super) struct Easel<'a> {
    sheet: &'a mut Sheet,
    cell: Cell,
}

impl Easel<'_> {
    /// Paints what `brush` says of each point: a colour, over what is there.
    pub(super) fn paint(&mut self, brush: impl Fn(Vec2) -> Color) -> &mut Self {
        let Cell { x, y, w, h } = self.cell;
        let half = f32::from(h) / 2.0;
        for row in 0..h {
            for column in 0..w {
                let at = vec2(f32::from(column) + 0.5, f32::from(row) + 0.5);
                let at = (at - vec2(f32::from(w), f32::from(h)) / 2.0) / half;
                let line = usize::from(y + row) * usize::from(self.sheet.size);
                let pixel = (line + usize::from(x + column)) * 4;
                over(&mut self.sheet.bytes[pixel..pixel + 4], brush(at));
            }
        }
        self
    }

    /// Paints a shape in one colour, lit from above.
    pub(super) fn shape(&mut self, colour: Color, far: impl Fn(Vec2) -> f32) -> &mut Self {
        let edge = f32::from(self.cell.h) / 2.0;
        self.paint(|at| {
            let far = far(at);
            let cover = (0.5 - far * edge).clamp(0.0, 1.0);
            // Darker towards the edge and below, so that it looks round.
            let rim = (1.0 + far / 0.16).clamp(0.0, 1.0);
            let light = (1.06 - 0.30 * at.y) * (1.0 - 0.38 * rim * rim);
            let lit = |part: f32| (part * light).clamp(0.0, 1.0);
            Color::new(lit(colour.r), lit(colour.g), lit(colour.b), colour.a * cover)
        })
    }

    /// Paints a shape that shines by itself: in one colour all over.
    pub(super) fn flat(&mut self, colour: Color, far: impl Fn(Vec2) -> f32) -> &mut Self {
        let edge = f32::from(self.cell.h) / 2.0;
        self.paint(|at| {
            let cover = (0.5 - far(at) * edge).clamp(0.0, 1.0);
            Color { a: colour.a * cover, ..colour }
        })
    }
}

fn over(pixel: &mut [u8], colour: Color) {
    let below = f32::from(pixel[3]) / 255.0 * (1.0 - colour.a);
    let alpha = colour.a + below;
    if alpha <= 0.0 {
        return;
    }
    for (byte, part) in pixel.iter_mut().zip([colour.r, colour.g, colour.b]) {
        let mixed = (part * colour.a + f32::from(*byte) / 255.0 * below) / alpha;
        *byte = (mixed * 255.0).round() as u8;
    }
    pixel[3] = (alpha * 255.0).round() as u8;
}

/// How far a point is outside of an ellipse, nearly.
pub(super) fn oval(at: Vec2, middle: Vec2, radii: Vec2) -> f32 {
    let part = (at - middle) / radii;
    (part.length() - 1.0) * radii.min_element()
}

/// How far a point is outside of a thick line.
pub(super) fn bar(at: Vec2, from: Vec2, to: Vec2, radius: f32) -> f32 {
    let (along, off) = (to - from, at - from);
    let part = (off.dot(along) / along.length_squared()).clamp(0.0, 1.0);
    (off - along * part).length() - radius
}

/// How far a point is outside of a polygon.
pub(super) fn polygon(at: Vec2, corners: &[Vec2]) -> f32 {
    let mut nearest = f32::MAX;
    let mut inside = false;
    let Some(mut before) = corners.last().copied() else { return nearest };
    for &corner in corners {
        nearest = nearest.min(bar(at, before, corner, 0.0));
        if (corner.y > at.y) != (before.y > at.y) {
            let along = (at.y - corner.y) / (before.y - corner.y);
            if at.x < corner.x + along * (before.x - corner.x) {
                inside = !inside;
            }
        }
        before = corner;
    }
    if inside { -nearest } else { nearest }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_as_far_from_a_shape_as_it_is() {
        let square = [vec2(-1.0, -1.0), vec2(1.0, -1.0), vec2(1.0, 1.0), vec2(-1.0, 1.0)];
        assert_eq!(polygon(vec2(0.0, 0.0), &square), -1.0);
        assert_eq!(polygon(vec2(3.0, 0.0), &square), 2.0);
        assert_eq!(bar(vec2(0.0, 3.0), vec2(-1.0, 0.0), vec2(1.0, 0.0), 1.0), 2.0);
        assert_eq!(oval(vec2(2.0, 0.0), Vec2::ZERO, Vec2::ONE), 1.0);
    }

    #[test]
    fn what_is_painted_later_covers_what_was_there() {
        let mut pixel = [255, 255, 255, 0];
        over(&mut pixel, Color::new(1.0, 0.0, 0.0, 1.0));
        assert_eq!(pixel, [255, 0, 0, 255]);
        over(&mut pixel, Color::new(0.0, 0.0, 1.0, 0.5));
        assert_eq!(pixel, [128, 0, 128, 255]);
        over(&mut pixel, Color::new(0.0, 0.0, 0.0, 0.0));
        assert_eq!(pixel, [128, 0, 128, 255]);
    }
}
