//! When to ask again: hellos and joins of every dialect go over a line that loses them.
//!
//! Attempts come further and further apart, and each sends more copies than the one before. The
//! owner puts the same packet on the wire once per copy; whoever answers is stateless or takes
//! repeated ones for one.

use std::time::Duration;

use crate::time::Time;

/// How to ask again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// From the first attempt to the second.
    pub first: Duration,
    /// By how much each wait is longer than the one before, in percent.
    pub growth_pct: u32,
    /// No wait is longer.
    pub longest: Duration,
    /// From the first attempt to giving up.
    pub give_up: Duration,
    /// The most copies of one attempt. Attempt 0 sends one, each later one a copy more.
    pub copies: u8,
}

impl RetryPolicy {
    /// A hello: 500 ms at first, growing by a tenth each time, for five seconds.
    ///
    /// ```text
    /// attempt      0      1      2      3      4      5      6      7    give up
    /// at           0    500   1050   1655   2320   3052   3857   4743       5000 ms
    /// copies       1      2      3      4      5      6      7      8
    /// ```
    ///
    /// A good line sees one small packet. A line that ate two is likely in a burst, and what ends
    /// a burst, where it is counted in packets, is more packets. With 30 % lost in bursts of 3,
    /// each packet of a burst is followed by another lost one two times in three: eight single
    /// hellos all vanish in 18 of 1000 tries, these 36 in 2 of ten million. With an answer to
    /// each copy that comes through, lost the same way, nobody hears one in 16 of 100,000 tries.
    ///
    /// The waits stay below a second, so that a server that was just started is found soon, and
    /// grow, so that one that is not there is left in peace.
    pub const HELLO: RetryPolicy = RetryPolicy {
        first: Duration::from_millis(500),
        growth_pct: 10,
        longest: Duration::from_secs(1),
        give_up: Duration::from_secs(5),
        copies: 8,
    };

    /// The wait after one of `wait`.
    fn grown(&self, wait: Duration) -> Duration {
        let percent = self.growth_pct.saturating_add(100);
        wait.saturating_mul(percent).checked_div(100).unwrap_or(wait).min(self.longest)
    }
}

/// What to do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryStep {
    /// Nothing before [`Retry::deadline`].
    Wait,
    /// Send the packet so many times, and ask again at [`Retry::deadline`].
    Send {
        /// At least 1.
        copies: u8,
    },
    /// Nobody answered in time.
    GiveUp,
}

/// The attempts to reach someone. Dropped when there is an answer.
#[derive(Clone, Debug)]
pub struct Retry {
    policy: RetryPolicy,
    next: Time,
    wait: Duration,
    give_up: Time,
    copies: u8,
}

impl Retry {
    /// The first attempt is due now.
    pub fn new(now: Time, policy: RetryPolicy) -> Self {
        let wait = policy.first.min(policy.longest);
        Retry { policy, next: now, wait, give_up: now + policy.give_up, copies: 1 }
    }

    /// What is due. After [`RetryStep::Send`] the next attempt is a wait away, however late this
    /// call came; [`RetryStep::GiveUp`] stays so.
    pub fn poll(&mut self, now: Time) -> RetryStep {
        if now >= self.give_up {
            return RetryStep::GiveUp;
        }
        if now < self.next {
            return RetryStep::Wait;
        }
        let copies = self.copies;
        self.next = now + self.wait;
        self.wait = self.policy.grown(self.wait);
        self.copies = self.copies.saturating_add(1).min(self.policy.copies.max(1));
        RetryStep::Send { copies }
    }

    /// When to poll next.
    pub fn deadline(&self) -> Time {
        self.next.min(self.give_up)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_millis(ms)
    }

    /// Everything a schedule does when polled at its deadlines, in whole milliseconds.
    fn schedule(policy: RetryPolicy) -> Vec<(u64, RetryStep)> {
        let mut retry = Retry::new(at(0), policy);
        let mut steps = Vec::new();
        while !matches!(steps.last(), Some((_, RetryStep::GiveUp))) {
            let deadline = retry.deadline();
            steps.push((deadline.as_millis(), retry.poll(deadline)));
        }
        steps
    }

    #[test]
    fn a_hello_follows_the_documented_schedule() {
        let send = |copies| RetryStep::Send { copies };
        let expected = [
            (0, send(1)),
            (500, send(2)),
            (1_050, send(3)),
            (1_655, send(4)),
            (2_320, send(5)),
            (3_052, send(6)),
            (3_857, send(7)),
            (4_743, send(8)),
            (5_000, RetryStep::GiveUp),
        ];
        assert_eq!(schedule(RetryPolicy::HELLO), expected);
    }

    #[test]
    fn nothing_is_sent_before_it_is_due_and_nothing_twice() {
        let mut retry = Retry::new(at(100), RetryPolicy::HELLO);
        assert_eq!(retry.deadline(), at(100));
        assert_eq!(retry.poll(at(100)), RetryStep::Send { copies: 1 });
        assert_eq!(retry.poll(at(100)), RetryStep::Wait);
        assert_eq!(retry.deadline(), at(600));
        assert_eq!(retry.poll(at(599)), RetryStep::Wait);
        assert_eq!(retry.poll(at(600)), RetryStep::Send { copies: 2 });
    }

    #[test]
    fn a_late_poll_delays_what_follows_instead_of_catching_up() {
        let mut retry = Retry::new(at(0), RetryPolicy::HELLO);
        retry.poll(at(0));
        assert_eq!(retry.poll(at(2_000)), RetryStep::Send { copies: 2 });
        assert_eq!(retry.poll(at(2_001)), RetryStep::Wait);
        assert_eq!(retry.deadline(), at(2_550));
    }

    #[test]
    fn giving_up_is_final() {
        let mut retry = Retry::new(at(0), RetryPolicy::HELLO);
        assert_eq!(retry.poll(at(4_999)), RetryStep::Send { copies: 1 });
        assert_eq!(retry.deadline(), at(5_000));
        assert_eq!(retry.poll(at(5_000)), RetryStep::GiveUp);
        assert_eq!(retry.poll(at(5_000)), RetryStep::GiveUp);
    }

    #[test]
    fn absurd_policies_neither_overflow_nor_send_nothing() {
        let policy = RetryPolicy {
            first: Duration::from_secs(2),
            growth_pct: u32::MAX,
            longest: Duration::MAX,
            give_up: Duration::from_secs(9),
            copies: 0,
        };
        let send = RetryStep::Send { copies: 1 };
        let expected = [(0, send), (2_000, send), (9_000, RetryStep::GiveUp)];
        assert_eq!(schedule(policy), expected);
    }

    #[test]
    fn a_wait_grows_no_longer_than_the_longest() {
        let policy = RetryPolicy { growth_pct: 100, copies: 2, ..RetryPolicy::HELLO };
        let times: Vec<_> = schedule(policy).into_iter().map(|(ms, _)| ms).collect();
        assert_eq!(times, [0, 500, 1_500, 2_500, 3_500, 4_500, 5_000]);
    }
}
