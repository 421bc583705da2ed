//! What a game's own types are on the wire: its input, its messages, its entities.
//!
//! `#[derive(Input)]`, `#[derive(Message)]` and `#[derive(Entities)]` write the implementations; by hand they are
//! as good. Below this module inputs are [`RawInput`]s and messages bytes.

mod input;
mod message;

pub use input::{Input, RawInput};
pub use message::{Message, RawMessage};

/// Goes on with a hash of a layout (FNV-1a): two sides whose layouts differ are told so when they meet.
pub const fn layout(mut hash: u64, part: &[u8]) -> u64 {
    let mut at = 0;
    while at < part.len() {
        hash = (hash ^ part[at] as u64).wrapping_mul(0x0000_0100_0000_01B3);
        at += 1;
    }
    // So that "ab", "c" is not "a", "bc".
    (hash ^ 0xFF).wrapping_mul(0x0000_0100_0000_01B3)
}

/// Where such a hash begins.
pub const LAYOUT: u64 = 0xCBF2_9CE4_8422_2325;

/// Goes on with a number.
pub const fn layout_number(hash: u64, number: i64) -> u64 {
    layout(hash, &number.to_le_bytes())
}
