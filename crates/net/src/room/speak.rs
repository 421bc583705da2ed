//! What a room says to a member, in the member's dialect: one datagram a call.

use std::time::Duration;

use super::member::{Answer, Due, Member, Presence};
use super::native::Native;
use super::{BOT, Broadcast, LeftOut, Room};

use crate::channel::{LogLine, MESSAGE_DATAGRAMS};
use crate::dialect::{Greeting, Saying, Telling};
use crate::game::{Game, Lobby, PlayerId};
use crate::node::Transmit;
use crate::replication::view::Snapshot;
use crate::replication::{Bodies, Entity, History, KEPT, Schema, State, View, Viewer};
use crate::session::{Question, RESEND_SLACK, Session};
use crate::time::Time;
use crate::wire::native::{
    self, Accept, Close, CloseReason, DeltaSnapshot, Feedback, HEADER_LEN, MAX_DATAGRAM_LEN,
    Packet, PlayerFlags, Role, Roster, RosterEntry, ServerMessages, ServerPing, ViewSnapshot,
};
use crate::wire::{Full, List, Name};

/// How many snapshots old a baseline may be.
const HISTORY_LEN: u32 = native::MAX_BASELINE_BACK as u32;

/// What a snapshot has before its messages and its body, at most.
const HEAD_LEN: usize = HEADER_LEN + DeltaSnapshot::MAX_HEAD_LEN;

/// The same of one that is the member's own.
const VIEW_HEAD_LEN: usize = HEADER_LEN + ViewSnapshot::MAX_HEAD_LEN;

/// The round trip of a member that has not been measured yet.
const FIRST_RTT: Duration = Duration::from_millis(150);

impl Broadcast {
    pub(super) fn new(every: u32) -> Self {
        Broadcast {
            bodies: Bodies::new(MAX_DATAGRAM_LEN - HEAD_LEN),
            every,
            history: History::every(every),
            is_current: false,
            view: View::default(),
            body: Vec::new(),
        }
    }

    /// What is shown.
    pub(super) fn state(&self) -> &State {
        static NOTHING: State = State::new(0);
        self.history.newest().unwrap_or(&NOTHING)
    }

    /// The newest state against the one of tick `has`, and how many snapshots old that is; `None` if it
    /// has no room in `body_len`.
    fn body(&mut self, schema: &Schema, has: Option<u32>, body_len: usize) -> Option<(u8, &[u8])> {
        let state = self.history.newest()?;
        let back = |has: u32| state.tick.wrapping_sub(has) / self.every;
        // No further back than the client keeps its states, either.
        let is_kept = |has: &u32| state.tick.wrapping_sub(*has) < KEPT as u32;
        let baseline = has.filter(|has| (1..=HISTORY_LEN).contains(&back(*has))).filter(is_kept);
        let baseline = baseline.and_then(|has| self.history.at(has));
        let back = baseline.map_or(0, |baseline| back(baseline.tick)) as u8;
        let body = self.bodies.body(schema, baseline, state).ok()?;
        (body.len() <= body_len).then_some((back, body))
    }
}

/// Who a snapshot is for.
struct Receiver<'a> {
    viewer: Viewer,
    native: &'a mut Native,
    session: &'a mut Session,
    due: &'a mut Due,
    /// Events are sent again after this.
    again_after: Duration,
}

impl Receiver<'_> {
    /// Everything, in one datagram.
    fn encode_whole(
        self,
        now: Time,
        tick: u32,
        back: u8,
        body: &[u8],
        out: &mut [u8],
    ) -> Result<usize, Full> {
        let Receiver { native, session, due, again_after, .. } = self;
        let feedback = native.feedback(now, session.lost_share());
        let left = session.budget().bytes().saturating_sub(HEAD_LEN + body.len());
        let Session { messages, outgoing, .. } = session;
        let mut room;
        let messages = match messages.is_due(now, again_after) {
            true => {
                room = [0; MAX_DATAGRAM_LEN];
                let block = messages.poll(now, again_after, &mut room[..left]);
                // What has no room here goes alone.
                let is_left = messages.is_due(now, again_after);
                due.messages = if is_left { MESSAGE_DATAGRAMS } else { 0 };
                block
            }
            false => None,
        };
        let tick = tick as u16;
        let snapshot = DeltaSnapshot { tick, baseline_back: back, feedback, messages, body };
        outgoing.encode(Packet::DeltaSnapshot(snapshot), out)
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
        let (path, player) = (member.path, member.player);
        let encoded = match member.dialect.place() {
            None => self.speak_native(now, members, at, out),
            Some(dialect) => self.speak_other(now, members, at, dialect, out),
        };
        match encoded? {
            Ok(len) => Some(Transmit { path, len }),
            // It is a mistake of the game's; the match goes on.
            Err(Full) => {
                self.leave_out(now, LeftOut::Datagram(player), 1);
                None
            }
        }
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
        if closing.is_none() && !member.due.greeting {
            if member.roster.take(now) {
                return self.speak_roster(members, at, 0, out);
            }
            if member.due.roster_from > 0 {
                let first = member.due.roster_from;
                return self.speak_roster(members, at, first, out);
            }
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
        let again_after = match session.messages.is_busy() {
            false => Duration::ZERO,
            true => session.round_trip().mean().unwrap_or(FIRST_RTT) + RESEND_SLACK,
        };
        if let Some(sent) = due.world.take() {
            let tick = self.shown.state().tick;
            self.clock.show(tick, now);
            if sent == 0 && self.journal.is_kept() {
                self.journal.note(LogLine::SnapshotSent {
                    tick,
                    entities: self.shown.state().entities().len(),
                    player: member.player.0,
                    ack: native.queue.last_ack().unwrap_or(0),
                });
            }
            let viewer = match member.role {
                Role::Play => Viewer::Player(member.player),
                Role::Watch => Viewer::Watcher,
            };
            let to = Receiver { viewer, native, session, due, again_after };
            if let Some(encoded) = self.encode_snapshot(now, to, sent, out) {
                return Some(encoded);
            }
        }
        let Member { session, due, .. } = members[at].as_mut()?;
        if let Some(left) = due.messages.checked_sub(1) {
            let mut room = [0; MAX_DATAGRAM_LEN];
            let Session { messages, outgoing, .. } = session;
            let room = &mut room[..outgoing.budget().bytes() - HEADER_LEN];
            if let Some(block) = messages.poll(now, again_after, room) {
                due.messages = left;
                let packet = Packet::ServerMessages(ServerMessages { block });
                return Some(outgoing.encode(packet, out));
            }
            due.messages = 0;
        }
        if !std::mem::take(&mut due.ping) {
            return None;
        }
        let Question { sequence, timestamp } = session.pinger_mut().ask(now);
        let ping = ServerPing { id: sequence, timestamp };
        Some(session.encode(Packet::ServerPing(ping), out))
    }

    /// The roster, or the part of it that begins with `first` and fits a datagram.
    fn speak_roster(
        &self,
        members: &mut [Option<Member>],
        at: usize,
        first: u16,
        out: &mut [u8],
    ) -> Option<Result<usize, Full>> {
        let fits = members[at].as_ref()?.roster_part_len();
        let (total, players) = self.roster_part(members, first.into(), fits);
        debug_assert!(total <= Roster::MAX.into(), "a room has 255 players and 255 watchers");
        // Whoever left since the first part has made the roster shorter: it is told anew.
        if players.is_empty() && first > 0 {
            return self.speak_roster(members, at, 0, out);
        }
        let (total, next) = (total as u16, first + players.len() as u16);
        let member = members[at].as_mut()?;
        member.due.roster_from = if next < total { next } else { 0 };
        let players = List::new(&players);
        let roster = Roster { revision: self.roster_revision, total, first, players };
        Some(member.session.encode(Packet::Roster(roster), out))
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
        let (path, spoken) = (member.path, self.spoken.get_mut(dialect)?.as_mut()?);
        // Whoever was silent may come back; and another program may be at the address by now, which
        // would take it for its own end.
        member.due.silent = false;
        if let Some(reason) = closing(member) {
            return spoken.encode_close(at, reason, out);
        }
        if !member.is_here() {
            return None;
        }
        if std::mem::take(&mut member.due.greeting) {
            let to = Greeting {
                player: member.player,
                address: path.remote,
                tick: self.tick,
                game: &self.game,
                journal: &mut self.journal,
            };
            return Some(spoken.encode_greeting(at, to, out));
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

    /// The newest snapshot, or the next datagram of one that is the member's own: `sent` are out.
    fn encode_snapshot(
        &mut self,
        now: Time,
        to: Receiver<'_>,
        sent: u16,
        out: &mut [u8],
    ) -> Option<Result<usize, Full>> {
        if sent > 0 {
            return self.encode_view(now, to, sent, out);
        }
        let (schema, every) = (self.game.schema(), self.shown.every);
        let tick = self.shown.state().tick;
        self.shown.view.clear();
        self.game.visible(&self.world, to.viewer, &mut self.shown.view);
        if self.shown.view.is_everything() {
            let has = to.native.view.as_ref().map_or(to.native.has, |view| view.whole());
            let body_len = to.session.budget().bytes() - HEAD_LEN;
            if let Some((back, body)) = self.shown.body(schema, has, body_len) {
                to.native.note_sent(tick, every, true);
                (to.native.view, to.native.has) = (None, has);
                return Some(to.encode_whole(now, tick, back, body, out));
            }
        }
        // What is visible by now may have been hidden then: who has just come, perhaps with the number of
        // someone who has gone, or asks again, waits for the next snapshot.
        if !self.shown.is_current || to.native.has_view_of(tick) {
            return None;
        }
        self.shown.view.finish();
        to.native.note_sent(tick, every, false);
        let (history, state) = (&self.shown.history, self.shown.state());
        let snapshot = Snapshot { schema, history, state, every };
        let rate = u64::from(self.game.tick_rate()).max(1);
        let budget = u64::from(self.game.byte_budget()) * u64::from(every) / rate;
        let game = &self.game;
        let is_own = |entity: &Entity| match to.viewer {
            Viewer::Player(player) => game.is_ahead(entity, player),
            Viewer::Watcher => false,
        };
        to.native.view().plan(snapshot, &self.shown.view, budget as u32, is_own);
        self.encode_view(now, to, sent, out)
    }

    /// The next datagram of what the member may see; nothing if all of it, or all that the budget
    /// allows, is out.
    fn encode_view(
        &mut self,
        now: Time,
        to: Receiver<'_>,
        sent: u16,
        out: &mut [u8],
    ) -> Option<Result<usize, Full>> {
        let Receiver { native, session, due, again_after, .. } = to;
        let feedback = match sent {
            0 => native.feedback(now, session.lost_share()),
            _ => None,
        };
        let budget = session.budget().bytes();
        let Broadcast { history, body, every, .. } = &mut self.shown;
        let Session { messages, outgoing, .. } = session;
        let mut room;
        // What is the member's own goes with the first.
        let messages = match sent == 0 && messages.is_due(now, again_after) {
            true => {
                room = [0; MAX_DATAGRAM_LEN / 2];
                let block = messages.poll(now, again_after, &mut room);
                let is_left = messages.is_due(now, again_after);
                due.messages = if is_left { MESSAGE_DATAGRAMS } else { 0 };
                block
            }
            false => None,
        };
        let head_len = VIEW_HEAD_LEN + messages.map_or(0, |messages| messages.byte_len());
        body.resize(MAX_DATAGRAM_LEN, 0);
        let (schema, state, every) = (self.game.schema(), history.newest()?, *every);
        let snapshot = Snapshot { schema, history, state, every };
        let view = native.view();
        let place = &mut body[..budget - head_len];
        let (len, is_first) = view.poll(snapshot, outgoing.next(), head_len, place)?;
        due.world = Some(sent.saturating_add(1));
        let packet = Packet::ViewSnapshot(ViewSnapshot {
            tick: state.tick as u16,
            epoch: view.epoch(),
            is_first,
            feedback,
            messages,
            body: &body[..len],
        });
        Some(outgoing.encode(packet, out))
    }

    /// Everyone.
    fn roster(&self, members: &[Option<Member>]) -> Vec<RosterEntry> {
        self.roster_part(members, 0, usize::MAX).1
    }

    /// How many are in the room, and `len` of them at most, from the one at `first` on in the order of
    /// their numbers.
    fn roster_part(
        &self,
        members: &[Option<Member>],
        first: usize,
        len: usize,
    ) -> (usize, Vec<RosterEntry>) {
        let members = members.iter().flatten().map(|member| (member.player, Some(member)));
        let mut everyone: Vec<_> =
            members.chain(self.bots.iter().map(|&bot| (bot, None))).collect();
        everyone.sort_unstable_by_key(|(player, _)| player.0);
        let entry = |&(player, member): &(PlayerId, Option<&Member>)| match member {
            Some(member) => self.entry(member),
            None => self.bot_entry(player),
        };
        let part = everyone.iter().skip(first).take(len).map(entry).collect();
        (everyone.len(), part)
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
