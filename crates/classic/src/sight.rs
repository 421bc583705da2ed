//! What the guests of an old dialect may see. A room looks at its world once for all of them, so they are
//! shown what each of them may see: nothing that is hidden from one leaves the server for the others, either.
//! A game whose players may not see each other is better not offered in an old dialect.

use backspin::game::{Game, PlayerId};
use backspin::replication::{State, View, Viewer};

/// Who looks on, and the memory for what they see.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedSight {
    /// By place.
    guests: Vec<Option<PlayerId>>,
    view: View,
}

impl SharedSight {
    pub(crate) fn admit(&mut self, place: usize, player: PlayerId) {
        self.guests.resize(self.guests.len().max(place + 1), None);
        self.guests[place] = Some(player);
    }

    pub(crate) fn vacate(&mut self, place: usize) {
        if let Some(guest) = self.guests.get_mut(place) {
            *guest = None;
        }
    }

    /// The world in a state that is shown: what a game sends of it, less what some guest may not see.
    pub(crate) fn capture<G: Game>(&mut self, game: &G, world: &G::World, state: &mut State) {
        game.capture(world, state);
        for &player in self.guests.iter().flatten() {
            self.view.clear();
            game.visible(world, Viewer::Player(player), &mut self.view);
            if self.view.is_everything() {
                continue;
            }
            self.view.finish();
            state.retain(|entity| self.view.shows(entity.id) || game.is_ahead(entity, player));
        }
    }
}

#[cfg(test)]
mod tests {
    use backspin::game::{GameId, Turn};
    use backspin::replication::{Entity, Field, Kind, Motion, Schema, Step};

    use super::*;

    const X: Field = Field { name: "x", min: 0, max: 9, step: Step::ONE, motion: Motion::Still };
    static SCHEMA: Schema = Schema::new(&[Kind { name: "thing", fields: &[X] }]);

    /// Entities 1 to 9. Everyone sees the even ones, and player 2 the last as well.
    #[derive(Clone, Debug)]
    struct Fog;

    impl Game for Fog {
        type World = ();
        type Input = backspin::game::Buttons;
        type Message = ();
        type JoinData = ();

        fn id(&self) -> GameId {
            GameId::new(*b"FOGG", 1)
        }

        fn capacity(&self) -> u8 {
            4
        }

        fn schema(&self) -> &'static Schema {
            &SCHEMA
        }

        fn begin(&self, _seed: u64) {}

        fn join(&self, _: &mut (), _: PlayerId, _: &()) {}

        fn leave(&self, _world: &mut (), _player: PlayerId) {}

        fn step(&self, _world: &mut (), _turn: &mut Turn<'_, Self>) {}

        fn capture(&self, _world: &(), state: &mut State) {
            (1..=9).for_each(|id| state.push(Entity::new(&SCHEMA, id, 0, &[0])).unwrap());
        }

        fn restore(&self, _state: &State) {}

        fn visible(&self, _world: &(), viewer: Viewer, view: &mut View) {
            let also = if viewer == Viewer::Player(PlayerId(2)) { 9 } else { 8 };
            [8, 6, 4, 2, also].into_iter().for_each(|id| view.show(id, View::PLAIN));
        }
    }

    fn shown(sight: &mut SharedSight) -> Vec<u32> {
        let mut state = State::new(1);
        sight.capture(&Fog, &(), &mut state);
        state.entities().iter().map(|entity| entity.id).collect()
    }

    #[test]
    fn guests_are_shown_what_each_of_them_may_see_and_their_own() {
        let mut sight = SharedSight::default();
        sight.admit(3, PlayerId(1));
        assert_eq!(shown(&mut sight), [1, 2, 4, 6, 8]);
        sight.admit(0, PlayerId(2));
        assert_eq!(shown(&mut sight), [2, 4, 6, 8]);
        sight.vacate(3);
        sight.vacate(7);
        assert_eq!(shown(&mut sight), [2, 4, 6, 8, 9]);
    }
}
