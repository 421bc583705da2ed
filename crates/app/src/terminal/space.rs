//! A crew's field in characters: small things are one-row sprites, large ones shapes in quarters of a
//! character, with stars
//! behind them.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Style};

use super::draw::Paint;
use super::grid::Grid;
use crate::games::Painted;
use crate::screen::{Burst, BurstKind, Look, Scene};

/// Stars on a screen of the field's size, for each of the layers.
const STARS: u32 = 28;

/// Which part of the level's way a layer of stars goes, and what it looks like.
const LAYERS: [(f32, &str, u8); 3] = [(0.1, ".", 237), (0.25, "·", 240), (0.5, "·", 245)];

/// Draws a scene so that it fills `area`.
pub(crate) fn draw(scene: &Scene, area: Rect, buffer: &mut Buffer, paint: Paint) {
    let grid = Grid::new(scene, area);
    grid.stars(scene, buffer);
    for thing in &scene.things {
        if let Look::Own(look) = thing.look {
            look.cells(thing, &grid, buffer, paint);
        }
    }
    for burst in &scene.bursts {
        grid.burst(burst, buffer);
    }
}

impl Grid {
    fn stars(&self, scene: &Scene, buffer: &mut Buffer) {
        for (layer, (speed, symbol, colour)) in (0u32..).zip(LAYERS) {
            for star in 0..STARS {
                let (x, y) = chance(layer * STARS + star);
                let x = (x - scene.scroll * speed / scene.width.max(1.0)).rem_euclid(1.0);
                let at = (x * f32::from(self.area.width), y * f32::from(self.area.height));
                let style = Style::new().fg(Color::Indexed(colour));
                self.set(buffer, (at.0 as i32, at.1 as i32), symbol, style);
            }
        }
    }

    /// A cloud that grows and thins out.
    fn burst(&self, burst: &Burst, buffer: &mut Buffer) {
        let radius = match burst.kind {
            BurstKind::Spark | BurstKind::Bounce => 6.0,
            BurstKind::Taken => 22.0,
            BurstKind::Enemy => 34.0,
            BurstKind::Ship => 50.0,
            BurstKind::Boss => 140.0,
        };
        let part = (burst.age / Burst::SECONDS).clamp(0.0, 1.0);
        let small = matches!(burst.kind, BurstKind::Spark | BurstKind::Bounce);
        if small && part > 0.4 {
            return;
        }
        let (symbol, colour) = match (part, burst.kind) {
            (_, BurstKind::Taken) => ("+", 157),
            (..0.2, _) => ("▓", 230),
            (..0.45, _) => ("▒", 220),
            (..0.7, _) => ("░", 208),
            _ => ("·", 130),
        };
        let style = Style::new().fg(Color::Indexed(colour));
        let middle = (burst.x * self.scale.0, burst.y * self.scale.1);
        if small {
            self.set(buffer, (middle.0 as i32, middle.1 as i32), "*", style);
            return;
        }
        let reach = radius * (0.4 + 0.6 * part);
        let (rx, ry) = ((reach * self.scale.0).max(1.0), (reach * self.scale.1).max(0.6));
        // It is hollow in the end.
        let hollow = (part - 0.3).max(0.0);
        for x in (middle.0 - rx).floor() as i32..=(middle.0 + rx).ceil() as i32 {
            for y in (middle.1 - ry).floor() as i32..=(middle.1 + ry).ceil() as i32 {
                let (dx, dy) = (x as f32 + 0.5 - middle.0, y as f32 + 0.5 - middle.1);
                let away = (dx / rx).hypot(dy / ry);
                if (hollow..1.0).contains(&away) {
                    self.set(buffer, (x, y), symbol, style);
                }
            }
        }
    }
}

/// Two numbers from 0 to 1 that look like chance, and are the same in every picture.
fn chance(of: u32) -> (f32, f32) {
    let mut mixed = u64::from(of + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    let part = |bits: u64| (bits & 0xFFFF) as f32 / 65536.0;
    (part(mixed >> 16), part(mixed >> 40))
}
