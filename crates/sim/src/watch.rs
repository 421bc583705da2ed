//! One player of a measured match, watched from outside: what was made and drawn when.
//!
//! Whoever drives the match tells an [`Observer`] of every event and every frame, and knows the
//! truth: the simulator does, and a program that has server and client on one clock.

use std::collections::VecDeque;
use std::ops::{AddAssign, Range};
use std::time::Duration;

use super::clumps::Clumps;
use super::contact::{self, Umpire};
use super::kinds::ContactKinds;
use super::law::Bar;
use super::leap::{Spot, distance};
use super::measured::Measured;
use super::quality::{Corrections, Quality, Tally, percentile};
use backspin::client::{Client, Frame};
use backspin::game::{Game, PlayerId};
use backspin::room::Room;
use backspin::time::Time;

/// A correction is one that moves the own position by more than this.
const CORRECTION_PX: f32 = 1.0;

/// Measures what one player gets of a match: its client is looked at, and changed no more than by
/// drawing.
///
/// [`Observer::begin`] once the player is in, [`Observer::after_event`] whenever the client has
/// been handed something, [`Observer::look`] for every frame, [`Observer::end`] at the end.
#[derive(Debug, Default)]
pub struct Observer {
    began: Time,
    states_before: u64,
    player: Option<PlayerId>,
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
    looked: Option<Time>,
    drawn: Vec<Spot>,
    frame: Frame,
    frame_before: Frame,
    contacts: contact::Drawn,
    /// What was drawn further on than its own motion carries it, and when.
    jumps: Vec<(Time, u32)>,
    seen: Seen,
}

/// A moment of a match, as nobody in it knows it.
#[derive(Clone, Copy, Debug)]
pub struct Truth {
    /// When.
    pub now: Time,
    /// The server's tick, with its fraction.
    pub tick: f64,
    /// Ticks a second.
    pub tick_rate: u8,
}

impl Truth {
    /// What a room's clock says at `now`.
    pub fn of<G: Game>(room: &Room<G>, now: Time) -> Self {
        Truth { now, tick: room.ticks_at(now), tick_rate: room.tick_rate() }
    }
}

/// Everything that is judged at the end. Several players' can be added.
#[derive(Debug, Default)]
pub struct Seen {
    own_input_ms: Vec<f64>,
    lead_ms: Vec<f64>,
    ack_ms: Vec<f64>,
    behind_ms: Vec<f64>,
    clock_error_ms: Vec<f64>,
    entities: Vec<f64>,
    rate: Option<(f64, f64)>,
    frames: u64,
    /// The drawing delay in dialects without ticks, as the client knows it.
    plain_delay_ms: Vec<f64>,
    starved: Clumps,
    jumps: Clumps,
    states: u64,
    corrections: Clumps,
    all_corrections: Corrections,
    made: u64,
    kinds: ContactKinds,
    past_frames: Vec<f64>,
    past_px: Vec<f64>,
    burst_ms: Vec<f64>,
}

impl Observer {
    /// The measuring begins: what was before is joining. `presses` counts how often the player has
    /// changed what is held, here and in what follows.
    pub fn begin<G: Game>(&mut self, now: Time, client: &Client<G>, presses: u64) {
        self.began = now;
        self.states_before = client.counts().states;
        self.newest_input = newest_input(client);
        self.acknowledged = client.server_tick();
        self.presses = presses;
        self.own = client.predicted();
    }

    /// Looks after every event: inputs made and acknowledged, presses, corrections.
    pub fn after_event<G: Game>(&mut self, now: Time, client: &Client<G>, presses: u64) {
        if !client.is_native() {
            return self.after_plain_event(now, client);
        }
        let (newest, acknowledged) = (newest_input(client), client.server_tick());
        if presses != self.presses {
            self.presses = presses;
            self.press.get_or_insert((now, self.newest_input));
        }
        // Near the server the newest is acknowledged, and gone, before the next is made.
        if let Some(input) = newest.filter(|input| Some(*input) != self.newest_input) {
            self.newest_input = Some(input);
            self.waiting.push_back((input, now));
            self.seen.made += 1;
        }
        if acknowledged != self.acknowledged {
            self.acknowledged = acknowledged;
            let done = |(input, _): &(u32, Time)| acknowledged.wrapping_sub(*input) as i32 >= 0;
            while let Some((_, made)) = self.waiting.front().copied().filter(done) {
                self.waiting.pop_front();
                self.seen.ack_ms.push(ms(now.since(made)));
            }
        }
        self.watch_own(now, client);
    }

    /// The same where nothing is acknowledged.
    fn after_plain_event<G: Game>(&mut self, now: Time, client: &Client<G>) {
        let newest = client.predicted().map(|(input, _)| input);
        if newest.is_some() && std::mem::replace(&mut self.newest_input, newest) != newest {
            self.seen.made += 1;
        }
        self.watch_own(now, client);
    }

    /// The same tick, another place: a snapshot has corrected it. Counted once for each tick.
    fn watch_own<G: Game>(&mut self, now: Time, client: &Client<G>) {
        let own = client.predicted();
        if let (Some((then_tick, then)), Some((tick, at))) = (self.own, own)
            && then_tick == tick
            && then != at
        {
            let moved = distance(then, at);
            let all = &mut self.seen.all_corrections;
            all.ticks += u64::from(self.moved_in.replace(tick) != Some(tick));
            all.furthest = all.furthest.max(moved);
            let least = CORRECTION_PX * client.game().schema().pixel.value();
            if moved > least && self.corrected_in.replace(tick) != Some(tick) {
                self.seen.corrections.note(now, 1);
            }
        }
        self.own = own;
    }

    /// Draws a frame when the client's own clock says `local`, and looks at it. Whether it was
    /// starved: nothing has come yet of the time that it shows.
    pub fn look<G: Measured>(&mut self, client: &mut Client<G>, local: Time, truth: Truth) -> bool {
        let Truth { now, tick: true_tick, tick_rate } = truth;
        let tick_ms = 1_000.0 / f64::from(tick_rate);
        std::mem::swap(&mut self.frame, &mut self.frame_before);
        let mut frame = std::mem::take(&mut self.frame);
        client.draw(local, &mut frame);
        self.player = client.player();
        self.seen.states = client.counts().states - self.states_before;
        if let Some(own) = client.player() {
            let (before, met) = (&self.frame_before, &mut self.contacts);
            client.game().drawn_contacts(before, &frame, own, &mut |contact| {
                met.note(now, &contact);
            });
            met.follow(now, &frame, client.game().schema());
        }
        let ahead = client.ahead_tick(local);
        let estimate = client.server_tick_at(local);
        let schema = client.game().schema();
        let seen = &mut self.seen;
        seen.frames += 1;
        let starved = client.is_starved(local);
        seen.starved.note(now, u64::from(starved));
        if !client.is_native() {
            seen.plain_delay_ms.extend(client.delay().map(|delay| ms(delay.total)));
        }
        seen.lead_ms.extend(ahead.map(|ahead| (ahead - true_tick) * tick_ms));
        seen.clock_error_ms.extend(estimate.map(|tick| (tick - true_tick).abs() * tick_ms));
        seen.entities.push(frame.entities.len() as f64);
        if let Some((pressed, then)) = self.press
            && self.newest_input != then
        {
            seen.own_input_ms.push(ms(now.since(pressed)));
            self.press = None;
        }
        if let Some(drawn) = frame.drawn_tick {
            seen.behind_ms.push((true_tick - drawn) * tick_ms);
            if let Some((then, tick)) = self.last_frame.replace((now, drawn)) {
                let rate = (drawn - tick) * tick_ms / ms(now.since(then));
                let (min, max) = seen.rate.unwrap_or((rate, rate));
                seen.rate = Some((min.min(rate), max.max(rate)));
            }
        }
        let tells_speed = client.is_native();
        let spots = frame.entities.iter().filter_map(|drawn| {
            let kind = schema.kinds.get(usize::from(drawn.entity.kind))?;
            let speed = |[x, y]: [f32; 2]| (x * x + y * y).sqrt() / tick_ms as f32;
            let (at, before) = kind.place(&drawn.fields)?;
            let (_, after) = kind.place(&kind.values(&drawn.entity))?;
            let said = speed(before).max(speed(after));
            // An old dialect may not say how fast a thing is: then it may be as fast as any.
            let is_unsaid = said == 0.0 && !tells_speed;
            let speed = if is_unsaid { speed(kind.fastest()?) } else { said };
            let spot = Spot { id: drawn.entity.id, at, speed, said: now };
            let last = self.drawn.iter().find(|last| last.id == spot.id);
            Some(last.map_or(spot, |last| spot.after(last, tick_ms)))
        });
        let spots: Vec<Spot> = spots.collect();
        let frame_ms = self.looked.replace(now).map_or(0.0, |then| ms(now.since(then)) as f32);
        let jumped = spots
            .iter()
            .filter(|spot| spot.leapt(&self.drawn, frame_ms * 1.05, schema.pixel.value()));
        self.jumps.extend(jumped.map(|spot| (now, spot.id)));
        self.drawn = spots;
        self.frame = frame;
        starved
    }

    /// The lead over the server in the frame that was looked at last.
    pub(super) fn lead_ms(&self) -> Option<f64> {
        self.seen.lead_ms.last().copied()
    }

    /// What is on the screen: the frame that was looked at last.
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// What was seen until now of `game`, held against what the umpire saw.
    pub fn end<G: Measured>(&mut self, now: Time, game: &G, umpire: &Umpire) -> Seen {
        let mut seen = std::mem::take(&mut self.seen);
        if let Some(player) = self.player {
            let kind_of = |key| game.contact_kind(key, player);
            let met = umpire.compare(player, &self.contacts, kind_of, self.began..now);
            (seen.kinds, seen.burst_ms) = (met.kinds, met.burst_ms);
            seen.kinds.mark(|kind| game.foresight(kind));
            (seen.past_frames, seen.past_px) = (met.past_frames, met.past_px);
        }
        self.jumps.retain(|jump| !umpire.leaps.explain(*jump));
        self.jumps.dedup_by_key(|(at, _)| *at);
        self.jumps.iter().for_each(|(at, _)| seen.jumps.note(*at, 1));
        let span = now.since(self.began);
        for clumps in [&mut seen.starved, &mut seen.jumps, &mut seen.corrections] {
            *clumps = clumps.over(span);
        }
        seen
    }
}

impl Seen {
    /// The figures, and what they were counted from. `bar` knows the link: the way that nothing can
    /// shorten, and how late an acknowledgement may be. Of `counted`, what an observer cannot know
    /// is taken: the server's ticks, bytes and seconds.
    pub fn judge(mut self, bar: Bar, counted: Tally) -> (Quality, Tally) {
        let base_ms = bar.way_ms();
        let contacts = self.kinds.sum();
        let behind = self.behind_ms.iter().map(|ms| ms - base_ms);
        let mut behind_ms: Vec<f64> = behind.chain(self.plain_delay_ms).collect();
        let tally = Tally {
            frames: self.frames,
            starved_frames: self.starved,
            jumped_frames: self.jumps,
            drawn: self.entities.iter().sum::<f64>() as u64,
            states: self.states,
            inputs: self.made,
            corrected: self.corrections,
            acks: self.ack_ms.len() as u64,
            late_acks: late_acks(&self.ack_ms, bar),
            contacts: contacts.contacts(),
            contacts_disagreed: contacts.disagreed(),
            ..counted
        };
        let quality = tally.fill(Quality {
            own_input_ms_p99: percentile(&mut self.own_input_ms, 99),
            lead_ms_p50: percentile(&mut self.lead_ms, 50),
            lead_ms_p95: percentile(&mut self.lead_ms, 95),
            ack_ms_p50: percentile(&mut self.ack_ms, 50),
            ack_ms_p99: percentile(&mut self.ack_ms, 99),
            draw_delay_ms_p50: percentile(&mut behind_ms, 50),
            draw_delay_ms_p95: percentile(&mut behind_ms, 95),
            past_target_frames_p99: percentile(&mut self.past_frames, 99),
            past_target_px_p99: percentile(&mut self.past_px, 99),
            contact_to_burst_ms_p50: percentile(&mut self.burst_ms, 50),
            playback_rate_min: self.rate.map(|(min, _)| min),
            playback_rate_max: self.rate.map(|(_, max)| max),
            clock_error_ms_p99: percentile(&mut self.clock_error_ms, 99),
            ..Quality::default()
        });
        (quality, tally)
    }

    /// What met, by kind.
    pub fn kinds(&self) -> &ContactKinds {
        &self.kinds
    }

    /// By how much snapshots moved the predicted own position.
    pub fn corrections(&self) -> Corrections {
        self.all_corrections
    }
}

impl AddAssign for Seen {
    fn add_assign(&mut self, other: Seen) {
        self.own_input_ms.extend(other.own_input_ms);
        self.lead_ms.extend(other.lead_ms);
        self.ack_ms.extend(other.ack_ms);
        self.behind_ms.extend(other.behind_ms);
        self.clock_error_ms.extend(other.clock_error_ms);
        self.entities.extend(other.entities);
        self.rate = match (self.rate, other.rate) {
            (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
            (one, other) => one.or(other),
        };
        self.frames += other.frames;
        self.plain_delay_ms.extend(other.plain_delay_ms);
        self.starved += other.starved;
        self.jumps += other.jumps;
        self.states += other.states;
        self.corrections += other.corrections;
        let (all, others) = (&mut self.all_corrections, other.all_corrections);
        all.ticks += others.ticks;
        all.furthest = all.furthest.max(others.furthest);
        self.made += other.made;
        self.kinds += &other.kinds;
        self.past_frames.extend(other.past_frames);
        self.past_px.extend(other.past_px);
        self.burst_ms.extend(other.burst_ms);
    }
}

/// The number of the newest input; an old dialect has none, and what it predicts is numbered alike.
fn newest_input<G: Game>(client: &Client<G>) -> Option<u32> {
    client.newest_input().or_else(|| client.predicted().map(|(number, _)| number))
}

/// The acknowledgements that took longer than 99 % may. There is one for each tick, so their order
/// says when they came.
fn late_acks(ack_ms: &[f64], bar: Bar) -> Clumps {
    let (mut late, most_ms) = (Clumps::default(), bar.ack_ms_p99());
    let at = |tick: usize| Duration::from_secs_f64(tick as f64 * bar.tick_ms() / 1e3);
    for (tick, ms) in ack_ms.iter().enumerate() {
        late.note(Time::ZERO + at(tick), u64::from(*ms > most_ms));
    }
    late.over(at(ack_ms.len()))
}

fn ms(span: Duration) -> f64 {
    span.as_secs_f64() * 1e3
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

    /// Seconds from the beginning of a time until the last half second in it with more than `limit`
    /// faults has passed.
    pub(super) fn recovery(&self, time: Range<Time>, limit: f64) -> f64 {
        let at = time.start;
        let mut bad = self.halves.iter().filter(|(began, faults, chances)| {
            let is_in = *began + Faults::HALF > at && *began + Faults::HALF <= time.end;
            is_in && *faults as f64 > *chances as f64 * limit
        });
        bad.next_back().map_or(0.0, |(began, _, _)| (*began + Faults::HALF).since(at).as_secs_f64())
    }
}

/// Leads since a link began to change, to see when they have come to where they stay.
#[derive(Default)]
pub(super) struct Settling {
    leads_ms: Vec<(Time, f64)>,
}

impl Settling {
    /// A lead that differs by more than this from the one that stays is not there yet.
    const NEAR_MS: f64 = 25.0;

    pub(super) fn note(&mut self, now: Time, lead_ms: Option<f64>) {
        self.leads_ms.extend(lead_ms.map(|lead_ms| (now, lead_ms)));
    }

    /// The longest that a lead took after any of these times, up to the next or the end. It stays where
    /// it is in the last quarter.
    pub(super) fn worst_s(&self, times: &[Time], end: Time) -> Option<f64> {
        let ends = times.iter().skip(1).copied().chain([end]);
        times.iter().zip(ends).map(|(at, end)| self.back_s(*at..end)).max_by(f64::total_cmp)
    }

    fn back_s(&self, time: Range<Time>) -> f64 {
        let leads = || self.leads_ms.iter().filter(|(at, _)| time.contains(at));
        let quarter = time.end.since(time.start) / 4;
        let last = leads().filter(|(at, _)| time.end.since(*at) < quarter);
        let Some(stays_ms) = percentile(&mut last.map(|(_, ms)| *ms).collect::<Vec<_>>(), 50)
        else {
            return 0.0;
        };
        let away = leads().rfind(|(_, ms)| (ms - stays_ms).abs() > Settling::NEAR_MS);
        away.map_or(0.0, |(at, _)| at.since(time.start).as_secs_f64())
    }
}
