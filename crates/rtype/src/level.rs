//! Levels: what comes when. One TOML file each, checked when it is read.
//!
//! ```toml
//! name = "Outer Belt"
//! scroll = 60                  # px per second
//! threat = 100                 # percent: the enemies' health and rate of fire
//!
//! [[wave]]
//! at = 300                     # px scrolled
//! enemy = "drone"              # drone, weaver, diver, turret, carrier, mine
//! count = 5
//! formation = "line"           # line, column, vee, echelon
//! y = 200                      # px from the top, of the middle
//! spacing = 50                 # px between two of them
//! side = "right"               # or left; right if it is not said
//! drops = "weapon"             # weapon, shield, speed, life, force: by the last; or nothing
//!
//! [boss]
//! health = 120
//! points = 5000
//! look = 1                     # 1 to 3
//!
//! [[boss.stage]]
//! below = 100                  # percent of its health
//! move = "hover"               # hover, sweep, charge
//! speed = 90                   # px per second
//! fire = "aimed"               # aimed, fan, ring, wall, drones
//! every = 90                   # ticks
//! ```
//!
//! What is wrong is told with its line:
//!
//! ```
//! use backspin_rtype::level::Level;
//!
//! let error = Level::parse("name = \"Belt\"\nscroll = 900\nthreat = 100").unwrap_err();
//! assert_eq!(error.to_string(), "line 1: missing field `boss`");
//! ```

mod error;
mod file;
#[cfg(test)]
mod tests;

pub use error::{Fault, LevelError};

use std::sync::{Arc, LazyLock};

use serde::Deserialize;

use crate::enemy::Species;
use crate::power_up::Bonus;

/// A level, ready to be played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Level {
    /// For people.
    pub name: String,
    /// How fast it scrolls, px per second.
    pub scroll: i32,
    /// The enemies' health and rate of fire, in percent.
    pub threat: i32,
    /// How many waves there are.
    pub waves: u8,
    /// Everything that comes, in order of time.
    pub spawns: Vec<Spawn>,
    /// What comes last.
    pub boss: BossPlan,
}

/// One enemy that comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spawn {
    /// When, in ticks of the level.
    pub tick: u32,
    /// What.
    pub species: Species,
    /// At which height its middle is, px.
    pub y: i32,
    /// From where.
    pub side: Side,
    /// What it leaves behind.
    pub drops: Option<Bonus>,
    /// Which wave it belongs to, from 1.
    pub wave: u8,
}

/// From where a wave comes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// From ahead.
    #[default]
    Right,
    /// From behind.
    Left,
}

/// How a wave flies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Formation {
    /// One behind the other.
    Line,
    /// One above the other.
    Column,
    /// The middle one first.
    Vee,
    /// Each behind and below the one before.
    Echelon,
}

/// The boss of a level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BossPlan {
    /// On normal, for one ship.
    pub health: i32,
    /// What it is worth.
    pub points: i32,
    /// How it looks, 1 to 3.
    pub look: u8,
    /// What it does, by its health: falling.
    pub stages: Vec<Stage>,
}

/// What a boss does for a part of its health.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// From this percentage of its health on.
    pub below: i32,
    /// How it flies.
    pub course: Course,
    /// How fast, px per second.
    pub speed: i32,
    /// How it fires.
    pub fire: Fire,
    /// Ticks between two shots.
    pub every: u32,
}

/// How a boss flies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Course {
    /// Up and down.
    Hover,
    /// Up and down, and to and fro.
    Sweep,
    /// Up and down, and now and then through the whole field.
    Charge,
}

/// How a boss fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fire {
    /// At the nearest ship.
    Aimed,
    /// Five at once, spread to the left.
    Fan,
    /// All around.
    Ring,
    /// Six abreast, with a gap to slip through.
    Wall,
    /// Drones instead of bullets.
    Drones,
}

impl Level {
    /// Waves in a level.
    pub const WAVE_LIMIT: usize = 200;

    /// Enemies in a wave.
    pub const COUNT_LIMIT: i64 = 16;

    /// Stages of a boss.
    pub const STAGE_LIMIT: usize = 6;

    /// Levels in a game.
    pub const LIMIT: usize = 9;

    /// Reads a level from the text of its file.
    pub fn parse(text: &str) -> Result<Level, LevelError> {
        file::read(text)
    }

    /// The levels that come with the game.
    pub fn built_in() -> Arc<[Level]> {
        static LEVELS: LazyLock<Arc<[Level]>> = LazyLock::new(|| {
            let texts = [
                ("belt", include_str!("../levels/belt.toml")),
                ("foundry", include_str!("../levels/foundry.toml")),
                ("core", include_str!("../levels/core.toml")),
            ];
            let read = |(name, text): (&str, &str)| {
                Level::parse(text).unwrap_or_else(|error| panic!("levels/{name}.toml: {error}"))
            };
            texts.into_iter().map(read).collect()
        });
        LEVELS.clone()
    }
}
