//! What destroyed enemies leave behind, for whoever takes it first.

use serde::Deserialize;

use crate::space::{Moving, PX, Size};

/// A power-up in the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PowerUp {
    /// The same for as long as it is there.
    pub id: u32,
    /// What it is good for.
    pub bonus: Bonus,
    /// Where.
    pub at: Moving,
}

/// What a power-up is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Bonus {
    /// One more shot at once, up to three.
    Weapon,
    /// The next hit costs the shield instead of the ship.
    Shield,
    /// 30 px/s faster, up to three times.
    Speed,
    /// One more life.
    Life,
    /// The force pod.
    Force,
}

impl Bonus {
    /// All of them, as they are numbered when sent and in events.
    pub const ALL: [Bonus; 5] =
        [Bonus::Weapon, Bonus::Shield, Bonus::Speed, Bonus::Life, Bonus::Force];
}

impl PowerUp {
    /// How large it is.
    pub const SIZE: Size = Size::px(20, 20);

    /// How fast it drifts to the left: 56 px/s.
    pub(crate) const DRIFT: i32 = -15;

    /// What it is worth to a player who has no use for it.
    pub(crate) const POINTS: i32 = 500;

    /// One whose middle is at a point, within the field's height.
    pub(crate) fn at(id: u32, bonus: Bonus, (x, y): (i32, i32)) -> Self {
        let y = (y - PowerUp::SIZE.h / 2).clamp(10 * PX, crate::space::FIELD.h - 40 * PX);
        let at = Moving { x: x - PowerUp::SIZE.w / 2, y, vx: PowerUp::DRIFT, vy: 0 };
        PowerUp { id, bonus, at }
    }
}
