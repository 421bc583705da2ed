//! The full form: an entity as document 004 writes it, for clients that read no deltas.

use super::schema::{Field, Kind, Schema};
use super::state::Entity;
use crate::wire::native::EntityState;

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
            entity_id: u32::from(entity.id),
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
    use crate::replication::{Motion, Step};

    const fn field(name: &'static str, step: Step) -> Field {
        Field { name, min: -70_000, max: 70_000, step, motion: Motion::Still }
    }

    const SIXTEENTH: Step = Step::new(1, 16);

    const SCHEMA: Schema = Schema {
        kinds: &[
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
        ],
    };

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
