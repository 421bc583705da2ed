//! Ping and Pong: the round trip, and a sign of life.

use backspin::wire::field::{Little, fields};

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
    /// The answer.
    pub const fn pong(self) -> Pong {
        Pong { sequence: self.sequence, timestamp: self.timestamp }
    }
}

fields!(Little Ping { sequence, timestamp });

fields!(Little Pong { sequence, timestamp });

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
