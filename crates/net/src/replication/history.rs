//! The states that are still of use, and the bodies written of the newest one.
//!
//! A room keeps a [`History`] to write deltas against, and [`Bodies`] so that clients with the same
//! baseline share one body.

use super::delta;
use super::schema::Schema;
use super::state::State;
use crate::node::{Fetch, fetch_to};
use crate::wire::Full;
use crate::wire::native::MAX_BASELINE_BACK;

/// So many states are kept: with the newest of tick n, those of n down to n - 31.
pub const HISTORY_LEN: usize = MAX_BASELINE_BACK as usize;

/// A tick's place is its remainder, which does not jump where ticks wrap.
const _: () = assert!(HISTORY_LEN.is_power_of_two());

/// The states of the last [`HISTORY_LEN`] ticks, as far as there were any.
///
/// What is too old lies in its place until that is needed: a room looks at two or three places in a
/// tick, and has no business with the others, which are far away by then.
#[derive(Clone, Debug, Default)]
pub struct History {
    newest: Option<u32>,
    states: [Option<State>; HISTORY_LEN],
    /// Ticks from one state to the next, less one.
    between: u32,
}

impl History {
    /// For states that are so many ticks apart.
    pub fn every(ticks: u32) -> Self {
        History { between: ticks.saturating_sub(1), ..History::default() }
    }

    /// How many ticks they are apart.
    pub fn ticks(&self) -> u32 {
        self.between + 1
    }

    fn place(&self, tick: u32) -> usize {
        (tick / (self.between + 1)) as usize % HISTORY_LEN
    }

    /// An empty state of tick `tick`, later than all before, in the memory of one that is too old.
    pub fn begin(&mut self, tick: u32) -> &mut State {
        self.newest = Some(tick);
        let place = self.place(tick);
        let state = self.states[place].get_or_insert_default();
        state.clear(tick);
        state
    }

    /// The state of tick `tick`, if it is kept.
    pub fn at(&self, tick: u32) -> Option<&State> {
        let reach = HISTORY_LEN as u32 * (self.between + 1);
        let is_of_use = self.newest?.wrapping_sub(tick) < reach;
        self.states[self.place(tick)].as_ref().filter(|state| is_of_use && state.tick == tick)
    }

    /// Has what [`History::begin`] touches brought near.
    pub(crate) fn prefetch(&self, tick: u32, fetch: Fetch) {
        let state = &self.states[self.place(tick)];
        fetch_to(state, size_of_val(state), fetch);
    }

    /// The state with the newest tick.
    pub fn newest(&self) -> Option<&State> {
        self.newest.and_then(|tick| self.at(tick))
    }

    /// The same to be changed.
    pub(crate) fn newest_mut(&mut self) -> Option<&mut State> {
        let place = self.place(self.newest?);
        self.states[place].as_mut()
    }
}

/// The bodies of one tick: one per baseline, each written once, whoever asks.
#[derive(Clone, Debug)]
pub struct Bodies {
    body_limit: usize,
    tick: Option<u32>,
    /// One or two, mostly.
    written: Vec<Written>,
    /// They lie one behind the other, and behind the last is what is left of older ones.
    bytes: Vec<u8>,
    used: usize,
}

/// Where a body is among the bytes.
#[derive(Clone, Copy, Debug)]
struct Written {
    /// How old the baseline is; 0 is none.
    back: usize,
    start: usize,
    len: Result<usize, Full>,
}

impl Bodies {
    /// A cache for bodies of at most `body_limit` bytes.
    pub const fn new(body_limit: usize) -> Self {
        Bodies { body_limit, tick: None, written: Vec::new(), bytes: Vec::new(), used: 0 }
    }

    /// The body of `current` against `baseline`, written if it was not yet. The bodies of
    /// another tick are forgotten; a tick has only one state, so that the tick names it.
    ///
    /// # Panics
    /// Like [`delta::encode`].
    pub fn body(
        &mut self,
        schema: &Schema,
        baseline: Option<&State>,
        current: &State,
    ) -> Result<&[u8], Full> {
        if self.tick != Some(current.tick) {
            self.clear();
            self.tick = Some(current.tick);
        }
        let back = baseline.map_or(0, |baseline| current.tick.wrapping_sub(baseline.tick) as usize);
        let known = self.written.iter().find(|written| written.back == back).copied();
        let Written { start, len, .. } = match known {
            Some(written) => written,
            None => self.write(schema, back, baseline, current),
        };
        len.map(|len| &self.bytes[start..start + len])
    }

    /// How many bodies are kept.
    pub fn count(&self) -> usize {
        self.written.len()
    }

    /// Forgets all bodies; the memory is kept.
    pub fn clear(&mut self) {
        self.tick = None;
        self.written.clear();
        self.used = 0;
    }

    fn write(
        &mut self,
        schema: &Schema,
        back: usize,
        baseline: Option<&State>,
        current: &State,
    ) -> Written {
        let (start, end) = (self.used, self.used + self.body_limit);
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        // Of a baseline that is too old, the encoder complains.
        let len = delta::encode(schema, baseline, current, &mut self.bytes[start..end]);
        self.used += len.unwrap_or(0);
        let written = Written { back, start, len };
        self.written.push(written);
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replication::{Entity, Field, Kind, Motion, Step};

    const SCHEMA: Schema = Schema::new(&[Kind {
        name: "dot",
        fields: &[Field { name: "x", min: 0, max: 255, step: Step::ONE, motion: Motion::Still }],
    }]);

    /// One dot at `x`.
    fn state(tick: u32, x: i32) -> State {
        let mut state = State::new(tick);
        state.push(Entity::new(&SCHEMA, 1, 0, &[x])).unwrap();
        state
    }

    #[test]
    fn the_last_32_states_are_kept_also_where_ticks_wrap() {
        let mut history = History::default();
        assert_eq!(history.newest(), None);
        let first = u32::MAX - 50;
        for age in 0..100 {
            let tick = first.wrapping_add(age);
            let next = state(tick, age as i32);
            history.begin(tick).clone_from(&next);
            assert_eq!(history.newest(), Some(&next));
            let kept = |back: &u32| history.at(tick.wrapping_sub(*back)).is_some();
            assert_eq!((0..200).filter(kept).count(), 32.min(age as usize + 1));
            let oldest = 31.min(age);
            let expected = state(tick.wrapping_sub(oldest), (age - oldest) as i32);
            assert_eq!(history.at(expected.tick), Some(&expected));
            assert_eq!(history.at(tick.wrapping_add(1)), None);
        }
    }

    #[test]
    fn a_gap_does_not_keep_what_is_too_old() {
        let mut history = History::default();
        for tick in [68, 69, 100] {
            history.begin(tick).clone_from(&state(tick, 1));
        }
        assert_eq!((history.at(68), history.at(69)), (None, Some(&state(69, 1))));
        history.begin(110).clone_from(&state(110, 2));
        assert_eq!((history.at(69), history.at(100)), (None, Some(&state(100, 1))));
    }

    #[test]
    fn a_new_state_is_empty_whatever_was_in_its_place() {
        let mut history = History::default();
        history.begin(1).clone_from(&state(1, 1));
        assert_eq!(*history.begin(33), State::new(33));
        assert_eq!(history.at(1), None);
    }

    #[test]
    fn a_body_is_written_once_for_all_with_its_baseline() {
        let mut bodies = Bodies::new(10);
        let current = state(100, 1);
        let first = bodies.body(&SCHEMA, Some(&state(99, 2)), &current).unwrap().to_vec();
        // What is asked for by the same ticks is not written again.
        let again = bodies.body(&SCHEMA, Some(&state(99, 1)), &current).unwrap();
        assert_eq!(again, first);
        assert_ne!(bodies.body(&SCHEMA, Some(&state(98, 1)), &current).unwrap(), first);
        assert_ne!(bodies.body(&SCHEMA, None, &current).unwrap(), first);
        assert_eq!(bodies.body(&SCHEMA, Some(&state(99, 1)), &current).unwrap(), first);
        assert_eq!(bodies.count(), 3);
        let next = state(101, 1);
        assert_eq!(bodies.body(&SCHEMA, Some(&state(99, 1)), &next).unwrap(), [0x80]);
        assert_eq!(bodies.count(), 1);
    }

    #[test]
    fn a_tick_has_33_bodies_at_most() {
        let mut bodies = Bodies::new(10);
        let current = state(100, 1);
        for _ in 0..2 {
            for back in 1..=32 {
                bodies.body(&SCHEMA, Some(&state(100 - back, 1)), &current).unwrap();
            }
            bodies.body(&SCHEMA, None, &current).unwrap();
            assert_eq!(bodies.count(), 33);
        }
    }

    #[test]
    fn a_body_beyond_the_limit_is_not_tried_again() {
        let mut bodies = Bodies::new(1);
        let current = state(100, 1);
        assert_eq!(bodies.body(&SCHEMA, None, &current), Err(Full));
        assert_eq!(bodies.body(&SCHEMA, Some(&state(99, 1)), &current), Ok(&[0x80][..]));
        assert_eq!(bodies.body(&SCHEMA, None, &current), Err(Full));
        assert_eq!(bodies.count(), 2);
    }

    #[test]
    #[should_panic(expected = "a baseline is 1 to 256 ticks old, not 257")]
    fn a_baseline_that_is_too_old_is_a_callers_mistake() {
        let _ = Bodies::new(10).body(&SCHEMA, Some(&state(67, 1)), &state(324, 1));
    }
}
