//! The rooms of servers, and the best of them.

use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use backspin::client::{ListStatus, RoomPick, Rooms, ServerRooms};
use backspin::game::GameId;
use backspin::session::EndReason;
use backspin::wire::Name;
use backspin::wire::native::DEFAULT_PORT;
use backspin_udp::{Loop, Socket};

use super::{Address, NodeThread};
use crate::games::AppGame;
use crate::seed;

/// How long to wait for the others once one has answered.
const PATIENCE: Duration = Duration::from_millis(1_500);

/// How often the list is looked at.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Asks servers for their rooms until it is dropped.
pub(crate) struct RoomSearch {
    /// One for IPv4 and one for IPv6, as far as there are servers.
    nodes: Vec<NodeThread<Rooms>>,
    began: Instant,
}

impl RoomSearch {
    pub(crate) fn start(game: GameId, servers: &[SocketAddr]) -> Result<Self, Box<dyn Error>> {
        let mut nodes = Vec::new();
        for is_ipv4 in [true, false] {
            let of_kind = servers.iter().filter(|server| server.is_ipv4() == is_ipv4);
            let servers: Vec<SocketAddr> = of_kind.copied().collect();
            let Some(first) = servers.first() else { continue };
            let driver = Loop::new(vec![Socket::towards(first.ip())?])?;
            let rooms = Rooms::new(driver.now(), game, &servers, seed::secret()?);
            nodes.push(NodeThread::new(driver, rooms)?);
        }
        Ok(RoomSearch { nodes, began: Instant::now() })
    }

    /// Why it has ended by itself, if it has.
    pub(crate) fn failure(&mut self) -> Option<io::Error> {
        self.nodes.iter_mut().find_map(NodeThread::failure)
    }

    /// What is known of each server.
    pub(crate) fn servers(&self) -> Vec<ServerRooms> {
        self.nodes
            .iter()
            .flat_map(|node| node.seat().servers().cloned().collect::<Vec<_>>())
            .collect()
    }

    /// Whether everyone has answered, or someone has and the others took their time.
    pub(crate) fn is_settled(&self) -> bool {
        let has_answer = self.servers().iter().any(|server| server.status == ListStatus::Listed);
        self.nodes.iter().all(|node| node.seat().is_settled())
            || (has_answer && self.began.elapsed() > PATIENCE)
            || self.matchmaker().is_some()
    }

    /// The first of them that is a matchmaker.
    pub(super) fn matchmaker(&self) -> Option<SocketAddr> {
        let is_one =
            |server: &ServerRooms| server.status == ListStatus::Failed(EndReason::Matchmaker);
        self.servers().into_iter().find(is_one).and_then(|server| server.address.socket_addr())
    }

    /// The best room that anyone may enter; the nearer of two.
    pub(super) fn best(&self) -> Option<RoomPick> {
        self.nodes.iter().filter_map(|node| node.seat().best()).min_by_key(|pick| pick.ping)
    }

    pub(super) fn named(&self, name: Name) -> Option<RoomPick> {
        self.nodes.iter().filter_map(|node| node.seat().named(name)).min_by_key(|pick| pick.ping)
    }

    /// Waits for the answers, as long as they are `wanted`.
    pub(super) fn settle(&mut self, wanted: impl Fn() -> bool) -> Result<(), Box<dyn Error>> {
        while !self.is_settled() && wanted() {
            if let Some(error) = self.failure() {
                return Err(error.into());
            }
            std::thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }
}

/// The number of the room that is called so at `server`.
pub(super) fn find_room<G: AppGame>(
    game: &G,
    server: SocketAddr,
    name: Name,
) -> Result<u32, Box<dyn Error>> {
    let mut search = RoomSearch::start(game.id(), &[server])?;
    search.settle(|| true)?;
    if let Some(pick) = search.named(name) {
        return Ok(pick.room.room);
    }
    for known in search.servers() {
        if let ListStatus::Failed(reason) = known.status {
            return Err(reason.to_string().into());
        }
        let names: Vec<_> = known.rooms.iter().map(|room| format!("\"{}\"", room.name)).collect();
        if !names.is_empty() {
            let names = names.join(", ");
            return Err(format!("{server} has no room \"{name}\"; it has {names}").into());
        }
    }
    Err(format!("{server} has no room \"{name}\", and no other room for this game").into())
}

/// Where a server speaks `native`.
pub(crate) fn at_native(text: &str) -> Result<SocketAddr, Box<dyn Error>> {
    let address = Address::parse(text)?;
    Ok(SocketAddr::new(address.resolve()?, address.port().unwrap_or(DEFAULT_PORT)))
}
