//! The stateless cookie of `native`: a stranger proves that it receives at its address, and the
//! server keeps nothing until it has.
//!
//! The endpoint bakes one for each Hello and checks it in Join, Resume and ListRooms. A cookie is
//! SipHash-2-4, 128 bits, with a key that never leaves the server, over
//!
//! ```text
//! 0      8         24     26      34      40
//! | slot | address | port | nonce |          for a socket address
//! | slot | address | connection   | nonce |  for a connection
//! ```
//!
//! all big-endian; an IPv4 address in its IPv6-mapped form, so that one peer has one cookie
//! whichever kind of socket it is seen through.

use std::fmt;
use std::time::Duration;

use siphasher::sip128::SipHasher24;

use super::secrets::is_same_secret;
use crate::peer::{IDENTITY_LEN_MAX, PeerAddr};
use crate::sabotage::{self, Sabotage};
use crate::time::Time;
use crate::wire::native::Secret;

/// A cookie is good in the slot of time it was baked in and in the next: for five to ten seconds.
const SLOT: Duration = Duration::from_secs(5);

const MESSAGE_LEN_MAX: usize = 8 + IDENTITY_LEN_MAX + 8;

/// Bakes cookies and knows its own.
#[derive(Clone)]
pub struct CookieJar {
    hasher: SipHasher24,
}

/// What a cookie is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CookieCheck {
    /// Baked here, lately, for this address and nonce.
    Good,
    /// Not so.
    Bad,
}

impl CookieJar {
    /// A jar with this key: [`super::Secrets::key`] has one.
    pub fn new(key: [u8; 16]) -> Self {
        CookieJar { hasher: SipHasher24::new_with_key(&key) }
    }

    /// The cookie for a Hello from `remote`.
    pub fn bake(&self, now: Time, remote: PeerAddr, nonce: u64) -> Secret {
        self.baked_in(slot(now), remote, nonce)
    }

    /// Whether `cookie` was baked for `remote` and `nonce`, in this slot or the one before.
    pub fn check(&self, now: Time, remote: PeerAddr, nonce: u64, cookie: &Secret) -> CookieCheck {
        let slot = slot(now);
        let older = (0..slot).filter(|_| sabotage::is(Sabotage::CookiesForever));
        let good = [Some(slot), slot.checked_sub(1)]
            .into_iter()
            .flatten()
            .chain(older)
            .any(|slot| is_same_secret(&self.baked_in(slot, remote, nonce), cookie));
        if good { CookieCheck::Good } else { CookieCheck::Bad }
    }

    fn baked_in(&self, slot: u64, remote: PeerAddr, nonce: u64) -> Secret {
        let remote = match sabotage::is(Sabotage::CookieForEveryPort) {
            true => remote.with_port(0).unwrap_or(remote),
            false => remote,
        };
        let mut identity = [0; IDENTITY_LEN_MAX];
        let nonce_at = 8 + remote.write_identity(&mut identity);
        let mut message = [0; MESSAGE_LEN_MAX];
        message[..8].copy_from_slice(&slot.to_be_bytes());
        message[8..8 + IDENTITY_LEN_MAX].copy_from_slice(&identity);
        message[nonce_at..nonce_at + 8].copy_from_slice(&nonce.to_be_bytes());
        Secret(self.hasher.hash(&message[..nonce_at + 8]).as_bytes())
    }
}

impl fmt::Debug for CookieJar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CookieJar").finish_non_exhaustive()
    }
}

fn slot(now: Time) -> u64 {
    now.as_nanos() / SLOT.as_nanos() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
    const NONCE: u64 = 0x0123_4567_89AB_CDEF;

    fn remote(text: &str) -> PeerAddr {
        PeerAddr::socket(text.parse().unwrap())
    }

    fn at(ms: u64) -> Time {
        Time::from_millis(ms)
    }

    /// What a cookie baked at 12 s for 192.0.2.1:4300 is worth to someone else.
    fn check(now: Time, remote: &str, nonce: u64, key: [u8; 16]) -> CookieCheck {
        let peer = self::remote("192.0.2.1:4300");
        let cookie = CookieJar::new(KEY).bake(at(12_000), peer, NONCE);
        CookieJar::new(key).check(now, self::remote(remote), nonce, &cookie)
    }

    #[test]
    fn a_cookie_is_siphash_over_the_documented_bytes() {
        // Computed apart from this code, from SipHash's specification.
        let cookie = CookieJar::new(KEY).bake(at(12_000), remote("192.0.2.1:4300"), NONCE);
        let expected = [
            0x6B, 0x97, 0x02, 0xEF, 0x1C, 0xAD, 0xF8, 0x6F, 0xF6, 0x5A, 0xB4, 0x32, 0x9E, 0xAF,
            0x84, 0xE7,
        ];
        assert_eq!(cookie.0, expected);
    }

    #[test]
    fn a_cookie_is_good_for_whom_it_was_baked() {
        assert_eq!(check(at(12_050), "192.0.2.1:4300", NONCE, KEY), CookieCheck::Good);
    }

    #[test]
    fn a_cookie_is_good_in_its_slot_and_the_next_only() {
        let checked = |ms| check(at(ms), "192.0.2.1:4300", NONCE, KEY);
        assert_eq!(checked(10_000), CookieCheck::Good);
        assert_eq!(checked(19_999), CookieCheck::Good);
        assert_eq!(checked(20_000), CookieCheck::Bad);
        // From the future: the clock of another life of this server.
        assert_eq!(checked(9_999), CookieCheck::Bad);
    }

    #[test]
    fn the_first_slot_has_none_before_it() {
        let (jar, peer) = (CookieJar::new(KEY), remote("192.0.2.1:1"));
        let cookie = jar.bake(Time::ZERO, peer, 0);
        assert_eq!(jar.check(Time::ZERO, peer, 0, &cookie), CookieCheck::Good);
        let last = jar.bake(Time::from_nanos(u64::MAX), peer, 0);
        assert_eq!(jar.check(Time::ZERO, peer, 0, &last), CookieCheck::Bad);
    }

    #[test]
    fn another_address_port_nonce_or_key_makes_it_bad() {
        let now = at(12_050);
        assert_eq!(check(now, "192.0.2.2:4300", NONCE, KEY), CookieCheck::Bad);
        assert_eq!(check(now, "[2001:db8::1]:4300", NONCE, KEY), CookieCheck::Bad);
        assert_eq!(check(now, "192.0.2.1:4301", NONCE, KEY), CookieCheck::Bad);
        assert_eq!(check(now, "192.0.2.1:4300", NONCE ^ 1, KEY), CookieCheck::Bad);
        assert_eq!(check(now, "192.0.2.1:4300", NONCE, [9; 16]), CookieCheck::Bad);
    }

    #[test]
    fn a_connection_s_cookie_is_good_for_that_connection_only() {
        let (jar, ip) = (CookieJar::new(KEY), "192.0.2.1".parse().unwrap());
        let cookie = jar.bake(at(12_000), PeerAddr::connection(4300, ip), NONCE);
        let check = |peer| jar.check(at(12_050), peer, NONCE, &cookie);
        assert_eq!(check(PeerAddr::connection(4300, ip)), CookieCheck::Good);
        assert_eq!(check(PeerAddr::connection(4301, ip)), CookieCheck::Bad);
        assert_eq!(check(PeerAddr::connection(4300 << 48, ip)), CookieCheck::Bad);
        assert_eq!(check(remote("192.0.2.1:4300")), CookieCheck::Bad);
    }

    #[test]
    fn every_changed_bit_makes_it_bad() {
        let (jar, peer) = (CookieJar::new(KEY), remote("[2001:db8::1]:4300"));
        let cookie = jar.bake(at(0), peer, NONCE);
        for bit in 0..128 {
            let mut changed = cookie;
            changed.0[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(jar.check(at(0), peer, NONCE, &changed), CookieCheck::Bad, "bit {bit}");
        }
    }

    #[test]
    fn an_ipv4_address_is_the_same_through_an_ipv6_socket() {
        let mapped = check(at(12_050), "[::ffff:192.0.2.1]:4300", NONCE, KEY);
        assert_eq!(mapped, CookieCheck::Good);
    }

    #[test]
    fn what_is_printed_tells_nothing_of_the_key() {
        assert_eq!(format!("{:?}", CookieJar::new(KEY)), "CookieJar { .. }");
    }
}
