//! Dots for two, with a bot: a guest of Networked Pong is on the right.

use backspin::game::{Buttons, Game, GameId, PlayerId, Turn};
use backspin::replication::{Schema, State};
use backspin_classic::ClassicGame;
use backspin_classic::wire::lan::StateUpdate;
use backspin_sim::dot::{Dots, World};

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Manned(Dots);

impl Game for Manned {
    type World = World;
    type Input = Buttons;
    type Message = ();
    type JoinData = ();

    fn id(&self) -> GameId {
        GameId::new(*b"MANN", 1)
    }

    fn capacity(&self) -> u8 {
        2
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

    /// The bot goes down, whatever happens.
    fn bot_input(&self, _world: &World, _player: PlayerId) -> Option<Buttons> {
        Some(Buttons::DOWN)
    }
}

impl ClassicGame for Manned {
    fn lan_place(&self) -> Option<u8> {
        Some(1)
    }

    fn lan_state(&self, world: &World) -> Option<StateUpdate> {
        let update = self.0.lan_state(world)?;
        Some(StateUpdate { p1y: update.p2y, p2y: update.p1y, ..update })
    }

    fn read_lan(&self, update: &StateUpdate, state: &mut State) {
        self.0.read_lan(update, state);
    }
}
