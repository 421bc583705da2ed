//! Collects the bots' datagrams until there are enough for a system call.

use backspin::node::{Path, Transmit};
use backspin_udp::Outbox;

use super::source::{Exit, Source};

/// Takes what bots say and sends it, of many at once where they share a socket.
pub(super) struct SendQueue {
    pub(super) source: Source,
    outbox: Outbox,
}

impl SendQueue {
    pub(super) fn new(source: Source) -> Self {
        SendQueue { source, outbox: Outbox::new() }
    }

    /// Takes what `speak` writes, the words of the bot at `place`, until it has no more.
    pub(super) fn take(
        &mut self,
        place: usize,
        mut speak: impl FnMut(&mut [u8]) -> Option<Transmit>,
    ) {
        let Exit { socket, local } = self.source.exit(place);
        loop {
            let Some(slot) = self.outbox.slot() else {
                self.send(place);
                continue;
            };
            let Some(transmit) = speak(slot) else { break };
            let path = Path { socket, local, ..transmit.path };
            self.outbox.push(Transmit { path, ..transmit });
        }
        if !self.source.is_shared() {
            self.send(place);
        }
    }

    /// Sends what was taken.
    pub(super) fn flush(&mut self) {
        self.send(0);
    }

    fn send(&mut self, place: usize) {
        if !self.outbox.is_empty() {
            // What the system does not take is lost, as on the way.
            self.outbox.send(self.source.sockets(place));
        }
    }
}
