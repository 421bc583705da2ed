//! `backspin lag`: a bad link on real sockets, in front of any UDP game.
//!
//! `proxy` reads and waits, `relay` knows the players and their links, `flight` holds datagrams until they
//! are due, `lan`
//! is the only part that knows a game's packets, `show` prints. The link is a [`backspin_sim::Link`], as in
//! the simulator.
//! The demo has its own [`Proxy`].

mod flight;
mod lan;
mod proxy;
mod relay;
mod show;

use std::error::Error;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::time::{Duration, Instant};

use backspin::time::Time;
use backspin_sim::LinkConfig;
use backspin_udp::Socket;

use crate::serve::stop::Stop;
use crate::tools::sim::link::{self, LinkArgs, LinkWords};
pub(super) use proxy::Proxy;
pub(super) use relay::{Dialect, Setup};
use show::Show;

/// Put a bad link in front of any UDP game.
///
/// Players join LISTEN instead of TARGET; everything between them and the game is delayed, lost, duplicated,
/// reordered or corrupted as in `backspin sim`. Without a preset, the link is perfect except for the faults
/// you name. Each player has its own link and its own port towards the game. Ctrl-C stops it.
///
/// It forwards only UDP and does not look inside: rtype's TCP step bypasses it and names the game's own UDP
/// port. A lan guest names the port it listens on; `--lan` replaces it with the proxy's, so that the game's
/// states come through here. Join by address: the answer to a search names the game's own port.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  backspin lag --listen 127.0.0.1:5000 --target 127.0.0.1:4300 --preset reference
  backspin lag --listen 0.0.0.0:5000 --target example.org:4300 --loss 10 --burst 3
  backspin lag --listen 0.0.0.0:5000 --target 192.168.1.7:54000 --lan --rtt-ms 80")]
pub(crate) struct Args {
    /// The address that players join; port 0 lets the system choose
    #[arg(long, value_name = "ADDR")]
    listen: String,

    /// The address of the game
    #[arg(long, value_name = "ADDR")]
    target: String,

    #[command(flatten)]
    link: LinkArgs,

    /// The seed of everything random
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,

    /// Stop after this many seconds
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u32).range(1..))]
    seconds: Option<u32>,

    /// The round trip gets this much longer at half time
    #[arg(long, value_name = "MS", value_parser = link::parse_ms, requires = "seconds")]
    rtt_step_ms: Option<Duration>,

    /// Forget a player after this many silent seconds
    #[arg(long, value_name = "S", default_value_t = 60)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    idle_seconds: u32,

    /// The game speaks lan: rewrite the port in a guest's HELLO to the proxy's
    #[arg(long)]
    lan: bool,

    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
}

/// How long it sleeps at most: a signal is seen this soon.
const NAP: Duration = Duration::from_millis(100);

/// How often it prints a line.
const LINE_EVERY: Duration = Duration::from_secs(1);

/// Runs the command.
pub(crate) fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let link = args.link.config(LinkConfig::PERFECT);
    link.check()?;
    let step = args.rtt_step_ms.unwrap_or_default();
    let longer = LinkConfig { delay: link.delay + step / 2, ..link };
    longer.check()?;
    let (listen, target) = addresses(&args.listen, &args.target)?;
    let stop = Stop::on_signals()?;
    let socket = Socket::bind(listen)?;
    let bound = socket.local_addr()?;
    let mut proxy = Proxy::new(socket, args.setup(target, link))?;
    let show = Show { json: args.json };
    show.open(bound, target, LinkWords::stepped(&link, step))?;
    let began = Instant::now();
    let now = || Time::ZERO + began.elapsed();
    let end = args.seconds.map(|seconds| Time::ZERO + Duration::from_secs(seconds.into()));
    let mut half = end.map(|end| Time::ZERO + end.since(Time::ZERO) / 2);
    let mut line = Time::ZERO + LINE_EVERY;
    while !stop.is_asked() && end.is_none_or(|end| now() < end) {
        let limit = line.min(now() + NAP).min(end.unwrap_or(line));
        proxy.turn(now, limit)?;
        if half.take_if(|half| *half <= now()).is_some() {
            proxy.set_link(longer);
        }
        if now() >= line {
            show.second(now(), &proxy.report())?;
            line += LINE_EVERY;
        }
    }
    Ok(show.close(now(), &proxy.report())?)
}

impl Args {
    fn setup(&self, target: SocketAddr, link: LinkConfig) -> Setup {
        Setup {
            target,
            link,
            seed: self.seed,
            idle: Duration::from_secs(self.idle_seconds.into()),
            dialect: if self.lan { Dialect::Lan } else { Dialect::Any },
        }
    }
}

/// Where to listen and where the game is.
fn addresses(listen: &str, target: &str) -> Result<(SocketAddr, SocketAddr), Box<dyn Error>> {
    let listen = *resolve(listen)?.first().ok_or("there is no address to listen on")?;
    let found = resolve(target)?;
    // A name may stand for both; who listens at one kind most likely means the same there.
    let alike = found.iter().find(|target| target.is_ipv4() == listen.is_ipv4());
    let target = *alike.or(found.first()).ok_or("the target has no address")?;
    match target.port() {
        0 => Err("port 0 is not a game's port; give the target's port".into()),
        _ if target == listen => {
            Err("listening on the target's address would forward to itself; choose another".into())
        }
        _ => Ok((listen, target)),
    }
}

fn resolve(text: &str) -> Result<Vec<SocketAddr>, String> {
    let found = text.to_socket_addrs().map_err(|error| match error.kind() {
        io::ErrorKind::InvalidInput => {
            format!("\"{text}\" is not an address with a port; write one like 127.0.0.1:4300")
        }
        _ => format!("cannot find \"{text}\": {error}"),
    })?;
    Ok(found.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_numbers_or_names_of_either_kind() {
        let (listen, target) = addresses("[::1]:5000", "127.0.0.1:4300").unwrap();
        assert_eq!(
            (listen.to_string(), target.to_string().as_str()),
            ("[::1]:5000".to_owned(), "127.0.0.1:4300")
        );
        let (_, target) = addresses("127.0.0.1:5000", "localhost:4300").unwrap();
        assert_eq!(target.to_string(), "127.0.0.1:4300");
    }

    #[test]
    fn an_address_that_cannot_be_is_refused_in_words() {
        let refusal = |listen, target| addresses(listen, target).unwrap_err().to_string();
        assert!(refusal("127.0.0.1", "127.0.0.1:1").contains("not an address with a port"));
        assert!(refusal("127.0.0.1:0", "127.0.0.1:0").contains("port 0"));
        assert!(refusal("127.0.0.1:7", "127.0.0.1:7").contains("forward to itself"));
    }
}
