//! What met: seen by a player, held against what the server judged.

use std::ops::AddAssign;
use std::time::Duration;

use super::leap::Leaps;
use crate::game::{Game, PlayerId};
use crate::room::Room;
use crate::time::Time;

/// The same contact is drawn and judged within this: the clocks of a player are never so far apart.
const PAIR_WITHIN: Duration = Duration::from_secs(1);

/// Things that overlap for some frames have met once.
const SAME_WITHIN: Duration = Duration::from_millis(250);

/// Sees what really happens in a room, for [`Observer`](super::Observer)s to be held against.
#[derive(Debug, Default)]
pub struct Umpire {
    /// What met, as the server judged it, and whom it concerns.
    judged: Vec<(Option<PlayerId>, Contacts)>,
    pub(super) leaps: Leaps,
}

impl Umpire {
    /// Looks at the room, in every frame. It takes what happened in the game, see
    /// [`Room::poll_game_event`].
    pub fn look<G: Game>(&mut self, now: Time, room: &mut Room<G>) {
        self.leaps.look(now, room.game().schema(), room.state());
        while let Some((_, event)) = room.poll_game_event() {
            let Some(contact) = room.game().judged_contact(&event) else { continue };
            let known = self.judged.iter().position(|(player, _)| *player == contact.player);
            let at = known.unwrap_or_else(|| {
                self.judged.push((contact.player, Contacts::default()));
                self.judged.len() - 1
            });
            self.judged[at].1.note(now, contact.key);
        }
    }

    /// What a player saw meet against what the server judged.
    pub(super) fn compare(
        &self,
        player: Option<PlayerId>,
        drawn: &Contacts,
        from: Time,
        until: Time,
    ) -> Agreement {
        let mut judged = Contacts::default();
        for (whom, contacts) in &self.judged {
            if whom.is_none() || *whom == player {
                judged.extend(contacts);
            }
        }
        judged.compare(drawn, from, until)
    }
}

/// The contacts of one side, as they happened.
#[derive(Clone, Debug, Default)]
pub(super) struct Contacts {
    met: Vec<(Time, u64)>,
}

/// How two sides' contacts stand to each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Agreement {
    /// Drawn, judged or both.
    pub(super) contacts: u64,
    /// Not both.
    pub(super) disagreed: u64,
}

impl AddAssign for Agreement {
    fn add_assign(&mut self, other: Agreement) {
        self.contacts += other.contacts;
        self.disagreed += other.disagreed;
    }
}

impl Contacts {
    /// Notes that something met.
    pub(super) fn note(&mut self, now: Time, key: u64) {
        let mut newest = self.met.iter_mut().rev();
        match newest.find(|(at, met)| *met == key && now.since(*at) < SAME_WITHIN) {
            Some((at, _)) => *at = now,
            None => self.met.push((now, key)),
        }
    }

    /// Takes another list's contacts, too.
    pub(super) fn extend(&mut self, others: &Contacts) {
        self.met.extend_from_slice(&others.met);
    }

    /// Holds what was `drawn` against what was judged, from `from` to `until`; what lies so near to
    /// either end that its other half may be missing is left out.
    pub(super) fn compare(&self, drawn: &Contacts, from: Time, until: Time) -> Agreement {
        let counts = |at: Time| from + PAIR_WITHIN <= at && at + PAIR_WITHIN <= until;
        let mut left: Vec<(Time, u64)> = drawn.met.clone();
        let mut agreement = Agreement::default();
        for &(judged, key) in &self.met {
            let apart = |at: Time| at.since(judged).max(judged.since(at));
            let near = left
                .iter()
                .enumerate()
                .filter(|(_, (at, met))| *met == key && apart(*at) < PAIR_WITHIN);
            let nearest = near.min_by_key(|(_, (at, _))| apart(*at)).map(|(i, _)| i);
            if let Some(i) = nearest {
                left.swap_remove(i);
            }
            if counts(judged) {
                agreement.contacts += 1;
                agreement.disagreed += u64::from(nearest.is_none());
            }
        }
        let alone = left.iter().filter(|(at, _)| counts(*at)).count() as u64;
        agreement.contacts += alone;
        agreement.disagreed += alone;
        agreement
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contacts(met: &[(u64, u64)]) -> Contacts {
        let mut contacts = Contacts::default();
        for (ms, key) in met {
            contacts.note(Time::from_millis(*ms), *key);
        }
        contacts
    }

    fn compare(judged: &[(u64, u64)], drawn: &[(u64, u64)]) -> (u64, u64) {
        let (from, until) = (Time::from_millis(1_000), Time::from_millis(20_000));
        let agreement = contacts(judged).compare(&contacts(drawn), from, until);
        (agreement.contacts, agreement.disagreed)
    }

    #[test]
    fn what_is_drawn_a_little_earlier_or_later_is_the_same() {
        assert_eq!(compare(&[(5_000, 1), (9_000, 2)], &[(5_200, 1), (8_900, 2)]), (2, 0));
    }

    #[test]
    fn what_only_one_side_has_is_a_disagreement() {
        assert_eq!(compare(&[(5_000, 1)], &[]), (1, 1));
        assert_eq!(compare(&[], &[(5_000, 1)]), (1, 1));
        assert_eq!(compare(&[(5_000, 1)], &[(5_000, 2)]), (2, 2));
        assert_eq!(compare(&[(5_000, 1)], &[(6_500, 1)]), (2, 2));
    }

    #[test]
    fn overlapping_for_some_frames_is_one_contact() {
        let drawn: Vec<_> = (0..60).map(|frame| (5_000 + frame * 16, 1)).collect();
        assert_eq!(compare(&[(5_000, 1)], &drawn), (1, 0));
    }

    #[test]
    fn what_lies_at_the_ends_is_left_out() {
        assert_eq!(compare(&[(1_500, 1), (19_500, 1)], &[]), (0, 0));
        assert_eq!(compare(&[(2_000, 1), (19_000, 1)], &[]), (2, 2));
    }
}
