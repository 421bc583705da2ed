//! The games. Each is a folder and a line in the registry:
//!
//! ```text
//! mod          -> its rules as an `AppGame`, and its part of the command line
//! stage        -> how it is shown: a `Stage`
//! look         -> its things, and how a window and a terminal draw them
//! script_game  -> what a script reads and writes
//! page         -> what the operator's page shows; result: how a match ended
//! ```

pub(crate) mod command;

use std::error::Error;

use backspin::game::{Game, GameId, PlayerId};
use backspin::replication::State;
use backspin_classic::{ClassicGame, Dialect};
use backspin_sim::Measured;
use clap::{Subcommand, ValueEnum};
use macroquad::math::Rect;
use ratatui::buffer::Buffer;
use serde::{Deserialize, Serialize};

use crate::desktop::brush::Brush;
use crate::screen::Thing;
use crate::serve::Verdict;
use crate::terminal::grid::Grid;
use crate::web::DrawnScene;
use crate::{desktop, terminal};

/// What the program needs of a game to open, serve, measure and watch it. How it looks
/// while it is played is its [`Stage`](crate::screen::stage::Stage).
pub(crate) trait AppGame: ClassicGame + Measured + Default {
    /// Its name.
    const NAME: &'static str;

    /// Its name on the command line.
    const COMMAND: &'static str;

    /// The old dialect that its players may speak beside `native`, and where.
    const OLD: Option<(Dialect, u16)> = None;

    /// How many of its rooms a server opens for anyone, and the variable that says otherwise.
    const ROOMS: (u16, &'static str);

    /// How a match in a room stands.
    fn verdict(world: &Self::World) -> Verdict;

    /// What the operator's page shows.
    fn picture(state: &State) -> DrawnScene;

    /// What `player` says in this world so that the match begins, or begins again: bots play
    /// without end.
    fn again(world: &Self::World, player: PlayerId) -> Option<Vec<u8>>;

    /// The rules for bots that are measured for a while, with `swarm` things in the field that
    /// nobody steers; or how many players it takes, in words.
    fn simulated(players: u8, swarm: u16) -> Result<Self, &'static str>;
}

/// A look of a game's own, which the game draws.
pub(crate) trait Painted: Copy {
    /// Draws it in a window, at `seconds` of the UI's own time.
    fn window(self, brush: &mut Brush, area: Rect, paint: desktop::Paint, seconds: f32);

    /// Draws it in a terminal.
    fn cells(self, thing: &Thing, grid: &Grid, buffer: &mut Buffer, paint: terminal::Paint);
}

/// The looks of a game that has none of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlainLook {}

impl Painted for PlainLook {
    fn window(self, _: &mut Brush, _: Rect, _: desktop::Paint, _: f32) {
        match self {}
    }

    fn cells(self, _: &Thing, _: &Grid, _: &mut Buffer, _: terminal::Paint) {
        match self {}
    }
}

/// One line makes all that has a place for each game. `$d` is a dollar sign, for the macro in it.
macro_rules! registry {
    ($d:tt $($Kind:ident: $folder:ident, $rooms:ident, $Rules:ty, $World:ty;)+) => {
        $(pub(crate) mod $folder;)+

        backspin::any_game! {
            /// The rules of one room.
            ///
            /// A log names a game and not how it is set up, so that rooms are served by the default
            /// rules: what a host sets up is part of the world, and said in the session.
            #[derive(Clone, Debug)]
            pub(crate) enum AnyGame, AnyWorld { $($Kind($Rules, $World)),+ }
        }

        backspin_classic::any_classic_game!(AnyGame, AnyWorld, $($Kind)+);

        impl AnyGame {
            /// The game that a log or a replay names, if it is here.
            pub(crate) fn of(id: GameId) -> Option<AnyGame> {
                Title::of(id).map(Title::rules)
            }
        }

        impl AnyWorld {
            /// Which game it is of, and how the match stands.
            pub(crate) fn verdict(&self) -> (Title, Verdict) {
                match self { $(AnyWorld::$Kind(it) => (Title::$Kind, <$Rules>::verdict(it)),)+ }
            }
        }

        /// Which game.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ValueEnum)]
        #[serde(rename_all = "snake_case")]
        pub(crate) enum Title { $($Kind),+ }

        /// Does something with the rules' type, called `G`, of the game that a title names.
        macro_rules! with_game {
            ($d title:expr, $d G:ident => $d answer:expr) => {
                match $d title {
                    $($crate::games::Title::$Kind => {
                        type $d G = $Rules;
                        $d answer
                    })+
                }
            };
        }
        pub(crate) use with_game;

        impl Title {
            /// All of them, in the order of the menus.
            pub(crate) const ALL: &[Title] = &[$(Title::$Kind),+];

            fn rules(self) -> AnyGame {
                match self { $(Title::$Kind => AnyGame::$Kind(Default::default()),)+ }
            }
        }

        /// A look of a game's own.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum OwnLook { $(#[allow(dead_code)] $Kind($folder::Look)),+ }

        impl Painted for OwnLook {
            fn window(self, brush: &mut Brush, area: Rect, paint: desktop::Paint, seconds: f32) {
                match self { $(OwnLook::$Kind(it) => it.window(brush, area, paint, seconds),)+ }
            }

            fn cells(
                self,
                thing: &Thing,
                grid: &Grid,
                buffer: &mut Buffer,
                paint: terminal::Paint,
            ) {
                match self { $(OwnLook::$Kind(it) => it.cells(thing, grid, buffer, paint),)+ }
            }
        }

        /// The games' commands.
        #[derive(Subcommand)]
        pub(crate) enum GameCommand { $($Kind($folder::Args)),+ }

        impl GameCommand {
            pub(crate) fn run(&self) -> Result<(), Box<dyn Error>> {
                match self { $(GameCommand::$Kind(args) => $folder::run(args),)+ }
            }
        }

        /// How many rooms of each game are to be opened for anyone, as far as someone says so.
        #[derive(clap::Args, Clone, Debug, Default, Deserialize)]
        #[serde(rename_all = "kebab-case", default)]
        pub(crate) struct GivenRooms {
            $(
                #[arg(long, value_name = "N", env = <$Rules>::ROOMS.1, help = rooms_help::<$Rules>())]
                $rooms: Option<u16>,
            )+
        }

        impl GivenRooms {
            /// What is said here; what is not, as it is said in `other`.
            pub(crate) fn or(self, other: Self) -> Self {
                GivenRooms { $($rooms: self.$rooms.or(other.$rooms)),+ }
            }

            /// As it was decided: at most `most` of each.
            pub(crate) fn decided(self, most: u16) -> Result<RoomCounts, String> {
                Ok(RoomCounts { $($rooms: match self.$rooms {
                    Some(count) if count > most => {
                        let name = stringify!($rooms).replace('_', "-");
                        return Err(format!("{name}: {count} is out of range (0 to {most})"));
                    }
                    count => count.unwrap_or(<$Rules>::ROOMS.0),
                }),+ })
            }
        }

        /// How many rooms of each game are opened for anyone.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(rename_all = "kebab-case")]
        pub(crate) struct RoomCounts { $($rooms: u16),+ }

        impl RoomCounts {
            /// The games that there are rooms of, and how many.
            pub(crate) fn offers(&self) -> impl Iterator<Item = (Title, AnyGame, u16)> {
                let all = [$((Title::$Kind, self.$rooms)),+].into_iter();
                all.filter(|(_, most)| *most > 0).map(|(title, most)| (title, title.rules(), most))
            }
        }
    };
}

// A game's name here, its folder, the setting for its rooms, its rules, its world.
registry! { $
    Pong: pong, pong_rooms, backspin_pong::Pong, backspin_pong::World;
    Rtype: rtype, rtype_rooms, backspin_rtype::RType, Box<backspin_rtype::World>;
}

impl Title {
    /// The game with this id on the wire.
    pub(crate) fn of(id: GameId) -> Option<Title> {
        Title::ALL.iter().copied().find(|title| title.id() == id)
    }

    /// The game with this name on the command line.
    pub(crate) fn of_command(word: &str) -> Option<Title> {
        Title::ALL.iter().copied().find(|title| title.command() == word)
    }

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        with_game!(self, G => G::NAME)
    }

    /// Its name on the command line.
    pub(crate) fn command(self) -> &'static str {
        with_game!(self, G => G::COMMAND)
    }

    /// Its id on the wire.
    pub(crate) fn id(self) -> GameId {
        with_game!(self, G => G::default().id())
    }
}

fn rooms_help<G: AppGame>() -> String {
    let (name, (usual, _)) = (G::NAME, G::ROOMS);
    format!("The most {name} rooms to open; 0 turns {name} off [default: {usual}]")
}
