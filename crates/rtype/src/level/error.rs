//! What is wrong with a level's file, and where.

use std::fmt;

use super::Level;

/// What is wrong, and in which line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LevelError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub fault: Fault,
}

/// What is wrong with a level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is no TOML, or not that of a level: in the reader's own words.
    Form(String),
    /// A number that is too small or too large.
    OutOfRange {
        /// Which.
        field: &'static str,
        /// What was found.
        found: i64,
        /// The least it may be.
        least: i64,
        /// The most.
        most: i64,
    },
    /// A name that is empty or longer than 24 characters.
    Name,
    /// A level without waves.
    NoWaves,
    /// More than [`Level::WAVE_LIMIT`].
    TooManyWaves,
    /// A wave that comes before the one above it.
    WaveOrder {
        /// Where the one above comes.
        before: i64,
    },
    /// Part of a formation would be outside of the field.
    DoesNotFit {
        /// The height that is outside.
        y: i64,
    },
    /// What moves with the ground cannot come from behind.
    NotFromLeft,
    /// A boss without stages, or with more than [`Level::STAGE_LIMIT`].
    Stages,
    /// A first stage that does not begin with all of the health.
    FirstStage,
    /// A stage that does not begin below the one above it.
    StageOrder {
        /// Where the one above begins.
        before: i64,
    },
}

impl fmt::Display for LevelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.fault)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Form(words) => f.write_str(words),
            Fault::OutOfRange { field, found, least, most } => {
                write!(f, "{field} is {found}; give a number from {least} to {most}")
            }
            Fault::Name => write!(f, "a name has 1 to 24 characters; shorten it or give one"),
            Fault::NoWaves => write!(f, "there are no waves; add a [[wave]]"),
            Fault::TooManyWaves => {
                write!(f, "a level has at most {} waves; leave the rest out", Level::WAVE_LIMIT)
            }
            Fault::WaveOrder { before } => {
                write!(f, "the wave above comes at {before}; move this one up or give a later at")
            }
            Fault::DoesNotFit { y } => {
                write!(f, "one of the formation would be at y {y}; give a smaller count or spacing")
            }
            Fault::NotFromLeft => {
                write!(f, "turrets and carriers come from ahead; leave side out or change enemy")
            }
            Fault::Stages => {
                write!(
                    f,
                    "a boss has 1 to {} stages; add or merge [[boss.stage]]",
                    Level::STAGE_LIMIT
                )
            }
            Fault::FirstStage => write!(f, "the first stage must say below = 100"),
            Fault::StageOrder { before } => {
                write!(f, "the stage above begins below {before}; this one must be lower")
            }
        }
    }
}

impl std::error::Error for LevelError {}
