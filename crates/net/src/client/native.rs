//! The client in `native`: Hello, Challenge, Join, Accept; and the same way back.

use std::time::Duration;

use super::seat::Seat;
use super::{Client, ClientConfig, ClientEvent, DialectSide, Phase};
use crate::chat::ChatLine;
use crate::game::{Event, Game, GameId, PlayerId};
use crate::session::{EndReason, Opening, Outgoing, Question, Retry, Secrets, Session};
use crate::time::Time;
use crate::typed::RawMessage;
use crate::wire::native::{
    Accept, Budget, Challenge, CloseReason, CreateRoom, Datagram, EnterRoom, Goodbye, Hello, Join,
    JoinData, MessageKind, PROTOCOL, Packet, Ping, Reject, RejectReason, Resume, Role, Secret,
    ServerPing, Token, UnknownSession,
};
use crate::wire::{Full, Name};

/// How many of the last datagrams an UnknownSession may speak of.
const HINT_REACH: u32 = 256;

/// What `native` keeps.
#[derive(Clone, Debug)]
pub(super) struct Native<G: Game> {
    nonce: u64,
    /// The Challenge's; `None` while a Hello is what to ask with.
    cookie: Option<Secret>,
    /// When a question was sent last. The time since then is never longer than the round trip:
    /// a guess that is too short is mended at once, one that is too long takes a while.
    asked: Time,
    pub(super) seat: Option<Box<Seat<G>>>,
    /// Where the player is about to go.
    moving: Option<Move>,
    /// Of an earlier run of the program, for as long as it may be good.
    ticket: Option<Secret>,
    /// The way out before there is a session.
    outgoing: Outgoing,
}

/// The way to another room.
#[derive(Clone, Copy, Debug)]
pub(super) struct Move {
    pub(super) room: u32,
    pub(super) role: Role,
    pub(super) password: Name,
}

impl<G: Game> Native<G> {
    pub(super) fn new(secrets: &mut Secrets, ticket: Option<Secret>) -> Self {
        Native {
            nonce: secrets.nonce(),
            cookie: None,
            asked: Time::ZERO,
            seat: None,
            moving: None,
            ticket,
            outgoing: Outgoing::new(secrets.sequence(), Budget::MAX),
        }
    }

    pub(super) fn is_answered(&self) -> bool {
        self.cookie.is_some()
    }

    pub(super) fn start_resume(&mut self, secrets: &mut Secrets) {
        self.nonce = secrets.nonce();
        self.cookie = None;
    }

    pub(super) fn start_move(&mut self, secrets: &mut Secrets, to: Move) {
        self.nonce = secrets.nonce();
        self.moving = Some(to);
    }

    pub(super) fn session(&self) -> Option<&Session> {
        self.seat.as_ref().map(|seat| &seat.session)
    }

    pub(super) fn session_mut(&mut self) -> Option<&mut Session> {
        self.seat.as_mut().map(|seat| &mut seat.session)
    }

    /// The number of the next datagram to the server.
    fn next_number(&self) -> u32 {
        self.session().map_or(&self.outgoing, |session| &session.outgoing).next()
    }

    fn encode(&mut self, packet: Packet<'_>, out: &mut [u8]) -> Result<usize, Full> {
        match &mut self.seat {
            Some(seat) => seat.session.encode(packet, out),
            None => self.outgoing.encode(packet, out),
        }
    }
}

impl<G: Game> Client<G> {
    fn native(&mut self) -> Option<&mut Native<G>> {
        match &mut self.speech {
            DialectSide::Native(native) => Some(native),
            DialectSide::Other(_) => None,
        }
    }

    pub(super) fn seat(&self) -> Option<&Seat<G>> {
        match &self.speech {
            DialectSide::Native(native) => native.seat.as_deref(),
            DialectSide::Other(_) => None,
        }
    }

    pub(super) fn seat_mut(&mut self) -> Option<&mut Seat<G>> {
        self.native()?.seat.as_deref_mut()
    }

    pub(super) fn handle_native(&mut self, now: Time, bytes: &[u8]) {
        match Datagram::decode(bytes) {
            Ok(datagram) => self.handle_native_packet(now, datagram),
            Err(error) => self.core.drop_malformed(bytes.len(), error),
        }
    }

    fn handle_native_packet(&mut self, now: Time, datagram: Datagram<'_>) {
        match datagram.packet {
            Packet::Challenge(challenge) => self.handle_challenge(now, &challenge),
            Packet::Accept(accept) => self.handle_accept(now, datagram.sequence, &accept),
            Packet::Reject(reject) => self.handle_reject(now, &reject),
            Packet::UnknownSession(unknown) => {
                self.handle_unknown(now, datagram.sequence, &unknown);
            }
            // A pong carries the number of our own ping, not one of the server's.
            Packet::Pong(pong) => {
                let question = Question { sequence: pong.id, timestamp: pong.timestamp };
                self.handle_pong(now, question);
            }
            packet => self.handle_session_packet(now, datagram.sequence, packet),
        }
    }

    fn handle_pong(&mut self, now: Time, answer: Question) {
        let DialectSide::Native(native) = &mut self.speech else { return };
        let Some(session) = native.session_mut() else {
            self.core.counts.stray += 1;
            return;
        };
        self.core.handle_answer(now, answer, session.measures_mut());
        self.core.heard(now, &mut session.liveness);
    }

    fn handle_challenge(&mut self, now: Time, challenge: &Challenge) {
        let asking = self.core.is_asking();
        let DialectSide::Native(native) = &mut self.speech else { return };
        if !asking || challenge.nonce != native.nonce {
            self.core.counts.stray += 1;
            return;
        }
        let known = native.seat.is_some() || native.ticket.is_some();
        if challenge.token_required && self.core.config.token.is_empty() && !known {
            self.core.end(EndReason::Token);
            return;
        }
        let first = native.cookie.replace(challenge.cookie).is_none();
        // The second question goes out at once; a challenge that repeats the first only renews
        // the cookie.
        if first {
            let policy = self.patience(now);
            self.core.phase = Phase::Asking(Retry::new(now, policy));
        }
    }

    fn handle_accept(&mut self, now: Time, sequence: u32, accept: &Accept) {
        let asking = self.core.is_asking();
        let game = self.game.clone();
        let DialectSide::Native(native) = &mut self.speech else { return };
        if !asking || accept.nonce != native.nonce || native.cookie.is_none() {
            self.core.counts.stray += 1;
            return;
        }
        // Whoever goes to a room has a new place, also in the room that it comes from: what was told
        // in the old one is over.
        let has_moved = native.moving.take().is_some();
        let is_same_player = self.core.player == Some(PlayerId(accept.player));
        let rtt = now.since(native.asked).min(Duration::from_secs(1));
        let is_same = |seat: &Seat<G>| {
            let is_there = (seat.room, seat.role) == (accept.room, accept.role);
            is_there && is_same_player && !has_moved
        };
        let opening = Opening {
            index: accept.session,
            nonce: accept.nonce,
            ticket: accept.ticket,
            budget: Budget::MAX,
            next: native.next_number(),
            peer: sequence,
        };
        let limits = self.core.config.liveness;
        let (mut seat, is_back) = match native.seat.take() {
            Some(mut seat) => {
                let is_back = is_same(&seat);
                seat.session.reopen(now, &opening, limits, is_back);
                let seat = match is_back {
                    true => seat.resumed(now, accept, rtt),
                    false => Seat::new(now, game, seat.session, accept, rtt),
                };
                (seat, is_back)
            }
            None => {
                let session = Session::new(now, &opening, limits);
                (Seat::new(now, game, session, accept, rtt), false)
            }
        };
        seat.session.pinger_mut().postpone(now);
        seat.predicts = self.core.config.predicts;
        native.seat = Some(Box::new(seat));
        self.core.config.role = accept.role;
        if !is_back {
            // Another room, or another part in this one: nothing of the old one is left.
            self.core.player = None;
            self.core.roster.clear();
        }
        self.core.enter(PlayerId(accept.player));
    }

    fn handle_reject(&mut self, now: Time, reject: &Reject) {
        let asking = self.core.is_asking();
        let DialectSide::Native(native) = &mut self.speech else { return };
        match asking && reject.nonce == native.nonce {
            // The place of an earlier run is given up: then a new one.
            true if reject.reason == RejectReason::Ticket && native.ticket.take().is_some() => {
                native.start_resume(&mut self.secrets);
                self.core.ask(now);
            }
            true if native.moving.is_some() => {
                let reason = EndReason::from_reject(reject, self.game.id().version);
                self.stop_moving();
                self.core.note(ClientEvent::Stayed(reason));
            }
            true => {
                let reason = EndReason::from_reject(reject, self.game.id().version);
                self.core.end(reason);
            }
            false => self.core.counts.stray += 1,
        }
    }

    /// Back to playing where we were. Whether we were on our way elsewhere.
    pub(super) fn stop_moving(&mut self) -> bool {
        let was_moving = self.native().is_some_and(|native| native.moving.take().is_some());
        if was_moving {
            self.core.phase = Phase::Playing;
            self.core.due = super::Due::default();
        }
        was_moving
    }

    /// A hint, and only if it speaks of something that we sent lately.
    fn handle_unknown(&mut self, now: Time, sequence: u32, unknown: &UnknownSession) {
        let ours = self.native().is_some_and(|native| {
            let age = native.next_number().wrapping_sub(sequence);
            let session = native.session().map(Session::index);
            (1..=HINT_REACH).contains(&age) && session == Some(unknown.session)
        });
        // Who is on the way to another room is asked to prove who it is, too.
        match ours && (self.stop_moving() || self.is_playing()) {
            true => self.try_again(now),
            false => self.core.counts.stray += 1,
        }
    }

    fn handle_session_packet(&mut self, now: Time, sequence: u32, packet: Packet<'_>) {
        let playing = self.is_playing();
        let DialectSide::Native(native) = &mut self.speech else { return };
        let Some(seat) = native.seat.as_mut() else {
            self.core.counts.stray += 1;
            return;
        };
        if !seat.session.take(sequence).is_taken() || !playing {
            self.core.counts.stray += 1;
            return;
        }
        match packet {
            Packet::Close(close) if close.session == seat.session.index() => match close.reason {
                // Our way to the server is broken, or was: the slot is kept for us.
                CloseReason::Silent => self.try_again(now),
                // Who hosts is the first player.
                CloseReason::HostLeft => {
                    let host = self.core.roster.iter().find(|line| line.player == PlayerId(1));
                    let host = host.map(|line| line.name).unwrap_or_default();
                    self.core.end(EndReason::HostLeft { host });
                }
                reason => self.core.end(reason.into()),
            },
            Packet::ServerPing(ping) => self.core.due.pong = Some((ping.id, ping.timestamp)),
            Packet::Roster(roster) => {
                if seat.roster.take(&roster) {
                    self.core.roster.clear();
                    self.core.roster.extend(seat.roster.lines());
                    self.core.note(ClientEvent::Roster);
                }
            }
            Packet::DeltaSnapshot(_) | Packet::ViewSnapshot(_) => {
                let taken = match packet {
                    Packet::ViewSnapshot(view) => {
                        self.core.counts.parts += 1;
                        seat.handle_view(now, sequence, &view, &mut self.core.journal)
                    }
                    Packet::DeltaSnapshot(snapshot) => {
                        seat.handle_snapshot(now, &snapshot, &mut self.core.journal)
                    }
                    _ => return,
                };
                match taken {
                    Ok(taken) => {
                        self.core.counts.states += u64::from(taken.is_new);
                        if let Some(rtt) = taken.measured {
                            let (pinger, round_trip) = seat.session.measures_mut();
                            round_trip.sample(rtt);
                            pinger.postpone(now);
                        }
                    }
                    Err(super::seat::Refused::Stray) => self.core.counts.stray += 1,
                    Err(super::seat::Refused::Malformed) => self.core.counts.malformed += 1,
                }
                self.hear_events();
            }
            Packet::ServerMessages(packet) => {
                seat.handle_messages(now, &packet.block);
                self.hear_events();
            }
            packet => self.core.drop_stray(packet.name()),
        }
        if let DialectSide::Native(native) = &mut self.speech
            && let Some(session) = native.session_mut()
        {
            self.core.heard(now, &mut session.liveness);
        }
    }

    /// Passes on what the server's messages and our own predictions say.
    fn hear_events(&mut self) {
        while let Some(event) = self.seat_mut().and_then(Seat::poll_event) {
            self.core.note(event);
        }
        self.hear_messages();
    }

    /// Passes on messages, while there is room for them.
    pub(super) fn hear_messages(&mut self) {
        let DialectSide::Native(native) = &mut self.speech else { return };
        let Some(messages) = native.session_mut().map(|session| &mut session.messages) else {
            return;
        };
        if !messages.has_mail() {
            return;
        }
        while self.core.takes_messages() {
            let Some((kind, message)) = messages.take() else { break };
            match read(kind, message) {
                Some(event) => self.core.note(event),
                None => self.core.counts.malformed += 1,
            }
        }
        while self.core.takes_messages() {
            let Some(message) = messages.take_unreliable() else { break };
            self.core.note(ClientEvent::Message(RawMessage(message.into())));
        }
        messages.tidy();
    }

    /// Inputs that are due, and what they say of the line.
    pub(super) fn handle_native_timeout(&mut self, now: Time) {
        let (input, role) = (self.core.input, self.core.config.role);
        let DialectSide::Native(native) = &mut self.speech else { return };
        let Some(seat) = native.seat.as_mut() else { return };
        let due = match role {
            Role::Play => seat.make_inputs(now, input, &mut self.core.journal),
            Role::Watch => seat.is_ack_due(now),
        };
        let lost = seat.is_lost(now);
        self.core.due.input |= due;
        self.core.due.messages |= due;
        self.hear_events();
        if lost {
            self.try_again(now);
        }
    }

    pub(super) fn speak_native(
        &mut self,
        now: Time,
        out: &mut [u8],
    ) -> Option<Result<usize, Full>> {
        if self.core.due.questions > 0 {
            self.core.due.questions -= 1;
            return Some(self.ask_native(now, out));
        }
        let DialectSide::Native(native) = &mut self.speech else { return None };
        let seat = native.seat.as_mut()?;
        let session = seat.session.index();
        let packet = if self.core.due.goodbyes > 0 {
            self.core.due.goodbyes -= 1;
            Packet::Goodbye(Goodbye { session })
        } else if let Some((id, timestamp)) = self.core.due.pong.take() {
            Packet::ClientPong(ServerPing { id, timestamp }.pong(session))
        } else if std::mem::take(&mut self.core.due.ping) {
            let Question { sequence, timestamp } = seat.session.pinger_mut().ask(now);
            Packet::Ping(Ping { session: Some(session), id: sequence, timestamp })
        } else if std::mem::take(&mut self.core.due.input) {
            return match self.core.config.role {
                Role::Play => seat.encode_input(now, out),
                Role::Watch => seat.encode_ack(now, out),
            };
        } else if std::mem::take(&mut self.core.due.messages) {
            return seat.encode_messages(now, out);
        } else {
            return None;
        };
        Some(seat.session.encode(packet, out))
    }

    fn ask_native(&mut self, now: Time, out: &mut [u8]) -> Result<usize, Full> {
        let (config, id) = (&self.core.config, self.game.id());
        let layout = self.game.layout() as u32;
        let DialectSide::Native(native) = &mut self.speech else { return Err(Full) };
        native.asked = now;
        let nonce = native.nonce;
        let ticket = match &native.seat {
            Some(seat) => Some((seat.session.ticket(), false)),
            None => native.ticket.map(|ticket| (ticket, true)),
        };
        if let (Some(seat), Some(Move { room, role, password })) = (&native.seat, native.moving) {
            let session = seat.session.index();
            let packet = Packet::EnterRoom(EnterRoom { session, nonce, room, role, password });
            return native.encode(packet, out);
        }
        let packet = match (native.cookie, ticket) {
            (None, _) => Packet::Hello(Hello {
                protocol: PROTOCOL,
                game: id.game,
                game_version: id.version,
                nonce,
            }),
            (Some(cookie), Some((ticket, fresh))) => {
                Packet::Resume(Resume { nonce, cookie, ticket, fresh })
            }
            (Some(cookie), None) => enter(config, (id, layout), nonce, cookie)?,
        };
        native.encode(packet, out)
    }
}

/// What a reliable message of the server's says; `None` if it is none.
fn read(kind: MessageKind, message: &[u8]) -> Option<ClientEvent> {
    Some(match kind {
        MessageKind::Game => ClientEvent::Message(RawMessage(message.into())),
        MessageKind::Event => ClientEvent::Game(Event::decode(message)?),
        MessageKind::Chat => ClientEvent::Chat(ChatLine::decode(message)?),
    })
}

/// Into a room that is there, or into a new one.
fn enter(
    config: &ClientConfig,
    (id, layout): (GameId, u32),
    nonce: u64,
    cookie: Secret,
) -> Result<Packet<'_>, Full> {
    let ClientConfig { name, password, .. } = *config;
    let token = Token::new(&config.token).ok_or(Full)?;
    let data = JoinData::new(&config.join_data).ok_or(Full)?;
    let (protocol, budget) = (PROTOCOL, Budget::MAX);
    let GameId { game, version: game_version } = id;
    Ok(match config.new_room {
        Some(room_name) => Packet::CreateRoom(CreateRoom {
            nonce,
            cookie,
            protocol,
            game,
            game_version,
            layout,
            budget,
            name,
            room_name,
            password,
            data,
            token,
        }),
        None => Packet::Join(Join {
            nonce,
            cookie,
            protocol,
            game,
            game_version,
            layout,
            budget,
            role: config.role,
            room: config.room,
            name,
            password,
            data,
            token,
        }),
    })
}
