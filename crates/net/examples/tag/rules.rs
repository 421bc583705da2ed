//! Tag: up to eight runners in a field, one of them is "it". Whoever is it passes it on by touch.
//!
//! Lengths are whole numbers of 1/16 px, so that what is predicted comes back to the bit.

use backspin::game::{Buttons, Event, Game, GameId, PlayerId, PlayerInput, Reach, SpawnName, Turn};
use backspin::replication::{Schema, State};
use backspin::typed::{Entities, Fixed, Int};

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

/// What is sent of the world, by kind.
#[derive(Clone, Copy, Debug, Entities)]
enum Thing {
    Runner {
        #[along(vx)]
        x: Across,
        #[along(vy)]
        y: Down,
        vx: Int<{ -SPEED_MAX }, SPEED_MAX>,
        vy: Int<{ -SPEED_MAX }, SPEED_MAX>,
        rest: Int<0, REST>,
        /// 0 is "not it", 1 and more the ticks until it may tag, and one.
        it: Int<0, { PAUSE + 1 }>,
        score: Int<0, SCORE_MAX>,
    },
    Puff {
        #[along(vx)]
        x: Across,
        #[along(vy)]
        y: Down,
        vx: Int<{ -PX }, PX>,
        vy: Int<{ -PX }, PX>,
        left: Int<0, PUFF_TICKS>,
    },
}

type Across = Fixed<0, { FIELD.0 / PX }, PX>;
type Down = Fixed<0, { FIELD.1 / PX }, PX>;

impl Moving {
    fn at((x, y): (Across, Down), vx: i32, vy: i32) -> Self {
        Moving { x: x.count(), y: y.count(), vx, vy }
    }

    fn place(&self) -> (Across, Down) {
        (Across::from_count(self.x), Down::from_count(self.y))
    }

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
        &Thing::SCHEMA
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
            let (x, y) = at.place();
            let (vx, vy) = (Int::new(at.vx), Int::new(at.vy));
            let it = Int::new(it.map_or(0, |pause| 1 + pause));
            let (rest, score) = (Int::new(*rest), Int::new(*score));
            state.put(self.entity_of(*player), &Thing::Runner { x, y, vx, vy, rest, it, score });
        }
        for Puff { id, at, left } in &world.puffs {
            let (x, y) = at.place();
            let (vx, vy, left) = (Int::new(at.vx), Int::new(at.vy), Int::new(*left));
            state.put(*id, &Thing::Puff { x, y, vx, vy, left });
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
        for (id, thing) in state.things() {
            match thing {
                Thing::Runner { x, y, vx, vy, rest, it, score } => {
                    let at = Moving::at((x, y), vx.get(), vy.get());
                    let it = (it.get() > 0).then(|| it.get() - 1);
                    let (player, rest, score) = (PlayerId(id), rest.get(), score.get());
                    world.runners.push(Runner { player, at, rest, it, score });
                }
                Thing::Puff { x, y, vx, vy, left } => {
                    let at = Moving::at((x, y), vx.get(), vy.get());
                    world.puffs.push(Puff { id, at, left: left.get() });
                }
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
