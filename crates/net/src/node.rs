//! The verbs of a protocol machine, and where its datagrams come from and go.
//!
//! Whoever drives a node owns the clock and the socket: a real loop, or the simulator (`backspin_sim`).

use std::net::IpAddr;

use crate::peer::PeerAddr;
use crate::time::Time;

/// A protocol machine: datagrams and time go in, datagrams and deadlines come out.
///
/// After every `handle_*`, call [`Node::poll_transmit`] until it returns `None`, then sleep until
/// the next datagram or until [`Node::poll_timeout`], whichever comes first.
pub trait Node {
    /// Takes a datagram. The bytes may be changed: a sealed one is opened in place.
    fn handle_datagram(&mut self, now: Time, path: Path, bytes: &mut [u8]);

    /// The thread that drives the node runs again: what is handed over next is there from `now` on,
    /// however long ago it came. A driver that never says so hands everything over as it comes.
    fn handle_wake(&mut self, now: Time) {
        let _ = now;
    }

    /// Does what was due at `now`, or some of it: then [`Node::poll_timeout`] still says so. Harmless
    /// if nothing was.
    fn handle_timeout(&mut self, now: Time);

    /// Writes the next datagram into `out` and says how long it is and where it goes. `None`
    /// until something else is handled.
    fn poll_transmit(&mut self, now: Time, out: &mut [u8]) -> Option<Transmit>;

    /// When to call [`Node::handle_timeout`] next; `None` is "only after something came in".
    fn poll_timeout(&self) -> Option<Time>;

    /// Names the memory that will be touched by what is about to be handed over or done, so that
    /// whoever drives the node can have it brought near for many at once, instead of waiting for one
    /// after the other. Changes nothing, and need not be asked.
    fn prefetch(&self, coming: Prefetch<'_>, fetch: Fetch) {
        let _ = (coming, fetch);
    }
}

/// What is about to happen. A datagram is foreseen in three steps, each of which finds near what the
/// one before it has named.
#[derive(Clone, Copy, Debug)]
pub enum Prefetch<'a> {
    /// What says whose the datagram is, is wanted.
    Sender(&'a [u8]),
    /// What leads to its sender is wanted, now that it is known who that is.
    Way(&'a [u8]),
    /// What is kept of its sender is wanted.
    Datagram(&'a [u8]),
    /// [`Node::handle_timeout`] comes next, for this time.
    Timeout(Time),
}

/// Brings memory near, from an address on and so many bytes: a hint that may be ignored.
pub type Fetch = fn(*const u8, usize);

/// Has the first `len` bytes of a value fetched.
pub(crate) fn fetch_to<T>(value: &T, len: usize, fetch: Fetch) {
    fetch(std::ptr::from_ref(value).cast(), len.min(size_of::<T>()));
}

/// Has all values of a slice fetched.
pub(crate) fn fetch_all<T>(values: &[T], fetch: Fetch) {
    fetch(values.as_ptr().cast(), size_of_val(values));
}

/// The stream half of a node that has one: `rtype`'s TCP step.
///
/// The same rhythm as [`Node`]: after every `handle_*`, poll until `None`. A node without streams
/// has nothing to write: `impl StreamNode for MyNode {}`.
pub trait StreamNode: Node {
    /// Whether others may open streams to it. Who does not only opens its own.
    fn accepts_streams(&self) -> bool {
        false
    }

    /// Takes what happened to a stream.
    fn handle_stream(&mut self, now: Time, stream: StreamId, event: StreamEvent<'_>) {
        let _ = (now, stream, event);
    }

    /// What to do to a stream next. Bytes to write are put into `out`.
    fn poll_stream(&mut self, now: Time, out: &mut [u8]) -> Option<(StreamId, StreamAction)> {
        let _ = (now, out);
        None
    }
}

impl<T: Node + ?Sized> Node for Box<T> {
    fn handle_datagram(&mut self, now: Time, path: Path, bytes: &mut [u8]) {
        (**self).handle_datagram(now, path, bytes);
    }

    fn handle_wake(&mut self, now: Time) {
        (**self).handle_wake(now);
    }

    fn handle_timeout(&mut self, now: Time) {
        (**self).handle_timeout(now);
    }

    fn poll_transmit(&mut self, now: Time, out: &mut [u8]) -> Option<Transmit> {
        (**self).poll_transmit(now, out)
    }

    fn poll_timeout(&self) -> Option<Time> {
        (**self).poll_timeout()
    }

    fn prefetch(&self, coming: Prefetch<'_>, fetch: Fetch) {
        (**self).prefetch(coming, fetch);
    }
}

impl<T: StreamNode + ?Sized> StreamNode for Box<T> {
    fn accepts_streams(&self) -> bool {
        (**self).accepts_streams()
    }

    fn handle_stream(&mut self, now: Time, stream: StreamId, event: StreamEvent<'_>) {
        (**self).handle_stream(now, stream, event);
    }

    fn poll_stream(&mut self, now: Time, out: &mut [u8]) -> Option<(StreamId, StreamAction)> {
        (**self).poll_stream(now, out)
    }
}

/// Where a datagram came from, or where it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Path {
    /// Which of the driver's sockets.
    pub socket: u8,
    /// The address of this machine that the datagram was sent to, where the driver knows it: the
    /// answer leaves from there.
    pub local: Option<IpAddr>,
    /// The peer.
    pub remote: PeerAddr,
}

impl Path {
    /// A path over the driver's first socket.
    pub fn to(remote: impl Into<PeerAddr>) -> Self {
        Path { socket: 0, local: None, remote: remote.into() }
    }
}

/// A datagram to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// Where to.
    pub path: Path,
    /// How many bytes of the buffer.
    pub len: usize,
}

/// The number of a stream, for one node: its peer knows the same stream by another.
///
/// A node chooses the numbers of those that it opens, below [`StreamId::FIRST_ACCEPTED`]; the
/// driver numbers those that others open to it, from there on. No number is used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StreamId(pub u64);

impl StreamId {
    /// The least number of a stream that was opened by the peer.
    pub const FIRST_ACCEPTED: StreamId = StreamId(1 << 63);
}

/// What happened to a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamEvent<'a> {
    /// It stands, with this peer. The first that a node hears of a stream it did not open.
    Opened(PeerAddr),
    /// It could not be opened, or broke. The last that is heard of it.
    Failed,
    /// These bytes came: any piece of what was sent, in order.
    Received(&'a [u8]),
    /// The peer closed it, both ways. The last that is heard of it.
    Closed,
}

/// What to do to a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamAction {
    /// Open it to this peer.
    Open(PeerAddr),
    /// Write so many bytes of the buffer. Only once it stands; they are lost if it just ended.
    Send(usize),
    /// Close it, both ways: what was sent still arrives, nothing more is heard of it.
    Close,
}
