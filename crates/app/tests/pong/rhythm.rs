//! When states leave; measured, not judged: whoever else runs on the machine is in the figures.
//!
//! `cargo test --release -p backspin-app --test pong -- --ignored --nocapture rhythm`

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use crate::lan::{HELLO_ACK, STILL, guest_input, hello, receive};
use crate::lan_host::port_of;
use crate::program::{HERE, host, socket};

const PERIOD: Duration = Duration::from_nanos(1_000_000_000 / 60);

#[test]
#[ignore = "a measurement of ten seconds"]
fn states_leave_every_sixtieth_of_a_second() {
    let (_host, port) = host(&[]);
    let (guest, at) = (socket(), SocketAddr::from((HERE, port)));
    guest.send_to(&hello(port_of(&guest)), at).unwrap();
    assert_eq!(receive(&guest).0, HELLO_ACK);
    receive(&guest);
    let mut times = Vec::new();
    while times.len() < 601 {
        receive(&guest);
        times.push(Instant::now());
        guest.send_to(&guest_input(STILL), at).unwrap();
    }
    let us = |pair: &[Instant]| (pair[1] - pair[0]).as_micros() as i64;
    let period_us = PERIOD.as_micros() as i64;
    let mut off: Vec<i64> = times.windows(2).map(|pair| (us(pair) - period_us).abs()).collect();
    off.sort_unstable();
    let percentile = |percent: usize| off[(off.len() - 1) * percent / 100];
    println!(
        "{} spacings, off the period of {period_us} us by: p50 {} us, p99 {} us, most {} us",
        off.len(),
        percentile(50),
        percentile(99),
        percentile(100)
    );
}
