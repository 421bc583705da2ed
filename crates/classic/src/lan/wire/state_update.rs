//! STATE_UPDATE: the whole world, 60 times a second.

use super::Lan;
use backspin::wire::field::fields;

/// The world after a step; positions are top-left corners in a field of 1440 x 900.
///
/// ```text
/// 0      1     5     9     13      17      21       25       29   30   31
/// | 0x06 | seq | p1y | p2y | ballx | bally | ballvx | ballvy | p1 | p2 |
/// ```
///
/// `seq` is big-endian, the floats are little-endian.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct StateUpdate {
    /// One more with every state; a host stays below 2^31.
    pub seq: u32,
    /// The left paddle's top.
    pub p1y: f32,
    /// The right paddle's top.
    pub p2y: f32,
    /// The ball's left edge.
    pub ballx: f32,
    /// The ball's top edge.
    pub bally: f32,
    /// The ball's velocity to the right, px/s.
    pub ballvx: f32,
    /// The ball's velocity downwards, px/s.
    pub ballvy: f32,
    /// The left player's points.
    pub p1: u8,
    /// The right player's points.
    pub p2: u8,
}

fields!(Lan StateUpdate { seq, p1y, p2y, ballx, bally, ballvx, ballvy, p1, p2 });

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lan::wire::Packet;
    use crate::testing::check;
    use backspin::wire::{Fault, Malformed};

    const BYTES: [u8; 31] = [
        6, 0, 0, 1, 2, 0, 0, 0xC3, 0x43, 0, 0, 0xC3, 0x43, 0, 0x80, 0x31, 0x44, 0, 0, 0xDC, 0x43,
        0, 0, 0xC8, 0xC3, 0, 0, 0x7A, 0xC3, 3, 4,
    ];

    #[test]
    fn the_sequence_is_big_endian_and_the_floats_are_little_endian() {
        let state = StateUpdate {
            seq: 258,
            p1y: 390.0,
            p2y: 390.0,
            ballx: 710.0,
            bally: 440.0,
            ballvx: -400.0,
            ballvy: -250.0,
            p1: 3,
            p2: 4,
        };
        check(&BYTES, &Packet::StateUpdate(state));
    }

    #[test]
    fn a_float_that_is_not_finite_is_named() {
        let fields = ["p1y", "p2y", "ballx", "bally", "ballvx", "ballvy"];
        for (i, field) in fields.into_iter().enumerate() {
            let mut bytes = BYTES;
            bytes[5 + 4 * i..9 + 4 * i].copy_from_slice(&f32::NAN.to_le_bytes());
            assert_eq!(Packet::decode(&bytes), Err(Malformed::new(field, Fault::NotFinite)));
        }
    }
}
