//! A view of the world, from both sides. Any bytes as a body, at a client that has taken some: no panic,
//! and what is refused changes nothing. And any world, visibility, budget, loss and acknowledgement at a
//! server: what it writes is never malformed, and the memory of both sides is bounded.
//!
//! ```text
//! | schema, every | (op, operand) ... |
//! ```
#![no_main]

use backspin::game::{PlayerId, SpawnName};
use backspin::replication::view::{Snapshot, ViewError, ViewPart};
use backspin::replication::{
    ClientView, ENTITY_LIMIT, Entity, History, KnownWorld, MAX_FIELDS, Schema, SnapshotBuffer,
    State, View,
};
use libfuzzer_sys::fuzz_target;

#[path = "../../crates/net/tests/scenes/schemas.rs"]
mod schemas;

fuzz_target!(|data: &[u8]| {
    let [head, rest @ ..] = data else { return };
    let schema = if head & 0x80 == 0 { &schemas::PONG } else { &schemas::RTYPE };
    let mut table = Table::new(schema, 1 + u32::from(head & 7));
    let mut ops = rest;
    while let [op, operand, behind @ ..] = ops {
        ops = table.act(*op, *operand, behind);
    }
});

/// A world, what one client may see of it, and what it has of it.
struct Table<'a> {
    schema: &'a Schema,
    every: u32,
    tick: u32,
    entities: Vec<Entity>,
    /// What is hidden: ids whose low bits are these.
    hidden: Option<u32>,
    budget: u32,
    history: History,
    sender: ClientView,
    known: KnownWorld,
    picture: SnapshotBuffer<64>,
    sequence: u32,
    newest: Option<u32>,
    mask: u64,
}

impl<'a> Table<'a> {
    fn new(schema: &'a Schema, every: u32) -> Self {
        Table {
            schema,
            every,
            tick: 0,
            entities: Vec::new(),
            hidden: None,
            budget: 500,
            history: History::every(every),
            sender: ClientView::new(1),
            known: KnownWorld::default(),
            picture: SnapshotBuffer::default(),
            sequence: u32::MAX - 20,
            newest: None,
            mask: 0,
        }
    }

    /// Does what one operation says, and returns what is left of the input.
    fn act<'b>(&mut self, op: u8, operand: u8, rest: &'b [u8]) -> &'b [u8] {
        match op % 8 {
            0 => self.add(operand, rest),
            1 => self.change(operand, rest),
            2 if !self.entities.is_empty() => {
                self.entities.remove(usize::from(operand) % self.entities.len());
            }
            3 => self.hidden = (operand < 128).then_some(u32::from(operand & 3)),
            4 => self.budget = u32::from(operand) * 16,
            5 => self.tell(operand),
            6 => self.acknowledge(operand),
            7 => return self.forge(operand, rest),
            _ => {}
        }
        rest
    }

    fn add(&mut self, operand: u8, rest: &[u8]) {
        if self.entities.len() >= 64 {
            return;
        }
        let id = match operand < 192 {
            true => operand.into(),
            false => {
                let (player, count) = (PlayerId(1 + u32::from(operand & 7)), operand >> 3);
                SpawnName { player, tick: self.tick, count }.entity_id()
            }
        };
        let kind = rest.first().map_or(0, |byte| byte % self.schema.kinds.len() as u8);
        let entity = Entity::new(self.schema, id, kind, &counts(rest));
        if let Err(place) = self.entities.binary_search_by_key(&id, |entity| entity.id) {
            self.entities.insert(place, entity);
        }
    }

    fn change(&mut self, operand: u8, rest: &[u8]) {
        let len = self.entities.len();
        if let Some(entity) = self.entities.get_mut(usize::from(operand) % len.max(1)) {
            *entity = Entity::new(self.schema, entity.id, entity.kind, &counts(rest));
        }
    }

    /// Some ticks go by, and the client is told of the last: datagrams whose bit is set are lost.
    fn tell(&mut self, operand: u8) {
        let ticks = self.every * (1 + u32::from(operand >> 5));
        for entity in &mut self.entities {
            *entity = entity.extrapolate(self.schema, ticks);
        }
        self.tick += ticks;
        let (mut state, mut view) = (State::new(self.tick), View::default());
        for entity in &self.entities {
            state.push(entity.clone()).unwrap();
            if self.hidden.is_none_or(|low| entity.id & 3 != low) {
                view.show(entity.id, entity.id as u8);
            }
        }
        self.history.begin(self.tick).clone_from(&state);
        let (schema, every, history) = (self.schema, self.every, &self.history);
        let snapshot = Snapshot { schema, history, state: &state, every };
        self.sender.plan(snapshot, &view, self.budget, |entity| entity.id == 1);
        let (mut out, mut sent, mut taken) = ([0; 1000], 0, Vec::new());
        while let Some((len, is_first)) = self.sender.poll(snapshot, self.sequence, 20, &mut out) {
            assert_eq!(is_first, sent == 0);
            let sequence = self.sequence;
            self.sequence = sequence.wrapping_add(1);
            sent += 1;
            assert!(sent < 100, "a snapshot without end");
            if operand >> (sent % 5) & 1 == 1 {
                continue;
            }
            let part = ViewPart { epoch: 1, tick: self.tick, every, body: &out[..len] };
            match self.known.handle(schema, part, &mut self.picture) {
                Ok(_) => taken.push(sequence),
                Err(ViewError::Stray) => {}
                Err(ViewError::Malformed(fault)) => panic!("our own: {fault}"),
            }
        }
        taken.into_iter().for_each(|sequence| self.took(sequence));
        if let Some(state) = self.picture.at(self.tick) {
            assert!(state.entities().len() <= ENTITY_LIMIT);
            assert!(state.entities().iter().all(|entity| entity.conforms(schema)));
        }
    }

    fn took(&mut self, sequence: u32) {
        let ahead = self.newest.map_or(64, |newest| sequence.wrapping_sub(newest));
        self.mask = self.mask.checked_shl(ahead).unwrap_or(0);
        if self.newest.is_some() {
            self.mask |= 1_u64.checked_shl(ahead - 1).unwrap_or(0);
        }
        self.newest = Some(sequence);
    }

    /// Says what has come; or, as a hostile client would, anything.
    fn acknowledge(&mut self, operand: u8) {
        let (newest, mask) = match (self.newest, operand < 192) {
            (Some(newest), true) => (newest, self.mask),
            _ => {
                let mask = u64::from(operand).wrapping_mul(0x0101_0101_0101_0101);
                (self.sequence.wrapping_sub(operand.into()), mask)
            }
        };
        self.sender.handle_acks(newest, mask, &self.history, self.every);
    }

    /// Any bytes as a body, at a client of its own: what it took before is the same.
    fn forge<'b>(&mut self, operand: u8, rest: &'b [u8]) -> &'b [u8] {
        let (body, behind) = rest.split_at(rest.len().min(operand.into()));
        let (mut known, mut picture) = (self.known.clone(), self.picture.clone());
        let tick = self.tick + self.every;
        let part = ViewPart { epoch: 1, tick, every: self.every, body };
        let before = picture.newest();
        match known.handle(self.schema, part, &mut picture) {
            Ok(_) => {
                let state = picture.at(tick).expect("it was taken");
                assert!(state.entities().is_sorted_by(|a, b| a.id < b.id));
                assert!(state.entities().iter().all(|entity| entity.conforms(self.schema)));
            }
            Err(_) => assert_eq!(picture.newest(), before),
        }
        behind
    }
}

/// The values of an entity's fields, made of some bytes.
fn counts(bytes: &[u8]) -> [i32; MAX_FIELDS] {
    let byte = |at: usize| bytes.get(at % bytes.len().clamp(1, 9)).map_or(0, |&byte| byte.into());
    std::array::from_fn(|at| (byte(at) << 8 | byte(at + 1)) - 0x4000)
}
