//! How a match of R-Type ended.

use backspin_rtype::mission::Phase;
use backspin_rtype::{PlayerCard, World};

use crate::results::Outcome;
use crate::serve::{Score, Verdict};

pub(super) fn verdict(world: &World) -> Verdict {
    let outcome = match world.mission.phase {
        Phase::Lobby | Phase::Countdown => return Verdict::Idle,
        Phase::Playing | Phase::Boss | Phase::LevelClear => return Verdict::Playing,
        Phase::Victory => Outcome::Victory,
        Phase::Defeat => Outcome::Defeat,
    };
    let played = world.players().filter(|card| !card.is_waiting);
    let score = |card: PlayerCard| Score {
        player: card.player,
        score: card.score.max(0) as u32,
        won: outcome == Outcome::Victory,
    };
    Verdict::Over(outcome, played.map(score).collect())
}
