//! Who is where: sessions by index, by path and by ticket, and the places of every room.

use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasher;
use std::mem::offset_of;
use std::net::{IpAddr, SocketAddr};

use siphasher::sip::SipHasher13;

use super::Limits;
use crate::node::{Fetch, Path, fetch_to};
use crate::sabotage::{self, Sabotage};
use crate::session::{Allowance, Bucket, Numbers, Prefix, Rate, limited_ip};
use crate::time::Time;
use crate::wire::native::{Budget, Role, Secret, SessionIndex};
use crate::wire::{Dialect, Name};

/// The sessions of a server. Every look-up is O(1).
#[derive(Clone, Debug)]
pub(super) struct Routes {
    limits: Limits,
    routes: Vec<Option<Route>>,
    /// Indexes that are not in use, the longest unused first: a late datagram of an old session
    /// should not find a new one.
    free: VecDeque<SessionIndex>,
    /// By dialect, too: who speaks one from an address does not speak for who speaks another.
    by_path: HashMap<(Dialect, u8, SocketAddr), SessionIndex, Keyed>,
    by_ticket: HashMap<Secret, SessionIndex, Keyed>,
    /// Sessions by the networks that their addresses count for.
    per_network: HashMap<Prefix, u32, Keyed>,
    rooms: Vec<Places>,
}

/// One session, seen from the door. What every datagram touches comes first: see the rooms' members.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Route {
    pub(super) path: Path,
    pub(super) place: u8,
    dialect: Dialect,
    pub(super) room: usize,
    bucket: Bucket,
    /// `native` has one.
    pub(super) proof: Option<Proof>,
    /// `lan`: a second port of the same guest.
    alias: Option<SocketAddr>,
}

/// What shows that a datagram is a player's, and a player the one who was here before.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Proof {
    /// The numbers of the player's datagrams.
    pub(super) numbers: Numbers,
    /// Brings the player back.
    pub(super) ticket: Secret,
    /// Of what brought the player to this place.
    pub(super) nonce: u64,
    pub(super) name: Name,
    pub(super) budget: Budget,
}

/// A place that was found, and the session that has it now.
pub(super) struct Found {
    pub(super) session: SessionIndex,
    pub(super) room: usize,
    pub(super) place: u8,
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

    /// The room and the place of every session from there.
    pub(super) fn seats_of(&self, ip: IpAddr) -> Vec<(usize, u8)> {
        let from = |route: &&Route| limited_ip(route.path.remote.ip()) == limited_ip(ip);
        let routes = self.routes.iter().flatten().filter(from);
        routes.map(|route| (route.room, route.place)).collect()
    }

    pub(super) fn route(&self, session: SessionIndex) -> Option<&Route> {
        self.routes.get(index(session))?.as_ref()
    }

    /// Has a session brought near.
    pub(super) fn foresee(&self, session: SessionIndex, fetch: Fetch) {
        if let Some(route) = self.routes.get(index(session)) {
            fetch_to(route, offset_of!(Route, proof) + offset_of!(Proof, ticket), fetch);
        }
    }

    /// Who speaks `dialect` there.
    pub(super) fn at_path(&self, dialect: Dialect, path: Path) -> Option<SessionIndex> {
        self.by_path.get(&(dialect, path.socket, path.remote)).copied()
    }

    pub(super) fn with_ticket(&self, ticket: &Secret) -> Option<SessionIndex> {
        self.by_ticket.get(ticket).copied()
    }

    /// The session that this Join made before, if its answer was lost.
    pub(super) fn made_by(&self, path: Path, nonce: u64) -> Option<SessionIndex> {
        let session = self.at_path(Dialect::Native, path)?;
        let proof = self.route(session)?.proof.as_ref()?;
        (proof.nonce == nonce).then_some(session)
    }

    /// Whether a number can be that of the player's next datagram; it counts as arrived.
    pub(super) fn takes(&mut self, session: SessionIndex, sequence: u32) -> bool {
        let Some(Some(route)) = self.routes.get_mut(index(session)) else { return false };
        let proof = route.proof.as_mut();
        proof.is_some_and(|proof| proof.numbers.handle(sequence).is_taken())
    }

    /// Takes one datagram from the session's allowance.
    pub(super) fn allow(&mut self, now: Time, session: SessionIndex) -> Allowance {
        let per_second = self.limits.player_datagrams_per_s;
        let rate = Rate { per_second, burst: per_second };
        match self.routes.get_mut(index(session)) {
            Some(Some(route)) => route.bucket.allow(now, rate, 1),
            _ => Allowance::No,
        }
    }

    /// A session at `path` with a place in `room` that is free; `None` where no session is left.
    pub(super) fn insert(
        &mut self,
        dialect: Dialect,
        path: Path,
        room: usize,
        place: u8,
    ) -> Option<Found> {
        let session = self.unused()?;
        self.rooms[room].taken[usize::from(place)] = true;
        let bucket = Bucket::default();
        let route = Route { room, place, path, dialect, alias: None, proof: None, bucket };
        self.routes[index(session)] = Some(route);
        self.by_path.insert((dialect, path.socket, path.remote), session);
        self.count_in(path.remote.ip());
        Some(Found { session, room, place })
    }

    /// What shows who the player of `session` is.
    pub(super) fn prove(&mut self, session: SessionIndex, proof: Proof) {
        if let Some(Some(route)) = self.routes.get_mut(index(session)) {
            self.by_ticket.insert(proof.ticket, session);
            route.proof = Some(proof);
        }
    }

    /// The session is heard from `alias`, too.
    #[cfg(feature = "lan")]
    pub(super) fn also_at(&mut self, session: SessionIndex, alias: SocketAddr) {
        if let Some(Some(route)) = self.routes.get_mut(index(session)) {
            route.alias = Some(alias);
            self.by_path.insert((route.dialect, route.path.socket, alias), session);
        }
    }

    /// The session has a place in another room, which is free, or another place in this one; it
    /// counts on from `sequence`.
    pub(super) fn reseat(
        &mut self,
        session: SessionIndex,
        (room, place): (usize, u8),
        nonce: u64,
        sequence: u32,
    ) {
        let Some(Some(route)) = self.routes.get_mut(index(session)) else { return };
        self.rooms[route.room].taken[usize::from(route.place)] = false;
        self.rooms[room].taken[usize::from(place)] = true;
        (route.room, route.place) = (room, place);
        if let Some(proof) = &mut route.proof {
            (proof.nonce, proof.numbers) = (nonce, Numbers::new(sequence.wrapping_add(1)));
        }
    }

    /// The session is at `path` now, and counts on from `sequence`.
    pub(super) fn move_to(&mut self, session: SessionIndex, path: Path, sequence: u32) {
        let Some(Some(route)) = self.routes.get_mut(index(session)) else { return };
        let (old, dialect) = (std::mem::replace(&mut route.path, path), route.dialect);
        if let Some(proof) = &mut route.proof {
            proof.numbers = Numbers::new(sequence.wrapping_add(1));
        }
        if sabotage::is(Sabotage::BucketRefilled) {
            route.bucket = Bucket::default();
        }
        self.unlink(session, (dialect, old.socket, old.remote));
        if !sabotage::is(Sabotage::LeakPerIp) {
            self.count_out(old.remote.ip());
        }
        self.by_path.insert((dialect, path.socket, path.remote), session);
        self.count_in(path.remote.ip());
    }

    pub(super) fn remove(&mut self, session: SessionIndex) {
        let Some(slot) = self.routes.get_mut(index(session)) else { return };
        let Some(route) = slot.take() else { return };
        self.free.push_back(session);
        self.rooms[route.room].taken[usize::from(route.place)] = false;
        self.unlink(session, (route.dialect, route.path.socket, route.path.remote));
        if let Some(alias) = route.alias {
            self.unlink(session, (route.dialect, route.path.socket, alias));
        }
        if let Some(proof) = route.proof.filter(|_| !sabotage::is(Sabotage::TicketKept)) {
            self.by_ticket.remove(&proof.ticket);
        }
        self.count_out(route.path.remote.ip());
    }

    /// Another session may have come to the same address since; its entry stays.
    fn unlink(&mut self, session: SessionIndex, at: (Dialect, u8, SocketAddr)) {
        if self.by_path.get(&at) == Some(&session) {
            self.by_path.remove(&at);
        }
    }

    fn count_in(&mut self, ip: IpAddr) {
        for network in Prefix::all(ip) {
            *self.per_network.entry(network).or_default() += 1;
        }
    }

    fn count_out(&mut self, ip: IpAddr) {
        for network in Prefix::all(ip) {
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
