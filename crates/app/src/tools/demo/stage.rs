//! Where the match runs: on real sockets in real time, or in the simulator.
//!
//! Both have the same host, the same guest and the same link between them.

use std::error::Error;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use backspin::client::{Client, ClientConfig};
use backspin::endpoint::EndpointConfig;
use backspin::host::Host;
use backspin::node::StreamNode;
use backspin::room::RoomConfig;
use backspin::server::Server;
use backspin::time::Time;
use backspin::wire::Name;
use backspin::wire::native::DEFAULT_PORT;
use backspin_pong::Pong;
use backspin_sim::{Drift, LinkConfig, World};
use backspin_udp::{Clock, Loop, Socket};

use super::guest::Guest;
use crate::play::{Access, NodeThread, Worker};
use crate::seed;
use crate::tools::lag::{self, Proxy};

/// What the link leaves to chance follows from it.
const SEED: u64 = 1;

/// Host and guest, and what lets time pass for them.
pub(super) struct Stage {
    pub(super) host: Access<Host<Pong>>,
    pub(super) guest: Access<Guest>,
    engine: Engine,
}

enum Engine {
    Real(Real),
    Simulated(Box<World<Box<dyn StreamNode>>>),
}

/// Three threads: one for each side, and one for the link between them.
struct Real {
    /// Everyone's, so that what the guest believes of the server's can be held against it.
    clock: Clock,
    guest: NodeThread<Guest>,
    host: NodeThread<Host<Pong>>,
    cable: Worker,
}

impl Stage {
    /// Real sockets on loopback, with a proxy between them.
    pub(super) fn real(game: Pong, link: LinkConfig) -> Result<Self, Box<dyn Error>> {
        let clock = Clock::start();
        let bind = || Socket::bind((Ipv4Addr::LOCALHOST, 0).into());
        let host_socket = bind()?;
        let target = host_socket.local_addr()?;
        let host = host(clock.now(), game, [seed::secret()?, seed::secret()?]);
        let driver = Loop::new(vec![host_socket])?.with_clock(clock);
        let host = NodeThread::new(driver, host)?;
        let front = bind()?;
        let server = front.local_addr()?;
        let cable = lay_cable(clock, front, target, link)?;
        let guest = guest(clock.now(), server, seed::secret()?);
        let guest = NodeThread::new(Loop::new(vec![bind()?])?.with_clock(clock), guest)?;
        Ok(Stage {
            host: host.access(),
            guest: guest.access(),
            engine: Engine::Real(Real { clock, guest, host, cable }),
        })
    }

    /// The same without sockets, threads and waiting.
    pub(super) fn simulated(game: Pong, link: LinkConfig) -> Self {
        let mut world = World::new(SEED, link);
        let at = |last: u8| SocketAddr::from(([10, 0, 0, last], DEFAULT_PORT));
        // Nobody attacks a simulation.
        let secrets = [[1; 32], [2; 32]];
        let host = Access::new(host(Time::ZERO, game, secrets));
        let guest = Access::new(guest(Time::ZERO, at(1), [3; 32]));
        world.add(Box::new(host.clone()) as Box<dyn StreamNode>, &[at(1)], Drift::NONE);
        world.add(Box::new(guest.clone()), &[at(2)], Drift::NONE);
        Stage { host, guest, engine: Engine::Simulated(Box::new(world)) }
    }

    pub(super) fn now(&self) -> Time {
        match &self.engine {
            Engine::Real(real) => real.clock.now(),
            Engine::Simulated(world) => world.now(),
        }
    }

    /// Lets time pass. An error is one of this machine.
    pub(super) fn pass_until(&mut self, at: Time) -> io::Result<()> {
        match &mut self.engine {
            Engine::Simulated(world) => world.run_until(at),
            Engine::Real(Real { clock, guest, host, cable }) => {
                thread::sleep(at.since(clock.now()));
                let failures = [guest.failure(), host.failure(), cable.failure()];
                if let Some(error) = failures.into_iter().flatten().next() {
                    return Err(error);
                }
            }
        }
        Ok(())
    }
}

fn host(now: Time, game: Pong, [server_secret, secret]: [[u8; 32]; 2]) -> Host<Pong> {
    let mut server = Server::new(EndpointConfig::default(), server_secret)
        .speaking(backspin_classic::dialects());
    server.open(now, game, Name::new("Demo"), SEED, RoomConfig::default());
    Host::new(now, server, game, Name::new("Hard"), secret)
}

fn guest(now: Time, server: SocketAddr, secret: [u8; 32]) -> Guest {
    let config = ClientConfig::new(server, Name::new("Easy"));
    Guest::new(Client::new(now, Pong::default(), config, secret))
}

/// How often the link's thread checks whether it must stop.
const NAP: Duration = Duration::from_millis(50);

/// A thread that is the link between those who speak to `front` and the game at `target`: what `backspin lag` does.
fn lay_cable(
    clock: Clock,
    front: Socket,
    target: SocketAddr,
    link: LinkConfig,
) -> io::Result<Worker> {
    let (idle, dialect) = (Duration::from_secs(60), lag::Dialect::Any);
    let mut proxy = Proxy::new(front, lag::Setup { target, link, seed: SEED, idle, dialect })?;
    Worker::start("link", move |stop| {
        while !stop.load(Ordering::Relaxed) {
            proxy.turn(|| clock.now(), clock.now() + NAP)?;
        }
        Ok(())
    })
}
