//! A count within a range, as bits and as bytes.

use crate::wire::{Malformed, Reader, Writer};

/// `count`, or the end of the range that is nearest to it.
pub(super) const fn clamp(count: i32, min: i32, max: i32) -> i32 {
    if count < min {
        min
    } else if count > max {
        max
    } else {
        count
    }
}

/// How many bits a count of this range takes.
pub(super) const fn bits(min: i32, max: i32) -> u32 {
    u32::BITS - max.abs_diff(min).leading_zeros()
}

/// The bits of a count: how far it is above `min`.
pub(super) const fn to_bits(count: i32, min: i32) -> u128 {
    count.abs_diff(min) as u128
}

/// The count of the lowest bits, as many as it takes; beyond the range it is `max`.
pub(super) const fn from_bits(all: u128, min: i32, max: i32) -> i32 {
    let span = max.abs_diff(min);
    let above = (all & ((1 << bits(min, max)) - 1)) as u32;
    min.wrapping_add_unsigned(if above < span { above } else { span })
}

/// How many bytes a count of this range takes: none, one, two or four.
pub(super) const fn len(min: i32, max: i32) -> usize {
    match bits(min, max) {
        0 => 0,
        1..=8 => 1,
        9..=16 => 2,
        _ => 4,
    }
}

/// Writes how far a count is above `min`, big-endian.
pub(super) fn encode(count: i32, min: i32, max: i32, w: &mut Writer<'_>) {
    let above = count.abs_diff(min).to_be_bytes();
    w.bytes(&above[4 - len(min, max)..]);
}

/// Reads it; beyond the range it is malformed.
pub(super) fn decode(
    r: &mut Reader<'_>,
    field: &'static str,
    min: i32,
    max: i32,
) -> Result<i32, Malformed> {
    let mut above = [0; 4];
    let len = len(min, max);
    above[4 - len..].copy_from_slice(r.take(field, len)?);
    let above = u32::from_be_bytes(above);
    match above <= max.abs_diff(min) {
        true => Ok(min.wrapping_add_unsigned(above)),
        false => Err(Malformed::out_of_range(field, i64::from(min) + i64::from(above))),
    }
}
