//! A thousand bad days: whole matches in which everything goes wrong, drawn from a seed and judged
//! from outside.
//!
//! ```text
//! scenario -> who takes part and what happens when, all from the seed; act names what can happen,
//!             rules are the server's limits and timers
//! stage    -> the world it is played in; cast is who runs there, stranger what strangers send,
//!             visitor those who wait for an answer
//! play     -> which game it is: who sees what, how much is said; letters are what is said
//! probe    -> the game: it logs what the room applied, heard, raised and sent
//! gate     -> the server on a machine that stalls and fails, between ledger and audit
//! ledger   -> bytes from and to every address, between server and network
//! audit    -> the right answer to every question at the endpoint: limits, cookies, tickets, places
//! chronicle -> what every room had, tick by tick; sight judges who was shown what of it, post who got
//!             which letter
//! checker  -> looks after every single event, and believes neither client nor server
//! breach   -> what must never happen, in a sentence each
//! ```
//!
//! [`judge`] plays one seed. What a damaged datagram says is not held against anyone: until
//! sessions are sealed, a flipped bit that still decodes is another packet. Whoever's link damaged
//! one is from then on held only to what no damage excuses: no panic, no shared slot, no clock that
//! runs back, no table over its limit, and an end with a reason.

mod act;
mod audit;
mod breach;
mod cast;
mod checker;
mod chronicle;
mod gate;
mod ledger;
mod letters;
mod life;
mod mailbox;
mod play;
mod probe;
mod rules;
mod scenario;
mod sight;
mod stage;
mod stranger;
mod visitor;

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

pub use act::{Act, Dating, Knock, Place, Refused, Twist, Visit};
pub use breach::{Breach, Failure, Who};
pub use play::{Play, Talk};
pub use rules::Rules;
pub use scenario::{GuestPlan, Home, Network, Scenario};

use super::Digest;
use backspin::time::Time;
use checker::Checker;
use stage::Stage;

/// What a seed that passed comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// How long it was, in simulated time.
    pub span: Duration,
    /// How many acts of each kind, in the order of [`Act::NAMES`].
    pub acts: [u32; Act::NAMES.len()],
    /// How many programs were started.
    pub programs: u32,
    /// How many sessions were resumed.
    pub resumes: u32,
    /// Everything that was delivered, in one number.
    pub digest: Digest,
}

/// Plays the scenario of a seed and says what it came to, or what was breached first. A panic is a
/// breach like any other.
pub fn judge(seed: u64) -> Result<Outcome, Failure> {
    let reached = Cell::new(Time::ZERO);
    catch_unwind(AssertUnwindSafe(|| play(seed, &reached))).unwrap_or_else(|panic| {
        let message = match (panic.downcast_ref::<String>(), panic.downcast_ref::<&str>()) {
            (Some(message), _) => message.clone(),
            (_, Some(message)) => (*message).to_owned(),
            _ => "without a word".to_owned(),
        };
        Err(Failure { seed, at: reached.get(), breach: Breach::Panic { message } })
    })
}

/// What is to be done next.
#[derive(Clone, Copy)]
enum Cue {
    Begin(Act),
    End(Act),
    Heal,
}

/// Says in `reached` how far it has come.
fn play(seed: u64, reached: &Cell<Time>) -> Result<Outcome, Failure> {
    let scenario = Scenario::draw(seed);
    let (heals, ends) = (scenario.heals, scenario.ends);
    let cues = cues(&scenario);
    let mut acts = [0; Act::NAMES.len()];
    let mut stage = Stage::new(scenario);
    let mut checker = Checker::new(&stage);
    let failed = |at, breach| Failure { seed, at, breach };
    let run = |stage: &mut Stage, checker: &mut Checker, until| {
        while let Some(at) = stage.world.step_until(until) {
            reached.set(at);
            checker.after_event(stage).map_err(|breach| failed(at, breach))?;
        }
        Ok(())
    };
    for (at, cue) in cues {
        run(&mut stage, &mut checker, at)?;
        match cue {
            Cue::Begin(act) => {
                acts[act.index()] += 1;
                let deed = stage.perform(act);
                checker.after_act(&mut stage, deed);
            }
            Cue::End(act) => stage.end(act),
            Cue::Heal => stage.heal(),
        }
    }
    debug_assert!(stage.world.now() == heals, "the last cue is the healing");
    run(&mut stage, &mut checker, ends)?;
    checker.at_the_end(&mut stage).map_err(|breach| failed(ends, breach))?;
    let (programs, resumes) = checker.tally();
    let (span, digest) = (ends.since(Time::ZERO), stage.world.digest());
    Ok(Outcome { span, acts, programs, resumes, digest })
}

/// The acts and the ends of those that last, in order; the healing is the last.
fn cues(scenario: &Scenario) -> Vec<(Time, Cue)> {
    let mut cues = Vec::new();
    for &(at, act) in &scenario.acts {
        cues.push((at, Cue::Begin(act)));
        if let Act::Sleep { span, .. }
        | Act::Cut { span, .. }
        | Act::Stall { span, .. }
        | Act::Errors { span, .. } = act
        {
            cues.push((at + span, Cue::End(act)));
        }
    }
    cues.retain(|(at, _)| *at < scenario.heals);
    cues.sort_by_key(|(at, _)| *at);
    cues.push((scenario.heals, Cue::Heal));
    cues
}
