//! The things of a game's world, as entities.

use crate::replication::{Drawn, Entity, Fields, Kind, Motion, Schema, State};

use super::LAYOUT;

/// All kinds of thing that a game's world is made of: an enum.
///
/// Derive it, and the schema is written from the types of the fields. A variant has named fields, or is one
/// struct that derives [`EntityKind`]:
///
/// ```
/// use backspin::replication::State;
/// use backspin::typed::{Angle, Entities, EntityKind, Fixed, Int};
///
/// #[derive(Clone, Copy, Debug, PartialEq, EntityKind)]
/// struct Runner {
///     #[along(vx)]
///     x: Fixed<0, 480, 16>,
///     vx: Fixed<-8, 8, 16>,
///     aim: Angle<10>,
///     #[teleports]
///     life: u8,
/// }
///
/// #[derive(Clone, Copy, Debug, PartialEq, Entities)]
/// enum Thing {
///     Runner(Runner),
///     Door { is_open: bool, key: Int<0, 9> },
/// }
///
/// let mut state = State::new(1);
/// let runner = Runner { x: Fixed::whole(7), vx: Fixed::default(), aim: Angle::ZERO, life: 1 };
/// state.put(1, &Thing::Runner(runner));
/// state.put(9, &Thing::Door { is_open: true, key: Int::new(3) });
/// assert_eq!(state.thing(1), Some(Thing::Runner(runner)));
/// assert_eq!(state.things::<Thing>().count(), 2);
/// assert_eq!(Thing::SCHEMA.kinds[1].fields[0].name, "is_open");
/// ```
///
/// | attribute of a field | what becomes of it in time |
/// |---|---|
/// | none | what its type says: [`Fixed`](super::Fixed) is [`Motion::Smooth`], [`Angle`](super::Angle) [`Motion::Circular`], the rest and every velocity [`Motion::Still`] |
/// | `#[along(vx)]` | it follows the field `vx`, which counts its steps per tick ([`Motion::Along`]) |
/// | `#[along(vx, per_ticks = 60)]` | the same with steps per 60 ticks |
/// | `#[teleports]` | when it changes, the thing was put elsewhere ([`Motion::Teleport`]) |
/// | `#[still]` | it stays until it changes ([`Motion::Still`]) |
///
/// `#[entities(pixel = "1/20")]` on the enum says what a pixel is worth: see [`Schema::pixel`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no enum of entities",
    note = "derive Entities for an enum with a variant for each kind of thing"
)]
pub trait Entities: Sized {
    /// What is sent of them.
    const SCHEMA: Schema;

    /// A hash of how they are laid out: see [`Schema::layout`].
    const LAYOUT: u64 = Self::SCHEMA.layout();

    /// Its index among the schema's kinds.
    fn kind(&self) -> u8;

    /// Writes its counts, in the order of the kind's fields.
    fn write(&self, fields: &mut [i32]);

    /// The thing with these counts; `None` where there is no such kind. Whatever the counts are, they are
    /// brought into their ranges.
    fn read(kind: u8, fields: &[i32]) -> Option<Self>;
}

/// One kind of thing, for a variant of [`Entities`]: a struct.
///
/// Its fields have the attributes that [`Entities`] lists.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kind of entity",
    label = "not a kind of entity",
    note = "a variant has named fields, or is one struct that derives EntityKind"
)]
pub trait EntityKind: Sized {
    /// What is sent of it.
    const KIND: Kind;

    /// A hash of what its numbers mean beyond what the kind says: [`FieldValue::LAYOUT`](super::FieldValue::LAYOUT)
    /// of each.
    const LAYOUT: u64 = LAYOUT;

    /// Writes its counts, in the order of the kind's fields.
    fn write(&self, fields: &mut [i32]);

    /// The thing with these counts, each brought into its range; what is missing counts as 0.
    fn read(fields: &[i32]) -> Self;
}

impl State {
    /// Adds a thing as the entity `id`. Where there is one with this id, or no room, it is left out, and
    /// [`State::refused`] says so.
    ///
    /// # Panics
    /// If the thing is of a kind that its schema does not have.
    pub fn put<E: Entities>(&mut self, id: u32, thing: &E) {
        let kind = thing.kind();
        let known = E::SCHEMA.kinds[usize::from(kind)].fields;
        let mut fields = Fields::zeros(known.len());
        thing.write(&mut fields);
        for (count, field) in fields.iter_mut().zip(known) {
            *count = (*count).clamp(field.min, field.max);
        }
        // The state itself remembers what was left out.
        let _ = self.push(Entity { id, kind, fields });
    }

    /// The thing that the entity `id` is, if it is there.
    pub fn thing<E: Entities>(&self, id: u32) -> Option<E> {
        self.find(id)?.thing()
    }

    /// All things with their ids, in the order of these.
    pub fn things<E: Entities>(&self) -> impl Iterator<Item = (u32, E)> {
        self.entities().iter().filter_map(|entity| Some((entity.id, entity.thing()?)))
    }
}

impl Entity {
    /// The thing that it is.
    pub fn thing<E: Entities>(&self) -> Option<E> {
        E::read(self.kind, &self.fields)
    }
}

impl Drawn {
    /// The thing as it is drawn: what moves at the count that is nearest to where it is drawn, and the rest as
    /// the [entity](Drawn::entity) has it.
    pub fn thing<E: Entities>(&self) -> Option<E> {
        let kind = E::SCHEMA.kinds.get(usize::from(self.entity.kind))?;
        let mut counts = self.entity.fields.clone();
        for ((count, value), field) in counts.iter_mut().zip(&self.fields).zip(kind.fields) {
            if !matches!(field.motion, Motion::Still | Motion::Teleport) {
                *count = field.quantise(*value);
            }
        }
        E::read(self.entity.kind, &counts)
    }
}

#[cfg(all(test, feature = "derive"))]
mod tests {
    use crate::replication::{Drawn, Fields, Schema, State};
    use crate::typed::{Angle, Entities, Fixed};

    #[derive(Clone, Copy, Debug, PartialEq, Entities)]
    enum Thing {
        Hero {
            #[along(vx)]
            x: Fixed<0, 100, 16>,
            vx: Fixed<-8, 8, 16>,
            height: Fixed<0, 100, 16>,
            aim: Angle<10>,
            health: u8,
            #[teleports]
            life: u8,
        },
    }

    fn hero(x: i32, aim: i32, health: u8) -> Thing {
        Thing::Hero {
            x: Fixed::from_count(x),
            vx: Fixed::from_count(3),
            height: Fixed::from_count(x),
            aim: Angle::from_count(aim),
            health,
            life: 1,
        }
    }

    fn drawn(counts: &Thing, fields: [f32; 6]) -> Drawn {
        let mut state = State::new(1);
        state.put(1, counts);
        let fields = Fields::from_fn(6, |i| fields[i]);
        Drawn { entity: state.entities()[0].clone(), fields }
    }

    #[test]
    fn a_drawn_thing_is_where_it_is_drawn_and_otherwise_as_the_snapshot_has_it() {
        let to = hero(20, 4, 2);
        let seen = drawn(&to, [10.0 / 16.0, 9.0, 9.6 / 16.0, 0.9999, 9.0, 9.0]);
        assert_eq!(seen.thing(), Some(hero(10, 0, 2)));
        // What is drawn past its range is at its end, and an angle on the other side.
        let beyond = drawn(&to, [1e9, 0.0, -1e9, -1.0 / 1024.0, 0.0, 0.0]);
        let Some(Thing::Hero { x, height, aim, .. }) = beyond.thing() else { panic!("no hero") };
        assert_eq!((x, height, aim.count()), (Fixed::MAX, Fixed::MIN, 1023));
    }

    #[test]
    fn what_is_of_no_kind_here_is_nothing() {
        let mut seen = drawn(&hero(1, 1, 1), [0.0; 6]);
        seen.entity.kind = 1;
        assert_eq!(seen.thing::<Thing>(), None);
        assert_eq!(seen.entity.thing::<Thing>(), None);
    }

    #[test]
    fn a_hand_written_count_out_of_range_is_brought_into_it() {
        struct Wild;
        impl Entities for Wild {
            const SCHEMA: Schema = Thing::SCHEMA;
            fn kind(&self) -> u8 {
                0
            }
            fn write(&self, fields: &mut [i32]) {
                fields.fill(i32::MAX);
            }
            fn read(_: u8, _: &[i32]) -> Option<Self> {
                None
            }
        }
        let mut state = State::new(1);
        state.put(1, &Wild);
        assert!(state.entities()[0].conforms(&Thing::SCHEMA));
        assert_eq!(Wild::LAYOUT, Thing::SCHEMA.layout());
    }
}
