//! Sessions of peers that have no socket address, as a browser's connection has none: they join, play,
//! are limited and banned by the IP address that they come from, and resume over another connection.
//!
//! The simulator plays the driver. The server has a UDP socket and, as its second, what connections
//! come in by; at both ends the peer is a number of a connection.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use backspin::client::{Client, ClientConfig, ClientEvent};
use backspin::endpoint::{EndpointConfig, Limits};
use backspin::game::{Buttons, PlayerId};
use backspin::node::{Node, Path, StreamAction, StreamEvent, StreamId, StreamNode, Transmit};
use backspin::peer::{LimitKey, PeerAddr};
use backspin::room::RoomConfig;
use backspin::server::Server;
use backspin::session::EndReason;
use backspin::time::Time;
use backspin::wire::Name;
use backspin::wire::native::{Datagram, Hello, PROTOCOL, Packet};
use backspin_classic::Dialect;
use backspin_sim::dot::Dots;
use backspin_sim::{Drift, HostId, LinkConfig, Partition, Preset, World};

enum Party {
    Server(Box<Server<Dots>>),
    Client(Box<Client<Dots>>),
}

impl Party {
    fn node(&mut self) -> &mut dyn StreamNode {
        match self {
            Party::Server(server) => server,
            Party::Client(client) => client,
        }
    }
}

impl Node for Party {
    fn handle_datagram(&mut self, now: Time, path: Path, bytes: &mut [u8]) {
        self.node().handle_datagram(now, path, bytes);
    }

    fn handle_timeout(&mut self, now: Time) {
        self.node().handle_timeout(now);
    }

    fn poll_transmit(&mut self, now: Time, out: &mut [u8]) -> Option<Transmit> {
        self.node().poll_transmit(now, out)
    }

    fn poll_timeout(&self) -> Option<Time> {
        match self {
            Party::Server(server) => server.poll_timeout(),
            Party::Client(client) => client.poll_timeout(),
        }
    }
}

impl StreamNode for Party {
    fn accepts_streams(&self) -> bool {
        matches!(self, Party::Server(_))
    }

    fn handle_stream(&mut self, now: Time, stream: StreamId, event: StreamEvent<'_>) {
        self.node().handle_stream(now, stream, event);
    }

    fn poll_stream(&mut self, now: Time, out: &mut [u8]) -> Option<(StreamId, StreamAction)> {
        self.node().poll_stream(now, out)
    }
}

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

/// The server, for those who have sockets.
fn by_udp() -> PeerAddr {
    PeerAddr::socket(SocketAddr::new(ip("10.0.0.1"), 4300))
}

/// The server, for those who have connections.
fn by_connection() -> PeerAddr {
    PeerAddr::connection(0, ip("10.0.0.1"))
}

fn seed(n: u8) -> [u8; 32] {
    [n; 32]
}

struct Scene {
    world: World<Party>,
    server: HostId,
    clients: u8,
}

impl Scene {
    fn new(link: LinkConfig, limits: Limits) -> Self {
        let mut world = World::new(7, link);
        let config = EndpointConfig { limits, ..EndpointConfig::default() };
        let mut server = Server::new(config, seed(1)).speaking(backspin_classic::dialects());
        server.open(Time::ZERO, Dots::default(), Name::new("Dots"), 1, RoomConfig::default());
        let server = Party::Server(Box::new(server));
        let server = world.add(server, &[by_udp(), by_connection()], Drift::NONE);
        Scene { world, server, clients: 0 }
    }

    /// A client at `own` that knows the server by the same kind of address.
    fn join(&mut self, dialect: Dialect, own: PeerAddr) -> HostId {
        self.clients += 1;
        let server = if own.socket_addr().is_some() { by_udp() } else { by_connection() };
        let config = ClientConfig {
            own_port: 5000,
            ..ClientConfig::new(server, Name::new(&format!("Player {}", self.clients)))
        };
        let now = self.world.now();
        let client = dialect.client(now, Dots::default(), config, seed(100 + self.clients));
        self.world.add(Party::Client(Box::new(client)), &[own], Drift::NONE)
    }

    fn client(&mut self, id: HostId) -> &mut Client<Dots> {
        match self.world.node_mut(id) {
            Party::Client(client) => client,
            Party::Server(_) => unreachable!(),
        }
    }

    fn server(&mut self) -> &mut Server<Dots> {
        match self.world.node_mut(self.server) {
            Party::Server(server) => server,
            Party::Client(_) => unreachable!(),
        }
    }

    /// Where the players are, by their numbers.
    fn peers(&mut self) -> Vec<(u32, PeerAddr)> {
        let members = self.server().rooms()[0].members();
        members.map(|card| (card.player.0, card.path.remote)).collect()
    }

    fn run_ms(&mut self, ms: u64) {
        self.world.run_for(Duration::from_millis(ms));
    }
}

/// The number of the connection counts as little for a limit as a port does.
fn browser(id: u64) -> PeerAddr {
    PeerAddr::connection(id, ip("203.0.113.5"))
}

#[test]
fn a_browser_plays_beside_a_socket_over_a_bad_link() {
    let mut scene = Scene::new(Preset::Mobile.config(), Limits::default());
    let browser_at = browser(1);
    let socket_at = PeerAddr::socket(SocketAddr::new(ip("203.0.113.5"), 5000));
    let clients = [browser_at, socket_at].map(|own| {
        let id = scene.join(Dialect::Native, own);
        scene.run_ms(3_000);
        id
    });
    assert_eq!(scene.peers(), [(1, browser_at), (2, socket_at)]);
    assert_eq!(scene.client(clients[0]).server(), by_connection());
    for id in clients {
        scene.client(id).press(Buttons::DOWN);
    }
    let before: Vec<_> = scene.server().rooms()[0].world().dots.iter().map(|dot| dot.y).collect();
    scene.run_ms(1_000);
    let after: Vec<_> = scene.server().rooms()[0].world().dots.iter().map(|dot| dot.y).collect();
    for (before, after) in before.iter().zip(&after) {
        assert!((240..=300).contains(&(after - before)), "{before} -> {after}");
    }
    scene.client(clients[0]).press(Buttons::default());
    scene.run_ms(20_000);
    assert!(scene.client(clients[0]).is_playing());
    // Both predict the world that the server has, and both measure the link.
    let dot = scene.server().rooms()[0].world().dots[0];
    let client = scene.client(clients[0]);
    assert_eq!(client.predicted().map(|(_, at)| at), Some([dot.x as f32, dot.y as f32]));
    assert!(client.round_trip().mean().is_some() && client.counts().states > 600);
    let here = scene.world.traffic(clients[0]);
    assert!(here.sent > 1_000 && here.received > 1_000, "{here:?}");
    assert_eq!(scene.server().endpoint().counts().stray, 0);
}

#[test]
fn sessions_are_limited_by_the_ip_address_whatever_the_kind_of_peer() {
    let limits = Limits { sessions_per_ip: 2, ..Limits::default() };
    let mut scene = Scene::new(LinkConfig::PERFECT, limits);
    let socket = PeerAddr::socket(SocketAddr::new(ip("203.0.113.5"), 5000));
    let inside = [browser(1), socket].map(|own| scene.join(Dialect::Native, own));
    scene.run_ms(500);
    let third = scene.join(Dialect::Native, browser(2));
    let elsewhere = scene.join(Dialect::Native, PeerAddr::connection(3, ip("203.0.113.6")));
    scene.run_ms(500);
    for id in [inside[0], inside[1], elsewhere] {
        assert!(scene.client(id).is_playing());
    }
    assert_eq!(scene.client(third).ended(), Some(&EndReason::TooManyFromAddress));
    scene.client(inside[1]).leave();
    // The place of who has left is kept for a return, and counts until it is given up.
    scene.run_ms(31_000);
    let fourth = scene.join(Dialect::Native, browser(4));
    scene.run_ms(500);
    assert!(scene.client(fourth).is_playing());
}

#[test]
fn the_connections_of_one_ip_address_share_one_stranger_bucket() {
    let limits = Limits { stranger_datagrams_per_s: 10, ..Limits::default() };
    let mut scene = Scene::new(LinkConfig::PERFECT, limits);
    let game = backspin::game::Game::id(&Dots::default());
    let hello = Hello { protocol: PROTOCOL, game: game.game, game_version: game.version, nonce: 1 };
    let mut bytes = [0; 64];
    let len = Datagram { sequence: 1, packet: Packet::Hello(hello) }.encode(&mut bytes).unwrap();
    for id in 1..=25 {
        let now = scene.world.now();
        scene.world.inject(now, browser(id), by_connection(), &bytes[..len]);
    }
    scene.run_ms(1);
    assert_eq!(scene.server().endpoint().counts().stranger_limit, 15);
    let neighbour = scene.join(Dialect::Native, PeerAddr::connection(30, ip("203.0.113.6")));
    scene.run_ms(100);
    assert!(scene.client(neighbour).is_playing());
}

#[test]
fn a_ban_ends_connections_and_sockets_of_its_key_and_nobody_elses() {
    let mut scene = Scene::new(Preset::Reference.config(), Limits::default());
    let socket = PeerAddr::socket(SocketAddr::new(ip("203.0.113.5"), 5000));
    let banned = [browser(1), socket].map(|own| scene.join(Dialect::Native, own));
    let neighbour = scene.join(Dialect::Native, PeerAddr::connection(2, ip("203.0.113.6")));
    scene.run_ms(1_000);
    let (now, key) = (scene.world.now(), browser(9).limit_key());
    assert_eq!(key, LimitKey::from(ip("203.0.113.5")));
    scene.server().ban(now, key, None).unwrap();
    scene.run_ms(1_000);
    for id in banned {
        assert_eq!(scene.client(id).ended(), Some(&EndReason::Banned));
    }
    assert!(scene.client(neighbour).is_playing());
    let again = scene.join(Dialect::Native, browser(3));
    scene.run_ms(1_000);
    assert_eq!(scene.client(again).ended(), Some(&EndReason::Banned));
    scene.server().lift_ban(key);
    let after = scene.join(Dialect::Native, browser(4));
    scene.run_ms(1_000);
    assert!(scene.client(after).is_playing());
}

#[test]
fn a_session_resumes_over_another_connection() {
    let mut scene = Scene::new(Preset::Reference.config(), Limits::default());
    let id = scene.join(Dialect::Native, browser(1));
    scene.run_ms(2_000);
    let ticket = scene.client(id).ticket();
    assert!(ticket.is_some());
    // The page's connection broke; the next one comes from another network.
    let server = scene.server;
    scene.world.set_partition(server, id, Partition::Cut);
    scene.run_ms(12_000);
    let moved = PeerAddr::connection(2, ip("198.51.100.7"));
    scene.world.rebind(id, 0, moved);
    scene.world.set_partition(server, id, Partition::Healed);
    scene.run_ms(3_000);
    assert!(scene.client(id).is_playing());
    assert_eq!(scene.peers(), [(1, moved)]);
    let events: Vec<_> = std::iter::from_fn(|| scene.client(id).poll_event()).collect();
    assert!(events.contains(&ClientEvent::Resumed(PlayerId(1))), "{events:?}");
    // From now on it counts for its new address, and no longer for the old one.
    scene.server().ban(Time::ZERO, browser(1).limit_key(), None).unwrap();
    scene.run_ms(1_000);
    assert!(scene.client(id).is_playing());
    scene.server().ban(Time::ZERO, moved.limit_key(), None).unwrap();
    scene.run_ms(1_000);
    assert_eq!(scene.client(id).ended(), Some(&EndReason::Banned));
}

#[test]
fn what_names_a_port_is_refused_over_a_connection() {
    let mut scene = Scene::new(LinkConfig::PERFECT, Limits::default());
    // A private address: over a socket it would be let in.
    let lan = scene.join(Dialect::Lan, PeerAddr::connection(1, ip("10.0.0.9")));
    let rtype = scene.join(Dialect::Rtype, PeerAddr::connection(2, ip("10.0.0.9")));
    scene.run_ms(15_000);
    assert_eq!(scene.peers(), []);
    assert!(scene.server().endpoint().counts().reach > 0);
    let silent = EndReason::HostSilent { address: by_connection() };
    assert_eq!(scene.client(lan).ended(), Some(&silent));
    let unreachable = EndReason::Unreachable { address: by_connection() };
    assert_eq!(scene.client(rtype).ended(), Some(&unreachable));
    let words = unreachable.to_string();
    assert!(words.starts_with("Could not connect to 10.0.0.1 (connection 0)."), "{words}");
}
