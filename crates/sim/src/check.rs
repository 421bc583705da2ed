//! Proves that a game's rules are fit to be predicted and sent: bots play them, and everything is
//! done twice.
//!
//! The netcode stands on three promises of the rules, and none of them shows when it is broken in
//! a match on one machine:
//! - the same seed and inputs give the same worlds, tick by tick;
//! - a world comes back from what was captured of it, as far as it is predicted;
//! - a client that is alone predicts what the server steps.

mod breach;
mod budget;
mod crowd;
mod mailbag;
#[cfg(test)]
mod tests;

use std::fmt;

pub use breach::{Breach, Comparison, Difference, RuleError};

use backspin::game::{Event, Game, Mail, PlayerId, PlayerInput, Turn, rewind_limit_ticks};
use backspin::replication::{Entity, Kind, Motion, Schema, State};
use backspin::room::LeftOut;
use breach::difference;
use budget::check_budget;
use crowd::Crowd;
use mailbag::check_mail;

/// A client predicts so many ticks before the next snapshot brings it back.
const PREDICTED_TICKS: u32 = 20;

/// How much is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trial {
    /// The first seed.
    pub seed: u64,
    /// How many, counting up from it.
    pub seeds: u32,
    /// Ticks with each.
    pub ticks: u32,
}

impl Default for Trial {
    fn default() -> Self {
        Trial { seed: 1, seeds: 8, ticks: 1_800 }
    }
}

/// What was played without finding a fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Seeds.
    pub seeds: u32,
    /// Ticks in all.
    pub ticks: u64,
    /// Entities captured in all: none, and nothing was proved.
    pub entities: u64,
    /// Events raised in all.
    pub events: u64,
}

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Checked { seeds, ticks, entities, events } = self;
        write!(
            f,
            "the rules hold: {seeds} seeds, {ticks} ticks, {entities} entities and {events} events, \
             the same in two runs, after restoring and in prediction"
        )
    }
}

/// Proves determinism, snapshot round trips and exact prediction of anyone's rules, or says what
/// differs where.
///
/// ```
/// use backspin_sim::dot::Dots;
/// use backspin_sim::check_rules;
///
/// let checked = check_rules::<Dots>().unwrap_or_else(|error| panic!("{error}"));
/// assert!(checked.entities > 0);
/// ```
pub fn check_rules<G: Game + Default>() -> Result<Checked, RuleError> {
    check_rules_with(G::default(), &Trial::default())
}

/// The same, of a game that is not the default one, for as long as `trial` says.
pub fn check_rules_with<G: Game>(game: G, trial: &Trial) -> Result<Checked, RuleError> {
    game.schema().check().map_err(RuleError::Schema)?;
    if let Some(&beyond) = LeftOut::of_settings(&game).iter().flatten().next() {
        return Err(RuleError::Limit(beyond));
    }
    let mut checked = Checked::default();
    for seed in (trial.seed..).take(trial.seeds as usize) {
        let mut tick = 0;
        let found = repeat(&game, seed, trial.ticks, &mut tick, &mut checked)
            .and_then(|()| restore(&game, seed, trial.ticks, &mut tick))
            .and_then(|()| predict(&game, seed, trial.ticks, &mut tick))
            .and_then(|()| check_budget(&game, seed, trial.ticks, &mut tick));
        found.map_err(|breach| RuleError::Broken { seed, tick, breach })?;
        checked.seeds += 1;
    }
    Ok(checked)
}

/// A match in a room that people enter and leave.
struct Match<G: Game> {
    world: G::World,
    past: Vec<(u32, G::World)>,
    events: Vec<Event>,
    mail: Mail,
    state: State,
}

impl<G: Game> Match<G> {
    fn new(world: G::World) -> Self {
        Match {
            world,
            past: Vec::new(),
            events: Vec::new(),
            mail: Mail::default(),
            state: State::default(),
        }
    }

    fn step(&mut self, game: &G, tick: u32, inputs: &[PlayerInput]) {
        self.events.clear();
        self.mail.clear();
        let rewind = rewind_limit_ticks(game);
        let mut turn = Turn::new(tick, inputs, &self.past, &mut self.events)
            .rewinding(rewind)
            .mailing(&mut self.mail);
        game.step(&mut self.world, &mut turn);
        // One place for each tick that may be rewound to, as in a room.
        let place = tick as usize % (rewind as usize + 1);
        match self.past.get_mut(place) {
            Some(kept) => *kept = (tick, self.world.clone()),
            None => self.past.push((tick, self.world.clone())),
        }
    }

    fn look(&mut self, game: &G, tick: u32) {
        capture(game, &self.world, tick, &mut self.state);
    }
}

fn capture<G: Game>(game: &G, world: &G::World, tick: u32, state: &mut State) {
    state.clear(tick);
    game.capture(world, state);
}

/// Plays one seed twice, side by side.
fn repeat<G: Game>(
    game: &G,
    seed: u64,
    ticks: u32,
    tick: &mut u32,
    checked: &mut Checked,
) -> Result<(), Breach> {
    let schema = game.schema();
    let mut crowd = Crowd::new::<G::Input>(seed, game.capacity());
    let [mut first, mut second] = [game.begin(seed), game.begin(seed)].map(Match::<G>::new);
    let mut before = State::default();
    for next in 0..=ticks {
        *tick = next;
        if next > 0 {
            first.step(game, next, crowd.inputs());
            second.step(game, next, crowd.inputs());
        }
        for run in [&mut first, &mut second] {
            run.look(game, next);
            check_form(schema, &before, &run.state)?;
            check_mail(game.capacity(), &run.events, &mut run.mail)?;
        }
        difference(Comparison::SecondRun, schema, &first.state, &second.state, everything)?;
        if first.events != second.events {
            return Err(Breach::Events);
        }
        before.clone_from(&first.state);
        for change in crowd.turn(next + 1) {
            change.apply(game, &mut first.world);
            change.apply(game, &mut second.world);
        }
        checked.ticks += 1;
        checked.entities += first.state.entities().len() as u64;
        checked.events += first.events.len() as u64;
    }
    Ok(())
}

/// Plays one seed again, and restores the world after every tick.
fn restore<G: Game>(game: &G, seed: u64, ticks: u32, tick: &mut u32) -> Result<(), Breach> {
    let schema = game.schema();
    let mut crowd = Crowd::new::<G::Input>(seed, game.capacity());
    let mut right = Match::<G>::new(game.begin(seed));
    let mut fullest = game.begin(seed);
    let (mut most, mut copy, mut ignored) = (0, State::default(), Vec::new());
    for next in 0..ticks {
        *tick = next;
        for change in crowd.turn(next + 1) {
            change.apply(game, &mut right.world);
        }
        right.look(game, next);
        capture(game, &game.restore(&right.state), next, &mut copy);
        difference(Comparison::RoundTrip, schema, &right.state, &copy, everything)?;
        // Of a world full of things most would be seen that is left over.
        let mut restored = fullest.clone();
        game.restore_into(&right.state, &mut restored);
        capture(game, &restored, next, &mut copy);
        difference(Comparison::Reused, schema, &right.state, &copy, everything)?;
        if right.state.entities().len() > most {
            most = right.state.entities().len();
            fullest.clone_from(&right.world);
        }
        // From both the same step, after which what players predict is the same.
        *tick = next + 1;
        ignored.clear();
        let mut turn = Turn::new(next + 1, crowd.inputs(), &right.past, &mut ignored)
            .rewinding(rewind_limit_ticks(game));
        game.step(&mut restored, &mut turn);
        capture(game, &restored, next + 1, &mut copy);
        right.step(game, next + 1, crowd.inputs());
        right.look(game, next + 1);
        let ahead = |entity: &Entity, _: usize| {
            crowd.inputs().iter().any(|input| game.is_ahead(entity, input.player))
        };
        difference(Comparison::Step, schema, &right.state, &copy, ahead)?;
    }
    Ok(())
}

/// Plays one seed alone: from a state in which there is nobody and nothing else, what is
/// predicted is what is stepped.
fn predict<G: Game>(game: &G, seed: u64, ticks: u32, tick: &mut u32) -> Result<(), Breach> {
    let schema = game.schema();
    let player = PlayerId(1);
    let mut crowd = Crowd::new::<G::Input>(seed, 1);
    let mut server = Match::<G>::new(game.begin(seed));
    game.join(&mut server.world, player, &G::JoinData::default());
    let mut alone = State::default();
    let mut stepped = Match::<G>::new(game.begin(seed));
    let mut predicted = Match::<G>::new(game.begin(seed));
    for next in 1..=ticks {
        *tick = next;
        if next % PREDICTED_TICKS == 1 {
            server.look(game, next - 1);
            alone.clear(next - 1);
            let own = |entity: &&Entity| {
                game.is_ahead(entity, player) || schema.place_of(entity).is_none()
            };
            for entity in server.state.entities().iter().filter(own) {
                // They come from a state, in its order.
                let _ = alone.push(entity.clone());
            }
            game.restore_into(&alone, &mut stepped.world);
            game.restore_into(&alone, &mut predicted.world);
        }
        crowd.turn(next);
        // Nothing but oneself is to be seen, so there is nothing to rewind either.
        let inputs = [PlayerInput::new(player, crowd.input(player))];
        server.step(game, next, &inputs);
        stepped.step(game, next, &inputs);
        predicted.events.clear();
        let mut turn = Turn::new(next, &inputs, &[], &mut predicted.events);
        game.predict(&mut predicted.world, &mut turn);
        stepped.look(game, next);
        predicted.look(game, next);
        let drawn = |entity: &Entity, field: usize| {
            game.is_ahead(entity, player) && moves(&schema.kinds[usize::from(entity.kind)], field)
        };
        difference(Comparison::Prediction, schema, &stepped.state, &predicted.state, drawn)?;
    }
    Ok(())
}

/// Every field of every entity counts.
fn everything(_: &Entity, _: usize) -> bool {
    true
}

/// Whether a field says where an entity is, or how it moves.
fn moves(kind: &Kind, index: usize) -> bool {
    let follows = |motion| matches!(motion, Motion::Along { velocity, .. } if velocity == index);
    let field = &kind.fields[index];
    matches!(field.motion, Motion::Along { .. })
        || matches!(field.name, "x" | "y")
        || kind.fields.iter().any(|field| follows(field.motion))
}

/// Whether a state is one of the schema, and its ids stay with their things.
fn check_form(schema: &Schema, before: &State, state: &State) -> Result<(), Breach> {
    if let Some(refused) = state.refused() {
        return Err(Breach::LeftOut(refused));
    }
    for entity in state.entities() {
        let Entity { id, kind: index, ref fields } = *entity;
        let Some(kind) = schema.kinds.get(usize::from(index)) else {
            return Err(Breach::UnknownKind { entity: id, kind: index });
        };
        for (field, count) in kind.fields.iter().zip(fields) {
            if !(field.min..=field.max).contains(count) {
                let (kind, field, count) = (kind.name, *field, *count);
                return Err(Breach::OutOfRange { entity: id, kind, field, count });
            }
        }
        if !entity.conforms(schema) {
            return Err(Breach::Beyond { entity: id, kind: kind.name });
        }
        if let Some(was) = before.find(id).filter(|was| was.kind != index) {
            let was = schema.kinds[usize::from(was.kind)].name;
            return Err(Breach::Reused { entity: id, was, is: kind.name });
        }
    }
    Ok(())
}
