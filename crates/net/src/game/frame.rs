//! What is on the screen at one moment.

use crate::replication::{Drawn, Schema, State};

/// What is on the screen at one moment.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// Everything that is drawn, in the order of its ids.
    pub entities: Vec<Drawn>,
    /// The server tick at which the others are drawn, with its fraction (`native`).
    pub drawn_tick: Option<f64>,
    /// The tick at which the player's own things are drawn, with its fraction (`native`). What is
    /// known of them is that of the next whole tick.
    pub ahead_tick: Option<f64>,
    /// What has left the player's view since the frame before: it may be there still, unseen.
    pub left: Vec<u32>,
    /// What is seen to meet since the frame before.
    pub impacts: Vec<Impact>,
    /// What was seen to meet earlier, and the server has not spoken of yet, or what is drawn does not
    /// show yet.
    pub awaited: Vec<Impact>,
}

impl Frame {
    /// The thing with this id, if it is drawn.
    pub fn find(&self, id: u32) -> Option<&Drawn> {
        let found = self.entities.binary_search_by_key(&id, |drawn| drawn.entity.id);
        found.ok().map(|index| &self.entities[index])
    }

    /// What this thing was seen to meet, now and earlier, as far as the server has not spoken of it.
    pub fn impacts_of(&self, id: u32) -> impl Iterator<Item = &Impact> {
        self.awaited.iter().chain(&self.impacts).filter(move |impact| impact.entity == id)
    }

    /// The same as `other`, in the memory that is there.
    pub(crate) fn copy_from(&mut self, other: &Frame) {
        self.entities.clone_from(&other.entities);
        self.left.clone_from(&other.left);
        self.impacts.clone_from(&other.impacts);
        self.awaited.clone_from(&other.awaited);
        (self.drawn_tick, self.ahead_tick) = (other.drawn_tick, other.ahead_tick);
    }

    /// Nothing is on the screen.
    pub fn clear(&mut self) {
        self.entities.clear();
        self.left.clear();
        self.impacts.clear();
        self.awaited.clear();
        (self.drawn_tick, self.ahead_tick) = (None, None);
    }

    /// Writes what is drawn into a state, each thing where it is on the screen: what a player, or a
    /// bot in its place, can know.
    pub fn write(&self, schema: &Schema, state: &mut State) {
        state.clear(self.drawn_tick.map_or(0, |tick| tick.max(0.0) as u32));
        for drawn in &self.entities {
            let mut entity = drawn.entity.clone();
            let Some(kind) = schema.kinds.get(usize::from(entity.kind)) else { continue };
            for (i, field) in kind.fields.iter().enumerate() {
                entity.fields[i] = field.quantise(drawn.fields[i]);
            }
            // Whatever is on the screen came from a state, so its id is in order.
            let _ = state.push(entity);
        }
    }
}

/// Something that a player sees meet something else, before the server has said so: an own shot and
/// what it hits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impact {
    /// What meets something: one of the things that are drawn.
    pub entity: u32,
    /// What it meets.
    pub target: u32,
    /// When, as a share of the time from the frame before to this one: a screen shows what stops
    /// where it was then.
    pub at: f32,
    /// Whether it ends there: it is drawn no further, unless the server says that it flies on.
    pub stops: bool,
    /// Whether what it meets ends by it, as far as the player can see. It is drawn until the server says
    /// so, and then up to the tick of this contact.
    pub ends_target: bool,
    /// How much, as the game counts it.
    pub value: i32,
}
