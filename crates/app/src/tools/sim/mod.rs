//! `backspin sim`: plays matches over a simulated link and measures them, or plays chaos and checks it.
//!
//! `link` has the options that describe a link, `crew` runs the seeds on all cores, `progress` shows how far
//! they are,
//! `show` prints. `map` plays a grid of links, `changes` links that change, `dialects` guests with old
//! dialects, `chaos` bad
//! days.

mod changes;
mod chaos;
mod crew;
mod dialects;
pub(crate) mod link;
mod map;
mod progress;
mod show;

use std::error::Error;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use backspin_sim::dot::Dots;
use backspin_sim::{Bar, Change, Lateness, Pool, Preset, Report, Setup};

use crate::games::command::{named, within};
use crate::games::{AppGame, Title, with_game};
use link::LinkArgs;
use show::Shown;

/// Play matches between bots over a simulated link and measure them.
///
/// Nothing is sent over a network and time is simulated too, so the same seed gives the same digest on every
/// machine. Without a preset, the link is `reference`.
///
/// With --chaos, play bad days instead: players crash and come back, links break, servers restart, strangers
/// forge packets, all drawn from the seed, while a checker outside client and server looks for what must
/// never happen. The first seed that fails ends the run with exit code 1 and the command that replays it.
///
/// With --map, play on every link of a grid and compare each figure with what its link allows: the worst
/// cells, and a picture of all. A cell is named by round trip / jitter / loss, bursts, and frames per second:
/// 100/20/5x3@60.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  backspin sim --preset reference
  backspin sim --game pong --preset reference --burst 3 --seeds 100 --seconds 120
  backspin sim --rtt-ms 100 --jitter-ms 0 --loss 0 --seed 7
  backspin sim --preset mobile --swarm 64 --json
  backspin sim --game rtype --frame-hz 144 --change step-up
  backspin sim --game pong --changes --seeds 5 --seconds 20
  backspin sim --game pong --late-ms 20 --late 10
  backspin sim --dialects --seeds 5
  backspin sim --map --game rtype --svg map.svg
  backspin sim --map --coarse --game pong --kept figures.txt
  backspin sim --chaos --seeds 1000
  backspin sim --chaos --seed 17")]
pub(crate) struct Args {
    /// Play bad days and check them; a single seed is listed act by act
    #[arg(long, conflicts_with_all = [
        "game", "preset", "rtt_ms", "jitter_ms", "jitter_shape", "loss", "burst", "duplicate",
        "reorder", "corrupt", "bandwidth_kbit", "rtt_step_ms", "seconds", "players", "swarm",
        "frame_hz", "late_ms", "change", "changes", "map",
    ])]
    chaos: bool,

    /// Play on a grid of links and list where which figures are over their limits
    #[arg(long, conflicts_with_all = [
        "preset", "rtt_ms", "jitter_ms", "jitter_shape", "loss", "burst", "duplicate", "reorder",
        "corrupt", "bandwidth_kbit", "rtt_step_ms", "frame_hz", "change", "changes", "json",
    ])]
    map: bool,

    /// Play only a few dozen cells of the grid
    #[arg(long, requires = "map")]
    coarse: bool,

    /// Write the map to this SVG file
    #[arg(long, value_name = "FILE", requires = "map")]
    svg: Option<PathBuf>,

    /// Write the map's table to this Markdown file
    #[arg(long, value_name = "FILE", requires = "map")]
    page: Option<PathBuf>,

    /// Fail if a cell's figure is more than 3 % or 1 ms worse than in this file
    #[arg(long, value_name = "FILE", requires = "map")]
    kept: Option<PathBuf>,

    /// Rewrite that file
    #[arg(long, env = "BACKSPIN_BLESS", value_parser = clap::builder::FalseyValueParser::new())]
    bless: bool,

    /// Play as a guest who speaks lan in Pong and rtype in R-Type, at 40, 100 and 200 ms, and print a table
    #[arg(long, conflicts_with_all = [
        "game", "preset", "rtt_ms", "rtt_step_ms", "json", "map", "change", "changes", "chaos",
        "players", "swarm",
    ])]
    dialects: bool,

    /// The game; dots is built in
    #[arg(long, default_value = "dots", value_parser = named(GameName::all(), GameName::name))]
    game: GameName,

    #[command(flatten)]
    link: LinkArgs,

    /// The round trip gets this much longer halfway through the match
    #[arg(long, value_name = "MS", default_value = "0", value_parser = link::parse_ms)]
    #[arg(conflicts_with_all = ["change", "changes"])]
    rtt_step_ms: Duration,

    /// The link changes halfway: step-up, step-down, step-far, slope-up, slope-down, flap, loss,
    /// hold, sleep or stall
    #[arg(long, value_name = "NAME", conflicts_with = "changes")]
    change: Option<Change>,

    /// Play one match for each of these changes and print a table
    #[arg(long, conflicts_with = "json")]
    changes: bool,

    /// The seed of everything random
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,

    /// Play this many matches, with seeds S, S + 1 and so on, and pool them
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    seeds: Option<u32>,

    /// Play up to this many seeds in cells of a map where a percentage is undecided or misses its target
    /// [default: 32, none more on a coarse map]
    #[arg(long, value_name = "N", requires = "map")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100_000))]
    max_seeds: Option<u32>,

    /// The length of each match without joining [default: 60, 15 on a coarse map and with --dialects]
    #[arg(long, value_name = "S")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=86_400))]
    seconds: Option<u32>,

    /// The number of bots
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=4))]
    players: u8,

    /// Frames per second of every screen; their phase within a tick follows from the seed
    #[arg(long, value_name = "HZ", default_value_t = 60.0, value_parser = within(10.0..=1_000.0, "frames per second"))]
    frame_hz: f64,

    /// The players' machines are busy: their clients wake up to this much late
    #[arg(long, value_name = "MS", default_value = "0", value_parser = link::parse_ms)]
    late_ms: Duration,

    /// In this share of all wake-ups
    #[arg(long, value_name = "PCT", default_value_t = 10.0, requires = "late_ms", value_parser = within(0.0..=100.0, "percent"))]
    late: f64,

    /// Keep this many entities moving that nobody steers
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=1_000))]
    swarm: u16,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The default length of a match.
const SECONDS: u32 = 60;

/// What is played: a game that is here, or the built-in one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct GameName(Option<Title>);

impl GameName {
    fn name(self) -> &'static str {
        self.0.map_or("dots", Title::command)
    }

    fn all() -> impl Iterator<Item = GameName> {
        std::iter::once(None).chain(Title::ALL.iter().copied().map(Some)).map(GameName)
    }
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    if args.chaos {
        return chaos::run(args);
    }
    if args.map {
        return map::run(args);
    }
    if args.changes {
        return changes::run(args);
    }
    if args.dialects {
        return dialects::run(args);
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
        let step_ms = i32::try_from(self.rtt_step_ms.as_millis()).unwrap_or(i32::MAX);
        let mut longer = link;
        longer.delay += self.rtt_step_ms / 2;
        longer.check()?;
        let change = self.change.or((step_ms > 0).then_some(Change::Step(step_ms)));
        if let Some(title) = self.game.0 {
            with_game!(title, G => G::simulated(self.players, self.swarm).map(drop))?;
        }
        self.check_seeds()?;
        Ok(Setup {
            link,
            seed: self.seed,
            seconds: self.seconds.unwrap_or(SECONDS),
            players: self.players,
            change,
            frame_hz: self.frame_hz,
            lateness: self.lateness(),
        })
    }

    fn lateness(&self) -> Option<Lateness> {
        let share = self.late / 100.0;
        (!self.late_ms.is_zero()).then_some(Lateness { share, most: self.late_ms })
    }

    /// Whether there are as many seeds as were asked for.
    fn check_seeds(&self) -> Result<(), &'static str> {
        let most = self.seeds.unwrap_or(1).max(self.max_seeds.unwrap_or(1));
        let last = self.seed.checked_add(u64::from(most) - 1);
        let too_late = "there are not that many seeds after the first; choose a smaller --seed";
        last.map(drop).ok_or(too_late)
    }

    /// Every seed's report, in the order of the seeds.
    fn play(&self, setup: &Setup) -> Vec<Report> {
        self.play_all(&crew::with_seeds(setup, self.seeds.unwrap_or(1)))
    }

    /// Every match's report, in their order.
    fn play_all(&self, setups: &[Setup]) -> Vec<Report> {
        let Some(title) = self.game.0 else {
            return crew::play_all(Dots { swarm: self.swarm }, setups);
        };
        with_game!(title, G => match G::simulated(self.players, self.swarm) {
            Ok(game) => crew::play_all(game, setups),
            Err(_) => unreachable!("the setup was checked"),
        })
    }
}
