//! The bots that play the rules while they are checked: they come and go, and press like people.

use crate::Chance;
use crate::party::{any_bits, wild};
use backspin::game::{Game, PlayerId, PlayerInput};
use backspin::typed::{Input, RawInput};

/// Who may play, and what each of them does.
pub(super) struct Crowd {
    chance: Chance,
    /// What someone may do, and what a peer may send.
    inputs_of: [fn(&mut Chance) -> RawInput; 2],
    bots: Vec<Bot>,
    inputs: Vec<PlayerInput>,
}

struct Bot {
    player: PlayerId,
    is_present: bool,
    input: RawInput,
    /// How many ticks old the picture is that it presses by, if it says so.
    back: Option<f64>,
    until: u32,
}

/// Someone takes a slot, or gives it up.
#[derive(Clone, Copy)]
pub(super) enum Change {
    Comes(PlayerId),
    Goes(PlayerId),
}

impl Change {
    pub(super) fn apply<G: Game>(self, game: &G, world: &mut G::World) {
        match self {
            Change::Comes(player) => game.join(world, player, &G::JoinData::default()),
            Change::Goes(player) => game.leave(world, player),
        }
    }
}

/// A bot holds its buttons for at least and at most so many ticks.
const HOLD_TICKS: (u64, u64) = (6, 30);

impl Crowd {
    pub(super) fn new<I: Input>(seed: u64, capacity: u8) -> Self {
        let bot = |i: u8| Bot {
            player: PlayerId(1 + u32::from(i)),
            is_present: false,
            input: RawInput::default(),
            back: None,
            until: 0,
        };
        let bots = (0..capacity).map(bot).collect();
        let inputs_of: [fn(&mut Chance) -> RawInput; 2] = [
            |chance| RawInput::of(wild::<I>(chance)),
            |chance| RawInput::of(any_bits::<I>(chance)),
        ];
        Crowd { chance: Chance::new(seed, 1), inputs_of, bots, inputs: Vec::new() }
    }

    /// Decides what happens in `tick`, and who comes (or goes) before it.
    pub(super) fn turn(&mut self, tick: u32) -> Vec<Change> {
        let mut changes = Vec::new();
        self.inputs.clear();
        for bot in &mut self.bots {
            let change = if bot.is_present { 1.0 / 600.0 } else { 1.0 / 60.0 };
            // The first is there from the beginning, for the rest to meet.
            let first = tick == 1 && bot.player == PlayerId(1);
            if self.chance.happens(change) || first {
                bot.is_present = !bot.is_present;
                changes.push(match bot.is_present {
                    true => Change::Comes(bot.player),
                    false => Change::Goes(bot.player),
                });
            }
            bot.press(tick, &mut self.chance, self.inputs_of);
            if bot.is_present {
                let drawn = bot.back.map(|back| (f64::from(tick) - back).max(0.0));
                self.inputs.push(PlayerInput::new(bot.player, bot.input).with_drawn(drawn));
            }
        }
        changes
    }

    /// What those who are there do.
    pub(super) fn inputs(&self) -> &[PlayerInput] {
        &self.inputs
    }

    /// What a player does, there or not.
    pub(super) fn input(&self, player: PlayerId) -> RawInput {
        let bot = self.bots.iter().find(|bot| bot.player == player);
        bot.map_or(RawInput::default(), |bot| bot.input)
    }
}

impl Bot {
    fn press(
        &mut self,
        tick: u32,
        chance: &mut Chance,
        [wild, any]: [fn(&mut Chance) -> RawInput; 2],
    ) {
        if self.until > tick {
            return;
        }
        let (least, most) = HOLD_TICKS;
        self.until = tick + (least + chance.below(most - least)) as u32;
        // Now and then what no keyboard has: a peer may send anything.
        let is_odd = chance.happens(0.1);
        self.input = if is_odd { any(chance) } else { wild(chance) };
        self.back = chance.happens(0.8).then(|| chance.unit() * 20.0);
    }
}
