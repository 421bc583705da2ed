//! What a game must say of itself to be shown.

use std::time::Duration;

use backspin::client::Frame;
use backspin::game::{Buttons, Event, PlayerId};
use backspin::replica::State;

use super::{Banner, BurstKind, Controls, Cue, Hud, Row, Scene, Tone};
use crate::play::Playable;

/// A game that can be shown.
pub(super) trait Stage: Playable {
    /// Someone who plays in a person's place.
    type Bot: Send;

    /// What the sides are called where they have no names; none where all play together.
    const SIDES: &'static [&'static str];

    /// What is steered.
    const CONTROLS: Controls;

    /// How long the end of a match is seen before the panel about it covers the field.
    const CURTAIN: Duration = Duration::ZERO;

    /// What can be said with a digit, the first with 1.
    const PHRASES: &'static [&'static str] = &[];

    /// Where everything is drawn.
    fn scene(&self, sight: &Sight<'_, Self>) -> Scene;

    /// What happened between two pictures.
    fn happened(&self, before: &Sight<'_, Self>, now: &Sight<'_, Self>, out: &mut Happenings);

    /// How far the match is; `world` is that of `state`.
    fn progress(&self, state: &State, world: &Self::World) -> Standing;

    /// Words in the middle of the field.
    fn banner(&self, sight: &Sight<'_, Self>) -> Option<Banner>;

    /// Why the match stands still or goes on without someone, and what can be done about it.
    fn interlude(
        &self,
        _world: &Self::World,
        _own: Option<PlayerId>,
        _names: &Names,
    ) -> Option<Interlude> {
        None
    }

    /// The lines that the game offers to choose from: before the match, and after it.
    fn offers(&self, world: &Self::World, own: Option<PlayerId>) -> Vec<Offer>;

    /// How the match has ended: a word, and what is read below it.
    fn verdict(
        &self,
        world: &Self::World,
        own: Option<PlayerId>,
        names: &Names,
    ) -> (String, Vec<(String, Tone)>);

    /// What a bot holds that sees this world.
    fn steer(bot: &mut Self::Bot, seen: &Self::World, player: PlayerId, tick: u32) -> Buttons;

    /// Who is in the lobby, in columns.
    fn facts(&self, _world: &Self::World, _own: Option<PlayerId>, _names: &Names) -> Vec<Row> {
        Vec::new()
    }

    /// How the crew does, where all play together.
    fn hud(&self, _sight: &Sight<'_, Self>, _names: &Names) -> Option<Hud> {
        None
    }

    /// What someone says by this event: who, and the words.
    fn said(&self, _event: &Event) -> Option<(PlayerId, &'static str)> {
        None
    }

    /// What a player says with this key.
    fn phrase(&self, _key: char) -> Option<Vec<u8>> {
        None
    }
}

/// What is on a screen.
pub(super) struct Sight<'a, G: Stage> {
    pub(super) frame: &'a Frame,
    /// The same as the rules have it.
    pub(super) world: &'a G::World,
    /// Whose screen it is.
    pub(super) own: Option<PlayerId>,
}

/// What happened between two pictures.
#[derive(Debug, Default)]
pub(super) struct Happenings {
    /// The middle of each, in the scene's unit.
    pub(super) bursts: Vec<(BurstKind, f32, f32)>,
    pub(super) cues: Vec<Cue>,
}

/// Something that stops a match for a while.
pub(super) struct Interlude {
    pub(super) banner: Banner,
    /// What the player can do about it.
    pub(super) offer: Option<Offer>,
}

/// A line to choose, and what is said to the game with it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Offer {
    pub(super) row: Row,
    /// A key that chooses it from anywhere, and what it does in a word.
    pub(super) key: Option<(char, &'static str)>,
    /// Nothing, where the others are waited for.
    pub(super) words: Vec<u8>,
}

/// What players are called.
#[derive(Clone, Debug, Default)]
pub(super) struct Names(pub(super) Vec<(PlayerId, String)>);

impl Names {
    pub(super) fn of(&self, player: PlayerId) -> String {
        let known = self.0.iter().find(|(it, name)| *it == player && !name.is_empty());
        known.map_or_else(|| format!("Player {}", player.0), |(_, name)| name.clone())
    }
}

/// What the sides are called: as who plays there, or as usual.
pub(super) fn side_names(usual: &[&str], names: &Names, standing: &Standing) -> Vec<String> {
    let of = |(index, usual): (usize, &&str)| {
        let side = names.0.iter().filter(|(it, _)| standing.side_of(*it) == Some(index));
        match side.map(|(_, name)| name.as_str()).collect::<Vec<_>>() {
            names if names.is_empty() => (*usual).to_owned(),
            names => names.join(" & "),
        }
    };
    usual.iter().enumerate().map(of).collect()
}

/// How far a match is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) phase: StandingPhase,
    /// Who plays, and on which side.
    pub(super) players: Vec<(PlayerId, usize)>,
    /// By side.
    pub(super) points: Vec<u8>,
    /// Who wishes to play again.
    pub(super) wishes: Vec<PlayerId>,
}

impl Standing {
    /// The side that a player is on; `None` for those who watch.
    pub(super) fn side_of(&self, player: PlayerId) -> Option<usize> {
        self.players.iter().find(|(it, _)| *it == player).map(|(_, side)| *side)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum StandingPhase {
    /// Someone is missing, or not ready.
    #[default]
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
