//! The endpoint in `native`: a cookie before anything is kept.

use super::answer::{Answer, NativeAnswer};
use super::routes::Credentials;
use super::{Admission, Applicant, Call, CallKind, Endpoint, Found, Papers, Seat};
use crate::dialect::DialectId;
use crate::game::GameId;
use crate::game::Refusal;
use crate::node::Path;
use crate::sabotage::{self, Sabotage};
use crate::session::{CookieCheck, Opening};
use crate::time::Time;
use crate::wire::native::{
    Budget, Challenge, CreateRoom, Datagram, Discover, EnterRoom, Hello, Here, Join, JoinData,
    Label, ListRooms, PROTOCOL, Packet, Reject, RejectReason, Resume, Role, Secret, SessionIndex,
    Token, UnknownSession,
};
use crate::wire::{Direction, Name};

/// Someone who has found a place.
struct Newcomer {
    nonce: u64,
    role: Role,
    name: Name,
    budget: Budget,
    papers: Papers,
}

impl Endpoint {
    /// A datagram that names a session goes on to the session, still closed; whoever else asks is
    /// a stranger.
    pub(super) fn handle_native<'a>(
        &mut self,
        now: Time,
        path: Path,
        bytes: &'a mut [u8],
    ) -> Option<Call<'a>> {
        if let Some(label) = Label::read(bytes) {
            return self.route_to_session(now, path, label, bytes);
        }
        match Datagram::decode(bytes) {
            Ok(datagram) => self.handle_stranger(now, path, datagram),
            Err(error) => {
                if self.admits_stranger(now, path) {
                    self.note_malformed(path, bytes.len(), error);
                }
                None
            }
        }
    }

    fn route_to_session<'a>(
        &mut self,
        now: Time,
        path: Path,
        label: Label,
        bytes: &'a mut [u8],
    ) -> Option<Call<'a>> {
        let Label { session, sequence } = label;
        let (room, place) = match self.routes.route(session) {
            Some(route)
                if same_peer(route.path, path) || sabotage::is(Sabotage::SkipAddressCheck) =>
            {
                (route.room(), route.place)
            }
            // Paid for by the address that it came from.
            _ => {
                if self.admits_stranger(now, path) {
                    self.note_stray(path, Direction::ToServer, "");
                    let packet = NativeAnswer::UnknownSession(UnknownSession { session });
                    self.answer(Answer::Native { path, sequence, packet });
                }
                return None;
            }
        };
        if !self.routes.has_allowance(now, session) {
            self.counts.player_limit += 1;
            return None;
        }
        Some(Call { room, place, session, kind: CallKind::Datagram(bytes) })
    }

    fn handle_stranger<'a>(
        &mut self,
        now: Time,
        path: Path,
        datagram: Datagram<'a>,
    ) -> Option<Call<'a>> {
        if !self.admits_stranger(now, path) {
            return None;
        }
        let sequence = datagram.sequence;
        let packet = match datagram.packet {
            Packet::Hello(hello) => self.challenge(now, path, &hello),
            Packet::Discover(discover) => NativeAnswer::Here(self.here(&discover)?),
            Packet::Ping(ping) => NativeAnswer::Pong(ping.pong()),
            Packet::Probe(probe) if self.measures() => {
                NativeAnswer::Probed(self.witness.as_ref()?.answer(now, path.remote, &probe))
            }
            Packet::ListRooms(list) => self.list_rooms(now, path, &list),
            Packet::Join(join) => match self.join(now, path, sequence, &join) {
                Ok(call) => return Some(call),
                Err(answer) => answer,
            },
            Packet::CreateRoom(wish) => match self.create_room(now, path, sequence, &wish) {
                Ok(call) => return Some(call),
                Err(answer) => answer,
            },
            Packet::Resume(resume) => match self.resume(now, path, sequence, &resume) {
                Ok(call) => return Some(call),
                Err(answer) => answer,
            },
            packet => {
                self.counts.stray += 1;
                self.note_stray(path, packet.direction(), packet.name());
                return None;
            }
        };
        self.answer(Answer::Native { path, sequence, packet });
        None
    }

    fn challenge(&mut self, now: Time, path: Path, hello: &Hello) -> NativeAnswer {
        if let Err(reason) = self.fits(hello.protocol, hello.game, hello.game_version) {
            self.count_version(reason);
            return self.reject(hello.nonce, hello.game, reason);
        }
        self.fresh_challenge(now, path, hello.nonce)
    }

    fn fresh_challenge(&mut self, now: Time, path: Path, nonce: u64) -> NativeAnswer {
        let cookie = self.jar.bake(now, path.remote, nonce);
        let token_required = !self.config.token.is_empty();
        NativeAnswer::Challenge(Challenge { nonce, cookie, token_required })
    }

    /// A cookie that is not good any more gets a new one: the answer is shorter than the question.
    fn check(
        &mut self,
        now: Time,
        path: Path,
        nonce: u64,
        cookie: &Secret,
    ) -> Result<(), NativeAnswer> {
        match self.jar.check(now, path.remote, nonce, cookie) {
            CookieCheck::Good => Ok(()),
            CookieCheck::Bad if sabotage::is(Sabotage::SkipCookieCheck) => Ok(()),
            CookieCheck::Bad => {
                self.counts.bad_proof += 1;
                Err(self.fresh_challenge(now, path, nonce))
            }
        }
    }

    fn join<'a>(
        &mut self,
        now: Time,
        path: Path,
        sequence: u32,
        join: &Join<'_>,
    ) -> Result<Call<'a>, NativeAnswer> {
        let Join { nonce, game, role, name, budget, .. } = *join;
        self.check(now, path, nonce, &join.cookie)?;
        if let Some(call) = self.repeat(path, sequence, nonce) {
            return Ok(call);
        }
        let version = (join.protocol, join.game_version, join.layout);
        self.check_caller(nonce, game, version, &join.token)?;
        let applicant = Applicant {
            dialect: DialectId::NATIVE,
            path,
            game: Some(game),
            room: join.room,
            from: None,
            seat: Seat::Any(role),
            password: join.password,
        };
        let found = self.place(now, &applicant);
        let found = found.map_err(|reason| self.reject(nonce, game, reason))?;
        let papers = papers(&join.data, &join.token);
        Ok(self.admit(&found, path, sequence, Newcomer { nonce, role, name, budget, papers }))
    }

    fn create_room<'a>(
        &mut self,
        now: Time,
        path: Path,
        sequence: u32,
        wish: &CreateRoom<'_>,
    ) -> Result<Call<'a>, NativeAnswer> {
        let CreateRoom { nonce, game, name, budget, password, .. } = *wish;
        self.check(now, path, nonce, &wish.cookie)?;
        if let Some(call) = self.repeat(path, sequence, nonce) {
            return Ok(call);
        }
        let version = (wish.protocol, wish.game_version, wish.layout);
        self.check_caller(nonce, game, version, &wish.token)?;
        let (dialect, role) = (DialectId::NATIVE, Role::Play);
        let (game_only, seat) = (Some(game), Seat::Any(role));
        let applicant =
            Applicant { dialect, path, game: game_only, room: 0, from: None, seat, password };
        let found = self.place_in_new_room(&applicant, wish.room_name);
        let found = found.map_err(|reason| self.reject(nonce, game, reason))?;
        let papers = papers(&wish.data, &wish.token);
        Ok(self.admit(&found, path, sequence, Newcomer { nonce, role, name, budget, papers }))
    }

    /// Into another room, with the same session and the same ticket. Who may not go there stays.
    pub(crate) fn enter_room<'a>(
        &mut self,
        now: Time,
        session: SessionIndex,
        sequence: u32,
        wish: &EnterRoom,
    ) -> Option<Call<'a>> {
        let &EnterRoom { nonce, role, .. } = wish;
        let route = self.routes.route(session)?;
        let (path, from, left) = (route.path, route.room(), route.place);
        let credentials = route.credentials.as_ref()?;
        if credentials.nonce == nonce {
            return self.call(session, CallKind::Repeat { sequence: None });
        }
        let (ticket, refused) = (credentials.ticket, credentials.refused);
        let papers = Papers { nonce_before: credentials.nonce, ..Papers::default() };
        let game = self.rooms.at(from).map(|listed| listed.card.game.game);
        let applicant = Applicant {
            dialect: DialectId::NATIVE,
            path,
            game,
            room: wish.room,
            from: Some(from),
            seat: Seat::Any(role),
            password: wish.password,
        };
        // Who was refused plays on where it was: a copy of the same wish that comes later, when there may be
        // a place, must not take it away from there.
        let found = match refused.filter(|(refused, _)| *refused == nonce) {
            Some((_, reason)) => Err(reason),
            None => self.find_place(now, &applicant),
        };
        let (room, place) = match found {
            Ok(found) => found,
            Err(reason) => {
                self.routes.refuse(session, nonce, reason);
                let reject = self.rejection(nonce, game.unwrap_or(0), reason);
                return self.call(session, CallKind::Refuse(sequence, reject));
            }
        };
        self.routes.reseat(session, (room, place), nonce);
        self.settle();
        let next = self.secrets.sequence();
        let budget = Budget::MAX;
        let opening = Opening { index: session, nonce, ticket, budget, next, peer: sequence };
        let found = Found { session, room, place };
        let admission = Admission::new(&found, path, opening, role, Name::default());
        let leaves = Some((from, left));
        Some(Call::admit(&found, Admission { leaves, papers, ..admission }))
    }

    /// The answer to a question that was answered before, and lost.
    fn repeat<'a>(&mut self, path: Path, sequence: u32, nonce: u64) -> Option<Call<'a>> {
        let session = self.routes.made_by(path, nonce)?;
        self.call(session, CallKind::Repeat { sequence: Some(sequence) })
    }

    /// Whether someone with these versions and this token may come in at all.
    fn check_caller(
        &mut self,
        nonce: u64,
        game: u32,
        (protocol, game_version, layout): (u16, u16, u32),
        token: &Token<'_>,
    ) -> Result<(), NativeAnswer> {
        let fits = self.fits(protocol, game, game_version);
        let fits = fits.and_then(|()| match self.rooms.layout_of(game) == Some(layout) {
            true => Ok(()),
            false => Err(RejectReason::Layout),
        });
        if let Err(reason) = fits {
            self.count_version(reason);
            return Err(self.reject(nonce, game, reason));
        }
        if !self.config.token.is_empty() && !same_bytes(&self.config.token, token.as_bytes()) {
            self.counts.bad_proof += 1;
            return Err(self.reject(nonce, game, RejectReason::Token));
        }
        Ok(())
    }

    /// Hands someone new to the room.
    fn admit<'a>(&mut self, found: &Found, path: Path, sequence: u32, new: Newcomer) -> Call<'a> {
        let Newcomer { nonce, role, name, budget, papers } = new;
        let ticket = self.secrets.ticket();
        self.routes.prove(found.session, Credentials { ticket, nonce, refused: None });
        let (index, next) = (found.session, self.secrets.sequence());
        let opening = Opening { index, nonce, ticket, budget, next, peer: sequence };
        let admission = Admission::new(found, path, opening, role, name);
        Call::admit(found, Admission { papers, ..admission })
    }

    /// The game does not let someone in for whom a place was found: it is free again, and they are told
    /// why. Who came from another room stays there; then the room that they are in has to say it.
    pub(crate) fn refuse(&mut self, call: &Call<'_>, sentence: Refusal) -> Option<Call<'static>> {
        let CallKind::Admit(admission) = &call.kind else { return None };
        let Opening { nonce, peer: sequence, .. } = admission.opening;
        let game = self.rooms.at(call.room).map_or(0, |listed| listed.card.game.game);
        let reason = RejectReason::Refused;
        let reject = Reject { sentence, ..self.rejection(nonce, game, reason) };
        match admission.leaves {
            None => {
                self.routes.remove(call.session);
                let packet = NativeAnswer::Reject(reject);
                self.answer(Answer::Native { path: admission.path, sequence, packet });
            }
            Some(back) => {
                self.routes.reseat(call.session, back, admission.papers.nonce_before);
                self.routes.refuse(call.session, nonce, reason);
            }
        }
        self.settle();
        admission.leaves?;
        self.call(call.session, CallKind::Refuse(sequence, reject))
    }

    fn resume<'a>(
        &mut self,
        now: Time,
        path: Path,
        sequence: u32,
        resume: &Resume,
    ) -> Result<Call<'a>, NativeAnswer> {
        let nonce = resume.nonce;
        self.check(now, path, nonce, &resume.cookie)?;
        let session = self.routes.with_ticket(&resume.ticket);
        match session.and_then(|session| Some((session, self.routes.route(session)?))) {
            Some((session, route)) => {
                let fresh = resume.fresh;
                let kind = CallKind::Resume { path, sequence, nonce, fresh };
                Ok(Call { room: route.room(), place: route.place, session, kind })
            }
            None => {
                self.counts.bad_proof += 1;
                Err(self.reject(nonce, 0, RejectReason::Ticket))
            }
        }
    }

    fn list_rooms(&mut self, now: Time, path: Path, list: &ListRooms) -> NativeAnswer {
        let ListRooms { nonce, cookie, game, first } = *list;
        match self.check(now, path, nonce, &cookie) {
            Ok(()) => NativeAnswer::RoomList { nonce, game, first },
            Err(challenge) => challenge,
        }
    }

    /// Whether round trips are measured for a matchmaker: not where it could send nobody.
    fn measures(&self) -> bool {
        let has_room = self.rooms.len() < usize::from(self.config.limits.rooms);
        self.witness.is_some() && has_room && !self.draining
    }

    /// The first game that fits the search; nothing if none does, or nobody is to know.
    fn here(&self, discover: &Discover) -> Option<Here> {
        if self.config.native_port == 0 || self.draining {
            return None;
        }
        let fits = |game: &GameId| discover.game == 0 || discover.game == game.game;
        let game = self.rooms.games().find(fits)?;
        let rooms = self.rooms.iter().filter(|(_, listed)| listed.card.game == game);
        let sum = |count: &dyn Fn(usize) -> usize| {
            let counts = rooms.clone().map(|(room, _)| count(room));
            counts.sum::<usize>().min(u16::MAX.into()) as u16
        };
        Some(Here {
            nonce: discover.nonce,
            game: game.game,
            game_version: game.version,
            protocol: PROTOCOL,
            players: sum(&|room| self.playing(room)),
            capacity: sum(&|room| self.routes.capacity(room)),
            token_required: !self.config.token.is_empty(),
            rooms: sum(&|_| 1),
            name: self.config.name,
        })
    }

    fn fits(&self, protocol: u16, game: u32, version: u16) -> Result<(), RejectReason> {
        if protocol != PROTOCOL {
            return Err(RejectReason::Protocol);
        }
        match self.game(game) {
            None => Err(RejectReason::Game),
            Some(ours) if ours.version != version => Err(RejectReason::GameVersion),
            Some(_) => Ok(()),
        }
    }

    fn count_version(&mut self, reason: RejectReason) {
        use RejectReason::{GameVersion, Layout, Protocol};
        let is_version = matches!(reason, Protocol | GameVersion | Layout);
        self.counts.other_version += u64::from(is_version);
    }

    fn game(&self, game: u32) -> Option<GameId> {
        self.rooms.games().find(|ours| ours.game == game)
    }

    fn reject(&self, nonce: u64, game: u32, reason: RejectReason) -> NativeAnswer {
        NativeAnswer::Reject(self.rejection(nonce, game, reason))
    }

    pub(super) fn rejection(&self, nonce: u64, game: u32, reason: RejectReason) -> Reject {
        let game_version = self.game(game).map_or(0, |game| game.version);
        Reject { nonce, reason, protocol: PROTOCOL, game_version, sentence: Refusal::NONE }
    }
}

/// Copied only for who has proved its address and has a place.
fn papers(data: &JoinData<'_>, token: &Token<'_>) -> Papers {
    Papers { data: data.as_bytes().into(), token: token.as_bytes().into(), nonce_before: 0 }
}

/// The local address may be chosen anew by the system; the peer and the socket are the session's.
pub fn same_peer(a: Path, b: Path) -> bool {
    a.socket == b.socket && a.remote == b.remote
}

/// Compares without telling by its time how much was right.
pub(super) fn same_bytes(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |diff, (a, b)| diff | (a ^ b)) == 0
}
