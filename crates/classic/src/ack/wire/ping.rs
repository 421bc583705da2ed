//! PING and PONG: the round trip, and a sign of life.

use backspin::wire::field::{Big, fields};

/// A question that is sent back as it came.
///
/// ```text
/// 0    4           8
/// | id | timestamp |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Ping {
    /// Tells the asker's questions apart.
    pub id: u32,
    /// The asker's clock in ms; means nothing to the server.
    pub timestamp: u32,
}

/// The eight bytes of a [`Ping`], unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Pong {
    /// The PING's.
    pub id: u32,
    /// The PING's.
    pub timestamp: u32,
}

impl Ping {
    /// The answer.
    pub const fn pong(self) -> Pong {
        Pong { id: self.id, timestamp: self.timestamp }
    }
}

fields!(Big Ping { id, timestamp });

fields!(Big Pong { id, timestamp });

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ack::wire::Packet;
    use crate::ack::wire::testing::check_packet;

    #[test]
    fn a_pong_has_the_bytes_of_its_ping() {
        let (ping, payload) = (Ping { id: 5, timestamp: 12345 }, [0, 0, 0, 5, 0, 0, 0x30, 0x39]);
        check_packet(0x22, &payload, Packet::Ping(ping));
        check_packet(0xB3, &payload, Packet::Pong(ping.pong()));
    }
}
