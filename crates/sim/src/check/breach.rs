//! What rules can do wrong, in words.

use std::fmt;

use backspin::channel::{QUEUE_BYTES, QUEUE_MESSAGES, SendError};
use backspin::game::PlayerId;
use backspin::replication::{Entity, Field, Mistake, PushError, Schema, State};
use backspin::room::LeftOut;
use thiserror::Error;

/// Why a game cannot be predicted and sent as it is.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum RuleError {
    /// Its schema is wrong.
    #[error("the schema: {0}")]
    Schema(Mistake),
    /// Its settings are beyond a limit.
    #[error("{0}")]
    Limit(LeftOut),
    /// Its rules broke a promise.
    #[error("after tick {tick} (seed {seed}): {breach}")]
    Broken { seed: u64, tick: u32, breach: Breach },
}

/// A promise that was broken.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum Breach {
    /// An entity did not get into the state.
    #[error("an entity was left out of the state: {0}")]
    LeftOut(PushError),
    /// An entity of a kind that the schema does not have.
    #[error("entity {entity} is of kind {kind}, which the schema does not have")]
    UnknownKind { entity: u32, kind: u8 },
    /// A count that the schema has no room for.
    #[error("entity {entity} ({kind}): {} is {count}, but its range is {} to {}", field.name, field.min, field.max)]
    OutOfRange { entity: u32, kind: &'static str, field: Field, count: i32 },
    /// A count where the kind has no field.
    #[error("entity {entity} ({kind}) has a count where its kind has no field")]
    Beyond { entity: u32, kind: &'static str },
    /// An id that belonged to another thing a tick before.
    #[error(
        "entity {entity} is a {is}, and was a {was} the tick before: an id belongs to one thing for as long as \
         that thing exists"
    )]
    Reused { entity: u32, was: &'static str, is: &'static str },
    /// A message was refused.
    #[error("a message that the rules sent was refused. {0}")]
    Message(SendError),
    /// More goes to a player in one step than may wait.
    #[error(
        "{player} is sent {messages} reliable messages and events of {bytes} bytes in one step; at most \
         {QUEUE_MESSAGES} and {QUEUE_BYTES} bytes wait for a player, and with more the session ends"
    )]
    Backlog { player: PlayerId, messages: usize, bytes: usize },
    /// The byte budget is too small.
    #[error("{0}")]
    Budget(LeftOut),
    /// Two runs raised different events.
    #[error("a second run raised different events; {}", Comparison::SecondRun.advice())]
    Events,
    /// What was done twice came out differently.
    #[error("{}; {}", InWords(*difference, *proof), proof.advice())]
    Differs { proof: Comparison, difference: Difference },
}

/// What is done twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// The match is played again with the same seed and inputs.
    SecondRun,
    /// A world is captured, restored and captured again.
    RoundTrip,
    /// The same, in the place of a world that was used before.
    Reused,
    /// A step is taken from the world and from the restored one.
    Step,
    /// A player who is alone predicts, and the server steps.
    Prediction,
}

/// The first thing that differs between what was expected and what was found.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// A field's count: the right one, and the one of the second time.
    Count { entity: u32, kind: &'static str, field: Field, expected: i32, found: i32 },
    /// An entity that should be there.
    Missing { entity: u32, kind: &'static str },
    /// An entity that should not be there.
    Extra { entity: u32, kind: &'static str },
}

impl Comparison {
    /// What was done again, and what it is compared with.
    const fn sides(self) -> (&'static str, &'static str) {
        match self {
            Comparison::SecondRun => ("in a second run", "in the first"),
            Comparison::RoundTrip => ("after restoring", "before"),
            Comparison::Reused => ("after restoring into a used world", "before"),
            Comparison::Step => ("when stepped after restoring", "when stepped without"),
            Comparison::Prediction => ("as predicted", "as stepped"),
        }
    }

    const fn advice(self) -> &'static str {
        match self {
            Comparison::SecondRun => {
                "rules may depend on nothing but the world and the turn: no clock, no random numbers of their own, \
                 no iteration order of a hash map"
            }
            Comparison::RoundTrip => "restore must bring back what capture wrote",
            Comparison::Reused => "restore_into must leave nothing of the older world",
            Comparison::Step => "what a step looks at must be in the schema, whole",
            Comparison::Prediction => {
                "with nobody else there, predict must move the player's own as step does"
            }
        }
    }
}

/// A difference in words, as found by a proof.
struct InWords(Difference, Comparison);

impl fmt::Display for InWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (again, right) = self.1.sides();
        match self.0 {
            Difference::Count { entity, kind, field, expected, found } => {
                let Field { name, min, max, .. } = field;
                write!(
                    f,
                    "entity {entity} ({kind}): {name} is {found} {again}, {expected} {right}"
                )?;
                // Entities are clamped to their ranges when they are made, and nobody is told.
                let at_end = [found, expected].iter().any(|count| [min, max].contains(count));
                match at_end && max.abs_diff(min) > 1 {
                    true => write!(f, " (its range, {min} to {max}, may clamp it)"),
                    false => Ok(()),
                }
            }
            Difference::Missing { entity, kind } => {
                write!(f, "entity {entity} ({kind}) is missing {again}, there {right}")
            }
            Difference::Extra { entity, kind } => {
                write!(f, "entity {entity} ({kind}) is there {again}, missing {right}")
            }
        }
    }
}

/// Holds one state against another; only the entities and fields that count for `counts`.
pub(super) fn difference(
    proof: Comparison,
    schema: &Schema,
    expected: &State,
    found: &State,
    counts: impl Fn(&Entity, usize) -> bool,
) -> Result<(), Breach> {
    let kind_of = |entity: &Entity| &schema.kinds[usize::from(entity.kind)];
    // An entity counts as a whole if any of its fields does.
    let counted = |entity: &&Entity| (0..kind_of(entity).fields.len()).any(|i| counts(entity, i));
    let differs = |difference| Err(Breach::Differs { proof, difference });
    for right in expected.entities().iter().filter(counted) {
        let (entity, kind) = (right.id, kind_of(right).name);
        let Some(again) = found.find(entity).filter(|again| again.kind == right.kind) else {
            return differs(Difference::Missing { entity, kind });
        };
        for (i, &field) in kind_of(right).fields.iter().enumerate() {
            let (expected, found) = (right.fields[i], again.fields[i]);
            if expected != found && counts(right, i) {
                return differs(Difference::Count { entity, kind, field, expected, found });
            }
        }
    }
    for again in found.entities() {
        // What was made again may be of no known kind.
        let Some(kind) = schema.kinds.get(usize::from(again.kind)) else {
            return Err(Breach::UnknownKind { entity: again.id, kind: again.kind });
        };
        if expected.find(again.id).is_none() && counted(&again) {
            return differs(Difference::Extra { entity: again.id, kind: kind.name });
        }
    }
    Ok(())
}
