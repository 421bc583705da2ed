//! The client in `rtype`: the TCP step, the UDP Hello, then inputs. Also of the first program's
//! server, which sends no HelloAck, checks no token and answers no Ping.

use std::time::Duration;

use super::board::Board;
use super::reassembler::{Place, Reassembler};
use crate::playback::plays_back;
use crate::rtype::wire::{
    Buttons, Disconnect, Entity, Hello, Input, Kind, Message, Packet, Ping, Pong, RosterEntry,
    TcpHello, VERSION,
};
use crate::{ClassicGame, Dialect, LegacyPlayback, RtypeSight};
use backspin::channel::LogLine;
use backspin::client::{ClientCore, ClientDialect, ClientEvent, Frame, Phase, RosterLine};
use backspin::game::PlayerId;
use backspin::node::{StreamAction, StreamEvent, StreamId};
use backspin::peer::PeerAddr;
use backspin::replication::State;
use backspin::session::{
    EndReason, LifeEvent, Limits, Liveness, PingCounts, Pinger, Question, RoundTrip,
};
use backspin::time::Time;
use backspin::timing::Delay;
use backspin::wire::native::PlayerFlags;
use backspin::wire::{Direction, Fault, Full, List};

/// How long the TCP step may take.
const DIAL_FOR: Duration = Duration::from_secs(5);

/// How often a Hello is repeated to a server that fell silent, or that has shown nothing yet: it
/// re-admits us, from a new address, too, and asks again for the Pong that proves the address.
const KNOCK_EVERY: Duration = Duration::from_secs(1);

/// How often the server is pinged.
const PING_EVERY: Duration = Duration::from_secs(1);

const STREAM: StreamId = StreamId(0);

/// A header and the longest payload that we wait for: a server's greeting is short.
const INBOX_LEN: usize = 256;

/// What `rtype` keeps.
#[derive(Clone, Debug)]
pub struct RtypeClient<G: ClassicGame> {
    dial: Dial,
    inbox: Vec<u8>,
    token: u32,
    sequence: u32,
    told: Reassembler,
    board: Board,
    /// When the last State came, if one has, and when anything did.
    last_state: Option<Time>,
    last_any: Time,
    next_knock: Option<Time>,
    /// Whether the server is still there, once we are in.
    liveness: Option<Liveness>,
    pinger: Pinger,
    round_trip: RoundTrip,
    playback: LegacyPlayback<G>,
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

impl<G: ClassicGame> RtypeClient<G> {
    /// A player of no server yet.
    pub fn new(now: Time, game: G) -> Self {
        RtypeClient {
            dial: Dial::Wanted,
            inbox: Vec::with_capacity(INBOX_LEN),
            token: 0,
            sequence: 0,
            told: Reassembler::default(),
            board: Board::default(),
            last_state: None,
            last_any: now,
            next_knock: None,
            liveness: None,
            pinger: Pinger::new(PING_EVERY),
            round_trip: RoundTrip::default(),
            playback: LegacyPlayback::new(now, game),
        }
    }

    /// The newest state has changed.
    fn amend(&mut self) {
        let RtypeClient { playback, told, board, .. } = self;
        playback.amend(|game, state| game.read_rtype(&sight(told, board), state));
    }

    /// Whether the server has shown nothing for too long, though other things still come.
    fn is_stalled(&self, now: Time, limits: Limits) -> bool {
        self.last_state.is_some_and(|at| now.since(at) >= limits.drop)
            && now.since(self.last_any) < limits.warn
    }

    /// Whether the server is still to show that we are in.
    fn knocks(&self) -> bool {
        self.next_knock.is_some()
    }

    fn read_stream(&mut self, core: &mut ClientCore, now: Time) {
        loop {
            let (is_greeting, ack, len) = match Message::decode_next(&self.inbox) {
                Ok(None) => return,
                Ok(Some((Message::TcpWelcome(_), len))) => (true, None, len),
                Ok(Some((Message::HelloAck(ack), len))) => (false, Some(ack), len),
                Ok(Some((_, len))) => (false, None, len),
                Err(error) => {
                    self.dial = Dial::Closing;
                    core.end(match error.fault {
                        Fault::Version(server) => EndReason::WrongVersion { server, ours: VERSION },
                        _ => EndReason::Violation,
                    });
                    return;
                }
            };
            self.inbox.drain(..len);
            match ack {
                None if is_greeting && self.dial == Dial::Opening => self.dial = Dial::Greeted,
                Some(ack) if self.dial == Dial::Named => {
                    self.dial = Dial::Done;
                    self.token = ack.token;
                    let server = &mut core.config.server;
                    *server = server.with_port(ack.udp_port).unwrap_or(*server);
                    core.ask(now);
                }
                _ => core.counts.stray += 1,
            }
        }
    }

    fn handle_packet(&mut self, core: &mut ClientCore, now: Time, packet: &Packet<'_>) {
        match *packet {
            // Until there is more, these are how our address is asked for, and not the game.
            Packet::HelloAck(_) if self.knocks() => return,
            Packet::Ping(ping) => {
                core.due.pong = Some((ping.sequence, ping.timestamp));
                if self.knocks() {
                    return;
                }
            }
            // A server answers anyone's ping: that it does says nothing of our place in the room.
            Packet::Pong(pong) => {
                let Pong { sequence, timestamp } = pong;
                let answer = Question { sequence, timestamp };
                let measures = (&mut self.pinger, &mut self.round_trip);
                let verdict = core.handle_answer(now, answer, measures);
                if let Some(line) = LogLine::of_pong(now, answer, verdict) {
                    core.journal.note(line);
                }
                return;
            }
            Packet::State(state) => self.handle_state(core, now, &state.entities),
            Packet::Spawn(spawn) => {
                self.told.spawn(now, spawn.entity);
                self.amend();
            }
            Packet::Despawn(despawn) => {
                self.told.despawn(despawn.id);
                self.amend();
            }
            Packet::Roster(roster) => self.handle_roster(core, &roster.players),
            Packet::LivesUpdate(update) => {
                self.change_board(|board| board.set_lives(update.id, update.lives));
                self.note_lives(core);
            }
            Packet::ScoreUpdate(update) => {
                self.change_board(|board| board.set_score(update.id, update.score));
            }
            Packet::LobbyStatus(lobby) => self.change_board(|board| board.handle_lobby(lobby)),
            Packet::GameOver(end) => self.change_board(|board| board.over = Some(end.reason)),
            Packet::ReturnToMenu(_) => core.end(EndReason::SentToMenu),
            packet if packet.direction() == Direction::ToServer => {
                let (from, name) = (core.config.server, packet.name());
                core.journal.note(LogLine::WrongType { from, name });
            }
            _ => {}
        }
        self.next_knock = None;
        if let Some(liveness) = &mut self.liveness {
            core.heard(now, liveness);
        }
    }

    fn change_board(&mut self, change: impl FnOnce(&mut Board)) {
        change(&mut self.board);
        self.amend();
    }

    fn handle_roster(&mut self, core: &mut ClientCore, players: &List<'_, RosterEntry>) {
        self.board.handle_roster(players, self.told.entities());
        core.roster.clear();
        // Who has no number here is more than a match of the dialect has.
        let numbered = players.iter().filter_map(|entry| {
            let player = self.board.number(entry.id)?;
            let (name, lives) = (entry.name, entry.lives);
            Some(RosterLine { player, name, lives, flags: PlayerFlags::default() })
        });
        core.roster.extend(numbered);
        self.amend();
        find_own(core);
        core.note(ClientEvent::Roster);
    }

    /// The roster shows the lives that were told since.
    fn note_lives(&mut self, core: &mut ClientCore) {
        let mut changed = false;
        for line in &mut core.roster {
            let told = self.board.players.iter().find(|it| it.player == line.player);
            if let Some(told) = told.filter(|told| told.lives != line.lives) {
                (line.lives, changed) = (told.lives, true);
            }
        }
        if changed {
            core.note(ClientEvent::Roster);
        }
    }

    fn handle_state(&mut self, core: &mut ClientCore, now: Time, entities: &List<'_, Entity>) {
        self.last_state = Some(now);
        for ship in entities.iter().filter(|it| it.kind == Kind::Player) {
            self.board.number(ship.id);
        }
        let place = self.told.place(now, self.playback.period(), entities);
        if let Place::First(_) = place
            && self.told.finish(now)
        {
            self.amend();
        }
        self.told.handle_state(now, place, entities);
        match place {
            Place::Old => {
                core.counts.stray += 1;
                return;
            }
            Place::More => self.amend(),
            Place::First(mark) => {
                let RtypeClient { playback, told, board, .. } = self;
                playback.take(now, mark, |game, state| game.read_rtype(&sight(told, board), state));
                core.counts.states += 1;
            }
        }
        // Only a datagram that speaks of the own ship says where it is.
        let own = core.player.and_then(|player| Some((player, self.board.id_of(player)?)));
        if let Some((player, id)) = own
            && entities.iter().any(|told| told.id == id)
        {
            self.playback.reconcile(player, self.round_trip.mean());
        }
    }
}

impl<G: ClassicGame> ClientDialect<G> for RtypeClient<G> {
    fn name(&self) -> &'static str {
        Dialect::Rtype.name()
    }

    fn clone_box(&self) -> Box<dyn ClientDialect<G>> {
        Box::new(self.clone())
    }

    fn start(&mut self, core: &mut ClientCore, now: Time) {
        core.phase = Phase::Dialing { until: now + DIAL_FOR };
    }

    fn handle(&mut self, core: &mut ClientCore, now: Time, bytes: &[u8]) {
        let packet = match Packet::decode(bytes) {
            Ok(packet) => packet,
            Err(error) => {
                core.drop_malformed(bytes.len(), error);
                if let (Fault::Version(server), true) = (error.fault, core.is_asking()) {
                    core.end(EndReason::WrongVersion { server, ours: VERSION });
                }
                return;
            }
        };
        self.last_any = now;
        // A Roster or a State is acceptance enough.
        let accepts = matches!(packet, Packet::HelloAck(_) | Packet::State(_) | Packet::Roster(_));
        if accepts && core.is_asking() {
            core.enter(core.player.unwrap_or(PlayerId(0)));
            self.liveness = Some(Liveness::new(now, core.config.liveness));
            self.pinger.postpone(now);
            self.playback.begin(now);
            self.next_knock = Some(now + KNOCK_EVERY);
        }
        match core.is_playing() {
            true => self.handle_packet(core, now, &packet),
            false => core.counts.stray += 1,
        }
    }

    fn is_acceptance(&self, bytes: &[u8]) -> bool {
        matches!(Packet::decode(bytes), Ok(Packet::HelloAck(_)))
    }

    fn handle_stream(
        &mut self,
        core: &mut ClientCore,
        now: Time,
        stream: StreamId,
        event: StreamEvent<'_>,
    ) {
        if stream != STREAM || self.dial == Dial::Closed {
            return;
        }
        match event {
            StreamEvent::Opened(_) => {}
            StreamEvent::Received(bytes) => {
                let room = INBOX_LEN - self.inbox.len();
                self.inbox.extend_from_slice(&bytes[..bytes.len().min(room)]);
                self.read_stream(core, now);
            }
            StreamEvent::Failed | StreamEvent::Closed => {
                let dial = std::mem::replace(&mut self.dial, Dial::Closed);
                let address = stream_address(core);
                match dial {
                    Dial::Done => {}
                    Dial::Wanted | Dial::Opening if event == StreamEvent::Failed => {
                        core.end(EndReason::Unreachable { address });
                    }
                    _ => core.end(EndReason::BrokenOff { address }),
                }
            }
        }
    }

    fn handle_timeout(&mut self, core: &mut ClientCore, now: Time) {
        self.playback.make_inputs(core, now, core.buttons());
        core.poll_ping(now, &mut self.pinger);
        if self.is_stalled(now, core.config.liveness) {
            return core.end(EndReason::Stalled);
        }
        let Some(liveness) = &mut self.liveness else { return };
        match core.poll_silence(now, liveness) {
            Some(LifeEvent::Warn) => self.next_knock = Some(now),
            Some(LifeEvent::Drop) => core.end(EndReason::NotResponding),
            _ => {}
        }
    }

    fn speak(
        &mut self,
        core: &mut ClientCore,
        now: Time,
        out: &mut [u8],
    ) -> Option<Result<usize, Full>> {
        let (name, is_over) = (core.config.name, core.ended().is_some());
        let hello = Packet::Hello(Hello { token: Some(self.token), name: name.into() });
        // Who has given up does not come back unseen: the server would keep a place for nobody.
        if !is_over && self.next_knock.is_some_and(|at| at <= now) {
            self.next_knock = Some(now + KNOCK_EVERY);
            return Some(hello.encode(out));
        }
        if core.due.questions > 0 {
            core.due.questions -= 1;
            return Some(hello.encode(out));
        }
        if core.due.goodbyes > 0 {
            core.due.goodbyes -= 1;
            return Some(Packet::Disconnect(Disconnect).encode(out));
        }
        if !is_over && let Some(packet) = self.board.poll(now) {
            return Some(packet.encode(out));
        }
        if let Some((sequence, timestamp)) = core.due.pong.take() {
            return Some(Packet::Pong(Pong { sequence, timestamp }).encode(out));
        }
        if std::mem::take(&mut core.due.ping) {
            let Question { sequence, timestamp } = self.pinger.ask(now);
            return Some(Packet::Ping(Ping { sequence, timestamp }).encode(out));
        }
        if !std::mem::take(&mut core.due.input) {
            return None;
        }
        let bits = Buttons::from_bits((core.buttons().0 & 63) as u8)?;
        let sequence = self.sequence;
        self.sequence = self.sequence.wrapping_add(1);
        let (flags, ts) = (bits.bits().into(), now.as_millis() as u32);
        core.journal.note(LogLine::InputSent { seq: sequence, flags, ts });
        Some(Packet::Input(Input { sequence, bits }).encode(out))
    }

    fn poll_stream(
        &mut self,
        core: &mut ClientCore,
        out: &mut [u8],
    ) -> Option<(StreamId, StreamAction)> {
        let over = core.ended().is_some();
        if over && !matches!(self.dial, Dial::Wanted | Dial::Closed) {
            self.dial = Dial::Closed;
            return Some((STREAM, StreamAction::Close));
        }
        match self.dial {
            Dial::Wanted if !over => {
                self.dial = Dial::Opening;
                Some((STREAM, StreamAction::Open(stream_address(core))))
            }
            Dial::Greeted => {
                self.dial = Dial::Named;
                let hello = TcpHello { name: core.config.name.into() };
                let len = Message::Hello(hello).encode(out).ok()?;
                Some((STREAM, StreamAction::Send(len)))
            }
            Dial::Closing => {
                self.dial = Dial::Closed;
                Some((STREAM, StreamAction::Close))
            }
            _ => None,
        }
    }

    fn send(&mut self, message: &[u8]) -> bool {
        let wish = self.playback.game().rtype_wish(message);
        wish.into_iter().for_each(|wish| self.board.ask(wish));
        wish.is_some()
    }

    fn has_answer(&self) -> bool {
        matches!(self.dial, Dial::Greeted | Dial::Named | Dial::Done)
    }

    /// Of our own pings, from a server that answers any.
    fn loss(&self) -> Option<f64> {
        let PingCounts { answered, lost, .. } = *self.pinger.counts();
        (answered > 0).then(|| lost as f64 / (answered + lost) as f64)
    }

    fn round_trip(&self) -> Option<&RoundTrip> {
        Some(&self.round_trip)
    }

    fn pings(&self) -> Option<&PingCounts> {
        Some(self.pinger.counts())
    }

    plays_back!();
}

fn sight<'a>(told: &'a Reassembler, board: &'a Board) -> RtypeSight<'a> {
    RtypeSight {
        things: told.entities(),
        players: &board.players,
        lobby: board.lobby,
        over: board.over,
        team_score: board.team_score,
    }
}

/// The TCP port is one above the UDP port. No driver opens a stream to a server that has no ports: it
/// reports a failure, and the player reads that the server cannot be reached.
fn stream_address(core: &ClientCore) -> PeerAddr {
    let server = core.config.server;
    let port = server.socket_addr().map(|address| address.port().wrapping_add(1));
    port.and_then(|port| server.with_port(port)).unwrap_or(server)
}

/// Nobody says which player we are: the one with our name and, where several have it, the
/// last of them when we first look, for as long as that one plays.
fn find_own(core: &mut ClientCore) {
    let own_name = core.config.name;
    let ours = |line: &&RosterLine| line.name == own_name;
    let same = |line: &&RosterLine| Some(line.player) == core.player;
    if core.roster.iter().filter(ours).any(|line| same(&line)) {
        return;
    }
    if let Some(line) = core.roster.iter().rfind(ours) {
        core.player = Some(line.player);
    }
}
