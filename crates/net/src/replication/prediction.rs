//! The player's own part of the world, ahead of the server: restored from the newest snapshot,
//! with every input that is not acknowledged replayed on top.
//!
//! With every input on time and nobody else's doing, what the server says is what was predicted,
//! to the bit. Where it is not, the error is drawn and decays over a few frames.
//!
//! Drawing is always between two ticks, the last predicted one and the one before it: also where
//! the server is so near that its snapshot of the last tick has come already. What a snapshot takes
//! away is drawn until the time of that snapshot is reached on the screen.

use super::snapshot_buffer::{fade_field, shifted};
use super::{Entity, Field, Fields, Kind, Motion, Schema, SnapshotBuffer, State};
use crate::channel::PENDING_LIMIT;
use crate::game::{Event, Game, PlayerId, PlayerInput, Turn};
use crate::typed::RawInput;

/// What was predicted of each tick after a snapshot: as many as inputs may be pending.
pub(crate) type Forecast = SnapshotBuffer<PENDING_LIMIT>;

/// What one player predicts.
#[derive(Clone, Debug)]
pub struct Prediction<G: Game> {
    game: G,
    player: PlayerId,
    world: G::World,
    /// The tick that was predicted last.
    tick: u32,
    /// What there was to see after that tick, and after the one before.
    newest: State,
    before: State,
    /// What is left of the last errors of the own entity, by field, in the field's unit.
    error: Fields<f32>,
    events: Vec<Event>,
    /// What there was to see after each tick since the snapshot, once something slides.
    trail: Option<Box<Forecast>>,
    /// What snapshots took away and the screen has not shown to its end yet.
    ending: Vec<Ending>,
    /// The tick that was drawn last, with its fraction.
    drawn_tick: Option<f64>,
}

/// Something that is gone, and still to be drawn for a moment.
#[derive(Clone, Debug)]
struct Ending {
    /// As it was predicted for `tick`.
    entity: Entity,
    tick: u32,
    /// The tick of the first snapshot without it.
    gone: u32,
}

/// What a snapshot did to the prediction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Correction {
    /// How far the own position moved, in the fields' unit.
    pub distance: f32,
}

impl<G: Game> Prediction<G> {
    /// The prediction of `player` from the first snapshot on.
    pub fn new(game: G, player: PlayerId, state: &State) -> Self {
        let world = game.restore(state);
        let mut prediction = Prediction {
            game,
            player,
            world,
            tick: state.tick,
            newest: State::default(),
            before: State::default(),
            error: Fields::default(),
            events: Vec::new(),
            trail: None,
            ending: Vec::new(),
            drawn_tick: None,
        };
        prediction.look();
        prediction.before.clone_from(&prediction.newest);
        prediction
    }

    /// The tick that was predicted last.
    pub fn tick(&self) -> u32 {
        self.tick
    }

    /// The own entity as predicted.
    pub fn own(&self) -> Option<&Entity> {
        self.newest.find(self.game.entity_of(self.player))
    }

    /// Keeps a trail from the next snapshot on: things are to be drawn between the clocks.
    pub(crate) fn keep_trail(&mut self) {
        self.trail.get_or_insert_default();
    }

    /// What was predicted of the ticks since the snapshot.
    pub(crate) fn trail(&self) -> Option<&Forecast> {
        self.trail.as_deref()
    }

    /// What there is to see after the last predicted tick.
    pub fn state(&self) -> &State {
        &self.newest
    }

    /// One tick further, with the player's own input. What happened is shown now, and not again
    /// when the tick is replayed.
    pub fn advance(&mut self, input: RawInput) -> impl Iterator<Item = Event> + '_ {
        self.replay(self.tick.wrapping_add(1), input);
        std::mem::swap(&mut self.newest, &mut self.before);
        self.look();
        let own = self.game.entity_of(self.player);
        if let (Some(before), Some(now)) = (self.before.find(own), self.newest.find(own)) {
            leave_behind(self.game.schema(), &mut self.error, before, now);
        }
        self.events.drain(..)
    }

    /// Starts again from what the server says, and replays `inputs`: those of the ticks after the
    /// state, oldest first. Says how far the own position moved; `None` while it is not there.
    pub fn reconcile(
        &mut self,
        state: &State,
        inputs: impl Iterator<Item = RawInput>,
    ) -> Option<Correction> {
        let own = self.game.entity_of(self.player);
        let then = self.newest.find(own).cloned();
        let reached = self.tick;
        self.note_endings(state);
        match state.tick.wrapping_sub(reached) {
            // The server is as far as we are: what came before is drawn from all the same.
            0 => self.resume(state, state.tick),
            // It is a tick further: what was the newest comes before it.
            1 => {
                std::mem::swap(&mut self.newest, &mut self.before);
                self.resume(state, state.tick);
            }
            _ => self.restart(state, state.tick),
        }
        for input in inputs {
            self.replay(self.tick.wrapping_add(1), input);
            let shown = self.tick == reached || self.tick == reached.wrapping_sub(1);
            if shown || self.trail.is_some() {
                std::mem::swap(&mut self.newest, &mut self.before);
                self.look();
            }
        }
        self.events.clear();
        // What was spawned after the snapshot's tick is there again.
        self.ending.retain(|ending| self.newest.find(ending.entity.id).is_none());
        let (then, now) = (then?, self.newest.find(own)?.clone());
        leave_behind(self.game.schema(), &mut self.error, &then, &now);
        if self.tick != reached {
            // The server went on without us, as after a sleep: what it did is not seen at once.
            if self.tick.wrapping_sub(reached) as i32 > 1 {
                take_error(self.game.schema(), &mut self.error, &then, &now);
            }
            return None;
        }
        if state.tick == reached
            && let Some(before) = self.before.find_mut(now.id)
        {
            shift_before(self.game.schema(), before, &then, &now);
        }
        Some(take_error(self.game.schema(), &mut self.error, &then, &now))
    }

    /// Goes back to what the server says, as the world after `tick`.
    pub(super) fn restart(&mut self, state: &State, tick: u32) {
        self.resume(state, tick);
        self.before.clone_from(&self.newest);
    }

    /// The same, and what came before `tick` is known already.
    fn resume(&mut self, state: &State, tick: u32) {
        self.game.restore_into(state, &mut self.world);
        self.tick = tick;
        self.look();
    }

    /// What is drawn `fraction` of a tick after the tick before the last: the entities that the
    /// player sees ahead. What is new in the last comes from where its velocity says.
    pub fn draw(&mut self, fraction: f32, mut show: impl FnMut(&Entity, Fields<f32>)) {
        let schema = self.game.schema();
        let own = self.game.entity_of(self.player);
        let ahead = |entity: &&Entity| self.game.is_ahead(entity, self.player);
        for entity in self.newest.entities().iter().filter(ahead) {
            let fields = match self.before.find(entity.id) {
                Some(before) => blend(schema, before, entity, fraction),
                None => blend(schema, entity, &entity.extrapolate(schema, 1), fraction - 1.0),
            };
            let error = if entity.id == own { &self.error[..] } else { &[] };
            show(entity, shifted(schema, entity, fields, error));
        }
        let drawn = f64::from(self.tick) - 1.0 + f64::from(fraction);
        for Ending { entity, tick, .. } in &self.ending {
            // As it would be in the newest tick, like all else.
            let since = self.tick.wrapping_sub(*tick);
            let entity = entity.extrapolate(schema, since);
            let next = entity.extrapolate(schema, 1);
            show(&entity, blend(schema, &entity, &next, fraction - 1.0));
        }
        // Each is drawn in one frame at or past its end: what it met there is on its way.
        self.ending.retain(|ending| drawn < f64::from(ending.gone));
        self.drawn_tick = Some(drawn);
    }

    /// Notes what the server took away before it was drawn to its end. What we predicted to be gone
    /// by then has been drawn so.
    fn note_endings(&mut self, state: &State) {
        let drawn = self.drawn_tick;
        let is_to_come = |gone: u32| drawn.is_some_and(|drawn| drawn < f64::from(gone));
        self.ending.retain(|ending| state.find(ending.entity.id).is_none());
        if !is_to_come(state.tick) {
            return;
        }
        for entity in self.newest.entities() {
            let is_known = self.ending.iter().any(|ending| ending.entity.id == entity.id);
            let is_gone = state.find(entity.id).is_none();
            if is_gone && !is_known && self.game.is_ahead(entity, self.player) {
                self.ending.push(Ending {
                    entity: entity.clone(),
                    tick: self.tick,
                    gone: state.tick,
                });
            }
        }
    }

    /// Lets the visible error fade, as time passes on the screen.
    pub fn fade(&mut self, ms: f32) {
        let schema = self.game.schema();
        let own = self.newest.find(self.game.entity_of(self.player));
        let kind = own.and_then(|own| schema.kinds.get(usize::from(own.kind)));
        for (i, error) in self.error.iter_mut().enumerate() {
            let field = kind.and_then(|kind| kind.fields.get(i));
            *error = fade_field(schema, field, *error, ms);
        }
    }

    fn replay(&mut self, tick: u32, input: RawInput) {
        let inputs = [PlayerInput { player: self.player, input, drawn: None }];
        let mut turn = Turn::new(tick, &inputs, &[], &mut self.events);
        self.game.predict(&mut self.world, &mut turn);
        self.tick = tick;
    }

    fn look(&mut self) {
        self.newest.clear(self.tick);
        self.game.capture(&self.world, &mut self.newest);
        if let Some(trail) = &mut self.trail {
            trail.keep(&self.newest);
        }
    }
}

/// An entity was corrected from `then` to `now`: it comes from as far off as it goes to.
fn shift_before(schema: &Schema, before: &mut Entity, then: &Entity, now: &Entity) {
    if before.kind != now.kind || is_elsewhere(schema, then, now) {
        return;
    }
    let kind = &schema.kinds[usize::from(now.kind)];
    for (i, field) in kind.fields.iter().enumerate() {
        if is_steered(kind, field) {
            let moved = i64::from(now.fields[i]) - i64::from(then.fields[i]);
            let place = i64::from(before.fields[i]) + moved;
            before.fields[i] = match field.motion {
                Motion::Circular => field.wrap(place),
                _ => place.clamp(i64::from(field.min), i64::from(field.max)) as i32,
            };
        }
    }
}

/// What was put elsewhere between two looks at it has no error left from where it was.
fn leave_behind(schema: &Schema, error: &mut Fields<f32>, then: &Entity, now: &Entity) {
    if is_elsewhere(schema, then, now) {
        *error = Fields::default();
    }
}

/// An entity was corrected from `then` to `now`: adds what is to be seen of it to `error`.
fn take_error(schema: &Schema, error: &mut Fields<f32>, then: &Entity, now: &Entity) -> Correction {
    let kind = &schema.kinds[usize::from(now.kind)];
    if error.len() != kind.fields.len() {
        *error = Fields::zeros(kind.fields.len());
    }
    if is_elsewhere(schema, then, now) {
        return Correction { distance: 0.0 };
    }
    let mut square = 0.0;
    for (i, field) in kind.fields.iter().enumerate() {
        if !is_steered(kind, field) {
            continue;
        }
        let moved = field.way(field.value(now.fields[i]), field.value(then.fields[i]));
        // An angle is no distance.
        if !matches!(field.motion, Motion::Circular) {
            square += moved * moved;
        }
        error[i] += moved;
    }
    Correction { distance: square.sqrt() }
}

/// Whether a field moves as its player likes. What always runs at the same pace is a clock: it is
/// set, and does not slide.
fn is_steered(kind: &Kind, field: &Field) -> bool {
    match field.motion {
        Motion::Along { velocity, .. } => {
            kind.fields.get(velocity).is_some_and(|pace| pace.min < pace.max)
        }
        Motion::Smooth | Motion::Circular => true,
        Motion::Still | Motion::Teleport => false,
    }
}

/// Whether the one is not the other moved, but in another place, or another thing altogether.
pub(super) fn is_elsewhere(schema: &Schema, from: &Entity, to: &Entity) -> bool {
    if from.fields.len() != to.fields.len() {
        return true;
    }
    let kind = schema.kinds.get(usize::from(to.kind)).filter(|_| from.kind == to.kind);
    kind.is_some_and(|kind| kind.teleports(&from.fields, &to.fields))
}

/// The fields between two looks at an entity: what moves is in between, the rest is as it is then. What was
/// put elsewhere is there as soon as any time has passed.
pub(crate) fn blend(schema: &Schema, from: &Entity, to: &Entity, fraction: f32) -> Fields<f32> {
    let kind = schema.kinds.get(usize::from(to.kind));
    let fields = kind.map_or(&[][..], |kind| kind.fields);
    if kind.is_some_and(|kind| kind.teleports(&from.fields, &to.fields)) {
        let there = if fraction > 0.0 { to } else { from };
        return Fields::from_fn(fields.len(), |i| {
            fields[i].value(there.fields.get(i).copied().unwrap_or(to.fields[i]))
        });
    }
    Fields::from_fn(fields.len(), |i| {
        let b = fields[i].value(to.fields[i]);
        match (fields[i].motion, from.fields.get(i)) {
            (Motion::Along { .. }, Some(&from)) => {
                let a = fields[i].value(from);
                a + (b - a) * fraction
            }
            // Nothing says where it goes from there.
            (Motion::Smooth, Some(&from)) => {
                let a = fields[i].value(from);
                a + (b - a) * fraction.clamp(0.0, 1.0)
            }
            (Motion::Circular, Some(&from)) => {
                let a = fields[i].value(from);
                fields[i].wrap_value(a + fields[i].way(a, b) * fraction.clamp(0.0, 1.0))
            }
            _ => b,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dot::{Dots, World};
    use crate::game::Buttons;
    use crate::replication::Step;

    const ALICE: PlayerId = PlayerId(1);

    /// A server that has every input at once, and what Alice predicts.
    struct Bench {
        server: World,
        tick: u32,
        prediction: Prediction<Dots>,
    }

    impl Bench {
        fn new() -> Self {
            let game = Dots::default();
            let mut server = game.begin(0);
            game.join(&mut server, ALICE, &());
            let state = state(&server, 0);
            let prediction = Prediction::new(game, ALICE, &state);
            Bench { server, tick: 0, prediction }
        }

        fn advance(&mut self, buttons: Buttons) {
            self.prediction.advance(RawInput::of(buttons)).for_each(drop);
        }

        fn step(&mut self, buttons: Buttons) {
            self.tick += 1;
            let inputs = [PlayerInput::new(ALICE, buttons)];
            let mut turn = Turn::new(self.tick, &inputs, &[], &mut self.prediction.events);
            Dots::default().step(&mut self.server, &mut turn);
            self.prediction.events.clear();
        }

        fn hear(&mut self) -> Option<Correction> {
            let said = state(&self.server, self.tick);
            self.prediction.reconcile(&said, std::iter::empty())
        }

        /// Where Alice is drawn, if she is.
        fn drawn_x(&mut self, fraction: f32) -> Option<f32> {
            let mut x = None;
            self.prediction.draw(fraction, |_, fields| x = Some(fields[0]));
            x
        }
    }

    fn state(world: &World, tick: u32) -> State {
        let mut state = State::new(tick);
        Dots::default().capture(world, &mut state);
        state
    }

    #[test]
    fn own_things_are_drawn_between_two_ticks_also_when_the_snapshot_of_the_last_has_come() {
        let mut table = Bench::new();
        table.advance(Buttons::RIGHT);
        let places: Vec<_> = [0.0, 0.4, 1.0].map(|part| table.drawn_x(part)).into();
        assert!(places[0] < places[1] && places[1] < places[2], "{places:?}");
        table.step(Buttons::RIGHT);
        assert_eq!(table.hear(), Some(Correction { distance: 0.0 }));
        assert_eq!([0.0, 0.4, 1.0].map(|part| table.drawn_x(part)), *places);
    }

    #[test]
    fn a_correction_of_the_newest_tick_moves_nothing_at_once() {
        let mut table = Bench::new();
        table.advance(Buttons::RIGHT);
        let before = table.drawn_x(0.3);
        table.step(Buttons::LEFT);
        assert!(table.hear().unwrap().distance > 0.0);
        let (before, after) = (before.unwrap(), table.drawn_x(0.3).unwrap());
        assert!((before - after).abs() < 1e-3, "{before} and {after}");
        (0..100).for_each(|_| table.prediction.fade(16.0));
        let corrected = table.drawn_x(1.0).unwrap();
        assert!(corrected < before, "{corrected}");
    }

    #[test]
    fn what_a_snapshot_takes_away_is_drawn_until_its_time_is_reached() {
        let mut table = Bench::new();
        table.advance(Buttons::RIGHT);
        let (early, end) = (table.drawn_x(0.25), table.drawn_x(1.0));
        table.prediction.draw(0.3, |_, _| ());
        table.step(Buttons::RIGHT);
        table.server.dots.clear();
        table.hear();
        assert_eq!(table.drawn_x(0.25), early);
        // The first frame past its end shows it for the last time.
        table.advance(Buttons::RIGHT);
        assert!(table.drawn_x(0.5) > end);
        assert_eq!(table.drawn_x(0.6), None);
    }

    #[test]
    fn where_the_server_went_on_alone_the_own_thing_slides() {
        let mut table = Bench::new();
        table.advance(Buttons::RIGHT);
        let slept = table.drawn_x(1.0).unwrap();
        (0..24).for_each(|_| table.step(Buttons::RIGHT));
        assert_eq!(table.hear(), None);
        let woken = table.drawn_x(1.0).unwrap();
        assert!((woken - slept).abs() < 1e-3, "{slept} and {woken}");
        (0..400).for_each(|_| table.prediction.fade(16.0));
        assert!(table.drawn_x(1.0).unwrap() > slept + 24.0);
    }

    #[test]
    fn a_snapshot_of_the_next_tick_is_drawn_towards() {
        let mut table = Bench::new();
        table.advance(Buttons::RIGHT);
        let reached = table.drawn_x(1.0);
        table.step(Buttons::RIGHT);
        table.step(Buttons::RIGHT);
        table.hear();
        assert_eq!(table.drawn_x(0.0), reached);
        assert!(table.drawn_x(1.0) > reached);
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

    fn hero(counts: [i32; 5]) -> Entity {
        Entity::new(&HERO, 1, 0, &counts)
    }

    #[test]
    fn without_a_velocity_it_is_drawn_between_two_looks_and_no_further() {
        let (from, to) = (hero([0, 0, 10, 90, 1]), hero([0, 0, 20, 10, 1]));
        let at = |fraction| blend(&HERO, &from, &to, fraction).first::<4>();
        assert_eq!(at(0.0), [0.0, 0.0, 10.0, 90.0]);
        // An angle goes the short way round, through the end of its range.
        assert_eq!(at(0.25), [0.0, 0.0, 12.5, 95.0]);
        assert_eq!(at(0.75), [0.0, 0.0, 17.5, 5.0]);
        assert_eq!(at(1.0), at(1.5));
        assert_eq!(blend(&HERO, &to, &from, 0.75).first::<4>(), [0.0, 0.0, 12.5, 95.0]);
    }

    #[test]
    fn what_was_put_elsewhere_is_drawn_there_at_once() {
        let (from, to) = (hero([100, 5, 10, 90, 1]), hero([300, 0, 20, 10, 2]));
        let values = |entity: &Entity| HERO.values(entity);
        assert_eq!(blend(&HERO, &from, &to, 0.0), values(&from));
        assert_eq!(blend(&HERO, &from, &to, 0.01), values(&to));
        assert_eq!(blend(&HERO, &from, &to, 1.0), values(&to));
    }

    #[test]
    fn a_correction_counts_places_and_shows_angles_the_short_way_round() {
        let (then, now) = (hero([103, 5, 14, 98, 1]), hero([100, 0, 10, 2, 1]));
        let mut error = Fields::default();
        assert_eq!(take_error(&HERO, &mut error, &then, &now), Correction { distance: 5.0 });
        assert_eq!(error.first(), [3.0, 0.0, 4.0, -4.0, 0.0]);
        let mut before = hero([99, 5, 9, 97, 1]);
        shift_before(&HERO, &mut before, &then, &now);
        assert_eq!(before, hero([96, 5, 5, 1, 1]));
    }

    #[test]
    fn a_correction_to_another_life_is_none_and_ends_those_before() {
        let (then, now) = (hero([103, 5, 14, 98, 1]), hero([900, 0, 10, 2, 2]));
        let mut error = Fields::from_fn(5, |_| 7.0);
        leave_behind(&HERO, &mut error, &then, &hero([900, 0, 10, 2, 1]));
        assert_eq!(error, Fields::from_fn(5, |_| 7.0));
        leave_behind(&HERO, &mut error, &then, &now);
        assert_eq!(take_error(&HERO, &mut error, &then, &now), Correction { distance: 0.0 });
        assert_eq!(error, Fields::zeros(5));
        let mut before = hero([99, 5, 9, 97, 1]);
        shift_before(&HERO, &mut before, &then, &now);
        assert_eq!(before, hero([99, 5, 9, 97, 1]));
    }

    #[test]
    fn something_with_other_fields_is_no_correction_of_what_was_there() {
        let (then, now) = (Entity { kind: 1, ..hero([1; 5]) }, hero([900, 0, 10, 2, 2]));
        let then = Entity { fields: Fields::zeros(2), ..then };
        let mut error = Fields::default();
        assert_eq!(take_error(&HERO, &mut error, &then, &now), Correction { distance: 0.0 });
    }
}
