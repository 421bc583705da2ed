//! What a game tells its players.

/// Something worth a sound, a flash or a line on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// What, as the game numbers it.
    pub kind: u8,
    /// To which entity; 0 where there is none.
    pub entity: u32,
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
    /// How many bytes it takes among a player's reliable messages.
    pub const LEN: usize = 9;

    /// What everyone is told, on the wire:
    ///
    /// ```text
    /// 0      1        5       9
    /// | kind | entity | value |
    /// ```
    pub(crate) fn encode(&self) -> [u8; Event::LEN] {
        let mut bytes = [self.kind; 9];
        bytes[1..5].copy_from_slice(&self.entity.to_be_bytes());
        bytes[5..].copy_from_slice(&self.value.to_be_bytes());
        bytes
    }

    /// The event of these bytes, if they are one.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Event> {
        let (&kind, rest) = bytes.split_first()?;
        let (&entity, value) = rest.split_first_chunk()?;
        Some(Event {
            kind,
            entity: u32::from_be_bytes(entity),
            value: i32::from_be_bytes(value.try_into().ok()?),
            reach: Reach::Everyone,
        })
    }
}
