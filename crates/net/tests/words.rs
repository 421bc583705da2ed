//! What players say reaches the game once and in order, over a link that loses, and also from a
//! player who was started anew with only the ticket; the game plays for who is away.

use std::net::SocketAddr;
use std::time::Duration;

use backspin::channel::Delivery;
use backspin::client::{Client, ClientConfig, ClientEvent};
use backspin::endpoint::EndpointConfig;
use backspin::game::{Buttons, Effects, Event, Game, GameId, PlayerId, Reach, Turn};
use backspin::replication::{Schema, State};
use backspin::room::RoomConfig;
use backspin::server::Server;
use backspin::time::Time;
use backspin::typed::RawMessage;
use backspin::wire::Name;
use backspin::wire::native::Secret;
use backspin_sim::dot::{self, Dots};
use backspin_sim::{Chance, Drift, HostId, Party, Player, Preset, World};

/// Dots who talk: what one says, everyone is told.
#[derive(Clone, Copy, Debug, Default)]
struct Talk(Dots);

const SAID: u8 = 9;

impl Game for Talk {
    type World = dot::World;
    type Input = Buttons;
    type Message = RawMessage;
    type JoinData = ();

    fn id(&self) -> GameId {
        GameId::new(*b"TALK", 1)
    }

    fn capacity(&self) -> u8 {
        self.0.capacity()
    }

    fn schema(&self) -> &'static Schema {
        self.0.schema()
    }

    fn begin(&self, seed: u64) -> dot::World {
        self.0.begin(seed)
    }

    fn join(&self, world: &mut dot::World, player: PlayerId, _: &()) {
        self.0.join(world, player, &());
    }

    fn leave(&self, world: &mut dot::World, player: PlayerId) {
        self.0.leave(world, player);
    }

    fn step(&self, world: &mut dot::World, turn: &mut Turn<'_, Self>) {
        let mut events = Vec::new();
        let mut turn = Turn::new(turn.tick(), turn.inputs(), &[], &mut events);
        self.0.step(world, &mut turn);
    }

    fn capture(&self, world: &dot::World, state: &mut State) {
        self.0.capture(world, state);
    }

    fn restore(&self, state: &State) -> dot::World {
        self.0.restore(state)
    }

    fn on_message(
        &self,
        _world: &mut dot::World,
        player: PlayerId,
        words: RawMessage,
        effects: &mut Effects<'_, RawMessage>,
    ) {
        let Ok(value) = words.0.as_slice().try_into().map(i32::from_be_bytes) else { return };
        effects.raise(Event { kind: SAID, entity: player.0, value, reach: Reach::Everyone });
    }

    /// Whoever is away drifts to the right.
    fn bot_input(&self, _world: &dot::World, _player: PlayerId) -> Option<Buttons> {
        Some(Buttons::RIGHT)
    }
}

const SERVER: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1)), 4300);

struct Scene {
    world: World<Party<Talk>>,
    server: HostId,
    guests: Vec<HostId>,
}

fn guest(now: Time, name: &str, seed: u8, ticket: Option<Secret>) -> Party<Talk> {
    let config = ClientConfig { ticket, ..ClientConfig::new(SERVER, Name::new(name)) };
    let client = Client::new(now, Talk::default(), config, [seed; 32]);
    Party::Player(Box::new(Player::new(client, Chance::new(seed.into(), 0))))
}

impl Scene {
    fn new(seed: u64) -> Self {
        let mut world = World::new(seed, Preset::Reference.config());
        let mut server = Server::new(EndpointConfig::default(), [1; 32]);
        let room = RoomConfig::default();
        server.open(Time::ZERO, Talk::default(), Name::new("Room"), seed, room);
        let server = world.add(Party::Server(Box::new(server)), &[SERVER], Drift::NONE);
        let guests = (0..2u8).map(|i| {
            let address = SocketAddr::from(([10, 0, 0, 2 + i], 5000));
            world.add(guest(Time::ZERO, "Ann", 10 + i, None), &[address], Drift::NONE)
        });
        let guests = guests.collect();
        let mut scene = Scene { world, server, guests };
        scene.world.run_for(Duration::from_secs(3));
        scene
    }

    fn client(&mut self, which: usize) -> &mut Client<Talk> {
        match self.world.node_mut(self.guests[which]) {
            Party::Player(player) => &mut player.client,
            Party::Server(_) => unreachable!("a guest was added as one"),
        }
    }

    fn dot(&self, player: u32) -> Option<dot::Dot> {
        let Party::Server(server) = self.world.node(self.server) else { return None };
        let dots = &server.rooms()[0].world().dots;
        dots.iter().find(|dot| dot.player == PlayerId(player)).copied()
    }

    /// Who said what, as one of the guests was told.
    fn told(&mut self, which: usize) -> Vec<(u32, i32)> {
        let client = self.client(which);
        let events = std::iter::from_fn(|| client.poll_event());
        let said = events.filter_map(|event| match event {
            ClientEvent::Game(Event { kind: SAID, entity, value, .. }) => Some((entity, value)),
            _ => None,
        });
        said.collect()
    }
}

#[test]
fn words_reach_everyone_once_and_in_order() {
    for seed in 0..5 {
        let mut scene = Scene::new(seed);
        for number in 0..100i32 {
            scene
                .client(0)
                .send(&RawMessage::from(&number.to_be_bytes()), Delivery::Reliable)
                .unwrap();
            scene.world.run_for(Duration::from_millis(50));
        }
        scene.world.run_for(Duration::from_secs(3));
        let speaker = scene.client(0).player().unwrap().0;
        let all: Vec<_> = (0..100).map(|number| (speaker, number)).collect();
        assert_eq!(scene.told(0), all, "seed {seed}");
        assert_eq!(scene.told(1), all, "seed {seed}");
    }
}

#[test]
fn words_that_mean_nothing_are_dropped_by_the_game() {
    let mut scene = Scene::new(1);
    for words in [&[][..], &[7; 900], &5i32.to_be_bytes()] {
        scene.client(0).send(&RawMessage::from(words), Delivery::Reliable).unwrap();
    }
    scene.world.run_for(Duration::from_secs(2));
    let speaker = scene.client(0).player().unwrap().0;
    assert_eq!(scene.told(1), [(speaker, 5)]);
}

#[test]
fn who_was_started_anew_with_the_ticket_has_the_slot_and_is_heard_and_told_again() {
    for seed in 0..5 {
        let mut scene = Scene::new(seed);
        for number in 0..20i32 {
            for which in 0..2 {
                scene
                    .client(which)
                    .send(&RawMessage::from(&number.to_be_bytes()), Delivery::Reliable)
                    .unwrap();
            }
            scene.world.run_for(Duration::from_millis(30));
        }
        let (player, ticket) = (scene.client(0).player(), scene.client(0).ticket());
        assert!(player.is_some() && ticket.is_some());
        scene.world.run_for(Duration::from_secs(1));
        scene.told(1);
        // The program is killed: no goodbye, and nothing is left but the ticket.
        let anew = guest(scene.world.now(), "Ann", 40, ticket);
        scene.world.replace(scene.guests[0], anew);
        scene.world.run_for(Duration::from_secs(4));
        assert_eq!(scene.client(0).player(), player, "seed {seed}");
        scene.told(0);
        for number in 100..110i32 {
            for which in 0..2 {
                scene
                    .client(which)
                    .send(&RawMessage::from(&number.to_be_bytes()), Delivery::Reliable)
                    .unwrap();
            }
        }
        scene.world.run_for(Duration::from_secs(3));
        for which in 0..2 {
            let told = scene.told(which);
            for player in [1, 2] {
                let of = told.iter().filter(|(who, _)| *who == player).map(|(_, number)| *number);
                assert_eq!(of.collect::<Vec<_>>(), (100..110).collect::<Vec<_>>(), "seed {seed}");
            }
        }
    }
}

#[test]
fn a_ticket_that_is_not_good_any_more_leads_to_a_new_place() {
    let mut scene = Scene::new(1);
    let anew = guest(scene.world.now(), "Ann", 41, Some(Secret([3; 16])));
    scene.world.replace(scene.guests[1], anew);
    scene.world.run_for(Duration::from_secs(5));
    assert_eq!(scene.client(1).player(), Some(PlayerId(3)));
}

#[test]
fn the_game_plays_for_who_is_away_and_stops_when_the_place_is_given_up() {
    let mut scene = Scene::new(1);
    let away = scene.client(1).player().unwrap().0;
    let nobody = Server::new(EndpointConfig::default(), [9; 32]);
    scene.world.replace(scene.guests[1], Party::Server(Box::new(nobody)));
    scene.world.run_for(Duration::from_secs(15));
    let before = scene.dot(away).unwrap();
    scene.world.run_for(Duration::from_millis(500));
    let after = scene.dot(away).unwrap();
    assert!(after.x > before.x || after.x == Dots::FIELD.0, "{before:?} {after:?}");
    scene.world.run_for(Duration::from_secs(30));
    assert_eq!(scene.dot(away), None);
}
