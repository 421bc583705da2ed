//! What a player costs the server when each sees a small part of the world:
//!
//! ```text
//! cargo build --profile profiling -p backspin-sim --example client_cost
//! valgrind --tool=callgrind --toggle-collect='client_cost::measured_*' --callgrind-out-file=out \
//!     target/profiling/examples/client_cost ENTITIES PLAYERS TURNS EVERY [VISIBLE [DRIFT]]
//! ```
//!
//! Each player sees `VISIBLE` of `ENTITIES` movers, spread over all ids, beside its own ship; 0 is
//! everything, in bodies that all players share. `TURNS` of a thousand ticks each mover turns, and a snapshot is sent every `EVERY` ticks. With `DRIFT`, so
//! many of those that a player sees go out of sight with every snapshot, and others come into it.
//!
//! Callgrind counts what the server does in the last `TICKS` ticks and nothing else. The difference
//! between two numbers of players is what players cost; `tools/client-cost` runs it and divides.

#[path = "large_world/movers.rs"]
mod movers;

use std::net::SocketAddr;
use std::time::Duration;

use backspin::client::{Client, ClientConfig};
use backspin::endpoint::EndpointConfig;
use backspin::node::{Node, Path, StreamNode, Transmit};
use backspin::room::RoomConfig;
use backspin::server::Server;
use backspin::time::Time;
use backspin::wire::Name;
use backspin_sim::{Chance, Drift, Party, Player, Preset, World};
use movers::{Movers, Named};

/// What is counted, after everyone has come and has seen everything once.
const TICKS: u32 = 120;
const BEGINNING: Duration = Duration::from_secs(3);

/// A host, and whether what the server does is counted.
struct Host {
    party: Party<Movers>,
    is_measured: bool,
}

#[inline(never)]
fn measured_datagram(party: &mut Party<Movers>, now: Time, path: Path, bytes: &mut [u8]) {
    party.handle_datagram(now, path, bytes);
}

#[inline(never)]
fn measured_timeout(party: &mut Party<Movers>, now: Time) {
    party.handle_timeout(now);
}

#[inline(never)]
fn measured_transmit(party: &mut Party<Movers>, now: Time, out: &mut [u8]) -> Option<Transmit> {
    party.poll_transmit(now, out)
}

impl Node for Host {
    fn handle_datagram(&mut self, now: Time, path: Path, bytes: &mut [u8]) {
        match self.is_measured {
            true => measured_datagram(&mut self.party, now, path, bytes),
            false => self.party.handle_datagram(now, path, bytes),
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        match self.is_measured {
            true => measured_timeout(&mut self.party, now),
            false => self.party.handle_timeout(now),
        }
    }

    fn poll_transmit(&mut self, now: Time, out: &mut [u8]) -> Option<Transmit> {
        match self.is_measured {
            true => measured_transmit(&mut self.party, now, out),
            false => self.party.poll_transmit(now, out),
        }
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.party.poll_timeout()
    }
}

impl StreamNode for Host {}

fn main() {
    let given: Result<Vec<u32>, _> = std::env::args().skip(1).map(|arg| arg.parse()).collect();
    let (count, players, turns, every, visible, drift) = match given.as_deref() {
        Ok(&[count, players, turns, every]) => (count, players, turns, every, 200, 0),
        Ok(&[count, players, turns, every, visible]) => (count, players, turns, every, visible, 0),
        Ok(&[count, players, turns, every, visible, drift]) => {
            (count, players, turns, every, visible, drift)
        }
        _ => {
            eprintln!("client_cost ENTITIES PLAYERS TURNS EVERY [VISIBLE [DRIFT]]");
            std::process::exit(2);
        }
    };
    let every = every.clamp(1, 8) as u8;
    let named = Some(Named { visible, drift });
    let game = Movers { count, turns, every, named, budget: 200_000, ..Movers::default() };
    let mut world: World<Host> = World::new(1, Preset::Reference.config());
    let address = SocketAddr::from(([10, 0, 0, 1], 4300));
    let mut server = Server::new(EndpointConfig::default(), [7; 32]);
    server.open(Time::ZERO, game, Name::new("named"), 1, RoomConfig::default());
    let party = Party::Server(Box::new(server));
    let server = world.add(Host { party, is_measured: false }, &[address], Drift::NONE);
    let mut hosts = Vec::new();
    for index in 0..players {
        let own = SocketAddr::from(([10, 1, 0, index as u8], 5000));
        let config = ClientConfig::new(address, Name::new("eye"));
        let client = Client::new(Time::ZERO, game, config, [index as u8; 32]);
        let player = Player::new(client, Chance::new(1, u64::from(index)));
        let party = Party::Player(Box::new(player));
        hosts.push(world.add(Host { party, is_measured: false }, &[own], Drift::NONE));
    }
    world.run_for(BEGINNING);
    let sent = world.traffic(server).sent_bytes;
    world.node_mut(server).is_measured = true;
    world.run_for(Duration::from_secs(1) * TICKS / 60);
    world.node_mut(server).is_measured = false;
    let bytes = world.traffic(server).sent_bytes - sent;
    let seen = hosts.iter().map(|host| match &world.node(*host).party {
        Party::Player(player) => player.client.state().entities().len(),
        Party::Server(_) => 0,
    });
    let seen: usize = seen.sum();
    println!("{TICKS} ticks, {bytes} bytes sent, {seen} entities with {players} players");
    println!("all datagrams: {}", world.digest());
}
