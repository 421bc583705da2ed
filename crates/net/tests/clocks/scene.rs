//! One client and one server that exchange nothing but inputs and snapshots over a link, and
//! what a player would feel, measured against the truth.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};
use std::time::Duration;

use backspin::time::Time;
use backspin::timing::{Feedback, InputClock, InterpolationClock, LossMeter, ServerClock};
use backspin_sim::{Chance, Drift, Duplex, LinkConfig};

pub(crate) const TICK_RATE: u8 = 60;
const TICK_MS: f64 = 1_000.0 / 60.0;

/// The first of a session does not count.
const JOINING: Duration = Duration::from_secs(2);

/// At most so many inputs ride in a datagram.
const INPUTS_MAX: u32 = 64;

/// A link, and what becomes of it.
#[derive(Clone, Debug)]
pub(crate) struct Scenario {
    pub(crate) link: LinkConfig,
    /// From so many seconds after joining on, the link is another.
    pub(crate) changes: Vec<(u32, LinkConfig)>,
    pub(crate) seconds: u32,
    /// A half second is bad when this share of its ticks or frames is.
    pub(crate) bad_share: f64,
}

impl Scenario {
    pub(crate) fn new(link: LinkConfig, seconds: u32) -> Self {
        Scenario { link, changes: Vec::new(), seconds, bad_share: 0.05 }
    }

    /// The round trip grows by `by` in mid-run.
    pub(crate) fn with_rtt_step(mut self, by: Duration) -> Self {
        let link = LinkConfig { delay: self.link.delay + by / 2, ..self.link };
        self.changes.push((self.seconds / 2, link));
        self
    }
}

/// What a run was like; times in milliseconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Felt {
    pub(crate) ticks: u32,
    pub(crate) ticks_without_input: u32,
    pub(crate) frames: u32,
    pub(crate) starved_frames: u32,
    pub(crate) lead: Vec<f64>,
    pub(crate) ack: Vec<f64>,
    pub(crate) draw_delay: Vec<f64>,
    pub(crate) clock_error: Vec<f64>,
    pub(crate) behind_rates: Vec<f64>,
    pub(crate) ahead_rates: Vec<f64>,
    /// Seconds from the first change until faults are rare again.
    pub(crate) recovery_s: f64,
}

pub(crate) fn percentile(samples: &[f64], percent: f64) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted[((sorted.len() - 1) as f64 * percent / 100.0).round() as usize]
}

/// Plays one run to its end.
pub(crate) fn play(scenario: &Scenario, seed: u64) -> Felt {
    let mut scene = Scene::join(scenario, seed);
    while let Some((now, event)) = scene.next() {
        if now > scene.end {
            break;
        }
        scene.handle(now, event);
    }
    scene.felt.recovery_s = scene.recovery_s();
    scene.felt
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Step(u32),
    /// A client's datagram: its number, its oldest and its newest input.
    Inputs(u32, u32, u32),
    /// A snapshot of a tick, with the bytes of its report.
    Snapshot(u32, Option<[u8; 4]>),
    Frame,
    Due,
    Change(usize),
}

struct Scene<'a> {
    scenario: &'a Scenario,
    link: Duplex,
    drift: Drift,
    events: BinaryHeap<Reverse<(Time, u64, Event)>>,
    pushed: u64,
    joined: Time,
    end: Time,
    server: Server,
    client: Client,
    felt: Felt,
    /// Of each half second from joining on: ticks without input, starved frames.
    faults: Vec<(u32, u32)>,
    last_frame: Option<(Time, f64, f64)>,
}

#[derive(Default)]
struct Server {
    inputs: BTreeSet<u32>,
    stepped: u32,
    meter: LossMeter,
    newest: Option<(u32, Time)>,
    worst_early: Option<f64>,
}

struct Client {
    ahead: InputClock,
    behind: InterpolationClock,
    server: ServerClock,
    next_input: u32,
    datagrams: u32,
    newest_snapshot: u32,
    waiting: VecDeque<(u32, Time)>,
}

impl<'a> Scene<'a> {
    fn join(scenario: &'a Scenario, seed: u64) -> Self {
        let mut chance = Chance::new(seed, 0);
        let ppm = chance.below(401) as i32 - Drift::LIMIT_PPM;
        let drift = Drift::new(ppm, Duration::from_millis(chance.below(10_000)));
        let mut link = Duplex::new(scenario.link, seed, 0);

        // A hello and its accept, until both get through.
        let mut hello = Time::from_millis(10_000) + Duration::from_micros(chance.below(16_667));
        let (accepted, joined) = loop {
            let there = link.there.send(hello, &mut [0; 40]).times().first().copied();
            let back = there.and_then(|there| {
                Some((there, link.back.send(there, &mut [0; 40]).times().first().copied()?))
            });
            match back {
                Some(times) => break times,
                None => hello += Duration::from_millis(250),
            }
        };
        let rtt = drift.local(joined).since(drift.local(hello));
        let now = drift.local(joined);
        let told = true_tick(accepted) as u32;
        let guess = f64::from(told) + 0.5 + rtt.as_secs_f64() / 2.0 * f64::from(TICK_RATE);
        let ahead = InputClock::new(now, TICK_RATE, guess, rtt);
        let client = Client {
            next_input: ahead.tick(now).ceil() as u32,
            ahead,
            behind: InterpolationClock::new(TICK_RATE, 1),
            server: ServerClock::new(now, TICK_RATE, guess, rtt),
            datagrams: 0,
            newest_snapshot: 0,
            waiting: VecDeque::new(),
        };
        let mut scene = Scene {
            scenario,
            link,
            drift,
            events: BinaryHeap::new(),
            pushed: 0,
            joined,
            end: joined + JOINING + Duration::from_secs(scenario.seconds.into()),
            server: Server { stepped: told, ..Server::default() },
            client,
            felt: Felt::default(),
            faults: Vec::new(),
            last_frame: None,
        };
        scene.push(tick_time(told + 1), Event::Step(told + 1));
        scene.push(joined + Duration::from_micros(chance.below(16_667)), Event::Frame);
        for (index, (after_s, _)) in scenario.changes.iter().enumerate() {
            let at = joined + JOINING + Duration::from_secs(u64::from(*after_s));
            scene.push(at, Event::Change(index));
        }
        scene
    }

    fn push(&mut self, at: Time, event: Event) {
        self.pushed += 1;
        self.events.push(Reverse((at, self.pushed, event)));
    }

    /// What happens next: an event, or the client's next input if that is due before.
    fn next(&mut self) -> Option<(Time, Event)> {
        let due = self.drift.real(self.client.ahead.due(self.client.next_input));
        let Reverse((at, ..)) = self.events.peek()?;
        if due <= *at {
            return Some((due, Event::Due));
        }
        self.events.pop().map(|Reverse((at, _, event))| (at, event))
    }

    fn handle(&mut self, now: Time, event: Event) {
        match event {
            Event::Step(tick) => self.step(now, tick),
            Event::Inputs(number, oldest, newest) => {
                self.server.handle_inputs(now, number, oldest, newest);
            }
            Event::Snapshot(tick, report) => self.handle_snapshot(now, tick, report),
            Event::Frame => self.frame(now),
            Event::Due => self.make_input(now),
            Event::Change(index) => {
                let link = self.scenario.changes[index].1;
                self.link.there.set_config(link);
                self.link.back.set_config(link);
            }
        }
    }

    fn counts(&self, now: Time) -> bool {
        now >= self.joined + JOINING
    }

    fn half_second(&mut self, now: Time) -> &mut (u32, u32) {
        let index = (now.since(self.joined).as_millis() / 500) as usize;
        if self.faults.len() <= index {
            self.faults.resize(index + 1, (0, 0));
        }
        &mut self.faults[index]
    }

    fn step(&mut self, now: Time, tick: u32) {
        let is_there = self.server.inputs.remove(&tick);
        if self.counts(now) {
            self.felt.ticks += 1;
            if !is_there {
                self.felt.ticks_without_input += 1;
                self.half_second(now).0 += 1;
            }
        }
        let report = self.server.step(now, tick);
        for &at in self.link.back.send(now, &mut [0; 60]).times() {
            self.push(at, Event::Snapshot(tick, report));
        }
        self.push(tick_time(tick + 1), Event::Step(tick + 1));
    }

    fn make_input(&mut self, now: Time) {
        let client = &mut self.client;
        let newest = client.next_input;
        client.next_input += 1;
        client.waiting.push_back((newest, now));
        let acknowledged = client.newest_snapshot;
        let oldest = (acknowledged + 1).max(newest.saturating_sub(INPUTS_MAX - 1)).min(newest);
        let number = client.datagrams;
        client.datagrams += 1;
        for &at in self.link.there.send(now, &mut [0; 40]).times() {
            self.push(at, Event::Inputs(number, oldest, newest));
        }
    }

    fn handle_snapshot(&mut self, now: Time, tick: u32, report: Option<[u8; 4]>) {
        let counts = self.counts(now);
        let local = self.drift.local(now);
        let client = &mut self.client;
        client.behind.handle_snapshot(local, tick);
        if let Some(report) = report {
            let feedback = decode(report, client.next_input);
            client.ahead.handle_feedback(local, &feedback);
            if let Some(sent) = client.ahead.was_due(feedback.echo) {
                client.server.handle_echo(local, tick, sent, feedback.held);
            }
        }
        client.newest_snapshot = client.newest_snapshot.max(tick);
        while let Some((_, made)) = client.waiting.pop_front_if(|(input, _)| *input <= tick) {
            if counts {
                self.felt.ack.push(now.since(made).as_secs_f64() * 1e3);
            }
        }
    }

    fn frame(&mut self, now: Time) {
        self.push(now + Duration::from_nanos(16_666_667), Event::Frame);
        let local = self.drift.local(now);
        let Some(drawn) = self.client.behind.drawn(local) else { return };
        let ahead = self.client.ahead.tick(local);
        if !self.counts(now) {
            return;
        }
        let last = self.last_frame.replace((now, ahead, drawn));
        if let Some((then, ahead_then, drawn_then)) = last {
            let straight = true_tick(now) - true_tick(then);
            self.felt.ahead_rates.push((ahead - ahead_then) / straight);
            self.felt.behind_rates.push((drawn - drawn_then) / straight);
        }
        self.felt.frames += 1;
        if drawn > f64::from(self.client.newest_snapshot) {
            self.felt.starved_frames += 1;
            self.half_second(now).1 += 1;
        }
        let truth = true_tick(now);
        let base_ms = self.link.back.config().delay.as_secs_f64() * 1e3;
        self.felt.lead.push((ahead - truth) * TICK_MS);
        self.felt.draw_delay.push((truth - drawn) * TICK_MS - base_ms);
        self.felt.clock_error.push((self.client.server.tick(local) - truth).abs() * TICK_MS);
    }

    /// Faults come rarely again when there was no bad half second for two seconds.
    fn recovery_s(&self) -> f64 {
        let Some((after_s, _)) = self.scenario.changes.first() else { return 0.0 };
        let from = (JOINING.as_secs() as u32 + after_s) as usize * 2;
        let limit = self.scenario.bad_share * 0.5 * f64::from(TICK_RATE);
        let is_bad = |&(ticks, frames): &(u32, u32)| f64::from(ticks.max(frames)) > limit;
        let mut recovered = from;
        for (index, faults) in self.faults.iter().enumerate().skip(from) {
            if is_bad(faults) && index < recovered + 4 {
                recovered = index + 1;
            }
        }
        (recovered - from) as f64 / 2.0
    }
}

impl Server {
    fn handle_inputs(&mut self, now: Time, number: u32, oldest: u32, newest: u32) {
        if !self.meter.handle_arrival(number) {
            return;
        }
        self.inputs.extend(oldest.max(self.stepped + 1)..=newest);
        let early_ms = (f64::from(newest) - true_tick(now)) * TICK_MS;
        self.worst_early = Some(self.worst_early.map_or(early_ms, |worst| worst.min(early_ms)));
        if self.newest.is_none_or(|(echo, _)| echo < newest) {
            self.newest = Some((newest, now));
        }
    }

    fn step(&mut self, now: Time, tick: u32) -> Option<[u8; 4]> {
        self.stepped = tick;
        let early_ms = self.worst_early.take()?;
        let (echo, came) = self.newest?;
        let held = (now.since(came).as_secs_f64() * 8_000.0).round() as u8;
        let lost = (self.meter.share() * 1_024.0).round() as u8;
        Some([echo as u8, held, early_ms.round() as i8 as u8, lost])
    }
}

/// What the wire leaves of a report: four bytes.
fn decode([echo, held, early_ms, lost]: [u8; 4], next_input: u32) -> Feedback {
    let back = (next_input as u8).wrapping_sub(echo);
    Feedback {
        echo: next_input - u32::from(back),
        held: Duration::from_micros(u64::from(held) * 125),
        early_us: i32::from(early_ms as i8) * 1_000,
        lost: f64::from(lost) / 1_024.0,
    }
}

fn true_tick(now: Time) -> f64 {
    now.as_nanos() as f64 / 1e9 * f64::from(TICK_RATE)
}

fn tick_time(tick: u32) -> Time {
    Time::from_nanos(u64::from(tick) * 1_000_000_000 / u64::from(TICK_RATE))
}
