//! A short list in a message.

use std::fmt;
use std::ops::{Deref, DerefMut};

use super::text::{read_len, write_len};
use super::{LAYOUT, MessageValue, layout, layout_number};
use crate::wire::{Malformed, Reader, Writer};

/// At most `N` of `T`.
///
/// ```
/// use backspin::typed::List;
///
/// let mut cards = List::<u8, 3>::new();
/// assert_eq!(cards.push(7), Ok(()));
/// cards.extend([8, 9, 10]);
/// assert_eq!(cards.push(11), Err(11));
/// assert_eq!(*cards, [7, 8, 9]);
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct List<T, const N: usize>(Vec<T>);

impl<T, const N: usize> List<T, N> {
    /// An empty one.
    pub const fn new() -> Self {
        List(Vec::new())
    }

    /// Adds `thing` at the end, or gives it back where there are `N` already.
    pub fn push(&mut self, thing: T) -> Result<(), T> {
        match self.0.len() < N {
            true => {
                self.0.push(thing);
                Ok(())
            }
            false => Err(thing),
        }
    }

    /// Takes all of them out.
    pub fn into_vec(self) -> Vec<T> {
        self.0
    }
}

impl<T, const N: usize> Default for List<T, N> {
    fn default() -> Self {
        List::new()
    }
}

/// Adds as many as there is room for.
impl<T, const N: usize> Extend<T> for List<T, N> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, things: I) {
        let room = N.saturating_sub(self.0.len());
        self.0.extend(things.into_iter().take(room));
    }
}

/// The first `N`.
impl<T, const N: usize> FromIterator<T> for List<T, N> {
    fn from_iter<I: IntoIterator<Item = T>>(things: I) -> Self {
        let mut list = List::new();
        list.extend(things);
        list
    }
}

impl<T, const N: usize> Deref for List<T, N> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T, const N: usize> DerefMut for List<T, N> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<T: fmt::Debug, const N: usize> fmt::Debug for List<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// ```text
/// | count: u8, or u16 where N is above 255 | each |
/// ```
impl<T: MessageValue, const N: usize> MessageValue for List<T, N> {
    const MAX_LEN: usize = {
        assert!(N <= u16::MAX as usize, "a list has at most 65,535 things");
        count_len(N) + N * T::MAX_LEN
    };
    const LAYOUT: u64 =
        layout_number(layout_number(layout(LAYOUT, b"list"), N as i64), T::LAYOUT as i64);

    fn encode(&self, w: &mut Writer<'_>) {
        write_len(self.len(), count_len(N), w);
        self.iter().for_each(|thing| thing.encode(w));
    }

    fn decode(r: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        let len = read_len(r, field, count_len(N), N)?;
        let mut things = Vec::with_capacity(len);
        for _ in 0..len {
            things.push(T::decode(r, field)?);
        }
        Ok(List(things))
    }
}

/// The size of the count before it.
const fn count_len(most: usize) -> usize {
    if most <= u8::MAX as usize { 1 } else { 2 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::typed::testing::{every_byte_is_needed, goes_round_in_bytes};
    use crate::wire::Fault;

    type Cards = List<u16, 3>;

    fn read(bytes: &[u8]) -> Result<Cards, Malformed> {
        Cards::decode(&mut Reader::new(bytes), "cards")
    }

    #[test]
    fn a_list_is_its_count_and_its_things() {
        assert_eq!(read(&[2, 0, 7, 1, 0]), Ok([7, 256].into_iter().collect()));
        assert_eq!((Cards::MAX_LEN, List::<u16, 300>::MAX_LEN), (7, 602));
        every_byte_is_needed(&Cards::from_iter([1, 2, 3]));
    }

    #[test]
    fn a_count_beyond_the_list_is_malformed_before_anything_is_read() {
        assert_eq!(read(&[4]), Err(Malformed::out_of_range("cards", 4)));
        assert_eq!(read(&[3, 0, 1]), Err(Malformed::new("cards", Fault::Truncated)));
    }

    #[test]
    fn it_takes_no_more_than_it_holds() {
        let mut cards: Cards = (0..9).collect();
        assert_eq!(*cards, [0, 1, 2]);
        assert_eq!(cards.push(9), Err(9));
        cards.extend([9]);
        cards[0] = 5;
        assert_eq!(cards.into_vec(), [5, 1, 2]);
    }

    proptest! {
        #[test]
        fn any_goes_round(cards: Vec<u16>) {
            goes_round_in_bytes(&cards.into_iter().collect::<Cards>());
        }

        #[test]
        fn any_bytes_are_a_list_or_malformed(bytes: Vec<u8>) {
            if let Ok(cards) = read(&bytes) {
                prop_assert!(cards.len() <= 3);
            }
        }
    }
}
