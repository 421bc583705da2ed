//! A game of many things that nobody steers and that turn all the time: its snapshots are large.

use backspin::game::{Buttons, Game, GameId, PlayerId, Turn};
use backspin::replication::{Entity, Field, Kind, Motion, Schema, State, Step};

/// The rules.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Swarm {
    /// How many things there are.
    pub(crate) count: u16,
    /// Each turns once in so many ticks, about.
    pub(crate) turn_every: u64,
}

/// The players' dots come first, by their numbers; the things follow from here on.
const FIRST_THING: u16 = 100;

const FIELD: i32 = 2047;

#[derive(Clone, Debug)]
pub(crate) struct World {
    players: Vec<(PlayerId, Mover)>,
    things: Vec<Mover>,
    dice: u64,
}

/// Where, and how far it moved last.
#[derive(Clone, Copy, Debug)]
struct Mover {
    at: [i32; 2],
    moved: [i32; 2],
}

const SCHEMA: Schema = {
    const fn place(name: &'static str, velocity: usize) -> Field {
        let motion = Motion::Along { velocity, per_ticks: 1 };
        Field { name, min: 0, max: FIELD, step: Step::ONE, motion }
    }
    const fn speed(name: &'static str) -> Field {
        Field { name, min: -8, max: 7, step: Step::new(60, 1), motion: Motion::Still }
    }
    let fields = &[place("x", 2), place("y", 3), speed("vx"), speed("vy")];
    Schema { kinds: &[Kind { name: "mover", fields }] }
};

impl Mover {
    fn go(&mut self, by: [i32; 2]) {
        for (i, by) in by.into_iter().enumerate() {
            let next = (self.at[i] + by).clamp(0, FIELD);
            self.moved[i] = next - self.at[i];
            self.at[i] = next;
        }
    }

    fn entity(&self, id: u16) -> Entity {
        let ([x, y], [vx, vy]) = (self.at, self.moved);
        Entity::new(&SCHEMA, id, 0, &[x, y, vx, vy])
    }

    fn new(entity: &Entity) -> Self {
        let [x, y, vx, vy, ..] = entity.fields;
        Mover { at: [x, y], moved: [vx, vy] }
    }
}

impl Swarm {
    pub(crate) const fn new(count: u16, turn_every: u64) -> Self {
        Swarm { count, turn_every }
    }

    fn steer(&self, world: &mut World, turn: &Turn<'_, World>) {
        for (player, mover) in &mut world.players {
            let held = turn.buttons(*player);
            let x = 5 * held.axis(Buttons::LEFT, Buttons::RIGHT);
            let y = 5 * held.axis(Buttons::UP, Buttons::DOWN);
            mover.go([x, y]);
        }
    }
}

impl Game for Swarm {
    type World = World;

    fn id(&self) -> GameId {
        GameId::new(*b"SWRM", 1)
    }

    fn capacity(&self) -> u8 {
        4
    }

    fn schema(&self) -> &'static Schema {
        &SCHEMA
    }

    fn begin(&self, seed: u64) -> World {
        let mut dice = seed;
        let mut pick = |below: i32| (roll(&mut dice) % below as u64) as i32;
        let thing =
            |_| Mover { at: [pick(FIELD), pick(FIELD)], moved: [pick(16) - 8, pick(16) - 8] };
        let things = (0..self.count).map(thing).collect();
        World { players: Vec::new(), things, dice }
    }

    fn join(&self, world: &mut World, player: PlayerId) {
        let mover = Mover { at: [FIELD / 2; 2], moved: [0; 2] };
        world.players.push((player, mover));
        world.players.sort_unstable_by_key(|(player, _)| *player);
    }

    fn leave(&self, world: &mut World, player: PlayerId) {
        world.players.retain(|(other, _)| *other != player);
    }

    fn step(&self, world: &mut World, turn: &mut Turn<'_, World>) {
        self.steer(world, turn);
        let World { things, dice, .. } = world;
        for thing in things {
            let mut by = thing.moved;
            if roll(dice).is_multiple_of(self.turn_every) {
                by = [(roll(dice) % 16) as i32 - 8, (roll(dice) % 16) as i32 - 8];
            }
            thing.go(by);
        }
    }

    /// Nobody's doing but the player's own can be foretold.
    fn predict(&self, world: &mut World, turn: &mut Turn<'_, World>) {
        self.steer(world, turn);
    }

    fn capture(&self, world: &World, state: &mut State) {
        for (player, mover) in &world.players {
            state.push(mover.entity(player.0 as u16)).expect("ids rise");
        }
        for (id, thing) in (FIRST_THING..).zip(&world.things) {
            state.push(thing.entity(id)).expect("ids rise");
        }
    }

    fn restore(&self, state: &State) -> World {
        let (mut players, mut things) = (Vec::new(), Vec::new());
        for entity in state.entities() {
            match entity.id {
                id if id < FIRST_THING => players.push((PlayerId(id.into()), Mover::new(entity))),
                _ => things.push(Mover::new(entity)),
            }
        }
        World { players, things, dice: 0 }
    }
}

/// The next number of a generator that is good enough for turning about.
fn roll(dice: &mut u64) -> u64 {
    *dice = dice.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mixed = (*dice ^ *dice >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed ^ mixed >> 27
}
