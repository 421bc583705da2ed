//! Who is where: sessions by index, by path and by ticket, and the places of every room.

use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasher;
use std::mem::offset_of;

use siphasher::sip::SipHasher13;

use super::Limits;
use crate::dialect::DialectId;
use crate::node::{Fetch, Path, fetch_to};
use crate::peer::{LimitKey, PeerAddr};
use crate::sabotage::{self, Sabotage};
use crate::session::{Allowance, Bucket, Prefix, Rate};
use crate::time::Time;
use crate::wire::native::{RejectReason, Role, Secret, SessionIndex};

/// The sessions of a server. Every look-up is O(1).
#[derive(Clone, Debug)]
pub(super) struct Routes {
    limits: Limits,
    routes: Vec<Option<Route>>,
    /// Indexes that are not in use, the longest unused first: a late datagram of an old session
    /// should not find a new one.
    free: VecDeque<SessionIndex>,
    /// By dialect, too: who speaks one from an address does not speak for who speaks another.
    by_path: HashMap<(DialectId, u8, PeerAddr), SessionIndex, Keyed>,
    by_ticket: HashMap<Secret, SessionIndex, Keyed>,
    /// Sessions by the networks that their addresses count for.
    per_network: HashMap<Prefix, u32, Keyed>,
    rooms: Vec<Places>,
}

/// One session, seen from the endpoint. What every datagram touches comes first, and fits one cache
/// line.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Route {
    /// Where it is.
    pub path: Path,
    /// Its place in the room.
    pub place: u8,
    /// How it speaks.
    pub dialect: DialectId,
    room: u32,
    bucket: Bucket,
    /// `native` has some.
    pub(super) credentials: Option<Credentials>,
    /// A second address of the same guest.
    alias: Option<PeerAddr>,
}

const _: () = assert!(offset_of!(Route, credentials) == 64, "two cache lines for every datagram");

impl Route {
    /// The slot of its room.
    pub fn room(&self) -> usize {
        self.room as usize
    }
}

/// What shows that a player is the one who was here before.
#[derive(Clone, Debug)]
pub(super) struct Credentials {
    /// Brings the player back.
    pub(super) ticket: Secret,
    /// Of what brought the player to this place.
    pub(super) nonce: u64,
    /// Of the last wish for another room that was refused, and why.
    pub(super) refused: Option<(u64, RejectReason)>,
}

/// A place that was found, and the session that has it now.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    /// The session.
    pub session: SessionIndex,
    /// The slot of the room.
    pub room: usize,
    /// The place in it.
    pub place: u8,
}

/// The places of one room: players first, then watchers.
#[derive(Clone, Debug)]
struct Places {
    players: usize,
    taken: Vec<bool>,
}

/// Hashes with a key of our own: peers choose the addresses.
#[derive(Clone, Debug)]
pub(super) struct Keyed(pub(super) [u8; 16]);

impl BuildHasher for Keyed {
    type Hasher = SipHasher13;

    fn build_hasher(&self) -> SipHasher13 {
        SipHasher13::new_with_key(&self.0)
    }
}

impl Routes {
    pub(super) fn new(limits: Limits, key: [u8; 16]) -> Self {
        let keyed = Keyed(key);
        Routes {
            limits,
            routes: Vec::new(),
            free: VecDeque::new(),
            by_path: HashMap::with_hasher(keyed.clone()),
            by_ticket: HashMap::with_hasher(keyed.clone()),
            per_network: HashMap::with_hasher(keyed),
            rooms: Vec::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.routes.len() - self.free.len()
    }

    pub(super) fn addresses(&self) -> usize {
        self.by_path.len()
    }

    pub(super) fn tickets(&self) -> usize {
        self.by_ticket.len()
    }

    /// The places of the room in this slot, all of them free.
    pub(super) fn set_room(&mut self, room: usize, players: u8, watchers: u8) {
        let (players, watchers) = (usize::from(players), usize::from(watchers));
        let places = Places { players, taken: vec![false; players + watchers] };
        match self.rooms.get_mut(room) {
            Some(slot) => *slot = places,
            None => self.rooms.push(places),
        }
    }

    /// Whether nobody has a place in `room`.
    pub(super) fn is_empty(&self, room: usize) -> bool {
        self.rooms.get(room).is_none_or(|places| !places.taken.contains(&true))
    }

    /// Whether there can be no more sessions.
    pub(super) fn is_full(&self) -> bool {
        self.len() >= usize::from(self.limits.sessions)
    }

    pub(super) fn free_place(&self, room: usize, role: Role) -> Option<u8> {
        self.rooms.get(room)?.free(role)
    }

    pub(super) fn is_free(&self, room: usize, place: u8) -> bool {
        let taken = self.rooms.get(room).and_then(|room| room.taken.get(usize::from(place)));
        taken == Some(&false)
    }

    /// How many play in `room`, those who are away included.
    pub(super) fn players(&self, room: usize) -> usize {
        self.rooms.get(room).map_or(0, Places::playing)
    }

    pub(super) fn capacity(&self, room: usize) -> usize {
        self.rooms.get(room).map_or(0, |places| places.players)
    }

    /// How many sessions there are from a network.
    pub(super) fn sessions_of(&self, network: Prefix) -> u32 {
        self.per_network.get(&network).copied().unwrap_or(0)
    }

    /// The room and the place of every session with this key.
    pub(super) fn seats_of(&self, key: LimitKey) -> Vec<(usize, u8)> {
        let has_key = |route: &&Route| route.path.remote.limit_key() == key;
        let routes = self.routes.iter().flatten().filter(has_key);
        routes.map(|route| (route.room(), route.place)).collect()
    }

    pub(super) fn route(&self, session: SessionIndex) -> Option<&Route> {
        self.routes.get(index(session))?.as_ref()
    }

    /// Has a session brought near.
    pub(super) fn prefetch(&self, session: SessionIndex, fetch: Fetch) {
        if let Some(route) = self.routes.get(index(session)) {
            fetch_to(route, offset_of!(Route, credentials), fetch);
        }
    }

    /// Who speaks `dialect` there.
    pub(super) fn at_path(&self, dialect: DialectId, path: Path) -> Option<SessionIndex> {
        self.by_path.get(&(dialect, path.socket, path.remote)).copied()
    }

    pub(super) fn with_ticket(&self, ticket: &Secret) -> Option<SessionIndex> {
        self.by_ticket.get(ticket).copied()
    }

    /// The session that this Join made before, if its answer was lost.
    pub(super) fn made_by(&self, path: Path, nonce: u64) -> Option<SessionIndex> {
        let session = self.at_path(DialectId::NATIVE, path)?;
        let credentials = self.route(session)?.credentials.as_ref()?;
        (credentials.nonce == nonce).then_some(session)
    }

    /// Takes one datagram from the session's allowance.
    pub(super) fn allow(&mut self, now: Time, session: SessionIndex) -> Allowance {
        let rate = self.rate();
        match self.routes.get_mut(index(session)) {
            Some(Some(route)) => route.bucket.allow(now, rate, 1),
            _ => Allowance::No,
        }
    }

    /// Whether the session's allowance has one left. Nothing is taken: nobody knows yet whether the
    /// datagram is the session's.
    pub(super) fn has_allowance(&self, now: Time, session: SessionIndex) -> bool {
        let route = self.route(session);
        route.is_some_and(|route| route.bucket.has(now, self.rate(), 1))
    }

    /// The datagram was the session's. Other dialects know so when it comes, and have paid.
    pub(super) fn charge(&mut self, now: Time, session: SessionIndex) {
        let rate = self.rate();
        if let Some(Some(route)) = self.routes.get_mut(index(session))
            && route.dialect == DialectId::NATIVE
        {
            let _ = route.bucket.allow(now, rate, 1);
        }
    }

    fn rate(&self) -> Rate {
        let per_second = self.limits.player_datagrams_per_s;
        Rate { per_second, burst: per_second }
    }

    /// A session at `path` with a place in `room` that is free; `None` where no session is left.
    pub(super) fn insert(
        &mut self,
        dialect: DialectId,
        path: Path,
        room: usize,
        place: u8,
    ) -> Option<Found> {
        let session = self.unused()?;
        self.rooms[room].taken[usize::from(place)] = true;
        let bucket = Bucket::default();
        // Every slot is a room in memory: there are fewer than 2^32.
        let at = room as u32;
        let route =
            Route { room: at, place, path, dialect, alias: None, credentials: None, bucket };
        self.routes[index(session)] = Some(route);
        self.by_path.insert((dialect, path.socket, path.remote), session);
        self.count_in(path.remote);
        Some(Found { session, room, place })
    }

    /// What shows who the player of `session` is.
    pub(super) fn prove(&mut self, session: SessionIndex, credentials: Credentials) {
        if let Some(Some(route)) = self.routes.get_mut(index(session)) {
            self.by_ticket.insert(credentials.ticket, session);
            route.credentials = Some(credentials);
        }
    }

    /// The session is heard from `alias`, too.
    pub(super) fn also_at(&mut self, session: SessionIndex, alias: PeerAddr) {
        if let Some(Some(route)) = self.routes.get_mut(index(session)) {
            route.alias = Some(alias);
            self.by_path.insert((route.dialect, route.path.socket, alias), session);
        }
    }

    /// The session has a place in another room, which is free, or another place in this one.
    pub(super) fn reseat(&mut self, session: SessionIndex, (room, place): (usize, u8), nonce: u64) {
        let Some(Some(route)) = self.routes.get_mut(index(session)) else { return };
        self.rooms[route.room()].taken[usize::from(route.place)] = false;
        self.rooms[room].taken[usize::from(place)] = true;
        (route.room, route.place) = (room as u32, place);
        if let Some(credentials) = &mut route.credentials {
            credentials.nonce = nonce;
        }
    }

    /// The session may not go where it wished with this nonce.
    pub(super) fn refuse(&mut self, session: SessionIndex, nonce: u64, reason: RejectReason) {
        let route = self.routes.get_mut(index(session)).and_then(Option::as_mut);
        if let Some(credentials) = route.and_then(|route| route.credentials.as_mut()) {
            credentials.refused = Some((nonce, reason));
        }
    }

    /// The session is at `path` now.
    pub(super) fn move_to(&mut self, session: SessionIndex, path: Path) {
        let Some(Some(route)) = self.routes.get_mut(index(session)) else { return };
        let (old, dialect) = (std::mem::replace(&mut route.path, path), route.dialect);
        if sabotage::is(Sabotage::BucketRefilled) {
            route.bucket = Bucket::default();
        }
        self.unlink(session, (dialect, old.socket, old.remote));
        if !sabotage::is(Sabotage::LeakPerIp) {
            self.count_out(old.remote);
        }
        self.by_path.insert((dialect, path.socket, path.remote), session);
        self.count_in(path.remote);
    }

    /// The session is over; what it was.
    pub(super) fn remove(&mut self, session: SessionIndex) -> Option<Route> {
        let route = self.routes.get_mut(index(session))?.take()?;
        self.free.push_back(session);
        self.rooms[route.room()].taken[usize::from(route.place)] = false;
        self.unlink(session, (route.dialect, route.path.socket, route.path.remote));
        if let Some(alias) = route.alias {
            self.unlink(session, (route.dialect, route.path.socket, alias));
        }
        let ticket = route.credentials.as_ref().map(|credentials| credentials.ticket);
        if let Some(ticket) = ticket.filter(|_| !sabotage::is(Sabotage::TicketKept)) {
            self.by_ticket.remove(&ticket);
        }
        self.count_out(route.path.remote);
        Some(route)
    }

    /// Another session may have come to the same address since; its entry stays.
    fn unlink(&mut self, session: SessionIndex, at: (DialectId, u8, PeerAddr)) {
        if self.by_path.get(&at) == Some(&session) {
            self.by_path.remove(&at);
        }
    }

    fn count_in(&mut self, peer: PeerAddr) {
        for network in Prefix::all(peer.limit_key()) {
            *self.per_network.entry(network).or_default() += 1;
        }
    }

    fn count_out(&mut self, peer: PeerAddr) {
        for network in Prefix::all(peer.limit_key()) {
            if let Some(count) = self.per_network.get_mut(&network) {
                *count -= 1;
                if *count == 0 {
                    self.per_network.remove(&network);
                }
            }
        }
    }

    fn unused(&mut self) -> Option<SessionIndex> {
        if self.routes.len() < usize::from(self.limits.sessions) {
            self.routes.push(None);
            return SessionIndex::new(self.routes.len() as u16);
        }
        self.free.pop_front()
    }
}

impl Places {
    fn free(&self, role: Role) -> Option<u8> {
        let range = match role {
            Role::Play => 0..self.players,
            Role::Watch => self.players..self.taken.len(),
        };
        let is_free = |&place: &usize| !self.taken[place] || sabotage::is(Sabotage::ReuseSlot);
        range.into_iter().find(is_free).map(|place| place as u8)
    }

    fn playing(&self) -> usize {
        self.taken[..self.players].iter().filter(|&&taken| taken).count()
    }
}

fn index(session: SessionIndex) -> usize {
    usize::from(session.get()) - 1
}
