//! How a player gets to a table.

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use backspin::client::{Client, ClientConfig};
use backspin::front::FrontConfig;
use backspin::game::{Game, PlayerId};
use backspin::host::Host;
use backspin::local::Local;
use backspin::room::RoomConfig;
use backspin::server::Server;
use backspin::time::Time;
use backspin::wire::native::{DEFAULT_PORT, Role};
use backspin::wire::{Dialect, Name};
use backspin_pong::Pong;
use backspin_udp::{Loop, Socket};

use super::{BotLevel, SeatArgs};
use crate::play::{Address, Fallback, Seat, Table, TicketFile};
use crate::seed;

/// Where Networked Pong listens.
const LAN_PORT: u16 = 54000;

/// A place at a table, and what belongs to it.
pub(crate) struct Opened {
    pub(crate) table: Table<Seat<Pong>>,
    /// A bot for the other paddle, at a table of this machine alone.
    pub(crate) versus: Option<BotLevel>,
    /// Who sits there.
    pub(crate) name: Name,
    /// Where others can come to.
    pub(crate) addresses: Vec<SocketAddr>,
    /// The way back, for a guest who plays.
    pub(crate) ticket: Option<TicketFile>,
}

/// Who wants to be a guest.
pub(crate) struct Guest {
    pub(crate) dialect: Option<Dialect>,
    pub(crate) role: Role,
    pub(crate) name: Name,
    pub(crate) token: Vec<u8>,
}

impl Guest {
    pub(super) fn player(seat: &SeatArgs, dialect: Option<Dialect>) -> Self {
        let token = seat.token.clone().into_bytes();
        Guest { dialect, role: Role::Play, name: seat.name(), token }
    }

    /// Only `native` has watchers.
    pub(super) fn watcher(seat: &SeatArgs) -> Self {
        let dialect = Some(Dialect::Native);
        Guest { role: Role::Watch, ..Guest::player(seat, dialect) }
    }

    /// The only dialect that the guest speaks, if it is one.
    pub(super) fn dialect(&self) -> Option<Dialect> {
        self.dialect
    }

    fn config(&self, server: SocketAddr, dialect: Dialect, own_port: u16) -> ClientConfig {
        ClientConfig {
            role: self.role,
            token: self.token.clone(),
            own_port,
            ..ClientConfig::new(server, dialect, self.name)
        }
    }
}

/// A table of this machine alone.
pub(crate) fn local(game: Pong, versus: Option<BotLevel>) -> Result<Opened, Box<dyn Error>> {
    let driver = Loop::new(Vec::new())?;
    let players = (1..=u32::from(game.capacity())).map(PlayerId);
    let local = Local::new(driver.now(), game, seed::world()?, players);
    let table = Table::new(driver, Seat::Local(Box::new(local)))?;
    let (name, addresses) = (Name::new("Player"), Vec::new());
    Ok(Opened { table, versus, name, addresses, ticket: None })
}

/// A table that others come to: at one port, or where each dialect is looked for.
pub(crate) fn host(
    game: Pong,
    port: Option<u16>,
    dialect: Option<Dialect>,
    name: Name,
) -> Result<Opened, Box<dyn Error>> {
    let both = [port.unwrap_or(DEFAULT_PORT), port.unwrap_or(LAN_PORT)];
    let ports = match dialect {
        Some(Dialect::Native) => &both[..1],
        Some(_) => &both[1..],
        None if port.is_some() => &both[..1],
        None => &both[..],
    };
    let mut sockets = Vec::new();
    for &port in ports {
        sockets.push(Socket::bind((Ipv4Addr::UNSPECIFIED, port).into())?);
        // A machine without IPv6 hosts without it.
        sockets.extend(Socket::bind((Ipv6Addr::UNSPECIFIED, port).into()).ok());
    }
    let addresses = sockets.iter().flat_map(Socket::local_addr).collect();
    let driver = Loop::new(sockets)?;
    // Who looks for games is told of what is offered alone.
    let offered = |it, port| if dialect.is_none_or(|only| only == it) { port } else { 0 };
    let native_port = offered(Dialect::Native, both[0]);
    let lan_port = offered(Dialect::Lan, both[1]);
    let config = FrontConfig { name, native_port, lan_port, ..FrontConfig::default() };
    let mut server = Server::new(config, seed::secret()?);
    server.open(driver.now(), game, name, seed::world()?, RoomConfig::default());
    let host = Host::new(driver.now(), server, game, name, seed::secret()?);
    let table = Table::new(driver, Seat::Host(Box::new(host)))?;
    Ok(Opened { table, versus: None, name, addresses, ticket: None })
}

/// A place at someone's table, wherever the player says.
pub(crate) fn join(guest: &Guest, address: &str) -> Result<Opened, Box<dyn Error>> {
    let address = Address::parse(address)?;
    let ip = address.resolve()?;
    let at = |usual| SocketAddr::new(ip, address.port().unwrap_or(usual));
    match guest.dialect {
        Some(Dialect::Lan) => sit(guest, at(LAN_PORT), Dialect::Lan, None),
        Some(dialect) => sit(guest, at(DEFAULT_PORT), dialect, None),
        // An IPv6 host is none of the first program's.
        None if ip.is_ipv6() => sit(guest, at(DEFAULT_PORT), Dialect::Native, None),
        None => sit(guest, at(DEFAULT_PORT), Dialect::Native, Some(at(LAN_PORT))),
    }
}

/// A place at the table at `server`; if nobody answers in `dialect`, at `or_lan`.
pub(crate) fn sit(
    guest: &Guest,
    server: SocketAddr,
    dialect: Dialect,
    or_lan: Option<SocketAddr>,
) -> Result<Opened, Box<dyn Error>> {
    let any = match server.ip() {
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    };
    let socket = Socket::bind(SocketAddr::new(any, 0))?;
    let own_port = socket.local_addr()?.port();
    let driver = Loop::new(vec![socket])?;
    let mut config = guest.config(server, dialect, own_port);
    let mut ticket = None;
    if dialect == Dialect::Native && guest.role == Role::Play {
        // A match without a way back is better than none.
        if let Ok((file, found)) = TicketFile::open(Pong::default().id(), server) {
            (ticket, config.ticket) = (Some(file), found);
        }
    }
    let fallback = match or_lan {
        Some(lan) => {
            let config = guest.config(lan, Dialect::Lan, own_port);
            let at: Time = driver.now() + Fallback::AFTER;
            Some(Box::new(Fallback { at, config, seed: seed::secret()? }))
        }
        None => None,
    };
    let client = Client::new(driver.now(), Pong::default(), config, seed::secret()?);
    let table = Table::new(driver, Seat::Guest { client: Box::new(client), fallback })?;
    let (name, addresses) = (guest.name, Vec::new());
    Ok(Opened { table, versus: None, name, addresses, ticket })
}

/// How long a search for hosts lasts before it is given up.
pub(super) const SEARCH_FOR: Duration = Duration::from_secs(15);
