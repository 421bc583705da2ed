//! Matches from the first player to the last: waiting, counting down, leaving, playing again.

use backspin::game::{Buttons, Game, PlayerId, PlayerInput, PlayerStatus, Reach, Turn};
use backspin::typed::Message;
use backspin_pong::{Command, Paddle, Phase, Pong, UNITS, World};

use crate::stage::{DOWN, Dice, Stage, UP};

/// A singles match that player 2 has just won.
fn over(game: Pong) -> Stage {
    let mut stage = Stage::new(game, 2);
    stage.step(&[]);
    for _ in 0..20_000 {
        stage.world.paddles[0] = Some(Paddle { y: 0, vy: 0 });
        stage.world.ball.y = stage.world.ball.y.max(300 * UNITS);
        stage.step(&[(2, if stage.world.ball.y > 400 * UNITS { DOWN } else { UP })]);
        if stage.happened(Pong::OVER) {
            return stage;
        }
    }
    panic!("the match does not end: {:?}", stage.world);
}

fn quick() -> Pong {
    Pong { countdown: 0, points: 1, ..Pong::default() }
}

#[test]
fn one_who_is_alone_waits_and_may_warm_up() {
    let mut stage = Stage::new(Pong::default(), 1);
    for _ in 0..600 {
        stage.step(&[(1, UP)]);
    }
    let World { phase, ball, .. } = stage.world;
    assert_eq!((phase, ball.vx, ball.vy), (Phase::Waiting, 0, 0));
    assert_eq!(stage.world.paddle(PlayerId(1)), Some(&Paddle { y: 0, vy: -600 }));
    assert_eq!(stage.world.paddle(PlayerId(2)), None);
}

#[test]
fn the_second_player_starts_a_countdown_of_three_seconds() {
    let mut stage = Stage::new(Pong::default(), 1);
    stage.step(&[(1, UP)]);
    stage.join(2);
    stage.step(&[]);
    assert_eq!(stage.world.phase, Phase::Countdown);
    let kinds: Vec<_> = stage.events.iter().map(|e| (e.kind, e.value, e.reach)).collect();
    let expected = [(Pong::BEGIN, 5, Reach::Everyone), (Pong::COUNTDOWN, 3, Reach::Own)];
    assert_eq!(kinds, expected);
    assert_eq!(stage.world.paddle(PlayerId(1)).map(|paddle| paddle.y), Some(390 * UNITS));
    assert_eq!(stage.until(Pong::COUNTDOWN), 60);
    assert_eq!(stage.events[0].value, 2);
    assert_eq!(stage.until(Pong::COUNTDOWN), 60);
    assert_eq!(stage.until(Pong::COUNTDOWN), 60);
    assert_eq!((stage.events[0].value, stage.world.phase), (0, Phase::Playing));
    // The ball has flown for one tick.
    assert_eq!(stage.world.ball.x, 710 * UNITS - 400);
}

#[test]
fn a_countdown_has_its_limit() {
    for (countdown, steps) in [(0, 1), (600, 601), (601, 601), (u16::MAX, 601)] {
        let mut stage = Stage::new(Pong { countdown, ..Pong::default() }, 2);
        let mut taken = 0;
        while stage.world.phase != Phase::Playing {
            stage.step(&[]);
            taken += 1;
        }
        assert_eq!(taken, steps, "{countdown}");
    }
}

#[test]
fn points_to_win_have_their_limits() {
    for (points, played) in [(0, 1), (1, 1), (5, 5), (99, 99), (100, 99), (255, 99)] {
        let stage = over(Pong { points, ..quick() });
        assert_eq!(stage.world.score[1], played);
    }
}

#[test]
fn who_leaves_ends_the_match_and_the_score_stays_to_be_seen() {
    let mut stage = over(Pong { points: 2, ..quick() });
    stage.say(1, Command::Again);
    stage.leave(1);
    stage.step(&[(2, UP)]);
    assert_eq!(stage.world.phase, Phase::Left);
    assert_eq!((stage.world.score[1], stage.world.wishes), (2, [false; 4]));
    assert_eq!((stage.world.ball.vx, stage.world.ball.x), (0, 710 * UNITS));
    stage.join(1);
    stage.step(&[]);
    assert!(stage.happened(Pong::BEGIN));
    assert_eq!((stage.world.phase, stage.world.score), (Phase::Playing, [0, 0]));
}

#[test]
fn who_leaves_in_a_rally_stops_the_ball() {
    let mut stage = Stage::playing();
    let then = stage.world.ball;
    stage.leave(2);
    let ball = stage.world.ball;
    assert_eq!((stage.world.phase, ball.vx, ball.vy), (Phase::Left, 0, 0));
    // It is not the one that flew: nobody draws it on a way back.
    assert_ne!(ball.which, then.which);
    // Nor if others come and go before the next step.
    stage.join(2);
    stage.leave(2);
    stage.join(2);
    stage.step(&[]);
    assert_eq!(stage.world.phase, Phase::Playing);
    assert_ne!(stage.world.ball.which, then.which);
}

#[test]
fn all_who_are_there_ask_for_another_match() {
    let mut stage = over(quick());
    let asked = stage.say(1, Command::Again);
    assert_eq!((asked.len(), asked[0].kind, asked[0].entity), (1, Pong::ASKED, 1));
    assert_eq!(asked[0].reach, Reach::Everyone);
    assert_eq!(stage.say(1, Command::Again), []);
    stage.step(&[]);
    assert_eq!((stage.world.phase, stage.world.wishes), (Phase::Over, [true, false, false, false]));
    stage.say(2, Command::Again);
    stage.step(&[]);
    assert!(stage.happened(Pong::BEGIN));
    assert_eq!((stage.world.phase, stage.world.score), (Phase::Playing, [0, 0]));
    assert_eq!(stage.world.wishes, [false; 4]);
}

#[test]
fn after_five_seconds_one_wish_is_enough() {
    for player in [1, 2] {
        let mut stage = over(quick());
        stage.say(player, Command::Again);
        assert_eq!(stage.until(Pong::BEGIN), 300);
        let mut stage = over(quick());
        (0..1_000).for_each(|_| stage.step(&[]));
        assert_eq!(stage.world.phase, Phase::Over);
        stage.say(player, Command::Again);
        assert_eq!(stage.until(Pong::BEGIN), 1);
    }
}

/// A match of a host with a guest of Networked Pong.
fn with_mute(game: Pong) -> Stage {
    let mut stage = Stage::new(game, 1);
    stage.game.join(&mut stage.world, PlayerId(2), &());
    stage.game.on_status(&mut stage.world, PlayerId(2), PlayerStatus::Mute);
    stage
}

#[test]
fn a_guest_of_networked_pong_waits_for_no_countdown_and_wishes_what_the_host_does() {
    let mut stage = with_mute(Pong { points: 1, ..Pong::default() });
    assert_eq!(stage.until(Pong::BEGIN), 1);
    assert_eq!(stage.world.phase, Phase::Playing);
    stage.until(Pong::OVER);
    (0..400).for_each(|_| stage.step(&[]));
    assert_eq!(stage.world.phase, Phase::Over);
    stage.say(1, Command::Again);
    assert_eq!(stage.until(Pong::BEGIN), 1);
    stage.leave(2);
    stage.join(2);
    assert_eq!(stage.until(Pong::BEGIN), 1);
    assert_eq!(stage.world.phase, Phase::Countdown);
}

#[test]
fn nothing_else_that_is_said_counts() {
    let mut stage = over(quick());
    let long = [b'R'; 255];
    for words in [&b""[..], b"r", b"RR", b"\xff\x00", &long] {
        assert!(Command::read(words).is_err(), "{words:?}");
    }
    for player in [0, 3, 4, 5, 9, u32::MAX] {
        assert_eq!(stage.say(player, Command::Again), []);
    }
    assert_eq!(stage.world.wishes, [false; 4]);
    let mut stage = Stage::playing();
    assert_eq!(stage.say(1, Command::Again), []);
    assert_eq!(stage.world.wishes, [false; 4]);
}

#[test]
fn no_one_comes_in_beyond_the_posts_of_the_game() {
    let mut stage = Stage::new(Pong::default(), 9);
    stage.join(0);
    stage.join(u32::MAX);
    assert_eq!(stage.world.posts().count(), 2);
    let stage = Stage::new(Pong { doubles: true, ..Pong::default() }, 9);
    assert_eq!(stage.world.posts().count(), 4);
}

fn doubles(players: u32) -> Stage {
    Stage::new(Pong { doubles: true, countdown: 0, ..Pong::default() }, players)
}

#[test]
fn doubles_wait_for_four_or_for_all_who_would_rather_begin() {
    let mut stage = doubles(3);
    stage.step(&[]);
    assert_eq!(stage.world.phase, Phase::Waiting);
    stage.join(4);
    stage.step(&[]);
    assert_eq!(stage.world.phase, Phase::Playing);
    let mut stage = doubles(2);
    stage.say(1, Command::Again);
    stage.step(&[]);
    assert_eq!(stage.world.phase, Phase::Waiting);
    stage.say(2, Command::Again);
    stage.step(&[]);
    assert_eq!(stage.world.phase, Phase::Playing);
    // One who comes later comes into the same match.
    stage.join(3);
    stage.step(&[]);
    assert_eq!((stage.world.phase, stage.world.posts().count()), (Phase::Playing, 3));
    // Two of one side have nobody to play against.
    let mut stage = doubles(1);
    stage.join(3);
    stage.say(1, Command::Again);
    stage.say(3, Command::Again);
    stage.step(&[]);
    assert_eq!(stage.world.phase, Phase::Waiting);
}

#[test]
fn doubles_go_on_until_a_side_is_empty() {
    let mut stage = doubles(4);
    stage.step(&[]);
    stage.leave(2);
    stage.step(&[]);
    assert_eq!(stage.world.phase, Phase::Playing);
    stage.leave(4);
    assert_eq!(stage.world.phase, Phase::Left);
}

#[test]
fn a_front_paddle_returns_what_comes_and_lets_pass_what_leaves() {
    let mut stage = doubles(4);
    stage.step(&[]);
    let mut fly = |x: i32, vx: i32, y: i32| {
        (stage.world.ball.x, stage.world.ball.y) = (x, y);
        (stage.world.ball.vx, stage.world.ball.vy) = (vx, 250);
        stage.step(&[]);
        (stage.world.ball.x, stage.world.ball.vx)
    };
    let y = 400 * UNITS;
    assert_eq!(fly(272 * UNITS, -400, y), (270 * UNITS + 6, 400));
    assert_eq!(fly(1148 * UNITS, 400, y), (1150 * UNITS - 6, -400));
    // From behind, out of the paddle's own back.
    assert_eq!(fly(232 * UNITS, 400, y), (232 * UNITS + 400, 400));
    assert_eq!(fly(1188 * UNITS, -400, y), (1188 * UNITS - 400, -400));
    // Past the front already, while the paddle comes from above.
    assert_eq!(fly(269 * UNITS, -400, y), (269 * UNITS - 400, -400));
    // The ball that left the front a unit ago is in front of it.
    assert_eq!(fly(270 * UNITS, -400, y), (270 * UNITS + 6, 400));
    assert_eq!(fly(270 * UNITS - 1, -400, y), (270 * UNITS - 401, -400));
}

#[test]
fn the_ball_of_doubles_is_never_caught() {
    for seed in 0..20 {
        let mut dice = Dice(seed);
        let mut stage = doubles(4);
        let mut held = [Buttons(0); 4];
        let (mut turns, mut last) = (0, 0);
        for tick in 0..6_000 {
            for buttons in &mut held {
                if dice.below(10) == 0 {
                    *buttons = Buttons(dice.below(4) as u16);
                }
            }
            stage.step(&[(1, held[0]), (2, held[1]), (3, held[2]), (4, held[3])]);
            if stage.happened(Pong::CONTACT) {
                // From the back to the next paddle that can turn it is half the field or more,
                // unless a back paddle pushes out what is on its way out already.
                let from = stage.events[0].entity;
                turns += u32::from(tick - last < 60 && from > 2);
                last = tick;
            }
        }
        assert_eq!(turns, 0, "seed {seed}");
    }
}

/// Plays with `held` for 20 s and holds the prediction of player 1 from every state, twelve ticks
/// long, against what is stepped.
fn predicts_exactly(mut stage: Stage, seed: u64) -> u32 {
    let client = Pong::default();
    let (mut dice, mut contacts) = (Dice(seed), 0);
    let mut held = Buttons(0);
    let mut waiting: Vec<(u32, World)> = Vec::new();
    for _ in 0..1_200 {
        if dice.below(8) == 0 {
            let sane = client.bot_input(&stage.world, PlayerId(1)).unwrap();
            held = if dice.below(3) == 0 { Buttons(dice.below(4) as u16) } else { sane };
        }
        waiting.push((stage.tick, client.restore(&stage.state())));
        stage.step(&[(1, held)]);
        contacts += u32::from(stage.happened(Pong::CONTACT));
        let inputs = [PlayerInput::new(PlayerId(1), held)];
        for (_, world) in &mut waiting {
            client.predict(world, &mut Turn::new(stage.tick, &inputs, &[], &mut Vec::new()));
            assert_eq!(*world, stage.world, "tick {}", stage.tick);
        }
        waiting.retain(|(from, _)| from + 12 > stage.tick);
    }
    contacts
}

#[test]
fn a_client_with_the_default_rules_predicts_any_room_to_the_bit() {
    let mut contacts = 0;
    for seed in 0..10 {
        for (doubles, players, points) in [(false, 2, 5), (false, 2, 1), (true, 4, 7)] {
            let game = Pong { doubles, points, countdown: 100 };
            let mut stage = Stage::new(game, players);
            stage.step(&[]);
            contacts += predicts_exactly(stage, seed);
        }
    }
    assert!(contacts > 20, "{contacts}");
}

#[test]
fn a_prediction_tells_only_of_the_own_half() {
    let game = Pong::default();
    let predicted = |player: u32, x: i32, y: i32, vx: i32| {
        let mut stage = Stage::playing();
        stage.world.ball.x = x;
        stage.world.ball.y = y;
        stage.world.ball.vx = vx;
        let inputs = [PlayerInput::new(PlayerId(player), UP)];
        let mut events = Vec::new();
        game.predict(&mut stage.world, &mut Turn::new(2, &inputs, &[], &mut events));
        events.iter().map(|event| event.kind).collect::<Vec<_>>()
    };
    let (left, right, y) = (72 * UNITS, 1348 * UNITS, 400 * UNITS);
    assert_eq!(predicted(1, left, y, -400), [Pong::CONTACT]);
    assert_eq!(predicted(2, left, y, -400), []);
    assert_eq!(predicted(1, right, y, 400), []);
    assert_eq!(predicted(2, right, y, 400), [Pong::CONTACT]);
    assert_eq!(predicted(1, 300 * UNITS, 0, -400), [Pong::WALL]);
    assert_eq!(predicted(2, 300 * UNITS, 0, -400), []);
}
