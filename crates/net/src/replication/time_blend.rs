//! What is drawn between the two clocks: a ball that both sides meet.
//!
//! Each sliding thing has a time of its own. Where it is says how far that time lies on the way
//! from the behind clock to the ahead clock ([`Game::time_blend`]); the time goes there by running a
//! little faster or slower, and never back. Up to the newest snapshot it is drawn from the
//! [`SnapshotBuffer`], past it from the trail of the [prediction](super::Prediction).

use super::prediction::Forecast;
use super::snapshot_buffer::{Seen, carry, shifted};
use super::{Drawn, Entity, Fields, Schema, SnapshotBuffer};
use crate::game::{Game, PlayerId};

/// A sliding time runs at least and at most so fast: a few percent would do on a good link.
const PACE: (f64, f64) = (0.8, 1.25);

/// A time so far from where it belongs, in ticks, begins anew: after a break.
const LOST_TICKS: f64 = 60.0;

/// So many steps find where a thing that is new belongs.
const FIRST_STEPS: usize = 8;

/// The moment that is drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    /// The tick at which the others are drawn.
    pub(crate) behind: f64,
    /// The tick at which the own entity is drawn.
    pub(crate) ahead: f64,
    /// Since the last frame, in ticks.
    pub(crate) ticks: f64,
    /// The same in ms.
    pub(crate) ms: f32,
}

/// Where things are at any time: what the server said, and what is predicted of it.
#[derive(Clone, Copy)]
pub(crate) struct Course<'a> {
    pub(crate) schema: &'a Schema,
    pub(crate) said: &'a SnapshotBuffer,
    pub(crate) predicted: Option<&'a Forecast>,
}

impl Course<'_> {
    fn at(&self, id: u32, tick: f64) -> Option<Drawn> {
        let said = self.said.newest().is_some_and(|newest| tick <= f64::from(newest));
        match self.predicted.filter(|_| !said) {
            Some(predicted) => predicted.entity_at(self.schema, id, tick),
            None => self.said.entity_at(self.schema, id, tick),
        }
    }
}

/// The things that slide.
#[derive(Clone, Debug, Default)]
pub(crate) struct TimeBlend {
    things: Vec<Thing>,
}

/// One of them.
#[derive(Clone, Debug)]
struct Thing {
    id: u32,
    tick: f64,
    /// What was drawn last, before the error was added; nothing while it is not there.
    drawn: Option<Fields<f32>>,
    error: Fields<f32>,
    /// Whether it was spoken of in this frame.
    known: bool,
}

impl TimeBlend {
    /// Whether anything slides.
    pub(crate) fn is_empty(&self) -> bool {
        self.things.is_empty()
    }

    /// Notes that there is a sliding thing, as the newest state that has it says. Of one that is new
    /// that may be all that is known: at the time of the others it is not there yet. Its time is right
    /// from the beginning all the same, since it could not make up for it on a long line.
    pub(crate) fn meet<G: Game>(
        &mut self,
        game: &G,
        player: PlayerId,
        course: Course<'_>,
        moment: Moment,
        newest: &Drawn,
    ) {
        let id = newest.entity.id;
        match self.things.iter_mut().find(|thing| thing.id == id) {
            Some(thing) => thing.known = true,
            None => {
                let mut tick = time_of(game, player, moment, newest).unwrap_or(moment.behind);
                for _ in 0..FIRST_STEPS {
                    tick = place_in_time(game, player, course, moment, id, tick).unwrap_or(tick);
                }
                let error = Fields::default();
                self.things.push(Thing { id, tick, drawn: None, error, known: true });
            }
        }
    }

    /// Moves every sliding thing's time on, and draws those that are there.
    pub(crate) fn draw<G: Game>(
        &mut self,
        game: &G,
        player: PlayerId,
        course: Course<'_>,
        moment: Moment,
        mut show: impl FnMut(&Entity, Fields<f32>),
    ) {
        for thing in &mut self.things {
            // What we know now of the time that was drawn last, against what was drawn.
            let known = course.at(thing.id, thing.tick).map(|drawn| drawn.fields);
            thing.advance(game, player, course, moment);
            let Some(drawn) = course.at(thing.id, thing.tick) else {
                thing.drawn = None;
                continue;
            };
            thing.error = match &thing.drawn {
                Some(old) => {
                    let known = known.as_deref();
                    let seen = Seen { before: old, now: &drawn.fields, known };
                    carry(course.schema, &drawn.entity, seen, &thing.error, moment.ms)
                }
                None => Fields::default(),
            };
            thing.drawn = Some(drawn.fields.clone());
            show(&drawn.entity, shifted(course.schema, &drawn.entity, drawn.fields, &thing.error));
        }
        // What nobody speaks of any more is drawn to its end.
        self.things.retain_mut(|thing| std::mem::take(&mut thing.known) || thing.drawn.is_some());
    }
}

impl Thing {
    fn advance<G: Game>(&mut self, game: &G, player: PlayerId, course: Course<'_>, moment: Moment) {
        let straight = self.tick + moment.ticks;
        let goal = place_in_time(game, player, course, moment, self.id, straight);
        let goal = goal.unwrap_or(straight);
        self.tick = match (goal - straight).abs() > LOST_TICKS {
            true => goal.max(self.tick),
            false => {
                goal.clamp(self.tick + PACE.0 * moment.ticks, self.tick + PACE.1 * moment.ticks)
            }
        };
    }
}

/// Which tick a thing is to be drawn at if it is where it is at `tick`.
fn place_in_time<G: Game>(
    game: &G,
    player: PlayerId,
    course: Course<'_>,
    moment: Moment,
    id: u32,
    tick: f64,
) -> Option<f64> {
    time_of(game, player, moment, &course.at(id, tick)?)
}

/// Which tick a thing that is drawn so is to be drawn at.
fn time_of<G: Game>(game: &G, player: PlayerId, moment: Moment, drawn: &Drawn) -> Option<f64> {
    let gap = moment.ahead - moment.behind;
    let share = f64::from(game.time_blend(drawn, player, gap as f32)?).clamp(0.0, 1.0);
    Some(moment.behind + share * gap)
}
