//! `backspin rtype`: alone, hosted for others, joined, in the best room, or watched.
//!
//! [`crate::play`] gets a player to a table; [`crate::script`] plays there without a face.

mod look;
mod page;
mod result;
mod stage;
mod voice;

use std::error::Error;
use std::sync::Arc;

use backspin_classic::Dialect;
use backspin::endpoint::Tokenless;
use backspin::game::PlayerId;
use backspin::replication::State;
use backspin_rtype::command::{Command, Setup};
use backspin_rtype::difficulty::Difficulty;
use backspin_rtype::mission::Phase;
use backspin_rtype::{Opening, RType, World};
use clap::builder::PossibleValue;
use clap::{Subcommand, ValueEnum};

use crate::face::{self, Ui};
use crate::games::{AppGame, Title};
use crate::screen::{Launch, Options, Program, Shelf};
use crate::script::{self, MakeArgs, RoomArgs, SeatArgs, Steers};
use crate::serve::Verdict;
use crate::web::Picture;
pub(crate) use look::Look;
#[cfg(test)]
pub(crate) use look::Ship;
use voice::RtypeVoice;

impl AppGame for RType {
    const NAME: &'static str = "R-Type";
    const COMMAND: &'static str = "rtype";
    const OLD: Option<(Dialect, u16)> = Some((Dialect::Rtype, 4242));
    const ROOMS: (u16, &'static str) = (256, "BACKSPIN_RTYPE_ROOMS");

    fn verdict(world: &World) -> Verdict {
        result::verdict(world)
    }

    fn picture(state: &State) -> Picture {
        page::picture(state)
    }

    fn again(world: &World, player: PlayerId) -> Option<Vec<u8>> {
        let is_host = world.mission.host == Some(player);
        Some(stage::words(match world.mission.phase {
            Phase::Lobby if is_host => Command::Start,
            Phase::Lobby => {
                let card = world.players().find(|card| card.player == player)?;
                (!card.is_ready).then_some(Command::Ready(true))?
            }
            Phase::Victory | Phase::Defeat if is_host => Command::Restart,
            _ => return None,
        }))
    }

    fn simulated(_players: u8, swarm: u16) -> Result<Self, &'static str> {
        Ok(RType { opening: Opening::AtOnce, swarm, ..RType::default() })
    }
}

/// Play R-Type: alone, as host, as guest, or watch.
///
/// It is played with W, A, S, D or the arrow keys; Space fires, C charges, V sends the
/// pod off and calls it back. Without a face (--ui none) it is played by --bot or by lines on stdin:
/// up, down, left, right, still, fire, hold (charge), release, pod, ready, unready, start, easy,
/// normal, hard, lives N, chat N, again (back to the lobby), quit.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  backspin rtype solo --difficulty easy
  backspin rtype host --name Ann
  backspin rtype join 192.168.0.7
  backspin rtype join [::1]:4300 --bot --ui none --json
  backspin rtype join play.example.org --room Attic --password moth
  backspin rtype join play.example.org --room Attic --create
  backspin rtype quick eu.example.org us.example.org
  backspin rtype watch attic.local
  backspin rtype solo --bot --ui none --json --seconds 60")]
pub(crate) struct Args {
    #[command(subcommand)]
    mode: Mode,
}

#[derive(Subcommand)]
enum Mode {
    /// Play alone on this machine
    Solo {
        #[command(flatten)]
        rules: Rules,
        #[command(flatten)]
        player: Player,
    },
    /// Play, and let up to three others join
    Host {
        /// One UDP port for rtype and native, and TCP one above [default: 4300 for native, 4242 and
        /// TCP 4243 for rtype]
        #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..=65_534))]
        port: Option<u16>,
        /// Offer only this dialect
        #[arg(long)]
        dialect: Option<RtypeDialect>,
        /// Let players of the first R-Type program in, which sends no token in its UDP Hello
        #[arg(long)]
        allow_tokenless: bool,
        #[command(flatten)]
        rules: Rules,
        #[command(flatten)]
        player: Player,
    },
    /// Join a host: at an address, or the first that is found on the LAN
    ///
    /// An address without a port is asked at 4300 in native. After a second without an answer the
    /// first program is looked for at 4242 in rtype; after 3.5 s that is all that is tried. Whoever was
    /// killed in a match comes back into it for half a minute. A search goes out of every interface,
    /// or only from the address that BACKSPIN_SEARCH_FROM names.
    Join {
        /// Where: an address or a host name, with a port or without
        address: Option<String>,
        /// Where to look for hosts, if no address is given [default: 4300]
        #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
        port: Option<u16>,
        /// Speak only this dialect
        #[arg(long)]
        dialect: Option<RtypeDialect>,
        #[command(flatten)]
        room: RoomArgs,
        #[command(flatten)]
        make: MakeArgs,
        #[command(flatten)]
        player: Player,
    },
    /// Join the best room of several servers: the nearest with a free place
    ///
    /// All of them are asked for their rooms at once. Of rooms that are nearly as near, the fullest
    /// is joined. If one of them is a matchmaker (`backspin match`), it decides instead: it finds
    /// others who wait, and the server that is nearest to all of you.
    Quick {
        /// Where: addresses or host names, with a port or without
        #[arg(required = true, value_name = "ADDRESS")]
        addresses: Vec<String>,
        #[command(flatten)]
        player: Player,
    },
    /// Watch a match
    Watch {
        /// Where: an address or a host name, with a port or without
        address: String,
        #[command(flatten)]
        room: RoomArgs,
        #[command(flatten)]
        player: Player,
    },
}

impl Mode {
    fn player(&self) -> &Player {
        match self {
            Mode::Solo { player, .. }
            | Mode::Host { player, .. }
            | Mode::Join { player, .. }
            | Mode::Quick { player, .. }
            | Mode::Watch { player, .. } => player,
        }
    }
}

/// What who hosts, or plays alone, decides.
#[derive(clap::Args, Clone, Copy)]
struct Rules {
    /// How hard it is
    #[arg(long, value_name = "LEVEL", default_value = "normal")]
    difficulty: DifficultyArg,

    /// How many lives everyone begins with; easy adds one, hard takes one
    #[arg(long, value_name = "N", default_value_t = 3)]
    #[arg(value_parser = clap::value_parser!(u8).range(1..=i64::from(Setup::LIVES_MAX)))]
    lives: u8,
}

impl Rules {
    fn game(self) -> RType {
        let Rules { difficulty: DifficultyArg(difficulty), lives: base_lives } = self;
        let setup = Setup { difficulty, base_lives, ..Setup::default() };
        RType { setup, ..RType::default() }
    }
}

/// Who plays here.
#[derive(clap::Args)]
struct Player {
    /// A bot flies the ship; it is ready at once and, as host, starts when someone else is
    #[arg(long)]
    bot: bool,

    #[command(flatten)]
    seat: SeatArgs,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RtypeDialect {
    Native,
    Rtype,
}

impl From<RtypeDialect> for Dialect {
    fn from(dialect: RtypeDialect) -> Dialect {
        match dialect {
            RtypeDialect::Native => Dialect::Native,
            RtypeDialect::Rtype => Dialect::Rtype,
        }
    }
}

/// A difficulty on the command line.
#[derive(Clone, Copy)]
struct DifficultyArg(Difficulty);

impl ValueEnum for DifficultyArg {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [DifficultyArg; 3] = [
            DifficultyArg(Difficulty::Easy),
            DifficultyArg(Difficulty::Normal),
            DifficultyArg(Difficulty::Hard),
        ];
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(stage::difficulty_name(self.0)))
    }
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let Player { bot, seat } = args.mode.player();
    let (mut options, errand) = plan(&args.mode);
    options.net_log = seat.net_log(errand.as_ref())?;
    let steers = if *bot { Steers::Bot } else { Steers::Person };
    let ui = seat.ui(steers);
    if ui != Ui::None {
        let program = Program::begin(Shelf::usual(), options, errand);
        return face::show(program, ui, seat.span());
    }
    let alone = Launch::Local(Title::Rtype, None);
    let game: RType = errand.as_ref().unwrap_or(&alone).rules(&options);
    let voice = RtypeVoice::new(game.clone(), steers);
    script::run(game, &options, errand.as_ref(), voice, seat)
}

/// What was asked for: where it leads, or nowhere if a host is to be found first.
fn plan(mode: &Mode) -> (Options, Option<Launch>) {
    let Player { bot, seat } = mode.player();
    let mut options = Options {
        token: seat.token(),
        bot: bot.then_some(0),
        name: seat.name,
        title: Some(Title::Rtype),
        ..Options::default()
    };
    let errand = match mode {
        Mode::Solo { rules, .. } => {
            options.rules = Some(Arc::new(rules.game()));
            Some(Launch::Local(Title::Rtype, None))
        }
        Mode::Host { port, dialect, allow_tokenless, rules, .. } => {
            if *allow_tokenless {
                options.tokenless = Tokenless::Allowed;
            }
            options.rules = Some(Arc::new(rules.game()));
            (options.port, options.dialect) = (*port, dialect.map(Dialect::from));
            Some(Launch::Host(Title::Rtype))
        }
        Mode::Join { address, port, dialect, room, make, .. } => {
            (options.port, options.dialect) = (*port, dialect.map(Dialect::from));
            (options.room, options.password) = (make.wish(room), room.password);
            address.clone().map(|address| Launch::Join(Title::Rtype, address))
        }
        Mode::Quick { addresses, .. } => Some(Launch::Quick(Title::Rtype, addresses.clone())),
        Mode::Watch { address, room, .. } => {
            (options.room, options.password) = (room.wish(), room.password);
            Some(Launch::Watch(Title::Rtype, address.clone()))
        }
    };
    (options, errand)
}
