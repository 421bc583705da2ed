//! Results of matches: kept by a server, shown by `backspin results`.
//!
//! ```text
//! keeper   -> a server's thread that keeps them
//! journal  -> the side file that they are noted in first
//! store    -> the database
//! ```

mod journal;
mod keeper;
mod store;

use std::env;
use std::error::Error;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::games::Title;
use crate::utc::Utc;
use journal::Pending;
pub(crate) use keeper::Keeper;
use store::{Filter, Standing, Store};
pub(crate) use store::{MatchResult, Outcome, PlayerResult};

/// Show the results of matches that a server has kept.
///
/// The file may be in use: a server that runs is not disturbed.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  backspin results
  backspin results --leaderboard --game pong
  backspin results --player Ann --limit 5 --json")]
pub(crate) struct Args {
    /// The server's file of results [default: where a server of this user keeps them]
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,

    /// Who has won most
    #[arg(long)]
    leaderboard: bool,

    /// Only this game
    #[arg(long)]
    game: Option<Title>,

    /// Only of this player
    #[arg(long, value_name = "NAME")]
    player: Option<String>,

    /// So many lines at most
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: u32,

    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
}

/// Where results are kept unless someone says otherwise: in the user's folder for data, or here if
/// there is none.
pub(crate) fn usual_file() -> PathBuf {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = |folder| set("HOME").map(|home| home.join(folder));
    let folder = set("XDG_DATA_HOME").or_else(|| match () {
        () if cfg!(windows) => set("LOCALAPPDATA"),
        () if cfg!(target_os = "macos") => home("Library/Application Support"),
        () => home(".local/share"),
    });
    folder.unwrap_or_default().join("backspin").join("results.db")
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let file = args.file.clone().unwrap_or_else(usual_file);
    // Without this the database's own words would be told.
    if !file.try_exists().unwrap_or(true) {
        return Err(format!(
            "there are no results in {} yet: \"backspin serve\" keeps them there once a match is \
             over; --file names another file",
            file.display()
        )
        .into());
    }
    let store = Store::read(&file)?;
    tell_pending(&file, &store)?;
    let filter = Filter { game: args.game, player: args.player.clone(), limit: args.limit };
    match args.leaderboard {
        true => show(args.json, &store.leaderboard(&filter)?, standing_line),
        false => show(args.json, &store.matches(&filter)?, match_line),
    }
}

/// Says on stderr how many results are missing here because they are still beside the file.
fn tell_pending(file: &Path, store: &Store) -> Result<(), Box<dyn Error>> {
    let mut waiting = 0;
    for entry in Pending::of(file).entries {
        waiting += u32::from(!store.has(&entry.key)?);
    }
    if waiting > 0 {
        // What is asked for comes on stdout, also where nobody hears this.
        let _ = writeln!(
            io::stderr(),
            "{waiting} more finished matches are noted in {}.pending-*: a server that runs, or is \
             started, takes them in",
            file.display()
        );
    }
    Ok(())
}

fn show<T: Serialize>(
    json: bool,
    lines: &[T],
    words: fn(&T) -> String,
) -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout().lock();
    for line in lines {
        match json {
            true => writeln!(out, "{}", serde_json::to_string(line)?)?,
            false => writeln!(out, "{}", words(line))?,
        }
    }
    if lines.is_empty() && !json {
        writeln!(out, "There are no results yet.")?;
    }
    Ok(out.flush()?)
}

fn standing_line(line: &Standing) -> String {
    let Standing { name, played, won, best_score } = line;
    format!("{name:<16} won {won:>4} of {played:>4}   best score {best_score:>7}")
}

fn match_line(result: &MatchResult) -> String {
    let player = |player: &PlayerResult| format!("{} {}", player.name, player.score);
    let players: Vec<String> = result.players.iter().map(player).collect();
    let (between, end) = match result.outcome {
        Outcome::Decided => (" : ", ""),
        Outcome::Victory => (", ", "  (victory)"),
        Outcome::Defeat => (", ", "  (defeat)"),
    };
    let game = result.game.name();
    let at = Utc::from_unix_ms(result.ended_ms);
    let players = players.join(between);
    format!("{at}  {game:<6}  {:>5.0} s  {players}{end}", result.seconds)
}
