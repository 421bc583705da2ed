//! One member of a room: where it is, whether it is there, and what it is owed.

use std::mem::offset_of;
use std::time::Duration;

use super::clock::TickClock;
use super::native::Native;
use super::sight::Bounds;
use super::silence::Silence;
use super::{MemberCard, RoomConfig};
use crate::channel::{InputSource, Journal, LogLine, Received, tick};
use crate::front::{Admission, Voice};
use crate::game::{Buttons, PlayerId, PlayerInput, PlayerStatus};
use crate::node::{Fetch, Path, fetch_to};
use crate::sabotage::{self, Sabotage};
use crate::session::{Liveness, Pinger, Question, RoundTrip, Verdict};
use crate::time::Time;
use crate::wire::native::{self, CloseReason, Role, SessionIndex};
use crate::wire::{Dialect, Name, Packet};

/// A place of the same player may be taken from another address after so much silence: an owner
/// who plays sends sixty datagrams a second.
const NATIVE_QUIET: Duration = Duration::from_secs(1);

/// The same for `rtype`, whose Hello needs no cookie.
const RTYPE_QUIET: Duration = Duration::from_secs(5);

/// `lan`: states stop when no input came for so long.
const LAN_STATES_STOP: Duration = Duration::from_secs(1);

/// `lan`, which proves no address: a HELLO is worth one state, and two inputs are worth three. What
/// is saved up is at most a second of them.
const LAN_STATE_COST: u8 = 2;
const LAN_INPUT_WORTH: u8 = 3;
const LAN_SAVED: u8 = 60 * LAN_STATE_COST;

/// How often the round trip to a member is measured.
const PING_EVERY: Duration = Duration::from_secs(1);

/// How long word is waited for of a snapshot that came, before a ping asks.
const ECHO_PATIENCE: Duration = Duration::from_millis(500);

/// How often a goodbye is said: it may be lost, and nobody answers it.
const GOODBYES: u8 = 3;

/// What every datagram and every tick touches comes first, all else behind it: a crowd does not
/// fit into the processor's caches, and what it costs is mostly waiting for memory.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Member {
    pub(super) session: SessionIndex,
    pub(super) role: Role,
    pub(super) buttons: Buttons,
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
    silence: Silence,
    pub(super) path: Path,
    /// When the round trip is to be measured: looked at in every tick, so that the path is near when
    /// the tick is told.
    next_measure: Time,
    pub(super) voice: Speech,
    /// Apart, so that the members of a room lie near each other.
    pub(super) seldom: Box<Seldom>,
}

/// What is needed of a member once a second at most.
#[derive(Clone, Debug)]
pub(super) struct Seldom {
    pub(super) name: Name,
    pub(super) round_trip: RoundTrip,
    pub(super) pinger: Pinger,
}

/// Whether a member is there.
#[derive(Clone, Debug)]
pub(super) enum Presence {
    /// It was let in, and has not said anything yet: until then, nobody may be there at all.
    Invited { until: Time },
    /// It is.
    Here(Liveness),
    /// Its place is kept.
    Away { until: Time },
    /// It is told so, and gone.
    Closing { reason: CloseReason, left: u8, said: bool },
}

/// A dialect, with what it keeps for one member.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "a crowd speaks `native`, and is looked at in one go")]
pub(super) enum Speech {
    Native(Native),
    #[cfg(feature = "rtype")]
    Rtype(Box<super::rtype::Rtype>),
    #[cfg(feature = "lan")]
    Lan {
        seq: u32,
        /// The world when the guest came: its first state, even if a tick is due before that is
        /// sent.
        first: Option<crate::wire::lan::StateUpdate>,
        /// What states may be sent for.
        credit: u8,
    },
}

/// What a member is to be sent.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Due {
    /// Accept, HelloAck or HELLO_ACK.
    pub(super) greeting: bool,
    /// The world; so many entities (`rtype`) or parts (`native`) of it went out already.
    pub(super) world: Option<u16>,
    /// What has gone in the last tick (`rtype`); so much of it was told already.
    #[cfg(feature = "rtype")]
    pub(super) gone: Option<u16>,
    /// Events that had no room beside the world.
    pub(super) events: bool,
    pub(super) ping: bool,
    /// "You were silent": said once, when a member is dropped.
    pub(super) silent: bool,
}

/// A roster that changed: said at once, and again in case it was lost.
#[derive(Clone, Debug, Default)]
pub(super) struct Announcement {
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

    /// Whether it is to be said now; counts it as said.
    pub(super) fn take(&mut self, now: Time) -> bool {
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
        session: SessionIndex,
        admission: Admission,
        tick: u32,
        places: usize,
        config: &RoomConfig,
    ) -> Self {
        let voice = Speech::new(admission.voice, tick, places);
        let presence = match admission.leaves {
            // Who comes from another room has spoken there.
            Some(_) => Presence::Here(Liveness::new(now, config.liveness)),
            None if voice.kept_by_stream() => Presence::Invited { until: Time::END },
            None if sabotage::is(Sabotage::SilentJoinKept) => {
                Presence::Here(Liveness::new(now, config.liveness))
            }
            None => Presence::Invited { until: now + config.claim_within },
        };
        Member {
            session,
            player: admission.player,
            role: admission.role,
            path: admission.path,
            voice,
            presence,
            buttons: Buttons::default(),
            next_measure: now,
            seldom: Box::new(Seldom {
                name: admission.name,
                round_trip: RoundTrip::default(),
                pinger: Pinger::new(PING_EVERY),
            }),
            is_far: false,
            silence: Silence::default(),
            roster: Announcement::default(),
            due: Due { greeting: true, world: Some(0), ..Due::default() },
            last_input: now,
            inputs: 0,
            ticks: 0,
            ticks_without_input: 0,
        }
    }

    /// Has what a datagram or a tick touches of whoever has a place brought near.
    pub(super) fn foresee(place: &Option<Member>, fetch: Fetch) {
        fetch_to(place, offset_of!(Member, voice) + offset_of!(Native, nonce), fetch);
    }

    pub(super) fn card(&self) -> MemberCard {
        let arrivals = match &self.voice {
            Speech::Native(native) => Some(native.window.counts()),
            #[cfg(any(feature = "lan", feature = "rtype"))]
            _ => None,
        };
        MemberCard {
            session: self.session,
            player: self.player,
            name: self.seldom.name,
            role: self.role,
            path: self.path,
            dialect: self.voice.dialect(),
            present: self.is_here(),
            rtt: self.seldom.round_trip.mean(),
            rtt_range: self.seldom.round_trip.range(),
            jitter: self.seldom.round_trip.jitter(),
            grade: self.seldom.round_trip.grade(),
            pings: *self.seldom.pinger.counts(),
            loss: arrivals.map(|arrivals| arrivals.loss()),
            arrivals,
            events_waiting: match &self.voice {
                Speech::Native(native) => native.outbox.len(),
                #[cfg(any(feature = "lan", feature = "rtype"))]
                _ => 0,
            },
            buttons: self.buttons,
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
        let here = self.is_here();
        let drawn_back = match &mut self.voice {
            Speech::Native(native) => {
                let before = native.queue.last_ack();
                let taken = native.queue.take(tick);
                if here {
                    self.buttons = Buttons(taken.buttons);
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
                let newest = native.has.map(|has| tick.wrapping_sub(has));
                Some(native.sight.take(newest, bounds))
            }
            // Its client shows a state when it comes: what is held now was an answer to one that
            // left a round trip ago.
            #[cfg(feature = "rtype")]
            Speech::Rtype(_) => {
                let rate = f64::from(bounds.rate);
                self.seldom.round_trip.mean().map(|rtt| rtt.as_secs_f64() * rate)
            }
            #[cfg(feature = "lan")]
            Speech::Lan { .. } => None,
        };
        let drawn = drawn_back.map(|back| f64::from(tick) - back);
        PlayerInput { player: self.player, buttons: self.buttons, drawn }
    }

    /// Whether the game is to be told of a silence: asked once in every tick. Of who is away it
    /// knows, and in `rtype` who holds the same buttons says nothing.
    pub(super) fn silence_change(&mut self, rate: u8) -> Option<PlayerStatus> {
        let counts = self.is_here() && self.voice.sends_every_tick();
        counts.then(|| self.silence.pass(rate)).flatten()
    }

    /// Whether nothing is left to be sent for now, as most members are told everything with one
    /// datagram. Who is not asked this is asked for the next.
    pub(super) fn is_told(&self) -> bool {
        let is_native = matches!(self.voice, Speech::Native(_));
        is_native && self.is_here() && self.roster.left == 0 && self.due == Due::default()
    }

    /// Something that the member must learn.
    pub(super) fn tell(&mut self, event: &[u8]) {
        if let Speech::Native(native) = &mut self.voice {
            // A member that has not heard for so long gets the whole picture from its snapshots.
            let _ = native.outbox.push(event);
        }
    }

    /// A datagram of the session that the front has dealt with.
    pub(super) fn count(&mut self, sequence: u32) {
        if let Speech::Native(native) = &mut self.voice {
            native.window.handle(sequence);
        }
    }

    /// The hello was heard (again): greeting, world and roster follow at once.
    pub(super) fn greet(&mut self, now: Time, config: &RoomConfig) {
        // In `lan` a HELLO can be forged: saying it again keeps nothing.
        if let Presence::Invited { until } = &mut self.presence
            && self.voice.proves_address()
        {
            *until = (*until).max(now + config.claim_within);
        }
        #[cfg(feature = "lan")]
        if let Speech::Lan { credit, .. } = &mut self.voice {
            *credit = (*credit).max(LAN_STATE_COST);
        }
        #[cfg(feature = "rtype")]
        if let Speech::Rtype(rtype) = &mut self.voice {
            rtype.forget();
            self.roster.announce(now);
        }
        if self.is_here() {
            self.due.greeting = true;
            self.due.world = Some(0);
        }
    }

    pub(super) fn kept_by_stream(&self) -> bool {
        self.voice.kept_by_stream()
    }

    /// From now on silence counts again.
    pub(super) fn lose_stream(&mut self, now: Time, config: &RoomConfig) {
        let was_kept = self.kept_by_stream();
        #[cfg(feature = "rtype")]
        if let Speech::Rtype(rtype) = &mut self.voice {
            rtype.kept_by_stream = false;
        }
        match &mut self.presence {
            Presence::Here(liveness) if was_kept => {
                *liveness = Liveness::new(now, config.liveness);
            }
            Presence::Invited { until } => *until = now + config.claim_within,
            _ => {}
        }
    }

    pub(super) fn is_here(&self) -> bool {
        matches!(self.presence, Presence::Invited { .. } | Presence::Here(_))
    }

    /// When the member is to be looked after, if nothing is heard until then.
    pub(super) fn watch_at(&self) -> Time {
        match &self.presence {
            Presence::Invited { until } | Presence::Away { until } => *until,
            Presence::Closing { .. } => Time::ZERO,
            Presence::Here(_) if self.kept_by_stream() => Time::END,
            Presence::Here(liveness) => liveness.deadline().unwrap_or(Time::ZERO),
        }
    }

    /// Whether the member could prove to be the same: `lan` knows nobody again, so its places are
    /// not kept.
    pub(super) fn has_way_back(&self) -> bool {
        match self.voice {
            #[cfg(feature = "lan")]
            Speech::Lan { .. } => false,
            _ => true,
        }
    }

    /// Nobody is there to be sent anything until the player is back.
    pub(super) fn go_away(&mut self, until: Time) {
        self.presence = Presence::Away { until };
        self.buttons = Buttons::default();
        self.due = Due::default();
        self.roster = Announcement::default();
    }

    /// Whether the player, from `path`, may have this place.
    pub(super) fn may_move(&self, now: Time, path: Path) -> bool {
        let quiet = match self.voice {
            Speech::Native(_) => NATIVE_QUIET,
            #[cfg(any(feature = "lan", feature = "rtype"))]
            _ => RTYPE_QUIET,
        };
        match &self.presence {
            Presence::Away { .. } => true,
            // Not kept for a return: it is free soon.
            Presence::Invited { .. } => path == self.path,
            Presence::Here(_) if sabotage::is(Sabotage::TicketRobs) => true,
            // The same address again: the Accept was lost, or the program was started anew.
            Presence::Here(_) if path == self.path => true,
            Presence::Here(liveness) => liveness.silent_for(now) >= quiet,
            Presence::Closing { .. } => false,
        }
    }

    /// Whether the player is here already by the Resume with this nonce.
    pub(super) fn has_returned(&self, path: Path, nonce: u64) -> bool {
        match &self.voice {
            Speech::Native(native) => self.is_here() && path == self.path && native.nonce == nonce,
            #[cfg(any(feature = "lan", feature = "rtype"))]
            _ => false,
        }
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
        let heard = if sabotage::is(Sabotage::LivenessKept) { self.last_input } else { now };
        self.presence = Presence::Here(Liveness::new(heard, config.liveness));
        self.seldom.round_trip = RoundTrip::default();
        self.last_input = now;
        self.silence.heard();
        if let Speech::Native(native) = &mut self.voice {
            native.begin_again(back, tick);
        }
        self.roster.announce(now);
        self.greet(now, config);
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
    pub(super) fn show(&mut self, now: Time) {
        if !self.is_here() {
            return;
        }
        self.due.world = Some(0);
        #[cfg(feature = "rtype")]
        if matches!(self.voice, Speech::Rtype(_)) {
            self.due.gone = Some(0);
        }
        #[cfg(feature = "lan")]
        if matches!(self.voice, Speech::Lan { .. }) {
            if now.since(self.last_input) >= LAN_STATES_STOP {
                self.due.world = None;
            }
            return;
        }
        let patience = match &self.voice {
            Speech::Native(_) => ECHO_PATIENCE,
            #[cfg(any(feature = "lan", feature = "rtype"))]
            _ => Duration::ZERO,
        };
        if self.next_measure + patience <= now {
            self.due.ping = true;
            self.next_measure = now + PING_EVERY;
        }
    }

    pub(super) fn handle_packet(
        &mut self,
        now: Time,
        clock: &TickClock,
        packet: &Packet<'_>,
        config: &RoomConfig,
        journal: &mut Journal,
    ) -> Came {
        if !self.is_here() {
            return Came::Nothing;
        }
        match packet {
            Packet::Native(datagram) => self.handle_native(now, clock, datagram, config, journal),
            #[cfg(feature = "rtype")]
            Packet::Rtype(packet) => self.handle_rtype(now, packet, config, journal),
            #[cfg(feature = "lan")]
            Packet::Lan(packet) => self.handle_lan(now, packet, config),
        }
    }

    fn heard(&mut self, now: Time, config: &RoomConfig) -> Came {
        match &mut self.presence {
            Presence::Invited { .. } => {
                self.presence = Presence::Here(Liveness::new(now, config.liveness));
                Came::Claimed
            }
            Presence::Here(liveness) => match liveness.heard(now) {
                Some(_) => Came::Back,
                None => Came::Nothing,
            },
            _ => Came::Nothing,
        }
    }

    fn handle_native(
        &mut self,
        now: Time,
        clock: &TickClock,
        datagram: &native::Datagram<'_>,
        config: &RoomConfig,
        journal: &mut Journal,
    ) -> Came {
        let Speech::Native(native) = &mut self.voice else { return Came::Nothing };
        if !native.window.handle(datagram.sequence).is_taken() {
            return Came::Nothing;
        }
        native.count_arrival(datagram.sequence);
        let came = match datagram.packet {
            native::Packet::Input(input) => {
                let Received { new, stale, gap, .. } = native.handle_input(now, clock, &input);
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
            native::Packet::SnapshotAck(ack) => {
                native.handle_ack(ack.server_tick, ack.events.as_ref());
                self.handle_echo(now, clock, ack.server_tick, ack.held, config)
            }
            native::Packet::ClientEvents(packet) => {
                native.handle_events(&packet.block);
                Came::Nothing
            }
            native::Packet::ClientPong(pong) => {
                let (sequence, timestamp) = (pong.id, pong.timestamp);
                self.handle_answer(now, Question { sequence, timestamp }, config)
            }
            native::Packet::Goodbye(_) => return Came::Goodbye { keep: Keep::Nothing },
            _ => Came::Nothing,
        };
        self.heard_or(now, came, config)
    }

    #[cfg(feature = "lan")]
    fn handle_lan(
        &mut self,
        now: Time,
        packet: &crate::wire::lan::Packet,
        config: &RoomConfig,
    ) -> Came {
        use crate::wire::lan::{Packet, Steer};
        if let Packet::GuestInput(input) = packet {
            self.last_input = now;
            self.silence.heard();
            self.inputs += 1;
            self.buttons = match input.y {
                Steer::Up => Buttons::UP,
                Steer::Still => Buttons::default(),
                Steer::Down => Buttons::DOWN,
            };
            if let Speech::Lan { credit, .. } = &mut self.voice {
                *credit = (*credit + LAN_INPUT_WORTH).min(LAN_SAVED);
            }
        }
        self.heard(now, config)
    }

    /// The sign of life counts in any case; what else came is told first.
    pub(super) fn heard_or(&mut self, now: Time, came: Came, config: &RoomConfig) -> Came {
        match (self.heard(now, config), came) {
            (heard, Came::Nothing) => heard,
            (_, came) => came,
        }
    }

    pub(super) fn handle_answer(
        &mut self,
        now: Time,
        answer: Question,
        config: &RoomConfig,
    ) -> Came {
        match self.seldom.pinger.handle_answer(now, answer) {
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

    pub(super) fn measure(&mut self, rtt: Duration, config: &RoomConfig) -> Came {
        self.seldom.round_trip.sample(rtt);
        if let Speech::Native(native) = &mut self.voice {
            native.sight.measure(&self.seldom.round_trip);
        }
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

impl Speech {
    fn dialect(&self) -> Dialect {
        match self {
            Speech::Native(_) => Dialect::Native,
            #[cfg(feature = "rtype")]
            Speech::Rtype(_) => Dialect::Rtype,
            #[cfg(feature = "lan")]
            Speech::Lan { .. } => Dialect::Lan,
        }
    }

    fn new(voice: Voice, tick: u32, places: usize) -> Self {
        match voice {
            Voice::Native { nonce, ticket, budget, first_sequence, peer_sequence } => {
                let proof = (nonce, ticket, budget);
                Speech::Native(Native::new(proof, first_sequence, peer_sequence, tick))
            }
            #[cfg(feature = "rtype")]
            Voice::Rtype { kept_by_stream } => {
                Speech::Rtype(Box::new(super::rtype::Rtype::new(kept_by_stream, places)))
            }
            #[cfg(feature = "lan")]
            Voice::Lan => Speech::Lan { seq: 0, first: None, credit: LAN_STATE_COST },
        }
    }

    fn kept_by_stream(&self) -> bool {
        match self {
            #[cfg(feature = "rtype")]
            Speech::Rtype(rtype) => rtype.kept_by_stream,
            _ => false,
        }
    }

    /// Whether inputs come in every tick, whatever is held.
    fn sends_every_tick(&self) -> bool {
        match self {
            #[cfg(feature = "rtype")]
            Speech::Rtype(_) => false,
            _ => true,
        }
    }

    /// Whether whoever says hello in it is known to be there.
    fn proves_address(&self) -> bool {
        match self {
            #[cfg(feature = "lan")]
            Speech::Lan { .. } => false,
            _ => true,
        }
    }

    /// Whether one more state may be sent to where `lan` is spoken; pays for it.
    #[cfg(feature = "lan")]
    pub(super) fn pay_lan_state(&mut self) -> bool {
        let Speech::Lan { credit, .. } = self else { return false };
        let left = credit.checked_sub(LAN_STATE_COST);
        *credit = left.unwrap_or(*credit);
        left.is_some()
    }
}
