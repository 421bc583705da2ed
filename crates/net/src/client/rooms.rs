//! Asks servers which rooms they have, and how far away they are (`native`).
//!
//! A Hello gets a Challenge, the cookie gets the list, page by page; how long the answers take is
//! the ping. Whoever chooses where to play runs this before there is a [`Client`](super::Client),
//! which then joins the room by its number.

use std::time::Duration;

use crate::game::GameId;
use crate::node::{Node, Path, StreamNode, Transmit};
use crate::peer::PeerAddr;
use crate::session::{EndReason, Outgoing, Retry, RetryPolicy, RetryStep, Secrets};
use crate::time::Time;
use crate::wire::Name;
use crate::wire::native::{
    Budget, Datagram, Hello, ListRooms, PROTOCOL, Packet, RoomEntry, RoomFlags, RoomList, Secret,
};

/// Servers that are asked at once; more are left out.
pub const SERVER_LIMIT: usize = 64;

/// Rooms of one server that are listed; more are left out.
pub const LISTED_LIMIT: usize = 1024;

/// A list is asked for again after so long.
const AGAIN_AFTER: Duration = Duration::from_secs(2);

/// Of two servers whose pings differ by less, the one with the fuller room is better.
const CLOSE_ENOUGH: Duration = Duration::from_millis(20);

/// Questions whose answers are told apart.
const ASKED_LIMIT: usize = 16;

/// What is known of one server.
#[derive(Clone, Debug)]
pub struct ServerRooms {
    /// The server.
    pub address: PeerAddr,
    /// How far the asking has come.
    pub status: ListStatus,
    /// The shortest that an answer took.
    pub ping: Option<Duration>,
    /// The rooms, as they were listed last.
    pub rooms: Vec<RoomEntry>,
}

/// How far the asking has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListStatus {
    /// There is no list yet.
    Asking,
    /// There is one; it is asked for again every two seconds.
    Listed,
    /// There is none, and why. It is not asked again.
    Failed(EndReason),
}

/// A room to go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoomPick {
    /// Where.
    pub server: PeerAddr,
    /// Which: [`ClientConfig::room`](super::ClientConfig::room).
    pub room: RoomEntry,
    /// How far away.
    pub ping: Duration,
}

/// Asks servers for their rooms until it is dropped.
#[derive(Debug)]
pub struct Rooms {
    game: GameId,
    inquiries: Vec<Inquiry>,
}

/// The asking of one server.
#[derive(Debug)]
struct Inquiry {
    path: Path,
    nonce: u64,
    cookie: Option<Secret>,
    outgoing: Outgoing,
    retry: Retry,
    /// Copies of the question that are to be sent.
    due: u8,
    /// When the last questions were sent, the oldest first.
    asked: Vec<(u32, Time)>,
    /// The pages of the list that have come so far.
    pages: Vec<RoomEntry>,
    /// When to begin again; `None` while it is being asked.
    again: Option<Time>,
    known: ServerRooms,
}

impl Rooms {
    /// Asks `servers`, at their `native` ports, for rooms of `game`. `seed` must come from the
    /// system's generator.
    pub fn new(
        now: Time,
        game: GameId,
        servers: &[impl Copy + Into<PeerAddr>],
        seed: [u8; 32],
    ) -> Self {
        let mut secrets = Secrets::new(seed);
        let servers = servers.iter().take(SERVER_LIMIT).map(|&server| server.into());
        let inquiries = servers.map(|server| Inquiry::new(now, server, &mut secrets)).collect();
        Rooms { game, inquiries }
    }

    /// What is known of each server, in the order they were given.
    pub fn servers(&self) -> impl Iterator<Item = &ServerRooms> {
        self.inquiries.iter().map(|inquiry| &inquiry.known)
    }

    /// Whether every server has answered or was given up.
    pub fn is_settled(&self) -> bool {
        self.servers().all(|server| server.status != ListStatus::Asking)
    }

    /// The room of this name; the nearest, if several servers have one.
    pub fn named(&self, name: Name) -> Option<RoomPick> {
        self.picks().filter(|pick| pick.room.name == name).min_by_key(|pick| pick.ping)
    }

    /// The best room that anyone may enter and play in at once: of those that are as near as the
    /// nearest, or nearly, the fullest.
    pub fn best(&self) -> Option<RoomPick> {
        let open = || self.picks().filter(|pick| is_open(&pick.room));
        let nearest = open().map(|pick| pick.ping).min()?;
        let near = open().filter(|pick| pick.ping <= nearest + CLOSE_ENOUGH);
        // The first of equals: servers and rooms come in the order of a person's choice.
        near.min_by_key(|pick| (u8::MAX - pick.room.players, pick.ping))
    }

    fn picks(&self) -> impl Iterator<Item = RoomPick> {
        self.servers().flat_map(|server| {
            let (address, ping) = (server.address, server.ping.unwrap_or(Duration::MAX / 2));
            server.rooms.iter().map(move |&room| RoomPick { server: address, room, ping })
        })
    }
}

/// Whether anyone may enter, and plays at once.
fn is_open(room: &RoomEntry) -> bool {
    let plays =
        !room.flags.contains(RoomFlags::STARTED) || room.flags.contains(RoomFlags::LATE_JOIN);
    plays && room.players < room.capacity && !room.flags.contains(RoomFlags::LOCKED)
}

impl Inquiry {
    fn new(now: Time, server: PeerAddr, secrets: &mut Secrets) -> Self {
        Inquiry {
            path: Path::to(server),
            nonce: secrets.nonce(),
            cookie: None,
            outgoing: Outgoing::new(secrets.sequence(), Budget::MAX),
            retry: Retry::new(now, RetryPolicy::HELLO),
            due: 0,
            asked: Vec::with_capacity(ASKED_LIMIT),
            pages: Vec::new(),
            again: None,
            known: ServerRooms {
                address: server,
                status: ListStatus::Asking,
                ping: None,
                rooms: Vec::new(),
            },
        }
    }

    fn has_failed(&self) -> bool {
        matches!(self.known.status, ListStatus::Failed(_))
    }

    fn fail(&mut self, reason: EndReason) {
        self.known.status = ListStatus::Failed(reason);
        self.known.rooms.clear();
        self.due = 0;
    }

    /// The next question goes out at once.
    fn ask_next(&mut self, now: Time) {
        self.again = None;
        self.retry = Retry::new(now, RetryPolicy::HELLO);
    }

    fn handle(&mut self, now: Time, game: GameId, datagram: &Datagram<'_>) {
        let waits = self.again.is_none() && !self.has_failed();
        match datagram.packet {
            Packet::Challenge(challenge) if waits && challenge.nonce == self.nonce => {
                self.measure(now, datagram.sequence);
                self.cookie = Some(challenge.cookie);
                self.ask_next(now);
            }
            Packet::RoomList(list) if waits && list.nonce == self.nonce => {
                self.measure(now, datagram.sequence);
                self.turn_page(now, &list);
            }
            Packet::Reject(reject) if waits && reject.nonce == self.nonce => {
                self.fail(EndReason::from_reject(&reject, game.version));
            }
            _ => {}
        }
    }

    /// The answer carries the number of the question.
    fn measure(&mut self, now: Time, sequence: u32) {
        let asked = self.asked.iter().find(|(asked, _)| *asked == sequence);
        if let Some((_, at)) = asked {
            let ping = now.since(*at);
            self.known.ping = Some(self.known.ping.map_or(ping, |least| least.min(ping)));
        }
    }

    fn turn_page(&mut self, now: Time, list: &RoomList<'_>) {
        // A page that was asked for twice comes twice.
        if usize::from(list.first) != self.pages.len() {
            return;
        }
        let room = LISTED_LIMIT - self.pages.len();
        self.pages.extend(list.rooms.iter().take(room));
        let is_last = list.rooms.is_empty() || self.pages.len() >= usize::from(list.total);
        if !is_last && self.pages.len() < LISTED_LIMIT {
            self.ask_next(now);
            return;
        }
        std::mem::swap(&mut self.known.rooms, &mut self.pages);
        self.pages.clear();
        self.known.status = ListStatus::Listed;
        self.due = 0;
        self.again = Some(now + AGAIN_AFTER);
    }

    fn handle_timeout(&mut self, now: Time) {
        if self.has_failed() {
            return;
        }
        match self.again {
            Some(again) if again <= now => self.ask_next(now),
            Some(_) => return,
            None => {}
        }
        match self.retry.poll(now) {
            RetryStep::Wait => {}
            RetryStep::Send { copies } => self.due = copies,
            RetryStep::GiveUp => self.fail(EndReason::NoAnswer { address: self.known.address }),
        }
    }

    fn poll_timeout(&self) -> Option<Time> {
        match self.again {
            _ if self.has_failed() => None,
            Some(again) => Some(again),
            None => Some(self.retry.deadline()),
        }
    }

    fn poll_transmit(&mut self, now: Time, game: GameId, out: &mut [u8]) -> Option<Transmit> {
        self.due = self.due.checked_sub(1)?;
        let nonce = self.nonce;
        let packet = match self.cookie {
            None => Packet::Hello(Hello {
                protocol: PROTOCOL,
                game: game.game,
                game_version: game.version,
                nonce,
            }),
            Some(cookie) => {
                let first = self.pages.len() as u16;
                Packet::ListRooms(ListRooms { nonce, cookie, game: game.game, first })
            }
        };
        if self.asked.len() == ASKED_LIMIT {
            self.asked.remove(0);
        }
        self.asked.push((self.outgoing.next(), now));
        let len = self.outgoing.encode(packet, out).ok()?;
        Some(Transmit { path: self.path, len })
    }
}

impl Node for Rooms {
    fn handle_datagram(&mut self, now: Time, path: Path, bytes: &mut [u8]) {
        let from = |inquiry: &&mut Inquiry| inquiry.known.address == path.remote;
        let Some(inquiry) = self.inquiries.iter_mut().find(from) else { return };
        if let Ok(datagram) = Datagram::decode(bytes) {
            inquiry.handle(now, self.game, &datagram);
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        self.inquiries.iter_mut().for_each(|inquiry| inquiry.handle_timeout(now));
    }

    fn poll_transmit(&mut self, now: Time, out: &mut [u8]) -> Option<Transmit> {
        let game = self.game;
        self.inquiries.iter_mut().find_map(|inquiry| inquiry.poll_transmit(now, game, out))
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.inquiries.iter().filter_map(Inquiry::poll_timeout).min()
    }
}

impl StreamNode for Rooms {}
