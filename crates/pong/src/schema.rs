//! What is sent of a world: the paddles, the ball and the match, all of it exactly.

use backspin::replication::{Entity, Field, Kind, Motion, Schema, State, Step};

use crate::Pong;
use crate::field::{BALL_LOWEST, BALL_SPEED, OUT, PADDLE_LOWEST, PADDLE_SPEED, Position, UNITS};
use crate::world::{Attendance, Ball, Heading, Paddle, Phase, World};

/// The ball is one of these. A served ball has the other id than the one that went out, so nobody
/// draws it on a way from the goal to the centre.
pub const BALL_IDS: [u32; 2] = [1000, 1001];

/// The match: phase, scores and rules.
pub const MATCH_ID: u32 = 1002;

/// The kinds of paddles are as the posts: where they stand, only y changes.
const BALL: u8 = 4;
/// The same ball, known by its kind, so that who sees only the ball knows where the paddles are.
const DOUBLES_BALL: u8 = 5;
const MATCH: u8 = 6;

pub(crate) const SCHEMA: Schema = Schema::new(&[
    Kind { name: "left paddle", fields: &paddle(Position::LeftBack) },
    Kind { name: "right paddle", fields: &paddle(Position::RightBack) },
    Kind { name: "left front paddle", fields: &paddle(Position::LeftFront) },
    Kind { name: "right front paddle", fields: &paddle(Position::RightFront) },
    Kind { name: "ball", fields: &BALL_FIELDS },
    Kind { name: "doubles ball", fields: &BALL_FIELDS },
    Kind { name: "match", fields: &MATCH_FIELDS },
]);
const _: () = assert!(SCHEMA.check().is_ok());

const fn paddle(post: Position) -> [Field; 3] {
    [
        along("y", 0, PADDLE_LOWEST, 1),
        velocity("vy", PADDLE_SPEED),
        Field { motion: Motion::Still, ..along("x", post.x(), post.x(), 0) },
    ]
}

const BALL_FIELDS: [Field; 4] = [
    along("x", OUT.0, OUT.1, 2),
    along("y", 0, BALL_LOWEST, 3),
    velocity("vx", BALL_SPEED.0),
    velocity("vy", BALL_SPEED.1),
];

const MATCH_FIELDS: [Field; 10] = [
    still("phase", Phase::ALL.len() as i32 - 1),
    still("left_score", Pong::MAX_POINTS as i32),
    still("right_score", Pong::MAX_POINTS as i32),
    still("points", Pong::MAX_POINTS as i32),
    still("doubles", 1),
    // Who wishes to play again, and above them who could not say so.
    still("wishes", 0b1111_1111),
    Field {
        motion: Motion::Along { velocity: 7, per_ticks: 1 },
        ..still("ticks_left", Pong::LONGEST_HOLD as i32)
    },
    // Time passes, or it does not: the ticks count themselves down.
    Field { min: -1, ..still("pace", 0) },
    // Of the left side, and three times that of the right.
    still("attendance", 8),
    // To the right is 1, down is 2.
    still("heading", 3),
];

/// A place, in units.
const fn along(name: &'static str, min: i32, max: i32, velocity: usize) -> Field {
    let motion = Motion::Along { velocity, per_ticks: 1 };
    Field { name, min, max, step: Step::new(1, UNITS as u32), motion }
}

/// Units a tick, which are px/s.
const fn velocity(name: &'static str, max: i32) -> Field {
    Field { name, min: -max, max, step: Step::ONE, motion: Motion::Still }
}

const fn still(name: &'static str, max: i32) -> Field {
    Field { name, min: 0, max, step: Step::ONE, motion: Motion::Still }
}

/// Writes a world into an empty state. Ids rise, and there are far fewer than a state holds.
pub(crate) fn capture(world: &World, state: &mut State) {
    for post in Position::ALL {
        if let Some(Paddle { y, vy }) = world.paddles[post.index()] {
            let counts = [y, vy, post.x()];
            let _ = state.push(Entity::new(&SCHEMA, post.paddle_id(), post as u8, &counts));
        }
    }
    let Ball { x, y, vx, vy, which } = world.ball;
    let kind = if world.doubles { DOUBLES_BALL } else { BALL };
    let id = BALL_IDS[usize::from(which)];
    let _ = state.push(Entity::new(&SCHEMA, id, kind, &[x, y, vx, vy]));
    let [left, right] = world.score.map(i32::from);
    let bits = |of: &[bool; 4]| of.iter().rev().fold(0, |bits, &one| bits << 1 | i32::from(one));
    let counts = [
        world.phase as i32,
        left,
        right,
        i32::from(world.points),
        i32::from(world.doubles),
        bits(&world.mute) << 4 | bits(&world.wishes),
        i32::from(world.ticks_left),
        -i32::from(passes(world.phase)),
        world.attendance[0] as i32 + 3 * world.attendance[1] as i32,
        i32::from(world.heading.right) | i32::from(world.heading.down) << 1,
    ];
    let _ = state.push(Entity::new(&SCHEMA, MATCH_ID, MATCH, &counts));
}

/// Whether the ticks that are left get fewer.
fn passes(phase: Phase) -> bool {
    matches!(phase, Phase::Countdown | Phase::Over | Phase::Hold)
}

/// The world of a state; what is not in it is as in an empty room.
pub(crate) fn restore(state: &State) -> World {
    let mut world = World::default();
    for entity in state.entities() {
        let fields = &entity.fields;
        match entity.kind {
            BALL | DOUBLES_BALL => {
                let [x, y, vx, vy] = fields.first();
                world.ball = Ball { x, y, vx, vy, which: entity.id == BALL_IDS[1] };
            }
            MATCH => restore_match(&mut world, entity),
            _ => {
                if let Some(post) = Position::of_paddle(entity.id) {
                    let [y, vy] = fields.first();
                    world.paddles[post.index()] = Some(Paddle { y, vy });
                }
            }
        }
    }
    world
}

fn restore_match(world: &mut World, entity: &Entity) {
    let [phase, left, right, points, doubles, wishes, ticks_left, _, attendance, heading] =
        entity.fields.first();
    // The state conforms to the schema, so every count fits its type.
    world.phase = Phase::ALL.get(phase as usize).copied().unwrap_or(Phase::Waiting);
    world.score = [left as u8, right as u8];
    world.points = points as u8;
    world.doubles = doubles != 0;
    world.wishes = Position::ALL.map(|post| wishes >> post.index() & 1 == 1);
    world.mute = Position::ALL.map(|post| wishes >> (4 + post.index()) & 1 == 1);
    world.ticks_left = ticks_left as u16;
    world.attendance = [attendance % 3, attendance / 3]
        .map(|it| Attendance::ALL.get(it as usize).copied().unwrap_or_default());
    world.heading = Heading { right: heading & 1 == 1, down: heading & 2 == 2 };
    // Who predicts a hold knows only when all of it ends.
    if world.phase == Phase::Hold {
        world.patience = [world.ticks_left; 2];
    }
}

/// Whether an entity is a ball, and of which game.
pub(crate) fn is_ball(entity: &Entity) -> bool {
    matches!(entity.kind, BALL | DOUBLES_BALL)
}

/// Whether the entity, a ball, is one of doubles.
pub(crate) fn is_doubles(entity: &Entity) -> bool {
    entity.kind == DOUBLES_BALL
}
