//! A game is its rules: how a world begins, who is in it, and what one step does to it.
//!
//! The layers below carry worlds and inputs without knowing what they mean; a room steps the
//! world, a client shows it. Rules are pure: the same world and inputs give the same world.

use std::fmt;

use crate::wire::native::EntityState;

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

/// The buttons a player holds, as the game numbers them.
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
}

impl std::ops::BitOr for Buttons {
    type Output = Buttons;

    fn bitor(self, other: Buttons) -> Buttons {
        Buttons(self.0 | other.0)
    }
}

/// A game's rules.
pub trait Game {
    /// Everything that a step may look at or change.
    type World: Clone + fmt::Debug;

    /// Which game it is.
    fn id(&self) -> GameId;

    /// Steps per second.
    fn tick_rate(&self) -> u8 {
        60
    }

    /// How many may play in one room.
    fn capacity(&self) -> u8;

    /// The world before the first step.
    fn begin(&self, seed: u64) -> Self::World;

    /// A player takes a slot.
    fn join(&self, world: &mut Self::World, player: PlayerId);

    /// A player's slot is given up.
    fn leave(&self, world: &mut Self::World, player: PlayerId);

    /// One tick, with the buttons of every player in the world.
    fn step(&self, world: &mut Self::World, inputs: &[(PlayerId, Buttons)]);

    /// What there is to see, in the form of document 004.
    fn entities(&self, world: &Self::World, out: &mut Vec<EntityState>);

    /// The world as Networked Pong sees it; `None` if the game cannot be shown so.
    #[cfg(feature = "lan")]
    fn lan_state(&self, _world: &Self::World) -> Option<crate::wire::lan::StateUpdate> {
        None
    }
}
