//! Shapes as triangles of one texture, so that a whole layer is one draw call.
//!
//! Pure: nothing here needs a window. The texture is in `sheet`.

use macroquad::color::Color;
use macroquad::math::{Rect, Vec2, vec2};
use macroquad::models::{Mesh, Vertex};

use super::sheet::{self, Cell};

/// The most quads in a batch.
const MAX_QUADS: usize = 4_000;

pub(crate) const MAX_VERTICES: usize = MAX_QUADS * 4;

pub(crate) const MAX_INDICES: usize = MAX_QUADS * 6;

/// Where a drawing is on the screen: its point (0, 0) and how many px its unit has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Place {
    pub(crate) origin: Vec2,
    pub(crate) scale: f32,
}

impl Place {
    /// A place within this one, where a unit is `scale` of ours.
    pub(crate) fn within(self, origin: Vec2, scale: f32) -> Place {
        Place { origin: self.px(origin), scale: self.scale * scale }
    }

    pub(crate) fn px(self, at: Vec2) -> Vec2 {
        self.origin + at * self.scale
    }
}

/// Collects shapes.
pub(crate) struct Brush {
    pub(crate) place: Place,
    batches: Vec<Mesh>,
    /// How many of them are in use.
    used: usize,
}

impl Default for Brush {
    fn default() -> Self {
        let place = Place { origin: Vec2::ZERO, scale: 1.0 };
        Brush { place, batches: Vec::new(), used: 0 }
    }
}

impl Brush {
    /// What was collected, in the order it is to be drawn.
    pub(crate) fn batches(&mut self) -> &mut [Mesh] {
        &mut self.batches[..self.used]
    }

    /// Clears it and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.batches.iter_mut().for_each(|batch| {
            batch.vertices.clear();
            batch.indices.clear();
        });
        self.used = 0;
    }

    pub(crate) fn rect(&mut self, area: Rect, colour: Color) {
        self.shades(area, [colour; 4]);
    }

    /// A rectangle with a colour in each corner, clockwise from the upper left.
    pub(crate) fn shades(&mut self, area: Rect, colours: [Color; 4]) {
        let corners = corners(area).map(|it| self.place.px(it));
        self.quad(corners, sheet::SOLID, colours);
    }

    /// A rectangle from one colour above to another below.
    pub(crate) fn fall(&mut self, area: Rect, above: Color, below: Color) {
        self.shades(area, [above, above, below, below]);
    }

    /// A rectangle on whole px, at least one each way: thinner ones are there or not by chance.
    pub(crate) fn bar(&mut self, area: Rect, colour: Color) {
        let from = self.place.px(area.point()).round();
        let size = (area.size() * self.place.scale).round().max(Vec2::ONE);
        self.quad(corners(Rect::new(from.x, from.y, size.x, size.y)), sheet::SOLID, [colour; 4]);
    }

    /// The edge of a rectangle, inside it, on whole px and rather too thin than too thick.
    pub(crate) fn frame(&mut self, area: Rect, wide: f32, colour: Color) {
        let from = self.place.px(area.point()).round();
        let to = self.place.px(area.point() + area.size()).round();
        let wide = (wide * self.place.scale).floor().max(1.0);
        let (w, inner) = (to.x - from.x, to.y - from.y - 2.0 * wide);
        for side in [
            Rect::new(from.x, from.y, w, wide),
            Rect::new(from.x, to.y - wide, w, wide),
            Rect::new(from.x, from.y + wide, wide, inner),
            Rect::new(to.x - wide, from.y + wide, wide, inner),
        ] {
            self.quad(corners(side), sheet::SOLID, [colour; 4]);
        }
    }

    pub(crate) fn line(&mut self, from: Vec2, to: Vec2, wide: f32, colour: Color) {
        let across = (to - from).perp().normalize_or_zero() * wide / 2.0;
        let corners = [from + across, to + across, to - across, from - across];
        self.quad(corners.map(|it| self.place.px(it)), sheet::SOLID, [colour; 4]);
    }

    pub(crate) fn disc(&mut self, middle: Vec2, radius: f32, colour: Color) {
        self.cell(sheet::DISC, around(middle, radius), 0.0, colour);
    }

    /// Light that fades towards its edge.
    pub(crate) fn glow(&mut self, middle: Vec2, radius: f32, colour: Color) {
        self.cell(sheet::GLOW, around(middle, radius), 0.0, colour);
    }

    /// Light around a rectangle, none within it.
    pub(crate) fn halo(&mut self, area: Rect, reach: f32, colour: Color) {
        let Rect { x, y, w, h } = area;
        let (left, top) = (x - reach, y - reach);
        // The quarters of a glow at the corners, its axes along the edges.
        let uv = sheet::GLOW.uv();
        let (mid_u, mid_v) = (uv.x + uv.w / 2.0, uv.y + uv.h / 2.0);
        let us = [uv.x, mid_u, mid_u, uv.x + uv.w];
        let vs = [uv.y, mid_v, mid_v, uv.y + uv.h];
        let xs = [left, x, x + w, x + w + reach];
        let ys = [top, y, y + h, y + h + reach];
        for row in 0..3 {
            for column in 0..3 {
                if (row, column) == (1, 1) {
                    continue;
                }
                let corner = |right: usize, down: usize| {
                    let at = self.place.px(vec2(xs[column + right], ys[row + down]));
                    (at, vec2(us[column + right], vs[row + down]))
                };
                let four = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
                self.push(four.map(|(at, _)| at), four.map(|(_, uv)| uv), [colour; 4]);
            }
        }
    }

    /// A picture of the sheet, turned by `angle` around its middle.
    pub(crate) fn cell(&mut self, cell: Cell, area: Rect, angle: f32, colour: Color) {
        let middle = area.center();
        let turn = Vec2::from_angle(angle);
        let corners = corners(area).map(|it| self.place.px(middle + turn.rotate(it - middle)));
        self.quad(corners, cell, [colour; 4]);
    }

    fn quad(&mut self, corners: [Vec2; 4], cell: Cell, colours: [Color; 4]) {
        self.push(corners, self::corners(cell.uv()), colours);
    }

    fn push(&mut self, corners: [Vec2; 4], uvs: [Vec2; 4], colours: [Color; 4]) {
        let full = |batch: &Mesh| batch.vertices.len() + 4 > MAX_VERTICES;
        if self.used == 0 || full(&self.batches[self.used - 1]) {
            if self.used == self.batches.len() {
                self.batches.push(Mesh { vertices: vec![], indices: vec![], texture: None });
            }
            self.used += 1;
        }
        let batch = &mut self.batches[self.used - 1];
        let first = batch.vertices.len() as u16;
        for ((at, uv), colour) in corners.into_iter().zip(uvs).zip(colours) {
            batch.vertices.push(Vertex::new2(at.extend(0.0), uv, colour));
        }
        batch.indices.extend([0, 1, 2, 0, 2, 3].map(|i| first + i));
    }
}

fn around(middle: Vec2, radius: f32) -> Rect {
    Rect::new(middle.x - radius, middle.y - radius, 2.0 * radius, 2.0 * radius)
}

/// Clockwise from the upper left.
fn corners(area: Rect) -> [Vec2; 4] {
    let Rect { x, y, w, h } = area;
    [vec2(x, y), vec2(x + w, y), vec2(x + w, y + h), vec2(x, y + h)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use macroquad::color::WHITE;

    #[test]
    fn a_place_within_a_place_scales_and_moves() {
        let outer = Place { origin: vec2(100.0, 50.0), scale: 2.0 };
        let inner = outer.within(vec2(10.0, 10.0), 0.5);
        assert_eq!(inner.px(vec2(4.0, 6.0)), vec2(124.0, 76.0));
    }

    #[test]
    fn a_thin_edge_is_on_whole_px_in_every_window() {
        for scale in [0.31, 0.625, 1.0, 1.37, 2.0] {
            let mut brush = Brush::default();
            brush.place.scale = scale;
            brush.frame(Rect::new(10.3, 20.7, 40.1, 30.9), 1.5, WHITE);
            brush.bar(Rect::new(3.3, 4.4, 50.0, 0.4), WHITE);
            for quad in brush.batches()[0].vertices.chunks(4) {
                let (from, to) = (quad[0].position, quad[2].position);
                assert!((to - from).truncate().min_element() >= 1.0, "{from} {to} at {scale}");
                assert!(from == from.round() && to == to.round(), "{from} {to} at {scale}");
            }
        }
    }

    #[test]
    fn a_full_batch_is_followed_by_another_and_none_is_too_large() {
        let mut brush = Brush::default();
        for _ in 0..=MAX_QUADS {
            brush.rect(Rect::new(0.0, 0.0, 1.0, 1.0), WHITE);
        }
        let sizes: Vec<_> = brush.batches().iter().map(|it| it.vertices.len()).collect();
        assert_eq!(sizes, [MAX_VERTICES, 4]);
        let last = brush.batches()[0].indices.iter().max();
        assert_eq!(last, Some(&(MAX_VERTICES as u16 - 1)));
        brush.clear();
        assert!(brush.batches().is_empty());
    }

    #[test]
    fn a_turned_picture_stays_around_its_middle() {
        let mut brush = Brush::default();
        let area = Rect::new(10.0, 20.0, 40.0, 20.0);
        brush.cell(sheet::DISC, area, std::f32::consts::FRAC_PI_2, WHITE);
        let corner = brush.batches()[0].vertices[0].position.truncate();
        assert!((corner - vec2(40.0, 10.0)).length() < 1e-3, "{corner}");
    }
}
