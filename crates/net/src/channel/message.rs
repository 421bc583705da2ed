//! How much may be said: the limits of messages, each with its refusal.

use std::fmt;

use crate::wire::native::{MAX_MESSAGE_LEN, MAX_SELECTIVE_LEN};

/// The longest message, in bytes, reliable or not.
pub const MESSAGE_BYTES: usize = MAX_MESSAGE_LEN;

/// How many reliable messages may wait for their acknowledgement, those that have not been sent yet
/// included: 8 a tick for 8 s at 60 Hz, or 60 a second for as long as a dropped player may come back.
pub const QUEUE_MESSAGES: usize = 4_096;

/// How many bytes they may have together.
pub const QUEUE_BYTES: usize = 64 << 10;

/// How many reliable messages may be under way: sent and not acknowledged. So many are held for a peer
/// whose next one is missing.
pub const WINDOW_MESSAGES: usize = MAX_SELECTIVE_LEN * 8;

/// How many bytes they may have together.
pub const WINDOW_BYTES: usize = 32 << 10;

/// How many unreliable messages may be sent to one peer in a tick.
pub const UNRELIABLE_MESSAGES: usize = 16;

/// How many bytes they may have together: four of the longest.
pub const UNRELIABLE_BYTES: usize = 4 * MESSAGE_BYTES;

/// How many datagrams with nothing but messages a server sends to one player in a tick. With those that
/// ride along in snapshots, that is what the game may send in the long run.
pub const MESSAGE_DATAGRAMS: u8 = 6;

/// How a message is to arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Delivery {
    /// Exactly once, and in the order in which it was sent; or the session ends with a reason.
    Reliable,
    /// At most once, in any order: it is sent once, and what the link loses is lost.
    Unreliable,
}

/// Why a message was not taken. `Display` says so in a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SendError {
    /// It has more than [`MESSAGE_BYTES`].
    TooLong,
    /// [`QUEUE_MESSAGES`] reliable messages wait for their acknowledgement.
    QueueMessages,
    /// [`QUEUE_BYTES`] of reliable messages wait for their acknowledgement, or would with this one.
    QueueBytes,
    /// [`UNRELIABLE_MESSAGES`] unreliable messages wait for this tick's datagrams already.
    TickMessages,
    /// [`UNRELIABLE_BYTES`] of unreliable messages wait for this tick's datagrams already, or would
    /// with this one.
    TickBytes,
    /// The rules have sent more in one step than [`STEP_BYTES`](crate::game::STEP_BYTES).
    StepBytes,
    /// The player is in no room.
    NotConnected,
    /// The player watches, and the game hears only who plays.
    Watching,
    /// The server speaks a dialect that has no word for it.
    Dialect,
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SendError::TooLong => write!(f, "A message has at most {MESSAGE_BYTES} bytes."),
            SendError::QueueMessages => write!(
                f,
                "{QUEUE_MESSAGES} messages wait for the other side. Send fewer, or wait until it answers."
            ),
            SendError::QueueBytes => write!(
                f,
                "{QUEUE_BYTES} bytes of messages wait for the other side. Send less, or wait until it \
                 answers."
            ),
            SendError::TickMessages => {
                write!(f, "At most {UNRELIABLE_MESSAGES} unreliable messages leave in one tick.")
            }
            SendError::TickBytes => {
                write!(
                    f,
                    "At most {UNRELIABLE_BYTES} bytes of unreliable messages leave in one tick."
                )
            }
            SendError::StepBytes => {
                write!(f, "A step sends at most {} bytes of messages.", crate::game::STEP_BYTES)
            }
            SendError::Watching => f.write_str("The game hears only who plays, and you watch."),
            SendError::NotConnected => f.write_str("The player is in no room. Join one first."),
            SendError::Dialect => {
                f.write_str("The server speaks an old dialect that has no word for this.")
            }
        }
    }
}

impl std::error::Error for SendError {}
