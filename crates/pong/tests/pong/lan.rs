//! The world as Networked Pong shows it, and back.

use backspin::game::{Game, PlayerId};
use backspin::replication::State;
use backspin_classic::ClassicGame;
use backspin_classic::wire::lan::StateUpdate;
use backspin_pong::{Ball, MATCH_ID, Paddle, Phase, Pong, UNITS, World};

use crate::stage::{DOWN, Stage, UP};

const START: StateUpdate = StateUpdate {
    seq: 0,
    p1y: 390.0,
    p2y: 390.0,
    ballx: 710.0,
    bally: 440.0,
    ballvx: -400.0,
    ballvy: -250.0,
    p1: 0,
    p2: 0,
};

fn shown(stage: &Stage) -> StateUpdate {
    stage.game.lan_state(&stage.world).unwrap()
}

fn read(update: &StateUpdate) -> World {
    let mut state = State::new(1);
    Pong::default().state_of_lan(update, &mut state);
    assert_eq!(state.refused(), None);
    let schema = Pong::default().schema();
    assert!(state.entities().iter().all(|entity| entity.conforms(schema)));
    Pong::default().restore(&state)
}

#[test]
fn state_0_is_the_world_before_the_first_step() {
    let mut stage = Stage::new(Pong { countdown: 0, ..Pong::default() }, 1);
    // The host has warmed up.
    (0..20).for_each(|_| stage.step(&[(1, UP)]));
    stage.join(2);
    assert_eq!(shown(&stage), START);
    stage.step(&[(2, DOWN)]);
    let first = StateUpdate { p2y: 400.0, ballx: 42_200.0 / 60.0, bally: 26_150.0 / 60.0, ..START };
    assert_eq!(shown(&stage), first);
}

#[test]
fn the_next_guest_sees_nothing_of_the_last_ones_match() {
    let mut stage = Stage::playing();
    stage.world.score = [4, 2];
    (0..30).for_each(|_| stage.step(&[(1, UP)]));
    stage.leave(2);
    stage.step(&[(1, UP)]);
    stage.join(2);
    assert_eq!(shown(&stage), START);
}

#[test]
fn a_ball_that_waits_for_a_countdown_is_shown_at_rest() {
    let mut stage = Stage::new(Pong::default(), 2);
    stage.step(&[]);
    assert_eq!(stage.world.phase, Phase::Countdown);
    assert_eq!(shown(&stage), StateUpdate { ballvx: 0.0, ballvy: 0.0, ..START });
}

#[test]
fn after_the_last_point_the_states_stand_still_with_the_serve_that_is_not_played() {
    let mut stage = Stage::playing();
    stage.world.score = [4, 2];
    stage.world.ball = Ball { x: 1489 * UNITS, y: 0, vx: 400, vy: 250, which: false };
    stage.step(&[]);
    let last = StateUpdate { ballvx: 400.0, ballvy: 250.0, p1: 5, p2: 2, ..START };
    assert_eq!(shown(&stage), last);
    (0..400).for_each(|_| stage.step(&[(1, UP), (2, DOWN)]));
    assert_eq!(shown(&stage), last);
    assert_eq!(read(&last).phase, Phase::Over);
    assert_eq!(read(&last).ball.vx, 0);
}

#[test]
fn what_the_old_program_does_not_know_is_not_shown_to_it() {
    let shown = |game: Pong| game.lan_state(&Stage::new(game, 2).world).is_some();
    assert!(shown(Pong::default()));
    assert!(!shown(Pong { points: 4, ..Pong::default() }));
    assert!(!shown(Pong { points: 6, ..Pong::default() }));
    assert!(!shown(Pong { doubles: true, ..Pong::default() }));
}

#[test]
fn what_is_shown_is_read_to_the_unit() {
    let mut stage = Stage::playing();
    for tick in 0..3_000_u32 {
        stage.step(&[(1, if tick / 40 % 2 == 0 { UP } else { DOWN }), (2, DOWN)]);
        let (world, read) = (stage.world, read(&shown(&stage)));
        let place = |paddle: Option<Paddle>| paddle.map(|paddle| paddle.y);
        assert_eq!(read.paddles.map(place), world.paddles.map(place));
        assert_eq!((read.score, read.phase), (world.score, world.phase));
        assert_eq!(Ball { which: false, ..read.ball }, Ball { which: false, ..world.ball });
    }
    assert_eq!(stage.world.phase, Phase::Over);
}

#[test]
fn a_point_brings_another_ball() {
    let read = |p1, p2| read(&StateUpdate { p1, p2, ..START }).ball.which;
    assert_ne!(read(0, 0), read(0, 1));
    assert_ne!(read(1, 1), read(0, 1));
}

#[test]
fn numbers_from_a_stranger_are_brought_into_their_ranges() {
    let hostile = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN, -3.48e31, 1e-40];
    for number in hostile {
        let world = read(&StateUpdate {
            seq: u32::MAX,
            p1y: number,
            p2y: number,
            ballx: number,
            bally: number,
            ballvx: number,
            ballvy: number,
            p1: 255,
            p2: 200,
        });
        assert_eq!(world.score, [5, 5]);
        assert!(world.paddle(PlayerId(1)).is_some_and(|at| (0..=780 * UNITS).contains(&at.y)));
        let world = read(&StateUpdate { ballvx: number, ballvy: number, ..START });
        assert!(world.ball.vx.abs() <= 400 && world.ball.vy.abs() <= 250);
    }
    let nowhere = read(&StateUpdate { ballx: f32::NAN, p1y: f32::NAN, ..START });
    assert_eq!(
        (nowhere.ball.x, nowhere.paddles[0]),
        (710 * UNITS, Some(Paddle { y: 390 * UNITS, vy: 0 }))
    );
}

#[test]
fn the_match_is_to_five() {
    let mut state = State::new(1);
    Pong { points: 9, ..Pong::default() }.state_of_lan(&START, &mut state);
    assert!(state.find(MATCH_ID).is_some());
    assert_eq!(Pong::default().restore(&state).points, 5);
}
