//! A room with more players than a datagram lists.

use std::collections::BTreeSet;

use backspin::client::ClientConfig;
use backspin::endpoint::EndpointConfig;
use backspin::game::Buttons;
use backspin::game::{Game, GameId, PlayerId, Turn};
use backspin::replication::{Schema, State};
use backspin_classic::ClassicGame;
use backspin_sim::dot::{Dots, World};
use backspin_sim::{LinkConfig, Preset};

use super::scene::Scene;

const PLAYERS: u8 = 255;

/// Dots for as many as a room holds.
#[derive(Clone, Copy, Debug, Default)]
struct Throng(Dots);

impl Game for Throng {
    type World = World;
    type Input = Buttons;
    type Message = ();
    type JoinData = ();

    fn id(&self) -> GameId {
        GameId::new(*b"THRG", 1)
    }

    fn tick_rate(&self) -> u8 {
        20
    }

    fn capacity(&self) -> u8 {
        PLAYERS
    }

    fn schema(&self) -> &'static Schema {
        self.0.schema()
    }

    fn begin(&self, seed: u64) -> World {
        self.0.begin(seed)
    }

    fn join(&self, world: &mut World, player: PlayerId, _: &()) {
        self.0.join(world, player, &());
    }

    fn leave(&self, world: &mut World, player: PlayerId) {
        self.0.leave(world, player);
    }

    fn step(&self, world: &mut World, turn: &mut Turn<'_, Self>) {
        turn.within::<Dots>(|world| Some(world), |turn| self.0.step(world, turn));
    }

    fn capture(&self, world: &World, state: &mut State) {
        self.0.capture(world, state);
    }

    fn restore(&self, state: &State) -> World {
        self.0.restore(state)
    }
}

impl ClassicGame for Throng {}

fn throng(seed: u64, link: LinkConfig) -> Scene<Throng> {
    Scene::new(seed, link, (Throng::default(), "Throng"), 1, EndpointConfig::default())
}

#[test]
fn a_roster_of_255_reaches_everyone_over_a_link_that_loses() {
    let mut scene = throng(5, Preset::Reference.config());
    let plain = |config: &mut ClientConfig| config.predicts = false;
    let guests: Vec<_> = (0..PLAYERS).map(|n| scene.knock(&format!("10.1.{n}.1"), plain)).collect();
    scene.run_ms(3_000);
    let everyone: BTreeSet<_> = (1..=PLAYERS).map(|n| format!("Guest {n}")).collect();
    for (n, guest) in (1..).zip(guests) {
        let roster = scene.client(guest).roster();
        let names: BTreeSet<_> = roster.iter().map(|line| line.name.to_string()).collect();
        assert_eq!((roster.len(), names.len()), (255, 255), "guest {n}");
        assert!(names == everyone, "guest {n}");
        assert!(roster.is_sorted_by_key(|line| line.player.0), "guest {n}");
    }
}
