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

use backspin::wire::{Direction, Full, RawName, Reader, Writer};
use backspin::wire::{Fault, Malformed};

/// The UDP port of a server; its TCP port is one more.
pub const DEFAULT_PORT: u16 = 4242;

/// The version byte of every header.
pub const VERSION: u8 = 1;

/// The bytes of a header.
pub const HEADER_LEN: usize = 4;

/// A datagram that we send stays below this; what is longer goes out as several.
pub const MAX_DATAGRAM_LEN: usize = 1400;

/// Any datagram of the dialect.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(untagged))]
pub enum Packet<'a> {
    /// A player proves its token.
    Hello(Hello),
    /// The server knows the player.
    HelloAck(HelloAck),
    /// Buttons.
    Input(Input),
    /// Everything that is there.
    State(State<'a>),
    /// One thing more.
    Spawn(Spawn),
    /// One thing less.
    Despawn(Despawn),
    /// "Are you there, and how far?"
    Ping(Ping),
    /// The Ping, sent back.
    Pong(Pong),
    /// Who plays.
    Roster(Roster<'a>),
    /// A player's lives.
    LivesUpdate(LivesUpdate),
    /// A player's or the team's score.
    ScoreUpdate(ScoreUpdate),
    /// What is set in the lobby.
    LobbyStatus(LobbyStatus),
    /// What the host would like set.
    LobbyConfig(LobbyConfig),
    /// The host starts.
    StartMatch(StartMatch),
    /// The match has ended.
    GameOver(GameOver),
    /// A player leaves.
    Disconnect(Disconnect),
    /// Back to the menu.
    ReturnToMenu(ReturnToMenu),
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
        let packet = match header.kind {
            Hello::TYPE => Packet::Hello(Hello::decode(&mut r)?),
            HelloAck::TYPE => Packet::HelloAck(HelloAck),
            Input::TYPE => Packet::Input(Input::decode(&mut r)?),
            State::TYPE => Packet::State(State::decode(&mut r)?),
            Spawn::TYPE => Packet::Spawn(Spawn::decode(&mut r)?),
            Despawn::TYPE => Packet::Despawn(Despawn::decode(&mut r)?),
            Ping::TYPE => Packet::Ping(Ping::decode(&mut r)?),
            Pong::TYPE => Packet::Pong(Pong::decode(&mut r)?),
            Roster::TYPE => Packet::Roster(Roster::decode(&mut r)?),
            LivesUpdate::TYPE => Packet::LivesUpdate(LivesUpdate::decode(&mut r)?),
            ScoreUpdate::TYPE => Packet::ScoreUpdate(ScoreUpdate::decode(&mut r)?),
            LobbyStatus::TYPE => Packet::LobbyStatus(LobbyStatus::decode(&mut r)?),
            LobbyConfig::TYPE => Packet::LobbyConfig(LobbyConfig::decode(&mut r)?),
            StartMatch::TYPE => Packet::StartMatch(StartMatch),
            GameOver::TYPE => Packet::GameOver(GameOver::decode(&mut r)?),
            Disconnect::TYPE => Packet::Disconnect(Disconnect),
            ReturnToMenu::TYPE => Packet::ReturnToMenu(ReturnToMenu),
            unknown => return Err(Malformed::new("type", Fault::UnknownType(unknown))),
        };
        r.finish(packet.name())?;
        Ok(packet)
    }

    /// Writes one datagram and says how long it is.
    #[inline]
    pub fn encode(&self, out: &mut [u8]) -> Result<usize, Full> {
        let mut w = Writer::new(out);
        Header::begin(&mut w, self.kind());
        match self {
            Packet::Hello(packet) => packet.encode(&mut w),
            Packet::Input(packet) => packet.encode(&mut w),
            Packet::State(packet) => packet.encode(&mut w),
            Packet::Spawn(packet) => packet.encode(&mut w),
            Packet::Despawn(packet) => packet.encode(&mut w),
            Packet::Ping(packet) => packet.encode(&mut w),
            Packet::Pong(packet) => packet.encode(&mut w),
            Packet::Roster(packet) => packet.encode(&mut w),
            Packet::LivesUpdate(packet) => packet.encode(&mut w),
            Packet::ScoreUpdate(packet) => packet.encode(&mut w),
            Packet::LobbyStatus(packet) => packet.encode(&mut w),
            Packet::LobbyConfig(packet) => packet.encode(&mut w),
            Packet::GameOver(packet) => packet.encode(&mut w),
            Packet::HelloAck(_)
            | Packet::StartMatch(_)
            | Packet::Disconnect(_)
            | Packet::ReturnToMenu(_) => {}
        }
        Header::end(&mut w);
        w.finish()
    }

    /// The packet's name in PROTOCOL.md.
    pub const fn name(&self) -> &'static str {
        match self {
            Packet::Hello(_) => "Hello",
            Packet::HelloAck(_) => "HelloAck",
            Packet::Input(_) => "Input",
            Packet::State(_) => "State",
            Packet::Spawn(_) => "Spawn",
            Packet::Despawn(_) => "Despawn",
            Packet::Ping(_) => "Ping",
            Packet::Pong(_) => "Pong",
            Packet::Roster(_) => "Roster",
            Packet::LivesUpdate(_) => "LivesUpdate",
            Packet::ScoreUpdate(_) => "ScoreUpdate",
            Packet::LobbyStatus(_) => "LobbyStatus",
            Packet::LobbyConfig(_) => "LobbyConfig",
            Packet::StartMatch(_) => "StartMatch",
            Packet::GameOver(_) => "GameOver",
            Packet::Disconnect(_) => "Disconnect",
            Packet::ReturnToMenu(_) => "ReturnToMenu",
        }
    }

    /// Who sends it.
    pub const fn direction(&self) -> Direction {
        match self {
            Packet::Ping(_) | Packet::Pong(_) => Direction::Both,
            Packet::Hello(_)
            | Packet::Input(_)
            | Packet::LobbyConfig(_)
            | Packet::StartMatch(_)
            | Packet::Disconnect(_) => Direction::ToServer,
            _ => Direction::ToClient,
        }
    }

    const fn kind(&self) -> u8 {
        match self {
            Packet::Hello(_) => Hello::TYPE,
            Packet::HelloAck(_) => HelloAck::TYPE,
            Packet::Input(_) => Input::TYPE,
            Packet::State(_) => State::TYPE,
            Packet::Spawn(_) => Spawn::TYPE,
            Packet::Despawn(_) => Despawn::TYPE,
            Packet::Ping(_) => Ping::TYPE,
            Packet::Pong(_) => Pong::TYPE,
            Packet::Roster(_) => Roster::TYPE,
            Packet::LivesUpdate(_) => LivesUpdate::TYPE,
            Packet::ScoreUpdate(_) => ScoreUpdate::TYPE,
            Packet::LobbyStatus(_) => LobbyStatus::TYPE,
            Packet::LobbyConfig(_) => LobbyConfig::TYPE,
            Packet::StartMatch(_) => StartMatch::TYPE,
            Packet::GameOver(_) => GameOver::TYPE,
            Packet::Disconnect(_) => Disconnect::TYPE,
            Packet::ReturnToMenu(_) => ReturnToMenu::TYPE,
        }
    }
}

/// Whether a datagram of type `kind` can have a payload of `size` bytes.
fn can_have(kind: u8, size: usize) -> bool {
    match kind {
        Hello::TYPE => size <= RawName::MAX,
        HelloAck::TYPE | StartMatch::TYPE | Disconnect::TYPE | ReturnToMenu::TYPE => size == 0,
        Input::TYPE => size == Input::LEN,
        State::TYPE => size >= 2 && (size - 2).is_multiple_of(Entity::BYTES),
        Spawn::TYPE => size == Entity::BYTES,
        Despawn::TYPE => size == Despawn::LEN,
        Ping::TYPE | Pong::TYPE => size == Ping::LEN,
        Roster::TYPE => size >= 1 && (size - 1).is_multiple_of(RosterEntry::BYTES),
        LivesUpdate::TYPE => size == LivesUpdate::LEN,
        ScoreUpdate::TYPE => size == ScoreUpdate::LEN,
        LobbyStatus::TYPE => size == LobbyStatus::LEN,
        LobbyConfig::TYPE => size == LobbyConfig::LEN,
        GameOver::TYPE => size == GameOver::LEN,
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

/// The fields `count` and, under `field`, the records.
#[cfg(feature = "serde")]
fn serialize_counted<T: backspin::wire::Record + serde::Serialize, S: serde::Serializer>(
    packet: &'static str,
    field: &'static str,
    list: &backspin::wire::List<'_, T>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    use serde::ser::SerializeStruct;
    let mut fields = serializer.serialize_struct(packet, 2)?;
    fields.serialize_field("count", &list.len())?;
    fields.serialize_field(field, list)?;
    fields.end()
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
