//! Peers that an operator has banned, for a time or for good, by their limit keys.
//!
//! The endpoint asks here before it looks at a datagram. Whoever tries to join is told why not, where
//! the dialect has words for it; everything else from a banned peer is dropped and counted.

use std::collections::HashMap;
use std::time::Duration;

use super::Endpoint;
use super::answer::{Answer, NativeAnswer};
use super::routes::Keyed;
use crate::game::Refusal;
use crate::node::Path;
use crate::peer::{LimitKey, PeerAddr};
use crate::time::Time;
use crate::wire::native::{Datagram, PROTOCOL, Packet, Reject, RejectReason, has_shape};

/// Bans that hold at once; there is no place for more.
pub const BAN_LIMIT: usize = 4096;

/// Who is banned, and until when; `None` is for good.
#[derive(Clone, Debug)]
pub(super) struct Bans {
    until: HashMap<LimitKey, Option<Time>, Keyed>,
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

    /// Whether a peer is banned. A server that bans nobody pays nothing for it.
    #[inline]
    pub(super) fn hold(&self, now: Time, peer: PeerAddr) -> bool {
        !self.until.is_empty() && self.find(now, peer.limit_key())
    }

    fn find(&self, now: Time, key: LimitKey) -> bool {
        let until = self.until.get(&key);
        until.is_some_and(|until| until.is_none_or(|until| now < until))
    }

    /// A second ban of the same key replaces the first.
    fn add(&mut self, now: Time, key: LimitKey, until: Option<Time>) -> Result<(), BansFull> {
        if self.until.len() >= BAN_LIMIT {
            self.until.retain(|_, until| until.is_none_or(|until| now < until));
        }
        if self.until.len() >= BAN_LIMIT && !self.until.contains_key(&key) {
            return Err(BansFull);
        }
        self.until.insert(key, until);
        Ok(())
    }
}

impl Endpoint {
    /// Bans everyone with this key from now on, until a time or for good. Returns the rooms and places
    /// of those who play.
    pub(crate) fn ban(
        &mut self,
        now: Time,
        key: LimitKey,
        until: Option<Time>,
    ) -> Result<Vec<(usize, u8)>, BansFull> {
        self.bans.add(now, key, until)?;
        self.dialects.iter_mut().for_each(|dialect| dialect.turn_out(key));
        Ok(self.routes.seats_of(key))
    }

    /// Ends a ban.
    pub(crate) fn lift_ban(&mut self, key: LimitKey) {
        self.bans.until.remove(&key);
    }

    /// All bans, and how long each holds from now on; `None` is for good.
    pub fn bans(&self, now: Time) -> impl Iterator<Item = (LimitKey, Option<Duration>)> + '_ {
        let holds = move |until: &Option<Time>| until.is_none_or(|until| now < until);
        let bans = self.bans.until.iter().filter(move |(_, until)| holds(until));
        bans.map(move |(key, until)| (*key, until.map(|until| until.since(now))))
    }

    /// Whether peers with this key are banned.
    pub fn is_banned(&self, now: Time, key: LimitKey) -> bool {
        self.bans.find(now, key)
    }

    /// Takes a datagram from a banned peer. A question in `native` is answered with the reason, in
    /// fewer bytes than it took to ask; other dialects have no words for it.
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
        let reject =
            Reject { nonce, reason, protocol: PROTOCOL, game_version: 0, sentence: Refusal::NONE };
        self.answer(Answer::Native { path, sequence, packet: NativeAnswer::Reject(reject) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{IpAddr, Ipv4Addr};

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn key(text: &str) -> LimitKey {
        ip(text).into()
    }

    fn peer(text: &str) -> PeerAddr {
        PeerAddr::socket((ip(text), 5000).into())
    }

    fn at(ms: u64) -> Time {
        Time::from_millis(ms)
    }

    #[test]
    fn a_ban_holds_until_its_time_and_not_longer() {
        let mut bans = Bans::new([1; 16]);
        bans.add(at(0), key("192.0.2.1"), Some(at(60_000))).unwrap();
        bans.add(at(0), key("192.0.2.2"), None).unwrap();
        assert!(bans.hold(at(60_000) - Duration::from_nanos(1), peer("192.0.2.1")));
        assert!(!bans.hold(at(60_000), peer("192.0.2.1")));
        assert!(bans.hold(at(u32::MAX.into()), peer("192.0.2.2")));
        assert!(!bans.hold(at(0), peer("192.0.2.3")));
    }

    #[test]
    fn a_ban_is_of_an_ipv4_address_or_of_a_whole_64() {
        let mut bans = Bans::new([1; 16]);
        bans.add(at(0), key("::ffff:192.0.2.1"), None).unwrap();
        bans.add(at(0), key("2001:db8:0:1::5"), None).unwrap();
        for banned in ["192.0.2.1", "::ffff:192.0.2.1", "2001:db8:0:1:ffff::"] {
            assert!(bans.hold(at(0), peer(banned)), "{banned}");
        }
        for free in ["192.0.2.2", "2001:db8:0:2::5", "::192.0.2.1"] {
            assert!(!bans.hold(at(0), peer(free)), "{free}");
        }
    }

    #[test]
    fn there_are_4096_bans_and_not_one_more_until_one_is_over() {
        let mut bans = Bans::new([1; 16]);
        let nth =
            |n: usize| PeerAddr::socket((Ipv4Addr::from(0x0A00_0000 + n as u32), 5000).into());
        for n in 0..BAN_LIMIT {
            let until = (n > 0).then(|| at(1_000 + n as u64));
            bans.add(at(0), nth(n).limit_key(), until).unwrap();
        }
        assert_eq!(bans.add(at(0), nth(BAN_LIMIT).limit_key(), None), Err(BansFull));
        assert_eq!(bans.add(at(0), nth(7).limit_key(), None), Ok(()), "it has its place");
        assert_eq!(bans.add(at(1_000), nth(BAN_LIMIT).limit_key(), None), Err(BansFull));
        assert_eq!(bans.add(at(1_001), nth(BAN_LIMIT).limit_key(), None), Ok(()));
        assert!(bans.hold(at(1_001), nth(0)) && bans.hold(at(1_001), nth(BAN_LIMIT)));
        assert_eq!(bans.len(), BAN_LIMIT);
    }
}
