//! `backspin rtype`: alone, hosted, joined, in the best room, or watched.
//!
//! [`crate::play`] connects a player; [`crate::script`] plays without a screen.

mod look;
mod page;
mod result;
mod script_game;
mod stage;

use std::error::Error;

use backspin::endpoint::Tokenless;
use backspin::game::PlayerId;
use backspin::replication::State;
use backspin_classic::Dialect;
use backspin_rtype::command::{Command, Setup};
use backspin_rtype::difficulty::Difficulty;
use backspin_rtype::mission::Phase;
use backspin_rtype::{Opening, RType, World};
use clap::Subcommand;

use super::command::{BotArgs, Player, Remote, dialects, named};
use crate::games::{AppGame, Title};
use crate::screen::Launch;
use crate::script;
use crate::serve::Verdict;
use crate::web::DrawnScene;
pub(crate) use look::Look;
#[cfg(test)]
pub(crate) use look::Ship;
use script_game::RtypeScript;

impl AppGame for RType {
    const NAME: &'static str = "R-Type";
    const COMMAND: &'static str = "rtype";
    const OLD: Option<(Dialect, u16)> = Some((Dialect::Rtype, 4242));
    const ROOMS: (u16, &'static str) = (256, "BACKSPIN_RTYPE_ROOMS");

    fn verdict(world: &World) -> Verdict {
        result::verdict(world)
    }

    fn picture(state: &State) -> DrawnScene {
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
/// Play with W, A, S, D or the arrow keys; Space fires, C charges, V sends the pod off and calls it back, T writes
/// a line to the others. With --ui none, --bot or lines on stdin play:
/// up, down, left, right, still, fire, hold (charge), release, pod, ready, unready, start, easy,
/// normal, hard, lives N, chat N, again (back to the lobby), say TEXT (chat), quit.
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
        player: Player<Bot>,
    },
    /// Play, and let up to three others join
    Host {
        /// One UDP port for rtype and native, with TCP one port above [default: 4300 for native, 4242 and TCP
        /// 4243 for rtype]
        #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..=65_534))]
        port: Option<u16>,
        /// Offer only this dialect
        #[arg(long, value_parser = dialects::<RType>())]
        dialect: Option<Dialect>,
        /// Let in players of the first R-Type program, which sends no token in its UDP Hello
        #[arg(long)]
        allow_tokenless: bool,
        #[command(flatten)]
        rules: Rules,
        #[command(flatten)]
        player: Player<Bot>,
    },
    #[command(flatten)]
    Remote(Remote<Bot>),
}

/// The rules that a host or a solo player sets.
#[derive(clap::Args, Clone, Copy)]
struct Rules {
    /// The difficulty
    #[arg(long, value_name = "LEVEL", default_value = "normal")]
    #[arg(value_parser = named(Difficulty::ALL, stage::difficulty_name))]
    difficulty: Difficulty,

    /// Lives at the start; easy adds one, hard takes one away
    #[arg(long, value_name = "N", default_value_t = 3)]
    #[arg(value_parser = clap::value_parser!(u8).range(1..=i64::from(Setup::LIVES_MAX)))]
    lives: u8,
}

impl Rules {
    fn game(self) -> RType {
        let Rules { difficulty, lives: base_lives } = self;
        let setup = Setup { difficulty, base_lives, ..Setup::default() };
        RType { setup, ..RType::default() }
    }
}

#[derive(clap::Args)]
struct Bot {
    /// A bot flies the ship; it is ready at once and, as host, starts as soon as someone else is ready
    #[arg(long)]
    bot: bool,
}

impl BotArgs for Bot {
    type Game = RType;
    const TITLE: Title = Title::Rtype;

    fn level(&self) -> Option<u8> {
        self.bot.then_some(0)
    }
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let alone = Launch::Local(Title::Rtype, None);
    let (player, plan) = match &args.mode {
        Mode::Solo { rules, player } => (player, (player.rules(rules.game()), Some(alone.clone()))),
        Mode::Host { port, dialect, allow_tokenless, rules, player } => {
            let mut options = player.rules(rules.game());
            (options.port, options.dialect) = (*port, *dialect);
            if *allow_tokenless {
                options.tokenless = Tokenless::Allowed;
            }
            (player, (options, Some(Launch::Host(Title::Rtype))))
        }
        Mode::Remote(remote) => (remote.player(), remote.plan()),
    };
    player.run(plan, |options, launch| {
        let game: RType = launch.unwrap_or(&alone).rules(options);
        let script_game = RtypeScript::new(game.clone(), player.steers());
        script::run(game, options, launch, script_game, &player.seat)
    })
}
