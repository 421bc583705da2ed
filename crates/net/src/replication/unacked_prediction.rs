//! The player's own entity, ahead of a server that acknowledges nothing.
//!
//! Nobody says which inputs a state has taken in, so the path tells: what was predicted after each
//! of the last inputs is kept, and where a state says that the own entity is, it was somewhere on
//! that path. From the place that fits best the prediction starts again and replays the rest. As
//! long as the server follows the path, whenever, nothing is corrected; where it leaves it (a
//! press took a tick longer there), the distance is, and what is seen of it fades. Who stands
//! still has a path of one point: the prediction ends exactly where the server is.

use std::collections::VecDeque;

use super::prediction::{Prediction, blend};
use super::snapshot_buffer::fade;
use super::{Entity, Fields, Motion, Schema, State};
use crate::game::{Event, Game, PlayerId};
use crate::typed::RawInput;

/// The path of so many inputs is kept: about a second.
const STEPS: usize = 64;

/// What speaks against a place on the path, in lengths of a step. A state may be so many inputs
/// later or earlier than usual, by the network's unrest.
const UNREST: f32 = 2.0;

/// Within that, each input is worth less than a step off the path: nothing is corrected that may
/// be unrest. Beyond, nearly as much, so that no turn of the path hides an error for long.
const UNUSUAL: f32 = 0.3;
const STRANGE: f32 = 0.9;

/// The path goes elsewhere than the own entity has gone since the last state; opposite is twice.
const ASTRAY: f32 = 1.0;

/// How much of what a state shows of the usual lag is believed.
const LAG_GAIN: f32 = 1.0 / 16.0;

/// What one player predicts of the own entity, and how it came there.
#[derive(Clone, Debug)]
pub struct UnackedPrediction<G: Game> {
    own: u32,
    schema: &'static Schema,
    prediction: Prediction<G>,
    steps: VecDeque<Step>,
    /// How many inputs old a state is when it comes, usually; unknown at first.
    lag: Option<f32>,
    /// The own entity in the last state.
    said: Entity,
    error: Fields<f32>,
}

/// The own entity after an input.
#[derive(Clone, Debug)]
struct Step {
    number: u32,
    input: RawInput,
    entity: Entity,
}

impl<G: Game> UnackedPrediction<G> {
    /// The prediction of `player` from a first state on; `None` if the own entity is not in it.
    /// `lag` is how many inputs old a state is when it comes, where that is known.
    pub fn new(game: G, player: PlayerId, state: &State, lag: Option<f32>) -> Option<Self> {
        let (own, schema) = (game.entity_of(player), game.schema());
        let entity = state.find(own)?.clone();
        let mut prediction = Prediction::new(game, player, state);
        prediction.restart(state, 0);
        let mut steps = VecDeque::with_capacity(STEPS);
        let error = Fields::zeros(entity.fields.len());
        steps.push_back(Step { number: 0, input: RawInput::default(), entity: entity.clone() });
        Some(UnackedPrediction { own, schema, prediction, steps, lag, said: entity, error })
    }

    /// The id of the own entity.
    pub fn own(&self) -> u32 {
        self.own
    }

    /// The own entity after the newest input, and that input's number.
    pub fn newest(&self) -> Option<(u32, &Entity)> {
        self.steps.back().map(|step| (step.number, &step.entity))
    }

    /// One input further. What happens is shown now, and not again when it is replayed.
    pub fn advance(&mut self, input: RawInput, show: impl FnMut(Event)) {
        let Some(before) = self.steps.back().map(|step| step.entity.clone()) else { return };
        self.prediction.advance(input).for_each(show);
        if self.steps.len() == STEPS {
            self.steps.pop_front();
        }
        let entity = self.prediction.own().cloned().unwrap_or(before);
        self.steps.push_back(Step { number: self.prediction.tick(), input, entity });
    }

    /// Takes what a state says of the own entity: `false` if it is not there any more.
    pub fn reconcile(&mut self, state: &State) -> bool {
        let Some(said) = state.find(self.own) else { return false };
        let then = self.steps.back().map(|step| step.entity.clone());
        let Some(at) = self.best(said) else { return false };
        self.learn(at, said);
        self.said = said.clone();
        // What was on the path before is not gone to again, but may be drawn from.
        self.steps.drain(..at.saturating_sub(1));
        let at = at.min(1);
        let moved = difference(self.schema, said, &self.steps[at].entity);
        if at > 0 {
            shift(self.schema, &mut self.steps[at - 1].entity, &moved);
        }
        self.steps[at].entity = said.clone();
        self.prediction.restart(state, self.steps[at].number);
        for step in self.steps.iter_mut().skip(at + 1) {
            self.prediction.advance(step.input).for_each(drop);
            if let Some(own) = self.prediction.own() {
                step.entity = own.clone();
            }
        }
        if let (Some(then), Some(now)) = (then, self.steps.back()) {
            let seen = difference(self.schema, &then, &now.entity);
            self.error.iter_mut().zip(&seen).for_each(|(error, seen)| *error += seen);
        }
        true
    }

    /// Draws the own entity `fraction` of an input's time after the newest, `ms` after the last
    /// frame.
    pub fn draw(&mut self, fraction: f32, ms: f32) -> Option<(&Entity, Fields<f32>)> {
        let pixel = self.schema.pixel.value();
        self.error.iter_mut().for_each(|error| *error = fade(*error, ms, pixel));
        let newest = &self.steps.back()?.entity;
        let before = self.steps.iter().rev().nth(1).map_or(newest, |step| &step.entity);
        let mut fields = blend(self.schema, before, newest, fraction);
        fields.iter_mut().zip(&self.error).for_each(|(field, error)| *field += error);
        Some((newest, fields))
    }

    /// Where on the path the own entity is said to be.
    fn best(&self, said: &Entity) -> Option<usize> {
        let way = difference(self.schema, said, &self.said);
        let stride = (1..self.steps.len()).map(|i| length(&self.step(i))).fold(1.0, f32::max);
        let cost = |index: usize| {
            let off = length(&difference(self.schema, said, &self.steps[index].entity)) / stride;
            let astray = ASTRAY * (1.0 - alike(&way, &self.step(index)));
            let unusual = self.lag.map_or(0.0, |usual| {
                let inputs = ((self.steps.len() - 1 - index) as f32 - usual).abs();
                UNUSUAL * inputs.min(UNREST) + STRANGE * (inputs - UNREST).max(0.0)
            });
            off + astray + unusual
        };
        (0..self.steps.len()).min_by(|&a, &b| cost(a).total_cmp(&cost(b)))
    }

    /// How the own entity moved with an input.
    fn step(&self, index: usize) -> Fields<f32> {
        match index.checked_sub(1) {
            None => Fields::zeros(self.said.fields.len()),
            Some(before) => {
                let (from, to) = (&self.steps[before].entity, &self.steps[index].entity);
                difference(self.schema, to, from)
            }
        }
    }

    /// Learns how late states are, where the path leaves no doubt: the own entity moves, on it.
    fn learn(&mut self, at: usize, said: &Entity) {
        let off = difference(self.schema, said, &self.steps[at].entity);
        if length(&off) > 0.0 || length(&self.step(at)) == 0.0 {
            return;
        }
        let lag = (self.steps.len() - 1 - at) as f32;
        self.lag = Some(self.lag.map_or(lag, |usual| usual + (lag - usual) * LAG_GAIN));
    }
}

/// 1 for two ways in the same direction, or none at all; -1 for opposite ones.
fn alike(a: &[f32], b: &[f32]) -> f32 {
    let lengths = length(a) * length(b);
    if lengths > 0.0 {
        a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>() / lengths
    } else {
        f32::from(u8::from(length(a) == length(b)))
    }
}

/// How far `a` is from `b`, by field: only where they are. Timers count along, too, but an old dialect
/// does not tell them, and a path is no path of timers.
fn difference(schema: &Schema, a: &Entity, b: &Entity) -> Fields<f32> {
    let kind = schema.kinds.get(usize::from(a.kind)).filter(|_| a.kind == b.kind);
    let fields = kind.map_or(&[][..], |kind| kind.fields);
    Fields::from_fn(fields.len(), |i| match (fields[i].motion, fields[i].name) {
        (Motion::Along { .. }, "x" | "y") => {
            fields[i].value(a.fields[i]) - fields[i].value(b.fields[i])
        }
        _ => 0.0,
    })
}

/// Moves an entity by so much.
fn shift(schema: &Schema, entity: &mut Entity, by: &[f32]) {
    let Some(kind) = schema.kinds.get(usize::from(entity.kind)) else { return };
    for (i, field) in kind.fields.iter().enumerate() {
        let by = by.get(i).copied().unwrap_or(0.0);
        entity.fields[i] = field.quantise(field.value(entity.fields[i]) + by);
    }
}

fn length(difference: &[f32]) -> f32 {
    difference.iter().map(|part| part * part).sum::<f32>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dot::{Dots, World};
    use crate::game::Buttons;
    use crate::game::{PlayerInput, Turn};

    const ALICE: PlayerId = PlayerId(1);

    /// A player, and a server that takes each input so many ticks later, or twice, or not at all.
    struct Bench {
        server: World,
        state: State,
        trail: UnackedPrediction<Dots>,
    }

    impl Bench {
        fn new() -> Self {
            let game = Dots::default();
            let mut server = game.begin(0);
            game.join(&mut server, ALICE, &());
            let mut state = State::default();
            game.capture(&server, &mut state);
            let trail = UnackedPrediction::new(game, ALICE, &state, None).expect("it is there");
            Bench { server, state, trail }
        }

        /// The server steps with `buttons` and says so.
        fn serve(&mut self, buttons: Buttons) {
            let inputs = [PlayerInput::new(ALICE, buttons)];
            let game = Dots::default();
            game.step(&mut self.server, &mut Turn::new(1, &inputs, &[], &mut Vec::new()));
            self.state.clear(0);
            game.capture(&self.server, &mut self.state);
            assert!(self.trail.reconcile(&self.state));
        }

        fn press(&mut self, buttons: Buttons) {
            self.trail.advance(RawInput::of(buttons), |_| {});
        }

        fn place(&self) -> [i32; 2] {
            let (_, own) = self.trail.newest().expect("it is there");
            [own.fields[0], own.fields[1]]
        }

        fn truth(&self) -> [i32; 2] {
            [self.server.dots[0].x, self.server.dots[0].y]
        }
    }

    /// Round and back, with rests.
    fn walk(i: usize) -> Buttons {
        [Buttons::RIGHT, Buttons::DOWN, Buttons::LEFT, Buttons(0), Buttons::UP, Buttons::DOWN]
            [i / 7 % 6]
    }

    #[test]
    fn a_server_that_follows_late_corrects_nothing() {
        for late in [0, 1, 6, 20] {
            let mut table = Bench::new();
            let mut path = vec![table.place()];
            for i in 0..300 {
                table.press(walk(i));
                path.push(table.place());
                if let Some(then) = i.checked_sub(late) {
                    table.serve(walk(then));
                    assert_eq!(table.truth(), path[then + 1]);
                    assert_eq!(table.place(), path[i + 1], "input {i}, {late} late");
                }
            }
            assert!(table.trail.error.iter().all(|error| *error == 0.0));
        }
    }

    #[test]
    fn who_stands_still_is_where_the_server_says() {
        // The server holds a button for a tick longer, or one less.
        for (pressed, held) in [(10, 11), (10, 9), (10, 14)] {
            let mut table = Bench::new();
            for i in 0..60 {
                table.press(if i < pressed { Buttons::RIGHT } else { Buttons(0) });
                if i >= 6 {
                    table.serve(if i < 6 + held { Buttons::RIGHT } else { Buttons(0) });
                }
            }
            assert_eq!(table.place(), table.truth(), "{pressed} were {held}");
        }
    }

    #[test]
    fn a_correction_is_drawn_away_and_not_at_once() {
        let mut table = Bench::new();
        table.press(Buttons(0));
        let before = table.trail.draw(1.0, 16.0).expect("it is there").1;
        table.serve(Buttons::RIGHT);
        let after = table.trail.draw(1.0, 16.0).expect("it is there").1;
        assert!(after[0] > before[0] && after[0] - before[0] < 2.5, "{before:?} {after:?}");
        for _ in 0..60 {
            table.trail.draw(1.0, 16.0);
        }
        let at_last = table.trail.draw(1.0, 16.0).expect("it is there").1;
        assert!((at_last[0] - before[0] - 5.0).abs() < 0.01, "{at_last:?}");
    }

    #[test]
    fn the_path_is_kept_for_64_inputs_and_no_more() {
        let mut table = Bench::new();
        for count in 2..=200 {
            table.press(Buttons::RIGHT);
            assert_eq!(table.trail.steps.len(), count.min(64));
        }
    }

    #[test]
    fn who_is_not_there_is_not_predicted() {
        let mut table = Bench::new();
        assert!(!table.trail.reconcile(&State::default()));
        assert!(UnackedPrediction::new(Dots::default(), PlayerId(2), &table.state, None).is_none());
        table.press(Buttons::RIGHT);
    }
}
