//! What a server writes down: its node log, and a replay of every match.
//!
//! The bytes come from [`backspin::record`]; here are the files. A disk that is full or gone stops
//! the recording, never the game.

pub(crate) mod file;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::error::Error;
use std::path::{Path, PathBuf};

use backspin::game::Game;
use backspin::record::{Recorded, ReplayWriter};
use backspin::room::Room;
use backspin::time::Time;
use backspin::wire::Name;
use backspin::wire::native::Role;
use tracing::{info, warn};

use crate::utc::{Utc, unix_ms};
use file::{Privacy, Sink};

/// Everything that is being written.
pub(super) struct Recording {
    log: Option<Sink>,
    matches: Option<Matches>,
    /// What is about to be written.
    bytes: Vec<u8>,
}

/// The replays of all rooms.
struct Matches {
    dir: PathBuf,
    /// By the room's number; one where nobody plays has none.
    open: BTreeMap<u32, (ReplayWriter, Sink)>,
}

impl Recording {
    /// Writes a log to one directory and replays to the other, where they are given. Both are
    /// made now, so that a mistake is told before anyone plays.
    pub(super) fn start(
        log_dir: Option<&Path>,
        match_dir: Option<&Path>,
    ) -> Result<Self, Box<dyn Error>> {
        for dir in [log_dir, match_dir].into_iter().flatten() {
            std::fs::create_dir_all(dir)
                .map_err(|error| format!("cannot record to {}: {error}", dir.display()))?;
        }
        let utc = Utc::from_unix_ms(unix_ms()).compact();
        let log = log_dir.map(|dir| Sink::create(dir, &utc, "bslog", Privacy::Secret));
        let log = log.transpose()?;
        if let Some(log) = &log {
            info!("everything is recorded in {}, which holds the server's secrets", log.path());
        }
        let matches = match_dir.map(|dir| Matches { dir: dir.into(), open: BTreeMap::new() });
        Ok(Recording { log, matches, bytes: Vec::new() })
    }

    /// Whether there is a log to be written.
    pub(super) fn has_log(&self) -> bool {
        self.log.is_some()
    }

    /// Writes what there is since the last turn.
    pub(super) fn keep<G: Game>(&mut self, now: Time, server: &mut Recorded<G>) {
        server.poll_log(now, &mut self.bytes);
        self.write_log(server);
        if let Some(matches) = &mut self.matches
            && let Err(error) = matches.keep(server.server_mut().rooms_mut(), &mut self.bytes)
        {
            warn!("matches are recorded no more: {error}");
            self.matches = None;
        }
    }

    /// Writes the rest.
    pub(super) fn finish<G: Game>(mut self, server: &mut Recorded<G>) {
        server.finish_log(&mut self.bytes);
        self.write_log(server);
        for (_, (writer, mut sink)) in self.matches.into_iter().flat_map(|all| all.open) {
            self.bytes.clear();
            writer.finish(&mut self.bytes);
            if let Err(error) = sink.write(&self.bytes) {
                warn!("a match is not recorded to its end: {error}");
            }
        }
    }

    fn write_log<G: Game>(&mut self, server: &mut Recorded<G>) {
        if let Some(log) = &mut self.log
            && let Err(error) = log.write(&self.bytes)
        {
            warn!("recording stops here, the game goes on: {error}");
            self.log = None;
            server.drop_log();
        }
        self.bytes.clear();
    }
}

impl Matches {
    fn keep<G: Game>(
        &mut self,
        rooms: &mut [Box<Room<G>>],
        bytes: &mut Vec<u8>,
    ) -> Result<(), Box<dyn Error>> {
        for room in &mut *rooms {
            let number = room.number();
            if !is_played(room) {
                continue;
            }
            let (writer, sink) = match self.open.entry(number) {
                Entry::Occupied(open) => open.into_mut(),
                Entry::Vacant(open) => open.insert(begin(&self.dir, room, number)?),
            };
            bytes.clear();
            writer.follow(room);
            writer.poll_bytes(bytes);
            sink.write(bytes)?;
        }
        // Where nobody plays any more, also because the room is closed.
        let is_on =
            |number: u32| rooms.iter().any(|room| room.number() == number && is_played(room));
        let over: Vec<u32> = self.open.keys().copied().filter(|&number| !is_on(number)).collect();
        for number in over {
            let Some((writer, mut sink)) = self.open.remove(&number) else { continue };
            bytes.clear();
            writer.finish(bytes);
            sink.write(bytes)?;
            info!("room {number}: the match is recorded in {}", sink.path());
        }
        bytes.clear();
        Ok(())
    }
}

/// A guest who is alone with bots counts from the first input on: HELLO can be forged, and files fill
/// the disk.
fn is_played<G: Game>(room: &Room<G>) -> bool {
    let is_real = |inputs: u64| room.bots().is_empty() || inputs > 0;
    room.members().any(|member| member.role == Role::Play && is_real(member.inputs))
}

/// A replay of what is played in a room from now on.
fn begin<G: Game>(
    dir: &Path,
    room: &Room<G>,
    number: u32,
) -> Result<(ReplayWriter, Sink), Box<dyn Error>> {
    let now = unix_ms();
    let stem = format!("{}-room{number}", Utc::from_unix_ms(now).compact());
    let sink = Sink::create(dir, &stem, "bsreplay", Privacy::Plain)?;
    let name = Name::new(&format!("room {number}"));
    Ok((ReplayWriter::new(room.game(), now, name), sink))
}
