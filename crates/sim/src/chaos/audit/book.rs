//! What the audit keeps of one session: where it is, which numbers it has used, what it may still
//! send, and when it was heard.

use backspin::peer::PeerAddr;
use std::collections::BTreeSet;

use backspin::time::Time;
use backspin::wire::native::{Accept, RejectReason, Secret};

/// One session in `native`, from its first Accept on.
#[derive(Clone, Debug)]
pub(super) struct Book {
    pub(super) remote: PeerAddr,
    pub(super) nonce: u64,
    pub(super) ticket: Secret,
    pub(super) player: u32,
    pub(super) room: u32,
    pub(super) numbers: SequenceNumbers,
    pub(super) tokens: Tokens,
    pub(super) heard: Time,
    /// It has said nothing yet, and is gone then; nothing is kept for it.
    pub(super) invited_until: Option<Time>,
    /// Whether it said goodbye.
    pub(super) has_left: bool,
    /// The nonce of the last wish for another room that was refused, and why.
    pub(super) refused: Option<(u64, RejectReason)>,
}

impl Book {
    /// Someone new, whose question had the number `sequence`.
    pub(super) fn new(
        now: Time,
        remote: PeerAddr,
        accept: &Accept,
        sequence: u32,
        burst: u32,
    ) -> Self {
        Book {
            remote,
            nonce: accept.nonce,
            ticket: accept.ticket,
            player: accept.player,
            room: accept.room,
            numbers: SequenceNumbers::after(sequence),
            tokens: Tokens::full(burst),
            heard: now,
            invited_until: None,
            has_left: false,
            refused: None,
        }
    }

    /// The same player begins anew there.
    pub(super) fn begin_again(
        &mut self,
        now: Time,
        remote: PeerAddr,
        accept: &Accept,
        sequence: u32,
    ) {
        (self.remote, self.nonce, self.heard) = (remote, accept.nonce, now);
        self.invited_until = None;
        (self.player, self.room) = (accept.player, accept.room);
        self.numbers = SequenceNumbers::after(sequence);
    }
}

/// The numbers of a peer's datagrams: each counts once, none too far from the newest.
#[derive(Clone, Debug)]
pub(super) struct SequenceNumbers {
    /// The number that is expected, whole.
    next: u64,
    first: u64,
    seen: BTreeSet<u64>,
    /// The last that was too far ahead to be believed without a second.
    doubted: Option<u64>,
}

impl SequenceNumbers {
    /// The farthest ahead of what is expected, the farthest without a second one that confirms it, and
    /// the farthest behind, as PROTOCOL.md says.
    const AHEAD: i64 = 4096;
    const DOUBTED: i64 = 64;
    const BEHIND: u64 = 64;

    fn after(sequence: u32) -> Self {
        let first = (1 << 32) + u64::from(sequence.wrapping_add(1));
        SequenceNumbers { next: first, first, seen: BTreeSet::new(), doubted: None }
    }

    /// Whether this number can be that of the peer's next datagram; it counts as used.
    pub(super) fn take(&mut self, sequence: u32) -> bool {
        let ahead = i64::from(sequence.wrapping_sub(self.next as u32).cast_signed());
        let whole = self.next.wrapping_add_signed(ahead);
        if ahead >= SequenceNumbers::AHEAD
            || whole < self.first
            || whole + SequenceNumbers::BEHIND < self.next
        {
            return false;
        }
        if ahead >= SequenceNumbers::DOUBTED {
            let before = self.doubted.replace(whole).unwrap_or(0);
            if whole <= before || whole > before + SequenceNumbers::DOUBTED as u64 {
                return false;
            }
        }
        let is_new = self.seen.insert(whole);
        self.next = self.next.max(whole + 1);
        while self.seen.first().is_some_and(|oldest| oldest + SequenceNumbers::BEHIND < self.next) {
            self.seen.pop_first();
        }
        is_new
    }
}

/// A token bucket that is emptied by use and full again a second later.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tokens {
    /// Nanoseconds' worth of what is there.
    credit: u64,
    at: Time,
    per_second: u32,
    burst: u32,
}

impl Tokens {
    /// As many at once as come back in a second.
    pub(super) fn full(per_second: u32) -> Self {
        Tokens::new(per_second, per_second)
    }

    pub(super) fn new(per_second: u32, burst: u32) -> Self {
        let unit = 1_000_000_000 / u64::from(per_second);
        Tokens { credit: unit * u64::from(burst), at: Time::ZERO, per_second, burst }
    }

    fn unit(&self) -> u64 {
        1_000_000_000 / u64::from(self.per_second)
    }

    /// Whether there is one at `now`.
    pub(super) fn has(&self, now: Time) -> bool {
        self.credit_at(now) >= self.unit()
    }

    /// Takes one if there is one; whether there was.
    pub(super) fn take(&mut self, now: Time) -> bool {
        let had = self.has(now);
        self.credit = self.credit_at(now);
        self.at = self.at.max(now);
        if had {
            self.credit -= self.unit();
        }
        had
    }

    /// Nothing is left.
    pub(super) fn drain(&mut self) {
        self.credit = 0;
    }

    fn credit_at(&self, now: Time) -> u64 {
        let back = now.since(self.at).as_nanos() as u64;
        (self.credit.saturating_add(back)).min(self.unit() * u64::from(self.burst))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Chance;
    use backspin::session::{Allowance, Bucket, Rate};

    #[test]
    fn numbers_are_what_a_session_takes() {
        let mut chance = Chance::new(7, 0);
        for first in [0, 5, u32::MAX - 100] {
            let mut ours = SequenceNumbers::after(first);
            let mut theirs = backspin::session::ReplayWindow::new(first.wrapping_add(1));
            let mut near = first;
            for _ in 0..4_000 {
                near = near.wrapping_add(chance.below(4) as u32);
                let number = match chance.below(20) {
                    0 => near.wrapping_add(chance.below(5_000) as u32),
                    1 => near.wrapping_sub(chance.below(100) as u32),
                    _ => near,
                };
                assert_eq!(ours.take(number), theirs.handle(number).is_taken(), "{number}");
            }
        }
    }

    #[test]
    fn tokens_are_what_a_bucket_allows() {
        let mut chance = Chance::new(8, 0);
        let rate = Rate { per_second: 96, burst: 96 };
        let (mut ours, mut theirs, mut now) = (Tokens::full(96), Bucket::default(), Time::ZERO);
        for _ in 0..20_000 {
            now += std::time::Duration::from_nanos(chance.below(15_000_000));
            assert_eq!(ours.take(now), theirs.allow(now, rate, 1) == Allowance::Yes);
        }
    }
}
