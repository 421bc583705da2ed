//! A whole server on one thread: the front and its rooms as one node.

use std::collections::VecDeque;

use crate::front::{Call, Front, FrontConfig, RoomCard};
use crate::game::{Game, PlayerId};
use crate::node::{Node, Path, Transmit};
use crate::room::{Room, RoomConfig};
use crate::time::Time;
use crate::wire::Name;
use crate::wire::native::CloseReason;

/// Places for watchers in every room.
pub const WATCHERS: u8 = 16;

/// A front with rooms behind it.
#[derive(Debug)]
pub struct Server<G: Game> {
    front: Front,
    rooms: Vec<Room<G>>,
    /// Rooms that may have something to send, each once.
    talking: VecDeque<usize>,
    is_talking: Vec<bool>,
}

impl<G: Game> Server<G> {
    /// A server without rooms. `seed` must come from the system's generator.
    pub fn new(config: FrontConfig, seed: [u8; 32]) -> Self {
        let (talking, is_talking) = (VecDeque::new(), Vec::new());
        Server { front: Front::new(config, seed), rooms: Vec::new(), talking, is_talking }
    }

    /// Opens a room whose world begins at `now`.
    pub fn open(&mut self, now: Time, game: G, name: Name, seed: u64, config: RoomConfig) -> usize {
        let room = Room::new(now, game, seed, WATCHERS, config);
        let card = RoomCard {
            game: room.game().id(),
            capacity: room.game().capacity(),
            watchers: WATCHERS,
            name,
            password: Name::default(),
            lan_guests: room.lan_guests(),
        };
        self.rooms.push(room);
        self.is_talking.push(false);
        self.front.add_room(card)
    }

    /// The door.
    pub fn front(&self) -> &Front {
        &self.front
    }

    /// The rooms.
    pub fn rooms(&self) -> &[Room<G>] {
        &self.rooms
    }

    /// The rooms, to be asked for events.
    pub fn rooms_mut(&mut self) -> &mut [Room<G>] {
        &mut self.rooms
    }

    /// Says goodbye to everyone.
    pub fn close(&mut self, reason: CloseReason) {
        for room in 0..self.rooms.len() {
            self.rooms[room].close(reason);
            self.after(room);
        }
    }

    /// Removes a player who may not come back, if there is such a room and player.
    pub fn kick(&mut self, room: usize, player: PlayerId) {
        if let Some(kicked) = self.rooms.get_mut(room) {
            kicked.kick(player);
            self.after(room);
        }
    }

    fn call(&mut self, now: Time, call: Option<Call<'_>>) {
        let Some(call) = call else { return };
        let room = call.room;
        if let Some(called) = self.rooms.get_mut(room) {
            called.handle_call(now, call);
            self.after(room);
        }
    }

    fn after(&mut self, room: usize) {
        while let Some(notice) = self.rooms[room].poll_notice() {
            self.front.handle_notice(notice);
        }
        if !std::mem::replace(&mut self.is_talking[room], true) {
            self.talking.push_back(room);
        }
    }
}

impl<G: Game> Node for Server<G> {
    fn handle_datagram(&mut self, now: Time, path: Path, bytes: &mut [u8]) {
        let call = self.front.handle_datagram(now, path, bytes);
        self.call(now, call);
    }

    fn handle_timeout(&mut self, now: Time) {
        if self.front.poll_timeout().is_some_and(|due| due <= now) {
            self.front.handle_timeout(now);
        }
        for room in 0..self.rooms.len() {
            if self.rooms[room].poll_timeout() <= now {
                self.rooms[room].handle_timeout(now);
                self.after(room);
            }
        }
    }

    fn poll_transmit(&mut self, now: Time, out: &mut [u8]) -> Option<Transmit> {
        if let Some(transmit) = self.front.poll_transmit(out) {
            return Some(transmit);
        }
        while let Some(&room) = self.talking.front() {
            if let Some(transmit) = self.rooms[room].poll_transmit(now, out) {
                return Some(transmit);
            }
            self.talking.pop_front();
            self.is_talking[room] = false;
        }
        None
    }

    fn poll_timeout(&self) -> Option<Time> {
        let rooms = self.rooms.iter().map(Room::poll_timeout);
        rooms.chain(self.front.poll_timeout()).min()
    }
}

#[cfg(feature = "rtype")]
impl<G: Game> crate::node::StreamNode for Server<G> {
    fn accepts_streams(&self) -> bool {
        true
    }

    fn handle_stream(
        &mut self,
        now: Time,
        stream: crate::node::StreamId,
        event: crate::node::StreamEvent<'_>,
    ) {
        let call = self.front.handle_stream(now, stream, event);
        self.call(now, call);
    }

    fn poll_stream(
        &mut self,
        _now: Time,
        out: &mut [u8],
    ) -> Option<(crate::node::StreamId, crate::node::StreamAction)> {
        self.front.poll_stream(out)
    }
}

/// Without `rtype` nobody opens a stream.
#[cfg(not(feature = "rtype"))]
impl<G: Game> crate::node::StreamNode for Server<G> {}
