//! One player's input for one tick, as bits.

use std::fmt;

/// What a player does in a tick: up to 128 bits, sent with every tick and again until it is
/// acknowledged.
///
/// Derive it for a struct of what is held: `bool`, [`Axis2`](super::Axis2), [`Angle`](super::Angle) and so on.
/// Its default is what somebody does who has sent nothing, and has no bit set.
pub trait Input: Copy + Default + PartialEq + fmt::Debug + Send + 'static {
    /// How many bits it has, at most 128.
    const BITS: u32;

    /// A hash of how the bits are laid out: see [`layout`](super::layout).
    const LAYOUT: u64;

    /// The bits, lowest first; what changes most often is best sent first.
    fn to_bits(self) -> u128;

    /// What the bits say. They come from a peer and may be anything: whatever is no value becomes one.
    fn from_bits(bits: u128) -> Self;
}

/// An input before the game has looked at it.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct RawInput(pub u128);

impl RawInput {
    /// The bits of a game's input.
    pub fn of<I: Input>(input: I) -> Self {
        RawInput(input.to_bits())
    }

    /// The input that it is in a game.
    pub fn read<I: Input>(self) -> I {
        I::from_bits(self.0)
    }
}

impl From<u16> for RawInput {
    fn from(bits: u16) -> Self {
        RawInput(bits.into())
    }
}

impl fmt::Debug for RawInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RawInput({:#x})", self.0)
    }
}

impl Input for RawInput {
    const BITS: u32 = 128;
    const LAYOUT: u64 = super::layout(super::LAYOUT, b"raw input");

    fn to_bits(self) -> u128 {
        self.0
    }

    fn from_bits(bits: u128) -> Self {
        RawInput(bits)
    }
}
