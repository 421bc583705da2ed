//! What is read off the screen: how far the ball is between two clocks, and what it is seen to
//! meet. All in pixels, as drawn.

use backspin::game::PlayerId;
use backspin::replication::Drawn;

use crate::field::{BALL_SIZE, BALL_SPEED, PADDLE_SIZE, PADDLE_SPEED, Position, Side, UNITS};
use crate::schema::{is_ball, is_doubles};

/// The kind of contact with a partner's paddle.
pub(crate) const PARTNERS: &str = "partner's paddle";

/// Nobody sees a smaller distance.
const TOLERANCE: f32 = 1.0;

/// From one paddle of a side to the other the ball takes 30 ticks, and can gain or lose so many of
/// them without being seen to run.
pub(crate) const PARTNERS_TICKS: f32 = 5.5;

/// A paddle is drawn at most so many ticks ahead of what surely has come: further ahead it would leap
/// whenever its player turns.
const PADDLE_TICKS: f32 = 6.0;

/// When the ball at a partner's paddle is drawn, as a share of the way from the opponents' time to the
/// own. What a partner does is known no sooner than what an opponent does, so it is drawn as late as
/// the ball can be.
fn partners_share(gap_ticks: f32) -> f32 {
    (1.0 - PARTNERS_TICKS / gap_ticks.max(1.0)).max(0.0)
}

/// The drawn ball's share of the way from the opponents' foremost paddles (0) to the own (1); in
/// doubles, that of the partner's paddle as well.
pub(crate) fn slide(drawn: &Drawn, player: PlayerId, gap_ticks: f32) -> Option<f32> {
    let post = Position::of(player)?;
    if Position::of_paddle(drawn.entity.id).is_some_and(|other| other == post.partner()) {
        return Some(partners_share(gap_ticks).min(PADDLE_TICKS / gap_ticks.max(PADDLE_TICKS)));
    }
    let doubles = is_doubles(&drawn.entity);
    if !is_ball(&drawn.entity) || post.is_front() && !doubles {
        return None;
    }
    // Seen from the own goal, as if that were on the left.
    let (left, right) = (plane(Position::LeftBack), plane(Position::RightBack));
    let x = match post.side() {
        Side::Left => drawn.fields[0],
        Side::Right => left + right - drawn.fields[0],
    };
    if !doubles {
        return Some(between(x, (left, 1.0), (right, 0.0)));
    }
    let front = plane(Position::LeftFront);
    let (at_back, at_front) = match post.is_front() {
        true => (partners_share(gap_ticks), 1.0),
        false => (1.0, partners_share(gap_ticks)),
    };
    Some(match x < front {
        true => between(x, (left, at_back), (front, at_front)),
        false => between(x, (front, at_front), (plane(Position::RightFront), 0.0)),
    })
}

/// What lies on the way from one place's share to another's.
fn between(x: f32, (from, share): (f32, f32), (to, others): (f32, f32)) -> f32 {
    share + (others - share) * ((x - from) / (to - from)).clamp(0.0, 1.0)
}

/// The paddles that the ball is seen to meet from one frame to the next.
pub(crate) fn contacts(before: &[Drawn], now: &[Drawn], mut meet: impl FnMut(Position)) {
    // While one ball is drawn to its end, the next may be on its way.
    for ball in now.iter().filter(|drawn| is_ball(&drawn.entity)) {
        // A ball that was served since is another one.
        let Some(ball) = Pair::of(before, ball) else { continue };
        let ball = Motion { x: ball.field(0), y: ball.field(1), vx: ball.field(2) };
        for paddle in now {
            if let Some(post) = Position::of_paddle(paddle.entity.id)
                && let Some(paddle) = Pair::of(before, paddle)
                && ball.meets(post, paddle.field(0))
            {
                meet(post);
            }
        }
    }
}

/// Whose paddle the ball meets, as `viewer` sees it.
pub(crate) fn contact_kind(key: u64, viewer: PlayerId) -> &'static str {
    let met = u32::try_from(key).ok().and_then(Position::of_paddle);
    let (Some(met), Some(own)) = (met, Position::of(viewer)) else { return "paddle" };
    match (met == own, met.side() == own.side(), met.is_front()) {
        (true, ..) => "own paddle",
        (false, true, _) => PARTNERS,
        (false, false, false) => "opponent's paddle",
        (false, false, true) => "opponent's front paddle",
    }
}

fn plane(post: Position) -> f32 {
    px(post.plane())
}

fn px(units: i32) -> f32 {
    units as f32 / UNITS as f32
}

/// One thing in two frames.
#[derive(Clone, Copy)]
struct Pair<'a> {
    before: &'a Drawn,
    now: &'a Drawn,
}

impl<'a> Pair<'a> {
    fn of(before: &'a [Drawn], now: &'a Drawn) -> Option<Pair<'a>> {
        let before = before.iter().find(|drawn| drawn.entity.id == now.entity.id)?;
        Some(Pair { before, now })
    }

    fn field(&self, index: usize) -> Span {
        Span { from: self.before.fields[index], to: self.now.fields[index] }
    }
}

/// A number in two frames.
#[derive(Clone, Copy)]
struct Span {
    from: f32,
    to: f32,
}

impl Span {
    fn at(self, share: f32) -> f32 {
        self.from + (self.to - self.from) * share
    }

    fn length(self) -> f32 {
        (self.to - self.from).abs()
    }
}

/// The ball from one frame to the next.
struct Motion {
    x: Span,
    y: Span,
    vx: Span,
}

impl Motion {
    fn meets(&self, post: Position, paddle: Span) -> bool {
        // How far in front of the paddle the ball is, and where it heads, seen from the goal.
        let sign = -post.side().sign() as f32;
        let gap = |x: f32| (x - plane(post)) * sign;
        let (from, to) = (gap(self.x.from), gap(self.x.to));
        if from >= 0.0 && to < 0.0 {
            return self.depth(paddle, from / (from - to)) >= -TOLERANCE;
        }
        if self.vx.from * sign >= 0.0 || self.vx.to * sign <= 0.0 {
            return false;
        }
        // It turned between the frames, which show it before and after, neither of them there.
        let depths = [0.0, 1.0].map(|share| self.depth(paddle, share));
        let step = px(BALL_SPEED.0).max(self.x.length()) + TOLERANCE;
        if from >= 0.0 {
            return from.min(to) <= step && depths.iter().any(|depth| *depth >= -TOLERANCE);
        }
        // It was past the front already. If it was seen to meet it on its way, that is told; but
        // near an end of the paddle it was not, and the paddle came and caught it late.
        let catch = px(BALL_SPEED.1 + PADDLE_SPEED) + self.y.length() + paddle.length();
        from >= -px(BALL_SIZE + PADDLE_SIZE.0) - step && depths[1].abs() <= catch
    }

    /// How far the ball reaches past the nearer end of the paddle: below 0 it is beyond it.
    fn depth(&self, paddle: Span, share: f32) -> f32 {
        let (ball, paddle) = (self.y.at(share), paddle.at(share));
        let (top, bottom) = (ball + px(BALL_SIZE) - paddle, paddle + px(PADDLE_SIZE.1) - ball);
        top.min(bottom)
    }
}
