//! How long nothing has come from a member whose inputs should come in every tick: what the game is
//! told of it long before the member is dropped.
//!
//! The limit is a second. A client sends its last 64 inputs in every datagram, so up to about that
//! long a line that comes back has lost nothing; and sixty datagrams in a row do not get lost by
//! chance. It is counted in ticks: a server that stood still itself has missed nobody.

use crate::game::PlayerStatus;

/// The silence of one member.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Silence {
    ticks: u16,
    /// Whether the game knows.
    told: bool,
}

impl Silence {
    /// An input has come.
    pub(super) fn heard(&mut self) {
        self.ticks = 0;
    }

    /// A tick has passed, of which there are `rate` in a second: what the game is to be told.
    pub(super) fn pass(&mut self, rate: u8) -> Option<PlayerStatus> {
        self.ticks = self.ticks.saturating_add(1);
        let is_long = self.ticks > u16::from(rate);
        match std::mem::replace(&mut self.told, is_long) {
            false if is_long => Some(PlayerStatus::Silent),
            true if !is_long => Some(PlayerStatus::Heard),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silence_is_told_once_after_a_second_and_its_end_once() {
        let mut silence = Silence::default();
        let changes = |silence: &mut Silence, ticks: u32| -> Vec<_> {
            (1..=ticks).filter_map(|tick| Some((tick, silence.pass(60)?))).collect()
        };
        assert_eq!(changes(&mut silence, 60), []);
        silence.heard();
        assert_eq!(changes(&mut silence, 70_000), [(61, PlayerStatus::Silent)]);
        silence.heard();
        assert_eq!(changes(&mut silence, 60), [(1, PlayerStatus::Heard)]);
    }
}
