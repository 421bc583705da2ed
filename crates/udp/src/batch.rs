//! Datagrams between a socket and its user, many at a time and in reused buffers.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use backspin::node::{Path, Transmit};

use crate::Socket;

/// How sockets are read and written, and how a loop waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// Many datagrams in one system call, local addresses known, waiting to the nanosecond. Where
    /// the system has no such calls this is the same as [`Backend::Portable`].
    Batched,
    /// One datagram per call and no local addresses: what every system can do.
    Portable,
}

/// Datagrams in one system call, at most.
pub(crate) const CALL: usize = 64;

/// Datagrams that are handed over in one go, and gathered to be sent: some calls' worth. Whenever a
/// thread changes between the system's code and ours, the processor has forgotten much of it.
pub(crate) const BATCH: usize = 4 * CALL;

/// Where a datagram came from or goes, and how long it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The peer.
    pub remote: SocketAddr,
    /// The address of this machine that it came to or leaves from; `None` if that is not known, or
    /// if the system may choose.
    pub local: Option<IpAddr>,
    /// Its bytes.
    pub len: usize,
}

/// What has come, until it is handed on.
#[derive(Debug)]
pub struct Inbox {
    slots: Box<[u8]>,
    slot_len: usize,
    pub(crate) envelopes: Vec<Envelope>,
    /// When each came, by the system's clock in nanoseconds, where the system says so.
    pub(crate) stamps: Vec<Option<u64>>,
    /// When they were taken, by the same clock.
    pub(crate) taken: u64,
}

impl Inbox {
    /// Room for datagrams of `slot_len` bytes; one that is longer is cut, so take a byte more than
    /// any that is good.
    ///
    /// # Panics
    /// If `slot_len` is 0.
    pub fn new(slot_len: usize) -> Self {
        assert!(slot_len > 0, "an inbox without room");
        let slots = vec![0; BATCH * slot_len].into_boxed_slice();
        let (envelopes, stamps) = (Vec::with_capacity(BATCH), Vec::with_capacity(BATCH));
        Inbox { slots, slot_len, envelopes, stamps, taken: 0 }
    }

    /// What [`Socket::receive`] put here.
    pub fn datagrams(&mut self) -> impl Iterator<Item = (Envelope, &mut [u8])> {
        let slots = self.slots.chunks_exact_mut(self.slot_len);
        self.envelopes
            .iter()
            .zip(slots)
            .map(|(envelope, slot)| (*envelope, &mut slot[..envelope.len]))
    }

    /// How many those are.
    pub(crate) fn len(&self) -> usize {
        self.envelopes.len()
    }

    /// The bytes of one of them.
    #[inline]
    pub(crate) fn bytes(&self, index: usize) -> Option<&[u8]> {
        let start = index * self.slot_len;
        Some(&self.slots[start..start + self.envelopes.get(index)?.len])
    }

    /// All of them, each with how long before the inbox was filled it came, where the system says so.
    pub fn arrivals(&mut self) -> impl Iterator<Item = (Envelope, Duration, &mut [u8])> {
        let (slots, taken) = (self.slots.chunks_exact_mut(self.slot_len), self.taken);
        let stamps = self.stamps.iter().copied().chain(std::iter::repeat(None));
        let datagrams = self.envelopes.iter().zip(stamps).zip(slots);
        datagrams.map(move |((envelope, stamp), slot)| {
            (*envelope, age(stamp, taken), &mut slot[..envelope.len])
        })
    }

    /// One of them in the same way.
    #[inline]
    pub(crate) fn arrival(&mut self, index: usize) -> Option<(Envelope, Duration, &mut [u8])> {
        let (envelope, start) = (*self.envelopes.get(index)?, index * self.slot_len);
        let stamp = self.stamps.get(index).copied().flatten();
        let bytes = &mut self.slots[start..start + envelope.len];
        Some((envelope, age(stamp, self.taken), bytes))
    }

    /// Whether it may be that more has come than there was room for.
    pub fn is_full(&self) -> bool {
        self.envelopes.len() == BATCH
    }

    pub(crate) fn clear(&mut self) {
        self.envelopes.clear();
        self.stamps.clear();
    }

    /// The slots that are free, how long each is, and the envelopes and stamps of those that are
    /// taken.
    pub(crate) fn parts(
        &mut self,
    ) -> (&mut [u8], usize, &mut Vec<Envelope>, &mut Vec<Option<u64>>) {
        let free = &mut self.slots[self.envelopes.len() * self.slot_len..];
        (free, self.slot_len, &mut self.envelopes, &mut self.stamps)
    }
}

/// How long before `taken` a datagram came; a clock that was set meanwhile says nothing.
fn age(stamp: Option<u64>, taken: u64) -> Duration {
    Duration::from_nanos(stamp.map_or(0, |came| taken.saturating_sub(came)))
}

/// What a node wants sent, until there is enough for a system call.
///
/// Datagrams lie one behind the other, so that many short ones stay near each other.
#[derive(Debug)]
pub struct Outbox {
    bytes: Box<[u8]>,
    used: usize,
    letters: Vec<Letter>,
    /// Datagrams to peers that no socket reaches.
    unreachable: u64,
}

/// One datagram of an outbox.
#[derive(Clone, Copy, Debug)]
struct Letter {
    socket: u8,
    start: usize,
    envelope: Envelope,
}

impl Outbox {
    /// Room for some of the longest datagrams or for many short ones.
    const BYTES: usize = 128 << 10;

    /// What a node may write.
    pub(crate) const SLOT_LEN: usize = 2048;

    /// Nothing to send.
    #[expect(clippy::new_without_default, reason = "an outbox is large: it is asked for by name")]
    pub fn new() -> Self {
        let bytes = vec![0; Outbox::BYTES].into_boxed_slice();
        Outbox { bytes, used: 0, letters: Vec::with_capacity(BATCH), unreachable: 0 }
    }

    /// Where the next datagram may be written, unless it is time to send.
    pub fn slot(&mut self) -> Option<&mut [u8]> {
        let end = self.used + Outbox::SLOT_LEN;
        if self.letters.len() < BATCH { self.bytes.get_mut(self.used..end) } else { None }
    }

    /// Keeps what was written into the slot, unless it is for a peer that no socket reaches: that is
    /// counted, and [`Outbox::send`] says so.
    ///
    /// # Panics
    /// If that is longer than the slot.
    pub fn push(&mut self, Transmit { path, len }: Transmit) {
        assert!(len <= Outbox::SLOT_LEN, "a node wrote more than it was given");
        let Path { socket, local, remote } = path;
        let Some(remote) = remote.socket_addr() else {
            self.unreachable += 1;
            return;
        };
        let envelope = Envelope { remote, local, len };
        self.letters.push(Letter { socket, start: self.used, envelope });
        self.used += len;
    }

    /// Whether there is nothing to send.
    pub fn is_empty(&self) -> bool {
        self.letters.is_empty() && self.unreachable == 0
    }

    /// Whether it makes a whole system call.
    pub(crate) fn is_much(&self) -> bool {
        self.letters.len() >= CALL
    }

    /// Sends all, in as few calls per socket as it takes, and is empty. Each path says which of
    /// `sockets`. Says how many the system did not take or had no socket.
    pub fn send(&mut self, sockets: &[Socket]) -> u64 {
        // The sort does not allocate, and a datagram keeps its place among those of its socket.
        self.letters.sort_unstable_by_key(|letter| (letter.socket, letter.start));
        let mut sent = 0;
        for run in self.letters.chunk_by(|a, b| a.socket == b.socket) {
            if let Some(socket) = sockets.get(usize::from(run[0].socket)) {
                sent += socket.send_all(run.iter().map(|letter| letter.open(&self.bytes)));
            }
        }
        let unsent = (self.letters.len() - sent) as u64 + self.unreachable;
        self.letters.clear();
        (self.used, self.unreachable) = (0, 0);
        unsent
    }
}

impl Letter {
    fn open(self, bytes: &[u8]) -> (Envelope, &[u8]) {
        let Letter { start, envelope, .. } = self;
        (envelope, &bytes[start..start + envelope.len])
    }
}
