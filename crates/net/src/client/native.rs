//! The client in `native`: Hello, Challenge, Join, Accept; and the same way back.

use std::time::Duration;

use super::{Client, ClientEvent, Phase, RosterLine, Speech};
use crate::game::PlayerId;
use crate::session::{EndReason, Question, Retry, RetryPolicy, Secrets, Verdict, Window};
use crate::time::Time;
use crate::wire::native::{
    Accept, Budget, Challenge, CloseReason, Datagram, DeltaSnapshot, EntityState, Feedback,
    Goodbye, Hello, History, Input, InputRecord, Join, PROTOCOL, Packet, Ping, Reject, Resume,
    Scratch, Secret, SessionIndex, SnapshotEcho, Token, UnknownSession, nearest_tick,
};
use crate::wire::{Full, List, Reader};

/// How many of the last datagrams an UnknownSession may speak of.
const HINT_REACH: u32 = 256;

/// How many sent inputs are remembered, to measure the round trip when one is echoed.
const SENT_INPUTS: usize = 64;

/// How far ahead of the server's tick the first input is aimed.
const FIRST_LEAD_TICKS: u32 = 12;

/// What `native` keeps.
#[derive(Debug)]
pub(super) struct Native {
    nonce: u64,
    /// The Challenge's; `None` while a Hello is what to ask with.
    cookie: Option<Secret>,
    seat: Option<Seat>,
    /// The number of the next datagram to the server.
    sequence: u32,
    scratch: Scratch,
}

/// What Accept gave us.
#[derive(Debug)]
struct Seat {
    session: SessionIndex,
    ticket: Secret,
    tick_rate: u8,
    window: Window,
    next_input: u32,
    /// The inputs sent last and when, each where the low bits of its number say.
    sent: [Option<(u32, Time)>; SENT_INPUTS],
    /// When the newest snapshot came.
    snapshot_came: Option<Time>,
    last_input: Option<Time>,
    roster_revision: Option<u16>,
}

impl Native {
    pub(super) fn new(secrets: &mut Secrets) -> Self {
        Native {
            nonce: secrets.nonce(),
            cookie: None,
            seat: None,
            sequence: secrets.sequence(),
            scratch: Scratch::default(),
        }
    }

    pub(super) fn start_resume(&mut self, secrets: &mut Secrets) {
        self.nonce = secrets.nonce();
        self.cookie = None;
    }

    pub(super) fn tick_rate(&self) -> u32 {
        self.seat.as_ref().map_or(super::INPUT_RATE, |seat| u32::from(seat.tick_rate))
    }

    pub(super) fn newest_input(&self) -> Option<u32> {
        let seat = self.seat.as_ref()?;
        seat.last_input.map(|_| seat.next_input.wrapping_sub(1))
    }

    fn encode(&mut self, packet: Packet<'_>, out: &mut [u8]) -> Result<usize, Full> {
        let sequence = self.sequence;
        self.sequence = self.sequence.wrapping_add(1);
        Datagram { sequence, packet }.encode(out)
    }
}

impl Client {
    fn native(&mut self) -> Option<&mut Native> {
        match &mut self.speech {
            Speech::Native(native) => Some(native),
            #[cfg(any(feature = "lan", feature = "rtype"))]
            _ => None,
        }
    }

    pub(super) fn handle_native(&mut self, now: Time, bytes: &[u8]) {
        // The scratch is lent out for the time of the packet that may lie in it.
        let Some(native) = self.native() else { return };
        let mut scratch = std::mem::take(&mut native.scratch);
        match Datagram::decode_compressed(bytes, &mut scratch) {
            Ok(datagram) => self.handle_native_packet(now, datagram),
            Err(_) => self.counts.malformed += 1,
        }
        if let Some(native) = self.native() {
            native.scratch = scratch;
        }
    }

    fn handle_native_packet(&mut self, now: Time, datagram: Datagram<'_>) {
        match datagram.packet {
            Packet::Challenge(challenge) => self.handle_challenge(now, &challenge),
            Packet::Accept(accept) => self.handle_accept(now, datagram.sequence, &accept),
            Packet::Reject(reject) => self.handle_reject(&reject),
            Packet::UnknownSession(unknown) => {
                self.handle_unknown(now, datagram.sequence, &unknown);
            }
            // A pong carries the number of our own ping, not one of the server's.
            Packet::Pong(pong) => {
                let question = Question { sequence: pong.id, timestamp: pong.timestamp };
                self.handle_answer(now, question);
                self.heard(now);
            }
            packet => self.handle_session_packet(now, datagram.sequence, packet),
        }
    }

    fn handle_challenge(&mut self, now: Time, challenge: &Challenge) {
        let asking = matches!(self.phase, Phase::Asking(_));
        let Speech::Native(native) = &mut self.speech else { return };
        if !asking || challenge.nonce != native.nonce {
            self.counts.stray += 1;
            return;
        }
        if challenge.token_required && self.config.token.is_empty() && native.seat.is_none() {
            self.end(EndReason::Token);
            return;
        }
        let first = native.cookie.replace(challenge.cookie).is_none();
        // The second question goes out at once; a challenge that repeats the first only renews
        // the cookie.
        if first {
            let give_up = match native.seat {
                Some(_) => self.config.resume_for,
                None => RetryPolicy::HELLO.give_up,
            };
            let policy = RetryPolicy { give_up, ..RetryPolicy::HELLO };
            self.phase = Phase::Asking(Retry::new(now, policy));
        }
    }

    fn handle_accept(&mut self, now: Time, sequence: u32, accept: &Accept) {
        let asking = matches!(self.phase, Phase::Asking(_));
        let Speech::Native(native) = &mut self.speech else { return };
        if !asking || accept.nonce != native.nonce || native.cookie.is_none() {
            self.counts.stray += 1;
            return;
        }
        native.seat = Some(Seat {
            session: accept.session,
            ticket: accept.ticket,
            tick_rate: accept.tick_rate,
            window: Window::new(sequence.wrapping_add(1)),
            next_input: accept.tick.wrapping_add(FIRST_LEAD_TICKS).max(1),
            sent: [None; SENT_INPUTS],
            snapshot_came: None,
            last_input: None,
            roster_revision: None,
        });
        self.server_tick = accept.tick;
        self.enter(now, PlayerId(accept.player));
    }

    fn handle_reject(&mut self, reject: &Reject) {
        let asking = matches!(self.phase, Phase::Asking(_));
        match self.native() {
            Some(native) if asking && reject.nonce == native.nonce => {
                let reason = EndReason::from_reject(reject, self.config.game.version);
                self.end(reason);
            }
            _ => self.counts.stray += 1,
        }
    }

    /// A hint, and only if it speaks of something that we sent lately.
    fn handle_unknown(&mut self, now: Time, sequence: u32, unknown: &UnknownSession) {
        let ours = self.native().is_some_and(|native| {
            let age = native.sequence.wrapping_sub(sequence);
            let session = native.seat.as_ref().map(|seat| seat.session);
            (1..=HINT_REACH).contains(&age) && session == Some(unknown.session)
        });
        match ours && self.is_playing() {
            true => self.try_again(now),
            false => self.counts.stray += 1,
        }
    }

    fn handle_session_packet(&mut self, now: Time, sequence: u32, packet: Packet<'_>) {
        let playing = self.is_playing();
        let Some(seat) = self.native().and_then(|native| native.seat.as_mut()) else {
            self.counts.stray += 1;
            return;
        };
        if !seat.window.handle(sequence).is_taken() || !playing {
            self.counts.stray += 1;
            return;
        }
        match packet {
            Packet::Close(close) if close.session == seat.session => match close.reason {
                // Our way to the server is broken, or was: the slot is kept for us.
                CloseReason::Silent => self.try_again(now),
                reason => self.end(reason.into()),
            },
            Packet::ServerPing(ping) => self.due.pong = Some((ping.id, ping.timestamp)),
            Packet::Roster(roster) => {
                let news = seat
                    .roster_revision
                    .is_none_or(|revision| (roster.revision.wrapping_sub(revision) as i16) > 0);
                if news {
                    seat.roster_revision = Some(roster.revision);
                    self.roster.clear();
                    self.roster.extend(roster.players.iter().map(|entry| RosterLine {
                        player: PlayerId(entry.player),
                        name: entry.name,
                        lives: entry.lives,
                    }));
                    self.note(ClientEvent::Roster);
                }
            }
            Packet::DeltaSnapshot(snapshot) => self.handle_snapshot(now, &snapshot),
            _ => self.counts.stray += 1,
        }
        self.heard(now);
    }

    fn handle_snapshot(&mut self, now: Time, snapshot: &DeltaSnapshot<'_>) {
        if let Some(feedback) = snapshot.feedback {
            self.handle_feedback(now, &feedback);
        }
        let tick = nearest_tick(snapshot.tick, self.server_tick);
        let newer = tick.wrapping_sub(self.server_tick).cast_signed() > 0;
        let mut r = Reader::new(snapshot.body);
        let count = r.left() / <EntityState as crate::wire::Record>::LEN;
        match List::<EntityState>::decode(&mut r, "body", count) {
            Ok(entities) if newer => {
                self.server_tick = tick;
                if let Some(seat) = self.native().and_then(|native| native.seat.as_mut()) {
                    seat.snapshot_came = Some(now);
                }
                self.entities.clear();
                self.entities.extend(entities.iter());
                self.counts.states += 1;
            }
            Ok(_) => self.counts.stray += 1,
            Err(_) => self.counts.malformed += 1,
        }
    }

    fn handle_feedback(&mut self, now: Time, feedback: &Feedback) {
        let Some(seat) = self.native().and_then(|native| native.seat.as_mut()) else { return };
        // An input that came late: aim so much further ahead.
        if feedback.early < 0 {
            let late_ns = u64::from(feedback.early.unsigned_abs()) * 500_000;
            let ticks = late_ns * u64::from(seat.tick_rate) / 1_000_000_000;
            seat.next_input = seat.next_input.wrapping_add(ticks as u32 + 1);
        }
        // Inputs with the same low byte share a place, and the last of them is in it.
        let sent = seat.sent[usize::from(feedback.echo) % SENT_INPUTS];
        if let Some((sequence, sent)) = sent
            && sequence as u8 == feedback.echo
            && feedback.held < u8::MAX
        {
            let held = Duration::from_nanos(u64::from(feedback.held) * 125_000);
            let rtt = now.since(sent).saturating_sub(held);
            self.round_trip.sample(rtt);
            self.pinger.postpone(now);
        }
    }

    pub(super) fn handle_answer(&mut self, now: Time, answer: Question) {
        match self.pinger.handle_answer(now, answer) {
            Verdict::Sample(rtt) => {
                self.round_trip.sample(rtt);
            }
            _ => self.counts.stray += 1,
        }
    }

    pub(super) fn speak_native(
        &mut self,
        now: Time,
        out: &mut [u8],
    ) -> Option<Result<usize, Full>> {
        if self.due.questions > 0 {
            self.due.questions -= 1;
            return Some(self.ask_native(out));
        }
        let session = self.native()?.seat.as_ref()?.session;
        let packet = if self.due.goodbyes > 0 {
            self.due.goodbyes -= 1;
            Packet::Goodbye(Goodbye { session })
        } else if let Some((id, timestamp)) = self.due.pong.take() {
            Packet::ClientPong(crate::wire::native::ServerPing { id, timestamp }.pong(session))
        } else if std::mem::take(&mut self.due.ping) {
            let Question { sequence, timestamp } = self.pinger.ask(now);
            Packet::Ping(Ping { session: Some(session), id: sequence, timestamp })
        } else if std::mem::take(&mut self.due.input) {
            return self.speak_input(now, out);
        } else {
            return None;
        };
        Some(self.native()?.encode(packet, out))
    }

    fn ask_native(&mut self, out: &mut [u8]) -> Result<usize, Full> {
        let config = &self.config;
        let Speech::Native(native) = &mut self.speech else { return Err(Full) };
        let nonce = native.nonce;
        let packet = match (native.cookie, &native.seat) {
            (None, _) => Packet::Hello(Hello {
                protocol: PROTOCOL,
                game: config.game.game,
                game_version: config.game.version,
                nonce,
            }),
            (Some(cookie), Some(seat)) => {
                Packet::Resume(Resume { nonce, cookie, ticket: seat.ticket })
            }
            (Some(cookie), None) => Packet::Join(Join {
                nonce,
                cookie,
                protocol: PROTOCOL,
                game: config.game.game,
                game_version: config.game.version,
                budget: Budget::MAX,
                role: config.role,
                room: config.room,
                name: config.name,
                password: config.password,
                token: Token::new(&config.token).ok_or(Full)?,
            }),
        };
        native.encode(packet, out)
    }

    fn speak_input(&mut self, now: Time, out: &mut [u8]) -> Option<Result<usize, Full>> {
        let (buttons, server_tick) = (self.buttons, self.server_tick);
        let native = self.native()?;
        let seat = native.seat.as_mut()?;
        let sequence = seat.next_input;
        seat.next_input = seat.next_input.wrapping_add(1).max(1);
        let timestamp = now.as_millis() as u32;
        seat.sent[sequence as usize % SENT_INPUTS] = Some((sequence, now));
        let since = seat.last_input.replace(now).map_or(0.0, |last| now.since(last).as_secs_f32());
        let input_flags = buttons.0;
        let newest = InputRecord { sequence, input_flags, timestamp, delta_time: since };
        let snapshot = seat.snapshot_came.and_then(|came| {
            let back = u8::try_from(sequence.wrapping_sub(server_tick)).ok()?;
            let held = now.since(came).as_nanos() / 250_000;
            Some(SnapshotEcho { back, held: held.min(u8::MAX.into()) as u8 })
        });
        let mut room = [0; History::MAX_LEN];
        let packet = Packet::Input(Input {
            session: seat.session,
            newest,
            snapshot,
            drawn_back: None,
            events: None,
            history: History::new(input_flags, [], &mut room),
        });
        Some(native.encode(packet, out))
    }
}
