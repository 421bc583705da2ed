//! One measurement: a server and its clients, each a process on a core of its own.

use std::error::Error;
use std::fmt;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::RATE;
use crate::contender::Contender;
use crate::control::{Order, Ready};
use crate::crowd::{Connected, Seen};
use crate::machine;
use crate::server::Served;

/// How long clients may take to come in.
const PATIENCE: Duration = Duration::from_secs(60);

/// Between the last client's coming and the measurement.
const WARM_UP: Duration = Duration::from_secs(2);

/// What is measured.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Job {
    pub(crate) contender: Contender,
    pub(crate) clients: usize,
    pub(crate) seconds: f64,
}

/// One of the two processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Side {
    Server,
    Clients,
}

/// What came out of one measurement.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Outcome {
    #[serde(flatten)]
    pub(crate) job: Job,
    pub(crate) repetition: usize,
    #[serde(flatten)]
    pub(crate) figures: Figures,
}

/// The figures of one measurement. "Per tick" is for each client and tick: a snapshot sent.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Figures {
    pub(crate) cpu_ns_per_tick: f64,
    pub(crate) user_pct: f64,
    /// Both ways, headers of IP and UDP included.
    pub(crate) wire_bytes_per_tick: f64,
    /// Both ways.
    pub(crate) datagrams_per_tick: f64,
    pub(crate) heap_bytes: u64,
    pub(crate) inputs_per_tick: f64,
    pub(crate) snapshots_per_client_s: f64,
    pub(crate) lost_pct: f64,
    pub(crate) alive: usize,
}

impl Figures {
    fn new(job: &Job, served: &Served, seen: &Seen) -> Self {
        let meter = served.meter;
        let cpu = meter.user + meter.system;
        let ticks = served.done.snapshots as f64;
        let by_ticks = || meter.user.as_secs_f64() / cpu.as_secs_f64();
        Figures {
            cpu_ns_per_tick: cpu.as_nanos() as f64 / ticks,
            user_pct: 100.0 * served.samples.user_share().unwrap_or_else(by_ticks),
            wire_bytes_per_tick: meter.wire_bytes as f64 / ticks,
            datagrams_per_tick: meter.wire_datagrams as f64 / ticks,
            heap_bytes: served.heap_bytes,
            inputs_per_tick: served.done.inputs as f64 / ticks,
            snapshots_per_client_s: seen.snapshots as f64 / job.clients as f64 / seen.seconds,
            lost_pct: 100.0 - 100.0 * seen.snapshots as f64 / seen.sent.max(1) as f64,
            alive: seen.alive,
        }
    }

    /// Whether the work was done: nearly every snapshot reached its client, and nearly every
    /// input the game.
    pub(crate) fn delivers(&self, clients: usize) -> bool {
        self.alive == clients
            && self.lost_pct <= 2.0
            && self.inputs_per_tick >= 0.97
            && self.snapshots_per_client_s >= 0.97 * f64::from(RATE)
    }
}

impl fmt::Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} with {} clients", self.contender, self.clients)
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:.0} ns, {:.1} % user, {:.1} bytes, {:.3} datagrams, {} kB heap; {:.1} snapshots/s, \
             {:.2} % lost, {:.3} inputs",
            self.cpu_ns_per_tick,
            self.user_pct,
            self.wire_bytes_per_tick,
            self.datagrams_per_tick,
            self.heap_bytes / 1000,
            self.snapshots_per_client_s,
            self.lost_pct,
            self.inputs_per_tick
        )
    }
}

/// What a process that was started for one side does.
pub(crate) fn take_side(side: Side, job: &Job) -> Result<(), Box<dyn Error>> {
    let core = match side {
        Side::Server => 0,
        Side::Clients => 1 % machine::cores(),
    };
    machine::pin(core)?;
    machine::go_first();
    match side {
        Side::Server => job.contender.serve(job),
        Side::Clients => job.contender.play(job),
    }
}

/// Measures `program`, a build of this one.
pub(crate) fn run(program: &Path, job: &Job) -> Result<Figures, Box<dyn Error>> {
    let mut server = Half::start(program, Side::Server, job)?;
    let ready: Ready = server.hear(PATIENCE)?;
    let mut clients = Half::start(program, Side::Clients, job)?;
    clients.tell(&serde_json::to_string(&ready)?)?;
    clients.hear::<Connected>(PATIENCE)?;
    thread::sleep(WARM_UP);
    for order in [Order::Begin, Order::End] {
        server.tell(order.line())?;
        clients.tell(order.line())?;
        if order == Order::Begin {
            thread::sleep(Duration::from_secs_f64(job.seconds));
        }
    }
    let served = server.hear(PATIENCE)?;
    let seen = clients.hear(PATIENCE)?;
    Ok(Figures::new(job, &served, &seen))
}

/// One of the two processes, seen from here. It ends with this.
struct Half {
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<String>,
}

impl Half {
    fn start(program: &Path, side: Side, job: &Job) -> Result<Self, Box<dyn Error>> {
        let mut child = Command::new(program)
            .args(["--side", &option(side), "--contender", &option(job.contender)])
            .args(["--clients", &job.clients.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let stdin = child.stdin.take().ok_or("no way to tell it anything")?;
        let stdout = child.stdout.take().ok_or("no way to hear it")?;
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Half { child, stdin, lines })
    }

    fn tell(&mut self, line: &str) -> Result<(), Box<dyn Error>> {
        writeln!(self.stdin, "{line}")?;
        Ok(self.stdin.flush()?)
    }

    fn hear<T: DeserializeOwned>(&self, patience: Duration) -> Result<T, Box<dyn Error>> {
        let line = self.lines.recv_timeout(patience);
        let line = line.map_err(|_| format!("not heard from for {} s", patience.as_secs()))?;
        Ok(serde_json::from_str(&line)?)
    }
}

/// A value as it is written on a command line.
fn option(value: impl clap::ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

impl Drop for Half {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
