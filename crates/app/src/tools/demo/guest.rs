//! The guest: a client behind the link, with an observer that misses no event.

use backspin::client::{Client, ClientCounts};
use backspin::game::Buttons;
use backspin::node::{Node, Path, StreamNode, Transmit};
use backspin::time::Time;
use backspin_pong::Pong;
use backspin_sim::{Observer, Seen, Truth, Umpire};

/// A client whose events are all seen, whatever thread drives it.
#[derive(Debug)]
pub(super) struct Guest {
    pub(super) client: Client<Pong>,
    pub(super) observer: Observer,
    /// What had come and gone when it began to be measured.
    before: ClientCounts,
    held: Buttons,
    presses: u64,
}

impl Guest {
    pub(super) fn new(client: Client<Pong>) -> Self {
        Guest {
            client,
            observer: Observer::default(),
            before: ClientCounts::default(),
            held: Buttons::default(),
            presses: 0,
        }
    }

    /// From now on it is measured.
    pub(super) fn begin(&mut self, now: Time) {
        self.observer = Observer::default();
        self.observer.begin(now, &self.client, self.presses);
        self.before = *self.client.counts();
    }

    /// Draws a frame and looks at it.
    pub(super) fn look(&mut self, truth: Truth) {
        self.observer.look(&mut self.client, truth.now, truth);
    }

    /// What was seen until now, compared with what the umpire saw.
    pub(super) fn end(&mut self, now: Time, umpire: &Umpire) -> Seen {
        self.observer.end(now, self.client.game(), umpire)
    }

    /// What the player holds from now on.
    pub(super) fn press(&mut self, now: Time, buttons: Buttons) {
        if buttons != self.held {
            self.held = buttons;
            self.presses += 1;
            self.client.press(buttons);
            self.notice(now);
        }
    }

    /// The bytes that came and went since it is measured.
    pub(super) fn traffic(&self) -> (u64, u64) {
        let counts = self.client.counts();
        (counts.bytes_in - self.before.bytes_in, counts.bytes_out - self.before.bytes_out)
    }

    fn notice(&mut self, now: Time) {
        self.observer.after_event(now, &self.client, self.presses);
    }
}

impl Node for Guest {
    fn handle_datagram(&mut self, now: Time, path: Path, bytes: &mut [u8]) {
        self.client.handle_datagram(now, path, bytes);
        self.notice(now);
    }

    fn handle_wake(&mut self, now: Time) {
        self.client.handle_wake(now);
    }

    fn handle_timeout(&mut self, now: Time) {
        self.client.handle_timeout(now);
        self.notice(now);
    }

    fn poll_transmit(&mut self, now: Time, out: &mut [u8]) -> Option<Transmit> {
        self.client.poll_transmit(now, out)
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.client.poll_timeout()
    }
}

/// It speaks `native`, which has no streams.
impl StreamNode for Guest {}
