//! What is read off the screen: the slide of the ball, and the contacts that are seen.

use backspin::game::{Buttons, Frame, Game, PlayerId};
use backspin::replication::{Drawn, KEPT, SnapshotBuffer, State};
use backspin_pong::{BALL_IDS, Ball, Paddle, Phase, Pong, UNITS, World};
use backspin_sim::{Contact, Measured};

use crate::stage::{Dice, Stage};

fn world(ball: (f32, f32, i32), left: f32, right: f32) -> World {
    let units = |px: f32| (px * UNITS as f32).round() as i32;
    let paddle = |y| Some(Paddle { y: units(y), vy: 0 });
    World {
        phase: Phase::Playing,
        ball: Ball { x: units(ball.0), y: units(ball.1), vx: ball.2, vy: 250, which: false },
        paddles: [paddle(left), paddle(right), None, None],
        ..World::default()
    }
}

fn frame(world: &World) -> Vec<Drawn> {
    let (game, mut state) = (Pong::default(), State::new(1));
    game.capture(world, &mut state);
    let kinds = game.schema().kinds;
    let drawn = |entity: &backspin::replication::Entity| Drawn {
        entity: entity.clone(),
        fields: kinds[usize::from(entity.kind)].values(entity),
    };
    state.entities().iter().map(drawn).collect()
}

fn seen(before: &[Drawn], now: &[Drawn]) -> Vec<u64> {
    let frame = |drawn: &[Drawn]| Frame { entities: drawn.to_vec(), ..Frame::default() };
    let (before, now, mut keys) = (frame(before), frame(now), Vec::new());
    Pong::default().drawn_contacts(&before, &now, PlayerId(1), &mut |contact: Contact| {
        assert_eq!(contact.player, None);
        keys.push(contact.key);
    });
    keys
}

/// The contacts seen between frames with the ball here and there, and the paddles at 390.
fn met(before: (f32, f32, i32), now: (f32, f32, i32)) -> Vec<u64> {
    seen(&frame(&world(before, 390.0, 390.0)), &frame(&world(now, 390.0, 390.0)))
}

#[test]
fn a_turn_between_two_frames_is_a_contact() {
    assert_eq!(met((74.0, 420.0, -400), (73.0, 424.0, 400)), [1]);
    assert_eq!(met((1346.0, 420.0, 400), (1347.0, 424.0, -400)), [2]);
}

#[test]
fn a_turn_on_a_frame_is_a_contact_once() {
    // The velocity is told before the place, with it, or after it.
    let way = [(76.0, -400), (70.1, -400), (70.1, 400), (76.8, 400)];
    for turned in 1..4 {
        let frames: Vec<_> = way
            .iter()
            .enumerate()
            .map(|(i, &(x, _))| (x, 420.0, if i < turned { -400 } else { 400 }))
            .collect();
        let all: Vec<_> = frames.windows(2).flat_map(|pair| met(pair[0], pair[1])).collect();
        assert_eq!(all, [1], "turned in frame {turned}");
    }
}

#[test]
fn a_ball_that_comes_through_the_front_is_seen_to_meet_it_once() {
    // Drawn on beyond the paddle for lack of news, then put right.
    let way = [(75.0, -400), (68.4, -400), (61.7, -400), (77.0, 400), (83.7, 400)];
    let frames = way.map(|(x, vx)| (x, 420.0, vx));
    let all: Vec<_> = frames.windows(2).flat_map(|pair| met(pair[0], pair[1])).collect();
    assert_eq!(all, [1]);
}

#[test]
fn a_miss_is_no_contact() {
    // Above and below, and then behind the paddle.
    for y in [360.0, 520.0] {
        let way = [75.0, 68.4, 61.7, 55.0, 20.0, -10.0];
        let frames = way.map(|x| (x, y, -400));
        let all: Vec<_> = frames.windows(2).flat_map(|pair| met(pair[0], pair[1])).collect();
        assert_eq!(all, []);
    }
}

#[test]
fn within_a_pixel_is_a_contact_and_beyond_is_none() {
    let crossing = |y: f32| met((72.0, y, -400), (68.0, y, -400));
    assert_eq!((crossing(369.0), crossing(511.0)), (vec![1], vec![1]));
    assert_eq!((crossing(368.9), crossing(511.1)), (vec![], vec![]));
    // At the crossing, not before or after it.
    assert_eq!(met((72.0, 360.0, -400), (68.0, 380.0, -400)), [1]);
    assert_eq!(met((70.5, 360.0, -400), (64.0, 380.0, -400)), []);
}

#[test]
fn a_turn_far_from_every_paddle_is_no_contact() {
    assert_eq!(met((500.0, 420.0, -400), (500.0, 424.0, 400)), []);
    assert_eq!(met((79.0, 420.0, -400), (79.0, 424.0, 400)), []);
    // Near the plane, but not beside the paddle: it turned at nothing.
    assert_eq!(met((74.0, 600.0, -400), (73.0, 604.0, 400)), []);
}

#[test]
fn a_ball_that_leaves_or_passes_behind_meets_nothing() {
    assert_eq!(met((68.0, 420.0, 400), (74.7, 420.0, 400)), []);
    assert_eq!(met((40.0, 420.0, -400), (33.3, 420.0, -400)), []);
    assert_eq!(met((1352.0, 420.0, -400), (1345.3, 420.0, -400)), []);
}

#[test]
fn a_ball_that_is_caught_late_from_above_is_a_contact() {
    let before = frame(&world((61.7, 530.0, -400), 390.0, 390.0));
    let now = frame(&world((70.1, 534.0, 400), 414.0, 390.0));
    assert_eq!(seen(&before, &now), [1]);
}

#[test]
fn a_served_ball_meets_nothing_on_its_way_from_the_goal() {
    let before = world((75.0, 420.0, -400), 390.0, 390.0);
    let mut now = world((68.0, 420.0, -400), 390.0, 390.0);
    assert_eq!(seen(&frame(&before), &frame(&now)), [1]);
    now.ball.which = true;
    assert_eq!(seen(&frame(&before), &frame(&now)), []);
    assert_eq!(seen(&[], &frame(&now)), []);
    assert_eq!(seen(&frame(&before), &[]), []);
}

fn slide_of(world: &World, player: u32) -> Option<f32> {
    let (frame, player) = (frame(world), PlayerId(player));
    let slide = |drawn: &Drawn| Pong::default().time_blend(drawn, player, GAP);
    let is_ball = |drawn: &&Drawn| BALL_IDS.contains(&drawn.entity.id);
    let own = frame.iter().find(|drawn| drawn.entity.id == player.0);
    assert!(own.is_none_or(|own| slide(own).is_none()), "the own paddle is ahead");
    frame.iter().find(is_ball).and_then(slide)
}

/// How many ticks the own paddle is drawn ahead of the opponents'.
const GAP: f32 = 11.0;

#[test]
fn the_ball_slides_from_the_opponents_paddle_to_the_own() {
    let at = |x: f32, player| slide_of(&world((x, 400.0, -400), 390.0, 390.0), player);
    for (x, left) in
        [(-50.0, 1.0), (70.0, 1.0), (710.0, 0.5), (1030.0, 0.25), (1350.0, 0.0), (1490.0, 0.0)]
    {
        let near = |slide: Option<f32>, share: f32| slide.is_some_and(|s| (s - share).abs() < 1e-6);
        assert!(near(at(x, 1), left), "{x}");
        assert!(near(at(x, 2), 1.0 - left), "{x}");
    }
    for watcher in [0, 3, 4, 5, 259] {
        assert_eq!(at(710.0, watcher), None);
    }
}

#[test]
fn in_doubles_it_slides_between_the_paddles_in_front_and_to_the_partners() {
    let at = |x: f32, player| {
        slide_of(&World { doubles: true, ..world((x, 400.0, -400), 390.0, 390.0) }, player)
    };
    // The ball gains at most 5.5 of the 11 ticks from one paddle of a side to the other.
    let (back, front) = ([1.0, 0.5, 0.0], [0.5, 1.0, 0.0]);
    for (player, shares) in [(1, back), (2, back), (3, front), (4, front)] {
        let is_left = player % 2 == 1;
        for (x, share) in [70.0, 270.0, 1150.0].into_iter().zip(shares) {
            let x = if is_left { x } else { 1420.0 - x };
            let slide = at(x, player).unwrap();
            assert!((slide - share).abs() < 1e-5, "{player} at {x}: {slide}");
        }
    }
    assert_eq!(at(170.0, 1), Some(0.75));
    assert_eq!(at(710.0, 5), None);
}

#[test]
fn in_doubles_a_partners_paddle_is_drawn_with_the_ball_but_never_far_ahead() {
    let partner = |gap| {
        let world = World { doubles: true, ..world((700.0, 400.0, -400), 390.0, 390.0) };
        let frame = frame(&world);
        let back = frame.iter().find(|drawn| drawn.entity.id == 1).unwrap();
        Pong::default().time_blend(back, PlayerId(3), gap).unwrap()
    };
    assert_eq!((partner(0.5), partner(5.5), partner(11.0)), (0.0, 0.0, 0.5));
    assert!((partner(24.0) - 0.25).abs() < 1e-6);
}

/// Draws a whole match at `rate` frames a second, as a client draws what is behind, and holds the
/// contacts that are seen against those that were judged.
fn draw_match(game: Pong, seed: u64, rate: f64) -> u32 {
    let players = u32::from(game.capacity());
    let mut stage = Stage::new(game, players);
    let (mut dice, mut picture) = (Dice(seed), SnapshotBuffer::<KEPT>::default());
    let (mut before, mut now, mut judged, mut drawn) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut at = dice.below(1000) as f64 / 1000.0;
    let mut held = [Buttons(0); 4];
    for tick in 1..3_000 {
        for (i, buttons) in held.iter_mut().enumerate() {
            if dice.below(6) == 0 {
                let sane = game.bot_input(&stage.world, PlayerId(i as u32 + 1)).unwrap();
                *buttons = if dice.below(3) == 0 { Buttons(dice.below(4) as u16) } else { sane };
            }
        }
        stage.step(&[(1, held[0]), (2, held[1]), (3, held[2]), (4, held[3])]);
        judged.extend(stage.events.iter().filter_map(|e| game.judged_contact(e)).map(|c| c.key));
        picture.keep(&stage.state());
        while at < f64::from(tick) - 1.0 {
            now.clear();
            picture.draw(game.schema(), at, 0.0, |entity, fields| {
                now.push(Drawn { entity: entity.clone(), fields });
            });
            drawn.extend(seen(&before, &now));
            std::mem::swap(&mut before, &mut now);
            at += 60.0 / rate;
        }
    }
    // The last may not have been drawn yet.
    assert!(judged.len() - drawn.len() <= 1, "{} judged, {} drawn", judged.len(), drawn.len());
    assert_eq!(drawn[..], judged[..drawn.len()], "seed {seed}, {rate} Hz");
    drawn.len() as u32
}

#[test]
fn whole_matches_are_seen_as_they_are_judged_at_any_frame_rate() {
    let mut contacts = 0;
    for seed in 0..4 {
        for rate in [30.0, 59.94, 60.0, 75.0, 144.0, 240.0] {
            for doubles in [false, true] {
                let game = Pong { points: 99, countdown: 0, doubles };
                contacts += draw_match(game, seed, rate);
            }
        }
    }
    assert!(contacts > 500, "{contacts}");
}
