//! A matchmaker, its servers, and players who seek others.

use std::net::SocketAddr;
use std::time::Duration;

use backspin::endpoint::EndpointConfig;
use backspin::game::{Game, GameId};
use backspin::matching::{
    Families, MatchEvent, MatchKey, MatchLimits, Matchmaker, MatchmakerConfig, SeekStatus, Seeker,
};
use backspin::node::{Node, Path, StreamAction, StreamEvent, StreamId, StreamNode, Transmit};
use backspin::room::RoomConfig;
use backspin::server::Server;
use backspin::time::Time;
use backspin::wire::Name;
use backspin::wire::native::{Matched, ServerAddress};
use backspin_sim::dot::Dots;
use backspin_sim::{Drift, HostId, LinkConfig, World};

pub(crate) const KEY: MatchKey = MatchKey(*b"a key for tests.");

/// How many play in a room.
pub(crate) const CAPACITY: u8 = 4;

/// Whoever takes part.
pub(crate) enum Party {
    Server(Box<Server<Dots>>),
    Matchmaker(Box<Matchmaker>),
    Seeker(Box<Seeker>),
}

impl Party {
    fn node(&self) -> &dyn StreamNode {
        match self {
            Party::Server(node) => node,
            Party::Matchmaker(node) => node,
            Party::Seeker(node) => node,
        }
    }

    fn node_mut(&mut self) -> &mut dyn StreamNode {
        match self {
            Party::Server(node) => node,
            Party::Matchmaker(node) => node,
            Party::Seeker(node) => node,
        }
    }
}

impl Node for Party {
    fn handle_datagram(&mut self, now: Time, path: Path, bytes: &mut [u8]) {
        self.node_mut().handle_datagram(now, path, bytes);
    }

    fn handle_timeout(&mut self, now: Time) {
        self.node_mut().handle_timeout(now);
    }

    fn poll_transmit(&mut self, now: Time, out: &mut [u8]) -> Option<Transmit> {
        self.node_mut().poll_transmit(now, out)
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.node().poll_timeout()
    }
}

impl StreamNode for Party {
    fn accepts_streams(&self) -> bool {
        self.node().accepts_streams()
    }

    fn handle_stream(&mut self, now: Time, stream: StreamId, event: StreamEvent<'_>) {
        self.node_mut().handle_stream(now, stream, event);
    }

    fn poll_stream(&mut self, now: Time, out: &mut [u8]) -> Option<(StreamId, StreamAction)> {
        self.node_mut().poll_stream(now, out)
    }
}

pub(crate) fn game() -> GameId {
    Dots::default().id()
}

pub(crate) fn server_address(index: usize) -> SocketAddr {
    SocketAddr::from(([10, 0, index as u8, 1], 4300))
}

pub(crate) fn matchmaker_address() -> SocketAddr {
    SocketAddr::from(([10, 9, 0, 1], 4300))
}

pub(crate) const FAMILIES: Families = Families { v4: Some(0), v6: None };

pub(crate) fn matchmaker(servers: usize, limits: MatchLimits) -> Matchmaker {
    seeded_matchmaker(servers, limits, 1)
}

pub(crate) fn seeded_matchmaker(servers: usize, limits: MatchLimits, seed: u8) -> Matchmaker {
    let servers = (0..servers).filter_map(|it| ServerAddress::new(server_address(it))).collect();
    let games = vec![(game(), CAPACITY)];
    let config = MatchmakerConfig { servers, key: KEY, games, families: FAMILIES, limits };
    Matchmaker::new(Time::ZERO, config, [seed; 32])
}

pub(crate) fn game_server(key: Option<MatchKey>, seed: u8) -> Server<Dots> {
    let config = EndpointConfig { match_key: key, ..EndpointConfig::default() };
    let mut server = Server::new(config, [seed; 32]).speaking(backspin_classic::dialects());
    server.offer(Time::ZERO, Dots::default(), Name::new("Dots"), 1, RoomConfig::default());
    server
}

pub(crate) struct Scene {
    pub(crate) world: World<Party>,
    pub(crate) matchmaker: HostId,
    pub(crate) servers: Vec<HostId>,
    players: u32,
}

impl Scene {
    /// A matchmaker with these servers, over links of this kind.
    pub(crate) fn new(seed: u64, link: LinkConfig, keys: &[Option<MatchKey>]) -> Self {
        println!("seed {seed}");
        let mut world = World::new(seed, link);
        let node = matchmaker(keys.len(), MatchLimits::default());
        let node = Party::Matchmaker(Box::new(node));
        let matchmaker = world.add(node, &[matchmaker_address()], Drift::NONE);
        let mut servers = Vec::new();
        for (index, key) in keys.iter().enumerate() {
            let node = Party::Server(Box::new(game_server(*key, index as u8)));
            servers.push(world.add(node, &[server_address(index)], Drift::NONE));
        }
        Scene { world, matchmaker, servers, players: 0 }
    }

    /// Someone begins to seek, so far from each server.
    pub(crate) fn seek(&mut self, rtts: &[Duration]) -> HostId {
        self.players += 1;
        let [.., high, low] = self.players.to_be_bytes();
        let mut seed = [9; 32];
        seed[..2].copy_from_slice(&[high, low]);
        let now = self.world.now();
        let node = Seeker::new(now, game(), matchmaker_address(), FAMILIES, seed).unwrap();
        let own = SocketAddr::from(([10, 100, high, low], 5000));
        let host = self.world.add(Party::Seeker(Box::new(node)), &[own], Drift::NONE);
        for (&server, &rtt) in self.servers.iter().zip(rtts) {
            self.world.set_link(host, server, LinkConfig::PERFECT.with_rtt(rtt));
        }
        host
    }

    pub(crate) fn run_ms(&mut self, ms: u64) {
        self.world.run_for(Duration::from_millis(ms));
    }

    pub(crate) fn status(&self, host: HostId) -> SeekStatus {
        match self.world.node(host) {
            Party::Seeker(seeker) => seeker.status(),
            _ => unreachable!(),
        }
    }

    /// A player gives up.
    pub(crate) fn leave(&mut self, host: HostId) {
        match self.world.node_mut(host) {
            Party::Seeker(seeker) => seeker.leave(),
            _ => unreachable!(),
        }
    }

    /// How many players the matchmaker keeps.
    pub(crate) fn kept(&self) -> usize {
        match self.world.node(self.matchmaker) {
            Party::Matchmaker(node) => node.kept(),
            _ => unreachable!(),
        }
    }

    pub(crate) fn matched(&self, host: HostId) -> Option<Matched> {
        match self.status(host) {
            SeekStatus::Matched(matched) => Some(matched),
            _ => None,
        }
    }

    pub(crate) fn events(&mut self) -> Vec<MatchEvent> {
        match self.world.node_mut(self.matchmaker) {
            Party::Matchmaker(node) => std::iter::from_fn(|| node.poll_event()).collect(),
            _ => unreachable!(),
        }
    }

    pub(crate) fn server_mut(&mut self, index: usize) -> &mut Server<Dots> {
        match self.world.node_mut(self.servers[index]) {
            Party::Server(server) => server,
            _ => unreachable!(),
        }
    }
}

pub(crate) fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}
