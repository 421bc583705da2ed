//! A little game, and everything that can be wrong with it.

use std::sync::atomic::{AtomicI32, Ordering};

use super::*;
use crate::dot::Dots;
use backspin::game::{Buttons, GameId, Reach, SpawnName};
use backspin::replication::{Field, Step};

/// Carts on a line, and what they drop.
#[derive(Clone, Debug, Default)]
struct Carts {
    flaw: Option<Flaw>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flaw {
    BadSchema,
    OwnChance,
    EventsByChance,
    HiddenHeat,
    ForgetfulRestore,
    StaleRestore,
    OutOfRange,
    CutOff,
    TwoOfOneId,
    IdsByPlace,
    IdsByCounter,
    LazyPrediction,
    HastyPrediction,
}

#[derive(Clone, Debug, Default)]
struct World {
    carts: Vec<Cart>,
    crates: Vec<(u32, i32)>,
    next_id: u32,
}

#[derive(Clone, Copy, Debug)]
struct Cart {
    player: PlayerId,
    x: i32,
    vx: i32,
    /// Rises while it is driven, and slows it down. In the schema, unless that is the flaw.
    heat: i32,
}

const TRACK: i32 = 300;

const fn field(name: &'static str, min: i32, max: i32, motion: Motion) -> Field {
    Field { name, min, max, step: Step::ONE, motion }
}

const ALONG: Motion = Motion::Along { velocity: 1, per_ticks: 1 };
const CART: Kind = Kind {
    name: "cart",
    fields: &[
        field("x", 0, TRACK, ALONG),
        field("vx", -9, 9, Motion::Still),
        field("heat", 0, 60, Motion::Still),
        field("y", 0, 0, Motion::Still),
    ],
};
const CRATE: Kind = Kind {
    name: "crate",
    fields: &[field("x", 0, TRACK, Motion::Still), field("y", 0, 0, Motion::Still)],
};
const SCHEMA: Schema = Schema { kinds: &[CART, CRATE] };
const BAD_SCHEMA: Schema =
    Schema { kinds: &[Kind { name: "cart", fields: &[field("x", 0, 1, ALONG)] }] };

static THROWS: AtomicI32 = AtomicI32::new(0);

impl Carts {
    fn has(&self, flaw: Flaw) -> bool {
        self.flaw == Some(flaw)
    }
}

impl Game for Carts {
    type World = World;

    fn id(&self) -> GameId {
        GameId::new(*b"CART", 1)
    }

    fn capacity(&self) -> u8 {
        4
    }

    fn schema(&self) -> &'static Schema {
        if self.has(Flaw::BadSchema) { &BAD_SCHEMA } else { &SCHEMA }
    }

    fn begin(&self, _seed: u64) -> World {
        World::default()
    }

    fn join(&self, world: &mut World, player: PlayerId) {
        world.carts.push(Cart { player, x: TRACK / 2, vx: 0, heat: 0 });
        world.carts.sort_by_key(|cart| cart.player);
    }

    fn leave(&self, world: &mut World, player: PlayerId) {
        world.carts.retain(|cart| cart.player != player);
    }

    fn step(&self, world: &mut World, turn: &mut Turn<'_, World>) {
        for cart in &mut world.carts {
            let held = turn.buttons(cart.player);
            let driven = held.axis(Buttons::LEFT, Buttons::RIGHT);
            cart.heat = (cart.heat + if driven == 0 { -1 } else { 1 }).clamp(0, 60);
            cart.vx = driven * if cart.heat > 20 { 2 } else { 5 };
            if self.has(Flaw::OwnChance) {
                cart.vx += i32::from(THROWS.fetch_add(1, Ordering::Relaxed) % 97 == 96);
            }
            let end = if self.has(Flaw::CutOff) || self.has(Flaw::OutOfRange) { 50 } else { 0 };
            cart.x = (cart.x + cart.vx).clamp(-end, TRACK + end);
            if turn.tick().is_multiple_of(50) && world.crates.len() < 3 {
                let id = match self.flaw {
                    // The first player's, by name, but not by an input.
                    Some(Flaw::IdsByCounter) => SpawnName::FIRST + world.next_id,
                    _ => 100 + world.crates.len() as u32,
                };
                world.next_id = (world.next_id + 1) % 3;
                world.crates.push((id, cart.x.clamp(0, TRACK)));
            }
            if self.has(Flaw::EventsByChance) && turn.tick() == 40 {
                let value = THROWS.fetch_add(1, Ordering::Relaxed);
                turn.raise(Event { kind: 1, entity: 0, value, reach: Reach::Everyone });
            }
        }
        if turn.tick().is_multiple_of(350) {
            world.crates.clear();
        }
    }

    fn predict(&self, world: &mut World, turn: &mut Turn<'_, World>) {
        if self.has(Flaw::LazyPrediction) && turn.tick().is_multiple_of(7) {
            return;
        }
        self.step(world, turn);
        if self.has(Flaw::HastyPrediction) {
            let player = PlayerId(1);
            let id = SpawnName { player, tick: turn.tick(), count: 0 }.entity_id();
            world.crates.push((id, 0));
        }
    }

    fn capture(&self, world: &World, state: &mut State) {
        for cart in &world.carts {
            let heat = if self.has(Flaw::HiddenHeat) { 0 } else { cart.heat };
            let id = cart.player.0;
            let mut entity = Entity::new(&SCHEMA, id, 0, &[cart.x, cart.vx, heat]);
            if self.has(Flaw::OutOfRange) {
                entity.fields[0] = cart.x;
            }
            let _ = state.push(entity);
        }
        // In place of the first crate stands a broken cart, while one is too hot.
        let broken = self.has(Flaw::IdsByPlace) && world.carts.iter().any(|cart| cart.heat > 10);
        if broken {
            let _ = state.push(Entity::new(&SCHEMA, 100, 0, &[]));
        }
        for &(id, x) in &world.crates {
            let id = match self.flaw {
                Some(Flaw::TwoOfOneId) => 100,
                _ => id + u32::from(broken),
            };
            let _ = state.push(Entity::new(&SCHEMA, id, 1, &[x]));
        }
    }

    fn restore(&self, state: &State) -> World {
        let mut world = World::default();
        for entity in state.entities() {
            let [x, vx, heat] = entity.fields.first();
            let vx = if self.has(Flaw::ForgetfulRestore) { 0 } else { vx };
            match entity.kind {
                0 => {
                    let player = PlayerId(entity.id);
                    world.carts.push(Cart { player, x, vx, heat });
                }
                _ => world.crates.push((entity.id, x)),
            }
        }
        world
    }

    fn restore_into(&self, state: &State, world: &mut World) {
        let old = std::mem::replace(world, self.restore(state));
        if self.has(Flaw::StaleRestore) && world.crates.is_empty() {
            world.crates = old.crates;
        }
    }
}

const TRIAL: Trial = Trial { seed: 1, seeds: 2, ticks: 800 };

fn sentence(flaw: Flaw) -> String {
    let found = check_rules_with(Carts { flaw: Some(flaw) }, &TRIAL);
    let error = found.err().unwrap_or_else(|| panic!("{flaw:?} was not found"));
    error.to_string()
}

/// The sentence without the tick, which is chance's.
#[track_caller]
fn assert_told(flaw: Flaw, parts: &[&str]) {
    let told = sentence(flaw);
    assert!(told.starts_with("after tick ") && told.contains(" (seed 1): "), "{told}");
    for part in parts {
        assert!(told.contains(part), "{flaw:?}: \"{told}\" does not say \"{part}\"");
    }
}

#[test]
fn good_rules_pass() {
    let checked = check_rules::<Carts>().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((checked.seeds, checked.ticks), (8, 8 * 1_801));
    assert!(checked.entities > checked.ticks);
    let swarm = check_rules_with(Dots { swarm: 64 }, &TRIAL);
    assert!(swarm.is_ok(), "{swarm:?}");
}

#[test]
fn a_mistake_in_the_schema_is_found() {
    let told = sentence(Flaw::BadSchema);
    assert_eq!(told, "the schema: cart.x: the index of its velocity is beyond the kind's fields");
}

#[test]
fn chance_of_its_own_is_found() {
    assert_told(
        Flaw::OwnChance,
        &["(cart): ", " in a second run, ", " in the first; ", "no random numbers"],
    );
    assert_told(Flaw::EventsByChance, &["after tick 40 ", "a second run raised different events"]);
}

#[test]
fn hidden_state_is_found() {
    assert_eq!(
        sentence(Flaw::HiddenHeat),
        "after tick 21 (seed 1): entity 1 (cart): x is 45 when stepped after restoring, 48 when \
         stepped without; what a step looks at must be in the schema, whole"
    );
}

#[test]
fn a_restore_that_forgets_or_leaves_something_is_found() {
    assert_told(Flaw::ForgetfulRestore, &["(cart): vx is 0 after restoring, ", " before; "]);
    assert_told(
        Flaw::StaleRestore,
        &["(crate) is there after restoring into a used world, missing before"],
    );
}

#[test]
fn a_count_beyond_its_range_is_found() {
    assert_told(Flaw::OutOfRange, &["(cart): x is ", ", but its range is 0 to 300"]);
    assert_told(Flaw::CutOff, &["(cart): x is ", "(its range, 0 to 300, may clamp it)"]);
}

#[test]
fn ids_that_are_not_one_things_own_are_found() {
    assert_told(
        Flaw::TwoOfOneId,
        &["an entity was left out of the state: there is an entity 100 already"],
    );
    assert_told(Flaw::IdsByPlace, &["an id belongs to one thing"]);
    assert_told(Flaw::IdsByCounter, &["(crate) is "]);
}

#[test]
fn a_prediction_that_goes_its_own_way_is_found() {
    assert_told(Flaw::LazyPrediction, &["(cart): x is ", " as predicted, ", " as stepped; "]);
    assert_told(Flaw::HastyPrediction, &["(crate) is there as predicted, missing as stepped"]);
}

#[test]
fn the_same_fault_is_found_at_the_same_tick() {
    assert_eq!(sentence(Flaw::HiddenHeat), sentence(Flaw::HiddenHeat));
}
