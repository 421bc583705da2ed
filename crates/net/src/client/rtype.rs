//! The client in `rtype`: the TCP step, the UDP Hello, then inputs. Also of the first program's
//! server, which sends no HelloAck, checks no token and answers no Ping.

mod board;

use std::net::SocketAddr;
use std::time::Duration;

use super::plain::Plain;
use super::told::{Place, Told};
use super::{Client, ClientEvent, Phase, RosterLine, Speech};
use crate::channel::LogLine;
use crate::game::{ClassicGame, Game, PlayerId, RtypeSight, RtypeThing};
use crate::node::{StreamAction, StreamEvent, StreamId};
use crate::session::{EndReason, Limits, Question, Retry, RetryPolicy};
use crate::time::Time;
use crate::wire::native::PlayerFlags;
use crate::wire::rtype::{
    Buttons, Disconnect, Entity, Hello, Input, Kind, Message, Packet, Ping, Pong, RosterEntry,
    TcpHello, VERSION,
};
use crate::wire::{Direction, Fault, Full, List};
use board::Board;

/// How long the TCP step may take.
pub(super) const DIAL_FOR: Duration = Duration::from_secs(5);

/// How often a Hello is repeated to a server that fell silent, or that has shown nothing yet: it
/// re-admits us, from a new address, too, and asks again for the Pong that proves the address.
const KNOCK_EVERY: Duration = Duration::from_secs(1);

const STREAM: StreamId = StreamId(0);

/// A header and the longest payload that we wait for: a server's greeting is short.
const INBOX_LEN: usize = 256;

/// What `rtype` keeps.
#[derive(Clone, Debug)]
pub(super) struct Rtype<G: Game> {
    dial: Dial,
    inbox: Vec<u8>,
    token: u32,
    sequence: u32,
    told: Told,
    board: Board,
    /// When the last State came, if one has, and when anything did.
    last_state: Option<Time>,
    last_any: Time,
    next_knock: Option<Time>,
    pub(super) plain: Plain<G>,
}

/// How far the TCP step has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dial {
    /// To be opened.
    Wanted,
    /// Waiting for the greeting.
    Opening,
    /// Greeted: our name is to be sent.
    Greeted,
    /// Waiting for port and token.
    Named,
    /// Has them; the stream stays open for StartGame.
    Done,
    /// To be closed.
    Closing,
    Closed,
}

impl<G: Game> Rtype<G> {
    pub(super) fn new(now: Time, game: G) -> Self {
        let inbox = Vec::with_capacity(INBOX_LEN);
        Rtype {
            dial: Dial::Wanted,
            inbox,
            token: 0,
            sequence: 0,
            told: Told::default(),
            board: Board::default(),
            last_state: None,
            last_any: now,
            next_knock: None,
            plain: Plain::new(now, game),
        }
    }

    /// Whether the server has spoken in the TCP step.
    pub(super) fn is_greeted(&self) -> bool {
        matches!(self.dial, Dial::Greeted | Dial::Named | Dial::Done)
    }

    /// The newest state has changed.
    fn amend(&mut self) {
        let Rtype { plain, told, board, .. } = self;
        plain.amend(|game, state| game.classic().read_rtype(&sight(told, board), state));
    }

    /// Asks the server for something, until it is granted.
    pub(super) fn ask(&mut self, wish: crate::game::RtypeWish) {
        self.board.ask(wish);
    }

    /// Whether the server has shown nothing for too long, though other things still come.
    pub(super) fn is_stalled(&self, now: Time, limits: Limits) -> bool {
        self.last_state.is_some_and(|at| now.since(at) >= limits.drop)
            && now.since(self.last_any) < limits.warn
    }

    pub(super) fn knock_again(&mut self, now: Time) {
        self.next_knock = Some(now);
    }
}

fn sight<'a>(told: &'a Told, board: &'a Board) -> RtypeSight<'a> {
    RtypeSight {
        things: told.entities(),
        players: &board.players,
        lobby: board.lobby,
        over: board.over,
        team_score: board.team_score,
    }
}

impl<G: Game> Client<G> {
    /// What an `rtype` server has told and not taken back, by its ids.
    pub fn rtype_entities(&self) -> &[RtypeThing] {
        match &self.speech {
            Speech::Rtype(rtype) => rtype.told.entities(),
            _ => &[],
        }
    }

    fn rtype(&mut self) -> Option<&mut Rtype<G>> {
        match &mut self.speech {
            Speech::Rtype(rtype) => Some(rtype),
            _ => None,
        }
    }

    /// Whether the server is still to show that we are in.
    fn knocks(&self) -> bool {
        matches!(&self.speech, Speech::Rtype(rtype) if rtype.next_knock.is_some())
    }

    /// The TCP port is one above the UDP port.
    fn stream_address(&self) -> SocketAddr {
        let server = self.config.server;
        SocketAddr::new(server.ip(), server.port().wrapping_add(1))
    }

    pub(super) fn poll_rtype_stream(&mut self, out: &mut [u8]) -> Option<(StreamId, StreamAction)> {
        let (address, name) = (self.stream_address(), self.config.name);
        let over = self.ended().is_some();
        let rtype = self.rtype()?;
        if over && !matches!(rtype.dial, Dial::Wanted | Dial::Closed) {
            rtype.dial = Dial::Closed;
            return Some((STREAM, StreamAction::Close));
        }
        match rtype.dial {
            Dial::Wanted if !over => {
                rtype.dial = Dial::Opening;
                Some((STREAM, StreamAction::Open(address)))
            }
            Dial::Greeted => {
                rtype.dial = Dial::Named;
                let len = Message::Hello(TcpHello { name: name.into() }).encode(out).ok()?;
                Some((STREAM, StreamAction::Send(len)))
            }
            Dial::Closing => {
                rtype.dial = Dial::Closed;
                Some((STREAM, StreamAction::Close))
            }
            _ => None,
        }
    }

    pub(super) fn handle_rtype_stream(
        &mut self,
        now: Time,
        stream: StreamId,
        event: StreamEvent<'_>,
    ) {
        let Some(rtype) = self.rtype() else { return };
        if stream != STREAM || rtype.dial == Dial::Closed {
            return;
        }
        match event {
            StreamEvent::Opened(_) => {}
            StreamEvent::Received(bytes) => {
                let room = INBOX_LEN - rtype.inbox.len();
                rtype.inbox.extend_from_slice(&bytes[..bytes.len().min(room)]);
                self.read_rtype_stream(now);
            }
            StreamEvent::Failed | StreamEvent::Closed => {
                let dial = std::mem::replace(&mut rtype.dial, Dial::Closed);
                let address = self.stream_address();
                match dial {
                    Dial::Done => {}
                    Dial::Wanted | Dial::Opening if event == StreamEvent::Failed => {
                        self.end(EndReason::Unreachable { address });
                    }
                    _ => self.end(EndReason::BrokenOff { address }),
                }
            }
        }
    }

    fn read_rtype_stream(&mut self, now: Time) {
        loop {
            let Some(rtype) = self.rtype() else { return };
            let (step, len) = match Message::decode_next(&rtype.inbox) {
                Ok(None) => return,
                Ok(Some((message, len))) => {
                    let ack = match message {
                        Message::HelloAck(ack) => Some(ack),
                        _ => None,
                    };
                    ((matches!(message, Message::TcpWelcome(_)), ack), len)
                }
                Err(error) => {
                    rtype.dial = Dial::Closing;
                    let reason = match error.fault {
                        Fault::Version(found) => {
                            EndReason::WrongVersion { server: found, ours: VERSION }
                        }
                        _ => EndReason::Violation,
                    };
                    self.end(reason);
                    return;
                }
            };
            rtype.inbox.drain(..len);
            match step {
                (true, _) if rtype.dial == Dial::Opening => rtype.dial = Dial::Greeted,
                (_, Some(ack)) if rtype.dial == Dial::Named => {
                    rtype.dial = Dial::Done;
                    rtype.token = ack.token;
                    self.config.server.set_port(ack.udp_port);
                    self.path.remote = self.config.server;
                    self.phase = Phase::Asking(Retry::new(now, RetryPolicy::HELLO));
                }
                _ => self.counts.stray += 1,
            }
        }
    }

    pub(super) fn handle_rtype(&mut self, now: Time, bytes: &[u8]) {
        let packet = match Packet::decode(bytes) {
            Ok(packet) => packet,
            Err(error) => {
                self.drop_malformed(bytes.len(), error);
                let asking = matches!(self.phase, Phase::Asking(_));
                if let (Fault::Version(server), true) = (error.fault, asking) {
                    self.end(EndReason::WrongVersion { server, ours: VERSION });
                }
                return;
            }
        };
        if let Some(rtype) = self.rtype() {
            rtype.last_any = now;
        }
        // A Roster or a State is acceptance enough.
        let accepts = matches!(packet, Packet::HelloAck(_) | Packet::State(_) | Packet::Roster(_));
        if accepts && matches!(self.phase, Phase::Asking(_)) {
            self.enter(now, self.player.unwrap_or(PlayerId(0)));
            if let Some(rtype) = self.rtype() {
                rtype.next_knock = Some(now + KNOCK_EVERY);
            }
        }
        if !self.is_playing() {
            self.counts.stray += 1;
            return;
        }
        match packet {
            // Until there is more, these are how our address is asked for, and not the game.
            Packet::HelloAck(_) if self.knocks() => return,
            Packet::Ping(ping) => {
                self.due.pong = Some((ping.sequence, ping.timestamp));
                if self.knocks() {
                    return;
                }
            }
            // A server answers anyone's ping: that it does says nothing of our place in the room.
            Packet::Pong(pong) => {
                let Pong { sequence, timestamp } = pong;
                let answer = Question { sequence, timestamp };
                let verdict = self.handle_answer(now, answer);
                if let Some(line) = LogLine::of_pong(now, answer, verdict) {
                    self.journal.note(line);
                }
                return;
            }
            Packet::State(state) => self.handle_rtype_state(now, &state.entities),
            Packet::Spawn(spawn) => {
                if let Some(rtype) = self.rtype() {
                    rtype.told.spawn(now, spawn.entity);
                    rtype.amend();
                }
            }
            Packet::Despawn(despawn) => {
                if let Some(rtype) = self.rtype() {
                    rtype.told.despawn(despawn.id);
                    rtype.amend();
                }
            }
            Packet::Roster(roster) => self.handle_rtype_roster(&roster.players),
            Packet::LivesUpdate(update) => {
                self.change_board(|board| board.set_lives(update.id, update.lives));
                self.note_lives();
            }
            Packet::ScoreUpdate(update) => {
                self.change_board(|board| board.set_score(update.id, update.score));
            }
            Packet::LobbyStatus(lobby) => self.change_board(|board| board.handle_lobby(lobby)),
            Packet::GameOver(end) => self.change_board(|board| board.over = Some(end.reason)),
            Packet::ReturnToMenu(_) => self.end(EndReason::SentToMenu),
            packet if packet.direction() == Direction::ToServer => {
                let (from, name) = (self.config.server, packet.name());
                self.journal.note(LogLine::WrongType { from, name });
            }
            _ => {}
        }
        if let Some(rtype) = self.rtype() {
            rtype.next_knock = None;
        }
        self.heard(now);
    }

    fn change_board(&mut self, change: impl FnOnce(&mut Board)) {
        if let Some(rtype) = self.rtype() {
            change(&mut rtype.board);
            rtype.amend();
        }
    }

    fn handle_rtype_roster(&mut self, players: &List<'_, RosterEntry>) {
        let Speech::Rtype(rtype) = &mut self.speech else { return };
        rtype.board.handle_roster(players, rtype.told.entities());
        self.roster.clear();
        // Who has no number here is more than a match of the dialect has.
        let numbered = players.iter().filter_map(|entry| {
            let player = rtype.board.number(entry.id)?;
            let (name, lives) = (entry.name, entry.lives);
            Some(RosterLine { player, name, lives, flags: PlayerFlags::default() })
        });
        self.roster.extend(numbered);
        rtype.amend();
        self.find_own();
        self.note(ClientEvent::Roster);
    }

    /// The roster shows the lives that were told since.
    fn note_lives(&mut self) {
        let Speech::Rtype(rtype) = &self.speech else { return };
        let mut changed = false;
        for line in &mut self.roster {
            let told = rtype.board.players.iter().find(|it| it.player == line.player);
            if let Some(told) = told.filter(|told| told.lives != line.lives) {
                (line.lives, changed) = (told.lives, true);
            }
        }
        if changed {
            self.note(ClientEvent::Roster);
        }
    }

    fn handle_rtype_state(&mut self, now: Time, entities: &List<'_, Entity>) {
        let (player, rtt) = (self.player, self.round_trip.mean());
        let Some(rtype) = self.rtype() else { return };
        rtype.last_state = Some(now);
        for ship in entities.iter().filter(|it| it.kind == Kind::Player) {
            rtype.board.number(ship.id);
        }
        let place = rtype.told.place(now, rtype.plain.period(), entities);
        if let Place::First(_) = place
            && rtype.told.finish(now)
        {
            rtype.amend();
        }
        rtype.told.handle_state(now, place, entities);
        match place {
            Place::Old => {
                self.counts.stray += 1;
                return;
            }
            Place::More => rtype.amend(),
            Place::First(mark) => {
                let Rtype { plain, told, board, .. } = rtype;
                plain.take(now, mark, |game, state| {
                    game.classic().read_rtype(&sight(told, board), state)
                });
                self.counts.states += 1;
            }
        }
        let Some(rtype) = self.rtype() else { return };
        // Only a datagram that speaks of the own ship says where it is.
        let own = player.and_then(|player| Some((player, rtype.board.id_of(player)?)));
        if let Some((player, id)) = own
            && entities.iter().any(|told| told.id == id)
        {
            rtype.plain.reconcile(player, rtt);
        }
    }

    /// Nobody says which player we are: the one with our name and, where several have it, the
    /// last of them when we first look, for as long as that one plays.
    fn find_own(&mut self) {
        let own_name = self.config.name;
        let ours = |line: &&RosterLine| line.name == own_name;
        let same = |line: &&RosterLine| Some(line.player) == self.player;
        if self.roster.iter().filter(ours).any(|line| same(&line)) {
            return;
        }
        if let Some(line) = self.roster.iter().rfind(ours) {
            self.player = Some(line.player);
        }
    }

    pub(super) fn speak_rtype(&mut self, now: Time, out: &mut [u8]) -> Option<Result<usize, Full>> {
        let (name, is_over) = (self.config.name, self.ended().is_some());
        let rtype = self.rtype()?;
        let token = Some(rtype.token);
        // Who has given up does not come back unseen: the server would keep a place for nobody.
        let knocks = !is_over && rtype.next_knock.is_some_and(|at| at <= now);
        if knocks {
            rtype.next_knock = Some(now + KNOCK_EVERY);
            return Some(Packet::Hello(Hello { token, name: name.into() }).encode(out));
        }
        if self.due.questions > 0 {
            self.due.questions -= 1;
            return Some(Packet::Hello(Hello { token, name: name.into() }).encode(out));
        }
        if self.due.goodbyes > 0 {
            self.due.goodbyes -= 1;
            return Some(Packet::Disconnect(Disconnect).encode(out));
        }
        if !is_over && let Some(packet) = self.rtype()?.board.poll(now) {
            return Some(packet.encode(out));
        }
        if let Some((sequence, timestamp)) = self.due.pong.take() {
            return Some(Packet::Pong(Pong { sequence, timestamp }).encode(out));
        }
        if std::mem::take(&mut self.due.ping) {
            let Question { sequence, timestamp } = self.pinger.ask(now);
            return Some(Packet::Ping(Ping { sequence, timestamp }).encode(out));
        }
        if !std::mem::take(&mut self.due.input) {
            return None;
        }
        let bits = Buttons::from_bits((self.buttons.0 & 63) as u8)?;
        let rtype = self.rtype()?;
        let sequence = rtype.sequence;
        rtype.sequence = rtype.sequence.wrapping_add(1);
        let (flags, ts) = (bits.bits().into(), now.as_millis() as u32);
        self.journal.note(LogLine::InputSent { seq: sequence, flags, ts });
        Some(Packet::Input(Input { sequence, bits }).encode(out))
    }
}
