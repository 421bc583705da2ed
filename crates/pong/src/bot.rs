//! A player of three levels. It holds the buttons that a person would, and sees a world that may
//! be old.
//!
//! Like a person it looks, moves for as long as it thinks it must, and looks again. What it did
//! is not seen at once on a slow line; who steers by every look would overshoot for ever.

use backspin::game::{Buttons, PlayerId};

use crate::field::{
    BALL_LOWEST, BALL_SIZE, BALL_START, PADDLE_SIZE, PADDLE_SPEED, Position, UNITS,
};
use crate::world::{Ball, Paddle, Phase, World};

/// How well a bot plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Rests while the ball is far away, and often misjudges it: a beginner wins.
    Easy,
    /// Follows the ball, and now and then misses it.
    Normal,
    /// Knows where the ball will come, edges and all, and misses it rarely.
    Hard,
}

impl Level {
    /// All, the weakest first.
    pub const ALL: [Level; 3] = [Level::Easy, Level::Normal, Level::Hard];

    /// Ticks between the end of a move and the next look: longer than the way of an input to the
    /// server and back on a usual line.
    fn pause(self) -> u32 {
        match self {
            Level::Easy => 14,
            Level::Normal => 12,
            Level::Hard => 11,
        }
    }

    /// How many of 1000 balls it misjudges.
    fn misses(self) -> u64 {
        match self {
            Level::Easy => 330,
            Level::Normal => 140,
            Level::Hard => 50,
        }
    }

    /// Where it believes that the ball will come to `post`, for a ball that flies there.
    fn expects(self, ball: &Ball, post: Position) -> i32 {
        match self {
            Level::Easy => straight_on(ball, 6),
            Level::Normal => straight_on(ball, arrival(ball, post).min(12)),
            Level::Hard => landing(ball, post),
        }
    }

    /// Whether it minds the ball yet.
    fn minds(self, ball: &Ball, post: Position) -> bool {
        let near = match self {
            Level::Easy => 90,
            Level::Normal => 160,
            Level::Hard => i32::MAX,
        };
        ball.vx * post.side().sign() > 0 && arrival(ball, post) < near
    }
}

/// A bot.
#[derive(Clone, Debug)]
pub struct Bot {
    level: Level,
    chance: u64,
    /// What it does since it looked last; `None` before the first look.
    stroke: Option<Stroke>,
    /// How far it misjudges the ball that flies towards it, and which that is; `None` while none
    /// does.
    error: Option<(i32, bool)>,
}

/// A move: what is held until which tick, and after a rest, when to look again.
#[derive(Clone, Copy, Debug)]
struct Stroke {
    held: Buttons,
    until: u32,
    look_at: u32,
}

impl Bot {
    /// A bot; everything that it leaves to chance follows from the seed.
    pub fn new(level: Level, seed: u64) -> Self {
        Bot { level, chance: seed, stroke: None, error: None }
    }

    /// What it holds in `tick`, as `player`, if it sees this world. To be asked in every tick.
    pub fn buttons(&mut self, world: &World, player: PlayerId, tick: u32) -> Buttons {
        let (Some(post), Some(paddle)) = (Position::of(player), world.paddle(player)) else {
            return Buttons::default();
        };
        let stroke = match self.stroke {
            Some(stroke) if !is_due(tick, stroke.look_at) => stroke,
            _ => self.look(world, post, paddle, tick),
        };
        self.stroke = Some(stroke);
        if is_due(tick, stroke.until) { Buttons::default() } else { stroke.held }
    }

    fn look(&mut self, world: &World, post: Position, paddle: &Paddle, tick: u32) -> Stroke {
        let way = self.target(world, post, paddle) - paddle.y;
        let ticks = (way.abs() + PADDLE_SPEED / 2) / PADDLE_SPEED;
        let until = tick.wrapping_add(ticks as u32);
        Stroke { held: towards(way), until, look_at: until.wrapping_add(self.level.pause()) }
    }

    /// Where its paddle should be.
    fn target(&mut self, world: &World, post: Position, paddle: &Paddle) -> i32 {
        let ball = &world.ball;
        let comes = world.phase == Phase::Playing && ball.vx * post.side().sign() > 0;
        // A ball that passed is followed by another, for which to make up its mind anew.
        self.error = match self.error {
            _ if !comes => None,
            Some((error, which)) if which == ball.which => Some((error, which)),
            _ => Some((self.misjudge(), ball.which)),
        };
        match self.error {
            Some((error, _)) if self.level.minds(ball, post) => {
                facing(self.level.expects(ball, post)) + error
            }
            _ if self.level == Level::Easy => paddle.y,
            _ => facing(BALL_START.1),
        }
    }

    /// A little off, or so far that the ball passes.
    fn misjudge(&mut self) -> i32 {
        let miss = self.below(1000) < self.level.misses();
        let (least, most) = if miss { (100, 180) } else { (0, 25) };
        let off = (least + self.below(most - least)) as i32 * UNITS;
        if self.below(2) == 0 { off } else { -off }
    }

    /// A number below `limit`. (SplitMix64: the bot needs little chance, and the same everywhere.)
    fn below(&mut self, limit: u64) -> u64 {
        self.chance = self.chance.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mixed(self.chance) % limit
    }
}

/// What the normal bot would hold, without a memory: it brakes early because what it sees may be
/// old, and its misses follow from where the ball will come.
pub(crate) fn bot_input(world: &World, player: PlayerId) -> Buttons {
    let level = Level::Normal;
    let (Some(post), Some(paddle)) = (Position::of(player), world.paddle(player)) else {
        return Buttons::default();
    };
    let ball = &world.ball;
    let comes = world.phase == Phase::Playing && ball.vx * post.side().sign() > 0;
    let target = match comes {
        true => facing(landing(ball, post)) + lapse(world, post, level),
        false => facing(BALL_START.1),
    };
    let way = target - paddle.y;
    let brakes = way.signum() == paddle.vy.signum() && paddle.vy != 0;
    let near = if brakes { 13 } else { 5 } * PADDLE_SPEED;
    if way.abs() <= near { Buttons::default() } else { towards(way) }
}

/// How far a bot without a memory misjudges this ball: the same until it meets something.
fn lapse(world: &World, post: Position, level: Level) -> i32 {
    let [left, right] = world.score.map(u64::from);
    let (landing, returns) = (landing(&world.ball, post) as u64, u64::from(world.returns));
    let known = landing | left << 32 | right << 40 | (post as u64) << 48 | returns << 56;
    let miss = mixed(known) % 1000 < level.misses();
    if miss { 150 * UNITS } else { 0 }
}

/// The end of a paddle that has the ball's upper edge `y` at its middle.
fn facing(y: i32) -> i32 {
    y + BALL_SIZE / 2 - PADDLE_SIZE.1 / 2
}

/// Where the ball is after `ticks`, as far as an edge.
fn straight_on(ball: &Ball, ticks: i32) -> i32 {
    (ball.y + ball.vy * ticks).clamp(0, BALL_LOWEST)
}

fn towards(way: i32) -> Buttons {
    if way < 0 { Buttons::UP } else { Buttons::DOWN }
}

/// Ticks until the ball comes to the post's front, if it flies there.
fn arrival(ball: &Ball, post: Position) -> i32 {
    let way = (post.plane() - ball.x) * post.side().sign();
    way.max(0) / ball.vx.abs().max(1)
}

/// Where the ball comes to the post's front, thrown back by the edges.
fn landing(ball: &Ball, post: Position) -> i32 {
    let far = i64::from(ball.y) + i64::from(ball.vy) * i64::from(arrival(ball, post));
    let lowest = i64::from(BALL_LOWEST);
    let folded = far.rem_euclid(2 * lowest);
    folded.min(2 * lowest - folded) as i32
}

fn is_due(tick: u32, at: u32) -> bool {
    tick.wrapping_sub(at) as i32 >= 0
}

fn mixed(seed: u64) -> u64 {
    let seed = (seed ^ seed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let seed = (seed ^ seed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    seed ^ seed >> 31
}
