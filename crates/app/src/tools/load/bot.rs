//! One bot: a client, and whoever decides what it holds.

use std::mem;
use std::time::Duration;

use backspin::channel::Delivery;
use backspin::client::{Client, ClientEvent};
use backspin::game::PlayerId;
use backspin::node::{Node, Path, Transmit};
use backspin::session::EndReason;
use backspin::time::Time;
use backspin::typed::Message;
use backspin_udp::Envelope;

use super::tally::Counts;
use crate::games::AppGame;

/// A client that plays by itself.
pub(super) struct Bot<G: AppGame> {
    pub(super) client: Client<G>,
    /// The newest world, and the memory of those before it.
    world: G::World,
    /// The client's latest time, which never goes back.
    told: Time,
    next_thought: Time,
    next_words: Time,
    newest_input: Option<u32>,
    /// What it has sent, beside what its client counts.
    inputs: u64,
    late_inputs: u64,
    counted: Counts,
}

/// What a bot holds changes no more often than this: people are not faster.
const THINK_EVERY: Duration = Duration::from_millis(100);

/// What a bot says may be of no use yet: it says it again.
const SPEAK_EVERY: Duration = Duration::from_secs(2);

/// An input sent later than this after it was due means that this machine is too busy to measure.
const LATE: Duration = Duration::from_millis(2);

impl<G: AppGame> Bot<G> {
    pub(super) fn new(now: Time, client: Client<G>) -> Self {
        Bot {
            world: client.game().restore(client.state()),
            client,
            told: now,
            next_thought: now,
            next_words: now,
            newest_input: None,
            inputs: 0,
            late_inputs: 0,
            counted: Counts::default(),
        }
    }

    /// Takes a datagram, which came at a time that has passed: round trips are the line's, not
    /// this machine's.
    pub(super) fn handle(&mut self, came: Time, envelope: Envelope, bytes: &mut [u8]) {
        let path = Path { local: envelope.local, ..Path::to(envelope.remote) };
        self.told = self.told.max(came);
        self.client.handle_datagram(self.told, path, bytes);
    }

    /// Does what is due.
    pub(super) fn wake(&mut self, now: Time) {
        self.told = self.told.max(now);
        if let Some(due) = self.client.poll_timeout()
            && due <= now
        {
            if self.next_thought <= now
                && let Some(player) = self.client.player().filter(|_| self.client.is_playing())
            {
                self.think(now, player);
            }
            self.client.handle_timeout(now);
            self.count_inputs(now.since(due));
        }
    }

    /// The next datagram that it has to send.
    pub(super) fn speak(&mut self, now: Time, out: &mut [u8]) -> Option<Transmit> {
        self.client.poll_transmit(now, out)
    }

    /// When there is more to do; never, if it is over.
    pub(super) fn due(&self) -> Option<Time> {
        self.client.poll_timeout()
    }

    /// Whether it has come in since this was asked last, and whether it is over.
    pub(super) fn poll_change(&mut self) -> Option<Change> {
        loop {
            match self.client.poll_event()? {
                ClientEvent::Connected(_) | ClientEvent::Resumed(_) => return Some(Change::In),
                ClientEvent::Trying => return Some(Change::Lost),
                ClientEvent::Ended(reason) => return Some(Change::Over(reason)),
                _ => {}
            }
        }
    }

    /// What it has sent and received since this was asked last.
    pub(super) fn count(&mut self) -> Counts {
        let counts = self.counts();
        counts - mem::replace(&mut self.counted, counts)
    }

    fn counts(&self) -> Counts {
        let counts = self.client.counts();
        let arrivals = self.client.arrivals();
        Counts {
            inputs: self.inputs,
            late_inputs: self.late_inputs,
            snapshots: counts.states,
            datagrams_expected: arrivals.map_or(0, |arrivals| arrivals.expected),
            datagrams_received: arrivals.map_or(0, |arrivals| arrivals.received),
            bytes_down: counts.bytes_in,
            bytes_up: counts.bytes_out,
        }
    }

    fn think(&mut self, now: Time, player: PlayerId) {
        self.next_thought = now + THINK_EVERY;
        let game = self.client.game();
        game.restore_into(self.client.state(), &mut self.world);
        if let Some(buttons) = game.bot_input(&self.world, player) {
            self.client.press(buttons);
        }
        if self.next_words <= now
            && let Some(words) = G::again(&self.world, player)
        {
            // What finds no room is said again.
            if let Ok(words) = G::Message::read(&words) {
                let _ = self.client.send(&words, Delivery::Reliable);
            }
            self.next_words = now + SPEAK_EVERY;
        }
    }

    fn count_inputs(&mut self, late: Duration) {
        let newest = self.client.newest_input();
        if newest != self.newest_input {
            self.inputs += 1;
            self.late_inputs += u64::from(late > LATE);
        }
        self.newest_input = newest;
    }
}

/// What became of a bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// It plays.
    In,
    /// It has lost its connection and tries to come back.
    Lost,
    /// It is over.
    Over(EndReason),
}
