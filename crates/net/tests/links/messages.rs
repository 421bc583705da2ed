//! Messages over a bad line, both ways.

use std::collections::BTreeMap;
use std::time::Duration;

use backspin::channel::{MESSAGE_BYTES, MessageChannel};
use backspin::time::Time;
use backspin::wire::native::{Datagram, MessageKind, Packet, ServerMessages};
use backspin_sim::{Chance, Jitter, Link, LinkConfig, Loss, Reorder};

const AGAIN: Duration = Duration::from_millis(100);

fn at(ms: u64) -> Time {
    Time::from_millis(ms)
}

/// Two channels of which so many messages have passed, from the one to the other.
fn both_at(number: u16) -> [MessageChannel; 2] {
    let (mut a, mut b) = (MessageChannel::new(), MessageChannel::new());
    for _ in 0..number {
        a.send(MessageKind::Game, b"").unwrap();
        let mut room = [0; 100];
        b.handle(&a.poll(at(0), AGAIN, &mut room).unwrap());
        assert!(b.take().is_some());
        a.handle(&b.poll(at(0), AGAIN, &mut room).unwrap());
    }
    [a, b]
}

/// One side of a conversation, and a record of what it said and heard.
struct Side {
    channel: MessageChannel,
    link: Link,
    chance: Chance,
    room_len: usize,
    said: Vec<Vec<u8>>,
    heard: Vec<Vec<u8>>,
    said_once: Vec<Vec<u8>>,
    heard_once: Vec<Vec<u8>>,
    /// How many reliable messages came, each as often as it did.
    came: usize,
}

impl Side {
    fn new(seed: u64, stream: u64, channel: MessageChannel) -> Self {
        let config = LinkConfig {
            delay: Duration::from_millis(20),
            jitter: Jitter::uniform(Duration::from_millis(40)),
            loss: Loss::independent(0.3),
            duplicate_probability: 0.2,
            reorder: Reorder::often(0.2),
            ..LinkConfig::PERFECT
        };
        let mut chance = Chance::new(seed, stream + 2);
        Side {
            channel,
            link: Link::new(config, Chance::new(seed, stream)),
            // The longest message needs 908 bytes.
            room_len: 908 + chance.below(250) as usize,
            chance,
            said: Vec::new(),
            heard: Vec::new(),
            said_once: Vec::new(),
            heard_once: Vec::new(),
            came: 0,
        }
    }

    /// Says something now and then: mostly little, sometimes as much as a datagram holds.
    fn say(&mut self) {
        while self.chance.happens(0.3) {
            let limit = if self.chance.happens(0.1) { MESSAGE_BYTES as u64 + 1 } else { 8 };
            let len = self.chance.below(limit);
            let message: Vec<_> = (0..len).map(|_| self.chance.u64() as u8).collect();
            match self.chance.happens(0.2) {
                true if self.channel.send_unreliable(&message).is_ok() => {
                    self.said_once.push(message);
                }
                true => {}
                false => {
                    self.channel.send(MessageKind::Game, &message).unwrap();
                    self.said.push(message);
                }
            }
        }
    }

    /// A datagram, if one is needed.
    fn speak(&mut self, now: Time) -> Option<Vec<u8>> {
        let (mut room, mut out) = (vec![0; self.room_len], vec![0; 1_200]);
        let block = self.channel.poll(now, AGAIN, &mut room)?;
        let packet = Packet::ServerMessages(ServerMessages { block });
        let len = Datagram { sequence: 0, packet }.encode(&mut out).unwrap();
        assert!(len <= 9 + self.room_len, "{len} bytes for {}", self.room_len);
        out.truncate(len);
        Some(out)
    }

    /// `is_first` is whether the session lets the datagram through: it takes each once.
    fn hear(&mut self, bytes: &[u8], is_first: bool) {
        if !is_first {
            return;
        }
        let Packet::ServerMessages(packet) = Datagram::decode(bytes).unwrap().packet else {
            unreachable!("nothing else is sent")
        };
        self.came += packet.block.reliable.len();
        self.channel.handle(&packet.block);
        while let Some((_, message)) = self.channel.take() {
            self.heard.push(message.to_vec());
        }
        while let Some(message) = self.channel.take_unreliable() {
            self.heard_once.push(message.to_vec());
        }
        self.channel.tidy();
    }
}

/// Two sides talk for a second and a half, and are then heard out.
fn converse(seed: u64, [a, b]: [MessageChannel; 2]) -> [Side; 2] {
    let mut sides = [Side::new(seed, 0, a), Side::new(seed, 1, b)];
    let mut flying = BTreeMap::new();
    for frame in 0..3_000_u64 {
        let now = at(frame * 16);
        while flying.first_key_value().is_some_and(|((due, _), _)| *due <= now) {
            let (_, (to, bytes, copy)): (_, (usize, Vec<u8>, usize)) = flying.pop_first().unwrap();
            sides[to].hear(&bytes, copy == 0);
        }
        for (i, side) in sides.iter_mut().enumerate() {
            if frame < 90 {
                side.say();
            }
            for datagram in 0..3 {
                let Some(mut bytes) = side.speak(now) else { break };
                for (copy, due) in side.link.send(now, &mut bytes).times().iter().enumerate() {
                    let key = (*due, (frame, i, datagram, copy));
                    flying.insert(key, (1 - i, bytes.clone(), copy));
                }
            }
        }
        if frame >= 90 && sides.iter().all(|side| side.channel.unacknowledged() == 0) {
            break;
        }
    }
    sides
}

#[test]
fn every_reliable_message_arrives_exactly_once_and_in_order_both_ways_over_a_bad_line() {
    let (mut said, mut repeated, mut once, mut lost) = (0, 0, 0, 0);
    let starts = [0, 7, u16::MAX - 20, u16::MAX].map(both_at);
    for seed in 0..1_000_u64 {
        // Half of the conversations cross the wrap.
        let [a, b] = converse(seed, starts[seed as usize % 4].clone());
        let waiting = [&a, &b].map(|side| side.channel.unacknowledged());
        assert_eq!(waiting, [0, 0], "seed {seed} ends");
        assert!(a.said == b.heard && b.said == a.heard, "seed {seed}");
        for (speaker, hearer) in [(&a, &b), (&b, &a)] {
            said += speaker.said.len();
            repeated += hearer.came - hearer.heard.len();
            once += speaker.said_once.len();
            lost += speaker.said_once.len() - hearer.heard_once.len();
            // What may be lost comes at most once: here in no order.
            let mut unheard = speaker.said_once.clone();
            for message in &hearer.heard_once {
                let at = unheard.iter().position(|said| said == message);
                unheard.swap_remove(at.expect("it was said, and has not come before"));
            }
        }
    }
    // The line was as bad as it should be, and repeats are not more than they have to be.
    assert!(said > 50_000 && repeated > 10_000 && repeated < said * 2, "{said} {repeated}");
    let share = f64::from(lost as u32) / f64::from(once as u32);
    assert!(once > 10_000 && (0.27..0.33).contains(&share), "{once} {lost}");
}
