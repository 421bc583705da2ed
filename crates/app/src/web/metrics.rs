//! `/metrics`: the status in Prometheus' text format, version 0.0.4.
//!
//! The number of lines does not depend on who plays: nothing is listed by room or player, and no label comes
//! from a player.
//! `/api/rooms` has those.

use std::fmt::{Display, Write};
use std::time::Duration;

use backspin::room::MessageCounts;

use super::status::{MemberStatus, Status, round_rate, round_share};
use crate::serve::meter::{Histogram, LATE, Traffic};

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
    let mut out = Metrics(String::with_capacity(16 * 1024));
    let (version, uptime) = (env!("CARGO_PKG_VERSION"), status.uptime.as_millis() as f64 / 1e3);
    out.each("gauge", "build_info", "The version of the program.", "version", [(version, 1)]);
    out.gauge("uptime_seconds", "Seconds since the server started.", uptime);
    let help = "1 while the server is draining and lets no new players in.";
    out.gauge("draining", help, u8::from(status.draining));
    let help = "Sessions, including those of players who are disconnected.";
    out.gauge("sessions", help, status.sessions);
    out.gauge("bans", "Banned addresses.", page.bans);
    out.rooms(status);
    out.players(status);
    out.traffic(status);
    out.ticks(status);
    let help = "Log lines dropped because they were not read in time.";
    out.counter("log_lines_dropped_total", help, status.log_dropped);
    out.page(page);
    out.0
}

/// The lines so far.
struct Metrics(String);

impl Metrics {
    /// By game, of which there are a few.
    fn rooms(&mut self, status: &Status) {
        let mut games: Vec<_> = status.rooms.iter().map(|room| room.game).collect();
        games.sort_unstable();
        let counts = games.chunk_by(|a, b| a == b).map(|same| (same[0], same.len()));
        self.each("gauge", "rooms", "Rooms, by game.", "game", counts);
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
            let of =
                |game| status.members().filter(move |(room, it)| room.game == game && counts(it));
            self.each(
                "gauge",
                name,
                help,
                "game",
                games.iter().map(|game| (game, of(*game).count())),
            );
        }
    }

    fn traffic(&mut self, status: &Status) {
        let Traffic { datagrams_in, bytes_in, datagrams_out, bytes_out } = status.traffic;
        let datagrams = [("in", datagrams_in), ("out", datagrams_out)];
        let help = "Datagrams through the sockets.";
        self.each("counter", "datagrams_total", help, "direction", datagrams);
        let bytes = [("in", bytes_in), ("out", bytes_out)];
        let help = "Bytes in these datagrams, without IP and UDP headers.";
        self.each("counter", "bytes_total", help, "direction", bytes);
        let (help, dropped) = ("Dropped datagrams, by reason.", status.dropped.by_reason());
        self.each("counter", "datagrams_dropped_total", help, "reason", dropped);
    }

    fn ticks(&mut self, status: &Status) {
        let ticks = &status.ticks;
        let help = "Time to step the worlds that are due and send everyone their snapshots.";
        self.histogram("tick_seconds", help, &ticks.work);
        self.histogram("tick_lateness_seconds", "How late ticks began.", &ticks.lateness);
        let help = format!(
            "Ticks that began more than {} ms late: because of the server's own work, or because \
             the machine did not run it.",
            LATE.as_millis()
        );
        let late = [("server", ticks.late - ticks.held_up), ("machine", ticks.held_up)];
        self.each("counter", "ticks_late_total", &help, "cause", late);
        let help = "Ticks skipped because a room was too late for them.";
        self.counter("ticks_skipped_total", help, status.skipped_ticks);
        let slow = status.rooms.iter().filter(|room| room.slow).count();
        self.gauge("rooms_slow", "Rooms over their budget: they skip ticks all the time.", slow);
        let MessageCounts { overruns, chat_refused, lost, malformed } = status.messages;
        let help = "Sessions that ended because too many messages waited for the player.";
        self.counter("sessions_overrun_total", help, overruns);
        self.counter("chat_refused_total", "Lines of chat that were refused.", chat_refused);
        let help = "Unreliable messages dropped for lack of room.";
        self.counter("messages_lost_total", help, lost);
        let help = "Messages of players that the game could not read.";
        self.counter("messages_malformed_total", help, malformed);
        let help = "Things left out because a game reached a limit, by limit.";
        self.each("counter", "left_out_total", help, "limit", status.left_out.by_kind());
    }

    fn histogram(&mut self, name: &str, help: &str, of: &Histogram) {
        self.begin("histogram", name, help);
        let mut below = 0;
        for (count, bound) in of.counts.iter().zip(Histogram::BOUNDS) {
            below += count;
            self.put(format_args!("{name}_bucket{{le=\"{}\"}}", bound.as_secs_f64()), below);
        }
        self.put(format_args!("{name}_bucket{{le=\"+Inf\"}}"), of.total());
        self.put(format_args!("{name}_sum"), of.sum.as_secs_f64());
        self.put(format_args!("{name}_count"), of.total());
    }

    /// What all players have together, and how the one in the middle and the worst are. Nobody, nothing.
    fn players(&mut self, status: &Status) {
        type Value = fn(&MemberStatus) -> Option<f64>;
        let ranked: [(&str, &str, Value); 3] = [
            ("player_round_trip_seconds", "Round trips of players, smoothed.", |m| {
                m.rtt.map(to_seconds)
            }),
            ("player_jitter_seconds", "Jitter of players' round trips.", |m| {
                m.jitter.map(to_seconds)
            }),
            (
                "player_loss_ratio",
                "Share of a player's datagrams lost over the last seconds.",
                |m| m.loss.map(round_share),
            ),
        ];
        for (name, help, value) in ranked {
            let mut values: Vec<_> = status.players().filter_map(value).collect();
            values.sort_unstable_by(f64::total_cmp);
            let ranks = [("median", 0.5), ("p95", 0.95), ("worst", 1.0)];
            let ranks = ranks.into_iter().filter_map(|(rank, share)| {
                let place = (share * values.len() as f64).ceil() as usize;
                Some((rank, values.get(place.checked_sub(1)?)?))
            });
            self.each("gauge", name, help, "rank", ranks);
        }
        let sum = |rate: fn(&MemberStatus) -> f64| round_rate(status.players().map(rate).sum());
        let help = "Inputs of all players in the last second.";
        self.gauge("inputs_per_second", help, sum(|m| m.input_rate));
        let help = "Ticks without a real input from a player in the last second.";
        self.gauge("input_gaps_per_second", help, sum(|m| m.gap_rate));
    }

    /// How the page itself is.
    fn page(&mut self, page: &PageCounts) {
        let PageCounts { connections, streams, refused, bans: _ } = *page;
        self.gauge("http_connections", "Connections to the page.", connections);
        let help = "Connections to the page that follow an event stream.";
        self.gauge("http_streams", help, streams);
        let Refused { places, address, streams, tokens } = refused;
        let refused =
            [("places", places), ("address", address), ("streams", streams), ("token", tokens)];
        let help = "Refused requests to the page, by reason.";
        self.each("counter", "http_refused_total", help, "reason", refused);
    }

    fn gauge(&mut self, name: &str, help: &str, value: impl Display) {
        self.begin("gauge", name, help);
        self.put(name, value);
    }

    fn counter(&mut self, name: &str, help: &str, value: impl Display) {
        self.begin("counter", name, help);
        self.put(name, value);
    }

    /// A metric with a line for each value of a label. These are words of our own: there is nothing in them that
    /// would end a label.
    fn each<L: Display, V: Display>(
        &mut self,
        kind: &str,
        name: &str,
        help: &str,
        label: &str,
        values: impl IntoIterator<Item = (L, V)>,
    ) {
        self.begin(kind, name, help);
        for (of, value) in values {
            self.put(format_args!("{name}{{{label}=\"{of}\"}}"), value);
        }
    }

    // Writing to a string does not fail.
    fn begin(&mut self, kind: &str, name: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP backspin_{name} {help}\n# TYPE backspin_{name} {kind}");
    }

    fn put(&mut self, line: impl Display, value: impl Display) {
        let _ = writeln!(self.0, "backspin_{line} {value}");
    }
}

fn to_seconds(time: Duration) -> f64 {
    time.as_micros() as f64 / 1e6
}

#[cfg(test)]
mod tests;
