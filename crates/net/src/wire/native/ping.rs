//! The round trip before a session and in its silences: Ping and Pong, asked by the client;
//! ServerPing and ClientPong, asked by the server.

use super::{SessionIndex, decode_session};
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

impl Pong {
    pub(super) fn decode(r: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Pong { id: r.u32_be("id")?, timestamp: r.u32_be("timestamp")? })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        w.u32_be(self.id);
        w.u32_be(self.timestamp);
    }
}

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

    pub(super) fn decode(r: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(ServerPing { id: r.u32_be("id")?, timestamp: r.u32_be("timestamp")? })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        w.u32_be(self.id);
        w.u32_be(self.timestamp);
    }
}

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

impl ClientPong {
    pub(super) fn decode(r: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(ClientPong {
            session: decode_session(r)?,
            id: r.u32_be("id")?,
            timestamp: r.u32_be("timestamp")?,
        })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        w.u16_be(self.session.get());
        w.u32_be(self.id);
        w.u32_be(self.timestamp);
    }
}
