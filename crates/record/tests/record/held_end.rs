//! The end of a match that nobody may see before it is written down.

use std::time::Duration;

use backspin::game::Buttons;
use backspin::game::{Game, GameId, Lobby, PlayerId, Stage, Turn};
use backspin::replication::{Entity, Field, Kind, Motion, Schema, State, Step};
use backspin::room::RoomConfig;
use backspin_classic::{ClassicGame, Dialect};
use backspin_record::log::Rerun;
use backspin_sim::{HostId, Preset};

use crate::scene::Scene;

const LAP: Field = Field { name: "lap", min: 0, max: 1023, step: Step::ONE, motion: Motion::Still };
static SCHEMA: Schema = Schema::new(&[Kind { name: "race", fields: &[LAP] }]);

/// A match that counts its ticks and is over after [`LENGTH`].
#[derive(Clone, Debug, Default)]
struct Race;

const LENGTH: i32 = 240;

const HOLD: Duration = Duration::from_millis(500);

impl Game for Race {
    type World = i32;
    type Input = Buttons;
    type Message = ();
    type JoinData = ();

    fn id(&self) -> GameId {
        GameId::new(*b"RACE", 1)
    }

    fn capacity(&self) -> u8 {
        2
    }

    fn schema(&self) -> &'static Schema {
        &SCHEMA
    }

    fn begin(&self, _seed: u64) -> i32 {
        0
    }

    fn join(&self, _world: &mut i32, _player: PlayerId, _: &()) {}

    fn leave(&self, _world: &mut i32, _player: PlayerId) {}

    fn step(&self, world: &mut i32, _turn: &mut Turn<'_, Self>) {
        *world = (*world + 1).min(1023);
    }

    fn lobby(&self) -> &impl Lobby<i32> {
        self
    }

    fn capture(&self, world: &i32, state: &mut State) {
        let _ = state.push(Entity::new(&SCHEMA, 1, 0, &[*world]));
    }

    fn restore(&self, state: &State) -> i32 {
        state.entities().first().map_or(0, |it| it.fields[0])
    }
}

impl ClassicGame for Race {}

impl Lobby<i32> for Race {
    fn stage(&self, world: &i32) -> Stage {
        Stage { over: *world >= LENGTH, ..Stage::default() }
    }
}

/// Two players in a match that is over now, and held.
fn at_the_end(seed: u64) -> (Scene<Race>, HostId) {
    let config = RoomConfig { hold_end: HOLD, ..RoomConfig::default() };
    let mut scene = Scene::with_rooms(Race, seed, Preset::Reference.config(), config);
    let alice = scene.join(Dialect::Native);
    scene.join(Dialect::Native);
    while scene.server().server().holding_end().next().is_none() {
        scene.run(Duration::from_millis(1));
        assert!(scene.world.now().as_nanos() < 10_000_000_000, "it is never over");
    }
    (scene, alice)
}

/// What the newest snapshot says that has reached a player.
fn told(scene: &mut Scene<Race>, player: HostId) -> u32 {
    scene.client(player).server_tick()
}

#[test]
fn nobody_is_told_the_end_of_a_match_before_it_is_released() {
    let (mut scene, alice) = at_the_end(1);
    scene.run(Duration::from_millis(300));
    assert!(told(&mut scene, alice) < LENGTH as u32, "{}", told(&mut scene, alice));
    let now = scene.world.now();
    let (slot, tick) =
        scene.server().server().holding_end().map(|(slot, it)| (slot, it.tick())).next().unwrap();
    assert!(tick > LENGTH as u32 + 10, "the room goes on meanwhile: {tick}");
    scene.server().release_end(now, slot);
    scene.run(Duration::from_millis(100));
    assert!(told(&mut scene, alice) >= LENGTH as u32);
    assert_eq!(scene.client(alice).ended(), None);
}

#[test]
fn an_end_that_nobody_releases_is_told_when_its_time_is_up() {
    let (mut scene, alice) = at_the_end(2);
    scene.run(HOLD - Duration::from_millis(20));
    assert!(told(&mut scene, alice) < LENGTH as u32);
    scene.run(Duration::from_millis(150));
    assert!(told(&mut scene, alice) >= LENGTH as u32);
    assert_eq!(scene.server().server().holding_end().count(), 0);
}

#[test]
fn a_held_end_replays_to_the_same_digest() {
    let (mut scene, _) = at_the_end(3);
    scene.run(Duration::from_millis(123));
    let now = scene.world.now();
    // The room where nobody plays is over and held, too.
    let slots: Vec<usize> = scene.server().server().holding_end().map(|(slot, _)| slot).collect();
    assert!(!slots.is_empty());
    slots.into_iter().for_each(|slot| scene.server().release_end(now, slot));
    scene.run(Duration::from_secs(2));
    let mut rerun = Rerun::new(|_| Some(Race)).speaking(backspin_classic::dialects());
    rerun.handle_bytes(&scene.finish()).unwrap();
    let verdict = rerun.finish().unwrap();
    assert_eq!(verdict.difference, None);
    assert!(verdict.counts.transmits > 300, "{:?}", verdict.counts);
}
