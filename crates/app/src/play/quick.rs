//! A room among several servers: the one that a matchmaker chooses, or the nearest.

use std::error::Error;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::{Duration, Instant};

use backspin::client::{ListStatus, RoomPick, ServerRooms};
use backspin::matching::{Families, SeekStatus, Seeker};
use backspin::wire::native::Matched;
use backspin_classic::Dialect;
use backspin_udp::{Loop, Socket};

use super::rooms::LOOK_EVERY;
use super::{Guest, NodeThread, Opened, RoomSearch, RoomWish, at_native, sit};
use crate::games::AppGame;
use crate::seed;

/// Matched players try to create the room one after the other, this long apart, if nobody has: a list of
/// rooms is at most two seconds old.
const MAKE_AFTER: Duration = Duration::from_secs(4);

/// What is heard on the way to a room.
pub(crate) enum QuickNews<'a> {
    /// What one server has.
    Server(&'a ServerRooms),
    /// The best room of them.
    Picked(&'a RoomPick),
    /// So many wait at the matchmaker.
    Waiting(u16),
    /// Where the matchmaker sends the player.
    Matched(&'a Matched),
}

/// A place in a room of one of `addresses`. If one is a matchmaker, where it says; else in the nearest
/// room with a free place, the fuller of those that are as near. `tell` hears of it. Nothing as soon as
/// it is no longer `wanted`: the matchmaker is told, and no place is taken.
pub(crate) fn quick<G: AppGame>(
    game: G,
    guest: &Guest,
    addresses: &[String],
    wanted: impl Fn() -> bool,
    mut tell: impl FnMut(QuickNews<'_>) -> io::Result<()>,
) -> Result<Option<Opened<G>>, Box<dyn Error>> {
    let mut servers = Vec::new();
    for text in addresses {
        servers.push(at_native(text)?);
    }
    let mut search = RoomSearch::start(game.id(), &servers)?;
    search.settle(&wanted)?;
    if !wanted() {
        return Ok(None);
    }
    if let Some(matchmaker) = search.matchmaker() {
        drop(search);
        let Some(matched) = seek(&game, matchmaker, &wanted, &mut tell)? else { return Ok(None) };
        tell(QuickNews::Matched(&matched))?;
        return meet(game, guest, &matched, &wanted);
    }
    let (known, best) = (search.servers(), search.best());
    known.iter().try_for_each(|server| tell(QuickNews::Server(server)))?;
    let Some(pick) = best else {
        return Err(no_room(&known).into());
    };
    tell(QuickNews::Picked(&pick))?;
    let server = pick.server.socket_addr().ok_or("the server has no socket address")?;
    let guest = Guest { room: RoomWish::Number(pick.room.room), ..guest.clone() };
    sit(game, &guest, server, Dialect::Native, None).map(Some)
}

/// Why there is nowhere to go.
fn no_room(servers: &[ServerRooms]) -> String {
    let why = |server: &ServerRooms| match server.status {
        ListStatus::Failed(reason) => reason.to_string(),
        _ if server.rooms.is_empty() => format!("{} has no rooms for this game", server.address),
        _ => format!("every room on {} is full, locked or already playing", server.address),
    };
    let all: Vec<_> = servers.iter().map(why).collect();
    format!("no room has a free slot: {}", all.join("; "))
}

/// Waits until the matchmaker has found others, or has given up.
fn seek<G: AppGame>(
    game: &G,
    matchmaker: SocketAddr,
    wanted: &impl Fn() -> bool,
    tell: &mut impl FnMut(QuickNews<'_>) -> io::Result<()>,
) -> Result<Option<Matched>, Box<dyn Error>> {
    let v4 = Socket::bind((Ipv4Addr::UNSPECIFIED, 0).into())?;
    // A machine without IPv6 plays where there is IPv4.
    let v6 = Socket::bind((Ipv6Addr::UNSPECIFIED, 0).into()).ok();
    let families = Families { v4: Some(0), v6: v6.as_ref().map(|_| 1) };
    let driver = Loop::new([v4].into_iter().chain(v6).collect())?;
    let seeker = Seeker::new(driver.now(), game.id(), matchmaker, families, seed::secret()?);
    let none = "the matchmaker is only reachable over IPv6, which this machine does not have";
    let seeker = seeker.ok_or(none)?;
    let mut node = NodeThread::new(driver, seeker)?;
    let mut told = None;
    loop {
        if let Some(error) = node.failure() {
            return Err(error.into());
        }
        if !wanted() {
            node.seat().leave();
            return Ok(None);
        }
        let status = node.seat().status();
        match status {
            SeekStatus::Asking => {}
            SeekStatus::Waiting(players) if told.replace(players) == Some(players) => {}
            SeekStatus::Waiting(players) => tell(QuickNews::Waiting(players))?,
            SeekStatus::Matched(matched) => return Ok(Some(matched)),
            SeekStatus::Failed(reason) => return Err(reason.to_string().into()),
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// A place in the room that a matchmaker has named: whoever finds it enters it, and the first makes it.
fn meet<G: AppGame>(
    game: G,
    guest: &Guest,
    matched: &Matched,
    wanted: &impl Fn() -> bool,
) -> Result<Option<Opened<G>>, Box<dyn Error>> {
    let server = matched.server.socket_addr();
    let into = |room| Guest { room, password: matched.password, ..guest.clone() };
    if matched.room_name.is_empty() {
        return sit(game, &into(RoomWish::Any), server, Dialect::Native, None).map(Some);
    }
    let mut search = RoomSearch::start(game.id(), &[server])?;
    let began = Instant::now();
    let wait = MAKE_AFTER * matched.seat.into();
    while began.elapsed() < wait {
        if let Some(error) = search.failure() {
            return Err(error.into());
        }
        if let Some(pick) = search.named(matched.room_name) {
            let guest = into(RoomWish::Number(pick.room.room));
            return sit(game, &guest, server, Dialect::Native, None).map(Some);
        }
        if !wanted() {
            return Ok(None);
        }
        for known in search.servers() {
            if let ListStatus::Failed(reason) = known.status {
                return Err(reason.to_string().into());
            }
        }
        std::thread::sleep(LOOK_EVERY);
    }
    sit(game, &into(RoomWish::New(matched.room_name)), server, Dialect::Native, None).map(Some)
}
