//! One player of a measured match, watched from outside: what was made and drawn when.

use std::collections::VecDeque;
use std::time::Duration;

use super::contact::Contacts;
use super::quality::Corrections;
use super::{HostId, Party, Player, Traffic, World};
use crate::client::Frame;
use crate::game::Game;
use crate::node::StreamNode;
use crate::replica::{Entity, MAX_FIELDS, Schema, State};
use crate::time::Time;

/// Something drawn that moves further than this beyond its own motion is seen to jump.
const JUMP_PX: f32 = 4.0;

/// A correction is one that moves the own position by more than this.
const CORRECTION_PX: f32 = 1.0;

/// A player and what was seen of it.
pub(super) struct Watched {
    pub(super) host: HostId,
    newest_input: Option<u32>,
    acknowledged: u32,
    waiting: VecDeque<(u32, Time)>,
    /// A press that no frame has shown yet, and the newest input when it came.
    press: Option<(Time, Option<u32>)>,
    presses: u64,
    own: Option<(u32, [f32; 2])>,
    moved_in: Option<u32>,
    corrected_in: Option<u32>,
    last_frame: Option<(Time, f64)>,
    drawn: Vec<Spot>,
    frame: Frame,
    frame_before: Frame,
    pub(super) contacts: Contacts,
    /// When something was drawn that moved further than its own motion carries it.
    jumps: Vec<(Time, u16)>,
    traffic: Traffic,
    pub(super) seen: Seen,
}

/// Where something was drawn, and how fast it says it moves, px per ms.
#[derive(Clone, Copy)]
struct Spot {
    id: u16,
    at: [f32; 2],
    speed: f32,
}

/// Everything that is judged at the end.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) own_input_ms: Vec<f64>,
    pub(super) lead_ms: Vec<f64>,
    pub(super) ack_ms: Vec<f64>,
    pub(super) behind_ms: Vec<f64>,
    pub(super) clock_error_ms: Vec<f64>,
    pub(super) entities: Vec<f64>,
    pub(super) rate: Option<(f64, f64)>,
    pub(super) frames: u64,
    pub(super) starved: u64,
    pub(super) jumps: u64,
    pub(super) corrections: u64,
    pub(super) all_corrections: Corrections,
    pub(super) made: u64,
    pub(super) bytes_down: u64,
    pub(super) bytes_up: u64,
}

impl Watched {
    pub(super) fn new(host: HostId) -> Self {
        Watched {
            host,
            newest_input: None,
            acknowledged: 0,
            waiting: VecDeque::new(),
            press: None,
            presses: 0,
            own: None,
            moved_in: None,
            corrected_in: None,
            last_frame: None,
            drawn: Vec::new(),
            frame: Frame::default(),
            frame_before: Frame::default(),
            contacts: Contacts::default(),
            jumps: Vec::new(),
            traffic: Traffic::default(),
            seen: Seen::default(),
        }
    }

    pub(super) fn player<'a, G: Game>(&self, world: &'a World<Party<G>>) -> &'a Player<G>
    where
        Party<G>: StreamNode,
    {
        match world.node(self.host) {
            Party::Player(player) => player,
            Party::Server(_) => unreachable!("a player was added as one"),
        }
    }

    /// The measuring begins: what was before is joining.
    pub(super) fn begin<G: Game>(&mut self, world: &World<Party<G>>) {
        let player = self.player(world);
        self.newest_input = player.client.newest_input();
        self.acknowledged = player.client.server_tick();
        self.presses = player.presses();
        self.own = player.client.predicted();
        self.traffic = world.traffic(self.host);
    }

    /// Looks after every event: inputs made and acknowledged, presses, corrections.
    pub(super) fn after_event<G: Game>(&mut self, world: &World<Party<G>>) {
        let now = world.now();
        let player = self.player(world);
        let (newest, acknowledged) = (player.client.newest_input(), player.client.server_tick());
        let (presses, own) = (player.presses(), player.client.predicted());
        if presses != self.presses {
            self.presses = presses;
            self.press.get_or_insert((now, self.newest_input));
        }
        if newest != self.newest_input {
            self.newest_input = newest;
            self.waiting.extend(newest.map(|input| (input, now)));
            self.seen.made += 1;
        }
        if acknowledged != self.acknowledged {
            self.acknowledged = acknowledged;
            let done = |(input, _): &(u32, Time)| acknowledged.wrapping_sub(*input) as i32 >= 0;
            while let Some((_, made)) = self.waiting.front().copied().filter(done) {
                self.waiting.pop_front();
                self.seen.ack_ms.push(now.since(made).as_secs_f64() * 1e3);
            }
        }
        self.watch_own(own);
    }

    /// The same tick, another place: a snapshot has corrected it. Counted once for each tick.
    fn watch_own(&mut self, own: Option<(u32, [f32; 2])>) {
        if let (Some((then_tick, then)), Some((tick, at))) = (self.own, own)
            && then_tick == tick
            && then != at
        {
            let moved = distance(then, at);
            let all = &mut self.seen.all_corrections;
            all.ticks += u64::from(self.moved_in.replace(tick) != Some(tick));
            all.furthest = all.furthest.max(moved);
            if moved > CORRECTION_PX && self.corrected_in.replace(tick) != Some(tick) {
                self.seen.corrections += 1;
            }
        }
        self.own = own;
    }

    /// Looks at the screen. Says how many frames were starved: 0 or 1.
    pub(super) fn look<G: Game>(
        &mut self,
        world: &mut World<Party<G>>,
        true_tick: f64,
        tick_ms: f64,
    ) -> u64 {
        let (now, local) = (world.now(), world.local_time(self.host));
        std::mem::swap(&mut self.frame, &mut self.frame_before);
        let mut frame = std::mem::take(&mut self.frame);
        // Drawing changes only what is remembered for drawing; nothing is to be polled after it.
        let Party::Player(player) = world.node_quietly(self.host) else { return 0 };
        let client = &mut player.client;
        client.draw(local, &mut frame);
        if let Some(own) = client.player() {
            let (before, met) = (&self.frame_before.entities, &mut self.contacts);
            client.game().drawn_contacts(before, &frame.entities, own, &mut |contact| {
                met.note(now, contact.key);
            });
        }
        let ahead = client.ahead_tick(local);
        let estimate = client.server_tick_at(local);
        let newest_state = f64::from(client.server_tick());
        let newest_input = client.newest_input();
        let schema = client.game().schema();
        let seen = &mut self.seen;
        seen.frames += 1;
        seen.lead_ms.extend(ahead.map(|ahead| (ahead - true_tick) * tick_ms));
        seen.clock_error_ms.extend(estimate.map(|tick| (tick - true_tick).abs() * tick_ms));
        seen.entities.push(frame.entities.len() as f64);
        if let Some((pressed, then)) = self.press
            && newest_input != then
        {
            seen.own_input_ms.push(now.since(pressed).as_secs_f64() * 1e3);
            self.press = None;
        }
        let mut starved = 0;
        if let Some(drawn) = frame.drawn_tick {
            seen.behind_ms.push((true_tick - drawn) * tick_ms);
            starved = u64::from(drawn > newest_state);
            seen.starved += starved;
            if let Some((then, tick)) = self.last_frame.replace((now, drawn)) {
                let rate = (drawn - tick) * tick_ms / (now.since(then).as_secs_f64() * 1e3);
                let (min, max) = seen.rate.unwrap_or((rate, rate));
                seen.rate = Some((min.min(rate), max.max(rate)));
            }
        }
        let spots = frame.entities.iter().filter_map(|drawn| {
            let kind = schema.kinds.get(usize::from(drawn.entity.kind))?;
            let speed = |[x, y]: [f32; 2]| (x * x + y * y).sqrt() / tick_ms as f32;
            let (at, before) = kind.place(&drawn.fields)?;
            let (_, after) = kind.place(&kind.values(&drawn.entity))?;
            Some(Spot { id: drawn.entity.id, at, speed: speed(before).max(speed(after)) })
        });
        let spots: Vec<Spot> = spots.collect();
        let frame_ms = 1_000.0 / 60.0;
        let jumped = |spot: &Spot| {
            let before = self.drawn.iter().find(|before| before.id == spot.id);
            before.is_some_and(|before| {
                let own_motion = before.speed.max(spot.speed) * frame_ms * 1.05;
                distance(before.at, spot.at) > own_motion + JUMP_PX
            })
        };
        let jumps = spots.iter().filter(|spot| jumped(spot)).map(|spot| (now, spot.id));
        self.jumps.extend(jumps);
        self.drawn = spots;
        self.frame = frame;
        starved
    }

    /// Frames in which something jumped that did not leap in truth about then.
    fn count_jumps(&self, leaps: &Leaps) -> u64 {
        let mut frames: Vec<Time> =
            self.jumps.iter().filter(|jump| !leaps.explain(**jump)).map(|(at, _)| *at).collect();
        frames.dedup();
        frames.len() as u64
    }

    /// All players' figures in one.
    pub(super) fn pool<G: Game>(
        players: &mut [Watched],
        world: &World<Party<G>>,
        leaps: &Leaps,
    ) -> Seen {
        let mut all = Seen::default();
        for watched in players {
            watched.seen.jumps = watched.count_jumps(leaps);
            let traffic = world.traffic(watched.host);
            let seen = std::mem::take(&mut watched.seen);
            all.own_input_ms.extend(seen.own_input_ms);
            all.lead_ms.extend(seen.lead_ms);
            all.ack_ms.extend(seen.ack_ms);
            all.behind_ms.extend(seen.behind_ms);
            all.clock_error_ms.extend(seen.clock_error_ms);
            all.entities.extend(seen.entities);
            all.rate = match (all.rate, seen.rate) {
                (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
                (one, other) => one.or(other),
            };
            all.frames += seen.frames;
            all.starved += seen.starved;
            all.jumps += seen.jumps;
            all.corrections += seen.corrections;
            all.all_corrections.ticks += seen.all_corrections.ticks;
            all.all_corrections.furthest =
                all.all_corrections.furthest.max(seen.all_corrections.furthest);
            all.made += seen.made;
            all.bytes_down += traffic.received_bytes - watched.traffic.received_bytes;
            all.bytes_up += traffic.sent_bytes - watched.traffic.sent_bytes;
        }
        all
    }
}

/// What leapt in truth: rules that put a ball back in front of a paddle, say. To show that is no
/// fault of the drawing.
#[derive(Default)]
pub(super) struct Leaps {
    tick: u32,
    places: Vec<Spot>,
    leaps: Vec<(Time, u16)>,
}

impl Leaps {
    /// A player sees a leap at most so much earlier or later than it happens.
    const WITHIN: Duration = Duration::from_millis(600);

    /// Looks at the true state.
    pub(super) fn look(&mut self, now: Time, schema: &Schema, state: &State) {
        let ticks = state.tick.wrapping_sub(std::mem::replace(&mut self.tick, state.tick));
        let spot = |entity: &Entity| {
            let kind = schema.kinds.get(usize::from(entity.kind))?;
            let (at, [x, y]) = kind.place(&kind.values(entity))?;
            Some(Spot { id: entity.id, at, speed: (x * x + y * y).sqrt() })
        };
        let places: Vec<Spot> = state.entities().iter().filter_map(spot).collect();
        for spot in &places {
            let before = self.places.iter().find(|before| before.id == spot.id);
            let leapt = before.is_some_and(|before| {
                let own_motion = before.speed.max(spot.speed) * ticks as f32;
                distance(before.at, spot.at) > own_motion + JUMP_PX
            });
            if leapt {
                self.leaps.push((now, spot.id));
            }
        }
        self.places = places;
    }

    fn explain(&self, (at, id): (Time, u16)) -> bool {
        self.leaps.iter().any(|(leapt, thing)| {
            *thing == id && at.since(*leapt).max(leapt.since(at)) < Leaps::WITHIN
        })
    }
}

fn distance(a: [f32; 2], b: [f32; 2]) -> f32 {
    ((a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2)).sqrt()
}

/// Faults by half seconds, to see when a link that changed has been found again.
#[derive(Default)]
pub(super) struct Faults {
    halves: Vec<(Time, u64, u64)>,
}

impl Faults {
    const HALF: Duration = Duration::from_millis(500);

    pub(super) fn note(&mut self, now: Time, faults: u64, chances: u64) {
        match self.halves.last_mut() {
            Some((began, sum, of)) if now.since(*began) < Faults::HALF => {
                *sum += faults;
                *of += chances;
            }
            _ => self.halves.push((now, faults, chances)),
        }
    }

    /// Seconds from `at` until the last half second with more than `limit` faults has passed.
    pub(super) fn recovery(&self, at: Time, limit: f64) -> f64 {
        let mut bad = self.halves.iter().filter(|(began, faults, chances)| {
            *began + Faults::HALF > at && *faults as f64 > *chances as f64 * limit
        });
        bad.next_back().map_or(0.0, |(began, _, _)| (*began + Faults::HALF).since(at).as_secs_f64())
    }
}

const _: () = assert!(MAX_FIELDS >= 2, "a place has two coordinates");
