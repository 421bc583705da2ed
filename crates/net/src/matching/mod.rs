//! Matchmaking by latency: who plays with whom, and on which of several servers.
//!
//! ```text
//! key         what servers and their matchmaker share, and the seals that it makes
//! witness     a game server measures a round trip and seals it, keeping nothing
//! prober      who asks a server for that
//! placing     who is put together, so that the longest round trip in a room is the shortest
//! matchmaker  the node that players ask
//! seeker      the player's end
//! ```
//!
//! A player cannot claim a round trip that is shorter than its own: a server measures it from a stamp
//! that only comes back after the way there and back, and seals what it has measured.
//! The packets are in [`crate::wire::native`], PROTOCOL.md has them in section 5.15.

mod key;
mod matchmaker;
mod placing;
mod prober;
mod seeker;
mod witness;

pub use key::MatchKey;
pub use matchmaker::{
    FORGET_AFTER, MatchCounts, MatchEvent, MatchLimits, Matchmaker, MatchmakerConfig, PRESENT_FOR,
    READY_FOR, ROUND_EVERY,
};
pub use placing::{
    ACCEPTS_AT_ONCE, ACCEPTS_MORE_PER_S, Candidate, Group, ROOMS_PER_ROUND, WAIT_MOST, place,
};
pub use seeker::{SeekStatus, Seeker};
pub(crate) use witness::Witness;

use std::net::SocketAddr;

use crate::node::Path;

/// Which of a driver's sockets is for which kind of address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Families {
    /// For IPv4, if there is one.
    pub v4: Option<u8>,
    /// For IPv6, if there is one.
    pub v6: Option<u8>,
}

impl Families {
    /// The way to `remote`; `None` where there is no socket of its kind.
    pub fn path(self, remote: SocketAddr) -> Option<Path> {
        let socket = if remote.is_ipv4() { self.v4 } else { self.v6 };
        socket.map(|socket| Path { socket, ..Path::to(remote) })
    }
}
