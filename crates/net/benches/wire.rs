//! What it costs to go from bytes to packets and back.
//!
//! `cargo bench -p backspin --bench wire`

use std::hint::black_box;

use backspin::wire::List;
use backspin::wire::native::{self, Datagram, Scratch};
use backspin_classic::Dialect;
use backspin_classic::wire::rtype;
use divan::Bencher;

fn main() {
    divan::main();
}

const RTYPE_INPUT: [u8; 9] = [5, 0, 3, 1, 42, 0, 0, 0, 8];

/// 55 entities: as many as fit a datagram.
fn rtype_entities() -> Vec<rtype::Entity> {
    let entity = |id: u32| rtype::Entity {
        id,
        kind: if id < 4 { rtype::Kind::Player } else { rtype::Kind::Enemy },
        x: id as f32,
        y: 100.0,
        vx: -60.0,
        vy: 0.0,
        rgba: 0x55AA_FFFF,
    };
    (0..55).map(entity).collect()
}

fn rtype_state() -> Vec<u8> {
    let entities = rtype_entities();
    let state = rtype::Packet::State(rtype::State { entities: List::new(&entities) });
    let mut out = vec![0; rtype::MAX_DATAGRAM_LEN];
    let len = state.encode(&mut out).unwrap();
    out.truncate(len);
    out
}

/// As many as fit a datagram without compression.
fn native_entities() -> Vec<native::EntityState> {
    let entity = |entity_id: u32| native::EntityState {
        entity_id,
        entity_type: 2,
        x: entity_id as f32,
        y: 100.0,
        vx: -60,
        vy: 0,
        health: 1,
        flags: 0,
        last_ack_sequence: 0,
    };
    (0..45).map(entity).collect()
}

fn encoded(packet: native::Packet<'_>) -> Vec<u8> {
    let mut out = vec![0; native::MAX_DATAGRAM_LEN];
    let len = Datagram { sequence: 1, packet }.encode(&mut out).unwrap();
    out.truncate(len);
    out
}

fn native_snapshot() -> Vec<u8> {
    let entities = native_entities();
    let entities = List::new(&entities);
    encoded(native::Packet::Snapshot(native::Snapshot { server_tick: 100, entities }))
}

/// One event of ten bytes that is not acknowledged.
fn native_events(room: &mut [u8]) -> Option<native::EventBlock<'_>> {
    let events = native::Events::new(7, [&[1; 10][..]], room);
    Some(native::EventBlock { acknowledged: 3, events })
}

/// Ten inputs without acknowledgement.
fn native_input() -> Vec<u8> {
    let (mut room, mut event) = ([0; native::History::MAX_LEN], [0; 11]);
    let history = native::History::new(8, [8, 8, 8, 8, 8, 8, 0, 0, 0, 0], &mut room);
    encoded(native::Packet::Input(native::Input {
        session: native::SessionIndex::MIN,
        newest: native::InputRecord {
            sequence: 100,
            input_flags: 8,
            timestamp: 1000,
            delta_time: 1.0 / 60.0,
        },
        snapshot: Some(native::SnapshotEcho { back: 4, held: 20 }),
        drawn_back: Some(1600),
        events: native_events(&mut event),
        history,
    }))
}

/// What a player is sent, with an event that rides along.
fn native_delta() -> Vec<u8> {
    encoded(native::Packet::DeltaSnapshot(native::DeltaSnapshot {
        tick: 100,
        baseline_back: 6,
        feedback: Some(native::Feedback { echo: 106, held: 60, early: 8, missing: 0, lost: 13 }),
        part: native::Part::WHOLE,
        events: native_events(&mut [0; 11]),
        body: &[1, 2, 3, 4, 5, 6, 7],
    }))
}

#[divan::bench]
fn rtype_input_decode(bencher: Bencher<'_, '_>) {
    bencher.bench(|| rtype::Packet::decode(black_box(&RTYPE_INPUT)));
}

#[divan::bench]
fn rtype_input_encode(bencher: Bencher<'_, '_>) {
    let packet = rtype::Packet::decode(&RTYPE_INPUT).unwrap();
    let mut out = [0; 64];
    bencher.bench_local(|| black_box(&packet).encode(black_box(&mut out)));
}

#[divan::bench]
fn rtype_state_55_decode(bencher: Bencher<'_, '_>) {
    let bytes = rtype_state();
    bencher.bench(|| rtype::Packet::decode(black_box(&bytes)).is_ok());
}

#[divan::bench]
fn rtype_state_55_decode_and_walk(bencher: Bencher<'_, '_>) {
    let bytes = rtype_state();
    bencher.bench(|| match rtype::Packet::decode(black_box(&bytes)) {
        Ok(rtype::Packet::State(state)) => {
            for entity in state.entities.iter() {
                black_box(entity);
            }
        }
        other => panic!("{other:?}"),
    });
}

#[divan::bench]
fn rtype_state_55_encode(bencher: Bencher<'_, '_>) {
    let entities = rtype_entities();
    let packet = rtype::Packet::State(rtype::State { entities: List::new(&entities) });
    let mut out = [0; rtype::MAX_DATAGRAM_LEN];
    bencher.bench_local(|| black_box(&packet).encode(black_box(&mut out)));
}

#[divan::bench]
fn native_input_decode(bencher: Bencher<'_, '_>) {
    let bytes = native_input();
    bencher.bench(|| Datagram::decode(black_box(&bytes)).is_ok());
}

#[divan::bench]
fn native_input_encode(bencher: Bencher<'_, '_>) {
    let bytes = native_input();
    let datagram = Datagram::decode(&bytes).unwrap();
    let mut out = [0; native::MAX_DATAGRAM_LEN];
    bencher.bench_local(|| black_box(&datagram).encode(black_box(&mut out)));
}

#[divan::bench]
fn native_delta_decode(bencher: Bencher<'_, '_>) {
    let bytes = native_delta();
    bencher.bench(|| Datagram::decode(black_box(&bytes)).is_ok());
}

#[divan::bench]
fn native_delta_encode(bencher: Bencher<'_, '_>) {
    let bytes = native_delta();
    let datagram = Datagram::decode(&bytes).unwrap();
    let mut out = [0; native::MAX_DATAGRAM_LEN];
    bencher.bench_local(|| black_box(&datagram).encode(black_box(&mut out)));
}

#[divan::bench]
fn native_snapshot_45_decode(bencher: Bencher<'_, '_>) {
    let bytes = native_snapshot();
    bencher.bench(|| Datagram::decode(black_box(&bytes)).is_ok());
}

#[divan::bench]
fn native_snapshot_45_decode_compressed(bencher: Bencher<'_, '_>) {
    let (entities, mut scratch) = (native_entities(), Scratch::default());
    let snapshot = native::Snapshot { server_tick: 100, entities: List::new(&entities) };
    let datagram = Datagram { sequence: 1, packet: native::Packet::Snapshot(snapshot) };
    let mut bytes = vec![0; native::MAX_DATAGRAM_LEN];
    let len = datagram.encode_compressed(&mut bytes, &mut scratch).unwrap();
    bencher.bench_local(|| {
        Datagram::decode_compressed(black_box(&bytes[..len]), &mut scratch).is_ok()
    });
}

#[divan::bench]
fn native_snapshot_45_encode(bencher: Bencher<'_, '_>) {
    let entities = native_entities();
    let snapshot = native::Snapshot { server_tick: 100, entities: List::new(&entities) };
    let datagram = Datagram { sequence: 1, packet: native::Packet::Snapshot(snapshot) };
    let mut out = [0; native::MAX_DATAGRAM_LEN];
    bencher.bench_local(|| black_box(&datagram).encode(black_box(&mut out)));
}

#[divan::bench(args = ["lan", "rtype", "native", "none"])]
fn detect(bencher: Bencher<'_, '_>, dialect: &str) {
    let bytes = match dialect {
        "lan" => vec![5, 0, 0, 1],
        "rtype" => RTYPE_INPUT.to_vec(),
        "native" => native_input(),
        _ => vec![0; 64],
    };
    bencher.bench(|| Dialect::detect(black_box(&bytes)));
}
