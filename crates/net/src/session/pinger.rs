//! Questions of our own, and what their answers are worth: Ping and Pong of `rtype`, both pairs
//! of `native`.
//!
//! The answer is the question's bytes, sent back. What it says is checked, never used: the round
//! trip comes from the local clock alone. Samples go to [`super::RoundTrip`].

use std::time::Duration;

use crate::time::Time;

/// How many questions are remembered, asked and answered ones alike.
const RING: usize = 16;

// Number n lives in place n % RING, also across the wrap of the number.
const _: () = assert!(RING.is_power_of_two());

/// A question without an answer for so long is lost.
const LOST_AFTER: Duration = Duration::from_secs(5);

/// An answer to a question older than this is stale, whatever else it is.
const STALE_AFTER_MS: u32 = 10_000;

/// What goes out, and comes back unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Question {
    /// Tells the questions apart: one up each, wrapping.
    pub sequence: u32,
    /// The asker's clock in milliseconds, wrapping. It means nothing to anyone else.
    pub timestamp: u32,
}

impl Question {
    /// Whether it says that it was asked later than `now`: nothing that we sent does.
    pub fn is_ahead(self, now: Time) -> bool {
        self.timestamp.wrapping_sub(timestamp(now)).wrapping_sub(1) < i32::MAX as u32
    }
}

/// What an answer is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The first answer to a question that waited for it, and the round trip.
    Sample(Duration),
    /// Nothing like it was asked, or it was given up as lost.
    Unknown,
    /// The question has its answer already.
    Duplicate,
    /// It was asked more than ten seconds ago.
    Stale,
    /// Such a number was asked, but not with this timestamp. The question goes on waiting.
    Corrupt,
}

/// Asks in a steady rhythm, and judges what comes back.
///
/// With an interval below 5 s / 16 a question leaves the memory, and is lost, before its five
/// seconds are over.
#[derive(Clone, Debug)]
pub struct Pinger {
    interval: Duration,
    due: Time,
    next_sequence: u32,
    ring: [Option<Asked>; RING],
    /// How many of them wait for their answer.
    pending: u8,
    counts: PingCounts,
}

impl Pinger {
    /// A pinger whose first question has number 0 and is due at once.
    pub const fn new(interval: Duration) -> Self {
        Pinger::starting_at(interval, 0)
    }

    /// A pinger whose first question has this number: one that nobody guesses, say.
    pub const fn starting_at(interval: Duration, sequence: u32) -> Self {
        Pinger {
            interval,
            due: Time::ZERO,
            next_sequence: sequence,
            ring: [None; RING],
            pending: 0,
            counts: PingCounts::NONE,
        }
    }

    /// When to [`ask`](Pinger::ask) next.
    pub const fn due(&self) -> Time {
        self.due
    }

    /// The next question, to be sent now. The one after it is due an interval later.
    pub fn ask(&mut self, now: Time) -> Question {
        self.expire(now);
        let timestamp = timestamp(now);
        let question = Question { sequence: self.next_sequence, timestamp };
        let asked = Asked { question, at: now, state: State::Pending };
        let forgotten = self.ring[place(question.sequence)].replace(asked);
        self.pending += 1;
        if forgotten.is_some_and(|asked| asked.state == State::Pending) {
            self.pending -= 1;
            self.counts.lost += 1;
        }
        self.next_sequence = self.next_sequence.wrapping_add(1);
        self.counts.asked += 1;
        self.due = now + self.interval;
        question
    }

    /// Something else measured the path: the next question is an interval away again.
    pub fn postpone(&mut self, now: Time) {
        self.due = now + self.interval;
    }

    /// Judges and counts an answer.
    pub fn handle_answer(&mut self, now: Time, answer: Question) -> Verdict {
        self.expire(now);
        let verdict = self.judge(now, answer);
        let counts = &mut self.counts;
        match verdict {
            Verdict::Sample(_) => counts.answered += 1,
            Verdict::Unknown => counts.unknown += 1,
            Verdict::Duplicate => counts.duplicate += 1,
            Verdict::Stale => counts.stale += 1,
            Verdict::Corrupt => counts.corrupt += 1,
        }
        verdict
    }

    /// Gives up what has waited for five seconds. [`ask`](Pinger::ask) and
    /// [`handle_answer`](Pinger::handle_answer) do it, too: call it before reading the counts.
    pub fn expire(&mut self, now: Time) {
        if self.pending == 0 {
            return;
        }
        for asked in self.ring.iter_mut().flatten() {
            if asked.state == State::Pending && now.since(asked.at) >= LOST_AFTER {
                asked.state = State::Lost;
                self.pending -= 1;
                self.counts.lost += 1;
            }
        }
    }

    /// What has happened so far.
    pub const fn counts(&self) -> &PingCounts {
        &self.counts
    }

    fn judge(&mut self, now: Time, answer: Question) -> Verdict {
        let asked = self.ring[place(answer.sequence)]
            .as_mut()
            .filter(|asked| asked.question.sequence == answer.sequence);
        let Some(asked) = asked else {
            return if is_stale(now, answer) { Verdict::Stale } else { Verdict::Unknown };
        };
        if asked.question.timestamp != answer.timestamp {
            return Verdict::Corrupt;
        }
        match asked.state {
            State::Pending => {
                asked.state = State::Answered;
                self.pending -= 1;
                Verdict::Sample(now.since(asked.at))
            }
            _ if is_stale(now, answer) => Verdict::Stale,
            State::Answered => Verdict::Duplicate,
            State::Lost => Verdict::Unknown,
        }
    }
}

/// What became of questions, and of answers.
///
/// `answered + lost` is at most `asked`: the others still wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PingCounts {
    /// Questions sent.
    pub asked: u64,
    /// Questions answered in time.
    pub answered: u64,
    /// Questions given up.
    pub lost: u64,
    /// See [`Verdict::Unknown`].
    pub unknown: u64,
    /// See [`Verdict::Duplicate`].
    pub duplicate: u64,
    /// See [`Verdict::Stale`].
    pub stale: u64,
    /// See [`Verdict::Corrupt`].
    pub corrupt: u64,
}

impl PingCounts {
    const NONE: PingCounts = PingCounts {
        asked: 0,
        answered: 0,
        lost: 0,
        unknown: 0,
        duplicate: 0,
        stale: 0,
        corrupt: 0,
    };

    /// The share of questions lost, of those whose fate is known; 0 before the first.
    pub fn loss(&self) -> f64 {
        match self.answered + self.lost {
            0 => 0.0,
            settled => self.lost as f64 / settled as f64,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Asked {
    question: Question,
    at: Time,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Pending,
    Answered,
    Lost,
}

const fn place(sequence: u32) -> usize {
    sequence as usize % RING
}

/// The low half of the clock: it wraps after 49.7 days.
const fn timestamp(now: Time) -> u32 {
    now.as_millis() as u32
}

fn is_stale(now: Time, answer: Question) -> bool {
    let age_ms = timestamp(now).wrapping_sub(answer.timestamp);
    // What lies half the range back is ahead of us: never sent, but not old either.
    age_ms > STALE_AFTER_MS && age_ms <= i32::MAX as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const RTT: Duration = Duration::from_micros(48_250);

    fn at(ms: u64) -> Time {
        Time::from_millis(ms)
    }

    #[test]
    fn the_first_question_is_due_at_once_and_the_next_an_interval_later() {
        let mut pinger = Pinger::new(SECOND);
        assert_eq!(pinger.due(), Time::ZERO);
        assert_eq!(pinger.ask(at(12_345)), Question { sequence: 0, timestamp: 12_345 });
        assert_eq!(pinger.due(), at(13_345));
        assert_eq!(pinger.ask(at(13_400)), Question { sequence: 1, timestamp: 13_400 });
        assert_eq!(pinger.due(), at(14_400));
    }

    #[test]
    fn another_measurement_postpones_the_next_question() {
        let mut pinger = Pinger::new(SECOND);
        pinger.ask(at(0));
        pinger.postpone(at(700));
        assert_eq!(pinger.due(), at(1_700));
    }

    #[test]
    fn the_round_trip_comes_from_the_local_clock_to_the_nanosecond() {
        let mut pinger = Pinger::new(SECOND);
        let now = Time::from_nanos(5_000_999_999);
        let question = pinger.ask(now);
        assert_eq!(pinger.handle_answer(now + RTT, question), Verdict::Sample(RTT));
        assert_eq!(pinger.counts().answered, 1);
        assert_eq!(pinger.counts().loss(), 0.0);
    }

    #[test]
    fn answers_may_come_out_of_order() {
        let mut pinger = Pinger::new(SECOND);
        let first = pinger.ask(at(0));
        let second = pinger.ask(at(1_000));
        let (fast, slow) = (Duration::from_millis(50), Duration::from_millis(1_100));
        assert_eq!(pinger.handle_answer(at(1_050), second), Verdict::Sample(fast));
        assert_eq!(pinger.handle_answer(at(1_100), first), Verdict::Sample(slow));
    }

    #[test]
    fn a_second_answer_is_a_duplicate_and_after_ten_seconds_stale() {
        let mut pinger = Pinger::new(SECOND);
        let question = pinger.ask(at(0));
        pinger.handle_answer(at(50), question);
        assert_eq!(pinger.handle_answer(at(51), question), Verdict::Duplicate);
        assert_eq!(pinger.handle_answer(at(10_000), question), Verdict::Duplicate);
        assert_eq!(pinger.handle_answer(at(10_001), question), Verdict::Stale);
        let counts = pinger.counts();
        assert_eq!((counts.answered, counts.duplicate, counts.stale), (1, 2, 1));
    }

    #[test]
    fn what_was_never_asked_is_unknown_or_stale_by_its_timestamp() {
        let mut pinger = Pinger::new(SECOND);
        pinger.ask(at(60_000));
        let stray = |timestamp| Question { sequence: 99, timestamp };
        assert_eq!(pinger.handle_answer(at(60_050), stray(60_000)), Verdict::Unknown);
        assert_eq!(pinger.handle_answer(at(60_050), stray(50_050)), Verdict::Unknown);
        assert_eq!(pinger.handle_answer(at(60_050), stray(50_049)), Verdict::Stale);
        assert_eq!(pinger.handle_answer(at(60_050), stray(60_051)), Verdict::Unknown);
        assert_eq!(pinger.handle_answer(at(60_050), stray(u32::MAX)), Verdict::Stale);
        let counts = pinger.counts();
        assert_eq!((counts.unknown, counts.stale, counts.answered), (3, 2, 0));
    }

    #[test]
    fn another_timestamp_is_corruption_and_the_question_goes_on_waiting() {
        let mut pinger = Pinger::new(SECOND);
        let question = pinger.ask(at(20_000));
        for timestamp in [question.timestamp ^ 1, 0, u32::MAX] {
            let corrupt = Question { timestamp, ..question };
            assert_eq!(pinger.handle_answer(at(20_010), corrupt), Verdict::Corrupt);
        }
        let rtt = Duration::from_millis(20);
        assert_eq!(pinger.handle_answer(at(20_020), question), Verdict::Sample(rtt));
        assert_eq!(pinger.counts().corrupt, 3);
    }

    #[test]
    fn a_question_from_the_future_is_ahead_also_across_the_wrap() {
        let is_ahead = |timestamp, now| Question { sequence: 0, timestamp }.is_ahead(at(now));
        assert!(!is_ahead(20_000, 20_000) && !is_ahead(19_999, 20_000));
        assert!(is_ahead(20_001, 20_000));
        assert!(is_ahead(0, u32::MAX.into()) && !is_ahead(u32::MAX, 1 << 32));
    }

    #[test]
    fn a_question_is_lost_after_five_seconds_and_its_answer_then_unknown() {
        let mut pinger = Pinger::new(SECOND);
        let question = pinger.ask(at(0));
        pinger.expire(at(4_999));
        assert_eq!(pinger.counts().lost, 0);
        pinger.expire(at(5_000));
        pinger.expire(at(5_001));
        assert_eq!(pinger.counts().lost, 1);
        assert_eq!(pinger.counts().loss(), 1.0);
        assert_eq!(pinger.handle_answer(at(6_000), question), Verdict::Unknown);
        assert_eq!(pinger.handle_answer(at(10_001), question), Verdict::Stale);
        assert_eq!((pinger.counts().lost, pinger.counts().answered), (1, 0));
    }

    #[test]
    fn an_answer_in_time_counts_although_nobody_called_expire() {
        let ask = || {
            let mut pinger = Pinger::new(SECOND);
            let question = pinger.ask(at(0));
            (pinger, question)
        };
        let (mut pinger, question) = ask();
        let rtt = Duration::from_millis(4_999);
        assert_eq!(pinger.handle_answer(at(4_999), question), Verdict::Sample(rtt));
        let (mut pinger, question) = ask();
        assert_eq!(pinger.handle_answer(at(5_000), question), Verdict::Unknown);
        assert_eq!(pinger.counts().lost, 1);
    }

    #[test]
    fn the_ring_holds_sixteen_and_forgets_the_oldest() {
        let mut pinger = Pinger::new(Duration::from_millis(10));
        let questions: Vec<_> = (0..17).map(|index| pinger.ask(at(index * 10))).collect();
        assert_eq!(pinger.counts().lost, 1);
        assert_eq!(pinger.handle_answer(at(200), questions[0]), Verdict::Unknown);
        for question in &questions[1..] {
            assert!(matches!(pinger.handle_answer(at(200), *question), Verdict::Sample(_)));
        }
        let counts = pinger.counts();
        assert_eq!((counts.asked, counts.answered, counts.lost), (17, 16, 1));
        assert_eq!(counts.loss(), 1.0 / 17.0);
    }

    #[test]
    fn numbers_and_timestamps_wrap() {
        let mut pinger = Pinger::starting_at(SECOND, u32::MAX - 9);
        let start = u64::from(u32::MAX) - 9_500;
        for index in 0..40 {
            let now = at(start + index * 1_000);
            let question = pinger.ask(now);
            assert_eq!(question.sequence, (u32::MAX - 9).wrapping_add(index as u32));
            assert_eq!(question.timestamp, ((start + index * 1_000) % (1 << 32)) as u32);
            assert_eq!(pinger.handle_answer(now + RTT, question), Verdict::Sample(RTT));
            assert_eq!(pinger.handle_answer(now + RTT, question), Verdict::Duplicate);
            assert_eq!(pinger.handle_answer(now + 11 * SECOND, question), Verdict::Stale);
        }
        let counts = pinger.counts();
        assert_eq!((counts.answered, counts.duplicate, counts.stale), (40, 40, 40));
        assert_eq!((counts.lost, counts.unknown, counts.corrupt), (0, 0, 0));
    }

    #[test]
    fn a_line_that_loses_every_fourth_question_shows_a_quarter() {
        let mut pinger = Pinger::new(SECOND);
        for index in 0..400 {
            let question = pinger.ask(at(index * 1_000));
            if index % 4 != 0 {
                pinger.handle_answer(at(index * 1_000 + 50), question);
            }
        }
        pinger.expire(at(1_000_000));
        assert_eq!(pinger.counts().loss(), 0.25);
    }
}
