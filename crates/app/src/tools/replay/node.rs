//! A node log, played back.

use std::error::Error;
use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

use backspin_record::log::{LogError, Rerun, Verdict};
use serde_json::json;

use super::Args;
use crate::games::AnyGame;
use crate::utc::Utc;

/// A log is read in pieces of this size.
const PIECE_LEN: usize = 256 * 1024;

/// Replays a log and prints the verdict.
pub(super) fn run(args: &Args, log: impl Read) -> Result<(), Box<dyn Error>> {
    let began = Instant::now();
    let verdict = replay(args, log)?;
    let took = began.elapsed();
    let mut out = io::stdout().lock();
    match args.json {
        true => writeln!(out, "{}", object(&verdict, took))?,
        false => tell(&mut out, &verdict, took)?,
    }
    let told = |difference| Err(format!("the replay differs: {difference}").into());
    verdict.difference.map_or(Ok(()), told)
}

fn replay(args: &Args, mut log: impl Read) -> Result<Verdict, Box<dyn Error>> {
    let mut rerun = Rerun::new(AnyGame::of).speaking(backspin_classic::dialects());
    let mut piece = vec![0; PIECE_LEN];
    loop {
        let handled = match log.read(&mut piece)? {
            0 => break,
            len => rerun.handle_bytes(&piece[..len]),
        };
        match handled {
            Ok(()) => {}
            Err(LogError::Damage(damage)) if args.salvage => {
                return Ok(rerun.salvage(Some(damage))?);
            }
            Err(error) => return Err(refusal(error)),
        }
    }
    if args.salvage { Ok(rerun.salvage(None)?) } else { rerun.finish().map_err(refusal) }
}

/// What to do about a log that is not whole.
fn refusal(error: LogError) -> Box<dyn Error> {
    match error {
        LogError::Damage(damage) if damage.good() > 0 => {
            format!("{damage}; --salvage replays the undamaged part").into()
        }
        other => other.into(),
    }
}

fn tell(out: &mut impl Write, verdict: &Verdict, took: Duration) -> io::Result<()> {
    let Verdict { origin, length, counts, digest, difference, damage } = verdict;
    let (seconds, took) = (length.as_secs_f64(), took.as_secs_f64());
    let when = Utc::from_unix_ms(origin.unix_ms);
    writeln!(out, "node log of {}, recorded {when}", origin.name())?;
    writeln!(out, "  {seconds:.3} s, {} rooms, {} joined", counts.rooms, counts.joined)?;
    writeln!(
        out,
        "  {} datagrams in ({} bytes) and {} out, {} stream events, {} timeouts",
        counts.datagrams,
        counts.datagram_bytes,
        counts.transmits,
        counts.stream_events,
        counts.timeouts
    )?;
    if let Some(damage) = damage {
        writeln!(out, "  {damage}")?;
    }
    let speed = seconds / took.max(1e-9);
    writeln!(out, "replayed in {took:.3} s, {speed:.0} times real time")?;
    if difference.is_none() {
        let end = if damage.is_none() { "to the end" } else { "up to the damage" };
        let checkpoints = counts.checkpoints;
        writeln!(out, "the same digest {end}: {digest:016x}, {checkpoints} checkpoints")?;
    }
    Ok(())
}

fn object(verdict: &Verdict, took: Duration) -> serde_json::Value {
    let Verdict { origin, length, counts, digest, difference, damage } = verdict;
    json!({
        "kind": "node_log",
        "server": origin.name().to_string(),
        "recorded_unix_ms": origin.unix_ms,
        "seconds": length.as_secs_f64(),
        "rooms": counts.rooms,
        "joined": counts.joined,
        "datagrams": counts.datagrams,
        "datagram_bytes": counts.datagram_bytes,
        "transmits": counts.transmits,
        "stream_events": counts.stream_events,
        "timeouts": counts.timeouts,
        "checkpoints": counts.checkpoints,
        "digest": format!("{digest:016x}"),
        "same": difference.is_none(),
        "difference": difference.map(|difference| json!({
            "after_seconds": difference.after.as_secs_f64(),
            "by_seconds": difference.by.as_secs_f64(),
            "sentence": difference.to_string(),
        })),
        "damage": damage.map(|damage| damage.to_string()),
        "good_bytes": damage.map(|damage| damage.good()),
        "replay_seconds": took.as_secs_f64(),
    })
}
