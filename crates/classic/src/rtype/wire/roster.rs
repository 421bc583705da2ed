//! Who plays, with what left: Roster, LivesUpdate and ScoreUpdate.

use backspin::wire::field::{Little, fields, record, serialize_counted};
use backspin::wire::{List, Name};

/// Who plays; sent when anyone joins, leaves or loses a life.
///
/// ```text
/// 0       1                   1 + 21 count
/// | count | RosterEntry ...   |
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Roster<'a> {
    /// The players.
    pub players: List<'a, RosterEntry>,
}

/// One player.
///
/// ```text
/// 0    4       5      21
/// | id | lives | name |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RosterEntry {
    /// The player's entity.
    pub id: u32,
    /// Lives left.
    pub lives: u8,
    /// The player's name.
    pub name: Name,
}

fields!(Little Roster<'a> { players });

serialize_counted!(Roster {} players);

record!(Little RosterEntry 21 { id, lives, name });

/// A player's lives, absolute.
///
/// ```text
/// 0    4       5
/// | id | lives |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct LivesUpdate {
    /// The player's entity.
    pub id: u32,
    /// Lives left.
    pub lives: u8,
}

fields!(Little LivesUpdate { id, lives });

/// A score, absolute; id 0 is the team.
///
/// ```text
/// 0    4       8
/// | id | score |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ScoreUpdate {
    /// The player's entity, or 0.
    pub id: u32,
    /// The score.
    pub score: i32,
}

fields!(Little ScoreUpdate { id, score });

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtype::wire::Packet;
    use crate::testing::check;
    use backspin::wire::{Fault, Malformed};

    #[test]
    fn a_roster_lists_its_players() {
        let players = [
            RosterEntry { id: 1, lives: 3, name: Name::new("Alice") },
            RosterEntry { id: 2, lives: 0, name: Name::new("") },
        ];
        let bytes = b"\x2B\x00\x09\x01\x02\
            \x01\0\0\0\x03Alice\0\0\0\0\0\0\0\0\0\0\0\
            \x02\0\0\0\x00\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
        check(bytes, &Packet::Roster(Roster { players: List::new(&players) }));
        check(&[1, 0, 9, 1, 0], &Packet::Roster(Roster { players: List::new(&[]) }));
    }

    #[test]
    fn a_roster_holds_255_players_and_no_more() {
        let players = [RosterEntry { id: 1, lives: 3, name: Name::new("x") }; 256];
        let roster = |n| Packet::Roster(Roster { players: List::new(&players[..n]) });
        let mut out = vec![0; 10_000];
        assert_eq!(roster(255).encode(&mut out), Ok(4 + 1 + 255 * 21));
        assert!(roster(256).encode(&mut out).is_err());
    }

    #[test]
    fn a_name_without_its_nul_is_refused() {
        let bytes = b"\x16\x00\x09\x01\x01\x01\0\0\0\x03sixteen bytes...";
        assert_eq!(Packet::decode(bytes), Err(Malformed::new("name", Fault::Unterminated)));
    }

    #[test]
    fn lives_and_scores_are_absolute_numbers() {
        let lives = LivesUpdate { id: 7, lives: 2 };
        check(&[5, 0, 10, 1, 7, 0, 0, 0, 2], &Packet::LivesUpdate(lives));
        let score = ScoreUpdate { id: 0, score: -5 };
        let bytes = [8, 0, 11, 1, 0, 0, 0, 0, 0xFB, 0xFF, 0xFF, 0xFF];
        check(&bytes, &Packet::ScoreUpdate(score));
    }
}
