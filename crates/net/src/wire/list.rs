//! A list of fixed-size records: borrowed from a datagram when it was decoded, from a slice
//! when it is to be encoded, and the same packet type either way.

use std::fmt;

use super::malformed::{Fault, Malformed};
use super::{Reader, Writer};

/// A part of a packet that always has the same number of bytes.
pub trait Record: Copy {
    /// How many.
    const LEN: usize;

    /// The most in a list that begins with its count.
    const MOST: u8 = u8::MAX;

    /// Reads one.
    fn decode(r: &mut Reader<'_>) -> Result<Self, Malformed>;

    /// Writes one.
    fn encode(&self, w: &mut Writer<'_>);
}

/// Records of a packet. Decoding checks every record once and allocates nothing.
#[derive(Clone, Copy)]
pub struct List<'a, T> {
    source: Source<'a, T>,
}

#[derive(Clone, Copy)]
enum Source<'a, T> {
    /// Checked by [`List::decode`]: every record decodes.
    Bytes(&'a [u8]),
    Items(&'a [T]),
}

impl<'a, T: Record> List<'a, T> {
    /// The list of `items`, to be encoded.
    pub const fn new(items: &'a [T]) -> Self {
        List { source: Source::Items(items) }
    }

    /// Takes `count` records from `r`. They must be all that is left: `count` is refused
    /// (as the field `field`) before anything is read.
    #[inline]
    pub fn decode(
        r: &mut Reader<'a>,
        field: &'static str,
        count: usize,
    ) -> Result<Self, Malformed> {
        let actual = r.left() / T::LEN;
        if r.left() != count * T::LEN {
            return Err(Malformed::new(field, Fault::WrongSize { stated: count, actual }));
        }
        let bytes = r.take_rest();
        let mut check = Reader::new(bytes);
        for _ in 0..count {
            T::decode(&mut check)?;
        }
        Ok(List { source: Source::Bytes(bytes) })
    }

    /// Writes every record.
    #[inline]
    pub fn encode(&self, w: &mut Writer<'_>) {
        self.iter().for_each(|item| item.encode(w));
    }

    /// How many records there are.
    #[inline]
    pub fn len(&self) -> usize {
        match self.source {
            Source::Bytes(bytes) => bytes.len() / T::LEN,
            Source::Items(items) => items.len(),
        }
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The records, in order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = T> + Clone + use<'a, T> {
        let (bytes, items): (&[u8], &[T]) = match self.source {
            Source::Bytes(bytes) => (bytes, &[]),
            Source::Items(items) => (&[], items),
        };
        let decoded =
            bytes.chunks_exact(T::LEN).filter_map(|chunk| T::decode(&mut Reader::new(chunk)).ok());
        decoded.chain(items.iter().copied())
    }
}

impl<T: Record + PartialEq> PartialEq for List<'_, T> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<T: Record + fmt::Debug> fmt::Debug for List<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(feature = "serde")]
impl<T: Record + serde::Serialize> serde::Serialize for List<'_, T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}
