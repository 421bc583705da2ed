//! What a game tells its players.

/// Something worth a sound, a flash or a line on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// What, as the game numbers it.
    pub kind: u8,
    /// To which entity; 0 where there is none.
    pub entity: u16,
    /// How much.
    pub value: i32,
    /// Who must know.
    pub reach: Reach,
}

/// How far an event goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Shown by whoever steps it: the player who predicted it.
    Own,
    /// Everyone is told, in order and exactly once.
    Everyone,
}

impl Event {
    /// What everyone is told, on the wire:
    ///
    /// ```text
    /// 0      1        3       7
    /// | kind | entity | value |
    /// ```
    pub(crate) fn encode(&self) -> [u8; 7] {
        let [entity_high, entity_low] = self.entity.to_be_bytes();
        let [a, b, c, d] = self.value.to_be_bytes();
        [self.kind, entity_high, entity_low, a, b, c, d]
    }

    /// The event of these bytes, if they are one.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Event> {
        let &[kind, entity_high, entity_low, a, b, c, d] = bytes else { return None };
        Some(Event {
            kind,
            entity: u16::from_be_bytes([entity_high, entity_low]),
            value: i32::from_be_bytes([a, b, c, d]),
            reach: Reach::Everyone,
        })
    }
}
