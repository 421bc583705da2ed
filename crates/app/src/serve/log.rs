//! What an operator reads on stderr. It leaves through a [`Spool`]: where nobody reads it, lines are
//! dropped and counted, and the game goes on.

use std::error::Error;
use std::io::{self, IsTerminal};
use std::time::Duration;

use backspin::channel::LogLine;
use backspin::game::{Game, PlayerId};
use backspin::room::{ClosedRoom, Room, RoomEvent};
use backspin::server::Server;
use backspin::session::{Allowance, Bucket, Rate};
use backspin::time::Time;
use serde::Serializer;
use tracing::level_filters::LevelFilter;
use tracing::{Level, debug, info, trace, warn};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Registry, fmt, reload};

use crate::netlog::{self, NetLog, Sparing};
use crate::spool::{self, Spool};

/// Bytes of lines that wait to be read, at the most: some thousands of lines.
const LOG_LIMIT: usize = 256 * 1024;

/// The log. Dropped, it waits a moment for what is left to be written.
pub(super) struct Log {
    filter: reload::Handle<LevelFilter, Registry>,
    spool: Spool,
}

impl Log {
    /// Starts to tell what is of this level or worse, for people or as lines of JSON.
    pub(super) fn start(level: LevelFilter, json: bool) -> Result<Self, Box<dyn Error>> {
        let spool = Spool::start("log", spool::stderr()?, LOG_LIMIT, |_, lines| {
            warn!("{lines} lines of the log were dropped: nobody read them in time");
        })?;
        let (layer, filter) = reload::Layer::new(level);
        let feed = spool.feed().clone();
        // A log that nobody reads any more must not stop the game.
        let lines = fmt::layer()
            .with_writer(move || feed.clone())
            .log_internal_errors(false)
            .with_target(false);
        let registry = tracing_subscriber::registry().with(layer);
        match json {
            true => registry.with(lines.json().flatten_event(true)).init(),
            false => registry.with(lines.with_ansi(io::stderr().is_terminal())).init(),
        }
        Ok(Log { filter, spool })
    }

    /// Changes how much is told.
    pub(super) fn set_level(&self, level: LevelFilter) {
        // It fails where the log is gone, and then nobody hears it.
        let _ = self.filter.modify(|filter| *filter = level);
    }

    /// How many lines were dropped because nobody read them.
    pub(super) fn dropped(&self) -> u64 {
        self.spool.feed().dropped()
    }
}

/// A level by its name.
pub(super) fn parse(text: &str) -> Result<LevelFilter, String> {
    text.parse().map_err(|_| format!("{text:?} is none of off, error, warn, info, debug and trace"))
}

/// The same as a setting in a file.
pub(super) fn serialize<S: Serializer>(
    level: &LevelFilter,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_str(level)
}

/// How many lines about what happens on the line the door and the rooms keep: none that nobody reads.
pub(super) fn kept_lines(net_log: Option<&NetLog>) -> usize {
    let is_read = net_log.is_some() || tracing::enabled!(Level::DEBUG);
    if is_read { netlog::KEPT } else { 0 }
}

/// So many lines about players are read; a machine that stalls has one about each of a thousand.
const LINES: Rate = Rate { per_second: 50, burst: 500 };

/// Tells what happens in rooms.
#[derive(Default)]
pub(super) struct Teller {
    lines: Bucket,
    /// Lines that were too many, since the last that was not.
    left_out: u64,
    /// What anyone can cause with a datagram.
    sparing: Sparing,
    /// How many tokenless Hellos were told of, and when.
    tokenless: (u64, Option<Time>),
}

/// So often, at the most, it is told that players without a token find nobody.
const TOKENLESS_EVERY: Duration = Duration::from_secs(60);

impl Teller {
    /// Tells what happened at the door and in the rooms since this was called last.
    pub(super) fn tell<G: Game>(
        &mut self,
        now: Time,
        server: &mut Server<G>,
        net_log: Option<&NetLog>,
    ) {
        self.tell_lines(now, None, net_log, || server.poll_line());
        for room in server.rooms_mut() {
            while let Some(event) = room.poll_event() {
                if self.may_tell(now, event) {
                    tell_event(room.number(), event, |player| whereabouts(room, player));
                }
            }
            let number = room.number();
            self.tell_lines(now, Some(number), net_log, || room.poll_line());
        }
        self.tell_tokenless(now, server.endpoint().counts().tokenless);
        while let Some(ClosedRoom { number, events, mut lines }) = server.poll_closed() {
            self.tell_lines(now, Some(number), net_log, || lines.poll());
            for event in events {
                if self.may_tell(now, event) {
                    tell_event(number, event, |_| String::new());
                }
            }
            info!("room {number}: closed, nobody is in it");
        }
    }

    /// Tells what happens on the line: at level trace all of it, at debug what is odd, and so much of
    /// that as anyone reads. The net log has it, too.
    fn tell_lines(
        &mut self,
        now: Time,
        room: Option<u32>,
        net_log: Option<&NetLog>,
        mut lines: impl FnMut() -> Option<LogLine>,
    ) {
        let told = || {
            let line = lines()?;
            match line.kind() {
                Some(kind) if tracing::enabled!(Level::DEBUG) => {
                    if self.sparing.allows(now, kind) {
                        debug!("{line}");
                    }
                }
                Some(_) => {}
                None => trace!("{line}"),
            }
            Some(line)
        };
        match net_log {
            Some(net_log) => net_log.write(now, room, told),
            None => std::iter::from_fn(told).for_each(drop),
        }
        while let Some(left_out) = self.sparing.poll(now) {
            debug!("{left_out}");
        }
    }

    /// Whoever comes with the first R-Type program gets silence, and only the log can say why.
    fn tell_tokenless(&mut self, now: Time, count: u64) {
        let (told, at) = self.tokenless;
        if count == told || at.is_some_and(|at| now.since(at) < TOKENLESS_EVERY) {
            return;
        }
        self.tokenless = (count, Some(now));
        let more = count.saturating_sub(told);
        warn!(
            "{more} Hellos in rtype came without a token and got no answer; --allow-tokenless \
             lets these players in"
        );
    }

    /// Whether a line may be spent on it; says first how many were not.
    fn may_tell(&mut self, now: Time, event: RoomEvent) -> bool {
        let is_heard = match is_warning(event) {
            true => tracing::enabled!(Level::WARN),
            false => tracing::enabled!(Level::INFO),
        };
        if !is_heard {
            return false;
        }
        let may = self.lines.allow(now, LINES, 1) == Allowance::Yes;
        match may {
            true if self.left_out > 0 => {
                let left_out = std::mem::take(&mut self.left_out);
                warn!("{left_out} lines about players were left out: too many at once");
            }
            true => {}
            false => self.left_out += 1,
        }
        may
    }
}

fn is_warning(event: RoomEvent) -> bool {
    use RoomEvent::{Dropped, HighLatency, Quiet};
    matches!(event, Dropped(_) | HighLatency(..) | Quiet(_))
}

fn tell_event(number: u32, event: RoomEvent, whereabouts: impl Fn(PlayerId) -> String) {
    match event {
        RoomEvent::Joined(player, name) => {
            let from = whereabouts(player);
            info!("room {number}: {player} joined as {name}{from}");
        }
        RoomEvent::Quiet(player) => warn!("room {number}: {player} is quiet"),
        RoomEvent::Heard(player) => info!("room {number}: {player} is heard again"),
        RoomEvent::Dropped(player) => {
            // Who has no way back is gone already.
            let kept = if whereabouts(player).is_empty() { "" } else { "; the place is kept" };
            warn!("room {number}: {player} was silent for too long and is dropped{kept}");
        }
        RoomEvent::Resumed(player, path) => {
            info!("room {number}: {player} is back from {}", path.remote);
        }
        RoomEvent::Left(player) => info!("room {number}: {player} left"),
        RoomEvent::Freed(player) => info!("room {number}: the place of {player} is free"),
        RoomEvent::HighLatency(player, ms) => {
            warn!("room {number}: {player} has a round trip of {ms} ms");
        }
    }
}

/// From where, if the player has not gone again.
fn whereabouts<G: Game>(room: &Room<G>, player: PlayerId) -> String {
    let member = room.members().find(|member| member.player == player);
    member.map(|member| format!(" from {}", member.path.remote)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_beyond_the_limit_are_counted_and_told_of_later() {
        let registry = tracing_subscriber::registry().with(LevelFilter::WARN);
        let _told = tracing::subscriber::set_default(registry);
        let (mut teller, quiet) = (Teller::default(), RoomEvent::Quiet(PlayerId(1)));
        let now = Time::from_millis(60_000);
        let told = (0..1_000).filter(|_| teller.may_tell(now, quiet)).count();
        assert_eq!((told, teller.left_out), (LINES.burst as usize, 1_000 - told as u64));
        let later = Time::from_millis(61_000);
        assert!(teller.may_tell(later, quiet));
        assert_eq!(teller.left_out, 0);
    }

    #[test]
    fn tokenless_hellos_are_told_of_once_a_minute() {
        let mut teller = Teller::default();
        let mut told_at = |ms, count| {
            teller.tell_tokenless(Time::from_millis(ms), count);
            teller.tokenless.1.map(|at| at.as_nanos() / 1_000_000)
        };
        assert_eq!(told_at(500, 0), None);
        assert_eq!(told_at(1_000, 1), Some(1_000));
        assert_eq!(told_at(60_999, 90), Some(1_000));
        assert_eq!(told_at(61_000, 90), Some(61_000));
        assert_eq!(told_at(200_000, 90), Some(61_000));
    }

    #[test]
    fn what_nobody_hears_takes_no_lines_from_the_rest() {
        let registry = tracing_subscriber::registry().with(LevelFilter::WARN);
        let _told = tracing::subscriber::set_default(registry);
        let (mut teller, left) = (Teller::default(), RoomEvent::Left(PlayerId(1)));
        let now = Time::from_millis(60_000);
        assert!((0..1_000).all(|_| !teller.may_tell(now, left)));
        assert!(teller.may_tell(now, RoomEvent::Dropped(PlayerId(1))));
    }
}
