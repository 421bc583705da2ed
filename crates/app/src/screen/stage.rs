//! What a game must say of itself to be shown.

use backspin::client::Frame;
use backspin::game::{Buttons, Game, PlayerId};
use backspin::replica::State;

use super::Scene;

/// A game that can be shown.
pub(super) trait Stage: Game<World: Send> + Send + 'static {
    /// Someone who plays in a person's place.
    type Bot;

    /// What a player says to play once more, or to begin without waiting for more players.
    const AGAIN: &'static [u8];

    /// What the sides are called where they have no names.
    const SIDES: &'static [&'static str];

    /// Where everything is drawn. `own` is whose screen it is.
    fn scene(&self, frame: &Frame, own: Option<PlayerId>) -> Scene;

    /// How far the match is.
    fn standing(&self, state: &State) -> Standing;

    /// What a bot holds that sees this world.
    fn steer(bot: &mut Self::Bot, seen: &Self::World, player: PlayerId, tick: u32) -> Buttons;
}

/// How far a match is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) phase: StandingPhase,
    /// Who plays, and on which side.
    pub(super) players: Vec<(PlayerId, usize)>,
    /// By side.
    pub(super) points: Vec<u8>,
    /// Who wishes to play again.
    pub(super) wishes: Vec<PlayerId>,
    /// Whether it can begin although places are free, if everyone wishes so.
    pub(super) may_begin: bool,
}

impl Standing {
    /// The side that a player is on; `None` for those who watch.
    pub(super) fn side_of(&self, player: PlayerId) -> Option<usize> {
        self.players.iter().find(|(it, _)| *it == player).map(|(_, side)| *side)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StandingPhase {
    /// Someone is missing.
    Waiting,
    /// Someone has left in the middle.
    Left,
    /// It begins in so many seconds.
    Countdown(u8),
    Playing,
    /// It is over, and this side has won.
    Over {
        winner: usize,
    },
}
