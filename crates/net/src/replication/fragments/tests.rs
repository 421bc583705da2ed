//! Cut and put together again, and what hostile parts cannot do.

use super::*;
use crate::replication::{Bodies, Entity, Field, Kind, Motion, Schema, State, Step};
use crate::wire::{Fault, Full};
use proptest::prelude::*;

const SCHEMA: Schema = Schema {
    kinds: &[Kind {
        name: "dot",
        fields: &[
            Field {
                name: "x",
                min: 0,
                max: 255,
                step: Step::ONE,
                motion: Motion::Along { velocity: 1, per_ticks: 1 },
            },
            Field { name: "vx", min: -8, max: 7, step: Step::ONE, motion: Motion::Still },
        ],
    }],
};

fn state(tick: u32, entities: impl IntoIterator<Item = (u16, i32, i32)>) -> State {
    let mut state = State::new(tick);
    for (id, x, vx) in entities {
        // A second one with the same id does not come in.
        let _ = state.push(Entity::new(&SCHEMA, id, 0, &[x, vx]));
    }
    state
}

fn row(tick: u32, count: u16) -> State {
    state(tick, (0..count).map(|id| (id * 7, i32::from(id) * 37 % 256, i32::from(id % 16) - 8)))
}

/// The parts of `current`, by themselves.
fn cut(room_len: usize, baseline: Option<&State>, current: &State) -> Vec<(Part, Vec<u8>)> {
    let mut cuts = FragmentCache::new(room_len);
    let parts = cuts.parts(&SCHEMA, baseline, current).unwrap();
    parts.iter().map(|(part, body)| (part, body.to_vec())).collect()
}

/// What a client makes of parts of tick 200, in this order.
fn put_together(baseline: Option<&State>, parts: &[(Part, Vec<u8>)]) -> Option<State> {
    let mut assembly = Assembly::default();
    let mut whole = None;
    for (part, body) in parts {
        assert_eq!(whole, None, "nothing is missing any more");
        whole = assembly.handle(&SCHEMA, baseline, 200, *part, body).unwrap().cloned();
    }
    whole
}

/// `handle` of a part of tick `tick` without a baseline.
fn handle(
    assembly: &mut Assembly,
    tick: u32,
    (index, count): (u8, u8),
    body: &[u8],
) -> Result<bool, FragmentError> {
    let part = Part::new(index, count).unwrap();
    assembly.handle(&SCHEMA, None, tick, part, body).map(|whole| whole.is_some())
}

/// An empty range.
fn empty(from: u16, upto: u16) -> Vec<u8> {
    // No changes: 1. No new ones: 0.
    [&IdRange { from, upto }.encode()[..], &[0x80]].concat()
}

#[test]
fn the_example_of_the_specification() {
    let baseline = state(191, [(1, 10, 2), (2, 20, 0), (300, 30, 1)]);
    let current = state(200, [(1, 28, 2), (2, 20, 0), (300, 40, 1), (301, 5, -1)]);
    let parts = cut(9, Some(&baseline), &current);
    let part = |index| Part::new(index, 2).unwrap();
    // No changes: 1. No new ones: 0.
    let first = [0x00, 0x00, 0x01, 0x2B, 0x80];
    // One change, of the only entity: not gone, x not as expected, near, above, by 1; and a new
    // one: the id as expected, x 5, vx -1 + 8.
    let second = [0x01, 0x2C, 0xFF, 0xFF, 0x48, 0x0C, 0x15, 0xC0];
    assert_eq!(parts, [(part(0), first.to_vec()), (part(1), second.to_vec())]);
    assert_eq!(put_together(Some(&baseline), &parts), Some(current));
}

#[test]
fn parts_come_in_any_order_and_more_than_once() {
    let current = row(200, 500);
    let parts = cut(300, None, &current);
    assert!((4..7).contains(&parts.len()), "{}", parts.len());
    let mut orders = vec![parts.clone(), parts.iter().rev().cloned().collect()];
    orders.extend((1..parts.len()).map(|by| {
        let mut rotated = parts.clone();
        rotated.rotate_left(by);
        rotated
    }));
    for order in &orders {
        assert_eq!(put_together(None, order).as_ref(), Some(&current));
    }
    for missing in 0..parts.len() {
        let mut some = parts.clone();
        some.remove(missing);
        assert_eq!(put_together(None, &some), None);
    }
    let mut assembly = Assembly::default();
    for (part, body) in &parts {
        let last = part.index() + 1 == part.count();
        let mut take = || assembly.handle(&SCHEMA, None, 200, *part, body).map(|s| s.is_some());
        assert_eq!(take(), Ok(last));
        assert_eq!(take(), Err(FragmentError::Duplicate));
    }
}

#[test]
fn parts_of_four_ticks_may_come_mixed() {
    let states: Vec<State> =
        (0..4).map(|i| row(u32::MAX.wrapping_add(i), 100 + i as u16)).collect();
    let parts: Vec<_> = states.iter().map(|state| cut(100, None, state)).collect();
    let mut assembly = Assembly::default();
    let most = parts.iter().map(Vec::len).max().unwrap();
    let mut whole = 0;
    for i in 0..most {
        for (state, parts) in states.iter().zip(&parts) {
            let Some((part, body)) = parts.get(i) else { continue };
            if let Some(made) = assembly.handle(&SCHEMA, None, state.tick, *part, body).unwrap() {
                assert_eq!(made, state);
                whole += 1;
            }
        }
    }
    assert_eq!(whole, 4);
}

#[test]
fn of_a_fifth_tick_the_oldest_makes_room_and_does_not_come_back() {
    let mut assembly = Assembly::default();
    for tick in 10..14 {
        assert_eq!(handle(&mut assembly, tick, (0, 2), &empty(0, 9)), Ok(false));
    }
    assert_eq!(handle(&mut assembly, 14, (0, 2), &empty(0, 9)), Ok(false));
    assert_eq!(handle(&mut assembly, 10, (1, 2), &empty(10, 65535)), Err(FragmentError::Late));
    for tick in [11, 12, 13, 14] {
        assert_eq!(handle(&mut assembly, tick, (1, 2), &empty(10, 65535)), Ok(true));
    }
    // A tick that no delta can be about to reach does not block its place for ever.
    assert_eq!(handle(&mut assembly, 30_014, (0, 2), &empty(0, 9)), Ok(false));
    assert_eq!(handle(&mut assembly, 18, (0, 2), &empty(0, 9)), Ok(false));
}

#[test]
fn what_contradicts_the_parts_that_have_come_is_refused() {
    let mut assembly = Assembly::default();
    assert_eq!(handle(&mut assembly, 1, (1, 4), &empty(100, 199)), Ok(false));
    let mut refused = |part, body: &[u8]| {
        assert_eq!(handle(&mut assembly, 1, part, body), Err(FragmentError::Contradiction));
    };
    // Another count; ids of another part, before, behind, around; an id left out.
    refused((0, 3), &empty(0, 99));
    refused((0, 4), &empty(0, 100));
    refused((0, 4), &empty(0, 98));
    refused((2, 4), &empty(199, 300));
    refused((2, 4), &empty(201, 300));
    refused((2, 4), &empty(50, 99));
    refused((3, 4), &empty(200, 65535));
    refused((3, 4), &empty(1, 65535));
    assert_eq!(handle(&mut assembly, 1, (1, 4), &empty(1, 2)), Err(FragmentError::Duplicate));
    assert_eq!(handle(&mut assembly, 1, (3, 4), &empty(201, 65535)), Ok(false));
    assert_eq!(handle(&mut assembly, 1, (0, 4), &empty(0, 99)), Ok(false));
    assert_eq!(handle(&mut assembly, 1, (2, 4), &empty(200, 200)), Ok(true));
}

#[test]
fn a_range_that_its_part_cannot_have_is_named() {
    let refused = |part, body: &[u8], field, fault| {
        let mut assembly = Assembly::default();
        let malformed = FragmentError::Malformed(Malformed::new(field, fault));
        assert_eq!(handle(&mut assembly, 1, part, body), Err(malformed));
        assert_eq!(handle(&mut assembly, 1, (0, 2), &empty(0, 9)), Ok(false), "nothing changed");
    };
    let out_of_range = |field, value: u16| Malformed::out_of_range(field, value).fault;
    refused((0, 2), &empty(1, 9), "from", out_of_range("from", 1));
    refused((1, 2), &empty(0, 65535), "from", out_of_range("from", 0));
    refused((0, 2), &empty(0, 65535), "upto", out_of_range("upto", 65535));
    refused((1, 2), &empty(9, 65534), "upto", out_of_range("upto", 65534));
    refused((1, 3), &empty(9, 8), "upto", out_of_range("upto", 8));
    for (len, field) in ["from", "from", "upto", "upto", "changes"].into_iter().enumerate() {
        refused((0, 2), &empty(0, 9)[..len], field, Fault::Truncated);
    }
    // An entity outside of the range: no changes (1), a new one (1), its id 10 (000010101).
    let body = [&IdRange { from: 0, upto: 9 }.encode()[..], &[0xC2, 0xA0, 0]].concat();
    refused((0, 2), &body, "id", out_of_range("id", 10));
}

#[test]
fn more_than_1024_entities_do_not_come_together() {
    let low = state(1, (0..600).map(|id| (id, 1, 1)));
    let high = state(1, (1000..1600).map(|id| (id, 1, 1)));
    let body = |state: &State, ids: IdRange| {
        let mut out = [0; 4000];
        let len =
            crate::replication::delta::encode_range(&SCHEMA, None, state, ids, &mut out).unwrap();
        [&ids.encode()[..], &out[..len]].concat()
    };
    let mut assembly = Assembly::default();
    let low = body(&low, IdRange { from: 0, upto: 999 });
    let high = body(&high, IdRange { from: 1000, upto: 65535 });
    assert_eq!(handle(&mut assembly, 1, (0, 2), &low), Ok(false));
    assert_eq!(handle(&mut assembly, 1, (1, 2), &high), Err(FragmentError::Contradiction));
    assert_eq!(handle(&mut assembly, 1, (1, 2), &empty(1000, 65535)), Ok(true));
}

#[test]
fn a_cut_is_made_once_for_each_baseline() {
    let (older, old, current) = (row(198, 90), row(199, 95), row(200, 100));
    let mut cuts = FragmentCache::new(100);
    let bodies = |cuts: &mut FragmentCache, baseline: Option<&State>, current: &State| -> Vec<_> {
        cuts.parts(&SCHEMA, baseline, current).unwrap().iter().map(|(_, b)| b.to_vec()).collect()
    };
    let baselines = [None, Some(&old), Some(&older)];
    let first = baselines.map(|baseline| bodies(&mut cuts, baseline, &current));
    assert!(first[0] != first[1] && first[1] != first[2]);
    // The tick names the state: what is known is not written again, whatever is in it.
    let other = row(200, 50);
    assert_eq!(baselines.map(|baseline| bodies(&mut cuts, baseline, &other)), first);
    assert_ne!(bodies(&mut cuts, None, &row(201, 50)), first[0]);
}

#[test]
fn a_state_has_15_parts_at_most() {
    let current = row(200, 1024);
    let fits =
        |room_len| FragmentCache::new(room_len).parts(&SCHEMA, None, &current).map(|p| p.count());
    let least = (1..2000).find(|&room_len| fits(room_len).is_ok()).unwrap();
    assert_eq!(fits(least), Ok(15), "at {least} bytes");
    assert_eq!(fits(least - 1), Err(Full));
    let all = cut(least, None, &current);
    assert!(all.iter().all(|(_, body)| body.len() <= least));
    assert_eq!(put_together(None, &all), Some(current));
}

#[test]
fn one_entity_cannot_be_cut() {
    for count in [0, 1] {
        assert!(FragmentCache::new(1000).parts(&SCHEMA, None, &row(200, count)).is_err());
    }
    assert_eq!(cut(1000, None, &row(200, 2)).len(), 2);
}

#[test]
fn parts_cost_a_few_bytes_more_than_the_whole() {
    let (baseline, current) = (row(191, 1000), row(200, 1000));
    let mut bodies = Bodies::new(9000);
    for baseline in [None, Some(&baseline)] {
        let whole = bodies.body(&SCHEMA, baseline, &current).unwrap().len();
        let parts = cut(1005, baseline, &current);
        let sum: usize = parts.iter().map(|(_, body)| body.len()).sum();
        assert!(sum <= whole + 8 * parts.len(), "{whole} bytes whole, {sum} in parts");
        assert_eq!(parts.len(), whole.div_ceil(1001).max(2));
    }
}

fn entities() -> impl Strategy<Value = Vec<(u16, i32, i32)>> {
    let id = prop_oneof![0..300_u16, any::<u16>(), Just(0), Just(u16::MAX)];
    prop::collection::vec((id, 0..256, -8..8), 0..300)
}

proptest! {
    #[test]
    fn what_is_cut_comes_together(
        before in prop::option::of(entities()),
        after in entities(),
        room_len in 20..400_usize,
        turn in any::<prop::sample::Index>(),
    ) {
        let baseline = before.map(|entities| state(190, entities));
        let current = state(200, after);
        let mut cuts = FragmentCache::new(room_len);
        if let Ok(parts) = cuts.parts(&SCHEMA, baseline.as_ref(), &current) {
            let mut all: Vec<_> = parts.iter().map(|(part, body)| (part, body.to_vec())).collect();
            prop_assert!(all.len() >= 2 && all.iter().all(|(_, body)| body.len() <= room_len));
            all.rotate_left(turn.index(parts.count().into()));
            prop_assert_eq!(put_together(baseline.as_ref(), &all), Some(current));
        }
    }

    #[test]
    fn hostile_parts_never_panic_and_what_comes_together_is_a_state(
        parts in prop::collection::vec(
            (0..8_u32, 0..4_u8, 2..5_u8, 0..40_u16, 0..40_u16, any::<[u8; 6]>()), 0..60,
        ),
        based in any::<bool>(),
    ) {
        let baseline = row(u32::MAX - 2, 20);
        let baseline = based.then_some(&baseline);
        let mut assembly = Assembly::default();
        for (tick, index, count, from, upto, bytes) in parts {
            let Some(part) = Part::new(index, count) else { continue };
            let from = if index == 0 { 0 } else { from };
            let upto = if index + 1 == count { u16::MAX } else { upto };
            let body = [&IdRange { from, upto }.encode()[..], &bytes].concat();
            for body in [&body[..], &empty(from, upto)] {
                if let Ok(Some(whole)) = assembly.handle(&SCHEMA, baseline, tick, part, body) {
                    prop_assert!(whole.entities().is_sorted_by_key(|entity| entity.id));
                    prop_assert!(whole.entities().windows(2).all(|two| two[0].id < two[1].id));
                    prop_assert!(whole.entities().iter().all(|entity| entity.conforms(&SCHEMA)));
                    prop_assert_eq!(whole.tick, tick);
                }
            }
        }
    }
}
