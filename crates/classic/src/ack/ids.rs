//! The ids of entities on the wire: 32 bits, of which the low 16 are the game's, or are short for the name of a spawn. A game uses its ids again
//! when it likes; here none means something else within ten seconds.

use std::collections::BTreeMap;

use backspin::game::SpawnName;

/// For how many seconds.
const KEPT_FOR_S: u32 = 10;

/// Kinds that no entity has: that of an id which is kept for a player, and of one that is free.
const PLAYERS: u8 = u8::MAX - 1;
const NOTHINGS: u8 = u8::MAX;

/// Which ids are in use, or were.
#[derive(Clone, Debug, Default)]
pub(super) struct Ids {
    known: BTreeMap<u16, Known>,
    /// The tick that is looked at, and a count of the looks.
    tick: u32,
    look: u64,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    /// How often the id has come to mean something else.
    generation: u16,
    kind: u8,
    /// When it was there last.
    tick: u32,
    look: u64,
}

impl Ids {
    /// A look at the world of `tick` begins.
    pub(super) fn begin(&mut self, tick: u32, rate: u8) {
        self.look += 1;
        self.tick = tick;
        let kept = KEPT_FOR_S * u32::from(rate);
        self.known.retain(|_, known| tick.wrapping_sub(known.tick) <= kept);
    }

    /// The id of an entity that is there in this look.
    pub(super) fn of(&mut self, id: u32, kind: u8) -> u32 {
        let id = short(id);
        let (tick, look) = (self.tick, self.look);
        let new = Known { generation: 0, kind, tick, look };
        let known = self.known.entry(id).or_insert(new);
        // What was not there in the look before is something else.
        let is_same = known.kind == kind && known.look + 1 >= look;
        let generation = known.generation.wrapping_add(u16::from(!is_same));
        *known = Known { generation, ..new };
        u32::from(generation) << 16 | u32::from(id)
    }

    /// An id for a player who comes, which is [kept](Ids::keep) from now on.
    pub(super) fn claim(&mut self, id: u32) -> u32 {
        self.retire(id);
        self.of(id, PLAYERS)
    }

    /// The player with this id is there, be it without a ship.
    pub(super) fn keep(&mut self, id: u32) {
        let (generation, tick, look) = ((id >> 16) as u16, self.tick, self.look);
        self.known.insert(id as u16, Known { generation, kind: PLAYERS, tick, look });
    }

    /// From now on the id means something else.
    pub(super) fn retire(&mut self, id: u32) {
        if let Some(known) = self.known.get_mut(&short(id)) {
            known.kind = NOTHINGS;
        }
    }
}

/// Sixteen bits for an id. A spawn keeps three bits of its player, ten of its tick and two of its count; of two
/// that are the same in these, the later one is taken for something else.
fn short(id: u32) -> u16 {
    match SpawnName::read(id) {
        None => id as u16,
        Some(SpawnName { player, tick, count }) => {
            let player = player.0.wrapping_sub(1) & 7;
            (0x8000 | player << 12 | (tick & 0x3FF) << 2 | u32::from(count & 3)) as u16
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_the_same_for_as_long_as_the_thing_is_there_and_not_used_again_within_10_s() {
        let mut ids = Ids::default();
        let mut look = |tick, is_there: bool| {
            ids.begin(tick, 60);
            is_there.then(|| ids.of(7, 5))
        };
        assert!((1..100).all(|tick| look(tick, true) == Some(7)));
        look(100, false);
        assert_eq!(look(101, true), Some(0x1_0007));
        assert_eq!(look(102, true), Some(0x1_0007));
        assert!((103..=701).all(|tick| look(tick, false).is_none()));
        assert_eq!(look(702, true), Some(0x2_0007), "10 s after tick 102");
        assert!((703..=1_303).all(|tick| look(tick, false).is_none()));
        assert_eq!(look(1_304, true), Some(7), "more than 10 s after tick 702");
    }

    #[test]
    fn another_kind_is_something_else() {
        let mut ids = Ids::default();
        ids.begin(1, 60);
        assert_eq!(ids.of(7, 5), 7);
        ids.begin(2, 60);
        assert_eq!(ids.of(7, 6), 0x1_0007);
    }

    #[test]
    fn a_players_id_is_kept_without_a_ship_and_the_next_player_has_another() {
        let mut ids = Ids::default();
        let first = ids.claim(1);
        assert_eq!(first, 1);
        for tick in 1..2_000 {
            ids.begin(tick, 60);
            ids.keep(first);
        }
        ids.retire(1);
        assert_eq!(ids.claim(1), 0x1_0001);
        // One whom the dialect does not know comes after that.
        ids.retire(1);
        ids.begin(2_000, 60);
        assert_eq!(ids.of(1, 0), 0x2_0001);
    }
}
