//! What a room shows of a match beside its world: lives, scores, who is host, whether it has begun.

use super::{NoLobby, PlayerId};

/// How a player does, in games that count it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Lives left.
    pub lives: u8,
    /// The score.
    pub score: i32,
}

/// What a player is in the lobby, in games that have one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marks {
    /// May set the match up and start it.
    pub host: bool,
    /// Is ready to start.
    pub ready: bool,
}

impl Default for Marks {
    fn default() -> Self {
        Marks { host: false, ready: true }
    }
}

/// How far the match in a room is, as who looks for a room must know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Whether it is on.
    pub started: bool,
    /// Whether who comes then plays at once.
    pub late_joining: bool,
    /// Whether it has been decided, and nothing else has begun since.
    pub over: bool,
}

impl Default for Stage {
    fn default() -> Self {
        Stage { started: false, late_joining: true, over: false }
    }
}

/// How a match is set up and how it stands, in games that have a lobby or count:
/// [`Game::lobby`](super::Game::lobby).
pub trait Lobby<W> {
    /// How a player does; `None` if the game does not count, or the player is not in it.
    fn standing_of(&self, _world: &W, _player: PlayerId) -> Option<Standing> {
        None
    }

    /// What a player is in the lobby; who plays without one is always ready.
    fn marks(&self, _world: &W, _player: PlayerId) -> Marks {
        Marks::default()
    }

    /// How far the match is; without a lobby it is one that anyone may join at any time.
    fn stage(&self, _world: &W) -> Stage {
        Stage::default()
    }
}

impl<W> Lobby<W> for NoLobby {}
