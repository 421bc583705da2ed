//! The roster as it comes: in parts, some of them late, twice or never.

use super::RosterLine;
use crate::game::PlayerId;
use crate::wire::native::{Roster, RosterEntry};

/// The newest roster that is whole, and the parts of a newer one.
#[derive(Clone, Debug, Default)]
pub(super) struct RosterParts {
    /// The revision of the last one that was whole.
    whole: Option<u16>,
    /// The revision that the lines are of.
    revision: u16,
    lines: Vec<Option<RosterLine>>,
}

impl RosterParts {
    /// Takes a part. Whether it makes a newer roster whole.
    pub(super) fn take(&mut self, part: &Roster<'_>) -> bool {
        let is_newer = |known: u16| part.revision.wrapping_sub(known) as i16 > 0;
        if !self.whole.is_none_or(is_newer) {
            return false;
        }
        if self.revision != part.revision || self.lines.len() != usize::from(part.total) {
            let is_gathering = self.whole != Some(self.revision) && !self.lines.is_empty();
            if is_gathering && self.revision != part.revision && !is_newer(self.revision) {
                return false;
            }
            self.revision = part.revision;
            self.lines.clear();
            self.lines.resize(part.total.into(), None);
        }
        let lines = self.lines.iter_mut().skip(part.first.into());
        for (line, entry) in lines.zip(part.players.iter()) {
            *line = Some(entry.into());
        }
        let is_whole = self.lines.iter().all(Option::is_some);
        if is_whole {
            self.whole = Some(part.revision);
        }
        is_whole
    }

    /// Who is in the roster that [`RosterParts::take`] said is whole.
    pub(super) fn lines(&self) -> impl Iterator<Item = RosterLine> {
        self.lines.iter().copied().flatten()
    }
}

impl From<RosterEntry> for RosterLine {
    fn from(entry: RosterEntry) -> Self {
        RosterLine {
            player: PlayerId(entry.player),
            name: entry.name,
            lives: entry.lives,
            flags: entry.flags,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{List, Name};

    fn entries(lives: u8) -> Vec<RosterEntry> {
        let entry = |player| RosterEntry {
            player,
            lives,
            flags: Default::default(),
            rtt_ms: 0,
            name: Name::new(""),
        };
        (1..=5).map(entry).collect()
    }

    /// Players `first` to `end`, counted from 0, of a roster of five whose players have so many lives.
    fn take(parts: &mut RosterParts, revision: u16, lives: u8, first: u16, end: u16) -> bool {
        let entries = entries(lives);
        let players = List::new(&entries[first.into()..end.into()]);
        parts.take(&Roster { revision, total: 5, first, players })
    }

    #[test]
    fn parts_make_a_roster_in_any_order_and_it_is_told_once() {
        let mut parts = RosterParts::default();
        assert!(!take(&mut parts, 9, 1, 4, 5));
        assert!(!take(&mut parts, 9, 1, 0, 2));
        assert!(!take(&mut parts, 9, 1, 0, 2), "again");
        assert!(take(&mut parts, 9, 1, 2, 4));
        assert!(parts.lines().map(|line| line.player.0).eq(1..=5));
        assert!(!take(&mut parts, 9, 1, 0, 5), "it is known");
        assert!(!take(&mut parts, 8, 1, 0, 5), "it is old");
    }

    #[test]
    fn parts_of_two_rosters_are_never_mixed() {
        let mut parts = RosterParts::default();
        assert!(!take(&mut parts, 0xFFFF, 1, 0, 3));
        assert!(!take(&mut parts, 0, 2, 3, 5), "the newer one begins");
        assert!(!take(&mut parts, 0xFFFF, 1, 3, 5), "the older one is given up");
        assert!(take(&mut parts, 0, 2, 0, 3));
        assert!(parts.lines().all(|line| line.lives == 2));
        let empty = Roster { revision: 1, total: 0, first: 0, players: List::new(&[]) };
        assert!(parts.take(&empty));
        assert_eq!(parts.lines().count(), 0);
    }
}
