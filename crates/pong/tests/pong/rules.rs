//! One step, against literal numbers and against a model of Networked Pong in floating point.

use backspin::game::Buttons;
use backspin_pong::{Ball, Paddle, Phase, Pong, UNITS};

use crate::stage::{DOWN, Dice, Stage, UP};

const PX: i32 = UNITS;

fn ball(x: i32, y: i32, vx: i32, vy: i32) -> Ball {
    Ball { x, y, vx, vy, which: false }
}

/// The ball after one step from `ball`, with the paddles at these heights.
fn after(ball: Ball, left: i32, right: i32) -> Stage {
    let mut stage = Stage::playing();
    stage.world.ball = ball;
    stage.world.paddles[0] = Some(Paddle { y: left, vy: 0 });
    stage.world.paddles[1] = Some(Paddle { y: right, vy: 0 });
    stage.step(&[]);
    stage
}

fn at(stage: &Stage) -> (i32, i32, i32, i32) {
    let Ball { x, y, vx, vy, .. } = stage.world.ball;
    (x, y, vx, vy)
}

#[test]
fn the_first_step_serves_up_to_the_left() {
    let stage = Stage::playing();
    assert_eq!(at(&stage), (710 * PX - 400, 440 * PX - 250, -400, -250));
}

#[test]
fn paddles_move_ten_pixels_a_tick_and_stop_at_the_edges() {
    let mut stage = Stage::playing();
    stage.step(&[(1, UP), (2, DOWN)]);
    let y = |stage: &Stage, i: usize| stage.world.paddles[i].map(|paddle| paddle.y);
    assert_eq!((y(&stage, 0), y(&stage, 1)), (Some(380 * PX), Some(400 * PX)));
    stage.step(&[(1, UP | DOWN)]);
    assert_eq!(y(&stage, 0), Some(380 * PX));
    for _ in 0..60 {
        stage.step(&[(1, UP), (2, DOWN)]);
    }
    assert_eq!((y(&stage, 0), y(&stage, 1)), (Some(0), Some(780 * PX)));
}

#[test]
fn edges_clamp_the_ball_and_turn_it() {
    let stage = after(ball(600 * PX, 249, -400, -250), 0, 0);
    assert_eq!(at(&stage), (600 * PX - 400, 0, -400, 250));
    assert!(stage.happened(Pong::WALL));
    let stage = after(ball(600 * PX, 880 * PX - 249, 400, 250), 0, 0);
    assert_eq!(at(&stage), (600 * PX + 400, 880 * PX, 400, -250));
    // Just at the edge is within.
    let stage = after(ball(600 * PX, 250, -400, -250), 0, 0);
    assert_eq!((at(&stage), stage.happened(Pong::WALL)), ((600 * PX - 400, 0, -400, -250), false));
}

#[test]
fn a_paddle_sends_the_ball_back_from_a_tenth_of_a_pixel_before_it() {
    let stage = after(ball(72 * PX, 400 * PX, -400, -250), 390 * PX, 0);
    assert_eq!(at(&stage), (70 * PX + 6, 400 * PX - 250, 400, -250));
    assert!(stage.happened(Pong::CONTACT));
    assert_eq!(stage.events[0].entity, 1);
    let stage = after(ball(1348 * PX, 400 * PX, 400, 250), 0, 390 * PX);
    assert_eq!(at(&stage), (1350 * PX - 6, 400 * PX + 250, -400, 250));
    assert_eq!(stage.events[0].entity, 2);
}

#[test]
fn touching_edges_overlap_and_a_unit_apart_does_not() {
    let met = |ball, left| after(ball, left, 0).happened(Pong::CONTACT);
    // From the front, to the unit.
    assert!(met(ball(70 * PX + 400, 400 * PX, -400, 250), 390 * PX));
    assert!(!met(ball(70 * PX + 401, 400 * PX, -400, 250), 390 * PX));
    // Over the paddle, and under it.
    let (above, below) = (370 * PX, 510 * PX);
    assert!(met(ball(60 * PX, above - 250, -400, 250), 390 * PX));
    assert!(!met(ball(60 * PX, above - 251, -400, 250), 390 * PX));
    assert!(met(ball(60 * PX, below - 250, -400, 250), 390 * PX));
    assert!(!met(ball(60 * PX, below - 249, -400, 250), 390 * PX));
    // Its back.
    assert!(met(ball(30 * PX + 400, 400 * PX, -400, 250), 390 * PX));
    assert!(!met(ball(30 * PX + 399, 400 * PX, -400, 250), 390 * PX));
}

#[test]
fn a_paddle_of_singles_throws_forward_whatever_touches_it() {
    // From behind, already on the way back.
    let stage = after(ball(40 * PX, 400 * PX, 400, 250), 390 * PX, 0);
    assert_eq!(at(&stage), (70 * PX + 6, 400 * PX + 250, 400, 250));
}

#[test]
fn out_is_beyond_fifty_pixels_and_who_scored_serves() {
    let stage = after(ball(-50 * PX + 400, 100, -400, 250), 700 * PX, 0);
    assert_eq!((at(&stage).0, stage.world.score), (-50 * PX, [0, 0]));
    let stage = after(ball(-50 * PX + 399, 100, -400, 250), 700 * PX, 0);
    assert_eq!(stage.world.score, [0, 1]);
    assert_eq!(at(&stage), (710 * PX, 440 * PX, -400, -250));
    let stage = after(ball(1490 * PX - 400, 100, 400, 250), 0, 700 * PX);
    assert_eq!((at(&stage).0, stage.world.score), (1490 * PX, [0, 0]));
    let stage = after(ball(1490 * PX - 399, 100, 400, 250), 0, 700 * PX);
    assert_eq!(stage.world.score, [1, 0]);
    assert_eq!(at(&stage), (710 * PX, 440 * PX, 400, 250));
    assert_eq!(Pong::score_of(stage.events[0].value), [1, 0]);
}

#[test]
fn a_served_ball_is_another_one() {
    let stage = after(ball(-50 * PX, 100, -400, 250), 700 * PX, 0);
    assert!(stage.world.ball.which);
}

#[test]
fn after_the_fifth_point_the_world_stands_still() {
    let mut stage = Stage::playing();
    for points in 1..=5 {
        assert_eq!(stage.world.phase, Phase::Playing);
        stage.world.paddles[0] = Some(Paddle { y: 0, vy: 0 });
        stage.world.ball = ball(-49 * PX, 800 * PX, -400, 250);
        stage.step(&[]);
        assert_eq!(stage.world.score, [0, points]);
    }
    assert!(stage.happened(Pong::POINT) && stage.happened(Pong::OVER));
    let before = stage.state();
    for _ in 0..1_000 {
        stage.step(&[(1, DOWN), (2, UP)]);
    }
    assert_eq!(stage.world.phase, Phase::Over);
    let after = stage.state();
    assert_eq!(before.entities()[..3], after.entities()[..3]);
}

/// Networked Pong as WIRE.md tells it, in pixels and seconds.
struct Model {
    paddles: [f64; 2],
    ball: [f64; 2],
    velocity: [f64; 2],
    score: [u8; 2],
}

impl Model {
    fn new() -> Model {
        let (ball, velocity) = ([710.0, 440.0], [-400.0, -250.0]);
        Model { paddles: [390.0; 2], ball, velocity, score: [0; 2] }
    }

    fn step(&mut self, directions: [i32; 2]) {
        if self.score.contains(&5) {
            return;
        }
        let dt = 1.0 / 60.0;
        for (paddle, direction) in self.paddles.iter_mut().zip(directions) {
            *paddle = (*paddle + 600.0 * f64::from(direction) * dt).clamp(0.0, 780.0);
        }
        self.ball[0] += self.velocity[0] * dt;
        self.ball[1] += self.velocity[1] * dt;
        if self.ball[1] <= 0.0 || self.ball[1] >= 880.0 {
            self.ball[1] = self.ball[1].clamp(0.0, 880.0);
            self.velocity[1] = -self.velocity[1];
        }
        // A hair for what floating point cannot do.
        let [x, y] = self.ball;
        let overlaps = |left: f64, top: f64| {
            x <= left + 20.0 + 1e-6
                && x + 20.0 >= left - 1e-6
                && y <= top + 120.0 + 1e-6
                && y + 20.0 >= top - 1e-6
        };
        let (left, right) = (overlaps(50.0, self.paddles[0]), overlaps(1370.0, self.paddles[1]));
        if left {
            self.ball[0] = 70.1;
            self.velocity[0] = self.velocity[0].abs();
        }
        if right {
            self.ball[0] = 1370.0 - 0.1 - 20.0;
            self.velocity[0] = -self.velocity[0].abs();
        }
        let out = [(self.ball[0] < -50.0 - 1e-6, 1, -1.0), (self.ball[0] > 1490.0 + 1e-6, 0, 1.0)];
        for (is_out, scorer, direction) in out {
            if is_out {
                self.score[scorer] += 1;
                self.ball = [710.0, 440.0];
                self.velocity = [400.0 * direction, 250.0 * direction];
            }
        }
    }
}

#[test]
fn whole_matches_go_as_in_networked_pong() {
    let (mut contacts, mut overs) = (0, 0);
    for seed in 0..40 {
        let mut dice = Dice(seed);
        let (mut stage, mut model) = (Stage::singles(), Model::new());
        let mut directions = [0, 0];
        for _ in 0..6_000 {
            for (i, direction) in directions.iter_mut().enumerate() {
                // Mostly after the ball, so that there are rallies; else anywhere.
                if dice.below(8) == 0 {
                    let way = model.ball[1] - 50.0 - model.paddles[i];
                    *direction = match dice.below(4) {
                        0 => dice.below(3) as i32 - 1,
                        _ => way.signum() as i32,
                    };
                }
            }
            let held = |direction: i32| [UP, Buttons(0), DOWN][(direction + 1) as usize];
            let held = directions.map(held);
            stage.step(&[(1, held[0]), (2, held[1])]);
            model.step(directions);
            let world = &stage.world;
            let near = |units: i32, px: f64| (f64::from(units) / 60.0 - px).abs() < 1e-6;
            let same = near(world.ball.x, model.ball[0])
                && near(world.ball.y, model.ball[1])
                && world.paddles.iter().flatten().zip(model.paddles).all(|(p, y)| near(p.y, y));
            assert!(same, "seed {seed}, tick {}: {world:?}", stage.tick);
            assert_eq!(world.score, model.score, "seed {seed}, tick {}", stage.tick);
            contacts += u32::from(stage.happened(Pong::CONTACT));
            overs += u32::from(stage.happened(Pong::OVER));
        }
    }
    assert!(contacts > 300 && overs > 20, "{contacts} contacts, {overs} matches are too few");
}
