//! One `native` session, the same type at both ends: whose datagrams are taken, what they are
//! numbered, what has to arrive and has not yet, how far the peer is and whether it is there.
//!
//! A member of a room owns one, and so does a client. Everything that is said in a session leaves
//! through [`Session::encode`]; everything that comes in is judged by [`Session::open`] before it is
//! believed. When a player goes to another room, the session goes along.

use std::mem::offset_of;
use std::time::Duration;

use super::{Arrival, ArrivalCounts, LifeEvent, Limits, Liveness, Pinger, ReplayWindow, RoundTrip};
use crate::channel::MessageChannel;
use crate::sabotage::{self, Sabotage};
use crate::time::Time;
use crate::timing::LossMeter;
use crate::wire::native::{Budget, Datagram, Packet, Secret, SessionIndex};
use crate::wire::{Full, Malformed};

/// A reliable message is sent again a round trip and this after it was sent.
pub const RESEND_SLACK: Duration = Duration::from_millis(50);

/// How often the round trip is measured.
const PING_EVERY: Duration = Duration::from_secs(1);

/// What both sides agreed on when the session began.
#[derive(Clone, Copy, Debug)]
pub struct Opening {
    /// Which of the server's sessions.
    pub index: SessionIndex,
    /// Of the question that led here: its answer is known by it.
    pub nonce: u64,
    /// Brings the player back.
    pub ticket: Secret,
    /// The longest datagram.
    pub budget: Budget,
    /// The number of our next datagram.
    pub next: u32,
    /// The number of the peer's datagram that began it.
    pub peer: u32,
}

/// One peer. What every datagram touches comes first: see the rooms' members.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Session {
    index: SessionIndex,
    pub(crate) outgoing: Outgoing,
    /// The share of the peer's datagrams that is lost: in 255ths, as it is told.
    lost_share: u8,
    pub(crate) liveness: Liveness,
    pub(crate) messages: MessageChannel,
    window: ReplayWindow,
    lost: LossMeter,
    pub(crate) nonce: u64,
    ticket: Secret,
    /// Apart, since they are needed once a second.
    measures: Box<Measures>,
}

/// Numbers what goes out.
#[derive(Clone, Debug)]
pub struct Outgoing {
    next: u32,
    budget: Budget,
}

/// How far the peer is.
#[derive(Clone, Debug)]
struct Measures {
    round_trip: RoundTrip,
    pinger: Pinger,
}

impl Session {
    /// Where what every datagram touches ends.
    pub(crate) const HEAD_LEN: usize = offset_of!(Session, nonce);

    /// A session whose peer was heard just now.
    pub fn new(now: Time, opening: &Opening, limits: Limits) -> Self {
        let Opening { index, nonce, ticket, budget, next, peer } = *opening;
        Session {
            index,
            outgoing: Outgoing::new(next, budget),
            lost_share: 0,
            liveness: Liveness::new(now, limits),
            messages: MessageChannel::new(),
            window: ReplayWindow::new(peer.wrapping_add(1)),
            lost: LossMeter::new(),
            nonce,
            ticket,
            measures: Box::new(Measures {
                round_trip: RoundTrip::default(),
                pinger: Pinger::new(PING_EVERY),
            }),
        }
    }

    /// Which of the server's sessions.
    pub const fn index(&self) -> SessionIndex {
        self.index
    }

    /// What brings the player back.
    pub const fn ticket(&self) -> Secret {
        self.ticket
    }

    /// The longest datagram.
    pub const fn budget(&self) -> Budget {
        self.outgoing.budget
    }

    /// Reads a datagram of the peer's: what is none of its next ones is not counted as heard, and
    /// changes nothing else.
    pub fn open<'a>(&mut self, bytes: &'a mut [u8]) -> Result<Datagram<'a>, Unopened> {
        let datagram = Datagram::decode(bytes).map_err(Unopened::Malformed)?;
        match self.take(datagram.sequence).is_taken() {
            true => Ok(datagram),
            false => Err(Unopened::Number),
        }
    }

    /// Judges a number of the peer's, and counts it.
    pub fn take(&mut self, sequence: u32) -> Arrival {
        let arrival = self.window.handle(sequence);
        if arrival.is_taken() {
            self.lost.handle_arrival(sequence);
            self.lost_share = (self.lost.share() * 255.0 + 0.5) as u8;
        }
        arrival
    }

    /// Takes the number of a question that was answered before the session began: it is no sign of
    /// what the peer's datagrams lose.
    pub fn take_question(&mut self, sequence: u32) {
        self.window.handle(sequence);
    }

    /// Writes the next datagram to the peer.
    #[inline]
    pub fn encode(&mut self, packet: Packet<'_>, out: &mut [u8]) -> Result<usize, Full> {
        self.outgoing.encode(packet, out)
    }

    /// The peer gave a sign of life. [`LifeEvent::Back`] if it had been silent for long.
    #[inline]
    pub fn heard(&mut self, now: Time) -> Option<LifeEvent> {
        self.liveness.heard(now)
    }

    /// The peer is back after a break, by a datagram with this number: what was on the way is
    /// lost. What must arrive goes on where it was, unless the peer has forgotten all of it.
    pub fn resume(&mut self, now: Time, peer: u32, limits: Limits, forgotten: bool) {
        if forgotten || sabotage::is(Sabotage::ForgetEvents) {
            self.messages = MessageChannel::new();
        }
        self.messages.resume();
        self.liveness = Liveness::new(now, limits);
        self.window = ReplayWindow::new(peer.wrapping_add(1));
        (self.lost, self.lost_share) = (LossMeter::new(), 0);
        self.measures.round_trip = RoundTrip::default();
    }

    /// The player goes to another room, as the datagram with the opening's number asked: numbers
    /// and messages begin anew there.
    pub fn enter_room(&mut self, now: Time, opening: &Opening, limits: Limits) {
        let budget = self.budget();
        *self = Session::new(now, &Opening { budget, ..*opening }, limits);
    }

    /// The client's end begins anew, by the Accept with the opening's number: what was measured of the
    /// way goes on, and in the same place what must arrive does, too.
    pub fn reopen(&mut self, now: Time, opening: &Opening, limits: Limits, is_same_place: bool) {
        let old = std::mem::replace(self, Session::new(now, opening, limits));
        self.measures = old.measures;
        if is_same_place {
            self.messages = old.messages;
            self.messages.resume();
        }
    }

    /// Writes the answer to the peer's datagram with this number, which it carries.
    pub fn answer(
        &mut self,
        sequence: u32,
        packet: Packet<'_>,
        out: &mut [u8],
    ) -> Result<usize, Full> {
        let limit = out.len().min(self.budget().bytes());
        Datagram { sequence, packet }.encode(&mut out[..limit])
    }

    /// What became of the peer's datagrams.
    pub const fn arrivals(&self) -> ArrivalCounts {
        self.window.counts()
    }

    /// The share of the peer's last 64 datagrams that have not arrived.
    pub fn recent_loss(&self) -> f64 {
        self.window.recent_loss()
    }

    /// The share of the peer's datagrams that is lost, in 255ths.
    pub const fn lost_share(&self) -> u8 {
        self.lost_share
    }

    /// The round trips that were measured.
    pub fn round_trip(&self) -> &RoundTrip {
        &self.measures.round_trip
    }

    /// The same, for a sample.
    pub fn round_trip_mut(&mut self) -> &mut RoundTrip {
        &mut self.measures.round_trip
    }

    /// Our own pings, and the round trips that their answers tell.
    pub fn measures_mut(&mut self) -> (&mut Pinger, &mut RoundTrip) {
        (&mut self.measures.pinger, &mut self.measures.round_trip)
    }

    /// Our own pings.
    pub fn pinger(&self) -> &Pinger {
        &self.measures.pinger
    }

    /// The same, to ask or to be answered.
    pub fn pinger_mut(&mut self) -> &mut Pinger {
        &mut self.measures.pinger
    }
}

/// Why a datagram was not opened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unopened {
    /// It is no packet.
    Malformed(Malformed),
    /// Its number is not one of the peer's next: a repeat, or somebody else's.
    Number,
}

impl Outgoing {
    /// Begins with this number.
    pub const fn new(next: u32, budget: Budget) -> Self {
        Outgoing { next, budget }
    }

    /// The longest datagram.
    pub const fn budget(&self) -> Budget {
        self.budget
    }

    /// The number of the next datagram.
    pub const fn next(&self) -> u32 {
        self.next
    }

    /// Writes the next datagram.
    #[inline]
    pub fn encode(&mut self, packet: Packet<'_>, out: &mut [u8]) -> Result<usize, Full> {
        let limit = out.len().min(self.budget.bytes());
        let sequence = self.next;
        self.next = sequence.wrapping_add(1);
        Datagram { sequence, packet }.encode(&mut out[..limit])
    }
}
