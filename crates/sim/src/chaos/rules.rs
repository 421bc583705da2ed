//! What a server allows and how long it waits, drawn for every seed: little, so that every limit is
//! met, and short, so that a run of half a minute has all of it.

use std::fmt;
use std::time::Duration;

use crate::Chance;
use backspin::endpoint;
use backspin::session;

/// The limits and timers of a chaos run.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// When a silent peer is warned of and dropped, on either side.
    pub liveness: session::Limits,
    /// How long a dropped player's place is kept.
    pub resume_for: Duration,
    /// How long a place waits for who joined and has said nothing since.
    pub claim_within: Duration,
    /// The limits of the endpoint.
    pub limits: endpoint::Limits,
}

impl Rules {
    /// The longest silence that ends with the same place: the drop and the time to come back.
    #[cfg(test)]
    pub(super) const LONGEST_AWAY: Duration = Duration::from_millis(DROP_MS.1 + RESUME_MS.1);

    pub(super) fn draw(chance: &mut Chance) -> Self {
        let drop = within(chance, DROP_MS);
        let limits = endpoint::Limits {
            sessions: 4 + chance.below(9) as u16,
            sessions_per_ip: 1 + chance.below(4) as u16,
            stranger_datagrams_per_s: 32 + chance.below(64) as u32,
            player_datagrams_per_s: 96 + chance.below(64) as u32,
            streams: 1 + chance.below(4) as usize,
            streams_per_ip: 1 + chance.below(2) as usize,
            rooms: 3 + chance.below(3) as u16,
            rooms_per_ip: 1 + chance.below(2) as u16,
            password_tries: 6 + chance.below(8) as u32,
            wider: session::Wider {
                per_56: 1 + chance.below(2) as u16,
                per_48: 2 + chance.below(2) as u16,
            },
        };
        Rules {
            liveness: session::Limits { warn: drop / 2, drop },
            resume_for: within(chance, RESUME_MS),
            claim_within: within(chance, CLAIM_MS),
            limits,
        }
    }
}

/// Silence ends a session after at least and at most so long.
const DROP_MS: (u64, u64) = (2_200, 3_800);

/// A place is kept for at least and at most so long.
const RESUME_MS: (u64, u64) = (3_000, 7_000);

/// A silent join is kept for at least and at most so long.
const CLAIM_MS: (u64, u64) = (2_000, 5_000);

fn within(chance: &mut Chance, (least, most): (u64, u64)) -> Duration {
    Duration::from_millis(least + chance.below(most - least))
}

impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = |span: Duration| span.as_secs_f64();
        let limits = self.limits;
        write!(
            f,
            "silence ends after {:.2} s, places are kept for {:.2} s and for silent joins {:.2} s; \
             sessions: {}, from an address {}; streams: {}, from an address {}; rooms: {}, from an address {}; \
             datagrams a second: {} from a stranger, {} from a player",
            seconds(self.liveness.drop),
            seconds(self.resume_for),
            seconds(self.claim_within),
            limits.sessions,
            limits.sessions_per_ip,
            limits.streams,
            limits.streams_per_ip,
            limits.rooms,
            limits.rooms_per_ip,
            limits.stranger_datagrams_per_s,
            limits.player_datagrams_per_s,
        )
    }
}
