//! The endpoint: what strangers may touch, and who is let through to which room.
//!
//! Below is the wire, above are the rooms. The endpoint detects the dialect, answers what needs no
//! state (cookies, pings, searches), enforces the limits, and turns the rest into [`Call`]s to
//! rooms. It keeps nothing for a stranger: a route exists only for who has proved an address (a
//! cookie) or, in the old dialects, been let in.

mod answer;
mod bans;
mod guests;
mod native;
mod rooms;
mod routes;

use std::collections::VecDeque;
use std::time::Duration;

use crate::channel::{Journal, LogLine};
use crate::dialect::{DIALECT_LIMIT, DialectId, EndpointDialect};
use crate::game::{GameId, PlayerId};
use crate::matching::{MatchKey, Witness};
use crate::node::{Fetch, Path, StreamAction, StreamEvent, StreamId, Transmit};
use crate::sabotage::{self, Sabotage};
use crate::session::{
    Allowance, CookieJar, Limiter, LimiterConfig, Opening, Secrets, Session, Unopened, Wider,
};
use crate::time::Time;
use crate::wire::native::{
    self as native_wire, EnterRoom, Label, Reject, Role, SessionIndex, Token,
};
use crate::wire::{Direction, Fault, Malformed, Name};

pub use answer::ANSWER_LIMIT;
use answer::Answer;
use bans::Bans;
pub use bans::{BAN_LIMIT, BansFull};
pub use native::same_peer;
use rooms::Rooms;
pub use rooms::{GUEST_SHARE, NewRoom, RoomOrder};
use routes::Routes;
pub use routes::{Found, Route};

/// What an operator decides about the endpoint.
#[derive(Clone, Debug)]
pub struct EndpointConfig {
    /// What the server calls itself in a search.
    pub name: Name,
    /// Where it speaks `native`, for those who look for it; 0 tells nobody.
    pub native_port: u16,
    /// Where it speaks other dialects, by their names, for those who look for it; 0 tells nobody. One
    /// that is not here has its usual port.
    pub other_ports: Vec<(&'static str, u16)>,
    /// What players must bring, at most [`Token::MAX`] bytes; empty is "nothing". `native` can carry it, and
    /// few others.
    pub token: Vec<u8>,
    /// Whether the dialects that cannot carry the token are spoken although there is one.
    pub unguarded: Unguarded,
    /// Whether a player of an old dialect may leave out the token that it was given.
    pub tokenless: Tokenless,
    /// Whom the dialects that prove no address are spoken to.
    pub reach: Audience,
    /// What is enough.
    pub limits: Limits,
    /// Shared with a matchmaker, for whom round trips are then measured.
    pub match_key: Option<MatchKey>,
}

/// Whether a Hello in an old dialect needs the token that its stream was given.
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
    /// With a token, dialects that cannot carry it get silence.
    #[default]
    Refused,
    /// The token is asked only of who can bring it.
    Allowed,
}

/// Whom a dialect that cannot prove an address is spoken to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Audience {
    /// Loopback, link-local and private addresses.
    #[default]
    PrivateOnly,
    /// Anyone.
    Everywhere,
}

/// The named limits of the endpoint. Each is tested at it and one past it.
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
    /// Streams that are open at once, in dialects that have them.
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

impl Default for EndpointConfig {
    fn default() -> Self {
        EndpointConfig {
            name: Name::new("Backspin"),
            native_port: crate::wire::native::DEFAULT_PORT,
            other_ports: Vec::new(),
            token: Vec::new(),
            unguarded: Unguarded::Refused,
            tokenless: Tokenless::Refused,
            reach: Audience::PrivateOnly,
            limits: Limits::default(),
            match_key: None,
        }
    }
}

impl EndpointConfig {
    /// Where the dialect of this name is spoken, if it is not its usual port.
    pub fn port_of(&self, dialect: &str) -> Option<u16> {
        let found = self.other_ports.iter().find(|(name, _)| *name == dialect);
        found.map(|&(_, port)| port)
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

/// A room as the endpoint sees it.
#[derive(Clone, Copy, Debug)]
pub struct RoomCard {
    /// What is played.
    pub game: GameId,
    /// How that lays out what it sends: see [`Game::layout`](crate::game::Game::layout).
    pub layout: u32,
    /// How many may play.
    pub capacity: u8,
    /// How many may watch.
    pub watchers: u8,
    /// The room's name.
    pub name: Name,
    /// Asked for at the endpoint; empty is none.
    pub password: Name,
    /// Where guests in other dialects have a place, by the dialect's place in the server's list.
    pub guests: [Guests; DIALECT_LIMIT],
}

/// Which places of a room guests in an old dialect may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Guests {
    /// None: the match cannot be shown to them.
    #[default]
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

/// What the endpoint hands to a room.
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
    Admit(Box<Admission>),
    /// The same hello came again: its answer was lost.
    Repeat {
        /// The number of the datagram, if it has one that the session has not judged yet.
        sequence: Option<u32>,
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
    /// A datagram from where the session is, still closed.
    Datagram(&'a mut [u8]),
    /// The player stays: the answer to an EnterRoom with this number.
    Refuse(u32, Reject),
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
    pub dialect: DialectId,
    /// Whether silence is excused while the player's stream is open.
    pub kept_by_stream: bool,
    /// How the session begins.
    pub opening: Opening,
    /// The session, if it is one already: then it comes along from the place that it leaves.
    pub session: Option<Session>,
    /// To play or to watch.
    pub role: Role,
    /// What they call themselves.
    pub name: Name,
    /// The room and the place that they leave for this one.
    pub leaves: Option<(usize, u8)>,
    /// What a game is asked about before it lets them in.
    pub papers: Papers,
}

/// What someone shows to be let in.
#[derive(Clone, Debug, Default)]
pub struct Papers {
    /// What the player says, as bytes.
    pub data: Box<[u8]>,
    /// What the operator's own service gave to the player.
    pub token: Box<[u8]>,
    /// The question that led to the place that is left.
    pub nonce_before: u64,
}

/// What a room made of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// It was the session's, and is done with.
    Done,
    /// It was the session's, but the member has too many answers to come: it gets none.
    Unanswered,
    /// The datagram is not the session's, or none at all.
    Unopened(Unopened),
    /// The player wants to go elsewhere.
    Wish {
        /// The number of the datagram.
        sequence: u32,
        /// Where to.
        wish: EnterRoom,
    },
}

/// What a room tells the endpoint.
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
    },
    /// Its place is free.
    Freed,
}

/// What was dropped at the endpoint, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndpointCounts {
    /// Bytes that are no packet.
    pub malformed: u64,
    /// Those of them whose length fits only in little-endian, where it is to be big-endian.
    pub byte_order: u64,
    /// Strangers beyond their limit.
    pub stranger_limit: u64,
    /// Players beyond their limit.
    pub player_limit: u64,
    /// Answers to strangers beyond [`ANSWER_LIMIT`], and to a member beyond
    /// [`room::ANSWER_LIMIT`](crate::room::ANSWER_LIMIT).
    pub answer_limit: u64,
    /// Packets that only a server sends, or that make no sense from a stranger.
    pub stray: u64,
    /// Datagrams from a player's address whose number is not one of the player's next.
    pub numbers: u64,
    /// Cookies, tokens and tickets that are not good.
    pub bad_proof: u64,
    /// Hellos without a token where [`Tokenless`] players are refused.
    pub tokenless: u64,
    /// From beyond the [`Audience`] of a dialect that proves no address.
    pub reach: u64,
    /// Datagrams and streams in a dialect that cannot carry the token.
    pub unguarded: u64,
    /// Passwords beyond [`Limits::password_tries`].
    pub password_limit: u64,
    /// Guests in old dialects for whom there is no place.
    pub guest_limit: u64,
    /// Anything from an address that is banned.
    pub banned: u64,
    /// Players whose program speaks another version of the protocol, or plays another of the game.
    pub other_version: u64,
}

/// How much the endpoint keeps, by table.
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
    /// Streams, in dialects that have them: at most [`Limits::streams`].
    pub streams: usize,
    /// Tokens that were given to those: each dialect has a limit.
    pub tokens: usize,
}

/// The endpoint of a server.
#[derive(Clone, Debug)]
pub struct Endpoint {
    config: EndpointConfig,
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
    counts: EndpointCounts,
    journal: Journal,
    draining: bool,
    /// Beside `native`, in the order of their [ids](DialectId).
    dialects: Vec<Box<dyn EndpointDialect>>,
}

impl EndpointConfig {
    fn check(&self) {
        let (len, most) = (self.token.len(), Token::MAX);
        assert!(len <= most, "a token has at most {most} bytes, and this one {len}");
    }
}

impl Endpoint {
    /// An endpoint with no rooms behind it yet. `seed` must come from the system's generator: cookies,
    /// tickets and tokens are drawn from it.
    ///
    /// # Panics
    /// If the token is longer than [`Token::MAX`]: nobody could bring it.
    pub fn new(config: EndpointConfig, seed: [u8; 32]) -> Self {
        config.check();
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
        Endpoint {
            jar,
            witness,
            strangers: Limiter::new(key, strangers),
            tries: Limiter::new(key, tries),
            bans: Bans::new(key),
            routes,
            rooms: Rooms::default(),
            answers: VecDeque::with_capacity(ANSWER_LIMIT),
            counts: EndpointCounts::default(),
            journal: Journal::default(),
            draining: false,
            dialects: Vec::new(),
            secrets,
            config,
        }
    }

    /// From now on one more dialect is spoken, if there are fewer than [`DIALECT_LIMIT`].
    pub(crate) fn add_dialect(&mut self, dialect: Box<dyn EndpointDialect>) {
        debug_assert!(
            self.dialects.len() < DIALECT_LIMIT,
            "a server has no room for more dialects"
        );
        self.dialects.push(dialect);
    }

    /// Takes over what can change while others play: the name, the token, who needs one, whom
    /// old dialects are spoken to, and how many may come from one address.
    ///
    /// # Panics
    /// As [`Endpoint::new`] does.
    pub fn reconfigure(&mut self, new: EndpointConfig) {
        new.check();
        let EndpointConfig { name, token, unguarded, tokenless, reach, limits, .. } = new;
        let limits = Limits { sessions_per_ip: limits.sessions_per_ip, ..self.config.limits };
        let old = self.config.clone();
        self.config = EndpointConfig { name, token, unguarded, tokenless, reach, limits, ..old };
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
    pub fn counts(&self) -> &EndpointCounts {
        &self.counts
    }

    /// From now on so many lines of the log are kept for [`Endpoint::poll_line`]; 0, as at first, is
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
        let Kept { sessions, answers, streams, .. } = self.kept();
        sessions == 0 && answers == 0 && streams == 0
    }

    /// How much the endpoint keeps now: each bounded by its limit.
    pub fn kept(&self) -> Kept {
        let dialects = self.dialects.iter().map(|dialect| dialect.kept());
        let [streams, tokens] = dialects
            .fold([0, 0], |[streams, tokens], [more, others]| [streams + more, tokens + others]);
        Kept {
            sessions: self.routes.len(),
            addresses: self.routes.addresses(),
            tickets: self.routes.tickets(),
            answers: self.answers.len(),
            rooms: self.rooms.len(),
            bans: self.bans.len(),
            streams,
            tokens,
        }
    }

    /// Takes a datagram; what belongs to a room comes back as a call to it.
    pub fn handle_datagram<'a>(
        &mut self,
        now: Time,
        path: Path,
        bytes: &'a mut [u8],
    ) -> Option<Call<'a>> {
        if self.bans.hold(now, path.remote) {
            self.handle_banned(now, path, bytes);
            return None;
        }
        if native_wire::has_shape(bytes) {
            return self.handle_native(now, path, bytes);
        }
        match self.dialects.iter().position(|dialect| dialect.detect(bytes)) {
            Some(at) if !self.speaks_unguarded() && !self.dialects[at].carries_token() => {
                self.counts.unguarded += 1;
            }
            Some(at) => {
                return self.with_dialect(at, |dialect, endpoint| {
                    dialect.handle(endpoint, now, path, bytes)
                });
            }
            // Even nonsense is counted against its sender: deciding that it is costs time.
            None if self.admits_stranger(now, path) => {
                let error = self.fault_of(bytes);
                self.counts.byte_order += u64::from(error.fault == Fault::ByteOrder);
                self.note_malformed(path, bytes.len(), error);
            }
            None => {}
        }
        None
    }

    /// Lets a dialect do something with the endpoint, which it is a part of.
    fn with_dialect<T>(
        &mut self,
        at: usize,
        act: impl FnOnce(&mut dyn EndpointDialect, &mut Endpoint) -> T,
    ) -> T {
        let mut dialects = std::mem::take(&mut self.dialects);
        let done = act(&mut *dialects[at], self);
        self.dialects = dialects;
        done
    }

    /// What is wrong with bytes of no dialect's shape, as the one that they come closest to sees it.
    fn fault_of(&self, bytes: &[u8]) -> Malformed {
        let others = self.dialects.iter().find_map(|dialect| dialect.fault(bytes));
        let native = || match bytes {
            [native_wire::VERSION, _, ..] => native_wire::Datagram::decode(bytes).err(),
            _ => None,
        };
        others.or_else(native).unwrap_or(Malformed::new("datagram", Fault::NoDialect))
    }

    /// Takes what a room made of the datagram of a session that came from `path`.
    pub(crate) fn handle_outcome(
        &mut self,
        now: Time,
        path: Path,
        session: SessionIndex,
        (len, outcome): (usize, &Outcome),
    ) {
        match outcome {
            Outcome::Done | Outcome::Wish { .. } => self.routes.charge(now, session),
            Outcome::Unanswered => {
                self.counts.answer_limit += 1;
                self.routes.charge(now, session);
            }
            Outcome::Unopened(Unopened::Number) => self.counts.numbers += 1,
            Outcome::Unopened(Unopened::Malformed(error)) => {
                if self.admits_stranger(now, path) {
                    self.note_malformed(path, len, *error);
                }
            }
        }
    }

    /// The streams of the dialect that has any.
    pub(crate) fn handle_stream(
        &mut self,
        now: Time,
        stream: StreamId,
        event: StreamEvent<'_>,
    ) -> Option<Call<'static>> {
        let at = self.dialects.iter().position(|dialect| dialect.has_streams())?;
        self.with_dialect(at, |dialect, endpoint| {
            dialect.handle_stream(endpoint, now, stream, event)
        })
    }

    pub(crate) fn poll_stream(&mut self, out: &mut [u8]) -> Option<(StreamId, StreamAction)> {
        self.dialects.iter_mut().find_map(|dialect| dialect.poll_stream(out))
    }

    pub(crate) fn has_streams(&self) -> bool {
        self.dialects.iter().any(|dialect| dialect.has_streams())
    }

    /// So many bytes from there are no packet.
    pub fn note_malformed(&mut self, path: Path, len: usize, error: Malformed) {
        self.counts.malformed += 1;
        self.journal.note(LogLine::Malformed { from: path.remote, len, error });
    }

    /// A packet at the wrong moment: from who does not play, or of a type that only a server sends.
    pub fn note_stray(&mut self, path: Path, direction: Direction, name: &'static str) {
        let from = path.remote;
        self.journal.note(match direction {
            Direction::ToClient => LogLine::WrongType { from, name },
            Direction::ToServer | Direction::Both => {
                LogLine::WrongSender { from, hello_ack: false }
            }
        });
    }

    /// Whether anyone may speak a dialect that cannot carry the token.
    pub fn speaks_unguarded(&self) -> bool {
        self.config.token.is_empty() || self.config.unguarded == Unguarded::Allowed
    }

    /// Has what is known of the sender of a datagram brought near.
    pub(crate) fn prefetch(&self, bytes: &[u8], fetch: Fetch) {
        if let Some(label) = Label::read(bytes) {
            self.routes.prefetch(label.session, fetch);
        }
    }

    /// The room and the place of the sender of a datagram, if it says who that is.
    pub(crate) fn seat_of(&self, bytes: &[u8]) -> Option<(usize, u8)> {
        let route = self.routes.route(Label::read(bytes)?.session)?;
        Some((route.room(), route.place))
    }

    /// Takes what a room says about a session.
    pub fn handle_notice(&mut self, notice: Notice) {
        match notice.kind {
            NoticeKind::Moved { path } => self.routes.move_to(notice.session, path),
            NoticeKind::Freed => {
                let route = self.routes.remove(notice.session);
                if let Some(at) = route.and_then(|route| route.dialect.place()) {
                    self.dialects[at].forget(notice.session);
                }
                self.settle();
            }
        }
    }

    /// Does what was due.
    pub fn handle_timeout(&mut self, now: Time) {
        self.dialects.iter_mut().for_each(|dialect| dialect.handle_timeout(now));
    }

    /// When [`Endpoint::handle_timeout`] is due.
    pub fn poll_timeout(&self) -> Option<Time> {
        self.dialects.iter().filter_map(|dialect| dialect.poll_timeout()).min()
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
    pub fn admits(&mut self, now: Time, path: Path, known: Option<SessionIndex>) -> bool {
        let Some(session) = known else { return self.admits_stranger(now, path) };
        let allowance = self.routes.allow(now, session);
        self.counts.player_limit += u64::from(allowance == Allowance::No);
        allowance == Allowance::Yes
    }

    fn admits_stranger(&mut self, now: Time, path: Path) -> bool {
        let allowance = self.strangers.allow(now, path.remote.limit_key(), 1);
        self.counts.stranger_limit += u64::from(allowance == Allowance::No);
        allowance == Allowance::Yes
    }
}

/// A player who wants in, whatever the dialect.
struct Applicant {
    dialect: DialectId,
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
    /// As a guest in another dialect: where the room has such guests.
    Guest(DialectId),
}

impl Applicant {
    /// Who plays as a guest in another dialect, in any room; of this game, if it is one.
    fn guest(dialect: DialectId, path: Path, game: Option<u32>) -> Self {
        let (from, password, seat) = (None, Name::default(), Seat::Guest(dialect));
        Applicant { dialect, path, game, room: 0, from, seat, password }
    }
}

impl Admission {
    /// Someone who has found a place.
    fn new(found: &Found, path: Path, opening: Opening, role: Role, name: Name) -> Self {
        let (player, dialect) = (PlayerId(u32::from(found.place) + 1), DialectId::NATIVE);
        Admission {
            player,
            path,
            dialect,
            kept_by_stream: false,
            opening,
            session: None,
            role,
            name,
            leaves: None,
            papers: Papers::default(),
        }
    }
}

impl<'a> Call<'a> {
    fn admit(found: &Found, admission: Admission) -> Self {
        let Found { room, place, session } = *found;
        Call { room, place, session, kind: CallKind::Admit(Box::new(admission)) }
    }
}

/// How long a slot waits for who asked for it and has not said anything since.
pub const CLAIM_WITHIN: Duration = Duration::from_secs(5);

/// How long a slot is kept for a player who was dropped.
pub const RESUME_FOR: Duration = Duration::from_secs(30);
