//! The full form: an entity as document 004 writes it, for clients that read no deltas.

use backspin::replication::{Entity, Field, Kind, Schema};
use backspin::wire::field::{Big, record};

/// One thing in the world.
///
/// ```text
/// 0           4             6   10  14   16   18       20      22                  26
/// | entity_id | entity_type | x | y | vx | vy | health | flags | last_ack_sequence |
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct EntityState {
    /// The same for as long as the thing lives.
    pub entity_id: u32,
    /// What it is, as the game numbers it.
    pub entity_type: u16,
    /// Position.
    pub x: f32,
    /// Position.
    pub y: f32,
    /// Velocity, px/s.
    pub vx: i16,
    /// Velocity, px/s.
    pub vy: i16,
    /// Health.
    pub health: u16,
    /// As the game numbers them.
    pub flags: u16,
    /// The last input of its player that was applied; 0 for what no player controls.
    pub last_ack_sequence: u32,
}

record!(Big EntityState 26 {
    entity_id, entity_type, x, y, vx, vy, health, flags, last_ack_sequence,
});

/// Where each kind of a schema has the numbers of an [`EntityState`]: the fields named `x`, `y`,
/// `vx`, `vy`, `health` and `flags`, found once.
#[derive(Clone, Debug)]
pub struct FullForm {
    kinds: Vec<Option<Places>>,
}

/// A kind's fields, each with its index.
#[derive(Clone, Copy, Debug)]
struct Places {
    x: (usize, Field),
    y: (usize, Field),
    vx: Option<(usize, Field)>,
    vy: Option<(usize, Field)>,
    health: Option<(usize, Field)>,
    flags: Option<(usize, Field)>,
}

impl FullForm {
    /// Looks up the names. A kind without `x` or `y` has no full form; the other numbers are 0
    /// where a kind lacks them.
    pub fn new(schema: &Schema) -> Self {
        FullForm { kinds: schema.kinds.iter().map(Places::of).collect() }
    }

    /// The full form of `entity`, if its kind has one. Position and velocity are in the unit of
    /// their fields' steps, which document 004 wants to be px and px/s.
    pub fn entity(&self, entity: &Entity) -> Option<EntityState> {
        let places = self.kinds.get(usize::from(entity.kind))?.as_ref()?;
        let value = |(index, field): (usize, Field)| field.value(entity.fields[index]);
        let whole = |place: Option<(usize, Field)>| place.map_or(0.0, value).round();
        Some(EntityState {
            entity_id: entity.id,
            entity_type: u16::from(entity.kind),
            x: value(places.x),
            y: value(places.y),
            // These casts stop at the ends of their types.
            vx: whole(places.vx) as i16,
            vy: whole(places.vy) as i16,
            health: whole(places.health) as u16,
            flags: whole(places.flags) as u16,
            last_ack_sequence: 0,
        })
    }
}

impl Places {
    fn of(kind: &Kind) -> Option<Self> {
        let place = |name| {
            let mut fields = kind.fields.iter().copied().enumerate();
            fields.find(|(_, field)| field.name == name)
        };
        Some(Places {
            x: place("x")?,
            y: place("y")?,
            vx: place("vx"),
            vy: place("vy"),
            health: place("health"),
            flags: place("flags"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use backspin::replication::{Motion, Step};
    use backspin::wire::{Fault, List, Malformed, Reader, Record, Writer};

    const fn field(name: &'static str, step: Step) -> Field {
        Field { name, min: -70_000, max: 70_000, step, motion: Motion::Still }
    }

    const SIXTEENTH: Step = Step::new(1, 16);

    const SCHEMA: Schema = Schema::new(&[
        Kind { name: "score", fields: &[field("points", Step::ONE)] },
        Kind {
            name: "ship",
            fields: &[
                field("flags", Step::ONE),
                field("y", SIXTEENTH),
                field("x", SIXTEENTH),
                field("vx", Step::new(60, 16)),
                field("vy", Step::new(60, 16)),
                field("health", Step::ONE),
            ],
        },
        Kind { name: "wall", fields: &[field("x", SIXTEENTH), field("y", SIXTEENTH)] },
    ]);

    const BYTES: [u8; 26] = [
        0, 0, 0, 7, 0, 2, 0x42, 0x48, 0, 0, 0xC2, 0xC8, 0, 0, // entity_id to y
        0, 0x96, 0xFF, 0x6A, 0, 3, 0x80, 0, 0, 0, 1, 0, // vx to last_ack_sequence
    ];

    #[test]
    fn an_entity_is_26_bytes() {
        let entity = EntityState {
            entity_id: 7,
            entity_type: 2,
            x: 50.0,
            y: -100.0,
            vx: 150,
            vy: -150,
            health: 3,
            flags: 0x8000,
            last_ack_sequence: 256,
        };
        let mut out = [0; 26];
        List::new(&[entity]).encode(&mut Writer::new(&mut out));
        assert_eq!(out, BYTES);
        let list = List::<EntityState>::decode(&mut Reader::new(&BYTES), "entity_count", 1);
        assert_eq!(list, Ok(List::new(&[entity])));
        for stated in [0, 2] {
            let list =
                List::<EntityState>::decode(&mut Reader::new(&BYTES), "entity_count", stated);
            let fault = Fault::WrongSize { stated, actual: 1 };
            assert_eq!(list, Err(Malformed::new("entity_count", fault)));
        }
    }

    #[test]
    fn a_position_that_is_not_finite_is_named() {
        for (at, field) in [(6, "x"), (10, "y")] {
            let mut bytes = BYTES;
            bytes[at..at + 4].copy_from_slice(&f32::NEG_INFINITY.to_be_bytes());
            let decoded = EntityState::decode(&mut Reader::new(&bytes));
            assert_eq!(decoded, Err(Malformed::new(field, Fault::NotFinite)));
        }
    }

    #[test]
    fn fields_are_found_by_their_names() {
        let form = FullForm::new(&SCHEMA);
        let ship = Entity::new(&SCHEMA, 7, 1, &[0x8001, 24, -8, 27, -16, 100]);
        let full = EntityState {
            entity_id: 7,
            entity_type: 1,
            x: -0.5,
            y: 1.5,
            vx: 101,
            vy: -60,
            health: 100,
            flags: 0x8001,
            last_ack_sequence: 0,
        };
        assert_eq!(form.entity(&ship), Some(full));
        assert_eq!(form.entity(&Entity::new(&SCHEMA, 7, 0, &[3])), None);
        assert_eq!(form.entity(&Entity { kind: 3, ..ship }), None);
    }

    #[test]
    fn what_a_kind_lacks_is_0_and_what_is_too_large_stops() {
        let form = FullForm::new(&SCHEMA);
        let wall = form.entity(&Entity::new(&SCHEMA, 1, 2, &[16, 32])).unwrap();
        assert_eq!((wall.x, wall.y), (1.0, 2.0));
        assert_eq!((wall.vx, wall.vy, wall.health, wall.flags), (0, 0, 0, 0));
        let ship = Entity::new(&SCHEMA, 1, 1, &[-1, 0, 0, 70_000, -70_000, 70_000]);
        let full = form.entity(&ship).unwrap();
        assert_eq!((full.vx, full.vy, full.health, full.flags), (i16::MAX, i16::MIN, u16::MAX, 0));
    }
}
