//! What the right answer to a question is.

use backspin::peer::PeerAddr;
use std::net::IpAddr;

use super::super::probe::Probe;
use super::{Audit, COOKIE_SLOT, Certainty, Due, Key, QUIET, Question, Why};
use backspin::game::Game;
use backspin::room::Room;
use backspin::server::{Server, WATCHERS};
use backspin::session::Wider;
use backspin::time::Time;
use backspin::wire::Name;
use backspin::wire::native::{
    CreateRoom, Datagram, EnterRoom, Join, PROTOCOL, Packet, RejectReason, Resume, Role, Secret,
    SessionIndex,
};
use backspin_classic::Dialect;

/// What someone wants of the rooms.
struct Wish {
    role: Role,
    /// A room's number; 0 is any.
    room: u32,
    password: Name,
    /// The room that would be left.
    from: Option<u32>,
}

impl Audit {
    /// A datagram is about to reach the server.
    pub(in super::super) fn note_received(
        &mut self,
        now: Time,
        from: PeerAddr,
        bytes: &[u8],
        server: &Server<Probe>,
    ) {
        let dialect = Dialect::detect(bytes);
        let is_native = dialect == Some(Dialect::Native);
        match Datagram::decode(bytes).ok().filter(|_| is_native) {
            Some(datagram) => match datagram.packet.session() {
                Some(session) => self.ask_as_member(now, from, session, datagram, server),
                None => self.ask_as_stranger(now, from, datagram, server),
            },
            None => {
                self.is_stale = true;
                let is_here = |spot: &super::Spot| {
                    Some(spot.dialect) == dialect.map(Dialect::name) && spot.remote == from
                };
                let is_known = !is_native && self.spots.iter().any(is_here);
                let stranger = (!is_known).then(|| self.strangers.ask(now));
                self.ask_with_token(now, from, bytes, stranger, server);
            }
        }
    }

    fn ask_as_member(
        &mut self,
        now: Time,
        from: PeerAddr,
        session: SessionIndex,
        datagram: Datagram<'_>,
        server: &Server<Probe>,
    ) {
        let Datagram { sequence, packet } = datagram;
        let is_present = |spot: &&super::Spot| spot.session == session;
        let present = self.spots.iter().find(is_present).is_some_and(|spot| spot.present);
        let Some(book) = self.books.get_mut(&session).filter(|book| book.remote == from) else {
            let stranger = Some(self.strangers.ask(now));
            let question = Question::new(now, from, sequence, Key::Session(session), Due::Unknown);
            self.questions.push(Question { stranger, ..question });
            return;
        };
        let refused = match book.numbers.take(sequence) {
            false => Some(Why::Number),
            true if !book.tokens.take(now) => Some(Why::Rate),
            true => None,
        };
        // Whether to go elsewhere is the door's to say; the room does not hear of it.
        if refused.is_none() && present && !matches!(packet, Packet::EnterRoom(_)) {
            book.heard = book.heard.max(now);
            book.invited_until = None;
        }
        match packet {
            Packet::Ping(ping) => {
                let due = refused.map_or(Due::Pong, Due::Nothing);
                let question = Question::new(now, from, sequence, Key::Ping(ping.id), due);
                self.questions.push(question);
            }
            Packet::Goodbye(_) => {
                book.has_left |= refused.is_none() && present;
                self.is_stale = true;
            }
            Packet::EnterRoom(wish) if refused.is_none() => {
                self.is_stale = true;
                self.ask_to_move(now, from, sequence, &wish, server);
            }
            _ => {}
        }
    }

    fn ask_to_move(
        &mut self,
        now: Time,
        from: PeerAddr,
        sequence: u32,
        wish: &EnterRoom,
        server: &Server<Probe>,
    ) {
        let Some(book) = self.books.get(&wish.session) else { return };
        let (nonce, key) = (wish.nonce, Key::Nonce(wish.nonce));
        if book.nonce == nonce {
            let due = self.same(wish.session, true);
            // Who is away is not greeted.
            if self.is_present(wish.session) {
                self.questions.push(Question::new(now, from, sequence, key, due));
            }
            return;
        }
        if let Some((_, reason)) = book.refused.filter(|(refused, _)| *refused == nonce) {
            let due = Due::Reject(reason);
            self.questions.push(Question::new(now, from, sequence, key, due));
            return;
        }
        let EnterRoom { role, room, password, .. } = *wish;
        let from_room = Some(book.room);
        let wish_of = Wish { role, room, password, from: from_room };
        let (found, tries) = self.find_place(now, &wish_of, server);
        if let (Err(reason), Some(book)) = (found, self.books.get_mut(&wish.session)) {
            book.refused = Some((nonce, reason));
        }
        let due = found.map_or_else(Due::Reject, |()| Due::Move(wish.session));
        self.questions.push(Question { tries, ..Question::new(now, from, sequence, key, due) });
    }

    fn ask_as_stranger(
        &mut self,
        now: Time,
        from: PeerAddr,
        datagram: Datagram<'_>,
        server: &Server<Probe>,
    ) {
        let stranger = Some(self.strangers.ask(now));
        let Datagram { sequence, packet } = datagram;
        let id = Probe::default().id();
        let versions = |protocol, game, version| match () {
            () if protocol != PROTOCOL => Some(RejectReason::Protocol),
            () if game != id.game => Some(RejectReason::Game),
            () if version != id.version => Some(RejectReason::GameVersion),
            () => None,
        };
        let ask = |key, due| Question::new(now, from, sequence, key, due);
        // A bit may have flipped.
        let other_build = |layout: u32| {
            (layout != Probe::default().layout() as u32).then_some(RejectReason::Layout)
        };
        let mut question = match packet {
            Packet::Hello(hello) => {
                let wrong = versions(hello.protocol, hello.game, hello.game_version);
                let due = wrong.map_or(Due::Challenge, Due::Reject);
                ask(Key::Nonce(hello.nonce), due)
            }
            Packet::Discover(discover) if [0, id.game].contains(&discover.game) => {
                ask(Key::Nonce(discover.nonce), Due::Here)
            }
            Packet::Ping(ping) => ask(Key::Ping(ping.id), Due::Pong),
            Packet::ListRooms(list) => {
                let is_good = self.is_good(now, from, list.nonce, &list.cookie);
                let due = if is_good { Due::Rooms } else { Due::Challenge };
                ask(Key::Nonce(list.nonce), due)
            }
            Packet::Join(join) => {
                let wrong = versions(join.protocol, join.game, join.game_version);
                let wrong = wrong.or_else(|| other_build(join.layout));
                let question = ask(Key::Nonce(join.nonce), Due::Place);
                match self.refuse(&question, join.nonce, &join.cookie, wrong) {
                    Some(due) => Question { due, ..question },
                    None => self.ask_to_join(question, &join, server),
                }
            }
            Packet::CreateRoom(wish) => {
                let wrong = versions(wish.protocol, wish.game, wish.game_version);
                let wrong = wrong.or_else(|| other_build(wish.layout));
                let question = ask(Key::Nonce(wish.nonce), Due::Place);
                match self.refuse(&question, wish.nonce, &wish.cookie, wrong) {
                    Some(due) => Question { due, ..question },
                    None => self.ask_for_room(question, &wish, server),
                }
            }
            Packet::Resume(resume) => self.ask_to_resume(now, from, sequence, &resume),
            _ => return,
        };
        question.stranger = stranger;
        if question.due == Due::Nothing(Why::Plays) || question.due == Due::Nothing(Why::Gone) {
            // Nothing tells whether it was heard at all.
            question.stranger = None;
        }
        self.questions.push(question);
    }

    /// The answer to who wants a place and gets none, whatever the rooms say.
    fn refuse(
        &mut self,
        question: &Question,
        nonce: u64,
        cookie: &Secret,
        wrong: Option<RejectReason>,
    ) -> Option<Due> {
        self.is_stale = true;
        let Question { at, from, .. } = *question;
        if !self.is_good(at, from, nonce, cookie) {
            return Some(Due::Challenge);
        }
        let refused = || wrong.or_else(|| self.full(from)).map(Due::Reject);
        self.repeat(from, nonce).or_else(refused)
    }

    fn ask_to_join(
        &mut self,
        question: Question,
        join: &Join<'_>,
        server: &Server<Probe>,
    ) -> Question {
        let Join { role, room, password, .. } = *join;
        let wish = Wish { role, room, password, from: None };
        let (found, tries) = self.find_place(question.at, &wish, server);
        Question { tries, due: found.map_or_else(Due::Reject, |()| Due::Place), ..question }
    }

    fn ask_for_room(
        &self,
        question: Question,
        wish: &CreateRoom<'_>,
        server: &Server<Probe>,
    ) -> Question {
        let rejected = |reason| Question { due: Due::Reject(reason), ..question };
        let name = wish.room_name;
        if name.is_empty() || server.listed().any(|(_, called, _)| called == name) {
            return rejected(RejectReason::RoomName);
        }
        let (limits, rooms) = (self.rules.limits, server.rooms());
        let makers = rooms.iter().filter_map(|room| Some(self.made.get(&room.number())?.0));
        let most = limits.rooms_per_ip.into();
        match rooms.len() >= limits.rooms.into()
            || is_full_there(makers, question.from, most, limits.wider)
        {
            true => rejected(RejectReason::Rooms),
            false => Question { makes: Some(wish.password), ..question },
        }
    }

    fn ask_to_resume(
        &mut self,
        now: Time,
        from: PeerAddr,
        sequence: u32,
        resume: &Resume,
    ) -> Question {
        self.is_stale = true;
        let question = |due| Question::new(now, from, sequence, Key::Nonce(resume.nonce), due);
        if !self.is_good(now, from, resume.nonce, &resume.cookie) {
            return question(Due::Challenge);
        }
        let owner = self.books.iter().find(|(_, book)| book.ticket == resume.ticket);
        let spot =
            owner.and_then(|(session, _)| self.spots.iter().find(|spot| spot.session == *session));
        let (Some((&session, book)), Some(spot)) = (owner, spot) else {
            return question(Due::Reject(RejectReason::Ticket));
        };
        if spot.closing.is_some() {
            return question(Due::Nothing(Why::Gone));
        }
        let is_there = spot.remote == from;
        // The place of who has said nothing yet is not kept for a return.
        let is_held = book.invited_until.is_some() || now.since(book.heard) < QUIET;
        if spot.present && !is_there && is_held {
            return question(Due::Nothing(Why::Plays));
        }
        let is_repeat = spot.present && is_there && book.nonce == resume.nonce;
        question(self.same(session, is_repeat))
    }

    /// The place that a session has.
    fn same(&self, session: SessionIndex, is_repeat: bool) -> Due {
        let (player, room) =
            self.books.get(&session).map_or((0, 0), |book| (book.player, book.room));
        Due::Same { session, player, room, is_repeat }
    }

    fn is_present(&self, session: SessionIndex) -> bool {
        self.spots.iter().any(|spot| spot.session == session && spot.present)
    }

    /// Whether a cookie was sent there for this nonce, lately.
    fn is_good(&self, now: Time, from: PeerAddr, nonce: u64, cookie: &Secret) -> bool {
        let slot = now.as_nanos() / COOKIE_SLOT.as_nanos() as u64;
        let mut known = self.cookies.get(&(from, nonce)).into_iter().flatten();
        known.any(|(sent, baked)| sent == cookie && (*baked == slot || baked + 1 == slot))
    }

    /// The answer to a question that was answered before.
    fn repeat(&self, from: PeerAddr, nonce: u64) -> Option<Due> {
        let is_it = |book: &&super::Book| (book.remote, book.nonce) == (from, nonce);
        let (session, _) = self.books.iter().find(|(_, book)| is_it(book))?;
        Some(match self.is_present(*session) {
            true => self.same(*session, true),
            false => Due::Nothing(Why::Gone),
        })
    }

    /// Whether there can be no more sessions, in all or from there.
    fn full(&self, from: PeerAddr) -> Option<RejectReason> {
        let limits = self.rules.limits;
        let there = self.spots.iter().map(|spot| spot.remote);
        if is_full_there(there, from, limits.sessions_per_ip.into(), limits.wider) {
            return Some(RejectReason::Address);
        }
        (self.spots.len() >= limits.sessions.into()).then_some(RejectReason::Full)
    }

    /// Whether someone new from there would find a place in any room.
    pub(super) fn takes(&mut self, now: Time, from: PeerAddr, server: &Server<Probe>) -> bool {
        let (role, password) = (Role::Play, Name::default());
        let wish = Wish { role, room: 0, password, from: None };
        self.full(from).is_none() && self.find_place(now, &wish, server).0.is_ok()
    }

    /// Whether there is a place in the room that is wanted; and how sure it is that a password may
    /// be tried, if one is.
    fn find_place(
        &mut self,
        now: Time,
        wish: &Wish,
        server: &Server<Probe>,
    ) -> (Result<(), RejectReason>, Option<Certainty>) {
        let password = |room: u32| self.made.get(&room).map_or(Name::default(), |made| made.1);
        let mut rooms = server.rooms().iter().map(|room| &**room);
        if wish.room == 0 {
            let is_open = |room: &Room<Probe>| {
                wish.from != Some(room.number())
                    && password(room.number()).is_empty()
                    && self.has_place(room, wish.role)
            };
            let found = if rooms.any(is_open) { Ok(()) } else { Err(RejectReason::Full) };
            return (found, None);
        }
        let Some(room) = rooms.find(|room| room.number() == wish.room) else {
            return (Err(RejectReason::Room), None);
        };
        let password = password(room.number());
        let found = match self.has_place(room, wish.role) {
            _ if !password.is_empty() && password != wish.password => Err(RejectReason::Password),
            true => Ok(()),
            false => Err(RejectReason::Full),
        };
        let tries = (!password.is_empty()).then(|| self.tries.ask(now));
        (found, tries)
    }

    fn has_place(&self, room: &Room<Probe>, role: Role) -> bool {
        let taken =
            self.spots.iter().filter(|spot| (spot.room, spot.role) == (room.number(), role));
        let places = match role {
            Role::Play => room.game().capacity(),
            Role::Watch => WATCHERS,
        };
        taken.count() < usize::from(places)
    }
}

/// Whether so many are allowed at an address, or in the IPv6 networks around it, and are there.
pub(super) fn is_full_there(
    there: impl Iterator<Item = PeerAddr> + Clone,
    peer: PeerAddr,
    limit: usize,
    wider: Wider,
) -> bool {
    let bits = |peer: PeerAddr| match peer.ip()?.to_canonical() {
        IpAddr::V4(ip) => Some((0, u128::from(ip.to_bits()))),
        IpAddr::V6(ip) => Some((1, ip.to_bits() >> 64)),
    };
    let Some((family, own)) = bits(peer) else { return false };
    let networks = [(0, 1), (8, wider.per_56), (16, wider.per_48)];
    // Only IPv6 has networks that belong to one.
    networks.into_iter().take(1 + 2 * family).any(|(shift, times)| {
        let is_in = |other: &PeerAddr| {
            let same = |(other, theirs)| other == family && theirs >> shift == own >> shift;
            bits(*other).is_some_and(same)
        };
        there.clone().filter(is_in).count() >= limit * usize::from(times)
    })
}

impl Question {
    pub(super) fn new(at: Time, from: PeerAddr, sequence: u32, key: Key, due: Due) -> Self {
        let (stranger, tries, makes) = (None, None, None);
        Question { at, from, sequence, key, due, stranger, tries, makes }
    }
}
