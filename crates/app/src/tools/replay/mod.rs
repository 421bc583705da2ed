//! `backspin replay`: what was recorded, again.
//!
//! `node` plays a node log back to its digest, `show` prints what a match replay has in it.

mod node;
mod show;

use std::error::Error;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use backspin_record::FileKind;

/// Replay what was recorded.
///
/// A node log (.bslog, of `backspin serve --record`) is played back into a server like the one that
/// was recorded, as fast as it can be, and all that this one sends is held against what was sent
/// then. A match replay (.bsreplay, of `--record-matches`) is summed up.
#[derive(clap::Args)]
#[command(after_help = "Try --help for examples.", after_long_help = MORE_HELP)]
pub(crate) struct Args {
    /// What was recorded
    file: PathBuf,

    /// Take as much of a damaged file as is good
    #[arg(long)]
    salvage: bool,

    /// Of a match, show what was there so many seconds after it began [default: the end]
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

A server that was killed leaves a log without its end, which is refused: --salvage replays the rest.

Exit codes:
  0  a log came to the same digest, as far as it goes; a match can be shown
  1  a log went another way, or a file is damaged or of another program; a sentence on stderr says
     which and where
  2  wrong usage";

/// Runs the command.
pub(crate) fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    replay(args).map_err(|error| match error.downcast::<io::Error>() {
        // Of our own output: whoever reads it has seen enough.
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
    seconds.ok_or_else(|| "it is no number of seconds".into())
}
