//! The built-in game: a dot per player that moves. What the netcode is proved with until, and
//! beside, the real games.

use backspin::game::{Buttons, Game, GameId, PlayerId, Turn};
use backspin::replication::{Entity, Field, Kind, Motion, Schema, State, Step};

/// The rules.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dots {
    /// So many dots that nobody steers move about, too.
    pub swarm: u16,
}

impl Dots {
    /// The field, px.
    pub const FIELD: (i32, i32) = (1440, 900);

    /// How far a dot moves in a tick, px.
    pub const STEP: i32 = 5;

    /// The entities of the swarm begin here.
    pub(crate) const FIRST_OF_SWARM: u32 = 100;

    /// Where a player's dot begins.
    pub(crate) fn start_of(player: PlayerId) -> (i32, i32) {
        let (width, height) = Dots::FIELD;
        (width / 5 * (1 + player.0 as i32 % 4), height / 2)
    }
}

/// The dots: those of players in the order they came, then the swarm.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct World {
    /// Who is where.
    pub dots: Vec<Dot>,
    pub(crate) swarm: Vec<Dot>,
}

/// One dot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dot {
    /// Whose; in the swarm, only a number.
    pub player: PlayerId,
    /// From the left, px.
    pub x: i32,
    /// From the top, px.
    pub y: i32,
    /// How far it moved in the last tick, px.
    pub moved: (i32, i32),
}

impl Clone for World {
    fn clone(&self) -> Self {
        World { dots: self.dots.clone(), swarm: self.swarm.clone() }
    }

    /// Keeps the memory.
    fn clone_from(&mut self, source: &Self) {
        self.dots.clone_from(&source.dots);
        self.swarm.clone_from(&source.swarm);
    }
}

pub(crate) const SCHEMA: Schema = Schema::new(&[Kind { name: "dot", fields: FIELDS }]);

pub(crate) const FIELDS: &[Field] = &[
    position("x", Dots::FIELD.0, 2),
    position("y", Dots::FIELD.1, 3),
    velocity("vx"),
    velocity("vy"),
];

const fn position(name: &'static str, max: i32, velocity: usize) -> Field {
    let motion = Motion::Along { velocity, per_ticks: 1 };
    Field { name, min: 0, max, step: Step::ONE, motion }
}

const fn velocity(name: &'static str) -> Field {
    let (min, max) = (-2 * Dots::STEP, 2 * Dots::STEP);
    // Counted in px per tick, worth 60 px/s each.
    Field { name, min, max, step: Step::new(60, 1), motion: Motion::Still }
}

impl Dot {
    fn go(&mut self, x: i32, y: i32) {
        let before = (self.x, self.y);
        self.x = (self.x + x).clamp(0, Dots::FIELD.0);
        self.y = (self.y + y).clamp(0, Dots::FIELD.1);
        self.moved = (self.x - before.0, self.y - before.1);
    }

    /// Straight on, and back from the edges.
    fn drift(&mut self) {
        let (width, height) = Dots::FIELD;
        let turned = |at: i32, moved: i32, max: i32| match at + moved {
            next if next < 0 || next > max => -moved,
            _ => moved,
        };
        let x = turned(self.x, self.moved.0, width);
        let y = turned(self.y, self.moved.1, height);
        self.go(x, y);
    }

    fn entity(&self, id: u32) -> Entity {
        Entity::new(&SCHEMA, id, 0, &[self.x, self.y, self.moved.0, self.moved.1])
    }

    fn from_entity(entity: &Entity) -> Self {
        let [x, y, vx, vy] = entity.fields.first();
        Dot { player: PlayerId(entity.id), x, y, moved: (vx, vy) }
    }
}

impl Game for Dots {
    type World = World;
    type Input = Buttons;
    type Message = ();
    type JoinData = ();

    fn id(&self) -> GameId {
        GameId::new(*b"DOTS", 1)
    }

    fn capacity(&self) -> u8 {
        4
    }

    fn schema(&self) -> &'static Schema {
        &SCHEMA
    }

    fn begin(&self, seed: u64) -> World {
        let (width, height) = Dots::FIELD;
        let member = |i: u16| {
            // Spread out by a multiplication; there is nothing to win by more chance.
            let mixed = (seed ^ u64::from(i)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 8;
            let pick = |shift: u32, below: i32| (mixed >> shift & 0xFFFF) as i32 % below;
            let speed = |shift| [-4, -3, -2, 2, 3, 4][pick(shift, 6) as usize];
            Dot {
                player: PlayerId(Dots::FIRST_OF_SWARM + u32::from(i)),
                x: pick(0, width),
                y: pick(12, height),
                moved: (speed(24), speed(36)),
            }
        };
        World { dots: Vec::new(), swarm: (0..self.swarm).map(member).collect() }
    }

    fn join(&self, world: &mut World, player: PlayerId, _: &()) {
        let (x, y) = Dots::start_of(player);
        world.dots.push(Dot { player, x, y, moved: (0, 0) });
        world.dots.sort_unstable_by_key(|dot| dot.player);
    }

    fn leave(&self, world: &mut World, player: PlayerId) {
        world.dots.retain(|dot| dot.player != player);
    }

    fn step(&self, world: &mut World, turn: &mut Turn<'_, Self>) {
        for dot in &mut world.dots {
            let held = turn.input(dot.player);
            let x = Dots::STEP * held.axis(Buttons::LEFT, Buttons::RIGHT);
            let y = Dots::STEP * held.axis(Buttons::UP, Buttons::DOWN);
            dot.go(x, y);
        }
        world.swarm.iter_mut().for_each(Dot::drift);
    }

    fn capture(&self, world: &World, state: &mut State) {
        for dot in world.dots.iter().chain(&world.swarm) {
            // Ids rise in both, and there are far fewer than a state holds.
            let _ = state.push(dot.entity(dot.player.0));
        }
    }

    fn restore(&self, state: &State) -> World {
        let mut world = World::default();
        self.restore_into(state, &mut world);
        world
    }

    fn restore_into(&self, state: &State, world: &mut World) {
        let entities = state.entities();
        let steered = entities.partition_point(|entity| entity.id < Dots::FIRST_OF_SWARM);
        let (dots, swarm) = entities.split_at(steered);
        world.dots.clear();
        world.dots.extend(dots.iter().map(Dot::from_entity));
        world.swarm.clear();
        world.swarm.extend(swarm.iter().map(Dot::from_entity));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use backspin::game::PlayerInput;

    fn step(world: &mut World, held: &[(u32, Buttons)]) {
        let input =
            |&(player, buttons): &(u32, Buttons)| PlayerInput::new(PlayerId(player), buttons);
        let inputs: Vec<_> = held.iter().map(input).collect();
        Dots::default().step(world, &mut Turn::new(1, &inputs, &[], &mut Vec::new()));
    }

    fn two() -> World {
        let game = Dots::default();
        let mut world = game.begin(0);
        game.join(&mut world, PlayerId(1), &());
        game.join(&mut world, PlayerId(2), &());
        world
    }

    #[test]
    fn a_dot_goes_where_its_player_steers_and_stops_at_the_edge() {
        let mut world = two();
        let before = world.clone();
        step(&mut world, &[(1, Buttons::UP)]);
        assert_eq!(world.dots[0].y, before.dots[0].y - Dots::STEP);
        assert_eq!(world.dots[1], before.dots[1]);
        for _ in 0..1000 {
            step(&mut world, &[(1, Buttons::UP), (2, Buttons::RIGHT)]);
        }
        assert_eq!((world.dots[0].y, world.dots[1].x), (0, Dots::FIELD.0));
    }

    #[test]
    fn who_leaves_takes_the_dot_along() {
        let mut world = two();
        Dots::default().leave(&mut world, PlayerId(1));
        assert_eq!(world.dots.len(), 1);
    }

    #[test]
    fn the_swarm_stays_in_the_field_and_keeps_moving() {
        let game = Dots { swarm: 64 };
        let mut world = game.begin(3);
        for _ in 0..2_000 {
            let before = world.swarm.clone();
            step(&mut world, &[]);
            assert!(
                world
                    .swarm
                    .iter()
                    .zip(&before)
                    .all(|(now, then)| now.moved != (0, 0) && now != then)
            );
        }
    }
}
