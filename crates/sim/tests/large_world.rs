//! Worlds that do not fit a datagram, and worlds of which each player sees a part.

#[path = "../examples/large_world/measure.rs"]
mod measure;
#[path = "../examples/large_world/movers.rs"]
mod movers;

use std::time::Duration;

use backspin::client::{Client, ClientConfig};
use backspin::endpoint::EndpointConfig;
use backspin::game::Buttons;
use backspin::game::{Game, GameId, PlayerId, Turn};
use backspin::replication::{Entity, Field, Kind, Motion, Schema, State, Step, View, Viewer};
use backspin::room::RoomConfig;
use backspin::server::Server;
use backspin::time::Time;
use backspin::wire::Name;
use backspin_sim::{Chance, Digest, Drift, HostId, LinkConfig, Party, Player, Preset, World};
use measure::LargeWorld;
use movers::Movers;

fn reference() -> LinkConfig {
    Preset::Reference.config()
}

#[test]
fn a_world_beyond_the_budget_reaches_everyone_the_nearest_first() {
    // A tenth of the world that docs/world.md shows, with a tenth of the bytes and some for the heads.
    let game = Movers { count: 200, near: 4, budget: 3_000, ..Movers::default() };
    for (link, seed) in
        [(LinkConfig { loss: backspin_sim::Loss::NONE, ..reference() }, 1), (reference(), 2)]
    {
        let report = LargeWorld { game, players: 3, link, seconds: 8, seed }.play();
        assert!(report.down <= 3_300.0, "{report}");
        assert!(report.near.quantile_ms(0.99) <= 100.0, "{report}");
        assert!(report.all.quantile_ms(0.999) <= 1_000.0, "{report}");
        assert_eq!(report.missing, 0.0, "{report}");
    }
}

#[test]
fn nobody_has_what_is_out_of_sight() {
    let game = Movers { count: 2_000, sight: Some(2_500), budget: 20_000, ..Movers::default() };
    let report = LargeWorld { game, players: 3, link: reference(), seconds: 4, seed: 5 }.play();
    assert_eq!(report.leaked, 0, "{report}");
    assert!(report.all.len() > 1_000 && report.all.quantile_ms(0.99) <= 500.0, "{report}");
}

/// Things with twelve fields of 32 bits each, which change in every tick; or many small ones; and some
/// that nobody may see.
#[derive(Clone, Copy, Debug)]
struct Crowd {
    shown: u32,
    hidden: u32,
    wide: bool,
}

const WIDE: Field =
    Field { name: "n", min: i32::MIN, max: i32::MAX, step: Step::ONE, motion: Motion::Still };
const SMALL: Field = Field { name: "n", min: 0, max: 255, step: Step::ONE, motion: Motion::Still };
const CROWD: Schema = Schema::new(&[
    Kind { name: "wide", fields: &[WIDE; 12] },
    Kind { name: "small", fields: &[SMALL; 2] },
]);

impl Game for Crowd {
    type World = u32;
    type Input = Buttons;
    type Message = ();
    type JoinData = ();

    fn id(&self) -> GameId {
        GameId::new(*b"CROW", 1)
    }

    fn capacity(&self) -> u8 {
        4
    }

    fn byte_budget(&self) -> u32 {
        400_000
    }

    fn schema(&self) -> &'static Schema {
        &CROWD
    }

    fn begin(&self, _seed: u64) -> u32 {
        0
    }

    fn join(&self, _world: &mut u32, _player: PlayerId, _: &()) {}

    fn leave(&self, _world: &mut u32, _player: PlayerId) {}

    fn step(&self, world: &mut u32, turn: &mut Turn<'_, Self>) {
        *world = turn.tick();
    }

    fn predict(&self, _world: &mut u32, _turn: &mut Turn<'_, Self>) {}

    fn visible(&self, _world: &u32, _viewer: Viewer, view: &mut View) {
        match self.hidden {
            0 => view.everything(),
            _ => (0..self.shown).for_each(|index| view.show(2 * index, View::PLAIN)),
        }
    }

    fn capture(&self, world: &u32, state: &mut State) {
        let mut put = |id: u32| {
            // What is small turns now and then, what is wide in every tick.
            let mixed = (id + 1).wrapping_mul(0x9E37_79B1).wrapping_mul(world / 7 + 1);
            let counts = match self.wide {
                true => [mixed.wrapping_mul(world + 1) as i32; 12].to_vec(),
                false => vec![(mixed >> 8 & 255) as i32, (mixed >> 16 & 255) as i32],
            };
            let _ = state.push(Entity::new(&CROWD, id, u8::from(!self.wide), &counts));
        };
        // What nobody may see has the ids between.
        (0..self.shown.max(self.hidden)).for_each(|index| {
            if index < self.shown {
                put(2 * index);
            }
            if index < self.hidden {
                put(2 * index + 1);
            }
        });
    }

    fn restore(&self, state: &State) -> u32 {
        state.tick
    }

    fn entity_of(&self, _player: PlayerId) -> u32 {
        u32::MAX - 1
    }
}

/// A server, a player and a link.
struct Table {
    world: World<Party<Crowd>>,
    server: HostId,
    player: HostId,
}

impl Table {
    fn new(game: Crowd, seed: u64) -> Self {
        let mut world = World::new(seed, reference());
        let address = std::net::SocketAddr::from(([10, 0, 0, 1], 4300));
        let mut server = Server::new(EndpointConfig::default(), [3; 32]);
        server.open(Time::ZERO, game, Name::new("crowd"), 1, RoomConfig::default());
        let server = world.add(Party::Server(Box::new(server)), &[address], Drift::NONE);
        let config = ClientConfig::new(address, Name::new("eye"));
        let client = Client::new(Time::ZERO, game, config, [4; 32]);
        let player = Player::new(client, Chance::new(seed, 1));
        let own = std::net::SocketAddr::from(([10, 0, 0, 2], 5000));
        let player = world.add(Party::Player(Box::new(player)), &[own], Drift::NONE);
        Table { world, server, player }
    }

    fn client(&self) -> &Client<Crowd> {
        match self.world.node(self.player) {
            Party::Player(player) => &player.client,
            Party::Server(_) => unreachable!("it is a player"),
        }
    }

    fn server(&self) -> &Server<Crowd> {
        match self.world.node(self.server) {
            Party::Server(server) => server,
            Party::Player(_) => unreachable!("it is the server"),
        }
    }
}

#[test]
fn three_hundred_entities_of_twelve_wide_fields_arrive_over_a_link_with_loss() {
    // All of it would be 14 datagrams in every tick.
    let mut table = Table::new(Crowd { shown: 300, hidden: 0, wide: true }, 11);
    table.world.run_for(Duration::from_secs(6));
    let state = table.client().state();
    assert_eq!(state.entities().len(), 300);
    assert!(table.client().is_playing());
    assert!(table.server().rooms()[0].tick() - state.tick < 30, "{}", state.tick);
    // Nobody had to begin anew.
    let cards: Vec<_> = table.server().rooms()[0].members().collect();
    assert_eq!(cards.len(), 1);
}

#[test]
fn entities_beyond_a_thousand_are_all_there() {
    let mut table = Table::new(Crowd { shown: 5_000, hidden: 0, wide: false }, 12);
    table.world.run_for(Duration::from_secs(4));
    assert_eq!(table.client().state().entities().len(), 5_000);
}

/// Everything that went over the link, and when.
fn traffic(hidden: u32) -> Digest {
    let mut table = Table::new(Crowd { shown: 100, hidden, wide: false }, 13);
    table.world.run_for(Duration::from_secs(3));
    assert_eq!(table.client().state().entities().len(), 100);
    table.world.digest()
}

#[test]
fn not_a_byte_of_a_match_tells_what_is_hidden() {
    let with_few = traffic(1);
    assert_eq!(traffic(700), with_few);
    assert_eq!(traffic(5_000), with_few);
}

#[test]
fn the_history_of_the_largest_world_takes_less_than_64_mb() {
    use backspin::replication::{ENTITY_LIMIT, HISTORY_LEN, History};
    let mut history = History::default();
    for tick in 0..HISTORY_LEN as u32 {
        let state = history.begin(tick);
        for id in 0..ENTITY_LIMIT as u32 {
            let counts = [tick as i32 & 255, id as i32 & 255];
            state.push(Entity::new(&CROWD, id, 1, &counts)).unwrap();
        }
    }
    let bytes = HISTORY_LEN * ENTITY_LIMIT * size_of::<Entity>();
    assert!(bytes < 64 << 20, "{bytes}");
    assert_eq!(history.newest().unwrap().entities().len(), ENTITY_LIMIT);
}
