//! The key that game servers and their matchmaker share, and the seals that it makes.
//!
//! A seal is SipHash-2-4, 128 bits, over
//!
//! ```text
//! 0        8      24           28
//! | server | pass | round_trip |
//! ```
//!
//! all big-endian.

use std::fmt;

use siphasher::sip128::SipHasher24;

use crate::session::is_same_secret;
use crate::wire::native::{Probed, Secret};

/// What game servers and their matchmaker share, and nobody else knows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct MatchKey(pub [u8; 16]);

impl MatchKey {
    /// Reads 32 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() != 32 || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        u128::from_str_radix(text, 16).ok().map(|key| MatchKey(key.to_be_bytes()))
    }

    /// The seal over a round trip of whoever has `pass` to `server`, in µs.
    pub fn seal(&self, server: u64, pass: &Secret, round_trip: u32) -> Secret {
        let mut message = [0; 28];
        message[..8].copy_from_slice(&server.to_be_bytes());
        message[8..24].copy_from_slice(&pass.0);
        message[24..].copy_from_slice(&round_trip.to_be_bytes());
        Secret(SipHasher24::new_with_key(&self.0).hash(&message).as_bytes())
    }

    /// Whether a server that has the key made this seal.
    pub fn has_sealed(&self, server: u64, pass: &Secret, round_trip: u32, seal: &Secret) -> bool {
        round_trip != 0 && is_same_secret(&self.seal(server, pass, round_trip), seal)
    }

    pub(super) fn has_sealed_answer(&self, it: &Probed) -> bool {
        self.has_sealed(it.server, &it.pass, it.round_trip, &it.seal)
    }
}

impl fmt::Debug for MatchKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MatchKey").finish_non_exhaustive()
    }
}

/// 32 hexadecimal digits, as [`MatchKey::parse`] reads them.
impl fmt::Display for MatchKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: MatchKey = MatchKey([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);

    #[test]
    fn a_key_is_32_hexadecimal_digits() {
        let text = "000102030405060708090a0b0c0d0e0f";
        assert_eq!(MatchKey::parse(text), Some(KEY));
        assert_eq!(KEY.to_string(), text);
        let long = format!("{text}0");
        for wrong in ["", &text[..31], &long[..], "+00102030405060708090a0b0c0d0e0f", "x"] {
            assert_eq!(MatchKey::parse(wrong), None, "{wrong:?}");
        }
        assert!(!format!("{KEY:?}").contains("0, 1, 2"), "a key is not shown by accident");
    }

    #[test]
    fn a_seal_is_siphash_over_the_documented_bytes_and_nothing_else_fits_it() {
        let (server, pass, round_trip) = (7, Secret([0xAA; 16]), 35_000);
        let seal = KEY.seal(server, &pass, round_trip);
        // Computed apart from this code, from SipHash's specification.
        assert_eq!(format!("{:032x}", u128::from_be_bytes(seal.0)), SEAL);
        assert!(KEY.has_sealed(server, &pass, round_trip, &seal));
        assert!(!KEY.has_sealed(8, &pass, round_trip, &seal), "another server");
        assert!(!KEY.has_sealed(server, &Secret([0xAB; 16]), round_trip, &seal), "another player");
        assert!(!KEY.has_sealed(server, &pass, 34_999, &seal), "a shorter round trip");
        assert!(!MatchKey([1; 16]).has_sealed(server, &pass, round_trip, &seal), "another key");
        let none = KEY.seal(server, &pass, 0);
        assert!(!KEY.has_sealed(server, &pass, 0, &none), "no round trip at all");
    }

    const SEAL: &str = "17b2d3313d05a31c15f5f743a08870ea";
}
