//! `backspin pong`: a match on this machine, hosted for others, joined or watched.
//!
//! [`crate::play`] gets a player to a table; [`crate::script`] plays there without a face.

mod page;
mod result;
mod stage;
mod voice;

use std::error::Error;
use std::sync::Arc;

use backspin_classic::Dialect;
use backspin::game::{Game, PlayerId};
use backspin::replication::State;
use backspin_pong::{Level, Phase, Pong, Post, World};
use clap::builder::PossibleValue;
use clap::{Subcommand, ValueEnum};

use crate::face::{self, Ui};
use crate::games::{AppGame, Title};
use crate::screen::{Launch, Options, Program, Shelf};
use crate::script::{self, MakeArgs, RoomArgs, SeatArgs, Steers};
use crate::serve::Verdict;
use crate::web::Picture;
pub(crate) use crate::games::PlainLook as Look;
use voice::PongVoice;

impl AppGame for Pong {
    const NAME: &'static str = "Pong";
    const COMMAND: &'static str = "pong";
    const OLD: Option<(Dialect, u16)> = Some((Dialect::Lan, 54000));
    const ROOMS: (u16, &'static str) = (512, "BACKSPIN_PONG_ROOMS");

    fn verdict(world: &World) -> Verdict {
        result::verdict(world)
    }

    fn picture(state: &State) -> Picture {
        page::picture(state)
    }

    fn again(world: &World, player: PlayerId) -> Option<Vec<u8>> {
        let wishes = world.wishes[Post::of(player)?.index()];
        (world.phase == Phase::Over && !wishes).then(|| Pong::AGAIN.to_vec())
    }

    /// Bots do not ask for another match, so one lasts as long as can be.
    fn simulated(players: u8, _swarm: u16) -> Result<Self, &'static str> {
        match players {
            2 | 4 => Ok(Pong { points: Pong::MAX_POINTS, doubles: players == 4, countdown: 0 }),
            _ => Err("pong is played by 2, or by 4 in doubles"),
        }
    }
}

/// Play Pong: on this machine, as host, as guest, or watch.
///
/// It is played with W and S or the arrow keys. If the other player goes quiet, the ball waits for up to 30 s; G goes on against a bot.
/// Without a face (--ui none) a match is played by --bot or by lines on stdin: up, down, still, again (play once more), bot (go on against a
/// bot), quit.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  backspin pong host --bot hard --ui none --json
  backspin pong join --bot easy --ui none --json
  backspin pong join 192.168.0.7
  backspin pong join [fe80::1]:4300 --dialect native
  backspin pong join play.example.org --room Attic --password moth
  backspin pong join play.example.org --room Attic --create
  backspin pong quick eu.example.org us.example.org
  backspin pong watch attic.local
  backspin pong local --bot normal --versus hard --ui none")]
pub(crate) struct Args {
    #[command(subcommand)]
    mode: Mode,
}

#[derive(Subcommand)]
enum Mode {
    /// Play on this machine: two at one keyboard, or against a bot
    Local {
        /// A bot plays the other paddle
        #[arg(long, value_name = "LEVEL")]
        versus: Option<BotLevel>,
        #[command(flatten)]
        rules: Rules,
        #[command(flatten)]
        player: Player,
    },
    /// Play the left paddle, and let others join
    Host {
        /// One port for lan and native [default: 4300 for native and 54000 for lan]
        #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
        port: Option<u16>,
        /// Offer only this dialect to those who look for games
        #[arg(long)]
        dialect: Option<PongDialect>,
        #[command(flatten)]
        rules: Rules,
        #[command(flatten)]
        player: Player,
    },
    /// Join a host: at an address, or the first that is found on the LAN
    ///
    /// An address without a port is asked at 4300 in native. After a second without an answer the
    /// first program is looked for at 54000 in lan; after 3.5 s that is all that is tried. Whoever was
    /// killed in a match comes back into it for half a minute. A search goes out of every interface,
    /// or only from the address that BACKSPIN_SEARCH_FROM names.
    Join {
        /// Where: an address or a host name, with a port or without
        address: Option<String>,
        /// Where to look for hosts, if no address is given [default: 4300 and 54000]
        #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
        port: Option<u16>,
        /// Speak only this dialect
        #[arg(long)]
        dialect: Option<PongDialect>,
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
    /// another who waits, and the server that is nearest to both of you.
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
            Mode::Local { player, .. }
            | Mode::Host { player, .. }
            | Mode::Join { player, .. }
            | Mode::Quick { player, .. }
            | Mode::Watch { player, .. } => player,
        }
    }
}

/// What a host decides.
#[derive(clap::Args, Clone, Copy)]
struct Rules {
    /// Who first has so many points wins; a lan guest can only play to 5
    #[arg(long, value_name = "N", default_value_t = 5)]
    #[arg(value_parser = clap::value_parser!(u8).range(1..=i64::from(Pong::MAX_POINTS)))]
    points: u8,

    /// Two a side
    #[arg(long)]
    doubles: bool,
}

impl Rules {
    fn game(self) -> Pong {
        Pong { points: self.points, doubles: self.doubles, ..Pong::default() }
    }
}

/// Who plays here.
#[derive(clap::Args)]
struct Player {
    /// A bot plays this side's paddle
    #[arg(long, value_name = "LEVEL")]
    bot: Option<BotLevel>,

    #[command(flatten)]
    seat: SeatArgs,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PongDialect {
    Native,
    Lan,
}

impl From<PongDialect> for Dialect {
    fn from(dialect: PongDialect) -> Dialect {
        match dialect {
            PongDialect::Native => Dialect::Native,
            PongDialect::Lan => Dialect::Lan,
        }
    }
}

/// A level on the command line.
#[derive(Clone, Copy)]
struct BotLevel(Level);

impl ValueEnum for BotLevel {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [BotLevel; 3] =
            [BotLevel(Level::Easy), BotLevel(Level::Normal), BotLevel(Level::Hard)];
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(stage::level_name(self.0)))
    }
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let Player { bot, seat } = args.mode.player();
    let (mut options, errand) = plan(&args.mode);
    options.net_log = seat.net_log(errand.as_ref())?;
    let steers = if bot.is_some() { Steers::Bot } else { Steers::Person };
    let ui = seat.ui(steers);
    if ui != Ui::None {
        let program = Program::begin(Shelf::usual(), options, errand);
        return face::show(program, ui, seat.span());
    }
    let game: Pong = options.rules();
    let versus = match errand {
        Some(Launch::Local(_, way)) => way.map(stage::level),
        _ => None,
    };
    let bot = bot.map(|level| level.0);
    let voice = PongVoice::new(bot, versus, game.capacity().into())?;
    script::run(game, &options, errand.as_ref(), voice, seat)
}

/// What was asked for: where it leads, or nowhere if a host is to be found first.
fn plan(mode: &Mode) -> (Options, Option<Launch>) {
    let Player { bot, seat } = mode.player();
    let mut options = Options {
        token: seat.token(),
        bot: bot.map(|level| level.0 as u8),
        name: seat.name,
        title: Some(Title::Pong),
        ..Options::default()
    };
    let errand = match mode {
        Mode::Local { versus, rules, .. } => {
            options.rules = Some(Arc::new(rules.game()));
            Some(Launch::Local(Title::Pong, versus.map(|level| level.0 as u8)))
        }
        Mode::Host { port, dialect, rules, .. } => {
            options.rules = Some(Arc::new(rules.game()));
            (options.port, options.dialect) = (*port, dialect.map(Dialect::from));
            Some(Launch::Host(Title::Pong))
        }
        Mode::Join { address, port, dialect, room, make, .. } => {
            (options.port, options.dialect) = (*port, dialect.map(Dialect::from));
            (options.room, options.password) = (make.wish(room), room.password);
            address.clone().map(|address| Launch::Join(Title::Pong, address))
        }
        Mode::Quick { addresses, .. } => Some(Launch::Quick(Title::Pong, addresses.clone())),
        Mode::Watch { address, room, .. } => {
            (options.room, options.password) = (room.wish(), room.password);
            Some(Launch::Watch(Title::Pong, address.clone()))
        }
    };
    (options, errand)
}
