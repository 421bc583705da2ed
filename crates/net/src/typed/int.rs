//! A whole number within a range.

use std::fmt;
use std::ops::{Add, AddAssign, Sub, SubAssign};

use super::count;
use super::{FieldValue, InputValue, LAYOUT, MessageValue, layout, layout_number};
use crate::replication::Step;
use crate::wire::{Malformed, Reader, Writer};

/// A whole number from `MIN` to `MAX`: a score, a number of lives, ticks that are left. What would leave the
/// range stays at its end.
///
/// ```
/// use backspin::typed::Int;
///
/// let mut score = Int::<0, 99>::new(98);
/// score += 1;
/// score += 1;
/// assert_eq!(score.get(), 99);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Int<const MIN: i32, const MAX: i32>(i32);

impl<const MIN: i32, const MAX: i32> Int<MIN, MAX> {
    /// The least.
    pub const MIN: Self = Int(Self::LEAST);
    /// The greatest.
    pub const MAX: Self = Int(MAX);

    const LEAST: i32 = {
        assert!(MIN <= MAX, "the range is empty: MIN is greater than MAX");
        MIN
    };

    const SHAPE: u64 = {
        let hash = layout(LAYOUT, b"int");
        layout_number(layout_number(hash, MIN as i64), MAX as i64)
    };

    /// This number; beyond the range it is the end of it.
    pub const fn new(value: i32) -> Self {
        Int(count::clamp(value, Self::LEAST, MAX))
    }

    /// The number.
    pub const fn get(self) -> i32 {
        self.0
    }
}

/// 0, or the end of the range that is nearest to it.
impl<const MIN: i32, const MAX: i32> Default for Int<MIN, MAX> {
    fn default() -> Self {
        Int::new(0)
    }
}

impl<const MIN: i32, const MAX: i32> Add<i32> for Int<MIN, MAX> {
    type Output = Self;

    fn add(self, other: i32) -> Self {
        Int::new(self.0.saturating_add(other))
    }
}

impl<const MIN: i32, const MAX: i32> Sub<i32> for Int<MIN, MAX> {
    type Output = Self;

    fn sub(self, other: i32) -> Self {
        Int::new(self.0.saturating_sub(other))
    }
}

impl<const MIN: i32, const MAX: i32> AddAssign<i32> for Int<MIN, MAX> {
    fn add_assign(&mut self, other: i32) {
        *self = *self + other;
    }
}

impl<const MIN: i32, const MAX: i32> SubAssign<i32> for Int<MIN, MAX> {
    fn sub_assign(&mut self, other: i32) {
        *self = *self - other;
    }
}

impl<const MIN: i32, const MAX: i32> fmt::Display for Int<MIN, MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl<const MIN: i32, const MAX: i32> fmt::Debug for Int<MIN, MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl<const MIN: i32, const MAX: i32> InputValue for Int<MIN, MAX> {
    const BITS: u32 = count::bits(Self::LEAST, MAX);
    const LAYOUT: u64 = Self::SHAPE;

    fn to_bits(self) -> u128 {
        count::to_bits(self.0, MIN)
    }

    fn from_bits(bits: u128) -> Self {
        Int(count::from_bits(bits, MIN, MAX))
    }
}

impl<const MIN: i32, const MAX: i32> MessageValue for Int<MIN, MAX> {
    const MAX_LEN: usize = count::len(Self::LEAST, MAX);
    const LAYOUT: u64 = Self::SHAPE;

    fn encode(&self, w: &mut Writer<'_>) {
        count::encode(self.0, MIN, MAX, w);
    }

    fn decode(r: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        count::decode(r, field, MIN, MAX).map(Int)
    }
}

impl<const MIN: i32, const MAX: i32> FieldValue for Int<MIN, MAX> {
    const MIN: i32 = Self::LEAST;
    const MAX: i32 = MAX;
    const STEP: Step = Step::ONE;

    fn count(self) -> i32 {
        self.0
    }

    fn from_count(count: i32) -> Self {
        Int::new(count)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::typed::testing::{
        every_byte_is_needed, goes_round_in_an_input, goes_round_in_bytes,
    };

    type Lives = Int<-1, 5>;
    type All = Int<{ i32::MIN }, { i32::MAX }>;
    type Seven = Int<7, 7>;

    #[test]
    fn it_stays_within_its_range() {
        assert_eq!(Lives::new(9), Lives::MAX);
        assert_eq!(Lives::new(0) - 7, Lives::MIN);
        assert_eq!(All::MAX + 1, All::MAX);
        assert_eq!(All::MIN - 1, All::MIN);
        let mut lives = Lives::new(3);
        lives -= 1;
        lives += 2;
        assert_eq!((lives.get(), lives.to_string()), (4, String::from("4")));
        assert_eq!(Seven::default().get(), 7);
    }

    #[test]
    fn what_can_be_only_one_number_takes_no_bit_and_no_byte() {
        assert_eq!((<Seven as InputValue>::BITS, <Seven as MessageValue>::MAX_LEN), (0, 0));
        assert_eq!((<Lives as InputValue>::BITS, <Lives as MessageValue>::MAX_LEN), (3, 1));
        goes_round_in_bytes(&Seven::new(0));
        goes_round_in_an_input(Seven::new(0));
    }

    #[test]
    fn beyond_its_range_bits_are_its_end_and_bytes_malformed() {
        assert_eq!(<Lives as InputValue>::from_bits(7), Lives::MAX);
        let read = |byte| <Lives as MessageValue>::decode(&mut Reader::new(&[byte]), "lives");
        assert_eq!((read(0), read(6)), (Ok(Lives::MIN), Ok(Lives::MAX)));
        assert_eq!(read(7), Err(Malformed::out_of_range("lives", 6)));
        every_byte_is_needed(&All::new(-2));
    }

    proptest! {
        #[test]
        fn any_goes_round(value: i32) {
            goes_round_in_an_input(Lives::new(value));
            goes_round_in_an_input(All::new(value));
            goes_round_in_bytes(&Lives::new(value));
            goes_round_in_bytes(&All::new(value));
        }

        #[test]
        fn any_bits_are_a_value_of_the_range(bits: u128) {
            let lives = <Lives as InputValue>::from_bits(bits);
            prop_assert!((-1..=5).contains(&lives.get()));
        }
    }
}
