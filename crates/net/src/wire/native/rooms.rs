//! Rooms: ListRooms, RoomList, EnterRoom and CreateRoom.

use super::{Budget, JoinData, Role, Secret, SessionIndex, Token};
use crate::wire::field::{Big, fields, flags, record, serialize_counted};
use crate::wire::{List, Name};

/// Which rooms are there? Carries a cookie: the answer is longer than the question.
///
/// ```text
/// 0       8        24     28      30
/// | nonce | cookie | game | first |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ListRooms {
    /// The Hello's.
    pub nonce: u64,
    /// The Challenge's.
    pub cookie: Secret,
    /// The game; 0 is any.
    pub game: u32,
    /// How many rooms to skip: the list comes in pages.
    pub first: u16,
}

fields!(Big ListRooms { nonce, cookie, game, first });

/// A page of the rooms.
///
/// ```text
/// 0       8       10      12      13                13 + 27 count
/// | nonce | total | first | count | RoomEntry ...   |
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoomList<'a> {
    /// The question's.
    pub nonce: u64,
    /// How many rooms there are in all.
    pub total: u16,
    /// How many were skipped.
    pub first: u16,
    /// This page.
    pub rooms: List<'a, RoomEntry>,
}

fields!(Big RoomList<'a> { nonce, total, first, rooms });

serialize_counted!(RoomList { nonce, total, first } rooms);

/// One room.
///
/// ```text
/// 0      4      8         9          10      11     27
/// | room | game | players | capacity | flags | name |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RoomEntry {
    /// The room.
    pub room: u32,
    /// What is played in it.
    pub game: u32,
    /// How many play.
    pub players: u8,
    /// How many may.
    pub capacity: u8,
    /// What kind of room it is.
    pub flags: RoomFlags,
    /// Its name.
    pub name: Name,
}

flags! {
    /// What kind of room it is: a set.
    pub struct RoomFlags {
        /// A password is asked for.
        LOCKED = 1,
        /// The match runs.
        STARTED = 2,
        /// One may still join a match that runs.
        LATE_JOIN = 4,
    }
}

record!(Big RoomEntry 27 { room, game, players, capacity, flags, name });

/// Into another room, or from playing to watching. Answered with Accept or Reject.
///
/// ```text
/// 0         2       10     14     15         31
/// | session | nonce | room | role | password |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct EnterRoom {
    /// The client's.
    pub session: SessionIndex,
    /// Comes back in the answer.
    pub nonce: u64,
    /// Which room; 0 is any.
    pub room: u32,
    /// To play or to watch.
    pub role: Role,
    /// The room's password, empty where there is none.
    pub password: Name,
}

fields!(Big EnterRoom { session, nonce, room, role, password });

/// A room of the client's own, and the place in it. Carries what Join does; answered like it.
///
/// ```text
/// 0       8        24         26     30             32       36       38     54          70
/// | nonce | cookie | protocol | game | game_version | layout | budget | name | room_name |
/// 70         86            87
/// | password | data_length | data | token_length | token |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct CreateRoom<'a> {
    /// The Hello's.
    pub nonce: u64,
    /// The Challenge's.
    pub cookie: Secret,
    /// The protocol version that the client speaks.
    pub protocol: u16,
    /// The game.
    pub game: u32,
    /// The version of its rules.
    pub game_version: u16,
    /// How the game lays out what it sends.
    pub layout: u32,
    /// The longest datagram that the client takes.
    pub budget: Budget,
    /// The player's name.
    pub name: Name,
    /// What the room is to be called.
    pub room_name: Name,
    /// What others are asked for, empty for nothing.
    pub password: Name,
    /// What the player says of itself.
    pub data: JoinData<'a>,
    /// What the operator gave out.
    pub token: Token<'a>,
}

fields!(Big CreateRoom<'a> {
    nonce, cookie, protocol, game, game_version, layout, budget, name, room_name, password, data,
    token,
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::malformed::{Fault, Malformed};
    use crate::wire::native::{Datagram, MAX_DATAGRAM_LEN, MIN_BUDGET, Packet};
    use crate::wire::testing::{check_native, native_fault};

    const LIST: &[u8; 40] = b"\x01\x02\x03\x04\x05\x06\x07\x08\x00\x0A\x00\x09\x01\
        \x00\x00\x00\x07RTYP\x02\x04\x07Hangar\0\0\0\0\0\0\0\0\0\0";
    const ENTER: &[u8; 31] = b"\x00\x03\x01\x02\x03\x04\x05\x06\x07\x08\x00\x00\x00\x07\x01\
        sesame\0\0\0\0\0\0\0\0\0\0";

    #[test]
    fn list_rooms_proves_its_address() {
        let packet = ListRooms {
            nonce: 0x0102_0304_0506_0708,
            cookie: Secret([0xC0; 16]),
            game: 0x5254_5950,
            first: 9,
        };
        let bytes = b"\x01\x02\x03\x04\x05\x06\x07\x08\
            \xC0\xC0\xC0\xC0\xC0\xC0\xC0\xC0\xC0\xC0\xC0\xC0\xC0\xC0\xC0\xC0RTYP\x00\x09";
        check_native(0x07, bytes, Packet::ListRooms(packet));
        let trailing = Malformed::new("ListRooms", Fault::Trailing { extra: 1 });
        assert_eq!(native_fault(0x07, &[0; 31]), trailing);
    }

    #[test]
    fn a_room_list_is_a_page() {
        let rooms = [RoomEntry {
            room: 7,
            game: 0x5254_5950,
            players: 2,
            capacity: 4,
            flags: RoomFlags::LOCKED | RoomFlags::STARTED | RoomFlags::LATE_JOIN,
            name: Name::new("Hangar"),
        }];
        let nonce = 0x0102_0304_0506_0708;
        let page = RoomList { nonce, total: 10, first: 9, rooms: List::new(&rooms) };
        check_native(0x87, LIST, Packet::RoomList(page));
        let empty = RoomList { nonce: 0, total: 0, first: 0, rooms: List::new(&[]) };
        check_native(0x87, &[0; 13], Packet::RoomList(empty));
        assert!(rooms[0].flags.contains(RoomFlags::STARTED));
        assert!(!RoomFlags::LOCKED.contains(RoomFlags::LOCKED | RoomFlags::STARTED));
    }

    #[test]
    fn a_count_that_the_bytes_contradict_is_refused() {
        let mut bytes = *LIST;
        bytes[12] = 2;
        let fault = Fault::WrongSize { stated: 2, actual: 1 };
        assert_eq!(native_fault(0x87, &bytes), Malformed::new("count", fault));
        let fault = Fault::WrongSize { stated: 0, actual: 0 };
        assert_eq!(native_fault(0x87, &[0; 14]), Malformed::new("count", fault));
    }

    #[test]
    fn flags_that_do_not_exist_are_out_of_range() {
        for flags in [8, 0x80, 0xFF] {
            let mut bytes = *LIST;
            bytes[13 + 10] = flags;
            assert_eq!(native_fault(0x87, &bytes), Malformed::out_of_range("flags", flags));
        }
    }

    #[test]
    fn create_room_carries_what_join_does_and_the_rooms_name() {
        let packet = CreateRoom {
            nonce: 0x0102_0304_0506_0708,
            cookie: Secret([0xC0; 16]),
            protocol: 1,
            game: 0x5254_5950,
            game_version: 2,
            layout: 0x1A70_007E,
            budget: Budget::MAX,
            name: Name::new("Alice"),
            room_name: Name::new("Hangar"),
            password: Name::new("sesame"),
            data: JoinData::new(b"red").unwrap(),
            token: Token::new(b"tok").unwrap(),
        };
        let bytes = b"\x01\x02\x03\x04\x05\x06\x07\x08\
            \xC0\xC0\xC0\xC0\xC0\xC0\xC0\xC0\xC0\xC0\xC0\xC0\xC0\xC0\xC0\xC0\
            \x00\x01RTYP\x00\x02\x1A\x70\x00\x7E\x04\xB0\
            Alice\0\0\0\0\0\0\0\0\0\0\0Hangar\0\0\0\0\0\0\0\0\0\0\
            sesame\0\0\0\0\0\0\0\0\0\0\x03red\x00\x03tok";
        check_native(0x0A, bytes, Packet::CreateRoom(packet));
        let mut long = *bytes;
        long[69] = b'!';
        assert_eq!(native_fault(0x0A, &long), Malformed::new("room_name", Fault::AfterNul));
        let mut narrow = *bytes;
        narrow[36..38].copy_from_slice(&1023_u16.to_be_bytes());
        assert_eq!(native_fault(0x0A, &narrow), Malformed::out_of_range("budget", 1023));
        let trailing = Malformed::new("CreateRoom", Fault::Trailing { extra: 1 });
        assert_eq!(native_fault(0x0A, &[&bytes[..], &[0]].concat()), trailing);
    }

    #[test]
    fn the_longest_question_fits_the_least_budget_and_leaves_room_for_a_seal() {
        // Token and join data share what there is.
        let (token, name) = ([0xFF; Token::MAX], Name::new("fifteen bytes.."));
        let (data, token) = (&[0xFF; JoinData::MAX], &token[JoinData::MAX..]);
        let packet = CreateRoom {
            nonce: u64::MAX,
            cookie: Secret([0xC0; 16]),
            protocol: 2,
            game: u32::MAX,
            game_version: 1,
            layout: u32::MAX,
            budget: Budget::MAX,
            name,
            room_name: name,
            password: name,
            data: JoinData::new(data).unwrap(),
            token: Token::new(token).unwrap(),
        };
        let mut out = [0; MAX_DATAGRAM_LEN];
        let datagram = Datagram { sequence: 1, packet: Packet::CreateRoom(packet) };
        let len = datagram.encode(&mut out).unwrap();
        // An X25519 key and two tags of AES-GCM.
        assert!(len + 32 + 2 * 16 <= MIN_BUDGET.into(), "{len}");
    }

    #[test]
    fn enter_room_carries_role_and_password() {
        let packet = EnterRoom {
            session: SessionIndex::new(3).unwrap(),
            nonce: 0x0102_0304_0506_0708,
            room: 7,
            role: Role::Watch,
            password: Name::new("sesame"),
        };
        check_native(0x08, ENTER, Packet::EnterRoom(packet));
        let mut bytes = *ENTER;
        bytes[14] = 2;
        assert_eq!(native_fault(0x08, &bytes), Malformed::out_of_range("role", 2));
        let mut bytes = *ENTER;
        bytes[30] = b'!';
        assert_eq!(native_fault(0x08, &bytes), Malformed::new("password", Fault::AfterNul));
        let trailing = Malformed::new("EnterRoom", Fault::Trailing { extra: 1 });
        assert_eq!(native_fault(0x08, &[&ENTER[..], &[0]].concat()), trailing);
    }
}
