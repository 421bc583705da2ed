//! A whole server on one thread: the endpoint and its rooms as one node.

mod phases;

use std::collections::VecDeque;

use crate::channel::LogLine;
use crate::dialect::{DIALECT_LIMIT, Dialect, DialectId};
use crate::endpoint::{
    BansFull, Call, CallKind, Endpoint, EndpointConfig, Guests, NewRoom, Outcome, Papers, RoomCard,
    RoomOrder,
};
use crate::game::{Game, PlayerId, Refusal};
use crate::node::{
    Fetch, Node, Path, Prefetch, StreamAction, StreamEvent, StreamId, StreamNode, Transmit,
};
use crate::peer::LimitKey;
use crate::room::{ClosedRoom, LeftOutCounts, MessageCounts, Room, RoomConfig};
use crate::time::Time;
use crate::wire::Name;
use crate::wire::native::CloseReason;

use phases::Phases;

/// Places for watchers in every room.
pub const WATCHERS: u8 = 16;

/// When rooms with so many members have stepped, the others stay due: what was touched in a step is
/// still near when it is told, and there is enough to tell for a system call.
const MEMBERS_AT_ONCE: usize = 128;

/// Rooms that were closed and that nobody has asked about; older ones are forgotten.
const CLOSED_LIMIT: usize = 16;

/// A endpoint with rooms behind it. A clone hands out the same secrets: it is for tests.
#[derive(Clone, Debug)]
pub struct Server<G: Game> {
    endpoint: Endpoint,
    /// In the order in which they were opened. Boxed: a room is large, and when one is closed those
    /// behind it move up.
    rooms: Vec<Box<Room<G>>>,
    /// The slot that the endpoint has for each of them.
    slots: Vec<usize>,
    /// When each of them ticks next: looked through more often than the rooms themselves.
    due: Vec<Time>,
    /// Where the next look for rooms that are due begins: behind those that stepped last. On a machine
    /// that is too slow the first rooms would be due again before the last had their turn.
    next_look: usize,
    phases: Phases,
    /// Where in `rooms` the room in each slot is.
    places: Vec<Option<usize>>,
    offers: Vec<Offer<G>>,
    /// Slots of rooms that may have something to send, each once.
    talking: VecDeque<usize>,
    /// Whether each slot is among them.
    is_talking: Vec<bool>,
    closed: VecDeque<ClosedRoom>,
    /// Slots of rooms that hold the end of a match, each once.
    holding: Vec<usize>,
    /// Ticks that were skipped in rooms that are closed, what became of messages there, and what was left
    /// out.
    late_ticks_before: u64,
    messages_before: MessageCounts,
    left_out_before: LeftOutCounts,
    /// Beside `native`.
    dialects: &'static [&'static dyn Dialect<G>],
}

/// A game that rooms are opened for.
#[derive(Clone, Debug)]
struct Offer<G> {
    game: G,
    config: RoomConfig,
}

impl<G: Game> Server<G> {
    /// A server without rooms. `seed` must come from the system's generator.
    pub fn new(config: EndpointConfig, seed: [u8; 32]) -> Self {
        Server {
            endpoint: Endpoint::new(config, seed),
            rooms: Vec::new(),
            slots: Vec::new(),
            due: Vec::new(),
            next_look: 0,
            phases: Phases::default(),
            places: Vec::new(),
            offers: Vec::new(),
            talking: VecDeque::new(),
            is_talking: Vec::new(),
            closed: VecDeque::new(),
            holding: Vec::new(),
            late_ticks_before: 0,
            messages_before: MessageCounts::default(),
            left_out_before: LeftOutCounts::default(),
            dialects: &[],
        }
    }

    /// The same server, which speaks these dialects beside `native`, at most [`DIALECT_LIMIT`]. Say so
    /// before it has rooms.
    ///
    /// # Panics
    /// If they are more than [`DIALECT_LIMIT`].
    pub fn speaking(mut self, dialects: &'static [&'static dyn Dialect<G>]) -> Self {
        assert!(
            dialects.len() <= DIALECT_LIMIT,
            "a server speaks at most {DIALECT_LIMIT} dialects beside `native`, not {}",
            dialects.len()
        );
        self.dialects = dialects;
        for (place, dialect) in self.dialects.iter().enumerate() {
            self.endpoint.add_dialect(dialect.endpoint(DialectId::listed(place)));
        }
        self
    }

    /// Opens a room whose world begins within a tick, and which stays; says its slot.
    pub fn open(&mut self, now: Time, game: G, name: Name, seed: u64, config: RoomConfig) -> usize {
        let slot = self.endpoint.add_room(self.card(&game, name));
        let number = self.endpoint.room(slot).map_or(0, |(number, _)| number);
        let begin = self.phases.begin(slot, now, game.tick_rate(), game.capacity());
        let room = Room::new(begin, game, seed, WATCHERS, config).speaking(self.dialects);
        self.add(slot, room.numbered(number));
        slot
    }

    /// Offers a game: there is always a room of it where anyone may play, with another when it
    /// fills, up to `most` of them; and players may make rooms of their own. The names of the rooms
    /// are `name`, at most 11 bytes, and a number. Where the game has a bot, guests in some dialects
    /// play with bots in a room of their own: [`Dialect::plays_alone`].
    pub fn offer(&mut self, now: Time, game: G, name: Name, most: u16, config: RoomConfig) {
        let mut card = self.card(&game, name);
        if game.bot_input(&game.begin(0), PlayerId(1)).is_some() {
            let alone = self.dialects.iter().zip(&mut card.guests);
            for (_, guests) in alone.filter(|(dialect, _)| dialect.plays_alone()) {
                *guests = guests.alone();
            }
        }
        self.offers.push(Offer { game, config });
        self.endpoint.offer(card, most);
        self.obey(now);
    }

    /// The endpoint.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// The rooms, in the order in which they were opened.
    pub fn rooms(&self) -> &[Box<Room<G>>] {
        &self.rooms
    }

    /// From now on the endpoint is kept as `config` says, as far as that can change: see
    /// [`Endpoint::reconfigure`].
    pub fn reconfigure(&mut self, config: EndpointConfig) {
        self.endpoint.reconfigure(config);
    }

    /// The rooms, to be asked for events.
    pub fn rooms_mut(&mut self) -> &mut [Box<Room<G>>] {
        &mut self.rooms
    }

    /// From now on so many lines of the log are kept, by the endpoint for [`Server::poll_line`] and by
    /// each room for [`Room::poll_line`]; 0 is none.
    pub fn keep_lines(&mut self, limit: usize) {
        self.endpoint.keep_lines(limit);
        self.offers.iter_mut().for_each(|offer| offer.config.journal = limit);
        self.rooms.iter_mut().for_each(|room| room.keep_lines(limit));
    }

    /// The oldest line of the endpoint's log that was not read yet: see [`Endpoint::poll_line`].
    pub fn poll_line(&mut self) -> Option<LogLine> {
        self.endpoint.poll_line()
    }

    /// A room that was closed since this was asked last, with its last events.
    pub fn poll_closed(&mut self) -> Option<ClosedRoom> {
        self.closed.pop_front()
    }

    /// What became of messages, in all rooms that there ever were.
    pub fn message_counts(&self) -> MessageCounts {
        let rooms = self.rooms.iter().map(|room| room.message_counts());
        rooms.fold(self.messages_before, MessageCounts::plus)
    }

    /// What was left out because of a limit, in all rooms that there ever were. Each room tells of it in a
    /// [`RoomEvent::LeftOut`](crate::room::RoomEvent::LeftOut).
    pub fn left_out(&self) -> LeftOutCounts {
        let rooms = self.rooms.iter().map(|room| room.left_out());
        rooms.fold(self.left_out_before, LeftOutCounts::plus)
    }

    /// Ticks that were skipped because a room came too late, in all rooms that there ever were.
    pub fn late_ticks(&self) -> u64 {
        self.late_ticks_before + self.rooms.iter().map(|room| room.late_ticks()).sum::<u64>()
    }

    /// The rooms that hold the end of a match ([`Room::holds_end`]), each with its slot.
    pub fn holding_end(&self) -> impl Iterator<Item = (usize, &Room<G>)> {
        self.holding.iter().filter_map(|&slot| Some((slot, &*self.rooms[self.place(slot)?])))
    }

    /// Lets the players in a room see the end of their match: see [`Room::release_end`].
    pub fn release_end(&mut self, slot: usize) {
        if let Some(place) = self.place(slot) {
            self.rooms[place].release_end();
            self.after(place);
        }
    }

    /// Says goodbye to everyone.
    pub fn close(&mut self, reason: CloseReason) {
        for place in 0..self.rooms.len() {
            self.rooms[place].close(reason);
            self.after(place);
        }
    }

    /// Removes a player who may not come back, if there is such a room and player.
    pub fn kick(&mut self, room: usize, player: PlayerId) {
        if let Some(place) = self.place(room) {
            self.rooms[place].kick(player);
            self.after(place);
        }
    }

    /// Bans everyone with this key until a time or for good, and ends their sessions.
    pub fn ban(&mut self, now: Time, key: LimitKey, until: Option<Time>) -> Result<(), BansFull> {
        for (slot, seat) in self.endpoint.ban(now, key, until)? {
            if let Some(place) = self.place(slot) {
                self.rooms[place].expel(PlayerId(u32::from(seat) + 1), CloseReason::Banned);
                self.after(place);
            }
        }
        Ok(())
    }

    /// Ends a ban.
    pub fn lift_ban(&mut self, key: LimitKey) {
        self.endpoint.lift_ban(key);
    }

    /// Lets nobody new in: see [`Endpoint::drain`].
    pub fn drain(&mut self) {
        self.endpoint.drain();
    }

    /// Lets others in again.
    pub fn undrain(&mut self) {
        self.endpoint.undrain();
    }

    /// The rooms, each with its slot and its name.
    pub fn listed(&self) -> impl Iterator<Item = (usize, Name, &Room<G>)> {
        let rooms = self.slots.iter().zip(&self.rooms);
        rooms.filter_map(|(&slot, room)| Some((slot, self.endpoint.room(slot)?.1, &**room)))
    }

    /// How many slots there are: every room has one of its own for as long as it is there.
    pub fn slots(&self) -> usize {
        self.places.len()
    }

    /// The room in a slot, with its name.
    pub fn room(&self, slot: usize) -> Option<(Name, &Room<G>)> {
        Some((self.endpoint.room(slot)?.1, &*self.rooms[self.place(slot)?]))
    }

    /// The room and the place of the sender of a datagram.
    fn seat_of(&self, bytes: &[u8]) -> Option<(&Room<G>, usize)> {
        let (room, place) = self.endpoint.seat_of(bytes)?;
        Some((&self.rooms[self.place(room)?], place.into()))
    }

    /// The rooms that are stepped next, as many as it could be.
    fn due_next(&self, now: Time) -> impl Iterator<Item = &Room<G>> {
        let places = (self.next_look..self.rooms.len()).chain(0..self.next_look);
        let due = places.filter(move |&place| self.due.get(place).is_some_and(|due| *due <= now));
        due.map(|place| &*self.rooms[place]).take(MEMBERS_AT_ONCE / 2)
    }

    fn place(&self, slot: usize) -> Option<usize> {
        self.places.get(slot).copied().flatten()
    }

    /// A room of the game as the endpoint sees it.
    fn card(&self, game: &G, name: Name) -> RoomCard {
        let mut guests = [Guests::Nowhere; DIALECT_LIMIT];
        for (dialect, guests) in self.dialects.iter().zip(&mut guests) {
            *guests = dialect.guests(game);
        }
        RoomCard {
            game: game.id(),
            layout: game.layout() as u32,
            capacity: game.capacity(),
            watchers: WATCHERS,
            name,
            password: Name::default(),
            guests,
        }
    }

    fn call(&mut self, now: Time, call: Option<Call<'_>>) -> Outcome {
        let mut call = call;
        if let Some(Call { kind: CallKind::Admit(admission), .. }) = &call {
            // It may be to a room that is opened for it. Who comes from another room goes to one that is
            // there, and the other must not be closed before it has been left.
            if admission.leaves.is_none() {
                self.obey(now);
            }
            if let Err(no) = call.as_mut().map_or(Ok(()), |call| self.judge(call)) {
                call = call.and_then(|call| self.endpoint.refuse(&call, no));
            }
        }
        if let Some(Call { kind: CallKind::Admit(admission), .. }) = &mut call
            && let Some((room, place)) = admission.leaves
            && let Some(at) = self.place(room)
            && let Some((session, name)) = self.rooms[at].leave(now, place)
        {
            (admission.session, admission.name) = (Some(session), name);
            self.after(at);
        }
        self.obey(now);
        let Some(call) = call else { return Outcome::Done };
        let outcome = self.hand_over(now, call);
        self.obey(now);
        outcome
    }

    /// Whether the game of a room lets someone in. Who comes from another room says what was said there.
    fn judge(&self, call: &mut Call<'_>) -> Result<(), Refusal> {
        let CallKind::Admit(admission) = &mut call.kind else { return Ok(()) };
        if let Some((room, place)) = admission.leaves
            && let Some(at) = self.place(room)
            && let Some((name, papers)) = self.rooms[at].papers_of(place)
        {
            let nonce_before = admission.papers.nonce_before;
            (admission.name, admission.papers) = (name, Papers { nonce_before, ..papers });
        }
        let room = self.place(call.room).map(|at| &self.rooms[at]);
        room.map_or(Ok(()), |room| room.judge(admission))
    }

    fn hand_over(&mut self, now: Time, call: Call<'_>) -> Outcome {
        let Some(place) = self.place(call.room) else { return Outcome::Done };
        let outcome = self.rooms[place].handle_call(now, call);
        // Mostly an input, which is answered with the next tick.
        if self.rooms[place].may_speak() {
            self.after(place);
        }
        outcome
    }

    fn after(&mut self, place: usize) {
        let (room, slot) = (&mut self.rooms[place], self.slots[place]);
        self.due[place] = room.poll_timeout();
        while let Some(notice) = room.poll_notice() {
            self.endpoint.handle_notice(notice);
        }
        self.endpoint.set_stage(slot, room.stage());
        if room.holds_end() {
            if !self.holding.contains(&slot) {
                self.holding.push(slot);
            }
        } else if !self.holding.is_empty() {
            self.holding.retain(|&held| held != slot);
        }
        if !std::mem::replace(&mut self.is_talking[slot], true) {
            self.talking.push_back(slot);
        }
    }

    /// Opens and closes rooms as the endpoint says. It is asked for every datagram, and mostly in vain.
    #[inline(always)]
    fn obey(&mut self, now: Time) {
        if self.endpoint.has_orders() {
            self.obey_orders(now);
        }
    }

    fn obey_orders(&mut self, now: Time) {
        while let Some(order) = self.endpoint.poll_order() {
            match order {
                RoomOrder::Open(NewRoom { room, number, offer, seed, guest }) => {
                    let Offer { game, config } = &self.offers[offer];
                    let (rate, players) = (game.tick_rate(), game.capacity());
                    let begin = self.phases.begin(room, now, rate, players);
                    let mut opened = Room::new(begin, game.clone(), seed, WATCHERS, *config)
                        .speaking(self.dialects);
                    if let Some(place) = guest {
                        opened.add_bots_beside(place);
                    }
                    self.add(room, opened.numbered(number));
                }
                RoomOrder::Clear(room) => {
                    if let Some(place) = self.place(room) {
                        self.rooms[place].close(CloseReason::RoomClosed);
                        self.after(place);
                    }
                }
                RoomOrder::Close(room) => self.remove(room),
            }
        }
    }

    fn add(&mut self, slot: usize, room: Room<G>) {
        if self.places.len() <= slot {
            self.places.resize(slot + 1, None);
            self.is_talking.resize(slot + 1, false);
        }
        self.places[slot] = Some(self.rooms.len());
        self.due.push(room.poll_timeout());
        self.rooms.push(Box::new(room));
        self.slots.push(slot);
    }

    fn remove(&mut self, slot: usize) {
        let Some(place) = self.places.get_mut(slot).and_then(Option::take) else { return };
        if self.closed.len() == CLOSED_LIMIT {
            self.closed.pop_front();
        }
        let room = self.rooms.remove(place);
        self.late_ticks_before += room.late_ticks();
        self.messages_before = self.messages_before.plus(room.message_counts());
        self.left_out_before = self.left_out_before.plus(room.left_out());
        self.closed.push_back(room.into_closed());
        self.slots.remove(place);
        self.due.remove(place);
        self.phases.end(slot);
        self.holding.retain(|&held| held != slot);
        for (place, slot) in self.slots.iter().enumerate().skip(place) {
            self.places[*slot] = Some(place);
        }
    }
}

impl<G: Game> Node for Server<G> {
    fn handle_datagram(&mut self, now: Time, path: Path, bytes: &mut [u8]) {
        let len = bytes.len();
        let call = self.endpoint.handle_datagram(now, path, bytes);
        let Some(Call { session, kind: CallKind::Datagram(_), .. }) = call else {
            self.call(now, call);
            return;
        };
        let outcome = self.call(now, call);
        self.endpoint.handle_outcome(now, path, session, (len, &outcome));
        if let Outcome::Wish { sequence, wish } = outcome {
            let call = self.endpoint.enter_room(now, session, sequence, &wish);
            if self.call(now, call) == Outcome::Unanswered {
                self.endpoint.counts_mut().answer_limit += 1;
            }
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        if self.endpoint.poll_timeout().is_some_and(|due| due <= now) {
            self.endpoint.handle_timeout(now);
        }
        let (mut members, mut place) = (0, self.next_look);
        for _ in 0..self.rooms.len() {
            // Some may have been closed since.
            place = if place < self.rooms.len() { place } else { 0 };
            if self.due[place] <= now {
                self.rooms[place].handle_timeout(now);
                self.after(place);
                members += self.rooms[place].members_here();
            }
            place += 1;
            if members >= MEMBERS_AT_ONCE {
                break;
            }
        }
        self.next_look = place;
        self.obey(now);
    }

    fn poll_transmit(&mut self, now: Time, out: &mut [u8]) -> Option<Transmit> {
        if let Some(transmit) = self.endpoint.poll_transmit(out) {
            return Some(transmit);
        }
        while let Some(&slot) = self.talking.front() {
            if let Some(place) = self.place(slot)
                && let Some(transmit) = self.rooms[place].poll_transmit(now, out)
            {
                return Some(transmit);
            }
            self.talking.pop_front();
            self.is_talking[slot] = false;
        }
        None
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.due.iter().copied().chain(self.endpoint.poll_timeout()).min()
    }

    fn prefetch(&self, coming: Prefetch<'_>, fetch: Fetch) {
        match coming {
            Prefetch::Sender(bytes) => self.endpoint.prefetch(bytes, fetch),
            Prefetch::Way(bytes) => {
                if let Some((room, _)) = self.seat_of(bytes) {
                    room.prefetch(fetch);
                }
            }
            Prefetch::Datagram(bytes) => {
                if let Some((room, place)) = self.seat_of(bytes) {
                    room.prefetch_member(place, fetch);
                }
            }
            Prefetch::Timeout(now) => {
                self.due_next(now).for_each(|room| room.prefetch(fetch));
                let mut members = 0;
                for room in self.due_next(now) {
                    room.prefetch_tick(fetch);
                    members += room.places_used();
                    if members >= MEMBERS_AT_ONCE {
                        break;
                    }
                }
            }
        }
    }
}

impl<G: Game> StreamNode for Server<G> {
    fn accepts_streams(&self) -> bool {
        self.endpoint.has_streams()
    }

    fn handle_stream(&mut self, now: Time, stream: StreamId, event: StreamEvent<'_>) {
        let call = self.endpoint.handle_stream(now, stream, event);
        self.call(now, call);
    }

    fn poll_stream(&mut self, _now: Time, out: &mut [u8]) -> Option<(StreamId, StreamAction)> {
        self.endpoint.poll_stream(out)
    }
}
