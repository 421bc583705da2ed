//! When a match begins, counts and ends, and what everyone is told of it.

use backspin::game::{Buttons, Event, PlayerId, Reach};

use crate::Pong;
use crate::field::{Position, Side};
use crate::flight::{Met, fly};
use crate::world::{Attendance, Ball, Heading, Paddle, Phase, World};

/// Ticks in a second.
const SECOND: u16 = 60;

impl World {
    pub(crate) fn join(&mut self, player: PlayerId) {
        let Some(post) = Position::of(player).filter(|post| self.doubles || !post.is_front())
        else {
            return;
        };
        self.paddles[post.index()] = Some(Paddle::START);
        self.mute[post.index()] = false;
        self.attendance[post.side().index()] = Attendance::Here;
    }

    pub(crate) fn mute(&mut self, player: PlayerId) {
        if let Some(post) = Position::of(player).filter(|post| self.paddles[post.index()].is_some())
        {
            self.mute[post.index()] = true;
        }
    }

    /// A side that nobody is left on cannot go on.
    pub(crate) fn leave(&mut self, player: PlayerId) {
        let Some(post) = Position::of(player) else { return };
        self.paddles[post.index()] = None;
        self.wishes[post.index()] = false;
        self.mute[post.index()] = false;
        self.attendance[post.side().index()] = Attendance::Here;
        if self.phase != Phase::Waiting && !self.is_manned(post.side()) {
            self.phase = Phase::Left;
            self.ticks_left = 0;
            self.wishes = [false; 4];
            // A ball that flew is not seen to fly back: another one is at rest.
            if !self.ball.rests() {
                self.ball = Ball::resting(!self.ball.which);
            }
        }
    }

    /// Whether the match can begin: everyone is there, or both sides have someone and all of them
    /// would rather not wait.
    fn is_complete(&self) -> bool {
        let places = if self.doubles { 4 } else { 2 };
        let both = self.is_manned(Side::Left) && self.is_manned(Side::Right);
        both && (self.posts().count() == places || self.all_wish())
    }

    /// Who cannot say so is taken to wish what the others do.
    fn all_wish(&self) -> bool {
        let wishes = |post: Position| self.wishes[post.index()] || self.mute[post.index()];
        self.wishes.contains(&true) && self.posts().all(wishes)
    }

    /// Where nobody can say so, the next match is a matter of time.
    fn is_wished_again(&self) -> bool {
        let patient = self.ticks_left > 0;
        let is_wished =
            || self.wishes.contains(&true) || self.posts().all(|post| self.mute[post.index()]);
        self.all_wish() || !patient && is_wished()
    }

    /// Both scores in a number.
    fn packed_score(&self) -> i32 {
        i32::from(self.score[0]) << 8 | i32::from(self.score[1])
    }
}

impl Pong {
    /// One tick, with what is held at each post.
    pub(crate) fn advance(
        &self,
        world: &mut World,
        held: [Buttons; 4],
        mut raise: impl FnMut(Event),
    ) {
        match world.phase {
            Phase::Waiting | Phase::Left if world.is_complete() => {
                self.begin_match(world, &mut raise);
            }
            Phase::Over => {
                world.ticks_left = world.ticks_left.saturating_sub(1);
                if !world.is_wished_again() {
                    return;
                }
                self.begin_match(world, &mut raise);
            }
            _ => {}
        }
        for post in Position::ALL {
            if let Some(paddle) = &mut world.paddles[post.index()] {
                paddle.steer(held[post.index()]);
            }
        }
        if world.phase == Phase::Hold {
            world.wait();
        }
        if world.phase == Phase::Countdown {
            count_down(world, &mut raise);
        }
        if world.phase == Phase::Playing && !world.begin_hold() {
            play(world, &mut raise);
        }
    }

    fn begin_match(&self, world: &mut World, raise: &mut impl FnMut(Event)) {
        world.phase = Phase::Countdown;
        // In Networked Pong the ball flies at once.
        let countdown = if world.mute.contains(&true) { 0 } else { self.countdown };
        world.ticks_left = countdown.min(Pong::MAX_COUNTDOWN);
        world.score = [0, 0];
        world.wishes = [false; 4];
        world.heading = Heading::default();
        world.patience = [Pong::LONGEST_HOLD; 2];
        world.paddles.iter_mut().flatten().for_each(|paddle| *paddle = Paddle::START);
        let value = i32::from(world.points);
        raise(Event { kind: Pong::BEGIN, entity: 0, value, reach: Reach::Everyone });
    }

    pub(crate) fn ask_again(&self, world: &mut World, player: PlayerId, events: &mut Vec<Event>) {
        let Some(post) = Position::of(player) else { return };
        let may_ask = matches!(world.phase, Phase::Waiting | Phase::Left | Phase::Over);
        let is_there = world.paddles[post.index()].is_some();
        if may_ask && is_there && !world.wishes[post.index()] {
            world.wishes[post.index()] = true;
            let (kind, entity) = (Pong::ASKED, post.paddle_id());
            events.push(Event { kind, entity, value: 0, reach: Reach::Everyone });
        }
    }
}

fn count_down(world: &mut World, raise: &mut impl FnMut(Event)) {
    if world.ticks_left.is_multiple_of(SECOND) {
        let value = i32::from(world.ticks_left / SECOND);
        raise(Event { kind: Pong::COUNTDOWN, entity: 0, value, reach: Reach::Own });
    }
    match world.ticks_left {
        0 => {
            world.phase = Phase::Playing;
            world.ball.launch(world.heading);
        }
        _ => world.ticks_left -= 1,
    }
}

fn play(world: &mut World, raise: &mut impl FnMut(Event)) {
    let (mut out, mut returned) = (None, false);
    fly(world, |met| match met {
        Met::Wall => {
            let (kind, reach) = (Pong::WALL, Reach::Own);
            raise(Event { kind, entity: 0, value: 0, reach });
        }
        Met::Paddle(post) => {
            returned = true;
            let (kind, entity) = (Pong::CONTACT, post.paddle_id());
            raise(Event { kind, entity, value: 0, reach: Reach::Own });
        }
        Met::Goal(side) => out = Some(side),
    });
    if returned && world.mute.contains(&true) {
        world.returns = world.returns.wrapping_add(1);
    }
    let Some(side) = out else { return };
    let scorer = side.other();
    world.score[scorer.index()] += 1;
    // Who scored serves: towards the other.
    world.ball = world.ball.served(side);
    let value = world.packed_score();
    raise(Event { kind: Pong::POINT, entity: 0, value, reach: Reach::Everyone });
    if world.winner().is_some() {
        world.phase = Phase::Over;
        world.ticks_left = Pong::PATIENCE;
        (world.ball.vx, world.ball.vy) = (0, 0);
        world.paddles.iter_mut().flatten().for_each(|paddle| paddle.vy = 0);
        raise(Event { kind: Pong::OVER, entity: 0, value, reach: Reach::Everyone });
    }
}
