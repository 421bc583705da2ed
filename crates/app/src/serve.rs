//! `backspin serve`: the dedicated server, on real sockets.
//!
//! `house` is both games, `ports` binds, `stop` listens for signals, `log` tells what happens, `record` writes it down;
//! everything else is a [`Server`](backspin::server::Server), which the simulator runs just the
//! same.

pub(crate) mod house;
mod log;
mod ports;
pub(crate) mod record;
pub(crate) mod stop;

use std::error::Error;
use std::io::{self, Write};
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use backspin::front::{FrontConfig, Limits, Tokenless};
use backspin::record::Recorded;
use backspin::wire::Name;
use backspin::wire::native::CloseReason;
use backspin_pong::Pong;
use backspin_rtype::RType;
use backspin_udp::Loop;
use tracing::level_filters::LevelFilter;

use crate::{seed, utc};
use house::House;
use ports::{Dialect, Ports};
use record::Recording;
use stop::Stop;

/// Run a dedicated server.
///
/// Serves Pong and R-Type. Of each there is always a room where anyone may play: when it fills, the
/// next opens. Players make rooms of their own, too, which close when they are empty. Every port
/// understands all three dialects; the three defaults are where each dialect's players look. lan
/// leads to Pong, rtype to R-Type, native to both. rtype's first step is TCP, one port above its UDP port. Ctrl-C or SIGTERM says goodbye to everyone and stops; a second one stops at once.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Where native players look; 0 opens no such port
    #[arg(long, value_name = "PORT", default_value_t = 4300)]
    native_port: u16,

    /// Where lan players look; 0 opens no such port
    #[arg(long, value_name = "PORT", default_value_t = 54000)]
    lan_port: u16,

    /// Where rtype players look, with TCP one port above; 0 opens neither
    #[arg(long, value_name = "PORT", default_value_t = 4242)]
    #[arg(value_parser = clap::value_parser!(u16).range(..u16::MAX as i64))]
    rtype_port: u16,

    /// The address to listen at [default: all of this machine, IPv4 and IPv6]
    ///
    /// At a single address most systems do not hear searches by broadcast.
    #[arg(long, value_name = "IP")]
    bind: Option<IpAddr>,

    /// What the server calls itself, at most 15 bytes
    #[arg(long, default_value = "Backspin", value_parser = crate::parse_name)]
    name: Name,

    /// How many rooms of Pong are opened for anyone; 0 is no Pong here
    #[arg(long, value_name = "N", default_value_t = 64)]
    #[arg(value_parser = clap::value_parser!(u16).range(..=256))]
    pong_rooms: u16,

    /// How many rooms of R-Type are opened for anyone; 0 is no R-Type here
    #[arg(long, value_name = "N", default_value_t = 64)]
    #[arg(value_parser = clap::value_parser!(u16).range(..=256))]
    rtype_rooms: u16,

    /// How many rooms there are at the most, with those that players make
    #[arg(long, value_name = "N", default_value_t = 256)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1024))]
    rooms: u16,

    /// Let rtype players in whose UDP Hello has no token, if they did the TCP step
    #[arg(long)]
    allow_tokenless: bool,

    /// Write down everything that comes in, for `backspin replay`, in a new file of this directory
    ///
    /// About 2.5 kB a second for each player, 0.5 kB with nobody there. The file holds the server's
    /// secrets: whoever reads it can take any player's place as long as this server runs.
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,

    /// Record every match as a replay, in a new file of this directory
    #[arg(long, value_name = "DIR")]
    record_matches: Option<PathBuf>,

    /// What is told on stderr: error, warn, info, debug or trace [default: info]
    ///
    /// The variable BACKSPIN_LOG says the same, where this is not given.
    #[arg(long, value_name = "LEVEL", value_parser = log::parse)]
    log: Option<LevelFilter>,
}

/// How long a turn may last: a signal is seen this soon, even if no tick is due.
const TURN: Duration = Duration::from_millis(100);

/// Runs the command.
pub(crate) fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    log::start(args.log)?;
    let stop = Stop::on_signals()?;
    let ports = Ports::new(
        args.bind,
        [
            (Dialect::Native, args.native_port),
            (Dialect::Lan, args.lan_port),
            (Dialect::Rtype, args.rtype_port),
        ],
    )?;
    let mut driver = Loop::with_listeners(ports.open_sockets()?, ports.open_listeners()?)?;
    let mut recording = Recording::start(args.record.as_deref(), args.record_matches.as_deref())?;
    let (now, front, secret) = (driver.now(), front_config(args, &ports), seed::secret()?);
    let mut server = match recording.has_log() {
        true => Recorded::on(now, utc::unix_ms(), front, secret),
        false => Recorded::off(front, secret),
    };
    for Offer { game, name, most } in offers(args)? {
        server.offer(now, game, Name::new(name), most, log::room_config());
    }
    announce(args, &ports);
    while !stop.is_asked() {
        let limit = driver.now() + TURN;
        driver.turn(&mut server, limit)?;
        log::tell(server.server_mut());
        recording.keep(driver.now(), &mut server);
    }
    server.close(driver.now(), CloseReason::Stopping);
    driver.flush(&mut server);
    recording.finish(&mut server);
    tracing::info!("stopped; everyone was told");
    Ok(())
}

/// A game that is served.
struct Offer {
    game: House,
    /// What its rooms are called.
    name: &'static str,
    /// How many of them are opened for anyone.
    most: u16,
}

fn offers(args: &Args) -> Result<Vec<Offer>, Box<dyn Error>> {
    let pong = Offer { game: House::Pong(Pong::default()), name: "Pong", most: args.pong_rooms };
    let levels = RType::default();
    let rtype = Offer { game: House::RType(levels), name: "R-Type", most: args.rtype_rooms };
    let offers: Vec<_> = [pong, rtype].into_iter().filter(|offer| offer.most > 0).collect();
    match offers.is_empty() {
        true => Err("there is no room to play in; give one of the games some".into()),
        false => Ok(offers),
    }
}

fn front_config(args: &Args, ports: &Ports) -> FrontConfig {
    FrontConfig {
        name: args.name,
        native_port: ports.of(Dialect::Native),
        lan_port: ports.of(Dialect::Lan),
        rtype_port: ports.of(Dialect::Rtype),
        tokenless: match args.allow_tokenless {
            true => Tokenless::Allowed,
            false => Tokenless::Refused,
        },
        limits: Limits { rooms: args.rooms, ..Limits::default() },
        ..FrontConfig::default()
    }
}

/// Says where it listens, for people and for scripts that wait for it. Whether anyone reads it does
/// not matter to the players.
fn announce(args: &Args, ports: &Ports) {
    let mut out = io::stdout().lock();
    let games = match (args.pong_rooms, args.rtype_rooms) {
        (_, 0) => "Pong",
        (0, _) => "R-Type",
        _ => "Pong and R-Type",
    };
    let _ = writeln!(out, "{} serves {games}", args.name);
    let _ = write!(out, "{ports}");
    let _ = writeln!(out, "Ctrl-C stops it");
    let _ = out.flush();
}
