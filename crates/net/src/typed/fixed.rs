//! A signed number in whole steps.

use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

use super::count;
use super::{FieldValue, InputValue, LAYOUT, MessageValue, layout, layout_number};
use crate::replication::{Motion, Step};
use crate::wire::{Malformed, Reader, Writer};

/// A number from `MIN` to `MAX`, in steps of 1/`STEPS`: a place, a velocity, a health.
///
/// It is a whole count of steps, so the same sum is the same on every machine. What would leave the range
/// stays at its end; nothing overflows.
///
/// ```
/// use backspin::typed::Fixed;
///
/// type X = Fixed<0, 480, 16>;
/// type Speed = Fixed<-8, 8, 16>;
///
/// const START: X = X::whole(100);
/// let mut x = START;
/// x += Speed::from_count(24);
/// assert_eq!((x.count(), x.to_f32()), (1624, 101.5));
/// assert_eq!((x + Speed::MAX * 100).to_f32(), 109.5);
/// assert_eq!(X::whole(1000), X::MAX);
/// ```
///
/// A range whose counts do not fit an `i32` does not compile:
///
/// ```compile_fail
/// use backspin::typed::Fixed;
/// let x = Fixed::<0, 1_000_000_000, 16>::whole(1);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fixed<const MIN: i32, const MAX: i32, const STEPS: i32>(i32);

impl<const MIN: i32, const MAX: i32, const STEPS: i32> Fixed<MIN, MAX, STEPS> {
    /// The least.
    pub const MIN: Self = Fixed(Self::LEAST);
    /// The greatest.
    pub const MAX: Self = Fixed(Self::GREATEST);

    const LEAST: i32 = Self::end(MIN);
    const GREATEST: i32 = Self::end(MAX);

    /// An end of the range, in counts.
    const fn end(units: i32) -> i32 {
        assert!(STEPS >= 1, "a unit has at least one step");
        assert!(MIN <= MAX, "the range is empty: MIN is greater than MAX");
        match units.checked_mul(STEPS) {
            Some(count) => count,
            None => panic!("the range has more steps than an i32 counts"),
        }
    }

    /// So many steps; beyond the range it is the end of it.
    pub const fn from_count(count: i32) -> Self {
        Fixed(count::clamp(count, Self::LEAST, Self::GREATEST))
    }

    /// So many whole units; beyond the range it is the end of it.
    pub const fn whole(units: i32) -> Self {
        Self::from_count(units.saturating_mul(STEPS))
    }

    /// The nearest to `value`, half a step away from 0; what is not a number is 0. For setting up and for
    /// drawing: rules count in whole numbers.
    pub const fn from_f32(value: f32) -> Self {
        let count = value as f64 * STEPS as f64;
        let half = if count < 0.0 { -0.5 } else { 0.5 };
        // A conversion to an integer stops at its range, and drops what is behind the point.
        Self::from_count((count + half) as i32)
    }

    /// How many steps it is.
    pub const fn count(self) -> i32 {
        self.0
    }

    /// What it is in units, for drawing.
    pub const fn to_f32(self) -> f32 {
        (self.0 as f64 / STEPS as f64) as f32
    }
}

/// 0, or the end of the range that is nearest to it.
impl<const MIN: i32, const MAX: i32, const STEPS: i32> Default for Fixed<MIN, MAX, STEPS> {
    fn default() -> Self {
        Self::from_count(0)
    }
}

impl<const MIN: i32, const MAX: i32, const LO: i32, const HI: i32, const STEPS: i32>
    Add<Fixed<LO, HI, STEPS>> for Fixed<MIN, MAX, STEPS>
{
    type Output = Self;

    fn add(self, other: Fixed<LO, HI, STEPS>) -> Self {
        Self::from_count(self.0.saturating_add(other.0))
    }
}

impl<const MIN: i32, const MAX: i32, const LO: i32, const HI: i32, const STEPS: i32>
    Sub<Fixed<LO, HI, STEPS>> for Fixed<MIN, MAX, STEPS>
{
    type Output = Self;

    fn sub(self, other: Fixed<LO, HI, STEPS>) -> Self {
        Self::from_count(self.0.saturating_sub(other.0))
    }
}

impl<const MIN: i32, const MAX: i32, const LO: i32, const HI: i32, const STEPS: i32>
    AddAssign<Fixed<LO, HI, STEPS>> for Fixed<MIN, MAX, STEPS>
{
    fn add_assign(&mut self, other: Fixed<LO, HI, STEPS>) {
        *self = *self + other;
    }
}

impl<const MIN: i32, const MAX: i32, const LO: i32, const HI: i32, const STEPS: i32>
    SubAssign<Fixed<LO, HI, STEPS>> for Fixed<MIN, MAX, STEPS>
{
    fn sub_assign(&mut self, other: Fixed<LO, HI, STEPS>) {
        *self = *self - other;
    }
}

impl<const MIN: i32, const MAX: i32, const STEPS: i32> Neg for Fixed<MIN, MAX, STEPS> {
    type Output = Self;

    fn neg(self) -> Self {
        Self::from_count(self.0.saturating_neg())
    }
}

impl<const MIN: i32, const MAX: i32, const STEPS: i32> Mul<i32> for Fixed<MIN, MAX, STEPS> {
    type Output = Self;

    fn mul(self, times: i32) -> Self {
        Self::from_count(self.0.saturating_mul(times))
    }
}

/// Drops what is left over, as integers do. Panics where `by` is 0.
impl<const MIN: i32, const MAX: i32, const STEPS: i32> Div<i32> for Fixed<MIN, MAX, STEPS> {
    type Output = Self;

    fn div(self, by: i32) -> Self {
        Self::from_count(self.0.saturating_div(by))
    }
}

impl<const MIN: i32, const MAX: i32, const STEPS: i32> fmt::Display for Fixed<MIN, MAX, STEPS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&(f64::from(self.0) / f64::from(STEPS)), f)
    }
}

impl<const MIN: i32, const MAX: i32, const STEPS: i32> fmt::Debug for Fixed<MIN, MAX, STEPS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<const MIN: i32, const MAX: i32, const STEPS: i32> Fixed<MIN, MAX, STEPS> {
    const SHAPE: u64 = {
        let hash = layout(LAYOUT, b"fixed");
        let hash = layout_number(layout_number(hash, MIN as i64), MAX as i64);
        layout_number(hash, STEPS as i64)
    };
}

impl<const MIN: i32, const MAX: i32, const STEPS: i32> InputValue for Fixed<MIN, MAX, STEPS> {
    const BITS: u32 = count::bits(Self::LEAST, Self::GREATEST);
    const LAYOUT: u64 = Self::SHAPE;

    fn to_bits(self) -> u128 {
        count::to_bits(self.0, Self::LEAST)
    }

    fn from_bits(bits: u128) -> Self {
        Fixed(count::from_bits(bits, Self::LEAST, Self::GREATEST))
    }
}

impl<const MIN: i32, const MAX: i32, const STEPS: i32> MessageValue for Fixed<MIN, MAX, STEPS> {
    const MAX_LEN: usize = count::len(Self::LEAST, Self::GREATEST);
    const LAYOUT: u64 = Self::SHAPE;

    fn encode(&self, w: &mut Writer<'_>) {
        count::encode(self.0, Self::LEAST, Self::GREATEST, w);
    }

    fn decode(r: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        count::decode(r, field, Self::LEAST, Self::GREATEST).map(Fixed)
    }
}

impl<const MIN: i32, const MAX: i32, const STEPS: i32> FieldValue for Fixed<MIN, MAX, STEPS> {
    const MIN: i32 = Self::LEAST;
    const MAX: i32 = Self::GREATEST;
    const STEP: Step = Step::new(1, STEPS as u32);
    const MOTION: Motion = Motion::Smooth;

    fn count(self) -> i32 {
        self.0
    }

    fn from_count(count: i32) -> Self {
        Fixed::from_count(count)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::replication::Field;
    use crate::typed::testing::{
        every_byte_is_needed, goes_round_in_an_input, goes_round_in_bytes,
    };

    type X = Fixed<-10, 100, 16>;
    type Speed = Fixed<-8, 8, 16>;
    type All = Fixed<{ i32::MIN }, { i32::MAX }, 1>;

    #[test]
    fn sums_stay_within_the_range_of_the_left_side() {
        assert_eq!(X::whole(99) + Speed::whole(8), X::MAX);
        assert_eq!(X::whole(-9) - Speed::whole(8), X::MIN);
        assert_eq!(Speed::whole(-8) + X::whole(12), Speed::whole(4));
        let mut x = X::whole(1);
        x += Speed::from_count(1);
        x -= Speed::from_count(-1);
        assert_eq!(x.count(), 18);
    }

    #[test]
    fn nothing_overflows() {
        assert_eq!(All::MAX + All::MAX, All::MAX);
        assert_eq!(All::MIN - All::MAX, All::MIN);
        assert_eq!(-All::MIN, All::MAX);
        assert_eq!(All::MIN / -1, All::MAX);
        assert_eq!(All::MIN * i32::MIN, All::MAX);
        assert_eq!(-X::whole(50), X::MIN);
        assert_eq!(X::whole(i32::MAX), X::MAX);
    }

    #[test]
    fn a_float_becomes_the_nearest_step_as_in_a_field() {
        let field = Field::of::<X>("x");
        let values = [0.0, 1.0, 0.031, 0.03125, -0.03125, 1e30, -1e30, f32::NAN, f32::INFINITY];
        for value in values {
            assert_eq!(X::from_f32(value).count(), field.quantise(value), "{value}");
        }
        assert_eq!(X::from_count(-24).to_f32(), field.value(-24));
    }

    #[test]
    fn it_is_written_as_a_decimal_number() {
        assert_eq!(X::from_count(-24).to_string(), "-1.5");
        assert_eq!(format!("{:?}", X::whole(3)), "3");
        assert_eq!(format!("{:.2}", X::from_count(1)), "0.06");
    }

    #[test]
    fn without_a_0_in_its_range_it_begins_nearest_to_it() {
        assert_eq!(Fixed::<5, 9, 2>::default().count(), 10);
        assert_eq!(Fixed::<-9, -5, 2>::default().count(), -10);
    }

    #[test]
    fn a_narrow_range_takes_few_bits_and_bytes() {
        assert_eq!(<Speed as InputValue>::BITS, 9);
        assert_eq!(<Speed as MessageValue>::MAX_LEN, 2);
        assert_eq!(<Fixed<0, 15, 16> as MessageValue>::MAX_LEN, 1);
        assert_eq!(<All as MessageValue>::MAX_LEN, 4);
        assert_eq!(<All as InputValue>::BITS, 32);
    }

    #[test]
    fn in_a_message_a_count_beyond_the_range_is_malformed() {
        let read = |bytes: &[u8]| Speed::decode(&mut Reader::new(bytes), "speed");
        assert_eq!(read(&[0, 0]), Ok(Speed::MIN));
        assert_eq!(read(&[1, 0]), Ok(Speed::MAX));
        assert_eq!(read(&[1, 1]), Err(Malformed::out_of_range("speed", 129)));
        every_byte_is_needed(&Speed::MAX);
    }

    proptest! {
        #[test]
        fn a_sum_is_the_whole_sum_brought_into_the_range(a: i32, b: i32, times: i32) {
            let clamp = |sum: i64| sum.clamp(-160, 1600) as i32;
            let (x, v) = (X::from_count(a), Speed::from_count(b));
            let (a, b) = (i64::from(x.count()), i64::from(v.count()));
            prop_assert_eq!((x + v).count(), clamp(a + b));
            prop_assert_eq!((x - v).count(), clamp(a - b));
            prop_assert_eq!((x * times).count(), clamp(a * i64::from(times)));
            prop_assert_eq!((-x).count(), clamp(-a));
        }

        #[test]
        fn any_goes_round(count: i32) {
            goes_round_in_an_input(X::from_count(count));
            goes_round_in_an_input(All::from_count(count));
            goes_round_in_bytes(&X::from_count(count));
            goes_round_in_bytes(&All::from_count(count));
            prop_assert_eq!(X::from_f32(X::from_count(count).to_f32()), X::from_count(count));
        }

        #[test]
        fn any_bits_are_a_value_of_the_range(bits: u128) {
            let x = <X as InputValue>::from_bits(bits);
            prop_assert!(X::MIN <= x && x <= X::MAX);
        }
    }
}
