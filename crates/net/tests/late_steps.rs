//! A server whose steps cost more than a tick: every step is shown, ticks are skipped evenly and
//! counted, and who plays stays with it.

use std::net::SocketAddr;
use std::time::Duration;

use backspin::client::{Client, ClientConfig, ClientEvent};
use backspin::endpoint::EndpointConfig;
use backspin::game::Buttons;
use backspin::game::{Game, GameId, PlayerId, Turn};
use backspin::replication::{Schema, State};
use backspin::room::{Room, RoomConfig, RoomEvent};
use backspin::server::Server;
use backspin::time::Time;
use backspin::wire::Name;
use backspin_sim::dot::{self, Dots};
use backspin_sim::{Chance, Drift, HostId, LinkConfig, Party, Player, Preset, World};

/// Dots at another tick rate.
#[derive(Clone, Copy, Debug)]
struct Rated(u8);

impl Game for Rated {
    type World = dot::World;
    type Input = Buttons;
    type Message = ();
    type JoinData = ();

    fn id(&self) -> GameId {
        GameId::new(*b"RATE", 1)
    }

    fn tick_rate(&self) -> u8 {
        self.0
    }

    fn capacity(&self) -> u8 {
        4
    }

    fn schema(&self) -> &'static Schema {
        Dots::default().schema()
    }

    fn begin(&self, seed: u64) -> dot::World {
        Dots::default().begin(seed)
    }

    fn join(&self, world: &mut dot::World, player: PlayerId, _: &()) {
        Dots::default().join(world, player, &());
    }

    fn leave(&self, world: &mut dot::World, player: PlayerId) {
        Dots::default().leave(world, player);
    }

    fn step(&self, world: &mut dot::World, turn: &mut Turn<'_, Self>) {
        turn.within::<Dots>(|world| Some(world), |turn| Dots::default().step(world, turn));
    }

    fn capture(&self, world: &dot::World, state: &mut State) {
        Dots::default().capture(world, state);
    }

    fn restore(&self, state: &State) -> dot::World {
        Dots::default().restore(state)
    }
}

const SERVER: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1)), 4300);

struct Scene {
    world: World<Party<Rated>>,
    server: HostId,
    guest: HostId,
    rate: u8,
    breaks: u32,
    /// The snapshots that came new to the guest: when, and of which tick.
    seen: Vec<(Time, u32)>,
}

impl Scene {
    fn new(rate: u8, link: LinkConfig) -> Self {
        let mut world = World::new(1, link);
        let mut server = Server::new(EndpointConfig::default(), [1; 32]);
        server.open(Time::ZERO, Rated(rate), Name::new("Room"), 1, RoomConfig::default());
        let server = world.add(Party::Server(Box::new(server)), &[SERVER], Drift::NONE);
        let config = ClientConfig::new(SERVER, Name::new("Ann"));
        let client = Client::new(Time::ZERO, Rated(rate), config, [2; 32]);
        let player = Player::new(client, Chance::new(1, 2));
        let own = SocketAddr::from(([10, 0, 0, 2], 5000));
        let guest = world.add(Party::Player(Box::new(player)), &[own], Drift::NONE);
        let mut scene = Scene { world, server, guest, rate, breaks: 0, seen: Vec::new() };
        scene.run(3);
        scene
    }

    fn client(&mut self) -> &mut Client<Rated> {
        match self.world.node_mut(self.guest) {
            Party::Player(player) => &mut player.client,
            Party::Server(_) => unreachable!("it was added as a player"),
        }
    }

    fn room(&mut self) -> &mut Room<Rated> {
        match self.world.node_mut(self.server) {
            Party::Server(server) => &mut server.rooms_mut()[0],
            Party::Player(_) => unreachable!("it was added as a server"),
        }
    }

    fn run(&mut self, seconds: u64) {
        let until = self.world.now() + Duration::from_secs(seconds);
        while let Some(now) = self.world.step_until(until) {
            let newest = match self.world.node(self.guest) {
                Party::Player(player) => player.client.server_tick(),
                Party::Server(_) => unreachable!("it was added as a player"),
            };
            if self.seen.last().is_none_or(|(_, tick)| *tick != newest) {
                self.seen.push((now, newest));
            }
        }
        while let Some(event) = self.client().poll_event() {
            self.breaks += u32::from(event == ClientEvent::Trying);
        }
    }

    /// Forgets the snapshots that came, but the last.
    fn forget(&mut self) {
        self.seen.drain(..self.seen.len() - 1);
    }

    /// Every step from now on takes so many ticks.
    fn cost(&mut self, ticks: f64) {
        let cost = Duration::from_secs_f64(ticks / f64::from(self.rate));
        self.world.set_timeout_cost(self.server, cost);
    }

    fn room_events(&mut self) -> Vec<RoomEvent> {
        std::iter::from_fn(|| self.room().poll_event()).collect()
    }
}

#[test]
fn a_step_of_1_2_ticks_gives_50_evenly_spaced_snapshots_a_second() {
    let link = LinkConfig { delay: Duration::from_millis(30), ..LinkConfig::PERFECT };
    for (rate, cost) in [(60, 1.2), (60, 1.5), (60, 2.5), (20, 1.2), (120, 1.2)] {
        let mut scene = Scene::new(rate, link);
        scene.room_events();
        scene.cost(cost);
        // It takes a moment until it is known that this is no accident.
        scene.run(2);
        let skipped = scene.room().late_ticks();
        scene.forget();
        scene.run(10);
        let expected = f64::from(rate) / cost;
        let per_second = (scene.seen.len() - 1) as f64 / 10.0;
        assert!((per_second / expected - 1.0).abs() < 0.04, "{rate} Hz, {cost}: {per_second}");
        // Every tick is seen, none is skipped over, and they come one after the other.
        let gaps = scene.seen.windows(2).map(|two| (two[1].0.since(two[0].0), two[1].1 - two[0].1));
        let even = Duration::from_secs_f64(1.0 / expected);
        for (span, ticks) in gaps {
            assert_eq!(ticks, 1, "{rate} Hz, {cost}");
            let off = span.abs_diff(even);
            assert!(off < even / 20, "{rate} Hz, {cost}: {span:?} instead of {even:?}");
        }
        let skipped = (scene.room().late_ticks() - skipped) as f64 / 10.0;
        let lost = f64::from(rate) - expected;
        assert!((skipped - lost).abs() <= 1.0, "{rate} Hz, {cost}: {skipped} a second");
        assert!(scene.room().is_slow());
        assert_eq!(scene.room_events(), [RoomEvent::Slow], "{rate} Hz, {cost}");
        assert_eq!(scene.breaks, 0);
    }
}

#[test]
fn who_plays_on_a_slow_server_stays_with_it() {
    for (link, cost) in [(Preset::Reference, 1.2), (Preset::Lan, 1.2), (Preset::Reference, 1.5)] {
        let mut scene = Scene::new(60, link.config());
        scene.cost(cost);
        scene.run(5);
        let counts = |scene: &mut Scene| {
            let card = scene.room().members().next().unwrap();
            (card.ticks, card.ticks_without_input)
        };
        let before = counts(&mut scene);
        let mut most_lead: f64 = 0.0;
        for _ in 0..20 {
            scene.run(1);
            let now = scene.world.now();
            let server = scene.room().ticks_at(now);
            let lead = scene.client().ahead_tick(now).unwrap() - server;
            most_lead = most_lead.max(lead);
        }
        let after = counts(&mut scene);
        let missing = (after.1 - before.1) as f64 / (after.0 - before.0) as f64;
        println!(
            "{link} {cost}: {:.1} % without input, {most_lead:.1} ticks ahead",
            missing * 100.0
        );
        assert_eq!(scene.breaks, 0, "{link}, {cost}");
        assert!(scene.client().is_playing());
        assert!(
            missing < 0.02,
            "{link}, {cost}: {:.1} % of ticks without an input",
            missing * 100.0
        );
        assert!(most_lead < 40.0, "{link}, {cost}: {most_lead:.1} ticks ahead");
    }
}

#[test]
fn a_room_that_keeps_up_again_says_so_and_how_many_ticks_it_skipped() {
    let link = LinkConfig { delay: Duration::from_millis(30), ..LinkConfig::PERFECT };
    let mut scene = Scene::new(60, link);
    scene.room_events();
    scene.cost(1.5);
    scene.run(3);
    scene.cost(0.5);
    scene.run(3);
    let skipped = scene.room().late_ticks();
    assert!((50..=62).contains(&skipped), "{skipped}");
    assert_eq!(scene.room_events(), [RoomEvent::Slow, RoomEvent::KeepsUp(skipped)]);
    assert!(!scene.room().is_slow());
}

#[test]
fn a_server_that_was_held_up_once_shows_what_it_missed_and_calls_nobody_slow() {
    let link = LinkConfig { delay: Duration::from_millis(30), ..LinkConfig::PERFECT };
    let mut scene = Scene::new(60, link);
    scene.room_events();
    scene.forget();
    for _ in 0..5 {
        // Three ticks and a half.
        let until = scene.world.now() + Duration::from_millis(58);
        scene.world.stall(scene.server, until);
        scene.run(1);
    }
    assert_eq!(scene.room().late_ticks(), 0);
    assert_eq!(scene.room_events(), []);
    let missed = scene.seen.windows(2).filter(|two| two[1].1 - two[0].1 != 1).count();
    assert_eq!(missed, 0, "every step is shown");
    assert_eq!(scene.seen.len() - 1, 5 * 60, "and none is skipped");
}
