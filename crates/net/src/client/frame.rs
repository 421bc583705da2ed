//! What is on the screen at one moment.

use crate::replica::{Drawn, Schema, State};

/// What is on the screen at one moment.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// Everything that is drawn, in the order of its ids.
    pub entities: Vec<Drawn>,
    /// The server tick at which the others are drawn, with its fraction (`native`).
    pub drawn_tick: Option<f64>,
}

impl Frame {
    /// Writes what is drawn into a state, each thing where it is on the screen: what a player, or a
    /// bot in its place, can know.
    pub fn write(&self, schema: &Schema, state: &mut State) {
        state.clear(self.drawn_tick.map_or(0, |tick| tick.max(0.0) as u32));
        for drawn in &self.entities {
            let mut entity = drawn.entity;
            let Some(kind) = schema.kinds.get(usize::from(entity.kind)) else { continue };
            for (i, field) in kind.fields.iter().enumerate() {
                entity.fields[i] = field.quantise(drawn.fields[i]);
            }
            // Whatever is on the screen came from a state, so its id is in order.
            let _ = state.push(entity);
        }
    }
}
