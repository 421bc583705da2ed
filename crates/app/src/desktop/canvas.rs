//! A screen of at least 1280 by 720 units for windows of any size.
//!
//! Shapes and text are collected in layers. Each layer draws its shapes first, then its text: two draw calls
//! per layer.

use std::mem;

use macroquad::color::Color;
use macroquad::math::{Rect, Vec2, vec2};
use macroquad::models::draw_mesh;
use macroquad::text::{Font, TextParams, draw_text_ex, load_ttf_font_from_bytes, measure_text};
use macroquad::texture::Texture2D;
use macroquad::window::{screen_height, screen_width};

use super::brush::{Brush, Place};
use super::sheet;
use crate::screen::wrap;

/// What every window shows at least.
const LEAST: Vec2 = vec2(1280.0, 720.0);

static REGULAR: &[u8] = include_bytes!("../../assets/Play-Regular.ttf");
static BOLD: &[u8] = include_bytes!("../../assets/Play-Bold.ttf");

/// How thick letters are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    Regular,
    Bold,
}

/// Which end of a text is where it is put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Middle,
    Right,
}

/// A text of one size and colour.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    pub(super) weight: Weight,
    pub(super) size: f32,
    pub(super) colour: Color,
    pub(super) align: Align,
}

impl Style {
    pub(super) fn new(size: f32, colour: Color) -> Self {
        Style { weight: Weight::Regular, size, colour, align: Align::Left }
    }

    pub(super) fn bold(self) -> Self {
        Style { weight: Weight::Bold, ..self }
    }

    pub(super) fn middle(self) -> Self {
        Style { align: Align::Middle, ..self }
    }

    pub(super) fn right(self) -> Self {
        Style { align: Align::Right, ..self }
    }
}

struct Written {
    text: String,
    style: Style,
    /// Where the line stands that the letters stand on, in px.
    at: Vec2,
}

pub(super) struct Canvas {
    regular: Option<Font>,
    bold: Option<Font>,
    sheet: Texture2D,
    pub(super) brush: Brush,
    written: Vec<Written>,
    size: Vec2,
    scale: f32,
}

impl Canvas {
    /// There must be a window.
    pub(super) fn new() -> Self {
        // The fonts are ours and are read by every test of this UI; without one macroquad's is
        // used.
        Canvas {
            regular: load_ttf_font_from_bytes(REGULAR).ok(),
            bold: load_ttf_font_from_bytes(BOLD).ok(),
            sheet: Texture2D::from_image(&sheet::paint()),
            brush: Brush::default(),
            written: Vec::new(),
            size: LEAST,
            scale: 1.0,
        }
    }

    /// Begins a picture.
    pub(super) fn begin(&mut self) {
        let window = vec2(screen_width().max(1.0), screen_height().max(1.0));
        self.scale = fit(window);
        self.size = window / self.scale;
        self.brush.place = Place { origin: Vec2::ZERO, scale: self.scale };
    }

    /// Its width and height, in units.
    pub(super) fn size(&self) -> Vec2 {
        self.size
    }

    /// All of it.
    pub(super) fn area(&self) -> Rect {
        Rect::new(0.0, 0.0, self.size.x, self.size.y)
    }

    /// An area in px.
    pub(super) fn px(&self, area: Rect) -> Rect {
        let at = self.brush.place.px(area.point());
        Rect::new(at.x, at.y, area.w * self.scale, area.h * self.scale)
    }

    /// Writes a text; `at.y` is where the letters stand.
    pub(super) fn write(&mut self, text: &str, at: Vec2, style: Style) {
        let wide = if style.align == Align::Left { 0.0 } else { self.width(text, style) };
        let left = match style.align {
            Align::Left => at.x,
            Align::Middle => at.x - wide / 2.0,
            Align::Right => at.x - wide,
        };
        let at = self.brush.place.px(vec2(left, at.y)).round();
        self.written.push(Written { text: text.to_owned(), style, at });
    }

    /// How wide a text is, in units.
    pub(super) fn width(&self, text: &str, style: Style) -> f32 {
        let font = self.font(style.weight);
        measure_text(text, font, self.font_px(style.size), 1.0).width / self.scale
    }

    /// A text in lines that are at most so wide.
    pub(super) fn wrap(&self, text: &str, style: Style, wide: f32) -> Vec<String> {
        wrapped(text, wide, |line| self.width(line, style))
    }

    /// Everything up to now is below everything from now on.
    pub(super) fn layer(&mut self) {
        for batch in self.brush.batches() {
            batch.texture.get_or_insert_with(|| self.sheet.clone());
            draw_mesh(batch);
        }
        self.brush.clear();
        for it in mem::take(&mut self.written) {
            let params = TextParams {
                font: self.font(it.style.weight),
                font_size: self.font_px(it.style.size),
                color: it.style.colour,
                ..TextParams::default()
            };
            draw_text_ex(&it.text, it.at.x, it.at.y, params);
        }
    }

    /// The picture is ready.
    pub(super) fn finish(&mut self) {
        self.layer();
    }

    fn font(&self, weight: Weight) -> Option<&Font> {
        match weight {
            Weight::Regular => self.regular.as_ref(),
            Weight::Bold => self.bold.as_ref(),
        }
    }

    fn font_px(&self, size: f32) -> u16 {
        (size * self.scale).round().clamp(1.0, 512.0) as u16
    }
}

/// How many px a unit has in a window of this size.
fn fit(window: Vec2) -> f32 {
    (window / LEAST).min_element()
}

/// The lines of a text without the spaces at their ends, so that they can stand in the middle.
fn wrapped(text: &str, wide: f32, width: impl Fn(&str) -> f32) -> Vec<String> {
    let rows = wrap(text, wide, wide, width);
    rows.into_iter().map(|row| row.trim_end().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_window_shows_at_least_1280_by_720() {
        for (w, h) in [(800.0, 600.0), (1280.0, 720.0), (2560.0, 1440.0), (600.0, 1200.0)] {
            let window = vec2(w, h);
            let size = window / fit(window);
            assert!(size.x >= LEAST.x - 0.01 && size.y >= LEAST.y - 0.01, "{size}");
            assert!((size / LEAST).min_element() < 1.0001, "{size}");
        }
    }

    #[test]
    fn text_is_cut_at_spaces_and_a_long_word_where_it_must_be() {
        let wrap = |text| wrapped(text, 6.0, |line| line.chars().count() as f32);
        assert_eq!(wrap("one two three"), ["one", "two", "three"]);
        assert_eq!(wrap("a b c d e"), ["a b c", "d e"]);
        assert_eq!(wrap("abcdefgh i"), ["abcdef", "gh i"]);
        assert_eq!(wrap(""), [""]);
    }

    #[test]
    fn the_fonts_are_fonts() {
        for bytes in [REGULAR, BOLD] {
            assert_eq!(bytes[..4], [0, 1, 0, 0]);
        }
    }
}
