//! Names of what a player's input brings into the world.

use super::PlayerId;

/// The name of something that a player's input brings into the world: the same on the server and
/// in prediction, so that the two are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpawnName {
    /// Whose, 1 to [`SpawnName::PLAYERS`].
    pub player: PlayerId,
    /// The tick of the input.
    pub tick: u32,
    /// Which of those that the input spawned.
    pub count: u8,
}

impl SpawnName {
    /// The least id of a spawn: the game's own ids are below.
    pub const FIRST: u32 = 1 << 31;

    /// So many players can spawn things.
    pub const PLAYERS: u32 = 256;

    /// An id keeps these bits of its tick.
    pub const LOW_TICKS: u32 = 0x7FFF;

    /// The low bits of the tick in which the entity with this id was spawned.
    pub fn low_tick(entity_id: u32) -> u32 {
        entity_id >> 8 & SpawnName::LOW_TICKS
    }

    /// The entity's id: from [`SpawnName::FIRST`] up, and not the same for another spawn within 32,768
    /// ticks.
    ///
    /// ```text
    /// 31  30         23  22                8  7        0
    /// | 1 | player - 1 | low bits of tick   | count    |
    /// ```
    ///
    /// # Panics
    /// If there is no such player: a room has at most 255, and counts them from 1.
    pub fn entity_id(self) -> u32 {
        let player = self.player.0.wrapping_sub(1);
        assert!(
            player < SpawnName::PLAYERS,
            "spawns are of players 1 to 256, not of {}",
            self.player
        );
        let tick = self.tick & SpawnName::LOW_TICKS;
        SpawnName::FIRST | player << 23 | tick << 8 | u32::from(self.count)
    }

    /// Whose spawn the entity with this id is, if it is one.
    pub fn owner(entity_id: u32) -> Option<PlayerId> {
        SpawnName::read(entity_id).map(|name| name.player)
    }

    /// The name that an id stands for, with the low bits of the tick; `None` for the game's own ids.
    pub fn read(entity_id: u32) -> Option<SpawnName> {
        (entity_id >= SpawnName::FIRST).then(|| SpawnName {
            player: PlayerId((entity_id >> 23 & 0xFF) + 1),
            tick: SpawnName::low_tick(entity_id),
            count: entity_id as u8,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spawns_of_the_same_input_have_the_same_name_on_both_sides() {
        let name = SpawnName { player: PlayerId(3), tick: 70_000, count: 1 };
        assert_eq!(name.entity_id(), name.entity_id());
        assert_eq!(SpawnName::owner(name.entity_id()), Some(PlayerId(3)));
        assert_eq!(SpawnName::owner(3), None);
        let next = SpawnName { tick: 70_001, ..name };
        assert_ne!(name.entity_id(), next.entity_id());
    }
}
