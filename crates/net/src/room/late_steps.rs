//! Whether a room keeps up with its ticks. A late step is never bunched with the next: each is shown to
//! everyone, or it is skipped and counted.
//!
//! The rules have no clock. What tells is the time that the driver passes in: a step that costs more
//! than a tick makes the next one late. A room that was held up once steps what it missed, one step
//! after the other. A room that is late all the time slows down evenly: it skips a tick as soon as it is
//! one behind.

/// A room that was held up steps so many missed ticks; it skips the rest.
const CATCH_UP_TICKS: u32 = 4;

/// So many late steps in a row are more than it takes to catch up: the room is over its budget.
const SLOW_STEPS: u16 = 8;

/// How well a room keeps up.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LateSteps {
    /// Steps in a row that began at least a tick late.
    late_steps: u16,
    /// Steps in a row that did not.
    calm_steps: u16,
    is_slow: bool,
    skipped: u64,
    /// How many those were when it became slow.
    skipped_before: u64,
}

/// What is worth a line in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LateStepsChange {
    /// The room is over its budget from now on.
    Slow,
    /// It keeps up again; so many ticks were skipped meanwhile.
    KeepsUp { skipped: u64 },
}

impl LateSteps {
    /// A step is about to begin for which it is `behind` whole ticks too late, of which there are `rate`
    /// in a second. How many ticks are skipped first.
    pub(super) fn begin(&mut self, behind: u32, rate: u8) -> (u32, Option<LateStepsChange>) {
        match behind {
            0 => (self.late_steps, self.calm_steps) = (0, self.calm_steps.saturating_add(1)),
            _ => (self.late_steps, self.calm_steps) = (self.late_steps.saturating_add(1), 0),
        }
        let change = match self.is_slow {
            false if self.late_steps >= SLOW_STEPS => {
                (self.is_slow, self.skipped_before) = (true, self.skipped);
                Some(LateStepsChange::Slow)
            }
            // A second without a late step.
            true if self.calm_steps >= u16::from(rate) => {
                self.is_slow = false;
                Some(LateStepsChange::KeepsUp { skipped: self.skipped - self.skipped_before })
            }
            _ => None,
        };
        let skipped = behind.saturating_sub(if self.is_slow { 0 } else { CATCH_UP_TICKS });
        self.skipped += u64::from(skipped);
        (skipped, change)
    }

    /// Ticks that were skipped.
    pub(super) fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Whether the room is over its budget.
    pub(super) fn is_slow(&self) -> bool {
        self.is_slow
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps of that many hundredths of a tick each: which ticks are skipped before each, in hundredths
    /// of a tick since the beginning.
    fn run(
        costs: impl IntoIterator<Item = u32>,
    ) -> (LateSteps, Vec<(u32, u32)>, Vec<LateStepsChange>) {
        let (mut pace, mut now, mut due) = (LateSteps::default(), 0, 0);
        let (mut skips, mut changes) = (Vec::new(), Vec::new());
        for cost in costs {
            now = now.max(due);
            let (skipped, change) = pace.begin((now - due) / 100, 60);
            if skipped > 0 {
                skips.push((now, skipped));
            }
            changes.extend(change);
            due += 100 * (skipped + 1);
            now += cost;
        }
        (pace, skips, changes)
    }

    #[test]
    fn a_room_within_its_budget_skips_nothing_also_if_some_steps_are_dear() {
        let steps = (0..600).map(|step| if step % 10 == 0 { 350 } else { 50 });
        let (pace, skips, changes) = run(steps);
        assert_eq!((pace.skipped(), skips, changes), (0, vec![], vec![]));
    }

    #[test]
    fn a_step_of_1_2_ticks_skips_one_tick_in_six_evenly_and_is_told_once() {
        let (pace, skips, changes) = run([120; 600]);
        assert_eq!(changes, [LateStepsChange::Slow]);
        assert!(pace.is_slow());
        // 600 steps take 720 ticks.
        assert!((115..=120).contains(&pace.skipped()), "{}", pace.skipped());
        assert!(skips[1..].iter().all(|(_, skipped)| *skipped == 1), "{skips:?}");
        let gaps: Vec<_> = skips[1..].windows(2).map(|two| two[1].0 - two[0].0).collect();
        assert!(gaps.iter().all(|gap| *gap == 600), "{gaps:?}");
    }

    #[test]
    fn a_room_that_was_held_up_steps_four_missed_ticks_and_skips_the_rest() {
        let (pace, skips, changes) = run([50, 3_050, 50, 50, 50, 50, 50, 50]);
        assert_eq!((pace.skipped(), changes), (25, vec![]));
        assert_eq!(skips.len(), 1);
    }

    #[test]
    fn a_room_that_keeps_up_again_says_how_many_it_skipped() {
        let steps = (0..60).map(|_| 150).chain((0..120).map(|_| 50));
        let (pace, _, changes) = run(steps);
        let skipped = pace.skipped();
        assert_eq!(changes, [LateStepsChange::Slow, LateStepsChange::KeepsUp { skipped }]);
        assert!(!pace.is_slow() && (25..=30).contains(&skipped), "{skipped}");
    }
}
