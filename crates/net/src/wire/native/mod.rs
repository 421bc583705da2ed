//! `native`: the R-Type ACK system of document 004, extended to a whole session. Big-endian.
//!
//! A [`Datagram`] is a header and one [`Packet`]. Types below 0x80 go to the server, the others to
//! a client. After Accept, what a client sends begins with its session index.

mod discovery;
mod envelope;
mod handshake;
mod input;
mod matching;
mod messages;
mod ping;
mod rooms;
mod session;
mod snapshot;
mod view_snapshot;

pub use discovery::{Discover, Here};
pub use envelope::{Datagram, HEADER_LEN, Label, MAX_DATAGRAM_LEN, MIN_BUDGET, VERSION, has_shape};
pub use handshake::{
    Accept, Budget, Challenge, Hello, Join, JoinData, PROTOCOL, Reject, RejectReason, Resume, Role,
    Secret, Token,
};
pub use input::{
    Acks, History, Input, InputRecord, MAX_HISTORY, SnapshotAck, SnapshotEcho, held_for, held_units,
};
pub use matching::{
    MATCH_SERVERS_MAX, Matched, Probe, Probed, RoundTripReport, Seek, ServerAddress, Waiting,
};
pub use messages::{
    BlockWriter, ClientMessages, MAX_MESSAGE_LEN, MAX_SELECTIVE_LEN, Message, MessageBlock,
    MessageKind, Reliable, Selective, ServerMessages, Unreliable,
};
pub use ping::{ClientPong, Ping, Pong, ServerPing};
pub use rooms::{CreateRoom, EnterRoom, ListRooms, RoomEntry, RoomFlags, RoomList};
pub use session::{Close, CloseReason, Goodbye, PlayerFlags, Roster, RosterEntry, UnknownSession};
pub use snapshot::{DeltaSnapshot, Feedback, MAX_BASELINE_BACK, nearest_tick};
pub use view_snapshot::ViewSnapshot;

use std::num::NonZeroU16;

use super::field::{Field, packets};
use super::{Malformed, Reader, Writer};

/// What the dialect is called.
pub const DIALECT: &str = "native";

/// The UDP port of a server, for both games.
pub const DEFAULT_PORT: u16 = 4300;

/// Which session of the server a client's datagram belongs to: a routing index, no secret.
pub type SessionIndex = NonZeroU16;

packets! {
    Packet<'a>
    0x01 Hello "Hello" ToServer, "A stranger asks for a challenge.";
    0x02 Join<'a> "Join" ToServer, "With the challenge's cookie: a place to play or watch.";
    0x03 Discover "Discover" ToServer, "Is there a server?";
    0x04 Ping "Ping" ToServer, "How far is the server, and is it there?";
    0x05 ClientPong "ClientPong" ToServer, "The server's ping, sent back.";
    0x06 Goodbye "Goodbye" ToServer, "The client leaves.";
    0x07 ListRooms "ListRooms" ToServer, "With a cookie: which rooms are there?";
    0x08 EnterRoom "EnterRoom" ToServer, "Into another room.";
    0x09 Resume "Resume" ToServer, "With a cookie: back into the slot that the ticket names.";
    0x0A CreateRoom<'a> "CreateRoom" ToServer, "With a cookie: a room of one's own, and a place in it.";
    0x0B Probe "Probe" ToServer, "How far is the server, as it measures?";
    0x0C Seek<'a> "Seek" ToServer, "To a matchmaker, with a cookie: others to play with.";
    0x11 ClientMessages<'a> "ClientMessages" ToServer, "What a client has to say.";
    0x12 SnapshotAck<'a> "SnapshotAck" ToServer, "Which snapshot a watcher has.";
    0x14 Input<'a> "Input" ToServer, "The buttons for a tick, and all before it that are not acknowledged.";
    0x81 Challenge "Challenge" ToClient, "Prove your address with this.";
    0x82 Accept "Accept" ToClient, "The place, and what is needed to use it.";
    0x83 Here "Here" ToClient, "A server answers a search.";
    0x84 ServerPing "ServerPing" ToClient, "How far is the client, and is it there?";
    0x85 Pong "Pong" ToClient, "The client's ping, sent back.";
    0x86 Close "Close" ToClient, "The server ends the session.";
    0x87 RoomList<'a> "RoomList" ToClient, "The rooms.";
    0x88 Reject "Reject" ToClient, "No place, and why.";
    0x89 UnknownSession "UnknownSession" ToClient, "No such session: a hint to resume.";
    0x8A Probed "Probed" ToClient, "The round trip as the server measures it, sealed for a matchmaker.";
    0x8B Waiting<'a> "Waiting" ToClient, "The player waits, and these are the servers.";
    0x8C Matched "Matched" ToClient, "Who was put together, and where they play.";
    0x90 Roster<'a> "Roster" ToClient, "Who plays.";
    0xA1 DeltaSnapshot<'a> "DeltaSnapshot" ToClient, "The world, against one that the client has.";
    0xA2 ServerMessages<'a> "ServerMessages" ToClient, "What a server has to say.";
    0xA4 ViewSnapshot<'a> "ViewSnapshot" ToClient, "What a client may see of the world, against what it has.";
}

impl Packet<'_> {
    /// Whether packets of type `kind` are a client's that begin with the index of its session.
    #[inline]
    pub(super) const fn is_in_session(kind: u8) -> bool {
        matches!(kind, 0x04..=0x06 | 0x08 | 0x11 | 0x12 | 0x14)
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
            Packet::ClientMessages(packet) => Some(packet.session),
            Packet::SnapshotAck(packet) => Some(packet.session),
            _ => None,
        }
    }
}

impl Field<'_> for SessionIndex {
    #[inline]
    fn decode(r: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        let index = r.u16_be(field)?;
        SessionIndex::new(index).ok_or(Malformed::out_of_range(field, index))
    }

    #[inline]
    fn encode(&self, w: &mut Writer<'_>) {
        w.u16_be(self.get());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::testing::native_fault;
    use crate::wire::{Direction, Fault, List, Name};

    #[test]
    fn types_below_0x80_go_to_the_server() {
        let known: Vec<u8> = (0..=255).filter(|&kind| Packet::is_known(kind)).collect();
        let to_server = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0x11, 0x12, 0x14];
        let to_client = [
            0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8A, 0x8B, 0x8C, 0x90, 0xA1,
            0xA2, 0xA4,
        ];
        assert_eq!(known, [&to_server[..], &to_client].concat());
        let ping = Ping { session: None, id: 0, timestamp: 0 };
        assert_eq!(Packet::Ping(ping).direction(), Direction::ToServer);
        assert_eq!(Packet::Pong(ping.pong()).direction(), Direction::ToClient);
    }

    #[test]
    fn a_type_without_a_packet_is_unknown() {
        for kind in [0, 0x0D, 0x10, 0x13, 0x15, 0x7F, 0x80, 0x8D, 0xA0, 0xA3, 0xA5, 0xFF] {
            let fault = Malformed::new("type", Fault::UnknownType(kind));
            assert_eq!(native_fault(kind, &[]), fault);
            assert_eq!(Packet::decode_payload(kind, &[]), Err(fault));
        }
    }

    #[test]
    fn session_0_belongs_to_nobody() {
        let in_session = [0x05, 0x06, 0x08, 0x11, 0x12, 0x14, 0x86, 0x89];
        for kind in in_session {
            let fault = Malformed::out_of_range("session", 0);
            assert_eq!(native_fault(kind, &[0; 40]), fault, "type {kind:#04x}");
        }
        assert_eq!(
            native_fault(0x82, &[0; 42]),
            Malformed::out_of_range("session", 0),
            "behind the nonce of an Accept"
        );
    }

    #[test]
    fn no_answer_to_a_stranger_is_longer_than_its_question() {
        let nonce = 1;
        let (cookie, session) = (Secret([0; 16]), SessionIndex::MIN);
        let hello = Packet::Hello(Hello { protocol: 1, game: 1, game_version: 1, nonce });
        let challenge = Packet::Challenge(Challenge { nonce, cookie, token_required: true });
        let reason = RejectReason::Full;
        let reject = Packet::Reject(Reject {
            nonce,
            reason,
            protocol: 1,
            game_version: 1,
            sentence: crate::game::Refusal::new(""),
        });
        assert!(len(challenge) <= len(hello) && len(reject) <= len(hello));

        // What a wrong cookie or ticket gets.
        let ticket = Secret([0; 16]);
        assert!(len(reject) <= len(Packet::Resume(Resume { nonce, cookie, ticket, fresh: true })));
        let list = ListRooms { nonce, cookie, game: 0, first: 0 };
        assert!(len(reject) <= len(Packet::ListRooms(list)));
        let name = Name::new("");
        let join = Join {
            nonce,
            cookie,
            protocol: 1,
            game: 1,
            game_version: 1,
            layout: 1,
            budget: Budget::MAX,
            role: Role::Play,
            room: 0,
            name,
            password: name,
            data: JoinData::default(),
            token: Token::new(&[]).unwrap(),
        };
        assert!(len(reject) <= len(Packet::Join(join)));

        let here = Here {
            nonce,
            game: 1,
            game_version: 1,
            protocol: 1,
            players: 0,
            capacity: 4,
            token_required: false,
            rooms: 1,
            name: Name::new("fifteen bytes.."),
        };
        let discover = Packet::Discover(Discover { nonce, game: 0 });
        assert!(len(Packet::Here(here)) <= len(discover));

        let ping = Ping { session: None, id: 1, timestamp: 2 };
        assert!(len(Packet::Pong(ping.pong())) <= len(Packet::Ping(ping)));

        let probe = Probe { pass: cookie, stamp: 0, cookie };
        let probed =
            Probed { pass: cookie, server: 1, stamp: 1, cookie, round_trip: 1, seal: cookie };
        assert!(len(Packet::Probed(probed)) <= len(Packet::Probe(probe)));
        let (protocol, game, game_version, reports) = (1, 1, 1, List::new(&[]));
        let seek = Seek { nonce, cookie, protocol, game, game_version, reports };
        assert!(len(challenge) <= len(Packet::Seek(seek)));
        assert!(len(reject) <= len(Packet::Seek(seek)));

        let unknown = len(Packet::UnknownSession(UnknownSession { session }));
        for packet in shortest_in_session() {
            assert!(unknown <= len(packet), "{packet:?}");
        }
    }

    #[test]
    fn a_match_of_pong_fits_its_budget() {
        let newest = InputRecord { sequence: 9, input_flags: crate::typed::RawInput(1) };
        let mut room = [0; History::MAX_LEN];
        let input = Packet::Input(Input {
            session: SessionIndex::MIN,
            newest,
            snapshot: Some(SnapshotEcho { back: 9, held: 40 }),
            drawn_back: Some(2048),
            acks: None,
            messages: None,
            history: History::new(1.into(), [1.into(); 10], &mut room),
        });
        assert_eq!(len(input), 23, "2,000 bytes a second are 33 in each of 60");
        let delta = Packet::DeltaSnapshot(DeltaSnapshot {
            tick: 9,
            baseline_back: 6,
            feedback: Some(Feedback { echo: 9, held: 80, early: 16, missing: 0, lost: 13 }),
            messages: None,
            body: &[0; 7],
        });
        assert_eq!(len(delta), 24, "1,500 bytes a second are 25 in each of 60");
    }

    /// Every packet that begins with a session index, as short as it gets.
    fn shortest_in_session() -> [Packet<'static>; 7] {
        let session = SessionIndex::MIN;
        let newest = InputRecord { sequence: 1, input_flags: crate::typed::RawInput(0) };
        let history = Packet::decode_payload(0x14, &[0, 1, 0, 0, 0, 1, 0, 0, 0]);
        let Ok(Packet::Input(Input { history, .. })) = history else { panic!("{history:?}") };
        let password = Name::new("");
        [
            Packet::Ping(Ping { session: Some(session), id: 0, timestamp: 0 }),
            Packet::ClientPong(ClientPong { session, id: 0, timestamp: 0 }),
            Packet::Goodbye(Goodbye { session }),
            Packet::EnterRoom(EnterRoom { session, nonce: 0, room: 0, role: Role::Play, password }),
            Packet::Input(Input {
                session,
                newest,
                snapshot: None,
                drawn_back: None,
                acks: None,
                messages: None,
                history,
            }),
            Packet::ClientMessages(ClientMessages {
                session,
                block: BlockWriter::new(&mut []).finish(0),
            }),
            Packet::SnapshotAck(SnapshotAck {
                session,
                server_tick: 0,
                held: 0,
                acks: None,
                messages: None,
            }),
        ]
    }

    fn len(packet: Packet<'_>) -> usize {
        Datagram { sequence: 0, packet }.encode(&mut [0; MAX_DATAGRAM_LEN]).unwrap()
    }
}
