//! Pong on the operator's page.

use backspin::game::Game;
use backspin::replication::State;
use backspin_pong::{BALL_IDS, BALL_SIZE, FIELD, PADDLE_SIZE, Phase, Pong, Side, UNITS};

use crate::web::{DrawnScene, Thing};

pub(super) fn picture(state: &State) -> DrawnScene {
    let world = Pong::default().restore(state);
    let thing = |kind, id, at, size, look| Thing::new(kind, id, at, size, UNITS, look);
    let paddles = world.posts().filter_map(|post| {
        let paddle = world.paddle(post.player())?;
        let (at, look) = ([post.x(), paddle.y], post.side().index());
        Some(thing("paddle", post.paddle_id(), at, PADDLE_SIZE.into(), look as i32))
    });
    let ball_id = BALL_IDS[usize::from(world.ball.which)];
    let ball = thing("ball", ball_id, [world.ball.x, world.ball.y], [BALL_SIZE; 2], 0);
    let [left, right] = world.score;
    let points = world.points;
    DrawnScene {
        field: [FIELD.0 / UNITS, FIELD.1 / UNITS],
        score: format!("{left} : {right}"),
        note: match (world.phase, world.winner()) {
            (Phase::Waiting, _) => "waiting for players".to_owned(),
            (Phase::Left, _) => "a player left".to_owned(),
            (Phase::Countdown, _) => "about to begin".to_owned(),
            (Phase::Hold, _) => "waiting for a quiet player".to_owned(),
            (Phase::Over, Some(Side::Left)) => "left won".to_owned(),
            (Phase::Over, Some(Side::Right)) => "right won".to_owned(),
            (Phase::Playing | Phase::Over, _) => format!("first to {points}"),
        },
        scrolled: 0,
        things: paddles.chain([ball]).collect(),
    }
}

#[cfg(test)]
mod tests {
    use backspin::game::{PlayerId, Turn};

    use super::*;

    fn kinds(picture: &DrawnScene) -> Vec<&'static str> {
        let mut kinds: Vec<_> = picture.things.iter().map(|thing| thing.0).collect();
        kinds.dedup();
        kinds
    }

    #[test]
    fn a_match_of_pong_is_paddles_a_ball_and_a_score() {
        let game = Pong::default();
        let mut world = game.begin(0);
        for player in [1, 2] {
            game.join(&mut world, PlayerId(player), &());
        }
        game.step(&mut world, &mut Turn::new(1, &[], &[], &mut Vec::new()));
        let mut state = State::new(1);
        game.capture(&world, &mut state);
        let picture = picture(&state);
        assert_eq!(kinds(&picture), ["paddle", "ball"]);
        assert_eq!(picture.field, [1440, 900]);
        assert_eq!((&*picture.score, &*picture.note), ("0 : 0", "about to begin"));
        let Thing(_, id, x, y, w, h, look) = picture.things[0];
        assert_eq!((id, x, y, w, h, look), (1, 50.0, 390.0, 20, 120, 0));
    }
}
