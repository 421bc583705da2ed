//! What arrived: inputs kept until they are acknowledged, and taken once, each for its tick;
//! messages that come in order and exactly once, or at most once.
//!
//! ```text
//! tick      how the numbers of ticks count: they wrap, and 0 is none
//! pending   the client's inputs without acknowledgement, and the alarms that they raise
//! queue     the server's inputs of one player, until their tick runs
//! message   how much may be said, and why not more
//! messages  the messages of a session, both ways
//! outbox    own messages that must arrive
//! inbox     the other side's, in order and exactly once
//! loose     messages that may be lost
//! log       what happened to inputs, as a picture
//! line      what happened on the line, in words
//! journal   the lines of whoever wants to read them
//! ```
//!
//! Below lies [`crate::session`], which has judged the datagram; above, the room and the client,
//! who own these and put them into [`crate::wire::native`] packets. None has a clock or chance
//! of its own. Inputs have all their memory from the start; messages have as much as waits.

mod inbox;
mod journal;
mod line;
mod log;
mod loose;
mod message;
mod messages;
mod outbox;
mod pending;
mod queue;
pub mod tick;

pub use journal::Journal;
pub use line::{LineKind, LogLine};
pub use log::{ClientTimeline, Fate, ServerTimeline, TIMELINE_LEN, Timeline};
pub use message::{
    Delivery, MESSAGE_BYTES, MESSAGE_DATAGRAMS, QUEUE_BYTES, QUEUE_MESSAGES, SendError,
    UNRELIABLE_BYTES, UNRELIABLE_MESSAGES, WINDOW_BYTES, WINDOW_MESSAGES,
};
pub use messages::MessageChannel;
pub use pending::{
    Alarm, AlarmEvent, CALM_AFTER, HIGH_LATENCY_OVER, LAG_OVER, LOST_OVER, PENDING_LIMIT, Pending,
    PendingCounts, PendingInput,
};
pub use queue::{
    EARLY_LIMIT, InputQueue, InputSource, Newest, REPEAT_LIMIT, Received, Report, Taken,
};
