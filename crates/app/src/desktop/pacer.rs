//! When the next frame is due.
//!
//! While something moves, the monitor sets the pace, because showing a frame waits for it. Where it does not
//! wait (no
//! monitor, software GL, a hidden window), frames are limited to sixty per second.

use std::time::{Duration, Instant};

use crate::screen::RedrawRate;

/// From one picture to the next where nothing else sets the pace.
const FRAME: Duration = Duration::from_nanos(1_000_000_000 / 60);

/// From one picture to the next where nothing happens.
const IDLE: Duration = Duration::from_millis(100);

/// How long after a key or mouse move a menu is drawn as smoothly as a match.
const AWAKE: Duration = Duration::from_millis(600);

/// No monitor is faster: 250 pictures a second.
const FASTEST: Duration = Duration::from_millis(4);

/// After this many frames faster than any monitor, no monitor sets the pace.
const PROOF: u32 = 20;

/// How long until a monitor is looked for again.
const DOUBT: Duration = Duration::from_secs(10);

#[derive(Debug, Default)]
pub(super) struct Pacer {
    /// When the last wait was over.
    last: Option<Instant>,
    /// When something was last pressed or moved.
    touched: Option<Instant>,
    /// Pictures in a row that came too soon.
    hasty: u32,
    /// Held to sixty a second until then.
    held_until: Option<Instant>,
}

impl Pacer {
    /// Waits for the next picture; `news` is whether something was pressed or moved.
    pub(super) fn wait(&mut self, pace: RedrawRate, news: bool) {
        let now = Instant::now();
        std::thread::sleep(self.rest(now, pace, news));
        self.last = Some(Instant::now());
    }

    /// How long to wait at `now`.
    fn rest(&mut self, now: Instant, pace: RedrawRate, news: bool) -> Duration {
        if news {
            self.touched = Some(now);
        }
        let Some(last) = self.last else { return Duration::ZERO };
        let spent = now.saturating_duration_since(last);
        let awake = self.touched.is_some_and(|at| now.saturating_duration_since(at) < AWAKE);
        if pace != RedrawRate::Smooth && !awake {
            return IDLE.saturating_sub(spent);
        }
        self.held_until.take_if(|until| *until <= now);
        if self.held_until.is_none() {
            self.hasty = if spent < FASTEST { self.hasty + 1 } else { 0 };
            if self.hasty >= PROOF {
                (self.hasty, self.held_until) = (0, Some(now + DOUBT));
            }
        }
        let frame = if self.held_until.is_some() { FRAME } else { FASTEST };
        frame.saturating_sub(spent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pictures that each take `cost` to draw and show: how many come in `span`.
    fn pictures(cost: Duration, pace: RedrawRate, span: Duration, news: bool) -> u32 {
        let begin = Instant::now();
        let mut pacer = Pacer::default();
        let (mut now, mut count) = (begin, 0);
        while now < begin + span {
            now += pacer.rest(now, pace, news);
            pacer.last = Some(now);
            now += cost;
            count += 1;
        }
        count
    }

    #[test]
    fn a_monitor_sets_the_pace_of_a_match() {
        let second = Duration::from_secs(1);
        assert_eq!(pictures(second / 144, RedrawRate::Smooth, second, false), 145);
        assert_eq!(pictures(second / 50, RedrawRate::Smooth, second, false), 50);
    }

    #[test]
    fn without_one_it_is_sixty_a_second() {
        let span = Duration::from_secs(20);
        let count = pictures(Duration::from_millis(1), RedrawRate::Smooth, span, false);
        assert!((1_200..1_320).contains(&count), "{count}");
    }

    #[test]
    fn a_menu_sleeps_unless_someone_is_at_it() {
        let second = Duration::from_secs(1);
        let ms = Duration::from_millis(1);
        assert_eq!(pictures(ms, RedrawRate::Still, second, false), 11);
        assert!(pictures(ms, RedrawRate::Still, second, true) > 50);
    }
}
