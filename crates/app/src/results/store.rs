//! Where results are kept: one SQLite file.
//!
//! A match that is written was given to the system: it is there when this program is killed in the
//! next moment. When it reaches the disk is up to [`Store::settle`], which may take a while and so
//! is not called where players wait.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fmt, fs};

use rusqlite::{Connection, OpenFlags, Row, Transaction, params};
use serde::Serialize;

use super::Kind;

/// A match that is over.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct MatchResult {
    pub(crate) game: Kind,
    /// The room's number.
    pub(crate) room: u32,
    /// When it was over, in milliseconds since 1970.
    pub(crate) ended_ms: u64,
    pub(crate) seconds: f64,
    pub(crate) outcome: Outcome,
    pub(crate) players: Vec<PlayerResult>,
}

/// How it came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    connection: Connection,
}

/// What went wrong with the file.
#[derive(Debug)]
pub(crate) struct StoreError {
    path: PathBuf,
    cause: String,
}

/// The form of the tables; a file of another form is left alone.
const VERSION: i64 = 1;

/// How long another program may hold the file.
const PATIENCE: Duration = Duration::from_secs(2);

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
    PRAGMA user_version = 1;
";

impl Store {
    /// Opens the file, or makes it.
    pub(crate) fn open(path: &Path) -> Result<Self, StoreError> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder).map_err(|error| StoreError::new(path, &error))?;
        }
        Store::begin(path, OpenFlags::default(), Store::prepare)
    }

    /// Opens the file to read it, also while a server writes.
    pub(crate) fn read(path: &Path) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        Store::begin(path, flags, Store::check)
    }

    fn begin(
        path: &Path,
        flags: OpenFlags,
        ready: fn(&mut Connection) -> Result<(), Box<dyn Error>>,
    ) -> Result<Self, StoreError> {
        let wrong = |error: &dyn fmt::Display| StoreError::new(path, error);
        let mut connection =
            Connection::open_with_flags(path, flags).map_err(|error| wrong(&error))?;
        connection.busy_timeout(PATIENCE).map_err(|error| wrong(&error))?;
        ready(&mut connection).map_err(|error| wrong(&error))?;
        Ok(Store { connection })
    }

    fn prepare(connection: &mut Connection) -> Result<(), Box<dyn Error>> {
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        // The disk is waited for in `settle` alone.
        connection.pragma_update(None, "wal_autocheckpoint", 0)?;
        if version(connection)? == 0 {
            let transaction = connection.transaction()?;
            transaction.execute_batch(TABLES)?;
            transaction.commit()?;
        }
        Store::check(connection)
    }

    fn check(connection: &mut Connection) -> Result<(), Box<dyn Error>> {
        match version(connection)? {
            VERSION => Ok(()),
            0 => Err("it holds no results".into()),
            other => Err(format!("it was written by another version ({other})").into()),
        }
    }

    /// Writes a match down, whole or not at all.
    pub(crate) fn keep(&mut self, result: &MatchResult) -> Result<(), Box<dyn Error>> {
        let transaction = self.connection.transaction()?;
        insert(&transaction, result)?;
        Ok(transaction.commit()?)
    }

    /// Brings what was written to the disk.
    pub(crate) fn settle(&self) -> Result<(), Box<dyn Error>> {
        Ok(self.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?)
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
        let game = filter.game.map(Kind::word);
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
        let game = filter.game.map(Kind::word);
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
    pub(crate) game: Option<Kind>,
    pub(crate) player: Option<String>,
    pub(crate) limit: u32,
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

fn insert(transaction: &Transaction<'_>, result: &MatchResult) -> rusqlite::Result<()> {
    transaction
        .prepare_cached(
            "INSERT INTO matches (game, room, ended_ms, seconds, outcome) VALUES (?, ?, ?, ?, ?)",
        )?
        .execute(params![
            result.game.word(),
            result.room,
            result.ended_ms as i64,
            result.seconds,
            result.outcome.word(),
        ])?;
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
        game: Kind::of_word(&word(1)?).ok_or_else(|| strange(1))?,
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
        match self {
            Outcome::Decided => "decided",
            Outcome::Victory => "victory",
            Outcome::Defeat => "defeat",
        }
    }

    fn of_word(word: &str) -> Option<Self> {
        Outcome::ALL.into_iter().find(|outcome| outcome.word() == word)
    }
}

impl StoreError {
    fn new(path: &Path, cause: &dyn fmt::Display) -> Self {
        StoreError { path: path.to_owned(), cause: cause.to_string() }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let StoreError { path, cause } = self;
        write!(f, "the results in {} cannot be used: {cause}; name another file", path.display())
    }
}

impl Error for StoreError {}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of its own for a test; gone at its end.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let name = format!("backspin-results-{name}-{}", std::process::id());
            Folder(std::env::temp_dir().join(name))
        }

        fn file(&self) -> PathBuf {
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

    fn pong(ended_ms: u64, winner: &str, loser: &str) -> MatchResult {
        MatchResult {
            game: Kind::Pong,
            room: 1,
            ended_ms,
            seconds: 61.5,
            outcome: Outcome::Decided,
            players: vec![player(winner, 5, true), player(loser, 3, false)],
        }
    }

    fn rtype(ended_ms: u64, name: &str) -> MatchResult {
        MatchResult {
            game: Kind::Rtype,
            outcome: Outcome::Victory,
            players: vec![player(name, 12_000, true)],
            ..pong(ended_ms, name, name)
        }
    }

    fn all() -> Filter {
        Filter { limit: 10, ..Filter::default() }
    }

    #[test]
    fn what_was_kept_is_there_without_a_goodbye() {
        let folder = Folder::new("kept");
        let mut store = Store::open(&folder.file()).unwrap();
        let (first, second) = (pong(1, "Ann", "Bob"), rtype(2, "Ann"));
        store.keep(&first).unwrap();
        store.keep(&second).unwrap();
        // As if killed: nothing is closed, nothing was settled.
        std::mem::forget(store);
        let store = Store::read(&folder.file()).unwrap();
        assert_eq!(store.matches(&all()).unwrap(), [second, first]);
    }

    #[test]
    fn results_are_found_by_game_and_by_player() {
        let folder = Folder::new("found");
        let mut store = Store::open(&folder.file()).unwrap();
        let kept = [pong(1, "Ann", "Bob"), rtype(2, "Cay"), pong(3, "Cay", "Ann")];
        kept.iter().for_each(|result| store.keep(result).unwrap());
        store.settle().unwrap();
        let of = |filter: Filter| {
            let found = store.matches(&filter).unwrap();
            found.iter().map(|result| result.ended_ms).collect::<Vec<_>>()
        };
        assert_eq!(of(Filter { limit: 2, ..all() }), [3, 2]);
        assert_eq!(of(Filter { game: Some(Kind::Pong), ..all() }), [3, 1]);
        assert_eq!(of(Filter { player: Some("Ann".into()), ..all() }), [3, 1]);
        assert_eq!(of(Filter { player: Some("An".into()), ..all() }), [0; 0]);
    }

    #[test]
    fn who_won_most_leads() {
        let folder = Folder::new("leads");
        let mut store = Store::open(&folder.file()).unwrap();
        for (at, winner, loser) in [(1, "Ann", "Bob"), (2, "Bob", "Ann"), (3, "Bob", "Cay")] {
            store.keep(&pong(at, winner, loser)).unwrap();
        }
        let mut with_a_bot = pong(4, "Bot", "Guest");
        with_a_bot.players.iter_mut().for_each(|player| player.round_trip_ms = None);
        store.keep(&with_a_bot).unwrap();
        let names = |filter| {
            let lines: Vec<Standing> = store.leaderboard(&filter).unwrap();
            lines.into_iter().map(|line| (line.name, line.won, line.played)).collect::<Vec<_>>()
        };
        let line = |name: &str, won, played| (name.to_owned(), won, played);
        let board = [line("Bob", 2, 3), line("Ann", 1, 2), line("Cay", 0, 1)];
        assert_eq!(names(all()), board);
        assert_eq!(names(Filter { game: Some(Kind::Rtype), ..all() }), []);
    }

    #[test]
    fn a_file_that_is_something_else_is_left_alone() {
        let folder = Folder::new("else");
        fs::create_dir_all(&folder.0).unwrap();
        let said = |path: &Path| Store::open(path).unwrap_err().to_string();
        fs::write(folder.file(), "not a database, but a letter to someone, long enough").unwrap();
        assert!(said(&folder.file()).contains("cannot be used"));
        let newer = folder.0.join("newer.db");
        let connection = Connection::open(&newer).unwrap();
        connection.pragma_update(None, "user_version", 9).unwrap();
        assert!(said(&newer).contains("another version (9)"));
        assert!(Store::read(&folder.0.join("none.db")).is_err());
    }
}
