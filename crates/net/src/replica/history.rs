//! The states that are still of use, and the bodies written of the newest one.
//!
//! A room keeps a [`History`] to write deltas against and to look back in time, and [`Bodies`]
//! so that clients with the same baseline share one body. A client keeps a `History` of what it
//! received, since any of it may be the next baseline.

use super::delta;
use super::schema::Schema;
use super::state::State;
use crate::wire::Full;
use crate::wire::native::MAX_BASELINE_BACK;

/// So many states are kept: with the newest of tick n, those of n down to n - 31. While tick
/// n + 1 is written, that is every baseline it can have.
pub const HISTORY_LEN: usize = MAX_BASELINE_BACK as usize;

/// A tick's place is its remainder, which does not jump where ticks wrap.
const _: () = assert!(HISTORY_LEN.is_power_of_two());

/// The states of the last [`HISTORY_LEN`] ticks, as far as they were pushed.
#[derive(Clone, Debug, Default)]
pub struct History {
    slots: [Slot; HISTORY_LEN],
    newest: Option<u32>,
}

#[derive(Clone, Debug, Default)]
struct Slot {
    taken: bool,
    state: State,
}

impl History {
    /// Keeps a copy of `state` in place of the one that is [`HISTORY_LEN`] ticks older. A state
    /// too old to be kept is ignored.
    pub fn push(&mut self, state: &State) {
        if let Some(slot) = self.slot_for(state.tick) {
            slot.state.clone_from(state);
        }
    }

    /// Keeps `state` without copying it, and leaves an old one in its place, to be overwritten.
    /// A state too old to be kept is ignored.
    pub fn swap(&mut self, state: &mut State) {
        if let Some(slot) = self.slot_for(state.tick) {
            std::mem::swap(&mut slot.state, state);
        }
    }

    /// The state of tick `tick`, if it is kept.
    pub fn at(&self, tick: u32) -> Option<&State> {
        let slot = &self.slots[place(tick)];
        (slot.taken && slot.state.tick == tick).then_some(&slot.state)
    }

    /// The state with the newest tick.
    pub fn newest(&self) -> Option<&State> {
        self.newest.and_then(|tick| self.at(tick))
    }

    /// Forgets all states; the memory is kept.
    pub fn clear(&mut self) {
        self.newest = None;
        self.slots.iter_mut().for_each(|slot| slot.taken = false);
    }

    fn slot_for(&mut self, tick: u32) -> Option<&mut Slot> {
        match self.newest.map(|newest| newest.wrapping_sub(tick)) {
            // Older by less than the history is long: it is still of use.
            Some(back) if back < HISTORY_LEN as u32 => {}
            Some(back) if back <= u32::MAX / 2 => return None,
            _ => {
                self.forget_before(tick);
                self.newest = Some(tick);
            }
        }
        let slot = &mut self.slots[place(tick)];
        slot.taken = true;
        Some(slot)
    }

    /// Frees what is too old once `newest` is the newest.
    fn forget_before(&mut self, newest: u32) {
        for slot in &mut self.slots {
            slot.taken &= newest.wrapping_sub(slot.state.tick) < HISTORY_LEN as u32;
        }
    }
}

fn place(tick: u32) -> usize {
    tick as usize % HISTORY_LEN
}

/// The bodies of one tick: one per baseline, each written once, whoever asks.
#[derive(Clone, Debug)]
pub struct Bodies {
    body_limit: usize,
    tick: Option<u32>,
    /// By the age of the baseline; 0 is none.
    written: [Option<Written>; HISTORY_LEN + 1],
    bytes: Vec<u8>,
}

/// Where a body is among the bytes.
#[derive(Clone, Copy, Debug)]
struct Written {
    start: usize,
    len: Result<usize, Full>,
}

impl Bodies {
    /// A cache for bodies of at most `body_limit` bytes.
    pub const fn new(body_limit: usize) -> Self {
        let written = [None; HISTORY_LEN + 1];
        Bodies { body_limit, tick: None, written, bytes: Vec::new() }
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
        // Of a baseline that is too old, the encoder complains.
        let known = self.written.get(back).copied().flatten();
        let Written { start, len } = match known {
            Some(written) => written,
            None => self.write(schema, baseline, current),
        };
        self.written[back] = Some(Written { start, len });
        len.map(|len| &self.bytes[start..start + len])
    }

    /// How many bodies are kept.
    pub fn count(&self) -> usize {
        self.written.iter().flatten().count()
    }

    /// Forgets all bodies; the memory is kept.
    pub fn clear(&mut self) {
        self.tick = None;
        self.written = [None; HISTORY_LEN + 1];
        self.bytes.clear();
    }

    fn write(&mut self, schema: &Schema, baseline: Option<&State>, current: &State) -> Written {
        let start = self.bytes.len();
        self.bytes.resize(start + self.body_limit, 0);
        let len = delta::encode(schema, baseline, current, &mut self.bytes[start..]);
        self.bytes.truncate(start + len.unwrap_or(0));
        Written { start, len }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replica::{Entity, Field, Kind, Motion, Step};

    const SCHEMA: Schema = Schema {
        kinds: &[Kind {
            name: "dot",
            fields: &[Field {
                name: "x",
                min: 0,
                max: 255,
                step: Step::ONE,
                motion: Motion::Still,
            }],
        }],
    };

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
            history.push(&next);
            assert_eq!(history.newest(), Some(&next));
            let kept = |back: &u32| history.at(tick.wrapping_sub(*back)).is_some();
            assert_eq!((0..200).filter(kept).count(), 32.min(age as usize + 1));
            let oldest = 31.min(age);
            let expected = state(tick.wrapping_sub(oldest), (age - oldest) as i32);
            assert_eq!(history.at(expected.tick), Some(&expected));
        }
        history.clear();
        assert!((0..=u32::from(u16::MAX)).all(|back| history.at(50 - back.min(50)).is_none()));
    }

    #[test]
    fn what_comes_late_is_kept_while_it_is_of_use() {
        let mut history = History::default();
        history.push(&state(100, 1));
        history.push(&state(69, 2));
        history.push(&state(68, 3));
        history.push(&state(36, 4));
        assert_eq!(history.newest().map(|newest| newest.tick), Some(100));
        assert_eq!(history.at(69), Some(&state(69, 2)));
        assert_eq!((history.at(68), history.at(36)), (None, None));
        // A gap does not keep what is too old.
        history.push(&state(110, 5));
        assert_eq!(history.at(69), None);
        assert_eq!(history.at(100), Some(&state(100, 1)));
    }

    #[test]
    fn a_swapped_state_leaves_an_old_one() {
        let mut history = History::default();
        let mut next = state(1, 1);
        history.swap(&mut next);
        assert_eq!(history.at(1), Some(&state(1, 1)));
        next = state(33, 2);
        history.swap(&mut next);
        assert_eq!((history.at(33), &next), (Some(&state(33, 2)), &state(1, 1)));
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
    #[should_panic(expected = "a baseline is 1 to 32 ticks old, not 33")]
    fn a_baseline_that_is_too_old_is_a_callers_mistake() {
        let _ = Bodies::new(10).body(&SCHEMA, Some(&state(67, 1)), &state(100, 1));
    }
}
