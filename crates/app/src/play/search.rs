//! Who hosts a game on the local network: a [`Finder`] on every interface.

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr};

use backspin::finder::{Finder, FinderConfig};
use backspin::game::GameId;
use backspin::wire::Dialect;
use backspin_udp::{Loop, Socket, interfaces, search_paths};

use super::Table;
use crate::seed;

/// A search that goes on until it is dropped.
pub(crate) type Search = Table<Finder>;

/// Looks for `game`; at `port` in both dialects if one is given, else at the usual ports; in
/// `dialect` alone if that is given.
pub(crate) fn start(
    game: GameId,
    port: Option<u16>,
    dialect: Option<Dialect>,
) -> Result<Search, Box<dyn Error>> {
    let socket = Socket::bind((Ipv4Addr::UNSPECIFIED, 0).into())?;
    let driver = Loop::new(vec![socket])?;
    // A machine that does not tell its interfaces is searched as the system thinks best.
    let interfaces = interfaces().unwrap_or_default();
    let mut config = FinderConfig::new(game, search_paths(&interfaces, 0, 0));
    config.own = interfaces.iter().map(|it| IpAddr::V4(it.address)).collect();
    config.dialect = dialect;
    if let Some(port) = port {
        (config.native_port, config.lan_port) = (port, port);
    }
    let finder = Finder::new(driver.now(), config, seed::world()?);
    Ok(Table::new(driver, finder)?)
}
