//! Bots finish the first level on easy, alone and in company.

mod play;

use backspin_rtype::command::Setup;
use backspin_rtype::difficulty::Difficulty;
use backspin_rtype::mission::Phase;
use backspin_rtype::{Opening, RType};
use play::Play;

/// How a match of bots went.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    level: u8,
    phase: Phase,
    seconds: u32,
    lives: i32,
    score: i32,
}

fn match_of(
    players: u32,
    difficulty: Difficulty,
    base_lives: u8,
    seed: u64,
    levels: u8,
) -> Outcome {
    let setup = Setup { difficulty, base_lives, late_joining: true };
    let game = RType { opening: Opening::AtOnce, setup, ..RType::default() };
    let mut play = Play::new(game, seed, players);
    // As old a picture as on the reference link.
    play.back = Some(9.4);
    loop {
        play.step_bots();
        let mission = play.world.mission;
        let over = matches!(mission.phase, Phase::Defeat | Phase::Victory)
            || mission.phase == Phase::LevelClear && mission.level >= levels
            || play.tick > 60 * 1_200;
        if over {
            return Outcome {
                level: mission.level,
                phase: mission.phase,
                seconds: play.tick / 60,
                lives: play.world.players().map(|card| i32::from(card.lives)).sum(),
                score: mission.team_score,
            };
        }
    }
}

fn finishes(players: u32, seed: u64) -> bool {
    let outcome = match_of(players, Difficulty::Easy, 3, seed, 1);
    println!("{players} players, seed {seed}: {outcome:?}");
    outcome.phase == Phase::LevelClear
}

#[test]
fn four_bots_finish_level_one_on_easy() {
    assert!((1..=10).all(|seed| finishes(4, seed)));
}

#[test]
fn one_bot_finishes_level_one_on_easy() {
    assert!((1..=10).all(|seed| finishes(1, seed)));
}

/// `cargo test -p backspin-rtype --release --test bots -- --ignored --nocapture`
#[test]
#[ignore = "a table for whoever tunes the game"]
fn how_far_bots_come() {
    for difficulty in Difficulty::ALL {
        for players in [1, 2, 4] {
            let outcomes: Vec<_> =
                (1..=100).map(|seed| match_of(players, difficulty, 3, seed, 3)).collect();
            let reached = |level| outcomes.iter().filter(|o| o.level > level).count();
            let won = outcomes.iter().filter(|o| o.phase == Phase::Victory).count();
            let mean = |of: fn(&Outcome) -> i32| {
                outcomes.iter().map(of).sum::<i32>() / outcomes.len() as i32
            };
            println!(
                "{difficulty:?}, {players} ships: past one {} %, past two {} %, won {won} %, \
                 {} s, {} points, {} lives left",
                reached(1),
                reached(2),
                mean(|o| o.seconds as i32),
                mean(|o| o.score),
                mean(|o| o.lives),
            );
        }
    }
}
