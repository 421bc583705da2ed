//! A node log: everything that was done to a server, so that it can be replayed.
//!
//! Everything right of the socket is pure. The same server (its seed, its configuration, its rooms) that gets
//! the same
//! datagrams, streams and timeouts at the same times, and is polled in the same places, sends the same bytes.
//! [`Recorded`]
//! is a server that writes this down as it runs; [`Rerun`] makes another one from the log and compares what
//! it sends with
//! what was sent then.
//!
//! A log is made of frames (see [the module above](super)). The first is an [`Origin`]; the others are lines,
//! each a kind
//! and its fields, drawn in `entry.rs`. About once a second there is a checkpoint: a digest of everything
//! sent so far, and
//! one of the rooms.
//!
//! The log contains the server's seed. Anyone who reads it can forge every cookie and ticket of that server,
//! so keep it like
//! a password while the server runs.

mod entry;
mod origin;
mod recorded;
mod rerun;
mod witness;

use std::time::Duration;

pub use origin::{Build, Origin};
pub use recorded::Recorded;
pub use rerun::{Counts, Difference, Differs, LogError, Rerun, Verdict};

use super::frame::{FRAME_LIMIT, Form};

pub(super) const FORM: Form =
    Form { letters: *b"BSNODLOG", version: 2, name: "node log", frame_limit: FRAME_LIMIT };

/// No time in a log lies further from a node's origin than this: ten years.
const LONGEST: Duration = Duration::from_secs(10 * 366 * 24 * 3600);

/// What a node is given to write a datagram into, by every driver.
const BUFFER_LEN: usize = 2048;

/// Rooms in one log, at most.
const ROOM_LIMIT: usize = 4096;

/// Games that are offered in one log, at most.
const OFFER_LIMIT: usize = 16;
