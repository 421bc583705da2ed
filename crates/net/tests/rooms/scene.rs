//! A server that offers a game, and whoever comes to it, over the seeded network.

use std::net::SocketAddr;
use std::time::Duration;

use backspin::client::{Client, ClientConfig, ClientEvent, Rooms};
use backspin::endpoint::EndpointConfig;
use backspin::game::Game;
use backspin::node::{Node, Path, StreamAction, StreamEvent, StreamId, StreamNode, Transmit};
use backspin::room::RoomConfig;
use backspin::server::Server;
use backspin::time::Time;
use backspin::wire::Name;
use backspin::wire::native::Role;
use backspin_sim::{Drift, HostId, LinkConfig, World};

/// Makes a client: [`Client::new`], or one that speaks another dialect.
type MakeClient<G> = fn(Time, G, ClientConfig, [u8; 32]) -> Client<G>;

/// Whoever takes part.
pub(crate) enum Party<G: Game> {
    Server(Box<Server<G>>),
    Client(Box<Client<G>>),
    Rooms(Box<Rooms>),
}

impl<G: Game> Party<G> {
    fn node(&self) -> &dyn StreamNode {
        match self {
            Party::Server(node) => node,
            Party::Client(node) => node,
            Party::Rooms(node) => node,
        }
    }

    fn node_mut(&mut self) -> &mut dyn StreamNode {
        match self {
            Party::Server(node) => node,
            Party::Client(node) => node,
            Party::Rooms(node) => node,
        }
    }
}

impl<G: Game> Node for Party<G> {
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

impl<G: Game> StreamNode for Party<G> {
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

pub(crate) fn server_address() -> SocketAddr {
    "10.0.0.1:4300".parse().unwrap()
}

/// A server and its guests.
pub(crate) struct Scene<G: Game> {
    game: G,
    pub(crate) world: World<Party<G>>,
    pub(crate) server: HostId,
    /// How many have come so far.
    guests: u16,
}

impl<G: backspin_classic::ClassicGame> Scene<G> {
    /// A server that offers at most so many open rooms of the game.
    pub(crate) fn new(
        seed: u64,
        link: LinkConfig,
        game: (G, &str),
        most: u16,
        config: EndpointConfig,
    ) -> Self {
        println!("seed {seed}");
        let mut world = World::new(seed, link);
        let mut server =
            Server::new(config, [seed as u8; 32]).speaking(backspin_classic::dialects());
        let (game, name) = (game.0, Name::new(game.1));
        server.offer(Time::ZERO, game.clone(), name, most, RoomConfig::default());
        let server = Party::Server(Box::new(server));
        let server = world.add(server, &[server_address()], Drift::NONE);
        Scene { game, world, server, guests: 0 }
    }

    /// Someone comes from an address of its own, and has a second to get in.
    pub(crate) fn join(&mut self, set: impl FnOnce(&mut ClientConfig)) -> HostId {
        self.join_from(&self.free_ip(), set)
    }

    /// The same, in another dialect than `native`.
    #[allow(dead_code, reason = "not every file of tests has such guests")]
    pub(crate) fn join_speaking(&mut self, make: MakeClient<G>) -> HostId {
        let host = self.knock_speaking(&self.free_ip(), |_| {}, make);
        self.run_ms(1_000);
        host
    }

    fn free_ip(&self) -> String {
        let ip = 10 + self.guests;
        format!("10.0.{}.{}", 1 + ip / 250, 1 + ip % 250)
    }

    pub(crate) fn join_from(&mut self, ip: &str, set: impl FnOnce(&mut ClientConfig)) -> HostId {
        let host = self.knock(ip, set);
        self.run_ms(1_000);
        host
    }

    /// Someone comes; what becomes of it is not waited for.
    pub(crate) fn knock(&mut self, ip: &str, set: impl FnOnce(&mut ClientConfig)) -> HostId {
        self.knock_speaking(ip, set, Client::new)
    }

    fn knock_speaking(
        &mut self,
        ip: &str,
        set: impl FnOnce(&mut ClientConfig),
        make: MakeClient<G>,
    ) -> HostId {
        self.guests += 1;
        let (now, own) = (self.world.now(), format!("{ip}:{}", 5000 + self.guests));
        let name = Name::new(&format!("Guest {}", self.guests));
        let mut config = ClientConfig::new(server_address(), name);
        config.own_port = 5000 + self.guests;
        config.token = b"pass".to_vec();
        set(&mut config);
        let mut seed = [9; 32];
        seed[..2].copy_from_slice(&self.guests.to_le_bytes());
        let client = Party::Client(Box::new(make(now, self.game.clone(), config, seed)));
        self.world.add(client, &[own.parse::<SocketAddr>().unwrap()], Drift::NONE)
    }

    /// So many come, one after the other, to any room.
    pub(crate) fn crowd(&mut self, guests: usize) -> Vec<HostId> {
        (0..guests).map(|_| self.join(|_| {})).collect()
    }

    /// Someone makes a room.
    pub(crate) fn make(&mut self, name: &str, password: &str) -> HostId {
        self.join(|config| {
            config.new_room = Some(Name::new(name));
            config.password = Name::new(password);
        })
    }

    /// Someone asks for the list, and has a second to get it.
    pub(crate) fn list(&mut self) -> HostId {
        self.list_of(&[server_address()])
    }

    pub(crate) fn list_of(&mut self, servers: &[SocketAddr]) -> HostId {
        self.guests += 1;
        let (now, own) = (self.world.now(), format!("10.0.9.9:{}", 5000 + self.guests));
        let rooms = Rooms::new(now, self.game.id(), servers, [8; 32]);
        let rooms = Party::Rooms(Box::new(rooms));
        let host = self.world.add(rooms, &[own.parse::<SocketAddr>().unwrap()], Drift::NONE);
        self.run_ms(1_000);
        host
    }

    pub(crate) fn run_ms(&mut self, ms: u64) {
        self.world.run_for(Duration::from_millis(ms));
    }

    pub(crate) fn server(&self) -> &Server<G> {
        match self.world.node(self.server) {
            Party::Server(server) => server,
            _ => unreachable!(),
        }
    }

    pub(crate) fn server_mut(&mut self) -> &mut Server<G> {
        match self.world.node_mut(self.server) {
            Party::Server(server) => server,
            _ => unreachable!(),
        }
    }

    pub(crate) fn client(&mut self, host: HostId) -> &mut Client<G> {
        match self.world.node_mut(host) {
            Party::Client(client) => client,
            _ => unreachable!(),
        }
    }

    pub(crate) fn rooms(&self, host: HostId) -> &Rooms {
        match self.world.node(host) {
            Party::Rooms(rooms) => rooms,
            _ => unreachable!(),
        }
    }

    /// The rooms as they are listed: number, players, name.
    pub(crate) fn listed(&mut self) -> Vec<(u32, u8, String)> {
        let host = self.list();
        let rooms = self.rooms(host).servers().next().unwrap().rooms.iter();
        rooms.map(|room| (room.room, room.players, room.name.to_string())).collect()
    }

    /// The numbers of the rooms that the server has.
    pub(crate) fn numbers(&self) -> Vec<u32> {
        self.server().rooms().iter().map(|room| room.number()).collect()
    }

    pub(crate) fn leave(&mut self, host: HostId) {
        self.client(host).leave();
        self.run_ms(1_000);
    }

    /// Goes to another room, and has a second for it.
    pub(crate) fn enter(&mut self, host: HostId, room: u32, role: Role, password: &str) {
        let now = self.world.now();
        self.client(host).enter_room(now, room, role, Name::new(password));
        self.run_ms(1_000);
    }

    pub(crate) fn events(&mut self, host: HostId) -> Vec<ClientEvent<G::Message>> {
        let client = self.client(host);
        std::iter::from_fn(|| client.poll_event()).collect()
    }
}
