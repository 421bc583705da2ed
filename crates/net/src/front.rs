//! The door: what strangers may touch, and who is let through to which room.
//!
//! Below is the wire, above are the rooms. The front detects the dialect, answers what needs no
//! state (cookies, pings, searches), enforces the limits, and turns the rest into [`Call`]s to
//! rooms. It keeps nothing for a stranger: a route exists only for who has proved an address (a
//! cookie) or, in the old dialects, been let in.

mod answer;
mod bans;
#[cfg(feature = "lan")]
mod lan;
mod native;
mod rooms;
mod routes;
#[cfg(feature = "rtype")]
mod rtype;

use std::collections::VecDeque;
use std::time::Duration;

use crate::channel::{Journal, LogLine};
use crate::game::{GameId, PlayerId};
use crate::matching::{MatchKey, Witness};
use crate::node::{Fetch, Path, Transmit};
use crate::sabotage::{self, Sabotage};
use crate::session::{Allowance, CookieJar, Limiter, LimiterConfig, Secrets, Wider};
use crate::time::Time;
use crate::wire::native::{Budget, Role, Secret, SessionIndex};
use crate::wire::{self, Dialect, Direction, Malformed, Name, Packet};

pub use answer::ANSWER_LIMIT;
use answer::Answer;
use bans::Bans;
pub use bans::{BAN_LIMIT, BansFull};
use rooms::Rooms;
pub use rooms::{GUEST_SHARE, NewRoom, RoomOrder};
use routes::Routes;
#[cfg(feature = "rtype")]
pub use rtype::TOKEN_LIMIT;

/// What an operator decides about the door.
#[derive(Clone, Debug)]
pub struct FrontConfig {
    /// What the server calls itself in a search.
    pub name: Name,
    /// Where it speaks `native`, for those who look for it; 0 tells nobody.
    pub native_port: u16,
    /// Where it speaks `lan`, for those who look for it; 0 tells nobody.
    pub lan_port: u16,
    /// Where it speaks `rtype`.
    pub rtype_port: u16,
    /// What players must bring; empty is "nothing". Only `native` can carry it.
    pub token: Vec<u8>,
    /// Whether the dialects that cannot carry the token are spoken although there is one.
    pub unguarded: Unguarded,
    /// Whether an `rtype` player may leave out the token.
    pub tokenless: Tokenless,
    /// Whom `lan` is spoken to.
    pub lan_reach: LanReach,
    /// What is enough.
    pub limits: Limits,
    /// Shared with a matchmaker, for whom round trips are then measured.
    pub match_key: Option<MatchKey>,
}

/// Whether an `rtype` Hello needs its token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tokenless {
    /// A raw name gets silence.
    #[default]
    Refused,
    /// A raw name is bound to who did the TCP step from the same address.
    Allowed,
}

/// Whether a token keeps out who cannot bring it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unguarded {
    /// With a token, `lan` and `rtype` get silence.
    #[default]
    Refused,
    /// The token is asked of `native` players only.
    Allowed,
}

/// Whom `lan`, which cannot prove an address, is spoken to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LanReach {
    /// Loopback, link-local and private addresses.
    #[default]
    PrivateOnly,
    /// Anyone.
    Everywhere,
}

/// The named limits of the door. Each is tested at it and one past it.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Sessions in all.
    pub sessions: u16,
    /// Sessions from one IP address. Here and below an IPv6 /64 counts as one, and the networks
    /// around it have their own limits: [`Limits::wider`].
    pub sessions_per_ip: u16,
    /// Datagrams a second from one IP address that belong to no session: joins among them.
    pub stranger_datagrams_per_s: u32,
    /// Datagrams a second from one player.
    pub player_datagrams_per_s: u32,
    /// Streams that are open at once, for `rtype`'s TCP step.
    pub streams: usize,
    /// Streams from one IP address.
    pub streams_per_ip: usize,
    /// Rooms in all; those that an operator adds are there in any case.
    pub rooms: u16,
    /// Rooms that players at one IP address have made and that are still there; and as many that
    /// guests there have to themselves.
    pub rooms_per_ip: u16,
    /// Passwords of rooms that one IP address may try at once; one more comes back each second.
    pub password_tries: u32,
    /// How many times the limits of an IPv6 /64 the wider networks have.
    pub wider: Wider,
}

impl Default for FrontConfig {
    fn default() -> Self {
        FrontConfig {
            name: Name::new("Backspin"),
            native_port: crate::wire::native::DEFAULT_PORT,
            lan_port: 54000,
            rtype_port: 4242,
            token: Vec::new(),
            unguarded: Unguarded::Refused,
            tokenless: Tokenless::Refused,
            lan_reach: LanReach::PrivateOnly,
            limits: Limits::default(),
            match_key: None,
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            sessions: 2048,
            sessions_per_ip: 64,
            stranger_datagrams_per_s: 64,
            player_datagrams_per_s: 256,
            streams: 256,
            streams_per_ip: 16,
            rooms: 256,
            rooms_per_ip: 4,
            password_tries: 16,
            wider: Wider::DEFAULT,
        }
    }
}

/// A room as the door sees it.
#[derive(Clone, Copy, Debug)]
pub struct RoomCard {
    /// What is played.
    pub game: GameId,
    /// How many may play.
    pub capacity: u8,
    /// How many may watch.
    pub watchers: u8,
    /// The room's name.
    pub name: Name,
    /// Asked for at the door; empty is none.
    pub password: Name,
    /// Where guests in `lan` have a place.
    pub lan_guests: Guests,
    /// Where guests in `rtype` have a place.
    pub rtype_guests: Guests,
}

/// Which places of a room guests in an old dialect may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guests {
    /// None: the match cannot be shown to them.
    Nowhere,
    /// Any that players have.
    Anywhere,
    /// This one alone.
    At(u8),
    /// This one, in a room that is opened for the guest; bots have the others.
    Alone(u8),
}

impl Guests {
    /// The same, each guest in a room of its own.
    pub(crate) fn alone(self) -> Self {
        match self {
            Guests::Nowhere => Guests::Nowhere,
            Guests::Anywhere => Guests::Alone(0),
            Guests::At(place) | Guests::Alone(place) => Guests::Alone(place),
        }
    }
}

/// What the front hands to a room.
#[derive(Debug)]
pub struct Call<'a> {
    /// Which room.
    pub room: usize,
    /// Which place in it.
    pub place: u8,
    /// Whose.
    pub session: SessionIndex,
    /// What.
    pub kind: CallKind<'a>,
}

/// What happened to a session.
#[derive(Debug)]
pub enum CallKind<'a> {
    /// Someone new takes the place.
    Admit(Admission),
    /// The same hello came again: its answer was lost.
    Repeat {
        /// The number of the datagram, in `native`.
        sequence: u32,
    },
    /// Someone who can prove to be the player asks for the place from `path`.
    Resume {
        /// Where the player is now.
        path: Path,
        /// The number of the datagram that asked; the player's count goes on from there.
        sequence: u32,
        /// Comes back in the answer.
        nonce: u64,
        /// Whether the player has forgotten all but the ticket.
        fresh: bool,
    },
    /// A packet from where the session is.
    Packet(Packet<'a>),
    /// The player goes to another place, with the session.
    Leave,
    /// The stream that kept the player was closed.
    StreamClosed,
}

/// Someone new.
#[derive(Clone, Debug)]
pub struct Admission {
    /// Who, in this room.
    pub player: PlayerId,
    /// Where.
    pub path: Path,
    /// How they speak.
    pub voice: Voice,
    /// To play or to watch.
    pub role: Role,
    /// What they call themselves.
    pub name: Name,
    /// The room and the place that they leave for this one: told so before this is handed over.
    pub leaves: Option<(usize, u8)>,
}

/// What a room needs to speak a member's dialect.
#[derive(Clone, Copy, Debug)]
pub enum Voice {
    /// `native`.
    Native {
        /// The Join's, for the Accept.
        nonce: u64,
        /// For the way back.
        ticket: Secret,
        /// The longest datagram.
        budget: Budget,
        /// The number of the first datagram to the client.
        first_sequence: u32,
        /// The number of the client's datagram that asked.
        peer_sequence: u32,
    },
    /// `rtype`.
    #[cfg(feature = "rtype")]
    Rtype {
        /// Whether silence is excused while the player's stream is open.
        kept_by_stream: bool,
    },
    /// `lan`.
    #[cfg(feature = "lan")]
    Lan,
}

/// What a room tells the front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Whose.
    pub session: SessionIndex,
    /// What.
    pub kind: NoticeKind,
}

/// What became of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeKind {
    /// It is there now.
    Moved {
        /// Where.
        path: Path,
        /// The number of the datagram that asked; the player's count goes on from there.
        sequence: u32,
    },
    /// Its place is free.
    Freed,
}

/// What was dropped at the door, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrontCounts {
    /// Bytes that are no packet.
    pub malformed: u64,
    /// Strangers beyond their limit.
    pub stranger_limit: u64,
    /// Players beyond their limit.
    pub player_limit: u64,
    /// Answers beyond [`ANSWER_LIMIT`].
    pub answer_limit: u64,
    /// Packets that only a server sends, or that make no sense from a stranger.
    pub stray: u64,
    /// Datagrams from a player's address whose number is not one of the player's next.
    pub numbers: u64,
    /// Cookies, tokens and tickets that are not good.
    pub bad_proof: u64,
    /// `rtype` Hellos without a token where [`Tokenless`] players are refused.
    pub tokenless: u64,
    /// `lan` from an address that is not private.
    pub reach: u64,
    /// Datagrams and streams in a dialect that cannot carry the token.
    pub unguarded: u64,
    /// Passwords beyond [`Limits::password_tries`].
    pub password_limit: u64,
    /// Guests in `lan` for whom there is no place.
    pub guest_limit: u64,
    /// Anything from an address that is banned.
    pub banned: u64,
}

/// How much the door keeps, by table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// Sessions: at most [`Limits::sessions`].
    pub sessions: usize,
    /// Addresses that lead to a session: at most two for each.
    pub addresses: usize,
    /// Tickets that bring a player back: at most one for each session.
    pub tickets: usize,
    /// Answers that wait to be sent: at most [`ANSWER_LIMIT`].
    pub answers: usize,
    /// Rooms: at most [`Limits::rooms`], if the operator has added no more.
    pub rooms: usize,
    /// Addresses that are banned: at most [`BAN_LIMIT`].
    pub bans: usize,
    /// Streams of `rtype`'s TCP step: at most [`Limits::streams`].
    #[cfg(feature = "rtype")]
    pub streams: usize,
    /// Tokens of `rtype`'s TCP step: at most [`TOKEN_LIMIT`].
    #[cfg(feature = "rtype")]
    pub tokens: usize,
}

/// The door of a server.
#[derive(Clone, Debug)]
pub struct Front {
    config: FrontConfig,
    secrets: Secrets,
    jar: CookieJar,
    strangers: Limiter,
    /// Measures for a matchmaker.
    witness: Option<Witness>,
    /// Who tries passwords.
    tries: Limiter,
    bans: Bans,
    routes: Routes,
    rooms: Rooms,
    answers: VecDeque<Answer>,
    counts: FrontCounts,
    journal: Journal,
    draining: bool,
    #[cfg(feature = "rtype")]
    lobby: rtype::Lobby,
}

impl Front {
    /// A door with no rooms behind it yet. `seed` must come from the system's generator: cookies,
    /// tickets and tokens are drawn from it.
    pub fn new(config: FrontConfig, seed: [u8; 32]) -> Self {
        let mut secrets = Secrets::new(seed);
        let limits @ Limits { wider, .. } = config.limits;
        let per_second = limits.stranger_datagrams_per_s.max(1);
        let strangers =
            LimiterConfig { per_second, burst: per_second, wider, ..LimiterConfig::STRANGERS };
        let burst = limits.password_tries;
        let tries = LimiterConfig { per_second: 1, burst, buckets: 1024, wider };
        let (jar, key) = (CookieJar::new(secrets.key()), secrets.key());
        let routes = Routes::new(limits, secrets.key());
        let witness = config.match_key.map(|key| Witness::new(key, &mut secrets));
        Front {
            jar,
            witness,
            strangers: Limiter::new(key, strangers),
            tries: Limiter::new(key, tries),
            bans: Bans::new(key),
            routes,
            rooms: Rooms::default(),
            answers: VecDeque::with_capacity(ANSWER_LIMIT),
            counts: FrontCounts::default(),
            journal: Journal::default(),
            draining: false,
            #[cfg(feature = "rtype")]
            lobby: rtype::Lobby::default(),
            secrets,
            config,
        }
    }

    /// Takes over what can change while others play: the name, the token, who needs one, whom
    /// `lan` is spoken to, and how many may come from one address.
    pub fn reconfigure(&mut self, new: FrontConfig) {
        let FrontConfig { name, token, unguarded, tokenless, lan_reach, limits, .. } = new;
        let limits = Limits { sessions_per_ip: limits.sessions_per_ip, ..self.config.limits };
        let old = self.config.clone();
        self.config = FrontConfig { name, token, unguarded, tokenless, lan_reach, limits, ..old };
    }

    /// What the server calls itself.
    pub fn name(&self) -> Name {
        self.config.name
    }

    /// From now on nobody new comes in; who has a place keeps it, and its way back.
    pub fn drain(&mut self) {
        self.draining = true;
    }

    /// From now on others come in again.
    pub fn undrain(&mut self) {
        self.draining = false;
    }

    /// Whether nobody new comes in.
    pub fn is_draining(&self) -> bool {
        self.draining
    }

    /// What was dropped, by reason.
    pub fn counts(&self) -> &FrontCounts {
        &self.counts
    }

    /// From now on so many lines of the log are kept for [`Front::poll_line`]; 0, as at first, is
    /// none.
    pub fn keep_lines(&mut self, limit: usize) {
        self.journal = Journal::new(limit);
    }

    /// The oldest line of the log that was not read yet, if any are kept.
    pub fn poll_line(&mut self) -> Option<LogLine> {
        self.journal.poll()
    }

    /// How many sessions there are.
    pub fn sessions(&self) -> usize {
        self.routes.len()
    }

    /// Whether nobody has a place here, a stream, or an answer to come.
    pub fn is_idle(&self) -> bool {
        let Kept { sessions, answers, .. } = self.kept();
        #[cfg(feature = "rtype")]
        let is_called = self.lobby.streams() > 0;
        #[cfg(not(feature = "rtype"))]
        let is_called = false;
        sessions == 0 && answers == 0 && !is_called
    }

    /// How much the door keeps now: each bounded by its limit.
    pub fn kept(&self) -> Kept {
        Kept {
            sessions: self.routes.len(),
            addresses: self.routes.addresses(),
            tickets: self.routes.tickets(),
            answers: self.answers.len(),
            rooms: self.rooms.len(),
            bans: self.bans.len(),
            #[cfg(feature = "rtype")]
            streams: self.lobby.streams(),
            #[cfg(feature = "rtype")]
            tokens: self.lobby.tokens(),
        }
    }

    /// Takes a datagram; what belongs to a room comes back as a call to it.
    pub fn handle_datagram<'a>(
        &mut self,
        now: Time,
        path: Path,
        bytes: &'a [u8],
    ) -> Option<Call<'a>> {
        if self.bans.hold(now, path.remote.ip()) {
            self.handle_banned(now, path, bytes);
            return None;
        }
        match Dialect::detect(bytes) {
            Some(Dialect::Native) => self.handle_native(now, path, bytes),
            #[cfg(any(feature = "lan", feature = "rtype"))]
            Some(_) if !self.speaks_unguarded() => {
                self.counts.unguarded += 1;
                None
            }
            #[cfg(feature = "rtype")]
            Some(Dialect::Rtype) => self.handle_rtype(now, path, bytes),
            #[cfg(feature = "lan")]
            Some(Dialect::Lan) => self.handle_lan(now, path, bytes),
            None => {
                // Even nonsense is counted against its sender: deciding that it is costs time.
                if self.admits_stranger(now, path) {
                    self.counts.malformed += 1;
                    if self.journal.is_kept() {
                        self.note_malformed(path, bytes, wire::fault_of(bytes));
                    }
                }
                None
            }
        }
    }

    fn note_malformed(&mut self, path: Path, bytes: &[u8], error: Malformed) {
        let (from, len) = (path.remote, bytes.len());
        self.journal.note(LogLine::Malformed { from, len, error });
    }

    /// A packet at the wrong moment: from who does not play, or of a type that only a server sends.
    fn note_stray(&mut self, path: Path, direction: Direction, name: &'static str) {
        let from = path.remote;
        self.journal.note(match direction {
            Direction::ToClient => LogLine::WrongType { from, name },
            Direction::ToServer | Direction::Both => {
                LogLine::WrongSender { from, hello_ack: false }
            }
        });
    }

    /// Whether anyone may speak a dialect that cannot carry the token.
    #[cfg(any(feature = "lan", feature = "rtype"))]
    fn speaks_unguarded(&self) -> bool {
        self.config.token.is_empty() || self.config.unguarded == Unguarded::Allowed
    }

    /// Has what is known of the sender of a datagram brought near.
    pub(crate) fn foresee(&self, bytes: &[u8], fetch: Fetch) {
        if let Some(session) = wire::native::session_of(bytes) {
            self.routes.foresee(session, fetch);
        }
    }

    /// The room and the place of the sender of a datagram, if it says who that is.
    pub(crate) fn seat_of(&self, bytes: &[u8]) -> Option<(usize, u8)> {
        let route = self.routes.route(wire::native::session_of(bytes)?)?;
        Some((route.room, route.place))
    }

    /// Takes what a room says about a session.
    pub fn handle_notice(&mut self, notice: Notice) {
        match notice.kind {
            NoticeKind::Moved { path, sequence } => {
                self.routes.move_to(notice.session, path, sequence);
            }
            NoticeKind::Freed => {
                self.routes.remove(notice.session);
                #[cfg(feature = "rtype")]
                self.lobby.forget(notice.session);
                self.settle();
            }
        }
    }

    /// Does what was due.
    pub fn handle_timeout(&mut self, now: Time) {
        #[cfg(feature = "rtype")]
        self.lobby.handle_timeout(now);
        let _ = now;
    }

    /// When [`Front::handle_timeout`] is due.
    pub fn poll_timeout(&self) -> Option<Time> {
        #[cfg(feature = "rtype")]
        return self.lobby.poll_timeout();
        #[cfg(not(feature = "rtype"))]
        None
    }

    /// The next answer to a stranger.
    #[inline]
    pub fn poll_transmit(&mut self, out: &mut [u8]) -> Option<Transmit> {
        // A server asks before every datagram, and mostly in vain.
        if self.answers.is_empty() { None } else { self.next_answer(out) }
    }

    fn next_answer(&mut self, out: &mut [u8]) -> Option<Transmit> {
        while let Some(answer) = self.answers.pop_front() {
            if let Some(transmit) = self.encode_answer(&answer, out) {
                if let Some(line) = answer.line() {
                    self.journal.note(line);
                }
                return Some(transmit);
            }
        }
        None
    }

    fn answer(&mut self, answer: Answer) {
        if sabotage::is(Sabotage::AnswerTwice) {
            self.answers.push_back(answer);
        }
        match self.answers.len() < ANSWER_LIMIT || sabotage::is(Sabotage::AnswersUnbounded) {
            true => self.answers.push_back(answer),
            false => self.counts.answer_limit += 1,
        }
    }

    /// Whether a datagram is within what its sender may send: the session at its path, or a
    /// stranger.
    fn admits(&mut self, now: Time, path: Path, known: Option<SessionIndex>) -> bool {
        let Some(session) = known else { return self.admits_stranger(now, path) };
        let allowance = self.routes.allow(now, session);
        self.counts.player_limit += u64::from(allowance == Allowance::No);
        allowance == Allowance::Yes
    }

    fn admits_stranger(&mut self, now: Time, path: Path) -> bool {
        let allowance = self.strangers.allow(now, path.remote.ip(), 1);
        self.counts.stranger_limit += u64::from(allowance == Allowance::No);
        allowance == Allowance::Yes
    }
}

/// A player who wants in, whatever the dialect.
struct Applicant {
    dialect: Dialect,
    path: Path,
    game: Option<u32>,
    /// The number of the room; 0 is any with a free place.
    room: u32,
    /// The slot of the room that the applicant is in, and would leave.
    from: Option<usize>,
    seat: Seat,
    password: Name,
}

/// Which place an applicant wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seat {
    Any(Role),
    /// As a guest in `lan`: where the room has such guests.
    #[cfg(feature = "lan")]
    LanGuest,
    /// The same in `rtype`.
    #[cfg(feature = "rtype")]
    RtypeGuest,
}

/// Why an applicant is not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    Full,
    Address,
    Game,
    Room,
    Password,
    /// Too many passwords were tried.
    Tries,
    /// There are enough rooms.
    Rooms,
    /// A room cannot be called so.
    RoomName,
    /// Nobody new is let in.
    Stopping,
}

impl Applicant {
    /// Who plays as a guest in an old dialect, in any room.
    #[cfg(any(feature = "lan", feature = "rtype"))]
    fn guest(dialect: Dialect, path: Path, seat: Seat) -> Self {
        let (game, from, password) = (None, None, Name::default());
        Applicant { dialect, path, game, room: 0, from, seat, password }
    }
}

impl Admission {
    /// Someone who has found a place.
    fn new(found: &routes::Found, path: Path, voice: Voice, role: Role, name: Name) -> Self {
        let player = PlayerId(u32::from(found.place) + 1);
        Admission { player, path, voice, role, name, leaves: None }
    }
}

impl<'a> Call<'a> {
    fn admit(found: &routes::Found, admission: Admission) -> Self {
        let routes::Found { room, place, session } = *found;
        Call { room, place, session, kind: CallKind::Admit(admission) }
    }
}

/// How long a slot waits for who asked for it and has not said anything since.
pub const CLAIM_WITHIN: Duration = Duration::from_secs(5);

/// How long a slot is kept for a player who was dropped.
pub const RESUME_FOR: Duration = Duration::from_secs(30);
