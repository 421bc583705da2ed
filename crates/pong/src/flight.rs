//! One tick of the ball: edges, paddles, out. The order is that of Networked Pong.

use crate::field::{BALL_LOWEST, BALL_SIZE, BALL_SPEED, GAP, OUT, PADDLE_SIZE, Position, Side};
use crate::world::{Ball, Paddle, World};

/// What a ball met on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Met {
    /// The upper or the lower edge.
    Wall,
    /// A paddle.
    Paddle(Position),
    /// This side's goal.
    Goal(Side),
}

/// Moves the ball by a tick, and tells what it met.
pub(crate) fn fly(world: &mut World, mut meet: impl FnMut(Met)) {
    let was = world.ball;
    let ball = &mut world.ball;
    ball.x += ball.vx;
    ball.y += ball.vy;
    if ball.y < 0 || ball.y > BALL_LOWEST {
        ball.y = ball.y.clamp(0, BALL_LOWEST);
        ball.vy = -ball.vy;
        meet(Met::Wall);
    }
    // All paddles are held against the place before any of them has moved the ball.
    let at = *ball;
    for post in Position::ALL {
        let Some(paddle) = &world.paddles[post.index()] else { continue };
        if overlaps(&at, post, paddle) && (!post.is_front() || is_met_in_front(&was, &at, post)) {
            // From the front of the paddle, away from the goal.
            ball.x = post.plane() - post.side().sign() * GAP;
            ball.vx = -post.side().sign() * BALL_SPEED.0;
            meet(Met::Paddle(post));
        }
    }
    match ball.x {
        x if x < OUT.0 => meet(Met::Goal(Side::Left)),
        x if x > OUT.1 => meet(Met::Goal(Side::Right)),
        _ => {}
    }
}

/// Touching edges overlap.
fn overlaps(ball: &Ball, post: Position, paddle: &Paddle) -> bool {
    let near =
        |ball: i32, paddle: i32, size: i32| (paddle - BALL_SIZE..=paddle + size).contains(&ball);
    near(ball.x, post.x(), PADDLE_SIZE.0) && near(ball.y, paddle.y, PADDLE_SIZE.1)
}

/// The paddles in front let pass what comes from behind, and what is past them already: the ball
/// is never caught between two paddles of a side.
fn is_met_in_front(was: &Ball, at: &Ball, post: Position) -> bool {
    let sign = post.side().sign();
    at.vx * sign > 0 && (was.x - post.plane()) * sign <= 0
}
