//! Finding servers: Discover and Here.

use super::decode_padding;
use crate::wire::malformed::Malformed;
use crate::wire::{Name, Reader, Writer};

/// Sent to a broadcast address or to a server by name. As long as its answer.
///
/// ```text
/// 0       8      12        39
/// | nonce | game | padding |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Discover {
    /// Comes back in the answer.
    pub nonce: u64,
    /// The game that is looked for; 0 is any.
    pub game: u32,
}

impl Discover {
    const PADDING: usize = Here::LEN - 12;

    pub(super) fn decode(r: &mut Reader<'_>) -> Result<Self, Malformed> {
        let discover = Discover { nonce: r.u64_be("nonce")?, game: r.u32_be("game")? };
        decode_padding::<{ Discover::PADDING }>(r)?;
        Ok(discover)
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        w.u64_be(self.nonce);
        w.u32_be(self.game);
        w.bytes(&[0; Discover::PADDING]);
    }
}

/// A server answers a search.
///
/// ```text
/// 0       8      12             14         16        18         20               21      23     39
/// | nonce | game | game_version | protocol | players | capacity | token_required | rooms | name |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Here {
    /// The question's.
    pub nonce: u64,
    /// The game that is played here.
    pub game: u32,
    /// Its version.
    pub game_version: u16,
    /// The newest protocol that is spoken here.
    pub protocol: u16,
    /// How many play.
    pub players: u16,
    /// How many may.
    pub capacity: u16,
    /// Whether Join needs a token.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::wire::flag_as_number"))]
    pub token_required: bool,
    /// How many rooms there are.
    pub rooms: u16,
    /// What the server calls itself.
    pub name: Name,
}

impl Here {
    const LEN: usize = 39;

    pub(super) fn decode(r: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Here {
            nonce: r.u64_be("nonce")?,
            game: r.u32_be("game")?,
            game_version: r.u16_be("game_version")?,
            protocol: r.u16_be("protocol")?,
            players: r.u16_be("players")?,
            capacity: r.u16_be("capacity")?,
            token_required: r.flag("token_required")?,
            rooms: r.u16_be("rooms")?,
            name: Name::decode(r, "name")?,
        })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        w.u64_be(self.nonce);
        w.u32_be(self.game);
        w.u16_be(self.game_version);
        w.u16_be(self.protocol);
        w.u16_be(self.players);
        w.u16_be(self.capacity);
        w.flag(self.token_required);
        w.u16_be(self.rooms);
        self.name.encode(w);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::malformed::Fault;
    use crate::wire::native::Packet;
    use crate::wire::testing::{check_native, native_fault};

    const DISCOVER: &[u8; 39] = b"\x01\x02\x03\x04\x05\x06\x07\x08PONG\
        \0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    const HERE: &[u8; 39] = b"\x01\x02\x03\x04\x05\x06\x07\x08PONG\
        \x00\x03\x00\x01\x00\x02\x00\x10\x01\x00\x05Attic\0\0\0\0\0\0\0\0\0\0\0";

    #[test]
    fn discover_is_a_question_and_padding() {
        let discover = Discover { nonce: 0x0102_0304_0506_0708, game: 0x504F_4E47 };
        check_native(0x03, DISCOVER, Packet::Discover(discover));
    }

    #[test]
    fn padding_is_zeros() {
        for at in 12..39 {
            let mut bytes = *DISCOVER;
            bytes[at] = 0x80;
            assert_eq!(native_fault(0x03, &bytes), Malformed::out_of_range("padding", 0x80));
        }
        assert_eq!(native_fault(0x03, &[0; 38]), Malformed::new("padding", Fault::Truncated));
        let trailing = Malformed::new("Discover", Fault::Trailing { extra: 1 });
        assert_eq!(native_fault(0x03, &[0; 40]), trailing);
    }

    #[test]
    fn here_describes_the_server() {
        let here = Here {
            nonce: 0x0102_0304_0506_0708,
            game: 0x504F_4E47,
            game_version: 3,
            protocol: 1,
            players: 2,
            capacity: 16,
            token_required: true,
            rooms: 5,
            name: Name::new("Attic"),
        };
        check_native(0x83, HERE, Packet::Here(here));
    }

    #[test]
    fn a_flag_is_0_or_1_and_a_name_has_its_nul() {
        let mut bytes = *HERE;
        bytes[20] = 2;
        assert_eq!(native_fault(0x83, &bytes), Malformed::out_of_range("token_required", 2));
        let mut bytes = *HERE;
        bytes[23..].fill(b'x');
        assert_eq!(native_fault(0x83, &bytes), Malformed::new("name", Fault::Unterminated));
        let trailing = Malformed::new("Here", Fault::Trailing { extra: 1 });
        assert_eq!(native_fault(0x83, &[0; 40]), trailing);
    }
}
