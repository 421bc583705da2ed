//! A little game, and everything that can be wrong with it.

use std::sync::atomic::{AtomicI32, Ordering};

use super::*;
use crate::dot::Dots;
use backspin::channel::{Delivery, MESSAGE_BYTES, QUEUE_BYTES, QUEUE_MESSAGES};
use backspin::game::{Buttons, GameId, Reach, SpawnName, To};
use backspin::replication::schema::MAX_KINDS;
use backspin::replication::{ENTITY_LIMIT, Field, MAX_FIELDS, Step};
use backspin::typed::RawMessage;

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
    TooManyKinds,
    TooManyFields,
    RareSnapshots,
    FarRewind,
    Crowded,
    LongMessage,
    ManyMessages,
    ManyEvents,
    SmallBudget,
    /// No flaw: what the server draws is nobody's prediction.
    ServerChance,
    ServerChanceSteers,
}

#[derive(Clone, Debug, Default)]
struct World {
    carts: Vec<Cart>,
    crates: Vec<(u32, i32)>,
    next_id: u32,
    /// Drawn from by the server alone: it is not in the schema.
    chance: u64,
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
const SCHEMA: Schema = Schema::new(&[CART, CRATE]);
const BAD_SCHEMA: Schema =
    Schema::new(&[Kind { name: "cart", fields: &[field("x", 0, 1, ALONG)] }]);

static MANY_KINDS: Schema = Schema::new(&[CRATE; MAX_KINDS + 1]);
static MANY_FIELDS: Schema = Schema::new(&[Kind {
    name: "cart",
    fields: &[field("x", 0, 1, Motion::Still); MAX_FIELDS + 1],
}]);

static THROWS: AtomicI32 = AtomicI32::new(0);

impl Carts {
    /// Sends more than there may be.
    fn tell(&self, turn: &mut Turn<'_, Carts>) {
        if turn.tick() != 60 {
            return;
        }
        let to = To::Player(PlayerId(2));
        match self.flaw {
            Some(Flaw::LongMessage) => {
                let _ =
                    turn.send(to, Delivery::Unreliable, &RawMessage(vec![0; MESSAGE_BYTES + 1]));
            }
            Some(Flaw::ManyMessages) => (0..=QUEUE_BYTES / MESSAGE_BYTES).for_each(|_| {
                let _ = turn.send(to, Delivery::Reliable, &RawMessage(vec![0; MESSAGE_BYTES]));
            }),
            Some(Flaw::ManyEvents) => (0..=QUEUE_MESSAGES).for_each(|_| {
                turn.raise(Event { kind: 1, entity: 0, value: 0, reach: Reach::Everyone });
            }),
            _ => {}
        }
    }

    fn has(&self, flaw: Flaw) -> bool {
        self.flaw == Some(flaw)
    }
}

impl Game for Carts {
    type World = World;
    type Input = Buttons;
    type Message = RawMessage;
    type JoinData = ();

    fn id(&self) -> GameId {
        GameId::new(*b"CART", 1)
    }

    fn capacity(&self) -> u8 {
        4
    }

    fn schema(&self) -> &'static Schema {
        match self.flaw {
            Some(Flaw::BadSchema) => &BAD_SCHEMA,
            Some(Flaw::TooManyKinds) => &MANY_KINDS,
            Some(Flaw::TooManyFields) => &MANY_FIELDS,
            _ => &SCHEMA,
        }
    }

    fn send_every(&self) -> u8 {
        if self.has(Flaw::RareSnapshots) { 9 } else { 1 }
    }

    fn byte_budget(&self) -> u32 {
        if self.has(Flaw::SmallBudget) { 400 } else { 64_000 }
    }

    fn rewind_limit_ms(&self) -> u32 {
        if self.has(Flaw::FarRewind) { 5_000 } else { 250 }
    }

    fn begin(&self, seed: u64) -> World {
        World { chance: seed, ..World::default() }
    }

    fn join(&self, world: &mut World, player: PlayerId, _: &()) {
        world.carts.push(Cart { player, x: TRACK / 2, vx: 0, heat: 0 });
        world.carts.sort_by_key(|cart| cart.player);
    }

    fn leave(&self, world: &mut World, player: PlayerId) {
        world.carts.retain(|cart| cart.player != player);
    }

    fn step(&self, world: &mut World, turn: &mut Turn<'_, Self>) {
        for cart in &mut world.carts {
            let held = turn.input(cart.player);
            let driven = held.axis(Buttons::LEFT, Buttons::RIGHT);
            cart.heat = (cart.heat + if driven == 0 { -1 } else { 1 }).clamp(0, 60);
            cart.vx = driven * if cart.heat > 20 { 2 } else { 5 };
            if self.has(Flaw::ServerChanceSteers) {
                cart.vx += (world.chance >> 62) as i32;
            }
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
        // SplitMix64's constant; the first world's is the seed, a restored one's is 0.
        world.chance = world.chance.wrapping_add(0x9E37_79B9_7F4A_7C15).rotate_left(17);
        if self.has(Flaw::ServerChance) && turn.tick().is_multiple_of(40) {
            let id = 1_000 + turn.tick();
            world.crates.push((id, (world.chance % TRACK as u64) as i32));
        }
        if self.has(Flaw::SmallBudget) {
            let x = |n: u32| turn.tick().wrapping_add(n).wrapping_mul(2_654_435_761) >> 24;
            world.crates = (0..1_500).map(|n| (2_000 + n, x(n) as i32)).collect();
        }
        self.tell(turn);
        if turn.tick().is_multiple_of(350) {
            world.crates.clear();
        }
    }

    fn predict(&self, world: &mut World, turn: &mut Turn<'_, Self>) {
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
        let crowd = if self.has(Flaw::Crowded) { ENTITY_LIMIT as u32 } else { 0 };
        for id in 0..crowd {
            let _ = state.push(Entity::new(&SCHEMA, 1_000 + id, 1, &[0]));
        }
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
fn a_random_generator_that_only_the_server_has_passes() {
    let checked = check_rules_with(Carts { flaw: Some(Flaw::ServerChance) }, &TRIAL);
    let plain = check_rules_with(Carts::default(), &TRIAL).unwrap();
    // What it draws is there, and is sent.
    assert!(checked.unwrap().entities > plain.entities + 1_000);
}

#[test]
fn a_random_generator_of_the_server_that_steers_what_is_predicted_is_found() {
    assert_told(
        Flaw::ServerChanceSteers,
        &["(cart): ", " when stepped after restoring, ", "must be in the schema"],
    );
}

#[test]
fn every_limit_that_a_game_breaks_is_named() {
    assert_eq!(sentence(Flaw::TooManyKinds), "the schema: a schema has at most 255 kinds");
    assert_eq!(sentence(Flaw::TooManyFields), "the schema: cart: a kind has at most 64 fields");
    assert_eq!(
        sentence(Flaw::RareSnapshots),
        "the game asks for a snapshot every 9 ticks; it is sent every 8, which is the most"
    );
    assert_eq!(
        sentence(Flaw::FarRewind),
        "the game asks to rewind 5000 ms; it rewinds 4250 ms, which is 255 ticks, the most"
    );
    assert_told(Flaw::Crowded, &["left out of the state: a state has at most 16384 entities"]);
    assert_told(
        Flaw::LongMessage,
        &["after tick 60 ", "was refused. A message has at most 900 bytes."],
    );
    assert_told(
        Flaw::ManyMessages,
        &["after tick 60 ", "player 2 is sent 73 reliable messages and events of 65700 bytes"],
    );
    assert_told(
        Flaw::SmallBudget,
        &[
            "after tick 301 ",
            "the byte budget of 400 B/s leaves ",
            " things unsent to player 1, the oldest for ",
            " s: raise Game::byte_budget or show less",
        ],
    );
    assert_told(Flaw::ManyEvents, &["player 1 is sent 4097 reliable messages and events of"]);
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
