//! The rules of Networked Pong, written a second time: what is wrong in one is not in the other.
//!
//! Everything is a whole number of 1/60 px, because a step is 1/60 s: no rounding decides whether
//! a ball touches.

use crate::lan::State;

/// A room that comes late steps so often before it shows the world again.
const STEPS_AT_ONCE: u32 = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) paddles: [i32; 2],
    ball: [i32; 2],
    velocity: [i32; 2],
    pub(crate) score: [u8; 2],
}

impl Field {
    /// The world before the first step.
    pub(crate) fn new() -> Self {
        Field {
            paddles: [390 * 60; 2],
            ball: [710 * 60, 440 * 60],
            velocity: [-400, -250],
            score: [0, 0],
        }
    }

    /// What a host has shown.
    pub(crate) fn of(state: &State) -> Self {
        let units = |px: f32| (px * 60.0).round() as i32;
        Field {
            paddles: [units(state.p1y), units(state.p2y)],
            ball: [units(state.ball.0), units(state.ball.1)],
            velocity: [state.velocity.0 as i32, state.velocity.1 as i32],
            score: state.score,
        }
    }

    /// What a host shows.
    pub(crate) fn state(&self, seq: u32) -> State {
        let px = |units: i32| units as f32 / 60.0;
        State {
            seq,
            p1y: px(self.paddles[0]),
            p2y: px(self.paddles[1]),
            ball: (px(self.ball[0]), px(self.ball[1])),
            velocity: (self.velocity[0] as f32, self.velocity[1] as f32),
            score: self.score,
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.score.contains(&5)
    }

    /// One step in which the paddles go up, down or nowhere.
    pub(crate) fn step(&mut self, ways: [i8; 2]) {
        if self.is_over() {
            return;
        }
        for (paddle, way) in self.paddles.iter_mut().zip(ways) {
            *paddle = (*paddle + 600 * i32::from(way)).clamp(0, 780 * 60);
        }
        self.ball[0] += self.velocity[0];
        self.ball[1] += self.velocity[1];
        if self.ball[1] < 0 || self.ball[1] > 880 * 60 {
            self.ball[1] = self.ball[1].clamp(0, 880 * 60);
            self.velocity[1] *= -1;
        }
        let [x, y] = self.ball;
        let [left, right] = self.paddles;
        let meets = |paddle_x: i32, paddle_y: i32| {
            let across = x <= paddle_x + 20 * 60 && paddle_x <= x + 20 * 60;
            across && y <= paddle_y + 120 * 60 && paddle_y <= y + 20 * 60
        };
        if meets(50 * 60, left) {
            (self.ball[0], self.velocity[0]) = (70 * 60 + 6, 400);
        }
        if meets(1370 * 60, right) {
            (self.ball[0], self.velocity[0]) = (1350 * 60 - 6, -400);
        }
        let (scorer, serve) = match self.ball[0] {
            x if x < -50 * 60 => (1, [-400, -250]),
            x if x > 1490 * 60 => (0, [400, 250]),
            _ => return,
        };
        self.score[scorer] += 1;
        (self.ball, self.velocity) = ([710 * 60, 440 * 60], serve);
    }

    /// How many steps lead from here to `next`; `None` if none do. The paddles went where they
    /// are as straight as they could.
    pub(crate) fn steps_to(&self, next: &Field) -> Option<u32> {
        let mut now = *self;
        for steps in 1..=STEPS_AT_ONCE {
            let mut ways = [0; 2];
            for (way, (from, to)) in ways.iter_mut().zip(now.paddles.iter().zip(next.paddles)) {
                *way = (to - from).signum() as i8;
            }
            now.step(ways);
            if now == *next {
                return Some(steps);
            }
        }
        None
    }
}

#[test]
fn standing_paddles_lose_five_points_to_the_right_in_575_steps() {
    let mut field = Field::new();
    let mut steps = 0;
    while !field.is_over() {
        field.step([0, 0]);
        steps += 1;
    }
    // 760 px at 400 px a second are 114 steps and a bit.
    assert_eq!((field.score, steps), ([0, 5], 5 * 115));
}

#[test]
fn a_ball_that_touches_a_paddle_leaves_a_tenth_of_a_pixel_before_it() {
    let mut field = Field::new();
    // The ball comes to x = 70 after 96 steps, at y = 40.
    for _ in 0..96 {
        field.step([-1, 0]);
    }
    let state = field.state(0);
    assert_eq!((state.ball, state.velocity), ((70.1, 40.0), (400.0, -250.0)));
}
