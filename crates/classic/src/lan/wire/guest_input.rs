//! GUEST_INPUT: where the guest steers, 60 times a second.

use backspin::wire::Malformed;
use backspin::wire::{Reader, Writer};

/// The guest's paddle.
///
/// ```text
/// 0      1      3   4
/// | 0x05 | tick | y |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct GuestInput {
    /// Always 0 in the first program.
    pub tick: u16,
    /// The direction.
    pub y: Steer,
}

/// A paddle's direction, on the wire -1, 0 or 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Steer {
    /// Towards y = 0.
    Up = -1,
    /// Nowhere.
    #[default]
    Still = 0,
    /// Away from y = 0.
    Down = 1,
}

impl Steer {
    /// The wire's number for it.
    pub const fn sign(self) -> i8 {
        self as i8
    }
}

impl GuestInput {
    pub(super) fn decode(r: &mut Reader<'_>) -> Result<Self, Malformed> {
        let tick = r.u16_be("tick")?;
        let y = match r.i8("y")? {
            -1 => Steer::Up,
            0 => Steer::Still,
            1 => Steer::Down,
            other => return Err(Malformed::out_of_range("y", other)),
        };
        Ok(GuestInput { tick, y })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        w.u16_be(self.tick);
        w.i8(self.y.sign());
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Steer {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i8(self.sign())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lan::wire::Packet;
    use crate::testing::check;

    #[test]
    fn the_three_directions_are_signed_bytes() {
        for (byte, y) in [(0xFF, Steer::Up), (0, Steer::Still), (1, Steer::Down)] {
            check(&[5, 0x01, 0x02, byte], &Packet::GuestInput(GuestInput { tick: 0x0102, y }));
        }
    }

    #[test]
    fn any_other_direction_is_out_of_range() {
        for y in [-128_i8, -2, 2, 127] {
            let error = Packet::decode(&[5, 0, 0, y as u8]);
            assert_eq!(error, Err(Malformed::out_of_range("y", y)));
        }
    }
}
