//! How many bytes a tick takes, measured on two games in miniature.

mod scenes;

use backspin::replication::{Schema, State, delta};
use scenes::schemas::{PONG, RTYPE};
use scenes::{Pong, Rtype};

/// The mean body in bytes over all ticks, each against the state `back` ticks before.
fn mean_body(schema: &Schema, back: usize, states: &[State]) -> f64 {
    let (mut bytes, mut decoded) = ([0; 2000], State::default());
    let mut total = 0;
    for window in states.windows(back + 1) {
        let (baseline, current) = (&window[0], &window[back]);
        let len = delta::encode(schema, Some(baseline), current, &mut bytes).unwrap();
        delta::decode(schema, Some(baseline), current.tick, &bytes[..len], &mut decoded).unwrap();
        assert_eq!(&decoded, current);
        total += len;
    }
    total as f64 / (states.len() - back) as f64
}

fn run(ticks: usize, mut next: impl FnMut(&mut State)) -> Vec<State> {
    let state = |_| {
        let mut state = State::default();
        next(&mut state);
        state
    };
    (0..ticks).map(state).collect()
}

fn pong(seed: u64) -> Vec<State> {
    let mut game = Pong::new(seed);
    run(2400, |state| {
        game.step();
        game.state(state);
    })
}

fn rtype(seed: u64) -> Vec<State> {
    let mut game = Rtype::new(seed);
    run(600, |state| {
        game.step();
        game.state(state);
    })
}

#[test]
fn a_tick_of_pong_is_about_three_bytes() {
    let mean = mean_body(&PONG, 9, &pong(1));
    println!("Pong: {mean:.2} bytes a tick");
    assert!((2.0..4.0).contains(&mean), "{mean}");
}

#[test]
fn a_tick_of_64_things_is_about_44_bytes() {
    let mean = mean_body(&RTYPE, 9, &rtype(1));
    println!("R-Type: {mean:.2} bytes a tick");
    assert!((35.0..50.0).contains(&mean), "{mean}");
}

#[test]
fn a_tick_against_the_one_before_is_a_few_bytes() {
    let (pong, rtype) = (mean_body(&PONG, 1, &pong(2)), mean_body(&RTYPE, 1, &rtype(2)));
    assert!(pong < 1.5 && rtype < 7.0, "{pong} {rtype}");
}

#[test]
fn players_of_this_pong_are_restless() {
    let states = pong(1);
    for paddle in 0..2 {
        let turned = |window: &&[State]| {
            let direction = |state: &State| state.entities()[paddle].fields[1];
            direction(&window[0]) != direction(&window[1])
        };
        let turns = states.windows(2).filter(turned).count();
        assert!(turns > 2 * states.len() / 60, "{turns} turns in {} ticks", states.len());
    }
}
