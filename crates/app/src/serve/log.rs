//! The server's log on stderr. It goes through a [`Spool`]: if nobody reads it, lines are dropped and
//! counted, and the
//! game continues.

use std::error::Error;
use std::io::{self, IsTerminal};
use std::time::Duration;

use backspin::channel::LogLine;
use backspin::endpoint::EndpointCounts;
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

/// The most bytes of lines waiting to be read: some thousands of lines.
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
            warn!("{lines} log lines were dropped: they were not read in time");
        })?;
        let (layer, filter) = reload::Layer::new(level);
        let feed = spool.feed().clone();
        // A log without a reader must not stop the game.
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

    /// Changes the log level.
    pub(super) fn set_level(&self, level: LevelFilter) {
        // It fails if the log is gone, and then it does not matter.
        let _ = self.filter.modify(|filter| *filter = level);
    }

    /// How many lines were dropped because they were not read in time.
    pub(super) fn dropped(&self) -> u64 {
        self.spool.feed().dropped()
    }
}

/// A level by its name.
pub(super) fn parse(text: &str) -> Result<LevelFilter, String> {
    let unknown = |_| format!("{text:?} is not one of off, error, warn, info, debug and trace");
    text.parse().map_err(unknown)
}

/// The same as a setting in a file.
pub(super) fn serialize<S: Serializer>(
    level: &LevelFilter,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_str(level)
}

/// How many net log lines the endpoint and the rooms keep: none if they are not read.
pub(super) fn kept_lines(net_log: Option<&NetLog>) -> usize {
    let is_read = net_log.is_some() || tracing::enabled!(Level::DEBUG);
    if is_read { netlog::KEPT } else { 0 }
}

/// The limit on lines about players; a machine that stalls has one about each of a thousand.
const LINES: Rate = Rate { per_second: 50, burst: 500 };

/// Logs what happens in rooms.
#[derive(Default)]
pub(super) struct Teller {
    lines: Bucket,
    /// Lines that were too many, since the last that was not.
    left_out: u64,
    /// What anyone can cause with a datagram.
    sparing: Sparing,
    /// Hellos without a token.
    tokenless: Reminder,
    /// Lengths in little-endian.
    byte_order: Reminder,
}

/// Something that is told once a minute, however often it happens.
#[derive(Default)]
struct Reminder {
    /// How many were told of.
    told: u64,
    at: Option<Time>,
}

impl Reminder {
    const EVERY: Duration = Duration::from_secs(60);

    /// How many more there have been, when it is time to say so.
    fn poll(&mut self, now: Time, count: u64) -> Option<u64> {
        if count == self.told || self.at.is_some_and(|at| now.since(at) < Reminder::EVERY) {
            return None;
        }
        let more = count.saturating_sub(self.told);
        *self = Reminder { told: count, at: Some(now) };
        Some(more)
    }
}

impl Teller {
    /// Logs what happened at the endpoint and in the rooms since the last call.
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
            while let Some(line) = room.poll_chat() {
                // Shown with care: a line cannot do anything to a terminal.
                if tracing::enabled!(Level::INFO) && self.may_spend(now) {
                    info!("room {number}: chat: {line}");
                }
            }
            self.tell_lines(now, Some(number), net_log, || room.poll_line());
        }
        self.tell_slips(now, server.endpoint().counts());
        while let Some(ClosedRoom { number, events, mut lines }) = server.poll_closed() {
            self.tell_lines(now, Some(number), net_log, || lines.poll());
            for event in events {
                if self.may_tell(now, event) {
                    tell_event(number, event, |_| String::new());
                }
            }
            info!("room {number}: closed, empty");
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

    /// Whoever comes with the first R-Type program, or writes the first client, gets silence, and only the log
    /// can say why.
    fn tell_slips(&mut self, now: Time, counts: &EndpointCounts) {
        if let Some(more) = self.tokenless.poll(now, counts.tokenless) {
            warn!(
                "{more} Hellos in rtype came without a token and got no answer; --allow-tokenless \
                 lets these players in"
            );
        }
        if let Some(more) = self.byte_order.poll(now, counts.byte_order) {
            warn!(
                "{more} datagrams of ack came whose payload_length fits only in little-endian; every \
                 number of ack is big-endian (htons and htonl, or struct.pack(\">H\"))"
            );
        }
    }

    /// Whether a line may be spent on it.
    fn may_tell(&mut self, now: Time, event: RoomEvent) -> bool {
        let is_heard = match is_warning(event) {
            true => tracing::enabled!(Level::WARN),
            false => tracing::enabled!(Level::INFO),
        };
        is_heard && self.may_spend(now)
    }

    /// Whether there is a line left; says first how many there were not.
    fn may_spend(&mut self, now: Time) -> bool {
        let may = self.lines.allow(now, LINES, 1) == Allowance::Yes;
        match may {
            true if self.left_out > 0 => {
                let left_out = std::mem::take(&mut self.left_out);
                warn!("left out {left_out} lines about players: too many at once");
            }
            true => {}
            false => self.left_out += 1,
        }
        may
    }
}

fn is_warning(event: RoomEvent) -> bool {
    use RoomEvent::{Dropped, HighLatency, LeftOut, Overrun, Quiet, Slow};
    matches!(event, Dropped(_) | HighLatency(..) | LeftOut { .. } | Overrun(_) | Quiet(_) | Slow)
}

fn tell_event(number: u32, event: RoomEvent, whereabouts: impl Fn(PlayerId) -> String) {
    match event {
        RoomEvent::Joined(player, name) => {
            let from = whereabouts(player);
            info!("room {number}: {player} joined as {name}{from}");
        }
        RoomEvent::Quiet(player) => warn!("room {number}: {player} is not responding"),
        RoomEvent::Heard(player) => info!("room {number}: {player} responds again"),
        RoomEvent::Dropped(player) => {
            // Players without a way back are already gone.
            let kept = if whereabouts(player).is_empty() { "" } else { "; the slot is kept" };
            warn!("room {number}: {player} timed out{kept}");
        }
        RoomEvent::Resumed(player, path) => {
            info!("room {number}: {player} is back from {}", path.remote);
        }
        RoomEvent::Left(player) => info!("room {number}: {player} left"),
        RoomEvent::Freed(player) => info!("room {number}: the slot of {player} is free"),
        RoomEvent::HighLatency(player, ms) => {
            warn!("room {number}: {player} has a round trip of {ms} ms");
        }
        RoomEvent::Overrun(player) => {
            warn!("room {number}: too many messages wait for {player}; its session has ended");
        }
        RoomEvent::Slow => warn!(
            "room {number}: over its budget: steps take longer than a tick, or the machine is too \
             busy; ticks are skipped, and the match is slower"
        ),
        RoomEvent::KeepsUp(skipped) => {
            info!("room {number}: in time again; {skipped} ticks were skipped");
        }
        RoomEvent::LeftOut { what, times } => {
            let times = if times > 1 { format!(" ({times} times)") } else { String::new() };
            warn!("room {number}: {what}{times}");
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
    use std::sync::{Arc, Mutex};

    use backspin::channel::SendError;
    use backspin::room::LeftOut;

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

    /// What is logged in the meantime, at level warn.
    fn logged(log: impl FnOnce()) -> String {
        #[derive(Clone, Default)]
        struct Page(Arc<Mutex<Vec<u8>>>);
        impl io::Write for Page {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0.lock().unwrap().write(bytes)
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let page = Page::default();
        let feed = page.clone();
        let lines = fmt::layer().with_writer(move || feed.clone()).with_ansi(false);
        let registry = tracing_subscriber::registry().with(LevelFilter::WARN).with(lines);
        tracing::subscriber::with_default(registry, log);
        let bytes = page.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_limit_that_was_reached_is_a_warning_with_what_was_left_out_and_how_often() {
        let what = LeftOut::Message(SendError::TooLong);
        let told =
            logged(|| tell_event(3, RoomEvent::LeftOut { what, times: 7 }, |_| String::new()));
        let line =
            "room 3: a message of the game is not sent. A message has at most 900 bytes. (7 times)";
        assert!(told.contains("WARN") && told.contains(line), "{told}");
        assert!(is_warning(RoomEvent::LeftOut { what, times: 7 }));
    }

    #[test]
    fn slips_of_clients_are_told_of_once_a_minute() {
        let mut reminder = Reminder::default();
        let mut told = |ms, count| reminder.poll(Time::from_millis(ms), count);
        assert_eq!(told(500, 0), None);
        assert_eq!(told(1_000, 1), Some(1));
        assert_eq!(told(60_999, 90), None);
        assert_eq!(told(61_000, 90), Some(89));
        assert_eq!(told(200_000, 90), None);
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
