//! A match in the pure rules: worlds are stepped and remembered as a room does it.

use backspin::game::{Buttons, Event, Game, PlayerId, PlayerInput, Turn, rewind_limit_ticks};
use backspin::replication::State;
use backspin_rtype::{RType, World};

/// A match under way.
pub(crate) struct Play {
    pub(crate) game: RType,
    pub(crate) world: World,
    pub(crate) tick: u32,
    /// What happened in the last tick.
    pub(crate) events: Vec<Event>,
    past: Vec<(u32, World)>,
    inputs: Vec<PlayerInput>,
    /// How old the picture is that everyone plays by, in ticks.
    pub(crate) back: Option<f64>,
}

#[allow(dead_code, reason = "each test binary uses its part")]
impl Play {
    pub(crate) fn new(game: RType, seed: u64, players: u32) -> Self {
        let mut world = game.begin(seed);
        (1..=players).for_each(|player| game.join(&mut world, PlayerId(player), &()));
        let (events, past, inputs) = (Vec::new(), Vec::new(), Vec::new());
        Play { game, world, tick: 0, events, past, inputs, back: None }
    }

    /// One tick in which every player holds what `hold` says.
    pub(crate) fn step(&mut self, mut hold: impl FnMut(&RType, &World, PlayerId) -> Buttons) {
        self.tick += 1;
        self.inputs.clear();
        for card in self.world.players() {
            let buttons = hold(&self.game, &self.world, card.player);
            let drawn = self.back.map(|back| f64::from(self.tick) - back);
            self.inputs.push(PlayerInput::new(card.player, buttons).with_drawn(drawn));
        }
        self.events.clear();
        let rewind = rewind_limit_ticks(&self.game);
        let turn = Turn::new(self.tick, &self.inputs, &self.past, &mut self.events);
        self.game.step(&mut self.world, &mut turn.rewinding(rewind));
        match self.past.get_mut(self.tick as usize % (rewind as usize + 1)) {
            Some((tick, world)) => {
                *tick = self.tick;
                world.clone_from(&self.world);
            }
            None => self.past.push((self.tick, self.world.clone())),
        }
    }

    /// One tick played by the game's own bots.
    pub(crate) fn step_bots(&mut self) {
        self.step(|game, world, player| game.bot_input(world, player).unwrap_or_default());
    }

    pub(crate) fn state(&self) -> State {
        let mut state = State::new(self.tick);
        self.game.capture(&self.world, &mut state);
        state
    }
}
