//! What must hold whatever is played.

use backspin::game::{Buttons, Game, PlayerId};
use backspin_pong::{Command, Phase, Pong, UNITS, World};
use backspin_sim::{Trial, check_rules, check_rules_with};
use proptest::prelude::*;

use crate::stage::{Dice, Stage};

#[test]
fn singles_are_fit_to_be_predicted_and_sent() {
    let checked = check_rules::<Pong>().unwrap_or_else(|error| panic!("{error}"));
    assert!(checked.events > 100, "{checked}");
}

#[test]
fn doubles_are_fit_to_be_predicted_and_sent() {
    for countdown in [0, 180] {
        let game = Pong { doubles: true, points: 3, countdown };
        let checked = check_rules_with(game, &Trial { ticks: 3_600, ..Trial::default() });
        let checked = checked.unwrap_or_else(|error| panic!("{error}"));
        assert!(checked.events > 100, "{checked}");
    }
}

/// 10,000 ticks of a script, coming, going, playing, asking again: contacts, matches that ended,
/// and a number that stands for all of it.
fn digest(game: Pong, seed: u64) -> (u32, u32, u64) {
    let players = u32::from(game.capacity());
    let (mut stage, mut dice) = (Stage::new(game, players), Dice(seed));
    let (mut contacts, mut overs, mut digest) = (0, 0, 0_u64);
    let mut held = Buttons(0);
    for _ in 0..10_000 {
        let player = 1 + dice.below(players.into()) as u32;
        match dice.below(1_200) {
            0 => stage.leave(player),
            1..=24 if stage.world.paddle(PlayerId(player)).is_none() => {
                stage.join(player);
            }
            25..=60 => drop(stage.say(player, Command::Again)),
            61..=180 => held = Buttons(dice.below(64) as u16),
            _ => {}
        }
        let sane = |player| game.bot_input(&stage.world, PlayerId(player)).unwrap();
        let first = if dice.below(4) == 0 { held } else { sane(1) };
        let inputs = [(1, first), (2, sane(2)), (3, sane(3)), (4, sane(4))];
        stage.step(&inputs);
        contacts += u32::from(stage.happened(Pong::CONTACT));
        overs += u32::from(stage.happened(Pong::OVER));
        digest = digest.rotate_left(1) ^ stage.state().digest();
    }
    (contacts, overs, digest)
}

#[test]
fn ten_thousand_ticks_are_the_same_on_every_machine() {
    let game = Pong { countdown: 60, points: 1, ..Pong::default() };
    let runs = [digest(game, 1), digest(Pong { doubles: true, ..game }, 2)];
    assert_eq!(runs, [(38, 3, 2_108_537_111_158_570_231), (60, 5, 16_429_524_450_514_685_015)]);
}

#[derive(Clone, Copy, Debug)]
enum Deed {
    Join(u32),
    Leave(u32),
    Ask(u32),
    GoOn(u32),
    Miss(u32),
    Hear(u32),
    Play([u16; 4], u32),
}

fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    let player = 0..6_u32;
    prop::collection::vec(
        prop_oneof![
            2 => player.clone().prop_map(Deed::Join),
            1 => player.clone().prop_map(Deed::Leave),
            2 => player.clone().prop_map(Deed::Ask),
            1 => player.clone().prop_map(Deed::GoOn),
            2 => player.clone().prop_map(Deed::Miss),
            2 => player.prop_map(Deed::Hear),
            8 => (any::<[u16; 4]>(), 1..200_u32).prop_map(|(held, ticks)| Deed::Play(held, ticks)),
        ],
        1..40,
    )
}

fn is_in_bounds(world: &World) -> bool {
    let ball = &world.ball;
    let flies = (ball.vx.abs(), ball.vy.abs()) == (400, 250);
    let rests = (ball.x, ball.y, ball.vx, ball.vy) == (710 * UNITS, 440 * UNITS, 0, 0);
    (-50 * UNITS..=1490 * UNITS).contains(&ball.x)
        && (0..=880 * UNITS).contains(&ball.y)
        && match world.phase {
            Phase::Playing => flies,
            // After a hold the ball flies on from where it is.
            Phase::Hold | Phase::Countdown => (ball.vx, ball.vy) == (0, 0),
            _ => rests,
        }
        && world.paddles.iter().flatten().all(|paddle| (0..=780 * UNITS).contains(&paddle.y))
        && world.score.iter().all(|&score| score <= world.points)
        && match world.phase {
            Phase::Over => world.winner().is_some(),
            Phase::Countdown | Phase::Playing => world.winner().is_none(),
            Phase::Waiting => world.score == [0, 0],
            Phase::Left => true,
            Phase::Hold => world.winner().is_none() && world.quiet_sides().next().is_some(),
        }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn everything_stays_in_bounds_and_scores_only_grow_in_a_match(
        doubles: bool,
        points in 1..4_u8,
        deeds in deeds(),
    ) {
        let game = Pong { doubles, points, countdown: 10 };
        let mut stage = Stage::new(game, 4);
        for deed in deeds {
            match deed {
                Deed::Join(player) => stage.join(player),
                Deed::Leave(player) => stage.leave(player),
                Deed::Ask(player) => drop(stage.say(player, Command::Again)),
                Deed::GoOn(player) => drop(stage.say(player, Command::GoOn)),
                Deed::Miss(player) => stage.miss(player),
                Deed::Hear(player) => stage.hear(player),
                Deed::Play(held, ticks) => for _ in 0..ticks {
                    let before = stage.world;
                    let held = [0, 1, 2, 3].map(|i| (i as u32 + 1, Buttons(held[i])));
                    stage.step(&held);
                    let world = stage.world;
                    prop_assert!(is_in_bounds(&world), "{:?}", world);
                    if stage.happened(Pong::BEGIN) {
                        prop_assert_eq!(world.score, [0, 0]);
                    } else {
                        let grown = |i: usize| world.score[i] - before.score[i];
                        let points = u8::from(stage.happened(Pong::POINT));
                        prop_assert_eq!(grown(0) + grown(1), points);
                    }
                    // How long someone is still waited for is the server's to know.
                    let restored = stage.game.restore(&stage.state());
                    prop_assert_eq!(World { patience: world.patience, ..restored }, world);
                },
            }
        }
    }
}
