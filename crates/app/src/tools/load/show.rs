//! The output of a load test.

use std::io::{self, IsTerminal, Write};

use serde::Serialize;

use super::crowd::Second;
use super::tally::Tally;

/// Lines for people while it goes on, on stderr; the outcome on stdout.
pub(super) struct Show {
    clients: u32,
    seconds: u32,
    json: bool,
    terminal: bool,
}

/// The length of the bar.
const CELLS: usize = 20;

impl Show {
    pub(super) fn new(clients: u32, seconds: u32, json: bool) -> Self {
        Show { clients, seconds, json, terminal: io::stderr().is_terminal() }
    }

    /// The bar in the last line, where someone sees it.
    pub(super) fn second(&mut self, second: &Second) {
        if !self.terminal {
            return;
        }
        let (done, what) = match second.measured {
            None => (second.connected as f64 / f64::from(self.clients), "coming "),
            Some(time) => (time.as_secs_f64() / f64::from(self.seconds), "playing"),
        };
        let full = ((done * CELLS as f64) as usize).min(CELLS);
        let rate = second.counts.snapshots as f64 / second.connected.max(1) as f64;
        let lost = 100.0 * second.counts.lost();
        // A bar that cannot be drawn must not stop the run.
        let _ = write!(
            io::stderr(),
            "\r{what} [{}{}] {} connected, {rate:.1} snapshots per second each, {lost:.2} % \
             lost\x1b[K",
            "#".repeat(full),
            ".".repeat(CELLS - full),
            second.connected,
        );
    }

    /// The outcome.
    pub(super) fn close(&self, tally: &Tally) -> io::Result<()> {
        if self.terminal {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
        let outcome = Outcome::of(tally);
        let mut out = io::stdout().lock();
        if self.json {
            serde_json::to_writer(&mut out, &outcome)?;
            return writeln!(out);
        }
        let Outcome { clients, connected, seconds, .. } = outcome;
        writeln!(out, "{connected} of {clients} bots connected, measured for {seconds:.1} s")?;
        let mut line = |what: &str, figure: String| writeln!(out, "  {what:<34} {figure}");
        line("snapshots per second, each", format!("{:.2}", outcome.snapshot_rate_per_client))?;
        line("inputs sent", outcome.inputs_sent.to_string())?;
        line("snapshots received", outcome.snapshots_received.to_string())?;
        line("datagrams lost", format!("{:.3} %", outcome.lost_pct))?;
        if let (Some(p50), Some(p99)) = (outcome.rtt_ms_p50, outcome.rtt_ms_p99) {
            line("round trip, p50 and p99", format!("{p50:.2} ms, {p99:.2} ms"))?;
        }
        line("bytes per second down, each", format!("{:.0}", outcome.bytes_per_client_s_down))?;
        line("bytes per second up, each", format!("{:.0}", outcome.bytes_per_client_s_up))?;
        line("own ticks over 2 ms late", format!("{:.3} %", outcome.late_pct))?;
        line("own longest pause", format!("{:.0} ms", outcome.longest_pause_ms))?;
        line("connections lost", outcome.lost_connections.to_string())?;
        if outcome.churned > 0 {
            line("left and were replaced", outcome.churned.to_string())?;
        }
        for (why, count) in &tally.ends {
            writeln!(out, "  {count} ended: {why}")?;
        }
        out.flush()
    }
}

/// The outcome, as programs read it. Bytes are of UDP's payload.
#[derive(Serialize)]
struct Outcome {
    clients: usize,
    connected: usize,
    seconds: f64,
    inputs_sent: u64,
    snapshots_received: u64,
    snapshot_rate_per_client: f64,
    lost_pct: f64,
    rtt_ms_p50: Option<f64>,
    rtt_ms_p99: Option<f64>,
    bytes_per_client_s_down: f64,
    bytes_per_client_s_up: f64,
    late_pct: f64,
    longest_pause_ms: f64,
    lost_connections: u64,
    churned: u64,
    ended: u64,
}

impl Outcome {
    fn of(tally: &Tally) -> Self {
        let counts = &tally.counts;
        Outcome {
            clients: tally.clients,
            connected: tally.connected_last,
            seconds: tally.time.as_secs_f64(),
            inputs_sent: counts.inputs,
            snapshots_received: counts.snapshots,
            snapshot_rate_per_client: tally.per_client_second(counts.snapshots),
            lost_pct: 100.0 * counts.lost(),
            rtt_ms_p50: tally.round_trip_ms(50.0),
            rtt_ms_p99: tally.round_trip_ms(99.0),
            bytes_per_client_s_down: tally.per_client_second(counts.bytes_down),
            bytes_per_client_s_up: tally.per_client_second(counts.bytes_up),
            late_pct: 100.0 * counts.late(),
            longest_pause_ms: 1_000.0 * tally.longest_pause.as_secs_f64(),
            lost_connections: tally.lost,
            churned: tally.churned,
            ended: tally.ends.values().sum(),
        }
    }
}
