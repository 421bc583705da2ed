//! Reliable events over a bad line, both ways.

use std::collections::BTreeMap;
use std::time::Duration;

use backspin::channel::{Inbox, Outbox};
use backspin::time::Time;
use backspin::wire::native::{Datagram, EventBlock, Events, Packet, ServerEvents};
use backspin_sim::{Chance, Jitter, Link, LinkConfig, Loss, Reorder};

const AGAIN: Duration = Duration::from_millis(100);

fn at(ms: u64) -> Time {
    Time::from_millis(ms)
}

/// An outbox whose next event has a number, and the inbox that waits for that one.
type Both = (Outbox, Inbox);

fn both_at(number: u16) -> Both {
    let (mut outbox, mut inbox) = (Outbox::new(), Inbox::new());
    for _ in 0..number {
        outbox.push(b"").unwrap();
        let batch = outbox.poll(at(0), AGAIN, 600).unwrap();
        let mut room = [0; 600];
        assert_eq!(inbox.handle(&outbox.write(batch, &mut room)).count(), 1);
        outbox.acknowledge(inbox.acknowledge());
    }
    (outbox, inbox)
}

/// One side of a conversation, and a record of what it said and heard.
struct Side {
    outbox: Outbox,
    inbox: Inbox,
    link: Link,
    chance: Chance,
    said: Vec<Vec<u8>>,
    heard: Vec<Vec<u8>>,
    /// How many events came, each as often as it did.
    came: usize,
}

impl Side {
    fn new(seed: u64, stream: u64, [own, other]: [&Both; 2]) -> Self {
        let config = LinkConfig {
            delay: Duration::from_millis(20),
            jitter: Jitter::uniform(Duration::from_millis(40)),
            loss: Loss::independent(0.3),
            duplicate_probability: 0.2,
            reorder: Reorder::often(0.2),
            ..LinkConfig::PERFECT
        };
        Side {
            outbox: own.0.clone(),
            inbox: other.1.clone(),
            link: Link::new(config, Chance::new(seed, stream)),
            chance: Chance::new(seed, stream + 2),
            said: Vec::new(),
            heard: Vec::new(),
            came: 0,
        }
    }

    /// Says something now and then: mostly little, sometimes more than a datagram holds.
    fn say(&mut self) {
        while self.chance.happens(0.3) {
            let limit = if self.chance.happens(0.1) { 256 } else { 8 };
            let len = self.chance.below(limit);
            let event: Vec<_> = (0..len).map(|_| self.chance.u64() as u8).collect();
            if self.outbox.push(&event).is_ok() {
                self.said.push(event);
            }
        }
    }

    /// A datagram, if one is needed.
    fn speak(&mut self, now: Time) -> Option<Vec<u8>> {
        let batch = self.outbox.poll(now, AGAIN, 600);
        if batch.is_none() && !self.inbox.owes() {
            return None;
        }
        let acknowledged = self.inbox.acknowledge();
        let (mut room, mut out) = ([0; 600], vec![0; 1_200]);
        let events = match batch {
            Some(batch) => self.outbox.write(batch, &mut room),
            None => Events::new(0, [], &mut room),
        };
        let block = EventBlock { acknowledged, events };
        let packet = Packet::ServerEvents(ServerEvents { block });
        let len = Datagram { sequence: 0, packet }.encode(&mut out).unwrap();
        out.truncate(len);
        Some(out)
    }

    fn hear(&mut self, bytes: &[u8]) {
        let Packet::ServerEvents(packet) = Datagram::decode(bytes).unwrap().packet else {
            unreachable!("nothing else is sent")
        };
        self.outbox.acknowledge(packet.block.acknowledged);
        self.came += packet.block.events.len();
        self.heard.extend(self.inbox.handle(&packet.block.events).map(<[u8]>::to_vec));
    }
}

/// Two sides talk for a second and a half, and are then heard out.
fn converse(seed: u64, [a, b]: [&Both; 2]) -> [Side; 2] {
    let mut sides = [Side::new(seed, 0, [a, b]), Side::new(seed, 1, [b, a])];
    let mut flying = BTreeMap::new();
    for frame in 0..3_000_u64 {
        let now = at(frame * 16);
        while flying.first_key_value().is_some_and(|((due, _), _)| *due <= now) {
            let (_, (to, bytes)): (_, (usize, Vec<u8>)) = flying.pop_first().unwrap();
            sides[to].hear(&bytes);
        }
        for (i, side) in sides.iter_mut().enumerate() {
            if frame < 90 {
                side.say();
            }
            let Some(mut bytes) = side.speak(now) else { continue };
            for due in side.link.send(now, &mut bytes).times() {
                flying.insert((*due, (frame, i, flying.len())), (1 - i, bytes.clone()));
            }
        }
        if frame >= 90 && sides.iter().all(|side| side.outbox.is_empty()) {
            break;
        }
    }
    sides
}

#[test]
fn every_event_arrives_exactly_once_and_in_order_both_ways_over_a_bad_line() {
    let (mut said, mut repeated) = (0, 0);
    let [zero, seven, near, last] = [0, 7, u16::MAX - 20, u16::MAX].map(both_at);
    for seed in 0..1_000_u64 {
        // Half of the conversations cross the wrap.
        let first = if seed.is_multiple_of(2) { [&zero, &seven] } else { [&near, &last] };
        let [a, b] = converse(seed, first);
        assert!(a.outbox.is_empty() && b.outbox.is_empty(), "seed {seed} ends");
        assert!(a.said == b.heard && b.said == a.heard, "seed {seed}");
        for side in [&a, &b] {
            said += side.said.len();
            repeated += side.came - side.heard.len();
        }
    }
    // The line was as bad as it should be.
    assert!(said > 50_000 && repeated > 10_000, "{said} {repeated}");
}
