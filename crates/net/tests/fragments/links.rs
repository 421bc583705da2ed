//! Parts over links that lose, reorder and double them.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::Duration;

use backspin::client::{Client, ClientConfig};
use backspin::endpoint::EndpointConfig;
use backspin::game::Game;
use backspin::node::{Node, Path, StreamAction, StreamEvent, StreamId, StreamNode, Transmit};
use backspin::replication::State;
use backspin::room::RoomConfig;
use backspin::server::Server;
use backspin::time::Time;
use backspin::wire::Name;
use backspin::wire::native::{Datagram, MIN_BUDGET, Packet};
use backspin_sim::{Drift, HostId, LinkConfig, Preset, Reorder, World};

use super::swarm::Swarm;

/// Whoever takes part; what the server sends is looked at on its way.
enum Party {
    Server(Box<Server<Swarm>>, Sent),
    Client(Box<Client<Swarm>>),
}

/// What a server has sent of snapshots.
#[derive(Clone, Copy, Debug, Default)]
struct Sent {
    wholes: usize,
    parts: usize,
    /// The most parts that one snapshot had.
    most: u8,
    longest_part: usize,
    /// Whether first parts are changed on their way, to claim an id of the second.
    meddle: bool,
}

impl Sent {
    fn look(&mut self, bytes: &mut [u8]) {
        let Packet::DeltaSnapshot(snapshot) = Datagram::decode(bytes).unwrap().packet else {
            return;
        };
        self.most = self.most.max(snapshot.part.count());
        if snapshot.part.is_whole() {
            self.wholes += 1;
            return;
        }
        self.parts += 1;
        self.longest_part = self.longest_part.max(bytes.len());
        let first = snapshot.part.index() == 0;
        assert!(first || (snapshot.feedback.is_none() && snapshot.events.is_none()));
        if first && self.meddle {
            let body = bytes.len() - snapshot.body.len();
            let upto = u16::from_be_bytes([bytes[body + 2], bytes[body + 3]]) + 1;
            bytes[body + 2..body + 4].copy_from_slice(&upto.to_be_bytes());
        }
    }
}

impl Party {
    fn node(&mut self) -> &mut dyn StreamNode {
        match self {
            Party::Server(server, _) => server,
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
        let transmit = self.node().poll_transmit(now, out)?;
        if let Party::Server(_, sent) = self {
            sent.look(&mut out[..transmit.len]);
        }
        Some(transmit)
    }

    fn poll_timeout(&self) -> Option<Time> {
        match self {
            Party::Server(server, _) => server.poll_timeout(),
            Party::Client(client) => client.poll_timeout(),
        }
    }
}

impl StreamNode for Party {
    fn accepts_streams(&self) -> bool {
        false
    }

    fn handle_stream(&mut self, now: Time, stream: StreamId, event: StreamEvent<'_>) {
        self.node().handle_stream(now, stream, event);
    }

    fn poll_stream(&mut self, now: Time, out: &mut [u8]) -> Option<(StreamId, StreamAction)> {
        self.node().poll_stream(now, out)
    }
}

struct Scene {
    game: Swarm,
    world: World<Party>,
    server: HostId,
    client: HostId,
    /// What the server's world looked like, by tick.
    truth: HashMap<u32, State>,
    /// How many of the client's states were compared with it.
    compared: u64,
}

impl Scene {
    fn new(game: Swarm, seed: u64, link: LinkConfig) -> Self {
        let address = SocketAddr::from(([10, 0, 0, 1], 4300));
        let mut world = World::new(seed, link);
        let mut server = Server::new(EndpointConfig::default(), [1; 32]);
        server.open(Time::ZERO, game, Name::new("Swarm"), seed, RoomConfig::default());
        let server = Party::Server(Box::new(server), Sent::default());
        let server = world.add(server, &[address], Drift::NONE);
        let config = ClientConfig::new(address, Name::new("Alice"));
        let client = Client::new(Time::ZERO, game, config, [2; 32]);
        let own = SocketAddr::from(([10, 0, 0, 2], 5000));
        let client = world.add(Party::Client(Box::new(client)), &[own], Drift::NONE);
        Scene { game, world, server, client, truth: HashMap::new(), compared: 0 }
    }

    fn client(&self) -> &Client<Swarm> {
        match self.world.node(self.client) {
            Party::Client(client) => client,
            Party::Server(..) => unreachable!(),
        }
    }

    fn server(&self) -> (&Server<Swarm>, &Sent) {
        match self.world.node(self.server) {
            Party::Server(server, sent) => (server, sent),
            Party::Client(_) => unreachable!(),
        }
    }

    /// Runs on, and compares every state that the client has with the server's of that tick.
    fn run(&mut self, span: Duration) {
        let until = self.world.now() + span;
        let mut newest = self.client().server_tick();
        while self.world.step_until(until).is_some() {
            let room = &self.server().0.rooms()[0];
            if !self.truth.contains_key(&room.tick()) {
                let mut state = State::new(room.tick());
                self.game.capture(room.world(), &mut state);
                self.truth.insert(state.tick, state);
            }
            if self.client().server_tick() != newest {
                newest = self.client().server_tick();
                assert!(self.client().state() == &self.truth[&newest], "tick {newest}");
                self.compared += 1;
            }
        }
    }
}

fn reference() -> LinkConfig {
    Preset::Reference.config()
}

#[test]
fn a_world_of_400_restless_things_arrives_over_the_reference_link() {
    for seed in 1..=2 {
        println!("seed {seed}");
        let mut scene = Scene::new(Swarm::new(400, 3), seed, reference());
        scene.run(Duration::from_secs(10));
        let (counts, (_, sent)) = (*scene.client().counts(), scene.server());
        assert!(sent.parts > 1_000 && sent.longest_part <= MIN_BUDGET.into(), "{sent:?}");
        assert_eq!(counts.malformed, 0);
        // Two parts of one in twenty lost each: nine of ten come whole, few of them overtaken.
        assert!(counts.parts > 900 && counts.states > 450, "{counts:?}");
        assert!(scene.compared > 350, "{} states", scene.compared);
        assert_eq!(scene.client().state().entities().len(), 401);
    }
}

#[test]
fn the_first_snapshot_of_1000_things_comes_in_parts_and_the_rest_in_one() {
    for seed in 1..=5 {
        println!("seed {seed}");
        let mut scene = Scene::new(Swarm::new(1000, 1_000), seed, reference());
        scene.run(Duration::from_secs(2));
        let (counts, (_, sent)) = (*scene.client().counts(), scene.server());
        assert!(sent.most >= 4 && sent.longest_part <= MIN_BUDGET.into(), "{sent:?}");
        assert!(sent.wholes > 60, "{sent:?}");
        assert_eq!((scene.client().state().entities().len(), counts.malformed), (1001, 0));
        assert!(scene.compared > 60, "{} states", scene.compared);
    }
}

#[test]
fn parts_that_are_doubled_and_held_back_do_no_harm() {
    let mut link = reference();
    link.duplicate_probability = 0.3;
    link.reorder = Reorder { probability: 0.2, hold: Duration::from_millis(60) };
    for seed in 1..=2 {
        println!("seed {seed}");
        let mut scene = Scene::new(Swarm::new(400, 3), seed, link);
        scene.run(Duration::from_secs(8));
        let counts = *scene.client().counts();
        assert_eq!(counts.malformed, 0);
        assert!(counts.stray > 100 && scene.compared > 150, "{counts:?} {}", scene.compared);
    }
}

#[test]
fn nothing_is_lost_where_the_link_loses_nothing() {
    let link = LinkConfig::PERFECT.with_rtt(Duration::from_millis(100));
    let mut scene = Scene::new(Swarm::new(600, 4), 1, link);
    scene.run(Duration::from_secs(5));
    let counts = *scene.client().counts();
    assert_eq!((counts.malformed, scene.client().state().entities().len()), (0, 601));
    assert!(scene.compared > 280, "{} states", scene.compared);
}

#[test]
fn parts_that_overlap_are_counted_and_never_make_a_state() {
    let link = LinkConfig::PERFECT.with_rtt(Duration::from_millis(100));
    let mut scene = Scene::new(Swarm::new(400, 3), 1, link);
    let Party::Server(_, sent) = scene.world.node_mut(scene.server) else { unreachable!() };
    sent.meddle = true;
    scene.run(Duration::from_secs(2));
    let counts = *scene.client().counts();
    assert!(counts.malformed > 90 && counts.parts > 90, "{counts:?}");
    assert_eq!((counts.states, scene.compared), (0, 0));
    assert!(scene.client().is_playing());
}
