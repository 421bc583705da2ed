//! Recording: what happened to a node, and what happened in a match.
//!
//! ```text
//! log     -> everything that was done to a server; replays to the same digest
//! replay  -> the states of one room, tick by tick; shown later, with seeking
//! frame   -> the frames of both: lengths and checksums
//! field   -> numbers, addresses, names
//! ```
//!
//! Nothing here opens a file: writers append to a `Vec<u8>` that the caller writes out, readers are handed
//! bytes. Those
//! bytes are untrusted. A file that was cut short or damaged is refused with a [`Damage`] that says where;
//! everything before
//! the damage can still be read.

mod field;
mod frame;
pub mod log;
pub mod replay;

use frame::{Form, Framer, Frames};

pub use frame::{Damage, FRAME_LIMIT, FramePlace};
pub use log::{Recorded, Rerun};
pub use replay::{Replay, ReplayWriter};

/// What a file is, by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A [`log`].
    NodeLog,
    /// A [`replay`].
    Replay,
}

impl FileKind {
    /// What begins with `bytes`, of which eight are enough; `None` if it is neither.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        match bytes {
            _ if log::FORM.is_begun_by(bytes) => Some(FileKind::NodeLog),
            _ if replay::FORM.is_begun_by(bytes) => Some(FileKind::Replay),
            _ => None,
        }
    }

    /// A file of these frames, with right checksums whatever is in them: for tests that look behind
    /// the checksums.
    #[doc(hidden)]
    pub fn seal<'a>(self, bodies: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
        let (mut framer, mut out) = (Framer::new(self.form()), Vec::new());
        for body in bodies {
            framer.body.extend_from_slice(body);
            framer.seal();
        }
        framer.take(&mut out);
        out
    }

    /// The frames of a file, as far as it is good.
    #[doc(hidden)]
    pub fn unseal(self, bytes: &[u8]) -> Vec<&[u8]> {
        let (mut frames, mut rest, mut bodies) = (Frames::new(self.form()), bytes, Vec::new());
        while let Ok(Some(frame)) = frames.next(rest) {
            bodies.push(frame.body);
            rest = &rest[frame.used..];
        }
        bodies
    }

    fn form(self) -> Form {
        match self {
            FileKind::NodeLog => log::FORM,
            FileKind::Replay => replay::FORM,
        }
    }
}

#[cfg(test)]
mod tests;
