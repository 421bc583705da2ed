//! Ours: the crate's own server, rooms and clients, over its own loop.

use std::error::Error;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::time::Instant;

use backspin::client::{Client, ClientConfig};
use backspin::front::{FrontConfig, Limits};
use backspin::game::{Buttons, Game, GameId, PlayerId, Turn};
use backspin::node::{Node, Path};
use backspin::replica::{Entity, Field, Kind, Motion, Schema, State, Step};
use backspin::room::RoomConfig;
use backspin::server::Server;
use backspin::time::Time;
use backspin::wire::{Dialect, Name};
use backspin_udp::{Clock, Loop, Socket};

use super::{local, ready_at, socket};
use crate::control::Ready;
use crate::crowd::{self, Trail};
use crate::server::{self, Done};

/// A game of which 200 bytes are new each tick: whatever a delta can leave out, it has left out.
///
/// Sixteen things have four numbers each of which nothing is known beforehand.
#[derive(Clone, Debug)]
struct Noise;

/// The numbers follow from where the generator is.
#[derive(Clone, Debug)]
struct World {
    generator: u64,
}

/// Players in a room.
const ROOM: usize = 32;

const THINGS: u16 = 16;

const NUMBER: Field =
    Field { name: "number", min: 0, max: (1 << 23) - 1, step: Step::ONE, motion: Motion::Still };

const SCHEMA: Schema = Schema { kinds: &[Kind { name: "thing", fields: &[NUMBER; 4] }] };

impl Game for Noise {
    type World = World;

    fn id(&self) -> GameId {
        GameId::new(*b"NOIS", 1)
    }

    fn capacity(&self) -> u8 {
        ROOM as u8
    }

    fn schema(&self) -> &'static Schema {
        &SCHEMA
    }

    fn begin(&self, seed: u64) -> World {
        World { generator: seed | 1 }
    }

    fn join(&self, _world: &mut World, _player: PlayerId) {}

    fn leave(&self, _world: &mut World, _player: PlayerId) {}

    /// What players hold changes what comes, so that it matters who held what.
    fn step(&self, world: &mut World, turn: &mut Turn<'_, World>) {
        let held = turn.inputs().iter().fold(0, |held, input| held ^ u64::from(input.buttons.0));
        world.generator ^= held << 1;
        next(&mut world.generator);
    }

    fn predict(&self, _world: &mut World, _turn: &mut Turn<'_, World>) {}

    fn capture(&self, world: &World, state: &mut State) {
        let mut generator = world.generator;
        for id in 1..=THINGS {
            let numbers = [(); 4].map(|()| (next(&mut generator) >> 41) as i32);
            // Ids rise, and there are far fewer than a state holds.
            let _ = state.push(Entity::new(&SCHEMA, id, 0, &numbers));
        }
    }

    fn restore(&self, state: &State) -> World {
        World { generator: u64::from(state.tick) }
    }

    fn entity_of(&self, _player: PlayerId) -> u16 {
        0
    }
}

fn next(generator: &mut u64) -> u64 {
    *generator = generator.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
    *generator
}

/// A server with rooms enough.
pub(super) struct Host {
    driver: Loop,
    server: Server<Noise>,
    origin: Instant,
}

impl Host {
    pub(super) fn new(clients: usize) -> Result<Self, Box<dyn Error>> {
        let origin = Instant::now();
        let driver = Loop::new(vec![Socket::bind(local(0))?])?;
        // All clients are at one address here, and they come all at once.
        let many = Limits {
            sessions_per_ip: u16::MAX,
            stranger_datagrams_per_s: 1_000_000,
            ..Limits::default()
        };
        let config = FrontConfig { limits: many, ..FrontConfig::default() };
        let mut server = Server::new(config, [7; 32]);
        for room in 0..clients.div_ceil(ROOM) {
            let name = Name::new(&format!("Room {room}"));
            server.open(driver.now(), Noise, name, room as u64, RoomConfig::default());
        }
        Ok(Host { driver, server, origin })
    }

    pub(super) fn ready(&self) -> io::Result<Ready> {
        let socket = self.driver.sockets().first().ok_or(io::ErrorKind::NotFound)?;
        Ok(ready_at(socket.local_addr()?))
    }
}

impl server::Host for Host {
    /// The rooms tick by themselves.
    fn tick(&mut self) {}

    fn wait(&mut self, until: Instant) {
        let until = Time::ZERO + until.saturating_duration_since(self.origin);
        while self.driver.now() < until {
            if let Err(error) = self.driver.turn(&mut self.server, until) {
                panic!("waiting failed: {error}");
            }
        }
    }

    fn done(&self) -> Done {
        let members = self.server.rooms().iter().flat_map(|room| room.members());
        members.fold(Done::default(), |done, member| Done {
            inputs: done.inputs + member.ticks - member.ticks_without_input,
            snapshots: done.snapshots + member.ticks,
        })
    }
}

/// Clients with a socket each. They look at the network once a frame, as games do.
pub(super) struct Crowd {
    clock: Clock,
    seats: Vec<Seat>,
    trails: Vec<Trail>,
}

struct Seat {
    socket: UdpSocket,
    client: Client<Noise>,
    states: u64,
}

impl Crowd {
    pub(super) fn new(server: SocketAddr, clients: usize) -> Result<Self, Box<dyn Error>> {
        let clock = Clock::start();
        let mut seats = Vec::new();
        for number in 0..clients {
            let socket = socket()?;
            socket.connect(server)?;
            let name = Name::new(&format!("{number}"));
            let config = ClientConfig::new(server, Dialect::Native, name);
            let mut seed = [1; 32];
            seed[..8].copy_from_slice(&number.to_be_bytes());
            let client = Client::new(clock.now(), Noise, config, seed);
            seats.push(Seat { socket, client, states: 0 });
        }
        let trails = vec![Trail::default(); clients];
        Ok(Crowd { clock, seats, trails })
    }
}

impl Seat {
    fn take(&mut self, now: Time, bytes: &mut [u8], trail: &mut Trail) {
        let from = Path::to(self.client.server());
        self.client.handle_datagram(now, from, bytes);
        let states = self.client.counts().states;
        if states > self.states {
            self.states = states;
            trail.see(self.client.server_tick());
        }
        while self.client.poll_event().is_some() {}
    }

    fn speak(&mut self, now: Time) {
        if self.client.poll_timeout().is_some_and(|due| due <= now) {
            // Something to send that differs now and then.
            self.client.press(Buttons((now.as_nanos() >> 28) as u16 & 0x3F));
            self.client.handle_timeout(now);
        }
        let mut out = [0; 2048];
        while let Some(transmit) = self.client.poll_transmit(now, &mut out) {
            // A server that has just ended refuses it.
            let _ = self.socket.send(&out[..transmit.len]);
        }
    }
}

impl crowd::Crowd for Crowd {
    fn tick(&mut self) {
        let mut bytes = [0; 2048];
        for (seat, trail) in self.seats.iter_mut().zip(&mut self.trails) {
            while let Ok(len) = seat.socket.recv(&mut bytes) {
                seat.take(self.clock.now(), &mut bytes[..len], trail);
            }
            seat.speak(self.clock.now());
        }
    }

    fn trails(&mut self) -> &mut [Trail] {
        &mut self.trails
    }
}
