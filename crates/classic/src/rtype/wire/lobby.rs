//! Before and after a match: LobbyStatus, LobbyConfig, StartMatch, GameOver, Disconnect and
//! ReturnToMenu.

use backspin::wire::Malformed;
use backspin::wire::field::{Field, Little, codes, fields};
use backspin::wire::{Reader, Writer};

/// The lives a match starts with, 1 to 6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Lives(u8);

impl Lives {
    /// `lives`, if a match can start with so many.
    pub const fn new(lives: u8) -> Option<Self> {
        if matches!(lives, 1..=6) { Some(Lives(lives)) } else { None }
    }

    /// How many.
    pub const fn count(self) -> u8 {
        self.0
    }
}

impl<Order> Field<'_, Order> for Lives {
    fn decode(r: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        let lives = r.u8(field)?;
        Lives::new(lives).ok_or(Malformed::out_of_range(field, lives))
    }

    fn encode(&self, w: &mut Writer<'_>) {
        w.u8(self.0);
    }
}

codes! {
    /// How hard a match is, on the wire 0 to 2.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Difficulty {
        /// For a first flight.
        Easy = 0,
        /// As meant.
        Normal = 1,
        /// For those who ask for it.
        Hard = 2,
    }
}

/// What is set in the lobby.
///
/// ```text
/// 0      4            5            6         7          8
/// | host | base_lives | difficulty | started | reserved |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct LobbyStatus {
    /// The player who may configure and start.
    pub host: u32,
    /// Lives at the start.
    pub base_lives: Lives,
    /// How hard.
    pub difficulty: Difficulty,
    /// Whether the match runs.
    #[cfg_attr(feature = "serde", serde(serialize_with = "backspin::wire::flag_as_number"))]
    pub started: bool,
    /// 0 in ours; kept as it came.
    pub reserved: u8,
}

fields!(Little LobbyStatus { host, base_lives, difficulty, started, reserved });

/// What the host would like set.
///
/// ```text
/// 0            1            2
/// | base_lives | difficulty |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct LobbyConfig {
    /// Lives at the start.
    pub base_lives: Lives,
    /// How hard.
    pub difficulty: Difficulty,
}

fields!(Little LobbyConfig { base_lives, difficulty });

/// The host starts the match: a header and nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct StartMatch;

fields!(Little StartMatch {});

/// The match has ended.
///
/// ```text
/// 0        1
/// | reason |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct GameOver {
    /// How.
    pub reason: GameOverReason,
}

codes! {
    /// How a match ended, on the wire 0 to 2.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum GameOverReason {
        /// No player has a life left.
        AllDead = 0,
        /// The host left; our servers make the next player host instead.
        HostLeft = 1,
        /// The last level is won.
        Victory = 2,
    }
}

fields!(Little GameOver { reason });

/// A player leaves: a header and nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Disconnect;

fields!(Little Disconnect {});

/// Everyone goes back to the menu: a header and nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ReturnToMenu;

fields!(Little ReturnToMenu {});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtype::wire::Packet;
    use crate::testing::check;

    #[test]
    fn the_lobby_status_keeps_its_reserved_byte() {
        let status = LobbyStatus {
            host: 1,
            base_lives: Lives::new(4).unwrap(),
            difficulty: Difficulty::Hard,
            started: true,
            reserved: 9,
        };
        check(&[8, 0, 12, 1, 1, 0, 0, 0, 4, 2, 1, 9], &Packet::LobbyStatus(status));
    }

    #[test]
    fn a_lobby_config_is_lives_and_difficulty() {
        let base_lives = Lives::new(6).unwrap();
        let config = LobbyConfig { base_lives, difficulty: Difficulty::Easy };
        check(&[2, 0, 13, 1, 6, 0], &Packet::LobbyConfig(config));
    }

    #[test]
    fn numbers_out_of_range_are_named() {
        let error = |bytes: &[u8]| Packet::decode(bytes).unwrap_err();
        let range = |field, value: u8| Malformed::out_of_range(field, value);
        assert_eq!(error(&[2, 0, 13, 1, 0, 0]), range("base_lives", 0));
        assert_eq!(error(&[2, 0, 13, 1, 7, 0]), range("base_lives", 7));
        assert_eq!(error(&[2, 0, 13, 1, 1, 3]), range("difficulty", 3));
        assert_eq!(error(&[8, 0, 12, 1, 1, 0, 0, 0, 4, 2, 2, 0]), range("started", 2));
        assert_eq!(error(&[1, 0, 15, 1, 3]), range("reason", 3));
    }

    #[test]
    fn a_match_ends_in_one_of_three_ways() {
        let reasons = [GameOverReason::AllDead, GameOverReason::HostLeft, GameOverReason::Victory];
        for (byte, reason) in (0..).zip(reasons) {
            check(&[1, 0, 15, 1, byte], &Packet::GameOver(GameOver { reason }));
        }
    }

    #[test]
    fn three_packets_are_bare_headers() {
        check(&[0, 0, 14, 1], &Packet::StartMatch(StartMatch));
        check(&[0, 0, 16, 1], &Packet::Disconnect(Disconnect));
        check(&[0, 0, 17, 1], &Packet::ReturnToMenu(ReturnToMenu));
    }
}
