//! Asks one server how far away it measures us to be. Matchmakers ask to learn which server is there,
//! players to report it.

use std::time::Duration;

use crate::node::{Path, Transmit};
use crate::time::Time;
use crate::wire::native::{Datagram, Packet, Probe, Probed, Secret};

/// A question without an answer is asked again after so long; each time after twice as long, since
/// the way may be longer than that.
const AGAIN_AFTER: Duration = Duration::from_millis(500);

/// But never after longer than this.
const AGAIN_AFTER_MOST: Duration = Duration::from_secs(4);

/// The asking of one server.
#[derive(Clone, Debug)]
pub(super) struct Prober {
    path: Path,
    pass: Secret,
    sequence: u32,
    /// Measurements that are still wanted.
    wanted: u8,
    /// What the next question carries; none begins anew.
    echo: Option<(u64, Secret)>,
    /// When to ask, or to ask again.
    next: Time,
    wait: Duration,
    was_asked: bool,
    is_due: bool,
}

impl Prober {
    /// Begins at `now`. `sequence` is any number.
    pub(super) fn new(now: Time, path: Path, pass: Secret, sequence: u32, wanted: u8) -> Self {
        let (wait, echo, was_asked, is_due) = (AGAIN_AFTER, None, false, false);
        Prober { path, pass, sequence, wanted, echo, next: now, wait, was_asked, is_due }
    }

    /// Asks for so many measurements more, from the beginning.
    pub(super) fn ask_anew(&mut self, now: Time, wanted: u8) {
        (self.wanted, self.echo, self.next, self.was_asked) = (wanted, None, now, false);
    }

    pub(super) fn path(&self) -> Path {
        self.path
    }

    pub(super) fn is_done(&self) -> bool {
        self.wanted == 0
    }

    /// An answer that is to the last question; what was measured, if it was.
    pub(super) fn handle(&mut self, now: Time, sequence: u32, probed: &Probed) -> Option<Probed> {
        // The answer carries the number of its question: an older one is late, or comes twice.
        if self.is_done() || sequence != self.sequence || probed.pass != self.pass {
            return None;
        }
        self.echo = Some((probed.stamp, probed.cookie));
        // At once: the server counts until the stamp is back.
        (self.next, self.is_due) = (now, true);
        let measured = (probed.round_trip != 0).then_some(*probed)?;
        self.wait = AGAIN_AFTER.max(2 * Duration::from_micros(measured.round_trip.into()));
        self.wanted -= 1;
        self.is_due = !self.is_done();
        Some(measured)
    }

    pub(super) fn handle_timeout(&mut self, now: Time) {
        if !self.is_done() && !self.is_due && self.next <= now {
            // A stamp that has waited here would make the way longer than it is.
            self.echo = None;
            self.is_due = true;
            if std::mem::replace(&mut self.was_asked, true) {
                self.wait = (2 * self.wait).min(AGAIN_AFTER_MOST);
            }
        }
    }

    pub(super) fn poll_timeout(&self) -> Option<Time> {
        (!self.is_done()).then_some(self.next)
    }

    pub(super) fn poll_transmit(&mut self, now: Time, out: &mut [u8]) -> Option<Transmit> {
        if !std::mem::take(&mut self.is_due) {
            return None;
        }
        self.next = now + self.wait;
        self.sequence = self.sequence.wrapping_add(1);
        let (stamp, cookie) = self.echo.take().unwrap_or((0, Secret([0; 16])));
        let packet = Packet::Probe(Probe { pass: self.pass, stamp, cookie });
        let len = Datagram { sequence: self.sequence, packet }.encode(out).ok()?;
        Some(Transmit { path: self.path, len })
    }
}
