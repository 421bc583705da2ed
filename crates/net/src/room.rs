//! One match: its members, its world, and what each of them is sent.
//!
//! Below is the [endpoint](crate::endpoint), which hands over [`Call`]s and is told by [`Notice`]s;
//! above is the [game](crate::game). A room is a machine of its own and may live on any thread.
//! Every tick the world takes one step and every member is sent one datagram, or the parts of a
//! world that is too large for one.

mod attendance;
mod clock;
mod late_steps;
mod left_out;
mod member;
mod messages;
mod native;
mod sight;
mod silence;
mod speak;

use std::collections::VecDeque;
use std::mem::offset_of;
use std::time::Duration;

use crate::channel::{Journal, LogLine};
use crate::chat::ChatLine;
use crate::dialect::{Dialect, Hearing, RoomDialect};
use crate::endpoint::{CLAIM_WITHIN, Call, CallKind, Notice, Outcome, RESUME_FOR};
use crate::game::{
    Event, Game, Lobby, MAX_SEND_EVERY, Mail, Marks, PlayerId, PlayerInput, PlayerStatus, Stage,
    Standing, Turn, rewind_limit_ticks,
};
use crate::node::{Fetch, Path, Transmit, fetch_all, fetch_to};
use crate::replication::{Bodies, History, State, View};
use crate::sabotage::{self, Sabotage};
use crate::session::{ArrivalCounts, Grade, Limits, PingCounts, Session};
use crate::time::Time;
use crate::typed::RawInput;
use crate::wire::Name;
use crate::wire::native::{CloseReason, Role, SessionIndex};

use clock::TickClock;
use late_steps::{LateSteps, LateStepsChange};
use left_out::Ledger;
pub use left_out::{LeftOut, LeftOutCounts};
pub use member::{ANSWER_LIMIT, Announcement};
use member::{Answer, Came, Member, Presence, Return};
pub use messages::{CHAT_KEPT, HEARD_PER_TICK, MessageCounts};
use sight::Bounds;

/// What an operator decides about a room.
#[derive(Clone, Copy, Debug)]
pub struct RoomConfig {
    /// When a silent member is warned about and dropped.
    pub liveness: Limits,
    /// How long a dropped player's place is kept.
    pub resume_for: Duration,
    /// How long a place waits for its player's first word after the last answer to a Join or Hello.
    pub claim_within: Duration,
    /// A round trip above this is worth a line in the log.
    pub high_latency: Duration,
    /// How many lines of the log are kept for [`Room::poll_line`]; 0 is none.
    pub journal: usize,
    /// How long the room says nothing after a match was decided, for whoever keeps results: see
    /// [`Room::release_end`]. Zero is not at all.
    pub hold_end: Duration,
}

impl Default for RoomConfig {
    fn default() -> Self {
        RoomConfig {
            liveness: Limits::DEFAULT,
            resume_for: RESUME_FOR,
            claim_within: CLAIM_WITHIN,
            high_latency: Duration::from_millis(300),
            journal: 0,
            hold_end: Duration::ZERO,
        }
    }
}

/// What a bot is called that nobody has set up.
pub const BOT: &str = "Bot";

/// What happened in a room, for a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoomEvent {
    /// Someone came.
    Joined(PlayerId, Name),
    /// Nothing came from a member for a while.
    Quiet(PlayerId),
    /// A quiet member is heard again.
    Heard(PlayerId),
    /// A member was silent for too long; the place is kept for a while, if the member has a way
    /// back.
    Dropped(PlayerId),
    /// A dropped or moved player is back, from here.
    Resumed(PlayerId, Path),
    /// A member said goodbye.
    Left(PlayerId),
    /// A place was given up.
    Freed(PlayerId),
    /// A member's round trip, in ms, is high, and was not before.
    HighLatency(PlayerId, u32),
    /// More messages wait for a member than are kept: its session has ended.
    Overrun(PlayerId),
    /// Steps come too late all the time: ticks are skipped from now on, evenly.
    Slow,
    /// They are in time again; so many ticks were skipped meanwhile.
    KeepsUp(u64),
    /// A limit was reached. Told when it happens first, and then every five seconds at most.
    LeftOut {
        /// What was left out last.
        what: LeftOut,
        /// How many of its kind were left out since the last of these events.
        times: u64,
    },
}

/// What is left of a room that was closed.
#[derive(Clone, Debug)]
pub struct ClosedRoom {
    /// Its number on the wire, which no other room gets.
    pub number: u32,
    /// What happened in it that nobody has asked for yet.
    pub events: VecDeque<RoomEvent>,
    /// The lines of its log that nobody has read yet.
    pub lines: Journal,
}

/// A member, as the room knows it.
#[derive(Clone, Debug)]
pub struct MemberCard {
    /// Whose session.
    pub session: SessionIndex,
    /// Who.
    pub player: PlayerId,
    /// Called.
    pub name: Name,
    /// To play or to watch.
    pub role: Role,
    /// Where.
    pub path: Path,
    /// How it speaks.
    pub dialect: &'static str,
    /// Whether the member is here, or only its place.
    pub present: bool,
    /// The round trip that the server measures.
    pub rtt: Option<Duration>,
    /// The shortest, the mean of all, and the longest.
    pub rtt_range: Option<[Duration; 3]>,
    /// How the round trip varies.
    pub jitter: Option<Duration>,
    /// What that is worth.
    pub grade: Option<Grade>,
    /// The server's pings.
    pub pings: PingCounts,
    /// The share of the member's datagrams that were lost, where they are numbered.
    pub loss: Option<f64>,
    /// How those datagrams fared.
    pub arrivals: Option<ArrivalCounts>,
    /// Reliable messages that the member has not acknowledged.
    pub messages_waiting: usize,
    /// What the member holds.
    pub input: RawInput,
    /// Inputs that have come, each counted once.
    pub inputs: u64,
    /// Ticks since the member came.
    pub ticks: u64,
    /// Those of them for which there was no real input.
    pub ticks_without_input: u64,
}

/// One match.
//
// What every datagram and every tick touches comes first, as in `Member`: rooms of a crowd are far
// away when their turn comes, and are brought near by `prefetch` and `prefetch_tick`.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Room<G: Game> {
    /// By place, as the endpoint counts them, up to the last that was ever taken. They lie one behind the
    /// other: to look up which page is where costs as much as what is on it.
    members: Vec<Option<Member>>,
    /// The tick that was stepped last.
    tick: u32,
    /// Whether any member may be owed a datagram.
    may_speak: bool,
    roster_revision: u16,
    /// Until then nobody is silent for too long, or to be freed.
    watch_at: Time,
    /// Where the search for the next member to be told goes on.
    cursor: usize,
    inputs: Vec<PlayerInput>,
    /// Who is played by the server, in places that nobody else gets.
    bots: Vec<PlayerId>,
    game_events: Vec<Event>,
    /// What the rules have sent since the last tick.
    mail: Mail,
    board: Board,
    /// What is kept of dialects other than `native`, by their places in the list.
    spoken: Vec<Option<Box<dyn RoomDialect<G>>>>,
    journal: Journal,
    game: G,
    world: G::World,
    clock: TickClock,
    shown: Broadcast,
    /// On the wire.
    number: u32,
    config: RoomConfig,
    events: VecDeque<RoomEvent>,
    notices: VecDeque<Notice>,
    /// The worlds of the last ticks, to be rewound to.
    past: Vec<(u32, G::World)>,
    /// What happened in the game, for whoever keeps the room.
    happened: VecDeque<(u32, Event)>,
    /// What players have written and nobody has been told yet.
    spoken_lines: Vec<ChatLine>,
    /// What was written last, for whoever keeps the room, and how much of it was not asked for yet.
    chat: VecDeque<ChatLine>,
    unread_chat: usize,
    message_counts: MessageCounts,
    ledger: Ledger,
    late_steps: LateSteps,
    /// Until then nothing is said, as the end of a match is being written down.
    end_held_until: Option<Time>,
    /// Beside `native`.
    dialects: &'static [&'static dyn Dialect<G>],
}

/// What there is to see: made once, sent to all.
#[derive(Clone, Debug)]
#[repr(C)]
struct Broadcast {
    bodies: Bodies,
    /// Ticks from one snapshot to the next.
    every: u32,
    /// The newest state is what is shown.
    history: History,
    /// The world has not changed since that was captured: no step, and nobody came, went, or was away.
    is_current: bool,
    /// What one of the members may see.
    view: View,
    /// Room for the body of one of them.
    body: Vec<u8>,
}

/// How everyone stands after a tick, in games that count it.
#[derive(Clone, Debug)]
struct Board {
    /// By place.
    players: Vec<Option<Counted>>,
    stage: Stage,
}

/// How one of the players stands.
#[derive(Clone, Copy, Debug)]
pub struct Counted {
    /// Who.
    pub player: PlayerId,
    /// In the lobby.
    pub marks: Marks,
    /// In the match, if the game counts it.
    pub standing: Option<Standing>,
}

/// Events that nobody has read yet; older ones make room.
const EVENT_LIMIT: usize = 256;

/// No more of a room than this is brought near before it is known what will be touched.
const HEAD_LIMIT: usize = 1 << 10;

impl<G: Game> Room<G> {
    /// A room whose world begins at `now`, with places for the game's players and `watchers`.
    ///
    /// # Panics
    /// If the game's schema is wrong: see [`Schema::check`](crate::replication::Schema::check).
    pub fn new(now: Time, game: G, seed: u64, watchers: u8, config: RoomConfig) -> Self {
        if let Err(mistake) = game.schema().check() {
            panic!("the schema of {}: {mistake}", game.id());
        }
        let world = game.begin(seed);
        let places = usize::from(game.capacity()) + usize::from(watchers);
        let mut room = Room {
            number: 1,
            config,
            world,
            tick: 0,
            clock: TickClock::new(now, game.tick_rate()),
            members: Vec::new(),
            bots: Vec::new(),
            roster_revision: 0,
            events: VecDeque::new(),
            notices: VecDeque::new(),
            shown: Broadcast::new(u32::from(game.send_every().clamp(1, MAX_SEND_EVERY))),
            board: Board { players: vec![None; places], stage: Stage::default() },
            spoken: Vec::new(),
            dialects: &[],
            journal: Journal::new(config.journal),
            past: Vec::new(),
            game_events: Vec::new(),
            mail: Mail::default(),
            spoken_lines: Vec::new(),
            chat: VecDeque::new(),
            unread_chat: 0,
            message_counts: MessageCounts::default(),
            ledger: Ledger::default(),
            happened: VecDeque::with_capacity(EVENT_LIMIT),
            may_speak: true,
            cursor: 0,
            watch_at: Time::ZERO,
            inputs: Vec::new(),
            late_steps: LateSteps::default(),
            end_held_until: None,
            game,
        };
        room.check_settings(now);
        room.look(now);
        room.show_others(true);
        room.count();
        room
    }

    /// The same room, where these dialects are spoken beside `native`.
    pub fn speaking(self, dialects: &'static [&'static dyn Dialect<G>]) -> Self {
        Room { dialects, spoken: dialects.iter().map(|_| None).collect(), ..self }
    }

    /// The same room with this number.
    pub fn numbered(self, number: u32) -> Self {
        Room { number, ..self }
    }

    /// Puts a bot into every place for players but this one, where a guest is to play with them.
    pub fn add_bots_beside(&mut self, guest: u8) {
        let others = (0..self.game.capacity()).filter(|&place| place != guest);
        self.bots = others.map(|place| PlayerId(u32::from(place) + 1)).collect();
        self.shown.is_current = false;
        for &bot in &self.bots {
            self.game.join(&mut self.world, bot, &G::JoinData::default());
            self.game.on_status(&mut self.world, bot, PlayerStatus::Mute);
        }
        self.show_others(false);
        self.count();
    }

    /// Who is played by the server all the time.
    pub fn bots(&self) -> &[PlayerId] {
        &self.bots
    }

    /// The room's number on the wire.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Ends the room; nobody is in it.
    pub fn into_closed(mut self) -> ClosedRoom {
        self.tell_untold();
        ClosedRoom { number: self.number, events: self.events, lines: self.journal }
    }

    /// How far the match is.
    pub fn stage(&self) -> Stage {
        self.board.stage
    }

    /// The world after the last tick.
    pub fn world(&self) -> &G::World {
        &self.world
    }

    /// What there is to see after the last tick.
    pub fn state(&self) -> &State {
        self.shown.state()
    }

    /// The rules.
    pub fn game(&self) -> &G {
        &self.game
    }

    /// The last tick.
    pub fn tick(&self) -> u32 {
        self.tick
    }

    /// Ticks per second.
    pub fn tick_rate(&self) -> u8 {
        self.game.tick_rate()
    }

    /// The server's tick at `now`, with its fraction.
    pub fn ticks_at(&self, now: Time) -> f64 {
        self.clock.ticks_at(now)
    }

    /// Ticks that were skipped because the room came too late.
    pub fn late_ticks(&self) -> u64 {
        self.late_steps.skipped()
    }

    /// Whether the room is over its budget: its steps take longer than a tick, or the machine does not
    /// let it run.
    pub fn is_slow(&self) -> bool {
        self.late_steps.is_slow()
    }

    /// Whether a match was decided in the last tick and nobody has been told yet. The room goes on,
    /// and tells it when [`Room::release_end`] is called, or after [`RoomConfig::hold_end`].
    pub fn holds_end(&self) -> bool {
        self.end_held_until.is_some()
    }

    /// The result is safe: players may see the end of the match.
    pub fn release_end(&mut self) {
        self.end_held_until = None;
    }

    /// Who is here, or has a place here.
    pub fn members(&self) -> impl Iterator<Item = MemberCard> + '_ {
        self.members.iter().flatten().map(|member| member.card(self.dialect_of(member)))
    }

    fn dialect_of(&self, member: &Member) -> &'static str {
        match member.dialect.place().and_then(|at| self.dialects.get(at)) {
            Some(dialect) => dialect.name(),
            None => "native",
        }
    }

    /// How many those are.
    pub fn members_here(&self) -> usize {
        self.members.iter().filter(|member| member.is_some()).count()
    }

    /// What happened since this was asked last.
    pub fn poll_event(&mut self) -> Option<RoomEvent> {
        self.events.pop_front()
    }

    /// What happened in the game since this was asked last, and in which tick: also what only the
    /// player who predicted it is shown.
    pub fn poll_game_event(&mut self) -> Option<(u32, Event)> {
        self.happened.pop_front()
    }

    /// From now on so many lines of the log are kept.
    pub fn keep_lines(&mut self, limit: usize) {
        self.journal = Journal::new(limit);
    }

    /// The oldest line of the log that was not read yet, if any are kept: [`RoomConfig::journal`].
    pub fn poll_line(&mut self) -> Option<LogLine> {
        self.journal.poll()
    }

    /// What the endpoint must know.
    pub fn poll_notice(&mut self) -> Option<Notice> {
        self.notices.pop_front()
    }

    /// Whether there may be something for [`Room::poll_transmit`] or [`Room::poll_notice`].
    pub fn may_speak(&self) -> bool {
        self.may_speak
    }

    /// Takes what the endpoint hands over, and says what it came to.
    pub fn handle_call(&mut self, now: Time, call: Call<'_>) -> Outcome {
        let place = usize::from(call.place);
        if let CallKind::Datagram(bytes) = call.kind {
            return self.handle_datagram(now, place, call.session, bytes);
        }
        (self.may_speak, self.watch_at) = (true, Time::ZERO);
        if let CallKind::Admit(admission) = call.kind {
            self.admit(now, place, *admission);
            return Outcome::Done;
        }
        let Some(member) = self.member(place, call.session) else { return Outcome::Done };
        match call.kind {
            CallKind::Admit(_) | CallKind::Datagram(_) => {}
            CallKind::Repeat { sequence } => {
                if let Some(sequence) = sequence {
                    member.session.take_question(sequence);
                }
                self.greet(now, place);
            }
            CallKind::Resume { path, sequence, nonce, fresh } => {
                self.resume(now, place, path, Return { sequence, nonce, fresh });
            }
            CallKind::StreamClosed => {
                let config = self.config;
                if let Some(member) = self.member(place, call.session) {
                    member.lose_stream(now, &config);
                }
            }
            CallKind::Refuse(sequence, reject) => {
                return member.answer(sequence, Answer::Reject(reject));
            }
        }
        Outcome::Done
    }

    fn member(&mut self, place: usize, session: SessionIndex) -> Option<&mut Member> {
        let member = self.members.get_mut(place)?.as_mut();
        member.filter(|member| member.session.index() == session)
    }

    fn handle_datagram(
        &mut self,
        now: Time,
        place: usize,
        session: SessionIndex,
        bytes: &mut [u8],
    ) -> Outcome {
        let Some(Some(member)) = self.members.get_mut(place) else { return Outcome::Done };
        if member.session.index() != session {
            return Outcome::Done;
        }
        let journal = &mut self.journal;
        let (came, outcome) = match member.dialect.place() {
            None => {
                let shown = (&self.clock, &self.shown.history);
                member.handle_native(now, shown, bytes, &self.config, journal)
            }
            Some(at) => {
                let Some(Some(spoken)) = self.spoken.get_mut(at) else { return Outcome::Done };
                if !member.is_here() {
                    return Outcome::Done;
                }
                let (player, high_latency) = (member.player, self.config.high_latency);
                let pinger = member.session.pinger_mut();
                let from = Hearing { now, player, pinger, high_latency, journal };
                let meaning = spoken.handle(place, from, bytes);
                self.may_speak = true;
                (member.handle_meaning(now, meaning, &self.config), Outcome::Done)
            }
        };
        // Most are answered by the tick.
        self.may_speak |= member.due.answer || came != Came::Nothing;
        if came != Came::Nothing {
            self.react(now, place, came);
        }
        outcome
    }

    /// A player goes to another room: takes the session and the name along.
    pub(crate) fn leave(&mut self, now: Time, place: u8) -> Option<(Session, Name)> {
        let place = usize::from(place);
        let player = self.members.get(place)?.as_ref()?.player;
        (self.may_speak, self.watch_at) = (true, Time::ZERO);
        self.note(RoomEvent::Left(player));
        self.vacate(now, place).map(|member| (member.session, member.name))
    }

    /// Steps the world once where a tick is due, and looks after who is silent. Who comes late is due
    /// again at once, when what there is to say was sent: every step is shown.
    pub fn handle_timeout(&mut self, now: Time) {
        self.may_speak = true;
        self.end_held_until = self.end_held_until.filter(|until| *until > now);
        // Before the step: who is shown what is asked of the world as it was captured after it.
        if self.watch_at <= now {
            (0..self.members.len()).for_each(|place| self.watch_over(now, place));
            let members = self.members.iter().flatten();
            self.watch_at = members.map(Member::watch_at).min().unwrap_or(Time::END);
        }
        if self.clock.due(self.tick + 1) <= now {
            self.skip_late_ticks(now);
            let mut is_shown = false;
            loop {
                self.step(now);
                is_shown |= self.look(now);
                let is_bunching = sabotage::is(Sabotage::TicksBunched);
                if !is_bunching || self.clock.due(self.tick + 1) > now {
                    break;
                }
            }
            self.show_others(true);
            for member in self.members.iter_mut().flatten() {
                member.show(now, is_shown);
            }
            let was_over = self.board.stage.over;
            if self.count() {
                self.roster_changed(now);
            }
            if self.board.stage.over && !was_over && !self.config.hold_end.is_zero() {
                self.end_held_until = Some(now + self.config.hold_end);
            }
        }
    }

    /// When [`Room::handle_timeout`] is due: every tick.
    pub fn poll_timeout(&self) -> Time {
        self.clock.due(self.tick + 1)
    }

    /// The next datagram to a member. While an end is held there is none: score, roster and events
    /// would all tell it.
    pub fn poll_transmit(&mut self, now: Time, out: &mut [u8]) -> Option<Transmit> {
        if self.holds_end() {
            return None;
        }
        let mut members = std::mem::take(&mut self.members);
        let mut transmit = None;
        while self.cursor < members.len() {
            transmit = self.speak(now, &mut members, self.cursor, out);
            let is_told = members[self.cursor].as_ref().is_none_or(Member::is_told);
            if transmit.is_none() || is_told {
                self.cursor += 1;
            }
            if transmit.is_some() {
                break;
            }
        }
        self.members = members;
        if transmit.is_none() {
            (self.cursor, self.may_speak) = (0, false);
        }
        transmit
    }

    /// Has what a datagram to any member, or a tick, touches first brought near.
    pub(crate) fn prefetch(&self, fetch: Fetch) {
        // A large world is not touched all over.
        let len = offset_of!(Room<G>, clock) + TickClock::HEAD_LEN;
        fetch_to(self, len.min(HEAD_LIMIT), fetch);
    }

    /// Has what is kept of the member in a place brought near; the room is near by then.
    pub(crate) fn prefetch_member(&self, place: usize, fetch: Fetch) {
        // Whether there is one is not asked: the answer is a part of what is to be fetched.
        if let Some(member) = self.members.get(place) {
            Member::prefetch(member, fetch);
        }
    }

    /// Has what the next tick touches brought near; the room is near by then.
    pub(crate) fn prefetch_tick(&self, fetch: Fetch) {
        let tick = self.tick.wrapping_add(1);
        fetch_to(&self.shown.bodies, size_of::<Bodies>(), fetch);
        self.shown.history.prefetch(tick, fetch);
        self.clock.prefetch(tick, fetch);
        self.members.iter().for_each(|member| Member::prefetch(member, fetch));
        fetch_all(&self.inputs, fetch);
        fetch_all(&self.board.players, fetch);
    }

    /// How many members there were at most.
    pub(crate) fn places_used(&self) -> usize {
        self.members.len()
    }

    /// Ends every session: a stopped server says goodbye first.
    pub fn close(&mut self, reason: CloseReason) {
        (self.may_speak, self.watch_at) = (true, Time::ZERO);
        for member in self.members.iter_mut().flatten() {
            member.close(reason);
        }
    }

    /// Removes a player who may not come back.
    pub fn kick(&mut self, player: PlayerId) {
        self.expel(player, CloseReason::Kicked);
    }

    /// Ends the session of a player, who reads why.
    pub(crate) fn expel(&mut self, player: PlayerId, reason: CloseReason) {
        (self.may_speak, self.watch_at) = (true, Time::ZERO);
        for member in self.members.iter_mut().flatten().filter(|member| member.player == player) {
            member.close(reason);
        }
    }
}

impl<G: Game> Room<G> {
    /// Counts lives, scores and marks. Whether anything has changed that the roster shows.
    fn count(&mut self) -> bool {
        let mut changed = false;
        for (member, counted) in self.members.iter().zip(&mut self.board.players) {
            let player = member.as_ref().filter(|member| member.role == Role::Play);
            let now = player.map(|member| Counted {
                player: member.player,
                marks: self.game.lobby().marks(&self.world, member.player),
                standing: self.game.lobby().standing_of(&self.world, member.player),
            });
            let shown = |counted: Counted| {
                let lives = counted.standing.map(|standing| standing.lives);
                (counted.player, counted.marks, lives)
            };
            changed |= counted.map(shown) != now.map(shown);
            *counted = now;
        }
        self.board.stage = self.game.lobby().stage(&self.world);
        changed
    }

    fn note(&mut self, event: RoomEvent) {
        note(&mut self.events, event);
    }

    fn step(&mut self, now: Time) {
        let tick = self.tick.wrapping_add(1).max(1);
        self.hear(now);
        self.inputs.clear();
        let rewind = rewind_limit_ticks(&self.game);
        let bounds = Bounds { rate: self.game.tick_rate(), limit_ticks: rewind };
        for (place, member) in self.members.iter_mut().enumerate() {
            let Some(member) = member else { continue };
            let mut input = match member.dialect.place() {
                None => member.take_input(tick, bounds, &mut self.journal),
                Some(at) => {
                    let rtt = member.session.round_trip().mean();
                    let mut spoken = self.spoken.get_mut(at).and_then(Option::as_mut);
                    if let Some(spoken) = &mut spoken
                        && member.is_here()
                        && let Some(taken) =
                            spoken.take_input(place, member.player, &mut self.journal)
                    {
                        member.hold_taken(taken);
                    }
                    member.holding(tick, spoken.and_then(|it| it.drawn_back(rtt, bounds.rate)))
                }
            };
            if member.role == Role::Play {
                if matches!(member.presence, Presence::Away { .. }) {
                    let held = self.game.bot_input(&self.world, member.player);
                    input.input = RawInput::of(held.unwrap_or_default());
                }
                self.inputs.push(input);
                let (world, player) = (&mut self.world, member.player);
                if let Some(status) = member.silence_change(self.game.tick_rate()) {
                    self.game.on_status(world, player, status);
                }
            }
        }
        for &player in &self.bots {
            let input = self.game.bot_input(&self.world, player).unwrap_or_default();
            self.inputs.push(PlayerInput::new(player, input));
        }
        let (game_events, inputs) = (&mut self.game_events, &self.inputs);
        let mut turn = Turn::new(tick, inputs, &self.past, game_events)
            .rewinding(rewind)
            .mailing(&mut self.mail);
        self.game.step(&mut self.world, &mut turn);
        self.tick = tick;
        if rewind > 0 {
            self.remember();
        }
        self.tell(now);
        self.check_members(now);
    }

    /// Keeps the world for as long as it may be rewound to.
    fn remember(&mut self) {
        // Between the worlds around the furthest time that may be asked for.
        let kept = rewind_limit_ticks(&self.game) as usize + 1;
        match self.past.get_mut(self.tick as usize % kept) {
            Some((tick, world)) => {
                *tick = self.tick;
                world.clone_from(&self.world);
            }
            None => self.past.push((self.tick, self.world.clone())),
        }
    }

    /// Skips what is too late to be stepped, and counts it.
    fn skip_late_ticks(&mut self, now: Time) {
        let behind = (self.clock.ticks_at(now) as u32).saturating_sub(self.tick + 1);
        let (skipped, change) = self.late_steps.begin(behind, self.game.tick_rate());
        match change {
            Some(LateStepsChange::Slow) => self.note(RoomEvent::Slow),
            Some(LateStepsChange::KeepsUp { skipped }) => self.note(RoomEvent::KeepsUp(skipped)),
            None => {}
        }
        if sabotage::is(Sabotage::TicksBunched) {
            return;
        }
        // The clock stands still for the ticks that are skipped: their numbers are not, because inputs
        // and snapshots are counted by them.
        self.clock.lose(skipped);
    }

    /// Makes what everyone is shown, if it is time for a snapshot.
    fn look(&mut self, now: Time) -> bool {
        let is_due = self.tick.is_multiple_of(self.shown.every);
        self.shown.is_current = is_due;
        if is_due {
            self.game.capture(&self.world, self.shown.history.begin(self.tick));
            self.check_state(now);
        }
        is_due
    }

    /// Lets other dialects look at the world: some have no ticks, so it is as new as it can be.
    fn show_others(&mut self, is_new_tick: bool) {
        for spoken in self.spoken.iter_mut().flatten() {
            spoken.look(self.tick, &self.game, &self.world, is_new_tick);
        }
    }
}

fn note(events: &mut VecDeque<RoomEvent>, event: RoomEvent) {
    if events.len() == EVENT_LIMIT {
        events.pop_front();
    }
    events.push_back(event);
}
