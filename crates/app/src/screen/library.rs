//! The recorded matches, in the platform's data folder.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use backspin::game::Game;
use backspin::replication::State;
use backspin_record::replay::{Player, ReplayHeader, ReplayWriter};

use super::{Cell, List, Row, Tone};
use crate::folders;
use crate::games::Title;
use crate::serve::record::scribe::{NewFile, Over, Scribe, Track};
use crate::utc::{Utc, unix_ms};

/// How many are listed, newest first.
const LIST_LIMIT: usize = 100;

/// A header is shorter.
const HEAD_LEN: u64 = 4096;

/// Where they are; nowhere on a machine without a home.
#[derive(Clone, Debug)]
pub(crate) struct Library(Option<PathBuf>);

/// A recorded match.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) path: PathBuf,
    title: Title,
    when: Utc,
    room: String,
    len: u64,
}

impl Library {
    /// The platform's usual place.
    pub(crate) fn usual() -> Self {
        Library(folders::data().map(|folder| folder.join("replays")))
    }

    #[cfg(test)]
    pub(crate) fn at(path: PathBuf) -> Self {
        Library(Some(path))
    }

    pub(super) fn folder(&self) -> Option<&Path> {
        self.0.as_deref()
    }

    /// What there is, the newest first. What is no replay is left out.
    pub(super) fn list(&self) -> Vec<Entry> {
        let files = self.0.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten();
        let mut entries: Vec<_> = files.flatten().filter_map(|file| entry(file.path())).collect();
        entries.sort_by(|one, two| two.path.cmp(&one.path));
        entries.truncate(LIST_LIMIT);
        entries
    }
}

/// The list on a page; the last line leads back.
pub(super) fn list(entries: &[Entry], selected: usize) -> List {
    let text = match entries.is_empty() {
        true => "No recordings yet. Turn on \"Record matches\" in Settings.",
        false => "Recorded matches, newest first:",
    };
    let row = |entry: &Entry| Row {
        cells: vec![
            Cell::new(entry.when.to_string(), Tone::Plain),
            Cell::new(entry.title.name(), Tone::Bright),
            Cell::new(entry.room.as_str(), Tone::Plain),
            Cell::new(format!("{} kB", entry.len.div_ceil(1000)), Tone::Dim),
        ],
    };
    List {
        title: "Replays".into(),
        text: vec![(text.to_owned(), Tone::Dim)],
        rows: entries.iter().map(row).chain([Row::new("Back")]).collect(),
        selected,
        ..List::default()
    }
}

fn entry(path: PathBuf) -> Option<Entry> {
    if path.extension()? != "bsreplay" {
        return None;
    }
    let file = File::open(&path).ok()?;
    let len = file.metadata().ok()?.len();
    let mut head = Vec::new();
    file.take(HEAD_LEN).read_to_end(&mut head).ok()?;
    let header = ReplayHeader::read(&head).ok()?;
    let title = Title::of(header.game)?;
    let when = Utc::from_unix_ms(header.unix_ms);
    Some(Entry { path, title, when, room: header.room.to_string(), len })
}

/// The most bytes of a replay waiting to be written: minutes of a match.
const QUEUE_LIMIT: usize = 4 << 20;

/// How long to wait at the end for what is left to be written.
const LAST_WRITES: Duration = Duration::from_millis(500);

/// A match that is being written down, by a thread of its own: a disk that stands still holds up
/// neither the picture nor those who play with us.
pub(super) struct Recorder {
    writer: ReplayWriter,
    scribe: Scribe,
    track: Track,
    bytes: Vec<u8>,
}

impl Recorder {
    /// Begins a file in `folder`.
    pub(super) fn begin<G: Game>(folder: &Path, game: &G, room: &str) -> Result<Self, String> {
        let mut scribe = Scribe::start("replay", QUEUE_LIMIT).map_err(|error| error.to_string())?;
        let now = unix_ms();
        let track = scribe.begin(NewFile {
            dir: folder.to_owned(),
            stem: Utc::from_unix_ms(now).compact(),
            extension: "bsreplay",
            praise: "the match is recorded in".into(),
        });
        let writer = ReplayWriter::new(game, now, backspin::wire::Name::new(room));
        Ok(Recorder { writer, scribe, track, bytes: Vec::new() })
    }

    /// What happened.
    pub(super) fn hear(&mut self, tick: u32, event: backspin::game::Event) {
        self.writer.handle_event(tick, event);
    }

    /// Who plays, and what there is.
    pub(super) fn follow(
        &mut self,
        players: impl Iterator<Item = Player>,
        state: &State,
    ) -> Result<(), String> {
        self.writer.handle_roster(players);
        self.writer.handle_state(state);
        self.writer.poll_bytes(&mut self.bytes);
        self.scribe.write(&self.track, &mut self.bytes).map_err(|over| match over {
            Over::Failed => self.track.cause().unwrap_or_default().to_owned(),
            Over::Behind => "the disk is too slow".into(),
        })
    }

    /// The match is over, or left.
    pub(super) fn finish(mut self) {
        self.writer.finish(&mut self.bytes);
        // What is on the disk can be shown as far as it goes.
        let _ = self.scribe.write(&self.track, &mut self.bytes);
        self.scribe.end(self.track);
        self.scribe.finish(Instant::now() + LAST_WRITES);
    }
}
