//! Who a datagram comes from, and what limits count that peer by.
//!
//! A [`PeerAddr`] is opaque: whoever drives a node makes it and turns it back into a socket address
//! or a connection; the endpoint, rooms and clients only compare it, print it and ask it for its
//! [`LimitKey`]. A new kind of peer is a variant here and a driver that sends to it.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

/// Where a peer is: a socket address, or a connection that a driver keeps.
///
/// It is as small as an IPv6 socket address, and two are compared for every datagram.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PeerAddr(Kind);

/// The fields of std's addresses, without std's padding: an IPv6 address and the tag fit 28 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Kind {
    V4 {
        ip: Ipv4Addr,
        port: u16,
    },
    V6 {
        ip: Ipv6Addr,
        port: u16,
        flowinfo: u32,
        scope_id: u32,
    },
    Connection {
        ip: IpAddr,
        /// Big-endian: bytes need no alignment, and compare as the number does.
        id: [u8; 8],
    },
}

/// What a [`PeerAddr`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerKind {
    /// Whoever is at this address.
    Socket(SocketAddr),
    /// Whoever is at the other end of a connection.
    Connection {
        /// The driver's number of it.
        id: u64,
        /// Where it comes from.
        ip: IpAddr,
    },
}

// A path is in the hot part of every route and member.
const _: () = assert!(size_of::<PeerAddr>() == 28 && align_of::<PeerAddr>() == 4);

impl PeerAddr {
    /// Whoever is at this socket address.
    pub const fn socket(address: SocketAddr) -> Self {
        PeerAddr(match address {
            SocketAddr::V4(v4) => Kind::V4 { ip: *v4.ip(), port: v4.port() },
            SocketAddr::V6(v6) => Kind::V6 {
                ip: *v6.ip(),
                port: v6.port(),
                flowinfo: v6.flowinfo(),
                scope_id: v6.scope_id(),
            },
        })
    }

    /// Whoever is at the other end of a driver's connection: a browser's, for one. The driver never
    /// uses a number twice; `ip` is what limits count the peer by.
    pub const fn connection(id: u64, ip: IpAddr) -> Self {
        PeerAddr(Kind::Connection { ip, id: id.to_be_bytes() })
    }

    /// What is inside: for drivers, which send there, and for recordings.
    pub const fn kind(self) -> PeerKind {
        match self.0 {
            Kind::V4 { ip, port } => PeerKind::Socket(SocketAddr::V4(SocketAddrV4::new(ip, port))),
            Kind::V6 { ip, port, flowinfo, scope_id } => {
                PeerKind::Socket(SocketAddr::V6(SocketAddrV6::new(ip, port, flowinfo, scope_id)))
            }
            Kind::Connection { ip, id } => PeerKind::Connection { id: u64::from_be_bytes(id), ip },
        }
    }

    /// The socket address, if that is what it is. For drivers, and for dialects that name ports.
    pub const fn socket_addr(self) -> Option<SocketAddr> {
        match self.kind() {
            PeerKind::Socket(address) => Some(address),
            PeerKind::Connection { .. } => None,
        }
    }

    /// The peer's IP address, if it is known.
    pub const fn ip(self) -> Option<IpAddr> {
        match self.0 {
            Kind::V4 { ip, .. } => Some(IpAddr::V4(ip)),
            Kind::V6 { ip, .. } => Some(IpAddr::V6(ip)),
            Kind::Connection { ip, .. } => Some(ip),
        }
    }

    /// The same host at another port; `None` for a peer that has no ports.
    pub fn with_port(self, port: u16) -> Option<Self> {
        let mut address = self.socket_addr()?;
        address.set_port(port);
        Some(PeerAddr::socket(address))
    }

    /// What limits and bans count the peer by.
    pub fn limit_key(self) -> LimitKey {
        match self.0 {
            Kind::V4 { ip, .. } => LimitKey(IpAddr::V4(ip)),
            Kind::V6 { ip, .. } => IpAddr::V6(ip).into(),
            Kind::Connection { ip, .. } => ip.into(),
        }
    }

    /// Writes what makes this peer another than all others, and says how long that is: each kind has
    /// a length of its own. An IPv4 address is written in its IPv6-mapped form, so that one peer is
    /// the same through either kind of socket.
    ///
    /// ```text
    /// 0    16     18       24
    /// | ip | port |          a socket address
    /// | ip | connection id | a connection
    /// ```
    pub(crate) fn write_identity(self, out: &mut [u8; IDENTITY_LEN_MAX]) -> usize {
        let (ip, rest): (IpAddr, &[u8]) = match &self.0 {
            Kind::V4 { ip, port } => ((*ip).into(), &port.to_be_bytes()),
            Kind::V6 { ip, port, .. } => ((*ip).into(), &port.to_be_bytes()),
            Kind::Connection { ip, id } => (*ip, id),
        };
        let ip = match ip {
            IpAddr::V4(ip) => ip.to_ipv6_mapped(),
            IpAddr::V6(ip) => ip,
        };
        out[..16].copy_from_slice(&ip.octets());
        out[16..16 + rest.len()].copy_from_slice(rest);
        16 + rest.len()
    }
}

/// The longest that [`PeerAddr::write_identity`] writes.
pub(crate) const IDENTITY_LEN_MAX: usize = 24;

impl From<SocketAddr> for PeerAddr {
    fn from(address: SocketAddr) -> Self {
        PeerAddr::socket(address)
    }
}

impl PartialEq<SocketAddr> for PeerAddr {
    fn eq(&self, address: &SocketAddr) -> bool {
        *self == PeerAddr::socket(*address)
    }
}

impl PartialEq<PeerAddr> for SocketAddr {
    fn eq(&self, peer: &PeerAddr) -> bool {
        peer == self
    }
}

impl fmt::Display for PeerAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind() {
            PeerKind::Socket(address) => address.fmt(f),
            PeerKind::Connection { id, ip } => write!(f, "{ip} (connection {id})"),
        }
    }
}

impl fmt::Debug for PeerAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What limits and bans count a peer by: an IPv4 address, or all of an IPv6 /64, because whoever has
/// one address of it has them all. IPv4 through an IPv6 socket is IPv4.
///
/// Wider networks around it have limits of their own: [`Prefix::all`](crate::session::Prefix::all).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LimitKey(IpAddr);

/// The bits of an IPv6 address that a key keeps.
pub(crate) const IPV6_KEY_BITS: u8 = 64;

impl LimitKey {
    /// The first address of its network.
    pub const fn network(self) -> IpAddr {
        self.0
    }
}

impl From<IpAddr> for LimitKey {
    fn from(ip: IpAddr) -> Self {
        LimitKey(match ip.to_canonical() {
            IpAddr::V4(ip) => IpAddr::V4(ip),
            IpAddr::V6(ip) => IpAddr::V6(truncated(ip, IPV6_KEY_BITS)),
        })
    }
}

/// The first address of the IPv6 network of so many bits, at least one, that has `ip` in it.
pub(crate) const fn truncated(ip: Ipv6Addr, bits: u8) -> Ipv6Addr {
    Ipv6Addr::from_bits(ip.to_bits() & (u128::MAX << (128 - bits)))
}

/// As an operator writes it: `192.0.2.1`, `2001:db8:0:1::/64`.
impl fmt::Display for LimitKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            IpAddr::V4(ip) => ip.fmt(f),
            IpAddr::V6(ip) => write!(f, "{ip}/{IPV6_KEY_BITS}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn peer(text: &str) -> PeerAddr {
        PeerAddr::socket(text.parse().unwrap())
    }

    fn identity(peer: PeerAddr) -> Vec<u8> {
        let mut out = [0xEE; IDENTITY_LEN_MAX];
        let len = peer.write_identity(&mut out);
        out[..len].to_vec()
    }

    #[test]
    fn a_socket_address_comes_back_as_it_was() {
        let scoped = SocketAddrV6::new(Ipv6Addr::LOCALHOST, 9, 7, 300).into();
        let mapped = "[::ffff:192.0.2.1]:4300".parse().unwrap();
        for address in ["192.0.2.1:4300".parse().unwrap(), mapped, scoped] {
            let peer = PeerAddr::socket(address);
            assert_eq!(peer.socket_addr(), Some(address));
            assert_eq!(peer.ip(), Some(address.ip()));
            assert_eq!(peer.to_string(), address.to_string());
            assert_eq!(peer, address);
        }
    }

    #[test]
    fn peers_are_in_the_order_of_their_socket_addresses() {
        let mut addresses: Vec<SocketAddr> = [
            "[2001:db8::1]:2",
            "[::]:1",
            "192.0.2.1:9",
            "10.0.0.1:4300",
            "10.0.0.1:4299",
            "[2001:db8::1]:1",
        ]
        .map(|text| text.parse().unwrap())
        .to_vec();
        let mut peers: Vec<_> = addresses.iter().copied().map(PeerAddr::socket).collect();
        addresses.sort();
        peers.sort();
        assert_eq!(peers, addresses);
    }

    #[test]
    fn a_connection_has_a_number_and_an_ip_but_no_socket_address() {
        let peer = PeerAddr::connection(7, ip("192.0.2.1"));
        assert_eq!((peer.socket_addr(), peer.with_port(1)), (None, None));
        assert_eq!(peer.kind(), PeerKind::Connection { id: 7, ip: ip("192.0.2.1") });
        assert_eq!(peer.ip(), Some(ip("192.0.2.1")));
        assert_eq!(peer.to_string(), "192.0.2.1 (connection 7)");
        assert_ne!(peer, PeerAddr::connection(8, ip("192.0.2.1")));
        assert_ne!(peer, PeerAddr::connection(7, ip("192.0.2.2")));
    }

    #[test]
    fn only_the_port_of_a_socket_address_changes() {
        let scoped = PeerAddr::socket(SocketAddrV6::new(Ipv6Addr::LOCALHOST, 9, 7, 300).into());
        let expected = SocketAddrV6::new(Ipv6Addr::LOCALHOST, 10, 7, 300);
        assert_eq!(scoped.with_port(10), Some(PeerAddr::socket(expected.into())));
        assert_eq!(peer("192.0.2.1:1").with_port(2), Some(peer("192.0.2.1:2")));
    }

    #[test]
    fn a_limit_key_is_an_ipv4_address_or_a_64() {
        let key = |text: &str| peer(text).limit_key();
        assert_eq!(key("192.0.2.1:1"), key("192.0.2.1:2"));
        assert_eq!(key("192.0.2.1:1"), key("[::ffff:192.0.2.1]:1"));
        assert_ne!(key("192.0.2.1:1"), key("192.0.2.2:1"));
        assert_eq!(key("[2001:db8:1:2::1]:1"), key("[2001:db8:1:2:ffff::]:1"));
        assert_ne!(key("[2001:db8:1:2::1]:1"), key("[2001:db8:1:3::1]:1"));
        assert_eq!(key("192.0.2.1:1").to_string(), "192.0.2.1");
        assert_eq!(key("[2001:db8:1:2::1]:1").to_string(), "2001:db8:1:2::/64");
        for text in ["192.0.2.1", "::ffff:192.0.2.1", "2001:db8:1:2::1"] {
            let socket = PeerAddr::socket(SocketAddr::new(ip(text), 1));
            let connection = PeerAddr::connection(7, ip(text));
            assert_eq!(connection.limit_key(), socket.limit_key());
        }
    }

    #[test]
    fn no_two_peers_have_the_same_identity_but_ipv4_through_either_socket() {
        let all = [
            peer("192.0.2.1:4300"),
            peer("192.0.2.1:4301"),
            peer("192.0.2.2:4300"),
            peer("[2001:db8::1]:4300"),
            PeerAddr::connection(4300, ip("192.0.2.1")),
            PeerAddr::connection(4300 << 48, ip("192.0.2.1")),
            PeerAddr::connection(4300, ip("2001:db8::1")),
        ];
        for (at, one) in all.iter().enumerate() {
            for other in &all[..at] {
                assert_ne!(identity(*one), identity(*other), "{one} and {other}");
            }
        }
        assert_eq!(identity(peer("192.0.2.1:4300")), identity(peer("[::ffff:192.0.2.1]:4300")));
    }
}
