//! Who sees what: holds what a client has of the world, and every datagram that brings it, against what
//! the rules let the player see at that tick.

use super::breach::{Breach, Who, ensure};
use super::chronicle::{Chronicle, TICKS_KEPT};
use super::play::{Play, eye};
use crate::dot::SCHEMA;
use backspin::game::PlayerId;
use backspin::replication::view::ViewPart;
use backspin::replication::{Entity, KnownWorld, SnapshotBuffer, State, Viewer};
use backspin::wire::native::{Role, SessionIndex, ViewSnapshot, nearest_tick};

/// What a player may see is no older than this, in ticks, where link and budget are good for it.
const OLDEST_TICKS: u32 = 60;

/// Whose eyes they are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beholder {
    pub(super) play: Play,
    pub(super) viewer: Viewer,
}

impl Beholder {
    pub(super) fn new(play: Play, role: Role, player: PlayerId) -> Self {
        let viewer = match role {
            Role::Play => Viewer::Player(player),
            Role::Watch => Viewer::Watcher,
        };
        Beholder { play, viewer }
    }

    fn priority(&self, state: &State, id: u32) -> Option<u8> {
        self.play.priority_in(state, self.viewer, id)
    }

    fn sees(&self, state: &State, id: u32) -> bool {
        self.priority(state, id).is_some()
    }

    /// The ticks of the last snapshots, the newest first.
    fn snapshots(&self, tick: u32, ticks: u32) -> impl Iterator<Item = u32> + use<> {
        (0..=ticks).step_by(self.play.every.into()).map_while(move |back| tick.checked_sub(back))
    }

    /// The longest that an entity should wait for its turn, judged by the worst of the last snapshots;
    /// `None` if it was hidden in one of them, or the budget is too small.
    fn turn_ticks(&self, chronicle: &Chronicle, tick: u32, id: u32) -> Option<u64> {
        let (mut least, mut most) = (u8::MAX, 0);
        for tick in self.snapshots(tick, OLDEST_TICKS) {
            let state = chronicle.at(tick)?;
            least = least.min(self.priority(state, id)?);
            let shown = state.entities().iter().filter_map(|it| self.priority(state, it.id));
            most = most.max(shown.map(u64::from).sum());
        }
        self.play.turn_ticks(least, most)
    }
}

/// What one client has of a world that is its own.
#[derive(Debug, Default)]
pub(super) struct Holdings {
    /// By id: the newest tick at which it was found to be right.
    right: Vec<(u32, u32)>,
    before: Vec<(u32, u32)>,
}

impl Holdings {
    /// Everything in the newest state is what the player was shown of it once, and what its velocity
    /// has made of that since.
    pub(super) fn check(
        &mut self,
        who: Who,
        eyes: Beholder,
        state: &State,
        chronicle: &Chronicle,
    ) -> Result<(), Breach> {
        std::mem::swap(&mut self.right, &mut self.before);
        self.right.clear();
        let mut before = self.before.iter().peekable();
        let truth = chronicle.at(state.tick);
        let mut there = truth.map_or(&[][..], State::entities).iter().peekable();
        let eye = eye(state, eyes.viewer);
        for entity in state.entities() {
            // Most of it is new.
            while there.next_if(|it| it.id < entity.id).is_some() {}
            let at = (entity.fields[0], entity.fields[1]);
            if there.peek() == Some(&entity)
                && eyes.play.priority(eyes.viewer, eye, entity.id, at).is_some()
            {
                self.right.push((entity.id, state.tick));
                continue;
            }
            while before.next_if(|(id, _)| *id < entity.id).is_some() {}
            let known = before.peek().filter(|(id, _)| *id == entity.id).map(|(_, tick)| *tick);
            let is_right = |tick: &u32| is_right(chronicle, entity, state.tick, *tick);
            let was_shown =
                |tick: &u32| chronicle.at(*tick).is_some_and(|then| eyes.sees(then, entity.id));
            let all = || eyes.snapshots(state.tick, TICKS_KEPT as u32 - 1);
            let found =
                known.into_iter().chain(all()).find(|tick| is_right(tick) && was_shown(tick));
            let Some(tick) = found else {
                let (id, tick) = (entity.id, state.tick);
                return Err(match all().find(is_right) {
                    Some(_) => Breach::Learned { who, id, tick },
                    None => Breach::WrongSnapshot { who, tick },
                });
            };
            self.right.push((entity.id, tick));
        }
        Ok(())
    }

    /// The link is good: what was visible for a while is there, and was right a short time ago.
    pub(super) fn check_ages(
        &self,
        who: Who,
        eyes: Beholder,
        state: &State,
        chronicle: &Chronicle,
    ) -> Result<(), Breach> {
        let tick = state.tick;
        let Some(truth) = chronicle.at(tick) else { return Ok(()) };
        let is_young = |at: u32| tick - at <= OLDEST_TICKS;
        for id in truth.entities().iter().map(|entity| entity.id) {
            let right = self.right.binary_search_by_key(&id, |(id, _)| *id);
            if right.is_ok_and(|place| is_young(self.right[place].1)) {
                continue;
            }
            // It is old, or not there. Is it?
            let has = state.find(id);
            let is_right_at = |at| has.is_some_and(|has| is_right(chronicle, has, tick, at));
            if eyes.snapshots(tick, OLDEST_TICKS).any(is_right_at) {
                continue;
            }
            let turn = eyes.turn_ticks(chronicle, tick, id);
            // Twice, because it may just have missed its turn when it became visible.
            if turn.is_some_and(|turn| 2 * turn + u64::from(eyes.play.every) <= OLDEST_TICKS.into())
            {
                return Err(Breach::Stale { who, id, tick });
            }
        }
        Ok(())
    }
}

/// Whether what an entity was at `then` has become `now` by its velocity alone.
fn is_right(chronicle: &Chronicle, now: &Entity, tick: u32, then: u32) -> bool {
    let before = chronicle.at(then).and_then(|state| state.find(now.id));
    before.is_some_and(|before| before.extrapolate(&SCHEMA, tick - then) == *now)
}

/// Reads along whatever a server sends to one session, and loses nothing of it.
#[derive(Debug)]
pub(super) struct Onlooker {
    pub(super) session: SessionIndex,
    epoch: Option<u8>,
    known: KnownWorld,
    picture: SnapshotBuffer,
    /// What there was after the last datagram.
    last: State,
}

impl Onlooker {
    pub(super) fn new(session: SessionIndex) -> Self {
        Onlooker {
            session,
            epoch: None,
            known: KnownWorld::default(),
            picture: SnapshotBuffer::default(),
            last: State::default(),
        }
    }

    /// A datagram is sent: it tells nothing of what the rules hide at its tick, and of what is gone it
    /// tells whether it is out of sight or no more.
    pub(super) fn check(
        &mut self,
        eyes: Beholder,
        player: PlayerId,
        view: &ViewSnapshot<'_>,
        chronicle: &Chronicle,
    ) -> Result<(), Breach> {
        let tick = nearest_tick(view.tick, chronicle.tick);
        // With another epoch a client begins with nothing.
        if self.epoch.replace(view.epoch) != Some(view.epoch) {
            self.known = KnownWorld::default();
            self.picture.clear();
            self.last.clear(tick);
        }
        let part =
            ViewPart { epoch: view.epoch, tick, every: eyes.play.every.into(), body: view.body };
        if self.known.handle(&SCHEMA, part, &mut self.picture).is_err() {
            return Err(Breach::Unreadable { player, tick });
        }
        let left: Vec<u32> = std::iter::from_fn(|| self.known.poll_left(f64::INFINITY)).collect();
        let (Some(state), Some(truth)) = (self.picture.at(tick), chronicle.at(tick)) else {
            return Ok(());
        };
        let (mut before, ticks) = (self.last.entities().iter().peekable(), tick - self.last.tick);
        for entity in state.entities() {
            let id = entity.id;
            while before.next_if(|it| it.id < id).is_some() {}
            let before = before.peek().filter(|it| it.id == id);
            if before.is_some_and(|before| before.extrapolate(&SCHEMA, ticks) == *entity) {
                continue;
            }
            ensure(eyes.sees(truth, id), Breach::Leaked { player, id, tick })?;
            ensure(truth.find(id) == Some(entity), Breach::Mistold { player, id, tick })?;
        }
        for id in self.last.entities().iter().map(|entity| entity.id) {
            if state.find(id).is_some() {
                continue;
            }
            let is_there = truth.find(id).is_some();
            let was_hidden = || {
                let mut snapshots = eyes.snapshots(tick, TICKS_KEPT as u32 - 1);
                snapshots.any(|tick| {
                    chronicle.at(tick).is_some_and(|it| it.find(id).is_some() && !eyes.sees(it, id))
                })
            };
            let (is_true, told) = match left.contains(&id) {
                true => (was_hidden(), "out of sight"),
                false => (!is_there, "no more"),
            };
            ensure(is_true, Breach::WrongLoss { player, id, tick, told })?;
        }
        self.last.clone_from(state);
        Ok(())
    }
}
