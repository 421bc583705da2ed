//! What the endpoint says by itself: short, from no memory, and never more than was asked with.

use super::rooms::Listed;
use super::{Endpoint, RoomCard};
use crate::channel::LogLine;
use crate::node::{Path, Transmit};
use crate::wire::native::{
    Challenge, Datagram, Here, Packet, Pong, Probed, Reject, RoomEntry, RoomFlags, RoomList,
    UnknownSession,
};
use crate::wire::{Full, List};

/// How many answers wait to be sent at most; more are dropped and counted.
pub const ANSWER_LIMIT: usize = 256;

/// The longest answer in another dialect.
pub(super) const SHORT_LEN: usize = 80;

/// Rooms on one page of a list: as many as fit the shortest budget.
const ROOMS_PER_PAGE: usize = 36;

/// An answer, kept small until it is sent.
#[derive(Clone, Copy, Debug)]
pub(super) enum Answer {
    /// Of another dialect.
    Short {
        path: Path,
        bytes: [u8; SHORT_LEN],
        len: usize,
        line: Option<LogLine>,
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
            Answer::Short { line, .. } => line,
            Answer::Native { path, packet: NativeAnswer::Here(_), .. } => {
                Some(LogLine::SearchAnswered { to: path.remote })
            }
            _ => None,
        }
    }
}

impl Endpoint {
    pub(super) fn encode_answer(&self, answer: &Answer, out: &mut [u8]) -> Option<Transmit> {
        let (path, len) = match *answer {
            Answer::Short { path, bytes, len, .. } => {
                out.get_mut(..len)?.copy_from_slice(&bytes[..len]);
                (path, Ok(len))
            }
            Answer::Native { path, sequence, packet } => {
                (path, self.encode_native(sequence, packet, out))
            }
        };
        len.ok().map(|len| Transmit { path, len })
    }

    fn encode_native(
        &self,
        sequence: u32,
        packet: NativeAnswer,
        out: &mut [u8],
    ) -> Result<usize, Full> {
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
