//! `native`: the R-Type ACK system of document 004, extended to a whole session. Big-endian.
//!
//! A [`Datagram`] is a header and one [`Packet`]. Types below 0x80 go to the server, the others to
//! a client. After Accept, what a client sends begins with its session index.

mod discovery;
mod envelope;
mod events;
mod handshake;
mod input;
mod ping;
mod rooms;
mod session;
mod snapshot;

pub use discovery::{Discover, Here};
pub use envelope::{
    Datagram, HEADER_LEN, MAX_DATAGRAM_LEN, MAX_UNCOMPRESSED_LEN, MIN_BUDGET, Scratch, VERSION,
    has_shape,
};
pub use events::{ClientEvents, Events, MAX_EVENT_LEN, ServerEvents};
pub use handshake::{
    Accept, Budget, Challenge, Hello, Join, PROTOCOL, Reject, RejectReason, Resume, Role, Secret,
    Token,
};
pub use input::{History, Input, InputRecord, MAX_HISTORY, SnapshotAck};
pub use ping::{ClientPong, Ping, Pong, ServerPing};
pub use rooms::{EnterRoom, ListRooms, RoomEntry, RoomFlags, RoomList};
pub use session::{Close, CloseReason, Goodbye, PlayerFlags, Roster, RosterEntry, UnknownSession};
pub use snapshot::{DeltaSnapshot, EntityState, Feedback, MAX_BASELINE_BACK, Part, Snapshot};

use std::num::NonZeroU16;

use super::malformed::{Fault, Malformed};
use super::{Direction, Reader, Writer};

/// The UDP port of a server, for both games.
pub const DEFAULT_PORT: u16 = 4300;

/// Which session of the server a client's datagram belongs to: a routing index, no secret.
pub type SessionIndex = NonZeroU16;

/// The packets of the dialect, and for each its type, its name and who sends it.
macro_rules! packets {
    ($($kind:literal $name:ident $(<$lifetime:lifetime>)?, $doc:literal;)*) => {
        /// Any packet of the dialect.
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize), serde(untagged))]
        pub enum Packet<'a> {
            $(#[doc = $doc] $name($name $(<$lifetime>)?),)*
        }

        impl<'a> Packet<'a> {
            /// Reads the payload of a packet of type `kind`.
            #[inline]
            pub fn decode(kind: u8, payload: &'a [u8]) -> Result<Self, Malformed> {
                let mut r = Reader::new(payload);
                let packet = match kind {
                    $($kind => Packet::$name($name::decode(&mut r)?),)*
                    unknown => return Err(Malformed::new("type", Fault::UnknownType(unknown))),
                };
                r.finish(packet.name())?;
                Ok(packet)
            }

            /// Writes the payload.
            #[inline]
            pub fn encode(&self, w: &mut Writer<'_>) {
                match self {
                    $(Packet::$name(packet) => packet.encode(w),)*
                }
            }

            /// The packet's name in PROTOCOL.md.
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Packet::$name(_) => stringify!($name),)*
                }
            }

            /// The type byte.
            pub const fn kind(&self) -> u8 {
                match self {
                    $(Packet::$name(_) => $kind,)*
                }
            }

            /// Whether there is a packet of type `kind`.
            pub const fn is_known(kind: u8) -> bool {
                matches!(kind, $($kind)|*)
            }
        }
    };
}

packets! {
    0x01 Hello, "A stranger asks for a challenge.";
    0x02 Join<'a>, "With the challenge's cookie: a place to play or watch.";
    0x03 Discover, "Is there a server?";
    0x04 Ping, "How far is the server, and is it there?";
    0x05 ClientPong, "The server's ping, sent back.";
    0x06 Goodbye, "The client leaves.";
    0x07 ListRooms, "With a cookie: which rooms are there?";
    0x08 EnterRoom, "Into another room.";
    0x09 Resume, "With a cookie: back into the slot that the ticket names.";
    0x10 Input<'a>, "The buttons for a tick, and all before it that are not acknowledged.";
    0x11 ClientEvents<'a>, "What must reach the server.";
    0x12 SnapshotAck, "Which snapshot a watcher has.";
    0x81 Challenge, "Prove your address with this.";
    0x82 Accept, "The place, and what is needed to use it.";
    0x83 Here, "A server answers a search.";
    0x84 ServerPing, "How far is the client, and is it there?";
    0x85 Pong, "The client's ping, sent back.";
    0x86 Close, "The server ends the session.";
    0x87 RoomList<'a>, "The rooms.";
    0x88 Reject, "No place, and why.";
    0x89 UnknownSession, "No such session: a hint to resume.";
    0x90 Roster<'a>, "Who plays.";
    0xA0 Snapshot<'a>, "The world, in full.";
    0xA1 DeltaSnapshot<'a>, "The world, against one that the client has.";
    0xA2 ServerEvents<'a>, "What must reach the client.";
}

impl Packet<'_> {
    /// Whether packets of type `kind` go to clients.
    #[inline]
    pub const fn is_to_client(kind: u8) -> bool {
        kind >= 0x80
    }

    /// The session that a client's packet belongs to, if it names one.
    #[inline]
    pub const fn session(&self) -> Option<SessionIndex> {
        match self {
            Packet::Ping(packet) => packet.session,
            Packet::ClientPong(packet) => Some(packet.session),
            Packet::Goodbye(packet) => Some(packet.session),
            Packet::EnterRoom(packet) => Some(packet.session),
            Packet::Input(packet) => Some(packet.session),
            Packet::ClientEvents(packet) => Some(packet.session),
            Packet::SnapshotAck(packet) => Some(packet.session),
            _ => None,
        }
    }

    /// Who sends it.
    pub const fn direction(&self) -> Direction {
        if Packet::is_to_client(self.kind()) { Direction::ToClient } else { Direction::ToServer }
    }
}

/// Reads the index that a client's packet begins with.
#[inline]
fn decode_session(r: &mut Reader<'_>) -> Result<SessionIndex, Malformed> {
    let index = r.u16_be("session")?;
    SessionIndex::new(index).ok_or(Malformed::out_of_range("session", index))
}

/// Reads bytes that only make a packet long enough: a server answers with no more than it got.
fn decode_padding<const N: usize>(r: &mut Reader<'_>) -> Result<(), Malformed> {
    match r.array::<N>("padding")?.iter().find(|&&byte| byte != 0) {
        None => Ok(()),
        Some(&byte) => Err(Malformed::out_of_range("padding", byte)),
    }
}
