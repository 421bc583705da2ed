//! Where an entity is: the fields named x and y, for measuring and for the full form.

use super::{Entity, Fields, Kind, Motion, Schema};

impl Schema {
    /// Where an entity is, in the units of its fields; `None` if its kind has no place.
    pub fn place_of(&self, entity: &Entity) -> Option<[f32; 2]> {
        let kind = self.kinds.get(usize::from(entity.kind))?;
        let (place, _) = kind.place(&kind.values(entity))?;
        Some(place)
    }

    /// The fields of an entity, in their units; none if there is no such kind.
    pub fn values(&self, entity: &Entity) -> Fields<f32> {
        let kind = self.kinds.get(usize::from(entity.kind));
        kind.map_or(Fields::default(), |kind| kind.values(entity))
    }
}

impl Kind {
    /// The field with this name.
    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| field.name == name)
    }

    /// The fields of an entity, in their units.
    pub fn values(&self, entity: &Entity) -> Fields<f32> {
        Fields::from_fn(self.fields.len(), |i| self.fields[i].value(entity.fields[i]))
    }

    /// Where `values` put an entity, and how far it moves in a tick, both in the units of x and y.
    pub fn place(&self, values: &[f32]) -> Option<([f32; 2], [f32; 2])> {
        let along = |name| {
            let index = self.index_of(name)?;
            let field = &self.fields[index];
            let Motion::Along { velocity, per_ticks } = field.motion else {
                return Some((values[index], 0.0));
            };
            let counts = values[velocity] / self.fields[velocity].value(1);
            Some((values[index], counts * field.value(1) / f32::from(per_ticks)))
        };
        let ((x, vx), (y, vy)) = (along("x")?, along("y")?);
        Some(([x, y], [vx, vy]))
    }

    /// How far an entity can move in a tick, in the units of x and y.
    pub fn fastest(&self) -> Option<[f32; 2]> {
        let values =
            Fields::from_fn(self.fields.len(), |i| self.fields[i].value(self.fields[i].max));
        self.place(&values).map(|(_, fastest)| fastest)
    }
}
