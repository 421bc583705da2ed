//! Matchmaking: Probe and Probed between anyone and a game server, Seek, Waiting and Matched between
//! a player and a matchmaker.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use super::Secret;
use crate::wire::field::{Big, Field, fields, serialize_counted};
use crate::wire::malformed::Malformed;
use crate::wire::{List, Name, Reader, Record, Writer};

/// The most servers that a matchmaker has, and so the most reports in a Seek.
pub const MATCH_SERVERS_MAX: usize = 16;

/// How far am I from this server, as it measures? As long as its answer.
///
/// ```text
/// 0      16      24       40        68
/// | pass | stamp | cookie | padding |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Probe {
    /// What the matchmaker knows the asker by.
    pub pass: Secret,
    /// The last Probed's; 0 in the first Probe.
    pub stamp: u64,
    /// The last Probed's; zeros in the first Probe.
    pub cookie: Secret,
}

fields!(Big Probe { pass, stamp, cookie } padding Probed::LEN - 40);

/// A game server answers a Probe, and keeps nothing.
///
/// ```text
/// 0      16       24      32       48           52     68
/// | pass | server | stamp | cookie | round_trip | seal |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Probed {
    /// The Probe's.
    pub pass: Secret,
    /// Which server this is: a number that it draws when it starts.
    pub server: u64,
    /// When this was sent, on the server's clock, in ns. Goes into the next Probe.
    pub stamp: u64,
    /// Proves the stamp. Goes into the next Probe.
    pub cookie: Secret,
    /// The time from the stamp in the Probe to its arrival, in µs; 0 if it had no good one.
    pub round_trip: u32,
    /// Proves server, pass and round trip to the matchmaker; zeros without a round trip.
    pub seal: Secret,
}

impl Probed {
    const LEN: usize = 68;
}

fields!(Big Probed { pass, server, stamp, cookie, round_trip, seal });

/// A player asks a matchmaker for others to play with, and says how far each server is.
///
/// ```text
/// 0       8        24         26     30             32      33                    33 + 21 count
/// | nonce | cookie | protocol | game | game_version | count | RoundTripReport ... |
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seek<'a> {
    /// The Hello's.
    pub nonce: u64,
    /// The Challenge's.
    pub cookie: Secret,
    /// The protocol version that the client speaks.
    pub protocol: u16,
    /// The game; [`Seek::NO_GAME`] from someone who no longer waits.
    pub game: u32,
    /// The version of its rules.
    pub game_version: u16,
    /// What servers have measured, at most [`MATCH_SERVERS_MAX`].
    pub reports: List<'a, RoundTripReport>,
}

impl Seek<'_> {
    /// No longer any game: forget me.
    pub const NO_GAME: u32 = 0;
}

fields!(Big Seek<'a> { nonce, cookie, protocol, game, game_version, reports });

serialize_counted!(Seek { nonce, cookie, protocol, game, game_version } reports);

/// What one server has measured.
///
/// ```text
/// 0       1            5      21
/// | index | round_trip | seal |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RoundTripReport {
    /// Which server of the Waiting's list, from 0.
    pub index: u8,
    /// The Probed's.
    pub round_trip: u32,
    /// The Probed's.
    pub seal: Secret,
}

impl Record for RoundTripReport {
    const LEN: usize = 21;
    const MOST: u8 = MATCH_SERVERS_MAX as u8;

    fn decode(r: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(RoundTripReport {
            index: match r.u8("index")? {
                index if usize::from(index) < MATCH_SERVERS_MAX => index,
                index => return Err(Malformed::out_of_range("index", index)),
            },
            round_trip: match r.u32_be("round_trip")? {
                0 => return Err(Malformed::out_of_range("round_trip", 0)),
                round_trip => round_trip,
            },
            seal: <Secret as Field>::decode(r, "seal")?,
        })
    }

    fn encode(&self, w: &mut Writer<'_>) {
        w.u8(self.index);
        w.u32_be(self.round_trip);
        w.bytes(&self.seal.0);
    }
}

/// The player waits, and these are the servers to probe.
///
/// ```text
/// 0       8      24        26      27                  27 + 18 count
/// | nonce | pass | waiting | count | ServerAddress ... |
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Waiting<'a> {
    /// The Seek's.
    pub nonce: u64,
    /// What servers put under their seals.
    pub pass: Secret,
    /// How many wait for this game, the player among them.
    pub waiting: u16,
    /// The servers, at most [`MATCH_SERVERS_MAX`] and always in the same order.
    pub servers: List<'a, ServerAddress>,
}

fields!(Big Waiting<'a> { nonce, pass, waiting, servers });

serialize_counted!(Waiting { nonce, pass, waiting } servers);

/// Where a server is. An IPv4 address is in its IPv6-mapped form.
///
/// ```text
/// 0    16     18
/// | ip | port |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerAddress(SocketAddr);

impl ServerAddress {
    /// The address on the wire; `None` for port 0, where no server is.
    pub fn new(address: SocketAddr) -> Option<Self> {
        let ip = address.ip().to_canonical();
        (address.port() != 0).then_some(ServerAddress(SocketAddr::new(ip, address.port())))
    }

    /// Where it is.
    pub const fn socket_addr(self) -> SocketAddr {
        self.0
    }

    fn octets(self) -> [u8; 16] {
        match self.0.ip() {
            IpAddr::V4(ip) => ip.to_ipv6_mapped().octets(),
            IpAddr::V6(ip) => ip.octets(),
        }
    }
}

impl Record for ServerAddress {
    const LEN: usize = 18;
    const MOST: u8 = MATCH_SERVERS_MAX as u8;

    fn decode(r: &mut Reader<'_>) -> Result<Self, Malformed> {
        let ip = IpAddr::V6(Ipv6Addr::from(r.array::<16>("ip")?));
        let port = r.u16_be("port")?;
        let address = ServerAddress::new(SocketAddr::new(ip, port));
        address.ok_or(Malformed::out_of_range("port", port))
    }

    fn encode(&self, w: &mut Writer<'_>) {
        w.bytes(&self.octets());
        w.u16_be(self.0.port());
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for ServerAddress {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut fields = serializer.serialize_struct("ServerAddress", 2)?;
        fields.serialize_field("ip", &Secret(self.octets()))?;
        fields.serialize_field("port", &self.0.port())?;
        fields.end()
    }
}

/// Go there: a room for the players who were put together.
///
/// ```text
/// 0       8    24     26          42         58     59        60      64
/// | nonce | ip | port | room_name | password | seat | players | worst |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Matched {
    /// The Seek's.
    pub nonce: u64,
    /// The server.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub server: ServerAddress,
    /// The room, which the players make; empty is any room of the server.
    pub room_name: Name,
    /// The password that it is made with.
    pub password: Name,
    /// Which of the players this is, from 0: who makes the room first.
    pub seat: u8,
    /// How many were put together.
    pub players: u8,
    /// The longest round trip among them, in µs.
    pub worst: u32,
}

impl Matched {
    pub(super) fn decode(r: &mut Reader<'_>) -> Result<Self, Malformed> {
        let nonce = r.u64_be("nonce")?;
        let server = ServerAddress::decode(r)?;
        let (room_name, password) = (Name::decode(r, "room_name")?, Name::decode(r, "password")?);
        let seat = r.u8("seat")?;
        let players = match r.u8("players")? {
            players if players > seat => players,
            players => return Err(Malformed::out_of_range("players", players)),
        };
        let worst = r.u32_be("worst")?;
        Ok(Matched { nonce, server, room_name, password, seat, players, worst })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        debug_assert!(self.seat < self.players, "a seat is one of the players'");
        w.u64_be(self.nonce);
        self.server.encode(w);
        self.room_name.encode(w);
        self.password.encode(w);
        w.u8(self.seat);
        w.u8(self.players);
        w.u32_be(self.worst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::malformed::Fault;
    use crate::wire::native::Packet;
    use crate::wire::testing::{check_native, native_fault};

    const NONCE: u64 = 0x0102_0304_0506_0708;

    fn address(text: &str) -> ServerAddress {
        ServerAddress::new(text.parse().unwrap()).unwrap()
    }

    #[test]
    fn a_probe_is_padded_to_the_length_of_its_answer() {
        let (pass, cookie) = (Secret([0xAA; 16]), Secret([0xC0; 16]));
        let probe = Probe { pass, stamp: 0x0102_0304_0506_0708, cookie };
        let mut bytes = [0; 68];
        bytes[..16].fill(0xAA);
        bytes[16..24].copy_from_slice(&[1, 2, 3, 4, 5, 6, 7, 8]);
        bytes[24..40].fill(0xC0);
        check_native(0x0B, &bytes, Packet::Probe(probe));
        bytes[67] = 1;
        assert_eq!(native_fault(0x0B, &bytes), Malformed::out_of_range("padding", 1));
        let trailing = Malformed::new("Probe", Fault::Trailing { extra: 1 });
        assert_eq!(native_fault(0x0B, &[0; 69]), trailing);
    }

    #[test]
    fn a_probed_has_a_round_trip_and_its_seal() {
        let probed = Probed {
            pass: Secret([0xAA; 16]),
            server: 7,
            stamp: 9,
            cookie: Secret([0xC0; 16]),
            round_trip: 35_000,
            seal: Secret([0x5E; 16]),
        };
        let mut bytes = [0; 68];
        bytes[..16].fill(0xAA);
        (bytes[23], bytes[31]) = (7, 9);
        bytes[32..48].fill(0xC0);
        bytes[48..52].copy_from_slice(&[0, 0, 0x88, 0xB8]);
        bytes[52..].fill(0x5E);
        check_native(0x8A, &bytes, Packet::Probed(probed));
        let trailing = Malformed::new("Probed", Fault::Trailing { extra: 1 });
        assert_eq!(native_fault(0x8A, &[0; 69]), trailing);
    }

    #[test]
    fn a_seek_has_a_report_for_each_server_that_was_measured() {
        let reports = [RoundTripReport { index: 15, round_trip: 35_000, seal: Secret([0x5E; 16]) }];
        let seek = Seek {
            nonce: NONCE,
            cookie: Secret([0xC0; 16]),
            protocol: 1,
            game: 0x5254_5950,
            game_version: 2,
            reports: List::new(&reports),
        };
        let bytes = b"\x01\x02\x03\x04\x05\x06\x07\x08\
            \xC0\xC0\xC0\xC0\xC0\xC0\xC0\xC0\xC0\xC0\xC0\xC0\xC0\xC0\xC0\xC0\
            \x00\x01RTYP\x00\x02\x01\x0F\x00\x00\x88\xB8\
            \x5E\x5E\x5E\x5E\x5E\x5E\x5E\x5E\x5E\x5E\x5E\x5E\x5E\x5E\x5E\x5E";
        check_native(0x0C, bytes, Packet::Seek(seek));
        let mut far = *bytes;
        far[33] = 16;
        assert_eq!(native_fault(0x0C, &far), Malformed::out_of_range("index", 16));
        let mut none = *bytes;
        none[34..38].fill(0);
        assert_eq!(native_fault(0x0C, &none), Malformed::out_of_range("round_trip", 0));
        let mut two = *bytes;
        two[32] = 2;
        let fault = Fault::WrongSize { stated: 2, actual: 1 };
        assert_eq!(native_fault(0x0C, &two), Malformed::new("count", fault));
    }

    #[test]
    fn sixteen_servers_fit_and_seventeen_do_not() {
        let servers = [address("192.0.2.1:4300"); MATCH_SERVERS_MAX];
        let mut bytes = vec![0; 24];
        bytes.extend([0, 5, 16]);
        for _ in 0..MATCH_SERVERS_MAX {
            bytes.extend([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 192, 0, 2, 1, 0x10, 0xCC]);
        }
        let waiting =
            Waiting { nonce: 0, pass: Secret([0; 16]), waiting: 5, servers: List::new(&servers) };
        check_native(0x8B, &bytes, Packet::Waiting(waiting));
        bytes[26] = 17;
        bytes.extend([0; 18]);
        assert_eq!(native_fault(0x8B, &bytes), Malformed::out_of_range("count", 17));
    }

    #[test]
    fn matched_names_a_server_a_room_and_a_seat() {
        let matched = Matched {
            nonce: NONCE,
            server: address("[2001:db8::1]:4300"),
            room_name: Name::new("match-1"),
            password: Name::new("sesame"),
            seat: 3,
            players: 4,
            worst: 35_000,
        };
        let bytes = b"\x01\x02\x03\x04\x05\x06\x07\x08\
            \x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01\x10\xCC\
            match-1\0\0\0\0\0\0\0\0\0sesame\0\0\0\0\0\0\0\0\0\0\
            \x03\x04\x00\x00\x88\xB8";
        check_native(0x8C, bytes, Packet::Matched(matched));
        let mut nobody = *bytes;
        nobody[59] = 3;
        assert_eq!(native_fault(0x8C, &nobody), Malformed::out_of_range("players", 3));
        let mut nowhere = *bytes;
        nowhere[24..26].fill(0);
        assert_eq!(native_fault(0x8C, &nowhere), Malformed::out_of_range("port", 0));
        let trailing = Malformed::new("Matched", Fault::Trailing { extra: 1 });
        assert_eq!(native_fault(0x8C, &[&bytes[..], &[0]].concat()), trailing);
    }
}
