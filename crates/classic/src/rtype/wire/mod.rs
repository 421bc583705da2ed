//! `rtype`: R-Type sessions, little-endian throughout. Datagrams are [`Packet`]s; the TCP step
//! before them is a stream of [`Message`]s with the same header.
//!
//! ```text
//! 0      2      3         4                4 + size
//! | size | type | version | payload ...    |
//! ```

mod entity;
mod hello;
mod input;
mod lobby;
mod ping;
mod roster;
mod stream;

pub use entity::{Despawn, Entity, Kind, Spawn, State};
pub use hello::{Hello, HelloAck};
pub use input::{Buttons, Input};
pub use lobby::{
    Difficulty, Disconnect, GameOver, GameOverReason, Lives, LobbyConfig, LobbyStatus,
    ReturnToMenu, StartMatch,
};
pub use ping::{Ping, Pong};
pub use roster::{LivesUpdate, Roster, RosterEntry, ScoreUpdate};
pub use stream::{Message, StartGame, TcpHello, TcpHelloAck, TcpWelcome};

use backspin::wire::field::packets;
use backspin::wire::{Fault, Malformed};
use backspin::wire::{Full, RawName, Reader, Record, Writer};

/// The UDP port of a server; its TCP port is one more.
pub const DEFAULT_PORT: u16 = 4242;

/// The version byte of every header.
pub const VERSION: u8 = 1;

/// The bytes of a header.
pub const HEADER_LEN: usize = 4;

/// A datagram that we send stays below this; what is longer goes out as several.
pub const MAX_DATAGRAM_LEN: usize = 1400;

packets! {
    Packet<'a>
    1 Hello "Hello" ToServer, "A player proves its token.";
    2 HelloAck "HelloAck" ToClient, "The server knows the player.";
    3 Input "Input" ToServer, "Buttons.";
    4 State<'a> "State" ToClient, "Everything that is there.";
    5 Spawn "Spawn" ToClient, "One thing more.";
    6 Despawn "Despawn" ToClient, "One thing less.";
    7 Ping "Ping" Both, "\"Are you there, and how far?\"";
    8 Pong "Pong" Both, "The Ping, sent back.";
    9 Roster<'a> "Roster" ToClient, "Who plays.";
    10 LivesUpdate "LivesUpdate" ToClient, "A player's lives.";
    11 ScoreUpdate "ScoreUpdate" ToClient, "A player's or the team's score.";
    12 LobbyStatus "LobbyStatus" ToClient, "What is set in the lobby.";
    13 LobbyConfig "LobbyConfig" ToServer, "What the host would like set.";
    14 StartMatch "StartMatch" ToServer, "The host starts.";
    15 GameOver "GameOver" ToClient, "The match has ended.";
    16 Disconnect "Disconnect" ToServer, "A player leaves.";
    17 ReturnToMenu "ReturnToMenu" ToClient, "Back to the menu.";
}

impl<'a> Packet<'a> {
    /// Whether `bytes` have the header of a datagram of this dialect, with a size that its type
    /// can have.
    #[inline]
    pub fn has_shape(bytes: &[u8]) -> bool {
        let Some(&[low, high, kind, VERSION]) = bytes.first_chunk() else {
            return false;
        };
        let size = usize::from(u16::from_le_bytes([low, high]));
        size == bytes.len() - HEADER_LEN && can_have(kind, size)
    }

    /// Reads one datagram.
    #[inline]
    pub fn decode(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let mut r = Reader::new(bytes);
        let header = Header::decode(&mut r)?;
        if header.size != r.left() {
            let fault = Fault::WrongSize { stated: header.size, actual: r.left() };
            return Err(Malformed::new("size", fault));
        }
        Packet::decode_payload(header.kind, r.take_rest())
    }

    /// Writes one datagram and says how long it is.
    #[inline]
    pub fn encode(&self, out: &mut [u8]) -> Result<usize, Full> {
        let mut w = Writer::new(out);
        Header::begin(&mut w, self.kind());
        self.encode_payload(&mut w);
        Header::end(&mut w);
        w.finish()
    }
}

/// Whether a datagram of type `kind` can have a payload of `size` bytes.
fn can_have(kind: u8, size: usize) -> bool {
    match kind {
        1 => size <= RawName::MAX,
        2 | 14 | 16 | 17 => size == 0,
        3 => size == 5,
        4 => size >= 2 && (size - 2).is_multiple_of(Entity::LEN),
        5 => size == Entity::LEN,
        6 => size == 4,
        7 | 8 | 11 | 12 => size == 8,
        9 => size >= 1 && (size - 1).is_multiple_of(RosterEntry::LEN),
        10 => size == 5,
        13 => size == 2,
        15 => size == 1,
        _ => false,
    }
}

/// The first four bytes, on UDP and on TCP.
struct Header {
    size: usize,
    kind: u8,
}

impl Header {
    #[inline]
    fn decode(r: &mut Reader<'_>) -> Result<Self, Malformed> {
        let (size, kind, version) = (r.u16_le("size")?, r.u8("type")?, r.u8("version")?);
        if version != VERSION {
            return Err(Malformed::new("version", Fault::Version(version)));
        }
        Ok(Header { size: usize::from(size), kind })
    }

    /// Writes a header whose size [`Header::end`] fills in.
    #[inline]
    fn begin(w: &mut Writer<'_>, kind: u8) {
        w.bytes(&[0, 0, kind, VERSION]);
    }

    #[inline]
    fn end(w: &mut Writer<'_>) {
        match u16::try_from(w.written().saturating_sub(HEADER_LEN)) {
            Ok(size) => w.patch(0, &size.to_le_bytes()),
            Err(_) => w.overflow(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_of_a_header_is_named() {
        let error = |bytes| Packet::decode(bytes).unwrap_err();
        assert_eq!(error(&[]), Malformed::new("size", Fault::Truncated));
        assert_eq!(error(&[0, 0]), Malformed::new("type", Fault::Truncated));
        assert_eq!(error(&[0, 0, 2]), Malformed::new("version", Fault::Truncated));
        assert_eq!(error(&[0, 0, 2, 2]), Malformed::new("version", Fault::Version(2)));
        assert_eq!(error(&[0, 0, 0, 1]), Malformed::new("type", Fault::UnknownType(0)));
        assert_eq!(error(&[0, 0, 100, 1]), Malformed::new("type", Fault::UnknownType(100)));
        let fault = Fault::WrongSize { stated: 10, actual: 0 };
        assert_eq!(error(&[10, 0, 2, 1]), Malformed::new("size", fault));
        let extra = Fault::Trailing { extra: 1 };
        assert_eq!(error(&[1, 0, 2, 1, 0]), Malformed::new("HelloAck", extra));
    }

    #[test]
    fn the_shape_is_the_header_and_a_size_that_the_type_can_have() {
        assert!(Packet::has_shape(&[0, 0, 2, 1]));
        assert!(!Packet::has_shape(&[1, 0, 2, 1, 0]));
        assert!(!Packet::has_shape(&[0, 0, 2, 2]));
        assert!(!Packet::has_shape(&[0, 0, 100, 1]));
        assert!(!Packet::has_shape(&[0, 0, 2]));
        assert!(Packet::has_shape(&[2, 0, 4, 1, 0, 0]));
        assert!(!Packet::has_shape(&[3, 0, 4, 1, 0, 0, 0]));
        assert!(!Packet::has_shape(&[2, 0, 9, 1, 0, 0]));
    }
}
