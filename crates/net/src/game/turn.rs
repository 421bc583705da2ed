//! What a step may know beside the world: the tick, everyone's input, and the worlds that players
//! had on their screens.

use std::fmt;

use super::{Effects, Event, Game, Mail, PlayerId, To};
use crate::channel::{Delivery, SendError};
use crate::typed::{Input, RawInput};

/// What one player does in a turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlayerInput {
    /// Who.
    pub player: PlayerId,
    /// What it is, in bits: [`Turn::input`] reads it.
    pub input: RawInput,
    /// The server tick, with its fraction, that was on the player's screen; `None` is "this one".
    pub drawn: Option<f64>,
}

impl PlayerInput {
    /// What `player` does, who has this tick on the screen.
    pub fn new(player: PlayerId, input: impl Input) -> Self {
        PlayerInput { player, input: RawInput::of(input), drawn: None }
    }

    /// The same of someone who has another on the screen.
    pub fn with_drawn(self, drawn: Option<f64>) -> Self {
        PlayerInput { drawn, ..self }
    }
}

/// Everything that a step of a game may know beside the world.
#[derive(Debug)]
pub struct Turn<'a, G: Game> {
    tick: u32,
    inputs: &'a [PlayerInput],
    past: Past<'a, G::World>,
    effects: Effects<'a, G::Message>,
    /// How many ticks it rewinds at most.
    rewind_ticks: u32,
}

/// The worlds after earlier ticks: kept here, or parts of those that are kept elsewhere.
enum Past<'a, W> {
    Kept(&'a [(u32, W)]),
    Parts(&'a dyn Fn(u32) -> Option<&'a W>),
}

impl<W> Clone for Past<'_, W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W> Copy for Past<'_, W> {}

impl<'a, W> Past<'a, W> {
    fn at(self, tick: u32) -> Option<&'a W> {
        match self {
            Past::Kept(past) => past.iter().find(|(past, _)| *past == tick).map(|(_, world)| world),
            Past::Parts(part_at) => part_at(tick),
        }
    }
}

impl<W> fmt::Debug for Past<'_, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Past::Kept(past) => f.debug_list().entries(past.iter().map(|(tick, _)| tick)).finish(),
            Past::Parts(_) => f.write_str("parts"),
        }
    }
}

/// A room rewinds at most so far for a game that says nothing else, in ms.
pub const REWIND_LIMIT_MS: u32 = 250;

/// No room rewinds further, in ticks: an input cannot say more.
pub const REWIND_TICKS_MAX: u32 = 255;

/// How many ticks a room rewinds at most: what the game says in ms, at its own tick rate.
pub fn rewind_limit_ticks<G: Game>(game: &G) -> u32 {
    rewind_ticks_asked(game).min(REWIND_TICKS_MAX)
}

/// The same, as far as the game would like.
pub fn rewind_ticks_asked<G: Game>(game: &G) -> u32 {
    let ticks = u64::from(game.rewind_limit_ms()) * u64::from(game.tick_rate()) / 1_000;
    ticks.min(u32::MAX.into()) as u32
}

impl<'a, G: Game> Turn<'a, G> {
    /// The turn of `tick`. `past` are the worlds after earlier ticks, in any order; it rewinds as
    /// far as they go.
    pub fn new(
        tick: u32,
        inputs: &'a [PlayerInput],
        past: &'a [(u32, G::World)],
        events: &'a mut Vec<Event>,
    ) -> Self {
        let ages = past.iter().map(|(past, _)| tick.saturating_sub(*past));
        let rewind_ticks = ages.max().unwrap_or(0);
        Turn { tick, inputs, past: Past::Kept(past), effects: Effects::new(events), rewind_ticks }
    }

    /// The same, and keeps the messages that are sent: without it they go nowhere.
    pub fn mailing(self, mail: &'a mut Mail) -> Self {
        Turn { effects: self.effects.mailing(mail), ..self }
    }

    /// The same, and rewinds by at most `ticks`: see [`rewind_limit_ticks`].
    pub fn rewinding(self, ticks: u32) -> Self {
        Turn { rewind_ticks: ticks, ..self }
    }

    /// The same turn for a game whose worlds are parts of these: a server of several games has
    /// worlds of several kinds.
    pub fn within<H: Game>(
        &mut self,
        part: impl Fn(&G::World) -> Option<&H::World>,
        step: impl FnOnce(&mut Turn<'_, H>),
    ) {
        let past = self.past;
        let part_at = |tick| past.at(tick).and_then(&part);
        let (tick, inputs, past) = (self.tick, self.inputs, Past::Parts(&part_at));
        let rewind_ticks = self.rewind_ticks;
        step(&mut Turn { tick, inputs, past, effects: self.effects.within(), rewind_ticks });
    }

    /// The tick that is stepped.
    pub fn tick(&self) -> u32 {
        self.tick
    }

    /// What everyone does.
    pub fn inputs(&self) -> &'a [PlayerInput] {
        self.inputs
    }

    /// What `player` does.
    pub fn input(&self, player: PlayerId) -> G::Input {
        let input = self.inputs.iter().find(|input| input.player == player);
        input.map_or(G::Input::default(), |input| input.input.read())
    }

    /// The world that `player` had on the screen when the input was made, no longer ago than
    /// [`Game::rewind_limit_ms`]: what the player hit or was hit by is judged in it. `None` is "as
    /// it is now".
    pub fn rewound_for(&self, player: PlayerId) -> Option<&'a G::World> {
        self.past.at(self.drawn_by(player)?.round() as u32)
    }

    /// The same more finely: the last world before what `player` had on the screen, and the part
    /// of a tick, below 1, that was drawn past it. What was there in it was drawn, moved on by that
    /// part.
    pub fn rewound_at(&self, player: PlayerId) -> Option<(&'a G::World, f64)> {
        let drawn = self.drawn_by(player)?;
        Some((self.past.at(drawn.floor() as u32)?, drawn.fract()))
    }

    /// The world a tick before that of [`Turn::rewound_at`]: a tick ago `player` had on the screen
    /// what was there in it, moved on by the same part.
    pub fn rewound_before(&self, player: PlayerId) -> Option<&'a G::World> {
        self.past.at((self.drawn_by(player)?.floor() as u32).checked_sub(1)?)
    }

    fn drawn_by(&self, player: PlayerId) -> Option<f64> {
        let drawn = self.inputs.iter().find(|input| input.player == player)?.drawn?;
        Some(drawn.max(f64::from(self.tick.saturating_sub(self.rewind_ticks))))
    }

    /// Says that something happened.
    pub fn raise(&mut self, event: Event) {
        self.effects.raise(event);
    }

    /// Sends a message to players' clients: see [`Effects::send`]. In a prediction nothing is sent.
    pub fn send(
        &mut self,
        to: To<'_>,
        delivery: Delivery,
        message: &G::Message,
    ) -> Result<(), SendError> {
        self.effects.send(to, delivery, message)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Reach;
    use super::*;
    use crate::game::{Buttons, GameId};
    use crate::replication::{Schema, State};
    use std::marker::PhantomData;

    /// A game with such a world and no rules.
    #[derive(Clone)]
    struct Of<W>(PhantomData<W>);

    impl<W: Clone + fmt::Debug + Default + 'static> Game for Of<W> {
        type World = W;
        type Input = Buttons;
        type Message = ();
        type JoinData = ();

        fn id(&self) -> GameId {
            GameId::new(*b"NONE", 1)
        }

        fn capacity(&self) -> u8 {
            0
        }

        fn schema(&self) -> &'static Schema {
            const { &Schema::new(&[]) }
        }

        fn begin(&self, _: u64) -> W {
            W::default()
        }

        fn join(&self, _: &mut W, _: PlayerId, _: &()) {}

        fn leave(&self, _: &mut W, _: PlayerId) {}

        fn step(&self, _: &mut W, _: &mut Turn<'_, Self>) {}

        fn capture(&self, _: &W, _: &mut State) {}

        fn restore(&self, _: &State) -> W {
            W::default()
        }
    }

    fn doing(buttons: Buttons, drawn: f64) -> PlayerInput {
        PlayerInput::new(PlayerId(1), buttons).with_drawn(Some(drawn))
    }

    #[test]
    fn a_turn_rewinds_to_what_the_player_saw_and_no_further_than_its_limit() {
        let past: Vec<(u32, &'static str)> = vec![(90, "far"), (95, "near"), (85, "limit")];
        let seen = |drawn| {
            let mut events = Vec::new();
            let inputs = [doing(Buttons::default(), drawn)];
            let turn = Turn::<Of<&str>>::new(100, &inputs, &past, &mut events).rewinding(15);
            turn.rewound_for(PlayerId(1)).copied()
        };
        assert_eq!(seen(94.6), Some("near"));
        assert_eq!(seen(90.4), Some("far"));
        assert_eq!(seen(10.0), Some("limit"));
        assert_eq!(seen(99.0), None);
    }

    #[test]
    fn a_game_within_another_sees_its_part_of_the_past_and_raises_what_happens() {
        let past: Vec<(u32, (u8, &'static str))> = vec![(90, (1, "far")), (95, (0, "not its own"))];
        let player = PlayerId(1);
        let mut seen = Vec::new();
        let mut events = Vec::new();
        for drawn in [90.0, 95.0, 96.0] {
            let inputs = [doing(Buttons::UP, drawn)];
            let mut turn = Turn::<Of<(u8, &str)>>::new(100, &inputs, &past, &mut events);
            turn.within::<Of<&str>>(
                |(own, world)| (*own == 1).then_some(world),
                |turn| {
                    seen.push(turn.rewound_for(player).copied());
                    assert_eq!((turn.tick(), turn.input(player)), (100, Buttons::UP));
                    turn.raise(Event { kind: 1, entity: 0, value: 0, reach: Reach::Own });
                },
            );
        }
        assert_eq!(seen, [Some("far"), None, None]);
        assert_eq!(events.len(), 3);
    }

    #[test]
    fn a_sight_is_the_world_before_it_and_the_part_of_a_tick_since() {
        let past: Vec<(u32, &'static str)> = vec![(90, "far"), (85, "limit")];
        let sight = |drawn| {
            let player = PlayerId(1);
            let inputs = [doing(Buttons::default(), drawn)];
            Turn::<Of<&str>>::new(100, &inputs, &past, &mut Vec::new())
                .rewinding(15)
                .rewound_at(player)
                .map(|(world, part)| (*world, part))
        };
        assert_eq!(sight(90.75), Some(("far", 0.75)));
        assert_eq!(sight(90.0), Some(("far", 0.0)));
        assert_eq!(sight(12.5), Some(("limit", 0.0)));
        assert_eq!(sight(91.0), None);
        assert_eq!(sight(f64::NAN), Some(("limit", 0.0)));
        assert_eq!(sight(f64::INFINITY), None);
    }

    #[test]
    fn the_sight_a_tick_ago_is_in_the_world_before() {
        let past: Vec<(u32, &'static str)> =
            vec![(90, "far"), (85, "limit"), (84, "before the limit")];
        let before = |drawn| {
            let player = PlayerId(1);
            let inputs = [doing(Buttons::default(), drawn)];
            let (past, mut events) = (&past, Vec::new());
            let turn = Turn::<Of<&str>>::new(100, &inputs, past, &mut events).rewinding(15);
            turn.rewound_before(player).copied()
        };
        assert_eq!(before(91.75), Some("far"));
        assert_eq!(before(90.75), None);
        assert_eq!(before(12.5), Some("before the limit"));
    }
}
