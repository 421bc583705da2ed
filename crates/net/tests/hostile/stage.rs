//! Where scripts begin: moments of the match that an attacker comes to by itself, but slowly.
//!
//! Each is played once and copied for every script, so that a short script sees what takes long:
//! cookies that grow old, places that are kept for someone who is away.

use std::sync::OnceLock;

use super::act::{Act, Source};
use super::attacker::Attacker;
use super::scene::Scene;

/// How many stages there are.
#[allow(dead_code, reason = "the seeds' test counts them, the fuzz target does not")]
pub(crate) const STAGES: usize = PRELUDES.len();

const fn hello(base: u8) -> Act<'static> {
    Act::Hello(Source::Own(base))
}

/// With the newest cookie. Forms: 0 plays, 1 watches, 8 makes a room, 12 one with a password.
const fn join(base: u8, form: u8, room: u8) -> Act<'static> {
    Act::Join { from: Source::Own(base), cookie: 0, form, room }
}

const HELLOS: [Act<'_>; 4] = [hello(0), hello(1), hello(2), hello(3)];
const JOINS: [Act<'_>; 4] = [join(0, 0, 0), join(1, 0, 2), join(2, 2, 0), join(3, 1, 0)];
const fn ping(base: u8) -> Act<'static> {
    Act::Ping { from: Source::Own(base), session: 0, id: 0 }
}

/// A word of each, so that its place is its own.
const PINGS: [Act<'_>; 4] = [ping(0), ping(1), ping(2), ping(3)];
/// 0.8 s.
const LONG: Act<'_> = Act::Wait(31);

/// What the attacker does before a script begins.
const PRELUDES: [&[&[Act<'_>]]; 8] = [
    // Nothing: it is about to come.
    &[],
    // It has a cookie at each address.
    &[&HELLOS],
    // It plays from three addresses, in two rooms, and watches from the fourth.
    &[&HELLOS, &JOINS],
    // The same, and it has been silent for nearly so long that it is dropped.
    &[&HELLOS, &JOINS, &PINGS, &[LONG, Act::Wait(23)]],
    // The same, dropped, and its places are nearly given up.
    &[&HELLOS, &JOINS, &PINGS, &[LONG, LONG, LONG, LONG, Act::Wait(7)]],
    // Its cookies have nearly grown too old.
    &[&HELLOS, &[LONG, LONG, LONG, LONG, LONG, LONG, Act::Wait(6)]],
    // It has tokens from three streams and plays in both old dialects.
    &[&[
        Act::Open(0),
        Act::Open(2),
        Act::Open(3),
        Act::Name { stream: 0, piece: 15 },
        Act::Name { stream: 1, piece: 15 },
        Act::Name { stream: 2, piece: 15 },
        Act::Rtype { from: Source::Own(0), what: 0, operand: 0 },
        Act::Lan { from: Source::Own(1), what: 1, operand: 1 },
    ]],
    // It has made two rooms, one with a password.
    &[&HELLOS, &[join(0, 8, 2), join(3, 12, 3)]],
];

/// A moment to begin at.
#[derive(Clone)]
pub(crate) struct Stage {
    pub(crate) scene: Scene,
    pub(crate) attacker: Attacker,
}

/// All of them.
pub(crate) struct Stages {
    stages: Vec<Stage>,
    /// What a copy of the match without an attacker takes, in bytes.
    pub(crate) honest: isize,
}

impl Stages {
    /// The stage that a byte names.
    pub(crate) fn at(&self, byte: u8) -> &Stage {
        &self.stages[usize::from(byte) % self.stages.len()]
    }
}

/// The stages, which are played when this is first asked.
pub(crate) fn stages(in_use: impl Fn() -> isize) -> &'static Stages {
    static ALL: OnceLock<Stages> = OnceLock::new();
    ALL.get_or_init(|| {
        let stages: Vec<_> = PRELUDES.iter().map(|prelude| play(prelude)).collect();
        let before = in_use();
        let copy = stages[0].clone();
        let honest = in_use() - before;
        drop(copy);
        Stages { stages, honest }
    })
}

fn play(prelude: &[&[Act<'_>]]) -> Stage {
    let (mut scene, mut attacker) = (Scene::new(), Attacker::new(usize::MAX));
    for act in prelude.iter().copied().flatten() {
        attacker.act(&mut scene, *act);
    }
    Stage { scene, attacker }
}
