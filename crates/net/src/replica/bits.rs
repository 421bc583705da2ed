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
    len: usize,
    full: bool,
    /// The lowest `waiting` bits are not in `out` yet; they are fewer than 32.
    bits: u64,
    waiting: u32,
}

impl<'a> BitWriter<'a> {
    /// A writer at the start of `out`.
    #[inline]
    pub fn new(out: &'a mut [u8]) -> Self {
        BitWriter { out, len: 0, full: false, bits: 0, waiting: 0 }
    }

    /// The lowest `count` bits of `value`, 32 at most; those above must be 0.
    #[inline]
    pub fn bits(&mut self, value: u32, count: u32) {
        debug_assert!(count <= 32 && u64::from(value) >> count == 0, "{value} in {count} bits");
        self.bits = self.bits << count | u64::from(value);
        self.waiting += count;
        if self.waiting >= 32 {
            self.waiting -= 32;
            self.bytes(&((self.bits >> self.waiting) as u32).to_be_bytes());
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

    /// How many bytes it is, the last one filled up with zeros; or that it did not fit.
    #[inline]
    pub fn finish(mut self) -> Result<usize, Full> {
        let left = (self.bits << (32 - self.waiting)) as u32;
        self.bytes(&left.to_be_bytes()[..self.waiting.div_ceil(8) as usize]);
        if self.full { Err(Full) } else { Ok(self.len) }
    }

    #[inline]
    fn bytes(&mut self, bytes: &[u8]) {
        match self.out.get_mut(self.len..).and_then(|rest| rest.get_mut(..bytes.len())) {
            Some(place) if !self.full => {
                place.copy_from_slice(bytes);
                self.len += bytes.len();
            }
            _ => self.full = true,
        }
    }
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
