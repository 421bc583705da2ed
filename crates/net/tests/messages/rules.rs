//! The game of these tests: dots, and a choir that says numbered things in every tick.

use backspin::channel::Delivery;
use backspin::chat::ChatRule;
use backspin::game::Buttons;
use backspin::game::{Effects, Event, Game, GameId, PlayerId, Reach, To, Turn};
use backspin::replication::{Schema, State};
use backspin::typed::RawMessage;
use backspin_sim::dot::{self, Dots};

/// What the rules say in every tick.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choir {
    pub(crate) rate: u8,
    /// Events and messages in turn, in all so many a tick, numbered together.
    pub(crate) reliable: u32,
    /// How long its messages are, in turn with those of 4 bytes.
    pub(crate) len: usize,
    /// Unreliable ones, each of 4 bytes, numbered apart.
    pub(crate) unreliable: u32,
    pub(crate) chat: ChatRule,
    /// Whether it says again to everyone what it hears.
    pub(crate) echoes: bool,
}

impl Default for Choir {
    fn default() -> Self {
        let (reliable, len, unreliable) = (0, 4, 0);
        Choir { rate: 60, reliable, len, unreliable, chat: ChatRule::Players, echoes: false }
    }
}

/// The dots, and what was said and heard.
#[derive(Clone, Debug, Default)]
pub(crate) struct World {
    dots: dot::World,
    /// The number of the next reliable and unreliable word.
    pub(crate) next: u32,
    pub(crate) next_loose: u32,
    pub(crate) heard: Vec<(PlayerId, Vec<u8>)>,
    /// What the rules were refused.
    pub(crate) refused: u32,
}

/// The kind of the numbered events.
pub(crate) const NUMBERED: u8 = 3;

/// How a message begins that a player has passed on to these players only, who are counted in the
/// next byte and named in those behind it.
pub(crate) const WHISPER: &[u8] = b"whisper";

impl Game for Choir {
    type World = World;
    type Input = Buttons;
    type Message = RawMessage;
    type JoinData = ();

    fn id(&self) -> GameId {
        GameId::new(*b"CHOR", 1)
    }

    fn tick_rate(&self) -> u8 {
        self.rate
    }

    fn capacity(&self) -> u8 {
        4
    }

    fn schema(&self) -> &'static Schema {
        Dots::default().schema()
    }

    fn begin(&self, seed: u64) -> World {
        World { dots: Dots::default().begin(seed), ..World::default() }
    }

    fn join(&self, world: &mut World, player: PlayerId, _: &()) {
        Dots::default().join(&mut world.dots, player, &());
    }

    fn leave(&self, world: &mut World, player: PlayerId) {
        Dots::default().leave(&mut world.dots, player);
    }

    fn step(&self, world: &mut World, turn: &mut Turn<'_, Self>) {
        let mut events = Vec::new();
        let mut dots = Turn::new(turn.tick(), turn.inputs(), &[], &mut events);
        Dots::default().step(&mut world.dots, &mut dots);
        for _ in 0..self.reliable {
            let number = world.next;
            world.next += 1;
            if number.is_multiple_of(2) {
                let (kind, value) = (NUMBERED, number.cast_signed());
                turn.raise(Event { kind, entity: 0, value, reach: Reach::Everyone });
            } else {
                let mut message = number.to_be_bytes().to_vec();
                message.resize(if number % 4 == 1 { self.len.max(4) } else { 4 }, number as u8);
                turn.send(To::Everyone, Delivery::Reliable, &RawMessage::from(&message[..]))
                    .unwrap();
            }
        }
        for _ in 0..self.unreliable {
            let number = (u32::MAX - world.next_loose).to_be_bytes();
            match turn.send(To::Everyone, Delivery::Unreliable, &RawMessage::from(&number)) {
                Ok(()) => world.next_loose += 1,
                Err(_) => world.refused += 1,
            }
        }
    }

    fn predict(&self, world: &mut World, turn: &mut Turn<'_, Self>) {
        let mut events = Vec::new();
        let mut dots = Turn::new(turn.tick(), turn.inputs(), &[], &mut events);
        Dots::default().step(&mut world.dots, &mut dots);
    }

    fn capture(&self, world: &World, state: &mut State) {
        Dots::default().capture(&world.dots, state);
    }

    fn restore(&self, state: &State) -> World {
        World { dots: Dots::default().restore(state), ..World::default() }
    }

    fn on_message(
        &self,
        world: &mut World,
        player: PlayerId,
        message: RawMessage,
        effects: &mut Effects<'_, RawMessage>,
    ) {
        world.heard.push((player, message.to_vec()));
        if let Some([count, rest @ ..]) = message.strip_prefix(WHISPER) {
            let players = rest[..usize::from(*count)].iter().map(|&id| PlayerId(id.into()));
            let players: Vec<_> = players.collect();
            let to = match players[..] {
                [only] => To::Player(only),
                _ => To::Players(&players),
            };
            effects.send(to, Delivery::Reliable, &RawMessage::from(&message[..])).unwrap();
        }
        if self.echoes {
            effects.send(To::Everyone, Delivery::Reliable, &message).unwrap();
        }
    }

    fn chat(&self) -> ChatRule {
        self.chat
    }
}
