//! How a match of Pong ended.

use backspin_pong::{Phase, Position, World};

use crate::results::Outcome;
use crate::serve::{Score, Verdict};

pub(super) fn verdict(world: &World) -> Verdict {
    match (world.phase, world.winner()) {
        (Phase::Over, Some(winner)) => {
            let score = |post: Position| Score {
                player: post.player(),
                score: world.score[post.side().index()].into(),
                won: post.side() == winner,
            };
            let scores = world.posts().map(score).collect();
            Verdict::Over(Outcome::Decided, scores)
        }
        (Phase::Playing | Phase::Countdown | Phase::Hold, _) => Verdict::Playing,
        _ => Verdict::Idle,
    }
}
