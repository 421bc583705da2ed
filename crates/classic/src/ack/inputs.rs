//! The inputs of one player: each is processed once, in the order of their numbers, one a tick. What is
//! lost is lost.

use std::collections::VecDeque;

use crate::rtype::wire::Buttons;
use backspin::channel::{InputSource, Taken};
use backspin::typed::RawInput;

/// So many wait for their tick: a third of a blink. One more pushes the oldest out.
const WAITING: usize = 3;

/// A tick without an input repeats the last one for so many ticks; then nothing is held.
const REPEATS: u8 = 6;

/// A gap above this is no loss: the client counts anew.
const GAP_LIMIT: u32 = 600;

/// A client has at most so many inputs without acknowledgement: one that is further behind is not late, but
/// from a client that was started anew, if it has said JOIN again.
const LATE_LIMIT: u32 = 64;

/// What has come of a player's inputs, and what was processed.
#[derive(Clone, Debug, Default)]
pub(super) struct Inputs {
    /// The newest that was taken; all up to it are stale.
    newest: Option<u32>,
    waiting: VecDeque<(u32, Buttons)>,
    processed: u32,
    held: Buttons,
    /// Ticks in a row without an input.
    missed: u8,
    may_begin_anew: bool,
}

impl Inputs {
    /// The number of the last one that was processed; 0 before the first.
    pub(super) fn last_ack(&self) -> u32 {
        self.processed
    }

    /// The player has said JOIN again: its client may have been started anew.
    pub(super) fn greet(&mut self) {
        self.may_begin_anew = true;
    }

    /// Takes an input; how many before it were lost. `None` is stale, and changes nothing.
    pub(super) fn handle(&mut self, number: u32, buttons: Buttons) -> Option<u32> {
        let gap = match self.newest {
            None => 0,
            Some(newest) if number > newest => number - newest - 1,
            Some(newest) if self.may_begin_anew && newest - number > LATE_LIMIT => u32::MAX,
            Some(_) => return None,
        };
        if gap > GAP_LIMIT {
            *self = Inputs::default();
        }
        (self.newest, self.may_begin_anew) = (Some(number), false);
        self.waiting.push_back((number, buttons));
        if self.waiting.len() > WAITING
            && let Some((_, oldest)) = self.waiting.pop_front()
            && oldest.contains(Buttons::SHOOT)
            && let Some((_, next)) = self.waiting.front_mut()
        {
            *next = *next | Buttons::SHOOT;
        }
        Some(if gap > GAP_LIMIT { 0 } else { gap })
    }

    /// What is held in the tick that begins.
    pub(super) fn take(&mut self) -> Taken {
        let source = match self.waiting.pop_front() {
            Some((number, buttons)) => {
                (self.processed, self.held, self.missed) = (number, buttons, 0);
                InputSource::Real
            }
            None if self.missed < REPEATS && self.newest.is_some() => {
                self.missed += 1;
                InputSource::Repeated
            }
            None => {
                self.held = Buttons::default();
                InputSource::Released
            }
        };
        Taken { input: RawInput(self.held.bits().into()), source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UP: Buttons = Buttons::UP;
    const SHOOT: Buttons = Buttons::SHOOT;

    fn real(buttons: Buttons) -> Taken {
        Taken { input: RawInput(buttons.bits().into()), source: InputSource::Real }
    }

    /// The tick that takes the next input, and what it acknowledges then.
    fn tick(inputs: &mut Inputs) -> (Taken, u32) {
        (inputs.take(), inputs.last_ack())
    }

    #[test]
    fn the_first_sets_the_base_and_what_is_not_newer_is_stale() {
        let mut inputs = Inputs::default();
        assert_eq!(inputs.handle(300, UP), Some(0));
        assert_eq!(tick(&mut inputs), (real(UP), 300));
        for stale in [300, 299, 1] {
            assert_eq!(inputs.handle(stale, SHOOT), None);
        }
        assert_eq!(inputs.take().source, InputSource::Repeated);
        assert_eq!(inputs.handle(301, SHOOT), Some(0));
        // What waits is not taken twice either.
        assert_eq!(inputs.handle(301, UP), None);
        assert_eq!(tick(&mut inputs), (real(SHOOT), 301));
        assert_eq!(inputs.take().source, InputSource::Repeated);
    }

    #[test]
    fn a_gap_is_lost_and_above_600_the_client_began_anew() {
        let mut inputs = Inputs::default();
        inputs.handle(100, UP);
        assert_eq!(inputs.handle(103, UP), Some(2), "101 and 102");
        assert_eq!(inputs.handle(704, UP), Some(600));
        assert_eq!((inputs.take(), inputs.last_ack()), (real(UP), 100));
        assert_eq!(inputs.handle(1_306, SHOOT), Some(0), "601 are no loss");
        // What had come before is of another count.
        assert_eq!(tick(&mut inputs), (real(SHOOT), 1_306));
    }

    #[test]
    fn three_wait_and_a_fourth_pushes_the_oldest_out_but_not_its_shot() {
        let mut inputs = Inputs::default();
        for (number, buttons) in [(1, UP | SHOOT), (2, UP), (3, Buttons::DOWN), (4, UP)] {
            inputs.handle(number, buttons);
        }
        assert_eq!(tick(&mut inputs), (real(UP | SHOOT), 2));
        assert_eq!(tick(&mut inputs), (real(Buttons::DOWN), 3));
        assert_eq!(tick(&mut inputs), (real(UP), 4));
        // A shot is carried as far as it takes.
        (5..15).for_each(|number| {
            inputs.handle(number, if number == 5 { SHOOT } else { UP });
        });
        assert_eq!(tick(&mut inputs), (real(UP | SHOOT), 12));
        assert_eq!(tick(&mut inputs), (real(UP), 13));
    }

    #[test]
    fn a_tick_without_an_input_repeats_the_last_for_six_ticks_and_then_nothing_is_held() {
        let mut inputs = Inputs::default();
        assert_eq!(inputs.take().source, InputSource::Released);
        inputs.handle(1, UP);
        inputs.take();
        for _ in 0..6 {
            let repeated = Taken { input: RawInput(1), source: InputSource::Repeated };
            assert_eq!(tick(&mut inputs), (repeated, 1));
        }
        let released = Taken { input: RawInput(0), source: InputSource::Released };
        assert_eq!((tick(&mut inputs), tick(&mut inputs)), ((released, 1), (released, 1)));
        inputs.handle(2, SHOOT);
        assert_eq!(tick(&mut inputs), (real(SHOOT), 2));
    }

    #[test]
    fn a_client_that_was_started_anew_says_join_and_counts_from_1() {
        let mut inputs = Inputs::default();
        inputs.handle(1_000, UP);
        inputs.take();
        assert_eq!(inputs.handle(1, SHOOT), None, "without a JOIN it is stale");
        inputs.greet();
        // A JOIN that was only repeated changes nothing: late ones are as stale as ever.
        assert_eq!(inputs.handle(936, SHOOT), None);
        assert_eq!(inputs.handle(1, SHOOT), Some(0));
        assert_eq!(tick(&mut inputs), (real(SHOOT), 1));
        inputs.handle(500, UP);
        inputs.greet();
        assert_eq!(inputs.handle(501, UP), Some(0));
        assert_eq!(inputs.handle(2, UP), None, "it goes on: the JOIN was an old one");
    }
}
