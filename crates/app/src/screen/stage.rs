//! What a game must provide to be shown.

use std::error::Error;
use std::time::Duration;

use backspin::client::Frame;
use backspin::game::{Buttons, Event, PlayerId};
use backspin::replication::State;
use backspin::wire::Name;

use super::match_screen::{Hand, Lane, Steers};
use super::{Banner, BurstKind, Controls, Cue, Hud, Launch, Options, Row, Scene, Tone};
use crate::games::AppGame;

/// A game that can be shown.
pub(crate) trait Stage: AppGame {
    /// A bot that plays for a person.
    type Bot: Send;

    /// What the two sides are called where they have no names; none where all play together.
    const SIDES: &'static [&'static str];

    /// The ways to play it on one machine, as the menu lists them.
    const WAYS: &'static [(&'static str, Way)];

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

    /// The rules in a way to play on one machine.
    fn alone(self, _way: Way) -> Self {
        self
    }

    /// How many play on one machine.
    fn players_alone(&self) -> u32 {
        1
    }

    /// Who steers what on this machine.
    fn hands(
        &self,
        _errand: &Launch,
        options: &Options,
        name: Name,
    ) -> Result<Vec<Hand<Self>>, Box<dyn Error>> {
        let steers = match options.bot {
            Some(level) => Steers::Bot(Self::bot(level)?),
            None => Steers::Person(Lane::Both),
        };
        Ok(vec![Hand { player: PlayerId(1), name: name.to_string(), steers }])
    }

    /// A bot of this level, as the game counts them.
    fn bot(level: u8) -> Result<Self::Bot, Box<dyn Error>>;

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

/// A way to play on one machine, as the game counts them; `None` is as the command line says.
pub(crate) type Way = Option<u8>;

/// What is on a screen.
pub(crate) struct Sight<'a, G: Stage> {
    pub(crate) frame: &'a Frame,
    /// The same as the rules have it.
    pub(crate) world: &'a G::World,
    /// Whose screen it is.
    pub(crate) own: Option<PlayerId>,
}

/// What happened between two pictures.
#[derive(Debug, Default)]
pub(crate) struct Happenings {
    /// The middle of each, in the scene's unit.
    pub(crate) bursts: Vec<(BurstKind, f32, f32)>,
    pub(crate) cues: Vec<Cue>,
}

/// Something that stops a match for a while.
pub(crate) struct Interlude {
    pub(crate) banner: Banner,
    /// What the player can do about it.
    pub(crate) offer: Option<Offer>,
}

/// A line to choose, and what is said to the game with it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Offer {
    pub(crate) row: Row,
    /// A key that chooses it from anywhere, and what it does in a word.
    pub(crate) key: Option<(char, &'static str)>,
    /// Nothing, where the others are waited for.
    pub(crate) words: Vec<u8>,
}

/// What players are called.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names(pub(crate) Vec<(PlayerId, String)>);

impl Names {
    pub(crate) fn of(&self, player: PlayerId) -> String {
        let known = self.0.iter().find(|(it, name)| *it == player && !name.is_empty());
        known.map_or_else(|| format!("Player {}", player.0), |(_, name)| name.clone())
    }
}

/// The names of the sides: those of their players, or the usual ones.
pub(crate) fn side_names(usual: &[&str], names: &Names, standing: &Standing) -> Vec<String> {
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
pub(crate) struct Standing {
    pub(crate) phase: StandingPhase,
    /// Who plays, and on which side.
    pub(crate) players: Vec<(PlayerId, usize)>,
    /// By side.
    pub(crate) points: Vec<u8>,
    /// Who wants to play again.
    pub(crate) wishes: Vec<PlayerId>,
}

impl Standing {
    /// The side that a player is on; `None` for those who watch.
    pub(crate) fn side_of(&self, player: PlayerId) -> Option<usize> {
        self.players.iter().find(|(it, _)| *it == player).map(|(_, side)| *side)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum StandingPhase {
    /// Someone is missing, or not ready.
    #[default]
    Waiting,
    /// Someone has left in the middle.
    Left,
    /// It starts in this many seconds.
    Countdown(u8),
    Playing,
    /// It is over, and this side has won.
    Over {
        winner: usize,
    },
}
