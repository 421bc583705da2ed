//! The door in `native`: a cookie before anything is kept.

use super::answer::{Answer, NativeAnswer};
use super::routes::Proof;
use super::{Admission, Applicant, Call, CallKind, Front, Refusal, Seat, Voice};
use crate::game::GameId;
use crate::node::Path;
use crate::sabotage::{self, Sabotage};
use crate::session::{CookieCheck, Window};
use crate::time::Time;
use crate::wire::native::{
    Challenge, Datagram, Discover, Hello, Here, Join, ListRooms, PROTOCOL, Packet, Reject,
    RejectReason, Resume, Secret, SessionIndex, UnknownSession,
};
use crate::wire::{Dialect, Packet as AnyPacket};

impl Front {
    pub(super) fn handle_native<'a>(
        &mut self,
        now: Time,
        path: Path,
        bytes: &'a [u8],
    ) -> Option<Call<'a>> {
        let Ok(datagram) = Datagram::decode(bytes) else {
            if self.admits_stranger(now, path) {
                self.counts.malformed += 1;
            }
            return None;
        };
        match datagram.packet.session() {
            Some(session) => self.handle_member(now, path, session, datagram),
            None => self.handle_stranger(now, path, datagram),
        }
    }

    fn handle_member<'a>(
        &mut self,
        now: Time,
        path: Path,
        session: SessionIndex,
        datagram: Datagram<'a>,
    ) -> Option<Call<'a>> {
        let (room, place) = match self.routes.route(session) {
            Some(route)
                if same_peer(route.path, path) || sabotage::is(Sabotage::SkipAddressCheck) =>
            {
                (route.room, route.place)
            }
            _ => {
                if self.admits_stranger(now, path) {
                    let packet = NativeAnswer::UnknownSession(UnknownSession { session });
                    self.answer(Answer::Native { path, sequence: datagram.sequence, packet });
                }
                return None;
            }
        };
        // What is not the player's takes nothing from what the player may send.
        if !self.routes.takes(session, datagram.sequence) {
            self.counts.numbers += 1;
            return None;
        }
        if !self.admits(now, path, Some(session)) {
            return None;
        }
        if let Packet::Ping(ping) = datagram.packet {
            let packet = NativeAnswer::Pong(ping.pong());
            self.answer(Answer::Native { path, sequence: datagram.sequence, packet });
        }
        let kind = CallKind::Packet(AnyPacket::Native(datagram));
        Some(Call { room, place, session, kind })
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
            Packet::ListRooms(list) => self.list_rooms(now, path, &list),
            Packet::Join(join) => match self.join(now, path, sequence, &join) {
                Ok(call) => return Some(call),
                Err(answer) => answer,
            },
            Packet::Resume(resume) => match self.resume(now, path, sequence, &resume) {
                Ok(call) => return Some(call),
                Err(answer) => answer,
            },
            _ => {
                self.counts.stray += 1;
                return None;
            }
        };
        self.answer(Answer::Native { path, sequence, packet });
        None
    }

    fn challenge(&mut self, now: Time, path: Path, hello: &Hello) -> NativeAnswer {
        if let Err(reason) = self.fits(hello.protocol, hello.game, hello.game_version) {
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
        self.check(now, path, join.nonce, &join.cookie)?;
        if let Some(session) = self.routes.made_by(path, join.nonce)
            && let Some(route) = self.routes.route(session)
        {
            let (room, place) = (route.room, route.place);
            self.routes.takes(session, sequence);
            return Ok(Call { room, place, session, kind: CallKind::Repeat { sequence } });
        }
        let refuse = |front: &Front, reason| Err(front.reject(join.nonce, join.game, reason));
        if let Err(reason) = self.fits(join.protocol, join.game, join.game_version) {
            return refuse(self, reason);
        }
        if !self.config.token.is_empty() && !same_bytes(&self.config.token, join.token.as_bytes()) {
            self.counts.bad_proof += 1;
            return refuse(self, RejectReason::Token);
        }
        let applicant = Applicant {
            dialect: Dialect::Native,
            path,
            game: Some(join.game),
            room: (join.room as usize).checked_sub(1),
            seat: Seat::Any(join.role),
            password: join.password,
        };
        let found = match self.place(&applicant) {
            Ok(found) => found,
            Err(refusal) => return refuse(self, refusal.into()),
        };
        let ticket = self.secrets.ticket();
        let window = Window::new(sequence.wrapping_add(1));
        self.routes.prove(found.session, Proof { ticket, nonce: join.nonce, window });
        let voice = Voice::Native {
            nonce: join.nonce,
            ticket,
            budget: join.budget,
            first_sequence: self.secrets.sequence(),
            peer_sequence: sequence,
        };
        let admission = Admission::new(&found, path, voice, join.role, join.name);
        Ok(Call::admit(&found, admission))
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
                let call = Call { room: route.room, place: route.place, session, kind };
                if same_peer(route.path, path) {
                    self.routes.takes(session, sequence);
                }
                Ok(call)
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

    /// The first game that fits the search; nothing if none does, or nobody is to know.
    fn here(&self, discover: &Discover) -> Option<Here> {
        if self.config.native_port == 0 || self.draining {
            return None;
        }
        let fits = |game: &GameId| discover.game == 0 || discover.game == game.game;
        let game = self.rooms.iter().map(|card| card.game).find(fits)?;
        let of_game = |&room: &usize| self.rooms[room].game == game;
        let rooms: Vec<_> = (0..self.rooms.len()).filter(of_game).collect();
        let sum = |count: &dyn Fn(usize) -> usize| {
            rooms.iter().map(|&room| count(room)).sum::<usize>().min(u16::MAX.into()) as u16
        };
        Some(Here {
            nonce: discover.nonce,
            game: game.game,
            game_version: game.version,
            protocol: PROTOCOL,
            players: sum(&|room| self.routes.players(room)),
            capacity: sum(&|room| self.routes.capacity(room)),
            token_required: !self.config.token.is_empty(),
            rooms: rooms.len().min(u16::MAX.into()) as u16,
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

    fn game(&self, game: u32) -> Option<GameId> {
        self.rooms.iter().map(|card| card.game).find(|ours| ours.game == game)
    }

    fn reject(&self, nonce: u64, game: u32, reason: RejectReason) -> NativeAnswer {
        let game_version = self.game(game).map_or(0, |game| game.version);
        NativeAnswer::Reject(Reject { nonce, reason, protocol: PROTOCOL, game_version })
    }
}

impl From<Refusal> for RejectReason {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Full => RejectReason::Full,
            Refusal::Address => RejectReason::Address,
            Refusal::Game => RejectReason::Game,
            Refusal::Room => RejectReason::Room,
            Refusal::Password => RejectReason::Password,
            Refusal::Stopping => RejectReason::Stopping,
        }
    }
}

/// The local address may be chosen anew by the system; the peer and the socket are the session's.
pub(super) fn same_peer(a: Path, b: Path) -> bool {
    a.socket == b.socket && a.remote == b.remote
}

/// Compares without telling by its time how much was right.
fn same_bytes(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |diff, (a, b)| diff | (a ^ b)) == 0
}
