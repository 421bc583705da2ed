//! `/metrics`: the status in Prometheus' text format, version 0.0.4.
//!
//! The number of lines does not depend on who plays: nothing is listed by room or player, and no label comes
//! from a player.
//! `/api/rooms` has those.

use std::fmt::{self, Display, Write};
use std::time::Duration;

use backspin::room::MessageCounts;

use super::status::{MemberStatus, Status, round_rate, round_share};
use crate::serve::meter::{Histogram, LATE};

/// What the page knows of itself.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PageCounts {
    pub(super) connections: usize,
    /// Connections to the page that follow an event stream.
    pub(super) streams: usize,
    pub(super) refused: Refused,
    /// Addresses that are banned from the game.
    pub(super) bans: usize,
}

/// Requests that were refused, by reason.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Refused {
    /// All places were taken.
    pub(super) places: u64,
    /// The address had too many.
    pub(super) address: u64,
    /// There were too many streams.
    pub(super) streams: u64,
    /// The token was wrong, or came too soon after wrong ones.
    pub(super) tokens: u64,
}

/// The page that Prometheus reads.
pub(super) fn text(status: &Status, page: &PageCounts) -> String {
    let mut out = String::with_capacity(16 * 1024);
    // Writing to a string does not fail.
    let _ = write_all(&mut out, status, page);
    out
}

fn write_all(out: &mut String, status: &Status, page: &PageCounts) -> fmt::Result {
    let version = env!("CARGO_PKG_VERSION");
    let mut metric = Metric::begin(out, "build_info", Kind::Gauge, "The version of the program.")?;
    metric.put(&[("version", &version)], 1)?;
    let uptime = status.uptime.as_millis() as f64 / 1e3;
    single(out, "uptime_seconds", Kind::Gauge, "Seconds since the server started.", uptime)?;
    let draining = u8::from(status.draining);
    single(
        out,
        "draining",
        Kind::Gauge,
        "1 while the server is draining and lets no new players \
                                          in.",
        draining,
    )?;
    let sessions = "Sessions, including those of players who are disconnected.";
    single(out, "sessions", Kind::Gauge, sessions, status.sessions)?;
    single(out, "bans", Kind::Gauge, "Banned addresses.", page.bans)?;
    write_rooms(out, status)?;
    write_players(out, status)?;
    write_traffic(out, status)?;
    write_ticks(out, status)?;
    let dropped = "Log lines dropped because they were not read in time.";
    single(out, "log_lines_dropped_total", Kind::Counter, dropped, status.log_dropped)?;
    write_page(out, page)
}

/// By game, of which there are two.
fn write_rooms(out: &mut String, status: &Status) -> fmt::Result {
    let mut games: Vec<_> = status.rooms.iter().map(|room| room.game).collect();
    games.sort_unstable();
    let mut metric = Metric::begin(out, "rooms", Kind::Gauge, "Rooms, by game.")?;
    for same in games.chunk_by(|a, b| a == b) {
        metric.put(&[("game", &same[0])], same.len())?;
    }
    type Counts = fn(&MemberStatus) -> bool;
    let metrics: [(&str, &str, Counts); 3] = [
        ("players", "Connected players, by game.", |m| m.present && !m.watches),
        ("players_away", "Disconnected players whose slot is kept, by game.", |m| {
            !m.present && !m.watches
        }),
        ("spectators", "Connected spectators, by game.", |m| m.present && m.watches),
    ];
    games.dedup();
    for (name, help, counts) in metrics {
        let mut metric = Metric::begin(out, name, Kind::Gauge, help)?;
        for game in &games {
            let members =
                status.members().filter(|(room, member)| room.game == *game && counts(member));
            metric.put(&[("game", game)], members.count())?;
        }
    }
    Ok(())
}

fn write_traffic(out: &mut String, status: &Status) -> fmt::Result {
    let traffic = &status.traffic;
    for (name, help, [incoming, outgoing]) in [
        (
            "datagrams_total",
            "Datagrams through the sockets.",
            [traffic.datagrams_in, traffic.datagrams_out],
        ),
        (
            "bytes_total",
            "Bytes in these datagrams, without IP and UDP headers.",
            [traffic.bytes_in, traffic.bytes_out],
        ),
    ] {
        let mut metric = Metric::begin(out, name, Kind::Counter, help)?;
        metric.put(&[("direction", &"in")], incoming)?;
        metric.put(&[("direction", &"out")], outgoing)?;
    }
    let help = "Dropped datagrams, by reason.";
    let mut metric = Metric::begin(out, "datagrams_dropped_total", Kind::Counter, help)?;
    for (reason, count) in status.dropped.by_reason() {
        metric.put(&[("reason", &reason)], count)?;
    }
    Ok(())
}

fn write_ticks(out: &mut String, status: &Status) -> fmt::Result {
    let ticks = &status.ticks;
    let help = "Time to step the worlds that are due and send everyone their snapshots.";
    write_histogram(out, "tick_seconds", help, &ticks.work)?;
    let help = "How late ticks began.";
    write_histogram(out, "tick_lateness_seconds", help, &ticks.lateness)?;
    let help = format!(
        "Ticks that began more than {} ms late: because of the server's own work, or because the \
         machine did not run it.",
        LATE.as_millis()
    );
    let mut metric = Metric::begin(out, "ticks_late_total", Kind::Counter, &help)?;
    metric.put(&[("cause", &"server")], ticks.late - ticks.held_up)?;
    metric.put(&[("cause", &"machine")], ticks.held_up)?;
    let skipped = "Ticks skipped because a room was too late for them.";
    single(out, "ticks_skipped_total", Kind::Counter, skipped, status.skipped_ticks)?;
    let slow = "Rooms over their budget: they skip ticks all the time.";
    let rooms = status.rooms.iter().filter(|room| room.slow).count();
    single(out, "rooms_slow", Kind::Gauge, slow, rooms)?;
    let MessageCounts { overruns, chat_refused, lost, malformed } = status.messages;
    let help = "Sessions that ended because too many messages waited for the player.";
    single(out, "sessions_overrun_total", Kind::Counter, help, overruns)?;
    let help = "Lines of chat that were refused.";
    single(out, "chat_refused_total", Kind::Counter, help, chat_refused)?;
    let help = "Unreliable messages dropped for lack of room.";
    single(out, "messages_lost_total", Kind::Counter, help, lost)?;
    let help = "Messages of players that the game could not read.";
    single(out, "messages_malformed_total", Kind::Counter, help, malformed)?;
    let help = "Things left out because a game reached a limit, by limit.";
    let mut metric = Metric::begin(out, "left_out_total", Kind::Counter, help)?;
    for (limit, count) in status.left_out.by_kind() {
        metric.put(&[("limit", &limit)], count)?;
    }
    Ok(())
}

fn write_histogram(out: &mut String, name: &str, help: &str, of: &Histogram) -> fmt::Result {
    let mut metric = Metric::begin(out, name, Kind::Histogram, help)?;
    let mut below = 0;
    for (count, bound) in of.counts.iter().zip(Histogram::BOUNDS) {
        below += count;
        metric.put_part("_bucket", &[("le", &bound.as_secs_f64())], below)?;
    }
    metric.put_part("_bucket", &[("le", &"+Inf")], of.total())?;
    metric.put_part("_sum", &[], of.sum.as_secs_f64())?;
    metric.put_part("_count", &[], of.total())
}

/// What all players have together, and how the one in the middle and the worst are. Nobody, nothing.
fn write_players(out: &mut String, status: &Status) -> fmt::Result {
    type Value = fn(&MemberStatus) -> Option<f64>;
    let ranked: [(&str, &str, Value); 3] = [
        ("player_round_trip_seconds", "Round trips of players, smoothed.", |m| {
            m.rtt.map(to_seconds)
        }),
        ("player_jitter_seconds", "Jitter of players' round trips.", |m| m.jitter.map(to_seconds)),
        ("player_loss_ratio", "Share of a player's datagrams lost over the last seconds.", |m| {
            m.loss.map(round_share)
        }),
    ];
    for (name, help, value) in ranked {
        let mut values: Vec<_> = status.players().filter_map(value).collect();
        values.sort_unstable_by(f64::total_cmp);
        let mut metric = Metric::begin(out, name, Kind::Gauge, help)?;
        for (rank, share) in [("median", 0.5), ("p95", 0.95), ("worst", 1.0)] {
            let place = (share * values.len() as f64).ceil() as usize;
            if let Some(value) = place.checked_sub(1).and_then(|place| values.get(place)) {
                metric.put(&[("rank", &rank)], *value)?;
            }
        }
    }
    let summed: [(&str, &str, Value); 2] = [
        ("inputs_per_second", "Inputs of all players in the last second.", |m| Some(m.input_rate)),
        (
            "input_gaps_per_second",
            "Ticks without a real input from a player in the last second.",
            |m| Some(m.gap_rate),
        ),
    ];
    for (name, help, value) in summed {
        let sum = status.players().filter_map(value).sum::<f64>();
        single(out, name, Kind::Gauge, help, round_rate(sum))?;
    }
    Ok(())
}

/// How the page itself is.
fn write_page(out: &mut String, page: &PageCounts) -> fmt::Result {
    let PageCounts { connections, streams, refused, bans: _ } = *page;
    single(out, "http_connections", Kind::Gauge, "Connections to the page.", connections)?;
    single(
        out,
        "http_streams",
        Kind::Gauge,
        "Connections to the page that follow an event \
                                              stream.",
        streams,
    )?;
    let Refused { places, address, streams, tokens } = refused;
    let help = "Refused requests to the page, by reason.";
    let mut metric = Metric::begin(out, "http_refused_total", Kind::Counter, help)?;
    for (reason, count) in
        [("places", places), ("address", address), ("streams", streams), ("token", tokens)]
    {
        metric.put(&[("reason", &reason)], count)?;
    }
    Ok(())
}

fn to_seconds(time: Duration) -> f64 {
    time.as_micros() as f64 / 1e6
}

/// A metric of one value.
fn single(
    out: &mut String,
    name: &str,
    kind: Kind,
    help: &str,
    value: impl Display,
) -> fmt::Result {
    Metric::begin(out, name, kind, help)?.put(&[], value)
}

#[derive(Clone, Copy)]
enum Kind {
    Counter,
    Gauge,
    Histogram,
}

/// One metric whose lines are being written.
struct Metric<'a> {
    out: &'a mut String,
    name: &'a str,
}

impl<'a> Metric<'a> {
    fn begin(
        out: &'a mut String,
        name: &'a str,
        kind: Kind,
        help: &str,
    ) -> Result<Self, fmt::Error> {
        let kind = match kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        };
        writeln!(out, "# HELP backspin_{name} {help}\n# TYPE backspin_{name} {kind}")?;
        Ok(Metric { out, name })
    }

    fn put(&mut self, labels: &[(&str, &dyn Display)], value: impl Display) -> fmt::Result {
        self.put_part("", labels, value)
    }

    fn put_part(
        &mut self,
        suffix: &str,
        labels: &[(&str, &dyn Display)],
        value: impl Display,
    ) -> fmt::Result {
        write!(self.out, "backspin_{}{suffix}", self.name)?;
        for (index, (label, text)) in labels.iter().enumerate() {
            let before = if index == 0 { '{' } else { ',' };
            // Words of our own: there is nothing in them that would end a label.
            write!(self.out, "{before}{label}=\"{text}\"")?;
        }
        if !labels.is_empty() {
            self.out.push('}');
        }
        writeln!(self.out, " {value}")
    }
}

#[cfg(test)]
mod tests;
