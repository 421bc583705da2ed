//! What a game's own types are on the wire: its input, its messages, its entities.
//!
//! `#[derive(Input)]`, `#[derive(Message)]` and `#[derive(Entities)]` write the implementations; by hand they are
//! as good. Below this module inputs are [`RawInput`]s and messages bytes.
//!
//! ```
//! use backspin::game::PlayerId;
//! use backspin::typed::{Angle, Axis2, Choice, Entities, Fixed, Input, Message, Text};
//!
//! /// What a player holds in a tick: 27 bits.
//! #[derive(Clone, Copy, Debug, Default, PartialEq, Input)]
//! struct Pad {
//!     go: Axis2,
//!     aim: Angle<10>,
//!     fire: bool,
//! }
//!
//! /// What is told once.
//! #[derive(Clone, Debug, PartialEq, Message)]
//! enum Word {
//!     Killed { who: PlayerId, by: PlayerId },
//!     Chat(Text<120>),
//! }
//!
//! /// What there is to see, tick by tick.
//! #[derive(Clone, Copy, Debug, PartialEq, Entities)]
//! enum Thing {
//!     Man {
//!         #[along(vx)]
//!         x: Fixed<-800, 800, 16>,
//!         #[along(vy)]
//!         y: Fixed<-800, 800, 16>,
//!         vx: Fixed<-20, 20, 16>,
//!         vy: Fixed<-20, 20, 16>,
//!         aim: Angle<10>,
//!         team: Team,
//!         #[teleports]
//!         lives: u8,
//!     },
//!     Flag { holder: Option<PlayerId> },
//! }
//!
//! #[derive(Clone, Copy, Debug, PartialEq, Choice)]
//! enum Team {
//!     Red,
//!     Blue,
//! }
//!
//! /// One tick of running, the same on the server and in prediction, to the bit.
//! fn run(thing: &mut Thing, pad: Pad) {
//!     if let Thing::Man { x, y, vx, vy, aim, .. } = thing {
//!         let (right, down) = pad.go.direction(60);
//!         (*vx, *vy) = (Fixed::from_count(right), Fixed::from_count(down));
//!         *x += *vx;
//!         *y += *vy;
//!         *aim = aim.turn_towards(pad.aim, Angle::from_count(20));
//!     }
//! }
//! # assert_eq!(Pad::BITS, 27);
//! # assert!(Thing::SCHEMA.check().is_ok());
//! ```
//!
//! | type | input | message | entity |
//! |---|---|---|---|
//! | `bool` | 1 bit | 1 byte | stays |
//! | [`Axis`], [`Axis2`] | 8, 16 bits | 1, 2 bytes | |
//! | [`Angle`] | its bits | 1 or 2 bytes | drawn the short way round |
//! | [`Fixed`] | as its range needs | 1, 2 or 4 bytes | drawn in between |
//! | [`Int`], an enum with `Choice` | as its range needs | 1, 2 or 4 bytes | stays |
//! | `u8`, `i8`, `u16`, `i16` | | as it is | stays |
//! | `u32`, `i32`, `u64`, `i64` | | as it is | |
//! | [`PlayerId`](crate::game::PlayerId) | | 4 bytes | stays |
//! | `Option` | | 1 byte more | of a `PlayerId`; stays |
//! | [`Text`], [`List`], what derives `Message` | | its length | |
//!
//! Numbers of more than one byte are big-endian. Bits from a peer always become some value, bytes in a message are a
//! value or [`Malformed`](crate::wire::Malformed).

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
pub use input::{Input, InputBits, MAX_INPUT_BITS, RawInput};
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
