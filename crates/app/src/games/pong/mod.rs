//! `backspin pong`: a match on this machine, hosted, joined or watched.
//!
//! [`crate::play`] connects a player; [`crate::script`] plays without a screen.

mod page;
mod result;
mod script_game;
mod stage;

use std::error::Error;

use backspin::game::{Game, PlayerId};
use backspin::replication::State;
use backspin_classic::Dialect;
use backspin::typed::Message;
use backspin_pong::{Command, Level, Phase, Pong, Position, World};
use clap::Subcommand;

use super::command::{BotArgs, Player, Remote, dialects, named};
pub(crate) use crate::games::PlainLook as Look;
use crate::games::{AppGame, Title};
use crate::screen::{Launch, Options};
use crate::script;
use crate::serve::Verdict;
use crate::web::DrawnScene;
use script_game::PongScript;

impl AppGame for Pong {
    const NAME: &'static str = "Pong";
    const COMMAND: &'static str = "pong";
    const OLD: Option<(Dialect, u16)> = Some((Dialect::Lan, 54000));
    const ROOMS: (u16, &'static str) = (512, "BACKSPIN_PONG_ROOMS");

    fn verdict(world: &World) -> Verdict {
        result::verdict(world)
    }

    fn picture(state: &State) -> DrawnScene {
        page::picture(state)
    }

    fn again(world: &World, player: PlayerId) -> Option<Vec<u8>> {
        let wishes = world.wishes[Position::of(player)?.index()];
        (world.phase == Phase::Over && !wishes).then(|| Command::Again.to_vec())
    }

    /// Bots do not ask for another match, so one lasts as long as can be.
    fn simulated(players: u8, _swarm: u16) -> Result<Self, &'static str> {
        match players {
            2 | 4 => Ok(Pong { points: Pong::MAX_POINTS, doubles: players == 4, countdown: 0 }),
            _ => Err("pong takes 2 players, or 4 in doubles"),
        }
    }
}

/// Play Pong: on this machine, as host, as guest, or watch.
///
/// Play with W and S or the arrow keys; T writes a line to the others. If the other player stops responding, the
/// ball waits up to 30 s; G continues against a bot. With --ui none, --bot or lines on stdin play: up, down, still,
/// again (play once more), bot (continue against a bot), say TEXT (chat), quit.
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
        #[arg(long, value_name = "LEVEL", value_parser = named(Level::ALL, stage::level_name))]
        versus: Option<Level>,
        #[command(flatten)]
        rules: Rules,
        #[command(flatten)]
        player: Player<Bot>,
    },
    /// Play the left paddle, and let others join
    Host {
        /// One port for lan and native [default: 4300 for native and 54000 for lan]
        #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
        port: Option<u16>,
        /// Offer only this dialect
        #[arg(long, value_parser = dialects::<Pong>())]
        dialect: Option<Dialect>,
        #[command(flatten)]
        rules: Rules,
        #[command(flatten)]
        player: Player<Bot>,
    },
    #[command(flatten)]
    Remote(Remote<Bot>),
}

/// What a host decides.
#[derive(clap::Args, Clone, Copy)]
struct Rules {
    /// The points needed to win; a lan guest can only play to 5
    #[arg(long, value_name = "N", default_value_t = 5)]
    #[arg(value_parser = clap::value_parser!(u8).range(1..=i64::from(Pong::MAX_POINTS)))]
    points: u8,

    /// Two players per side
    #[arg(long)]
    doubles: bool,
}

impl Rules {
    fn game(self) -> Pong {
        Pong { points: self.points, doubles: self.doubles, ..Pong::default() }
    }
}

#[derive(clap::Args)]
struct Bot {
    /// A bot plays your paddle
    #[arg(long, value_name = "LEVEL", value_parser = named(Level::ALL, stage::level_name))]
    bot: Option<Level>,
}

impl BotArgs for Bot {
    type Game = Pong;
    const TITLE: Title = Title::Pong;

    fn level(&self) -> Option<u8> {
        self.bot.map(|level| level as u8)
    }
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let (player, plan, versus) = match &args.mode {
        Mode::Local { versus, rules, player } => {
            let launch = Launch::Local(Title::Pong, versus.map(|level| level as u8));
            (player, (player.rules(rules.game()), Some(launch)), *versus)
        }
        Mode::Host { port, dialect, rules, player } => {
            let options = player.rules(rules.game());
            let options = Options { port: *port, dialect: *dialect, ..options };
            (player, (options, Some(Launch::Host(Title::Pong))), None)
        }
        Mode::Remote(remote) => (remote.player(), remote.plan(), None),
    };
    player.run(plan, |options, launch| {
        let game: Pong = options.rules();
        let script_game = PongScript::new(player.bot.bot, versus, game.capacity().into())?;
        script::run(game, options, launch, script_game, &player.seat)
    })
}
