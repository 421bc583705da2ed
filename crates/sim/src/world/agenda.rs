//! What happens when: the queue of events, and true time, which moves only to the next of them.

use super::HostId;
use super::flight::Slot;
use super::streams::SegmentId;
use backspin::time::Time;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Something that happens at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// A datagram reaches the address that it was sent to.
    Arrive(Slot),
    /// A host's deadline has come.
    Wake(HostId),
    /// A piece of a stream is sent, for the first time or once more.
    Depart(SegmentId),
    /// A piece of a stream reaches its host, perhaps before its turn.
    Land(SegmentId),
}

/// Events in order of time; at equal times, in the order in which they were pushed.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    heap: BinaryHeap<Due>,
    now: Time,
    /// How many events in a row led to the one in hand without time passing.
    hops: u32,
    pushed: u64,
    /// The event that wakes each host. Others in the heap that would are out of date: it
    /// is cheaper to skip them when they come up than to find them before.
    wakes: Vec<Option<Wake>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wake {
    at: Time,
    number: u64,
}

impl Agenda {
    /// True time: that of the event in hand.
    pub(super) fn now(&self) -> Time {
        self.now
    }

    /// How many events have followed from each other at this instant. A node that never lets
    /// time pass is found by it.
    pub(super) fn hops(&self) -> u32 {
        self.hops
    }

    pub(super) fn add_host(&mut self) {
        self.wakes.push(None);
    }

    /// What is pushed from here on follows from no event: the caller did something.
    pub(super) fn start_afresh(&mut self) {
        self.hops = 0;
    }

    /// Plans an event, now at the earliest.
    pub(super) fn push(&mut self, at: Time, event: Event) {
        let at = at.max(self.now);
        let hops = if at == self.now { self.hops + 1 } else { 0 };
        self.heap.push(Due { at, number: self.pushed, hops, event });
        self.pushed += 1;
    }

    /// Plans when a host is woken, instead of what was planned before.
    pub(super) fn set_wake(&mut self, host: HostId, at: Option<Time>) {
        let at = at.map(|at| at.max(self.now));
        if at == self.wakes[host.index()].map(|wake| wake.at) {
            return;
        }
        self.wakes[host.index()] = at.map(|at| Wake { at, number: self.pushed });
        if let Some(at) = at {
            self.push(at, Event::Wake(host));
        }
    }

    /// Moves to the next event, unless it lies beyond `until`.
    pub(super) fn pop(&mut self, until: Time) -> Option<Event> {
        loop {
            let due = *self.heap.peek().filter(|due| due.at <= until)?;
            self.heap.pop();
            if let Event::Wake(host) = due.event {
                let wake = &mut self.wakes[host.index()];
                if *wake != Some(Wake { at: due.at, number: due.number }) {
                    continue;
                }
                *wake = None;
            }
            self.now = due.at;
            self.hops = due.hops;
            return Some(due.event);
        }
    }

    /// Lets time pass in which nothing happens; never turns it back.
    pub(super) fn rest_until(&mut self, until: Time) {
        self.now = self.now.max(until);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Due {
    at: Time,
    number: u64,
    hops: u32,
    event: Event,
}

impl Ord for Due {
    /// The heap gives the greatest first, so the earliest is the greatest.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.number).cmp(&(self.at, self.number))
    }
}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const END: Time = Time::from_nanos(u64::MAX);

    fn ms(ms: u64) -> Time {
        Time::from_millis(ms)
    }

    fn agenda() -> Agenda {
        let mut agenda = Agenda::default();
        agenda.add_host();
        agenda
    }

    #[test]
    fn events_come_by_time_and_then_in_the_order_they_were_pushed() {
        let mut agenda = agenda();
        for (at, slot) in [(2, 0), (1, 1), (2, 2), (1, 3), (2, 4)] {
            agenda.push(ms(at), Event::Arrive(Slot(slot)));
        }
        let order: Vec<_> = std::iter::from_fn(|| agenda.pop(END)).collect();
        assert_eq!(order, [1, 3, 0, 2, 4].map(|slot| Event::Arrive(Slot(slot))));
        assert_eq!(agenda.now(), ms(2));
    }

    #[test]
    fn only_the_last_planned_wake_counts() {
        let mut agenda = agenda();
        let host = HostId(0);
        for at in [Some(9), Some(3), None, Some(5), Some(5)] {
            agenda.set_wake(host, at.map(ms));
        }
        assert_eq!(agenda.pop(ms(4)), None);
        assert_eq!(agenda.now(), Time::ZERO, "what is out of date does not move time");
        assert_eq!(agenda.pop(END), Some(Event::Wake(host)));
        assert_eq!(agenda.now(), ms(5));
        assert_eq!(agenda.pop(END), None);
        assert_eq!(agenda.now(), ms(5));
    }

    #[test]
    fn hops_count_what_follows_without_time_passing() {
        let mut agenda = agenda();
        agenda.push(ms(1), Event::Arrive(Slot(0)));
        for hops in 0..5 {
            agenda.pop(END);
            assert_eq!(agenda.hops(), hops);
            agenda.push(ms(1), Event::Arrive(Slot(0)));
        }
        agenda.push(ms(2), Event::Arrive(Slot(0)));
        agenda.pop(END);
        agenda.pop(END);
        assert_eq!((agenda.now(), agenda.hops()), (ms(2), 0));
    }
}
