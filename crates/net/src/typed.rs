//! What a game's own types are on the wire: its input, its messages, its entities.
//!
//! `#[derive(Input)]`, `#[derive(Message)]` and `#[derive(Entities)]` write the implementations; by hand they are
//! as good. Below this module inputs are [`RawInput`]s and messages bytes.

mod angle;
mod axis;
mod count;
mod entities;
mod fixed;
mod input;
mod int;
mod list;
mod message;
#[cfg(test)]
mod testing;
mod text;
mod value;

pub use angle::Angle;
pub use axis::{Axis, Axis2};
#[cfg(feature = "derive")]
pub use backspin_derive::{Choice, Entities, EntityKind, Input, Message};
pub use entities::{Entities, EntityKind};
pub use fixed::Fixed;
pub use input::{Input, InputBits, RawInput};
pub use int::Int;
pub use list::List;
pub use message::{Message, RawMessage};
pub use text::Text;
pub use value::{FieldValue, InputValue, MessageValue};

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
