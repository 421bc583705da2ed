//! How a player gets into a match, in any game.

use std::error::Error;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use backspin::client::ClientConfig;
use backspin::endpoint::{EndpointConfig, Tokenless};
use backspin::game::{Game, PlayerId};
use backspin::host::Host;
use backspin::local::Local;
use backspin::room::RoomConfig;
use backspin::server::Server;
use backspin::wire::Name;
use backspin::wire::native::{DEFAULT_PORT, Role};
use backspin_classic::Dialect;
use backspin_udp::{Listener, Loop, Socket};

use super::rooms::find_room;
use super::{Address, Fallback, NodeThread, Seat, TicketFile, TicketKeeper};
use crate::games::AppGame;
use crate::seed;

/// A match that was opened, and what belongs to it.
pub(crate) struct Opened<G: Game> {
    pub(crate) node: NodeThread<Seat<G>>,
    /// The player's name.
    pub(crate) name: Name,
    /// Where others can come to.
    pub(crate) addresses: Vec<SocketAddr>,
    /// The way back into the match, for a guest that plays.
    pub(crate) ticket: Option<TicketKeeper>,
}

/// A guest's name, role and credentials.
#[derive(Clone, Debug)]
pub(crate) struct Guest {
    /// The only dialect that the guest speaks, if it is one.
    pub(crate) dialect: Option<Dialect>,
    pub(crate) role: Role,
    pub(crate) name: Name,
    pub(crate) token: Vec<u8>,
    pub(crate) room: RoomWish,
    /// Of the room, if it has one.
    pub(crate) password: Name,
    /// How many net log lines are kept: 0 if they are not written.
    pub(crate) journal: usize,
}

/// Which room of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum RoomWish {
    /// Any that has a free place.
    #[default]
    Any,
    Number(u32),
    Named(Name),
    /// One that is made now, and is called so.
    New(Name),
}

impl Guest {
    /// Only `native` has watchers.
    pub(crate) fn watching(self) -> Self {
        Guest { dialect: Some(Dialect::Native), role: Role::Watch, ..self }
    }

    fn config(&self, server: SocketAddr, own_port: u16) -> ClientConfig {
        let (room, new_room) = match self.room {
            RoomWish::Any | RoomWish::Named(_) => (0, None),
            RoomWish::Number(number) => (number, None),
            RoomWish::New(name) => (0, Some(name)),
        };
        ClientConfig {
            role: self.role,
            room,
            new_room,
            password: self.password,
            token: self.token.clone(),
            own_port,
            journal: self.journal,
            ..ClientConfig::new(server, self.name)
        }
    }
}

/// A match on this machine alone, with this many players.
pub(crate) fn local<G: AppGame>(
    game: G,
    players: u32,
    name: Name,
) -> Result<Opened<G>, Box<dyn Error>> {
    let driver = Loop::new(Vec::new())?;
    let players = (1..=players).map(PlayerId);
    let local = Local::new(driver.now(), game, seed::world()?, players);
    let node = NodeThread::new(driver, Seat::Local(Box::new(local)))?;
    Ok(Opened { node, name, addresses: Vec::new(), ticket: None })
}

/// A match that others can join: on one port, or on the usual port of each dialect.
pub(crate) fn host<G: AppGame>(
    game: G,
    port: Option<u16>,
    dialect: Option<Dialect>,
    tokenless: Tokenless,
    name: Name,
    journal: usize,
) -> Result<Opened<G>, Box<dyn Error>> {
    // Searches are told only of what is offered.
    let spoken: Vec<(Dialect, u16)> = [Dialect::Native, Dialect::Ack]
        .map(|dialect| (dialect, DEFAULT_PORT))
        .into_iter()
        .chain(G::OLD)
        .filter(|(it, _)| dialect.is_none_or(|only| only == *it))
        .map(|(it, usual)| (it, port.unwrap_or(usual)))
        .collect();
    let mut ports: Vec<u16> = spoken.iter().map(|(_, port)| *port).collect();
    ports.dedup();
    let mut sockets = Vec::new();
    for port in ports {
        sockets.push(Socket::bind((Ipv4Addr::UNSPECIFIED, port).into())?);
        // A machine without IPv6 hosts without it.
        sockets.extend(Socket::bind((Ipv6Addr::UNSPECIFIED, port).into()).ok());
    }
    let addresses = sockets.iter().flat_map(Socket::local_addr).collect();
    let port_of = |dialect| {
        let port = spoken.iter().find(|(it, _)| *it == dialect);
        port.map_or(0, |(_, port)| *port)
    };
    let config = EndpointConfig {
        name,
        native_port: port_of(Dialect::Native),
        other_ports: [Dialect::Lan, Dialect::Rtype].map(|it| (it.name(), port_of(it))).to_vec(),
        tokenless,
        ..EndpointConfig::default()
    };
    let driver = Loop::with_listeners(sockets, listeners(port_of(Dialect::Rtype))?)?;
    let mut server = Server::new(config, seed::secret()?).speaking(backspin_classic::dialects());
    server.open(driver.now(), game.clone(), name, seed::world()?, RoomConfig::default());
    server.keep_lines(journal);
    let mut host = Host::new(driver.now(), server, game, name, seed::secret()?);
    host.client_mut().keep_lines(journal);
    let node = NodeThread::new(driver, Seat::Host(Box::new(host)))?;
    Ok(Opened { node, name, addresses, ticket: None })
}

/// What `rtype`'s TCP step needs: one port above. Nothing where it is not spoken.
fn listeners(rtype_port: u16) -> Result<Vec<Listener>, Box<dyn Error>> {
    if rtype_port == 0 {
        return Ok(Vec::new());
    }
    let port = rtype_port.checked_add(1);
    let port = port.ok_or("rtype needs the port above for TCP; choose one below 65535")?;
    let mut listeners = vec![Listener::bind((Ipv4Addr::UNSPECIFIED, port).into())?];
    listeners.extend(Listener::bind((Ipv6Addr::UNSPECIFIED, port).into()).ok());
    Ok(listeners)
}

/// Joins the match at the address that the player typed.
pub(crate) fn join<G: AppGame>(
    game: G,
    guest: &Guest,
    address: &str,
) -> Result<Opened<G>, Box<dyn Error>> {
    let address = Address::parse(address)?;
    let ip = address.resolve()?;
    let at = |usual| SocketAddr::new(ip, address.port().unwrap_or(usual));
    let native = at(DEFAULT_PORT);
    // Only `native` has rooms to choose from.
    match guest.room {
        RoomWish::Any => {}
        RoomWish::Named(name) => {
            let room = RoomWish::Number(find_room(&game, native, name)?);
            let guest = Guest { room, ..guest.clone() };
            return sit(game, &guest, native, Dialect::Native, None);
        }
        RoomWish::Number(_) | RoomWish::New(_) => {
            return sit(game, guest, native, Dialect::Native, None);
        }
    }
    match guest.dialect {
        Some(dialect @ (Dialect::Native | Dialect::Ack)) => sit(game, guest, native, dialect, None),
        Some(old) => {
            let usual = G::OLD.map_or(DEFAULT_PORT, |(_, port)| port);
            sit(game, guest, at(usual), old, None)
        }
        // The first program has no IPv6.
        None if ip.is_ipv6() => sit(game, guest, native, Dialect::Native, None),
        None => {
            let old = G::OLD.map(|(old, port)| (old, at(port)));
            sit(game, guest, native, Dialect::Native, old)
        }
    }
}

/// Joins the match at `server`; if nobody answers in `dialect`, as `or_old` says.
pub(crate) fn sit<G: AppGame>(
    game: G,
    guest: &Guest,
    server: SocketAddr,
    dialect: Dialect,
    or_old: Option<(Dialect, SocketAddr)>,
) -> Result<Opened<G>, Box<dyn Error>> {
    let socket = Socket::towards(server.ip())?;
    let own_port = socket.local_addr()?.port();
    let driver = Loop::new(vec![socket])?;
    let mut config = guest.config(server, own_port);
    let mut ticket = None;
    if dialect == Dialect::Native && guest.role == Role::Play {
        // A match without a way back is better than none.
        if let Ok((file, found)) = TicketFile::open(game.id(), server) {
            (ticket, config.ticket) = (TicketKeeper::start(file).ok(), found);
        }
    }
    let began = driver.now();
    let fallback = match or_old {
        Some((dialect, old)) => {
            let config = guest.config(old, own_port);
            Some(Box::new(Fallback::new(began, dialect, config, seed::secret()?)))
        }
        None => None,
    };
    let client = Box::new(dialect.client(began, game, config, seed::secret()?));
    let node = NodeThread::new(driver, Seat::Guest { client, began, fallback })?;
    Ok(Opened { node, name: guest.name, addresses: Vec::new(), ticket })
}
