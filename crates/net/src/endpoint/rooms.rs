//! The rooms behind the endpoint: which there are, who may enter, and when one opens or closes.
//!
//! A room comes in one of four ways. An operator [adds](Endpoint::add_room) one that stays. A game
//! that is [offered](Endpoint::offer) always has a room where anyone may play: when it fills, the next
//! opens, up to a limit, and one that is needed no more closes. Players make rooms of their own,
//! which close when they are empty. And a [guest](Guests::Alone) of an old dialect is alone with bots
//! in a room that closes when the guest has gone. The endpoint decides, and whoever keeps the rooms
//! does what its [orders](RoomOrder) say.

use std::collections::VecDeque;

use super::native::same_bytes;
use super::routes::Found;
use super::{Applicant, Endpoint, Guests, Limits, RoomCard, Seat};
use crate::dialect::DialectId;
use crate::game::{GameId, Stage};
use crate::peer::LimitKey;
use crate::sabotage::{self, Sabotage};
use crate::session::{Allowance, Prefix};
use crate::time::Time;
use crate::wire::Name;
use crate::wire::native::{RejectReason, Role};

/// Guests who are alone in a room have one in so many of all [rooms](super::Limits::rooms) at the
/// most: they prove no address, and others must find a room, too.
pub const GUEST_SHARE: u16 = 4;

/// What the names of their rooms begin with.
const GUEST_ROOM: &str = "Guest";

/// What the keeper of the rooms is to do, in this order, before anything else is asked of a room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoomOrder {
    /// To open one.
    Open(NewRoom),
    /// To say goodbye to everyone in the one in this slot: it is about to be closed.
    Clear(usize),
    /// To close the one in this slot: nobody is in it.
    Close(usize),
}

/// A room that is to be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewRoom {
    /// The slot that it takes.
    pub room: usize,
    /// Its number on the wire.
    pub number: u32,
    /// Which of the games that are [offered](Endpoint::offer).
    pub offer: usize,
    /// What its world begins with.
    pub seed: u64,
    /// The place of the guest whom it is opened for; bots have the others.
    pub guest: Option<u8>,
}

/// All rooms.
#[derive(Clone, Debug, Default)]
pub(super) struct Rooms {
    /// What a call names a room by; slots are used again, numbers are not.
    slots: Vec<Option<Listed>>,
    offers: Vec<Offer>,
    /// How many have a guest alone, or had: known without counting, since anyone can say HELLO.
    private: usize,
    last_number: u32,
    orders: VecDeque<RoomOrder>,
}

/// A room that is there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Listed {
    /// On the wire.
    pub(super) number: u32,
    pub(super) card: RoomCard,
    pub(super) stage: Stage,
    lifetime: Lifetime,
}

/// How long a room is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lifetime {
    /// As long as the server.
    Server,
    /// As long as it is needed, so that this offer has an open room.
    Need(usize),
    /// As long as someone is in it. Someone with this key made it.
    Company(LimitKey),
    /// As long as the guest with this key is in it, for whom it was opened.
    Guest(LimitKey),
    /// The guest has gone: until those who watched are gone, too.
    Ending,
}

/// A game that anyone may play here.
#[derive(Clone, Copy, Debug)]
struct Offer {
    /// A room of it; the names of all begin with its name.
    card: RoomCard,
    /// How many rooms are opened for it at the most, those that players make not counted.
    most: u16,
}

impl Lifetime {
    /// Whether nobody but a guest may play there.
    fn is_private(self) -> bool {
        matches!(self, Lifetime::Guest(_) | Lifetime::Ending)
    }
}

impl Listed {
    /// Whether who comes now plays at once.
    fn plays_at_once(&self) -> bool {
        !self.stage.started || self.stage.late_joining
    }
}

impl Rooms {
    pub(super) fn at(&self, room: usize) -> Option<&Listed> {
        self.slots.get(room)?.as_ref()
    }

    /// All, with their slots.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &Listed)> + Clone {
        let slots = self.slots.iter().enumerate();
        slots.filter_map(|(room, listed)| Some((room, listed.as_ref()?)))
    }

    /// The games, each as often as it has rooms.
    pub(super) fn games(&self) -> impl Iterator<Item = GameId> {
        let offered = self.offers.iter().map(|offer| offer.card.game);
        self.iter().map(|(_, listed)| listed.card.game).chain(offered)
    }

    /// How a game lays out what it sends.
    pub(super) fn layout_of(&self, game: u32) -> Option<u32> {
        let listed = self.iter().map(|(_, listed)| &listed.card);
        let mut cards = listed.chain(self.offers.iter().map(|offer| &offer.card));
        cards.find(|card| card.game.game == game).map(|card| card.layout)
    }

    fn numbered(&self, number: u32) -> Option<(usize, &Listed)> {
        self.iter().find(|(_, listed)| listed.number == number)
    }

    pub(super) fn len(&self) -> usize {
        self.slots.iter().flatten().count()
    }

    /// How many live like this.
    fn count(&self, is_so: impl Fn(Lifetime) -> bool) -> usize {
        self.slots.iter().flatten().filter(|listed| is_so(listed.lifetime)).count()
    }

    /// Puts the room into a free slot.
    fn add(&mut self, card: RoomCard, lifetime: Lifetime) -> usize {
        let room = self.slots.iter().position(Option::is_none).unwrap_or(self.slots.len());
        if room == self.slots.len() {
            self.slots.push(None);
        }
        self.last_number = self.last_number.wrapping_add(1).max(1);
        let (number, stage) = (self.last_number, Stage::default());
        self.slots[room] = Some(Listed { number, card, stage, lifetime });
        self.private += usize::from(lifetime.is_private());
        room
    }

    fn remove(&mut self, room: usize) {
        let removed = self.slots[room].take();
        self.private -= usize::from(removed.is_some_and(|listed| listed.lifetime.is_private()));
    }

    /// The game that a guest in this dialect may play alone, and in which place.
    pub(super) fn offer_to_guests(&self, dialect: DialectId) -> Option<(usize, u8)> {
        let at = dialect.place()?;
        let alone = |offer: &Offer| match offer.card.guests[at] {
            Guests::Alone(place) => Some(place),
            _ => None,
        };
        let mut offers = self.offers.iter().enumerate();
        offers.find_map(|(offer, its)| Some((offer, alone(its)?)))
    }

    /// This beginning and the first number that no room of that name has.
    fn next_name(&self, beginning: Name) -> Name {
        let number = |name: &Name| -> Option<usize> {
            let rest = name.as_bytes().strip_prefix(beginning.as_bytes())?.strip_prefix(b" ")?;
            std::str::from_utf8(rest).ok()?.parse().ok()
        };
        // As many as there are rooms can be taken: one of these is not, beside 0, which none has.
        let mut taken = vec![false; self.len() + 2];
        for number in self.iter().filter_map(|(_, listed)| number(&listed.card.name)) {
            if let Some(taken) = taken.get_mut(number) {
                *taken = true;
            }
        }
        let free = taken.iter().skip(1).position(|taken| !taken);
        Name::new(&format!("{beginning} {}", 1 + free.unwrap_or(0)))
    }
}

impl Endpoint {
    /// Opens the endpoint to one more room, which stays; says its slot.
    pub fn add_room(&mut self, card: RoomCard) -> usize {
        let room = self.rooms.add(card, Lifetime::Server);
        self.routes.set_room(room, card.capacity, card.watchers);
        room
    }

    /// Offers a game: from now on there is a room of it where anyone may play, as long as `most`
    /// of them and the server's own limit are not reached. `card` is such a room; its name, at most
    /// 11 bytes, is what all their names begin with.
    pub fn offer(&mut self, card: RoomCard, most: u16) -> usize {
        self.rooms.offers.push(Offer { card, most });
        self.settle();
        self.rooms.offers.len() - 1
    }

    /// What is to be done to the rooms; ask after everything that is handled here.
    pub fn poll_order(&mut self) -> Option<RoomOrder> {
        self.rooms.orders.pop_front()
    }

    /// Whether there is any.
    #[inline]
    pub(crate) fn has_orders(&self) -> bool {
        !self.rooms.orders.is_empty()
    }

    /// How many rooms there have been.
    pub fn rooms_opened(&self) -> u32 {
        self.rooms.last_number
    }

    /// The number and the name of the room in a slot.
    pub fn room(&self, room: usize) -> Option<(u32, Name)> {
        self.rooms.at(room).map(|listed| (listed.number, listed.card.name))
    }

    /// Takes how the match in a room stands.
    pub fn set_stage(&mut self, room: usize, stage: Stage) {
        if let Some(Some(listed)) = self.rooms.slots.get_mut(room)
            && listed.stage != stage
        {
            listed.stage = stage;
            self.settle();
        }
    }

    /// Finds a place and makes the route to it. The room takes whoever comes with it.
    pub(super) fn place(
        &mut self,
        now: Time,
        applicant: &Applicant,
    ) -> Result<Found, RejectReason> {
        self.check_sessions(applicant.path.remote.limit_key())?;
        let (room, place) = self.find_place(now, applicant)?;
        let Applicant { dialect, path, .. } = *applicant;
        let found = self.routes.insert(dialect, path, room, place).ok_or(RejectReason::Full)?;
        self.settle();
        Ok(found)
    }

    /// The same in a room that is made for it.
    pub(super) fn place_in_new_room(
        &mut self,
        applicant: &Applicant,
        name: Name,
    ) -> Result<Found, RejectReason> {
        let key = applicant.path.remote.limit_key();
        self.check_sessions(key)?;
        let lifetime = Lifetime::Company(key);
        let made_from = |prefix: Prefix, lifetime| match lifetime {
            Lifetime::Company(maker) => prefix.contains(maker),
            _ => false,
        };
        let of_game =
            |offer: &Offer| applicant.game.is_none_or(|game| offer.card.game.game == game);
        let offer = self.rooms.offers.iter().position(of_game).ok_or(RejectReason::Game)?;
        let is_taken = self.rooms.iter().any(|(_, listed)| listed.card.name == name);
        if name.is_empty() || is_taken {
            return Err(RejectReason::RoomName);
        }
        if self.rooms.len() >= usize::from(self.config.limits.rooms)
            || !self.may_have_rooms(key, made_from)
        {
            return Err(RejectReason::Rooms);
        }
        let card = RoomCard { name, password: applicant.password, ..self.rooms.offers[offer].card };
        let room = self.order(offer, card, lifetime, None);
        let Applicant { dialect, path, .. } = *applicant;
        let found = self.routes.insert(dialect, path, room, 0);
        self.settle();
        found.ok_or(RejectReason::Full)
    }

    /// Opens a room for a guest with this key, who has this place in it alone with bots.
    pub(super) fn open_guest_room(&mut self, offer: usize, key: LimitKey, place: u8) -> usize {
        let name = self.rooms.next_name(Name::new(GUEST_ROOM));
        let card = RoomCard { name, ..self.rooms.offers[offer].card };
        self.order(offer, card, Lifetime::Guest(key), Some(place))
    }

    /// Whether one more room may be opened for a guest with this key alone.
    pub(super) fn has_room_for_guest(&self, key: LimitKey) -> bool {
        let limits = self.config.limits;
        let has_guest = |prefix: Prefix, lifetime| match lifetime {
            Lifetime::Guest(guest) => prefix.contains(guest),
            _ => false,
        };
        self.rooms.private < usize::from(limits.rooms.div_ceil(GUEST_SHARE))
            && self.rooms.len() < usize::from(limits.rooms)
            && self.may_have_rooms(key, has_guest)
    }

    /// Whether one more room may be there because of someone with this key; `counts` says which
    /// are there already because of a network.
    fn may_have_rooms(&self, key: LimitKey, counts: impl Fn(Prefix, Lifetime) -> bool) -> bool {
        let Limits { rooms_per_ip, wider, .. } = self.config.limits;
        Prefix::all(key).all(|prefix| {
            let one_more = usize::from(sabotage::is(Sabotage::RoomsOffByOne));
            let limit = usize::from(rooms_per_ip) * wider.times(prefix) as usize + one_more;
            self.rooms.count(|lifetime| counts(prefix, lifetime)) < limit
        })
    }

    /// Where someone who is here already can go.
    pub(super) fn find_place(
        &mut self,
        now: Time,
        applicant: &Applicant,
    ) -> Result<(usize, u8), RejectReason> {
        let room = match applicant.room {
            0 => self.choose_room(applicant)?,
            number => self.named_room(now, applicant, number)?,
        };
        let place = self.free_place(room, applicant.seat).ok_or(RejectReason::Full)?;
        Ok((room, place))
    }

    /// Opens what is missing and closes what is needed no more.
    pub(super) fn settle(&mut self) {
        for room in 0..self.rooms.slots.len() {
            let Some(listed) = &mut self.rooms.slots[room] else { continue };
            match listed.lifetime {
                Lifetime::Server | Lifetime::Need(_) => {}
                _ if self.routes.is_empty(room) => self.close_room(room),
                Lifetime::Guest(_) if self.routes.players(room) == 0 => {
                    listed.lifetime = Lifetime::Ending;
                    self.rooms.orders.push_back(RoomOrder::Clear(room));
                }
                Lifetime::Company(_) | Lifetime::Guest(_) | Lifetime::Ending => {}
            }
        }
        for offer in 0..self.rooms.offers.len() {
            self.settle_offer(offer);
        }
    }

    fn settle_offer(&mut self, offer: usize) {
        let lifetime = Lifetime::Need(offer);
        let Offer { card, most } = self.rooms.offers[offer];
        let is_spare = |endpoint: &Endpoint, room: usize| {
            let of_offer = |listed: &Listed| listed.lifetime == lifetime;
            endpoint.rooms.at(room).is_some_and(of_offer) && endpoint.takes_anyone(room)
        };
        let mut spare = (0..self.rooms.slots.len()).filter(|&room| is_spare(self, room)).count();
        if spare == 0
            && self.rooms.count(|other| other == lifetime) < usize::from(most)
            && self.rooms.len() < usize::from(self.config.limits.rooms)
        {
            let name = self.rooms.next_name(card.name);
            self.order(offer, RoomCard { name, ..card }, lifetime, None);
            return;
        }
        for room in (0..self.rooms.slots.len()).rev() {
            if spare > 1 && is_spare(self, room) && self.routes.is_empty(room) {
                self.close_room(room);
                spare -= 1;
            }
        }
    }

    fn order(
        &mut self,
        offer: usize,
        card: RoomCard,
        lifetime: Lifetime,
        guest: Option<u8>,
    ) -> usize {
        let room = self.rooms.add(card, lifetime);
        self.routes.set_room(room, card.capacity, card.watchers);
        let (number, seed) = (self.rooms.last_number, self.secrets.nonce());
        self.rooms.orders.push_back(RoomOrder::Open(NewRoom { room, number, offer, seed, guest }));
        room
    }

    fn close_room(&mut self, room: usize) {
        self.rooms.remove(room);
        self.rooms.orders.push_back(RoomOrder::Close(room));
    }

    /// Whether there is a place to play at once for whoever comes, in whatever dialect.
    fn takes_anyone(&self, room: usize) -> bool {
        let Some(listed) = self.rooms.at(room) else { return false };
        let guests = listed.card.guests.into_iter();
        listed.plays_at_once()
            && self.routes.free_place(room, Role::Play).is_some()
            && guests
                .filter(|guests| !matches!(guests, Guests::Nowhere | Guests::Alone(_)))
                .all(|guests| self.guest_place(room, guests).is_some())
    }

    /// Whether anyone may come in who finds it.
    pub(super) fn is_open(&self, room: usize, seat: Seat) -> bool {
        let is_unlocked = |listed: &Listed| listed.card.password.is_empty() && !self.draining;
        self.rooms.at(room).is_some_and(is_unlocked) && self.free_place(room, seat).is_some()
    }

    /// How many play in the room: those who are away count, and so do bots.
    pub(super) fn playing(&self, room: usize) -> usize {
        match self.rooms.at(room) {
            Some(listed) if listed.lifetime.is_private() => self.routes.capacity(room),
            _ => self.routes.players(room),
        }
    }

    fn free_place(&self, room: usize, seat: Seat) -> Option<u8> {
        let lifetime = self.rooms.at(room)?.lifetime;
        match seat {
            _ if lifetime == Lifetime::Ending => None,
            Seat::Any(Role::Play) if lifetime.is_private() => None,
            Seat::Any(role) => self.routes.free_place(room, role),
            Seat::Guest(dialect) => {
                self.guest_place(room, self.rooms.at(room)?.card.guests[dialect.place()?])
            }
        }
    }

    fn guest_place(&self, room: usize, guests: Guests) -> Option<u8> {
        match guests {
            Guests::Nowhere | Guests::Alone(_) => None,
            Guests::Anywhere => self.routes.free_place(room, Role::Play),
            Guests::At(place) => self.routes.is_free(room, place).then_some(place),
        }
    }

    pub(super) fn check_sessions(&self, key: LimitKey) -> Result<(), RejectReason> {
        let Limits { sessions_per_ip, wider, .. } = self.config.limits;
        let has_all = |prefix: Prefix| {
            let one_more = u32::from(sabotage::is(Sabotage::PerIpOffByOne));
            let limit = u32::from(sessions_per_ip) * wider.times(prefix);
            self.routes.sessions_of(prefix) >= limit + one_more
        };
        if self.draining {
            Err(RejectReason::Stopping)
        } else if Prefix::all(key).any(has_all) {
            Err(RejectReason::Address)
        } else if self.routes.is_full() {
            Err(RejectReason::Full)
        } else {
            Ok(())
        }
    }

    /// Any room but the one that the applicant comes from. The fullest that has a place: people
    /// came to play with someone; and sooner one where they do so at once.
    fn choose_room(&self, applicant: &Applicant) -> Result<usize, RejectReason> {
        let mut of_game =
            self.rooms.iter().filter(|(_, listed)| applicant.plays(listed)).peekable();
        of_game.peek().ok_or(RejectReason::Game)?;
        let open = of_game.filter(|&(room, _)| {
            applicant.from != Some(room) && self.is_open(room, applicant.seat)
        });
        let worth = |&(room, listed): &(usize, &Listed)| {
            (listed.plays_at_once(), self.routes.players(room), u32::MAX - listed.number)
        };
        open.max_by_key(worth).map(|(room, _)| room).ok_or(RejectReason::Full)
    }

    /// The room of this number, if the password is right. Who has tried too many is told nothing.
    fn named_room(
        &mut self,
        now: Time,
        applicant: &Applicant,
        number: u32,
    ) -> Result<usize, RejectReason> {
        let found = self.rooms.numbered(number).filter(|(_, listed)| applicant.plays(listed));
        let (room, listed) = found.ok_or(RejectReason::Room)?;
        let password = listed.card.password;
        let is_unguarded = applicant.from.is_some() && sabotage::is(Sabotage::SkipPassword);
        if password.is_empty() || is_unguarded {
            return Ok(room);
        }
        if self.tries.allow(now, applicant.path.remote.limit_key(), 1) == Allowance::No {
            self.counts.password_limit += 1;
            return Err(RejectReason::Tries);
        }
        match same_bytes(password.as_bytes(), applicant.password.as_bytes()) {
            true => Ok(room),
            false => Err(RejectReason::Password),
        }
    }
}

impl Applicant {
    fn plays(&self, listed: &Listed) -> bool {
        self.game.is_none_or(|game| listed.card.game.game == game)
    }
}
