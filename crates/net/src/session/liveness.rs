//! Whether a peer is still there, by its silence alone: a warning first, then the end.
//!
//! The owner decides what counts as a sign of life (any valid packet of the peer's) and says so;
//! what the events mean for a slot or a screen is the room's and the client's matter.

use std::time::Duration;

use crate::time::Time;

/// How much silence is too much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Worth a warning.
    pub warn: Duration,
    /// The peer is gone. A limit that is not above `warn` leaves no time for the warning.
    pub drop: Duration,
}

impl Limits {
    /// Five and ten seconds, in every dialect and in both directions.
    pub const DEFAULT: Limits =
        Limits { warn: Duration::from_secs(5), drop: Duration::from_secs(10) };
}

impl Default for Limits {
    fn default() -> Self {
        Limits::DEFAULT
    }
}

/// How a peer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// Heard lately.
    Alive,
    /// Silent for longer than [`Limits::warn`].
    Quiet,
    /// Silent for longer than [`Limits::drop`], for good: it may come back as someone new.
    Dead,
}

/// A change worth telling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LifeEvent {
    /// The peer has been silent for [`Limits::warn`]. Once per silence.
    Warn,
    /// It was heard again after a warning.
    Back,
    /// It has been silent for [`Limits::drop`]. Nothing follows.
    Drop,
}

/// Watches one peer.
#[derive(Clone, Debug)]
pub struct Liveness {
    /// Of the limits, in nanoseconds: a server has many of these.
    warn_ns: u64,
    drop_ns: u64,
    last_heard: Time,
    /// As far as it has been told.
    life: Life,
}

impl Liveness {
    /// A peer that was heard just now.
    pub const fn new(now: Time, limits: Limits) -> Self {
        let Limits { warn, drop } = limits;
        let (warn_ns, drop_ns) = (nanos(warn), nanos(drop));
        Liveness { warn_ns, drop_ns, last_heard: now, life: Life::Alive }
    }

    const fn limits(&self) -> Limits {
        let (warn, drop) = (Duration::from_nanos(self.warn_ns), Duration::from_nanos(self.drop_ns));
        Limits { warn, drop }
    }

    /// The peer gave a sign of life. [`LifeEvent::Back`] if it had been warned of.
    ///
    /// One that was dropped stays so: a straggler does not bring it back.
    pub fn heard(&mut self, now: Time) -> Option<LifeEvent> {
        let told = self.life;
        if told == Life::Dead {
            return None;
        }
        self.last_heard = self.last_heard.max(now);
        self.life = Life::Alive;
        (told == Life::Quiet).then_some(LifeEvent::Back)
    }

    /// Tells what the silence has come to, once each: call it at [`Liveness::deadline`], or in
    /// any rhythm that suits. A check that comes too late for the warning tells the drop alone.
    pub fn handle_timeout(&mut self, now: Time) -> Option<LifeEvent> {
        let (told, life) = (self.life, self.life(now));
        self.life = life;
        match life {
            _ if life == told => None,
            Life::Alive => None,
            Life::Quiet => Some(LifeEvent::Warn),
            Life::Dead => Some(LifeEvent::Drop),
        }
    }

    /// How the peer is, whether it was told or not.
    pub fn life(&self, now: Time) -> Life {
        let silence = self.silent_for(now);
        let Limits { warn, drop } = self.limits();
        match self.life {
            Life::Dead => Life::Dead,
            _ if silence >= drop => Life::Dead,
            _ if silence >= warn => Life::Quiet,
            // A clock that steps back does not unsay a warning; only the peer does.
            told => told,
        }
    }

    /// When [`Liveness::handle_timeout`] has something to tell, if nothing is heard until then.
    /// `None` after the drop.
    pub fn deadline(&self) -> Option<Time> {
        let Limits { warn, drop } = self.limits();
        match self.life {
            Life::Alive => Some(self.last_heard + warn.min(drop)),
            Life::Quiet => Some(self.last_heard + drop),
            Life::Dead => None,
        }
    }

    /// When the peer was last heard.
    pub const fn last_heard(&self) -> Time {
        self.last_heard
    }

    /// For how long it has been silent.
    pub fn silent_for(&self, now: Time) -> Duration {
        now.since(self.last_heard)
    }
}

/// Five hundred years are enough.
const fn nanos(span: Duration) -> u64 {
    let ns = span.as_nanos();
    if ns > u64::MAX as u128 { u64::MAX } else { ns as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_millis(ms)
    }

    fn born(ms: u64) -> Liveness {
        Liveness::new(at(ms), Limits::default())
    }

    #[test]
    fn silence_warns_once_at_5_s_and_drops_once_at_10_s() {
        let mut liveness = born(1_000);
        let told: Vec<_> = (0..50_000)
            .step_by(500)
            .filter_map(|ms| liveness.handle_timeout(at(ms)).map(|event| (ms, event)))
            .collect();
        assert_eq!(told, [(6_000, LifeEvent::Warn), (11_000, LifeEvent::Drop)]);
    }

    #[test]
    fn nothing_is_told_a_nanosecond_early() {
        let mut liveness = born(0);
        let early = Duration::from_nanos(1);
        assert_eq!(liveness.handle_timeout(at(5_000) - early), None);
        assert_eq!(liveness.handle_timeout(at(5_000)), Some(LifeEvent::Warn));
        assert_eq!(liveness.handle_timeout(at(10_000) - early), None);
        assert_eq!(liveness.handle_timeout(at(10_000)), Some(LifeEvent::Drop));
    }

    #[test]
    fn the_deadline_is_where_the_next_event_is_told() {
        let mut liveness = born(300);
        let mut told = Vec::new();
        while let Some(deadline) = liveness.deadline() {
            told.push((deadline, liveness.handle_timeout(deadline)));
        }
        let expected = [(at(5_300), Some(LifeEvent::Warn)), (at(10_300), Some(LifeEvent::Drop))];
        assert_eq!(told, expected);
    }

    #[test]
    fn a_peer_that_speaks_is_never_warned_of() {
        let mut liveness = born(0);
        for ms in (0..600_000).step_by(4_999) {
            assert_eq!(liveness.handle_timeout(at(ms)), None);
            assert_eq!(liveness.heard(at(ms)), None);
            assert_eq!(liveness.deadline(), Some(at(ms + 5_000)));
        }
    }

    #[test]
    fn a_peer_that_comes_back_is_told_once_and_warned_of_anew() {
        let mut liveness = born(0);
        assert_eq!(liveness.handle_timeout(at(5_000)), Some(LifeEvent::Warn));
        assert_eq!(liveness.life(at(9_999)), Life::Quiet);
        assert_eq!(liveness.heard(at(9_999)), Some(LifeEvent::Back));
        assert_eq!(liveness.heard(at(9_999)), None);
        assert_eq!(liveness.life(at(9_999)), Life::Alive);
        assert_eq!(liveness.last_heard(), at(9_999));
        assert_eq!(liveness.silent_for(at(12_000)), Duration::from_millis(2_001));
        assert_eq!(liveness.handle_timeout(at(14_999)), Some(LifeEvent::Warn));
    }

    #[test]
    fn the_dead_stay_dead() {
        let mut liveness = born(0);
        assert_eq!(liveness.handle_timeout(at(10_000)), Some(LifeEvent::Drop));
        assert_eq!(liveness.heard(at(10_001)), None);
        assert_eq!(liveness.life(at(10_001)), Life::Dead);
        assert_eq!(liveness.last_heard(), Time::ZERO);
        assert_eq!((liveness.deadline(), liveness.handle_timeout(at(40_000))), (None, None));
    }

    #[test]
    fn a_late_check_tells_the_drop_alone() {
        let mut liveness = born(0);
        assert_eq!(liveness.life(at(40_000)), Life::Dead);
        assert_eq!(liveness.handle_timeout(at(40_000)), Some(LifeEvent::Drop));
        assert_eq!(liveness.handle_timeout(at(40_000)), None);
    }

    #[test]
    fn limits_can_be_chosen() {
        let (warn, drop) = (Duration::from_millis(200), Duration::from_millis(300));
        let mut liveness = Liveness::new(at(0), Limits { warn, drop });
        assert_eq!(liveness.handle_timeout(at(200)), Some(LifeEvent::Warn));
        assert_eq!(liveness.handle_timeout(at(300)), Some(LifeEvent::Drop));

        let limits = Limits { warn: drop, drop: warn };
        let mut unwarned = Liveness::new(at(0), limits);
        assert_eq!(unwarned.deadline(), Some(at(200)));
        assert_eq!(unwarned.handle_timeout(at(200)), Some(LifeEvent::Drop));
    }

    #[test]
    fn an_older_sign_of_life_does_not_bring_the_silence_forward() {
        let mut liveness = born(0);
        liveness.heard(at(3_000));
        liveness.heard(at(2_000));
        assert_eq!(liveness.last_heard(), at(3_000));
    }
}
