//! The player's own part of the world, ahead of the server: restored from the newest snapshot,
//! with every input that is not acknowledged replayed on top.
//!
//! With every input on time and nobody else's doing, what the server says is what was predicted,
//! to the bit. Where it is not, the error is drawn and decays over a few frames.

use super::picture::{fade, shifted};
use super::{Entity, MAX_FIELDS, Motion, Picture, Schema, State};
use crate::game::{Buttons, Event, Game, PlayerId, PlayerInput, Turn};

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
    error: [f32; MAX_FIELDS],
    events: Vec<Event>,
    /// What there was to see after each tick since the snapshot, once something slides.
    trail: Option<Box<Picture>>,
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
            error: [0.0; MAX_FIELDS],
            events: Vec::new(),
            trail: None,
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
    pub(crate) fn trail(&self) -> Option<&Picture> {
        self.trail.as_deref()
    }

    /// What there is to see after the last predicted tick.
    pub fn state(&self) -> &State {
        &self.newest
    }

    /// One tick further, with the player's own input. What happened is shown now, and not again
    /// when the tick is replayed.
    pub fn advance(&mut self, buttons: Buttons) -> impl Iterator<Item = Event> + '_ {
        self.replay(self.tick.wrapping_add(1), buttons);
        std::mem::swap(&mut self.newest, &mut self.before);
        self.look();
        self.events.drain(..)
    }

    /// Starts again from what the server says, and replays `inputs`: those of the ticks after the
    /// state, oldest first. Says how far the own position moved; `None` while it is not there.
    pub fn reconcile(
        &mut self,
        state: &State,
        inputs: impl Iterator<Item = Buttons>,
    ) -> Option<Correction> {
        let own = self.game.entity_of(self.player);
        let then = self.newest.find(own).copied();
        let reached = self.tick;
        self.restart(state, state.tick);
        for buttons in inputs {
            self.replay(self.tick.wrapping_add(1), buttons);
            let shown = self.tick == reached || self.tick == reached.wrapping_sub(1);
            if shown || self.trail.is_some() {
                std::mem::swap(&mut self.newest, &mut self.before);
                self.look();
            }
        }
        self.events.clear();
        if self.tick != reached {
            return None;
        }
        let now = *self.newest.find(own)?;
        Some(self.take_error(&then?, &now))
    }

    /// Goes back to what the server says, as the world after `tick`.
    pub(super) fn restart(&mut self, state: &State, tick: u32) {
        self.game.restore_into(state, &mut self.world);
        self.tick = tick;
        self.look();
        self.before.clone_from(&self.newest);
    }

    /// What is drawn `fraction` of a tick after the tick before the last: the entities that the
    /// player sees ahead. What is new in the last comes from where its velocity says.
    pub fn draw(&self, fraction: f32, mut show: impl FnMut(&Entity, [f32; MAX_FIELDS])) {
        let schema = self.game.schema();
        let own = self.game.entity_of(self.player);
        let ahead = |entity: &&Entity| self.game.is_ahead(entity, self.player);
        for entity in self.newest.entities().iter().filter(ahead) {
            let fields = match self.before.find(entity.id) {
                Some(before) => blend(schema, before, entity, fraction),
                None => blend(schema, entity, &entity.extrapolate(schema, 1), fraction - 1.0),
            };
            let error = if entity.id == own { self.error } else { [0.0; MAX_FIELDS] };
            show(entity, shifted(fields, error));
        }
    }

    /// Lets the visible error fade, as time passes on the screen.
    pub fn fade(&mut self, ms: f32) {
        self.error.iter_mut().for_each(|error| *error = fade(*error, ms));
    }

    fn replay(&mut self, tick: u32, buttons: Buttons) {
        let inputs = [PlayerInput { player: self.player, buttons, drawn: None }];
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

    fn take_error(&mut self, then: &Entity, now: &Entity) -> Correction {
        let kind = &self.game.schema().kinds[usize::from(now.kind)];
        let mut square = 0.0;
        for (i, field) in kind.fields.iter().enumerate() {
            if !matches!(field.motion, Motion::Along { .. }) {
                continue;
            }
            let moved = field.value(then.fields[i]) - field.value(now.fields[i]);
            square += moved * moved;
            self.error[i] += moved;
        }
        Correction { distance: square.sqrt() }
    }
}

/// The fields between two looks at an entity: what moves is in between, the rest is as it was.
pub(crate) fn blend(
    schema: &Schema,
    from: &Entity,
    to: &Entity,
    fraction: f32,
) -> [f32; MAX_FIELDS] {
    let mut out = [0.0; MAX_FIELDS];
    let Some(kind) = schema.kinds.get(usize::from(to.kind)) else { return out };
    for (i, field) in kind.fields.iter().enumerate() {
        let (a, b) = (field.value(from.fields[i]), field.value(to.fields[i]));
        out[i] = match field.motion {
            Motion::Along { .. } => a + (b - a) * fraction,
            Motion::Still => b,
        };
    }
    out
}
