//! In steady state nothing is allocated per tick, on either side: proved by an allocator that
//! counts.

mod counting;
mod scenes;

use backspin::replication::{Bodies, History, Schema, State, delta};
use backspin_classic::FullForm;
use scenes::schemas::{PONG, RTYPE};
use scenes::{Pong, Rtype};

/// A room and a client of it, tick by tick.
struct Match {
    schema: &'static Schema,
    full: FullForm,
    server: History,
    client: History,
    bodies: Bodies,
    current: State,
    received: State,
}

impl Match {
    fn new(schema: &'static Schema) -> Self {
        Match {
            schema,
            full: FullForm::new(schema),
            server: History::default(),
            client: History::default(),
            bodies: Bodies::new(1200),
            current: State::default(),
            received: State::default(),
        }
    }

    /// One tick: written against every baseline there is, applied by the client, kept by both.
    fn tick(&mut self, state: impl FnOnce(&mut State)) {
        state(&mut self.current);
        let tick = self.current.tick;
        for back in 0..=32 {
            let baseline = self.server.at(tick.wrapping_sub(back)).filter(|_| back > 0);
            if back == 0 || baseline.is_some() {
                let body = self.bodies.body(self.schema, baseline, &self.current).unwrap();
                let baseline = baseline.and_then(|baseline| self.client.at(baseline.tick));
                delta::decode(self.schema, baseline, tick, body, &mut self.received).unwrap();
            }
        }
        assert_eq!(self.received, self.current);
        assert!(self.current.entities().iter().filter_map(|e| self.full.entity(e)).count() > 0);
        self.server.begin(tick).clone_from(&self.current);
        self.client.begin(tick).clone_from(&self.received);
    }
}

/// How often `ticks` of play allocate, after as many as fill all buffers.
fn allocations(mut play: impl FnMut(), ticks: usize) -> usize {
    (0..100).for_each(|_| play());
    let before = counting::allocations();
    (0..ticks).for_each(|_| play());
    counting::allocations() - before
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| drop(std::hint::black_box(Box::new(7))), 3), 3);
}

#[test]
fn pong_allocates_nothing() {
    let (mut game, mut room) = (Pong::new(3), Match::new(&PONG));
    let play = || {
        game.step();
        room.tick(|state| game.state(state));
    };
    assert_eq!(allocations(play, 200), 0);
}

#[test]
fn rtype_allocates_nothing() {
    let (mut game, mut room) = (Rtype::new(3), Match::new(&RTYPE));
    let play = || {
        game.step();
        room.tick(|state| game.state(state));
    };
    assert_eq!(allocations(play, 200), 0);
}
