//! A cursor over a buffer to send that cannot run past its end.

use std::fmt;

/// Writes fields one after another. What does not fit is not written, and [`Writer::finish`]
/// says so: an encoder needs one check, at its end.
#[derive(Debug)]
pub struct Writer<'a> {
    out: &'a mut [u8],
    len: usize,
    full: bool,
}

/// The packet does not fit into the buffer (or its size field) that it was to be written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

macro_rules! number {
    ($($name:ident: $type:ty = $to:ident, $doc:literal;)*) => {$(
        #[doc = $doc]
        #[inline]
        pub fn $name(&mut self, value: $type) {
            self.bytes(&value.$to());
        }
    )*};
}

impl<'a> Writer<'a> {
    /// A writer at the start of `out`.
    #[inline]
    pub fn new(out: &'a mut [u8]) -> Self {
        Writer { out, len: 0, full: false }
    }

    /// How many bytes have been written.
    #[inline]
    pub fn written(&self) -> usize {
        self.len
    }

    /// Copies `bytes`.
    #[inline]
    pub fn bytes(&mut self, bytes: &[u8]) {
        match self.out.get_mut(self.len..).and_then(|rest| rest.get_mut(..bytes.len())) {
            Some(place) if !self.full => {
                place.copy_from_slice(bytes);
                self.len += bytes.len();
            }
            _ => self.full = true,
        }
    }

    number! {
        u8: u8 = to_be_bytes, "One unsigned byte.";
        i8: i8 = to_be_bytes, "One signed byte.";
        u16_be: u16 = to_be_bytes, "Two bytes, big-endian.";
        u32_be: u32 = to_be_bytes, "Four bytes, big-endian.";
        u64_be: u64 = to_be_bytes, "Eight bytes, big-endian.";
        i16_be: i16 = to_be_bytes, "Two bytes, signed, big-endian.";
        u16_le: u16 = to_le_bytes, "Two bytes, little-endian.";
        u32_le: u32 = to_le_bytes, "Four bytes, little-endian.";
        i32_le: i32 = to_le_bytes, "Four bytes, signed, little-endian.";
    }

    /// A byte that is 0 or 1.
    #[inline]
    pub fn flag(&mut self, value: bool) {
        self.u8(u8::from(value));
    }

    /// A float, little-endian. A value that is not finite is the caller's mistake: no decoder
    /// takes it.
    #[inline]
    pub fn f32_le(&mut self, value: f32) {
        debug_assert!(value.is_finite(), "a float on the wire is finite");
        self.bytes(&value.to_le_bytes());
    }

    /// A float, big-endian, finite like [`Writer::f32_le`]'s.
    #[inline]
    pub fn f32_be(&mut self, value: f32) {
        debug_assert!(value.is_finite(), "a float on the wire is finite");
        self.bytes(&value.to_be_bytes());
    }

    /// Writes `bytes` over what stands at `offset` already: a size or a count, known last.
    #[inline]
    pub fn patch(&mut self, offset: usize, bytes: &[u8]) {
        let written = self.out.get_mut(..self.len).and_then(|done| done.get_mut(offset..));
        match written.and_then(|rest| rest.get_mut(..bytes.len())) {
            Some(place) => place.copy_from_slice(bytes),
            None => self.full = true,
        }
    }

    /// Marks the packet as one that cannot be written: a count or size is beyond its field.
    #[inline]
    pub fn overflow(&mut self) {
        self.full = true;
    }

    /// How long the packet is, or that it did not fit.
    #[inline]
    pub fn finish(self) -> Result<usize, Full> {
        if self.full { Err(Full) } else { Ok(self.len) }
    }
}

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the packet does not fit into one datagram")
    }
}

impl std::error::Error for Full {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_not_written_and_is_reported() {
        let mut out = [0xAA; 5];
        let mut w = Writer::new(&mut out[..4]);
        w.u16_le(0x0201);
        w.u32_be(0xFFFF_FFFF);
        w.u8(0xFF);
        assert_eq!(w.finish(), Err(Full));
        assert_eq!(out, [1, 2, 0xAA, 0xAA, 0xAA]);
    }

    #[test]
    fn a_patch_stays_inside_what_was_written() {
        let mut out = [0; 4];
        let mut w = Writer::new(&mut out);
        w.u16_be(0);
        w.patch(0, &[9, 9]);
        assert_eq!(w.written(), 2);
        w.patch(1, &[7, 7]);
        assert_eq!(w.finish(), Err(Full));
        assert_eq!(out, [9, 9, 0, 0]);
    }
}
