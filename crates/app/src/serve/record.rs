//! Recordings of a server: its node log, and a replay of every match.
//!
//! The bytes come from [`backspin_record`], `scribe` is the thread that writes them, `file` the files. A disk
//! that is slow,
//! full or gone ends a recording, never the game. A new one starts when the disk has caught up: a replay at
//! once, a node
//! log when the server is empty, because it replays from an empty server. Then the server itself is replaced
//! by a new one
//! with the same bans.

pub(crate) mod file;
pub(crate) mod scribe;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use backspin::game::Game;
use backspin::room::Room;
use backspin::time::Time;
use backspin::wire::Name;
use backspin::wire::native::Role;
use backspin_record::{Recorded, ReplayWriter};
use tracing::{info, warn};

use crate::utc::{Utc, unix_ms};
use file::Sink;
use scribe::{NewFile, Over, Scribe, Track};

/// Bytes of a node log that wait to be written, at the most: two minutes of fifty players, six
/// seconds of a thousand.
const LOG_LIMIT: usize = 16 << 20;

/// The same of all replays together.
const MATCH_LIMIT: usize = 16 << 20;

/// After replays had to end, others begin no sooner than this; twice that if they end again.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// And no later than this.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// Everything that is being written.
pub(super) struct Recording {
    log: Option<NodeLog>,
    matches: Option<Matches>,
    /// What is about to be written.
    bytes: Vec<u8>,
}

struct NodeLog {
    dir: PathBuf,
    scribe: Scribe,
    /// None after it had to end.
    track: Option<Track>,
    pause: Pause,
}

/// The replays of all rooms.
struct Matches {
    dir: PathBuf,
    scribe: Scribe,
    /// By the room's number; one where nobody plays has none.
    open: BTreeMap<u32, (ReplayWriter, Track)>,
    pause: Pause,
}

/// When recordings may begin that had to end.
#[derive(Debug, Default)]
struct Pause {
    until: Time,
    length: Duration,
}

impl Pause {
    fn is_over(&self, now: Time) -> bool {
        now >= self.until
    }

    /// They had to end again.
    fn begin(&mut self, now: Time) {
        // What happened long ago does not count.
        let is_new = now > self.until + LONGEST_PAUSE;
        let length = if is_new { Duration::ZERO } else { self.length * 2 };
        self.length = length.clamp(FIRST_PAUSE, LONGEST_PAUSE);
        self.until = now + self.length;
    }
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
        let log = log_dir.map(NodeLog::start).transpose()?;
        let matches = match_dir.map(Matches::start).transpose()?;
        Ok(Recording { log, matches, bytes: Vec::new() })
    }

    /// Whether a log is being written.
    pub(super) fn has_log(&self) -> bool {
        self.log.as_ref().is_some_and(|log| log.track.is_some())
    }

    /// Whether a log had to end and another can begin, with a server that has no past.
    pub(super) fn may_begin_log(&self, now: Time) -> bool {
        self.log.as_ref().is_some_and(|log| {
            log.track.is_none() && log.pause.is_over(now) && log.scribe.has_room()
        })
    }

    /// Begins a log in a new file.
    pub(super) fn begin_log(&mut self) {
        let Some(log) = &mut self.log else { return };
        log.track = Some(log.scribe.begin(NewFile {
            dir: log.dir.clone(),
            stem: Utc::from_unix_ms(unix_ms()).compact(),
            extension: "bslog",
            praise: "everything since the disk caught up is in".into(),
        }));
        info!("recording everything again, starting with an empty server");
    }

    /// Has written what there is since the last turn, and waits for nothing.
    pub(super) fn keep<G: Game>(&mut self, now: Time, server: &mut Recorded<G>) {
        if let Some(NodeLog { scribe, track, pause, .. }) = &mut self.log
            && let Some(open) = track
        {
            server.poll_log(now, &mut self.bytes);
            if let Err(over) = scribe.write(open, &mut self.bytes) {
                if over == Over::Behind {
                    warn!("recording stopped, the game continues: the disk is too slow");
                }
                warn!(
                    "the next node log starts when the disk has caught up and the server is empty"
                );
                track.take().into_iter().for_each(|track| scribe.abandon(track));
                pause.begin(now);
                server.drop_log();
            }
            self.bytes.clear();
        }
        if let Some(matches) = &mut self.matches {
            matches.keep(now, server.server_mut().rooms_mut(), &mut self.bytes);
        }
    }

    /// Has the rest written, and waits for it until a time at the latest.
    pub(super) fn finish<G: Game>(mut self, server: &mut Recorded<G>, until: Instant) {
        if let Some(NodeLog { scribe, track, .. }) = self.log {
            server.finish_log(&mut self.bytes);
            if let Some(track) = track {
                if scribe.write(&track, &mut self.bytes).is_err() {
                    warn!("the node log is missing its end");
                }
                scribe.end(track);
            }
            scribe.finish(until);
        }
        if let Some(mut matches) = self.matches {
            let numbers: Vec<u32> = matches.open.keys().copied().collect();
            numbers.into_iter().for_each(|number| matches.end(number, &mut self.bytes));
            matches.scribe.finish(until);
        }
    }
}

impl NodeLog {
    fn start(dir: &Path) -> Result<Self, Box<dyn Error>> {
        let utc = Utc::from_unix_ms(unix_ms()).compact();
        let sink = Sink::create(dir, &utc, "bslog")?;
        info!("recording everything in {}, which contains the server's secrets", sink.path());
        let mut scribe = Scribe::start("node log", LOG_LIMIT)?;
        let track = Some(scribe.adopt(sink));
        Ok(NodeLog { dir: dir.to_owned(), scribe, track, pause: Pause::default() })
    }
}

impl Matches {
    fn start(dir: &Path) -> Result<Self, Box<dyn Error>> {
        let (dir, scribe) = (dir.to_owned(), Scribe::start("replays", MATCH_LIMIT)?);
        Ok(Matches { dir, scribe, open: BTreeMap::new(), pause: Pause::default() })
    }

    fn keep<G: Game>(&mut self, now: Time, rooms: &mut [Box<Room<G>>], bytes: &mut Vec<u8>) {
        let may_begin = self.pause.is_over(now) && self.scribe.has_room();
        for room in &mut *rooms {
            let number = room.number();
            if !is_played(room) {
                continue;
            }
            if !self.open.contains_key(&number) {
                if !may_begin {
                    continue;
                }
                let begun = begin(&mut self.scribe, &self.dir, room);
                self.open.insert(number, begun);
            }
            let Some((writer, track)) = self.open.get_mut(&number) else { continue };
            bytes.clear();
            writer.follow(room);
            writer.poll_bytes(bytes);
            match self.scribe.write(track, bytes) {
                Ok(()) => {}
                Err(Over::Failed) => self.fail(now, number),
                Err(Over::Behind) => return self.fall_behind(now),
            }
        }
        // Where nobody plays any more, also because the room is closed.
        let is_on =
            |number: u32| rooms.iter().any(|room| room.number() == number && is_played(room));
        let over: Vec<u32> = self.open.keys().copied().filter(|&number| !is_on(number)).collect();
        for number in over {
            self.end(number, bytes);
        }
    }

    /// What is played in a room has come to its end.
    fn end(&mut self, number: u32, bytes: &mut Vec<u8>) {
        let Some((writer, track)) = self.open.remove(&number) else { return };
        if writer.left_out() > 0 {
            let events = writer.left_out();
            warn!(
                "room {number}: the recording of the match lacks {events} events: too many in a tick"
            );
        }
        bytes.clear();
        writer.finish(bytes);
        if self.scribe.write(&track, bytes).is_err() {
            warn!("room {number}: the recording of the match is missing its end");
            return self.scribe.abandon(track);
        }
        self.scribe.end(track);
    }

    /// A file cannot be written, as was told.
    fn fail(&mut self, now: Time, number: u32) {
        if let Some((_, track)) = self.open.remove(&number) {
            self.scribe.abandon(track);
        }
        self.pause.begin(now);
    }

    /// The disk does not keep up: nothing more is written of what is open.
    fn fall_behind(&mut self, now: Time) {
        let count = self.open.len();
        warn!(
            "the disk is too slow: {count} match recordings end here; new ones start when it has \
             caught up"
        );
        for (_, (_, track)) in std::mem::take(&mut self.open) {
            self.scribe.abandon(track);
        }
        self.pause.begin(now);
    }
}

/// A guest alone with bots counts from the first input on: HELLO can be forged, and files fill
/// the disk.
fn is_played<G: Game>(room: &Room<G>) -> bool {
    let is_real = |inputs: u64| room.bots().is_empty() || inputs > 0;
    room.members().any(|member| member.role == Role::Play && is_real(member.inputs))
}

/// A replay of what is played in a room from now on.
fn begin<G: Game>(scribe: &mut Scribe, dir: &Path, room: &Room<G>) -> (ReplayWriter, Track) {
    let (now, number) = (unix_ms(), room.number());
    let track = scribe.begin(NewFile {
        dir: dir.to_owned(),
        stem: format!("{}-room{number}", Utc::from_unix_ms(now).compact()),
        extension: "bsreplay",
        praise: format!("room {number}: the match is recorded in"),
    });
    let name = Name::new(&format!("room {number}"));
    (ReplayWriter::new(room.game(), now, name), track)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_up_to_a_limit_and_what_is_long_ago_is_forgotten() {
        let (mut pause, mut now) = (Pause::default(), Time::from_millis(100_000));
        let seconds = [(); 8].map(|()| {
            pause.begin(now);
            assert!(!pause.is_over(now) && pause.is_over(now + pause.length));
            now = pause.until;
            pause.length.as_secs()
        });
        assert_eq!(seconds, [1, 2, 4, 8, 16, 32, 60, 60]);
        pause.begin(now + LONGEST_PAUSE + Duration::from_secs(1));
        assert_eq!(pause.length, FIRST_PAUSE);
    }
}
