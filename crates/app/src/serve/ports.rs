//! Which sockets a server opens, and where.

pub(crate) use backspin_classic::Dialect;
use std::error::Error;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use backspin_udp::{BindError, Listener, Socket};

/// Where a server listens.
pub(crate) struct Ports {
    ips: Vec<IpAddr>,
    /// Every dialect that has a port.
    dialects: Vec<(Dialect, u16)>,
}

impl Ports {
    /// These ports at `bind`, or at all addresses of this machine. Port 0 is none.
    pub(crate) fn new(
        bind: Option<IpAddr>,
        wanted: [(Dialect, u16); 3],
    ) -> Result<Self, Box<dyn Error>> {
        let dialects: Vec<_> = wanted.into_iter().filter(|(_, port)| *port != 0).collect();
        match dialects.is_empty() {
            true => Err("every port is 0: there is nothing to listen on; set at least one".into()),
            false => Ok(Ports { ips: local_ips(bind), dialects }),
        }
    }

    /// Binds the UDP sockets. Dialects on the same port share them.
    pub(crate) fn open_sockets(&self) -> Result<Vec<Socket>, BindError> {
        let mut ports: Vec<_> = self.dialects.iter().map(|(_, port)| *port).collect();
        ports.sort_unstable();
        ports.dedup();
        let sockets = ports.into_iter().flat_map(|port| self.at(port));
        sockets.map(|address| self.open_socket(address)).collect()
    }

    fn open_socket(&self, address: SocketAddr) -> Result<Socket, BindError> {
        let socket = Socket::bind(address)?;
        let mut spoken = self.dialects.iter().filter(|(_, port)| *port == address.port());
        // The datagrams of `rtype` may be longer than some paths are wide.
        Ok(match spoken.all(|(dialect, _)| *dialect == Dialect::Native) {
            true => socket.without_fragments(),
            false => socket,
        })
    }

    /// Binds what `rtype`'s TCP step needs: one port above.
    pub(crate) fn open_listeners(&self) -> Result<Vec<Listener>, BindError> {
        let rtype = self.dialects.iter().filter(|(dialect, _)| *dialect == Dialect::Rtype);
        rtype.flat_map(|(_, port)| self.at(port + 1)).map(Listener::bind).collect()
    }

    /// Where a dialect is spoken: at its own port or, all being spoken at each, at another.
    pub(crate) fn of(&self, dialect: Dialect) -> u16 {
        let own = self.dialects.iter().find(|(other, _)| *other == dialect);
        own.or(self.dialects.first()).map_or(0, |(_, port)| *port)
    }

    fn at(&self, port: u16) -> impl Iterator<Item = SocketAddr> + '_ {
        self.ips.iter().map(move |&ip| SocketAddr::new(ip, port))
    }
}

/// IPv6 has sockets of its own, where the machine has it.
fn local_ips(bind: Option<IpAddr>) -> Vec<IpAddr> {
    let v4 = IpAddr::from(Ipv4Addr::UNSPECIFIED);
    let v6 = IpAddr::from(Ipv6Addr::UNSPECIFIED);
    match bind {
        Some(ip) => vec![ip],
        None if Socket::bind(SocketAddr::new(v6, 0)).is_ok() => vec![v4, v6],
        None => vec![v4],
    }
}

/// One line per dialect.
impl fmt::Display for Ports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |port| self.at(port).map(|at| at.to_string()).collect::<Vec<_>>().join(" and ");
        for &(dialect, port) in &self.dialects {
            let udp = list(port);
            match dialect {
                Dialect::Native | Dialect::Ack => writeln!(f, "  native  UDP {udp}")?,
                Dialect::Lan => writeln!(f, "  lan     UDP {udp}")?,
                Dialect::Rtype => writeln!(f, "  rtype   UDP {udp}, TCP {}", list(port + 1))?,
            }
        }
        Ok(())
    }
}
