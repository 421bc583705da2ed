//! Recording: node logs that replay to the same digest, match replays that seek, and what becomes
//! of both when they are damaged.

#[path = "../../../net/tests/counting/mod.rs"]
mod counting;
mod held_end;
mod log;
mod replay;
mod scene;
#[path = "../../../net/examples/tag/rules.rs"]
#[allow(dead_code)]
pub mod tag;
