//! One member of a room: where it is, whether it is there, and what it is owed.

use std::mem::offset_of;
use std::time::Duration;

use super::clock::TickClock;
use super::native::Native;
use super::sight::Bounds;
use super::silence::Silence;
use super::{MemberCard, RoomConfig};
use crate::channel::{
    Delivery, InputSource, Journal, LogLine, MESSAGE_DATAGRAMS, Received, SendError, Taken, tick,
};
use crate::dialect::{DialectId, Manners, Meaning};
use crate::endpoint::{Admission, Outcome, Papers};
use crate::game::{PlayerId, PlayerInput, PlayerStatus};
use crate::node::{Fetch, Path, fetch_to};
use crate::replication::History;
use crate::sabotage::{self, Sabotage};
use crate::session::{Bucket, Liveness, Question, Session, Verdict};
use crate::time::Time;
use crate::typed::RawInput;
use crate::wire::native::{
    self, Acks, CloseReason, HEADER_LEN, MessageKind, Packet, Reject, Role, Roster, RosterEntry,
};
use crate::wire::{Name, Record};

/// What the room knows of who speaks `native`. A place of the same player may be taken from another
/// address after a second of silence: an owner who plays sends sixty datagrams a second.
const NATIVE: Manners = Manners {
    proves_address: true,
    is_here_at_once: false,
    sends_every_tick: true,
    has_way_back: true,
    quiet: Duration::from_secs(1),
    is_pinged: true,
    stops_after: None,
    hears_of_drop: true,
};

/// How often the round trip to a member is measured.
const PING_EVERY: Duration = Duration::from_secs(1);

/// How long word is waited for of a snapshot that came, before a ping asks.
const ECHO_PATIENCE: Duration = Duration::from_millis(500);

/// How often a goodbye is said: it may be lost, and nobody answers it.
const GOODBYES: u8 = 3;

/// Answers that wait to be sent to one member; more are dropped, and counted by the endpoint.
pub const ANSWER_LIMIT: usize = 32;

/// What every datagram and every tick touches comes first, all else behind it: a crowd does not
/// fit into the processor's caches, and what it costs is mostly waiting for memory.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Member {
    pub(super) role: Role,
    pub(super) dialect: DialectId,
    pub(super) input: RawInput,
    pub(super) player: PlayerId,
    pub(super) presence: Presence,
    pub(super) due: Due,
    pub(super) last_input: Time,
    pub(super) inputs: u64,
    ticks: u64,
    ticks_without_input: u64,
    pub(super) roster: Announcement,
    /// Whether the last round trip was worth a line in the log.
    is_far: bool,
    /// Whether silence is excused while the player's stream is open.
    pub(super) kept_by_stream: bool,
    silence: Silence,
    pub(super) path: Path,
    /// When the round trip is to be measured: looked at in every tick, so that the path is near when
    /// the tick is told.
    next_measure: Time,
    /// Of who speaks `native`.
    pub(super) native: Native,
    pub(super) session: Session,
    pub(super) name: Name,
    manners: Manners,
    /// To what the member asked, with the numbers of the questions.
    pub(super) answers: Vec<(u32, Answer)>,
    /// How many more lines of chat the member may write, and how often it is told that it may not.
    pub(super) chat: Bucket,
    pub(super) chat_refusals: Bucket,
    /// Unreliable messages of the member that came when there was no room for them.
    pub(super) messages_lost: u64,
    /// How many of them the room has told of.
    pub(super) messages_lost_told: u64,
    /// What the player showed when joining.
    pub(super) papers: Papers,
}

/// What a member is told because it asked.
#[derive(Clone, Copy, Debug)]
pub(super) enum Answer {
    Pong(native::Pong),
    Reject(Reject),
}

/// Whether a member is there.
#[derive(Clone, Debug)]
pub(super) enum Presence {
    /// It was let in, and has not said anything yet: until then, nobody may be there at all.
    Invited { until: Time },
    /// It is: the session knows since when it is silent.
    Here,
    /// Its place is kept.
    Away { until: Time },
    /// It is told so, and gone.
    Closing { reason: CloseReason, left: u8, said: bool },
}

/// What a member is to be sent.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Due {
    /// The answer to a hello.
    pub(super) greeting: bool,
    /// The world; so many parts of it went out already.
    pub(super) world: Option<u16>,
    /// The rest of the roster, from here on.
    pub(super) roster_from: u16,
    /// Messages that had no room beside the world, in so many datagrams at most.
    pub(super) messages: u8,
    pub(super) ping: bool,
    /// Something in [`Member::answers`].
    pub(super) answer: bool,
    /// "You were silent": said once, when a member is dropped.
    pub(super) silent: bool,
}

/// A roster that changed: said at once, and again in case it was lost.
#[derive(Clone, Debug, Default)]
pub struct Announcement {
    left: u8,
    at: Time,
}

/// How a player comes back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Return {
    /// The number of the datagram that asked.
    pub(super) sequence: u32,
    pub(super) nonce: u64,
    /// Whether the player has forgotten all but the ticket.
    pub(super) fresh: bool,
}

/// What a packet meant for the room.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Came {
    Nothing,
    /// The first word of who was let in: from now on silence counts, and perhaps sooner than before.
    Claimed,
    Back,
    HighLatency(u32),
    Goodbye {
        keep: Keep,
    },
}

/// What a member who said goodbye leaves behind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Keep {
    Place,
    Nothing,
}

impl Announcement {
    const TIMES: u8 = 4;
    const AGAIN_AFTER: Duration = Duration::from_millis(200);

    pub(super) fn announce(&mut self, now: Time) {
        *self = Announcement { left: Announcement::TIMES, at: now };
    }

    /// The same of a roster in several datagrams: while players come and go it is not said at once each
    /// time, but as often as it is repeated.
    pub(super) fn announce_long(&mut self, now: Time) {
        *self = Announcement { left: Announcement::TIMES, at: self.at.max(now) };
    }

    /// Whether it is to be said now; counts it as said.
    pub fn take(&mut self, now: Time) -> bool {
        let due = self.left > 0 && self.at <= now;
        if due {
            self.left -= 1;
            self.at = now + Announcement::AGAIN_AFTER;
        }
        due
    }
}

impl Member {
    pub(super) fn new(
        now: Time,
        admission: Admission,
        manners: Option<Manners>,
        tick: u32,
        config: &RoomConfig,
    ) -> Self {
        let Admission { player, path, dialect, kept_by_stream, opening, role, name, .. } =
            admission;
        let manners = manners.unwrap_or(NATIVE);
        let presence = match admission.leaves {
            // Who comes from another room has spoken there.
            Some(_) => Presence::Here,
            None if manners.is_here_at_once => Presence::Here,
            None if kept_by_stream => Presence::Invited { until: Time::END },
            None if sabotage::is(Sabotage::SilentJoinKept) => Presence::Here,
            None => Presence::Invited { until: now + config.claim_within },
        };
        let session = match admission.session {
            Some(mut session) => {
                session.enter_room(now, &opening, config.liveness);
                session
            }
            None => Session::new(now, &opening, config.liveness),
        };
        Member {
            session,
            player,
            role,
            dialect,
            path,
            name,
            kept_by_stream,
            manners,
            native: Native::new(tick),
            presence,
            input: RawInput::default(),
            next_measure: now,
            is_far: false,
            silence: Silence::default(),
            roster: Announcement::default(),
            due: Due { greeting: true, world: Some(0), ..Due::default() },
            last_input: now,
            inputs: 0,
            ticks: 0,
            ticks_without_input: 0,
            answers: Vec::new(),
            chat: Bucket::default(),
            chat_refusals: Bucket::default(),
            messages_lost: 0,
            messages_lost_told: 0,
            papers: admission.papers,
        }
    }

    /// Has what a datagram or a tick touches of whoever has a place brought near.
    pub(super) fn prefetch(place: &Option<Member>, fetch: Fetch) {
        fetch_to(place, offset_of!(Member, session) + Session::HEAD_LEN, fetch);
    }

    pub(super) fn is_native(&self) -> bool {
        self.dialect == DialectId::NATIVE
    }

    pub(super) fn card(&self, dialect: &'static str) -> MemberCard {
        let arrivals = self.is_native().then(|| self.session.arrivals());
        let round_trip = self.session.round_trip();
        MemberCard {
            session: self.session.index(),
            player: self.player,
            name: self.name,
            role: self.role,
            path: self.path,
            dialect,
            present: self.is_here(),
            rtt: round_trip.mean(),
            rtt_range: round_trip.range(),
            jitter: round_trip.jitter(),
            grade: round_trip.grade(),
            pings: *self.session.pinger().counts(),
            loss: arrivals.map(|arrivals| arrivals.loss()),
            arrivals,
            messages_waiting: self.session.messages.unacknowledged(),
            input: self.input,
            inputs: self.inputs,
            ticks: self.ticks,
            ticks_without_input: self.ticks_without_input,
        }
    }

    /// What the member does in `tick`.
    pub(super) fn take_input(
        &mut self,
        tick: u32,
        bounds: Bounds,
        journal: &mut Journal,
    ) -> PlayerInput {
        let before = self.native.queue.last_ack();
        let taken = self.native.queue.take(tick);
        if self.is_here() {
            self.input = taken.input;
            self.ticks += 1;
            self.ticks_without_input += u64::from(taken.source != InputSource::Real);
            if taken.source == InputSource::Real {
                let (player, last_ack) = (self.player.0, tick);
                journal.note(LogLine::InputProcess { player, seq: tick, last_ack });
                if let Some(line) = before.and_then(|before| lost(player, before, tick)) {
                    journal.note(line);
                }
            }
        }
        let newest = self.native.newest.map(|newest| tick.wrapping_sub(newest));
        let back = self.native.sight.take(newest, bounds);
        self.holding(tick, Some(back))
    }

    /// What the member does in a tick, in a dialect where inputs wait for theirs.
    pub(super) fn hold_taken(&mut self, taken: Taken) {
        self.input = taken.input;
        self.ticks += 1;
        self.ticks_without_input += u64::from(taken.source != InputSource::Real);
    }

    /// What the member holds in `tick`, who drew a world of so many ticks ago.
    pub(super) fn holding(&self, tick: u32, drawn_back: Option<f64>) -> PlayerInput {
        let drawn = drawn_back.map(|back| f64::from(tick) - back);
        PlayerInput { player: self.player, input: self.input, drawn }
    }

    /// Whether the game is to be told of a silence: asked once in every tick. Of who is away it
    /// knows, and in some dialects who holds the same buttons says nothing.
    pub(super) fn silence_change(&mut self, rate: u8) -> Option<PlayerStatus> {
        let counts = self.is_here() && self.manners.sends_every_tick;
        counts.then(|| self.silence.pass(rate)).flatten()
    }

    /// Whether nothing is left to be sent for now, as most members are told everything with one
    /// datagram. Who is not asked this is asked for the next.
    pub(super) fn is_told(&self) -> bool {
        self.is_native() && self.is_here() && self.roster.left == 0 && self.due == Due::default()
    }

    /// How many of a roster fit a datagram.
    pub(super) fn roster_part_len(&self) -> usize {
        let left = self.session.budget().bytes() - HEADER_LEN - Roster::HEAD_LEN;
        left / <RosterEntry as Record>::LEN
    }

    /// Something that the member must learn. An error is a queue that is full: the session has to end,
    /// for the member would miss it.
    pub(super) fn tell(&mut self, kind: MessageKind, message: &[u8]) -> Result<(), SendError> {
        match self.is_native() && !matches!(self.presence, Presence::Closing { .. }) {
            true => self.session.messages.send(kind, message),
            false => Ok(()),
        }
    }

    /// The same for a message of the game's. What is unreliable is not kept for who is away.
    pub(super) fn deliver(&mut self, delivery: Delivery, message: &[u8]) -> Result<(), SendError> {
        match delivery {
            Delivery::Reliable => self.tell(MessageKind::Game, message),
            Delivery::Unreliable => {
                if self.is_native() && self.is_here() {
                    // The room counts what goes to a member in a tick. What is left of the tick before,
                    // while an end is held, is as good as lost.
                    if self.session.messages.send_unreliable(message).is_err() {
                        self.messages_lost += 1;
                    }
                }
                Ok(())
            }
        }
    }

    /// Something that the member is told because it asked, with the number of the question.
    pub(super) fn answer(&mut self, sequence: u32, answer: Answer) -> Outcome {
        if self.answers.len() >= ANSWER_LIMIT {
            return Outcome::Unanswered;
        }
        self.answers.push((sequence, answer));
        self.due.answer = true;
        Outcome::Done
    }

    /// The hello was heard (again): greeting and world follow at once.
    pub(super) fn greet(&mut self, now: Time, config: &RoomConfig) -> Came {
        // Where a hello can be forged, saying it again keeps nothing.
        if let Presence::Invited { until } = &mut self.presence
            && self.manners.proves_address
        {
            *until = (*until).max(now + config.claim_within);
        }
        if self.is_here() {
            self.due.greeting = true;
            self.due.world = Some(0);
        }
        match self.manners.is_here_at_once {
            true => self.heard(now, config),
            false => Came::Nothing,
        }
    }

    /// From now on silence counts again.
    pub(super) fn lose_stream(&mut self, now: Time, config: &RoomConfig) {
        let was_kept = std::mem::take(&mut self.kept_by_stream);
        match &mut self.presence {
            Presence::Here if was_kept => {
                self.session.liveness = Liveness::new(now, config.liveness);
            }
            Presence::Invited { until } => *until = now + config.claim_within,
            _ => {}
        }
    }

    pub(super) fn is_here(&self) -> bool {
        matches!(self.presence, Presence::Invited { .. } | Presence::Here)
    }

    /// When the member is to be looked after, if nothing is heard until then.
    pub(super) fn watch_at(&self) -> Time {
        match &self.presence {
            Presence::Invited { until } | Presence::Away { until } => *until,
            Presence::Closing { .. } => Time::ZERO,
            Presence::Here if self.kept_by_stream => Time::END,
            Presence::Here => self.session.liveness.deadline().unwrap_or(Time::ZERO),
        }
    }

    /// Whether who is dropped for silence is told so.
    pub(super) fn hears_of_drop(&self) -> bool {
        self.manners.hears_of_drop
    }

    /// Whether the member could prove to be the same: else its place is not kept.
    pub(super) fn has_way_back(&self) -> bool {
        self.manners.has_way_back
    }

    /// Nobody is there to be sent anything until the player is back.
    pub(super) fn go_away(&mut self, until: Time) {
        self.presence = Presence::Away { until };
        self.input = RawInput::default();
        self.due = Due::default();
        self.answers.clear();
        self.roster = Announcement::default();
    }

    /// Whether the player, from `path`, may have this place.
    pub(super) fn may_move(&self, now: Time, path: Path) -> bool {
        match &self.presence {
            Presence::Away { .. } => true,
            // Not kept for a return: it is free soon.
            Presence::Invited { .. } => path == self.path,
            Presence::Here if sabotage::is(Sabotage::TicketRobs) => true,
            // The same address again: the Accept was lost, or the program was started anew.
            Presence::Here if path == self.path => true,
            Presence::Here => self.session.liveness.silent_for(now) >= self.manners.quiet,
            Presence::Closing { .. } => false,
        }
    }

    /// Whether the player is here already by the Resume with this nonce.
    pub(super) fn has_returned(&self, path: Path, nonce: u64) -> bool {
        let is_same = path == self.path && self.session.nonce == nonce;
        self.is_native() && self.is_here() && is_same
    }

    pub(super) fn move_to(
        &mut self,
        now: Time,
        path: Path,
        back: Return,
        tick: u32,
        config: &RoomConfig,
    ) {
        self.path = path;
        self.presence = Presence::Here;
        let heard = if sabotage::is(Sabotage::LivenessKept) { self.last_input } else { now };
        // A Resume that comes again begins nothing anew.
        let forgotten = back.fresh && self.session.nonce != back.nonce;
        self.session.resume(heard, back.sequence, config.liveness, forgotten);
        self.session.nonce = back.nonce;
        self.native.begin_again(tick);
        self.last_input = now;
        self.silence.heard();
        self.roster.announce(now);
    }

    /// Whoever is away is not told: another program may be at the address by now.
    pub(super) fn close(&mut self, reason: CloseReason) {
        if reason == CloseReason::Kicked && sabotage::is(Sabotage::KickKeepsPlace) {
            return self.go_away(Time::END);
        }
        let left = if self.is_here() { GOODBYES } else { 0 };
        self.presence = Presence::Closing { reason, left, said: left == 0 };
    }

    /// Says once that the member was silent: its way to us may be broken, and ours to it not.
    pub(super) fn say_silent(&mut self) {
        self.due.silent = true;
    }

    /// A tick has passed: the member is to be shown the world, and pinged when it is time.
    pub(super) fn show(&mut self, now: Time, is_snapshot: bool) {
        if !self.is_here() {
            return;
        }
        if is_snapshot || !self.is_native() {
            let stopped = |after: Duration| now.since(self.last_input) >= after;
            self.due.world = Some(0).filter(|_| !self.manners.stops_after.is_some_and(stopped));
        } else if self.session.messages.is_busy() {
            // Those of a tick do not wait for a snapshot: there may be more than may wait.
            self.due.messages = MESSAGE_DATAGRAMS;
        }
        if !self.manners.is_pinged {
            return;
        }
        let patience = if self.is_native() { ECHO_PATIENCE } else { Duration::ZERO };
        if self.next_measure + patience <= now {
            self.due.ping = true;
            self.next_measure = now + PING_EVERY;
        }
    }

    /// What a datagram in another dialect means for the room.
    pub(super) fn handle_meaning(
        &mut self,
        now: Time,
        meaning: Meaning,
        config: &RoomConfig,
    ) -> Came {
        let came = match meaning {
            Meaning::Nothing => return Came::Nothing,
            Meaning::Goodbye if !self.has_way_back() => {
                return Came::Goodbye { keep: Keep::Nothing };
            }
            Meaning::Goodbye => return Came::Goodbye { keep: Keep::Place },
            Meaning::Alive => Came::Nothing,
            Meaning::Input(buttons) => {
                (self.input, self.last_input) = (RawInput::of(buttons), now);
                self.inputs += 1;
                self.silence.heard();
                Came::Nothing
            }
            Meaning::RoundTrip(rtt) => self.measure(rtt, config),
        };
        self.heard_or(now, came, config)
    }

    fn heard(&mut self, now: Time, config: &RoomConfig) -> Came {
        match &mut self.presence {
            Presence::Invited { .. } => {
                self.presence = Presence::Here;
                self.session.liveness = Liveness::new(now, config.liveness);
                Came::Claimed
            }
            Presence::Here => match self.session.heard(now) {
                Some(_) => Came::Back,
                None => Came::Nothing,
            },
            _ => Came::Nothing,
        }
    }

    /// Opens a datagram of the session, and takes what is in it.
    pub(super) fn handle_native(
        &mut self,
        now: Time,
        (clock, history): (&TickClock, &History),
        bytes: &mut [u8],
        config: &RoomConfig,
        journal: &mut Journal,
    ) -> (Came, Outcome) {
        let datagram = match self.session.open(bytes) {
            Ok(datagram) => datagram,
            Err(unopened) => return (Came::Nothing, Outcome::Unopened(unopened)),
        };
        let sequence = datagram.sequence;
        // Who is away, and does not know it, is answered all the same.
        let outcome = match datagram.packet {
            Packet::Ping(ping) => self.answer(sequence, Answer::Pong(ping.pong())),
            Packet::EnterRoom(wish) => return (Came::Nothing, Outcome::Wish { sequence, wish }),
            _ => Outcome::Done,
        };
        if !self.is_here() {
            return (Came::Nothing, outcome);
        }
        let came = match datagram.packet {
            Packet::Input(input) => {
                let every = history.ticks();
                let Received { new, stale, gap, .. } =
                    self.native.handle_input(now, clock, &input, every);
                self.handle_acks(input.acks, history);
                if let Some(block) = &input.messages {
                    self.handle_messages(block);
                }
                self.inputs += u64::from(new + stale);
                self.last_input = now;
                self.silence.heard();
                let (player, seq) = (self.player.0, input.newest.sequence);
                journal.note(LogLine::InputRecv { player, seq, gap });
                match input.snapshot {
                    Some(echo) => {
                        let shown = tick::before(seq, echo.back.into());
                        self.handle_echo(now, clock, shown, echo.held, config)
                    }
                    None => Came::Nothing,
                }
            }
            Packet::SnapshotAck(ack) => {
                self.native.handle_ack(ack.server_tick, history.ticks());
                self.handle_acks(ack.acks, history);
                if let Some(block) = &ack.messages {
                    self.handle_messages(block);
                }
                self.handle_echo(now, clock, ack.server_tick, ack.held, config)
            }
            Packet::ClientMessages(packet) => {
                self.handle_messages(&packet.block);
                Came::Nothing
            }
            Packet::ClientPong(pong) => {
                let (sequence, timestamp) = (pong.id, pong.timestamp);
                self.handle_answer(now, Question { sequence, timestamp }, config)
            }
            Packet::Goodbye(_) => {
                return (Came::Goodbye { keep: Keep::Nothing }, outcome);
            }
            _ => Came::Nothing,
        };
        (self.heard_or(now, came, config), outcome)
    }

    fn handle_acks(&mut self, acks: Option<Acks>, history: &History) {
        if let (Some(acks), Some(view)) = (acks, &mut self.native.view) {
            let last = self.session.outgoing.next().wrapping_sub(1);
            let back = (last as u16).wrapping_sub(acks.newest);
            let newest = last.wrapping_sub(back.into());
            view.handle_acks(newest, acks.mask, history, history.ticks());
        }
    }

    fn handle_messages(&mut self, block: &native::MessageBlock<'_>) {
        self.messages_lost += self.session.messages.handle(block) as u64;
    }

    /// The sign of life counts in any case; what else came is told first.
    fn heard_or(&mut self, now: Time, came: Came, config: &RoomConfig) -> Came {
        match (self.heard(now, config), came) {
            (heard, Came::Nothing) => heard,
            (_, came) => came,
        }
    }

    fn handle_answer(&mut self, now: Time, answer: Question, config: &RoomConfig) -> Came {
        match self.session.pinger_mut().handle_answer(now, answer) {
            Verdict::Sample(rtt) => self.measure(rtt, config),
            _ => Came::Nothing,
        }
    }

    /// The member says which snapshot has come, and how long before: once a second that is a round
    /// trip, and spares a ping.
    fn handle_echo(
        &mut self,
        now: Time,
        clock: &TickClock,
        shown: u32,
        held: u8,
        config: &RoomConfig,
    ) -> Came {
        let rtt = match now >= self.next_measure {
            true => native::held_for(held).and_then(|held| clock.round_trip(now, shown, held)),
            false => None,
        };
        let Some(rtt) = rtt else { return Came::Nothing };
        self.next_measure = now + PING_EVERY;
        self.measure(rtt, config)
    }

    fn measure(&mut self, rtt: Duration, config: &RoomConfig) -> Came {
        self.session.round_trip_mut().sample(rtt);
        self.native.sight.measure(self.session.round_trip());
        let was_far = std::mem::replace(&mut self.is_far, rtt > config.high_latency);
        match self.is_far && !was_far {
            true => Came::HighLatency(rtt.as_millis() as u32),
            false => Came::Nothing,
        }
    }
}

/// The inputs between the one that was applied last and that of `tick`, whose ticks ran without them.
#[inline]
fn lost(player: u32, before: u32, tick: u32) -> Option<LogLine> {
    let lost = tick::since(tick, before) - 1;
    (lost > 0).then(|| LogLine::InputsLost {
        player,
        lost: lost.unsigned_abs(),
        first: tick::after(before, 1),
        last: tick::before(tick, 1),
    })
}
