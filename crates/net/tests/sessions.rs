//! Sessions over the seeded network: handshakes, round trips, drops and returns.

use std::net::SocketAddr;
use std::time::Duration;

use backspin::client::{Client, ClientConfig, ClientEvent};
use backspin::endpoint::EndpointConfig;
use backspin::game::Buttons;
use backspin::node::{Node, Path, StreamAction, StreamEvent, StreamId, StreamNode, Transmit};
use backspin::room::RoomConfig;
use backspin::server::Server;
use backspin::session::{EndReason, Grade, Limits};
use backspin::time::Time;
use backspin::wire::Name;
use backspin::wire::native::Role;
use backspin_classic::Dialect;
use backspin_sim::dot::Dots;
use backspin_sim::{Drift, HostId, Jitter, LinkConfig, Loss, Partition, Preset, World};

/// Whoever takes part in a test.
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
        match self {
            Party::Server(server) => server.accepts_streams(),
            Party::Client(client) => client.accepts_streams(),
        }
    }

    fn handle_stream(&mut self, now: Time, stream: StreamId, event: StreamEvent<'_>) {
        self.node().handle_stream(now, stream, event);
    }

    fn poll_stream(&mut self, now: Time, out: &mut [u8]) -> Option<(StreamId, StreamAction)> {
        self.node().poll_stream(now, out)
    }
}

const DIALECTS: [Dialect; 3] = [Dialect::Native, Dialect::Rtype, Dialect::Lan];

fn address(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

fn server_address() -> SocketAddr {
    address("10.0.0.1:4242")
}

fn seed(n: u64) -> [u8; 32] {
    let mut seed = [7; 32];
    seed[..8].copy_from_slice(&n.to_le_bytes());
    seed
}

fn server(now: Time, n: u64) -> Party {
    let mut server =
        Server::new(EndpointConfig::default(), seed(n)).speaking(backspin_classic::dialects());
    server.open(now, Dots::default(), Name::new("Dots"), n, RoomConfig::default());
    Party::Server(Box::new(server))
}

fn config(n: u64) -> ClientConfig {
    let name = Name::new(["Alice", "Bob", "Carol", "Dave"][n as usize % 4]);
    ClientConfig { own_port: 5000, ..ClientConfig::new(server_address(), name) }
}

fn client(now: Time, dialect: Dialect, n: u64) -> Party {
    let config = config(n);
    Party::Client(Box::new(dialect.client(now, Dots::default(), config, seed(100 + n))))
}

struct Scene {
    world: World<Party>,
    server: HostId,
    clients: Vec<HostId>,
}

impl Scene {
    fn new(seed: u64, link: LinkConfig, dialects: &[Dialect]) -> Self {
        let mut world = World::new(seed, link);
        let server = world.add(server(Time::ZERO, seed), &[server_address()], Drift::NONE);
        let clients = (2..).zip(dialects);
        let clients = clients
            .map(|(i, &dialect)| {
                let own = address(&format!("10.0.0.{i}:5000"));
                let node = client(Time::ZERO, dialect, seed.wrapping_mul(10) + i - 2);
                world.add(node, &[own], Drift::NONE)
            })
            .collect();
        Scene { world, server, clients }
    }

    fn client(&self, i: usize) -> &Client<Dots> {
        match self.world.node(self.clients[i]) {
            Party::Client(client) => client,
            Party::Server(_) => unreachable!(),
        }
    }

    fn client_mut(&mut self, i: usize) -> &mut Client<Dots> {
        match self.world.node_mut(self.clients[i]) {
            Party::Client(client) => client,
            Party::Server(_) => unreachable!(),
        }
    }

    fn server(&self) -> &Server<Dots> {
        match self.world.node(self.server) {
            Party::Server(server) => server,
            Party::Client(_) => unreachable!(),
        }
    }

    fn server_mut(&mut self) -> &mut Server<Dots> {
        match self.world.node_mut(self.server) {
            Party::Server(server) => server,
            Party::Client(_) => unreachable!(),
        }
    }

    fn run_ms(&mut self, ms: u64) {
        self.world.run_for(Duration::from_millis(ms));
    }
}

fn link(rtt_ms: u64) -> LinkConfig {
    LinkConfig::PERFECT.with_rtt(Duration::from_millis(rtt_ms))
}

#[test]
fn every_dialect_gets_in_and_moves_its_dot() {
    for dialect in DIALECTS {
        let mut scene = Scene::new(1, link(50), &[dialect]);
        scene.run_ms(1000);
        assert!(scene.client(0).is_playing(), "{dialect}");
        let before = scene.server().rooms()[0].world().dots[0];
        scene.client_mut(0).press(Buttons::DOWN);
        scene.run_ms(1000);
        let after = scene.server().rooms()[0].world().dots[0];
        let moved = after.y - before.y;
        assert!((280..=300).contains(&moved), "{dialect}: {moved}");
        assert!(scene.client(0).counts().states > 90, "{dialect}");
    }
}

#[test]
fn the_round_trip_is_measured_on_both_sides() {
    for dialect in [Dialect::Native, Dialect::Rtype] {
        let mut scene = Scene::new(2, link(50), &[dialect]);
        scene.run_ms(20_000);
        let ms = |rtt: Option<Duration>| rtt.unwrap().as_secs_f64() * 1e3;
        let own = ms(scene.client(0).round_trip().mean());
        let members: Vec<_> = scene.server().rooms()[0].members().collect();
        let theirs = ms(members[0].rtt);
        assert!((own - 50.0).abs() <= 1.0, "{dialect}: the client measures {own} ms");
        assert!((theirs - 50.0).abs() <= 1.0, "{dialect}: the server measures {theirs} ms");
        let jittery = LinkConfig { jitter: Jitter::uniform(Duration::from_millis(20)), ..link(50) };
        let mut scene = Scene::new(3, jittery, &[dialect]);
        scene.run_ms(60_000);
        let own = ms(scene.client(0).round_trip().average());
        assert!((own - 70.0).abs() <= 5.0, "{dialect}: the client measures {own} ms");
    }
}

#[test]
fn a_long_way_connects_plays_and_is_graded_poor() {
    for dialect in DIALECTS {
        let mut scene = Scene::new(4, link(800), &[dialect]);
        scene.run_ms(20_000);
        let client = scene.client(0);
        assert!(client.is_playing() && client.counts().states > 900, "{dialect}");
        if dialect != Dialect::Lan {
            assert_eq!(client.grade(), Some(Grade::Poor), "{dialect}");
        }
    }
}

#[test]
fn handshakes_complete_in_fifty_of_fifty_runs_on_an_awful_line() {
    let lossy = LinkConfig { loss: Loss::bursts(0.3, 3.0), ..link(100) };
    for dialect in DIALECTS {
        let failed: Vec<u64> = (0..50)
            .filter(|&seed| {
                let mut scene = Scene::new(seed, lossy, &[dialect]);
                scene.run_ms(12_000);
                scene.client(0).player().is_none()
            })
            .collect();
        assert!(failed.is_empty(), "{dialect}: seeds {failed:?} did not get in");
    }
}

#[test]
fn two_players_see_each_other() {
    let mut scene = Scene::new(5, link(50), &[Dialect::Native, Dialect::Native]);
    scene.run_ms(2000);
    for i in 0..2 {
        assert_eq!(scene.client(i).roster().len(), 2);
        assert_eq!(scene.client(i).state().entities().len(), 2);
    }
    let events: Vec<_> = std::iter::from_fn(|| scene.client_mut(0).poll_event()).collect();
    assert!(matches!(events[0], ClientEvent::Connected(_)), "{events:?}");
}

fn events(scene: &mut Scene, i: usize) -> Vec<ClientEvent<()>> {
    std::iter::from_fn(|| scene.client_mut(i).poll_event()).collect()
}

#[test]
fn a_rebind_in_mid_game_costs_little_more_than_a_second() {
    let mut scene = Scene::new(6, link(50), &[Dialect::Native, Dialect::Native]);
    scene.run_ms(2000);
    let player = scene.client(0).player();
    events(&mut scene, 0);
    let host = scene.clients[0];
    scene.world.rebind(host, 0, address("10.0.9.9:6000"));
    // Noticed after one round trip; the old address must have been silent for a second.
    scene.run_ms(200);
    assert_eq!(events(&mut scene, 0), [ClientEvent::Trying]);
    scene.run_ms(1800);
    let came = events(&mut scene, 0);
    assert!(came.contains(&ClientEvent::Resumed(player.unwrap())), "{came:?}");
    assert_eq!(scene.client(0).player(), player);
    let before = scene.client(0).counts().states;
    scene.run_ms(1000);
    assert!(scene.client(0).counts().states - before > 55);
    assert_eq!(scene.server().rooms()[0].world().dots.len(), 2);
}

#[test]
fn a_cut_of_any_length_up_to_half_a_minute_ends_where_it_began() {
    for cut_s in [1, 4, 8, 12, 25, 35] {
        let mut scene = Scene::new(7, link(50), &[Dialect::Native]);
        scene.run_ms(2000);
        let player = scene.client(0).player();
        let (server, host) = (scene.server, scene.clients[0]);
        scene.world.set_partition(server, host, Partition::Cut);
        scene.run_ms(cut_s * 1000);
        scene.world.set_partition(server, host, Partition::Healed);
        scene.run_ms(4000);
        let client = scene.client(0);
        assert!(client.is_playing(), "{cut_s} s: {:?}", client.ended());
        assert_eq!(client.player(), player, "{cut_s} s");
        assert_eq!(scene.server().rooms()[0].world().dots.len(), 1, "{cut_s} s");
    }
}

#[test]
fn a_cut_of_a_minute_ends_the_session_with_a_reason() {
    let mut scene = Scene::new(8, link(50), &[Dialect::Native]);
    scene.run_ms(2000);
    let (server, host) = (scene.server, scene.clients[0]);
    scene.world.set_partition(server, host, Partition::Cut);
    scene.run_ms(60_000);
    assert_eq!(scene.client(0).ended(), Some(&EndReason::NotResponding));
    assert!(scene.server().rooms()[0].world().dots.is_empty());
}

#[test]
fn a_restarted_server_is_noticed_within_a_second() {
    let mut scene = Scene::new(9, link(50), &[Dialect::Native]);
    scene.run_ms(3000);
    events(&mut scene, 0);
    let (host, now) = (scene.server, scene.world.now());
    scene.world.replace(host, server(now, 99));
    scene.run_ms(1000);
    assert_eq!(events(&mut scene, 0)[0], ClientEvent::Trying);
    scene.run_ms(1000);
    // The new server cannot know the ticket: the player reads that the place is gone.
    assert_eq!(scene.client(0).ended(), Some(&EndReason::PlaceGivenUp));
}

#[test]
fn a_goodbye_frees_the_place_at_once_and_the_others_see_it() {
    let mut scene = Scene::new(10, link(50), &[Dialect::Native, Dialect::Native]);
    scene.run_ms(2000);
    scene.client_mut(0).leave();
    scene.run_ms(500);
    assert_eq!(scene.client(0).ended(), Some(&EndReason::Left));
    assert_eq!(scene.server().rooms()[0].world().dots.len(), 1);
    assert_eq!(scene.client(1).roster().len(), 1);
}

#[test]
fn a_fifth_player_reads_that_the_server_is_full() {
    let mut scene = Scene::new(11, link(50), &[Dialect::Native; 5]);
    scene.run_ms(3000);
    let refused = (0..5).filter_map(|i| scene.client(i).ended()).collect::<Vec<_>>();
    assert_eq!(refused, [&EndReason::Full]);
}

#[test]
fn a_drained_server_lets_nobody_new_in_and_keeps_those_it_has() {
    let mut scene = Scene::new(16, link(50), &[Dialect::Native]);
    scene.run_ms(2000);
    scene.server_mut().drain();
    for (i, dialect) in (1..).zip(DIALECTS) {
        let own = address(&format!("10.0.1.{i}:5000"));
        let node = client(scene.world.now(), dialect, i);
        scene.clients.push(scene.world.add(node, &[own], Drift::NONE));
    }
    scene.run_ms(3000);
    assert_eq!(scene.client(1).ended(), Some(&EndReason::Stopping));
    assert!((2..4).all(|i| scene.client(i).player().is_none()));
    // Who has a place also has the way back to it.
    let host = scene.clients[0];
    scene.world.rebind(host, 0, address("10.0.9.9:6000"));
    scene.run_ms(3000);
    assert!(scene.client(0).is_playing());
    let member = scene.server().rooms()[0].members().next().unwrap();
    assert_eq!(scene.server().endpoint().sessions(), 1);
    assert!((350..=420).contains(&member.inputs), "{} inputs in seven seconds", member.inputs);
}

#[test]
fn a_watcher_sees_the_match_and_takes_no_part_in_it() {
    let mut scene = Scene::new(15, link(50), &[Dialect::Native]);
    let mut config = ClientConfig::new(server_address(), Name::new("Eve"));
    config.role = Role::Watch;
    let node = Client::new(Time::ZERO, Dots::default(), config, seed(200));
    let node = Party::Client(Box::new(node));
    scene.clients.push(scene.world.add(node, &[address("10.0.0.9:5000")], Drift::NONE));
    scene.client_mut(1).press(Buttons::DOWN);
    scene.run_ms(30_000);
    assert!(scene.client(1).is_playing(), "{:?}", scene.client(1).ended());
    assert_eq!(scene.server().rooms()[0].world().dots.len(), 1);
    assert_eq!(scene.client(1).state().entities().len(), 1);
    assert!(scene.client(1).counts().states > 1_700);
}

#[test]
fn all_dialects_share_a_room() {
    let mut scene = Scene::new(12, link(50), &DIALECTS);
    scene.run_ms(3000);
    assert!((0..3).all(|i| scene.client(i).is_playing()));
    assert_eq!(scene.server().rooms()[0].world().dots.len(), 3);
    let seen = (scene.client(0).state().entities().len(), scene.client(1).state().entities().len());
    assert_eq!(seen, (3, 3));
}

#[test]
fn clocks_that_drift_apart_keep_their_session() {
    let mut scene = Scene::new(13, link(50), &[]);
    for (i, ppm) in [(2, 200), (3, -200)] {
        let own = address(&format!("10.0.0.{i}:5000"));
        let drift = Drift::new(ppm, Duration::from_secs(i));
        let node = client(drift.local(Time::ZERO), Dialect::Native, i);
        scene.clients.push(scene.world.add(node, &[own], drift));
    }
    scene.run_ms(120_000);
    for i in 0..2 {
        assert!(scene.client(i).is_playing());
        let rtt = scene.client(i).round_trip().mean().unwrap().as_secs_f64() * 1e3;
        assert!((rtt - 50.0).abs() < 1.0, "{rtt}");
    }
}

/// The reference link, two players who change their minds, one minute.
fn reference_digest(seed: u64) -> String {
    play_reference(Scene::new(seed, Preset::Reference.config(), &[Dialect::Native; 2]))
}

fn play_reference(mut scene: Scene) -> String {
    for step in 0..60_u16 {
        for i in 0..2 {
            scene.client_mut(i).press(Buttons(1 << ((step + i as u16) % 4)));
        }
        scene.run_ms(1000);
    }
    assert!((0..2).all(|i| scene.client(i).is_playing()));
    scene.world.digest().to_string()
}

#[test]
fn a_client_that_predicts_nothing_sends_the_same() {
    let mut scene = Scene::new(1, Preset::Reference.config(), &[]);
    for i in 0..2 {
        let config = ClientConfig { predicts: false, ..config(10 + i) };
        let node = Client::new(Time::ZERO, Dots::default(), config, seed(110 + i));
        let (node, own) = (Party::Client(Box::new(node)), format!("10.0.0.{}:5000", 2 + i));
        scene.clients.push(scene.world.add(node, &[address(&own)], Drift::NONE));
    }
    assert_eq!(play_reference(scene), reference_digest(1));
}

#[test]
fn the_same_seed_gives_the_same_digest_in_every_build() {
    assert_eq!(reference_digest(1), reference_digest(1));
    assert_ne!(reference_digest(1), reference_digest(2));
    // The same in debug and in release; it changes only when the bytes on the wire do.
    assert_eq!(reference_digest(1), "0465cf5ebb91066c");
}

#[test]
fn a_clean_line_shows_no_loss_on_either_side() {
    let mut scene = Scene::new(14, link(800), &[Dialect::Native]);
    scene.run_ms(60_000);
    let member = scene.server().rooms()[0].members().next().unwrap();
    assert_eq!(member.loss, Some(0.0));
    assert!(scene.client(0).counts().states > 3_400);
}

/// Snapshots that are lost, too, must not be taken for inputs that were.
#[test]
fn the_packet_loss_rate_that_a_client_counts_is_what_its_server_missed() {
    for seed in 1..=5 {
        let lossy = LinkConfig { loss: Loss::bursts(0.25, 5.0), ..link(40) };
        let mut scene = Scene::new(seed, lossy, &[Dialect::Native]);
        scene.run_ms(60_000);
        let member = scene.server().rooms()[0].members().next().unwrap();
        let there = member.ticks_without_input as f64 / member.ticks as f64;
        let here = scene.client(0).pending().unwrap().counts().loss();
        println!("seed {seed}: {:.2} % missed, {:.2} % counted", there * 100.0, here * 100.0);
        assert!(there > 0.02, "seed {seed}: {there}");
        // What a lost snapshot said more than eight ticks ago is not known.
        assert!(here <= there * 1.1 && here >= there * 0.6, "seed {seed}: {here} of {there}");
    }
}

#[test]
fn silence_counts_from_the_first_word_on_however_long_a_place_waits_for_it() {
    let mut scene = Scene::new(3, link(20), &[Dialect::Native]);
    let liveness = Limits { warn: Duration::from_millis(500), drop: Duration::from_secs(1) };
    let config =
        RoomConfig { liveness, claim_within: Duration::from_secs(20), ..RoomConfig::default() };
    let mut server =
        Server::new(EndpointConfig::default(), seed(3)).speaking(backspin_classic::dialects());
    server.open(Time::ZERO, Dots::default(), Name::new("Dots"), 3, config);
    scene.world.replace(scene.server, Party::Server(Box::new(server)));
    scene.run_ms(1_000);
    assert!(scene.client(0).is_playing());
    scene.world.set_partition(scene.server, scene.clients[0], Partition::Cut);
    scene.run_ms(1_200);
    let present: Vec<_> = scene.server().rooms()[0].members().map(|card| card.present).collect();
    assert_eq!(present, [false]);
}

#[test]
fn whoever_has_given_up_says_nothing_more() {
    for dialect in DIALECTS {
        let mut scene = Scene::new(4, link(20), &[dialect]);
        scene.run_ms(1_500);
        assert!(scene.client(0).is_playing(), "{dialect}");
        scene.world.set_partition(scene.server, scene.clients[0], Partition::Cut);
        scene.run_ms(60_000);
        assert!(scene.client(0).ended().is_some(), "{dialect}");
        scene.world.set_partition(scene.server, scene.clients[0], Partition::Healed);
        let sent = scene.world.traffic(scene.clients[0]).sent;
        for _ in 0..50 {
            // A program that shows why it is over still asks its client.
            scene.client_mut(0).poll_event();
            scene.run_ms(100);
        }
        assert_eq!(scene.world.traffic(scene.clients[0]).sent, sent, "{dialect}");
        assert_eq!(scene.server().endpoint().sessions(), 0, "{dialect}");
    }
}
