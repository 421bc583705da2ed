//! What an operator reads on stderr.

use std::error::Error;
use std::io::{self, IsTerminal};

use backspin::game::{Game, PlayerId};
use backspin::room::{Room, RoomConfig, RoomEvent};
use backspin::server::Server;
use tracing::level_filters::LevelFilter;
use tracing::{info, trace, warn};

/// Where the level stands if the command line is silent about it.
const VARIABLE: &str = "BACKSPIN_LOG";

/// Starts to log at `level`, else at that of the environment, else at `info`.
pub(super) fn start(level: Option<LevelFilter>) -> Result<(), Box<dyn Error>> {
    let level = match (level, std::env::var(VARIABLE)) {
        (Some(level), _) => level,
        (None, Ok(text)) => parse(&text).map_err(|error| format!("{VARIABLE}: {error}"))?,
        (None, Err(_)) => LevelFilter::INFO,
    };
    let log = tracing_subscriber::fmt().with_writer(io::stderr).with_max_level(level);
    // A log that nobody reads any more must not stop the game.
    let log = log.log_internal_errors(false);
    log.with_ansi(io::stderr().is_terminal()).with_target(false).init();
    Ok(())
}

/// A level by its name.
pub(super) fn parse(text: &str) -> Result<LevelFilter, String> {
    text.parse().map_err(|_| format!("{text:?} is none of off, error, warn, info, debug and trace"))
}

/// Lines about inputs and snapshots that wait to be told, at the most.
const JOURNAL: usize = 1024;

/// A room that keeps lines about inputs and snapshots only if somebody reads them.
pub(super) fn room_config() -> RoomConfig {
    let journal = if tracing::enabled!(tracing::Level::TRACE) { JOURNAL } else { 0 };
    RoomConfig { journal, ..RoomConfig::default() }
}

/// Tells what happened in the rooms since this was called last.
pub(super) fn tell<G: Game>(server: &mut Server<G>) {
    server.rooms_mut().iter_mut().for_each(tell_room);
    while let Some(mut room) = server.poll_closed() {
        tell_room(&mut room);
        info!("room {}: closed, nobody is in it", room.number());
    }
}

fn tell_room<G: Game>(room: &mut Room<G>) {
    while let Some(event) = room.poll_event() {
        tell_event(room, room.number(), event);
    }
    while let Some(line) = room.poll_line() {
        trace!("{line}");
    }
}

fn tell_event<G: Game>(room: &Room<G>, number: u32, event: RoomEvent) {
    match event {
        RoomEvent::Joined(player, name) => {
            let from = whereabouts(room, player);
            info!("room {number}: {player} joined as {name}{from}");
        }
        RoomEvent::Quiet(player) => warn!("room {number}: {player} is quiet"),
        RoomEvent::Heard(player) => info!("room {number}: {player} is heard again"),
        RoomEvent::Dropped(player) => {
            warn!(
                "room {number}: {player} was silent for too long and is dropped; the place is kept"
            );
        }
        RoomEvent::Resumed(player, path) => {
            info!("room {number}: {player} is back from {}", path.remote);
        }
        RoomEvent::Left(player) => info!("room {number}: {player} left"),
        RoomEvent::Freed(player) => info!("room {number}: the place of {player} is free"),
        RoomEvent::HighLatency(player, ms) => {
            warn!("room {number}: {player} has a round trip of {ms} ms");
        }
    }
}

/// From where, if the player has not gone again.
fn whereabouts<G: Game>(room: &Room<G>, player: PlayerId) -> String {
    let member = room.members().find(|member| member.player == player);
    member.map(|member| format!(" from {}", member.path.remote)).unwrap_or_default()
}
