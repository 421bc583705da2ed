//! The results database: one SQLite file that only its owner may read.
//!
//! A match that is written is on the disk. That may take a while, so the [`Keeper`](super::Keeper) writes in
//! its own
//! thread.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fmt, fs, io};

use rusqlite::{Connection, ErrorCode, OpenFlags, Row, Transaction, TransactionBehavior, params};
use serde::{Deserialize, Serialize};

use super::journal::Entry;
use crate::folders;
use crate::games::Title;

/// A match that is over.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct MatchResult {
    pub(crate) game: Title,
    /// The room's number.
    pub(crate) room: u32,
    /// When it was over, in milliseconds since 1970.
    pub(crate) ended_ms: u64,
    pub(crate) seconds: f64,
    pub(crate) outcome: Outcome,
    pub(crate) players: Vec<PlayerResult>,
}

/// How it came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    /// One side won against the other.
    Decided,
    /// Everyone won together.
    Victory,
    /// Everyone lost together.
    Defeat,
}

/// How one player did.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct PlayerResult {
    pub(crate) name: String,
    pub(crate) score: u32,
    pub(crate) won: bool,
    /// What the line was worth: round trip and jitter in milliseconds, loss in percent.
    pub(crate) round_trip_ms: Option<f64>,
    pub(crate) jitter_ms: Option<f64>,
    pub(crate) lost_pct: Option<f64>,
}

/// A line of the leaderboard.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Standing {
    pub(crate) name: String,
    pub(crate) played: u32,
    pub(crate) won: u32,
    pub(crate) best_score: u32,
}

/// The file of results.
#[derive(Debug)]
pub(crate) struct Store {
    path: PathBuf,
    connection: Connection,
}

/// What went wrong with the file.
#[derive(Debug, thiserror::Error)]
#[error("the results in {} cannot be used: {cause}{}", path.display(), if *is_busy { "" } else { "; name another file" })]
pub(crate) struct StoreError {
    path: PathBuf,
    cause: String,
    is_busy: bool,
}

/// The form of the tables. The form before is brought up to it, any other is left alone.
const VERSION: i64 = 2;

/// The form whose matches have no keys.
const KEYLESS: i64 = 1;

/// How long another program may hold the file.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);

const TABLES: &str = "
    CREATE TABLE matches (
        id INTEGER PRIMARY KEY,
        game TEXT NOT NULL,
        room INTEGER NOT NULL,
        ended_ms INTEGER NOT NULL,
        seconds REAL NOT NULL,
        outcome TEXT NOT NULL
    ) STRICT;
    CREATE TABLE players (
        match_id INTEGER NOT NULL REFERENCES matches (id),
        place INTEGER NOT NULL,
        name TEXT NOT NULL,
        score INTEGER NOT NULL,
        won INTEGER NOT NULL,
        round_trip_ms REAL,
        jitter_ms REAL,
        lost_pct REAL,
        PRIMARY KEY (match_id, place)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX players_by_name ON players (name);
";

/// What a match is known by, so that none is kept twice. Those of the form before have none.
const KEYS: &str = "
    ALTER TABLE matches ADD COLUMN key TEXT;
    CREATE UNIQUE INDEX matches_by_key ON matches (key);
    PRAGMA user_version = 2;
";

impl Store {
    /// Opens or creates the file. Another program may lock it for `patience`.
    pub(crate) fn open(path: &Path, patience: Duration) -> Result<Self, StoreError> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder).map_err(|error| StoreError::new(path, &error))?;
        }
        make_private(path).map_err(|error| StoreError::new(path, &error))?;
        Store::begin(path, OpenFlags::default(), patience, Store::prepare)
    }

    /// Opens the file to read it, also while a server writes.
    pub(crate) fn read(path: &Path) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        Store::begin(path, flags, PATIENCE, Store::check)
    }

    fn begin(
        path: &Path,
        flags: OpenFlags,
        patience: Duration,
        ready: fn(&mut Connection) -> Result<(), Box<dyn Error>>,
    ) -> Result<Self, StoreError> {
        let wrong = |error| StoreError::of(path, error);
        let mut connection = Connection::open_with_flags(path, flags).map_err(wrong)?;
        connection.busy_timeout(patience).map_err(wrong)?;
        ready(&mut connection).map_err(|error| match error.downcast() {
            Ok(error) => wrong(*error),
            Err(other) => StoreError::new(path, &other),
        })?;
        Ok(Store { path: path.to_owned(), connection })
    }

    fn prepare(connection: &mut Connection) -> Result<(), Box<dyn Error>> {
        // Not a write-ahead log: its index is mapped into memory, and a full disk would end the
        // program with SIGBUS.
        connection.pragma_update(None, "journal_mode", "TRUNCATE")?;
        // What is committed is on the disk.
        connection.pragma_update(None, "synchronous", "FULL")?;
        if version(connection)? < VERSION {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            // Another server may have been here first.
            let version = version(&transaction)?;
            if version == 0 {
                transaction.execute_batch(TABLES)?;
            }
            if version < VERSION {
                transaction.execute_batch(KEYS)?;
            }
            transaction.commit()?;
        }
        Store::check(connection)
    }

    fn check(connection: &mut Connection) -> Result<(), Box<dyn Error>> {
        match version(connection)? {
            VERSION | KEYLESS => Ok(()),
            0 => Err("it is not a results database".into()),
            other => Err(format!("it was written by another version ({other})").into()),
        }
    }

    /// Changes how long another program may hold the file.
    pub(crate) fn set_patience(&self, patience: Duration) -> Result<(), StoreError> {
        let set = self.connection.busy_timeout(patience);
        set.map_err(|error| StoreError::of(&self.path, error))
    }

    /// Writes matches down and waits until they are on the disk: all of them, or none. Those that
    /// are there already stay as they are.
    pub(crate) fn keep(&mut self, entries: &[Entry]) -> Result<(), StoreError> {
        let mut keep = || {
            let transaction =
                self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            for entry in entries {
                insert(&transaction, entry)?;
            }
            transaction.commit()
        };
        keep().map_err(|error| StoreError::of(&self.path, error))
    }

    /// Whether a match is there.
    pub(crate) fn has(&self, key: &str) -> Result<bool, Box<dyn Error>> {
        if version(&self.connection)? == KEYLESS {
            return Ok(false);
        }
        let mut query = self.connection.prepare_cached("SELECT 1 FROM matches WHERE key = ?")?;
        Ok(query.exists([key])?)
    }

    /// The last matches, the latest first.
    pub(crate) fn matches(&self, filter: &Filter) -> Result<Vec<MatchResult>, Box<dyn Error>> {
        let mut query = self.connection.prepare_cached(
            "SELECT id, game, room, ended_ms, seconds, outcome FROM matches AS m
             WHERE (?1 IS NULL OR game = ?1)
               AND (?2 IS NULL OR EXISTS
                    (SELECT 1 FROM players WHERE match_id = m.id AND name = ?2))
             ORDER BY ended_ms DESC, id DESC LIMIT ?3",
        )?;
        let game = filter.game.map(Title::command);
        let rows = query.query_map(params![game, filter.player, filter.limit], |row| {
            Ok((row.get::<_, i64>(0)?, match_of(row)?))
        })?;
        let mut results = Vec::new();
        for row in rows {
            let (id, mut result) = row?;
            result.players = self.players(id)?;
            results.push(result);
        }
        Ok(results)
    }

    /// Who has won most, and who of those had the best score. Bots and guests of `lan`, who have no
    /// names of their own, are not on it: theirs are the lines that are never measured.
    pub(crate) fn leaderboard(&self, filter: &Filter) -> Result<Vec<Standing>, Box<dyn Error>> {
        let mut query = self.connection.prepare_cached(
            "SELECT name, COUNT(*), SUM(won), MAX(score) FROM players
             JOIN matches ON matches.id = match_id
             WHERE (?1 IS NULL OR game = ?1) AND (?2 IS NULL OR name = ?2)
               AND round_trip_ms IS NOT NULL
             GROUP BY name ORDER BY 3 DESC, 4 DESC, 2, name LIMIT ?3",
        )?;
        let game = filter.game.map(Title::command);
        let rows = query.query_map(params![game, filter.player, filter.limit], |row| {
            Ok(Standing {
                name: row.get(0)?,
                played: row.get(1)?,
                won: row.get(2)?,
                best_score: row.get(3)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn players(&self, id: i64) -> Result<Vec<PlayerResult>, Box<dyn Error>> {
        let mut query = self.connection.prepare_cached(
            "SELECT name, score, won, round_trip_ms, jitter_ms, lost_pct FROM players
             WHERE match_id = ? ORDER BY place",
        )?;
        let rows = query.query_map([id], |row| {
            Ok(PlayerResult {
                name: row.get(0)?,
                score: row.get(1)?,
                won: row.get(2)?,
                round_trip_ms: row.get(3)?,
                jitter_ms: row.get(4)?,
                lost_pct: row.get(5)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

/// Which results are wanted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    pub(crate) game: Option<Title>,
    pub(crate) player: Option<String>,
    pub(crate) limit: u32,
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// A file that is made here is its owner's alone, and so are those that SQLite makes beside it. One
/// that is there stays as its owner wants it.
fn make_private(path: &Path) -> io::Result<()> {
    folders::private().append(true).create(true).open(path).map(drop)
}

fn insert(transaction: &Transaction<'_>, entry: &Entry) -> rusqlite::Result<()> {
    let Entry { key, result } = entry;
    let fresh = transaction
        .prepare_cached(
            "INSERT INTO matches (key, game, room, ended_ms, seconds, outcome)
             VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING",
        )?
        .execute(params![
            key,
            result.game.command(),
            result.room,
            result.ended_ms as i64,
            result.seconds,
            result.outcome.word(),
        ])?;
    if fresh == 0 {
        return Ok(());
    }
    let id = transaction.last_insert_rowid();
    let mut insert =
        transaction.prepare_cached("INSERT INTO players VALUES (?, ?, ?, ?, ?, ?, ?, ?)")?;
    for (place, player) in result.players.iter().enumerate() {
        insert.execute(params![
            id,
            place as i64,
            player.name,
            player.score,
            player.won,
            player.round_trip_ms,
            player.jitter_ms,
            player.lost_pct,
        ])?;
    }
    Ok(())
}

fn match_of(row: &Row<'_>) -> rusqlite::Result<MatchResult> {
    let word = |column: usize| row.get::<_, String>(column);
    let strange = |column: usize| {
        rusqlite::Error::InvalidColumnType(column, "a word".into(), rusqlite::types::Type::Text)
    };
    Ok(MatchResult {
        game: Title::of_command(&word(1)?).ok_or_else(|| strange(1))?,
        room: row.get(2)?,
        ended_ms: row.get::<_, i64>(3)? as u64,
        seconds: row.get(4)?,
        outcome: Outcome::of_word(&word(5)?).ok_or_else(|| strange(5))?,
        players: Vec::new(),
    })
}

impl Outcome {
    const ALL: [Outcome; 3] = [Outcome::Decided, Outcome::Victory, Outcome::Defeat];

    fn word(self) -> &'static str {
        ["decided", "victory", "defeat"][self as usize]
    }

    fn of_word(word: &str) -> Option<Self> {
        Outcome::ALL.into_iter().find(|outcome| outcome.word() == word)
    }
}

impl StoreError {
    fn new(path: &Path, cause: &dyn fmt::Display) -> Self {
        StoreError { path: path.to_owned(), cause: cause.to_string(), is_busy: false }
    }

    fn of(path: &Path, error: rusqlite::Error) -> Self {
        use ErrorCode::{DatabaseBusy, DatabaseLocked};
        let is_busy = matches!(error.sqlite_error_code(), Some(DatabaseBusy | DatabaseLocked));
        StoreError { is_busy, ..StoreError::new(path, &error) }
    }

    /// Whether another program holds the file, and will let go of it.
    pub(crate) fn is_busy(&self) -> bool {
        self.is_busy
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A folder of its own for a test; gone at its end.
    pub(in super::super) struct Folder(PathBuf);

    impl Folder {
        pub(in super::super) fn new(name: &str) -> Self {
            let name = format!("backspin-results-{name}-{}", std::process::id());
            Folder(std::env::temp_dir().join(name))
        }

        pub(in super::super) fn file(&self) -> PathBuf {
            self.0.join("results.db")
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn player(name: &str, score: u32, won: bool) -> PlayerResult {
        let name = name.to_owned();
        let (round_trip_ms, jitter_ms, lost_pct) = (Some(12.5), None, Some(0.0));
        PlayerResult { name, score, won, round_trip_ms, jitter_ms, lost_pct }
    }

    pub(in super::super) fn pong(ended_ms: u64, winner: &str, loser: &str) -> MatchResult {
        MatchResult {
            game: Title::Pong,
            room: 1,
            ended_ms,
            seconds: 61.5,
            outcome: Outcome::Decided,
            players: vec![player(winner, 5, true), player(loser, 3, false)],
        }
    }

    fn rtype(ended_ms: u64, name: &str) -> MatchResult {
        MatchResult {
            game: Title::Rtype,
            outcome: Outcome::Victory,
            players: vec![player(name, 12_000, true)],
            ..pong(ended_ms, name, name)
        }
    }

    fn open(path: &Path) -> Result<Store, StoreError> {
        Store::open(path, PATIENCE)
    }

    /// With a key that says when it ended.
    fn keep(store: &mut Store, result: &MatchResult) {
        let key = format!("test-{}", result.ended_ms);
        store.keep(&[Entry { key, result: result.clone() }]).unwrap();
    }

    fn all() -> Filter {
        Filter { limit: 10, ..Filter::default() }
    }

    #[test]
    fn what_was_kept_is_there_without_a_goodbye() {
        let folder = Folder::new("kept");
        let mut store = open(&folder.file()).unwrap();
        let (first, second) = (pong(1, "Ann", "Bob"), rtype(2, "Ann"));
        keep(&mut store, &first);
        keep(&mut store, &second);
        // As if killed: nothing is closed.
        std::mem::forget(store);
        let store = Store::read(&folder.file()).unwrap();
        assert_eq!(store.matches(&all()).unwrap(), [second, first]);
    }

    #[test]
    fn results_are_found_by_game_and_by_player() {
        let folder = Folder::new("found");
        let mut store = open(&folder.file()).unwrap();
        let kept = [pong(1, "Ann", "Bob"), rtype(2, "Cay"), pong(3, "Cay", "Ann")];
        kept.iter().for_each(|result| keep(&mut store, result));
        let of = |filter: Filter| {
            let found = store.matches(&filter).unwrap();
            found.iter().map(|result| result.ended_ms).collect::<Vec<_>>()
        };
        assert_eq!(of(Filter { limit: 2, ..all() }), [3, 2]);
        assert_eq!(of(Filter { game: Some(Title::Pong), ..all() }), [3, 1]);
        assert_eq!(of(Filter { player: Some("Ann".into()), ..all() }), [3, 1]);
        assert_eq!(of(Filter { player: Some("An".into()), ..all() }), [0; 0]);
    }

    #[test]
    fn who_won_most_leads() {
        let folder = Folder::new("leads");
        let mut store = open(&folder.file()).unwrap();
        for (at, winner, loser) in [(1, "Ann", "Bob"), (2, "Bob", "Ann"), (3, "Bob", "Cay")] {
            keep(&mut store, &pong(at, winner, loser));
        }
        let mut with_a_bot = pong(4, "Bot", "Guest");
        with_a_bot.players.iter_mut().for_each(|player| player.round_trip_ms = None);
        keep(&mut store, &with_a_bot);
        let names = |filter| {
            let lines: Vec<Standing> = store.leaderboard(&filter).unwrap();
            lines.into_iter().map(|line| (line.name, line.won, line.played)).collect::<Vec<_>>()
        };
        let line = |name: &str, won, played| (name.to_owned(), won, played);
        let board = [line("Bob", 2, 3), line("Ann", 1, 2), line("Cay", 0, 1)];
        assert_eq!(names(all()), board);
        assert_eq!(names(Filter { game: Some(Title::Rtype), ..all() }), []);
    }

    #[test]
    fn a_file_that_is_something_else_is_left_alone() {
        let folder = Folder::new("else");
        fs::create_dir_all(&folder.0).unwrap();
        let said = |path: &Path| open(path).unwrap_err().to_string();
        fs::write(folder.file(), "not a database, but a letter to someone, long enough").unwrap();
        assert!(said(&folder.file()).contains("cannot be used"));
        let newer = folder.0.join("newer.db");
        let connection = Connection::open(&newer).unwrap();
        connection.pragma_update(None, "user_version", 9).unwrap();
        assert!(said(&newer).contains("another version (9)"));
        assert!(Store::read(&folder.0.join("none.db")).is_err());
    }

    #[test]
    fn a_match_that_is_kept_twice_is_there_once() {
        let folder = Folder::new("twice");
        let mut store = open(&folder.file()).unwrap();
        let entry = |number: u64| Entry {
            key: format!("test-{number}"),
            result: pong(number, "Ann", "Bob"),
        };
        store.keep(&[entry(1), entry(2)]).unwrap();
        store.keep(&[entry(1), entry(3), entry(2)]).unwrap();
        let ended: Vec<_> = store.matches(&all()).unwrap().iter().map(|it| it.ended_ms).collect();
        assert_eq!(ended, [3, 2, 1]);
        assert!(store.has("test-3").unwrap() && !store.has("test-4").unwrap());
        assert_eq!(store.matches(&all()).unwrap()[0].players.len(), 2);
    }

    #[test]
    fn a_file_of_the_form_before_is_read_and_goes_on() {
        let folder = Folder::new("before");
        fs::create_dir_all(&folder.0).unwrap();
        let connection = Connection::open(folder.file()).unwrap();
        connection.execute_batch(TABLES).unwrap();
        connection
            .execute_batch(
                "INSERT INTO matches VALUES (1, 'pong', 1, 7, 61.5, 'decided');
                 INSERT INTO matches VALUES (2, 'pong', 1, 8, 61.5, 'decided');
                 INSERT INTO players VALUES (1, 0, 'Ann', 5, 1, 12.5, NULL, 0.0);
                 PRAGMA user_version = 1;",
            )
            .unwrap();
        let ended = |store: &Store| {
            let found = store.matches(&all()).unwrap();
            found.iter().map(|result| result.ended_ms).collect::<Vec<_>>()
        };
        let reader = Store::read(&folder.file()).unwrap();
        assert_eq!((ended(&reader), reader.has("test-9").unwrap()), (vec![8, 7], false));
        let mut store = open(&folder.file()).unwrap();
        keep(&mut store, &pong(9, "Ann", "Bob"));
        assert_eq!((ended(&reader), reader.has("test-9").unwrap()), (vec![9, 8, 7], true));
        assert_eq!(store.matches(&all()).unwrap()[2].players[0].name, "Ann");
    }

    #[test]
    fn a_file_that_another_program_holds_is_busy_and_not_wrong() {
        let folder = Folder::new("busy");
        let mut store = Store::open(&folder.file(), Duration::from_millis(1)).unwrap();
        let other = Connection::open(folder.file()).unwrap();
        other.execute_batch("BEGIN EXCLUSIVE").unwrap();
        let entry = Entry { key: "test-1".into(), result: pong(1, "Ann", "Bob") };
        assert!(store.keep(std::slice::from_ref(&entry)).unwrap_err().is_busy());
        other.execute_batch("COMMIT").unwrap();
        store.keep(&[entry]).unwrap();
        assert_eq!(store.matches(&all()).unwrap().len(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn results_are_their_owners_alone() {
        use std::os::unix::fs::PermissionsExt;
        let folder = Folder::new("private");
        let mut store = open(&folder.file()).unwrap();
        keep(&mut store, &pong(1, "Ann", "Bob"));
        let files: Vec<_> = fs::read_dir(&folder.0).unwrap().map(|it| it.unwrap()).collect();
        assert!(files.len() >= 2, "{files:?}");
        for file in files {
            let mode = file.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{file:?}");
        }
    }
}
