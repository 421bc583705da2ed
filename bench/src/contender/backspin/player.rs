//! A player who keeps no world: what goes over the wire is what a client of ours sends, and next to
//! nothing is done with what comes.
//!
//! A whole [`Client`](backspin::client::Client) measures, predicts and draws, and a thousand of them
//! fill the core that is there for all clients: it is the server that is measured.

use std::io;
use std::net::{SocketAddr, UdpSocket};

use backspin::game::{Game, GameId};
use backspin::typed::RawInput;
use backspin::wire::Name;
use backspin::wire::native::{
    Budget, ClientPong, Datagram, Hello, History, Input, InputRecord, Join, JoinData,
    MAX_DATAGRAM_LEN, PROTOCOL, Packet, Role, Secret, ServerPing, SessionIndex, SnapshotEcho,
    Token, nearest_tick,
};

use super::super::socket;
use super::Noise;
use crate::crowd::Trail;

/// So many ticks ahead of the newest snapshot is the input: it comes in time on loopback, where
/// both sides look once a tick.
const LEAD: u32 = 3;

/// A question without an answer is asked again after so many frames.
const AGAIN_AFTER: u32 = 15;

pub(super) struct Player {
    socket: UdpSocket,
    number: usize,
    game: GameId,
    sequence: u32,
    cookie: Option<Secret>,
    seat: Option<Seat>,
    frame: u32,
}

struct Seat {
    session: SessionIndex,
    /// The newest snapshot's tick.
    newest: u32,
    /// The tick of the last input.
    input: u32,
}

impl Player {
    pub(super) fn new(server: SocketAddr, number: usize, game: GameId) -> io::Result<Self> {
        let socket = socket()?;
        socket.connect(server)?;
        let frame = number as u32;
        Ok(Player { socket, number, game, sequence: 0, cookie: None, seat: None, frame })
    }

    /// Takes what has come and sends what is due.
    pub(super) fn frame(&mut self, trail: &mut Trail) {
        self.frame = self.frame.wrapping_add(1);
        let mut bytes = [0; MAX_DATAGRAM_LEN];
        // One datagram comes a frame, mostly: to look for more each time would cost a call.
        let most = if self.frame.is_multiple_of(8) { 16 } else { 1 };
        for _ in 0..most {
            let Ok(len) = self.socket.recv(&mut bytes) else { break };
            if let Ok(datagram) = Datagram::decode(&bytes[..len]) {
                self.handle(datagram.packet, trail);
            }
        }
        match self.seat {
            Some(_) => self.say_input(),
            None if self.frame.is_multiple_of(AGAIN_AFTER) => self.ask(),
            None => {}
        }
    }

    fn handle(&mut self, packet: Packet<'_>, trail: &mut Trail) {
        match (packet, &mut self.seat) {
            (Packet::Challenge(challenge), None) => {
                self.cookie = Some(challenge.cookie);
                self.ask();
            }
            (Packet::Accept(accept), None) => {
                let (session, newest) = (accept.session, accept.tick);
                self.seat = Some(Seat { session, newest, input: newest });
            }
            (Packet::DeltaSnapshot(snapshot), Some(seat)) => {
                seat.newest = nearest_tick(snapshot.tick, seat.newest);
                trail.see(seat.newest);
            }
            (Packet::ServerPing(ServerPing { id, timestamp }), Some(seat)) => {
                let session = seat.session;
                self.send(Packet::ClientPong(ClientPong { session, id, timestamp }));
            }
            _ => {}
        }
    }

    fn ask(&mut self) {
        let GameId { game, version: game_version } = self.game;
        let (protocol, nonce) = (PROTOCOL, self.number as u64 + 1);
        let Some(cookie) = self.cookie else {
            return self.send(Packet::Hello(Hello { protocol, game, game_version, nonce }));
        };
        let Some(token) = Token::new(&[]) else { return };
        self.send(Packet::Join(Join {
            nonce,
            cookie,
            protocol,
            game,
            game_version,
            layout: Noise.layout() as u32,
            budget: Budget::MAX,
            role: Role::Play,
            room: 0,
            name: Name::new(&format!("{}", self.number)),
            password: Name::default(),
            data: JoinData::default(),
            token,
        }));
    }

    /// The newest input and all that are not acknowledged: a snapshot acknowledges those up to its
    /// tick.
    fn say_input(&mut self) {
        let Some(seat) = &mut self.seat else { return };
        seat.input = (seat.input + 1).clamp(seat.newest + LEAD - 1, seat.newest + 2 * LEAD);
        let ahead = seat.input - seat.newest;
        // Held for a quarter of a second, then others.
        let held = |tick: u32| RawInput::from((tick >> 4) as u16 & 0x3F);
        let input_flags = held(seat.input);
        let older = (seat.newest + 1..seat.input).rev().map(held);
        let mut room = [0; History::MAX_LEN];
        let input = Input {
            session: seat.session,
            newest: InputRecord { sequence: seat.input, input_flags },
            snapshot: Some(SnapshotEcho { back: ahead as u8, held: 0 }),
            drawn_back: Some((ahead as u16 + 1) << 8),
            acks: None,
            messages: None,
            history: History::new(input_flags, older, &mut room),
        };
        self.send(Packet::Input(input));
    }

    fn send(&mut self, packet: Packet<'_>) {
        let mut out = [0; MAX_DATAGRAM_LEN];
        let sequence = self.sequence;
        self.sequence += 1;
        if let Ok(len) = (Datagram { sequence, packet }).encode(&mut out) {
            // A server that has just ended refuses it.
            let _ = self.socket.send(&out[..len]);
        }
    }
}
