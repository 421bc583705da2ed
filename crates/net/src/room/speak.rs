//! What a room says to a member, in the member's dialect: one datagram a call.

use std::time::Duration;

use super::member::{Answer, Due, Member, Presence};
use super::native::Native;
use super::{BOT, Room, View};

use crate::channel::{BLOCK_ROOM, LogLine, event_block};
use crate::dialect::{Saying, Telling};
use crate::game::{Game, Lobby, PlayerId};
use crate::node::Transmit;
use crate::replication::{Bodies, FragmentCache, History, Schema, State};
use crate::session::{Question, RESEND_SLACK, Session};
use crate::time::Time;
use crate::wire::native::{
    self, Accept, Close, CloseReason, DeltaSnapshot, EventBlock, Feedback, HEADER_LEN,
    MAX_DATAGRAM_LEN, MIN_BUDGET, Packet, Part, PlayerFlags, Role, Roster, RosterEntry,
    ServerEvents, ServerPing,
};
use crate::wire::{Full, List, Name};

/// How old a baseline may be.
const HISTORY_TICKS: u32 = native::MAX_BASELINE_BACK as u32;

/// What a snapshot has before its events and its body, at most.
const HEAD_LEN: usize = HEADER_LEN + DeltaSnapshot::MAX_HEAD_LEN;

/// The longest body of a part: the shortest budget has room for it, so that all members share it.
const PART_LEN: usize = MIN_BUDGET as usize - HEAD_LEN;

/// The round trip of a member that has not been measured yet.
const FIRST_RTT: Duration = Duration::from_millis(150);

/// A snapshot, or a part of one, without what is the member's own.
struct Piece<'a> {
    tick: u32,
    /// How old the baseline is; 0 is none.
    back: u8,
    part: Part,
    body: &'a [u8],
}

impl View {
    pub(super) fn new() -> Self {
        View {
            history: History::default(),
            bodies: Bodies::new(MAX_DATAGRAM_LEN - HEAD_LEN),
            cuts: Box::new(FragmentCache::new(PART_LEN)),
        }
    }

    /// What is shown.
    pub(super) fn state(&self) -> &State {
        static NOTHING: State = State::new(0);
        self.history.newest().unwrap_or(&NOTHING)
    }

    /// What is to be sent of the state against `baseline`: all of it, if it has room in `body_len`;
    /// else the part behind the `sent` ones that are out.
    fn piece(
        &mut self,
        schema: &Schema,
        baseline: Option<u32>,
        body_len: usize,
        sent: usize,
    ) -> Result<Piece<'_>, Full> {
        let state = self.history.newest().ok_or(Full)?;
        let tick = state.tick;
        let near = |has: &u32| (1..=HISTORY_TICKS).contains(&tick.wrapping_sub(*has));
        let baseline = baseline.filter(near).and_then(|has| self.history.at(has));
        let back = baseline.map_or(0, |baseline| tick.wrapping_sub(baseline.tick)) as u8;
        match self.bodies.body(schema, baseline, state) {
            Ok(body) if body.len() <= body_len => Ok(Piece { tick, back, part: Part::WHOLE, body }),
            _ => {
                let parts = self.cuts.parts(schema, baseline, state)?;
                let (part, body) = parts.get(sent as u8).ok_or(Full)?;
                Ok(Piece { tick, back, part, body })
            }
        }
    }
}

impl<G: Game> Room<G> {
    /// The next datagram that the member in place `at` is owed, if any.
    pub(super) fn speak(
        &mut self,
        now: Time,
        members: &mut [Option<Member>],
        at: usize,
        out: &mut [u8],
    ) -> Option<Transmit> {
        let member = members[at].as_mut()?;
        let path = member.path;
        let encoded = match member.dialect.place() {
            None => self.speak_native(now, members, at, out),
            Some(dialect) => self.speak_other(now, members, at, dialect, out),
        };
        // What does not fit its datagram is a mistake of the game's; the match goes on.
        encoded?.ok().map(|len| Transmit { path, len })
    }

    fn speak_native(
        &mut self,
        now: Time,
        members: &mut [Option<Member>],
        at: usize,
        out: &mut [u8],
    ) -> Option<Result<usize, Full>> {
        let member = members[at].as_mut()?;
        let closing = closing(member);
        if closing.is_none() && !member.due.greeting && member.roster.take(now) {
            let players = self.roster(members);
            let players = List::new(&players);
            let roster = Roster { revision: self.roster_revision, players };
            return Some(members[at].as_mut()?.session.encode(Packet::Roster(roster), out));
        }
        let session = member.session.index();
        if let Some(reason) = closing {
            return Some(member.session.encode(Packet::Close(Close { session, reason }), out));
        }
        if member.due.answer {
            return Some(member.speak_answer(out));
        }
        let Member { native, session, due, .. } = member;
        if std::mem::take(&mut due.greeting) {
            let accept = Packet::Accept(Accept {
                nonce: session.nonce,
                session: session.index(),
                player: member.player.0,
                room: self.number,
                tick: self.tick,
                tick_rate: self.game.tick_rate(),
                budget: session.budget(),
                role: member.role,
                ticket: session.ticket(),
            });
            return Some(session.encode(accept, out));
        }
        // What most members have none of is not asked how long it would wait.
        let again_after = match session.outbox.is_empty() {
            true => Duration::ZERO,
            false => session.round_trip().mean().unwrap_or(FIRST_RTT) + RESEND_SLACK,
        };
        if let Some(sent) = due.world.take().map(usize::from) {
            self.clock.show(self.tick, now);
            if sent == 0 && self.journal.is_kept() {
                self.journal.note(LogLine::SnapshotSent {
                    tick: self.tick,
                    entities: self.view.state().entities().len(),
                    player: member.player.0,
                    ack: native.queue.last_ack().unwrap_or(0),
                });
            }
            let to = (native, session, due);
            return Some(self.encode_snapshot(now, to, sent, again_after, out));
        }
        if std::mem::take(&mut due.events) {
            let mut room = [0; BLOCK_ROOM];
            let Session { outbox, inbox, outgoing, .. } = session;
            let block = event_block(outbox, inbox, now, again_after, &mut room)?;
            return Some(outgoing.encode(Packet::ServerEvents(ServerEvents { block }), out));
        }
        if !std::mem::take(&mut due.ping) {
            return None;
        }
        let Question { sequence, timestamp } = session.pinger_mut().ask(now);
        let ping = ServerPing { id: sequence, timestamp };
        Some(session.encode(Packet::ServerPing(ping), out))
    }

    /// The same in another dialect: when it is spoken to is the room's matter, what it says its own.
    fn speak_other(
        &mut self,
        now: Time,
        members: &mut [Option<Member>],
        at: usize,
        dialect: usize,
        out: &mut [u8],
    ) -> Option<Result<usize, Full>> {
        let member = members[at].as_mut()?;
        let spoken = self.spoken.get_mut(dialect)?.as_mut()?;
        // Whoever was silent may come back; and another program may be at the address by now, which
        // would take it for its own end.
        member.due.silent = false;
        if closing(member).is_some() {
            return spoken.encode_close(out);
        }
        if !member.is_here() {
            return None;
        }
        if std::mem::take(&mut member.due.greeting) {
            self.journal.note(LogLine::HelloAckSent { to: member.path.remote });
            return Some(spoken.encode_greeting(out));
        }
        let to = Telling {
            now,
            tick: self.tick,
            player: member.player,
            game: &self.game,
            world: &self.world,
            world_due: &mut member.due.world,
            roster_due: &mut member.roster,
            ping_due: &mut member.due.ping,
            pinger: member.session.pinger_mut(),
            players: &self.board.players,
            journal: &mut self.journal,
        };
        match spoken.speak(at, to, out)? {
            Saying::Datagram(encoded) => Some(encoded),
            Saying::Roster => {
                let everyone = self.roster(members);
                Some(self.spoken.get(dialect)?.as_ref()?.encode_roster(&everyone, out))
            }
        }
    }

    /// The snapshot of the last tick against one that the client has, or the next of its parts:
    /// `sent` are out already.
    fn encode_snapshot(
        &mut self,
        now: Time,
        (native, session, due): (&mut Native, &mut Session, &mut Due),
        sent: usize,
        again_after: Duration,
        out: &mut [u8],
    ) -> Result<usize, Full> {
        if sent == 0 {
            native.baseline = native.has;
        }
        let budget = session.budget().bytes();
        let (schema, body_len) = (self.game.schema(), budget - HEAD_LEN);
        let piece = self.view.piece(schema, native.baseline, body_len, sent)?;
        let next = sent as u16 + 1;
        due.world = Some(next).filter(|&next| next < u16::from(piece.part.count()));
        // What is the member's own goes with the first part.
        let feedback = if sent == 0 { native.feedback(now, session.lost_share()) } else { None };
        let Session { outbox, inbox, outgoing, .. } = session;
        let left = budget.saturating_sub(HEAD_LEN + piece.body.len());
        let room_len = left.checked_sub(EventBlock::MIN_LEN).filter(|_| sent == 0);
        let waiting = outbox.due(again_after).is_some_and(|at| at <= now);
        let mut room;
        let events = match room_len.filter(|_| waiting || inbox.owes()) {
            Some(len) => {
                room = [0; BLOCK_ROOM];
                let room = &mut room[..len.min(BLOCK_ROOM)];
                event_block(outbox, inbox, now, again_after, room)
            }
            None => None,
        };
        if sent == 0 {
            due.events = waiting && events.is_none_or(|block| block.events.is_empty());
        }
        let packet = Packet::DeltaSnapshot(DeltaSnapshot {
            tick: piece.tick as u16,
            baseline_back: piece.back,
            feedback,
            part: piece.part,
            events,
            body: piece.body,
        });
        outgoing.encode(packet, out)
    }

    /// Everyone.
    fn roster(&self, members: &[Option<Member>]) -> Vec<RosterEntry> {
        let members = members.iter().flatten().map(|member| self.entry(member));
        let bots = self.bots.iter().map(|&bot| self.bot_entry(bot));
        let mut players: Vec<_> = members.chain(bots).collect();
        players.sort_unstable_by_key(|entry| entry.player);
        players
    }

    fn bot_entry(&self, bot: PlayerId) -> RosterEntry {
        let standing = self.game.lobby().standing_of(&self.world, bot);
        RosterEntry {
            player: bot.0,
            lives: standing.map_or(0, |standing| standing.lives),
            flags: PlayerFlags::BOT | PlayerFlags::READY,
            rtt_ms: 0,
            name: Name::new(BOT),
        }
    }

    fn entry(&self, member: &Member) -> RosterEntry {
        let standing = self.game.lobby().standing_of(&self.world, member.player);
        let marks = self.game.lobby().marks(&self.world, member.player);
        let is_here = member.is_here();
        let plays = member.role == Role::Play;
        let flags = [
            (plays && marks.host, PlayerFlags::HOST),
            (plays && marks.ready && is_here, PlayerFlags::READY),
            (!is_here, PlayerFlags::ABSENT),
            (!plays, PlayerFlags::WATCHES),
        ];
        RosterEntry {
            player: member.player.0,
            lives: standing.map_or(0, |standing| standing.lives),
            flags: flags
                .into_iter()
                .filter(|(is_so, _)| *is_so)
                .fold(PlayerFlags::default(), |flags, (_, flag)| flags | flag),
            rtt_ms: member.session.round_trip().mean().map_or(0, |rtt| rtt.as_millis() as u16),
            name: member.name,
        }
    }
}

/// The reason to say goodbye with now, if it is to be said; counts it as said.
fn closing(member: &mut Member) -> Option<CloseReason> {
    if std::mem::take(&mut member.due.silent) {
        return Some(CloseReason::Silent);
    }
    match &mut member.presence {
        Presence::Closing { reason, left, said } => {
            *left = left.checked_sub(1)?;
            *said = *left == 0;
            Some(*reason)
        }
        _ => None,
    }
}

impl Member {
    /// Answers the oldest question that waits.
    fn speak_answer(&mut self, out: &mut [u8]) -> Result<usize, Full> {
        let (sequence, answer) = self.answers.remove(0);
        self.due.answer = !self.answers.is_empty();
        let packet = match answer {
            Answer::Pong(pong) => Packet::Pong(pong),
            Answer::Reject(reject) => Packet::Reject(reject),
        };
        self.session.answer(sequence, packet, out)
    }
}

impl Native {
    /// How the client's inputs fared since this was asked last.
    fn feedback(&mut self, now: Time, lost: u8) -> Option<Feedback> {
        let report = self.queue.take_report()?;
        Some(Feedback {
            echo: report.echo_tick as u8,
            held: (now.since(report.arrived).as_micros() / 125).min(u8::MAX.into()) as u8,
            early: report.early_ns.div_euclid(1_000_000).clamp(i8::MIN.into(), i8::MAX.into())
                as i8,
            missing: self.queue.missing(),
            lost,
        })
    }
}
