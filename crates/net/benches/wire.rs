//! What it costs to go from bytes to packets and back.
//!
//! `cargo bench -p backspin --bench wire`

use std::hint::black_box;

use backspin::wire::List;
use backspin::wire::native::{self, Datagram};
use backspin_classic::wire::{ack, rtype};
use backspin_classic::{Dialect, EntityState};
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

fn encoded(packet: native::Packet<'_>) -> Vec<u8> {
    let mut out = vec![0; native::MAX_DATAGRAM_LEN];
    let len = Datagram { sequence: 1, packet }.encode(&mut out).unwrap();
    out.truncate(len);
    out
}

/// As many as fit a datagram.
fn ack_entities() -> Vec<EntityState> {
    let entity = |entity_id: u32| EntityState {
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

fn ack_snapshot(entities: &[EntityState]) -> ack::Datagram<'_> {
    let (server_tick, more, entities) = (100, false, List::new(entities));
    let packet = ack::Packet::Snapshot(ack::Snapshot { server_tick, more, entities });
    ack::Datagram { sequence: 1, packet }
}

/// One event of ten bytes that is not acknowledged.
fn native_messages(room: &mut [u8]) -> Option<native::MessageBlock<'_>> {
    let mut w = native::BlockWriter::new(room);
    w.reliable(7, native::MessageKind::Game, [&[1; 10], &[]]);
    Some(w.finish(3))
}

/// Ten inputs without acknowledgement.
fn native_input() -> Vec<u8> {
    let (mut room, mut event) = ([0; native::History::MAX_LEN], [0; 20]);
    let history = native::History::new(
        8.into(),
        [8, 8, 8, 8, 8, 8, 0, 0, 0, 0_u16].map(Into::into),
        &mut room,
    );
    encoded(native::Packet::Input(native::Input {
        session: native::SessionIndex::MIN,
        newest: native::InputRecord { sequence: 100, input_flags: 8.into() },
        snapshot: Some(native::SnapshotEcho { back: 4, held: 20 }),
        drawn_back: Some(1600),
        acks: None,
        messages: native_messages(&mut event),
        history,
    }))
}

/// What a player is sent, with an event that rides along.
fn native_delta() -> Vec<u8> {
    encoded(native::Packet::DeltaSnapshot(native::DeltaSnapshot {
        tick: 100,
        baseline_back: 6,
        feedback: Some(native::Feedback { echo: 106, held: 60, early: 8, missing: 0, lost: 13 }),
        messages: native_messages(&mut [0; 20]),
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
fn ack_snapshot_45_decode(bencher: Bencher<'_, '_>) {
    let mut bytes = vec![0; native::MAX_DATAGRAM_LEN];
    let len = ack_snapshot(&ack_entities()).encode(&mut bytes).unwrap();
    bencher.bench(|| ack::Datagram::decode(black_box(&bytes[..len])).is_ok());
}

#[divan::bench]
fn ack_snapshot_45_encode(bencher: Bencher<'_, '_>) {
    let entities = ack_entities();
    let datagram = ack_snapshot(&entities);
    let mut out = [0; native::MAX_DATAGRAM_LEN];
    bencher.bench_local(|| black_box(&datagram).encode(black_box(&mut out)));
}

#[divan::bench(args = ["lan", "rtype", "native", "ack", "none"])]
fn detect(bencher: Bencher<'_, '_>, dialect: &str) {
    let bytes = match dialect {
        "lan" => vec![5, 0, 0, 1],
        "rtype" => RTYPE_INPUT.to_vec(),
        "native" => native_input(),
        "ack" => [&[1, 0x10, 0, 0, 14][..], &[0; 18]].concat(),
        _ => vec![0; 64],
    };
    bencher.bench(|| Dialect::detect(black_box(&bytes)));
}
