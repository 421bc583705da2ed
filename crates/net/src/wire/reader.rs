//! A cursor over received bytes that cannot run past their end.

use super::malformed::{Fault, Malformed};

/// Reads fields one after another; every failure names the field that was asked for.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

macro_rules! number {
    ($($name:ident: $type:ty = $from:ident, $doc:literal;)*) => {$(
        #[doc = $doc]
        #[inline]
        pub fn $name(&mut self, field: &'static str) -> Result<$type, Malformed> {
            self.array(field).map(<$type>::$from)
        }
    )*};
}

impl<'a> Reader<'a> {
    /// A reader at the start of `bytes`.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader { rest: bytes }
    }

    /// How many bytes are left.
    #[inline]
    pub fn left(&self) -> usize {
        self.rest.len()
    }

    /// What is left, unread.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The next `len` bytes.
    #[inline]
    pub fn take(&mut self, field: &'static str, len: usize) -> Result<&'a [u8], Malformed> {
        match self.rest.split_at_checked(len) {
            Some((taken, rest)) => {
                self.rest = rest;
                Ok(taken)
            }
            None => Err(Malformed::new(field, Fault::Truncated)),
        }
    }

    /// Everything that is left.
    #[inline]
    pub fn take_rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }

    /// The next `N` bytes, copied.
    #[inline]
    pub fn array<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N], Malformed> {
        match self.rest.split_first_chunk::<N>() {
            Some((taken, rest)) => {
                self.rest = rest;
                Ok(*taken)
            }
            None => Err(Malformed::new(field, Fault::Truncated)),
        }
    }

    number! {
        u8: u8 = from_be_bytes, "One unsigned byte.";
        i8: i8 = from_be_bytes, "One signed byte.";
        u16_be: u16 = from_be_bytes, "Two bytes, big-endian.";
        u32_be: u32 = from_be_bytes, "Four bytes, big-endian.";
        u64_be: u64 = from_be_bytes, "Eight bytes, big-endian.";
        i16_be: i16 = from_be_bytes, "Two bytes, signed, big-endian.";
        u16_le: u16 = from_le_bytes, "Two bytes, little-endian.";
        u32_le: u32 = from_le_bytes, "Four bytes, little-endian.";
        i32_le: i32 = from_le_bytes, "Four bytes, signed, little-endian.";
    }

    /// A float, little-endian; infinities and NaNs are refused.
    #[inline]
    pub fn f32_le(&mut self, field: &'static str) -> Result<f32, Malformed> {
        self.array(field).map(f32::from_le_bytes).and_then(|value| finite(field, value))
    }

    /// A float, big-endian; infinities and NaNs are refused.
    #[inline]
    pub fn f32_be(&mut self, field: &'static str) -> Result<f32, Malformed> {
        self.array(field).map(f32::from_be_bytes).and_then(|value| finite(field, value))
    }

    /// What `decode` reads, if it is there.
    #[inline]
    pub fn optional<T>(
        &mut self,
        is_there: bool,
        decode: impl FnOnce(&mut Self) -> Result<T, Malformed>,
    ) -> Result<Option<T>, Malformed> {
        if is_there { decode(self).map(Some) } else { Ok(None) }
    }

    /// A byte that is 0 or 1.
    #[inline]
    pub fn flag(&mut self, field: &'static str) -> Result<bool, Malformed> {
        match self.u8(field)? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(Malformed::out_of_range(field, other)),
        }
    }

    /// Ends the reading of `packet`: nothing may be left over.
    #[inline]
    pub fn finish(self, packet: &'static str) -> Result<(), Malformed> {
        match self.rest.len() {
            0 => Ok(()),
            extra => Err(Malformed::new(packet, Fault::Trailing { extra })),
        }
    }
}

#[inline]
fn finite(field: &'static str, value: f32) -> Result<f32, Malformed> {
    if value.is_finite() { Ok(value) } else { Err(Malformed::new(field, Fault::NotFinite)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_in_both_byte_orders() {
        let mut r = Reader::new(&[1, 2, 1, 2, 0xFF, 0, 0, 0, 7]);
        assert_eq!(r.u16_be("a"), Ok(0x0102));
        assert_eq!(r.u16_le("b"), Ok(0x0201));
        assert_eq!(r.i8("c"), Ok(-1));
        assert_eq!(r.u32_be("d"), Ok(7));
        assert_eq!(r.finish("p"), Ok(()));
    }

    #[test]
    fn a_field_past_the_end_is_named_and_nothing_is_consumed() {
        let mut r = Reader::new(&[1, 2, 3]);
        assert_eq!(r.u32_le("id"), Err(Malformed::new("id", Fault::Truncated)));
        assert_eq!(r.take("name", 4), Err(Malformed::new("name", Fault::Truncated)));
        assert_eq!(r.left(), 3);
    }

    #[test]
    fn floats_that_are_not_finite_are_refused() {
        for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let fault = Err(Malformed::new("x", Fault::NotFinite));
            assert_eq!(Reader::new(&value.to_le_bytes()).f32_le("x"), fault);
            assert_eq!(Reader::new(&value.to_be_bytes()).f32_be("x"), fault);
        }
    }

    #[test]
    fn bytes_left_over_are_counted() {
        assert_eq!(
            Reader::new(&[0; 5]).finish("Ping"),
            Err(Malformed::new("Ping", Fault::Trailing { extra: 5 }))
        );
    }
}
