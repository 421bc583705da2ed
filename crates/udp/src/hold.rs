//! How long the machine holds a loop up.
//!
//! A loop that is late had too much to do, or was not let run: its sleep ended late, another program
//! had the processor, or the host of a virtual machine had given it to someone else. The system
//! knows which: it counts how long each thread has had a processor, and what others took from it is
//! not in that.
//!
//! Between two turns the loop's owner does its own work. If that waits for something, as a write to a
//! full pipe does, its thread has no processor either, and that is nobody's doing but its own.

use std::time::Duration;

use backspin::time::Time;

/// What a loop has been held up since it last had nothing to do. All that it was held up before, it
/// has made good by then.
#[derive(Debug, Default)]
pub(crate) struct Hold {
    /// How late its rest ended.
    overslept: Duration,
    /// When that was, and how long its thread had run by then, where the system says so.
    risen: Option<(Time, Duration)>,
    /// For how long it had no processor since then, between its turns.
    away: Duration,
    /// When its last turn ended, and how long its thread had run by then.
    left: Option<(Time, Duration)>,
}

impl Hold {
    /// There was nothing to do until `due`, and it is at work again. Its thread has `run` so long in
    /// all.
    pub(crate) fn rise(&mut self, due: Time, now: Time, run: Option<Duration>) {
        let risen = run.map(|run| (now, run));
        *self = Hold { overslept: now.since(due), risen, away: Duration::ZERO, left: None };
    }

    /// A turn is over.
    pub(crate) fn leave(&mut self, now: Time, run: Option<Duration>) {
        self.left = run.map(|run| (now, run));
    }

    /// The next turn begins.
    pub(crate) fn come_back(&mut self, now: Time, run: Option<Duration>) {
        self.away += idle(self.left.take(), now, run);
    }

    /// For how long it wanted to work and could not.
    pub(crate) fn so_far(&self, now: Time, run: Option<Duration>) -> Duration {
        self.overslept + idle(self.risen, now, run).saturating_sub(self.away)
    }
}

/// For how long a thread had no processor since a time.
fn idle(since: Option<(Time, Duration)>, now: Time, run: Option<Duration>) -> Duration {
    since.zip(run).map_or(Duration::ZERO, |((since, run_before), run)| {
        now.since(since).saturating_sub(run.saturating_sub(run_before))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    const fn run(count: u64) -> Option<Duration> {
        Some(ms(count))
    }

    #[test]
    fn who_has_too_much_to_do_is_not_held_up() {
        let mut hold = Hold::default();
        hold.rise(Time::from_millis(100), Time::from_millis(100), run(40));
        assert_eq!(hold.so_far(Time::from_millis(130), run(70)), Duration::ZERO);
    }

    #[test]
    fn a_rest_that_ends_late_and_a_processor_that_is_taken_away_count() {
        let mut hold = Hold::default();
        hold.rise(Time::from_millis(100), Time::from_millis(103), run(40));
        assert_eq!(hold.so_far(Time::from_millis(103), run(40)), ms(3));
        // Of ten milliseconds it had four.
        assert_eq!(hold.so_far(Time::from_millis(113), run(44)), ms(3 + 6));
    }

    #[test]
    fn a_chore_that_waits_is_its_own_doing() {
        let mut hold = Hold::default();
        hold.rise(Time::from_millis(100), Time::from_millis(101), run(40));
        hold.leave(Time::from_millis(103), run(42));
        // Of fifty milliseconds between two turns it had ten, and of ten in the next turn four.
        hold.come_back(Time::from_millis(153), run(52));
        assert_eq!(hold.so_far(Time::from_millis(163), run(56)), ms(1 + 6));
        hold.rise(Time::from_millis(170), Time::from_millis(172), run(57));
        assert_eq!(hold.so_far(Time::from_millis(172), run(57)), ms(2));
    }

    #[test]
    fn a_rest_makes_everything_good() {
        let mut hold = Hold::default();
        hold.rise(Time::from_millis(100), Time::from_millis(109), run(40));
        // What came ended the rest before its time.
        hold.rise(Time::from_millis(120), Time::from_millis(115), run(41));
        assert_eq!(hold.so_far(Time::from_millis(116), run(42)), Duration::ZERO);
    }

    #[test]
    fn where_the_system_does_not_say_how_long_a_thread_ran_only_sleep_counts() {
        let mut hold = Hold::default();
        hold.rise(Time::from_millis(100), Time::from_millis(103), None);
        assert_eq!(hold.so_far(Time::from_millis(113), None), ms(3));
    }

    #[test]
    fn clocks_that_differ_a_little_are_no_less_than_nothing() {
        let mut hold = Hold::default();
        assert_eq!(hold.so_far(Time::from_millis(100), run(40)), Duration::ZERO);
        hold.rise(Time::from_millis(100), Time::from_millis(100), run(40));
        assert_eq!(hold.so_far(Time::from_millis(101), run(42)), Duration::ZERO);
    }
}
