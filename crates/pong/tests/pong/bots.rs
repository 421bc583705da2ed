//! The bots against each other, and against a beginner.

use backspin::game::{Buttons, Game, PlayerId};
use backspin_pong::{Bot, Level, Phase, Pong, Side, UNITS, World};

use crate::stage::{DOWN, Stage, UP};

/// Whoever plays a side.
trait Plays {
    fn play(&mut self, world: &World, player: PlayerId, tick: u32) -> Buttons;
}

impl Plays for Bot {
    fn play(&mut self, world: &World, player: PlayerId, tick: u32) -> Buttons {
        self.buttons(world, player, tick)
    }
}

/// Looks four times a second, and then moves a bit towards where the ball was.
#[derive(Default)]
struct Beginner {
    held: Buttons,
}

impl Plays for Beginner {
    fn play(&mut self, world: &World, player: PlayerId, tick: u32) -> Buttons {
        if tick.is_multiple_of(15) {
            let paddle = world.paddle(player).map_or(0, |paddle| paddle.y);
            let way = world.ball.y - 50 * UNITS - paddle;
            self.held = match way {
                way if way.abs() < 60 * UNITS => Buttons(0),
                way if way < 0 => UP,
                _ => DOWN,
            };
        }
        if tick % 15 < 8 { self.held } else { Buttons(0) }
    }
}

struct Outcome {
    winner: Option<Side>,
    contacts: u32,
    points: u32,
    ticks: u32,
}

/// A match to 5, or an hour of one. Everyone sees the world `late` ticks late.
fn play(left: &mut dyn Plays, right: &mut dyn Plays, late: usize) -> Outcome {
    let mut stage = Stage::singles();
    let mut seen = vec![stage.world; late + 1];
    let (mut contacts, mut points) = (0, 0);
    while stage.world.phase != Phase::Over && stage.tick < 216_000 {
        let tick = stage.tick + 1;
        let old = seen[tick as usize % (late + 1)];
        let held = [left.play(&old, PlayerId(1), tick), right.play(&old, PlayerId(2), tick)];
        stage.step(&[(1, held[0]), (2, held[1])]);
        seen[tick as usize % (late + 1)] = stage.world;
        contacts += u32::from(stage.happened(Pong::CONTACT));
        points += u32::from(stage.happened(Pong::POINT));
    }
    Outcome { winner: stage.world.winner(), contacts, points, ticks: stage.tick }
}

fn bots(left: Level, right: Level, seed: u64, late: usize) -> Outcome {
    play(&mut Bot::new(left, 2 * seed), &mut Bot::new(right, 2 * seed + 1), late)
}

/// How many percent of so many matches the better bot wins, changing sides.
fn wins(better: Level, worse: Level, late: usize, matches: u64) -> u64 {
    let won = |seed: u64| match seed % 2 {
        0 => bots(better, worse, seed, late).winner == Some(Side::Left),
        _ => bots(worse, better, seed, late).winner == Some(Side::Right),
    };
    (0..matches).map(|seed| u64::from(won(seed))).sum::<u64>() * 100 / matches
}

#[test]
fn a_better_bot_wins() {
    assert!(wins(Level::Hard, Level::Easy, 0, 200) > 95);
    assert!(wins(Level::Hard, Level::Normal, 0, 40) > 75);
    assert!(wins(Level::Normal, Level::Easy, 0, 40) > 90);
}

#[test]
fn a_better_bot_wins_also_on_a_slow_line() {
    assert!(wins(Level::Hard, Level::Easy, 10, 100) > 95);
    assert!(wins(Level::Hard, Level::Normal, 10, 40) > 75);
    assert!(wins(Level::Normal, Level::Easy, 10, 40) > 90);
}

#[test]
fn hard_bots_have_long_rallies_and_still_end_a_match() {
    let (mut contacts, mut points) = (0, 0);
    for seed in 0..8 {
        let outcome = bots(Level::Hard, Level::Hard, seed, 0);
        assert!(outcome.winner.is_some(), "no end after {} ticks, seed {seed}", outcome.ticks);
        contacts += outcome.contacts;
        points += outcome.points;
    }
    let rally = f64::from(contacts) / f64::from(points);
    assert!(rally > 15.0, "{rally} contacts a point");
}

#[test]
fn a_beginner_beats_the_easy_bot_and_loses_to_the_hard_one() {
    let beats = |level: Level| {
        let won = |seed: u64| {
            let outcome = play(&mut Beginner::default(), &mut Bot::new(level, seed), 0);
            u32::from(outcome.winner == Some(Side::Left))
        };
        (0..100).map(won).sum::<u32>()
    };
    let (easy, hard) = (beats(Level::Easy), beats(Level::Hard));
    assert!(easy > 75, "{easy} of 100 against the easy bot");
    assert!(hard < 25, "{hard} of 100 against the hard bot");
}

#[test]
fn a_seed_makes_the_same_match() {
    let run = |seed| {
        let outcome = bots(Level::Normal, Level::Normal, seed, 0);
        (outcome.ticks, outcome.contacts)
    };
    assert_eq!(run(3), run(3));
    assert_ne!(run(3), run(4));
}

#[test]
fn a_bot_without_a_paddle_holds_nothing() {
    let mut bot = Bot::new(Level::Hard, 1);
    let world = Stage::playing().world;
    for player in [0, 3, 9, u32::MAX] {
        assert_eq!(bot.buttons(&world, PlayerId(player), 1), Buttons(0));
        assert_eq!(Pong::default().bot_input(&world, PlayerId(player)), Some(Buttons(0)));
    }
}

#[test]
fn who_stands_in_returns_most_balls() {
    struct StandIn;
    impl Plays for StandIn {
        fn play(&mut self, world: &World, player: PlayerId, _: u32) -> Buttons {
            Pong::default().bot_input(world, player).unwrap()
        }
    }
    let outcome = play(&mut StandIn, &mut Bot::new(Level::Hard, 5), 0);
    let late = play(&mut StandIn, &mut Bot::new(Level::Hard, 5), 10);
    for outcome in [outcome, late] {
        assert!(outcome.contacts > 3 * outcome.points, "{} contacts", outcome.contacts);
    }
    let won = |seed| play(&mut StandIn, &mut Bot::new(Level::Easy, seed), 0).winner;
    let wins = (0..50).filter(|&seed| won(seed) == Some(Side::Left)).count();
    assert!(wins > 40, "{wins} of 50");
}
