//! What must arrive: events in order and exactly once, in one direction. Each side has an outbox
//! for its own and an inbox for the other's.
//!
//! Whoever owns them writes [`Outbox::poll`] and [`Inbox::acknowledge`] into one ClientEvents or
//! ServerEvents, and hands what comes back to [`Outbox::acknowledge`] and [`Inbox::handle`].
//! Numbers wrap; acknowledgement is cumulative; what comes too early is dropped, for it will
//! come again.

use std::fmt;
use std::time::Duration;

use crate::sabotage::{self, Sabotage};
use crate::time::Time;
use crate::wire::native::{Events, MAX_EVENT_LEN};

/// How many events may be without acknowledgement.
pub const EVENT_LIMIT: u16 = 64;

/// The longest event, in bytes.
pub const EVENT_BYTES: usize = MAX_EVENT_LEN;

/// How many bytes the events without acknowledgement may have, with one more for each: between
/// three and four datagrams full.
pub const BACKLOG_BYTES: usize = 4096;

/// How far from the number that is waited for the first of a datagram may be: what the other
/// side may have outstanding, and as much again for a datagram that was overtaken.
const NEAR: u16 = 2 * EVENT_LIMIT;

/// Own events, until they are acknowledged.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Outbox {
    /// The number of the first of them.
    first: u16,
    /// How many they are.
    len: u16,
    /// How many of them need not be sent before [`Outbox::sent_at`] is long ago.
    sent: u16,
    /// How many of them have ever been sent: no more can be acknowledged.
    ever_sent: u16,
    sent_at: Time,
    /// The events without acknowledgement, each behind its length, as on the wire.
    body: Vec<u8>,
}

/// Consecutive events that go into one datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The number of the first.
    pub first: u16,
    /// How many.
    pub count: u16,
}

impl Outbox {
    /// Nothing to send; the first event has number 0.
    pub fn new() -> Self {
        Outbox::starting_at(0)
    }

    fn starting_at(first: u16) -> Self {
        Outbox {
            // Most members wait for few events, most of the time for none.
            body: Vec::new(),
            first,
            len: 0,
            sent: 0,
            ever_sent: 0,
            sent_at: Time::ZERO,
        }
    }

    /// Takes an event that must arrive, and says its number; or nothing was taken.
    pub fn push(&mut self, event: &[u8]) -> Result<u16, Backlog> {
        let event_len = u8::try_from(event.len()).map_err(|_| Backlog::TooLong)?;
        if self.len == EVENT_LIMIT {
            return Err(Backlog::Events);
        }
        if self.body.len() + 1 + event.len() > BACKLOG_BYTES {
            return Err(Backlog::Bytes);
        }
        self.body.push(event_len);
        self.body.extend_from_slice(event);
        let number = self.first.wrapping_add(self.len);
        self.len += 1;
        Ok(number)
    }

    /// The events for a datagram that has `room_len` bytes for them and their lengths, to be
    /// sent now: at once what is new, with what came before it if that fits; and all again when
    /// `again_after`, about a round trip, has brought no acknowledgement. `None` is nothing yet:
    /// call again for the next datagram.
    pub fn poll(&mut self, now: Time, again_after: Duration, room_len: usize) -> Option<Batch> {
        let start = self.start(now, again_after, room_len)?;
        let count = self.fitting(start, room_len);
        if count == 0 {
            return None;
        }
        let end = start + count;
        self.sent = end;
        self.ever_sent = self.ever_sent.max(end);
        self.sent_at = now;
        Some(Batch { first: self.first.wrapping_add(start), count })
    }

    /// When [`Outbox::poll`] has something: at once is [`Time::ZERO`], never `None`.
    pub fn due(&self, again_after: Duration) -> Option<Time> {
        match self.len {
            0 => None,
            len if self.sent < len => Some(Time::ZERO),
            _ => Some(self.sent_at + again_after),
        }
    }

    /// The events of a batch that was polled just now.
    pub fn events(&self, batch: Batch) -> impl Iterator<Item = &[u8]> {
        let start = batch.first.wrapping_sub(self.first);
        self.bodies().skip(usize::from(start)).take(usize::from(batch.count))
    }

    /// The same as they go into a packet.
    pub fn write<'a>(&'a self, batch: Batch, room: &'a mut [u8]) -> Events<'a> {
        Events::new(batch.first, self.events(batch), room)
    }

    /// The other side waits for the event `next`: all before it have arrived. Says how many
    /// those were.
    pub fn acknowledge(&mut self, next: u16) -> u16 {
        let arrived = next.wrapping_sub(self.first);
        // A newer acknowledgement has overtaken this one, or it is of what was never sent.
        if arrived.cast_signed() < 0 || arrived > self.ever_sent {
            return 0;
        }
        let bytes: usize =
            self.bodies().take(usize::from(arrived)).map(|event| 1 + event.len()).sum();
        self.body.drain(..bytes);
        self.first = next;
        self.len -= arrived;
        self.sent = self.sent.saturating_sub(arrived);
        self.ever_sent -= arrived;
        arrived
    }

    /// How many events are without acknowledgement.
    pub const fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether everything has arrived.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// From which event on to send, if at all.
    fn start(&self, now: Time, again_after: Duration, room_len: usize) -> Option<u16> {
        if self.sent < self.len {
            // The receiver needs them in order: who adds to what is on its way repeats it, so
            // that one loss does not make the rest come in vain.
            let all_fit = self.fitting(0, room_len) > self.sent;
            return Some(if all_fit { 0 } else { self.sent });
        }
        let again = self.len > 0 && now.since(self.sent_at) >= again_after;
        again.then_some(0)
    }

    /// How many events from `start` on fit.
    fn fitting(&self, start: u16, room_len: usize) -> u16 {
        let mut left = room_len;
        let fitting = self.bodies().skip(usize::from(start)).take_while(|event| {
            let rest = left.checked_sub(1 + event.len());
            left = rest.unwrap_or(0);
            rest.is_some()
        });
        fitting.count() as u16
    }

    fn bodies(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = &self.body[..];
        std::iter::from_fn(move || {
            let (&len, tail) = rest.split_first()?;
            let (event, tail) = tail.split_at(usize::from(len));
            rest = tail;
            Some(event)
        })
    }
}

impl Default for Outbox {
    fn default() -> Self {
        Outbox::new()
    }
}

/// Why an event was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Backlog {
    /// It has more than [`EVENT_BYTES`].
    TooLong,
    /// [`EVENT_LIMIT`] events wait for their acknowledgement.
    Events,
    /// [`BACKLOG_BYTES`] wait for their acknowledgement, or would with this one.
    Bytes,
}

impl fmt::Display for Backlog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Backlog::TooLong => write!(f, "an event has at most {EVENT_BYTES} bytes"),
            Backlog::Events => write!(f, "{EVENT_LIMIT} events have not arrived yet"),
            Backlog::Bytes => write!(f, "{BACKLOG_BYTES} bytes of events have not arrived yet"),
        }
    }
}

impl std::error::Error for Backlog {}

/// The other side's events.
#[derive(Clone, Debug, Default)]
pub struct Inbox {
    expected: u16,
    debt: Debt,
}

/// Whether the other side waits for an acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
enum Debt {
    #[default]
    None,
    Acknowledgement,
}

impl Inbox {
    /// Waits for event 0.
    pub fn new() -> Self {
        Inbox::default()
    }

    /// The events that are new, in order. They count as delivered.
    pub fn handle<'a>(&mut self, events: &Events<'a>) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let known = self.judge(events.first(), events.len() as u16);
        events.iter().skip(usize::from(known)).map(|(_, event)| event)
    }

    /// The number of the event that is waited for.
    pub const fn expected(&self) -> u16 {
        self.expected
    }

    /// Whether events came since the last [`Inbox::acknowledge`]: then the other side is to be
    /// told soon.
    pub const fn owes(&self) -> bool {
        matches!(self.debt, Debt::Acknowledgement)
    }

    /// The acknowledgement, for a datagram that is sent now: [`Inbox::expected`].
    pub const fn acknowledge(&mut self) -> u16 {
        self.debt = Debt::None;
        self.expected
    }

    /// How many of a datagram's events are to be skipped; the rest is delivered.
    fn judge(&mut self, first: u16, count: u16) -> u16 {
        if count == 0 {
            return 0;
        }
        // Also for what cannot be used: who sends it has not heard where we are.
        self.debt = Debt::Acknowledgement;
        // What is ahead comes again, and so far behind the other side cannot be.
        let behind = match u16::try_from(self.expected.wrapping_sub(first).cast_signed()) {
            Ok(behind) if behind <= NEAR => behind,
            _ => return count,
        };
        let known = if sabotage::is(Sabotage::EventTwice) { 0 } else { behind.min(count) };
        self.expected = self.expected.wrapping_add(count - known);
        known
    }
}

#[cfg(test)]
mod tests;
