//! Where bots come from: a server takes only so many players from one address.

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use backspin_udp::{BindError, Socket};

/// The addresses that bots come from, in turn.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source {
    /// Whatever the system chooses.
    Any(IpAddr),
    /// The loopback range, from 127.0.1.0 on.
    Loopback,
}

/// So many addresses of the loopback range are used: with the usual 64 sessions for an address,
/// enough for the most bots there can be.
const LOOPBACK_ADDRESSES: usize = 512;

impl Source {
    /// For a server at `target`.
    pub(super) fn towards(target: IpAddr) -> Self {
        match target {
            IpAddr::V4(ip) if ip.is_loopback() => Source::Loopback,
            IpAddr::V4(_) => Source::Any(Ipv4Addr::UNSPECIFIED.into()),
            IpAddr::V6(_) => Source::Any(Ipv6Addr::UNSPECIFIED.into()),
        }
    }

    /// A socket for the bot at `place`.
    pub(super) fn open(self, place: usize) -> Result<Socket, BindError> {
        let ip = match self {
            Source::Any(ip) => ip,
            Source::Loopback => {
                let [high, low] = ((place % LOOPBACK_ADDRESSES) as u16).to_be_bytes();
                Ipv4Addr::new(127, 0, 1 + high, low).into()
            }
        };
        Socket::bind(SocketAddr::new(ip, 0))
    }
}

/// Files besides the bots' sockets.
#[cfg(unix)]
const OTHER_FILES: u64 = 64;

/// Sees to it that so many sockets can be open; systems commonly give a program 1,024 files unless
/// it asks for more.
#[cfg(unix)]
pub(super) fn allow_sockets(count: usize) -> Result<(), Box<dyn Error>> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let needed = count as u64 + OTHER_FILES;
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_none_or(|current| current >= needed) {
        return Ok(());
    }
    if maximum.is_some_and(|maximum| maximum < needed) {
        let most = maximum.unwrap_or(0);
        return Err(format!(
            "the system allows {most} open files, and {count} bots need {needed}; take fewer \
             bots or raise the limit with ulimit -n"
        )
        .into());
    }
    setrlimit(Resource::Nofile, Rlimit { current: Some(needed), maximum })?;
    Ok(())
}

#[cfg(not(unix))]
pub(super) fn allow_sockets(_count: usize) -> Result<(), Box<dyn Error>> {
    Ok(())
}
