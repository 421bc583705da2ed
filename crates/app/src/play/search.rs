//! Finds hosts on the local network: a [`Finder`] on every interface.

use std::error::Error;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::ops::DerefMut;
use std::time::{Duration, Instant};

use backspin::finder::{Finder, FinderConfig, Found};
use backspin::game::GameId;
use backspin::node::Path;
use backspin::wire::native::DEFAULT_PORT;
use backspin_classic::{Dialect, lan};
use backspin_udp::{Loop, Socket, interfaces, search_paths};

use super::NodeThread;
use crate::games::AppGame;
use crate::seed;

/// How often the machine is asked for its interfaces.
const INTERFACES_EVERY: Duration = Duration::from_secs(1);

/// A search that goes on until it is dropped.
pub(crate) struct Search {
    node: NodeThread<Finder>,
    /// When the machine was asked for its interfaces; never where only one address is asked.
    looked_up: Option<Instant>,
}

impl Search {
    /// Looks for the hosts of a game; at `port` in both dialects if one is given, else at the usual
    /// ports; in `dialect` alone if that is given.
    pub(crate) fn start<G: AppGame>(
        game: &G,
        port: Option<u16>,
        dialect: Option<Dialect>,
    ) -> Result<Self, Box<dyn Error>> {
        let socket = Socket::bind((Ipv4Addr::UNSPECIFIED, 0).into())?;
        let driver = Loop::new(vec![socket])?;
        let (places, own) = places();
        let speaks = |it| dialect.is_none_or(|only| only == it);
        let native_port = speaks(Dialect::Native).then_some(port.unwrap_or(DEFAULT_PORT));
        let lan = G::OLD.filter(|(old, _)| *old == Dialect::Lan && speaks(Dialect::Lan));
        let probes = lan.map(|(_, usual)| lan::probe(port.unwrap_or(usual))).into_iter().collect();
        let usual = FinderConfig::new(game.id(), places);
        let config = FinderConfig { own, native_port, probes, ..usual };
        let finder = Finder::new(driver.now(), config, seed::world()?);
        Ok(Search { node: NodeThread::new(driver, finder)?, looked_up: Some(Instant::now()) })
    }

    /// Asks for what is at one address, in `native`.
    pub(crate) fn at(game: GameId, server: SocketAddr) -> Result<Self, Box<dyn Error>> {
        let driver = Loop::new(vec![Socket::towards(server.ip())?])?;
        let usual = FinderConfig::new(game, vec![Path::to(server)]);
        let config = FinderConfig { native_port: Some(server.port()), ..usual };
        let finder = Finder::new(driver.now(), config, seed::world()?);
        Ok(Search { node: NodeThread::new(driver, finder)?, looked_up: None })
    }

    /// Why it has ended by itself, if it has.
    pub(crate) fn failure(&mut self) -> Option<io::Error> {
        self.node.failure()
    }

    /// What is found so far. To be asked often: networks come and go.
    pub(crate) fn look(&mut self) -> impl DerefMut<Target = Finder> {
        if self.looked_up.is_some_and(|at| at.elapsed() >= INTERFACES_EVERY) {
            self.looked_up = Some(Instant::now());
            let (places, own) = places();
            self.node.seat().look_at(self.node.now(), places, own);
        }
        self.node.seat()
    }
}

/// Whether hosts that speak only this dialect can be found.
pub(crate) fn check_search(dialect: Option<Dialect>) -> Result<(), &'static str> {
    let named = "ack has no search for hosts; name the address of one";
    if dialect == Some(Dialect::Ack) { Err(named) } else { Ok(()) }
}

/// How to speak to a host that a [`Search`] found: it asks in dialects of ours alone.
pub(crate) fn dialect_of(found: &Found) -> Dialect {
    Dialect::named(found.dialect).unwrap_or(Dialect::Native)
}

/// Names the only address of this machine that searches leave from, if it is set: 127.0.0.1 finds
/// games of this machine alone.
const FROM: &str = "BACKSPIN_SEARCH_FROM";

/// Where to look, and the addresses of this machine. A machine that does not tell its interfaces
/// is searched as the system thinks best.
fn places() -> (Vec<Path>, Vec<IpAddr>) {
    let interfaces = interfaces().unwrap_or_default();
    let own = interfaces.iter().map(|it| IpAddr::V4(it.address)).collect();
    let from = match cfg!(test) {
        // What is only tried out stays on this machine.
        true => Some(IpAddr::V4(Ipv4Addr::LOCALHOST)),
        false => std::env::var(FROM).ok().and_then(|from| from.parse().ok()),
    };
    let mut paths = search_paths(&interfaces, 0, 0);
    paths.retain(|path| from.is_none() || path.local == from);
    (paths, own)
}
