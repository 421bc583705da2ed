//! How much strangers may ask of a server, per address and in constant memory; and one bucket of
//! the same kind for a player's own datagrams.
//!
//! The endpoint asks the limiter before it does anything for a stranger. Its table has a fixed
//! size, and addresses that fall into the same place share what there is: which those are
//! depends on a key that nobody outside knows, so that no one can be starved on purpose.

use std::fmt;
use std::net::IpAddr;

use siphasher::sip::SipHasher24;

use crate::peer::{IPV6_KEY_BITS, LimitKey, truncated};
use crate::sabotage::{self, Sabotage};
use crate::time::Time;

/// A steady rate, and what may come at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Units that come back each second, at least 1.
    pub per_second: u32,
    /// Units that a full bucket holds.
    pub burst: u32,
}

impl Rate {
    /// How long one unit takes to come back.
    const fn unit_ns(self) -> u64 {
        NANOS_PER_SECOND / self.per_second as u64
    }
}

const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// Whether something may be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Allowance {
    /// It is paid for.
    Yes,
    /// There is not enough left; nothing was taken.
    No,
}

/// A bucket that fills steadily and is emptied by use. A new one is full.
///
/// It is kept as the instant when it will be full again: eight bytes, and nothing to refill.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bucket {
    full_at: Time,
}

impl Bucket {
    /// Whether `cost` units are there. Takes none.
    pub fn has(&self, now: Time, rate: Rate, cost: u32) -> bool {
        self.clone().allow(now, rate, cost) == Allowance::Yes
    }

    /// Takes `cost` units, if they are there. Always give the same rate.
    ///
    /// # Panics
    /// If the rate is 0 per second.
    pub fn allow(&mut self, now: Time, rate: Rate, cost: u32) -> Allowance {
        let unit_ns = rate.unit_ns();
        let missing_ns = self.full_at.as_nanos().saturating_sub(now.as_nanos());
        let missing_ns = missing_ns.saturating_add(unit_ns * u64::from(cost));
        let is_off = sabotage::is(Sabotage::LimitersOff);
        if missing_ns > unit_ns * u64::from(rate.burst) && !is_off {
            return Allowance::No;
        }
        self.full_at = Time::from_nanos(now.as_nanos().saturating_add(missing_ns));
        Allowance::Yes
    }
}

/// A network that a limit counts as one: an IPv4 address, or an IPv6 prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Prefix {
    /// Its first address.
    network: IpAddr,
    /// How many bits of an address it fixes.
    bits: u8,
}

/// The IPv6 prefixes that limits count by. Providers hand out a /64, a /56 or a /48, and a customer
/// has all of it.
const IPV6_PREFIXES: [u8; 3] = [IPV6_KEY_BITS, 56, 48];

impl Prefix {
    /// The networks that a peer with this key counts for, the smallest first: one in IPv4, three in
    /// IPv6.
    pub fn all(key: LimitKey) -> impl Iterator<Item = Prefix> {
        let network = key.network();
        let bits: &[u8] = match network {
            IpAddr::V4(_) => &[32],
            IpAddr::V6(_) => &IPV6_PREFIXES,
        };
        bits.iter().map(move |&bits| match network {
            IpAddr::V4(_) => Prefix { network, bits },
            IpAddr::V6(ip) => Prefix { network: IpAddr::V6(truncated(ip, bits)), bits },
        })
    }

    /// Whether peers with this key lie in it.
    pub fn contains(self, key: LimitKey) -> bool {
        Prefix::all(key).any(|prefix| prefix == self)
    }

    /// Which table of a [`Limiter`] has it.
    fn level(self) -> usize {
        match self.bits {
            48 => 2,
            56 => 1,
            _ => 0,
        }
    }
}

/// How many times a /64's limit the wider IPv6 networks around it have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wider {
    /// A /56.
    pub per_56: u16,
    /// A /48.
    pub per_48: u16,
}

impl Wider {
    /// Four times and eight times.
    pub const DEFAULT: Wider = Wider { per_56: 4, per_48: 8 };

    /// How many times the limit of an address `prefix` has.
    pub fn times(self, prefix: Prefix) -> u32 {
        [1, self.per_56, self.per_48][prefix.level()].into()
    }
}

/// What a [`Limiter`] allows, and how much memory it takes for that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimiterConfig {
    /// Units that come back to each address each second, at least 1.
    pub per_second: u32,
    /// Units that an address may use at once.
    pub burst: u32,
    /// Places in each of three tables, a power of two. Each takes eight bytes.
    pub buckets: usize,
    /// What wider networks have.
    pub wider: Wider,
}

impl LimiterConfig {
    /// For strangers' datagrams: the hellos of a household that all join at once over a bad
    /// line, and no more. 96 KiB.
    pub const STRANGERS: LimiterConfig =
        LimiterConfig { per_second: 32, burst: 64, buckets: 4096, wider: Wider::DEFAULT };
}

/// A bucket for each address and each IPv6 network, or nearly: they share tables of fixed size.
#[derive(Clone)]
pub struct Limiter {
    hasher: SipHasher24,
    config: LimiterConfig,
    /// For addresses (and IPv6 /64s), for /56s, for /48s.
    buckets: [Box<[Bucket]>; IPV6_PREFIXES.len()],
}

impl Limiter {
    /// A limiter with full buckets. The key decides who shares one: [`super::Secrets::key`].
    ///
    /// # Panics
    /// If the number of buckets is no power of two, or nothing comes back each second.
    pub fn new(key: [u8; 16], config: LimiterConfig) -> Self {
        let LimiterConfig { per_second, buckets, .. } = config;
        assert!(buckets.is_power_of_two(), "{buckets} buckets are no power of two");
        assert!(per_second > 0, "a limiter that allows nothing for ever");
        let table = || vec![Bucket::default(); buckets].into_boxed_slice();
        Limiter {
            hasher: SipHasher24::new_with_key(&key),
            config,
            buckets: [table(), table(), table()],
        }
    }

    /// Takes `cost` units from the buckets of the key and of the networks around it, if they are
    /// there in all of them.
    pub fn allow(&mut self, now: Time, key: LimitKey, cost: u32) -> Allowance {
        let mut taken = [None; IPV6_PREFIXES.len()];
        for (slot, prefix) in taken.iter_mut().zip(Prefix::all(key)) {
            let index = self.index(prefix);
            let mut bucket = self.buckets[prefix.level()][index];
            if bucket.allow(now, self.rate(prefix), cost) == Allowance::No {
                return Allowance::No;
            }
            *slot = Some((prefix.level(), index, bucket));
        }
        for (level, index, bucket) in taken.into_iter().flatten() {
            self.buckets[level][index] = bucket;
        }
        Allowance::Yes
    }

    fn rate(&self, prefix: Prefix) -> Rate {
        let LimiterConfig { per_second, burst, wider, .. } = self.config;
        let times = wider.times(prefix);
        Rate { per_second: per_second.saturating_mul(times), burst: burst.saturating_mul(times) }
    }

    fn index(&self, prefix: Prefix) -> usize {
        let hash = match prefix.network {
            IpAddr::V4(address) => self.hasher.hash(&address.octets()),
            IpAddr::V6(address) => self.hasher.hash(&address.octets()[..8]),
        };
        // A table's length is a power of two, so the low bits are spread evenly over it.
        hash as usize & (self.config.buckets - 1)
    }
}

impl fmt::Debug for Limiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limiter").field("config", &self.config).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;
    use std::time::Duration;

    const KEY: [u8; 16] = *b"a key for tests.";
    const CONFIG: LimiterConfig =
        LimiterConfig { per_second: 10, burst: 20, buckets: 1024, wider: Wider::DEFAULT };

    fn ip(text: &str) -> LimitKey {
        LimitKey::from(text.parse::<IpAddr>().unwrap())
    }

    fn v4(bits: u32) -> LimitKey {
        LimitKey::from(IpAddr::V4(Ipv4Addr::from(bits)))
    }

    fn at(ms: u64) -> Time {
        Time::from_millis(ms)
    }

    /// How many single units an address gets at this instant.
    fn drain(limiter: &mut Limiter, now: Time, ip: LimitKey) -> usize {
        std::iter::repeat_with(|| limiter.allow(now, ip, 1))
            .take_while(|&allowance| allowance == Allowance::Yes)
            .count()
    }

    /// Where an address has its own bucket.
    fn index_of(limiter: &Limiter, ip: LimitKey) -> usize {
        limiter.index(Prefix::all(ip).next().unwrap())
    }

    /// Two addresses that share a bucket, and one that does not.
    fn neighbours(limiter: &Limiter) -> (LimitKey, LimitKey, LimitKey) {
        let all = || (0..=u16::MAX).map(|n| v4(0x0A00_0000 | u32::from(n)));
        let first = ip("192.0.2.1");
        let shares = |&other: &LimitKey| index_of(limiter, other) == index_of(limiter, first);
        (first, all().find(shares).unwrap(), all().find(|other| !shares(other)).unwrap())
    }

    #[test]
    fn a_full_bucket_gives_its_burst_and_not_one_more() {
        let mut bucket = Bucket::default();
        let rate = Rate { per_second: 60, burst: 5 };
        for _ in 0..5 {
            assert_eq!(bucket.allow(at(0), rate, 1), Allowance::Yes);
        }
        assert_eq!(bucket.allow(at(0), rate, 1), Allowance::No);
    }

    #[test]
    fn a_unit_comes_back_after_its_time_and_not_before() {
        let mut bucket = Bucket::default();
        let rate = Rate { per_second: 10, burst: 3 };
        assert_eq!(bucket.allow(at(1_000), rate, 3), Allowance::Yes);
        let early = Duration::from_nanos(1);
        assert_eq!(bucket.allow(at(1_100) - early, rate, 1), Allowance::No);
        assert_eq!(bucket.allow(at(1_100), rate, 1), Allowance::Yes);
        assert_eq!(bucket.allow(at(1_100), rate, 1), Allowance::No);
    }

    #[test]
    fn a_bucket_never_holds_more_than_its_burst() {
        let mut bucket = Bucket::default();
        let rate = Rate { per_second: 10, burst: 3 };
        assert_eq!(bucket.allow(at(0), rate, 3), Allowance::Yes);
        assert_eq!(bucket.allow(at(1_000_000), rate, 4), Allowance::No);
        assert_eq!(bucket.allow(at(1_000_000), rate, 3), Allowance::Yes);
    }

    #[test]
    fn what_is_refused_costs_nothing() {
        let mut bucket = Bucket::default();
        let rate = Rate { per_second: 10, burst: 3 };
        assert_eq!(bucket.allow(at(0), rate, u32::MAX), Allowance::No);
        assert_eq!(bucket.allow(at(0), rate, 2), Allowance::Yes);
        assert_eq!(bucket.allow(at(0), rate, 2), Allowance::No);
        assert_eq!(bucket.allow(at(0), rate, 1), Allowance::Yes);
        assert_eq!(bucket.allow(at(0), rate, 0), Allowance::Yes);
    }

    #[test]
    fn in_the_long_run_the_rate_is_what_was_said() {
        for per_second in [1, 7, 60, 1_000] {
            let rate = Rate { per_second, burst: 1 };
            let mut bucket = Bucket::default();
            let allowed = (0..100_000u64)
                .filter(|&step| {
                    bucket.allow(Time::from_micros(step * 100), rate, 1) == Allowance::Yes
                })
                .count();
            // Ten seconds, less what a step of 100 us rounds away.
            let expected = 10 * per_second as usize;
            assert!((expected * 98 / 100..=expected).contains(&allowed), "{allowed} {expected}");
        }
    }

    #[test]
    fn extreme_rates_and_times_overflow_nothing() {
        let rate = Rate { per_second: 1, burst: u32::MAX };
        let mut bucket = Bucket::default();
        let end = Time::from_nanos(u64::MAX);
        assert_eq!(bucket.allow(end, rate, u32::MAX), Allowance::Yes);
        let swift = Rate { per_second: u32::MAX, burst: 1 };
        assert_eq!(Bucket::default().allow(end, swift, 1), Allowance::Yes);
    }

    #[test]
    fn each_address_has_its_own_limit() {
        let mut limiter = Limiter::new(KEY, CONFIG);
        let (first, _, other) = neighbours(&limiter);
        assert_eq!(drain(&mut limiter, at(0), first), 20);
        assert_eq!(drain(&mut limiter, at(0), other), 20);
        assert_eq!(drain(&mut limiter, at(999), first), 9);
        assert_eq!(drain(&mut limiter, at(2_000), other), 20);
    }

    #[test]
    fn addresses_in_the_same_place_share() {
        let mut limiter = Limiter::new(KEY, CONFIG);
        let (first, neighbour, _) = neighbours(&limiter);
        assert_ne!(first, neighbour);
        assert_eq!(limiter.allow(at(0), neighbour, 15), Allowance::Yes);
        assert_eq!(drain(&mut limiter, at(0), first), 5);
    }

    #[test]
    fn another_key_seats_addresses_otherwise() {
        let (one, other) = (Limiter::new(KEY, CONFIG), Limiter::new([1; 16], CONFIG));
        let moved =
            (0..1_000u32).map(v4).filter(|&ip| index_of(&one, ip) != index_of(&other, ip)).count();
        assert!(moved > 980, "{moved}");
    }

    #[test]
    fn an_ipv6_prefix_is_one_address_and_mapped_ipv4_is_ipv4() {
        let limiter = Limiter::new(KEY, CONFIG);
        let index = |text| index_of(&limiter, ip(text));
        assert_eq!(index("2001:db8:1:2::1"), index("2001:db8:1:2:ffff::9"));
        assert_ne!(index("2001:db8:1:2::1"), index("2001:db8:1:3::1"));
        assert_eq!(index("::ffff:192.0.2.1"), index("192.0.2.1"));
        assert_ne!(index("::ffff:192.0.2.1"), index("::ffff:192.0.2.2"));
    }

    #[test]
    fn an_ipv6_56_has_four_times_what_a_64_has_and_a_48_eight_times() {
        let mut limiter = Limiter::new(KEY, CONFIG);
        let in_56 = |n: u16| ip(&format!("2001:db8:0:{:x}::1", 0x4200 | n));
        assert_eq!(drain(&mut limiter, at(0), in_56(0)), 20);
        let taken: usize = (1..256).map(|n| drain(&mut limiter, at(0), in_56(n))).sum();
        assert_eq!(taken, 3 * 20);
        let in_48 = |n: u16| ip(&format!("2001:db8:0:{n:x}::1"));
        let taken: usize = (0..0x4200).map(|n| drain(&mut limiter, at(0), in_48(n))).sum();
        assert_eq!(taken, 4 * 20);
        assert_eq!(drain(&mut limiter, at(0), ip("2001:db8:1::1")), 20);
        // A second brings back a second's worth of each.
        let taken: usize = (0..256).map(|n| drain(&mut limiter, at(1_000), in_56(n))).sum();
        assert_eq!(taken, 4 * 10);
    }

    #[test]
    fn what_a_wider_network_refuses_costs_the_address_nothing() {
        let config = LimiterConfig { wider: Wider { per_56: 1, per_48: 1 }, ..CONFIG };
        let mut limiter = Limiter::new(KEY, config);
        let (one, other) = (ip("2001:db8::1"), ip("2001:db8:0:1::1"));
        assert_eq!(drain(&mut limiter, at(0), one), 20);
        assert_eq!(drain(&mut limiter, at(0), other), 0);
        let own = limiter.buckets[0][index_of(&limiter, other)];
        assert_eq!(own, Bucket::default());
    }

    #[test]
    fn a_network_has_its_own_addresses_and_no_others() {
        let of = |text: &str| Prefix::all(ip(text)).collect::<Vec<_>>();
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
        assert_eq!(of("192.0.2.1").len(), 1);
        let [p64, p56, p48] = of("2001:db8:1:2345::7")[..] else { panic!("not three") };
        assert!(
            p64.contains(ip("2001:db8:1:2345:ff::")) && !p64.contains(ip("2001:db8:1:2344::7"))
        );
        assert!(p56.contains(ip("2001:db8:1:2344::")) && !p56.contains(ip("2001:db8:1:2445::7")));
        assert!(p48.contains(ip("2001:db8:1::")) && !p48.contains(ip("2001:db8:2:2345::7")));
        assert!(!p48.contains(ip("192.0.2.1")));
    }

    #[test]
    fn a_hundred_thousand_strangers_take_no_more_memory_than_one() {
        let mut limiter = Limiter::new(KEY, CONFIG);
        let tables = |limiter: &Limiter| limiter.buckets.each_ref().map(|t| (t.len(), t.as_ptr()));
        let before = tables(&limiter);
        let allowed =
            (0..100_000u32).filter(|&n| limiter.allow(at(0), v4(n), 1) == Allowance::Yes).count();
        assert_eq!(tables(&limiter), before);
        assert_eq!(size_of::<Bucket>(), 8);
        // And together they get no more than the table holds.
        assert_eq!(allowed, 1024 * 20);
    }

    #[test]
    #[should_panic(expected = "1000 buckets are no power of two")]
    fn a_table_that_is_no_power_of_two_is_a_mistake() {
        Limiter::new(KEY, LimiterConfig { buckets: 1000, ..CONFIG });
    }
}
