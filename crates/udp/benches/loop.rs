//! What a loop costs and how well it keeps time, both backends side by side in one run.
//!
//! ```text
//! cargo bench -p backspin-udp --bench loop
//! ```
//!
//! A server ticks 60 times a second. Each of 256 peers on loopback sends 13 bytes a tick and gets
//! 200 back. CPU time is that of the server's thread, the system's part included; it depends on the
//! machine and its neighbours, the ratio less so. Spacing is how far the time between two sends of
//! one server is off a sixtieth of a second.

use std::fs;
use std::io;
use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use backspin::node::{Node, Path, StreamNode, Transmit};
use backspin::time::Time;
use backspin_udp::{Backend, Loop, Socket};

const PEERS: usize = 256;
const INPUT: [u8; 13] = [1; 13];
const SNAPSHOT_LEN: usize = 200;
const TICK: Duration = Duration::from_nanos(1_000_000_000 / 60);
const BACKENDS: [Backend; 2] = [Backend::Portable, Backend::Batched];

fn main() -> io::Result<()> {
    // Without the flag this is a test run, which only has to come to an end.
    let (repetitions, span, paced) = match std::env::args().any(|arg| arg == "--bench") {
        true => (25, Duration::from_millis(400), Duration::from_secs(10)),
        false => (1, Duration::from_millis(50), Duration::from_millis(50)),
    };
    for arrival in [Arrival::AtOnce, Arrival::Spread] {
        let mut costs = [const { Vec::new() }; 2];
        for _ in 0..repetitions {
            for (cost, backend) in costs.iter_mut().zip(BACKENDS) {
                cost.push(measure(backend, arrival, span)?);
            }
        }
        report(arrival, costs);
    }
    println!("60 Hz for {paced:?}, off by");
    for backend in BACKENDS {
        let (mut off, cpu) = spacing(backend, paced)?;
        off.sort_unstable();
        let us = |per_mille: usize| off[(off.len() - 1) * per_mille / 1000].as_secs_f64() * 1e6;
        let [p50, p99, max] = [us(500), us(990), us(1000)];
        let cpu = 100.0 * cpu.as_secs_f64() / paced.as_secs_f64();
        println!(
            "  {backend:?}: p50 {p50:.0} us, p99 {p99:.0} us, max {max:.0} us; {cpu:.2} % CPU"
        );
    }
    Ok(())
}

/// How the inputs of a tick come.
#[derive(Clone, Copy, Debug)]
enum Arrival {
    /// One behind the other.
    AtOnce,
    /// A few every millisecond.
    Spread,
}

impl Arrival {
    fn groups(self) -> usize {
        match self {
            Arrival::AtOnce => 1,
            Arrival::Spread => 16,
        }
    }
}

/// Takes inputs, and answers all of them at the tick.
struct Server {
    peers: Vec<Path>,
    next_tick: Time,
    /// Who is sent to next, and at which tick.
    sending: usize,
    inputs: u64,
    snapshots: u64,
}

impl Server {
    fn new(now: Time) -> Self {
        let peers = Vec::with_capacity(PEERS);
        Server { peers, next_tick: now + TICK, sending: 0, inputs: 0, snapshots: 0 }
    }
}

impl Node for Server {
    fn handle_datagram(&mut self, _now: Time, path: Path, bytes: &mut [u8]) {
        assert_eq!(bytes, INPUT);
        self.inputs += 1;
        self.peers.push(path);
    }

    fn handle_timeout(&mut self, now: Time) {
        if now >= self.next_tick {
            self.next_tick += TICK;
            self.sending = self.peers.len();
        }
    }

    fn poll_transmit(&mut self, _now: Time, out: &mut [u8]) -> Option<Transmit> {
        self.sending = self.sending.checked_sub(1)?;
        let path = self.peers.swap_remove(self.sending);
        out[..SNAPSHOT_LEN].fill(7);
        self.snapshots += 1;
        Some(Transmit { path, len: SNAPSHOT_LEN })
    }

    fn poll_timeout(&self) -> Option<Time> {
        Some(self.next_tick)
    }
}

impl StreamNode for Server {}

/// Nanoseconds of CPU per datagram, in or out.
fn measure(backend: Backend, arrival: Arrival, span: Duration) -> io::Result<f64> {
    let socket = loopback(backend)?;
    let to = socket.local_addr()?;
    let peers =
        (0..PEERS).map(|_| UdpSocket::bind("127.0.0.1:0")).collect::<io::Result<Vec<_>>>()?;
    for peer in &peers {
        peer.connect(to)?;
        peer.set_nonblocking(true)?;
    }
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| play(&peers, arrival, &over));
        let mut driver = Loop::new(vec![socket])?;
        let mut server = Server::new(driver.now());
        let end = driver.now() + span;
        let before = cpu_time()?;
        while driver.now() < end {
            driver.turn(&mut server, end)?;
        }
        let spent = cpu_time()? - before;
        over.store(true, Ordering::Relaxed);
        let datagrams = server.inputs + server.snapshots - driver.unsent();
        Ok(spent.as_nanos() as f64 / datagrams as f64)
    })
}

/// All peers: sends their inputs, and throws away what they get.
fn play(peers: &[UdpSocket], arrival: Arrival, over: &AtomicBool) {
    let groups = arrival.groups();
    let mut next = Instant::now();
    while !over.load(Ordering::Relaxed) {
        for group in peers.chunks(PEERS / groups) {
            for peer in group {
                // A server that has just ended refuses it.
                let _ = peer.send(&INPUT);
                while peer.recv(&mut [0; SNAPSHOT_LEN]).is_ok() {}
            }
            next += TICK / groups as u32;
            thread::sleep(next.saturating_duration_since(Instant::now()));
        }
    }
}

fn report(arrival: Arrival, costs: [Vec<f64>; 2]) {
    let ratios = costs[0].iter().zip(&costs[1]).map(|(portable, batched)| batched / portable);
    let ratio = median(ratios.collect());
    let [portable, batched] = costs.map(median);
    println!(
        "inputs {arrival:?}: {portable:.0} ns per datagram portable, {batched:.0} ns batched, \
         ratio {ratio:.2}"
    );
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_unstable_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

/// How far the time between two sends was off, for each pair, and the CPU time of it all.
fn spacing(backend: Backend, span: Duration) -> io::Result<(Vec<Duration>, Duration)> {
    let peer = UdpSocket::bind("127.0.0.1:0")?;
    let path = Path::to(peer.local_addr()?);
    let mut driver = Loop::new(vec![loopback(backend)?])?;
    let mut server = Server::new(driver.now());
    let end = driver.now() + span;
    let (mut off, mut last) = (Vec::new(), None);
    let before = cpu_time()?;
    while driver.now() < end {
        server.peers = vec![path];
        let sent = server.snapshots;
        driver.turn(&mut server, end)?;
        if server.snapshots > sent {
            let now = Instant::now();
            off.extend(last.replace(now).map(|last| (now - last).abs_diff(TICK)));
        }
    }
    Ok((off, cpu_time()? - before))
}

fn loopback(backend: Backend) -> io::Result<Socket> {
    Socket::bind_with(([127, 0, 0, 1], 0).into(), backend).map_err(io::Error::other)
}

/// What this thread has used, as the kernel's scheduler counts it.
fn cpu_time() -> io::Result<Duration> {
    let text = fs::read_to_string("/proc/thread-self/schedstat")?;
    let ns = text.split_whitespace().next().and_then(|ns| ns.parse().ok());
    ns.map(Duration::from_nanos).ok_or_else(|| io::Error::other("no CPU time in schedstat"))
}
