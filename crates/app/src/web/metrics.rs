//! `/metrics`: a status in Prometheus' text format, version 0.0.4.

use std::fmt::{self, Display, Write};
use std::time::Duration;

use super::status::{MemberStatus, RoomStatus, Status, round_rate, round_share};
use crate::serve::meter::{Histogram, LATE};

/// The page that Prometheus reads.
pub(super) fn text(status: &Status) -> String {
    let mut out = String::with_capacity(16 * 1024);
    // Writing to a string does not fail.
    let _ = write_all(&mut out, status);
    out
}

fn write_all(out: &mut String, status: &Status) -> fmt::Result {
    let version = env!("CARGO_PKG_VERSION");
    let mut metric = Metric::begin(out, "build_info", Kind::Gauge, "The version of the program.")?;
    metric.put(&[("version", &version)], 1)?;
    let uptime = status.uptime.as_millis() as f64 / 1e3;
    single(out, "uptime_seconds", Kind::Gauge, "Since the server was started.", uptime)?;
    let draining = u8::from(status.draining);
    single(out, "draining", Kind::Gauge, "1 if nobody new is let in.", draining)?;
    let sessions = "Sessions, those of players who are away included.";
    single(out, "sessions", Kind::Gauge, sessions, status.sessions)?;
    write_rooms(out, status)?;
    write_traffic(out, status)?;
    write_ticks(out, status)?;
    let dropped = "Lines of the log that were dropped because nobody read them in time.";
    single(out, "log_lines_dropped_total", Kind::Counter, dropped, status.log_dropped)?;
    write_players(out, status)
}

fn write_rooms(out: &mut String, status: &Status) -> fmt::Result {
    let mut metric = Metric::begin(out, "rooms", Kind::Gauge, "Rooms, by game.")?;
    let mut games: Vec<_> = status.rooms.iter().map(|room| room.game).collect();
    games.sort_unstable();
    for same in games.chunk_by(|a, b| a == b) {
        metric.put(&[("game", &same[0])], same.len())?;
    }
    let here = |room: &RoomStatus, watches| {
        room.members.iter().filter(|m| m.present && m.watches == watches).count()
    };
    for (name, help, watches) in [
        ("room_players", "Players who are here.", false),
        ("room_spectators", "Spectators who are here.", true),
    ] {
        let mut metric = Metric::begin(out, name, Kind::Gauge, help)?;
        for room in &status.rooms {
            let labels: [(&str, &dyn Display); 3] =
                [("room", &room.room), ("name", &room.name), ("game", &room.game)];
            metric.put(&labels, here(room, watches))?;
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
            "Bytes in them, without the headers of IP and UDP.",
            [traffic.bytes_in, traffic.bytes_out],
        ),
    ] {
        let mut metric = Metric::begin(out, name, Kind::Counter, help)?;
        metric.put(&[("direction", &"in")], incoming)?;
        metric.put(&[("direction", &"out")], outgoing)?;
    }
    let help = "Datagrams that were dropped, by reason.";
    let mut metric = Metric::begin(out, "datagrams_dropped_total", Kind::Counter, help)?;
    for (reason, count) in status.dropped.by_reason() {
        metric.put(&[("reason", &reason)], count)?;
    }
    Ok(())
}

fn write_ticks(out: &mut String, status: &Status) -> fmt::Result {
    let ticks = &status.ticks;
    let help = "From stepping the worlds that were due until everyone in them was sent theirs.";
    write_histogram(out, "tick_seconds", help, &ticks.work)?;
    let help = "How long after their time ticks began.";
    write_histogram(out, "tick_lateness_seconds", help, &ticks.lateness)?;
    let help = format!(
        "Ticks that began more than {} ms late: by the server's own work, or because the machine \
         did not let it run.",
        LATE.as_millis()
    );
    let mut metric = Metric::begin(out, "ticks_late_total", Kind::Counter, &help)?;
    metric.put(&[("cause", &"server")], ticks.late - ticks.held_up)?;
    metric.put(&[("cause", &"machine")], ticks.held_up)?;
    let skipped = "Ticks that were let go because a room came too late.";
    single(out, "ticks_skipped_total", Kind::Counter, skipped, status.skipped_ticks)
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

fn write_players(out: &mut String, status: &Status) -> fmt::Result {
    type Value = fn(&MemberStatus) -> Option<f64>;
    let metrics: [(&str, Kind, &str, Value); 7] = [
        ("player_present", Kind::Gauge, "1 if the player is here, 0 if only the place is.", |m| {
            Some(f64::from(u8::from(m.present)))
        }),
        ("player_round_trip_seconds", Kind::Gauge, "The round trip, smoothed.", |m| {
            m.rtt.map(to_seconds)
        }),
        ("player_jitter_seconds", Kind::Gauge, "How the round trip varies.", |m| {
            m.jitter.map(to_seconds)
        }),
        (
            "player_loss_ratio",
            Kind::Gauge,
            "The share that is lost of what the player sends, over the last seconds.",
            |m| m.loss.map(round_share),
        ),
        ("player_inputs_total", Kind::Counter, "Inputs that have come.", |m| Some(m.inputs as f64)),
        ("player_input_rate", Kind::Gauge, "Inputs in the last second.", |m| {
            Some(round_rate(m.input_rate))
        }),
        (
            "player_input_gaps_total",
            Kind::Counter,
            "Ticks that ran without a real input of the player.",
            |m| m.gaps.map(|gaps| gaps as f64),
        ),
    ];
    for (name, kind, help, value) in metrics {
        let mut metric = Metric::begin(out, name, kind, help)?;
        for (room, member) in status.members() {
            let role = if member.watches { "watch" } else { "play" };
            let labels: [(&str, &dyn Display); 5] = [
                ("room", &room.room),
                ("player", &member.player),
                ("name", &member.name),
                ("dialect", &member.dialect),
                ("role", &role),
            ];
            if let Some(value) = value(member) {
                metric.put(&labels, value)?;
            }
        }
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
            write!(self.out, "{before}{label}=\"")?;
            write!(Escaped(self.out), "{text}")?;
            self.out.push('"');
        }
        if !labels.is_empty() {
            self.out.push('}');
        }
        writeln!(self.out, " {value}")
    }
}

/// Writes what may stand in a label: a player may be called anything.
struct Escaped<'a>(&'a mut String);

impl Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            match c {
                '\\' => self.0.push_str("\\\\"),
                '"' => self.0.push_str("\\\""),
                '\n' => self.0.push_str("\\n"),
                c => self.0.push(c),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
