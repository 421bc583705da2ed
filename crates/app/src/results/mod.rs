//! Match results: saved by a server, shown by `backspin results`.
//!
//! ```text
//! keeper   -> the server's thread that saves them
//! journal  -> the side file that they go to first
//! store    -> the database
//! ```

mod journal;
mod keeper;
mod store;

use std::error::Error;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::folders;
use crate::games::Title;
use crate::utc::Utc;
use journal::Pending;
pub(crate) use keeper::Keeper;
use store::{Filter, Standing, Store};
pub(crate) use store::{MatchResult, Outcome, PlayerResult};

/// Show the match results that a server has saved.
///
/// The file may be in use: this does not disturb a running server.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  backspin results
  backspin results --leaderboard --game pong
  backspin results --player Ann --limit 5 --json")]
pub(crate) struct Args {
    /// The server's results file [default: where this user's servers save them]
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,

    /// Show who has won most
    #[arg(long)]
    leaderboard: bool,

    /// Only this game
    #[arg(long)]
    game: Option<Title>,

    /// Only this player
    #[arg(long, value_name = "NAME")]
    player: Option<String>,

    /// The most lines to print
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: u32,

    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
}

/// Where results are kept unless someone says otherwise: in the user's folder for data, or here if
/// there is none.
pub(crate) fn usual_file() -> PathBuf {
    folders::data().unwrap_or_else(|| "backspin".into()).join("results.db")
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let file = args.file.clone().unwrap_or_else(usual_file);
    // Without this the database's own words would be told.
    if !file.try_exists().unwrap_or(true) {
        return Err(format!(
            "there are no results in {} yet: \"backspin serve\" adds them when a match ends; \
             --file names another file",
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
        // The results go to stdout even if stderr is closed.
        let _ = writeln!(
            io::stderr(),
            "{waiting} more finished matches are in {}.pending-*; a running server picks them up",
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
        writeln!(out, "No results yet.")?;
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
