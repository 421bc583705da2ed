//! `backspin load`: many bots in one process, each a client of its own with an address of its own.
//!
//! `crowd` drives the bots, `bot` is one of them,
//! `source` is where they come from, `post` sends what they say, `tally` counts, `show` tells.
//! What a bot says on the wire is said by a [`backspin::client::Client`], as for a person.

mod bot;
mod crowd;
mod post;
mod show;
mod source;
mod tally;

use std::error::Error;
use std::net::SocketAddr;
use std::time::Duration;

use backspin::client::ClientConfig;
use backspin::wire::Name;
use backspin::wire::native::DEFAULT_PORT;

use crate::games::{AppGame, Title, with_game};
use crate::play::Address;
use crate::serve::stop::Stop;
use crowd::{Crowd, Plan};
use show::Show;
use source::Source;

/// Fill a server with bots, and measure what they get.
///
/// Every bot is a client like a person's: it joins, sends an input for every tick, is sent every
/// snapshot, plays on when a match is over. They come a few at a time; when all of them were
/// let in or refused, the measuring begins. Against a server on this machine they come from many
/// addresses of the loopback range, as a server takes only so many players from one.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  backspin load --game pong --clients 100
  backspin load --target 127.0.0.1:4300 --game rtype --clients 1000 --seconds 60 --churn 10 --json")]
pub(crate) struct Args {
    /// The server's native port
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1")]
    target: String,

    /// What is played
    #[arg(long)]
    game: Title,

    /// How many bots there are
    #[arg(long, value_name = "N", default_value_t = 100)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=i64::from(CLIENT_LIMIT)))]
    clients: u32,

    /// How long they are measured, once they are all in
    #[arg(long, value_name = "S", default_value_t = 10)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=86_400))]
    seconds: u32,

    /// How many come in a second, until all are there
    #[arg(long, value_name = "N", default_value_t = 200)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    ramp: u32,

    /// Of a hundred bots so many go every second: one half leaves and others come for them, the
    /// other half is killed and comes back into its place with its ticket
    #[arg(long, value_name = "PCT", default_value_t = 0.0, value_parser = parse_churn)]
    churn: f64,

    /// What the server asks for, if it does
    #[arg(long, default_value = "")]
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
    let address = Address::parse(&args.target)?;
    let server = SocketAddr::new(address.resolve()?, address.port().unwrap_or(DEFAULT_PORT));
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
    match tally.connected() {
        0 => Err(tally.why_nobody().into()),
        _ => Ok(()),
    }
}

fn parse_churn(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent),
        _ => Err("it is a percentage, from 0 to 100".into()),
    }
}
