//! What met: seen by a player, held against what the server judged.
//!
//! [`Umpire`] notes what the server judged, [`Drawn`] what one player saw; [`Umpire::compare`]
//! pairs them by key and counts by kind what only one side has. Of what both have it also says how
//! far a shot was drawn past what it hit, and how long the burst took.

use std::ops::Range;
use std::time::Duration;

use super::kinds::ContactKinds;
use super::leap::{Leaps, distance};
use super::measured::{Contact, Measured};
use backspin::game::{Frame, PlayerId};
use backspin::replication::Schema;
use backspin::room::Room;
use backspin::time::Time;

/// The same contact is drawn and judged within this: the clocks of a player are never so far apart.
const PAIR_WITHIN: Duration = Duration::from_secs(1);

/// Things that overlap for some frames have met once.
const SAME_WITHIN: Duration = Duration::from_millis(250);

/// Sees what really happens in a room, for [`Observer`](super::Observer)s to be held against.
#[derive(Debug, Default)]
pub struct Umpire {
    /// What met, as the server judged it, in that order.
    judged: Vec<Judged>,
    pub(super) leaps: Leaps,
}

/// A contact that the server judged.
#[derive(Clone, Copy, Debug)]
struct Judged {
    at: Time,
    contact: Contact,
    /// Whether its target was gone then.
    is_fatal: bool,
}

impl Umpire {
    /// Looks at the room, in every frame or after every tick. It takes what happened in the game,
    /// see [`Room::poll_game_event`].
    pub fn look<G: Measured>(&mut self, now: Time, room: &mut Room<G>) {
        self.leaps.look(now, room.game().schema(), room.state());
        while let Some((_, event)) = room.poll_game_event() {
            let Some(contact) = room.game().judged_contact(&event) else { continue };
            let is_fatal = contact.target.is_some_and(|id| room.state().find(id).is_none());
            self.note(Judged { at: now, contact, is_fatal });
        }
    }

    fn note(&mut self, judged: Judged) {
        let Judged { at: now, contact, .. } = judged;
        let is_same = |before: &&mut Judged| {
            let Contact { key, player, .. } = before.contact;
            key == contact.key && player == contact.player && now.since(before.at) < SAME_WITHIN
        };
        let near = |before: &&mut Judged| now.since(before.at) < SAME_WITHIN;
        match self.judged.iter_mut().rev().take_while(near).find(is_same) {
            Some(before) => {
                before.at = now;
                before.is_fatal |= judged.is_fatal;
            }
            None => self.judged.push(judged),
        }
    }

    /// What `viewer` saw meet in a time against what the server judged. What lies so near to either
    /// end of it that its other half may be missing is left out.
    pub(super) fn compare(
        &self,
        viewer: PlayerId,
        drawn: &Drawn,
        kind_of: impl Fn(u64) -> &'static str,
        time: Range<Time>,
    ) -> Comparison {
        let counts = |at: Time| time.start + PAIR_WITHIN <= at && at + PAIR_WITHIN <= time.end;
        let concerns = |judged: &&Judged| judged.contact.player.is_none_or(|who| who == viewer);
        let mut left: Vec<&Met> = drawn.met.iter().collect();
        let mut comparison = Comparison::default();
        for judged in self.judged.iter().filter(concerns) {
            let key = judged.contact.key;
            let apart = |at: Time| at.since(judged.at).max(judged.at.since(at));
            let near = left
                .iter()
                .enumerate()
                .filter(|(_, met)| met.key == key && apart(met.at) < PAIR_WITHIN);
            let nearest = near.min_by_key(|(_, met)| apart(met.at)).map(|(i, _)| i);
            let met = nearest.map(|i| left.swap_remove(i));
            if !counts(judged.at) {
                continue;
            }
            let kind = comparison.kinds.of(kind_of(key));
            *if met.is_some() { &mut kind.both } else { &mut kind.only_judged } += 1;
            if let Some(pass) = met.and_then(|met| met.pass(judged.contact.target)) {
                comparison.take(pass, judged.is_fatal);
            }
        }
        for alone in left.iter().filter(|met| counts(met.at)) {
            comparison.kinds.of(kind_of(alone.key)).only_drawn += 1;
        }
        comparison
    }
}

/// What a player saw meet, held against what the server judged.
#[derive(Debug, Default)]
pub(super) struct Comparison {
    pub(super) kinds: ContactKinds,
    /// In how many frames each thing that ended with its contact was drawn after it.
    pub(super) past_frames: Vec<f64>,
    /// How far it was drawn on after the first of them.
    pub(super) past_px: Vec<f64>,
    /// From each contact that was the end of its target until that was gone from the screen.
    pub(super) burst_ms: Vec<f64>,
}

impl Comparison {
    fn take(&mut self, pass: &Pass, is_fatal: bool) {
        if pass.spent.is_some() {
            self.past_frames.push(pass.frames.into());
            self.past_px.push(pass.px.into());
        }
        let burst = pass.gone_at.filter(|_| is_fatal);
        self.burst_ms.extend(burst.map(|at| at.since(pass.began).as_secs_f64() * 1e3));
    }
}

/// The contacts that one player saw, as they happened.
#[derive(Clone, Debug, Default)]
pub(super) struct Drawn {
    met: Vec<Met>,
    /// How many of the oldest have nothing more to be followed.
    settled: usize,
}

/// A contact on the screen.
#[derive(Clone, Debug)]
struct Met {
    /// The last frame of it.
    at: Time,
    key: u64,
    /// With each target that it was seen to meet.
    passes: Vec<Pass>,
}

/// What became of two things on the screen after they met.
#[derive(Clone, Copy, Debug)]
struct Pass {
    began: Time,
    target: Option<u32>,
    /// When the target was not drawn any more.
    gone_at: Option<Time>,
    spent: Option<u32>,
    /// Where the spent thing was drawn at first, while it is still drawn.
    from: Option<[f32; 2]>,
    /// In how many frames it was drawn, that of the contact counted.
    frames: u32,
    /// How far it was drawn on.
    px: f32,
}

impl Met {
    /// What became of it, with that target; things in the same place may be taken for each other.
    fn pass(&self, target: Option<u32>) -> Option<&Pass> {
        let with_target = self.passes.iter().find(|pass| pass.target == target);
        with_target.or(self.passes.first())
    }
}

impl Drawn {
    /// Notes that something met, in the frame of `now`.
    pub(super) fn note(&mut self, now: Time, contact: &Contact) {
        let is_same = |met: &&mut Met| met.key == contact.key && now.since(met.at) < SAME_WITHIN;
        let at = match self.met.iter_mut().rev().find(is_same) {
            Some(met) => {
                met.at = now;
                met
            }
            None => {
                self.met.push(Met { at: now, key: contact.key, passes: Vec::new() });
                self.met.last_mut().expect("it was pushed")
            }
        };
        let Contact { spent, target, .. } = *contact;
        if spent.or(target).is_some() && at.passes.iter().all(|pass| pass.target != target) {
            let (gone_at, from, frames, px) = (None, None, 0, 0.0);
            at.passes.push(Pass { began: now, target, gone_at, spent, from, frames, px });
        }
    }

    /// Follows what has met lately, once the contacts of the frame of `now` are noted.
    pub(super) fn follow(&mut self, now: Time, frame: &Frame, schema: &Schema) {
        let find = |id: u32| {
            let found = frame.entities.binary_search_by_key(&id, |drawn| drawn.entity.id);
            found.ok().map(|index| &frame.entities[index])
        };
        let old = |met: &&Met| now.since(met.at) > PAIR_WITHIN;
        self.settled += self.met[self.settled..].iter().take_while(old).count();
        for pass in self.met[self.settled..].iter_mut().flat_map(|met| &mut met.passes) {
            if pass.gone_at.is_none() && pass.target.is_some_and(|id| find(id).is_none()) {
                pass.gone_at = Some(now);
            }
            let is_flying = pass.began == now || pass.from.is_some();
            let drawn = pass.spent.filter(|_| is_flying).and_then(find);
            let place = drawn.and_then(|drawn| {
                let kind = schema.kinds.get(usize::from(drawn.entity.kind))?;
                Some(kind.place(&drawn.fields)?.0)
            });
            pass.frames += u32::from(place.is_some());
            pass.from = place.map(|at| *pass.from.get_or_insert(at));
            if let (Some(from), Some(at)) = (pass.from, place) {
                pass.px = distance(from, at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use backspin::game::Game;

    use super::*;
    use crate::dot::Dots;
    use backspin::replication::{self, Entity};

    const ME: PlayerId = PlayerId(1);

    fn ms(ms: u64) -> Time {
        Time::from_millis(ms)
    }

    fn umpire(met: &[(u64, u64)]) -> Umpire {
        let mut umpire = Umpire::default();
        for (at, key) in met {
            let contact = Contact::new(*key, None);
            umpire.note(Judged { at: ms(*at), contact, is_fatal: false });
        }
        umpire
    }

    fn drawn(met: &[(u64, u64)]) -> Drawn {
        let mut drawn = Drawn::default();
        for (at, key) in met {
            drawn.note(ms(*at), &Contact::new(*key, None));
        }
        drawn
    }

    fn compared(umpire: &Umpire, drawn: &Drawn) -> Comparison {
        let kind_of = |key| if key == 7 { "seven" } else { "other" };
        umpire.compare(ME, drawn, kind_of, ms(1_000)..ms(20_000))
    }

    fn compare(judged: &[(u64, u64)], seen: &[(u64, u64)]) -> (u64, u64) {
        let comparison = compared(&umpire(judged), &drawn(seen));
        let sum = comparison.kinds.sum();
        (sum.contacts(), sum.disagreed())
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

    #[test]
    fn kinds_and_directions_are_counted_apart() {
        let judged = umpire(&[(5_000, 7), (6_000, 1), (9_000, 1)]);
        let seen = drawn(&[(5_100, 7), (6_100, 1), (12_000, 7), (14_000, 7)]);
        let mut kinds = compared(&judged, &seen).kinds;
        let count = |kinds: &mut ContactKinds, kind| {
            let it = kinds.of(kind);
            (it.both, it.only_drawn, it.only_judged)
        };
        assert_eq!(count(&mut kinds, "seven"), (1, 2, 0));
        assert_eq!(count(&mut kinds, "other"), (1, 0, 1));
    }

    #[test]
    fn what_concerns_another_player_is_not_missed() {
        let mut umpire = Umpire::default();
        let contact = Contact::new(1, Some(PlayerId(2)));
        umpire.note(Judged { at: ms(5_000), contact, is_fatal: false });
        assert_eq!(compared(&umpire, &Drawn::default()).kinds.sum().contacts(), 0);
    }

    /// A frame of dots at these places.
    fn frame(dots: &[(u32, f32)]) -> Frame {
        let schema = Dots::default().schema();
        let entities = dots.iter().map(|&(id, x)| {
            let entity = Entity::new(schema, id, 0, &[x as i32, 100, 0, 0]);
            replication::Drawn { fields: schema.kinds[0].values(&entity), entity }
        });
        Frame { entities: entities.collect(), ..Frame::default() }
    }

    #[test]
    fn a_shot_is_followed_past_its_target_and_the_target_to_its_burst() {
        let schema = Dots::default().schema();
        let hit = Contact { spent: Some(5), target: Some(2), ..Contact::new(5, None) };
        let mut seen = Drawn::default();
        seen.note(ms(5_000), &hit);
        seen.follow(ms(5_000), &frame(&[(2, 100.0), (5, 110.0)]), schema);
        seen.follow(ms(5_016), &frame(&[(2, 100.0), (5, 126.0)]), schema);
        seen.follow(ms(5_032), &frame(&[(2, 100.0), (5, 142.0)]), schema);
        seen.follow(ms(5_048), &frame(&[(2, 100.0)]), schema);
        // The id is another thing's by now.
        seen.follow(ms(5_064), &frame(&[(2, 100.0), (5, 900.0)]), schema);
        seen.follow(ms(5_150), &frame(&[]), schema);
        let mut umpire = Umpire::default();
        let judged = Judged { at: ms(5_090), contact: hit, is_fatal: true };
        umpire.note(judged);
        let comparison = compared(&umpire, &seen);
        assert_eq!(comparison.past_frames, [3.0]);
        assert_eq!(comparison.past_px, [32.0]);
        assert_eq!(comparison.burst_ms, [150.0]);
        // A target that survived the contact did not burst of it.
        let mut umpire = Umpire::default();
        umpire.note(Judged { is_fatal: false, ..judged });
        assert!(compared(&umpire, &seen).burst_ms.is_empty());
    }

    #[test]
    fn a_shot_that_ends_with_its_contact_is_drawn_in_no_frame_after_it() {
        let schema = Dots::default().schema();
        let hit = Contact { spent: Some(5), ..Contact::new(5, None) };
        let mut seen = Drawn::default();
        seen.note(ms(5_000), &hit);
        seen.follow(ms(5_000), &frame(&[(2, 100.0)]), schema);
        seen.follow(ms(5_016), &frame(&[(2, 100.0)]), schema);
        let mut umpire = Umpire::default();
        umpire.note(Judged { at: ms(5_090), contact: hit, is_fatal: true });
        assert_eq!(compared(&umpire, &seen).past_frames, [0.0]);
    }
}
