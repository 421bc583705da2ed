//! When states leave, by the time that the kernel notes on each; measured, not judged: whoever else
//! runs on the machine is in the figures. So a thread that does nothing but sleep to the same rhythm
//! is measured beside it: where that one is late, the machine was not idle.
//!
//! `cargo test --release -p backspin-app --test pong -- --ignored --nocapture rhythm`

use std::collections::VecDeque;
use std::fmt;
use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use backspin_udp::{Backend, Inbox, Socket, Waiter};

use crate::lan::{HELLO_ACK, STILL, guest_input, hello};
use crate::program::{HERE, PATIENCE, host};

const PERIOD: Duration = Duration::from_nanos(1_000_000_000 / 60);

/// Ten seconds of them.
const SPACINGS: usize = 600;

/// So many times ten seconds are measured.
const WINDOWS: usize = 12;

/// How far the spacings of ten seconds lie off the period, sorted.
struct Rhythm(Vec<u128>);

impl Rhythm {
    /// Of `SPACINGS + 1` beats.
    fn of(beat: impl FnMut() -> Instant) -> Self {
        let times: Vec<Instant> = std::iter::repeat_with(beat).take(SPACINGS + 1).collect();
        let off = |pair: &[Instant]| (pair[1] - pair[0]).abs_diff(PERIOD).as_micros();
        let mut off: Vec<u128> = times.windows(2).map(off).collect();
        off.sort_unstable();
        Rhythm(off)
    }

    fn percentile(&self, percent: usize) -> u128 {
        self.0[(self.0.len() - 1) * percent / 100]
    }
}

impl fmt::Display for Rhythm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [p50, p99, most] = [50, 99, 100].map(|percent| self.percentile(percent));
        write!(f, "p50 {p50:>5} us, p99 {p99:>5} us, most {most:>5} us")
    }
}

/// A thread that only sleeps, from one deadline to the next.
fn sleeper() -> Rhythm {
    let mut due = Instant::now();
    Rhythm::of(|| {
        due += PERIOD;
        thread::sleep(due.saturating_duration_since(Instant::now()));
        Instant::now()
    })
}

/// A guest that knows when each datagram was sent to it: on loopback that is when it came.
struct Guest {
    socket: Socket,
    waiter: Waiter,
    inbox: Inbox,
    came: VecDeque<(Instant, Vec<u8>)>,
}

impl Guest {
    fn new() -> Self {
        let mut socket = Socket::bind((HERE, 0).into()).unwrap();
        let waiter = Waiter::new(Backend::Batched).unwrap();
        waiter.add(&mut socket, 0).unwrap();
        Guest { socket, waiter, inbox: Inbox::new(2048), came: VecDeque::new() }
    }

    /// Waits for the next datagram: when it was sent, and what it is.
    fn receive(&mut self) -> (Instant, Vec<u8>) {
        let patience = Instant::now() + PATIENCE;
        loop {
            if let Some(next) = self.came.pop_front() {
                return next;
            }
            assert!(Instant::now() < patience, "nothing comes");
            self.waiter.wait(PATIENCE).unwrap();
            self.socket.receive(&mut self.inbox).unwrap();
            let now = Instant::now();
            let arrivals = self.inbox.arrivals();
            self.came.extend(arrivals.map(|(_, ago, bytes)| (now - ago, bytes.to_vec())));
        }
    }
}

/// The states of a match of its own: none lasts two minutes.
fn states() -> Rhythm {
    let (_host, port) = host(&[]);
    let (mut guest, at) = (Guest::new(), SocketAddr::from((HERE, port)));
    let own_port = guest.socket.local_addr().unwrap().port();
    guest.socket.send(at, &hello(own_port)).unwrap();
    assert_eq!(guest.receive().1, HELLO_ACK);
    guest.receive();
    Rhythm::of(|| {
        let (sent, _) = guest.receive();
        guest.socket.send(at, &guest_input(STILL)).unwrap();
        sent
    })
}

#[test]
#[ignore = "a measurement of two minutes"]
fn states_leave_every_sixtieth_of_a_second() {
    println!("{SPACINGS} spacings a line, off the period of {PERIOD:?} by");
    for _ in 0..WINDOWS {
        let beside = thread::spawn(sleeper);
        let states = states();
        println!("states: {states}   sleeper: {}", beside.join().unwrap());
    }
}
