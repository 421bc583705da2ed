//! The world as Networked Pong has it: two paddles, a ball and a match to 5, in pixels.

use backspin::replication::State;
use backspin_classic::wire::lan::StateUpdate;

use crate::Pong;
use crate::field::{
    BALL_LOWEST, BALL_SPEED, BALL_START, OUT, PADDLE_LOWEST, PADDLE_START, Position, Side, UNITS,
};
use crate::schema;
use crate::world::{Ball, Paddle, Phase, World};

/// Its matches are to so many points, which is never said.
const POINTS: u8 = 5;

/// What a guest of the old program is shown; `None` if it could not understand it.
pub(crate) fn show(world: &World) -> Option<StateUpdate> {
    if world.doubles || world.points != POINTS {
        return None;
    }
    // While someone is missing, what is shown is the world before the first step of the match that
    // will begin: state 0 of whoever comes.
    let first = World::default();
    let world = match world.phase {
        Phase::Waiting | Phase::Left => &first,
        _ => world,
    };
    let paddle = |post: Position| px(world.paddles[post.index()].unwrap_or(Paddle::START).y);
    // A ball that is about to be served, or stands there after the last point, has its velocity
    // already.
    let (vx, vy) = match (world.phase, world.winner()) {
        (Phase::Waiting, _) => Ball::serve(Side::Left),
        (Phase::Over, Some(winner)) => Ball::serve(winner.other()),
        _ => (world.ball.vx, world.ball.vy),
    };
    Some(StateUpdate {
        seq: 0,
        p1y: paddle(Position::LeftBack),
        p2y: paddle(Position::RightBack),
        ballx: px(world.ball.x),
        bally: px(world.ball.y),
        ballvx: vx as f32,
        ballvy: vy as f32,
        p1: world.score[0],
        p2: world.score[1],
    })
}

impl Pong {
    /// Writes what a host of Networked Pong shows into an empty state. Its numbers may be
    /// anything; they are brought into their ranges, and what is no number is where play begins.
    pub fn state_of_lan(&self, update: &StateUpdate, state: &mut State) {
        let paddle = |y| Some(Paddle { y: units(y, PADDLE_START, 0, PADDLE_LOWEST), vy: 0 });
        let score = [update.p1, update.p2].map(|score| score.min(POINTS));
        let over = score.contains(&POINTS);
        let velocity = |v: f32, most: i32| match over {
            true => 0,
            false => (v.round() as i32).clamp(-most, most),
        };
        let world = World {
            phase: if over { Phase::Over } else { Phase::Playing },
            score,
            points: POINTS,
            ball: Ball {
                x: units(update.ballx, BALL_START.0, OUT.0, OUT.1),
                y: units(update.bally, BALL_START.1, 0, BALL_LOWEST),
                vx: velocity(update.ballvx, BALL_SPEED.0),
                vy: velocity(update.ballvy, BALL_SPEED.1),
                which: (score[0] + score[1]) % 2 == 1,
            },
            paddles: [paddle(update.p1y), paddle(update.p2y), None, None],
            ..World::default()
        };
        schema::capture(&world, state);
    }
}

fn px(units: i32) -> f32 {
    units as f32 / UNITS as f32
}

fn units(px: f32, otherwise: i32, min: i32, max: i32) -> i32 {
    match px.is_nan() {
        true => otherwise,
        false => ((px * UNITS as f32).round() as i32).clamp(min, max),
    }
}
