//! Connection limits of the page: in all and per address, with some reserved for this machine and for health
//! checks.
//!
//! An address is an IPv4 address or an IPv6 /64. Behind a trusted proxy, it is the address that the proxy
//! names; until the
//! proxy has named one, its connection counts only towards the total.

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;
use std::time::{Duration, Instant};

use backspin::peer::LimitKey;

use super::address::Proxies;

/// Connections at once.
pub(super) const CONNECTION_LIMIT: usize = 64;

/// The most from one address; this machine may have them all.
pub(super) const ADDRESS_LIMIT: usize = 16;

/// Places beyond that which only this machine has.
pub(super) const LOOPBACK_RESERVE: usize = 8;

/// Connections beyond all places. They are answered if they ask for `/healthz`, and else told that
/// there is no place. When one more comes, the oldest goes.
pub(super) const HEALTH_RESERVE: usize = 16;

/// What a connection takes up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seat {
    /// A place, by someone at this address.
    Of(IpAddr),
    /// A place, by someone whom a trusted proxy has not named yet.
    Unnamed,
    /// None.
    Reserve,
}

/// Why there is no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Crowd {
    /// All are taken.
    Everywhere,
    /// The address has as many as it may have.
    Address,
}

/// Everyone who is connected.
#[derive(Debug, Default)]
pub(super) struct Visitors {
    proxies: Proxies,
    seated: usize,
    /// No longer than there are places.
    by_address: BTreeMap<IpAddr, usize>,
    reserve: usize,
}

impl Visitors {
    pub(super) fn new(proxies: Proxies) -> Self {
        Visitors { proxies, ..Visitors::default() }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.seated + self.reserve
    }

    /// Whether a connection without a slot must be closed.
    pub(super) fn is_crowded(&self) -> bool {
        self.reserve > HEALTH_RESERVE
    }

    /// Someone connects.
    pub(super) fn arrive(&mut self, peer: IpAddr) -> Seat {
        let seat = match self.proxies.contain(peer) {
            false => self.find(LimitKey::from(peer).network()).unwrap_or(Seat::Reserve),
            true if self.seated < CONNECTION_LIMIT => Seat::Unnamed,
            true => Seat::Reserve,
        };
        self.take(seat);
        seat
    }

    /// The client's address: the peer, or the last one that `forwarded`, an X-Forwarded-For, names
    /// before proxies that are trusted. Anyone can write what stands further left.
    pub(super) fn client(&self, peer: IpAddr, forwarded: Option<&str>) -> IpAddr {
        let mut client = peer;
        let mut named = forwarded.unwrap_or_default().rsplit(',');
        while self.proxies.contain(client)
            && let Some(before) = named.next().and_then(|text| parse_forwarded(text.trim()))
        {
            client = before;
        }
        LimitKey::from(client).network()
    }

    /// Someone has said for whom, and asks for more than `/healthz`.
    pub(super) fn name(&mut self, seat: Seat, client: IpAddr) -> Result<Seat, Crowd> {
        if let Seat::Of(_) = seat {
            return Ok(seat);
        }
        self.leave(seat);
        let found = self.find(client);
        self.take(found.unwrap_or(seat));
        found
    }

    /// Someone goes.
    pub(super) fn leave(&mut self, seat: Seat) {
        match seat {
            Seat::Of(address) => {
                self.seated -= 1;
                if let Some(count) = self.by_address.get_mut(&address) {
                    *count -= 1;
                    if *count == 0 {
                        self.by_address.remove(&address);
                    }
                }
            }
            Seat::Unnamed => self.seated -= 1,
            Seat::Reserve => self.reserve -= 1,
        }
    }

    fn take(&mut self, seat: Seat) {
        match seat {
            Seat::Of(address) => {
                self.seated += 1;
                *self.by_address.entry(address).or_default() += 1;
            }
            Seat::Unnamed => self.seated += 1,
            Seat::Reserve => self.reserve += 1,
        }
    }

    fn find(&self, address: IpAddr) -> Result<Seat, Crowd> {
        let theirs = self.by_address.get(&address).copied().unwrap_or(0);
        let (places, each) = match is_loopback(address) {
            true => (CONNECTION_LIMIT + LOOPBACK_RESERVE, usize::MAX),
            false => (CONNECTION_LIMIT, ADDRESS_LIMIT),
        };
        match () {
            () if theirs >= each => Err(Crowd::Address),
            () if self.seated >= places => Err(Crowd::Everywhere),
            () => Ok(Seat::Of(address)),
        }
    }
}

/// Of `::1` there is only its /64 left.
fn is_loopback(address: IpAddr) -> bool {
    let ipv6 = LimitKey::from(IpAddr::V6(std::net::Ipv6Addr::LOCALHOST));
    address.is_loopback() || address == ipv6.network()
}

/// An address, with a port or without.
fn parse_forwarded(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let with_port = || text.parse().map(|at: std::net::SocketAddr| at.ip());
    bare.parse().or_else(|_| with_port()).ok()
}

/// Wrong tokens that one address may send in [`TRIES_WITHIN`].
pub(super) const TRIES: usize = 5;

/// How long a wrong token counts.
pub(super) const TRIES_WITHIN: Duration = Duration::from_secs(60);

/// Addresses whose tries are remembered; the one that has been quiet for longest makes room.
const TRIED_LIMIT: usize = 1024;

/// Addresses that tried wrong tokens, and when.
#[derive(Debug, Default)]
pub(super) struct Tries {
    by_address: BTreeMap<IpAddr, VecDeque<Instant>>,
}

impl Tries {
    /// How long an address must wait before it may try a token again, if it must.
    pub(super) fn wait(&self, now: Instant, address: IpAddr) -> Option<Duration> {
        let tried = self.by_address.get(&address)?;
        let first = tried.front().filter(|_| tried.len() >= TRIES)?;
        let left = TRIES_WITHIN.saturating_sub(now.saturating_duration_since(*first));
        (!left.is_zero()).then_some(left)
    }

    /// An address has tried a wrong one.
    pub(super) fn note(&mut self, now: Instant, address: IpAddr) {
        if self.by_address.len() >= TRIED_LIMIT && !self.by_address.contains_key(&address) {
            let last = |tried: &VecDeque<Instant>| tried.back().copied();
            let quiet = self.by_address.iter().min_by_key(|(_, tried)| last(tried));
            if let Some(quiet) = quiet.map(|(address, _)| *address) {
                self.by_address.remove(&quiet);
            }
        }
        let tried = self.by_address.entry(address).or_default();
        if tried.len() >= TRIES {
            tried.pop_front();
        }
        tried.push_back(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn behind(proxies: &str) -> Visitors {
        Visitors::new(proxies.parse().unwrap())
    }

    fn nth(n: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, n])
    }

    #[test]
    fn an_address_has_sixteen_places_and_not_one_more() {
        let mut visitors = Visitors::default();
        let seats: Vec<_> = (0..ADDRESS_LIMIT).map(|_| visitors.arrive(nth(1))).collect();
        assert_eq!(seats, [Seat::Of(nth(1)); ADDRESS_LIMIT]);
        assert_eq!(visitors.arrive(ip("::ffff:192.0.2.1")), Seat::Reserve);
        assert_eq!(visitors.name(Seat::Reserve, nth(1)), Err(Crowd::Address));
        assert_eq!(visitors.arrive(nth(2)), Seat::Of(nth(2)));
        visitors.leave(seats[0]);
        assert_eq!(visitors.name(Seat::Reserve, nth(1)), Ok(Seat::Of(nth(1))));
        // A /64 is one.
        for n in 0..ADDRESS_LIMIT as u16 {
            let own = IpAddr::from([0x2001, 0xDB8, 0, 1, n, 0, 0, 1]);
            assert_eq!(visitors.arrive(own), Seat::Of(ip("2001:db8:0:1::")));
        }
        assert_eq!(visitors.arrive(ip("2001:db8:0:1:ffff::")), Seat::Reserve);
    }

    #[test]
    fn this_machine_finds_a_place_when_all_others_are_taken() {
        let mut visitors = Visitors::default();
        for n in 0..CONNECTION_LIMIT {
            assert_ne!(visitors.arrive(nth((n / ADDRESS_LIMIT) as u8)), Seat::Reserve, "{n}");
        }
        assert_eq!(visitors.arrive(nth(200)), Seat::Reserve);
        assert_eq!(visitors.name(Seat::Reserve, nth(200)), Err(Crowd::Everywhere));
        for n in 0..LOOPBACK_RESERVE {
            let own = if n % 2 == 0 { ip("127.0.0.1") } else { ip("::1") };
            assert!(matches!(visitors.arrive(own), Seat::Of(_)), "{n}");
        }
        assert_eq!(visitors.arrive(ip("127.0.0.1")), Seat::Reserve);
        assert!(!visitors.is_crowded());
        for _ in 2..HEALTH_RESERVE {
            visitors.arrive(nth(201));
        }
        assert!(!visitors.is_crowded());
        visitors.arrive(nth(201));
        assert!(visitors.is_crowded());
        assert_eq!(visitors.len(), CONNECTION_LIMIT + LOOPBACK_RESERVE + HEALTH_RESERVE + 1);
    }

    #[test]
    fn what_a_trusted_proxy_names_counts_and_nobody_elses_word() {
        let visitors = behind("127.0.0.0/8,10.1.0.0/16");
        let client = |peer: &str, forwarded| visitors.client(ip(peer), forwarded).to_string();
        assert_eq!(client("127.0.0.1", Some("203.0.113.7")), "203.0.113.7");
        assert_eq!(client("::ffff:127.0.0.1", Some("203.0.113.7")), "203.0.113.7");
        // Anyone may have written what stands left of the one whom our proxy saw.
        assert_eq!(client("127.0.0.1", Some("127.0.0.1, 203.0.113.7")), "203.0.113.7");
        assert_eq!(client("127.0.0.1", Some("1.2.3.4,203.0.113.7,10.1.2.3")), "203.0.113.7");
        assert_eq!(client("127.0.0.1", Some("203.0.113.7:4711")), "203.0.113.7");
        assert_eq!(client("127.0.0.1", Some("[2001:db8::9]:80")), "2001:db8::");
        assert_eq!(client("127.0.0.1", Some("2001:db8::9")), "2001:db8::");
        // Where it says nothing that can be read, it asks for itself.
        for forwarded in [None, Some(""), Some("unknown"), Some("203.0.113.7, unknown")] {
            assert_eq!(client("127.0.0.1", forwarded), "127.0.0.1");
        }
        assert_eq!(client("192.0.2.1", Some("203.0.113.7")), "192.0.2.1");
        assert_eq!(Visitors::default().client(ip("127.0.0.1"), Some("1.2.3.4")), ip("127.0.0.1"));
    }

    #[test]
    fn whom_a_proxy_names_has_the_places_of_that_address() {
        let mut visitors = behind("127.0.0.1");
        for _ in 0..ADDRESS_LIMIT {
            let seat = visitors.arrive(ip("127.0.0.1"));
            assert_eq!(seat, Seat::Unnamed);
            assert_eq!(visitors.name(seat, nth(1)), Ok(Seat::Of(nth(1))));
        }
        let seat = visitors.arrive(ip("127.0.0.1"));
        assert_eq!(visitors.name(seat, nth(1)), Err(Crowd::Address));
        visitors.leave(seat);
        assert_eq!(visitors.len(), ADDRESS_LIMIT);
        (0..ADDRESS_LIMIT).for_each(|_| visitors.leave(Seat::Of(nth(1))));
        assert_eq!((visitors.len(), visitors.by_address.len()), (0, 0));
    }

    #[test]
    fn five_wrong_tokens_a_minute_and_not_one_more() {
        let (mut tries, start) = (Tries::default(), Instant::now());
        let at = |s| start + Duration::from_secs(s);
        for n in 0..TRIES as u64 {
            assert_eq!(tries.wait(at(n), nth(1)), None);
            tries.note(at(n), nth(1));
        }
        assert_eq!(tries.wait(at(4), nth(1)), Some(Duration::from_secs(56)));
        assert_eq!(tries.wait(at(59), nth(1)), Some(Duration::from_secs(1)));
        assert_eq!(tries.wait(at(4), nth(2)), None);
        // The first is a minute old: there is one more, and then one for each that was.
        assert_eq!(tries.wait(at(60), nth(1)), None);
        tries.note(at(60), nth(1));
        assert_eq!(tries.wait(at(60), nth(1)), Some(Duration::from_secs(1)));
    }

    #[test]
    fn tries_are_remembered_for_1024_addresses() {
        let (mut tries, now) = (Tries::default(), Instant::now());
        let nth = |n: usize| IpAddr::V4(std::net::Ipv4Addr::from(n as u32));
        for n in 0..=TRIED_LIMIT {
            (0..TRIES).for_each(|_| tries.note(now + Duration::from_millis(n as u64), nth(n)));
        }
        assert_eq!(tries.by_address.len(), TRIED_LIMIT);
        assert!(tries.wait(now, nth(0)).is_none() && tries.wait(now, nth(1)).is_some());
    }
}
