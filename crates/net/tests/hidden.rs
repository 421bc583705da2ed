//! What the rules hide at a snapshot's tick is not sent with it, whatever happens before the next.

use std::net::SocketAddr;
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
use backspin_sim::{Chance, Drift, HostId, Party, Player, Preset, World};

const FIELD: Field = Field { name: "n", min: 0, max: 255, step: Step::ONE, motion: Motion::Still };
const SCHEMA: Schema = Schema::new(&[Kind { name: "part", fields: &[FIELD] }]);

const DOOR: u32 = 100;
const VAULT: u32 = 101;

/// A door, and a vault that nobody may see after any tick: only between two, when someone has come or
/// gone.
#[derive(Clone, Copy, Debug)]
struct Bank {
    every: u8,
}

impl Game for Bank {
    type World = bool;
    type Input = Buttons;
    type Message = ();
    type JoinData = ();

    fn id(&self) -> GameId {
        GameId::new(*b"BANK", 1)
    }

    fn send_every(&self) -> u8 {
        self.every
    }

    fn capacity(&self) -> u8 {
        4
    }

    fn schema(&self) -> &'static Schema {
        &SCHEMA
    }

    fn begin(&self, _seed: u64) -> bool {
        false
    }

    fn join(&self, is_open: &mut bool, _player: PlayerId, _: &()) {
        *is_open = true;
    }

    fn leave(&self, is_open: &mut bool, _player: PlayerId) {
        *is_open = true;
    }

    fn step(&self, is_open: &mut bool, _turn: &mut Turn<'_, Self>) {
        *is_open = false;
    }

    fn visible(&self, is_open: &bool, _viewer: Viewer, view: &mut View) {
        view.show(DOOR, View::PLAIN);
        if *is_open {
            view.show(VAULT, View::PLAIN);
        }
    }

    fn capture(&self, _world: &bool, state: &mut State) {
        for id in [DOOR, VAULT] {
            let _ = state.push(Entity::new(&SCHEMA, id, 0, &[10]));
        }
    }

    fn restore(&self, _state: &State) -> bool {
        false
    }
}

const SERVER: ([u8; 4], u16) = ([10, 0, 0, 1], 4300);

fn add_guest(world: &mut World<Party<Bank>>, game: Bank, number: u8) -> HostId {
    let config = ClientConfig::new(SocketAddr::from(SERVER), Name::new("Ann"));
    let client = Client::new(world.now(), game, config, [2 + number; 32]);
    let player = Player::new(client, Chance::new(1, number.into()));
    let own = SocketAddr::from(([10, 0, 0, 2 + number], 5000));
    world.add(Party::Player(Box::new(player)), &[own], Drift::NONE)
}

fn client(world: &mut World<Party<Bank>>, host: HostId) -> &mut Client<Bank> {
    match world.node_mut(host) {
        Party::Player(player) => &mut player.client,
        Party::Server(_) => unreachable!("it was added as a player"),
    }
}

#[test]
fn who_comes_between_two_ticks_is_not_sent_what_was_hidden_in_the_last() {
    for every in [1, 3] {
        let game = Bank { every };
        let mut world = World::new(1, Preset::Lan.config());
        let mut server = Server::new(EndpointConfig::default(), [1; 32]);
        server.open(Time::ZERO, game, Name::new("Room"), 1, RoomConfig::default());
        world.add(Party::Server(Box::new(server)), &[SocketAddr::from(SERVER)], Drift::NONE);
        // They come at different times of a tick, each with the number of the one before.
        for number in 0..12 {
            let guest = add_guest(&mut world, game, number);
            let until = world.now() + Duration::from_millis(203);
            while world.step_until(until).is_some() {
                let state = client(&mut world, guest).state();
                assert!(state.find(VAULT).is_none(), "guest {number}, tick {}", state.tick);
            }
            assert!(client(&mut world, guest).state().find(DOOR).is_some());
            client(&mut world, guest).leave();
            // Every second comes a while after the one before has gone.
            world.run_for(Duration::from_millis(u64::from(number % 2) * 37));
        }
    }
}
