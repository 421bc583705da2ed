//! What holds for every delta, tried on states and bytes at random: a state survives, a body has
//! one form, and no bytes do harm.

#[path = "scenes/schemas.rs"]
mod schemas;

use backspin::game::SpawnName;
use backspin::replication::{
    Entity, Field, History, Kind, MAX_FIELDS, Motion, Schema, State, Step, delta,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use schemas::{PONG, RTYPE};

const fn field(name: &'static str, min: i32, max: i32, motion: Motion) -> Field {
    Field { name, min, max, step: Step::ONE, motion }
}

const fn along(velocity: usize, per_ticks: u16) -> Motion {
    Motion::Along { velocity, per_ticks }
}

/// Everything a schema can be that the games are not.
const ODD: Schema = {
    let all = field("all", i32::MIN, i32::MAX, along(1, 60));
    let speed = field("speed", i32::MIN, i32::MAX, Motion::Still);
    Schema {
        kinds: &[
            Kind { name: "empty", fields: &[] },
            Kind { name: "constant", fields: &[field("seven", 7, 7, Motion::Still)] },
            Kind { name: "extremes", fields: &[all, speed, field("also", -5, 5, along(1, 1))] },
            Kind { name: "bit", fields: &[field("bit", 0, 1, Motion::Still)] },
            Kind { name: "many", fields: &[field("f", -3, 9, Motion::Still); MAX_FIELDS] },
        ],
        pixel: Step::ONE,
    }
};

fn schemas() -> impl Strategy<Value = &'static Schema> {
    const SCHEMAS: [&Schema; 3] = [&PONG, &RTYPE, &ODD];
    select(&SCHEMAS[..])
}

/// A count that is mostly near `around`, and of the field in any case.
fn count(field: Field, around: i32) -> impl Strategy<Value = i32> {
    let near = (-300..=300).prop_map(move |off| around.saturating_add(off));
    let any = field.min..=field.max;
    let edge = select(vec![field.min, field.max, 0]);
    let close = (-2..=2).prop_map(move |off| around.saturating_add(off));
    let count = prop_oneof![4 => Just(around), 2 => near, 2 => close, 1 => any, 1 => edge];
    count.prop_map(move |count| count.clamp(field.min, field.max))
}

fn fields(kind: &'static Kind, around: &[i32]) -> impl Strategy<Value = Vec<i32>> + use<> {
    let count = |(index, field): (usize, &Field)| count(*field, around[index]);
    kind.fields.iter().enumerate().map(count).collect::<Vec<_>>()
}

fn entity(schema: &'static Schema) -> impl Strategy<Value = Entity> {
    let id = prop_oneof![4 => 0..40_u32, 1 => any::<u32>(), 1 => SpawnName::FIRST - 6..SpawnName::FIRST + 6];
    (id, 0..schema.kinds.len() as u8).prop_flat_map(move |(id, kind)| {
        fields(&schema.kinds[usize::from(kind)], &[0; MAX_FIELDS])
            .prop_map(move |counts| Entity::new(schema, id, kind, &counts))
    })
}

fn state(tick: u32, entities: Vec<Entity>) -> State {
    let mut state = State::new(tick);
    for entity in entities {
        // The first with an id is the one that stays.
        let _ = state.push(entity);
    }
    state
}

/// What may become of an entity: it flies on, turns, changes at random, or goes.
fn later(schema: &'static Schema, entity: Entity, ticks: u32) -> BoxedStrategy<Option<Entity>> {
    let kind = &schema.kinds[usize::from(entity.kind)];
    let flown = entity.extrapolate(schema, ticks);
    let changed = fields(kind, &flown.fields)
        .prop_map(move |counts| Some(Entity::new(schema, entity.id, entity.kind, &counts)));
    let turned = (fields(kind, &entity.fields), 0..=ticks).prop_map(move |(counts, turn)| {
        let mut there = entity.extrapolate(schema, ticks - turn);
        let turned = Entity::new(schema, entity.id, entity.kind, &counts);
        for (index, field) in kind.fields.iter().enumerate() {
            if field.motion == Motion::Still {
                there.fields[index] = turned.fields[index];
            }
        }
        Some(there.extrapolate(schema, turn))
    });
    prop_oneof![3 => Just(Some(flown)), 2 => changed, 2 => turned, 1 => Just(None)].boxed()
}

/// A baseline and a state 1 to 32 ticks later, with some entities gone and some new.
fn two_states(schema: &'static Schema) -> impl Strategy<Value = (State, State)> {
    let entities = || vec(entity(schema), 0..40);
    (entities(), entities(), any::<u32>(), 1..=32_u32).prop_flat_map(
        move |(before, new, tick, ticks)| {
            let baseline = state(tick, before);
            let later =
                baseline.entities().iter().map(|entity| later(schema, entity.clone(), ticks));
            let later = later.collect::<Vec<_>>();
            (Just(baseline), later, Just(new), any::<Index>()).prop_map(
                move |(baseline, kept, new, few)| {
                    let few = few.index(new.len() + 1);
                    let all = kept.into_iter().flatten().chain(new.into_iter().take(few));
                    let current = state(tick.wrapping_add(ticks), all.collect());
                    (baseline, current)
                },
            )
        },
    )
}

fn with_two_states() -> impl Strategy<Value = (&'static Schema, State, State)> {
    schemas().prop_flat_map(|schema| {
        two_states(schema).prop_map(move |(baseline, current)| (schema, baseline, current))
    })
}

fn encoded(schema: &Schema, baseline: Option<&State>, current: &State) -> Vec<u8> {
    let mut out = vec![0xAA; 16_384];
    let len = delta::encode(schema, baseline, current, &mut out).unwrap();
    out.truncate(len);
    out
}

/// If `bytes` are a body, it makes a state of the schema whose body they are.
fn is_canonical(schema: &Schema, baseline: Option<&State>, tick: u32, bytes: &[u8]) {
    let mut decoded = State::default();
    if delta::decode(schema, baseline, tick, bytes, &mut decoded).is_ok() {
        assert!(decoded.entities().is_sorted_by(|a, b| a.id < b.id));
        assert!(decoded.entities().iter().all(|entity| entity.conforms(schema)));
        assert_eq!(encoded(schema, baseline, &decoded), bytes);
    } else {
        assert_eq!(decoded, State::new(tick));
    }
}

#[test]
fn the_schemas_are_without_mistakes() {
    for schema in [&PONG, &RTYPE, &ODD] {
        assert_eq!(schema.check(), Ok(()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None, cases: 128, ..ProptestConfig::default()
    })]

    #[test]
    fn a_state_survives_against_any_baseline((schema, baseline, current) in with_two_states()) {
        for baseline in [None, Some(&baseline)] {
            let body = encoded(schema, baseline, &current);
            let mut decoded = State::default();
            let result = delta::decode(schema, baseline, current.tick, &body, &mut decoded);
            prop_assert_eq!(result, Ok(()));
            prop_assert_eq!(&decoded, &current);
            prop_assert_eq!(decoded.digest(), current.digest());
        }
    }

    #[test]
    fn a_body_that_was_cut_or_grew_is_refused((schema, baseline, current) in with_two_states()) {
        let body = encoded(schema, Some(&baseline), &current);
        let mut out = State::default();
        for len in 0..body.len() {
            let cut =
                delta::decode(schema, Some(&baseline), current.tick, &body[..len], &mut out);
            prop_assert!(cut.is_err());
        }
        let grown = [&body[..], &[0]].concat();
        let grown = delta::decode(schema, Some(&baseline), current.tick, &grown, &mut out);
        prop_assert!(grown.is_err());
    }

    #[test]
    fn a_body_with_a_flipped_bit_has_one_form_or_none(
        (schema, baseline, current) in with_two_states(),
        bits in vec(any::<Index>(), 1..8),
    ) {
        for bit in bits {
            let mut body = encoded(schema, Some(&baseline), &current);
            let bit = bit.index(body.len() * 8);
            body[bit / 8] ^= 1 << (bit % 8);
            is_canonical(schema, Some(&baseline), current.tick, &body);
        }
    }

    #[test]
    fn any_bytes_have_one_form_or_none(
        (schema, baseline, current) in with_two_states(),
        bytes in vec(any::<u8>(), 0..60),
    ) {
        is_canonical(schema, Some(&baseline), current.tick, &bytes);
        is_canonical(schema, None, current.tick, &bytes);
    }

    #[test]
    fn a_chain_of_deltas_keeps_both_sides_alike(
        (schema, first, second) in with_two_states(), skip in 1..=20_u32,
    ) {
        let (mut server, mut client) = (History::default(), History::default());
        let mut received = State::default();
        server.begin(first.tick).clone_from(&first);
        client.begin(first.tick).clone_from(&first);
        for (from, mut next) in [(first.tick, second.clone()), (second.tick, first.clone())] {
            next.tick = from.wrapping_add(if from == first.tick {
                second.tick.wrapping_sub(first.tick)
            } else {
                skip
            });
            let body = encoded(schema, server.at(from), &next);
            prop_assert_eq!(
                delta::decode(schema, client.at(from), next.tick, &body, &mut received),
                Ok(())
            );
            server.begin(next.tick).clone_from(&next);
            client.begin(next.tick).clone_from(&received);
            prop_assert_eq!(server.at(next.tick), client.at(next.tick));
        }
    }
}
