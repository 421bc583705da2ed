//! Numbers of any number of bits, the most significant first, and the codes that deltas are
//! written in. Every value has one encoding; PROTOCOL.md 5.12 specifies them.

use crate::wire::{Fault, Full, Malformed};

/// A count's magnitude is below this; so no prefix has more than 31 zeros.
const COUNT_END: u32 = u32::MAX;

/// Writes bits one behind the other. What does not fit is not written, and
/// [`BitWriter::finish`] says so.
#[derive(Debug)]
pub struct BitWriter<'a> {
    out: &'a mut [u8],
    /// How many bytes are written.
    at: usize,
    full: bool,
    /// The lowest `waiting` bits are not in `out` yet; they are fewer than 32.
    bits: u64,
    waiting: u32,
}

impl<'a> BitWriter<'a> {
    /// A writer at the start of `out`.
    #[inline]
    pub fn new(out: &'a mut [u8]) -> Self {
        BitWriter { out, at: 0, full: false, bits: 0, waiting: 0 }
    }

    /// The lowest `count` bits of `value`, 32 at most; those above must be 0.
    #[inline]
    pub fn bits(&mut self, value: u32, count: u32) {
        debug_assert!(count <= 32 && u64::from(value) >> count == 0, "{value} in {count} bits");
        self.bits = self.bits << count | u64::from(value);
        self.waiting += count;
        if self.waiting >= 32 {
            self.waiting -= 32;
            let bytes = ((self.bits >> self.waiting) as u32).to_be_bytes();
            match self.out.get_mut(self.at..self.at + 4) {
                Some(place) => place.copy_from_slice(&bytes),
                None => self.full = true,
            }
            self.at += 4;
        }
    }

    /// One bit.
    #[inline]
    pub fn flag(&mut self, value: bool) {
        self.bits(u32::from(value), 1);
    }

    /// A number from 0 to `max`, in as many bits as `max` has.
    #[inline]
    pub fn ranged(&mut self, value: u32, max: u32) {
        debug_assert!(value <= max, "{value} of {max}");
        self.bits(value, bit_length(max));
    }

    /// The lowest `count` bits of `value`, 64 at most.
    #[inline]
    pub fn mask(&mut self, value: u64, count: u32) {
        if count > 32 {
            self.bits((value >> 32) as u32, count - 32);
        }
        self.bits(value as u32, count.min(32));
    }

    /// A count, mostly small: 1 bit for 0, 3 bits for 1 and 2, 5 bits for 3 to 6, and so on.
    /// It is below `u32::MAX`.
    #[inline]
    pub fn count(&mut self, value: u32) {
        debug_assert!(value < COUNT_END, "{value} is no count");
        let length = bit_length(value + 1);
        self.bits(0, length - 1);
        self.bits(value + 1, length);
    }

    /// A count with a sign, mostly small either way.
    #[inline]
    pub fn signed(&mut self, value: i32) {
        self.count((value << 1 ^ value >> 31) as u32);
    }

    /// A count that is about `2^low`: as many ones as there are whole multiples, a zero, and the
    /// rest in `low` bits.
    #[inline]
    pub fn rice(&mut self, value: u32, low: u32) {
        (0..value >> low).for_each(|_| self.bits(1, 1));
        self.bits(0, 1);
        self.bits(value & ((1 << low) - 1), low);
    }

    /// How many bits are written.
    #[inline]
    pub fn len_bits(&self) -> usize {
        self.at * 8 + self.waiting as usize
    }

    /// How many bits are left; what did not fit counts as written.
    #[inline]
    pub fn room_bits(&self) -> usize {
        (self.out.len() * 8).saturating_sub(self.len_bits())
    }

    /// Whether all of it, and so many bits more, fit.
    #[inline]
    pub fn has_room(&self, more_bits: usize) -> bool {
        self.len_bits() + more_bits <= self.out.len() * 8
    }

    /// Where the writing is, to come back to.
    #[inline]
    pub fn mark(&self) -> Mark {
        Mark { at: self.at, full: self.full, bits: self.bits, waiting: self.waiting }
    }

    /// Takes back what was written since.
    #[inline]
    pub fn rewind(&mut self, mark: Mark) {
        Mark { at: self.at, full: self.full, bits: self.bits, waiting: self.waiting } = mark;
    }

    /// How many bytes it is, the last one filled up with zeros; or that it did not fit.
    #[inline]
    pub fn finish(self) -> Result<usize, Full> {
        if self.full {
            return Err(Full);
        }
        let left = ((self.bits << (32 - self.waiting)) as u32).to_be_bytes();
        let left = &left[..self.waiting.div_ceil(8) as usize];
        let len = self.at + left.len();
        self.out.get_mut(self.at..len).ok_or(Full)?.copy_from_slice(left);
        Ok(len)
    }
}

/// A place in what is written.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    at: usize,
    full: bool,
    bits: u64,
    waiting: u32,
}

/// Reads bits one behind the other and cannot run past the end; every failure names the field
/// that was asked for.
#[derive(Clone, Debug)]
pub struct BitReader<'a> {
    rest: &'a [u8],
    /// The highest `held` bits come next; those below are 0.
    bits: u64,
    held: u32,
}

impl<'a> BitReader<'a> {
    /// A reader at the start of `bytes`.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Self {
        BitReader { rest: bytes, bits: 0, held: 0 }
    }

    /// The next `count` bits, 32 at most.
    #[inline]
    pub fn bits(&mut self, field: &'static str, count: u32) -> Result<u32, Malformed> {
        debug_assert!(count <= 32, "{count} bits at once");
        if self.held < count {
            self.refill();
            if self.held < count {
                return Err(Malformed::new(field, Fault::Truncated));
            }
        }
        // In two steps: all 64 bits cannot be shifted out at once.
        let value = (self.bits >> 32 >> (32 - count)) as u32;
        self.bits <<= count;
        self.held -= count;
        Ok(value)
    }

    /// One bit.
    #[inline]
    pub fn flag(&mut self, field: &'static str) -> Result<bool, Malformed> {
        self.bits(field, 1).map(|bit| bit == 1)
    }

    /// A number from 0 to `max`.
    #[inline]
    pub fn ranged(&mut self, field: &'static str, max: u32) -> Result<u32, Malformed> {
        match self.bits(field, bit_length(max))? {
            value if value <= max => Ok(value),
            value => Err(Malformed::out_of_range(field, value)),
        }
    }

    /// The next `count` bits, 64 at most.
    #[inline]
    pub fn mask(&mut self, field: &'static str, count: u32) -> Result<u64, Malformed> {
        let high = if count > 32 { self.bits(field, count - 32)? } else { 0 };
        Ok(u64::from(high) << 32 | u64::from(self.bits(field, count.min(32))?))
    }

    /// A count.
    #[inline]
    pub fn count(&mut self, field: &'static str) -> Result<u32, Malformed> {
        if self.held < 32 {
            self.refill();
        }
        // There are 32 bits or more, or all that there are.
        let zeros = self.bits.leading_zeros();
        if zeros >= 32 && self.held >= 32 {
            return Err(Malformed::out_of_range(field, COUNT_END));
        }
        if zeros >= self.held {
            return Err(Malformed::new(field, Fault::Truncated));
        }
        self.bits(field, zeros)?;
        Ok(self.bits(field, zeros + 1)? - 1)
    }

    /// A count with a sign.
    #[inline]
    pub fn signed(&mut self, field: &'static str) -> Result<i32, Malformed> {
        self.count(field).map(|value| (value >> 1) as i32 ^ -((value & 1) as i32))
    }

    /// A count that is about `2^low` and at most `max`.
    #[inline]
    pub fn rice(&mut self, field: &'static str, low: u32, max: u32) -> Result<u32, Malformed> {
        let mut high = 0;
        while self.flag(field)? {
            high += 1;
            if high > max >> low {
                return Err(Malformed::out_of_range(field, high << low));
            }
        }
        match high << low | self.bits(field, low)? {
            value if value <= max => Ok(value),
            value => Err(Malformed::out_of_range(field, value)),
        }
    }

    /// Ends the reading of `body`: no byte may be left over, and what fills the last is 0.
    pub fn finish(mut self, body: &'static str) -> Result<(), Malformed> {
        self.refill();
        match self.rest.len() + (self.held / 8) as usize {
            0 if self.bits == 0 => Ok(()),
            0 => Err(Malformed::new("padding", Fault::NotCanonical)),
            extra => Err(Malformed::new(body, Fault::Trailing { extra })),
        }
    }

    /// Holds more than 56 bits, or all that there are.
    #[inline]
    fn refill(&mut self) {
        if self.held <= 56
            && let Some(next) = self.rest.first_chunk()
        {
            self.bits |= u64::from_be_bytes(*next) >> self.held;
            // As many whole bytes as there was room for; the bits of a further one are cleared.
            let taken = (63 - self.held) / 8;
            self.held += 8 * taken;
            self.bits &= u64::MAX << (64 - self.held);
            self.rest = &self.rest[taken as usize..];
            return;
        }
        while self.held <= 56 {
            let [next, rest @ ..] = self.rest else { break };
            self.bits |= u64::from(*next) << (56 - self.held);
            self.held += 8;
            self.rest = rest;
        }
    }
}

/// How many bits `value` has: 0 for 0.
#[inline]
pub(super) const fn bit_length(value: u32) -> u32 {
    u32::BITS - value.leading_zeros()
}

/// Which bits of `set` are 1, the lowest first.
#[inline]
pub(super) fn ones(mut set: u64) -> impl Iterator<Item = usize> + Clone {
    std::iter::from_fn(move || {
        let lowest = set.trailing_zeros();
        set &= set.wrapping_sub(1);
        (lowest < u64::BITS).then_some(lowest as usize)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `write` writes, as text of ones and zeros, without the padding.
    fn written(write: impl Fn(&mut BitWriter<'_>)) -> String {
        let mut out = [0; 16];
        let mut w = BitWriter::new(&mut out);
        write(&mut w);
        // A one behind marks where it ends.
        w.flag(true);
        let len = w.finish().unwrap();
        let text: String = out[..len].iter().map(|byte| format!("{byte:08b}")).collect();
        text.trim_end_matches('0').strip_suffix('1').unwrap().into()
    }

    fn bytes(text: &str) -> Vec<u8> {
        let bits: Vec<u8> = text.bytes().filter(|byte| *byte != b' ').collect();
        let byte = |bits: &[u8]| {
            (0..8).fold(0, |byte, i| byte << 1 | u8::from(bits.get(i) == Some(&b'1')))
        };
        bits.chunks(8).map(byte).collect()
    }

    #[test]
    fn bits_come_most_significant_first_and_zeros_fill_the_last_byte() {
        let mut out = [0xAA; 8];
        let mut w = BitWriter::new(&mut out);
        w.bits(0b101, 3);
        w.bits(0, 0);
        w.bits(0xDEAD_BEEF, 32);
        w.flag(true);
        assert_eq!(w.finish(), Ok(5));
        assert_eq!(out, [0xBB, 0xD5, 0xB7, 0xDD, 0xF0, 0xAA, 0xAA, 0xAA]);
        let mut r = BitReader::new(&out[..5]);
        assert_eq!(r.bits("a", 3), Ok(0b101));
        assert_eq!(r.bits("b", 0), Ok(0));
        assert_eq!(r.bits("c", 32), Ok(0xDEAD_BEEF));
        assert_eq!(r.flag("d"), Ok(true));
        assert_eq!(r.finish("body"), Ok(()));
    }

    #[test]
    fn what_does_not_fit_is_not_written_and_is_reported() {
        for (bits, fits) in [(24, true), (25, false), (31, false)] {
            let mut out = [0xAA; 4];
            let mut w = BitWriter::new(&mut out[..3]);
            w.bits(1, bits);
            assert_eq!(w.finish().is_ok(), fits);
            assert_eq!(out[3], 0xAA);
        }
        let mut w = BitWriter::new(&mut []);
        (0..100).for_each(|_| w.bits(7, 32));
        assert_eq!(w.finish(), Err(Full));
    }

    #[test]
    fn bits_past_the_end_are_named() {
        let mut r = BitReader::new(&[0xFF, 0xFF]);
        assert_eq!(r.bits("a", 15), Ok(0x7FFF));
        assert_eq!(r.bits("b", 2), Err(Malformed::new("b", Fault::Truncated)));
        assert_eq!(r.bits("c", 1), Ok(1));
        assert_eq!(r.flag("d"), Err(Malformed::new("d", Fault::Truncated)));
    }

    #[test]
    fn what_is_left_over_is_refused() {
        let mut r = BitReader::new(&[0x81, 0, 0]);
        assert_eq!(r.flag("a"), Ok(true));
        let trailing = Fault::Trailing { extra: 2 };
        assert_eq!(r.clone().finish("body"), Err(Malformed::new("body", trailing)));
        let mut r = BitReader::new(&[0x81]);
        assert_eq!(r.flag("a"), Ok(true));
        let padding = Malformed::new("padding", Fault::NotCanonical);
        assert_eq!(r.clone().finish("body"), Err(padding));
        assert_eq!(r.bits("b", 7), Ok(1));
        assert_eq!(r.finish("body"), Ok(()));
    }

    #[test]
    fn counts_are_as_specified() {
        for (value, code) in
            [(0, "1"), (1, "010"), (2, "011"), (3, "00100"), (6, "00111"), (7, "0001000")]
        {
            assert_eq!(written(|w| w.count(value)), code);
            assert_eq!(BitReader::new(&bytes(code)).count("n"), Ok(value));
        }
        for value in [1023, 65_535, 131_070, u32::MAX - 1] {
            assert_eq!(BitReader::new(&bytes(&written(|w| w.count(value)))).count("n"), Ok(value));
        }
    }

    #[test]
    fn a_count_without_an_end_is_refused() {
        let out_of_range = Malformed::out_of_range("n", u32::MAX);
        assert_eq!(BitReader::new(&[0; 9]).count("n"), Err(out_of_range));
        let truncated = Malformed::new("n", Fault::Truncated);
        for end in [&[][..], &[0], &[0, 0, 0], &[1], &[0, 0, 0, 1]] {
            assert_eq!(BitReader::new(end).count("n"), Err(truncated), "{end:?}");
        }
    }

    #[test]
    fn signs_alternate() {
        for (value, code) in [(0, "1"), (-1, "010"), (1, "011"), (-2, "00100"), (2, "00101")] {
            assert_eq!(written(|w| w.signed(value)), code);
            assert_eq!(BitReader::new(&bytes(code)).signed("n"), Ok(value));
        }
        for value in [-65_536, 65_536, i32::MAX / 2, i32::MIN / 2] {
            let code = bytes(&written(|w| w.signed(value)));
            assert_eq!(BitReader::new(&code).signed("n"), Ok(value));
        }
    }

    #[test]
    fn a_rice_code_stays_within_its_limit() {
        for (value, low, code) in [(0, 0, "0"), (2, 0, "110"), (5, 2, "1001"), (13, 2, "111001")] {
            assert_eq!(written(|w| w.rice(value, low)), code);
            assert_eq!(BitReader::new(&bytes(code)).rice("gap", low, value), Ok(value));
            let over = BitReader::new(&bytes(code)).rice("gap", low, value.saturating_sub(1));
            assert_eq!(over.is_err(), value > 0, "{value}");
        }
        let endless = BitReader::new(&[0xFF; 1000]).rice("gap", 1, 1024);
        assert_eq!(endless, Err(Malformed::out_of_range("gap", 1026)));
    }

    #[test]
    fn a_range_refuses_what_is_beyond_it() {
        assert_eq!(written(|w| w.ranged(9, 9)), "1001");
        assert_eq!(written(|w| w.ranged(0, 0)), "");
        assert_eq!(BitReader::new(&bytes("1001")).ranged("turn", 9), Ok(9));
        let beyond = BitReader::new(&bytes("1010")).ranged("turn", 9);
        assert_eq!(beyond, Err(Malformed::out_of_range("turn", 10)));
    }
}
