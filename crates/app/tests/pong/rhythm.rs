//! When states leave; measured, not judged: whoever else runs on the machine is in the figures. So
//! a thread that does nothing but sleep to the same rhythm is measured beside it: where that one is
//! late, the machine was not idle.
//!
//! `cargo test --release -p backspin-app --test pong -- --ignored --nocapture rhythm`

use std::fmt;
use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use crate::lan::{HELLO_ACK, STILL, guest_input, hello, receive};
use crate::lan_host::port_of;
use crate::program::{HERE, host, socket};

const PERIOD: Duration = Duration::from_nanos(1_000_000_000 / 60);

/// Ten seconds of them.
const SPACINGS: usize = 600;

/// So many times ten seconds are measured.
const WINDOWS: usize = 12;

/// How far the spacings of ten seconds lie off the period, sorted.
struct Rhythm(Vec<u128>);

impl Rhythm {
    /// Of `SPACINGS + 1` beats, each at the end of `wait`.
    fn of(mut wait: impl FnMut()) -> Self {
        let mut beat = || {
            wait();
            Instant::now()
        };
        let times: Vec<Instant> = (0..=SPACINGS).map(|_| beat()).collect();
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
    })
}

/// The states of a match of its own: none lasts two minutes.
fn states() -> Rhythm {
    let (_host, port) = host(&[]);
    let (guest, at) = (socket(), SocketAddr::from((HERE, port)));
    guest.send_to(&hello(port_of(&guest)), at).unwrap();
    assert_eq!(receive(&guest).0, HELLO_ACK);
    receive(&guest);
    Rhythm::of(|| {
        receive(&guest);
        guest.send_to(&guest_input(STILL), at).unwrap();
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
