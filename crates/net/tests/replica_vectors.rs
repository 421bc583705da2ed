//! The bodies in PROTOCOL.md, read from the document itself.

use std::path::Path;

use backspin::replication::view::{Snapshot, ViewError, ViewPart};
use backspin::replication::{
    ClientView, Entity, Field, History, Kind, KnownWorld, Motion, Schema, SnapshotBuffer, State,
    Step, View, delta,
};
use serde_json::Value;

const fn field(name: &'static str, min: i32, max: i32, motion: Motion) -> Field {
    Field { name, min, max, step: Step::ONE, motion }
}

/// The example schema of the document.
const SCHEMA: Schema = Schema::new(&[
    Kind {
        name: "ship",
        fields: &[
            field("x", 0, 1000, Motion::Along { velocity: 1, per_ticks: 1 }),
            field("vx", -10, 10, Motion::Still),
            field("health", 0, 3, Motion::Still),
        ],
    },
    Kind {
        name: "rock",
        fields: &[
            field("y", 0, 500, Motion::Along { velocity: 1, per_ticks: 2 }),
            field("vy", -10, 10, Motion::Still),
            field("size", 7, 7, Motion::Still),
        ],
    },
]);

/// The pairs of lines in the blocks with the info string `info`: what, and the bytes.
fn pairs(info: &str) -> Vec<(String, Vec<u8>)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../PROTOCOL.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let opening = format!("```{info}");
    let mut lines = text.lines();
    let mut pairs = Vec::new();
    while lines.by_ref().any(|line| line == opening) {
        for head in lines.by_ref().take_while(|line| *line != "```").collect::<Vec<_>>().chunks(2) {
            let [head, bytes] = head else { panic!("no bytes below {}", head[0]) };
            let byte =
                |digits| u8::from_str_radix(digits, 16).unwrap_or_else(|e| panic!("{head}: {e}"));
            pairs.push((String::from(*head), bytes.split(' ').map(byte).collect()));
        }
    }
    assert!(!pairs.is_empty(), "PROTOCOL.md has no {info}");
    pairs
}

fn number<T: TryFrom<i64>>(value: &Value) -> T {
    let number = value.as_i64().and_then(|number| T::try_from(number).ok());
    number.unwrap_or_else(|| panic!("out of range: {value}"))
}

fn state(value: &Value) -> State {
    let mut state = State::new(number(&value["tick"]));
    for entity in value["entities"].as_array().expect("entities") {
        let [id, kind, fields @ ..] = &entity.as_array().expect("an entity")[..] else {
            panic!("no entity: {entity}");
        };
        let counts: Vec<i32> = fields.iter().map(number).collect();
        let made = Entity::new(&SCHEMA, number(id), number(kind), &counts);
        assert_eq!(made.fields[..counts.len()], counts, "a field out of range: {entity}");
        state.push(made).unwrap();
    }
    state
}

#[test]
fn the_documents_bodies_decode_and_encode() {
    for (head, body) in pairs("delta-vectors") {
        let vector: Value = serde_json::from_str(&head).unwrap_or_else(|e| panic!("{head}: {e}"));
        let (baseline, current) = (vector.get("baseline").map(state), state(&vector));
        let mut decoded = State::default();
        let decode = delta::decode(&SCHEMA, baseline.as_ref(), current.tick, &body, &mut decoded);
        assert_eq!(decode, Ok(()), "{head}");
        assert_eq!(decoded, current, "{head}");
        let mut out = [0; 100];
        let len = delta::encode(&SCHEMA, baseline.as_ref(), &current, &mut out).unwrap();
        assert_eq!(out[..len], body, "{head}");
    }
}

#[test]
fn the_documents_malformed_bodies_are_refused_as_it_says() {
    for (head, body) in pairs("delta-malformed") {
        let mut words = head.splitn(3, ' ');
        let (field, reason) = (words.next().unwrap(), words.next().expect("a reason"));
        let baseline = serde_json::from_str(words.next().expect("a baseline")).unwrap();
        let (baseline, mut decoded) = (state(&baseline), State::default());
        let tick = baseline.tick + 9;
        let fault = delta::decode(&SCHEMA, Some(&baseline), tick, &body, &mut decoded).unwrap_err();
        assert_eq!((fault.field, fault.fault.reason()), (field, reason), "{head}");
        assert_eq!(decoded, State::new(tick));
    }
}

/// The world of a view's vector, and what the client may see of it.
fn seen(head: &str) -> (State, State, View) {
    let vector: Value = serde_json::from_str(head).unwrap_or_else(|e| panic!("{head}: {e}"));
    let world = state(&vector);
    let hidden: Vec<u32> = match vector.get("hidden") {
        Some(ids) => ids.as_array().expect("ids").iter().map(number).collect(),
        None => Vec::new(),
    };
    let (mut seen, mut view) = (State::new(world.tick), View::default());
    for entity in world.entities().iter().filter(|entity| !hidden.contains(&entity.id)) {
        seen.push(entity.clone()).unwrap();
        view.show(entity.id, View::PLAIN);
    }
    (world, seen, view)
}

const EVERY: u32 = 3;

fn part(tick: u32, body: &[u8]) -> ViewPart<'_> {
    ViewPart { epoch: 1, tick, every: EVERY, body }
}

#[test]
fn the_documents_views_are_what_a_server_writes_and_a_client_reads() {
    let (mut sender, mut history) = (ClientView::new(1), History::every(EVERY));
    let (mut known, mut picture) = (KnownWorld::default(), SnapshotBuffer::<64>::default());
    for (sequence, (head, body)) in (1..).zip(pairs("view-vectors")) {
        let (world, seen, view) = seen(&head);
        history.begin(world.tick).clone_from(&world);
        let snapshot = Snapshot { schema: &SCHEMA, history: &history, state: &world, every: EVERY };
        sender.plan(snapshot, &view, 1_000, |_| false);
        let mut out = [0; 1_000];
        let (len, is_first) = sender.poll(snapshot, sequence, 0, &mut out).expect("a datagram");
        assert_eq!((&out[..len], is_first), (&body[..], true), "{head}");
        assert_eq!(sender.poll(snapshot, sequence + 1, 0, &mut out), None, "{head}");
        sender.handle_acks(sequence, u64::MAX, &history, EVERY);

        let taken = known.handle(&SCHEMA, part(world.tick, &body), &mut picture);
        assert_eq!(taken, Ok(true), "{head}");
        assert_eq!(picture.newest_state(), Some(&seen), "{head}");
    }
}

#[test]
fn the_documents_malformed_views_are_refused_as_it_says() {
    let (_, first) = &pairs("view-vectors")[0];
    for (head, body) in pairs("view-malformed") {
        let (mut known, mut picture) = (KnownWorld::default(), SnapshotBuffer::<64>::default());
        assert_eq!(known.handle(&SCHEMA, part(99, first), &mut picture), Ok(true));
        match known.handle(&SCHEMA, part(108, &body), &mut picture) {
            Err(ViewError::Malformed(fault)) => {
                assert_eq!(format!("{} {}", fault.field, fault.fault.reason()), head);
            }
            other => panic!("{head}: {other:?}"),
        }
        assert_eq!(picture.newest(), Some(99), "{head}: it changes nothing");
    }
}
