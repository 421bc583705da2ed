//! A hostile peer that scripts whole sessions against a server on which others play.
//!
//! Four honest players, two in `native`, one in `lan` and one in `rtype`, really play: clients of
//! ours, driven in step. An [`attacker`] does what the bytes of a script say ([`act`]): it joins,
//! floods, bends, replays, guesses tickets and sessions, and in `native` sends from addresses that
//! are not its own. After every tick each honest player must stand exactly where it stands in the
//! same match without an attacker: the same session, the same buttons applied, the same place, the
//! same words heard ([`scene`]). Nothing that proves who they are goes to anyone else, no address
//! is sent more `native` bytes than came from there before it is proved, and what the server keeps
//! and says stays within its limits.
//!
//! A script begins at one of the [`stage`]s, which are played once and then copied.
//!
//! Three things are left out, because no code could withstand them before sessions are sealed:
//!
//! - a datagram in the name of a `lan` or `rtype` player: those dialects prove nothing. In the name
//!   of a `native` player everything is allowed, packets of the old dialects among it.
//! - a guess that hits the window of a `native` player's sequence numbers. It holds 4096 of 2^32
//!   numbers ahead of the newest and up to 63 behind it, so that someone who sees nothing hits it
//!   once in a million guesses; a fuzzer that learns from comparisons would hit it at once. Those
//!   that miss are sent, and so is, byte for byte, all that went over the player's own wire.
//! - a change to what went over an honest player's wire: who can do that sits on the path.

mod act;
mod attacker;
mod honest;
mod scene;
mod stage;
mod yard;

use std::time::Duration;

use backspin::endpoint::EndpointCounts;

#[allow(
    unused_imports,
    reason = "the seeds' test counts acts, the fuzz target only plays them"
)]
pub(crate) use act::ACTS;
pub(crate) use act::Script;
#[allow(
    unused_imports,
    reason = "the seeds' test looks at stages, the fuzz target only plays from them"
)]
pub(crate) use stage::{STAGES, Stage, stages};

/// What an attack may cost the server and the attacker's own memory together, in bytes: six
/// more sessions, each with its boxes of events, and the answers that wait.
const COST: isize = 512 * 1024;

/// What an attack came to.
#[derive(Debug)]
#[allow(dead_code, reason = "the seeds' test looks at it, the fuzz target does not")]
pub(crate) struct Outcome {
    /// How many sessions there were at most, the honest among them.
    pub(crate) most_sessions: usize,
    /// How many rooms there were at most, those of the honest among them.
    pub(crate) most_rooms: usize,
    /// What was dropped at the endpoint.
    pub(crate) counts: EndpointCounts,
}

/// How much of a script is played.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    span: Duration,
    datagrams: usize,
    /// How long is waited for what shows only later.
    after: Duration,
}

#[allow(dead_code, reason = "the seeds' test plays the whole, the fuzz target what is short")]
impl Extent {
    /// Enough for someone to come, fall silent and be given up, and for every limit.
    pub(crate) const WHOLE: Extent = Extent {
        span: Duration::from_secs(6),
        datagrams: 2_000,
        after: Duration::from_millis(450),
    };

    /// What a fuzzer can afford many hundred times a second: where it takes long to come to, a
    /// [`stage`] is there already.
    pub(crate) const SHORT: Extent = Extent {
        span: Duration::from_millis(200),
        datagrams: 60,
        after: Duration::from_millis(200),
    };
}

/// Plays a script, whose first byte says at which stage it begins. `in_use` says how many bytes
/// this thread has allocated.
///
/// # Panics
/// If the attacker achieves anything.
pub(crate) fn play(script: &[u8], extent: Extent, in_use: impl Fn() -> isize) -> Outcome {
    let (first, script) = script.split_first().unwrap_or((&0, &[]));
    let stages = stages(&in_use);
    let before = in_use();
    let Stage { mut scene, mut attacker } = stages.at(*first).clone();
    scene.begin_script(extent.span);
    attacker.begin_script(extent.datagrams);
    for act in Script(script) {
        if scene.is_over() {
            break;
        }
        attacker.act(&mut scene, act);
    }
    scene.advance(extent.after);
    let cost = in_use() - before - stages.honest;
    assert!(cost <= COST, "{cost} bytes");
    let (most_sessions, most_rooms) = (scene.most_sessions, scene.most_rooms);
    Outcome { most_sessions, most_rooms, counts: scene.counts() }
}
