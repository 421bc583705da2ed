//! Ping and Pong: the round trip, and a sign of life.

use backspin::wire::Malformed;
use backspin::wire::{Reader, Writer};

/// A question that is sent back as it came. Either side asks.
///
/// ```text
/// 0          4           8
/// | sequence | timestamp |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Ping {
    /// Tells the asker's questions apart.
    pub sequence: u32,
    /// The asker's clock in ms; means nothing to the other side.
    pub timestamp: u32,
}

/// The eight bytes of a [`Ping`], unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Pong {
    /// The Ping's.
    pub sequence: u32,
    /// The Ping's.
    pub timestamp: u32,
}

impl Ping {
    pub(super) const TYPE: u8 = 7;
    pub(super) const LEN: usize = 8;

    /// The answer.
    pub const fn pong(self) -> Pong {
        Pong { sequence: self.sequence, timestamp: self.timestamp }
    }

    pub(super) fn decode(r: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Ping { sequence: r.u32_le("sequence")?, timestamp: r.u32_le("timestamp")? })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        w.u32_le(self.sequence);
        w.u32_le(self.timestamp);
    }
}

impl Pong {
    pub(super) const TYPE: u8 = 8;

    pub(super) fn decode(r: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ping::decode(r).map(Ping::pong)
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        Ping { sequence: self.sequence, timestamp: self.timestamp }.encode(w);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtype::wire::Packet;
    use crate::testing::check;

    const PING: Ping = Ping { sequence: 5, timestamp: 12345 };

    #[test]
    fn ping_as_in_document_001() {
        check(&[8, 0, 7, 1, 5, 0, 0, 0, 0x39, 0x30, 0, 0], &Packet::Ping(PING));
    }

    #[test]
    fn pong_as_in_document_000() {
        check(&[8, 0, 8, 1, 5, 0, 0, 0, 0x39, 0x30, 0, 0], &Packet::Pong(PING.pong()));
    }
}
