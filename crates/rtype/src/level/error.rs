//! What is wrong with a level's file, and where.

use thiserror::Error;

use super::Level;

/// What is wrong, and in which line.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("line {line}: {fault}")]
pub struct LevelError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub fault: Fault,
}

/// What is wrong with a level.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Fault {
    /// It is no TOML, or not that of a level: in the reader's own words.
    #[error("{0}")]
    Form(String),
    /// A number that is too small or too large.
    #[error("{field} is {found}; give a number from {least} to {most}")]
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
    #[error("a name has 1 to 24 characters; shorten it or give one")]
    Name,
    /// A level without waves.
    #[error("there are no waves; add a [[wave]]")]
    NoWaves,
    /// More than [`Level::WAVE_LIMIT`].
    #[error("a level has at most {} waves; leave the rest out", Level::WAVE_LIMIT)]
    TooManyWaves,
    /// A wave that comes before the one above it.
    #[error("the wave above comes at {before}; move this one up or give a later at")]
    WaveOrder {
        /// Where the one above comes.
        before: i64,
    },
    /// Part of a formation would be outside of the field.
    #[error("one of the formation would be at y {y}; give a smaller count or spacing")]
    DoesNotFit {
        /// The height that is outside.
        y: i64,
    },
    /// What moves with the ground cannot come from behind.
    #[error("turrets and carriers come from ahead; leave side out or change enemy")]
    NotFromLeft,
    /// A boss without stages, or with more than [`Level::STAGE_LIMIT`].
    #[error("a boss has 1 to {} stages; add or merge [[boss.stage]]", Level::STAGE_LIMIT)]
    Stages,
    /// A first stage that does not begin with all of the health.
    #[error("the first stage must say below = 100")]
    FirstStage,
    /// A stage that does not begin below the one above it.
    #[error("the stage above begins below {before}; this one must be lower")]
    StageOrder {
        /// Where the one above begins.
        before: i64,
    },
}
