//! A direction, in whole steps of a full turn.

use std::fmt;
use std::ops::{Add, AddAssign, Neg, Sub, SubAssign};

use super::count;
use super::{FieldValue, InputValue, LAYOUT, MessageValue, layout, layout_number};
use crate::replication::{Motion, Step};
use crate::wire::{Malformed, Reader, Writer};

mod circle;

/// A direction: a full turn has 2^`BITS` steps, and the last is followed by the first. 0 points along x, a
/// quarter of a turn along y; where y points down, angles grow clockwise.
///
/// Everything but the conversions from and to `f32` is integer arithmetic, the same on every machine.
///
/// ```
/// use backspin::typed::Angle;
///
/// type Aim = Angle<10>;
///
/// let aim = Aim::towards(3, -3);
/// assert_eq!(aim.count(), 1024 - 128);
/// // A bolt of 200 counts a tick that way.
/// let (vx, vy) = (aim.cos() * 200 / 16384, aim.sin() * 200 / 16384);
/// assert_eq!((vx, vy), (141, -141));
/// // It turns at most 10 steps at a time, the short way round.
/// let turned = aim.turn_towards(Aim::ZERO, Aim::from_count(10));
/// assert_eq!(turned.count(), 1024 - 118);
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Angle<const BITS: u32>(u16);

impl<const BITS: u32> Angle<BITS> {
    /// Along x.
    pub const ZERO: Self = Angle(0);

    /// Where the counts of a turn lie.
    const MASK: u16 = {
        assert!(1 <= BITS && BITS <= 16, "an angle has 1 to 16 bits");
        (u16::MAX as u32 >> (16 - BITS)) as u16
    };

    const SHAPE: u64 = layout_number(layout(LAYOUT, b"angle"), BITS as i64);

    /// So many steps; whole turns are dropped.
    pub const fn from_count(count: i32) -> Self {
        Self::wrapped(count as u16)
    }

    const fn wrapped(count: u16) -> Self {
        Angle(count & Self::MASK)
    }

    /// The nearest to so many turns; whole turns are dropped, and what is not a number is 0. For setting up
    /// and for a mouse: rules count in whole numbers.
    pub const fn from_turns_f32(turns: f32) -> Self {
        let counts = turns as f64 * (1u32 << BITS) as f64;
        let half = if counts < 0.0 { -0.5 } else { 0.5 };
        Self::wrapped((counts + half) as i64 as u16)
    }

    /// Where `(dx, dy)` points, to the nearest step; 0 where both are 0.
    pub const fn towards(dx: i32, dy: i32) -> Self {
        let turn = circle::angle(dx, dy);
        let half = 1 << (31 - BITS);
        Self::wrapped((turn.wrapping_add(half) >> (32 - BITS)) as u16)
    }

    /// How many steps, from 0 to 2^`BITS` - 1.
    pub const fn count(self) -> i32 {
        self.0 as i32
    }

    /// How far along y the direction goes, in 1/16384.
    pub const fn sin(self) -> i32 {
        circle::sine(self.turn_16())
    }

    /// How far along x the direction goes, in 1/16384.
    pub const fn cos(self) -> i32 {
        circle::sine(self.turn_16().wrapping_add(1 << 14))
    }

    /// Turned towards `other` the short way round, by `at_most`. To the opposite it turns upwards.
    pub const fn turn_towards(self, other: Self, at_most: Self) -> Self {
        let up = other.0.wrapping_sub(self.0) & Self::MASK;
        let down = self.0.wrapping_sub(other.0) & Self::MASK;
        if up <= at_most.0 || down <= at_most.0 {
            other
        } else if up <= down {
            Self::wrapped(self.0.wrapping_add(at_most.0))
        } else {
            Self::wrapped(self.0.wrapping_sub(at_most.0))
        }
    }

    /// The same in radians, from 0 to 2π, for drawing.
    pub const fn to_radians_f32(self) -> f32 {
        (self.0 as f64 * std::f64::consts::TAU / (1u32 << BITS) as f64) as f32
    }

    /// In 1/65536 of a turn.
    const fn turn_16(self) -> u16 {
        self.0 << (16 - BITS)
    }
}

impl<const BITS: u32> Add for Angle<BITS> {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self::wrapped(self.0.wrapping_add(other.0))
    }
}

impl<const BITS: u32> Sub for Angle<BITS> {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self::wrapped(self.0.wrapping_sub(other.0))
    }
}

impl<const BITS: u32> AddAssign for Angle<BITS> {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl<const BITS: u32> SubAssign for Angle<BITS> {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl<const BITS: u32> Neg for Angle<BITS> {
    type Output = Self;

    fn neg(self) -> Self {
        Self::ZERO - self
    }
}

impl<const BITS: u32> fmt::Debug for Angle<BITS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.0, 1u32 << BITS)
    }
}

impl<const BITS: u32> InputValue for Angle<BITS> {
    const BITS: u32 = BITS;
    const LAYOUT: u64 = Self::SHAPE;

    fn to_bits(self) -> u128 {
        u128::from(self.0)
    }

    fn from_bits(bits: u128) -> Self {
        Self::wrapped(bits as u16)
    }
}

impl<const BITS: u32> MessageValue for Angle<BITS> {
    const MAX_LEN: usize = count::len(0, Self::MASK as i32);
    const LAYOUT: u64 = Self::SHAPE;

    fn encode(&self, w: &mut Writer<'_>) {
        count::encode(self.count(), 0, i32::from(Self::MASK), w);
    }

    fn decode(r: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        count::decode(r, field, 0, i32::from(Self::MASK)).map(Self::from_count)
    }
}

/// Drawn in turns.
impl<const BITS: u32> FieldValue for Angle<BITS> {
    const MIN: i32 = 0;
    const MAX: i32 = Self::MASK as i32;
    const STEP: Step = Step::new(1, 1 << BITS);
    const MOTION: Motion = Motion::Circular;

    fn count(self) -> i32 {
        i32::from(self.0)
    }

    fn from_count(count: i32) -> Self {
        Angle::from_count(count)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::typed::testing::{
        every_byte_is_needed, goes_round_in_an_input, goes_round_in_bytes,
    };

    type Aim = Angle<10>;
    type Fine = Angle<16>;
    type Half = Angle<1>;

    #[test]
    fn it_goes_round() {
        assert_eq!(Aim::from_count(1000) + Aim::from_count(100), Aim::from_count(76));
        assert_eq!(Aim::from_count(76) - Aim::from_count(100), Aim::from_count(1000));
        assert_eq!(Aim::from_count(-1).count(), 1023);
        assert_eq!(-Aim::from_count(1), Aim::from_count(1023));
        assert_eq!(Fine::from_count(65_535) + Fine::from_count(1), Fine::ZERO);
        assert_eq!(Half::from_count(1) + Half::from_count(1), Half::ZERO);
        let mut aim = Aim::ZERO;
        aim -= Aim::from_count(2);
        aim += Aim::from_count(3);
        assert_eq!(aim.count(), 1);
    }

    #[test]
    fn the_eight_winds_are_exact() {
        let winds = [(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)];
        for far in [1, 7, 1_000, i32::MAX] {
            for (eighth, (x, y)) in winds.into_iter().enumerate() {
                let aim = Fine::towards(x * far, y * far);
                assert_eq!(aim.count(), eighth as i32 * 8192, "({x}, {y}) times {far}");
            }
        }
        assert_eq!(Fine::towards(0, 0), Fine::ZERO);
        assert_eq!(Fine::towards(i32::MIN, i32::MIN).count(), 5 * 8192);
        assert_eq!(Fine::towards(i32::MIN, 0).count(), 4 * 8192);
        assert_eq!(Half::towards(-5, 1).count(), 1);
    }

    #[test]
    fn it_turns_the_short_way_round_and_no_further_than_there() {
        let turned = |from, to, by| {
            Aim::from_count(from).turn_towards(Aim::from_count(to), Aim::from_count(by)).count()
        };
        assert_eq!(turned(1020, 10, 5), 1);
        assert_eq!(turned(10, 1020, 5), 5);
        assert_eq!(turned(10, 1020, 12), 1022);
        assert_eq!(turned(10, 1020, 14), 1020);
        assert_eq!(turned(0, 512, 3), 3);
        assert_eq!(turned(7, 7, 3), 7);
        assert_eq!(turned(7, 9, 0), 7);
        assert_eq!(turned(7, 500, 1000), 500);
    }

    #[test]
    fn floats_become_the_nearest_step_of_a_turn() {
        for (turns, count) in [(0.25, 256), (-0.25, 768), (1.0, 0), (0.9999, 0), (2.5, 512)] {
            assert_eq!(Aim::from_turns_f32(turns).count(), count, "{turns}");
        }
        assert_eq!(Aim::from_turns_f32(f32::NAN), Aim::ZERO);
        assert!((Aim::from_count(256).to_radians_f32() - 1.570_796_4).abs() < 1e-6);
    }

    #[test]
    fn in_a_message_a_count_beyond_the_turn_is_malformed() {
        let read = |bytes: &[u8]| <Aim as MessageValue>::decode(&mut Reader::new(bytes), "aim");
        assert_eq!(read(&[3, 255]), Ok(Aim::from_count(1023)));
        assert_eq!(read(&[4, 0]), Err(Malformed::out_of_range("aim", 1024)));
        every_byte_is_needed(&Aim::ZERO);
        assert_eq!(<Angle<8> as MessageValue>::MAX_LEN, 1);
    }

    proptest! {
        #[test]
        fn a_direction_is_the_nearest_step(x: i32, y: i32) {
            let turns = f64::from(y).atan2(f64::from(x)) / std::f64::consts::TAU;
            for (count, bits) in [(Aim::towards(x, y).count(), 10), (Fine::towards(x, y).count(), 16)] {
                let turn = f64::from(1 << bits);
                let off = (turns * turn - f64::from(count)).rem_euclid(turn);
                prop_assert!(off.min(turn - off) < 0.500_1, "{} of {}: {}", count, turn, off);
            }
        }

        #[test]
        fn a_quarter_turn_of_the_way_is_a_quarter_turn_of_the_angle(x in -9999..9999i32, y in 1..9999i32) {
            let quarter = Fine::from_count(1 << 14);
            prop_assert_eq!(Fine::towards(-y, x), Fine::towards(x, y) + quarter);
        }

        #[test]
        fn any_goes_round_on_the_wire(count: i32, bits: u128) {
            goes_round_in_an_input(Aim::from_count(count));
            goes_round_in_bytes(&Aim::from_count(count));
            goes_round_in_bytes(&Half::from_count(count));
            prop_assert!(<Aim as InputValue>::from_bits(bits).count() < 1024);
        }

        #[test]
        fn what_it_turns_towards_comes_nearer(from: i32, to: i32, by in 1..512) {
            let (from, to) = (Aim::from_count(from), Aim::from_count(to));
            let apart = |a: Aim, b: Aim| (a - b).count().min((b - a).count());
            let turned = from.turn_towards(to, Aim::from_count(by));
            prop_assert_eq!(apart(turned, to), (apart(from, to) - by).max(0));
            prop_assert!(apart(from, turned) <= by);
        }
    }
}
