//! Input: the buttons a player holds.

use backspin::wire::Malformed;
use backspin::wire::field::{Field, fields};
use backspin::wire::{Reader, Writer};

/// A player's buttons.
///
/// ```text
/// 0          4      5
/// | sequence | bits |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Input {
    /// One more with every input.
    pub sequence: u32,
    /// What is held.
    pub bits: Buttons,
}

/// A set of buttons; 64 and 128 do not exist.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Buttons(u8);

impl Buttons {
    /// Move up.
    pub const UP: Buttons = Buttons(1);
    /// Move down.
    pub const DOWN: Buttons = Buttons(2);
    /// Move left.
    pub const LEFT: Buttons = Buttons(4);
    /// Move right.
    pub const RIGHT: Buttons = Buttons(8);
    /// Shoot.
    pub const SHOOT: Buttons = Buttons(16);
    /// Charge a heavy shot.
    pub const CHARGE: Buttons = Buttons(32);

    /// The set that `bits` name, if all of them exist.
    #[inline]
    pub const fn from_bits(bits: u8) -> Option<Self> {
        if bits < 64 { Some(Buttons(bits)) } else { None }
    }

    /// The set as a number.
    #[inline]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Whether all of `other` are held.
    #[inline]
    pub const fn contains(self, other: Buttons) -> bool {
        self.0 & other.0 == other.0
    }
}

impl std::ops::BitOr for Buttons {
    type Output = Buttons;

    fn bitor(self, other: Buttons) -> Buttons {
        Buttons(self.0 | other.0)
    }
}

impl<Order> Field<'_, Order> for Buttons {
    #[inline]
    fn decode(r: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        let bits = r.u8(field)?;
        Buttons::from_bits(bits).ok_or(Malformed::out_of_range(field, bits))
    }

    #[inline]
    fn encode(&self, w: &mut Writer<'_>) {
        w.u8(self.0);
    }
}

fields!(Little Input { sequence, bits });

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtype::wire::Packet;
    use crate::testing::check;

    #[test]
    fn right_is_eight() {
        let input = Input { sequence: 0, bits: Buttons::RIGHT };
        check(&[5, 0, 3, 1, 0, 0, 0, 0, 8], &Packet::Input(input));
    }

    #[test]
    fn buttons_that_do_not_exist_are_out_of_range() {
        for bits in [64, 128, 255] {
            let error = Packet::decode(&[5, 0, 3, 1, 9, 0, 0, 0, bits]).unwrap_err();
            assert_eq!(error, Malformed::out_of_range("bits", bits));
        }
    }

    #[test]
    fn a_set_contains_its_parts() {
        let set = Buttons::UP | Buttons::SHOOT;
        assert!(set.contains(Buttons::SHOOT) && !set.contains(Buttons::UP | Buttons::LEFT));
    }
}
