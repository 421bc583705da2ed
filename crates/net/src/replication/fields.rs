//! The numbers of one entity: as many as its kind has.

use std::fmt;
use std::ops::{Deref, DerefMut};

use super::schema::MAX_FIELDS;

/// So many lie in the entity itself; more are on the heap.
const INLINE: usize = 12;

/// The numbers of one entity, in the order of its kind's fields. A short list, which most kinds have,
/// lies in place, so that the entities of a state lie one behind the other; a longer one takes as
/// much memory as it needs elsewhere.
#[derive(Clone)]
pub struct Fields<T>(Kept<T>);

#[derive(Clone)]
enum Kept<T> {
    Inline { len: u8, values: [T; INLINE] },
    Heap(Box<[T]>),
}

impl<T: Copy + Default> Fields<T> {
    /// So many zeros, [`MAX_FIELDS`] at most.
    #[inline]
    pub fn zeros(len: usize) -> Self {
        debug_assert!(len <= MAX_FIELDS, "{len} fields");
        Fields(match len {
            0..=INLINE => Kept::Inline { len: len as u8, values: [T::default(); INLINE] },
            _ => Kept::Heap(vec![T::default(); len].into()),
        })
    }

    /// The first `N` of them; what is missing is 0.
    #[inline]
    pub fn first<const N: usize>(&self) -> [T; N] {
        std::array::from_fn(|index| self.get(index).copied().unwrap_or_default())
    }

    /// What `value` says for each index.
    #[inline]
    pub fn from_fn(len: usize, mut value: impl FnMut(usize) -> T) -> Self {
        let mut fields = Fields::zeros(len);
        fields.iter_mut().enumerate().for_each(|(index, place)| *place = value(index));
        fields
    }
}

impl<T> Deref for Fields<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match &self.0 {
            Kept::Inline { len, values } => &values[..usize::from(*len)],
            Kept::Heap(values) => values,
        }
    }
}

impl<T> DerefMut for Fields<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.0 {
            Kept::Inline { len, values } => &mut values[..usize::from(*len)],
            Kept::Heap(values) => values,
        }
    }
}

impl<T: Copy + Default> Default for Fields<T> {
    fn default() -> Self {
        Fields::zeros(0)
    }
}

impl<T: PartialEq> PartialEq for Fields<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq> Eq for Fields<T> {}

impl<T: std::hash::Hash> std::hash::Hash for Fields<T> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl<T: fmt::Debug> fmt::Debug for Fields<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<'a, T> IntoIterator for &'a Fields<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replication::Entity;

    #[test]
    fn an_entity_is_a_cache_line() {
        assert_eq!(size_of::<Entity>(), 64);
    }

    #[test]
    fn short_and_long_lists_read_the_same() {
        for len in [0, 1, INLINE, INLINE + 1, MAX_FIELDS] {
            let mut fields = Fields::from_fn(len, |index| index as i32);
            assert!(fields.iter().copied().eq(0..len as i32));
            fields.iter_mut().for_each(|value| *value += 1);
            assert_eq!(fields, fields.clone());
            assert_ne!(
                fields,
                Fields::from_fn(len + 1 - usize::from(len == MAX_FIELDS) * 2, |_| 7)
            );
        }
    }
}
