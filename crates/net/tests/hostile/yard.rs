//! The game that is attacked: dots who talk. It keeps count of whose words it has heard.

use backspin::game::Buttons;
use backspin::game::{Effects, Event, Game, GameId, PlayerId, Reach, Turn};
use backspin::replication::{Schema, State};
use backspin::typed::RawMessage;
use backspin_classic::{ClassicGame, RtypeSight};
use backspin_sim::dot::{self, Dots};

/// The rules. Five ticks a second, so that a script of many seconds is cheap.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Yard(Dots);

/// The dots, and what their players said.
#[derive(Clone, Debug, Default)]
pub(crate) struct World {
    pub(crate) dots: dot::World,
    pub(crate) heard: [Heard; Yard::CAPACITY as usize],
}

/// How a player's words came: the honest count theirs from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Heard {
    /// How many came in their turn.
    pub(crate) in_turn: u32,
    /// How many did not.
    pub(crate) strange: u32,
}

impl Yard {
    pub(crate) const RATE: u8 = 5;
    pub(crate) const CAPACITY: u8 = 8;
    /// Everyone is told that a player said a number.
    pub(crate) const SAID: u8 = 9;
}

impl Game for Yard {
    type World = World;
    type Input = Buttons;
    type Message = RawMessage;
    type JoinData = ();

    fn id(&self) -> GameId {
        GameId::new(*b"YARD", 1)
    }

    fn tick_rate(&self) -> u8 {
        Yard::RATE
    }

    fn capacity(&self) -> u8 {
        Yard::CAPACITY
    }

    fn schema(&self) -> &'static Schema {
        self.0.schema()
    }

    fn begin(&self, seed: u64) -> World {
        World { dots: self.0.begin(seed), ..World::default() }
    }

    fn join(&self, world: &mut World, player: PlayerId, _: &()) {
        self.0.join(&mut world.dots, player, &());
    }

    fn leave(&self, world: &mut World, player: PlayerId) {
        self.0.leave(&mut world.dots, player);
    }

    fn step(&self, world: &mut World, turn: &mut Turn<'_, Self>) {
        let mut events = Vec::new();
        let mut turn = Turn::new(turn.tick(), turn.inputs(), &[], &mut events);
        self.0.step(&mut world.dots, &mut turn);
    }

    fn capture(&self, world: &World, state: &mut State) {
        self.0.capture(&world.dots, state);
    }

    fn restore(&self, state: &State) -> World {
        World { dots: self.0.restore(state), ..World::default() }
    }

    fn on_message(
        &self,
        world: &mut World,
        player: PlayerId,
        words: RawMessage,
        effects: &mut Effects<'_, RawMessage>,
    ) {
        let Some(heard) = world.heard.get_mut(player.0 as usize - 1) else { return };
        let Ok(number) = words.0.as_slice().try_into().map(u32::from_be_bytes) else {
            heard.strange += 1;
            return;
        };
        match number == heard.in_turn {
            true => heard.in_turn += 1,
            false => heard.strange += 1,
        }
        let (entity, value) = (player.0, number.cast_signed());
        effects.raise(Event { kind: Yard::SAID, entity, value, reach: Reach::Everyone });
    }
}

impl ClassicGame for Yard {
    fn lan_state(&self, world: &World) -> Option<backspin_classic::wire::lan::StateUpdate> {
        self.0.lan_state(&world.dots)
    }

    fn read_lan(&self, update: &backspin_classic::wire::lan::StateUpdate, state: &mut State) {
        self.0.read_lan(update, state);
    }

    fn read_rtype(&self, told: &RtypeSight<'_>, state: &mut State) {
        self.0.read_rtype(told, state);
    }
}
