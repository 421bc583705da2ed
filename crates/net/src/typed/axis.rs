//! How far a stick is pushed.

use std::fmt;

use super::{InputValue, LAYOUT, MessageValue, layout};
use crate::wire::{Malformed, Reader, Writer};

/// A stick's or a pair of keys' direction: -127 is all the way to the one side, 127 all the way to the other.
///
/// ```
/// use backspin::typed::Axis;
/// assert_eq!(Axis::from_keys(true, false), Axis::MIN);
/// assert_eq!(Axis::new(64).scale(1000), 503);
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Axis(i8);

/// Two of them: a stick, or the arrow keys.
///
/// ```
/// use backspin::typed::{Axis, Axis2};
/// let go = Axis2 { x: Axis::MAX, y: Axis::MIN };
/// assert_eq!(go.direction(100), (70, -70));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Axis2 {
    /// To the right.
    pub x: Axis,
    /// Down, or up: as the game has it.
    pub y: Axis,
}

impl Axis {
    /// All the way to the one side.
    pub const MIN: Axis = Axis(-127);
    /// Let go.
    pub const ZERO: Axis = Axis(0);
    /// All the way to the other side.
    pub const MAX: Axis = Axis(127);

    /// So far; -128 is as far as -127.
    pub const fn new(value: i8) -> Self {
        Axis(if value == i8::MIN { -127 } else { value })
    }

    /// What two keys say: both together are none.
    pub const fn from_keys(less: bool, more: bool) -> Self {
        match (less, more) {
            (true, false) => Axis::MIN,
            (false, true) => Axis::MAX,
            _ => Axis::ZERO,
        }
    }

    /// What a gamepad says, from -1 to 1.
    pub const fn from_f32(value: f32) -> Self {
        let scaled = value * 127.0;
        let half = if scaled < 0.0 { -0.5 } else { 0.5 };
        Axis::new((scaled + half) as i8)
    }

    /// -127 to 127.
    pub const fn value(self) -> i32 {
        self.0 as i32
    }

    /// The part of `most` that it is pushed: `value * most / 127`, towards 0.
    pub const fn scale(self, most: i32) -> i32 {
        (self.0 as i64 * most as i64 / 127) as i32
    }
}

impl fmt::Debug for Axis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl Axis2 {
    /// Where it points, `length` at most: two keys together are not faster than one. Each part is rounded
    /// towards 0.
    pub const fn direction(self, length: i32) -> (i32, i32) {
        let (x, y) = (self.x.0 as i64, self.y.0 as i64);
        let square = (x * x + y * y) as u64;
        if square <= 127 * 127 {
            return (self.x.scale(length), self.y.scale(length));
        }
        // The length of the two, in units of 2^-24; rounded up, so that the direction is not too long.
        let scaled = square << 48;
        let root = scaled.isqrt();
        let across = (root + (root * root < scaled) as u64) as i64;
        let x = (x * length as i64 * (1 << 24)) / across;
        let y = (y * length as i64 * (1 << 24)) / across;
        (x as i32, y as i32)
    }
}

impl InputValue for Axis {
    const BITS: u32 = 8;
    const LAYOUT: u64 = layout(LAYOUT, b"axis");

    fn to_bits(self) -> u128 {
        u128::from(self.0 as u8)
    }

    fn from_bits(bits: u128) -> Self {
        Axis::new(bits as i8)
    }
}

impl InputValue for Axis2 {
    const BITS: u32 = 16;
    const LAYOUT: u64 = layout(LAYOUT, b"axis2");

    fn to_bits(self) -> u128 {
        InputValue::to_bits(self.x) | InputValue::to_bits(self.y) << 8
    }

    fn from_bits(bits: u128) -> Self {
        Axis2 { x: InputValue::from_bits(bits), y: InputValue::from_bits(bits >> 8) }
    }
}

impl MessageValue for Axis {
    const MAX_LEN: usize = 1;
    const LAYOUT: u64 = <Axis as InputValue>::LAYOUT;

    fn encode(&self, w: &mut Writer<'_>) {
        w.i8(self.0);
    }

    fn decode(r: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        match r.i8(field)? {
            i8::MIN => Err(Malformed::out_of_range(field, i8::MIN)),
            value => Ok(Axis(value)),
        }
    }
}

impl MessageValue for Axis2 {
    const MAX_LEN: usize = 2;
    const LAYOUT: u64 = <Axis2 as InputValue>::LAYOUT;

    fn encode(&self, w: &mut Writer<'_>) {
        MessageValue::encode(&self.x, w);
        MessageValue::encode(&self.y, w);
    }

    fn decode(r: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        Ok(Axis2 { x: MessageValue::decode(r, field)?, y: MessageValue::decode(r, field)? })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::typed::testing::{
        every_byte_is_needed, goes_round_in_an_input, goes_round_in_bytes,
    };

    #[test]
    fn two_keys_at_once_cancel_each_other() {
        assert_eq!(Axis::from_keys(true, true), Axis::ZERO);
        assert_eq!(Axis::from_keys(false, false), Axis::ZERO);
        assert_eq!(Axis::from_keys(false, true), Axis::MAX);
    }

    #[test]
    fn both_sides_are_equally_far() {
        assert_eq!(Axis::new(i8::MIN), Axis::MIN);
        assert_eq!((Axis::MIN.scale(i32::MAX), Axis::MAX.scale(i32::MAX)), (-i32::MAX, i32::MAX));
        assert_eq!((Axis::new(-1).scale(126), Axis::new(1).scale(126)), (0, 0));
        let said =
            [-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, f32::NAN].map(|v| Axis::from_f32(v).value());
        assert_eq!(said, [-127, -127, -64, 0, 64, 127, 127, 0]);
    }

    #[test]
    fn a_byte_that_is_no_axis_becomes_one_in_an_input_and_is_malformed_in_a_message() {
        assert_eq!(<Axis as InputValue>::from_bits(0x80), Axis::MIN);
        let read = <Axis as MessageValue>::decode(&mut Reader::new(&[0x80]), "go");
        assert_eq!(read, Err(Malformed::out_of_range("go", -128)));
        every_byte_is_needed(&Axis2 { x: Axis::MIN, y: Axis::MAX });
    }

    #[test]
    fn all_ways_round_a_stick_are_equally_fast() {
        for (x, y) in [(127, 0), (0, -127), (127, 127), (-127, 127), (90, 90), (100, -120)] {
            let (x, y) = Axis2 { x: Axis::new(x), y: Axis::new(y) }.direction(1_000_000);
            let length = (f64::from(x).powi(2) + f64::from(y).powi(2)).sqrt();
            assert!((999_998.0..=1_000_000.0).contains(&length), "{x}, {y}: {length}");
        }
    }

    proptest! {
        #[test]
        fn no_direction_is_longer_than_asked(x: i8, y: i8, length in 0..=i32::MAX) {
            let (x, y) = Axis2 { x: Axis::new(x), y: Axis::new(y) }.direction(length);
            let (x, y, length) = (i128::from(x), i128::from(y), i128::from(length));
            prop_assert!(x * x + y * y <= length * length);
        }

        #[test]
        fn any_goes_round(x: i8, y: i8) {
            let go = Axis2 { x: Axis::new(x), y: Axis::new(y) };
            goes_round_in_an_input(go.x);
            goes_round_in_an_input(go);
            goes_round_in_bytes(&go.x);
            goes_round_in_bytes(&go);
        }
    }
}
