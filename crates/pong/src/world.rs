//! Everything that a step may look at or change.

use backspin::game::{Buttons, PlayerId};

use crate::Pong;
use crate::field::{
    BALL_SPEED, BALL_START, PADDLE_LOWEST, PADDLE_SPEED, PADDLE_START, Position, Side,
};

/// A match, and who plays it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct World {
    /// How far the match is.
    pub phase: Phase,
    /// In [`Phase::Countdown`], ticks until the ball flies; in [`Phase::Over`], ticks in which
    /// everyone's wish counts; in [`Phase::Hold`], ticks for which the ball still waits.
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
    /// By side, in singles: whether its player is heard. In doubles everyone counts as here.
    pub attendance: [Attendance; 2],
    /// Where the ball flies when the countdown ends.
    pub heading: Heading,
    /// By side: ticks for which the ball will wait for this player in the rest of the match. Only
    /// the server counts them.
    pub patience: [u16; 2],
}

/// Whether a player is heard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Attendance {
    /// Yes.
    #[default]
    Here,
    /// No, and the ball waits.
    Quiet,
    /// No, and a bot plays in the player's place.
    Replaced,
}

impl Attendance {
    pub(crate) const ALL: [Attendance; 3] =
        [Attendance::Here, Attendance::Quiet, Attendance::Replaced];
}

/// Where a ball flies: its speed is always the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heading {
    /// To the right; else to the left.
    pub right: bool,
    /// Down; else up.
    pub down: bool,
}

/// How far a match is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Someone is missing; nothing has been played.
    Waiting,
    /// Someone has left; the score is what it was then. Another who comes begins a new match.
    Left,
    /// Everyone is there, the ball will be served, or flies on after a [`Phase::Hold`].
    Countdown,
    /// The ball flies.
    Playing,
    /// One side has won, and the world stands still.
    Over,
    /// The ball waits for a player who has gone quiet.
    Hold,
}

impl Phase {
    pub(crate) const ALL: [Phase; 6] =
        [Phase::Waiting, Phase::Left, Phase::Countdown, Phase::Playing, Phase::Over, Phase::Hold];
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
            attendance: [Attendance::Here; 2],
            heading: Heading::default(),
            patience: [Pong::LONGEST_HOLD; 2],
        }
    }
}

impl World {
    /// Who plays.
    pub fn posts(&self) -> impl Iterator<Item = Position> + '_ {
        Position::ALL.into_iter().filter(|post| self.paddles[post.index()].is_some())
    }

    /// The paddle of a player who is there.
    pub fn paddle(&self, player: PlayerId) -> Option<&Paddle> {
        self.paddles[Position::of(player)?.index()].as_ref()
    }

    /// What a player who goes on as before holds.
    pub(crate) fn held_by(&self, post: Position) -> Buttons {
        match self.paddles[post.index()].map_or(0, |paddle| paddle.vy) {
            ..0 => Buttons::UP,
            0 => Buttons::default(),
            1.. => Buttons::DOWN,
        }
    }

    /// Who has won, once the match is over.
    pub fn winner(&self) -> Option<Side> {
        let won = |side: &Side| self.score[side.index()] >= self.points;
        [Side::Left, Side::Right].into_iter().find(won)
    }

    /// The sides whose players the ball waits for.
    pub fn quiet_sides(&self) -> impl Iterator<Item = Side> + '_ {
        let is_quiet = |side: &Side| self.attendance[side.index()] == Attendance::Quiet;
        [Side::Left, Side::Right].into_iter().filter(is_quiet)
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

    /// Whether it is at the centre and does not move.
    pub(crate) fn rests(&self) -> bool {
        *self == Ball::resting(self.which)
    }

    /// Stops it where it is; where it was flying.
    pub(crate) fn stop(&mut self) -> Heading {
        let heading = Heading { right: self.vx > 0, down: self.vy > 0 };
        (self.vx, self.vy) = (0, 0);
        heading
    }

    /// Lets it fly from where it is.
    pub(crate) fn launch(&mut self, Heading { right, down }: Heading) {
        let sign = |forward| if forward { 1 } else { -1 };
        (self.vx, self.vy) = (sign(right) * BALL_SPEED.0, sign(down) * BALL_SPEED.1);
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
