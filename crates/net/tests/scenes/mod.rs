//! Two games in miniature, for measuring: a rally of Pong between two restless players, and an
//! R-Type of 64 moving things. Each gives the state of every tick, always the same for a seed.

pub(crate) mod schemas;

use backspin::replication::{Entity, State};
use backspin_sim::Chance;

use schemas::{PONG, RTYPE};

/// A match of Pong by the rules of `lan`, with two players who press like people.
pub(crate) struct Pong {
    chance: Chance,
    tick: u32,
    /// Top edge, direction, and where its player wants its middle.
    paddles: [(i32, i32, i32); 2],
    ball: [i32; 4],
    points: [i32; 2],
}

impl Pong {
    pub(crate) fn new(seed: u64) -> Self {
        let (paddles, ball) = ([(390 * 24, 0, 450 * 24); 2], [710 * 24, 440 * 24, -160, -100]);
        Pong { chance: Chance::new(seed, 0), tick: 0, paddles, ball, points: [0; 2] }
    }

    pub(crate) fn step(&mut self) {
        self.tick += 1;
        let [x, y, vx, vy] = &mut self.ball;
        for (side, (top, direction, wish)) in self.paddles.iter_mut().enumerate() {
            // Eyes on the ball when it comes, elsewhere when it goes; a new mind 3 times a second.
            if self.chance.happens(3.0 / 60.0) {
                let comes = (*vx < 0) == (side == 0);
                let spread = if comes { 120 * 24 } else { 600 * 24 };
                *wish = *y + 240 + self.chance.below(spread) as i32 - spread as i32 / 2;
            }
            *direction = match *wish - (*top + 60 * 24) {
                -240..=240 => 0,
                off => off.signum(),
            };
            *top = (*top + *direction * 240).clamp(0, 780 * 24);
        }
        (*x, *y) = (*x + *vx, *y + *vy);
        if !(0..=880 * 24).contains(y) {
            *y = (*y).clamp(0, 880 * 24);
            *vy = -*vy;
        }
        let hits = |top: i32, left: i32| {
            (left - 480..=left + 480).contains(x) && (top - 480..=top + 2880).contains(y)
        };
        let hit = [hits(self.paddles[0].0, 50 * 24), hits(self.paddles[1].0, 1370 * 24)];
        match hit {
            [true, _] => (*x, *vx) = (70 * 24 + 2, 160),
            [_, true] => (*x, *vx) = (1350 * 24 - 2, -160),
            _ => {}
        }
        if *x < -50 * 24 || *x > 1490 * 24 {
            let side = usize::from(*x < 0);
            self.points[side] = (self.points[side] + 1) % 6;
            let sign = if side == 0 { 1 } else { -1 };
            self.ball = [710 * 24, 440 * 24, 160 * sign, 100 * sign];
        }
    }

    pub(crate) fn state(&self, out: &mut State) {
        out.clear(self.tick);
        let mut push = |id, kind, counts: &[i32]| {
            out.push(Entity::new(&PONG, id, kind, counts)).expect("five ids, in order");
        };
        for (id, (top, direction, _)) in self.paddles.iter().enumerate() {
            push(id as u32, 0, &[*top, *direction * 240]);
        }
        push(2, 1, &self.ball);
        push(3, 2, &self.points[..1]);
        push(4, 2, &self.points[1..]);
    }
}

/// 64 things that fly: two come and two go each 10 ticks, a tenth turns each 20 ticks.
pub(crate) struct Rtype {
    chance: Chance,
    tick: u32,
    things: Vec<Entity>,
    next_id: u32,
}

impl Rtype {
    pub(crate) fn new(seed: u64) -> Self {
        let mut game =
            Rtype { chance: Chance::new(seed, 0), tick: 0, things: Vec::new(), next_id: 0 };
        (0..64).for_each(|_| game.spawn());
        game
    }

    pub(crate) fn step(&mut self) {
        self.tick += 1;
        for thing in &mut self.things {
            let x = thing.fields[0] + thing.fields[2];
            let y = thing.fields[1] + thing.fields[3];
            // They turn back at the edge.
            thing.fields[2] *= if (0..=16_000).contains(&x) { 1 } else { -1 };
            thing.fields[3] *= if (0..=9_600).contains(&y) { 1 } else { -1 };
            (thing.fields[0], thing.fields[1]) = (x.clamp(0, 16_000), y.clamp(0, 9_600));
            if self.chance.happens(0.1 / 20.0) {
                let turn = |chance: &mut Chance| chance.below(200) as i32 - 100;
                (thing.fields[2], thing.fields[3]) =
                    (turn(&mut self.chance), turn(&mut self.chance));
            }
            // A hit now and then.
            if self.chance.happens(0.002) {
                thing.fields[4] = (thing.fields[4] - 10).max(0);
                thing.fields[5] ^= 1;
            }
        }
        if self.tick.is_multiple_of(10) {
            for _ in 0..2 {
                let gone = self.chance.below(self.things.len() as u64) as usize;
                self.things.remove(gone);
                self.spawn();
            }
        }
    }

    pub(crate) fn state(&self, out: &mut State) {
        out.clear(self.tick);
        for thing in &self.things {
            out.push(thing.clone()).expect("ids in order");
        }
    }

    fn spawn(&mut self) {
        let (x, y) = (self.chance.below(16_001) as i32, self.chance.below(9_601) as i32);
        let mut speed = || self.chance.below(200) as i32 - 100;
        let counts = [x, y, speed(), speed(), 100, 0];
        self.things.push(Entity::new(&RTYPE, self.next_id, 0, &counts));
        self.next_id += 1;
    }
}
