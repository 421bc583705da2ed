//! `backspin match`: matches players by latency, on real sockets. Everything else is a [`Matchmaker`], which
//! the simulator
//! runs just the same.

use std::error::Error;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use backspin::game::Game;
use backspin::matching::{
    Families, MatchEvent, MatchKey, MatchLimits, Matchmaker, MatchmakerConfig,
};
use backspin::wire::native::{DEFAULT_PORT, MATCH_SERVERS_MAX, ServerAddress};
use backspin_udp::{Loop, Socket};
use serde::Serialize;

use crate::games::{Title, with_game};
use crate::play::at_native;
use crate::script::{Lines, Tell};
use crate::seed;
use crate::serve::config::parse_match_key;
use crate::serve::ports::{Dialect, Ports};
use crate::serve::stop::Stop;

/// Match players by latency across several servers.
///
/// Players run `backspin rtype quick` or `backspin pong quick` with the address of this program. Each server
/// measures its round trip to every player; four waiting players (two in Pong) are sent to the server where
/// the longest of their round trips is shortest. At first, only rooms near to everyone are made; after 15 s
/// of waiting, a player plays with fewer, or alone where others can join. Start the servers with `backspin
/// serve --match-key KEY`: they authenticate their measurements with the key, so no player can pretend to be
/// nearer. Keep the key secret to the servers and this program.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  KEY=$(openssl rand -hex 16)
  backspin serve --match-key $KEY                       # on each server
  backspin match --match-key $KEY --server eu.example.org --server us.example.org
  backspin rtype quick match.example.org                # a player")]
pub(crate) struct Args {
    /// A game server: an address or host name, with or without a port; up to 16
    #[arg(long = "server", value_name = "ADDR", required = true)]
    servers: Vec<String>,

    /// The key that the servers have: 32 hexadecimal digits
    #[arg(long, value_name = "KEY", env = "BACKSPIN_MATCH_KEY", hide_env_values = true)]
    #[arg(value_parser = parse_match_key)]
    match_key: MatchKey,

    /// The port that players connect to
    #[arg(long, value_name = "PORT", default_value_t = DEFAULT_PORT)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    port: u16,

    /// Listen only on this address [default: all addresses of this machine]
    #[arg(long, value_name = "IP")]
    bind: Option<IpAddr>,

    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
}

/// How long a turn may last: a signal is seen this soon.
const TURN: Duration = Duration::from_millis(100);

/// What happens, as lines.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Line {
    Listening { addresses: Vec<SocketAddr> },
    Server { address: SocketAddr, state: &'static str },
    Made { address: SocketAddr, room: String, players: u8, worst_ms: f64, waited_s: f64 },
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    if args.servers.len() > MATCH_SERVERS_MAX {
        let given = args.servers.len();
        return Err(format!("{given} servers are too many; the most is {MATCH_SERVERS_MAX}").into());
    }
    let (stop, lines) = (Stop::on_signals()?, Lines::start(args.json)?);
    let dialects = [(Dialect::Native, args.port), (Dialect::Lan, 0), (Dialect::Rtype, 0)];
    let sockets = Ports::new(args.bind, dialects)?.open_sockets()?;
    let addresses: Vec<_> = sockets.iter().flat_map(Socket::local_addr).collect();
    let families = families(&addresses);
    let mut servers = Vec::new();
    for text in &args.servers {
        let address = at_native(text)?;
        if families.path(address).is_none() {
            let why = "only one of the two is IPv6";
            return Err(format!("cannot reach {address} from --bind: {why}").into());
        }
        servers.extend(ServerAddress::new(address));
    }
    let games = Title::ALL.iter().map(|&it| with_game!(it, G => card(&G::default()))).collect();
    let (key, limits) = (args.match_key, MatchLimits::default());
    let mut driver = Loop::new(sockets)?;
    let config = MatchmakerConfig { servers, key, games, families, limits };
    let mut matchmaker = Matchmaker::new(driver.now(), config, seed::secret()?);
    lines.say(&Line::Listening { addresses })?;
    while !stop.is_asked() {
        let limit = driver.now() + TURN;
        driver.turn(&mut matchmaker, limit)?;
        while let Some(event) = matchmaker.poll_event() {
            // Whether anyone reads it does not matter to the players.
            let _ = lines.say(&Line::of(event));
        }
    }
    Ok(())
}

fn card<G: Game>(game: &G) -> (backspin::game::GameId, u8) {
    (game.id(), game.capacity())
}

/// Which socket is for which kind of address.
fn families(addresses: &[SocketAddr]) -> Families {
    let of = |is_it: fn(&SocketAddr) -> bool| addresses.iter().position(is_it).map(|at| at as u8);
    Families { v4: of(SocketAddr::is_ipv4), v6: of(SocketAddr::is_ipv6) }
}

impl Line {
    fn of(event: MatchEvent) -> Self {
        match event {
            MatchEvent::ServerReady(address) => Line::Server { address, state: "ready" },
            MatchEvent::ServerLost(address) => Line::Server { address, state: "silent" },
            MatchEvent::ServerKey(address) => Line::Server { address, state: "other key" },
            MatchEvent::Made { server, room, players, worst, waited } => Line::Made {
                address: server,
                room: room.to_string(),
                players,
                worst_ms: worst.as_micros() as f64 / 1e3,
                waited_s: (waited.as_secs_f64() * 10.0).round() / 10.0,
            },
        }
    }
}

impl Tell for Line {
    fn text(&self) -> Option<String> {
        Some(match self {
            Line::Listening { addresses } => {
                let at: Vec<_> = addresses.iter().map(ToString::to_string).collect();
                format!("players connect to UDP {}\nCtrl-C stops it", at.join(" and "))
            }
            Line::Server { address, state: "ready" } => format!("{address} is ready"),
            Line::Server { address, state: "silent" } => format!(
                "{address} does not answer: it is down, full, draining, or has no --match-key"
            ),
            Line::Server { address, .. } => format!("{address} has a different --match-key"),
            Line::Made { address, players: 1, worst_ms, waited_s, .. } => format!(
                "sent 1 player to {address} alone, {worst_ms:.1} ms away, after {waited_s:.1} s"
            ),
            Line::Made { address, room, players, worst_ms, waited_s } => format!(
                "sent {players} players to {room} at {address}, at most {worst_ms:.1} ms away, \
                 after {waited_s:.1} s"
            ),
        })
    }
}
