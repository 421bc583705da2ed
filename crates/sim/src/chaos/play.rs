//! Which game is played on a bad day, drawn from the seed: a small world that everyone sees all of,
//! one with fog of war, or one that is larger than a datagram.

use std::fmt;

use crate::Chance;
use crate::dot::Dots;
use backspin::game::{BYTE_BUDGET, PlayerId};
use backspin::replication::{State, View, Viewer};

/// The rules of a day, as far as they differ from day to day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Play {
    /// Dots that nobody steers.
    pub swarm: u16,
    /// Of a thousand ticks, in how many each of them takes a new course.
    pub turns: u32,
    /// How far a player sees; `None` is everything.
    pub sight: Option<i32>,
    /// A snapshot every so many ticks.
    pub every: u8,
    /// Bytes of snapshots a second for each player.
    pub budget: u32,
    /// How much is said.
    pub talk: Talk,
}

/// How much the rules and the guests say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Talk {
    /// Short messages now and then.
    Little,
    /// So much that a queue is full when a player is away for long, or has a narrow link.
    Much,
}

impl Default for Play {
    fn default() -> Self {
        let (swarm, turns, sight) = (0, 0, None);
        Play { swarm, turns, sight, every: 1, budget: BYTE_BUDGET, talk: Talk::Little }
    }
}

/// What is said on a day with little talk takes no more bytes a second than this, repeats included.
const LITTLE_TALK_BYTES: u64 = 2_000;

/// An entity in a view takes no more bytes than this.
const ITEM_BYTES: u64 = 10;

/// What else a snapshot has: its head, what the player steers, and what has gone.
const SNAPSHOT_BYTES: u64 = 60;

/// One in so many of the swarm is hidden from everyone.
const CLOAKED: u32 = 8;

const NEAR: u8 = 64;

impl Play {
    /// The rules of a seed's day.
    pub fn draw(seed: u64) -> Self {
        let mut chance = Chance::new(seed, 8);
        let mut between = |least: u64, most: u64| least + chance.below(most - least);
        let talk = if between(0, 6) == 0 { Talk::Much } else { Talk::Little };
        match between(0, 30) {
            0..19 => Play { talk, ..Play::default() },
            19..21 => Play { every: between(2, 5) as u8, talk, ..Play::default() },
            21..29 => Play {
                swarm: between(30, 70) as u16,
                turns: between(50, 500) as u32,
                sight: Some(between(250, 700) as i32),
                every: between(2, 6) as u8,
                budget: between(2_000, 12_000) as u32,
                talk,
            },
            _ => Play {
                // Changes of so many have no room in one datagram.
                swarm: between(340, 400) as u16,
                turns: between(400, 1_000) as u32,
                sight: None,
                every: between(5, 8) as u8,
                budget: between(10_000, 20_000) as u32,
                talk,
            },
        }
    }

    /// Whether everyone is shown everything, and all of it fits a datagram.
    pub(super) fn is_small(self) -> bool {
        self.sight.is_none() && self.swarm == 0
    }

    /// How important what is at a place is to a viewer whose eye is there; `None` is hidden.
    pub(super) fn priority(
        self,
        viewer: Viewer,
        eye: (i32, i32),
        id: u32,
        at: (i32, i32),
    ) -> Option<u8> {
        let Some(sight) = self.sight else { return Some(View::PLAIN) };
        if id >= Dots::FIRST_OF_SWARM && id.is_multiple_of(CLOAKED) {
            return None;
        }
        match viewer {
            Viewer::Watcher => Some(View::PLAIN),
            Viewer::Player(player) if player.0 == id => Some(u8::MAX),
            Viewer::Player(_) => {
                let (x, y) = (at.0 - eye.0, at.1 - eye.1);
                match x * x + y * y {
                    near if near <= sight * sight / 4 => Some(NEAR),
                    far if far <= sight * sight => Some(View::PLAIN),
                    _ => None,
                }
            }
        }
    }

    /// Whether there is a snapshot of this tick.
    pub(super) fn shows(self, tick: u32) -> bool {
        tick.is_multiple_of(self.every.into())
    }

    /// The same for an entity of a state, if it is there.
    pub(super) fn priority_in(self, state: &State, viewer: Viewer, id: u32) -> Option<u8> {
        let entity = state.find(id)?;
        if self.sight.is_none() {
            return Some(View::PLAIN);
        }
        self.priority(viewer, eye(state, viewer), id, (entity.fields[0], entity.fields[1]))
    }

    /// How many ticks something of this priority waits for its turn at the most, among others whose
    /// priorities come to `sum`; `None` if the budget is not enough for anyone to say.
    pub(super) fn turn_ticks(self, priority: u8, sum: u64) -> Option<u64> {
        if self.talk == Talk::Much {
            return None;
        }
        let every = u64::from(self.every);
        let said = LITTLE_TALK_BYTES * every / 60;
        let bytes = u64::from(self.budget) * every / 60;
        let left = bytes.checked_sub(said + SNAPSHOT_BYTES).filter(|left| *left > 0)?;
        let snapshots = (sum * ITEM_BYTES).div_ceil(left * u64::from(priority));
        Some(snapshots * every)
    }
}

/// Where a viewer looks from.
pub(super) fn eye(state: &State, viewer: Viewer) -> (i32, i32) {
    match viewer {
        Viewer::Watcher => (0, 0),
        // Who has just come is where everyone begins.
        Viewer::Player(player @ PlayerId(id)) => {
            state.find(id).map_or(Dots::start_of(player), |own| (own.fields[0], own.fields[1]))
        }
    }
}

impl fmt::Display for Play {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Play { swarm, turns, every, budget, .. } = self;
        match self.sight {
            _ if self.is_small() => write!(f, "everyone sees everything")?,
            None => {
                write!(f, "everyone sees {swarm} dots, of which {turns} in 1000 turn in a tick")?
            }
            Some(sight) => write!(
                f,
                "players see {sight} px far, among {swarm} dots of which {turns} in 1000 turn in a tick"
            )?,
        }
        write!(f, "; a snapshot in {every} ticks, {budget} bytes a second")?;
        if self.talk == Talk::Much { write!(f, "; much is said") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use backspin::replication::Entity;

    #[test]
    fn a_hundred_seeds_have_every_kind_of_game() {
        let days: Vec<_> = (0..100).map(Play::draw).collect();
        let has = |is_so: fn(&Play) -> bool| days.iter().any(is_so);
        assert!(has(|play| play.is_small() && play.every == 1));
        assert!(has(|play| play.is_small() && play.every > 1));
        assert!(has(|play| play.sight.is_some()));
        assert!(has(|play| play.sight.is_none() && play.swarm > 200));
        assert!(has(|play| play.talk == Talk::Much));
    }

    #[test]
    fn a_player_sees_what_is_near_and_itself_but_nothing_cloaked() {
        let play = Play { sight: Some(100), ..Play::default() };
        let mut state = State::new(1);
        for (id, x) in [(1, 300), (2, 390), (101, 340), (102, 399), (103, 401), (104, 300)] {
            state.push(Entity::new(&crate::dot::SCHEMA, id, 0, &[x, 450, 0, 0])).unwrap();
        }
        let seen =
            |viewer| [1, 2, 101, 102, 103, 104, 105].map(|id| play.priority_in(&state, viewer, id));
        let (near, far) = (Some(NEAR), Some(View::PLAIN));
        let player = Viewer::Player(PlayerId(1));
        assert_eq!(seen(player), [Some(255), far, near, far, None, None, None]);
        assert_eq!(seen(Viewer::Watcher), [far, far, far, far, far, None, None]);
    }

    #[test]
    fn a_turn_comes_later_the_less_budget_and_priority_there_is() {
        let play = Play { budget: 9_000, every: 2, ..Play::default() };
        // 300 bytes a snapshot, of which 174 are left for entities.
        assert_eq!(play.turn_ticks(16, 160), Some(2));
        assert_eq!(play.turn_ticks(16, 1_600), Some(12));
        assert_eq!(play.turn_ticks(64, 1_600), Some(4));
        assert_eq!(Play { budget: 3_000, ..play }.turn_ticks(16, 16), None);
        assert_eq!(Play { talk: Talk::Much, ..play }.turn_ticks(16, 16), None);
    }
}
