//! Input: the buttons a player holds.

use backspin::wire::field::{Little, fields, flags};

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

flags! {
    /// A set of buttons; 64 and 128 do not exist.
    pub struct Buttons {
        /// Move up.
        UP = 1,
        /// Move down.
        DOWN = 2,
        /// Move left.
        LEFT = 4,
        /// Move right.
        RIGHT = 8,
        /// Shoot.
        SHOOT = 16,
        /// Charge a heavy shot.
        CHARGE = 32,
    }
}

fields!(Little Input { sequence, bits });

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtype::wire::Packet;
    use crate::testing::check;
    use backspin::wire::Malformed;

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
