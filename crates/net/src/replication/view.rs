//! A world that is each player's own: what one may see of it, written into as many datagrams as the
//! player's byte budget allows. PROTOCOL.md 5.12 specifies the body bit by bit.
//!
//! A [delta](super::delta) is the same for everyone and all or nothing. This is for what is too large
//! for that, or not for everyone's eyes. Each datagram stands alone and is acknowledged by itself; each
//! entity is written against the newest value of it that this client is known to have.
//!
//! ```text
//! game -> View (who sees what) -> ClientView (what it has) -> body        server
//!                                  KnownWorld -> State     <- body        client
//! ```
//!
//! An entity is named by a slot, which is the client's own: what a player may not see is not in the
//! datagrams, not even as a gap between numbers. An entity that is where its velocity carries it
//! from what the client has is not sent at all, however old that is.

mod body;
mod client_view;
mod known_world;

pub use client_view::{ClientView, Snapshot, ViewCounts};
pub use known_world::{KnownWorld, ViewError, ViewPart};

use crate::game::PlayerId;

/// An older value is not written against: it costs more than the whole, and a client need not keep it.
pub const MAX_BASE_TICKS: u32 = 128;

/// Who looks at the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Viewer {
    /// Someone who plays.
    Player(PlayerId),
    /// Someone who watches.
    Watcher,
}

/// What a viewer may see, as the game says it in [`Game::visible`](crate::game::Game::visible).
#[derive(Clone, Debug, Default)]
pub struct View {
    everything: bool,
    /// By id, once [`View::finish`] was called.
    shown: Vec<Shown>,
}

/// One entity that a viewer may see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) id: u32,
    pub(crate) priority: u8,
}

impl View {
    /// The priority of what has none of its own.
    pub const PLAIN: u8 = 16;

    /// All that there is, all of it as important.
    pub fn everything(&mut self) {
        self.everything = true;
    }

    /// The entity with this id. Where there is more to send than the player's byte budget allows, what
    /// has twice the priority is sent twice as often. What the player itself steers or predicts need not
    /// be told apart: it is in every snapshot.
    pub fn show(&mut self, id: u32, priority: u8) {
        self.shown.push(Shown { id, priority: priority.max(1) });
    }

    /// Begins again with nothing; the memory is kept.
    pub fn clear(&mut self) {
        self.everything = false;
        self.shown.clear();
    }

    /// Sorts what was shown, once the game has said all of it. An id that was shown twice counts with its
    /// higher priority.
    pub fn finish(&mut self) {
        let by_id = |shown: &Shown| (shown.id, u8::MAX - shown.priority);
        if !self.shown.is_sorted_by_key(by_id) {
            self.shown.sort_unstable_by_key(by_id);
        }
        self.shown.dedup_by_key(|shown| shown.id);
    }

    /// Whether it is all that there is.
    pub fn is_everything(&self) -> bool {
        self.everything
    }

    /// Whether the entity was shown by its id; asked after [`View::finish`].
    pub fn shows(&self, id: u32) -> bool {
        self.shown.binary_search_by_key(&id, |shown| shown.id).is_ok()
    }

    pub(crate) fn shown(&self) -> &[Shown] {
        &self.shown
    }
}

#[cfg(test)]
mod tests;
