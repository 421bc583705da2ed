//! Whole conversations of strangers with a server: nobody is sent more `native` bytes than came
//! from there before a cookie came back, and nothing panics.
//!
//! The input is a script: a byte that names the sender and the time that passes, two for the
//! length, then the datagram.
#![no_main]

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use backspin::dot::Dots;
use backspin::front::FrontConfig;
use backspin::node::{Node, Path};
use backspin::room::RoomConfig;
use backspin::server::Server;
use backspin::time::Time;
use backspin::wire::{Dialect, Name};
use libfuzzer_sys::fuzz_target;

const STRANGERS: usize = 4;

fuzz_target!(|data: &[u8]| {
    let mut server = Server::new(FrontConfig::default(), [9; 32]);
    server.open(Time::ZERO, Dots::default(), Name::new("Dots"), 0, RoomConfig::default());
    let mut now = Time::ZERO;
    let mut credit = [0_usize; STRANGERS];
    let mut rest = data;
    while let [who, low, high, tail @ ..] = rest {
        let len = usize::from(u16::from_le_bytes([*low, *high])).min(tail.len());
        let (bytes, tail) = tail.split_at(len);
        rest = tail;
        let stranger = usize::from(who % 4);
        now += Duration::from_millis(u64::from(who >> 2) * 50);
        while server.poll_timeout().is_some_and(|due| due <= now) {
            server.handle_timeout(now);
            drain(&mut server, now, &mut credit);
        }
        if Dialect::detect(bytes) == Some(Dialect::Native) {
            credit[stranger] += bytes.len();
        }
        let path = Path::to(address(stranger));
        server.handle_datagram(now, path, &mut bytes.to_vec());
        drain(&mut server, now, &mut credit);
    }
});

fn address(stranger: usize) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1 + stranger as u8)), 5000)
}

/// No script can guess a cookie: everyone stays a stranger.
fn drain(server: &mut Server<Dots>, now: Time, credit: &mut [usize; STRANGERS]) {
    let mut out = [0; 2048];
    while let Some(transmit) = server.poll_transmit(now, &mut out) {
        if Dialect::detect(&out[..transmit.len]) != Some(Dialect::Native) {
            continue;
        }
        let stranger = (0..STRANGERS).find(|&stranger| address(stranger) == transmit.path.remote);
        let credit = &mut credit[stranger.expect("only who wrote is answered")];
        *credit = credit.checked_sub(transmit.len).expect("more bytes than came");
    }
}
