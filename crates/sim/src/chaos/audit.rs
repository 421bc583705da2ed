//! Keeps the door's books a second time, from outside: for every question that reaches the server it
//! knows the one right answer, and holds the server to it.
//!
//! It stands beside the [ledger](super::ledger), between server and network. Of the server it reads
//! who has a place in which room; cookies, tickets, numbers, allowances and passwords it knows from
//! what has passed. So every promise at the door is judged in both directions: who is at a limit is
//! refused and who is under it gets in; what has expired is worth nothing and what has not is good;
//! a ticket leads back to its own place, and moves nobody who plays.

mod answers;
mod book;
mod streams;

use backspin::peer::{LimitKey, PeerAddr};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use super::breach::{Breach, ensure};
use super::probe::Probe;
use super::rules::Rules;
use backspin::endpoint::ANSWER_LIMIT;
use backspin::game::PlayerId;
use backspin::room;
use backspin::server::Server;
use backspin::time::Time;
use backspin::wire::Name;
use backspin::wire::native::{
    Accept, Challenge, Datagram, Packet, RejectReason, Role, Secret, SessionIndex,
};
use book::{Book, Tokens};
use streams::OpenStream;

/// The books of one server, from its start on.
#[derive(Debug)]
pub(super) struct Audit {
    rules: Rules,
    /// The members.
    spots: Vec<Spot>,
    /// What is known of those who speak `native`, by session.
    books: BTreeMap<SessionIndex, Book>,
    /// The cookies that were sent to whom for which nonce, and the slot of time of each.
    cookies: BTreeMap<(PeerAddr, u64), VecDeque<(Secret, u64)>>,
    strangers: Allowances,
    tries: Allowances,
    /// Rooms that players made: from where, and the password.
    made: BTreeMap<u32, (PeerAddr, Name)>,
    streams: Vec<OpenStream>,
    /// Tokens of the TCP step that nobody has used, and when each was given out.
    tokens: BTreeMap<u32, Time>,
    /// Those that someone has used.
    spent: BTreeSet<u32>,
    questions: Vec<Question>,
    answers: Vec<(PeerAddr, Answer)>,
    /// Whether places may have changed since they were looked at.
    is_stale: bool,
    /// Whether timers have run since.
    is_tick: bool,
    breach: Option<Breach>,
}

/// A place that is taken.
#[derive(Clone, Copy, Debug)]
struct Spot {
    session: SessionIndex,
    room: u32,
    player: u32,
    role: Role,
    dialect: &'static str,
    remote: PeerAddr,
    present: bool,
    absent_since: Option<Time>,
    /// The operator or the server has ended it: so many ticks ago.
    closing: Option<u32>,
}

/// What each address may do, in bounds. The server's table has a fixed size, and addresses may share
/// a bucket in it: so an address has at most what it would have alone, and at least what it would
/// have if all shared one.
#[derive(Debug)]
struct Allowances {
    full: Tokens,
    most: BTreeMap<LimitKey, Tokens>,
    least: Tokens,
}

/// A question that has reached the server, until its answer is looked for.
#[derive(Clone, Copy, Debug)]
struct Question {
    at: Time,
    from: PeerAddr,
    sequence: u32,
    key: Key,
    due: Due,
    /// Counts against what a stranger may ask.
    stranger: Option<Certainty>,
    /// Counts against the passwords that may be tried.
    tries: Option<Certainty>,
    /// The password of the room that it would make.
    makes: Option<Name>,
}

/// Whether an allowance has something left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Certainty {
    /// Whoever shares the bucket.
    Surely,
    /// If nobody shares it.
    Maybe,
}

/// What ties an answer to its question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Nonce(u64),
    Ping(u32),
    Session(SessionIndex),
    /// Of a Hello in `rtype`.
    Token(u32),
}

/// The one right answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Due {
    Nothing(Why),
    /// To a Hello, or to a cookie that is not good.
    Challenge,
    /// A new place.
    Place,
    /// This place, as it was.
    Same {
        session: SessionIndex,
        player: u32,
        room: u32,
        is_repeat: bool,
    },
    /// Another place of this session.
    Move(SessionIndex),
    Reject(RejectReason),
    Pong,
    Here,
    Rooms,
    Unknown,
    /// In `rtype`.
    HelloAck,
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    /// The number was used, or is not one of the player's next.
    Number,
    /// The player has sent too much.
    Rate,
    /// The ticket's owner plays.
    Plays,
    /// The ticket's owner was removed, or is away.
    Gone,
    /// The token was never given out, or not used in time.
    Token,
}

/// What the server said to whom.
#[derive(Clone, Copy, Debug)]
enum Answer {
    Challenge { nonce: u64, cookie: Secret },
    Accept(Accept),
    Reject { nonce: u64, reason: RejectReason },
    Pong { id: u32 },
    Here { nonce: u64 },
    Rooms { nonce: u64 },
    Unknown { session: SessionIndex },
    HelloAck,
}

/// A cookie is good in the slot of time it was baked in and in the next.
const COOKIE_SLOT: Duration = Duration::from_secs(5);

/// Cookies of one nonce that are remembered: more than can be good.
const COOKIES_KEPT: usize = 4;

/// A player's place can be claimed from elsewhere after so much silence.
const QUIET: Duration = Duration::from_secs(1);

/// Who was removed is gone when timers have run so often.
const REMOVED_TICKS: u32 = 60;

/// Every room looks after its own members, once a tick.
const DROP_SLACK: Duration = Duration::from_millis(40);

impl Audit {
    pub(super) fn new(rules: Rules) -> Self {
        let strangers = Tokens::full(rules.limits.stranger_datagrams_per_s);
        Audit {
            rules,
            spots: Vec::new(),
            books: BTreeMap::new(),
            cookies: BTreeMap::new(),
            strangers: Allowances::new(strangers),
            tries: Allowances::new(Tokens::new(1, rules.limits.password_tries)),
            made: BTreeMap::new(),
            streams: Vec::new(),
            tokens: BTreeMap::new(),
            spent: BTreeSet::new(),
            questions: Vec::new(),
            answers: Vec::new(),
            is_stale: true,
            is_tick: false,
            breach: None,
        }
    }

    /// The first promise that was broken.
    pub(super) fn breach(&self) -> Option<&Breach> {
        self.breach.as_ref()
    }

    /// The server ends this session, or all: the operator wants it so.
    pub(super) fn note_closing(&mut self, session: Option<SessionIndex>) {
        for spot in &mut self.spots {
            if session.is_none_or(|session| spot.session == session) {
                spot.closing.get_or_insert(0);
            }
        }
        self.is_stale = true;
    }

    /// The queue of a player was full: the session has ended.
    pub(super) fn note_overrun(&mut self, room: u32, player: PlayerId) {
        let is_it = |spot: &Spot| (spot.room, spot.player) == (room, player.0);
        if let Some(session) = self.spots.iter().find(|spot| is_it(spot)).map(|spot| spot.session) {
            self.note_closing(Some(session));
        }
    }

    /// The server is about to do what is due.
    pub(super) fn note_timeout(&mut self) {
        (self.is_stale, self.is_tick) = (true, true);
    }

    /// The server has read all that it reads before it answers.
    pub(super) fn check_answers(&mut self, server: &Server<Probe>) {
        let (kept, limit) = (server.endpoint().kept().answers, ANSWER_LIMIT);
        if kept > limit {
            self.report(Err(Breach::OverLimit { what: "answers", kept, limit }));
        }
    }

    /// The server sends a datagram.
    pub(super) fn note_sent(&mut self, to: PeerAddr, bytes: &[u8]) {
        if streams::is_hello_ack(bytes) {
            self.answers.push((to, Answer::HelloAck));
        }
        // Of all that is sent these are answers.
        let &[1, 0x81..=0x83 | 0x85 | 0x87..=0x89, ..] = bytes else { return };
        let Ok(Datagram { packet, .. }) = Datagram::decode(bytes) else { return };
        let answer = match packet {
            Packet::Challenge(Challenge { nonce, cookie, .. }) => {
                Answer::Challenge { nonce, cookie }
            }
            Packet::Accept(accept) => Answer::Accept(accept),
            Packet::Reject(reject) => Answer::Reject { nonce: reject.nonce, reason: reject.reason },
            Packet::Pong(pong) => Answer::Pong { id: pong.id },
            Packet::Here(here) => Answer::Here { nonce: here.nonce },
            Packet::RoomList(list) => Answer::Rooms { nonce: list.nonce },
            Packet::UnknownSession(unknown) => Answer::Unknown { session: unknown.session },
            _ => return,
        };
        self.answers.push((to, answer));
    }

    /// The server has nothing more to say for now: looks at what it has said and done.
    pub(super) fn settle(&mut self, now: Time, server: &Server<Probe>) {
        // Of so many answers some are dropped, as they should be.
        let is_flooded = self.questions.len() >= ANSWER_LIMIT;
        // Of so many to one member, too.
        let mut answered = BTreeMap::<PeerAddr, usize>::new();
        for question in std::mem::take(&mut self.questions) {
            let before = answered.entry(question.from).or_default();
            let is_told = *before >= room::ANSWER_LIMIT && question.stranger.is_none();
            let judged = match self.judge(&question) {
                Err(Breach::Unanswered { .. }) if is_flooded || is_told => Ok(()),
                judged => {
                    let is_of_member = question.stranger.is_none() && !question.due.is_nothing();
                    *before += usize::from(is_of_member && judged.is_ok());
                    judged
                }
            };
            self.report(judged);
        }
        self.answers.clear();
        if std::mem::take(&mut self.is_stale) {
            let looked = self.look(now, server);
            self.report(looked);
        }
        if std::mem::take(&mut self.is_tick) {
            self.check_tick(now);
            self.check_streams(now);
        }
    }

    fn report(&mut self, judged: Result<(), Breach>) {
        if let Err(breach) = judged {
            self.breach.get_or_insert(breach);
        }
    }

    // --- answers -----------------------------------------------------------------------------

    /// Holds the answer to a question against what it should be.
    fn judge(&mut self, question: &Question) -> Result<(), Breach> {
        let (address, at) = (question.from, question.at);
        let answer = self.find_answer(question);
        // Who may not go to another room is told the same whenever it asks with this nonce.
        if let (None, Some(Answer::Reject { nonce, reason })) = (question.stranger, &answer) {
            let books = self.books.values_mut().filter(|book| book.remote == address);
            books.for_each(|book| book.refused = Some((*nonce, *reason)));
        }
        if question.stranger.is_some() && answer.is_some() {
            let is_allowed = self.strangers.most(address.limit_key()).take(at);
            let what = "datagrams from a stranger";
            ensure(is_allowed, Breach::OverRate { address, what })?;
        }
        if let (Some(certainty), Some(answer)) = (question.tries, &answer) {
            let reason = RejectReason::Tries;
            let is_refused =
                matches!(answer, Answer::Reject { reason: told, .. } if *told == reason);
            match (is_refused, certainty) {
                (true, Certainty::Surely) => return Err(Breach::Refused { address, reason }),
                (true, Certainty::Maybe) => return Ok(()),
                (false, _) if !self.tries.most(address.limit_key()).take(at) => {
                    return Err(Breach::OverRate { address, what: "passwords" });
                }
                (false, _) => {}
            }
        }
        match answer {
            Some(answer) => self.judge_answer(question, &answer),
            None if question.stranger == Some(Certainty::Maybe) => Ok(()),
            None => match question.due {
                Due::Nothing(_) => Ok(()),
                due => Err(Breach::Unanswered { address, due: due.name() }),
            },
        }
    }

    fn find_answer(&mut self, question: &Question) -> Option<Answer> {
        let fits =
            |(to, answer): &(PeerAddr, Answer)| *to == question.from && answer.fits(question.key);
        let at = self.answers.iter().position(fits)?;
        Some(self.answers.remove(at).1)
    }

    fn judge_answer(&mut self, question: &Question, answer: &Answer) -> Result<(), Breach> {
        let (now, address) = (question.at, question.from);
        match (question.due, answer) {
            (Due::Challenge, Answer::Challenge { nonce, cookie }) => {
                self.remember_cookie(now, address, *nonce, *cookie);
                Ok(())
            }
            (Due::Pong, Answer::Pong { .. })
            | (Due::Here, Answer::Here { .. })
            | (Due::Rooms, Answer::Rooms { .. })
            | (Due::Unknown, Answer::Unknown { .. }) => Ok(()),
            (Due::Reject(due), Answer::Reject { reason, .. }) if due == *reason => Ok(()),
            (Due::Place, Answer::Accept(accept)) => {
                self.take_in(question, accept);
                Ok(())
            }
            (Due::Move(session), Answer::Accept(accept)) if accept.session == session => {
                if let Some(book) = self.books.get_mut(&session) {
                    book.begin_again(now, address, accept, question.sequence);
                }
                Ok(())
            }
            (Due::Same { session, player, room, is_repeat }, Answer::Accept(accept)) => {
                let is_same =
                    (accept.session, accept.player, accept.room) == (session, player, room);
                ensure(is_same, Breach::OtherPlace { address, player, got: accept.player })?;
                self.bring_back(question, accept, is_repeat);
                Ok(())
            }
            (Due::HelloAck, Answer::HelloAck) => {
                if let Key::Token(token) = question.key {
                    self.tokens.remove(&token);
                    self.spent.insert(token);
                }
                Ok(())
            }
            (Due::Nothing(Why::Token), _) => Err(Breach::DeadToken { address }),
            (Due::Challenge, _) => Err(Breach::BadCookie { address }),
            (_, Answer::Challenge { .. }) => Err(Breach::CookieRefused { address }),
            (Due::Nothing(Why::Plays), Answer::Accept(accept)) => {
                Err(Breach::Robbed { address, player: accept.player })
            }
            (Due::Nothing(Why::Gone), Answer::Accept(accept)) => {
                Err(Breach::Returned { address, player: accept.player })
            }
            (Due::Nothing(Why::Number), _) => Err(Breach::NumberTwice { address }),
            (Due::Nothing(Why::Rate), _) => {
                Err(Breach::OverRate { address, what: "datagrams from a player" })
            }
            (Due::Reject(RejectReason::Ticket), Answer::Accept(accept)) => {
                Err(Breach::Returned { address, player: accept.player })
            }
            (Due::Reject(reason), Answer::Accept(_)) => Err(Breach::LetIn { address, reason }),
            (_, Answer::Reject { reason, .. }) => Err(Breach::Refused { address, reason: *reason }),
            (due, _) => Err(Breach::Unanswered { address, due: due.name() }),
        }
    }

    /// A cookie was sent there, which was baked then.
    fn remember_cookie(&mut self, at: Time, to: PeerAddr, nonce: u64, cookie: Secret) {
        let slot = at.as_nanos() / COOKIE_SLOT.as_nanos() as u64;
        let known = self.cookies.entry((to, nonce)).or_default();
        if !known.contains(&(cookie, slot)) {
            known.push_back((cookie, slot));
            known.drain(..known.len().saturating_sub(COOKIES_KEPT));
        }
    }

    /// Someone new was let in.
    fn take_in(&mut self, question: &Question, accept: &Accept) {
        let burst = self.rules.limits.player_datagrams_per_s;
        let mut book = Book::new(question.at, question.from, accept, question.sequence, burst);
        book.invited_until = Some(question.at + self.rules.claim_within);
        self.books.insert(accept.session, book);
        if let Some(password) = question.makes {
            self.made.insert(accept.room, (question.from, password));
        }
    }

    /// Someone was told of the place that is its own.
    fn bring_back(&mut self, question: &Question, accept: &Accept, is_repeat: bool) {
        let Some(book) = self.books.get_mut(&accept.session) else { return };
        match is_repeat {
            true => {
                book.numbers.take(question.sequence);
                let until = question.at + self.rules.claim_within;
                book.invited_until = book.invited_until.map(|before| before.max(until));
            }
            false => book.begin_again(question.at, question.from, accept, question.sequence),
        }
    }

    // --- places ------------------------------------------------------------------------------

    /// Looks at who has a place now, and at what has become of those who had one.
    fn look(&mut self, now: Time, server: &Server<Probe>) -> Result<(), Breach> {
        let before = std::mem::take(&mut self.spots);
        for room in server.rooms() {
            for card in room.members() {
                let old = before.iter().find(|spot| spot.session == card.session);
                let since = old.and_then(|spot| spot.absent_since).unwrap_or(now);
                let absent_since = (!card.present).then_some(since);
                self.spots.push(Spot {
                    session: card.session,
                    room: room.number(),
                    player: card.player.0,
                    role: card.role,
                    dialect: card.dialect,
                    remote: card.path.remote,
                    present: card.present,
                    absent_since,
                    closing: old.and_then(|spot| spot.closing),
                });
            }
        }
        for spot in &self.spots {
            let old = before.iter().find(|old| old.session == spot.session);
            self.check_kept(now, spot, old)?;
        }
        for spot in before {
            if !self.spots.iter().any(|now| now.session == spot.session) {
                self.check_gone(now, &spot)?;
                self.books.remove(&spot.session);
            }
        }
        Ok(())
    }

    /// Whether someone is away for good reason.
    fn check_kept(&self, now: Time, spot: &Spot, old: Option<&Spot>) -> Result<(), Breach> {
        let Some(book) = self.books.get(&spot.session) else { return Ok(()) };
        let (player, silent) = (spot.player, now.since(book.heard));
        let was_present = old.is_none_or(|old| old.present);
        let is_early = silent < self.rules.liveness.drop && spot.closing.is_none();
        let is_dropped = was_present && !spot.present && is_early;
        ensure(!is_dropped, Breach::DroppedEarly { player, silent })
    }

    /// Whether a place was given up for good reason.
    fn check_gone(&self, now: Time, spot: &Spot) -> Result<(), Breach> {
        let has_left = self.books.get(&spot.session).is_some_and(|book| book.has_left);
        let away = spot.absent_since.map(|since| now.since(since)).unwrap_or_default();
        let is_over = spot.absent_since.is_some() && away >= self.rules.resume_for;
        let book = self.books.get(&spot.session);
        let is_silent =
            book.is_some_and(|book| book.invited_until.is_some_and(|until| until <= now));
        // What the old dialects say is not read here, so not how long they were silent.
        let is_old = match spot.dialect {
            "native" => false,
            // Who is dropped is told so first, and has no way back.
            "ack" => true,
            _ => spot.absent_since.is_none(),
        };
        let may_go = has_left || is_over || is_silent || is_old || spot.closing.is_some();
        let kept = self.rules.resume_for;
        ensure(may_go, Breach::LostPlace { player: spot.player, away, kept })
    }

    /// A tick has passed: whoever was silent for too long, or was removed, is not here any more.
    fn check_tick(&mut self, now: Time) {
        let drop = self.rules.liveness.drop + DROP_SLACK;
        let mut stays = None;
        for spot in &mut self.spots {
            let player = spot.player;
            if let Some(ticks) = &mut spot.closing {
                *ticks += 1;
                if *ticks > REMOVED_TICKS {
                    stays = Some(Breach::NotRemoved { player });
                }
            } else if spot.present
                && let Some(book) = self.books.get(&spot.session)
                && match book.invited_until {
                    Some(until) => now >= until + DROP_SLACK,
                    None => now.since(book.heard) >= drop,
                }
            {
                stays = Some(Breach::NotDropped { player, silent: now.since(book.heard) });
            }
        }
        if let Some(breach) = stays {
            self.report(Err(breach));
        }
    }
}

impl Allowances {
    fn new(full: Tokens) -> Self {
        Allowances { full, most: BTreeMap::new(), least: full }
    }

    fn most(&mut self, key: LimitKey) -> &mut Tokens {
        self.most.entry(key).or_insert(self.full)
    }

    /// Someone asks; whether that is surely allowed.
    fn ask(&mut self, now: Time) -> Certainty {
        match self.least.take(now) {
            true => Certainty::Surely,
            // The one bucket that counts may have paid for it all the same.
            false => {
                self.least.drain();
                Certainty::Maybe
            }
        }
    }
}

impl Answer {
    fn fits(&self, key: Key) -> bool {
        match *self {
            Answer::Challenge { nonce, .. }
            | Answer::Reject { nonce, .. }
            | Answer::Here { nonce }
            | Answer::Rooms { nonce } => key == Key::Nonce(nonce),
            Answer::Accept(accept) => key == Key::Nonce(accept.nonce),
            Answer::Pong { id } => key == Key::Ping(id),
            Answer::Unknown { session } => key == Key::Session(session),
            Answer::HelloAck => matches!(key, Key::Token(_)),
        }
    }
}

impl Due {
    fn is_nothing(self) -> bool {
        matches!(self, Due::Nothing(_))
    }

    fn name(self) -> &'static str {
        match self {
            Due::Nothing(_) => "nothing",
            Due::Challenge => "a challenge",
            Due::Place | Due::Same { .. } | Due::Move(_) => "a place",
            Due::Reject(_) => "a refusal",
            Due::Pong => "a pong",
            Due::Here => "that it is here",
            Due::Rooms => "the rooms",
            Due::Unknown => "that the session is unknown",
            Due::HelloAck => "a HelloAck",
        }
    }
}
