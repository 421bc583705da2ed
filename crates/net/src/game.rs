//! A game is its rules: how a world begins, who is in it, and what one step does to it.
//!
//! The layers below carry worlds and inputs without knowing what they mean; a room steps the
//! world, a client predicts its own part of it and shows the rest. Rules are pure: the same world
//! and the same [`Turn`] give the same world, on the server and in prediction.

mod admission;
mod any;
mod effects;
mod event;
mod frame;
mod lobby;
mod spawn;
mod turn;

pub use admission::{Applicant, Refusal};
pub use effects::{Effects, Letter, Mail, STEP_BYTES, To};
pub use event::{Event, Reach};
pub use frame::{Frame, Impact};
pub use lobby::{Lobby, Marks, Stage, Standing};
pub use spawn::SpawnName;
pub use turn::{
    PlayerInput, REWIND_LIMIT_MS, REWIND_TICKS_MAX, Turn, rewind_limit_ticks, rewind_ticks_asked,
};

use std::fmt;

use crate::chat::ChatRule;
use crate::replication::{Drawn, Entity, Schema, State, View, Viewer};
use crate::typed::{self, Input, Message};
use crate::wire::Malformed;

/// A player in a room, the same for as long as the slot is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PlayerId(pub u32);

impl fmt::Display for PlayerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "player {}", self.0)
    }
}

/// Which game, and which version of its rules: both sides must agree on both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GameId {
    /// Four letters, read as a big-endian number.
    pub game: u32,
    /// Raised with every change that would let two sides disagree.
    pub version: u16,
}

impl GameId {
    /// The game with these four letters.
    pub const fn new(letters: [u8; 4], version: u16) -> Self {
        GameId { game: u32::from_be_bytes(letters), version }
    }
}

impl fmt::Display for GameId {
    /// The four letters, what is none of them escaped, and the version.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.game.to_be_bytes().escape_ascii(), self.version)
    }
}

/// The buttons a player holds, as the game numbers them: the input of a game that has nothing but buttons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Buttons(pub u16);

impl Buttons {
    /// Move up. The first six are the same in every game and in the old dialects.
    pub const UP: Buttons = Buttons(1);
    /// Move down.
    pub const DOWN: Buttons = Buttons(2);
    /// Move left.
    pub const LEFT: Buttons = Buttons(4);
    /// Move right.
    pub const RIGHT: Buttons = Buttons(8);
    /// Shoot.
    pub const SHOOT: Buttons = Buttons(16);
    /// Charge a heavy shot.
    pub const CHARGE: Buttons = Buttons(32);

    /// Whether all of `other` are held.
    pub const fn contains(self, other: Buttons) -> bool {
        self.0 & other.0 == other.0
    }

    /// -1, 0 or 1: which of two opposite buttons is held alone.
    pub fn axis(self, less: Buttons, more: Buttons) -> i32 {
        i32::from(self.contains(more)) - i32::from(self.contains(less))
    }
}

impl Input for Buttons {
    const BITS: u32 = 16;
    const LAYOUT: u64 = typed::layout(typed::LAYOUT, b"buttons");

    fn to_bits(self) -> u128 {
        self.0.into()
    }

    fn from_bits(bits: u128) -> Self {
        Buttons(bits as u16)
    }
}

impl std::ops::BitOr for Buttons {
    type Output = Buttons;

    fn bitor(self, other: Buttons) -> Buttons {
        Buttons(self.0 | other.0)
    }
}

/// A snapshot is sent at least once in so many ticks.
pub const MAX_SEND_EVERY: u8 = 8;

/// How many bytes of snapshots a player is sent in a second, where the game says nothing else.
pub const BYTE_BUDGET: u32 = 64_000;

/// A game's rules.
pub trait Game: Clone + 'static {
    /// Everything that a step may look at or change.
    type World: Clone + fmt::Debug;

    /// What a player does in a tick.
    type Input: Input;

    /// What clients and rules tell each other: `()` if nothing.
    type Message: Message;

    /// What a player says of itself when joining, beside the name: a team, a skin, a loadout. `()` if
    /// nothing. Bots and guests in an old dialect say the default.
    type JoinData: Message + Default;

    /// Which game it is.
    fn id(&self) -> GameId;

    /// Steps per second.
    fn tick_rate(&self) -> u8 {
        60
    }

    /// How far back contacts may be judged, in ms: see [`Turn::rewound_for`]. Further away than that
    /// from the server, a player's hits are judged otherwise than they were drawn; but whoever is
    /// hit learns of it so much later than it was seen, so a game in which players fight each other
    /// keeps it short. At most [`REWIND_TICKS_MAX`] ticks. 0 is no lag compensation: the rules never
    /// ask, and no past worlds are kept.
    fn rewind_limit_ms(&self) -> u32 {
        REWIND_LIMIT_MS
    }

    /// A snapshot every so many ticks: 1 is every tick, and [`MAX_SEND_EVERY`] the most. Rules may run
    /// faster than the world is shown; what is drawn lies further behind then.
    fn send_every(&self) -> u8 {
        1
    }

    /// How many bytes of snapshots a player is sent in a second, at most. A world that everyone sees all
    /// of, and whose changes fit one datagram, is sent as it is. Of a larger one the most important is sent
    /// first, and what is left waits: see [`Game::visible`].
    fn byte_budget(&self) -> u32 {
        BYTE_BUDGET
    }

    /// Which entities a viewer may know of, and how important each is. Asked for every viewer and
    /// snapshot. What is not in the view does not leave the server.
    fn visible(&self, _world: &Self::World, _viewer: Viewer, view: &mut View) {
        view.everything();
    }

    /// How many may play in one room.
    fn capacity(&self) -> u8;

    /// What is sent of a world: kinds of entities and their fields.
    fn schema(&self) -> &'static Schema;

    /// The world before the first step.
    fn begin(&self, seed: u64) -> Self::World;

    /// Whether someone may take a slot, asked before each does. The player reads the refusal.
    fn admit(
        &self,
        _world: &Self::World,
        _applicant: &Applicant<'_, Self::JoinData>,
    ) -> Result<(), Refusal> {
        Ok(())
    }

    /// A player takes a slot.
    fn join(&self, world: &mut Self::World, player: PlayerId, data: &Self::JoinData);

    /// A player's slot is given up.
    fn leave(&self, world: &mut Self::World, player: PlayerId);

    /// Something else has changed about a player.
    fn on_status(&self, _world: &mut Self::World, _player: PlayerId, _status: PlayerStatus) {}

    /// One tick.
    fn step(&self, world: &mut Self::World, turn: &mut Turn<'_, Self>);

    /// What a client does ahead of the server with its own input: all of [`Game::step`], with
    /// nobody else's input, unless the game knows better.
    fn predict(&self, world: &mut Self::World, turn: &mut Turn<'_, Self>) {
        self.step(world, turn);
    }

    /// Writes what is sent of a world into an empty state.
    fn capture(&self, world: &Self::World, state: &mut State);

    /// The world of a state: what is predicted must come out as it went in.
    fn restore(&self, state: &State) -> Self::World;

    /// The same in the place of an older world, so that a game can use its memory again: a client
    /// does this with every snapshot.
    fn restore_into(&self, state: &State, world: &mut Self::World) {
        *world = self.restore(state);
    }

    /// The entity that a player steers.
    fn entity_of(&self, player: PlayerId) -> u32 {
        player.0
    }

    /// Whether `player` sees the entity ahead of the server, as predicted: its own, and what it
    /// spawned.
    fn is_ahead(&self, entity: &Entity, player: PlayerId) -> bool {
        entity.id == self.entity_of(player) || SpawnName::owner(entity.id) == Some(player)
    }

    /// When the entity that is drawn so is drawn: 0 is with the others, behind the server, 1 with
    /// what is the player's own, ahead of it. `None` is one of the two, as [`Game::is_ahead`] says.
    ///
    /// For what both sides meet, a ball: its time slides from one clock to the other as it
    /// crosses the field, so it must change gently with where the entity is. From 0 to 1 are
    /// `gap_ticks`: where there is little way for much time, a game lets some of it be.
    fn time_blend(&self, _drawn: &Drawn, _player: PlayerId, _gap_ticks: f32) -> Option<f32> {
        None
    }

    /// What `player` sees meet from one frame to the next, and what ends there: own shots at what
    /// they hit, what hits the own ship. Both are where they are drawn, each in its own time: the
    /// player's own things ahead of the server, the rest behind it. That is how
    /// [`Turn::rewound_for`] lets the server judge it, a round trip later.
    ///
    /// What stops is drawn in this frame and not again. If the server does not take it away in the
    /// tick it was seen in, it flies on. Frames say what was seen: [`Frame::impacts`] what is new,
    /// [`Frame::awaited`] what the server has not spoken of yet. The same two meet once until then.
    fn impacts(
        &self,
        _before: &Frame,
        _now: &Frame,
        _player: PlayerId,
        _meet: &mut dyn FnMut(Impact),
    ) {
    }

    /// Hears what a player sent with [`Client::send`](crate::client::Client::send), at most
    /// [`MESSAGE_BYTES`](crate::channel::MESSAGE_BYTES), before the step of the next tick: what is
    /// reliable in order and once, the rest at most once. A player may say anything at any time. Only who
    /// plays is heard.
    fn on_message(
        &self,
        _world: &mut Self::World,
        _player: PlayerId,
        _message: Self::Message,
        _effects: &mut Effects<'_, Self::Message>,
    ) {
    }

    /// Reads a message and hears it: for games that are made of others.
    #[doc(hidden)]
    fn handle_message(
        &self,
        world: &mut Self::World,
        player: PlayerId,
        message: &[u8],
        effects: &mut Effects<'_, Self::Message>,
    ) -> Result<(), Malformed> {
        self.on_message(world, player, Self::Message::read(message)?, effects);
        Ok(())
    }

    /// A hash of what is sent of input, messages and entities: two builds in which it differs do not
    /// understand each other, and are told so.
    fn layout(&self) -> u64 {
        let hash = typed::layout_number(Self::Input::LAYOUT, Self::Message::LAYOUT as i64);
        let hash = typed::layout_number(hash, Self::JoinData::LAYOUT as i64);
        typed::layout_number(hash, self.schema().layout() as i64)
    }

    /// Who may write lines of chat, which everyone in the room reads.
    fn chat(&self) -> ChatRule {
        ChatRule::Players
    }

    /// What a bot would hold in the place of `player`; `None` if the game has no bot. It is part of
    /// the rules and not of the app, because the room itself plays so for whoever was dropped and may
    /// come back, and beside a `lan` guest who is alone.
    fn bot_input(&self, _world: &Self::World, _player: PlayerId) -> Option<Self::Input> {
        None
    }

    /// How a match is set up and how it stands, if the game has a lobby or counts.
    fn lobby(&self) -> &impl Lobby<Self::World> {
        &NoLobby
    }
}

/// What else a game is told about a player who has a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlayerStatus {
    /// Just joined, and can say nothing but buttons: a bot, or a player who speaks an old dialect.
    Mute,
    /// Was dropped or has gone, and may come back: the slot is kept, and a bot
    /// [stands in](Game::bot_input).
    Away,
    /// Is back.
    Back,
    /// Nothing has come for a second, and the player still counts as here: the line may be dead, or
    /// the program. Told once per silence, before the step of a tick; in `rtype`, where silence may
    /// mean that nothing changed, never.
    Silent,
    /// Is heard again after [`PlayerStatus::Silent`].
    Heard,
}

/// Says nothing of its own: what a game without a [lobby](Game::lobby) has for one.
#[derive(Clone, Copy, Debug)]
pub struct NoLobby;
