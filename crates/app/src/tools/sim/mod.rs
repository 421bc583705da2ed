//! `backspin sim`: matches over a simulated link, measured; or chaos runs, judged.
//!
//! `link` is the command line's words for a link, `crew` runs the seeds on all cores, `progress`
//! tells how far they are, `show` is what people and programs get of it. `chaos` is the other half.

mod chaos;
mod crew;
pub(crate) mod link;
mod progress;
mod show;

use std::error::Error;
use std::io;
use std::str::FromStr;
use std::time::Duration;

use backspin::dot::Dots;
use backspin::sim::{Bar, Pool, Preset, Report, Setup};
use backspin_pong::Pong;
use backspin_rtype::{Opening, RType};

use link::LinkArgs;
use show::Shown;

/// Play matches between bots over a simulated link, and measure them.
///
/// Nothing is sent anywhere: time is simulated too, and the same seed gives the same digest on
/// every machine. Without a preset the link is the reference.
///
/// With --chaos, play bad days instead: players that crash and come back, links that break, servers
/// that restart, strangers that forge, all drawn from the seed, while a checker outside client and
/// server looks for what must never happen. The first seed that fails ends it, with exit code 1 and
/// the command that plays it again.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  backspin sim --preset reference
  backspin sim --game pong --preset reference --burst 3 --seeds 100 --seconds 120
  backspin sim --rtt-ms 100 --jitter-ms 0 --loss 0 --seed 7
  backspin sim --preset mobile --swarm 64 --json
  backspin sim --chaos --seeds 1000
  backspin sim --chaos --seed 17")]
pub(crate) struct Args {
    /// Play bad days and judge them; one seed alone is told act by act
    #[arg(long, conflicts_with_all = [
        "game", "preset", "rtt_ms", "jitter_ms", "jitter_shape", "loss", "burst", "duplicate",
        "reorder", "corrupt", "bandwidth_kbit", "rtt_step_ms", "seconds", "players", "swarm",
        "frame_hz",
    ])]
    chaos: bool,

    /// What is played: dots, the built-in game, pong or rtype
    #[arg(long, default_value = "dots")]
    game: GameName,

    #[command(flatten)]
    link: LinkArgs,

    /// The round trip gets this much longer in the middle of the match
    #[arg(long, value_name = "MS", default_value = "0", value_parser = link::parse_ms)]
    rtt_step_ms: Duration,

    /// Everything that is left to chance follows from it
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,

    /// Play so many matches, with the seeds S, S + 1 and so on, and take them together
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    seeds: Option<u32>,

    /// How long each match is, joining not counted
    #[arg(long, value_name = "S", default_value_t = 60)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=86_400))]
    seconds: u32,

    /// How many bots play
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=4))]
    players: u8,

    /// Frames a second of every screen; when in a tick they fall follows from the seed
    #[arg(long, value_name = "HZ", default_value_t = 60.0, value_parser = parse_hz)]
    frame_hz: f64,

    /// Keep so many things moving that nobody steers
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=1_000))]
    swarm: u16,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The games there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GameName {
    Dots,
    Pong,
    RType,
}

impl GameName {
    const ALL: [GameName; 3] = [GameName::Dots, GameName::Pong, GameName::RType];

    fn name(self) -> &'static str {
        match self {
            GameName::Dots => "dots",
            GameName::Pong => "pong",
            GameName::RType => "rtype",
        }
    }
}

impl FromStr for GameName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = || GameName::ALL.map(GameName::name).join(", ");
        let found = GameName::ALL.into_iter().find(|game| game.name() == text);
        found.ok_or_else(|| format!("no game has this name: there is {}", known()))
    }
}

/// A frame rate that a screen can have, also a broken one.
fn parse_hz(text: &str) -> Result<f64, String> {
    let hz: f64 = text.parse().map_err(|_| "this is no number of frames a second".to_owned())?;
    match (10.0..=1_000.0).contains(&hz) {
        true => Ok(hz),
        false => Err("screens have from 10 to 1000 frames a second".to_owned()),
    }
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    if args.chaos {
        return chaos::run(args);
    }
    let setup = args.setup()?;
    let reports = args.play(&setup);
    let pool = args.seeds.map(|_| Pool::new(Bar::of(&setup), &reports));
    let shown = match (&pool, reports.as_slice()) {
        (Some(pool), _) => Shown::Pool(pool),
        (None, [report, ..]) => Shown::One(report),
        (None, []) => unreachable!("without a number of seeds there is one"),
    };
    let mut out = io::stdout().lock();
    match args.json {
        true => show::json(&mut out, args, &setup, shown)?,
        false => show::table(&mut out, args, &setup, shown)?,
    }
    Ok(())
}

impl Args {
    fn setup(&self) -> Result<Setup, Box<dyn Error>> {
        let link = self.link.config(Preset::Reference.config());
        link.check()?;
        let mut longer = link;
        longer.delay += self.rtt_step_ms / 2;
        longer.check()?;
        if self.game == GameName::Pong && ![2, 4].contains(&self.players) {
            return Err("pong is played by 2, or by 4 in doubles".into());
        }
        self.check_seeds()?;
        Ok(Setup {
            link,
            seed: self.seed,
            seconds: self.seconds,
            players: self.players,
            rtt_step: self.rtt_step_ms,
            frame_hz: self.frame_hz,
        })
    }

    /// Whether there are as many seeds as were asked for.
    fn check_seeds(&self) -> Result<(), &'static str> {
        let last = self.seed.checked_add(u64::from(self.seeds.unwrap_or(1)) - 1);
        let too_late = "there are not so many seeds after the first: choose a smaller one";
        last.map(drop).ok_or(too_late)
    }

    /// Every seed's report, in the order of the seeds.
    fn play(&self, setup: &Setup) -> Vec<Report> {
        let seeds = self.seeds.unwrap_or(1);
        match self.game {
            GameName::Dots => crew::play(Dots { swarm: self.swarm }, setup, seeds),
            GameName::Pong => crew::play(self.pong(), setup, seeds),
            GameName::RType => {
                let (opening, swarm) = (Opening::AtOnce, self.swarm);
                crew::play(RType { opening, swarm, ..RType::default() }, setup, seeds)
            }
        }
    }

    /// Bots do not ask for another match, so one lasts as long as can be.
    fn pong(&self) -> Pong {
        let doubles = self.players == 4;
        Pong { points: Pong::MAX_POINTS, doubles, countdown: 0 }
    }
}
