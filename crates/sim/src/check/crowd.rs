//! The bots that play the rules while they are checked: they come and go, and press like people.

use crate::Chance;
use backspin::game::{Buttons, Game, PlayerId, PlayerInput};

/// Who may play, and what each of them does.
pub(super) struct Crowd {
    chance: Chance,
    bots: Vec<Bot>,
    inputs: Vec<PlayerInput>,
}

struct Bot {
    player: PlayerId,
    is_present: bool,
    buttons: Buttons,
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
            Change::Comes(player) => game.join(world, player),
            Change::Goes(player) => game.leave(world, player),
        }
    }
}

/// A bot holds its buttons for at least and at most so many ticks.
const HOLD_TICKS: (u64, u64) = (6, 30);

impl Crowd {
    pub(super) fn new(seed: u64, capacity: u8) -> Self {
        let bot = |i: u8| Bot {
            player: PlayerId(1 + u32::from(i)),
            is_present: false,
            buttons: Buttons::default(),
            back: None,
            until: 0,
        };
        let bots = (0..capacity).map(bot).collect();
        Crowd { chance: Chance::new(seed, 1), bots, inputs: Vec::new() }
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
            bot.press(tick, &mut self.chance);
            if bot.is_present {
                let drawn = bot.back.map(|back| (f64::from(tick) - back).max(0.0));
                self.inputs.push(PlayerInput { player: bot.player, buttons: bot.buttons, drawn });
            }
        }
        changes
    }

    /// What those who are there do.
    pub(super) fn inputs(&self) -> &[PlayerInput] {
        &self.inputs
    }

    /// What a player holds, there or not.
    pub(super) fn buttons(&self, player: PlayerId) -> Buttons {
        let bot = self.bots.iter().find(|bot| bot.player == player);
        bot.map_or(Buttons::default(), |bot| bot.buttons)
    }
}

impl Bot {
    fn press(&mut self, tick: u32, chance: &mut Chance) {
        if self.until > tick {
            return;
        }
        let (least, most) = HOLD_TICKS;
        self.until = tick + (least + chance.below(most - least)) as u32;
        // Now and then what no keyboard has: a peer may send anything.
        let buttons = if chance.happens(0.1) { 1 << 16 } else { 64 };
        self.buttons = Buttons(chance.below(buttons) as u16);
        self.back = chance.happens(0.8).then(|| chance.unit() * 20.0);
    }
}
