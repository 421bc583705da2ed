//! A session's frame: Goodbye, Close, UnknownSession and Roster.

use super::SessionIndex;
use crate::wire::field::{Big, Field, codes, fields, flags, record, serialize_counted};
use crate::wire::malformed::Malformed;
use crate::wire::{List, Name, Reader, Writer};

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

fields!(Big Goodbye { session });

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

codes! {
    /// Why a session ended, on the wire 1 to 9.
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
        /// More messages wait for the client than the server keeps.
        Backlog = 9,
    }
}

fields!(Big Close { session, reason });

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

fields!(Big UnknownSession { session });

/// Who is in the room, or a part of that. A higher revision replaces a lower one.
///
/// ```text
/// 0          2       4       6       7                   7 + 24 count
/// | revision | total | first | count | RosterEntry ...   |
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Roster<'a> {
    /// One more with every change; wraps.
    pub revision: u16,
    /// How many there are, at most [`Roster::MAX`]; `count` of them are here.
    pub total: u16,
    /// How many come before the first of these.
    pub first: u16,
    /// Who.
    pub players: List<'a, RosterEntry>,
}

impl<'a> Roster<'a> {
    /// The most that a room holds: players, watchers and bots.
    pub const MAX: u16 = 1024;

    /// The bytes before the entries.
    pub const HEAD_LEN: usize = 7;

    pub(super) fn decode(r: &mut Reader<'a>) -> Result<Self, Malformed> {
        let (revision, total) = (r.u16_be("revision")?, r.u16_be("total")?);
        if total > Roster::MAX {
            return Err(Malformed::out_of_range("total", total));
        }
        let (first, count) = (r.u16_be("first")?, r.u8("count")?);
        if first > 0 && first >= total {
            return Err(Malformed::out_of_range("first", first));
        }
        // Only a roster of nobody has a part with nobody.
        if u16::from(count) > total - first || (count == 0 && total > 0) {
            return Err(Malformed::out_of_range("count", count));
        }
        Ok(Roster { revision, total, first, players: List::decode(r, "count", count.into())? })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        w.u16_be(self.revision);
        w.u16_be(self.total);
        w.u16_be(self.first);
        <List<'_, _> as Field>::encode(&self.players, w);
    }
}

serialize_counted!(Roster { revision, total, first } players);

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

flags! {
    /// What a player is: a set.
    pub struct PlayerFlags {
        /// May configure and start.
        HOST = 1,
        /// Is ready to start.
        READY = 2,
        /// Is played by the server.
        BOT = 4,
        /// Was dropped; the slot is held.
        ABSENT = 8,
        /// Watches only.
        WATCHES = 16,
    }
}

record!(Big RosterEntry 24 { player, lives, flags, rtt_ms, name });

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Full;
    use crate::wire::malformed::Fault;
    use crate::wire::native::{Datagram, MAX_DATAGRAM_LEN, Packet};
    use crate::wire::testing::{check_native, native_fault};

    const SESSION: SessionIndex = SessionIndex::new(0x0102).unwrap();
    const ROSTER: &[u8; 55] = b"\x01\x02\x01\x03\x01\x01\x02\
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
    fn a_session_ends_for_one_of_nine_reasons() {
        for (byte, reason) in (1..=9).map(|byte| (byte, CloseReason::from_code(byte).unwrap())) {
            check_native(0x86, &[1, 2, byte], Packet::Close(Close { session: SESSION, reason }));
        }
        for reason in [0, 10, 255] {
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
        let roster =
            Roster { revision: 0x0102, total: 259, first: 257, players: List::new(&players) };
        check_native(0x90, ROSTER, Packet::Roster(roster));
        assert!(players[0].flags.contains(PlayerFlags::HOST));
        assert!(!players[0].flags.contains(PlayerFlags::HOST | PlayerFlags::BOT));
    }

    #[test]
    fn a_count_that_the_bytes_contradict_is_refused() {
        let mut bytes = *ROSTER;
        bytes[6] = 1;
        let fault = Fault::WrongSize { stated: 1, actual: 2 };
        assert_eq!(native_fault(0x90, &bytes), Malformed::new("count", fault));
    }

    #[test]
    fn a_part_lies_in_its_roster() {
        let fault = |total: u16, first: u16, count| {
            let mut bytes = *ROSTER;
            bytes[2..4].copy_from_slice(&total.to_be_bytes());
            bytes[4..6].copy_from_slice(&first.to_be_bytes());
            bytes[6] = count;
            native_fault(0x90, &bytes)
        };
        assert_eq!(fault(1025, 0, 2), Malformed::out_of_range("total", 1025));
        assert_eq!(fault(2, 2, 2), Malformed::out_of_range("first", 2));
        assert_eq!(fault(0, 1, 0), Malformed::out_of_range("first", 1));
        assert_eq!(fault(3, 2, 2), Malformed::out_of_range("count", 2));
        assert_eq!(fault(2, 0, 0), Malformed::out_of_range("count", 0));
        let nobody = Roster { revision: 1, total: 0, first: 0, players: List::new(&[]) };
        check_native(0x90, &[0, 1, 0, 0, 0, 0, 0], Packet::Roster(nobody));
    }

    #[test]
    fn flags_that_do_not_exist_are_out_of_range() {
        for flags in [32, 0x80, 0xFF] {
            let mut bytes = *ROSTER;
            bytes[12] = flags;
            assert_eq!(native_fault(0x90, &bytes), Malformed::out_of_range("flags", flags));
        }
    }

    #[test]
    fn a_datagram_holds_49_of_a_roster() {
        let (lives, flags, rtt_ms) = (3, PlayerFlags::BOT, 0);
        let players = [RosterEntry { player: 1, lives, flags, rtt_ms, name: Name::new("x") }; 50];
        let roster = |n| {
            let (revision, first) = (0, 206);
            let roster = Roster { revision, total: 256, first, players: List::new(&players[..n]) };
            Datagram { sequence: 0, packet: Packet::Roster(roster) }
        };
        let mut out = [0; MAX_DATAGRAM_LEN];
        assert_eq!(roster(49).encode(&mut out), Ok(9 + Roster::HEAD_LEN + 49 * 24));
        assert_eq!(roster(50).encode(&mut out), Err(Full));
    }
}
