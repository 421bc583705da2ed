//! What every dialect of a client shares: how far it has come, what is to be sent, who is in the
//! room, and what the screen is told.

use std::collections::VecDeque;

use super::{ClientConfig, ClientCounts, ClientEvent, RosterLine};
use crate::channel::{Journal, LogLine};
use crate::game::{Buttons, PlayerId};
use crate::session::{
    EndReason, LifeEvent, Liveness, Pinger, Question, Retry, RetryPolicy, RoundTrip, Verdict,
};
use crate::time::Time;
use crate::typed::RawInput;
use crate::wire::Malformed;

/// Events that nobody has read yet; older ones make room.
const EVENT_LIMIT: usize = 256;

/// A goodbye may be lost, and nobody answers it.
const GOODBYES: u8 = 3;

/// How far a client has come.
#[derive(Clone, Debug)]
pub enum Phase {
    /// Asking, again and again: a Hello, a Join, a Resume, whatever the dialect needs next.
    Asking(Retry),
    /// The dialect begins on a stream, and must be done with it by then.
    Dialing {
        /// When the client gives up.
        until: Time,
    },
    /// In the room.
    Playing,
    /// Over.
    Ended(EndReason),
}

/// What is to be sent. The dialect takes what it sends, and what it has no packet for.
#[derive(Clone, Debug, Default)]
pub struct Due {
    /// Copies of the question of [`Phase::Asking`].
    pub questions: u8,
    /// An input.
    pub input: bool,
    /// A ping of our own.
    pub ping: bool,
    /// Answers to the server's pings, the latest of them: its number and its time.
    pub pong: Option<(u32, u32)>,
    /// A datagram of messages alone: those that had no room beside the input.
    pub messages: bool,
    /// Copies of the last word.
    pub goodbyes: u8,
}

/// What every dialect of a client shares.
#[derive(Clone, Debug)]
pub struct ClientCore {
    /// What the player decided before joining.
    pub config: ClientConfig,
    /// How far the client has come.
    pub phase: Phase,
    /// Who we are, from the first acceptance on.
    pub player: Option<PlayerId>,
    /// What the player holds.
    pub input: RawInput,
    /// What is to be sent.
    pub due: Due,
    /// Who is in the room.
    pub roster: Vec<RosterLine>,
    /// The lines of the log.
    pub journal: Journal,
    /// What came and what was dropped.
    pub counts: ClientCounts,
    events: VecDeque<ClientEvent>,
    /// How many of them are messages, which nobody may miss.
    messages: usize,
}

impl ClientCore {
    pub(super) fn new(now: Time, config: ClientConfig) -> Self {
        ClientCore {
            journal: Journal::new(config.journal),
            config,
            phase: Phase::Asking(Retry::new(now, RetryPolicy::HELLO)),
            player: None,
            input: RawInput::default(),
            due: Due::default(),
            roster: Vec::new(),
            counts: ClientCounts::default(),
            events: VecDeque::new(),
            messages: 0,
        }
    }

    /// The buttons of a dialect that knows nothing else.
    pub fn buttons(&self) -> Buttons {
        self.input.read()
    }

    /// Whether a question is out.
    pub fn is_asking(&self) -> bool {
        matches!(self.phase, Phase::Asking(_))
    }

    /// Whether the player is in a room.
    pub fn is_playing(&self) -> bool {
        matches!(self.phase, Phase::Playing)
    }

    /// Why it is over, if it is.
    pub fn ended(&self) -> Option<&EndReason> {
        match &self.phase {
            Phase::Ended(reason) => Some(reason),
            _ => None,
        }
    }

    /// Asks from now on, for as long as anyone does who is new.
    pub fn ask(&mut self, now: Time) {
        self.phase = Phase::Asking(Retry::new(now, RetryPolicy::HELLO));
    }

    /// The server has taken us as `player`.
    pub fn enter(&mut self, player: PlayerId) {
        let event = match self.player.replace(player) {
            None => ClientEvent::Connected(player),
            Some(_) => ClientEvent::Resumed(player),
        };
        self.phase = Phase::Playing;
        self.due = Due { input: true, ..Due::default() };
        self.note(event);
    }

    /// It is over; only the first reason counts.
    pub fn end(&mut self, reason: EndReason) {
        if self.ended().is_none() {
            self.note(ClientEvent::Ended(reason));
            self.phase = Phase::Ended(reason);
            self.due = Due { goodbyes: self.due.goodbyes, ..Due::default() };
        }
    }

    pub(super) fn leave(&mut self) {
        if self.is_playing() {
            self.due = Due { goodbyes: GOODBYES, ..Due::default() };
        }
        self.end(EndReason::Left);
    }

    /// Tells the screen, and nothing more after the end. Where nobody listens, the oldest makes room that is
    /// not a message.
    pub fn note(&mut self, event: ClientEvent) {
        if self.ended().is_some() {
            return;
        }
        if self.events.len() == EVENT_LIMIT
            && let Some(oldest) = self.events.iter().position(|event| !event.is_message())
        {
            self.events.remove(oldest);
        }
        self.messages += usize::from(event.is_message());
        self.events.push_back(event);
    }

    /// Whether there is room for one more message: they have at most half of it, and else wait in the
    /// session.
    pub(super) fn takes_messages(&self) -> bool {
        self.messages < EVENT_LIMIT / 2
    }

    pub(super) fn poll_event(&mut self) -> Option<ClientEvent> {
        let event = self.events.pop_front()?;
        self.messages -= usize::from(event.is_message());
        Some(event)
    }

    /// Something good came from the server.
    pub fn heard(&mut self, now: Time, liveness: &mut Liveness) {
        if liveness.heard(now).is_some() && self.is_playing() {
            self.note(ClientEvent::Heard);
        }
    }

    /// Whether the server has become silent, or has been for too long; the screen is told the
    /// former.
    pub fn poll_silence(&mut self, now: Time, liveness: &mut Liveness) -> Option<LifeEvent> {
        let event = liveness.handle_timeout(now);
        if event == Some(LifeEvent::Warn) {
            self.note(ClientEvent::Quiet);
        }
        event
    }

    /// Gives up pings that nobody answered, and sends one when it is time.
    pub fn poll_ping(&mut self, now: Time, pinger: &mut Pinger) {
        pinger.expire(now);
        if pinger.due() <= now {
            self.due.ping = true;
        }
    }

    /// What an answer to a ping of ours is worth.
    pub fn handle_answer(
        &mut self,
        now: Time,
        answer: Question,
        (pinger, round_trip): (&mut Pinger, &mut RoundTrip),
    ) -> Verdict {
        let verdict = pinger.handle_answer(now, answer);
        match verdict {
            Verdict::Sample(rtt) => {
                round_trip.sample(rtt);
            }
            _ => self.counts.stray += 1,
        }
        verdict
    }

    /// The server has no reason to send this packet.
    pub fn drop_stray(&mut self, name: &'static str) {
        self.counts.stray += 1;
        self.journal.note(LogLine::WrongType { from: self.config.server, name });
    }

    /// The server's bytes are no packet.
    pub fn drop_malformed(&mut self, len: usize, error: Malformed) {
        self.counts.malformed += 1;
        self.journal.note(LogLine::Malformed { from: self.config.server, len, error });
    }
}
