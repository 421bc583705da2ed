//! The machine's IPv4 interfaces, and where a search for LAN hosts goes.
//!
//! A broadcast leaves through one interface, the default route's: with a VPN, or with two networks, that may
//! be the wrong
//! one. So a search goes out on each of them.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use backspin::node::Path;
use if_addrs::{IfAddr, Ifv4Addr};

/// An IPv4 address of this machine on a network that is up, loopback left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// What the system calls it.
    pub name: String,
    /// This machine's own address there.
    pub address: Ipv4Addr,
    /// What reaches everyone there; a line between two machines has none.
    pub broadcast: Option<Ipv4Addr>,
}

/// So many are searched through: a machine full of containers has more, and no LAN behind them.
pub const INTERFACE_LIMIT: usize = 64;

/// The interfaces that are up now. They change while a program runs: ask before each search.
pub fn interfaces() -> io::Result<Vec<Interface>> {
    Ok(if_addrs::get_if_addrs()?.into_iter().filter_map(Interface::new).collect())
}

/// Where a search goes: to everyone on each interface, from its own address; once as the system
/// thinks best, to 255.255.255.255; and to this machine itself.
///
/// The paths use the socket with the number `socket` and end at `port`.
pub fn search_paths(interfaces: &[Interface], socket: u8, port: u16) -> Vec<Path> {
    let path = |local: Option<Ipv4Addr>, remote: Ipv4Addr| Path {
        socket,
        local: local.map(IpAddr::V4),
        remote: SocketAddr::from((remote, port)).into(),
    };
    let here = Ipv4Addr::LOCALHOST;
    let mut paths = vec![path(None, Ipv4Addr::BROADCAST), path(Some(here), here)];
    let with_broadcast = interfaces.iter().filter_map(|it| Some((it.address, it.broadcast?)));
    paths.extend(
        with_broadcast
            .take(INTERFACE_LIMIT)
            .map(|(address, broadcast)| path(Some(address), broadcast)),
    );
    paths
}

impl Interface {
    fn new(found: if_addrs::Interface) -> Option<Self> {
        let line = found.is_p2p();
        match found.addr {
            IfAddr::V4(v4) if found.oper_status == if_addrs::IfOperStatus::Up => {
                let broadcast = if line { None } else { broadcast_of(&v4) };
                let interface = Interface { name: found.name, address: v4.ip, broadcast };
                (!v4.ip.is_loopback()).then_some(interface)
            }
            _ => None,
        }
    }
}

/// Addresses that were given by hand often come without their broadcast address; the mask tells it.
fn broadcast_of(v4: &Ifv4Addr) -> Option<Ipv4Addr> {
    let by_mask = || match v4.netmask.to_bits().count_ones() {
        // No mask was told, or no room for a broadcast is left.
        0 | 31 | 32 => None,
        _ => Some(Ipv4Addr::from_bits(v4.ip.to_bits() | !v4.netmask.to_bits())),
    };
    v4.broadcast.filter(|told| *told != v4.ip && !told.is_unspecified()).or_else(by_mask)
}

#[cfg(test)]
mod tests {
    use if_addrs::IfOperStatus;

    use super::*;

    fn found(ip: [u8; 4], netmask: [u8; 4], broadcast: Option<[u8; 4]>) -> if_addrs::Interface {
        if_addrs::Interface {
            name: "net0".to_owned(),
            addr: IfAddr::V4(Ifv4Addr {
                ip: ip.into(),
                netmask: netmask.into(),
                prefixlen: u32::from_be_bytes(netmask).count_ones() as u8,
                broadcast: broadcast.map(Ipv4Addr::from),
            }),
            index: Some(2),
            oper_status: IfOperStatus::Up,
            is_p2p: false,
            #[cfg(windows)]
            adapter_name: String::new(),
        }
    }

    const MASK: [u8; 4] = [255, 255, 255, 0];

    #[test]
    fn a_broadcast_address_is_what_was_told_or_follows_from_the_mask() {
        let broadcast = |found| Interface::new(found).unwrap().broadcast.map(|ip| ip.octets());
        let told = [10, 0, 3, 255];
        assert_eq!(broadcast(found([10, 0, 0, 7], MASK, Some(told))), Some(told));
        assert_eq!(broadcast(found([10, 0, 0, 7], MASK, None)), Some([10, 0, 0, 255]));
        assert_eq!(broadcast(found([10, 0, 0, 7], MASK, Some([10, 0, 0, 7]))).unwrap()[3], 255);
        assert_eq!(broadcast(found([10, 0, 0, 7], [255; 4], None)), None);
        assert_eq!(broadcast(found([10, 0, 0, 7], [255, 255, 255, 254], None)), None);
        assert_eq!(broadcast(found([10, 0, 0, 7], [0; 4], None)), None);
        let mut line = found([10, 0, 0, 7], MASK, Some(told));
        line.is_p2p = true;
        assert_eq!(broadcast(line), None);
    }

    #[test]
    fn what_is_down_and_the_loopback_are_left_out() {
        let mut down = found([10, 0, 0, 7], MASK, None);
        down.oper_status = IfOperStatus::Unknown;
        assert_eq!(Interface::new(down), None);
        assert_eq!(Interface::new(found([127, 0, 0, 1], [255, 0, 0, 0], None)), None);
    }

    #[test]
    fn a_search_goes_out_of_every_interface_and_stays_within_the_limit() {
        let interface = |n: u8| Interface {
            name: format!("net{n}"),
            address: Ipv4Addr::new(10, 0, n, 7),
            broadcast: (n > 0).then_some(Ipv4Addr::new(10, 0, n, 255)),
        };
        let paths = search_paths(&[interface(0), interface(1), interface(2)], 3, 54_000);
        let shown: Vec<_> = paths.iter().map(|path| (path.local, path.remote)).collect();
        let ip = |text: &str| Some(text.parse().unwrap());
        let to = |text: &str| backspin::peer::PeerAddr::socket(text.parse().unwrap());
        assert_eq!(
            shown,
            [
                (None, to("255.255.255.255:54000")),
                (ip("127.0.0.1"), to("127.0.0.1:54000")),
                (ip("10.0.1.7"), to("10.0.1.255:54000")),
                (ip("10.0.2.7"), to("10.0.2.255:54000")),
            ]
        );
        assert!(paths.iter().all(|path| path.socket == 3));
        let many: Vec<_> = (1..=INTERFACE_LIMIT as u8 + 1).map(interface).collect();
        assert_eq!(search_paths(&many[..INTERFACE_LIMIT], 0, 1).len(), 2 + INTERFACE_LIMIT);
        assert_eq!(search_paths(&many, 0, 1).len(), 2 + INTERFACE_LIMIT);
    }

    #[test]
    fn this_machine_tells_its_interfaces() {
        for interface in interfaces().unwrap() {
            assert!(!interface.address.is_loopback(), "{interface:?}");
            assert_ne!(interface.broadcast, Some(interface.address));
        }
    }
}
