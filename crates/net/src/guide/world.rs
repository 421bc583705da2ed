use backspin::game::{Buttons, Event, Game, GameId, PlayerId, Reach, SpawnName, Turn};
use backspin::replication::{Entity, Field, Kind, Motion, Schema, State, Step};

/// The rules. They have nothing to remember: that is the world's.
#[derive(Clone, Copy, Debug, Default)]
struct Pucks;

/// Everything that a step may look at or change.
#[derive(Clone, Debug, Default)]
struct World {
    pucks: Vec<Puck>,
}

/// One player's puck. Lengths are whole numbers of 1/16 px.
#[derive(Clone, Copy, Debug)]
struct Puck {
    player: PlayerId,
    x: i32,
    y: i32,
    vx: i32,
    vy: i32,
    bumps: i32,
}

const WIDTH: i32 = 640 * 16;
const HEIGHT: i32 = 360 * 16;
const SPEED: i32 = 6 * 16;

const SCHEMA: Schema = Schema::new(&[Kind {
        name: "puck",
        fields: &[
            place("x", WIDTH, 2),
            place("y", HEIGHT, 3),
            still("vx", -SPEED, SPEED),
            still("vy", -SPEED, SPEED),
            still("bumps", 0, 999),
        ],
    }]);
const _: () = assert!(SCHEMA.check().is_ok());

/// A field that follows its velocity, in 1/16 px.
const fn place(name: &'static str, max: i32, velocity: usize) -> Field {
    let motion = Motion::Along { velocity, per_ticks: 1 };
    Field { name, min: 0, max, step: Step::new(1, 16), motion }
}

/// A field that stays as it is until something happens.
const fn still(name: &'static str, min: i32, max: i32) -> Field {
    Field { name, min, max, step: Step::ONE, motion: Motion::Still }
}
