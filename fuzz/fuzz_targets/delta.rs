//! Any bytes as the body of a delta, against a baseline that the input makes: decode, encode,
//! decode. And any two states that the input makes: encode, decode.
//!
//! ```text
//! 0                1       2                     2 + 8 count
//! | schema, ticks  | count | count x (id, mix)   | body ...
//! ```
#![no_main]

use backspin::game::{PlayerId, SpawnName};
use backspin::replication::{Entity, MAX_FIELDS, Schema, State, delta};
use libfuzzer_sys::fuzz_target;

#[path = "../../crates/net/tests/scenes/schemas.rs"]
mod schemas;

const TICK: u32 = 1000;
const ENTITY_LEN: usize = 8;

fuzz_target!(|data: &[u8]| {
    let [head, count, rest @ ..] = data else { return };
    let schema = if head & 0x80 == 0 { &schemas::PONG } else { &schemas::RTYPE };
    let len = (usize::from(*count) * ENTITY_LEN).min(rest.len());
    let (entities, body) = rest.split_at(len);
    let baseline = state(schema, TICK - 1 - u32::from(head & 31), entities);
    for baseline in [Some(&baseline), None] {
        any_bytes(schema, baseline, body);
        any_state(schema, baseline, &state(schema, TICK, body));
    }
});

/// One entity for each 8 bytes: two of id, one of kind, the rest turned into counts.
fn state(schema: &Schema, tick: u32, bytes: &[u8]) -> State {
    let mut state = State::new(tick);
    for chunk in bytes.as_chunks::<ENTITY_LEN>().0 {
        let [high, low, kind, mix @ ..] = *chunk;
        let kind = kind % schema.kinds.len() as u8;
        let mut counts = [0; MAX_FIELDS];
        for (index, count) in counts.iter_mut().enumerate() {
            let byte = |at: usize| i32::from(mix[at % mix.len()]);
            *count = (byte(index) << 8 | byte(index + 1)) - 0x4000;
        }
        // An id that is taken already is no entity of the state.
        let id = id(u16::from_be_bytes([high, low]));
        let _ = state.push(Entity::new(schema, id, kind, &counts));
    }
    state
}

/// One of the game's own below 32768, a spawn of the last ticks above.
fn id(number: u16) -> u32 {
    if number < 0x8000 {
        return number.into();
    }
    let (player, back) = (PlayerId(1 + u32::from(number >> 12 & 7)), u32::from(number >> 4 & 0xFF));
    SpawnName { player, tick: TICK - back, count: number as u8 & 0xF }.entity_id()
}

fn any_bytes(schema: &Schema, baseline: Option<&State>, body: &[u8]) {
    let mut decoded = State::default();
    if delta::decode(schema, baseline, TICK, body, &mut decoded).is_err() {
        assert!(decoded.entities().is_empty());
        return;
    }
    assert!(decoded.entities().is_sorted_by(|a, b| a.id < b.id));
    assert!(decoded.entities().iter().all(|entity| entity.conforms(schema)));
    let mut out = vec![0; body.len()];
    assert_eq!(delta::encode(schema, baseline, &decoded, &mut out), Ok(body.len()));
    assert_eq!(out, body);
}

fn any_state(schema: &Schema, baseline: Option<&State>, current: &State) {
    let mut out = [0; 1200];
    let Ok(len) = delta::encode(schema, baseline, current, &mut out) else { return };
    let mut decoded = State::default();
    assert_eq!(delta::decode(schema, baseline, TICK, &out[..len], &mut decoded), Ok(()));
    assert_eq!(&decoded, current);
}
