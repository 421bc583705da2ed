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
