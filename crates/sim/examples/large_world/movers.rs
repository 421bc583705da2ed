//! A large world of things that never move straight, and players who see all of it or only what is
//! near: what replication is tried on.
//!
//! Who turns when is decided by dice that only the server has.

use backspin::game::{Buttons, Game, GameId, PlayerId, Turn};
use backspin::replication::{Entity, Field, Kind, Motion, Schema, State, Step, View, Viewer};

/// The side of the square world, in steps.
const SIDE: i32 = 16_384;

/// The side of one of its cells.
const CELL: i32 = 512;
const CELLS: usize = (SIDE / CELL) as usize;

/// The id of the first mover; below are the players' ships.
pub(crate) const FIRST_MOVER: u32 = 1_000;

const fn place(name: &'static str, velocity: usize) -> Field {
    let motion = Motion::Along { velocity, per_ticks: 1 };
    Field { name, min: 0, max: SIDE - 1, step: Step::ONE, motion }
}

const fn pace(name: &'static str) -> Field {
    Field { name, min: -32, max: 31, step: Step::ONE, motion: Motion::Still }
}

const FIELDS: [Field; 4] = [place("x", 2), place("y", 3), pace("vx"), pace("vy")];
const SHIP: u8 = 0;
const MOVER: u8 = 1;

const SCHEMA: Schema =
    Schema::new(&[Kind { name: "ship", fields: &FIELDS }, Kind { name: "mover", fields: &FIELDS }]);

/// The rules.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Movers {
    /// How many move about.
    pub(crate) count: u32,
    /// Of a thousand ticks, in how many each of them turns.
    pub(crate) turns: u32,
    /// How far a player sees; `None` is everything.
    pub(crate) sight: Option<i32>,
    /// Players see these instead, wherever they are.
    pub(crate) named: Option<Named>,
    /// How many of the nearest matter most.
    pub(crate) near: usize,
    /// A snapshot in so many ticks.
    pub(crate) every: u8,
    /// Bytes a second for each player.
    pub(crate) budget: u32,
}

impl Default for Movers {
    fn default() -> Self {
        let (sight, named) = (None, None);
        Movers { count: 2_000, turns: 1_000, sight, named, near: 32, every: 3, budget: 20_000 }
    }
}

/// Movers that a player sees by their ids: every so manyth of all, in another phase for each player.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Named {
    /// How many; 0 is everything there is, ships included.
    pub(crate) visible: u32,
    /// With every snapshot so many of them go out of sight, and those with the next ids come into it.
    pub(crate) drift: u32,
}

impl Named {
    fn show(&self, game: &Movers, tick: u32, PlayerId(player): PlayerId, view: &mut View) {
        if self.visible == 0 {
            return view.everything();
        }
        view.show(player, View::PLAIN);
        let visible = self.visible.min(game.count);
        let moved = tick / u32::from(game.every) * self.drift;
        let between = game.count / visible;
        for nth in 0..visible {
            let rounds = (moved + visible - 1 - nth) / visible;
            let index = nth * between + (player + rounds) % between;
            view.show(FIRST_MOVER + index, View::PLAIN);
        }
    }
}

/// Something that moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Body {
    /// Where it is.
    pub(crate) at: [i32; 2],
    /// How far it goes in a tick.
    pub(crate) pace: [i32; 2],
}

impl Body {
    fn go(&mut self) {
        for (at, pace) in self.at.iter_mut().zip(&mut self.pace) {
            if !(0..SIDE).contains(&(*at + *pace)) {
                *pace = (-*pace).min(31);
            }
            *at += *pace;
        }
    }

    /// How far away another is, squared.
    pub(crate) fn distance(&self, other: &Body) -> i64 {
        let [x, y] = [0, 1].map(|axis| i64::from(self.at[axis] - other.at[axis]));
        x * x + y * y
    }
}

/// The world.
#[derive(Clone, Debug, Default)]
pub(crate) struct World {
    /// The players' ships, by player.
    pub(crate) ships: Vec<(PlayerId, Body)>,
    /// The movers; the first has the id [`FIRST_MOVER`].
    pub(crate) movers: Vec<Body>,
    /// Which movers are in each cell: the server's.
    cells: Vec<Vec<u32>>,
    dice: u64,
    /// The last tick: the server's.
    tick: u32,
}

impl World {
    /// The ship of a player.
    pub(crate) fn ship(&self, player: PlayerId) -> Option<&Body> {
        self.ships.iter().find(|(owner, _)| *owner == player).map(|(_, ship)| ship)
    }

    fn roll(&mut self, end: u32) -> u32 {
        // xorshift64*
        self.dice ^= self.dice >> 12;
        self.dice ^= self.dice << 25;
        self.dice ^= self.dice >> 27;
        let high = self.dice.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33;
        high as u32 % end
    }

    fn sort_into_cells(&mut self) {
        self.cells.resize_with(CELLS * CELLS, Vec::new);
        self.cells.iter_mut().for_each(Vec::clear);
        for (index, mover) in self.movers.iter().enumerate() {
            let [x, y] = mover.at.map(|at| (at / CELL) as usize);
            self.cells[y * CELLS + x].push(index as u32);
        }
    }

    /// The movers within `sight` of a place, by their cells.
    fn around(&self, at: [i32; 2], sight: i32) -> impl Iterator<Item = u32> + '_ {
        let range = |at: i32| {
            let cell = |at: i32| (at.clamp(0, SIDE - 1) / CELL) as usize;
            cell(at - sight)..=cell(at + sight)
        };
        let columns = range(at[0]);
        range(at[1]).flat_map(move |y| {
            columns.clone().flat_map(move |x| self.cells[y * CELLS + x].iter().copied())
        })
    }
}

impl Game for Movers {
    type World = World;
    type Input = Buttons;
    type Message = ();
    type JoinData = ();

    fn id(&self) -> GameId {
        GameId::new(*b"MOVE", 1)
    }

    fn rewind_limit_ms(&self) -> u32 {
        0
    }

    fn send_every(&self) -> u8 {
        self.every
    }

    fn byte_budget(&self) -> u32 {
        self.budget
    }

    fn capacity(&self) -> u8 {
        64
    }

    fn schema(&self) -> &'static Schema {
        &SCHEMA
    }

    fn begin(&self, seed: u64) -> World {
        let mut world = World { dice: seed.wrapping_mul(2) + 1, ..World::default() };
        for _ in 0..self.count {
            let at = [0; 2].map(|_| world.roll(SIDE as u32) as i32);
            let pace = [0; 2].map(|_| world.roll(64) as i32 - 32);
            world.movers.push(Body { at, pace });
        }
        world.sort_into_cells();
        world
    }

    fn join(&self, world: &mut World, player: PlayerId, _: &()) {
        let at = [0; 2].map(|_| world.roll(SIDE as u32) as i32);
        world.ships.push((player, Body { at, pace: [0; 2] }));
        world.ships.sort_unstable_by_key(|(player, _)| *player);
    }

    fn leave(&self, world: &mut World, player: PlayerId) {
        world.ships.retain(|(owner, _)| *owner != player);
    }

    fn step(&self, world: &mut World, turn: &mut Turn<'_, Self>) {
        world.tick = turn.tick();
        self.predict(world, turn);
        for index in 0..world.movers.len() {
            if world.roll(1_000) < self.turns {
                world.movers[index].pace = [0; 2].map(|_| world.roll(64) as i32 - 32);
            }
            world.movers[index].go();
        }
        world.sort_into_cells();
    }

    fn predict(&self, world: &mut World, turn: &mut Turn<'_, Self>) {
        for (player, ship) in &mut world.ships {
            let held = turn.input(*player);
            ship.pace = [
                8 * held.axis(Buttons::LEFT, Buttons::RIGHT),
                8 * held.axis(Buttons::UP, Buttons::DOWN),
            ];
            ship.go();
        }
    }

    fn visible(&self, world: &World, viewer: Viewer, view: &mut View) {
        if let (Some(named), Viewer::Player(player)) = (self.named, viewer) {
            return named.show(self, world.tick, player, view);
        }
        let ship = match viewer {
            Viewer::Player(player) => world.ship(player),
            Viewer::Watcher => None,
        };
        let Some(ship) = ship else {
            // Who has no ship sees everything, or nothing.
            if self.sight.is_none() {
                view.everything();
            }
            return;
        };
        let sight = self.sight.unwrap_or(2 * SIDE);
        let far = i64::from(sight) * i64::from(sight);
        for (player, other) in &world.ships {
            if ship.distance(other) <= far {
                view.show(player.0, 64);
            }
        }
        let mut near: Vec<(i64, u32)> = world
            .around(ship.at, sight)
            .map(|index| (ship.distance(&world.movers[index as usize]), index))
            .filter(|(distance, _)| *distance <= far)
            .collect();
        if self.near > 0 && self.near < near.len() {
            near.select_nth_unstable(self.near - 1);
        }
        for (rank, (_, index)) in near.into_iter().enumerate() {
            view.show(FIRST_MOVER + index, if rank < self.near { 255 } else { 4 });
        }
    }

    fn capture(&self, world: &World, state: &mut State) {
        let entity = |id, kind, Body { at, pace }: &Body| {
            Entity::new(&SCHEMA, id, kind, &[at[0], at[1], pace[0], pace[1]])
        };
        for (player, ship) in &world.ships {
            let _ = state.push(entity(player.0, SHIP, ship));
        }
        for (id, mover) in (FIRST_MOVER..).zip(&world.movers) {
            let _ = state.push(entity(id, MOVER, mover));
        }
    }

    fn restore(&self, state: &State) -> World {
        let mut world = World::default();
        for entity in state.entities() {
            let [x, y, vx, vy] = entity.fields.first();
            let body = Body { at: [x, y], pace: [vx, vy] };
            match entity.kind {
                SHIP => world.ships.push((PlayerId(entity.id), body)),
                _ => world.movers.push(body),
            }
        }
        world
    }
}
