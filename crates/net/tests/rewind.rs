//! How far a room rewinds: as far as the game says, in ms, whatever its tick rate.

use std::net::SocketAddr;
use std::time::Duration;

use backspin::client::{Client, ClientConfig};
use backspin::endpoint::EndpointConfig;
use backspin::game::Buttons;
use backspin::game::{Game, GameId, PlayerId, Turn, rewind_limit_ticks};
use backspin::replication::{Schema, State};
use backspin::room::RoomConfig;
use backspin::server::Server;
use backspin::time::Time;
use backspin::wire::Name;
use backspin_sim::dot::Dots;
use backspin_sim::{Chance, Drift, Jitter, LinkConfig, Party, Player, World};

/// Dots at any tick rate, in which every player looks back.
#[derive(Clone, Debug)]
struct Looking {
    rate: u8,
    limit_ms: u32,
}

/// The dots, when this was, and how many ticks back who looked furthest saw.
#[derive(Clone, Debug, Default)]
struct Field {
    dots: backspin_sim::dot::World,
    tick: u32,
    furthest: u32,
}

impl Game for Looking {
    type World = Field;
    type Input = Buttons;
    type Message = ();
    type JoinData = ();

    fn id(&self) -> GameId {
        GameId::new(*b"LOOK", 1)
    }

    fn tick_rate(&self) -> u8 {
        self.rate
    }

    fn rewind_limit_ms(&self) -> u32 {
        self.limit_ms
    }

    fn capacity(&self) -> u8 {
        Dots::default().capacity()
    }

    fn schema(&self) -> &'static Schema {
        Dots::default().schema()
    }

    fn begin(&self, seed: u64) -> Field {
        Field { dots: Dots::default().begin(seed), ..Field::default() }
    }

    fn join(&self, world: &mut Field, player: PlayerId, _: &()) {
        Dots::default().join(&mut world.dots, player, &());
    }

    fn leave(&self, world: &mut Field, player: PlayerId) {
        Dots::default().leave(&mut world.dots, player);
    }

    fn step(&self, world: &mut Field, turn: &mut Turn<'_, Self>) {
        world.tick = turn.tick();
        for input in turn.inputs() {
            if let Some(seen) = turn.rewound_for(input.player) {
                world.furthest = world.furthest.max(turn.tick() - seen.tick);
            }
        }
        let mut events = Vec::new();
        let mut turn = Turn::new(turn.tick(), turn.inputs(), &[], &mut events);
        Dots::default().step(&mut world.dots, &mut turn);
    }

    fn predict(&self, world: &mut Field, turn: &mut Turn<'_, Self>) {
        let mut events = Vec::new();
        let mut turn = Turn::new(turn.tick(), turn.inputs(), &[], &mut events);
        Dots::default().step(&mut world.dots, &mut turn);
    }

    fn capture(&self, world: &Field, state: &mut State) {
        Dots::default().capture(&world.dots, state);
    }

    fn restore(&self, state: &State) -> Field {
        Field { dots: Dots::default().restore(state), ..Field::default() }
    }
}

/// How many ms a room rewinds at most for a player with this round trip.
fn furthest_ms(game: &Looking, rtt_ms: u64) -> f64 {
    let link = LinkConfig {
        delay: Duration::from_millis(rtt_ms / 2),
        jitter: Jitter::uniform(Duration::from_millis(5)),
        ..LinkConfig::default()
    };
    let mut world = World::new(1, link);
    let address = SocketAddr::from(([10, 0, 0, 1], 4000));
    let mut server = Server::new(EndpointConfig::default(), [1; 32]);
    server.open(Time::ZERO, game.clone(), Name::new("Room"), 1, RoomConfig::default());
    let server = world.add(Party::Server(Box::new(server)), &[address], Drift::NONE);
    let config = ClientConfig::new(address, Name::new("Alice"));
    let client = Client::new(Time::ZERO, game.clone(), config, [2; 32]);
    let player = Player::new(client, Chance::new(1, 2));
    let own = SocketAddr::from(([10, 0, 0, 2], 5000));
    world.add(Party::Player(Box::new(player)), &[own], Drift::NONE);
    world.run_for(Duration::from_secs(8));
    let Party::Server(server) = world.node(server) else { panic!("it was added as one") };
    f64::from(server.rooms()[0].world().furthest) * 1e3 / f64::from(game.rate)
}

#[test]
fn the_rewind_limit_is_in_ms_at_20_60_and_120_ticks_a_second() {
    for rate in [20, 60, 120] {
        for limit_ms in [250, 550] {
            let game = Looking { rate, limit_ms };
            assert_eq!(rewind_limit_ticks(&game), limit_ms * u32::from(rate) / 1_000);
            let far = furthest_ms(&game, 800);
            assert_eq!(far, f64::from(limit_ms), "{rate} Hz, {limit_ms} ms");
        }
        // Who is near is not rewound further than what was on the screen.
        let near = furthest_ms(&Looking { rate, limit_ms: 550 }, 50);
        assert!((50.0..400.0).contains(&near), "{rate} Hz: {near} ms");
    }
}
