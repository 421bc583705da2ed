//! A room without a network.

use backspin::game::{Buttons, Effects, Event, Game, PlayerId, PlayerInput, PlayerStatus, Turn};
use backspin::replication::State;
use backspin_pong::{Command, Phase, Pong, World};

pub(crate) const UP: Buttons = Buttons::UP;
pub(crate) const DOWN: Buttons = Buttons::DOWN;

pub(crate) struct Stage {
    pub(crate) game: Pong,
    pub(crate) world: World,
    pub(crate) tick: u32,
    /// Of the last step.
    pub(crate) events: Vec<Event>,
}

impl Stage {
    /// A room with the first `players`, before the first step.
    pub(crate) fn new(game: Pong, players: u32) -> Stage {
        let mut world = game.begin(1);
        (1..=players).for_each(|player| game.join(&mut world, PlayerId(player), &()));
        Stage { game, world, tick: 0, events: Vec::new() }
    }

    /// Two players, and the first serve is due.
    pub(crate) fn singles() -> Stage {
        Stage::new(Pong { countdown: 0, ..Pong::default() }, 2)
    }

    /// A singles match, after its first step.
    pub(crate) fn playing() -> Stage {
        let mut stage = Stage::singles();
        stage.step(&[]);
        assert_eq!(stage.world.phase, Phase::Playing);
        stage
    }

    pub(crate) fn step(&mut self, held: &[(u32, Buttons)]) {
        let input =
            |&(player, buttons): &(u32, Buttons)| PlayerInput::new(PlayerId(player), buttons);
        let inputs: Vec<PlayerInput> = held.iter().map(input).collect();
        self.tick += 1;
        self.events.clear();
        let mut turn = Turn::new(self.tick, &inputs, &[], &mut self.events);
        self.game.step(&mut self.world, &mut turn);
    }

    /// Steps until the event has happened; says in how many steps.
    pub(crate) fn until(&mut self, kind: u8) -> u32 {
        for steps in 1..10_000 {
            self.step(&[]);
            if self.happened(kind) {
                return steps;
            }
        }
        panic!("nothing of kind {kind} happens in {:?}", self.world);
    }

    pub(crate) fn happened(&self, kind: u8) -> bool {
        self.events.iter().any(|event| event.kind == kind)
    }

    pub(crate) fn say(&mut self, player: u32, command: Command) -> Vec<Event> {
        let mut events = Vec::new();
        self.game.on_message(
            &mut self.world,
            PlayerId(player),
            command,
            &mut Effects::new(&mut events),
        );
        events
    }

    pub(crate) fn join(&mut self, player: u32) {
        self.game.join(&mut self.world, PlayerId(player), &());
    }

    pub(crate) fn leave(&mut self, player: u32) {
        self.game.leave(&mut self.world, PlayerId(player));
    }

    /// Nothing comes from the player any more.
    pub(crate) fn miss(&mut self, player: u32) {
        self.game.on_status(&mut self.world, PlayerId(player), PlayerStatus::Silent);
    }

    /// The player is heard again.
    pub(crate) fn hear(&mut self, player: u32) {
        self.game.on_status(&mut self.world, PlayerId(player), PlayerStatus::Heard);
    }

    pub(crate) fn state(&self) -> State {
        let mut state = State::new(self.tick);
        self.game.capture(&self.world, &mut state);
        assert_eq!(state.refused(), None);
        state
    }
}

/// Chance for scripts.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}
