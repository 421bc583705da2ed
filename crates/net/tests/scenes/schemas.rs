//! The schemas of two games in miniature.

use backspin::replication::{Field, Kind, Motion, Schema, Step};

const fn still(name: &'static str, min: i32, max: i32, step: Step) -> Field {
    Field { name, min, max, step, motion: Motion::Still }
}

const fn along(name: &'static str, min: i32, max: i32, step: Step, velocity: usize) -> Field {
    Field { name, min, max, step, motion: Motion::Along { velocity, per_ticks: 1 } }
}

/// Pong: paddle, ball and score. At 1/24 px all of its speeds are whole counts per tick.
pub(crate) const PONG: Schema = {
    let (place, speed) = (Step::new(1, 24), Step::new(60, 24));
    Schema {
        kinds: &[
            Kind {
                name: "paddle",
                fields: &[along("y", 0, 780 * 24, place, 1), still("vy", -240, 240, speed)],
            },
            Kind {
                name: "ball",
                fields: &[
                    along("x", -50 * 24, 1490 * 24, place, 2),
                    along("y", 0, 880 * 24, place, 3),
                    still("vx", -160, 160, speed),
                    still("vy", -100, 100, speed),
                ],
            },
            Kind { name: "score", fields: &[still("points", 0, 5, Step::ONE)] },
        ],
        pixel: Step::ONE,
    }
};

/// R-Type: everything is one kind of thing, in a field of 1000 x 600 px at 1/16 px.
pub(crate) const RTYPE: Schema = {
    let (place, speed) = (Step::new(1, 16), Step::new(60, 16));
    Schema {
        kinds: &[Kind {
            name: "thing",
            fields: &[
                along("x", 0, 16_000, place, 2),
                along("y", 0, 9_600, place, 3),
                still("vx", -128, 127, speed),
                still("vy", -128, 127, speed),
                still("health", 0, 100, Step::ONE),
                still("flags", 0, 255, Step::ONE),
            ],
        }],
        pixel: Step::ONE,
    }
};
