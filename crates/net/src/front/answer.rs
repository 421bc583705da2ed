//! What the front says by itself: short, from no memory, and never more than was asked with.

use super::rooms::Listed;
use super::{Front, FrontConfig, RoomCard};
use crate::channel::LogLine;
use crate::node::{Path, Transmit};
#[cfg(any(feature = "lan", feature = "rtype"))]
use crate::wire::Full;
use crate::wire::List;
use crate::wire::native::{
    Challenge, Datagram, Here, Packet, Pong, Probed, Reject, RoomEntry, RoomFlags, RoomList,
    UnknownSession,
};
#[cfg(feature = "rtype")]
use crate::wire::rtype;

/// How many answers wait to be sent at most; more are dropped and counted.
pub const ANSWER_LIMIT: usize = 256;

/// Rooms on one page of a list: as many as fit the shortest budget.
const ROOMS_PER_PAGE: usize = 36;

/// An answer, kept small until it is sent.
#[derive(Clone, Copy, Debug)]
pub(super) enum Answer {
    #[cfg(feature = "lan")]
    HostHere {
        path: Path,
    },
    #[cfg(feature = "rtype")]
    HelloAck {
        path: Path,
    },
    #[cfg(feature = "rtype")]
    RtypePing {
        path: Path,
        ping: rtype::Ping,
    },
    #[cfg(feature = "rtype")]
    RtypePong {
        path: Path,
        ping: rtype::Ping,
    },
    Native {
        path: Path,
        sequence: u32,
        packet: NativeAnswer,
    },
}

/// An answer in `native`. Its header carries the number of the datagram that asked.
#[derive(Clone, Copy, Debug)]
pub(super) enum NativeAnswer {
    Challenge(Challenge),
    Reject(Reject),
    Here(Here),
    Pong(Pong),
    Probed(Probed),
    UnknownSession(UnknownSession),
    /// To a proved address only: it may be longer than the question.
    RoomList {
        nonce: u64,
        game: u32,
        first: u16,
    },
}

impl Answer {
    /// What the log says of it, when it has left.
    pub(super) fn line(&self) -> Option<LogLine> {
        match *self {
            #[cfg(feature = "lan")]
            Answer::HostHere { path } => Some(LogLine::SearchAnswered { to: path.remote }),
            #[cfg(feature = "rtype")]
            Answer::HelloAck { path } => Some(LogLine::HelloAckSent { to: path.remote }),
            Answer::Native { path, packet: NativeAnswer::Here(_), .. } => {
                Some(LogLine::SearchAnswered { to: path.remote })
            }
            _ => None,
        }
    }
}

impl Front {
    pub(super) fn encode_answer(&self, answer: &Answer, out: &mut [u8]) -> Option<Transmit> {
        let (path, len) = match *answer {
            #[cfg(feature = "lan")]
            Answer::HostHere { path } => (path, self.encode_host_here(out)),
            #[cfg(feature = "rtype")]
            Answer::HelloAck { path } => {
                (path, rtype::Packet::HelloAck(rtype::HelloAck).encode(out))
            }
            #[cfg(feature = "rtype")]
            Answer::RtypePing { path, ping } => (path, rtype::Packet::Ping(ping).encode(out)),
            #[cfg(feature = "rtype")]
            Answer::RtypePong { path, ping } => {
                (path, rtype::Packet::Pong(ping.pong()).encode(out))
            }
            Answer::Native { path, sequence, packet } => {
                (path, self.encode_native(sequence, packet, out))
            }
        };
        len.ok().map(|len| Transmit { path, len })
    }

    #[cfg(feature = "lan")]
    fn encode_host_here(&self, out: &mut [u8]) -> Result<usize, Full> {
        use crate::wire::lan::{HostHere, Packet, Upgrade};
        let FrontConfig { native_port, lan_port: port, .. } = self.config;
        let upgrade = (native_port != 0).then_some(Upgrade { native_port, flags: 0 });
        Packet::HostHere(HostHere { port, upgrade }).encode(out)
    }

    fn encode_native(
        &self,
        sequence: u32,
        packet: NativeAnswer,
        out: &mut [u8],
    ) -> Result<usize, crate::wire::Full> {
        let send = |packet, out: &mut [u8]| Datagram { sequence, packet }.encode(out);
        match packet {
            NativeAnswer::Challenge(packet) => send(Packet::Challenge(packet), out),
            NativeAnswer::Reject(packet) => send(Packet::Reject(packet), out),
            NativeAnswer::Here(packet) => send(Packet::Here(packet), out),
            NativeAnswer::Pong(packet) => send(Packet::Pong(packet), out),
            NativeAnswer::Probed(packet) => send(Packet::Probed(packet), out),
            NativeAnswer::UnknownSession(packet) => send(Packet::UnknownSession(packet), out),
            NativeAnswer::RoomList { nonce, game, first } => {
                let all: Vec<_> = self.room_entries(game).collect();
                let total = all.len() as u16;
                let page = all.get(usize::from(first)..).unwrap_or_default();
                let page = &page[..page.len().min(ROOMS_PER_PAGE)];
                let list = RoomList { nonce, total, first, rooms: List::new(page) };
                send(Packet::RoomList(list), out)
            }
        }
    }

    fn room_entries(&self, game: u32) -> impl Iterator<Item = RoomEntry> + '_ {
        let of_game = move |card: &RoomCard| game == 0 || card.game.game == game;
        let rooms = self.rooms.iter().filter(move |(_, listed)| of_game(&listed.card));
        rooms.map(|(room, &Listed { number, card, stage, .. })| RoomEntry {
            room: number,
            game: card.game.game,
            players: self.playing(room) as u8,
            capacity: card.capacity,
            flags: [
                (!card.password.is_empty(), RoomFlags::LOCKED),
                (stage.started, RoomFlags::STARTED),
                (stage.late_joining, RoomFlags::LATE_JOIN),
            ]
            .into_iter()
            .filter(|(is_so, _)| *is_so)
            .fold(RoomFlags::default(), |flags, (_, flag)| flags | flag),
            name: card.name,
        })
    }
}
