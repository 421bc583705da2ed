//! Ours: the crate's own server, rooms and sessions, over its own loop.

mod player;

use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use backspin::endpoint::{EndpointConfig, Limits};
use backspin::game::{Buttons, Game, GameId, PlayerId, Turn};
use backspin::replication::{Entity, Field, Kind, Motion, Schema, State, Step};
use backspin::room::RoomConfig;
use backspin::server::Server;
use backspin::wire::Name;
use backspin_udp::{Loop, Socket};

use super::{local, ready_at};
use crate::control::Ready;
use crate::crowd::{self, Trail};
use crate::server::{self, Done};
use player::Player;

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

const THINGS: u32 = 16;

const NUMBER: Field =
    Field { name: "number", min: 0, max: (1 << 23) - 1, step: Step::ONE, motion: Motion::Still };

const SCHEMA: Schema = Schema::new(&[Kind { name: "thing", fields: &[NUMBER; 4] }]);

impl Game for Noise {
    type World = World;
    type Input = Buttons;
    type Message = ();
    type JoinData = ();

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

    fn join(&self, _world: &mut World, _player: PlayerId, _: &()) {}

    fn leave(&self, _world: &mut World, _player: PlayerId) {}

    /// What players hold changes what comes, so that it matters who held what.
    fn step(&self, world: &mut World, turn: &mut Turn<'_, Self>) {
        let held = turn.inputs().iter().fold(0, |held, input| held ^ input.input.0 as u64);
        world.generator ^= held << 1;
        next(&mut world.generator);
    }

    fn predict(&self, _world: &mut World, _turn: &mut Turn<'_, Self>) {}

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

    fn entity_of(&self, _player: PlayerId) -> u32 {
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
}

impl Host {
    pub(super) fn new(clients: usize) -> Result<Self, Box<dyn Error>> {
        let driver = Loop::new(vec![Socket::bind(local(0))?.without_fragments()])?;
        // All clients are at one address here, and they come all at once.
        let many = Limits {
            sessions_per_ip: u16::MAX,
            stranger_datagrams_per_s: 1_000_000,
            ..Limits::default()
        };
        let config = EndpointConfig { limits: many, ..EndpointConfig::default() };
        let mut server = Server::new(config, [7; 32]);
        for room in 0..clients.div_ceil(ROOM) {
            let name = Name::new(&format!("Room {room}"));
            server.open(driver.now(), Noise, name, room as u64, RoomConfig::default());
        }
        Ok(Host { driver, server })
    }

    pub(super) fn ready(&self) -> io::Result<Ready> {
        let socket = self.driver.sockets().first().ok_or(io::ErrorKind::NotFound)?;
        Ok(ready_at(socket.local_addr()?))
    }
}

impl server::Host for Host {
    /// The rooms tick by themselves.
    fn tick(&mut self) {}

    /// A turn ends with a tick, if not before: there is no need to be woken for `until`.
    fn wait(&mut self, until: Instant) {
        while Instant::now() < until {
            let far = self.driver.now() + Duration::from_secs(1);
            if let Err(error) = self.driver.turn(&mut self.server, far) {
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

/// Clients with a socket each.
pub(super) struct Crowd {
    players: Vec<Player>,
    trails: Vec<Trail>,
}

impl Crowd {
    pub(super) fn new(server: SocketAddr, clients: usize) -> io::Result<Self> {
        let players = (0..clients).map(|number| Player::new(server, number, Noise.id()));
        let players = players.collect::<io::Result<_>>()?;
        Ok(Crowd { players, trails: vec![Trail::default(); clients] })
    }
}

impl crowd::Crowd for Crowd {
    fn tick(&mut self) {
        for (player, trail) in self.players.iter_mut().zip(&mut self.trails) {
            player.frame(trail);
        }
    }

    fn trails(&mut self) -> &mut [Trail] {
        &mut self.trails
    }
}
