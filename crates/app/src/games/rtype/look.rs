//! The things in R-Type, and how they are drawn.

mod cells;
mod window;

use backspin_rtype::enemy::Species;
use backspin_rtype::power_up::Bonus;
use macroquad::math::Rect;
use ratatui::buffer::Buffer;

use crate::desktop::brush::Brush;
use crate::games::Painted;
use crate::screen::Thing;
use crate::terminal::grid::Grid;
use crate::{desktop, terminal};

/// What a thing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    Ship(Ship),
    /// The force pod of a player.
    Pod {
        number: u8,
        own: bool,
    },
    /// What a ship fires.
    Shot {
        own: bool,
    },
    HeavyShot {
        own: bool,
    },
    Enemy(Species),
    /// One of three, in one of its stages from 0.
    Boss {
        look: u8,
        stage: u8,
    },
    /// What enemies fire.
    Bullet,
    PowerUp(Bonus),
}

/// How a ship looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ship {
    /// Whose, from 0.
    pub(crate) number: u8,
    pub(crate) own: bool,
    /// Whether it has a shield.
    pub(crate) shield: bool,
    /// Whether nothing can hurt it for now.
    pub(crate) safe: bool,
    /// How far a heavy shot is charged, in percent.
    pub(crate) charge: u8,
    /// -1 while it climbs, 1 while it dives.
    pub(crate) tilt: i8,
}

impl Painted for Look {
    fn window(self, brush: &mut Brush, area: Rect, paint: desktop::Paint, seconds: f32) {
        window::draw(self, brush, area, paint, seconds);
    }

    fn cells(self, thing: &Thing, grid: &Grid, buffer: &mut Buffer, paint: terminal::Paint) {
        cells::draw(self, thing, grid, buffer, paint);
    }
}
