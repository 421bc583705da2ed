//! Finding servers: Discover and Here.

use crate::wire::Name;
use crate::wire::field::{Big, fields};

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

fields!(Big Discover { nonce, game } padding Here::LEN - 12);

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
}

fields!(Big Here {
    nonce,
    game,
    game_version,
    protocol,
    players,
    capacity,
    token_required,
    rooms,
    name,
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::malformed::Fault;
    use crate::wire::malformed::Malformed;
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
