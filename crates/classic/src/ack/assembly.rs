//! Snapshots that came in several datagrams, put together again. The first of a tick has the scoreboard, the
//! last has no MORE, and between them the numbers of the datagrams leave no gap.

use super::wire::{Snapshot, entity_type};
use crate::full::EntityState;
use backspin::replication::ENTITY_LIMIT;

/// The datagrams of so many ticks are kept: they may come mixed.
const TICKS: usize = 4;

/// A tick has at most so many.
const PARTS: usize = 32;

/// What has come of ticks that are not whole yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Assembly {
    ticks: Vec<Tick>,
    /// The newest that was whole, and those before it are given up.
    newest: Option<u32>,
}

/// What has come of a tick.
#[derive(Clone, Debug, Default)]
pub(super) struct Tick {
    pub(super) server_tick: u32,
    pub(super) entities: Vec<EntityState>,
    numbers: Vec<u32>,
    first: Option<u32>,
    last: Option<u32>,
}

impl Tick {
    fn take(&mut self, number: u32, snapshot: &Snapshot<'_>, own: u32) {
        if self.numbers.contains(&number)
            || self.numbers.len() == PARTS
            || self.entities.len() + snapshot.entities.len() > ENTITY_LIMIT
        {
            return;
        }
        for entity in snapshot.entities.iter() {
            if entity.entity_type == entity_type::SCOREBOARD {
                self.first = Some(number);
            }
            // The own one is in every datagram.
            if entity.entity_id != own || self.numbers.is_empty() {
                self.entities.push(entity);
            }
        }
        self.numbers.push(number);
        if !snapshot.more {
            self.last = Some(number);
        }
    }

    fn is_whole(&self) -> bool {
        let (Some(first), Some(last)) = (self.first, self.last) else { return false };
        last.wrapping_sub(first) as usize + 1 == self.numbers.len()
    }
}

impl Assembly {
    /// Takes the datagram with this number; the tick, if that makes it whole and it is the newest.
    pub(super) fn take(&mut self, number: u32, snapshot: &Snapshot<'_>, own: u32) -> Option<Tick> {
        let server_tick = snapshot.server_tick;
        let is_newer = |than: u32| server_tick.wrapping_sub(than) as i32 > 0;
        if self.newest.is_some_and(|newest| !is_newer(newest)) {
            return None;
        }
        let at = match self.ticks.iter().position(|tick| tick.server_tick == server_tick) {
            Some(at) => at,
            None => {
                if self.ticks.len() == TICKS {
                    // They come in order, or nearly: the one that waits longest is given up.
                    self.ticks.remove(0);
                }
                self.ticks.push(Tick { server_tick, ..Tick::default() });
                self.ticks.len() - 1
            }
        };
        self.ticks[at].take(number, snapshot, own);
        if !self.ticks[at].is_whole() {
            return None;
        }
        let whole = self.ticks.remove(at);
        self.newest = Some(server_tick);
        self.ticks.retain(|tick| tick.server_tick.wrapping_sub(server_tick) as i32 > 0);
        Some(whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use backspin::wire::List;

    const OWN: u32 = 1;

    fn entity(entity_id: u32, entity_type: u16) -> EntityState {
        EntityState {
            entity_id,
            entity_type,
            x: 0.0,
            y: 0.0,
            vx: 0,
            vy: 0,
            health: 1,
            flags: 0,
            last_ack_sequence: 0,
        }
    }

    /// The `part`th of three datagrams of a tick; all have the own ship, the first the scoreboard.
    fn part(assembly: &mut Assembly, tick: u32, part: u32) -> Option<Vec<u32>> {
        let mut entities = vec![entity(OWN, entity_type::PLAYER), entity(10 + part, 2)];
        if part == 0 {
            entities.push(entity(99, entity_type::SCOREBOARD));
        }
        let (more, entities) = (part < 2, List::new(&entities));
        let snapshot = Snapshot { server_tick: tick, more, entities };
        let whole = assembly.take(3 * tick + part, &snapshot, OWN)?;
        assert_eq!(whole.server_tick, tick);
        let mut ids: Vec<_> = whole.entities.iter().map(|it| it.entity_id).collect();
        ids.sort_unstable();
        Some(ids)
    }

    const ALL: [u32; 5] = [OWN, 10, 11, 12, 99];

    #[test]
    fn a_tick_is_whole_when_all_its_datagrams_have_come_in_whatever_order() {
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
            let mut assembly = Assembly::default();
            assert_eq!(part(&mut assembly, 7, order[0]), None);
            assert_eq!(part(&mut assembly, 7, order[0]), None, "one that came twice is one");
            assert_eq!(part(&mut assembly, 7, order[1]), None);
            assert_eq!(part(&mut assembly, 7, order[2]).as_deref(), Some(&ALL[..]));
            assert_eq!(part(&mut assembly, 7, 0), None, "it is over");
        }
    }

    #[test]
    fn a_tick_with_a_part_missing_is_given_up_for_a_newer_one() {
        let mut assembly = Assembly::default();
        let mut take = |tick, of| part(&mut assembly, tick, of);
        assert!((0..2).all(|of| take(7, of).is_none()), "its last is lost");
        assert!((0..2).all(|of| take(8, of).is_none()));
        assert!(take(8, 2).is_some());
        assert_eq!(take(7, 2), None, "too late");
        // Across the wrap of ticks and of numbers.
        let mut assembly = Assembly::default();
        for tick in [u32::MAX / 3, u32::MAX / 3 + 1] {
            let last = (0..3).filter_map(|of| {
                let entities = [entity(OWN, 1), entity(99, entity_type::SCOREBOARD)];
                let entities = List::new(&entities[..1 + usize::from(of == 0)]);
                let snapshot = Snapshot { server_tick: tick, more: of < 2, entities };
                assembly.take(tick.wrapping_mul(3).wrapping_add(of), &snapshot, OWN)
            });
            assert_eq!(last.count(), 1);
        }
    }

    #[test]
    fn parts_of_four_ticks_are_kept_and_no_more() {
        let mut assembly = Assembly::default();
        for tick in 0..50 {
            assert_eq!(part(&mut assembly, tick, 0), None);
        }
        assert_eq!(assembly.ticks.len(), TICKS);
        assert!(part(&mut assembly, 46, 1).is_none() && part(&mut assembly, 46, 2).is_some());
    }
}
