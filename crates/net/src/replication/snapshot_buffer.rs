//! The snapshot buffer, and what is drawn of the others by interpolation: between the two snapshots
//! around the drawn time, or a little past the newest where none has come in time.

use super::prediction::{blend, is_elsewhere};
use super::{Entity, Field, Fields, Motion, Schema, State};

/// Snapshots that are kept for drawing and as baselines.
pub const KEPT: usize = 64;

/// Where nothing newer has come, motion goes on for at most so many ticks of 1/60 s: 100 ms.
const EXTRAPOLATE_LIMIT_TICKS: f64 = 6.0;

/// Where it has stopped there, it goes on with the snapshots that come, in ticks per ms: no faster than
/// a clock is bent, unless so many ticks are missing that it would take too long.
const CATCH_UP_PACE: f64 = 0.063;
const CATCH_UP_LIMIT_TICKS: f64 = 12.0;

/// How long a visible error lasts, roughly, in ms.
const DECAY_MS: f32 = 100.0;

/// An error goes away no faster than this, in pixels per ms and axis: two and a half
/// pixels in a frame pass for motion, ten are seen to jump.
const FASTEST_DECAY: f32 = 0.15;

/// An error beyond so many pixels is no error but another place: death and rebirth, or a long absence.
const TELEPORT: f32 = 128.0;

/// What is left of a visible error after `ms`, where a pixel is worth so much.
pub(super) fn fade(error: f32, ms: f32, pixel: f32) -> f32 {
    if error.abs() > TELEPORT * pixel {
        return 0.0;
    }
    let gone = (error.abs() * (ms / DECAY_MS).clamp(0.0, 1.0)).min(FASTEST_DECAY * pixel * ms);
    error - gone.copysign(error)
}

/// The same of a field. An angle is not counted in pixels, and is at most half a turn off.
pub(super) fn fade_field(schema: &Schema, field: Option<&Field>, error: f32, ms: f32) -> f32 {
    match field.map(|field| field.motion) {
        Some(Motion::Circular) => error * (1.0 - (ms / DECAY_MS).clamp(0.0, 1.0)),
        _ => fade(error, ms, schema.pixel.value()),
    }
}

/// Something on the screen.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// What it is, as the snapshot has it that it is on the way to.
    pub entity: Entity,
    /// Where and how it is drawn, in the fields' units.
    pub fields: Fields<f32>,
}

/// The snapshots that have come, `LEN` ticks back from the newest, and what was drawn of them last.
#[derive(Clone, Debug)]
pub struct SnapshotBuffer<const LEN: usize = KEPT> {
    states: Vec<State>,
    present: [bool; LEN],
    /// Which of them came in one piece.
    is_whole: [bool; LEN],
    newest: Option<u32>,
    /// What was drawn last, before errors were added.
    drawn: Vec<Shown>,
    next: Vec<Shown>,
    drawn_tick: Option<f64>,
    /// What was drawn instead where snapshots were missing for so long that motion has stopped.
    stopped_at: Option<f64>,
}

/// One entity of the last frame.
#[derive(Clone, Debug)]
struct Shown {
    id: u32,
    fields: Fields<f32>,
    error: Fields<f32>,
}

impl<const LEN: usize> Default for SnapshotBuffer<LEN> {
    fn default() -> Self {
        SnapshotBuffer {
            states: (0..LEN).map(|_| State::default()).collect(),
            present: [false; LEN],
            is_whole: [false; LEN],
            newest: None,
            drawn: Vec::new(),
            next: Vec::new(),
            drawn_tick: None,
            stopped_at: None,
        }
    }
}

impl<const LEN: usize> SnapshotBuffer<LEN> {
    /// The snapshot of `tick`, if it is kept.
    pub fn at(&self, tick: u32) -> Option<&State> {
        let slot = tick as usize % LEN;
        (self.present[slot] && self.states[slot].tick == tick).then(|| &self.states[slot])
    }

    /// The newest snapshot's tick.
    pub fn newest(&self) -> Option<u32> {
        self.newest
    }

    /// The newest snapshot.
    pub fn newest_state(&self) -> Option<&State> {
        self.at(self.newest?)
    }

    /// Keeps a snapshot, in place of one that is `LEN` ticks older.
    pub fn keep(&mut self, state: &State) {
        self.slot(state.tick, true).clone_from(state);
    }

    /// The same without a copy: what is in `state` then is of no use but for its memory.
    pub(crate) fn take(&mut self, state: &mut State) {
        std::mem::swap(self.slot(state.tick, true), state);
    }

    /// The snapshot of `tick` to be changed, if it was put together from parts: one that came whole is as
    /// it was, and others are written against it.
    pub(super) fn at_mut(&mut self, tick: u32) -> Option<&mut State> {
        let slot = tick as usize % LEN;
        let is_it = self.present[slot] && self.states[slot].tick == tick;
        (is_it && !self.is_whole[slot]).then(|| &mut self.states[slot])
    }

    /// An empty state of `tick`, which is kept from now on.
    pub(super) fn place_for(&mut self, tick: u32) -> &mut State {
        let state = self.slot(tick, false);
        state.clear(tick);
        state
    }

    /// Where the snapshot of `tick` is kept from now on.
    fn slot(&mut self, tick: u32, is_whole: bool) -> &mut State {
        let slot = tick as usize % LEN;
        (self.present[slot], self.is_whole[slot]) = (true, is_whole);
        if self.newest.is_none_or(|newest| tick.wrapping_sub(newest) as i32 > 0) {
            self.newest = Some(tick);
        }
        &mut self.states[slot]
    }

    /// Forgets everything: the session is another.
    pub fn clear(&mut self) {
        self.present = [false; LEN];
        self.newest = None;
        self.drawn.clear();
        self.drawn_tick = None;
        self.stopped_at = None;
    }

    /// The scale has changed since the last frame: what was drawn then is at `tick` now.
    pub fn redate(&mut self, tick: f64) {
        if let Some(drawn) = &mut self.drawn_tick {
            *drawn = tick;
        }
    }

    /// Draws the entities as they were at `tick`, `ms` after the last frame.
    pub fn draw(
        &mut self,
        schema: &Schema,
        tick: f64,
        ms: f32,
        mut show: impl FnMut(&Entity, Fields<f32>),
    ) {
        let (before, tick) = self.reach(tick, ms);
        let mut next = std::mem::take(&mut self.next);
        next.clear();
        self.look(schema, tick, |entity, fields| {
            let mut shown = Shown { id: entity.id, fields, error: Fields::default() };
            if let Ok(i) = self.drawn.binary_search_by_key(&entity.id, |shown| shown.id) {
                let old = &self.drawn[i];
                // What we know now of the time that was drawn last, against what was drawn.
                let known = before.and_then(|tick| self.entity_at(schema, entity.id, tick));
                let known = known.map(|known| known.fields);
                let known = known.as_deref();
                let seen = Seen { before: &old.fields, now: &shown.fields, known };
                shown.error = carry(schema, entity, seen, &old.error, ms);
            }
            show(entity, shifted(schema, entity, shown.fields.clone(), &shown.error));
            next.push(shown);
        });
        self.next = std::mem::replace(&mut self.drawn, next);
    }

    /// What can be drawn where `tick` is asked for, and what was drawn before it. What comes while
    /// motion has stopped is motion, not an error that fades.
    fn reach(&mut self, tick: f64, ms: f32) -> (Option<f64>, f64) {
        let before = self.drawn_tick.replace(tick);
        let last = self.newest.map_or(tick, |newest| f64::from(newest) + EXTRAPOLATE_LIMIT_TICKS);
        let stopped_at = self.stopped_at.take();
        if tick <= last {
            return (before, tick);
        }
        let next = match stopped_at {
            Some(at) if last - at < CATCH_UP_LIMIT_TICKS => {
                last.min(at + f64::from(ms) * CATCH_UP_PACE)
            }
            _ => last,
        };
        self.stopped_at = Some(next);
        (stopped_at.or(before), next)
    }

    fn look(&self, schema: &Schema, tick: f64, show: impl FnMut(&Entity, Fields<f32>)) {
        if let Some((from, to)) = self.around(tick) {
            draw_between(schema, from, to, tick, show);
        }
    }

    /// An entity as it was at `tick`, if it was there.
    pub(super) fn entity_at(&self, schema: &Schema, id: u32, tick: f64) -> Option<Drawn> {
        let (from, to) = self.around(tick)?;
        let entity = from.find(id)?;
        let next = to.and_then(|to| to.find(id)).unwrap_or(entity);
        Some(Drawn { entity: next.clone(), fields: place(schema, entity, from, to, tick) })
    }

    /// The snapshots before and after `tick`; where there is none before, the first that is.
    fn around(&self, tick: f64) -> Option<(&State, Option<&State>)> {
        let newest = self.newest?;
        let kept = |back: u32| self.at(newest.wrapping_sub(back));
        let mut after = None;
        for back in 0..LEN as u32 {
            let Some(state) = kept(back) else { continue };
            if f64::from(state.tick) <= tick {
                return Some((state, after));
            }
            after = Some(state);
        }
        after.map(|state| (state, None))
    }
}

/// Draws the entities of `from`, moved on to `tick`: towards `to`, or by their velocities.
pub fn draw_between(
    schema: &Schema,
    from: &State,
    to: Option<&State>,
    tick: f64,
    mut show: impl FnMut(&Entity, Fields<f32>),
) {
    for entity in from.entities() {
        let next = to.and_then(|to| to.find(entity.id)).unwrap_or(entity);
        show(next, place(schema, entity, from, to, tick));
    }
}

/// An entity of `from`, moved on to `tick`.
fn place(
    schema: &Schema,
    entity: &Entity,
    from: &State,
    to: Option<&State>,
    tick: f64,
) -> Fields<f32> {
    let since = tick - f64::from(from.tick);
    match to.and_then(|to| Some((to, to.find(entity.id).filter(|to| to.kind == entity.kind)?))) {
        Some((to, target)) => {
            let span = f64::from(to.tick) - f64::from(from.tick);
            let mut fields = blend(schema, entity, target, (since / span) as f32);
            if is_elsewhere(schema, entity, target) {
                return fields;
            }
            keep_still(schema, entity, &mut fields);
            if span > 1.0 {
                turn(schema, (entity, target), (since as f32, span as f32), &mut fields);
            }
            fields
        }
        None => {
            let ticks = since.clamp(0.0, EXTRAPOLATE_LIMIT_TICKS);
            let one = entity.extrapolate(schema, 1);
            let mut fields = blend(schema, entity, &one, ticks as f32);
            keep_still(schema, entity, &mut fields);
            fields
        }
    }
}

/// Where snapshots between two are missing and something moves otherwise after them than before, it
/// goes on as before up to the point from which its new velocity leads to where it is then: a ball
/// turns at the paddle, not on the straight line between two places in endpoint of it. If it has turned more
/// than once, it is drawn on that line, and its velocity is the line's: a paddle that stood before and
/// stands after has moved in between.
fn turn(
    schema: &Schema,
    (from, to): (&Entity, &Entity),
    (since, span): (f32, f32),
    fields: &mut [f32],
) {
    let Some(kind) = schema.kinds.get(usize::from(to.kind)) else { return };
    for (i, field) in kind.fields.iter().enumerate() {
        let Motion::Along { velocity, per_ticks } = field.motion else { continue };
        let place_and_pace = |entity: &Entity| {
            let pace = field.value(entity.fields[velocity]) / f32::from(per_ticks);
            (field.value(entity.fields[i]), pace)
        };
        let ((start, before), (end, after)) = (place_and_pace(from), place_and_pace(to));
        let turned = (end - start - after * span) / (before - after);
        let (pace, fastest) = ((end - start) / span, field.value(kind.fields[velocity].max));
        let is_faster = pace.abs() > before.abs().max(after.abs());
        // Not so if the velocity is the same, or has changed more than once.
        if is_faster && pace.abs() * f32::from(per_ticks) <= fastest {
            // In the units of the velocity's own field.
            let unit = kind.fields[velocity].value(1) / field.value(1);
            fields[velocity] = pace * f32::from(per_ticks) * unit;
        } else if turned > 0.0 && turned < span {
            if since < turned {
                fields[i] = start + before * since;
            } else {
                fields[i] = end - after * (span - since);
                fields[velocity] = kind.fields[velocity].value(to.fields[velocity]);
            }
        }
    }
}

/// What does not move is drawn as it was at the earlier snapshot, until the later one is reached.
fn keep_still(schema: &Schema, entity: &Entity, fields: &mut [f32]) {
    let Some(kind) = schema.kinds.get(usize::from(entity.kind)) else { return };
    for (i, field) in kind.fields.iter().enumerate() {
        if matches!(field.motion, Motion::Still | Motion::Teleport) {
            fields[i] = field.value(entity.fields[i]);
        }
    }
}

/// An entity in two frames, before errors are added.
#[derive(Clone, Copy)]
pub(super) struct Seen<'a> {
    /// What was drawn of it in the frame before.
    pub(super) before: &'a [f32],
    /// What is drawn of it now.
    pub(super) now: &'a [f32],
    /// What we know now of the time that was drawn before.
    pub(super) known: Option<&'a [f32]>,
}

/// What is left to be seen of earlier errors, and of what we know better now.
pub(super) fn carry(
    schema: &Schema,
    entity: &Entity,
    seen: Seen<'_>,
    left: &[f32],
    ms: f32,
) -> Fields<f32> {
    let kind = schema.kinds.get(usize::from(entity.kind));
    let fields = kind.map_or(&[][..], |kind| kind.fields);
    let Seen { before, now, known } = seen;
    // What was put elsewhere since, as far as we know now, has left its errors behind.
    let is_elsewhere = |then| kind.is_some_and(|kind| kind.teleports(then, now));
    if is_elsewhere(before) || known.is_some_and(is_elsewhere) {
        return Fields::zeros(fields.len());
    }
    // What has become another kind of thing since has other fields.
    let at = |values: &[f32], i: usize| values.get(i).copied().unwrap_or(0.0);
    Fields::from_fn(fields.len(), |i| match fields[i].motion {
        Motion::Still | Motion::Teleport => 0.0,
        Motion::Along { .. } | Motion::Smooth | Motion::Circular => {
            let news = known.map_or(0.0, |known| fields[i].way(at(known, i), at(before, i)));
            fade_field(schema, Some(&fields[i]), at(left, i) + news, ms)
        }
    })
}

/// Fields with what is left of an error.
pub(super) fn shifted(
    schema: &Schema,
    entity: &Entity,
    mut fields: Fields<f32>,
    error: &[f32],
) -> Fields<f32> {
    let kind = schema.kinds.get(usize::from(entity.kind));
    let known = kind.map_or(&[][..], |kind| kind.fields);
    for (i, (value, error)) in fields.iter_mut().zip(error).enumerate() {
        *value += error;
        if let Some(field) = known.get(i).filter(|field| matches!(field.motion, Motion::Circular)) {
            *value = field.wrap_value(*value);
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dot::{Dot, Dots, World};
    use crate::game::{Game, PlayerId};
    use crate::replication::{Kind, Step};

    fn state(tick: u32, x: i32, moved: i32) -> State {
        let mut world = World::default();
        world.dots.push(Dot { player: PlayerId(1), x, y: 100, moved: (moved, 0) });
        let mut state = State::new(tick);
        Dots::default().capture(&world, &mut state);
        state
    }

    /// Where it is drawn, and how fast it says it moves.
    fn drawn(states: &[State], tick: f64) -> (f32, f32) {
        let (mut picture, dots) = (SnapshotBuffer::<KEPT>::default(), Dots::default());
        states.iter().for_each(|state| picture.keep(state));
        let entity = states[0].entities()[0].clone();
        let kind = &dots.schema().kinds[usize::from(entity.kind)];
        let fields = picture.entity_at(dots.schema(), entity.id, tick).unwrap().fields;
        let (at, pace) = kind.place(&fields).unwrap();
        (at[0], pace[0])
    }

    #[test]
    fn between_snapshots_far_apart_a_thing_turns_where_its_velocities_say() {
        let states = [state(1, 100, 5), state(5, 100, -5)];
        let places = [1.0, 2.0, 3.0, 4.0].map(|tick| drawn(&states, tick).0);
        assert_eq!(places, [100.0, 105.0, 110.0, 105.0]);
        assert!(drawn(&states, 2.9).1 > 0.0 && drawn(&states, 3.1).1 < 0.0);
    }

    #[test]
    fn where_motion_has_stopped_it_goes_on_evenly_with_what_comes() {
        let (mut picture, dots) = (SnapshotBuffer::<KEPT>::default(), Dots::default());
        let mut last = None;
        // A thing of 16 units a tick. Nothing comes from tick 10 to 29, and then all of it 30 ticks
        // late, sometimes two snapshots in one frame.
        for frame in 0..120u32 {
            let came = match frame {
                0..=10 => frame,
                11..=40 => 10,
                _ => (frame - 30) / 2 * 2,
            };
            (0..=came).for_each(|tick| picture.keep(&state(tick, 10 + tick as i32 * 8, 8)));
            let mut x = 0.0;
            picture.draw(dots.schema(), f64::from(frame), 16.667, |entity, fields| {
                let kind = &dots.schema().kinds[usize::from(entity.kind)];
                x = kind.place(&fields).unwrap().0[0];
            });
            let moved = last.replace(x).map_or(0.0, |last| x - last);
            assert!((0.0..8.6).contains(&moved), "frame {frame}: {moved}");
            if frame > 60 {
                assert!(moved > 7.0, "frame {frame}: {moved}");
            }
        }
    }

    #[test]
    fn what_moved_on_or_cannot_have_turned_once_is_drawn_on_the_straight_line() {
        assert_eq!(drawn(&[state(1, 100, 5), state(5, 120, 5)], 3.0).0, 110.0);
        assert_eq!(drawn(&[state(1, 100, 5), state(5, 180, -5)], 3.0).0, 140.0);
        assert_eq!(drawn(&[state(4, 100, 5), state(5, 100, -5)], 4.5).0, 100.0);
    }

    #[test]
    fn what_stood_before_and_stands_after_says_how_fast_it_is_drawn_in_between() {
        assert_eq!(drawn(&[state(1, 100, 0), state(5, 112, 0)], 3.0), (106.0, 3.0));
        assert_eq!(drawn(&[state(1, 100, 2), state(5, 112, 0)], 3.0), (106.0, 3.0));
        // Nothing is that fast: it leaps, and must be seen to.
        let (_, pace) = drawn(&[state(1, 100, 0), state(5, 900, 0)], 3.0);
        assert_eq!(pace, 0.0);
        // From one tick to the next it has said all.
        assert_eq!(drawn(&[state(4, 100, 0), state(5, 112, 0)], 4.5).1, 0.0);
    }

    const HERO: Schema = Schema::new(&[Kind {
        name: "hero",
        fields: &[
            number("x", 0, 1000, Motion::Along { velocity: 1, per_ticks: 1 }),
            number("vx", -9, 9, Motion::Still),
            number("height", 0, 100, Motion::Smooth),
            number("aim", 0, 99, Motion::Circular),
            number("life", 0, 9, Motion::Teleport),
        ],
    }]);

    const fn number(name: &'static str, min: i32, max: i32, motion: Motion) -> Field {
        Field { name, min, max, step: Step::ONE, motion }
    }

    fn hero(tick: u32, counts: [i32; 5]) -> State {
        let mut state = State::new(tick);
        state.push(Entity::new(&HERO, 1, 0, &counts)).unwrap();
        state
    }

    /// What is drawn of the hero at each of `ticks`, a frame of 10 ms each.
    fn frames(picture: &mut SnapshotBuffer, schema: &Schema, ticks: &[f64]) -> Vec<[f32; 5]> {
        let mut frames = Vec::new();
        for &tick in ticks {
            picture.draw(schema, tick, 10.0, |_, fields| frames.push(fields.first()));
        }
        frames
    }

    #[test]
    fn what_has_no_velocity_is_drawn_between_snapshots_and_stays_past_the_newest() {
        let mut picture = SnapshotBuffer::default();
        picture.keep(&hero(10, [500, 0, 10, 90, 1]));
        picture.keep(&hero(14, [500, 0, 30, 30, 1]));
        let drawn = frames(&mut picture, &HERO, &[10.0, 11.0, 13.0, 14.0, 17.0]);
        let drawn: Vec<_> = drawn.into_iter().map(|fields| (fields[2], fields[3])).collect();
        assert_eq!(drawn, [(10.0, 90.0), (15.0, 0.0), (25.0, 20.0), (30.0, 30.0), (30.0, 30.0)]);
    }

    #[test]
    fn what_comes_too_late_of_an_angle_slides_the_short_way_round() {
        let mut picture = SnapshotBuffer::default();
        picture.keep(&hero(10, [500, 0, 10, 98, 1]));
        let before = frames(&mut picture, &HERO, &[10.0, 11.0, 12.0]);
        assert_eq!(before[2][2..4], [10.0, 98.0]);
        // It had turned by 4 at the time that was drawn last, and gone up by 4.
        picture.keep(&hero(11, [500, 0, 12, 0, 1]));
        picture.keep(&hero(12, [500, 0, 14, 2, 1]));
        let [height, aim] = [2, 3].map(|i| frames(&mut picture.clone(), &HERO, &[12.0])[0][i]);
        assert!((10.0..11.6).contains(&height), "{height}");
        assert!((98.0..98.5).contains(&aim), "{aim}");
        let after = frames(&mut picture, &HERO, &[12.0; 80]);
        let aims = after.windows(2).map(|pair| HERO.kinds[0].fields[3].way(pair[0][3], pair[1][3]));
        aims.for_each(|way| assert!((0.0..0.5).contains(&way), "{way}"));
        assert!((after[79][2] - 14.0).abs() < 0.01 && (after[79][3] - 2.0).abs() < 0.01);
    }

    #[test]
    fn what_was_put_elsewhere_is_never_drawn_on_the_way_there() {
        let mut picture = SnapshotBuffer::default();
        picture.keep(&hero(10, [100, 5, 10, 90, 1]));
        picture.keep(&hero(14, [160, 0, 20, 10, 2]));
        let drawn = frames(&mut picture, &HERO, &[10.0, 10.1, 12.0, 13.9, 14.0]);
        assert_eq!(drawn[0], [100.0, 5.0, 10.0, 90.0, 1.0]);
        drawn[1..].iter().for_each(|there| assert_eq!(there, &[160.0, 0.0, 20.0, 10.0, 2.0]));
    }

    #[test]
    fn what_was_put_elsewhere_leaves_its_errors_behind() {
        let mut picture = SnapshotBuffer::default();
        picture.keep(&hero(10, [100, 9, 10, 0, 1]));
        assert_eq!(frames(&mut picture, &HERO, &[10.0, 13.0])[1][0], 127.0);
        // It had not moved on as it was drawn: that fades.
        picture.keep(&hero(11, [100, 0, 10, 0, 1]));
        picture.keep(&hero(13, [100, 0, 10, 0, 1]));
        assert!(frames(&mut picture, &HERO, &[13.0])[0][0] > 120.0);
        // And then it was another life.
        picture.keep(&hero(14, [160, 0, 10, 0, 2]));
        assert_eq!(frames(&mut picture, &HERO, &[13.5, 14.0]), [[160.0, 0.0, 10.0, 0.0, 2.0]; 2]);
    }

    #[test]
    fn a_life_that_was_drawn_on_past_its_end_is_no_error_of_the_next() {
        let mut picture = SnapshotBuffer::default();
        picture.keep(&hero(10, [100, 9, 10, 0, 1]));
        frames(&mut picture, &HERO, &[10.0, 13.0]);
        picture.keep(&hero(12, [160, 0, 10, 0, 2]));
        assert_eq!(frames(&mut picture, &HERO, &[13.5])[0][0], 160.0);
    }

    #[test]
    fn errors_fade_by_pixels_whatever_these_are_worth() {
        assert_eq!(fade(40.0, 16.0, 1.0), 40.0 - 2.4);
        assert_eq!(fade(4.0, 16.0, 0.1), 4.0 - 0.24);
        assert_eq!((fade(128.5, 16.0, 1.0), fade(12.9, 16.0, 0.1)), (0.0, 0.0));
        let fine = HERO.with_pixel(Step::new(1, 20));
        let aim = Some(&HERO.kinds[0].fields[3]);
        assert_eq!(fade_field(&fine, aim, 40.0, 10.0), 36.0);
        assert_eq!(fade_field(&fine, None, 40.0, 10.0), 0.0);
    }
}
