//! What a game's entities are made of: kinds, and their fields with range, step and motion.
//!
//! A schema is a constant of the game. Both sides have the same one, by the game's version, so
//! nothing of it travels.

use std::fmt;

use crate::typed::{FieldValue, LAYOUT, layout, layout_number};

/// An entity has at most so many fields.
pub const MAX_FIELDS: usize = 64;

/// A schema has at most so many kinds.
pub const MAX_KINDS: usize = 255;

/// All kinds of entity in a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schema {
    /// The kinds; an entity names its own by the index here.
    pub kinds: &'static [Kind],
    /// What one pixel, the smallest distance that a player notices, is worth in the unit of the places. What
    /// is drawn in the wrong place slides to the right one by so many pixels in a frame.
    pub pixel: Step,
}

/// One kind of entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// For people.
    pub name: &'static str,
    /// What it is made of, [`MAX_FIELDS`] at most.
    pub fields: &'static [Field],
}

/// One number of an entity: a whole count of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// For people, for faults, and for the full form.
    pub name: &'static str,
    /// The least count.
    pub min: i32,
    /// The greatest count. A field with `min == max` is a constant and costs nothing.
    pub max: i32,
    /// What one count is worth.
    pub step: Step,
    /// What becomes of it in time.
    pub motion: Motion,
}

/// What one count of a field is worth: `numerator / denominator` of its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Not 0.
    pub numerator: u32,
    /// Not 0.
    pub denominator: u32,
}

/// What becomes of a field in time, as long as nothing happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    /// It stays. When it changes, it is drawn as it was until the drawn time reaches the change.
    Still,
    /// It follows a velocity, up to the field's own range.
    Along {
        /// The index of the velocity among the fields of the same kind; it is [`Motion::Still`].
        velocity: usize,
        /// The velocity counts this field's counts per so many ticks; not 0.
        per_ticks: u16,
    },
    /// It has no velocity, and is drawn between the two snapshots around the drawn time. Past the newest
    /// snapshot it stays. It is sent as [`Motion::Still`] is.
    Smooth,
    /// The same, the short way round: `min..=max` is one full turn, and `min` follows `max`.
    Circular,
    /// It stays, and when it changes, the entity was put elsewhere: a spawn counter, the number of a life. The
    /// entity is drawn in its new place at once, not on the way there. It is sent as [`Motion::Still`] is.
    Teleport,
}

impl Schema {
    /// These kinds, where a pixel is worth 1.
    pub const fn new(kinds: &'static [Kind]) -> Self {
        Schema { kinds, pixel: Step::ONE }
    }

    /// The same where a pixel is worth so much.
    pub const fn with_pixel(self, pixel: Step) -> Self {
        Schema { pixel, ..self }
    }

    /// A hash of every name, range, step and motion: two builds with the same one read each other's
    /// entities. What a pixel is worth is no part of it.
    pub const fn layout(&self) -> u64 {
        let mut hash = layout_number(LAYOUT, self.kinds.len() as i64);
        let mut index = 0;
        while index < self.kinds.len() {
            hash = self.kinds[index].layout(hash);
            index += 1;
        }
        hash
    }

    /// Finds what is wrong with a schema. It can run at compile time:
    ///
    /// ```
    /// use backspin::replication::{Field, Kind, Motion, Schema, Step};
    /// const SCORE: Field =
    ///     Field { name: "score", min: 0, max: 99, step: Step::ONE, motion: Motion::Still };
    /// const SCHEMA: Schema = Schema::new(&[Kind { name: "match", fields: &[SCORE] }]);
    /// const _: () = assert!(SCHEMA.check().is_ok());
    /// ```
    pub const fn check(&self) -> Result<(), Mistake> {
        if self.kinds.len() > MAX_KINDS {
            return Err(Mistake::TooManyKinds);
        }
        if self.pixel.numerator == 0 || self.pixel.denominator == 0 {
            return Err(Mistake::NoPixel);
        }
        let mut index = 0;
        while index < self.kinds.len() {
            if let Err(mistake) = self.kinds[index].check() {
                return Err(mistake);
            }
            index += 1;
        }
        Ok(())
    }
}

impl Kind {
    const fn layout(&self, hash: u64) -> u64 {
        let mut hash = layout(hash, self.name.as_bytes());
        hash = layout_number(hash, self.fields.len() as i64);
        let mut index = 0;
        while index < self.fields.len() {
            let Field { name, min, max, step, motion } = self.fields[index];
            hash = layout(hash, name.as_bytes());
            hash = layout_number(layout_number(hash, min as i64), max as i64);
            hash = layout_number(hash, step.numerator as i64);
            hash = layout_number(hash, step.denominator as i64);
            let (number, velocity, per_ticks) = match motion {
                Motion::Still => (0, 0, 0),
                Motion::Along { velocity, per_ticks } => (1, velocity, per_ticks),
                Motion::Smooth => (2, 0, 0),
                Motion::Circular => (3, 0, 0),
                Motion::Teleport => (4, 0, 0),
            };
            hash = layout_number(hash, number);
            hash = layout_number(layout_number(hash, velocity as i64), per_ticks as i64);
            index += 1;
        }
        hash
    }

    /// Whether an entity was put elsewhere between two looks at it: a [`Motion::Teleport`] field differs.
    #[inline]
    pub(super) fn teleports<T: PartialEq>(&self, from: &[T], to: &[T]) -> bool {
        let mut fields = self.fields.iter().zip(from.iter().zip(to));
        fields.any(|(field, (a, b))| matches!(field.motion, Motion::Teleport) && a != b)
    }

    const fn check(&self) -> Result<(), Mistake> {
        let (kind, fields) = (self.name, self.fields);
        if fields.len() > MAX_FIELDS {
            return Err(Mistake::TooManyFields { kind });
        }
        let mut index = 0;
        while index < fields.len() {
            let Field { name: field, min, max, step, motion } = fields[index];
            if min > max {
                return Err(Mistake::EmptyRange { kind, field });
            }
            if step.numerator == 0 || step.denominator == 0 {
                return Err(Mistake::NoStep { kind, field });
            }
            if let Motion::Along { velocity, per_ticks } = motion {
                if per_ticks == 0 {
                    return Err(Mistake::NoTicks { kind, field });
                }
                if velocity >= fields.len() {
                    return Err(Mistake::NoVelocity { kind, field });
                }
                if !matches!(fields[velocity].motion, Motion::Still) {
                    return Err(Mistake::MovingVelocity { kind, field });
                }
            }
            index += 1;
        }
        Ok(())
    }
}

impl Field {
    /// A number with this name that is a `T`.
    ///
    /// ```
    /// use backspin::replication::{Field, Motion};
    /// use backspin::typed::Fixed;
    /// const X: Field = Field::of::<Fixed<0, 480, 16>>("x").moving(Motion::Along { velocity: 1, per_ticks: 1 });
    /// assert_eq!((X.min, X.max), (0, 7680));
    /// ```
    pub const fn of<T: FieldValue>(name: &'static str) -> Self {
        Field { name, min: T::MIN, max: T::MAX, step: T::STEP, motion: T::MOTION }
    }

    /// The same with this motion.
    pub const fn moving(self, motion: Motion) -> Self {
        Field { motion, ..self }
    }

    /// The count nearest to `value` within the range; a half goes away from 0, and what is not a
    /// number counts as 0. A [`Motion::Circular`] field goes round instead of ending at its range.
    pub fn quantise(&self, value: f32) -> i32 {
        let Step { numerator, denominator } = self.step;
        let count = f64::from(value) * f64::from(denominator) / f64::from(numerator);
        match self.motion {
            Motion::Circular => self.wrap(count.round() as i64),
            _ => (count.round() as i32).clamp(self.min, self.max),
        }
    }

    /// A count of a [`Motion::Circular`] field, brought into its range by whole turns.
    pub(super) fn wrap(&self, count: i64) -> i32 {
        let min = i64::from(self.min);
        // The rest is less than the span and one, so the sum is at most `max`.
        (min + count.saturating_sub(min).rem_euclid(self.turn())) as i32
    }

    /// How many counts a full turn has.
    fn turn(&self) -> i64 {
        i64::from(self.span()) + 1
    }

    /// A value of a [`Motion::Circular`] field, brought into one turn from `min` on.
    pub(super) fn wrap_value(&self, value: f32) -> f32 {
        let (min, turn) = (self.value(self.min), self.turn_value());
        let there = (value - min).rem_euclid(turn);
        // Just below 0, the rest rounds up to a whole turn.
        if there < turn { min + there } else { min }
    }

    /// The short way from `from` to `to`: of a [`Motion::Circular`] field at most half a turn.
    pub(super) fn way(&self, from: f32, to: f32) -> f32 {
        match self.motion {
            Motion::Circular => {
                let turn = self.turn_value();
                (to - from + turn / 2.0).rem_euclid(turn) - turn / 2.0
            }
            _ => to - from,
        }
    }

    /// What a full turn is worth.
    fn turn_value(&self) -> f32 {
        let Step { numerator, denominator } = self.step;
        (self.turn() as f64 * f64::from(numerator) / f64::from(denominator)) as f32
    }

    /// What `count` is worth.
    pub fn value(&self, count: i32) -> f32 {
        let Step { numerator, denominator } = self.step;
        (f64::from(count) * f64::from(numerator) / f64::from(denominator)) as f32
    }

    /// How many bits a value in full takes.
    #[inline]
    pub(super) const fn bits(&self) -> u32 {
        u32::BITS - self.span().leading_zeros()
    }

    /// The greatest distance from `min`.
    #[inline]
    pub(super) const fn span(&self) -> u32 {
        self.max.abs_diff(self.min)
    }

    /// Where `velocity` carries `base` in `ticks`, if it moves.
    #[inline]
    pub(super) fn carried(&self, base: i32, velocity: i32, ticks: u32) -> i32 {
        let Motion::Along { per_ticks, .. } = self.motion else { return base };
        // Both products and sums of these types fit.
        let way = i64::from(velocity) * i64::from(ticks);
        // Most games count per tick, and a division costs more than all else here.
        let way = if per_ticks == 1 { way } else { way.div_euclid(i64::from(per_ticks)) };
        (i64::from(base) + way).clamp(i64::from(self.min), i64::from(self.max)) as i32
    }
}

impl Step {
    /// A count is worth 1.
    pub const ONE: Step = Step::new(1, 1);

    /// A count is worth `numerator / denominator`.
    pub const fn new(numerator: u32, denominator: u32) -> Self {
        Step { numerator, denominator }
    }

    /// The same as a number.
    pub fn value(self) -> f32 {
        (f64::from(self.numerator) / f64::from(self.denominator)) as f32
    }
}

/// What is wrong with a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// More than [`MAX_KINDS`].
    TooManyKinds,
    /// What a pixel is worth has a 0.
    NoPixel,
    /// More than [`MAX_FIELDS`].
    TooManyFields {
        /// In which kind.
        kind: &'static str,
    },
    /// No count lies within the range.
    EmptyRange {
        /// In which kind.
        kind: &'static str,
        /// Which field.
        field: &'static str,
    },
    /// A step with a 0.
    NoStep {
        /// In which kind.
        kind: &'static str,
        /// Which field.
        field: &'static str,
    },
    /// A velocity that counts per 0 ticks.
    NoTicks {
        /// In which kind.
        kind: &'static str,
        /// Which field moves so.
        field: &'static str,
    },
    /// The velocity's index is beyond the kind's fields.
    NoVelocity {
        /// In which kind.
        kind: &'static str,
        /// Which field moves so.
        field: &'static str,
    },
    /// The velocity moves itself.
    MovingVelocity {
        /// In which kind.
        kind: &'static str,
        /// Which field moves so.
        field: &'static str,
    },
}

impl Mistake {
    /// Stops the compiler, from a constant: what the derives do with a mistake.
    #[doc(hidden)]
    #[track_caller]
    pub const fn refuse(self) -> ! {
        match self {
            Mistake::TooManyKinds => panic!("a schema has too many kinds"),
            Mistake::NoPixel => panic!("a pixel is worth nothing"),
            Mistake::TooManyFields { .. } => panic!("a kind has too many fields"),
            Mistake::EmptyRange { .. } => panic!("a field has no value"),
            Mistake::NoStep { .. } => panic!("a field has no step"),
            Mistake::NoTicks { .. } => panic!("a velocity counts per 0 ticks"),
            Mistake::NoVelocity { .. } => panic!("a velocity is missing"),
            Mistake::MovingVelocity { .. } => panic!("a velocity moves itself"),
        }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Mistake::TooManyKinds => write!(f, "a schema has at most {MAX_KINDS} kinds"),
            Mistake::NoPixel => {
                write!(f, "a pixel needs a numerator and a denominator above 0")
            }
            Mistake::TooManyFields { kind } => {
                write!(f, "{kind}: a kind has at most {MAX_FIELDS} fields")
            }
            Mistake::EmptyRange { kind, field } => {
                write!(f, "{kind}.{field}: min is greater than max, so it has no value")
            }
            Mistake::NoStep { kind, field } => {
                write!(f, "{kind}.{field}: a step needs a numerator and a denominator above 0")
            }
            Mistake::NoTicks { kind, field } => {
                write!(f, "{kind}.{field}: its velocity must count per 1 tick or more")
            }
            Mistake::NoVelocity { kind, field } => {
                write!(f, "{kind}.{field}: the index of its velocity is beyond the kind's fields")
            }
            Mistake::MovingVelocity { kind, field } => {
                write!(f, "{kind}.{field}: its velocity must stay still, not move itself")
            }
        }
    }
}

impl std::error::Error for Mistake {}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELD: Field =
        Field { name: "x", min: -160, max: 1600, step: Step::new(1, 16), motion: Motion::Still };

    fn mistake(fields: &'static [Field]) -> Option<Mistake> {
        let kinds: &'static [Kind] = Vec::leak(vec![Kind { name: "ship", fields }]);
        Schema::new(kinds).check().err()
    }

    fn one(field: Field) -> Option<Mistake> {
        mistake(Vec::leak(vec![field]))
    }

    #[test]
    fn values_become_the_nearest_count_within_the_range() {
        for (value, count) in [
            (0.0, 0),
            (1.0, 16),
            (0.031, 0),
            (0.0313, 1),
            (-0.03125, -1),
            (-10.0, -160),
            (-10.1, -160),
            (1e30, 1600),
            (f32::NEG_INFINITY, -160),
            (f32::NAN, 0),
        ] {
            assert_eq!(FIELD.quantise(value), count, "{value}");
        }
        assert_eq!(FIELD.value(-24), -1.5);
        assert!((-160..=1600).all(|count| FIELD.quantise(FIELD.value(count)) == count));
    }

    #[test]
    fn motion_rounds_down_and_stops_at_the_range() {
        for (base, velocity, per_ticks, ticks, then) in [
            (0, 7, 1, 3, 21),
            (0, 7, 2, 3, 10),
            (0, -7, 2, 3, -11),
            (0, -1, 60, 1, -1),
            (5, 0, 60, 9, 5),
            (1590, 7, 1, 3, 1600),
            (0, i32::MIN, 1, u32::MAX, -160),
            (0, i32::MAX, 1, u32::MAX, 1600),
        ] {
            let motion = Motion::Along { velocity: 0, per_ticks };
            assert_eq!(Field { motion, ..FIELD }.carried(base, velocity, ticks), then);
        }
    }

    #[test]
    fn a_range_takes_as_many_bits_as_it_needs() {
        for (min, max, bits) in
            [(7, 7, 0), (0, 1, 1), (-1, 1, 2), (0, 255, 8), (0, 256, 9), (i32::MIN, i32::MAX, 32)]
        {
            assert_eq!(Field { min, max, ..FIELD }.bits(), bits);
        }
    }

    #[test]
    fn sixty_four_fields_and_255_kinds_are_allowed_and_no_more() {
        assert_eq!(mistake(&[FIELD; MAX_FIELDS]), None);
        let Some(mistake) = mistake(&[FIELD; 65]) else { panic!("65 fields pass") };
        assert_eq!(mistake.to_string(), "ship: a kind has at most 64 fields");
        const KIND: Kind = Kind { name: "ship", fields: &[FIELD] };
        assert_eq!(Schema::new(&[KIND; 255]).check(), Ok(()));
        assert_eq!(Schema::new(&[KIND; 256]).check(), Err(Mistake::TooManyKinds));
    }

    #[test]
    fn mistakes_are_told_in_sentences() {
        let along = |velocity, per_ticks| Motion::Along { velocity, per_ticks };
        let told = [
            (Field { min: 1, max: 0, ..FIELD }, "min is greater than max, so it has no value"),
            (
                Field { step: Step::new(1, 0), ..FIELD },
                "a step needs a numerator and a denominator above 0",
            ),
            (Field { motion: along(0, 0), ..FIELD }, "its velocity must count per 1 tick or more"),
            (
                Field { motion: along(1, 1), ..FIELD },
                "the index of its velocity is beyond the kind's fields",
            ),
            (
                Field { motion: along(0, 1), ..FIELD },
                "its velocity must stay still, not move itself",
            ),
        ];
        for (field, sentence) in told {
            assert_eq!(one(field).unwrap().to_string(), format!("ship.x: {sentence}"));
        }
    }

    #[test]
    fn a_circular_field_goes_round() {
        let aim =
            Field { min: -2, max: 5, step: Step::new(1, 2), motion: Motion::Circular, ..FIELD };
        assert_eq!([2.4, 2.6, 2.8, -1.0, -1.3].map(|turn| aim.quantise(turn)), [5, 5, -2, -2, 5]);
        assert_eq!([6, -3, 13, 5].map(|count| aim.wrap(count)), [-2, 5, 5, 5]);
        assert_eq!([3.0, -1.5, -1.0].map(|value| aim.wrap_value(value)), [-1.0, 2.5, -1.0]);
        assert_eq!((aim.way(2.5, -1.0), aim.way(-1.0, 2.5), aim.way(0.0, 1.0)), (0.5, -0.5, 1.0));
        let widest = Field { min: i32::MIN, max: i32::MAX, ..aim };
        assert_eq!(widest.wrap(i64::MAX), i32::MAX);
        assert_eq!(widest.wrap(i64::from(i32::MAX) + 1), i32::MIN);
    }

    #[test]
    fn every_name_range_step_and_motion_is_in_the_layout() {
        fn layout(field: Field) -> u64 {
            let kind = Kind { name: "ship", fields: Vec::leak(vec![field]) };
            Schema::new(Vec::leak(vec![kind])).layout()
        }
        let along = |per_ticks| Motion::Along { velocity: 0, per_ticks };
        let mut layouts = vec![
            Schema::new(&[]).layout(),
            Schema::new(&[Kind { name: "ship", fields: &[] }]).layout(),
            Schema::new(&[Kind { name: "shop", fields: &[FIELD] }]).layout(),
            layout(FIELD),
            layout(Field { name: "y", ..FIELD }),
            layout(Field { min: -161, ..FIELD }),
            layout(Field { max: 1601, ..FIELD }),
            layout(Field { step: Step::new(1, 17), ..FIELD }),
            layout(Field { step: Step::new(2, 16), ..FIELD }),
            layout(FIELD.moving(along(1))),
            layout(FIELD.moving(along(2))),
            layout(FIELD.moving(Motion::Smooth)),
            layout(FIELD.moving(Motion::Circular)),
            layout(FIELD.moving(Motion::Teleport)),
        ];
        layouts.sort_unstable();
        layouts.dedup();
        assert_eq!(layouts.len(), 14);
        let schema = Schema::new(&[Kind { name: "ship", fields: &[FIELD] }]);
        assert_eq!(schema.layout(), layout(FIELD));
        assert_eq!(schema.with_pixel(Step::new(1, 20)).layout(), layout(FIELD));
        assert_eq!(schema.with_pixel(Step::new(0, 1)).check(), Err(Mistake::NoPixel));
    }
}
