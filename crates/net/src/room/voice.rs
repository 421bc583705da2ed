//! What a room says to a member, in the member's dialect: one datagram a call.

use super::member::{Due, Member, Presence, Speech};
use super::native::Native;
use super::{BOT, Room, View};
use std::time::Duration;

use crate::channel::{BLOCK_ROOM, LogLine, event_block};
use crate::game::{ClassicGame, Game, Lobby, PlayerId};
use crate::node::Transmit;
use crate::replica::{Bodies, Cuts, FullForm, History, Schema, State};
use crate::session::Question;
use crate::time::Time;
use crate::wire::native::{
    self, Accept, Budget, Close, CloseReason, Datagram, DeltaSnapshot, EventBlock, Feedback,
    HEADER_LEN, MAX_DATAGRAM_LEN, MIN_BUDGET, Packet, Part, PlayerFlags, Role, Roster, RosterEntry,
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

/// An event is sent again a round trip and this after it was sent.
const RESEND_SLACK: Duration = Duration::from_millis(50);

/// A snapshot, or a part of one, without what is the member's own.
struct Piece<'a> {
    tick: u32,
    /// How old the baseline is; 0 is none.
    back: u8,
    part: Part,
    body: &'a [u8],
}

impl View {
    pub(super) fn new(schema: &Schema) -> Self {
        View {
            history: History::default(),
            #[cfg(feature = "rtype")]
            now: State::default(),
            bodies: Bodies::new(MAX_DATAGRAM_LEN - HEAD_LEN),
            cuts: Box::new(Cuts::new(PART_LEN)),
            #[cfg(feature = "rtype")]
            full: FullForm::new(schema),
            #[cfg(feature = "rtype")]
            rtype: Vec::new(),
            #[cfg(feature = "rtype")]
            ids: Vec::new(),
            #[cfg(feature = "rtype")]
            ids_before: Vec::new(),
            #[cfg(feature = "rtype")]
            gone: Vec::new(),
        }
    }

    /// What is shown.
    pub(super) fn state(&self) -> &State {
        static NOTHING: State = State::new(0);
        self.history.newest().unwrap_or(&NOTHING)
    }

    /// What is to be sent to `native` of the state: all of it, if its budget has the room; else
    /// the part behind the `sent` ones that are out.
    fn piece(&mut self, schema: &Schema, native: &Native, sent: usize) -> Result<Piece<'_>, Full> {
        let state = self.history.newest().ok_or(Full)?;
        let tick = state.tick;
        let near = |has: &u32| (1..=HISTORY_TICKS).contains(&tick.wrapping_sub(*has));
        let baseline = native.baseline.filter(near).and_then(|has| self.history.at(has));
        let back = baseline.map_or(0, |baseline| tick.wrapping_sub(baseline.tick)) as u8;
        let body_len = native.budget.bytes() - HEAD_LEN;
        match self.bodies.body(schema, baseline, state) {
            Ok(body) if body.len() <= body_len => Ok(Piece { tick, back, part: Part::WHOLE, body }),
            _ => {
                let parts = self.cuts.parts(schema, baseline, state)?;
                let (part, body) = parts.get(sent as u8).ok_or(Full)?;
                Ok(Piece { tick, back, part, body })
            }
        }
    }

    /// What there is now in `rtype`'s words, by the names of the fields and what the game makes
    /// of them, players and enemies first; and what is there no more.
    #[cfg(feature = "rtype")]
    pub(super) fn translate(&mut self, game: &impl Game) {
        use crate::wire::rtype::{Entity, Kind};
        self.rtype.clear();
        self.rtype.extend(self.now.entities().iter().filter_map(|entity| {
            let full = self.full.entity(entity)?;
            let plain = Entity {
                id: full.entity_id,
                kind: match full.entity_type {
                    0 => Kind::Player,
                    1 => Kind::Enemy,
                    2 => Kind::Bullet,
                    _ => Kind::PowerUp,
                },
                x: full.x,
                y: full.y,
                vx: f32::from(full.vx),
                vy: f32::from(full.vy),
                rgba: 0x55AA_FFFF,
            };
            game.classic().rtype_entity(entity, plain)
        }));
        self.rtype.sort_unstable_by_key(|entity| (entity.kind as u8, entity.id));
        std::mem::swap(&mut self.ids, &mut self.ids_before);
        self.ids.clear();
        self.ids.extend(self.rtype.iter().map(|entity| entity.id));
        self.ids.sort_unstable();
        let is_gone = |id: &&u32| self.ids.binary_search(id).is_err();
        self.gone.extend(self.ids_before.iter().filter(is_gone));
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
        let encoded = match member.voice {
            Speech::Native(_) => self.speak_native(now, members, at, out),
            #[cfg(feature = "rtype")]
            Speech::Rtype(_) => self.speak_rtype(now, members, at, out),
            #[cfg(feature = "lan")]
            Speech::Lan { .. } => self.speak_lan(member, out),
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
            let Speech::Native(native) = &mut members[at].as_mut()?.voice else { return None };
            return Some(native.encode(Packet::Roster(roster), out));
        }
        let session = member.session;
        let Member { voice: Speech::Native(native), due, seldom, .. } = member else {
            return None;
        };
        // What most members have none of is not asked how long it would wait.
        let again_after = match native.outbox.is_empty() {
            true => Duration::ZERO,
            false => seldom.round_trip.mean().unwrap_or(FIRST_RTT) + RESEND_SLACK,
        };
        if let Some(reason) = closing {
            return Some(native.encode(Packet::Close(Close { session, reason }), out));
        }
        if std::mem::take(&mut due.greeting) {
            let accept = Packet::Accept(Accept {
                nonce: native.nonce,
                session,
                player: member.player.0,
                room: self.number,
                tick: self.tick,
                tick_rate: self.game.tick_rate(),
                budget: native.budget,
                role: member.role,
                ticket: native.ticket,
            });
            return Some(native.encode(accept, out));
        }
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
            return Some(self.encode_snapshot(now, native, due, sent, again_after, out));
        }
        if std::mem::take(&mut due.events) {
            let mut room = [0; BLOCK_ROOM];
            let Native { outbox, inbox, sequence, budget, .. } = native;
            let block = event_block(outbox, inbox, now, again_after, &mut room)?;
            let packet = Packet::ServerEvents(ServerEvents { block });
            return Some(encode(sequence, *budget, packet, out));
        }
        if !std::mem::take(&mut due.ping) {
            return None;
        }
        let Question { sequence, timestamp } = seldom.pinger.ask(now);
        let ping = ServerPing { id: sequence, timestamp };
        Some(native.encode(Packet::ServerPing(ping), out))
    }

    /// The snapshot of the last tick against one that the client has, or the next of its parts:
    /// `sent` are out already.
    fn encode_snapshot(
        &mut self,
        now: Time,
        native: &mut Native,
        due: &mut Due,
        sent: usize,
        again_after: Duration,
        out: &mut [u8],
    ) -> Result<usize, Full> {
        if sent == 0 {
            native.baseline = native.has;
        }
        let piece = self.view.piece(self.game.schema(), native, sent)?;
        let next = sent as u16 + 1;
        due.world = Some(next).filter(|&next| next < u16::from(piece.part.count()));
        // What is the member's own goes with the first part.
        let feedback = if sent == 0 { native.feedback(now) } else { None };
        let Native { outbox, inbox, sequence, budget, .. } = native;
        let left = budget.bytes().saturating_sub(HEAD_LEN + piece.body.len());
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
        encode(sequence, *budget, packet, out)
    }

    /// Everyone.
    pub(super) fn roster(&self, members: &[Option<Member>]) -> Vec<RosterEntry> {
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
            rtt_ms: member.seldom.round_trip.mean().map_or(0, |rtt| rtt.as_millis() as u16),
            name: member.seldom.name,
        }
    }

    #[cfg(feature = "lan")]
    fn speak_lan(&mut self, member: &mut Member, out: &mut [u8]) -> Option<Result<usize, Full>> {
        use crate::wire::lan::{HelloAck, Packet, StateUpdate};
        // The dialect has no goodbye: silence is all there is.
        if closing(member).is_some() {
            return None;
        }
        if std::mem::take(&mut member.due.greeting) {
            self.journal.note(LogLine::HelloAckSent { to: member.path.remote });
            return Some(Packet::HelloAck(HelloAck).encode(out));
        }
        member.due.world.take()?;
        if !member.voice.pay_lan_state() {
            return None;
        }
        let Speech::Lan { seq, first, .. } = &mut member.voice else { return None };
        let now = self.game.classic().lan_state(&self.world)?;
        let state = first.take().unwrap_or(now);
        if state != now {
            member.due.world = Some(0);
        }
        let state = StateUpdate { seq: *seq, ..state };
        // The first program compares as signed: a host stays below 2^31.
        *seq = (*seq + 1) & 0x7FFF_FFFF;
        Some(Packet::StateUpdate(state).encode(out))
    }
}

/// The reason to say goodbye with now, if it is to be said; counts it as said.
pub(super) fn closing(member: &mut Member) -> Option<CloseReason> {
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

impl Native {
    /// How the client's inputs fared since this was asked last.
    fn feedback(&mut self, now: Time) -> Option<Feedback> {
        let report = self.queue.take_report()?;
        Some(Feedback {
            echo: report.echo_tick as u8,
            held: (now.since(report.arrived).as_micros() / 125).min(u8::MAX.into()) as u8,
            early: report.early_ns.div_euclid(1_000_000).clamp(i8::MIN.into(), i8::MAX.into())
                as i8,
            missing: self.queue.missing(),
            lost: self.lost_share,
        })
    }

    fn encode(&mut self, packet: Packet<'_>, out: &mut [u8]) -> Result<usize, Full> {
        encode(&mut self.sequence, self.budget, packet, out)
    }
}

fn encode(
    next: &mut u32,
    budget: Budget,
    packet: Packet<'_>,
    out: &mut [u8],
) -> Result<usize, Full> {
    let limit = out.len().min(budget.bytes());
    let sequence = *next;
    *next = sequence.wrapping_add(1);
    Datagram { sequence, packet }.encode(&mut out[..limit])
}
