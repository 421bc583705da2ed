//! Visitors: strangers who receive what they are answered, and so come further than a forged
//! datagram. They hold places for nobody, come with another's ticket, keep cookies for later, make
//! rooms, guess passwords, leave streams open and send more than they may.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::time::Duration;

use super::act::Visit;
use super::probe::Probe;
use super::stage::server_address;
use super::stranger::{self, no_token};
use crate::Chance;
use backspin::game::Game;
use backspin::node::{Path, StreamAction, StreamEvent, StreamId, Transmit};
use backspin::time::Time;
use backspin::wire::Name;
use backspin::wire::native::{
    Accept, Budget, Challenge, CreateRoom, Datagram, EnterRoom, Goodbye, JoinData,
    MAX_DATAGRAM_LEN, PROTOCOL, Packet, Ping, Resume, Role, Secret, SessionIndex,
};

/// A host with one IP address and a socket for every errand that is under way.
#[derive(Debug)]
pub(super) struct Visitor {
    calls: Vec<Call>,
    /// What is sent when, from which socket.
    outbox: VecDeque<(Time, u8, Vec<u8>)>,
    streams: Streams,
    next_socket: u8,
    is_calm: bool,
    chance: Chance,
}

/// An errand that is under way.
#[derive(Debug)]
struct Call {
    socket: u8,
    errand: Visit,
    nonce: u64,
    sequence: u32,
    /// What the ticket of someone else is, or of the caller's own place.
    ticket: Option<Secret>,
    session: Option<Accept>,
}

#[derive(Debug, Default)]
struct Streams {
    opened: u64,
    /// For how long each keeps its token, or that it says nothing; and what came over it.
    errands: BTreeMap<StreamId, (Option<Duration>, Vec<u8>)>,
    actions: VecDeque<(StreamId, Letter)>,
}

/// What is to be done to a stream.
#[derive(Debug)]
enum Letter {
    Open,
    Send(Vec<u8>),
}

/// Rooms have the numbers from 1 on; few seeds have more.
const ROOMS_TRIED: u32 = 8;

/// The password of rooms that visitors lock.
pub(super) fn password() -> Name {
    Name::new("key")
}

impl Visitor {
    /// The sockets of one host.
    pub(super) const SOCKETS: u8 = 12;

    pub(super) fn new(chance: Chance) -> Self {
        let (calls, outbox, streams) = (Vec::new(), VecDeque::new(), Streams::default());
        Visitor { calls, outbox, streams, next_socket: 0, is_calm: false, chance }
    }

    /// Sets out.
    pub(super) fn go(&mut self, now: Time, errand: Visit, ticket: Option<Secret>) {
        let keeps = match errand {
            Visit::IdleStream => Some(None),
            Visit::OldToken { after } => Some(Some(after)),
            _ => None,
        };
        if let Some(keeps) = keeps {
            let stream = StreamId(self.streams.opened);
            self.streams.opened += 1;
            self.streams.errands.insert(stream, (keeps, Vec::new()));
            self.streams.actions.push_back((stream, Letter::Open));
            return;
        }
        let socket = self.next_socket;
        self.next_socket = (self.next_socket + 1) % Visitor::SOCKETS;
        self.calls.retain(|call| call.socket != socket);
        let (nonce, sequence) = (self.chance.u64(), self.chance.u64() as u32);
        let mut call = Call { socket, errand, nonce, sequence, ticket, session: None };
        let hello = call.hello();
        self.calls.push(call);
        self.send(now, socket, hello);
    }

    /// Sends no more, for good.
    pub(super) fn calm_down(&mut self) {
        self.outbox.clear();
        self.is_calm = true;
    }

    fn send(&mut self, at: Time, socket: u8, bytes: Vec<u8>) {
        if self.is_calm {
            return;
        }
        let behind = self.outbox.iter().rposition(|(other, ..)| *other <= at);
        self.outbox.insert(behind.map_or(0, |at| at + 1), (at, socket, bytes));
    }

    pub(super) fn handle_datagram(&mut self, now: Time, path: Path, bytes: &[u8]) {
        let Ok(Datagram { packet, .. }) = Datagram::decode(bytes) else { return };
        let Some(at) = self.calls.iter().position(|call| call.socket == path.socket) else {
            return;
        };
        match packet {
            Packet::Challenge(challenge) if challenge.nonce == self.calls[at].nonce => {
                self.follow_up(now, at, &challenge);
            }
            Packet::Accept(accept) if accept.nonce == self.calls[at].nonce => {
                self.enter(now, at, accept);
            }
            _ => {}
        }
    }

    /// What to do with a cookie.
    fn follow_up(&mut self, now: Time, at: usize, challenge: &Challenge) {
        let (call, cookie) = (&mut self.calls[at], challenge.cookie);
        let mut letters = Vec::new();
        match call.errand {
            Visit::SilentJoin | Visit::RoomToRoom => {
                letters.push((now, call.socket, call.join(cookie, 0, "")))
            }
            Visit::StolenTicket => letters.push((now, call.socket, call.resume(cookie))),
            Visit::OldCookie { after } => {
                letters.push((now + after, call.socket, call.join(cookie, 0, "")));
            }
            Visit::OthersCookie => {
                let neighbour = (call.socket + 1) % Visitor::SOCKETS;
                letters.push((now, neighbour, call.join(cookie, 0, "")));
            }
            Visit::MakeRoom { is_locked } => {
                letters.push((now, call.socket, call.make_room(cookie, is_locked)));
            }
            Visit::GuessPassword { room, times } => {
                for _ in 0..times {
                    letters.push((now, call.socket, call.join(cookie, room, "wrong")));
                }
            }
            Visit::Greedy { times } => match call.session {
                None => letters.push((now, call.socket, call.join(cookie, 0, ""))),
                // The same player comes back to its own place, and has no more than before.
                Some(_) => {
                    letters.extend((0..times).map(|_| (now, call.socket, call.ping())));
                    letters.push((now, call.socket, call.resume(cookie)));
                }
            },
            Visit::IdleStream | Visit::OldToken { .. } => {}
        }
        letters.into_iter().for_each(|(at, socket, bytes)| self.send(at, socket, bytes));
    }

    /// What to do in a place.
    fn enter(&mut self, now: Time, at: usize, accept: Accept) {
        let call = &mut self.calls[at];
        let is_back = call.session.replace(accept).is_some();
        if call.errand == Visit::RoomToRoom && !is_back {
            let socket = call.socket;
            let rooms = 1..=ROOMS_TRIED;
            let letters: Vec<_> = rooms.map(|room| call.enter(accept.session, room)).collect();
            letters.into_iter().for_each(|letter| self.send(now, socket, letter));
            return;
        }
        if let Visit::Greedy { times } = call.errand {
            let socket = call.socket;
            call.ticket = Some(accept.ticket);
            let mut letters = Vec::new();
            match is_back {
                true => {
                    letters.extend((0..times / 2).map(|_| call.ping()));
                    let session = accept.session;
                    let goodbye = call.write(Packet::Goodbye(Goodbye { session }));
                    self.send(now + Duration::from_millis(1_500), socket, goodbye);
                }
                false => {
                    call.nonce = call.nonce.wrapping_add(1);
                    letters.push(call.hello());
                }
            }
            letters.into_iter().for_each(|bytes| self.send(now, socket, bytes));
        }
    }

    pub(super) fn poll_transmit(&mut self, now: Time, out: &mut [u8]) -> Option<Transmit> {
        let (_, socket, bytes) = self.outbox.pop_front_if(|(at, ..)| *at <= now)?;
        out[..bytes.len()].copy_from_slice(&bytes);
        let path = Path { socket, ..Path::to(server_address()) };
        Some(Transmit { path, len: bytes.len() })
    }

    pub(super) fn poll_timeout(&self) -> Option<Time> {
        self.outbox.front().map(|(at, ..)| *at)
    }

    /// Whoever wants a token says its name, and comes with the token later.
    pub(super) fn handle_stream(&mut self, now: Time, stream: StreamId, event: StreamEvent<'_>) {
        if let StreamEvent::Received(bytes) = event
            && let Some((Some(after), inbox)) = self.streams.errands.get_mut(&stream)
        {
            use backspin_classic::wire::rtype::{Hello, Message, Packet, TcpHello};
            inbox.extend_from_slice(bytes);
            let (after, name, mut out) = (*after, Name::new("Hoarder"), [0; 64]);
            let Ok(Some((message, len))) = Message::decode_next(inbox) else { return };
            match message {
                Message::TcpWelcome(_) => {
                    let hello = Message::Hello(TcpHello { name: name.into() });
                    let len = hello.encode(&mut out).unwrap_or(0);
                    let letter = Letter::Send(out[..len].to_vec());
                    self.streams.actions.push_back((stream, letter));
                }
                Message::HelloAck(ack) => {
                    let token = Some(ack.token);
                    let len = Packet::Hello(Hello { token, name: name.into() })
                        .encode(&mut out)
                        .unwrap_or(0);
                    let socket = self.chance.below(Visitor::SOCKETS.into()) as u8;
                    self.send(now + after, socket, out[..len].to_vec());
                }
                _ => {}
            }
            if let Some((_, inbox)) = self.streams.errands.get_mut(&stream) {
                inbox.drain(..len);
            }
        }
    }

    pub(super) fn poll_stream(&mut self, out: &mut [u8]) -> Option<(StreamId, StreamAction)> {
        let (stream, letter) = self.streams.actions.pop_front()?;
        let action = match letter {
            Letter::Open => {
                let server = server_address();
                StreamAction::Open(SocketAddr::new(server.ip(), server.port() + 1).into())
            }
            Letter::Send(bytes) => {
                out[..bytes.len()].copy_from_slice(&bytes);
                StreamAction::Send(bytes.len())
            }
        };
        Some((stream, action))
    }
}

impl Call {
    fn write(&mut self, packet: Packet<'_>) -> Vec<u8> {
        let (mut out, sequence) = ([0; MAX_DATAGRAM_LEN], self.sequence);
        self.sequence = self.sequence.wrapping_add(1);
        let len = Datagram { sequence, packet }.encode(&mut out).unwrap_or(0);
        out[..len].to_vec()
    }

    fn hello(&mut self) -> Vec<u8> {
        self.write(stranger::hello(self.nonce))
    }

    fn join(&mut self, cookie: Secret, room: u32, password: &str) -> Vec<u8> {
        self.write(stranger::join(self.nonce, cookie, room, Name::new(password)))
    }

    fn make_room(&mut self, cookie: Secret, is_locked: bool) -> Vec<u8> {
        let (id, nonce) = (Probe::default().id(), self.nonce);
        self.write(Packet::CreateRoom(CreateRoom {
            nonce,
            cookie,
            protocol: PROTOCOL,
            game: id.game,
            game_version: id.version,
            layout: Probe::default().layout() as u32,
            budget: Budget::MAX,
            name: Name::new("Visitor"),
            room_name: Name::new(&format!("Den {}", nonce % 1_000)),
            password: if is_locked { password() } else { Name::default() },
            data: JoinData::default(),
            token: no_token(),
        }))
    }

    fn resume(&mut self, cookie: Secret) -> Vec<u8> {
        let ticket = self.ticket.unwrap_or(Secret([0; 16]));
        let nonce = self.nonce;
        self.write(Packet::Resume(Resume { nonce, cookie, ticket, fresh: false }))
    }

    /// Asks to go to a room; each time as if for the first.
    fn enter(&mut self, session: SessionIndex, room: u32) -> Vec<u8> {
        let (nonce, role) = (self.nonce.wrapping_add(room.into()), Role::Play);
        let password = Name::new("wrong");
        self.write(Packet::EnterRoom(EnterRoom { session, nonce, room, role, password }))
    }

    fn ping(&mut self) -> Vec<u8> {
        let (session, id) = (self.session.map(|accept| accept.session), self.sequence);
        self.write(Packet::Ping(Ping { session, id, timestamp: 1 }))
    }
}
