//! The bots' addresses: a server limits the players per address.

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use backspin_udp::Socket;

/// Whose socket a bot speaks through.
pub(super) enum Source {
    /// Each has one of its own, by its place.
    Own { home: Home, sockets: Vec<Option<Socket>> },
    /// Several share one, each at an address of the loopback range of its own: many datagrams
    /// go in one call.
    Shared(Shared),
}

/// The address that a bot's own socket is bound to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Home {
    /// Whatever the system chooses.
    Any(IpAddr),
    /// One of the loopback range, in turn.
    Loopback,
}

/// Sockets that several bots share.
pub(super) struct Shared {
    sockets: Vec<Socket>,
    /// The bot at each address of the loopback range.
    places: Vec<Option<usize>>,
    /// Where each bot is, by its place.
    addresses: Vec<Option<usize>>,
    /// The address that is given out next.
    next: usize,
}

/// How a bot's datagrams leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exit {
    /// Which of [`Source::sockets`].
    pub(super) socket: u8,
    pub(super) local: Option<IpAddr>,
}

/// How many bots share a socket: its buffer must hold a few ticks of what the server sends them.
const BOTS_PER_SOCKET: usize = 64;

/// The first address of the loopback range that bots come from, 127.0.1.0, and how many there are.
/// One that a bot has left is not used again until all others were: for a while the server still
/// sends there.
const FIRST_ADDRESS: u32 = 0x7f00_0100;
const ADDRESSES: usize = 1 << 15;

const _: () = assert!(ADDRESSES >= 2 * super::CLIENT_LIMIT as usize);
const _: () = assert!(super::CLIENT_LIMIT as usize <= BOTS_PER_SOCKET << u8::BITS);

impl Source {
    /// For this many bots that join a server at `target`.
    pub(super) fn towards(target: IpAddr, bots: usize) -> Result<Self, Box<dyn Error>> {
        let home = match target {
            IpAddr::V4(ip) if ip.is_loopback() => Home::Loopback,
            IpAddr::V4(_) => Home::Any(Ipv4Addr::UNSPECIFIED.into()),
            IpAddr::V6(_) => Home::Any(Ipv6Addr::UNSPECIFIED.into()),
        };
        if matches!(home, Home::Loopback)
            && let Some(shared) = Shared::open(bots)?
        {
            return Ok(Source::Shared(shared));
        }
        allow_sockets(bots)?;
        Ok(Source::Own { home, sockets: (0..bots).map(|_| None).collect() })
    }

    /// The bot at `place` is another: it comes from elsewhere.
    pub(super) fn renew(&mut self, place: usize) -> Result<(), Box<dyn Error>> {
        match self {
            Source::Own { home, sockets } => {
                sockets[place] = Some(Socket::bind(SocketAddr::new(home.ip(place), 0))?);
            }
            Source::Shared(shared) => shared.renew(place),
        }
        Ok(())
    }

    /// The sockets to watch from the start, each by its name.
    pub(super) fn shared(&mut self) -> impl Iterator<Item = (usize, &mut Socket)> {
        let sockets = match self {
            Source::Own { .. } => &mut [],
            Source::Shared(shared) => &mut shared.sockets[..],
        };
        sockets.iter_mut().enumerate()
    }

    /// The socket to watch for the bot at `place`, if it has one for itself; its name is the place.
    pub(super) fn own(&mut self, place: usize) -> Option<&mut Socket> {
        match self {
            Source::Own { sockets, .. } => sockets[place].as_mut(),
            Source::Shared(_) => None,
        }
    }

    /// The socket of this name.
    pub(super) fn socket(&self, name: usize) -> Option<&Socket> {
        match self {
            Source::Own { sockets, .. } => sockets.get(name)?.as_ref(),
            Source::Shared(shared) => shared.sockets.get(name),
        }
    }

    /// The bot that a datagram is for, by the name of the socket and the address it came to.
    pub(super) fn place_at(&self, name: usize, local: Option<IpAddr>) -> Option<usize> {
        match self {
            Source::Own { .. } => Some(name),
            Source::Shared(shared) => {
                let Some(IpAddr::V4(ip)) = local else { return None };
                let address = u32::from(ip).checked_sub(FIRST_ADDRESS)?;
                let place = (*shared.places.get(address as usize)?)?;
                (place / BOTS_PER_SOCKET == name).then_some(place)
            }
        }
    }

    /// How the datagrams of the bot at `place` leave.
    pub(super) fn exit(&self, place: usize) -> Exit {
        match self {
            Source::Own { .. } => Exit { socket: 0, local: None },
            Source::Shared(shared) => Exit {
                socket: (place / BOTS_PER_SOCKET) as u8,
                local: shared.addresses[place].map(|address| loopback(address).into()),
            },
        }
    }

    /// The sockets that the exit of the bot at `place` speaks of, and of whom else.
    pub(super) fn sockets(&self, place: usize) -> &[Socket] {
        match self {
            Source::Own { sockets, .. } => sockets[place].as_slice(),
            Source::Shared(shared) => &shared.sockets,
        }
    }

    /// Whether what several bots say can be sent together.
    pub(super) fn is_shared(&self) -> bool {
        matches!(self, Source::Shared(_))
    }
}

impl Home {
    fn ip(self, place: usize) -> IpAddr {
        match self {
            Home::Any(ip) => ip,
            Home::Loopback => loopback(place).into(),
        }
    }
}

impl Shared {
    /// For this many bots; `None` if the system does not report local addresses.
    fn open(bots: usize) -> Result<Option<Self>, Box<dyn Error>> {
        let mut sockets = Vec::new();
        for _ in 0..bots.div_ceil(BOTS_PER_SOCKET) {
            let socket = Socket::bind(SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), 0))?;
            if !socket.tells_addresses() {
                return Ok(None);
            }
            sockets.push(socket);
        }
        let (places, addresses) = (vec![None; ADDRESSES], vec![None; bots]);
        Ok(Some(Shared { sockets, places, addresses, next: 0 }))
    }

    fn renew(&mut self, place: usize) {
        // There are twice as many as bots.
        while self.places[self.next].is_some() {
            self.next = (self.next + 1) % ADDRESSES;
        }
        if let Some(left) = self.addresses[place].replace(self.next) {
            self.places[left] = None;
        }
        self.places[self.next] = Some(place);
        self.next = (self.next + 1) % ADDRESSES;
    }
}

/// An address of the loopback range.
fn loopback(address: usize) -> Ipv4Addr {
    Ipv4Addr::from(FIRST_ADDRESS + address as u32)
}

/// Files besides the bots' sockets.
#[cfg(unix)]
const OTHER_FILES: u64 = 64;

/// Sees to it that so many sockets can be open; systems commonly give a program 1,024 files unless
/// it asks for more.
#[cfg(unix)]
fn allow_sockets(count: usize) -> Result<(), Box<dyn Error>> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let needed = count as u64 + OTHER_FILES;
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_none_or(|current| current >= needed) {
        return Ok(());
    }
    if maximum.is_some_and(|maximum| maximum < needed) {
        let most = maximum.unwrap_or(0);
        return Err(format!(
            "the system allows {most} open files, and {count} bots need {needed}; use fewer bots \
             or raise the limit with ulimit -n"
        )
        .into());
    }
    setrlimit(Resource::Nofile, Rlimit { current: Some(needed), maximum })?;
    Ok(())
}

#[cfg(not(unix))]
fn allow_sockets(_count: usize) -> Result<(), Box<dyn Error>> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bot_has_an_address_and_a_new_one_has_another() {
        let mut source = Source::towards(Ipv4Addr::LOCALHOST.into(), 130).unwrap();
        if !source.is_shared() {
            return; // No such system calls here.
        }
        (0..130).for_each(|place| source.renew(place).unwrap());
        let before = source.exit(129);
        assert_eq!(before, Exit { socket: 2, local: Some(Ipv4Addr::new(127, 0, 1, 129).into()) });
        assert_eq!(source.place_at(2, before.local), Some(129));
        source.renew(129).unwrap();
        let after = source.exit(129);
        assert_eq!(after.local, Some(Ipv4Addr::new(127, 0, 1, 130).into()));
        assert_eq!(source.place_at(2, after.local), Some(129));
        // What still comes for the one that went is for nobody, and so is what comes to a socket
        // or an address that is no bot's.
        assert_eq!(source.place_at(2, before.local), None);
        assert_eq!(source.place_at(1, after.local), None);
        assert_eq!(source.place_at(2, Some(Ipv4Addr::LOCALHOST.into())), None);
        assert_eq!(source.place_at(2, None), None);
    }

    #[test]
    fn an_address_is_used_again_when_all_others_were() {
        let mut source = Source::towards(Ipv4Addr::LOCALHOST.into(), 3).unwrap();
        if !source.is_shared() {
            return; // No such system calls here.
        }
        (0..3).for_each(|place| source.renew(place).unwrap());
        (0..ADDRESSES - 3).for_each(|_| source.renew(2).unwrap());
        // Those of the first two are taken.
        source.renew(2).unwrap();
        assert_eq!(source.exit(2).local, Some(Ipv4Addr::new(127, 0, 1, 2).into()));
        assert_eq!(source.exit(1).local, Some(Ipv4Addr::new(127, 0, 1, 1).into()));
    }
}
