//! Everything that a step may look at or change.

use backspin::game::{Buttons, PlayerId, PlayerInput};

use crate::field::{BALL_SPEED, BALL_START, PADDLE_LOWEST, PADDLE_SPEED, PADDLE_START, Post, Side};

/// A match, and who plays it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct World {
    /// How far the match is.
    pub phase: Phase,
    /// In [`Phase::Countdown`], ticks to the first serve; in [`Phase::Over`], ticks in which
    /// everyone's wish counts.
    pub ticks_left: u16,
    /// The points of the left and of the right side.
    pub score: [u8; 2],
    /// The points to win.
    pub points: u8,
    /// Two a side.
    pub doubles: bool,
    /// There at all times, at rest where nobody plays.
    pub ball: Ball,
    /// By post; there is one where there is a player.
    pub paddles: [Option<Paddle>; 4],
    /// By post: who wishes to play again.
    pub wishes: [bool; 4],
    /// By post: who speaks a dialect that has no word for a wish.
    pub mute: [bool; 4],
    /// How often the ball was returned while someone plays who is mute. The ball of a long rally
    /// comes round again; with this, what a bot makes of it need not.
    pub returns: u8,
}

/// How far a match is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Someone is missing; nothing has been played.
    Waiting,
    /// Someone has left; the score is what it was then. Another who comes begins a new match.
    Left,
    /// Everyone is there, the ball will be served.
    Countdown,
    /// The ball flies.
    Playing,
    /// One side has won, and the world stands still.
    Over,
}

impl Phase {
    pub(crate) const ALL: [Phase; 5] =
        [Phase::Waiting, Phase::Left, Phase::Countdown, Phase::Playing, Phase::Over];
}

/// The ball. A served ball is another one than the ball that went out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ball {
    /// Its left edge.
    pub x: i32,
    /// Its upper edge.
    pub y: i32,
    /// To the right in a tick.
    pub vx: i32,
    /// Down in a tick.
    pub vy: i32,
    /// Which of [`BALL_IDS`](crate::BALL_IDS) it has.
    pub which: bool,
}

/// A paddle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paddle {
    /// Its upper edge.
    pub y: i32,
    /// Where it is steered, down in a tick; at an edge it is held there.
    pub vy: i32,
}

impl Default for World {
    /// Nobody is there, a match is to 5.
    fn default() -> Self {
        World {
            phase: Phase::Waiting,
            ticks_left: 0,
            score: [0, 0],
            points: 5,
            doubles: false,
            ball: Ball::resting(false),
            paddles: [None; 4],
            wishes: [false; 4],
            mute: [false; 4],
            returns: 0,
        }
    }
}

impl World {
    /// Who plays.
    pub fn posts(&self) -> impl Iterator<Item = Post> + '_ {
        Post::ALL.into_iter().filter(|post| self.paddles[post.index()].is_some())
    }

    /// The paddle of a player who is there.
    pub fn paddle(&self, player: PlayerId) -> Option<&Paddle> {
        self.paddles[Post::of(player)?.index()].as_ref()
    }

    /// What a player who goes on as before holds.
    pub(crate) fn held_by(&self, post: Post) -> Option<PlayerInput> {
        let buttons = match self.paddles[post.index()]?.vy {
            ..0 => Buttons::UP,
            0 => Buttons::default(),
            1.. => Buttons::DOWN,
        };
        Some(PlayerInput { player: post.player(), buttons, drawn: None })
    }

    /// Who has won, once the match is over.
    pub fn winner(&self) -> Option<Side> {
        let won = |side: &Side| self.score[side.index()] >= self.points;
        [Side::Left, Side::Right].into_iter().find(won)
    }

    /// Whether this side has a player.
    pub(crate) fn is_manned(&self, side: Side) -> bool {
        self.posts().any(|post| post.side() == side)
    }
}

impl Ball {
    /// At the centre.
    pub(crate) const fn resting(which: bool) -> Ball {
        Ball { x: BALL_START.0, y: BALL_START.1, vx: 0, vy: 0, which }
    }

    /// The half that most of it is in.
    pub fn half(&self) -> Side {
        if self.x <= BALL_START.0 { Side::Left } else { Side::Right }
    }

    /// The next ball, on its way to `side`.
    pub(crate) fn served(self, side: Side) -> Ball {
        let (vx, vy) = Ball::serve(side);
        Ball { vx, vy, ..Ball::resting(!self.which) }
    }

    /// The velocity of a serve: up to the left, down to the right.
    pub(crate) const fn serve(side: Side) -> (i32, i32) {
        (side.sign() * BALL_SPEED.0, side.sign() * BALL_SPEED.1)
    }
}

impl Paddle {
    /// Where it begins.
    pub(crate) const START: Paddle = Paddle { y: PADDLE_START, vy: 0 };

    /// One tick with what its player holds.
    pub(crate) fn steer(&mut self, held: Buttons) {
        self.vy = PADDLE_SPEED * held.axis(Buttons::UP, Buttons::DOWN);
        self.y = (self.y + self.vy).clamp(0, PADDLE_LOWEST);
    }
}
