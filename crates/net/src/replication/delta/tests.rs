//! Bodies bit by bit, on the example schema of PROTOCOL.md.

use super::*;
use crate::game::{PlayerId, SpawnName};
use crate::replication::{Field, Kind, Motion, Schema, Step};
use crate::wire::{Fault, Full, Malformed};

const fn field(name: &'static str, min: i32, max: i32, motion: Motion) -> Field {
    Field { name, min, max, step: Step::ONE, motion }
}

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

fn ship(id: u32, x: i32, vx: i32, health: i32) -> Entity {
    Entity::new(&SCHEMA, id, 0, &[x, vx, health])
}

fn rock(id: u32, y: i32, vy: i32) -> Entity {
    Entity::new(&SCHEMA, id, 1, &[y, vy, 7])
}

fn state(tick: u32, entities: &[Entity]) -> State {
    let mut state = State::new(tick);
    entities.iter().for_each(|entity| state.push(entity.clone()).unwrap());
    state
}

/// The bytes of text of ones, zeros and spaces.
fn bytes(text: &str) -> Vec<u8> {
    let bits: Vec<bool> = text.chars().filter(|c| *c != ' ').map(|c| c == '1').collect();
    let byte =
        |bits: &[bool]| (0..8).fold(0, |byte, i| byte << 1 | u8::from(bits.get(i) == Some(&true)));
    bits.chunks(8).map(byte).collect()
}

/// `before` at tick 100 and `after` at tick 109 make the body `bits`, and it makes `after`.
#[track_caller]
fn body_is(before: &[Entity], after: &[Entity], bits: &str) {
    let (baseline, current) = (state(100, before), state(109, after));
    let mut out = [0; 200];
    let len = encode(&SCHEMA, Some(&baseline), &current, &mut out).unwrap();
    let shown = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:08b}")).collect::<String>();
    assert_eq!(shown(&out[..len]), shown(&bytes(bits)));
    let mut decoded = State::default();
    decode(&SCHEMA, Some(&baseline), 109, &out[..len], &mut decoded).unwrap();
    assert_eq!(decoded, current);
    for short in 0..len {
        let cut = decode(&SCHEMA, Some(&baseline), 109, &out[..short], &mut decoded);
        assert_eq!(cut.unwrap_err().fault, Fault::Truncated, "{short} bytes");
        assert_eq!(decoded, State::new(109));
        let full = encode(&SCHEMA, Some(&baseline), &current, &mut [0; 200][..short]);
        assert_eq!(full, Err(Full));
    }
    let cut = decode(&SCHEMA, Some(&baseline), 109, &[&out[..len], &[0]].concat(), &mut decoded);
    assert_eq!(cut, Err(Malformed::new("body", Fault::Trailing { extra: 1 })));
}

/// Against `before`, the body `bits` has the field `field` at fault.
#[track_caller]
fn refused(before: &[Entity], bits: &str, field: &'static str, fault: Fault) {
    let mut out = State::default();
    let result = decode(&SCHEMA, Some(&state(100, before)), 109, &bytes(bits), &mut out);
    assert_eq!(result, Err(Malformed { field, fault }));
    assert_eq!(out, State::new(109));
}

#[test]
fn what_flies_straight_costs_two_bits_in_all() {
    body_is(&[], &[], "1 0");
    let flying = |x| (0..64).map(|id| ship(id, x, 3, 3)).collect::<Vec<_>>();
    body_is(&flying(100), &flying(127), "1 0");
    body_is(&[rock(1, 100, -3)], &[rock(1, 86, -3)], "1 0");
    body_is(&[ship(1, 990, 3, 1)], &[ship(1, 1000, 3, 1)], "1 0");
}

#[test]
fn a_turn_is_told_by_its_tick() {
    // 5 ticks at 3, then 4 ticks at -2.
    let turned = ship(5, 107, -2, 3);
    body_is(&[ship(5, 100, 3, 3)], &[turned], "010 0 010 0100 1 01000 0");
    // From the edge, where it had stopped.
    body_is(&[ship(5, 2, -3, 3)], &[ship(5, 8, 2, 3)], "010 0 010 0100 1 01100 0");
    // It had not moved yet with the new velocity.
    body_is(&[ship(5, 100, 3, 3)], &[ship(5, 127, 2, 3)], "010 0 010 0000 0 1 00 0");
    // Per 2 ticks: up to the turn and from there, each rounded down.
    body_is(&[rock(5, 100, 3)], &[rock(5, 109, 1)], "010 0 01 0100 0 1 01 0");
}

#[test]
fn what_no_turn_explains_is_told_by_how_far_it_is_off() {
    // As near as it gets is 9 ticks ago, at 118.
    body_is(&[ship(5, 100, 3, 3)], &[ship(5, 115, 2, 3)], "010 0 110 1001 0 1 00 0 1 00010 0");
    // No turn: 3 beyond, then far away.
    body_is(&[ship(5, 100, 3, 3)], &[ship(5, 130, 3, 3)], "010 0 100 0 0 00010 0");
    body_is(&[ship(5, 100, 3, 3)], &[ship(5, 160, 3, 3)], "010 0 100 1 0010100000 0");
    // The one that stays comes first.
    body_is(&[ship(5, 100, 3, 3)], &[ship(5, 126, 3, 0)], "010 0 101 1 00 0 1 00000 0");
}

#[test]
fn gaps_lead_to_what_changed_and_what_is_gone() {
    let before: Vec<_> = (0..8).map(|id| ship(id, 100, 0, 3)).collect();
    let mut after = before.clone();
    after[5].fields[2] = 2;
    after.remove(2);
    // Two changes; 6 are free, so 1 low bit: 2. Then 4 of 5 are free, again 1 low bit: 2.
    body_is(&before, &after, "011 10 0 1 10 0 0 001 0 1 0 0");
    // All gone: no gaps.
    body_is(&before, &[], "0001001 11111111 0");
}

#[test]
fn what_is_new_comes_in_full() {
    // Id 6 is next; then two are skipped. Kind, then 10 + 5 + 2 bits, or 9 + 5 + 0.
    let ships = [ship(5, 0, 0, 1)];
    let (next, far) = (ship(6, 1000, -10, 3), rock(9, 1, 10));
    body_is(
        &ships,
        &[ships[0].clone(), next, far],
        "1 1 0 1 0 1111101000 00000 11 1 0 011 1 000000001 10100 0",
    );
    // Below: 2 is 4 less than 6.
    body_is(&ships, &[rock(2, 0, 0), ships[0].clone()], "1 1 0 0001000 1 000000000 01010 0");
}

#[test]
fn spawns_are_named_by_player_tick_and_count() {
    let spawn =
        |player, tick, count| SpawnName { player: PlayerId(player), tick, count }.entity_id();
    // 5 is the game's own; then, behind one bit, those of players 1 and 2 of ticks 107 and 109.
    let ships = [ship(4, 0, 0, 1)];
    let (own, first) = (rock(5, 0, 0), ship(spawn(1, 107, 0), 1, 0, 0));
    let second = rock(spawn(2, 109, 3), 2, 0);
    body_is(
        &ships,
        &[ships[0].clone(), own, first.clone(), second],
        "1 1 0 1 1 000000000 01010 1 1 1 011 1 0 0000000001 01010 00 \
         1 010 1 00100 1 000000010 01010 0",
    );
    // They are no hint for the ids of the game's own: 5 is next.
    body_is(&[ships[0].clone(), first.clone()], &[ships[0].clone(), rock(5, 0, 0)], {
        "010 10 1 1 0 1 1 000000000 01010 0"
    });
}

#[test]
fn spawns_that_no_input_makes_are_refused() {
    let out_of_range = Fault::OutOfRange;
    refused(&[], "1 1 1 00000000 100000001 1 1", "player", out_of_range(256));
    refused(&[], "1 1 1 1 000000000000000 1000000000000001 1", "back", out_of_range(32768));
    refused(&[], "1 1 1 1 1 00000000 100000001", "count", out_of_range(256));
    // The same once more.
    let again = "1 1 1 1 1 1 0 0000000000 00000 00 1 1 1 1";
    refused(&[], again, "id", Fault::NotCanonical);
}

#[test]
fn an_id_that_is_another_kind_now_is_gone_and_new() {
    body_is(&[ship(5, 0, 0, 1)], &[rock(5, 0, 0)], "010 1 1 0 010 1 000000000 01010 0");
}

#[test]
fn a_state_without_a_baseline_is_all_new() {
    let current = state(7, &[ship(0, 1, 0, 0), ship(2, 2, 0, 0)]);
    let mut out = [0; 20];
    let len = encode(&SCHEMA, None, &current, &mut out).unwrap();
    let body = "1 1 0 1 0 0000000001 01010 00 1 0 010 0 0000000010 01010 00 0";
    assert_eq!(out[..len], bytes(body));
    let mut decoded = State::default();
    assert_eq!(decode(&SCHEMA, None, 7, &out[..len], &mut decoded), Ok(()));
    assert_eq!(decoded, current);
}

#[test]
fn a_second_way_to_say_it_is_refused() {
    let ships = [ship(5, 100, 3, 3)];
    refused(&ships, "010 0 000", "mask", Fault::NotCanonical);
    // At the edge every turn explains it, and the first is to be told.
    refused(&[ship(5, 1000, 3, 3)], "010 0 010 0001 0 1 00 0", "turn", Fault::NotCanonical);
    refused(&ships, "010 0 110 0011 1 01000 0 0 00100 0", "turn", Fault::NotCanonical);
    // Near written as far; the same written as far.
    refused(&ships, "010 0 010 0000 1 01001 0", "vx", Fault::NotCanonical);
    refused(&ships, "010 0 010 0000 1 01101 0", "vx", Fault::NotCanonical);
    // Gone and new, though it only changed.
    refused(&ships, "010 1 1 0 010 0 0000000000 00000 00 0", "kind", Fault::NotCanonical);
    refused(&ships, "1 0 000001", "padding", Fault::NotCanonical);
}

#[test]
fn what_is_out_of_range_is_named() {
    let ships = [ship(5, 100, 3, 3), ship(6, 100, 0, 3)];
    let out_of_range = Fault::OutOfRange;
    refused(&ships, "00100", "changes", out_of_range(3));
    refused(&ships, "010 110", "gap", out_of_range(2));
    refused(&ships, "010 0 0 010 1010", "turn", out_of_range(10));
    refused(&ships, "010 0 0 010 0000 1 11111", "vx", out_of_range(31));
    refused(&ships, "010 0 0 001 0 0 0", "health", out_of_range(4));
    refused(&ships, "010 0 0 100 1 1111101001", "x", out_of_range(1001));
    refused(&ships, "1 1 0 1 0 1111111111", "x", out_of_range(1023));
    // Id 6 is there already; -1 is none, and 2^31 is a spawn.
    refused(&ships, "1 1 0 010", "id", out_of_range(6));
    refused(&ships, "1 1 0 000010000", "id", out_of_range(-1));
    let last = ship(SpawnName::FIRST - 1, 0, 0, 0);
    refused(&[last], "1 1 0 011", "id", out_of_range(SpawnName::FIRST.into()));
}

#[test]
fn a_kind_that_there_is_not_is_refused() {
    const KINDS: &[Kind] = &[SCHEMA.kinds[0], SCHEMA.kinds[0], SCHEMA.kinds[1]];
    const THREE: Schema = Schema::new(KINDS);
    let mut out = State::default();
    let result = decode(&THREE, None, 1, &bytes("1 1 0 1 11"), &mut out);
    assert_eq!(result, Err(Malformed::out_of_range("kind", 3)));
    let none = decode(&Schema::new(&[]), None, 1, &bytes("1 1 0 1 0"), &mut out);
    assert_eq!(none, Err(Malformed::out_of_range("kind", 0)));
}

#[test]
fn a_baseline_is_1_to_256_ticks_old() {
    let mut out = State::default();
    let mut decode = |tick| decode(&SCHEMA, Some(&state(100, &[])), tick, &[0x80], &mut out);
    assert_eq!((decode(101), decode(356)), (Ok(()), Ok(())));
    for (tick, ticks) in [(357, 257), (100, 0), (99, u32::MAX)] {
        assert_eq!(decode(tick), Err(Malformed::out_of_range("baseline_back", ticks)));
    }
    // Ticks wrap.
    let (baseline, current) = (state(u32::MAX, &[]), state(31, &[]));
    assert_eq!(encode(&SCHEMA, Some(&baseline), &current, &mut [0]), Ok(1));
}

#[test]
#[should_panic(expected = "a baseline is 1 to 256 ticks old, not 0")]
fn a_state_is_no_baseline_of_itself() {
    let current = state(1, &[]);
    let _ = encode(&SCHEMA, Some(&current), &current, &mut [0]);
}

#[test]
fn a_body_makes_16384_entities_and_no_more() {
    let ships: Vec<_> = (0..16_384).map(|id| ship(id, 0, 0, 0)).collect();
    let (baseline, current) = (state(100, &ships[..16_383]), state(109, &ships));
    let mut out = [0; 4];
    let len = encode(&SCHEMA, Some(&baseline), &current, &mut out).unwrap();
    let mut decoded = State::default();
    assert_eq!(decode(&SCHEMA, Some(&baseline), 109, &out[..len], &mut decoded), Ok(()));
    assert_eq!(decoded, current);
    let baseline = state(100, &ships);
    let result = decode(&SCHEMA, Some(&baseline), 109, &bytes("1 1 0 1"), &mut decoded);
    assert_eq!(result, Err(Malformed::out_of_range("more", 16_385)));
}

#[test]
fn how_a_field_without_a_velocity_is_drawn_changes_no_bit() {
    const fn kinds(motion: Motion) -> [Field; 4] {
        let along = Motion::Along { velocity: 1, per_ticks: 1 };
        [
            field("x", 0, 1000, along),
            field("vx", -10, 10, Motion::Still),
            field("aim", 0, 1023, motion),
            field("health", 0, 3, motion),
        ]
    }
    fn body(motion: Motion) -> Vec<u8> {
        let kind = Kind { name: "ship", fields: Vec::leak(kinds(motion).to_vec()) };
        let schema = Schema::new(Vec::leak(vec![kind]));
        let ship = |id, counts: [i32; 4]| Entity::new(&schema, id, 0, &counts);
        let before = state(100, &[ship(1, [5, 1, 1000, 2]), ship(2, [9, 0, 3, 0])]);
        let after = state(109, &[ship(1, [14, 1, 10, 2]), ship(2, [9, 5, 3, 1]), ship(3, [1; 4])]);
        let mut out = [0; 200];
        let len = encode(&schema, Some(&before), &after, &mut out).unwrap();
        let mut decoded = State::default();
        decode(&schema, Some(&before), 109, &out[..len], &mut decoded).unwrap();
        assert_eq!(decoded, after);
        out[..len].to_vec()
    }
    for motion in [Motion::Smooth, Motion::Circular, Motion::Teleport] {
        assert_eq!(body(motion), body(Motion::Still), "{motion:?}");
    }
}
