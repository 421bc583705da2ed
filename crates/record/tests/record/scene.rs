//! A recorded server and its players over the seeded network.

use std::net::SocketAddr;
use std::time::Duration;

use backspin::client::{Client, ClientConfig};
use backspin::endpoint::EndpointConfig;
use backspin::game::Game;
use backspin::node::{Node, Path, StreamAction, StreamEvent, StreamId, StreamNode, Transmit};
use backspin::room::RoomConfig;
use backspin::time::Time;
use backspin::wire::Name;
use backspin_classic::{ClassicGame, Dialect};
use backspin_record::{Recorded, ReplayWriter};
use backspin_sim::{Chance, Drift, HostId, LinkConfig, Loss, Party, Player, Preset, World};

/// Whoever takes part.
pub(crate) enum Host<G: Game> {
    Server(Box<Recorded<G>>),
    Player(Party<G>),
}

impl<G: Game> Host<G> {
    fn node(&mut self) -> &mut dyn StreamNode {
        match self {
            Host::Server(server) => &mut **server,
            Host::Player(player) => player,
        }
    }
}

impl<G: Game> Node for Host<G> {
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
            Host::Server(server) => server.poll_timeout(),
            Host::Player(player) => player.poll_timeout(),
        }
    }
}

impl<G: Game> StreamNode for Host<G> {
    fn accepts_streams(&self) -> bool {
        matches!(self, Host::Server(_))
    }

    fn handle_stream(&mut self, now: Time, stream: StreamId, event: StreamEvent<'_>) {
        self.node().handle_stream(now, stream, event);
    }

    fn poll_stream(&mut self, now: Time, out: &mut [u8]) -> Option<(StreamId, StreamAction)> {
        self.node().poll_stream(now, out)
    }
}

pub(crate) struct Scene<G: Game> {
    pub(crate) world: World<Host<G>>,
    server: HostId,
    game: G,
    seed: u64,
    players: u8,
    pub(crate) log: Vec<u8>,
}

/// What is done wrong to datagrams: late, lost, doubled, bent, out of order.
pub(crate) fn bad_link() -> LinkConfig {
    LinkConfig {
        loss: Loss::independent(0.1),
        duplicate_probability: 0.02,
        corrupt_probability: 0.01,
        ..Preset::Mobile.config()
    }
}

const SERVER: &str = "10.0.0.1:4242";

impl<G: ClassicGame> Scene<G> {
    /// A server with two rooms and nobody in them.
    pub(crate) fn new(game: G, seed: u64, link: LinkConfig) -> Self {
        Scene::with_rooms(game, seed, link, RoomConfig::default())
    }

    /// The same with rooms as `config` says.
    pub(crate) fn with_rooms(game: G, seed: u64, link: LinkConfig, config: RoomConfig) -> Self {
        println!("seed {seed}");
        let mut world = World::new(seed, link);
        let start = Time::ZERO;
        let mut server =
            Recorded::on(start, 1_700_000_000_000, EndpointConfig::default(), secret(seed))
                .speaking(backspin_classic::dialects());
        for (name, seed) in [("one", seed), ("two", seed + 1)] {
            server.open(start, game.clone(), Name::new(name), seed, config);
        }
        let server = Host::Server(Box::new(server));
        let server = world.add(server, &[SERVER.parse::<SocketAddr>().unwrap()], Drift::NONE);
        Scene { world, server, game, seed, players: 0, log: Vec::new() }
    }

    pub(crate) fn join(&mut self, dialect: Dialect) -> HostId {
        self.join_with(dialect, |_| {})
    }

    pub(crate) fn join_with(
        &mut self,
        dialect: Dialect,
        set: impl FnOnce(&mut ClientConfig),
    ) -> HostId {
        self.players += 1;
        let n = self.players;
        let own: SocketAddr = format!("10.0.0.{}:5000", n + 1).parse().unwrap();
        let name = Name::new(["Alice", "Bob", "Carol", "Dave"][usize::from(n - 1) % 4]);
        let mut config = ClientConfig::new(SERVER.parse::<SocketAddr>().unwrap(), name);
        config.own_port = 5000;
        set(&mut config);
        let (now, game) = (self.world.now(), self.game.clone());
        let client = dialect.client(now, game, config, secret(100 + u64::from(n)));
        let player = Player::new(client, Chance::new(self.seed, n.into()));
        self.world.add(Host::Player(Party::Player(Box::new(player))), &[own], Drift::NONE)
    }

    pub(crate) fn join_all(&mut self, dialects: &[Dialect]) {
        for &dialect in dialects {
            self.join(dialect);
        }
    }

    pub(crate) fn server(&mut self) -> &mut Recorded<G> {
        match self.world.node_mut(self.server) {
            Host::Server(server) => server,
            Host::Player(_) => unreachable!(),
        }
    }

    pub(crate) fn server_id(&self) -> HostId {
        self.server
    }

    pub(crate) fn client(&mut self, id: HostId) -> &mut Client<G> {
        match self.world.node_mut(id) {
            Host::Player(Party::Player(player)) => &mut player.client,
            _ => unreachable!(),
        }
    }

    /// Runs on, and takes the log as a server's loop does.
    pub(crate) fn run(&mut self, span: Duration) {
        self.run_with(span, |_| ());
    }

    /// The same, and looks at the server ten times a tick.
    pub(crate) fn run_with(&mut self, span: Duration, mut look: impl FnMut(&mut Recorded<G>)) {
        let until = self.world.now() + span;
        while self.world.now() < until {
            self.world.run_for(Duration::from_micros(1_667));
            let (now, mut log) = (self.world.now(), std::mem::take(&mut self.log));
            let server = self.server();
            look(server);
            server.poll_log(now, &mut log);
            self.log = log;
        }
    }

    /// The whole log.
    pub(crate) fn finish(&mut self) -> Vec<u8> {
        let mut log = std::mem::take(&mut self.log);
        self.server().finish_log(&mut log);
        log
    }
}

fn secret(n: u64) -> [u8; 32] {
    let mut seed = [7; 32];
    seed[..8].copy_from_slice(&n.to_le_bytes());
    seed
}

/// A match in the first room, as its replay.
pub(crate) fn recorded_match<G: ClassicGame>(
    game: G,
    seed: u64,
    players: u8,
    span: Duration,
) -> Vec<u8> {
    let mut scene = Scene::new(game.clone(), seed, Preset::Reference.config());
    for _ in 0..players {
        scene.join(Dialect::Native);
    }
    scene.run(Duration::from_secs(2));
    let mut writer = ReplayWriter::new(&game, 1_700_000_000_000, Name::new("one"));
    let mut bytes = Vec::new();
    scene.run_with(span, |server| {
        writer.follow(&mut server.server_mut().rooms_mut()[0]);
        writer.poll_bytes(&mut bytes);
    });
    writer.finish(&mut bytes);
    bytes
}
