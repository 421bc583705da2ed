//! A session's frame: Goodbye, Close, UnknownSession and Roster.

use super::{SessionIndex, decode_session};
use crate::wire::malformed::Malformed;
use crate::wire::{List, Name, Reader, Record, Writer};

/// The client leaves.
///
/// ```text
/// 0         2
/// | session |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Goodbye {
    /// The client's.
    pub session: SessionIndex,
}

impl Goodbye {
    pub(super) fn decode(r: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Goodbye { session: decode_session(r)? })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        w.u16_be(self.session.get());
    }
}

/// The server ends the session.
///
/// ```text
/// 0         2        3
/// | session | reason |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Close {
    /// The client's.
    pub session: SessionIndex,
    /// Why.
    pub reason: CloseReason,
}

/// Why a session ended, on the wire 1 to 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CloseReason {
    /// The client said goodbye.
    Left = 1,
    /// Nothing came from the client for too long.
    Silent = 2,
    /// The server stops.
    Stopping = 3,
    /// The operator removed the player.
    Kicked = 4,
    /// The client broke the protocol.
    Violation = 5,
    /// The room was closed.
    RoomClosed = 6,
    /// The operator keeps the player's address out.
    Banned = 7,
    /// Who hosts the match, player 1, has ended it for everyone.
    HostLeft = 8,
}

impl CloseReason {
    const ALL: [CloseReason; 8] = [
        CloseReason::Left,
        CloseReason::Silent,
        CloseReason::Stopping,
        CloseReason::Kicked,
        CloseReason::Violation,
        CloseReason::RoomClosed,
        CloseReason::Banned,
        CloseReason::HostLeft,
    ];

    /// The reason with this number.
    pub fn from_code(code: u8) -> Option<Self> {
        CloseReason::ALL.into_iter().find(|&known| known as u8 == code)
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for CloseReason {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(*self as u8)
    }
}

impl Close {
    pub(super) fn decode(r: &mut Reader<'_>) -> Result<Self, Malformed> {
        let (session, reason) = (decode_session(r)?, r.u8("reason")?);
        let reason =
            CloseReason::from_code(reason).ok_or(Malformed::out_of_range("reason", reason))?;
        Ok(Close { session, reason })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        w.u16_be(self.session.get());
        w.u8(self.reason as u8);
    }
}

/// The server does not know the session that a datagram named, or not from that address. The
/// header carries the number of that datagram, so that a client can tell it from a forgery.
///
/// ```text
/// 0         2
/// | session |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct UnknownSession {
    /// The index that is not known.
    pub session: SessionIndex,
}

impl UnknownSession {
    pub(super) fn decode(r: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(UnknownSession { session: decode_session(r)? })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        w.u16_be(self.session.get());
    }
}

/// Who is in the room. A higher revision replaces a lower one.
///
/// ```text
/// 0          2       3                   3 + 24 count
/// | revision | count | RosterEntry ...   |
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Roster<'a> {
    /// One more with every change; wraps.
    pub revision: u16,
    /// Who.
    pub players: List<'a, RosterEntry>,
}

impl<'a> Roster<'a> {
    pub(super) fn decode(r: &mut Reader<'a>) -> Result<Self, Malformed> {
        let (revision, count) = (r.u16_be("revision")?, usize::from(r.u8("count")?));
        Ok(Roster { revision, players: List::decode(r, "count", count)? })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        w.u16_be(self.revision);
        match u8::try_from(self.players.len()) {
            Ok(count) => w.u8(count),
            Err(_) => w.overflow(),
        }
        self.players.encode(w);
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Roster<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut fields = serializer.serialize_struct("Roster", 3)?;
        fields.serialize_field("revision", &self.revision)?;
        fields.serialize_field("count", &self.players.len())?;
        fields.serialize_field("players", &self.players)?;
        fields.end()
    }
}

/// One player or watcher.
///
/// ```text
/// 0        4       5       6        8      24
/// | player | lives | flags | rtt_ms | name |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RosterEntry {
    /// The player.
    pub player: u32,
    /// Lives left, where the game has lives.
    pub lives: u8,
    /// What the player is.
    pub flags: PlayerFlags,
    /// The round trip, as the server measures it.
    pub rtt_ms: u16,
    /// The name.
    pub name: Name,
}

/// What a player is: a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct PlayerFlags(u8);

impl PlayerFlags {
    /// May configure and start.
    pub const HOST: PlayerFlags = PlayerFlags(1);
    /// Is ready to start.
    pub const READY: PlayerFlags = PlayerFlags(2);
    /// Is played by the server.
    pub const BOT: PlayerFlags = PlayerFlags(4);
    /// Was dropped; the slot is held.
    pub const ABSENT: PlayerFlags = PlayerFlags(8);
    /// Watches only.
    pub const WATCHES: PlayerFlags = PlayerFlags(16);

    /// Whether all of `other` are set.
    pub const fn contains(self, other: PlayerFlags) -> bool {
        self.0 & other.0 == other.0
    }
}

impl std::ops::BitOr for PlayerFlags {
    type Output = PlayerFlags;

    fn bitor(self, other: PlayerFlags) -> PlayerFlags {
        PlayerFlags(self.0 | other.0)
    }
}

impl Record for RosterEntry {
    const LEN: usize = 24;

    fn decode(r: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(RosterEntry {
            player: r.u32_be("player")?,
            lives: r.u8("lives")?,
            flags: match r.u8("flags")? {
                flags @ 0..32 => PlayerFlags(flags),
                other => return Err(Malformed::out_of_range("flags", other)),
            },
            rtt_ms: r.u16_be("rtt_ms")?,
            name: Name::decode(r, "name")?,
        })
    }

    fn encode(&self, w: &mut Writer<'_>) {
        w.u32_be(self.player);
        w.u8(self.lives);
        w.u8(self.flags.0);
        w.u16_be(self.rtt_ms);
        self.name.encode(w);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Full;
    use crate::wire::malformed::Fault;
    use crate::wire::native::{Datagram, Packet, Scratch};
    use crate::wire::testing::{check_native, native_fault};

    const SESSION: SessionIndex = SessionIndex::new(0x0102).unwrap();
    const ROSTER: &[u8; 51] = b"\x01\x02\x02\
        \x00\x00\x00\x01\x03\x03\x00\x2AAlice\0\0\0\0\0\0\0\0\0\0\0\
        \x00\x00\x00\x02\x00\x10\x00\x00\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";

    #[test]
    fn goodbye_and_unknown_session_are_an_index() {
        check_native(0x06, &[1, 2], Packet::Goodbye(Goodbye { session: SESSION }));
        let unknown = UnknownSession { session: SESSION };
        check_native(0x89, &[1, 2], Packet::UnknownSession(unknown));
        for (kind, name) in [(0x06, "Goodbye"), (0x89, "UnknownSession")] {
            let trailing = Malformed::new(name, Fault::Trailing { extra: 1 });
            assert_eq!(native_fault(kind, &[1, 2, 3]), trailing);
        }
    }

    #[test]
    fn a_session_ends_for_one_of_eight_reasons() {
        for (byte, reason) in (1..).zip(CloseReason::ALL) {
            check_native(0x86, &[1, 2, byte], Packet::Close(Close { session: SESSION, reason }));
        }
        for reason in [0, 9, 255] {
            let fault = Malformed::out_of_range("reason", reason);
            assert_eq!(native_fault(0x86, &[1, 2, reason]), fault);
        }
        let trailing = Malformed::new("Close", Fault::Trailing { extra: 1 });
        assert_eq!(native_fault(0x86, &[1, 2, 1, 0]), trailing);
    }

    #[test]
    fn a_roster_lists_its_players() {
        let players = [
            RosterEntry {
                player: 1,
                lives: 3,
                flags: PlayerFlags::HOST | PlayerFlags::READY,
                rtt_ms: 42,
                name: Name::new("Alice"),
            },
            RosterEntry {
                player: 2,
                lives: 0,
                flags: PlayerFlags::WATCHES,
                rtt_ms: 0,
                name: Name::new(""),
            },
        ];
        let roster = Roster { revision: 0x0102, players: List::new(&players) };
        check_native(0x90, ROSTER, Packet::Roster(roster));
        assert!(players[0].flags.contains(PlayerFlags::HOST));
        assert!(!players[0].flags.contains(PlayerFlags::HOST | PlayerFlags::BOT));
    }

    #[test]
    fn a_count_that_the_bytes_contradict_is_refused() {
        for count in [1, 3] {
            let mut bytes = *ROSTER;
            bytes[2] = count;
            let fault = Fault::WrongSize { stated: usize::from(count), actual: 2 };
            assert_eq!(native_fault(0x90, &bytes), Malformed::new("count", fault));
        }
    }

    #[test]
    fn flags_that_do_not_exist_are_out_of_range() {
        for flags in [32, 0x80, 0xFF] {
            let mut bytes = *ROSTER;
            bytes[8] = flags;
            assert_eq!(native_fault(0x90, &bytes), Malformed::out_of_range("flags", flags));
        }
    }

    #[test]
    fn a_roster_of_255_fits_a_datagram_if_it_is_compressed() {
        let (lives, flags, rtt_ms) = (3, PlayerFlags::BOT, 0);
        let players = [RosterEntry { player: 1, lives, flags, rtt_ms, name: Name::new("x") }; 256];
        let roster = |n| {
            let roster = Roster { revision: 0, players: List::new(&players[..n]) };
            Datagram { sequence: 0, packet: Packet::Roster(roster) }
        };
        let (mut out, mut scratch) = ([0; 1500], Scratch::default());
        assert_eq!(roster(49).encode(&mut out), Ok(9 + 3 + 49 * 24));
        assert_eq!(roster(50).encode(&mut out), Err(Full));
        assert!(roster(255).encode_compressed(&mut out, &mut scratch).is_ok());
        assert_eq!(roster(256).encode_compressed(&mut out, &mut scratch), Err(Full));
    }
}
