//! `backspin pong`: a match on this machine, hosted for others, joined or watched.
//!
//! [`crate::play`] gets a player to a table, `script` plays there without a face, `line` is what a
//! script reads.

mod line;
mod script;

use std::error::Error;
use std::time::Duration;

use backspin::game::Game;
use backspin::wire::native::Role;
use backspin::wire::{Dialect, Name};
use backspin_pong::{Level, Pong};
use clap::builder::PossibleValue;
use clap::{Subcommand, ValueEnum};

use crate::play::{self, Guest};
use crate::screen::{Errand, Options, Program, Shelf, Title};
use crate::terminal;

/// Play Pong: on this machine, as host, as guest, or watch.
///
/// In a terminal it is played with W and S or the arrow keys. Without a face (--ui none) a match is played by --bot or by lines on stdin: up, down, still,
/// again (play once more), quit.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  backspin pong host --bot hard --ui none --json
  backspin pong join --bot easy --ui none --json
  backspin pong join 192.168.0.7
  backspin pong join [fe80::1]:4300 --dialect native
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
        seat: SeatArgs,
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
        seat: SeatArgs,
    },
    /// Join a host: at an address, or the first that is found on the LAN
    ///
    /// An address without a port is asked at 4300 in native and, after a second without an answer,
    /// at 54000 in lan. Whoever was killed in a match comes back into it for half a minute. A search
    /// goes out of every interface, or only from the address that BACKSPIN_SEARCH_FROM names.
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
        seat: SeatArgs,
    },
    /// Watch a match
    Watch {
        /// Where: an address or a host name, with a port or without
        address: String,
        #[command(flatten)]
        seat: SeatArgs,
    },
}

impl Mode {
    fn seat(&self) -> &SeatArgs {
        match self {
            Mode::Local { seat, .. }
            | Mode::Host { seat, .. }
            | Mode::Join { seat, .. }
            | Mode::Watch { seat, .. } => seat,
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

/// What everyone decides.
#[derive(clap::Args)]
struct SeatArgs {
    /// How it is shown [default: terminal where this is one, none for scripts]
    #[arg(long)]
    ui: Option<Ui>,

    /// A bot plays this side's paddle
    #[arg(long, value_name = "LEVEL")]
    bot: Option<BotLevel>,

    /// What you are called, at most 15 bytes [default: as in the settings, Player for scripts]
    #[arg(long, value_parser = crate::parse_name)]
    name: Option<Name>,

    /// What the server asks for, if it does
    #[arg(long, default_value = "")]
    token: String,

    /// Leave after so long
    #[arg(long, value_name = "S")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=86_400))]
    seconds: Option<u32>,

    /// With --ui none: events as lines of JSON
    #[arg(long)]
    json: bool,
}

impl SeatArgs {
    /// What a script is called that does not say.
    fn name(&self) -> Name {
        self.name.unwrap_or(Name::new("Player"))
    }

    /// Who asks for lines of JSON, or for a bot in the own place, is a script.
    fn ui(&self) -> Ui {
        self.ui.unwrap_or(match crate::has_terminal() && !self.json && self.bot.is_none() {
            true => Ui::Terminal,
            false => Ui::None,
        })
    }

    fn guest(&self, dialect: Option<Dialect>) -> Guest {
        let token = self.token.clone().into_bytes();
        Guest { dialect, role: Role::Play, name: self.name(), token }
    }

    fn span(&self) -> Option<Duration> {
        self.seconds.map(|seconds| Duration::from_secs(seconds.into()))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Ui {
    /// In this terminal
    Terminal,
    /// Lines of text, or of JSON
    None,
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
pub(crate) struct BotLevel(pub(crate) Level);

impl ValueEnum for BotLevel {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [BotLevel; 3] =
            [BotLevel(Level::Easy), BotLevel(Level::Normal), BotLevel(Level::Hard)];
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(match self.0 {
            Level::Easy => "easy",
            Level::Normal => "normal",
            Level::Hard => "hard",
        }))
    }
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    match args.mode.seat().ui() {
        Ui::Terminal => show(&args.mode),
        Ui::None => script(&args.mode),
    }
}

/// Goes straight to the screen that was asked for; from there it is the same program.
fn show(mode: &Mode) -> Result<(), Box<dyn Error>> {
    let seat = mode.seat();
    let mut options = Options {
        token: seat.token.clone().into_bytes(),
        bot: seat.bot.map(|level| level.0),
        name: seat.name,
        title: Some(Title::Pong),
        ..Options::default()
    };
    let errand = match mode {
        Mode::Local { versus, rules, .. } => {
            options.game = rules.game();
            Some(Errand::Local { versus: versus.map(|level| level.0) })
        }
        Mode::Host { port, dialect, rules, .. } => {
            options.game = rules.game();
            (options.port, options.dialect) = (*port, dialect.map(Dialect::from));
            Some(Errand::Host(Title::Pong))
        }
        Mode::Join { address, port, dialect, .. } => {
            (options.port, options.dialect) = (*port, dialect.map(Dialect::from));
            address.clone().map(|address| Errand::Join(Title::Pong, address))
        }
        Mode::Watch { address, .. } => Some(Errand::Watch(Title::Pong, address.clone())),
    };
    let mut program = Program::new(Shelf::usual(), options);
    match errand {
        Some(errand) => program.set_out(errand),
        None => program.search(),
    }
    terminal::run(program, seat.span())
}

fn script(mode: &Mode) -> Result<(), Box<dyn Error>> {
    let seat = mode.seat();
    let opened = match mode {
        Mode::Local { rules, .. } => {
            let game = rules.game();
            play::local(game, game.capacity().into(), seat.name())?
        }
        Mode::Host { port, dialect, rules, .. } => {
            play::host(rules.game(), *port, dialect.map(Dialect::from), seat.name())?
        }
        Mode::Join { address: Some(address), dialect, .. } => {
            let guest = seat.guest(dialect.map(Dialect::from));
            play::join(Pong::default(), &guest, address)?
        }
        Mode::Join { address: None, port, dialect, .. } => {
            match script::find(&seat.guest(dialect.map(Dialect::from)), *port, seat)? {
                Some(opened) => opened,
                None => return Ok(()),
            }
        }
        Mode::Watch { address, .. } => {
            play::join(Pong::default(), &seat.guest(None).watching(), address)?
        }
    };
    let versus = match mode {
        Mode::Local { versus, .. } => *versus,
        _ => None,
    };
    script::play(opened, versus, seat)
}
