//! One player's input for one tick, as bits.

use std::fmt;

use super::InputValue;

/// What a player does in a tick: up to 128 bits, sent with every tick and again until it is
/// acknowledged.
///
/// Derive it for a struct of what is held: `bool`, [`Axis2`](super::Axis2), [`Angle`](super::Angle) and so on, which
/// are packed from bit 0 on in the order of the fields. Its default is what somebody does who has sent nothing,
/// and has no bit set.
///
/// ```
/// use backspin::typed::{Angle, Axis2, Input};
///
/// #[derive(Clone, Copy, Debug, Default, PartialEq, Input)]
/// struct Pad {
///     go: Axis2,
///     aim: Angle<10>,
///     fire: bool,
/// }
///
/// assert_eq!(Pad::BITS, 27);
/// let pad = Pad { fire: true, ..Pad::default() };
/// assert_eq!(pad.to_bits(), 1 << 26);
/// assert_eq!(Pad::from_bits(1 << 26), pad);
/// ```
///
/// By hand, [`InputBits`] does the packing:
///
/// ```
/// use backspin::typed::{Input, InputBits, LAYOUT, layout};
///
/// #[derive(Clone, Copy, Debug, Default, PartialEq)]
/// struct Keys {
///     left: bool,
///     right: bool,
/// }
///
/// impl Input for Keys {
///     const BITS: u32 = 2;
///     const LAYOUT: u64 = layout(LAYOUT, b"left, right");
///
///     fn to_bits(self) -> u128 {
///         let mut bits = InputBits::default();
///         bits.put(self.left);
///         bits.put(self.right);
///         bits.all()
///     }
///
///     fn from_bits(bits: u128) -> Self {
///         let mut bits = InputBits::of(bits);
///         Keys { left: bits.take(), right: bits.take() }
///     }
/// }
/// # assert_eq!(Keys { left: false, right: true }.to_bits(), 2);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no input",
    note = "derive Input for a struct of what a player holds in a tick"
)]
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

/// An input has at most so many bits.
pub const MAX_INPUT_BITS: u32 = u128::BITS;

/// The bits of an input, one value after another.
#[derive(Clone, Copy, Debug, Default)]
pub struct InputBits {
    bits: u128,
    at: u32,
}

impl InputBits {
    /// These, to be read from the lowest on.
    pub const fn of(bits: u128) -> Self {
        InputBits { bits, at: 0 }
    }

    /// Writes a value behind those that are there. What is beyond 128 bits is lost.
    pub fn put<V: InputValue>(&mut self, value: V) {
        self.bits |= value.to_bits().checked_shl(self.at).unwrap_or(0);
        self.at += V::BITS;
    }

    /// Reads the next value. What is beyond 128 bits is 0.
    pub fn take<V: InputValue>(&mut self) -> V {
        let value = V::from_bits(self.bits.checked_shr(self.at).unwrap_or(0));
        self.at += V::BITS;
        value
    }

    /// All of them.
    pub const fn all(self) -> u128 {
        self.bits
    }
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
