//! A game server's part: it measures a round trip from a stamp that has been there and back, seals it
//! for the matchmaker, and keeps nothing.

use super::MatchKey;
use crate::peer::PeerAddr;
use crate::session::{CookieCheck, CookieJar, Secrets};
use crate::time::Time;
use crate::wire::native::{Probe, Probed, Secret};

/// Measures for a matchmaker.
#[derive(Clone, Debug)]
pub(crate) struct Witness {
    key: MatchKey,
    /// Which server this is: two must not be taken for each other.
    server: u64,
    /// Proves stamps; no other cookie of the server is baked with the same key.
    jar: CookieJar,
}

impl Witness {
    pub(crate) fn new(key: MatchKey, secrets: &mut Secrets) -> Self {
        Witness { key, server: secrets.nonce(), jar: CookieJar::new(secrets.key()) }
    }

    /// The answer to a Probe that came from `remote`.
    pub(crate) fn answer(&self, now: Time, remote: PeerAddr, probe: &Probe) -> Probed {
        let Probe { pass, stamp, cookie } = *probe;
        let (server, fresh) = (self.server, now.as_nanos());
        // A good cookie says that this server wrote the stamp, for this address and within 10 s.
        let round_trip = match self.jar.check(now, remote, stamp, &cookie) {
            CookieCheck::Good => micros(now, Time::from_nanos(stamp)),
            CookieCheck::Bad => 0,
        };
        let seal = match round_trip {
            0 => Secret([0; 16]),
            _ => self.key.seal(server, &pass, round_trip),
        };
        let cookie = self.jar.bake(now, remote, fresh);
        Probed { pass, server, stamp: fresh, cookie, round_trip, seal }
    }
}

/// At least 1: 0 is "not measured".
fn micros(now: Time, stamp: Time) -> u32 {
    u32::try_from(now.since(stamp).as_micros()).unwrap_or(u32::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASS: Secret = Secret([0xAA; 16]);
    const KEY: MatchKey = MatchKey([7; 16]);

    fn witness() -> Witness {
        Witness::new(KEY, &mut Secrets::new([3; 32]))
    }

    fn remote(port: u16) -> PeerAddr {
        PeerAddr::socket(([192, 0, 2, 1], port).into())
    }

    fn first(witness: &Witness, at_ms: u64) -> Probed {
        let probe = Probe { pass: PASS, stamp: 0, cookie: Secret([0; 16]) };
        witness.answer(Time::from_millis(at_ms), remote(5000), &probe)
    }

    fn second(witness: &Witness, at_ms: u64, stamp: u64, cookie: Secret) -> Probed {
        let probe = Probe { pass: PASS, stamp, cookie };
        witness.answer(Time::from_millis(at_ms), remote(5000), &probe)
    }

    #[test]
    fn the_second_answer_has_the_time_since_the_first_under_a_seal() {
        let witness = witness();
        let begun = first(&witness, 1_000);
        assert_eq!((begun.round_trip, begun.seal), (0, Secret([0; 16])));
        let measured = second(&witness, 1_035, begun.stamp, begun.cookie);
        assert_eq!(measured.round_trip, 35_000);
        assert!(KEY.has_sealed_answer(&measured));
        assert_eq!(measured.server, begun.server);
        let other = Witness::new(KEY, &mut Secrets::new([4; 32]));
        assert_ne!(first(&other, 0).server, begun.server);
        // An answer within a microsecond is one, too.
        assert_eq!(second(&witness, 1_000, begun.stamp, begun.cookie).round_trip, 1);
    }

    #[test]
    fn a_stamp_that_the_server_did_not_write_for_this_address_measures_nothing() {
        let witness = witness();
        let begun = first(&witness, 1_000);
        let nothing = |at_ms, stamp, cookie| {
            let probed = second(&witness, at_ms, stamp, cookie);
            assert_eq!((probed.round_trip, probed.seal), (0, Secret([0; 16])));
        };
        // Closer than it is: a stamp of later, with the cookie of the one before.
        nothing(1_035, begun.stamp + 30_000_000, begun.cookie);
        nothing(1_035, begun.stamp, Secret([1; 16]));
        nothing(1_000 + 10_000, begun.stamp, begun.cookie);
        let probe = Probe { pass: PASS, stamp: begun.stamp, cookie: begun.cookie };
        let elsewhere = witness.answer(Time::from_millis(1_035), remote(5001), &probe);
        assert_eq!(elsewhere.round_trip, 0, "another address");
    }
}
