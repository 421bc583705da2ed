//! What dialects other than `native` ask of the endpoint: who is where, who may come in, and how
//! something is said to a stranger.

use super::answer::{Answer, SHORT_LEN};
use super::native::same_bytes;
use super::{
    Admission, Applicant, Call, CallKind, Endpoint, EndpointConfig, EndpointCounts, Found, Route,
    Seat,
};
use crate::channel::LogLine;
use crate::dialect::DialectId;
use crate::node::Path;
use crate::peer::{LimitKey, PeerAddr};
use crate::sabotage::{self, Sabotage};
use crate::session::{CookieCheck, Opening, Secrets};
use crate::time::Time;
use crate::wire::native::{Budget, RejectReason, Role, Secret, SessionIndex};
use crate::wire::{Full, Name};

impl Endpoint {
    /// What the operator decided.
    pub fn config(&self) -> &EndpointConfig {
        &self.config
    }

    /// What was dropped, for one more of it.
    pub fn counts_mut(&mut self) -> &mut EndpointCounts {
        &mut self.counts
    }

    /// What nobody guesses.
    pub fn secrets_mut(&mut self) -> &mut Secrets {
        &mut self.secrets
    }

    /// Who speaks the dialect at this path.
    pub fn session_at(&self, dialect: DialectId, path: Path) -> Option<SessionIndex> {
        self.routes.at_path(dialect, path)
    }

    /// Where a session is, and its place.
    pub fn route(&self, session: SessionIndex) -> Option<&Route> {
        self.routes.route(session)
    }

    /// The session is heard from a second address, too.
    pub fn also_at(&mut self, session: SessionIndex, alias: PeerAddr) {
        self.routes.also_at(session, alias);
    }

    /// Says something short at once, from no memory, with a line for the log when it has left.
    pub fn say(
        &mut self,
        path: Path,
        line: Option<LogLine>,
        encode: impl FnOnce(&mut [u8]) -> Result<usize, Full>,
    ) {
        let mut bytes = [0; SHORT_LEN];
        if let Ok(len) = encode(&mut bytes) {
            self.answer(Answer::Short { path, bytes, len, line });
        }
    }

    /// Whether a guest would find a place: who would find none is not called in.
    pub fn has_place_for(&mut self, now: Time, dialect: DialectId, path: Path) -> bool {
        let applicant = Applicant::guest(dialect, path, None);
        self.check_sessions(path.remote.limit_key()).is_ok()
            && self.find_place(now, &applicant).is_ok()
    }

    /// Whether a guest with this key would find one, in a room of its own where the game is offered so.
    pub fn takes_guest(&self, dialect: DialectId, key: LimitKey) -> bool {
        match self.rooms.offer_to_guests(dialect) {
            Some(_) => !self.draining && self.has_room_for_guest(key),
            None => self.rooms.iter().any(|(room, _)| self.is_open(room, Seat::Guest(dialect))),
        }
    }

    /// A place for a guest: in a room of its own, where a game is offered for that, or else in any
    /// that has one; of this game, if it asks for one. Who is refused costs next to nothing: anyone can
    /// say hello.
    pub fn place_guest(
        &mut self,
        now: Time,
        dialect: DialectId,
        path: Path,
        game: Option<u32>,
    ) -> Result<Found, RejectReason> {
        let applicant = Applicant::guest(dialect, path, game);
        match self.rooms.offer_to_guests(dialect) {
            Some((offer, place)) => self.place_alone(&applicant, offer, place),
            None => self.place(now, &applicant),
        }
    }

    /// The cookie of who asks from there with this nonce: kept nowhere, and good for a few seconds.
    pub fn bake_cookie(&self, now: Time, path: Path, nonce: u64) -> Secret {
        self.jar.bake(now, path.remote, nonce)
    }

    /// Whether it is that cookie, of now or of a moment ago. One that is not counts.
    pub fn proves_address(&mut self, now: Time, path: Path, nonce: u64, cookie: &Secret) -> bool {
        let is_good = self.jar.check(now, path.remote, nonce, cookie) == CookieCheck::Good
            || sabotage::is(Sabotage::SkipCookieCheck);
        self.counts.bad_proof += u64::from(!is_good);
        is_good
    }

    /// Whether this is the token that the server asks for, if it asks for one. A wrong one counts.
    pub fn takes_token(&mut self, token: &[u8]) -> bool {
        let asked = &self.config.token;
        let is_good = asked.is_empty() || same_bytes(asked, token);
        self.counts.bad_proof += u64::from(!is_good);
        is_good
    }

    /// The call that brings a guest into the place that was found. `kept_by_stream` excuses its
    /// silence for as long as its stream is open.
    pub fn admit_guest<'a>(
        &self,
        found: &Found,
        dialect: DialectId,
        path: Path,
        name: Name,
        kept_by_stream: bool,
    ) -> Call<'a> {
        // Such a session has no numbers and no ticket.
        let opening = Opening {
            index: found.session,
            nonce: 0,
            ticket: Secret::default(),
            budget: Budget::MAX,
            next: 0,
            peer: 0,
        };
        let admission = Admission::new(found, path, opening, Role::Play, name);
        Call::admit(found, Admission { dialect, kept_by_stream, ..admission })
    }

    /// The call of something to the room of a session.
    pub fn call<'a>(&self, session: SessionIndex, kind: CallKind<'a>) -> Option<Call<'a>> {
        let route = self.routes.route(session)?;
        Some(Call { room: route.room(), place: route.place, session, kind })
    }

    fn place_alone(
        &mut self,
        applicant: &Applicant,
        offer: usize,
        place: u8,
    ) -> Result<Found, RejectReason> {
        let key = applicant.path.remote.limit_key();
        self.check_sessions(key)?;
        if !self.has_room_for_guest(key) {
            return Err(RejectReason::Rooms);
        }
        let room = self.open_guest_room(offer, key, place);
        let found = self.routes.insert(applicant.dialect, applicant.path, room, place);
        self.settle();
        found.ok_or(RejectReason::Full)
    }
}
