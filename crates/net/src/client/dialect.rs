//! What another dialect than `native` is to a client.

use std::fmt;

use super::{ClientCore, Frame};
use crate::game::Game;
use crate::node::{StreamAction, StreamEvent, StreamId};
use crate::replication::State;
use crate::session::{EndReason, PingCounts, RoundTrip};
use crate::time::Time;
use crate::timing::Delay;
use crate::wire::Full;

/// A dialect other than `native`, as a client speaks it: [`Client::speaking`](super::Client::speaking).
///
/// The client asks again while nobody answers, drops what others send, and keeps what all dialects
/// share, in [`ClientCore`]. The dialect reads and writes the packets, and keeps what is drawn.
pub trait ClientDialect<G: Game>: fmt::Debug + Send + Sync {
    /// What it is called.
    fn name(&self) -> &'static str;

    /// A copy, for [`Client`](super::Client)'s clone.
    fn clone_box(&self) -> Box<dyn ClientDialect<G>>;

    /// Begins at `now`. The client asks already; a dialect that begins on a stream sets
    /// [`Phase::Dialing`](super::Phase::Dialing).
    fn start(&mut self, _core: &mut ClientCore, _now: Time) {}

    // --- what comes in -----------------------------------------------------------------------

    /// A datagram from the server; none comes after the end.
    fn handle(&mut self, core: &mut ClientCore, now: Time, bytes: &[u8]);

    /// Whether these bytes, from a stranger, would have let us in: for the log.
    fn is_acceptance(&self, bytes: &[u8]) -> bool;

    /// Something happened to a stream of ours.
    fn handle_stream(
        &mut self,
        _core: &mut ClientCore,
        _now: Time,
        _stream: StreamId,
        _event: StreamEvent<'_>,
    ) {
    }

    /// Time passes in a room: [`ClientDialect::poll_timeout`] is over.
    fn handle_timeout(&mut self, core: &mut ClientCore, now: Time);

    /// When that is due next.
    fn poll_timeout(&self) -> Time;

    /// Our thread was woken now.
    fn handle_wake(&mut self, now: Time);

    // --- what goes out -----------------------------------------------------------------------

    /// The next datagram of those that are due.
    fn speak(
        &mut self,
        core: &mut ClientCore,
        now: Time,
        out: &mut [u8],
    ) -> Option<Result<usize, Full>>;

    /// What to do with streams.
    fn poll_stream(
        &mut self,
        _core: &mut ClientCore,
        _out: &mut [u8],
    ) -> Option<(StreamId, StreamAction)> {
        None
    }

    /// Asks the server for what a game's message says; `false` if the dialect has no word for it.
    fn send(&mut self, _message: &[u8]) -> bool {
        false
    }

    // --- what is known -----------------------------------------------------------------------

    /// Whether the server has said anything before it let us in.
    fn has_answer(&self) -> bool {
        false
    }

    /// Why it is over when nobody has answered.
    fn no_answer(&self, core: &ClientCore) -> EndReason {
        EndReason::NoAnswer { address: core.config.server }
    }

    /// The share that was lost of late, where anything says so.
    fn loss(&self) -> Option<f64> {
        None
    }

    /// The round trip, where it is measured.
    fn round_trip(&self) -> Option<&RoundTrip> {
        None
    }

    /// Our own pings, where there are any.
    fn pings(&self) -> Option<&PingCounts> {
        None
    }

    /// The newest that the server said of the world.
    fn state(&self) -> &State;

    /// How far behind others are drawn, and why.
    fn delay(&self) -> Delay;

    /// The number of the newest input, and where the own entity is after it.
    fn predicted(&self) -> Option<(u32, [f32; 2])>;

    /// What is on the screen at `now`: fills an empty frame.
    fn draw(&mut self, now: Time, frame: &mut Frame);

    /// Whether nothing has come yet of the time at which others are drawn now.
    fn is_starved(&self, now: Time) -> bool;
}

impl<G: Game> Clone for Box<dyn ClientDialect<G>> {
    fn clone(&self) -> Self {
        self.clone_box()
    }
}
