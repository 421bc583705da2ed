//! What arrived: inputs kept until they are acknowledged, and taken once, each for its tick;
//! events that come in order and exactly once.
//!
//! ```text
//! tick      how the numbers of ticks count: they wrap, and 0 is none
//! pending   the client's inputs without acknowledgement, and the alarms that they raise
//! queue     the server's inputs of one player, until their tick runs
//! events    what must arrive, in order and exactly once
//! block     what of the events goes into a datagram that is sent anyway
//! log       what happened to inputs, as a picture
//! line      what happened on the line, in words
//! journal   the lines of whoever wants to read them
//! ```
//!
//! Below lies [`crate::session`], which has judged the datagram; above, the room and the client,
//! who own these and put them into [`crate::wire::native`] packets. None has a clock or chance
//! of its own, and none allocates after it was made.

mod block;
mod events;
mod journal;
mod line;
mod log;
mod pending;
mod queue;
pub mod tick;

pub use block::{BLOCK_ROOM, event_block};
pub use events::{BACKLOG_BYTES, Backlog, Batch, EVENT_BYTES, EVENT_LIMIT, Inbox, Outbox};
pub use journal::Journal;
pub use line::{LineKind, LogLine};
pub use log::{ClientTimeline, Fate, ServerTimeline, TIMELINE_LEN, Timeline};
pub use pending::{
    Alarm, AlarmEvent, CALM_AFTER, HIGH_LATENCY_OVER, LAG_OVER, LOST_OVER, PENDING_LIMIT, Pending,
    PendingCounts, PendingInput,
};
pub use queue::{
    EARLY_LIMIT, InputQueue, InputSource, Newest, REPEAT_LIMIT, Received, Report, Taken,
};
