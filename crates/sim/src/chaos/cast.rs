//! Who takes part in a chaos run: the server in its [`Gate`], guests that press and talk, visitors
//! who mean no good, and hosts on which nothing runs at the moment.

use std::time::Duration;

use super::gate::Gate;
use super::letters;
use super::play::Talk;
use super::probe::Probe;
use super::visitor::Visitor;
use crate::Chance;
use backspin::channel::Delivery;
use backspin::client::Client;
use backspin::game::Buttons;
use backspin::node::{Node, Path, StreamAction, StreamEvent, StreamId, StreamNode, Transmit};
use backspin::time::Time;
use backspin::typed::RawMessage;
use backspin::wire::native::{Datagram, MAX_DATAGRAM_LEN, Packet};

/// What runs on a host.
#[derive(Debug)]
pub(super) enum Actor {
    /// The server, and what it sent to whom.
    Server(Box<Gate>),
    /// Someone who plays or watches.
    Guest(Box<Guest>),
    /// Someone who comes for something else.
    Visitor(Box<Visitor>),
    /// Nothing: datagrams come in vain.
    Nobody,
}

/// A client whose buttons are pressed by chance, and that says numbered words.
#[derive(Debug)]
pub(super) struct Guest {
    pub(super) client: Client<Probe>,
    pub(super) life: u32,
    pub(super) mood: Mood,
    /// How many words the client took that must arrive.
    pub(super) words: u32,
    /// How many it took that may be lost.
    pub(super) loose_words: u32,
    talk: Talk,
    /// Whether it says of its screen whatever it likes.
    lies: bool,
    /// The newest datagram with inputs, for whoever listens in.
    pub(super) overheard: Vec<u8>,
    chance: Chance,
    next_press: Time,
    next_word: Time,
}

/// How a guest behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mood {
    /// Presses and talks.
    Lively,
    /// Its process is stopped: it does nothing, and what comes is lost.
    Asleep,
    /// Lets go of everything and says no more.
    Calm,
}

/// One in so many lies about what is on the screen.
const LIARS: u64 = 3;

/// Buttons are held for at least and at most so long.
const HOLD_MS: (u64, u64) = (15, 120);

/// Between two words it is quiet for at least and at most so long.
const QUIET_MS: (u64, u64) = (60, 500);

/// Where much is said, one word in so many is followed by as many more as the client takes.
const RANTS: u64 = 24;

/// And one in so many may be lost.
const LOOSE: u64 = 3;

/// The type of an Input, in the header.
const INPUT_TYPE: u8 = 0x10;

impl Guest {
    pub(super) fn new(
        now: Time,
        client: Client<Probe>,
        life: u32,
        talk: Talk,
        mut chance: Chance,
    ) -> Self {
        let lies = chance.below(LIARS) == 0;
        Guest {
            lies,
            client,
            life,
            mood: Mood::Lively,
            words: 0,
            loose_words: 0,
            talk,
            overheard: Vec::new(),
            chance,
            next_press: now,
            next_word: now,
        }
    }

    /// Lets go of everything, for good.
    pub(super) fn calm_down(&mut self) {
        self.mood = Mood::Calm;
        self.client.press(Buttons::default());
    }

    /// Its process goes on.
    pub(super) fn wake(&mut self) {
        if self.mood == Mood::Asleep {
            self.mood = Mood::Lively;
        }
    }

    fn act(&mut self, now: Time) {
        if self.mood != Mood::Lively {
            return;
        }
        if self.next_press <= now {
            self.client.press(Buttons(self.chance.below(64) as u16));
            self.next_press = now + self.span(HOLD_MS);
        }
        if self.next_word <= now {
            let is_loose = self.chance.below(LOOSE) == 0;
            let delivery = if is_loose { Delivery::Unreliable } else { Delivery::Reliable };
            self.say(delivery);
            if self.talk == Talk::Much && self.chance.below(RANTS) == 0 {
                while self.say(delivery) {}
            }
            self.next_word = now + self.span(QUIET_MS);
        }
    }

    /// Says in an input that another time was on the screen, or none: to be judged where no shot is.
    fn lie(&mut self, out: &mut [u8], len: usize) -> usize {
        let mut said = [0; MAX_DATAGRAM_LEN];
        let Some(said) = said.get_mut(..len) else { return len };
        said.copy_from_slice(&out[..len]);
        let Ok(mut datagram) = Datagram::decode(said) else { return len };
        let Packet::Input(input) = &mut datagram.packet else { return len };
        let is_told = self.chance.below(4) != 0;
        input.drawn_back = is_told.then(|| self.chance.below(40 * 256) as u16);
        datagram.encode(out).unwrap_or(len)
    }

    /// Says the next word. A client that is not in yet, or has too much waiting, does not take it.
    fn say(&mut self, delivery: Delivery) -> bool {
        let said = match delivery {
            Delivery::Reliable => &mut self.words,
            Delivery::Unreliable => &mut self.loose_words,
        };
        let word = letters::word(self.life, *said, delivery);
        let is_taken =
            self.client.is_playing() && self.client.send(&RawMessage(word), delivery).is_ok();
        *said += u32::from(is_taken);
        is_taken
    }

    fn span(&mut self, (least, most): (u64, u64)) -> Duration {
        Duration::from_millis(least + self.chance.below(most - least))
    }
}

impl Node for Actor {
    fn handle_datagram(&mut self, now: Time, path: Path, bytes: &mut [u8]) {
        match self {
            Actor::Server(gate) => gate.handle_datagram(now, path, bytes),
            Actor::Guest(guest) if guest.mood != Mood::Asleep => {
                guest.client.handle_datagram(now, path, bytes);
            }
            Actor::Visitor(visitor) => visitor.handle_datagram(now, path, bytes),
            Actor::Guest(_) | Actor::Nobody => {}
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        match self {
            Actor::Server(gate) => gate.handle_timeout(now),
            Actor::Guest(guest) => {
                if guest.mood != Mood::Asleep {
                    guest.act(now);
                    guest.client.handle_timeout(now);
                }
            }
            Actor::Visitor(_) | Actor::Nobody => {}
        }
    }

    fn poll_transmit(&mut self, now: Time, out: &mut [u8]) -> Option<Transmit> {
        match self {
            Actor::Server(gate) => gate.poll_transmit(now, out),
            Actor::Guest(guest) if guest.mood != Mood::Asleep => {
                let mut transmit = guest.client.poll_transmit(now, out)?;
                if guest.lies {
                    transmit.len = guest.lie(out, transmit.len);
                }
                let bytes = &out[..transmit.len];
                if bytes.get(1) == Some(&INPUT_TYPE) {
                    guest.overheard.clear();
                    guest.overheard.extend_from_slice(bytes);
                }
                Some(transmit)
            }
            Actor::Visitor(visitor) => visitor.poll_transmit(now, out),
            Actor::Guest(_) | Actor::Nobody => None,
        }
    }

    fn poll_timeout(&self) -> Option<Time> {
        match self {
            Actor::Server(gate) => gate.poll_timeout(),
            Actor::Guest(guest) => {
                let due = guest.client.poll_timeout()?;
                match guest.mood {
                    Mood::Lively => Some(due.min(guest.next_press).min(guest.next_word)),
                    Mood::Asleep => None,
                    Mood::Calm => Some(due),
                }
            }
            Actor::Visitor(visitor) => visitor.poll_timeout(),
            Actor::Nobody => None,
        }
    }
}

impl StreamNode for Actor {
    fn accepts_streams(&self) -> bool {
        matches!(self, Actor::Server(gate) if gate.server.accepts_streams())
    }

    fn handle_stream(&mut self, now: Time, stream: StreamId, event: StreamEvent<'_>) {
        match self {
            Actor::Server(gate) => gate.handle_stream(now, stream, event),
            Actor::Guest(guest) => guest.client.handle_stream(now, stream, event),
            Actor::Visitor(visitor) => visitor.handle_stream(now, stream, event),
            Actor::Nobody => {}
        }
    }

    fn poll_stream(&mut self, now: Time, out: &mut [u8]) -> Option<(StreamId, StreamAction)> {
        match self {
            Actor::Server(gate) => gate.poll_stream(now, out),
            Actor::Guest(guest) => guest.client.poll_stream(now, out),
            Actor::Visitor(visitor) => visitor.poll_stream(out),
            Actor::Nobody => None,
        }
    }
}
