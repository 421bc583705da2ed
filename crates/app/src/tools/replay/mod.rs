//! `backspin replay`: replays a recording.
//!
//! `node` plays a node log back to its digest, `show` summarises a match replay.

mod node;
mod show;

use std::error::Error;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use backspin_record::FileKind;

/// Replay a recording.
///
/// A node log (.bslog, from `backspin serve --record`) is played back into a server like the recorded one, as
/// fast as possible, and everything it sends is compared with what was sent then. A match replay (.bsreplay,
/// from `--record-matches`) is summarised.
#[derive(clap::Args)]
#[command(after_help = "Try --help for examples.", after_long_help = MORE_HELP)]
pub(crate) struct Args {
    /// The recording
    file: PathBuf,

    /// Use the undamaged part of a damaged file
    #[arg(long)]
    salvage: bool,

    /// Show the state of a match at this time, in seconds [default: the end]
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    at: Option<f64>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

const MORE_HELP: &str = "\
Examples:
  backspin serve --record logs --record-matches matches
  backspin replay logs/20231114T221320Z-1.bslog
  backspin replay --salvage --json logs/20231114T221320Z-1.bslog
  backspin replay --at 12.5 matches/20231114T221342Z-room1-1.bsreplay

A server that was killed leaves a log without an end, which is refused: --salvage replays what is there.

Exit codes:
  0  the log replayed to the same digest, or the match can be shown
  1  the log replayed differently, or the file is damaged or from another program; stderr says which
     and where
  2  wrong usage";

/// Runs the command.
pub(crate) fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    replay(args).map_err(|error| match error.downcast::<io::Error>() {
        // Our own output: the reader has closed it.
        Ok(error) if error.kind() == io::ErrorKind::BrokenPipe => error as Box<dyn Error>,
        Ok(error) => format!("{}: {error}", args.file.display()).into(),
        Err(error) => format!("{}: {error}", args.file.display()).into(),
    })
}

fn replay(args: &Args) -> Result<(), Box<dyn Error>> {
    let mut file = File::open(&args.file)?;
    let mut first = Vec::new();
    file.by_ref().take(8).read_to_end(&mut first)?;
    let rest = io::Cursor::new(first.clone()).chain(file);
    match FileKind::of(&first) {
        Some(FileKind::NodeLog) if args.at.is_some() => {
            Err("it is a node log: --at is for matches".into())
        }
        Some(FileKind::NodeLog) => node::run(args, rest),
        Some(FileKind::Replay) => show::run(args, rest),
        None => Err("it is neither a node log nor a match replay".into()),
    }
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| *seconds >= 0.0 && seconds.is_finite());
    seconds.ok_or_else(|| "give a number of seconds".into())
}
