//! The field and who stands where, in units of 1/60 px; positions are top-left corners.

use backspin::game::PlayerId;

/// So many units are a pixel.
pub const UNITS: i32 = 60;

/// The field's width and height.
pub const FIELD: (i32, i32) = (1440 * UNITS, 900 * UNITS);

/// A paddle's width and height.
pub const PADDLE_SIZE: (i32, i32) = (20 * UNITS, 120 * UNITS);

/// The ball's width and height.
pub const BALL_SIZE: i32 = 20 * UNITS;

/// The lowest place of a paddle; the highest is 0.
pub(crate) const PADDLE_LOWEST: i32 = FIELD.1 - PADDLE_SIZE.1;

/// Where a paddle begins.
pub(crate) const PADDLE_START: i32 = 390 * UNITS;

/// How far a paddle moves in a tick.
pub(crate) const PADDLE_SPEED: i32 = 600;

/// The lowest place of the ball; the highest is 0.
pub(crate) const BALL_LOWEST: i32 = FIELD.1 - BALL_SIZE;

/// Where the ball is served from.
pub(crate) const BALL_START: (i32, i32) = (710 * UNITS, 440 * UNITS);

/// How far the ball moves in a tick, at all times.
pub(crate) const BALL_SPEED: (i32, i32) = (400, 250);

/// Beyond these the ball is out.
pub(crate) const OUT: (i32, i32) = (-50 * UNITS, 1490 * UNITS);

/// The ball leaves a paddle from so far in front of it: 0.1 px.
pub(crate) const GAP: i32 = UNITS / 10;

/// One half of the field, and who plays there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Players 1 and 3.
    Left,
    /// Players 2 and 4.
    Right,
}

impl Side {
    /// Its place in a score.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The opponents'.
    pub const fn other(self) -> Side {
        match self {
            Side::Left => Side::Right,
            Side::Right => Side::Left,
        }
    }

    /// -1 or 1: the way to its goal.
    pub(crate) const fn sign(self) -> i32 {
        match self {
            Side::Left => -1,
            Side::Right => 1,
        }
    }
}

/// Where a player stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// Player 1's.
    LeftBack,
    /// Player 2's.
    RightBack,
    /// Player 3's, in doubles.
    LeftFront,
    /// Player 4's, in doubles.
    RightFront,
}

impl Position {
    /// All, in the order of the players.
    pub const ALL: [Position; 4] =
        [Position::LeftBack, Position::RightBack, Position::LeftFront, Position::RightFront];

    /// The player's; `None` for those who watch.
    pub fn of(player: PlayerId) -> Option<Position> {
        let index = usize::try_from(player.0).ok()?.checked_sub(1)?;
        Position::ALL.get(index).copied()
    }

    /// The post whose paddle has this id.
    pub fn of_paddle(entity_id: u32) -> Option<Position> {
        Position::of(PlayerId(entity_id))
    }

    /// The other one of its side, in doubles.
    pub const fn partner(self) -> Position {
        match self {
            Position::LeftBack => Position::LeftFront,
            Position::LeftFront => Position::LeftBack,
            Position::RightBack => Position::RightFront,
            Position::RightFront => Position::RightBack,
        }
    }

    /// Its place among all.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Whose it is.
    pub const fn player(self) -> PlayerId {
        PlayerId(self as u32 + 1)
    }

    /// The id of its paddle.
    pub const fn paddle_id(self) -> u32 {
        self as u32 + 1
    }

    /// Which half it is in.
    pub const fn side(self) -> Side {
        match self {
            Position::LeftBack | Position::LeftFront => Side::Left,
            Position::RightBack | Position::RightFront => Side::Right,
        }
    }

    /// The left edge of its paddle.
    pub const fn x(self) -> i32 {
        match self {
            Position::LeftBack => 50 * UNITS,
            Position::LeftFront => 250 * UNITS,
            Position::RightFront => 1170 * UNITS,
            Position::RightBack => 1370 * UNITS,
        }
    }

    /// Where the ball's left edge is when it touches the paddle's front.
    pub const fn plane(self) -> i32 {
        match self.side() {
            Side::Left => self.x() + PADDLE_SIZE.0,
            Side::Right => self.x() - BALL_SIZE,
        }
    }

    /// Whether it is there in doubles only.
    pub const fn is_front(self) -> bool {
        matches!(self, Position::LeftFront | Position::RightFront)
    }
}
