use std::collections::VecDeque;

use super::known_world::ViewPart;
use super::*;
use crate::chance::Chance;
use crate::game::SpawnName;
use crate::replication::state::LOOKS;
use crate::replication::view::client_view::Snapshot;
use crate::replication::{
    Entity, Field, History, Kind, Motion, Schema, SnapshotBuffer, State, Step,
};

const fn place(name: &'static str, velocity: usize) -> Field {
    Field {
        name,
        min: 0,
        max: 20_000,
        step: Step::ONE,
        motion: Motion::Along { velocity, per_ticks: 4 },
    }
}

const fn pace(name: &'static str) -> Field {
    Field { name, min: -100, max: 100, step: Step::ONE, motion: Motion::Still }
}

const SCHEMA: Schema = Schema::new(&[
    Kind { name: "mover", fields: &[place("x", 2), place("y", 3), pace("vx"), pace("vy")] },
    Kind { name: "wall", fields: &[pace("height")] },
]);

const OWN: u32 = 1;

/// A server's world, one client's view of it, and the link between them.
struct Bench {
    dice: Chance,
    entities: Vec<Entity>,
    next_id: u32,
    tick: u32,
    every: u32,
    budget: u32,
    history: History,
    view: ClientView,
    known: KnownWorld,
    picture: SnapshotBuffer,
    /// By when they arrive: number, first, body.
    down: VecDeque<(u32, u32, u32, Vec<u8>)>,
    up: VecDeque<(u32, u32, u64)>,
    sequence: u32,
    newest: u32,
    mask: u64,
    loss: u64,
    is_hidden: fn(&Entity) -> bool,
    strays: u32,
    bytes: usize,
    /// What the client might see, by tick.
    shown: Vec<State>,
    /// The newest tick that is known to have come whole.
    whole: Option<u32>,
}

impl Bench {
    fn new(seed: u64, every: u32, budget: u32, loss: u64) -> Self {
        Bench {
            dice: Chance::new(seed, 0),
            entities: Vec::new(),
            next_id: 1,
            tick: 0,
            every,
            budget,
            history: History::every(every),
            view: ClientView::new(1),
            known: KnownWorld::default(),
            picture: SnapshotBuffer::default(),
            down: VecDeque::new(),
            up: VecDeque::new(),
            sequence: u32::MAX - 40,
            newest: u32::MAX - 41,
            mask: 0,
            loss,
            is_hidden: |_| false,
            strays: 0,
            bytes: 0,
            shown: vec![State::new(0)],
            whole: None,
        }
    }

    fn below(&mut self, end: u64) -> u64 {
        self.dice.below(end)
    }

    /// Whole steps a tick: what is carried tick by tick is where one carry over all of them has it.
    fn pace(&mut self) -> i32 {
        (self.below(51) as i32 - 25) * 4
    }

    fn add(&mut self) {
        let counts = [0; 2].map(|_| self.below(20_000) as i32);
        let paces = [0; 2].map(|_| self.pace());
        let id = match self.below(8) {
            0 => {
                let player = PlayerId(1 + self.below(255) as u32);
                let count = self.below(256) as u8;
                SpawnName { player, tick: self.tick, count }.entity_id()
            }
            _ => self.next_id,
        };
        self.next_id += 1 + self.below(3) as u32;
        let kind = u8::from(self.below(5) == 0);
        let counts = match kind {
            0 => vec![counts[0], counts[1], paces[0], paces[1]],
            _ => vec![paces[0]],
        };
        if self.entities.iter().all(|entity| entity.id != id) {
            self.entities.push(Entity::new(&SCHEMA, id, kind, &counts));
        }
    }

    /// One tick of the world: everything goes on, and some things turn, come or go.
    fn step(&mut self, turns: u64) {
        self.tick += 1;
        let mut entities = std::mem::take(&mut self.entities);
        for entity in &mut entities {
            *entity = entity.extrapolate(&SCHEMA, 1);
            if self.below(1000) < turns {
                let index = entity.fields.len() - 1;
                entity.fields[index] = self.pace();
            }
        }
        entities.retain(|entity| entity.id == OWN || self.below(20_000) >= turns);
        self.entities = entities;
        if self.below(400) < turns {
            self.add();
        }
        self.shown.push(self.visible());
        self.exchange();
        self.check_whole();
    }

    /// What the server takes for whole, the client has as it was.
    fn check_whole(&mut self) {
        if let Some(tick) = self.view.whole().filter(|tick| self.whole != Some(*tick)) {
            if let Some(state) = self.picture.at(tick) {
                assert_eq!(state, &self.shown[tick as usize], "tick {tick}");
            }
            self.whole = Some(tick);
        }
    }

    fn state(&self) -> State {
        let mut state = State::new(self.tick);
        self.entities.iter().for_each(|entity| state.push(entity.clone()).unwrap());
        state
    }

    fn visible(&self) -> State {
        let mut state = State::new(self.tick);
        for entity in self.entities.iter().filter(|entity| !(self.is_hidden)(entity)) {
            state.push(entity.clone()).unwrap();
        }
        state
    }

    fn exchange(&mut self) {
        if self.tick.is_multiple_of(self.every) {
            self.send();
        }
        let due = |at: u32, now: u32| at <= now;
        let mut arrived: Vec<_> = Vec::new();
        let now = self.tick;
        self.down.retain(|datagram| {
            let is_due = due(datagram.0, now);
            if is_due {
                arrived.push(datagram.clone());
            }
            !is_due
        });
        arrived.sort_by_key(|datagram| datagram.0);
        for (_, sequence, tick, body) in arrived {
            self.receive(sequence, tick, &body);
        }
        while let Some((at, newest, mask)) = self.up.front().copied().filter(|up| due(up.0, now)) {
            self.up.pop_front();
            let _ = at;
            self.view.handle_acks(newest, mask, &self.history, self.every);
        }
        if self.picture.newest().is_some() && self.below(100) >= self.loss {
            let at = self.tick + 3;
            self.up.push_back((at, self.newest, self.mask));
        }
    }

    fn send(&mut self) {
        let state = self.state();
        self.history.begin(self.tick).clone_from(&state);
        let mut view = View::default();
        let mut any_hidden = false;
        for entity in &self.entities {
            match (self.is_hidden)(entity) {
                true => any_hidden = true,
                false => view.show(entity.id, View::PLAIN),
            }
        }
        if !any_hidden && self.tick.is_multiple_of(2) {
            view.clear();
            view.everything();
        }
        view.finish();
        let snapshot =
            Snapshot { schema: &SCHEMA, history: &self.history, state: &state, every: self.every };
        self.view.plan(snapshot, &view, self.budget, |entity| entity.id == OWN);
        let mut out = [0; 1000];
        while let Some((len, _)) = self.view.poll(snapshot, self.sequence, 20, &mut out) {
            self.bytes += len;
            let sequence = self.sequence;
            self.sequence = sequence.wrapping_add(1);
            if self.dice.below(100) >= self.loss {
                let at = self.tick + 2 + self.dice.below(4) as u32;
                self.down.push_back((at, sequence, self.tick, out[..len].to_vec()));
            }
        }
    }

    fn receive(&mut self, sequence: u32, tick: u32, body: &[u8]) {
        let part = ViewPart { epoch: 1, tick, every: self.every, body };
        match self.known.handle(&SCHEMA, part, &mut self.picture) {
            Ok(_) => {}
            Err(ViewError::Stray) => {
                self.strays += 1;
                return;
            }
            Err(error) => panic!("tick {tick}: {error}"),
        }
        let ahead = sequence.wrapping_sub(self.newest) as i32;
        match ahead {
            1.. => {
                self.mask = self.mask.checked_shl(ahead as u32).unwrap_or(0);
                self.mask |= 1_u64.checked_shl(ahead as u32 - 1).unwrap_or(0);
                self.newest = sequence;
            }
            0 => {}
            _ => self.mask |= 1_u64.checked_shl(ahead.unsigned_abs() - 1).unwrap_or(0),
        }
    }
}

#[test]
fn a_client_ends_up_with_what_it_may_see_whatever_the_link_loses_or_reorders() {
    for (seed, every, budget, loss) in
        [(1, 1, 4000, 0), (2, 1, 900, 20), (3, 3, 900, 20), (4, 3, 300, 40), (5, 6, 2000, 5)]
    {
        let mut table = Bench::new(seed, every, budget, loss);
        (0..300).for_each(|_| table.add());
        for tick in 0..600 {
            if tick == 300 {
                table.is_hidden = |entity| entity.id % 3 == 0;
            }
            table.step(20);
        }
        // The world goes on undisturbed: then the client catches up, and nothing more is sent of it.
        table.loss = 0;
        for _ in 0..600 {
            table.step(0);
        }
        let newest = table.picture.newest_state().unwrap();
        assert_eq!(newest, &table.shown[newest.tick as usize], "seed {seed}");
        assert!(table.tick - newest.tick < 6 + every, "seed {seed}");
        assert!(table.whole.is_some_and(|tick| tick > 600), "seed {seed}: {:?}", table.whole);
        assert!(table.view.counts().unsent == 0, "seed {seed}: {:?}", table.view.counts());
        assert!(table.strays < 20, "seed {seed}: {} strays", table.strays);
    }
}

#[test]
fn a_thing_that_goes_where_its_velocity_carries_it_is_not_sent_again() {
    let mut table = Bench::new(6, 1, 20_000, 0);
    (0..200).for_each(|_| table.add());
    // Everyone learns of everything, and everything comes to rest at the edges.
    (0..900).for_each(|_| table.step(0));
    let before = table.bytes;
    (0..100).for_each(|_| table.step(0));
    assert!(table.bytes - before < 100 * 3, "{} bytes", table.bytes - before);
    let newest = table.picture.newest_state().unwrap();
    assert_eq!(newest, &table.shown[newest.tick as usize]);
}

const STILL: Schema = Schema::new(&[Kind { name: "wall", fields: &[pace("height")] }]);

/// The body of one snapshot of a wall, for a client with nothing else, of a sender's choice.
fn told(sender: &mut ClientView, history: &mut History, tick: u32, height: i32) -> Vec<u8> {
    let mut state = State::new(tick);
    state.push(Entity::new(&STILL, 7, 0, &[height])).unwrap();
    history.begin(tick).clone_from(&state);
    let mut view = View::default();
    view.everything();
    let snapshot = Snapshot { schema: &STILL, history, state: &state, every: 1 };
    sender.plan(snapshot, &view, 1_000, |_| false);
    let mut out = [0; 100];
    let (len, _) = sender.poll(snapshot, tick, 0, &mut out).unwrap();
    assert!(sender.poll(snapshot, tick, 0, &mut out).is_none());
    sender.handle_acks(tick, 0, history, 1);
    out[..len].to_vec()
}

#[test]
fn a_state_that_comes_late_has_what_had_not_changed_for_long() {
    let (mut sender, mut history) = (ClientView::new(1), History::every(1));
    let (mut known, mut picture) = (KnownWorld::default(), SnapshotBuffer::<64>::default());
    let mut take = |tick, body: &[u8]| {
        let part = ViewPart { epoch: 1, tick, every: 1, body };
        assert_eq!(known.handle(&STILL, part, &mut picture), Ok(true));
        picture.at(tick).unwrap().find(7).map(|wall| wall.fields[0])
    };
    let first = told(&mut sender, &mut history, 1, 4);
    assert_eq!(take(1, &first), Some(4));
    // Nothing is said of it for longer than a value is written against; then two datagrams cross.
    let unchanged = told(&mut sender, &mut history, 300, 4);
    let changed = told(&mut sender, &mut history, 301, 5);
    assert_eq!(take(301, &changed), Some(5));
    assert_eq!(take(300, &unchanged), Some(4));
}

#[test]
fn what_is_the_players_own_is_in_every_snapshot_however_small_the_budget() {
    let mut table = Bench::new(7, 1, 1, 0);
    table.next_id = OWN;
    (0..400).for_each(|_| table.add());
    if table.entities.iter().all(|entity| entity.id != OWN) {
        table.entities.push(Entity::new(&SCHEMA, OWN, 0, &[5_000, 5_000, 3, 4]));
    }
    let mut own = 0;
    for tick in 0..200 {
        table.step(1_000);
        let Some(newest) = table.picture.newest_state() else { continue };
        if newest.find(OWN).is_some() && tick > 10 {
            assert_eq!(newest.find(OWN), table.shown[newest.tick as usize].find(OWN));
            own += 1;
        }
    }
    assert!(own > 150, "{own}");
}

/// How many entities a view of 200 looks at, in a world with so many hidden ones between, while others come
/// and go before all of them and so move their places; the client's word takes four snapshots.
fn looks(hidden: u32) -> u64 {
    let (mut view, mut history) = (ClientView::new(1), History::every(1));
    let (mut out, mut sequence, mut looks) = ([0; 1_000], 0, 0);
    let mut under_way = VecDeque::new();
    let mut shown = View::default();
    (1..=200).for_each(|nth| shown.show(nth * 100, View::PLAIN));
    for tick in 1..=60 {
        let state = history.begin(tick);
        let mut put = |id: u32| {
            let mixed = id.wrapping_mul(tick).wrapping_mul(0x9E37_79B1);
            let counts = [(mixed >> 8 & 4_095) as i32, (mixed >> 20) as i32, 0, 0];
            state.push(Entity::new(&SCHEMA, id, 0, &counts)).unwrap();
        };
        (0..tick * 7 % 5).for_each(&mut put);
        (1..=200).for_each(|nth| (0..=hidden).for_each(|it| put(nth * 100 + it)));
        let state = history.newest().unwrap();
        let snapshot = Snapshot { schema: &SCHEMA, history: &history, state, every: 1 };
        let before = LOOKS.get();
        view.plan(snapshot, &shown, 100_000, |_| false);
        while view.poll(snapshot, sequence, 20, &mut out).is_some() {
            sequence += 1;
        }
        under_way.push_back(sequence - 1);
        if under_way.len() > 4 {
            let newest = under_way.pop_front().unwrap();
            view.handle_acks(newest, u64::MAX, &history, 1);
        }
        looks += LOOKS.get() - before;
    }
    assert_eq!((view.counts().shown, view.counts().unsent), (200, 0));
    looks
}

#[test]
fn a_view_of_200_looks_at_no_more_of_a_world_of_16200_than_of_one_of_200() {
    let (small, large) = (looks(0), looks(80));
    assert!(large <= small + small / 4, "{large} looks, and {small} in a small world");
    // Three times a snapshot: as it is, as it was sent, and as it has arrived.
    assert!(small < 60 * 200 * 3 * 4, "{small}");
}

/// The body of one snapshot of a view that fits one datagram.
fn one_body(view: &mut ClientView, history: &History, shown: &[u32], sequence: u32) -> Vec<u8> {
    let mut seen = View::default();
    shown.iter().for_each(|id| seen.show(*id, View::PLAIN));
    let state = history.newest().unwrap();
    let snapshot = Snapshot { schema: &SCHEMA, history, state, every: 1 };
    view.plan(snapshot, &seen, 1_000, |_| false);
    let mut out = [0; 1_000];
    let (len, _) = view.poll(snapshot, sequence, 0, &mut out).unwrap();
    out[..len].to_vec()
}

fn put(history: &mut History, tick: u32, x: i32) {
    history.begin(tick).push(Entity::new(&SCHEMA, 5, 0, &[x, 0, 0, 0])).unwrap();
}

fn part(tick: u32, body: &[u8]) -> ViewPart<'_> {
    ViewPart { epoch: 1, tick, every: 1, body }
}

#[test]
fn what_left_before_it_came_is_no_ghost() {
    let (mut view, mut history) = (ClientView::new(1), History::every(1));
    put(&mut history, 1, 100);
    let entering = one_body(&mut view, &history, &[5], 1);
    put(&mut history, 2, 100);
    let leaving = one_body(&mut view, &history, &[], 2);
    let (mut known, mut picture) = (KnownWorld::default(), SnapshotBuffer::<64>::default());
    known.handle(&SCHEMA, part(2, &leaving), &mut picture).unwrap();
    known.handle(&SCHEMA, part(1, &entering), &mut picture).unwrap();
    assert_eq!(picture.at(2).unwrap().entities(), []);
    put(&mut history, 3, 100);
    let nothing = one_body(&mut view, &history, &[], 3);
    known.handle(&SCHEMA, part(3, &nothing), &mut picture).unwrap();
    assert_eq!(picture.at(3).unwrap().entities(), []);
}

#[test]
fn what_is_seen_again_before_it_came_first_is_there_once() {
    let (mut view, mut history) = (ClientView::new(1), History::every(1));
    put(&mut history, 1, 100);
    let first = one_body(&mut view, &history, &[5], 1);
    put(&mut history, 2, 200);
    one_body(&mut view, &history, &[], 2);
    put(&mut history, 3, 300);
    let again = one_body(&mut view, &history, &[5], 3);
    let (mut known, mut picture) = (KnownWorld::default(), SnapshotBuffer::<64>::default());
    known.handle(&SCHEMA, part(3, &again), &mut picture).unwrap();
    known.handle(&SCHEMA, part(1, &first), &mut picture).unwrap();
    // The second got lost, so that it is told once more that the first slot is empty.
    view.handle_acks(3, 0b10, &history, 1);
    for tick in 4..=10 {
        put(&mut history, tick, 100 * tick as i32);
        let body = one_body(&mut view, &history, &[5], tick);
        known.handle(&SCHEMA, part(tick, &body), &mut picture).unwrap();
        view.handle_acks(tick, u64::MAX, &history, 1);
        assert_eq!(picture.at(tick), history.at(tick));
    }
}

#[test]
fn a_part_that_comes_late_leaves_a_whole_snapshot_as_it_was() {
    let (mut view, mut history) = (ClientView::new(1), History::every(1));
    put(&mut history, 1, 100);
    let late = one_body(&mut view, &history, &[5], 1);
    put(&mut history, 2, 200);
    let whole = history.newest().unwrap().clone();
    let (mut known, mut picture) = (KnownWorld::default(), SnapshotBuffer::<64>::default());
    picture.keep(&whole);
    known.handle(&SCHEMA, part(1, &late), &mut picture).unwrap();
    assert_eq!(picture.at(1).unwrap().entities()[0].fields[0], 100);
    assert_eq!(picture.at(2), Some(&whole));
}
