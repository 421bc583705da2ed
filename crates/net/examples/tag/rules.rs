//! Tag: up to eight runners in a field, one of them is "it". Whoever is it passes it on by touch.
//!
//! Lengths are whole numbers of 1/16 px, so that what is predicted comes back to the bit.

use backspin::game::{Buttons, Event, Game, GameId, PlayerId, PlayerInput, Reach, SpawnName, Turn};
use backspin::replication::{Entity, Field, Kind, Motion, Schema, State, Step};

/// The rules.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tag;

/// Everything there is.
#[derive(Debug, Default)]
pub(crate) struct World {
    /// The runners, by their players.
    pub(crate) runners: Vec<Runner>,
    /// The puffs of dust, by their ids.
    pub(crate) puffs: Vec<Puff>,
}

/// A player in the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Runner {
    /// Whose.
    pub(crate) player: PlayerId,
    /// Where, and how far it goes in a tick.
    pub(crate) at: Moving,
    /// Ticks until it can dash again.
    pub(crate) rest: i32,
    /// Whether it is "it", and how many ticks until it may tag; `None` is "not it".
    pub(crate) it: Option<i32>,
    /// How many it has tagged.
    pub(crate) score: i32,
}

/// What a dash leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Puff {
    /// Made of a [`SpawnName`].
    pub(crate) id: u32,
    /// Where, and how far it goes in a tick.
    pub(crate) at: Moving,
    /// Ticks that it is still there.
    pub(crate) left: i32,
}

/// A place and a velocity, in 1/16 px and 1/16 px a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moving {
    /// From the left.
    pub(crate) x: i32,
    /// From the top.
    pub(crate) y: i32,
    /// To the right.
    pub(crate) vx: i32,
    /// Down.
    pub(crate) vy: i32,
}

/// Someone else is it, in this entity; the value is the tick in which that happened.
pub(crate) const TAGGED: u8 = 1;
/// The own runner has dashed.
pub(crate) const DASHED: u8 = 2;

const PX: i32 = 16;
const FIELD: (i32, i32) = (480 * PX, 320 * PX);
const REACH: i32 = 24 * PX;
const PUSH: i32 = 5;
const DASH: i32 = 6 * PX;
const SPEED_MAX: i32 = 8 * PX;
const REST: i32 = 45;
const PAUSE: i32 = 30;
const PUFF_TICKS: i32 = 20;
const SCORE_MAX: i32 = 9_999;

const RUNNER: u8 = 0;
const PUFF: u8 = 1;
const SCHEMA: Schema = Schema::new(&[
    Kind {
        name: "runner",
        fields: &[
            place("x", FIELD.0, 2),
            place("y", FIELD.1, 3),
            still("vx", -SPEED_MAX, SPEED_MAX),
            still("vy", -SPEED_MAX, SPEED_MAX),
            still("rest", 0, REST),
            // 0 is "not it", 1 and more the ticks until it may tag, and one.
            still("it", 0, PAUSE + 1),
            still("score", 0, SCORE_MAX),
        ],
    },
    Kind {
        name: "puff",
        fields: &[
            place("x", FIELD.0, 2),
            place("y", FIELD.1, 3),
            still("vx", -PX, PX),
            still("vy", -PX, PX),
            still("left", 0, PUFF_TICKS),
        ],
    },
]);
const _: () = assert!(SCHEMA.check().is_ok());

const fn place(name: &'static str, max: i32, velocity: usize) -> Field {
    let motion = Motion::Along { velocity, per_ticks: 1 };
    Field { name, min: 0, max, step: Step::new(1, PX as u32), motion }
}

const fn still(name: &'static str, min: i32, max: i32) -> Field {
    Field { name, min, max, step: Step::ONE, motion: Motion::Still }
}

impl Moving {
    /// One tick on; the fence stops what runs into it.
    fn go(&mut self) {
        let fenced = |at: &mut i32, v: &mut i32, max: i32| {
            let next = (*at + *v).clamp(0, max);
            *v = next - *at;
            *at = next;
        };
        fenced(&mut self.x, &mut self.vx, FIELD.0);
        fenced(&mut self.y, &mut self.vy, FIELD.1);
    }

    fn touches(&self, other: &Moving) -> bool {
        (self.x - other.x).pow(2) + (self.y - other.y).pow(2) <= REACH.pow(2)
    }
}

impl Runner {
    /// One tick of running: the same on the server and in prediction.
    fn run(&mut self, tick: u32, held: Buttons) -> Option<Puff> {
        let x = held.axis(Buttons::LEFT, Buttons::RIGHT);
        let y = held.axis(Buttons::UP, Buttons::DOWN);
        self.rest = (self.rest - 1).max(0);
        let dashes = held.contains(Buttons::SHOOT) && self.rest == 0 && (x, y) != (0, 0);
        let push = if dashes { DASH } else { PUSH };
        let speed = |v: i32, axis: i32| {
            (v - v.signum() * (v.abs() + 15) / 16 + axis * push).clamp(-SPEED_MAX, SPEED_MAX)
        };
        (self.at.vx, self.at.vy) = (speed(self.at.vx, x), speed(self.at.vy, y));
        let from = self.at;
        self.at.go();
        if !dashes {
            return None;
        }
        self.rest = REST;
        let id = SpawnName { player: self.player, tick, count: 0 }.entity_id();
        Some(Puff { id, at: Moving { vx: -PX * x, vy: -PX * y, ..from }, left: PUFF_TICKS })
    }
}

impl Tag {
    /// Everything but contacts, for the runners of `turn`'s inputs.
    fn run(&self, world: &mut World, turn: &mut Turn<'_, Tag>) {
        for puff in &mut world.puffs {
            puff.at.go();
            puff.left -= 1;
        }
        world.puffs.retain(|puff| puff.left > 0);
        for &PlayerInput { player, input, .. } in turn.inputs() {
            let Some(runner) = world.runners.iter_mut().find(|r| r.player == player) else {
                continue;
            };
            if let Some(puff) = runner.run(turn.tick(), input.read()) {
                world.puffs.push(puff);
                let (kind, entity) = (DASHED, puff.id);
                turn.raise(Event { kind, entity, value: 0, reach: Reach::Own });
            }
        }
    }

    /// Whom the runner at `tagger` touches: itself where it is, the others where its player saw
    /// them.
    fn touched(&self, world: &World, tagger: usize, turn: &Turn<'_, Tag>) -> Option<usize> {
        let tagger = &world.runners[tagger];
        let seen = turn.rewound_for(tagger.player).unwrap_or(world);
        let other = |r: &&Runner| r.player != tagger.player && r.at.touches(&tagger.at);
        let touched = seen.runners.iter().find(other)?.player;
        world.runners.iter().position(|r| r.player == touched)
    }

    fn pass_it_on(&self, world: &mut World, turn: &mut Turn<'_, Tag>) {
        let Some(tagger) = world.runners.iter().position(|r| r.it.is_some()) else {
            if !world.runners.is_empty() {
                self.make_it(world, 0, turn);
            }
            return;
        };
        world.runners[tagger].it = world.runners[tagger].it.map(|pause| (pause - 1).max(0));
        if world.runners[tagger].it == Some(0)
            && let Some(touched) = self.touched(world, tagger, turn)
        {
            let runner = &mut world.runners[tagger];
            (runner.it, runner.score) = (None, (runner.score + 1).min(SCORE_MAX));
            self.make_it(world, touched, turn);
        }
    }

    fn make_it(&self, world: &mut World, runner: usize, turn: &mut Turn<'_, Tag>) {
        world.runners[runner].it = Some(PAUSE);
        let entity = self.entity_of(world.runners[runner].player);
        let value = turn.tick() as i32;
        turn.raise(Event { kind: TAGGED, entity, value, reach: Reach::Everyone });
    }
}

impl Game for Tag {
    type World = World;
    type Input = Buttons;
    type Message = ();
    type JoinData = ();

    fn id(&self) -> GameId {
        GameId::new(*b"TAG!", 1)
    }

    fn capacity(&self) -> u8 {
        8
    }

    fn schema(&self) -> &'static Schema {
        &SCHEMA
    }

    fn begin(&self, _seed: u64) -> World {
        World::default()
    }

    fn join(&self, world: &mut World, player: PlayerId, _: &()) {
        let x = FIELD.0 / 9 * (1 + player.0 as i32 % 8);
        let at = Moving { x, y: FIELD.1 / 2, vx: 0, vy: 0 };
        world.runners.push(Runner { player, at, rest: 0, it: None, score: 0 });
        world.runners.sort_unstable_by_key(|runner| runner.player);
    }

    fn leave(&self, world: &mut World, player: PlayerId) {
        world.runners.retain(|runner| runner.player != player);
    }

    fn step(&self, world: &mut World, turn: &mut Turn<'_, Self>) {
        self.run(world, turn);
        self.pass_it_on(world, turn);
    }

    // Who is it is the server's to say: a client would judge by where it believes the others to be.
    fn predict(&self, world: &mut World, turn: &mut Turn<'_, Self>) {
        self.run(world, turn);
    }

    fn capture(&self, world: &World, state: &mut State) {
        for Runner { player, at, rest, it, score } in &world.runners {
            let it = it.map_or(0, |pause| 1 + pause);
            let counts = [at.x, at.y, at.vx, at.vy, *rest, it, *score];
            let _ = state.push(Entity::new(&SCHEMA, self.entity_of(*player), RUNNER, &counts));
        }
        for Puff { id, at, left } in &world.puffs {
            let counts = [at.x, at.y, at.vx, at.vy, *left];
            let _ = state.push(Entity::new(&SCHEMA, *id, PUFF, &counts));
        }
    }

    fn restore(&self, state: &State) -> World {
        let mut world = World::default();
        self.restore_into(state, &mut world);
        world
    }

    fn restore_into(&self, state: &State, world: &mut World) {
        world.runners.clear();
        world.puffs.clear();
        for entity in state.entities() {
            let [x, y, vx, vy, a, b, score] = entity.fields.first();
            let at = Moving { x, y, vx, vy };
            if entity.kind == RUNNER {
                let (player, it) = (PlayerId(entity.id), (b > 0).then_some(b - 1));
                world.runners.push(Runner { player, at, rest: a, it, score });
            } else {
                world.puffs.push(Puff { id: entity.id, at, left: a });
            }
        }
    }
}

impl Clone for World {
    fn clone(&self) -> Self {
        World { runners: self.runners.clone(), puffs: self.puffs.clone() }
    }

    /// Keeps the memory: the server remembers a world every tick.
    fn clone_from(&mut self, source: &Self) {
        self.runners.clone_from(&source.runners);
        self.puffs.clone_from(&source.puffs);
    }
}
