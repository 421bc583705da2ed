//! Names of what a player's input brings into the world.

use super::PlayerId;

/// The name of something that a player's input brings into the world: the same on the server and
/// in prediction, so that the two are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpawnName {
    /// Whose, 1 to 8.
    pub player: PlayerId,
    /// The tick of the input.
    pub tick: u32,
    /// Which of those that the input spawned, 0 to 3.
    pub count: u8,
}

impl SpawnName {
    const FIRST: u16 = 0x8000;

    /// An id keeps these bits of its tick.
    pub const LOW_TICKS: u32 = 0x3FF;

    /// The low bits of the tick in which the entity with this id was spawned.
    pub fn low_tick(entity_id: u16) -> u32 {
        u32::from(entity_id >> 2) & SpawnName::LOW_TICKS
    }

    /// The entity's id: from 0x8000 up, and not the same for another spawn within 1024 ticks.
    pub fn entity_id(self) -> u16 {
        let player = (self.player.0.wrapping_sub(1) & 7) as u16;
        let tick = (self.tick & SpawnName::LOW_TICKS) as u16;
        SpawnName::FIRST | player << 12 | tick << 2 | u16::from(self.count & 3)
    }

    /// Whose spawn the entity with this id is, if it is one.
    pub fn owner(entity_id: u16) -> Option<PlayerId> {
        let player = u32::from(entity_id >> 12 & 7) + 1;
        (entity_id >= SpawnName::FIRST).then_some(PlayerId(player))
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
