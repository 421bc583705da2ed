//! Colours.

use macroquad::color::Color;

use crate::screen::{Palette, Side, Tone};

pub(crate) const NIGHT: Color = hex(0x05060f);
pub(crate) const DUSK: Color = hex(0x12163a);
pub(crate) const PANEL: Color = hex(0x0b0e22);
pub(crate) const EDGE: Color = hex(0x323a66);
pub(crate) const WHITE: Color = hex(0xffffff);
pub(crate) const FLAME: Color = hex(0xff9a3c);
pub(crate) const EMBER: Color = hex(0xff4a30);
/// What ships fire, and what they fire when they have charged.
pub(crate) const SHOT: Color = hex(0xfff078);
pub(crate) const BOLT: Color = hex(0x78f0ff);
const PLAIN: Color = hex(0xd3daf0);
const DIM: Color = hex(0x949ec2);
const GREEN: Color = hex(0x5df29b);
const YELLOW: Color = hex(0xffd84d);
const RED: Color = hex(0xff5a6e);
const CYAN: Color = hex(0x3de8ff);
const PINK: Color = hex(0xff5fa8);
const BLUE: Color = hex(0x5ab4ff);
const ORANGE: Color = hex(0xffb02e);
const VERMILION: Color = hex(0xff7a1a);

pub(crate) const fn hex(rgb: u32) -> Color {
    let [_, r, g, b] = rgb.to_be_bytes();
    Color { r: r as f32 / 255.0, g: g as f32 / 255.0, b: b as f32 / 255.0, a: 1.0 }
}

/// The same colour with this alpha.
pub(crate) fn faint(colour: Color, alpha: f32) -> Color {
    Color { a: colour.a * alpha, ..colour }
}

/// A colour between two.
pub(crate) fn between(one: Color, two: Color, part: f32) -> Color {
    let mix = |a: f32, b: f32| a + (b - a) * part;
    Color { r: mix(one.r, two.r), g: mix(one.g, two.g), b: mix(one.b, two.b), a: mix(one.a, two.a) }
}

#[derive(Clone, Copy)]
pub(crate) struct Paint(pub(crate) Palette);

impl Paint {
    pub(crate) fn tone(self, tone: Tone) -> Color {
        match (tone, self.0) {
            (Tone::Plain, _) => PLAIN,
            (Tone::Dim, _) => DIM,
            (Tone::Bright, _) => WHITE,
            (Tone::Good, Palette::Usual) => GREEN,
            (Tone::Good, Palette::Safe) => BLUE,
            (Tone::Fair, _) => YELLOW,
            (Tone::Bad, Palette::Usual) => RED,
            (Tone::Bad, Palette::Safe) => VERMILION,
        }
    }

    /// A player's of a crew: told apart by all eyes.
    pub(crate) fn crew(self, number: u8) -> Color {
        [BLUE, ORANGE, PINK, GREEN][usize::from(number % 4)]
    }

    /// The player's own colour, of what is chosen too.
    pub(crate) fn own(self) -> Color {
        match self.0 {
            Palette::Usual => CYAN,
            Palette::Safe => BLUE,
        }
    }

    /// The colour of the left side or the right one, where `own` is the player's.
    pub(crate) fn side(self, own: Side, left: bool) -> Color {
        if (own == Side::Left) == left { self.own() } else { self.other() }
    }

    pub(crate) fn other(self) -> Color {
        match self.0 {
            Palette::Usual => PINK,
            Palette::Safe => ORANGE,
        }
    }
}
