//! The round trip before a session and in its silences: Ping and Pong, asked by the client;
//! ServerPing and ClientPong, asked by the server.

use super::SessionIndex;
use crate::wire::field::{Big, fields};
use crate::wire::malformed::Malformed;
use crate::wire::{Reader, Writer};

/// The client asks. A stranger's ping has session 0.
///
/// ```text
/// 0         2    6           10
/// | session | id | timestamp |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Ping {
    /// Whose sign of life it is, if anyone's.
    #[cfg_attr(feature = "serde", serde(serialize_with = "or_zero"))]
    pub session: Option<SessionIndex>,
    /// Tells the asker's questions apart.
    pub id: u32,
    /// The asker's clock; means nothing to the other side.
    pub timestamp: u32,
}

#[cfg(feature = "serde")]
fn or_zero<S: serde::Serializer>(
    session: &Option<SessionIndex>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_u16(session.map_or(0, SessionIndex::get))
}

impl Ping {
    /// The answer.
    pub const fn pong(self) -> Pong {
        Pong { id: self.id, timestamp: self.timestamp }
    }

    pub(super) fn decode(r: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Ping {
            session: SessionIndex::new(r.u16_be("session")?),
            id: r.u32_be("id")?,
            timestamp: r.u32_be("timestamp")?,
        })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        w.u16_be(self.session.map_or(0, SessionIndex::get));
        w.u32_be(self.id);
        w.u32_be(self.timestamp);
    }
}

/// The client's ping, sent back.
///
/// ```text
/// 0    4           8
/// | id | timestamp |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Pong {
    /// The Ping's.
    pub id: u32,
    /// The Ping's.
    pub timestamp: u32,
}

fields!(Big Pong { id, timestamp });

/// The server asks.
///
/// ```text
/// 0    4           8
/// | id | timestamp |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ServerPing {
    /// Tells the asker's questions apart.
    pub id: u32,
    /// The asker's clock; means nothing to the other side.
    pub timestamp: u32,
}

impl ServerPing {
    /// The answer of the client in `session`.
    pub const fn pong(self, session: SessionIndex) -> ClientPong {
        ClientPong { session, id: self.id, timestamp: self.timestamp }
    }
}

fields!(Big ServerPing { id, timestamp });

/// The server's ping, sent back.
///
/// ```text
/// 0         2    6           10
/// | session | id | timestamp |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ClientPong {
    /// The client's.
    pub session: SessionIndex,
    /// The ServerPing's.
    pub id: u32,
    /// The ServerPing's.
    pub timestamp: u32,
}

fields!(Big ClientPong { session, id, timestamp });

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::malformed::Fault;
    use crate::wire::native::Packet;
    use crate::wire::testing::{check_native, native_fault};

    const PING: Ping = Ping { session: None, id: 0x0102_0304, timestamp: 0x0506_0708 };

    #[test]
    fn a_strangers_ping_has_session_0() {
        check_native(0x04, &[0, 0, 1, 2, 3, 4, 5, 6, 7, 8], Packet::Ping(PING));
        let ping = Ping { session: SessionIndex::new(0x090A), ..PING };
        check_native(0x04, &[9, 10, 1, 2, 3, 4, 5, 6, 7, 8], Packet::Ping(ping));
    }

    #[test]
    fn the_pong_sends_back_what_was_asked() {
        check_native(0x85, &[1, 2, 3, 4, 5, 6, 7, 8], Packet::Pong(PING.pong()));
    }

    #[test]
    fn the_server_asks_too_and_the_answer_names_the_session() {
        let ping = ServerPing { id: 0x0102_0304, timestamp: 0x0506_0708 };
        check_native(0x84, &[1, 2, 3, 4, 5, 6, 7, 8], Packet::ServerPing(ping));
        let pong = ping.pong(SessionIndex::new(0x090A).unwrap());
        check_native(0x05, &[9, 10, 1, 2, 3, 4, 5, 6, 7, 8], Packet::ClientPong(pong));
    }

    #[test]
    fn a_byte_more_or_less_is_no_ping() {
        for (kind, len, name) in [
            (0x04, 10, "Ping"),
            (0x05, 10, "ClientPong"),
            (0x84, 8, "ServerPing"),
            (0x85, 8, "Pong"),
        ] {
            let bytes = [1; 11];
            let trailing = Malformed::new(name, Fault::Trailing { extra: 1 });
            assert_eq!(native_fault(kind, &bytes[..len + 1]), trailing);
            let truncated = Malformed::new("timestamp", Fault::Truncated);
            assert_eq!(native_fault(kind, &bytes[..len - 1]), truncated);
        }
    }
}
