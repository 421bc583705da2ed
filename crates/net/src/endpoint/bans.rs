//! Addresses that an operator keeps out, for a time or for good.
//!
//! The endpoint asks here before it looks at a datagram. Someone who wants in reads why, where the
//! dialect has words for it; everything else from there is dropped and counted.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

use super::Endpoint;
use super::answer::{Answer, NativeAnswer};
use super::routes::Keyed;
use crate::node::Path;
use crate::session::limited_ip;
use crate::time::Time;
use crate::wire::native::{Datagram, PROTOCOL, Packet, Reject, RejectReason, has_shape};

/// Bans that hold at once; there is no place for more.
pub const BAN_LIMIT: usize = 4096;

/// Who is banned, by [`limited_ip`], and until when; `None` is for good.
#[derive(Clone, Debug)]
pub(super) struct Bans {
    until: HashMap<IpAddr, Option<Time>, Keyed>,
}

/// There are [`BAN_LIMIT`] bans already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BansFull;

impl Bans {
    pub(super) fn new(key: [u8; 16]) -> Self {
        Bans { until: HashMap::with_hasher(Keyed(key)) }
    }

    pub(super) fn len(&self) -> usize {
        self.until.len()
    }

    /// Whether an address is banned. The usual server bans nobody and pays nothing.
    #[inline]
    pub(super) fn hold(&self, now: Time, ip: IpAddr) -> bool {
        !self.until.is_empty() && self.find(now, ip)
    }

    fn find(&self, now: Time, ip: IpAddr) -> bool {
        let until = self.until.get(&limited_ip(ip));
        until.is_some_and(|until| until.is_none_or(|until| now < until))
    }

    /// A ban of an address that is banned already takes the place of the one before.
    fn add(&mut self, now: Time, ip: IpAddr, until: Option<Time>) -> Result<(), BansFull> {
        if self.until.len() >= BAN_LIMIT {
            self.until.retain(|_, until| until.is_none_or(|until| now < until));
        }
        let ip = limited_ip(ip);
        if self.until.len() >= BAN_LIMIT && !self.until.contains_key(&ip) {
            return Err(BansFull);
        }
        self.until.insert(ip, until);
        Ok(())
    }
}

impl Endpoint {
    /// Keeps an address out from now on, until a time or for good: an IPv4 address, or all of an
    /// IPv6 /64. Says the rooms and places of everyone who plays from there.
    pub(crate) fn ban(
        &mut self,
        now: Time,
        ip: IpAddr,
        until: Option<Time>,
    ) -> Result<Vec<(usize, u8)>, BansFull> {
        self.bans.add(now, ip, until)?;
        self.dialects.iter_mut().for_each(|dialect| dialect.turn_out(limited_ip(ip)));
        Ok(self.routes.seats_of(ip))
    }

    /// Lets an address in again.
    pub(crate) fn lift_ban(&mut self, ip: IpAddr) {
        self.bans.until.remove(&limited_ip(ip));
    }

    /// Everyone who is kept out, and for how long from now; `None` is for good.
    pub fn bans(&self, now: Time) -> impl Iterator<Item = (IpAddr, Option<Duration>)> + '_ {
        let holds = move |until: &Option<Time>| until.is_none_or(|until| now < until);
        let bans = self.bans.until.iter().filter(move |(_, until)| holds(until));
        bans.map(move |(ip, until)| (*ip, until.map(|until| until.since(now))))
    }

    /// Whether an address is kept out.
    pub fn is_banned(&self, now: Time, ip: IpAddr) -> bool {
        self.bans.hold(now, ip)
    }

    /// Takes a datagram from an address that is banned. Whoever asks for something in `native` is
    /// told why there is none of it, in fewer bytes than it took to ask; other dialects have no word
    /// for it.
    pub(super) fn handle_banned(&mut self, now: Time, path: Path, bytes: &[u8]) {
        self.counts.banned += 1;
        if !has_shape(bytes) || !self.admits_stranger(now, path) {
            return;
        }
        let Ok(Datagram { sequence, packet }) = Datagram::decode(bytes) else { return };
        let nonce = match packet {
            Packet::Hello(hello) => hello.nonce,
            Packet::Join(join) => join.nonce,
            Packet::CreateRoom(wish) => wish.nonce,
            Packet::Resume(resume) => resume.nonce,
            Packet::ListRooms(list) => list.nonce,
            _ => return,
        };
        let reason = RejectReason::Banned;
        let reject = Reject { nonce, reason, protocol: PROTOCOL, game_version: 0 };
        self.answer(Answer::Native { path, sequence, packet: NativeAnswer::Reject(reject) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn at(ms: u64) -> Time {
        Time::from_millis(ms)
    }

    #[test]
    fn a_ban_holds_until_its_time_and_not_longer() {
        let mut bans = Bans::new([1; 16]);
        bans.add(at(0), ip("192.0.2.1"), Some(at(60_000))).unwrap();
        bans.add(at(0), ip("192.0.2.2"), None).unwrap();
        assert!(bans.hold(at(60_000) - Duration::from_nanos(1), ip("192.0.2.1")));
        assert!(!bans.hold(at(60_000), ip("192.0.2.1")));
        assert!(bans.hold(at(u32::MAX.into()), ip("192.0.2.2")));
        assert!(!bans.hold(at(0), ip("192.0.2.3")));
    }

    #[test]
    fn a_ban_is_of_an_ipv4_address_or_of_a_whole_64() {
        let mut bans = Bans::new([1; 16]);
        bans.add(at(0), ip("::ffff:192.0.2.1"), None).unwrap();
        bans.add(at(0), ip("2001:db8:0:1::5"), None).unwrap();
        for banned in ["192.0.2.1", "::ffff:192.0.2.1", "2001:db8:0:1:ffff::"] {
            assert!(bans.hold(at(0), ip(banned)), "{banned}");
        }
        for free in ["192.0.2.2", "2001:db8:0:2::5", "::192.0.2.1"] {
            assert!(!bans.hold(at(0), ip(free)), "{free}");
        }
    }

    #[test]
    fn there_are_4096_bans_and_not_one_more_until_one_is_over() {
        let mut bans = Bans::new([1; 16]);
        let nth = |n: usize| IpAddr::V4(Ipv4Addr::from(0x0A00_0000 + n as u32));
        for n in 0..BAN_LIMIT {
            let until = (n > 0).then(|| at(1_000 + n as u64));
            bans.add(at(0), nth(n), until).unwrap();
        }
        assert_eq!(bans.add(at(0), nth(BAN_LIMIT), None), Err(BansFull));
        assert_eq!(bans.add(at(0), nth(7), None), Ok(()), "it has its place");
        assert_eq!(bans.add(at(1_000), nth(BAN_LIMIT), None), Err(BansFull));
        assert_eq!(bans.add(at(1_001), nth(BAN_LIMIT), None), Ok(()));
        assert!(bans.hold(at(1_001), nth(0)) && bans.hold(at(1_001), nth(BAN_LIMIT)));
        assert_eq!(bans.len(), BAN_LIMIT);
    }
}
