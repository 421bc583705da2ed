//! What it costs to write a tick for a room of clients, and to apply it.
//!
//! `cargo bench -p backspin --bench replica`

use std::hint::black_box;

use backspin::replication::{Bodies, History, Schema, State, delta};
use divan::Bencher;

#[path = "../tests/scenes/mod.rs"]
mod scenes;

use scenes::schemas::{PONG, RTYPE};
use scenes::{Pong, Rtype};

fn main() {
    divan::main();
}

/// How old the baselines are, in ticks.
const BACK: usize = 9;

/// So many ticks are written or applied in turn, as no two are alike.
const TICKS: usize = 256;

fn rtype() -> Vec<State> {
    let mut game = Rtype::new(1);
    states(|state| {
        game.step();
        game.state(state);
    })
}

fn pong() -> Vec<State> {
    let mut game = Pong::new(1);
    states(|state| {
        game.step();
        game.state(state);
    })
}

fn states(mut next: impl FnMut(&mut State)) -> Vec<State> {
    let mut state = State::default();
    let mut one = |_| {
        next(&mut state);
        state.clone()
    };
    (0..TICKS + BACK).map(&mut one).collect()
}

/// Calls `work` with one pair of baseline and current state after another.
fn each_tick<T>(bencher: Bencher<'_, '_>, states: &[State], mut work: impl FnMut(usize) -> T) {
    let mut tick = 0;
    assert_eq!(states.len(), TICKS + BACK);
    bencher.bench_local(|| {
        tick = (tick + 1) % TICKS;
        work(tick)
    });
}

fn encode(bencher: Bencher<'_, '_>, schema: &Schema, states: &[State]) {
    let mut out = [0; 1200];
    each_tick(bencher, states, |tick| {
        let (baseline, current) = (&states[tick], &states[tick + BACK]);
        delta::encode(schema, Some(black_box(baseline)), black_box(current), &mut out)
    });
}

fn decode(bencher: Bencher<'_, '_>, schema: &Schema, states: &[State]) {
    let body = |window: &[State]| {
        let mut out = vec![0; 1200];
        let (baseline, current) = (&window[0], &window[BACK]);
        let len = delta::encode(schema, Some(baseline), current, &mut out).unwrap();
        out.truncate(len);
        out
    };
    let bodies: Vec<_> = states.windows(BACK + 1).map(body).collect();
    let mut out = State::default();
    each_tick(bencher, states, |tick| {
        let (baseline, body) = (&states[tick], &bodies[tick]);
        delta::decode(schema, Some(black_box(baseline)), states[tick + BACK].tick, body, &mut out)
    });
}

#[divan::bench(sample_size = TICKS as u32)]
fn rtype_encode(bencher: Bencher<'_, '_>) {
    encode(bencher, &RTYPE, &rtype());
}

#[divan::bench(sample_size = TICKS as u32)]
fn rtype_decode(bencher: Bencher<'_, '_>) {
    decode(bencher, &RTYPE, &rtype());
}

#[divan::bench(sample_size = TICKS as u32)]
fn pong_encode(bencher: Bencher<'_, '_>) {
    encode(bencher, &PONG, &pong());
}

#[divan::bench(sample_size = TICKS as u32)]
fn pong_decode(bencher: Bencher<'_, '_>) {
    decode(bencher, &PONG, &pong());
}

/// One tick of a room: 64 entities, 4 clients with one baseline.
#[divan::bench(sample_size = TICKS as u32)]
fn rtype_for_four_clients(bencher: Bencher<'_, '_>) {
    let states = rtype();
    let mut bodies = Bodies::new(1200);
    each_tick(bencher, &states, |tick| {
        let (baseline, current) = (&states[tick], &states[tick + BACK]);
        let mut body = || bodies.body(&RTYPE, Some(baseline), current).map(<[u8]>::len);
        [body(), body(), body(), body()]
    });
}

#[divan::bench(sample_size = TICKS as u32)]
fn rtype_push(bencher: Bencher<'_, '_>) {
    let states = rtype();
    let mut history = History::default();
    let mut newest = states[0].clone();
    each_tick(bencher, &states, |_| {
        newest.tick += 1;
        history.begin(newest.tick).clone_from(black_box(&newest));
    });
}
