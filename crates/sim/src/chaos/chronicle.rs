//! What the rooms of a run had and did, tick by tick, as their rules logged it.

use super::breach::{Breach, ensure};
use super::letters::Letter;
use super::probe::{Log, Probe};
use backspin::client::Frame;
use backspin::game::{Buttons, PlayerId, rewind_limit_ticks};
use backspin::replication::{Drawn, Entity, State};
use backspin::room::MemberCard;
use backspin::time::Time;
use backspin::wire::Name;
use backspin::wire::native::{Role, SessionIndex};

/// What a room had after its last ticks.
#[derive(Debug)]
pub(super) struct Chronicle {
    pub(super) server: u32,
    /// The number of the room.
    pub(super) room: u32,
    /// Its members, as they were after the last tick.
    pub(super) members: Vec<Seen>,
    pub(super) tick: u32,
    /// When who is here last changed.
    pub(super) changed: Time,
    pub(super) states: Vec<State>,
    /// After which tick how many events had been raised.
    pub(super) raised: Vec<(u32, u32)>,
    /// All letters that were sent.
    pub(super) letters: Vec<Letter>,
}

/// A member as it was.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) session: SessionIndex,
    pub(super) player: PlayerId,
    pub(super) name: Name,
    pub(super) role: Role,
    pub(super) absent_since: Option<Time>,
    pub(super) ticks: u64,
    pub(super) ticks_without_input: u64,
    pub(super) held: Buttons,
    /// How many ticks ago it was judged in the last tick.
    pub(super) back: Option<f64>,
}

/// Far longer than any datagram is under way.
pub(super) const TICKS_KEPT: usize = 512;

/// What was raised so long ago has arrived, once all is well.
pub(super) const ARRIVED_TICKS: u32 = 60;

/// The time at which a player is judged may come nearer or go further by so much with each tick, once
/// the player's clocks are found.
const TIME_BEND: f64 = 0.1;
const FINDING_TICKS: u64 = 64;

impl Chronicle {
    pub(super) fn new(server: u32, room: u32) -> Self {
        let states = (0..TICKS_KEPT).map(|_| State::default()).collect();
        Chronicle {
            server,
            room,
            members: Vec::new(),
            tick: 0,
            changed: Time::ZERO,
            states,
            raised: vec![(0, 0); TICKS_KEPT],
            letters: Vec::new(),
        }
    }

    pub(super) fn note(&mut self, log: &Log) {
        let place = log.tick as usize % TICKS_KEPT;
        self.tick = log.tick;
        self.raised[place] = (log.tick, log.raised);
        if log.shown.tick == log.tick {
            self.states[place].clone_from(&log.shown);
        }
        self.letters.extend_from_slice(&log.letters[self.letters.len()..]);
    }

    /// A member is here, whatever the next tick makes of it: an absence after that is another one.
    pub(super) fn note_return(&mut self, card: &MemberCard) {
        if let Some(seen) = self.members.iter_mut().find(|seen| seen.is_of(card)) {
            seen.absent_since = None;
        }
    }

    pub(super) fn at(&self, tick: u32) -> Option<&State> {
        let state = &self.states[tick as usize % TICKS_KEPT];
        (state.tick == tick).then_some(state)
    }

    /// Whether a frame shows what there was at one of the two snapshots around it, of which there is one
    /// `every` so many ticks. Nobody moves any more, but a place may have been given up just now.
    pub(super) fn shows(&self, frame: &Frame, every: u8) -> bool {
        let every = u32::from(every);
        let Some(tick) = frame.drawn_tick else { return false };
        let is_at = |drawn: &Drawn, there: &Entity| {
            let is_near =
                |axis: usize| (drawn.fields[axis] - there.fields[axis] as f32).abs() < 0.1;
            drawn.entity.id == there.id && is_near(0) && is_near(1)
        };
        let is_shown = |state: &State| {
            let pairs = || frame.entities.iter().zip(state.entities());
            frame.entities.len() == state.entities().len()
                && pairs().all(|(drawn, there)| is_at(drawn, there))
        };
        // Who was shown a server that then stood still is ahead of it for a while, and draws the
        // newest that there is.
        let before = (tick.floor() as u32).min(self.tick) / every;
        let after = (tick.ceil() as u32).div_ceil(every).min(self.tick / every);
        let around = [before, after].map(|snapshot| self.at(snapshot * every));
        around.into_iter().flatten().any(is_shown)
    }

    pub(super) fn raised_long_ago(&self) -> u32 {
        let tick = self.tick.saturating_sub(ARRIVED_TICKS);
        match self.raised[tick as usize % TICKS_KEPT] {
            (at, raised) if at == tick => raised,
            _ => 0,
        }
    }
}

impl Seen {
    pub(super) fn new(card: &MemberCard, before: Option<&Seen>, now: Time) -> Self {
        let since = before.and_then(|seen| seen.absent_since).unwrap_or(now);
        let absent_since = (!card.present).then_some(since);
        Seen {
            session: card.session,
            player: card.player,
            name: card.name,
            role: card.role,
            absent_since,
            ticks: card.ticks,
            ticks_without_input: card.ticks_without_input,
            held: before.map_or(Buttons::default(), |seen| seen.held),
            back: before.and_then(|seen| seen.back),
        }
    }

    /// Whether the time at which it is judged goes on with the ticks: nobody chooses it.
    pub(super) fn check_time(
        &mut self,
        back: f64,
        (tick, ticks): (u32, u32),
    ) -> Result<(), Breach> {
        let limit = f64::from(rewind_limit_ticks(&Probe::default()));
        let is_found = self.ticks > FINDING_TICKS + u64::from(ticks);
        let before = self.back.replace(back).filter(|_| is_found);
        let most = f64::from(ticks) * TIME_BEND + 1e-4;
        let from = before.unwrap_or(back);
        let is_ours = (back - from).abs() <= most && (0.0..=limit).contains(&back);
        ensure(is_ours, Breach::TimeChosen { player: self.player, tick, from, to: back })
    }

    pub(super) fn is_of(&self, card: &MemberCard) -> bool {
        (self.session, self.name) == (card.session, card.name)
    }
}
