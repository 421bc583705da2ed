//! Everything of a session that must not be guessed, from one generator that the caller seeds.
//!
//! A server seeds it from the operating system, a simulation from its own seed. [`super::cookie`]
//! and [`super::limiter`] take their keys from here, tickets and tokens go to the rooms.

use std::fmt;
use std::num::NonZeroU32;

use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

use crate::wire::native::Secret;

/// A cryptographic generator: whoever sees some of its secrets cannot tell the others.
///
/// A clone hands out the same secrets: it is for a test that goes on twice from one moment, never
/// for two nodes that run.
#[derive(Clone)]
pub struct Secrets(ChaCha20Rng);

impl Secrets {
    /// A generator for this seed. It is only as secret as the seed.
    pub fn new(seed: [u8; 32]) -> Self {
        Secrets(ChaCha20Rng::from_seed(seed))
    }

    /// What `rtype`'s TCP step hands out; 0 would mean "no check".
    pub fn token(&mut self) -> NonZeroU32 {
        loop {
            if let Some(token) = NonZeroU32::new(self.0.next_u32()) {
                return token;
            }
        }
    }

    /// What brings a dropped player back.
    pub fn ticket(&mut self) -> Secret {
        Secret(self.bytes())
    }

    /// What ties answers to a question.
    pub fn nonce(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Where a session's numbers begin.
    pub fn sequence(&mut self) -> u32 {
        self.0.next_u32()
    }

    /// A key for hashing.
    pub fn key(&mut self) -> [u8; 16] {
        self.bytes()
    }

    fn bytes(&mut self) -> [u8; 16] {
        let mut bytes = [0; 16];
        self.0.fill_bytes(&mut bytes);
        bytes
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secrets").finish_non_exhaustive()
    }
}

/// Whether two secrets are the same.
///
/// Looks at every byte whatever the first ones are, so that the time it takes tells a guesser
/// nothing about how close it came.
pub fn is_same_secret(a: &Secret, b: &Secret) -> bool {
    a.0.iter().zip(&b.0).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn the_first_secrets_of_seed_zero_are_the_published_key_stream() {
        // RFC 8439, A.1, test vector 1: the key and the nonce are zero.
        let mut secrets = Secrets::new([0; 32]);
        let expected = [0x76, 0xb8, 0xe0, 0xad, 0xa0, 0xf1, 0x3d, 0x90];
        assert_eq!(secrets.key()[..8], expected);
        let expected = [0xbd, 0xd2, 0x19, 0xb8, 0xa0, 0x8d, 0xed, 0x1a];
        assert_eq!(secrets.ticket().0[..8], expected);
    }

    #[test]
    fn a_seed_replays_its_secrets_and_another_seed_has_others() {
        let draw = |seed| {
            let mut s = Secrets::new(seed);
            (s.token(), s.ticket(), s.nonce(), s.sequence(), s.key())
        };
        assert_eq!(draw([7; 32]), draw([7; 32]));
        let mut other = [7; 32];
        other[31] = 8;
        let (a, b) = (draw([7; 32]), draw(other));
        assert!(a.0 != b.0 && a.1 != b.1 && a.2 != b.2 && a.3 != b.3 && a.4 != b.4);
    }

    #[test]
    fn no_secret_comes_twice() {
        let mut secrets = Secrets::new([1; 32]);
        let tickets: HashSet<_> = (0..10_000).map(|_| secrets.ticket()).collect();
        let nonces: HashSet<_> = (0..10_000).map(|_| secrets.nonce()).collect();
        assert_eq!((tickets.len(), nonces.len()), (10_000, 10_000));
    }

    #[test]
    fn a_single_bit_makes_another_secret() {
        let secret = Secrets::new([2; 32]).ticket();
        assert!(is_same_secret(&secret, &secret.clone()));
        for bit in 0..128 {
            let mut other = secret;
            other.0[bit / 8] ^= 1 << (bit % 8);
            assert!(!is_same_secret(&secret, &other), "bit {bit}");
        }
    }

    #[test]
    fn what_is_printed_tells_nothing() {
        assert_eq!(format!("{:?}", Secrets::new([3; 32])), "Secrets { .. }");
    }
}
