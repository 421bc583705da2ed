//! `backspin load`: many bots in one process, each with its own client and address.
//!
//! `crowd` drives the bots, `bot` is one of them, `source` has their addresses, `post` sends, `tally` counts,
//! `show`
//! prints. Each bot is a [`backspin::client::Client`], as for a person.

mod bot;
mod crowd;
mod send_queue;
mod show;
mod source;
mod tally;

use std::error::Error;
use std::time::Duration;

use backspin::client::ClientConfig;
use backspin::wire::Name;

use crate::games::command::within;
use crate::games::{AppGame, Title, with_game};
use crate::play;
use crate::serve::stop::Stop;
use crowd::{Crowd, Plan};
use show::Show;
use source::Source;

/// Fill a server with bots and measure what they get.
///
/// Every bot is a full client: it joins, sends an input for every tick, receives every snapshot and plays
/// again when a match ends. Bots join a few at a time; the measurement starts when all of them have joined or
/// been refused. On this machine, they use many loopback addresses, because a server limits the players per
/// address.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  backspin load --game pong --clients 100
  backspin load --target 127.0.0.1:4300 --game rtype --clients 1000 --seconds 60 --churn 10 --json")]
pub(crate) struct Args {
    /// The server's native port
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1")]
    target: String,

    /// The game to play
    #[arg(long)]
    game: Title,

    /// The number of bots
    #[arg(long, value_name = "N", default_value_t = 100)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=i64::from(CLIENT_LIMIT)))]
    clients: u32,

    /// How long to measure once all bots have joined
    #[arg(long, value_name = "S", default_value_t = 10)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=86_400))]
    seconds: u32,

    /// How many bots join per second
    #[arg(long, value_name = "N", default_value_t = 200)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    ramp: u32,

    /// Percentage of bots that go every second: half of them leave and are replaced, the other half crash and
    /// reclaim their slot with their ticket
    #[arg(long, value_name = "PCT", default_value_t = 0.0, value_parser = within(0.0..=100.0, "percent"))]
    churn: f64,

    /// The server's token, if it has one
    #[arg(long, default_value = "", value_parser = crate::parse_token)]
    token: String,

    /// Print one JSON object at the end
    #[arg(long)]
    json: bool,
}

/// More bots than this have no ports to come from.
const CLIENT_LIMIT: u32 = 16_384;

/// Runs the command.
pub(crate) fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    with_game!(args.game, G => load(args, G::default()))
}

fn load<G: AppGame>(args: &Args, game: G) -> Result<(), Box<dyn Error>> {
    let server = play::at_native(&args.target)?;
    let mut config = ClientConfig::new(server, Name::default());
    config.token = args.token.clone().into_bytes();
    let plan = Plan {
        config,
        clients: args.clients as usize,
        per_second: args.ramp,
        churn: args.churn / 100.0,
        measured: Duration::from_secs(args.seconds.into()),
    };
    let source = Source::towards(server.ip(), plan.clients)?;
    let stop = Stop::on_signals()?;
    let mut crowd = Crowd::new(game, plan, source)?;
    let mut show = Show::new(args.clients, args.seconds, args.json);
    while !stop.is_asked() && !crowd.is_over() {
        crowd.turn()?;
        if let Some(second) = crowd.poll_second() {
            show.second(&second);
        }
    }
    let tally = crowd.finish();
    show.close(&tally)?;
    if tally.connected() == 0 { Err(tally.why_nobody().into()) } else { Ok(()) }
}
