//! Looks on after every event of a run, from outside: what a client made, holds and was told
//! against what the rules were given, had and raised.
//!
//! Of the server it reads its list of members and the sizes of its tables, of a client what it
//! shows its player; all else is the checker's own record, or the probe's.

use super::breach::{Breach, Who};
use super::cast::Mood;
use super::life::{Admission, Life};
use super::stage::{Deed, Stage};
use super::{LIMITS, RESUME_FOR};
use crate::channel::{EVENT_LIMIT, PENDING_LIMIT};
use crate::client::Frame;
use crate::front::ANSWER_LIMIT;
use crate::game::{Buttons, PlayerId};
use crate::replica::{Drawn, Entity, State};
use crate::room::{MemberCard, RoomEvent};
use crate::time::Time;
use crate::wire::Name;
use crate::wire::native::SessionIndex;
use std::time::Duration;

/// What has been seen so far.
#[derive(Debug)]
pub(super) struct Checker {
    /// Every program that was started, by its number.
    lives: Vec<Life>,
    /// The program that runs at each guest's.
    running: Vec<Option<usize>>,
    /// What every server had, the running one last.
    chronicles: Vec<Chronicle>,
    /// The members of the room, as they were after the last tick.
    members: Vec<Seen>,
    frame: Frame,
}

/// What a server had after its last ticks.
#[derive(Debug)]
struct Chronicle {
    tick: u32,
    states: Vec<State>,
    /// How many events had been raised.
    raised: Vec<u32>,
}

/// A member as it was.
#[derive(Clone, Copy, Debug)]
struct Seen {
    session: SessionIndex,
    player: PlayerId,
    name: Name,
    absent_since: Option<Time>,
    ticks: u64,
    ticks_without_input: u64,
    held: Buttons,
}

/// Far longer than any datagram is under way.
const TICKS_KEPT: usize = 512;

/// What was raised so long ago has arrived, once all is well.
const ARRIVED_TICKS: u32 = 60;

/// A client that is up to date is not further behind, once all is well.
const FRESH_TICKS: u32 = 30;

/// Screens are looked at once in so many ticks.
const DRAW_EVERY: u32 = 2;

/// A room looks after absent players once a tick.
const PLACE_SLACK: Duration = Duration::from_millis(100);

impl Checker {
    pub(super) fn new(stage: &Stage) -> Self {
        Checker {
            lives: Vec::new(),
            running: vec![None; stage.hosts.len()],
            chronicles: vec![Chronicle::new()],
            members: Vec::new(),
            frame: Frame::default(),
        }
    }

    /// How many programs were started, and how often one came back.
    pub(super) fn tally(&self) -> (u32, u32) {
        (self.lives.len() as u32, self.lives.iter().map(|life| life.resumes).sum())
    }

    /// Takes note of what was done to everyone.
    pub(super) fn after_act(&mut self, stage: &mut Stage, deed: Deed) {
        match deed {
            Deed::Started { guest, life } => {
                let plan = stage.scenario().guests[guest];
                self.running[guest] = Some(self.lives.len());
                self.lives.push(Life::new(Who { guest, life }, plan));
            }
            Deed::Gone { guest } => self.running[guest] = None,
            Deed::Left { guest } => self.with_running(guest, |life| life.fate.left = true),
            Deed::Kicked { guest } => self.with_running(guest, |life| life.fate.kicked = true),
            Deed::Restarted => {
                self.lives.iter_mut().for_each(|life| life.fate.forsaken = true);
                self.chronicles.push(Chronicle::new());
                self.members.clear();
            }
            Deed::Stopped => self.lives.iter_mut().for_each(|life| life.fate.forsaken = true),
            Deed::Other => {}
        }
    }

    fn with_running(&mut self, guest: usize, note: impl FnOnce(&mut Life)) {
        if let Some(life) = self.running[guest] {
            note(&mut self.lives[life]);
        }
    }

    /// Looks at everything that the last event can have changed.
    pub(super) fn after_event(&mut self, stage: &mut Stage) -> Result<(), Breach> {
        self.hear_room(stage)?;
        if self.chronicle().tick != stage.room().tick() {
            self.check_tick(stage)?;
        }
        for guest in 0..self.running.len() {
            if let Some(life) = self.running[guest] {
                let checked = self.check_guest(stage, guest, life);
                excuse(stage, guest, checked)?;
            }
        }
        Ok(())
    }

    fn chronicle(&mut self) -> &mut Chronicle {
        self.chronicles.last_mut().expect("there is always a server")
    }

    // --- the server --------------------------------------------------------------------------

    /// Takes what the room says of its members.
    fn hear_room(&mut self, stage: &mut Stage) -> Result<(), Breach> {
        while let Some(event) = stage.gate().server.rooms_mut()[0].poll_event() {
            match event {
                RoomEvent::Joined(player, name) => {
                    let first_event = stage.room().world().log.raised;
                    let joined = stage.room().members().find(|card| card.player == player);
                    if let (Some(card), Some(life)) = (joined, self.life_called(name)) {
                        let session = card.session;
                        life.admissions.push(Admission { session, first_event });
                    }
                }
                RoomEvent::Freed(player) => {
                    let freed = self.members.iter().find(|seen| seen.player == player);
                    let name = freed.map(|seen| seen.name);
                    if let Some(life) = name.and_then(|name| self.life_called(name)) {
                        life.fate.freed = true;
                    }
                }
                _ => {}
            }
        }
        match stage.room().world().log.doubled {
            Some(player) => Err(Breach::SharedSlot { player }),
            None => Ok(()),
        }
    }

    fn life_called(&mut self, name: Name) -> Option<&mut Life> {
        self.lives.iter_mut().find(|life| life.name == name)
    }

    /// A tick was stepped: looks at what it was given, and at what the server keeps.
    fn check_tick(&mut self, stage: &mut Stage) -> Result<(), Breach> {
        let room = stage.room();
        let log = &room.world().log;
        let before = self.chronicles.last().map_or(0, |chronicle| chronicle.tick);
        if log.tick != before + 1 || room.tick() != log.tick {
            return Err(Breach::LostTick { before, after: room.tick() });
        }
        self.chronicles.last_mut().expect("there is always a server").note(&log.shown, log.raised);
        self.check_members(stage)?;
        self.check_words(stage)?;
        self.check_tables(stage)?;
        for guest in 0..self.running.len() {
            if let Some(life) = self.running[guest] {
                self.check_clocks(stage, guest, life)?;
            }
        }
        Ok(())
    }

    fn check_members(&mut self, stage: &mut Stage) -> Result<(), Breach> {
        let cards: Vec<MemberCard> = stage.room().members().collect();
        for (index, card) in cards.iter().enumerate() {
            if cards[..index].iter().any(|other| other.player == card.player) {
                return Err(Breach::SharedSlot { player: card.player });
            }
            if cards[..index].iter().any(|other| other.session == card.session) {
                return Err(Breach::SharedSession { session: card.session });
            }
            check_limit("events for a member", card.events_waiting, EVENT_LIMIT.into())?;
        }
        let now = stage.world.now();
        let members = std::mem::take(&mut self.members);
        for card in &cards {
            let seen = members.iter().find(|seen| seen.is_of(card));
            let seen = Seen::new(card, seen, now);
            if let Some(since) = seen.absent_since
                && now.since(since) > RESUME_FOR + PLACE_SLACK
            {
                let span = now.since(since);
                return Err(Breach::KeptPlace { player: card.player, span });
            }
            self.members.push(seen);
        }
        let applied = stage.room().world().log.applied.clone();
        for (player, buttons) in applied {
            self.check_input(stage, &members, &cards, player, buttons)?;
        }
        Ok(())
    }

    /// A tick was given `buttons` for `player`: what the player made for it or, where the room says
    /// that there was nothing, what was held before or nothing.
    fn check_input(
        &mut self,
        stage: &Stage,
        before: &[Seen],
        cards: &[MemberCard],
        player: PlayerId,
        applied: Buttons,
    ) -> Result<(), Breach> {
        // Who was freed after the step has no card any more.
        let Some(index) = cards.iter().position(|card| card.player == player) else {
            return Ok(());
        };
        let card = &cards[index];
        self.members[index].held = applied;
        let (tick, before) = (stage.room().tick(), before.iter().find(|seen| seen.is_of(card)));
        let Some(life) = self.life_called(card.name).filter(|life| life.plays_native()) else {
            return Ok(());
        };
        let counts = before.map_or((0, 0), |seen| (seen.ticks, seen.ticks_without_input));
        let is_real = card.ticks > counts.0 && card.ticks_without_input == counts.1;
        let (who, held) = (life.who, before.map_or(Buttons::default(), |seen| seen.held));
        let checked = match life.made_for(tick) {
            made if is_real && made != Some(applied) => {
                Err(Breach::WrongInput { who, tick, applied, made })
            }
            _ if !is_real && applied != held && applied != Buttons::default() => {
                Err(Breach::WrongRepeat { who, tick, applied, before: held })
            }
            _ => Ok(()),
        };
        excuse(stage, who.guest, checked)
    }

    fn check_words(&mut self, stage: &Stage) -> Result<(), Breach> {
        for word in &stage.room().world().log.words {
            let player = word.player;
            let speaker = self.members.iter().find(|seen| seen.player == player);
            let Some(speaker) = speaker.map(|seen| seen.name) else { continue };
            let Some(life) = self.life_called(speaker) else {
                // A name can be damaged, too.
                match stage.is_anything_damaged() {
                    true => continue,
                    false => return Err(Breach::ForeignWord { player }),
                }
            };
            let (who, expected) = (life.who, life.words_heard);
            let checked = match (word.life == who.life, word.number) {
                (false, _) => Err(Breach::ForeignWord { player }),
                (true, came) if came != expected => Err(Breach::WrongWord { who, came, expected }),
                (true, _) => Ok(()),
            };
            life.words_heard += 1;
            excuse(stage, who.guest, checked)?;
        }
        Ok(())
    }

    fn check_tables(&mut self, stage: &mut Stage) -> Result<(), Breach> {
        let gate = stage.gate();
        if let Some(excess) = gate.ledger.excess() {
            let super::ledger::Excess { address, got, sent } = excess;
            return Err(Breach::Unproved { address, got, sent });
        }
        let kept = gate.server.front().kept();
        check_limit("sessions", kept.sessions, LIMITS.sessions.into())?;
        check_limit("members", self.members.len(), kept.sessions)?;
        check_limit("addresses", kept.addresses, 2 * kept.sessions)?;
        check_limit("tickets", kept.tickets, kept.sessions)?;
        check_limit("answers", kept.answers, ANSWER_LIMIT)?;
        check_limit("rooms", kept.rooms, LIMITS.rooms.into())?;
        #[cfg(feature = "rtype")]
        {
            check_limit("streams", kept.streams, LIMITS.streams)?;
            check_limit("tokens", kept.tokens, crate::front::TOKEN_LIMIT)?;
        }
        Ok(())
    }

    // --- the guests --------------------------------------------------------------------------

    /// Looks at what a client was told, made and holds.
    fn check_guest(&mut self, stage: &mut Stage, guest: usize, life: usize) -> Result<(), Breach> {
        let Some(guest) = stage.guest(guest) else { return Ok(()) };
        let life = &mut self.lives[life];
        // All of it is taken, whatever is wrong with some of it.
        let mut heard = Ok(());
        while let Some(event) = guest.client.poll_event() {
            heard = heard.and(life.hear(&event, guest.client.session()));
        }
        life.note_inputs(guest);
        heard?;
        let tick = guest.client.server_tick();
        if life.is_native() && life.has_news(tick) && tick != 0 {
            let state = guest.client.state();
            if !self.chronicles.iter().any(|chronicle| chronicle.at(tick) == Some(state)) {
                return Err(Breach::WrongSnapshot { who: life.who, tick });
            }
        }
        Ok(())
    }

    fn check_clocks(&mut self, stage: &mut Stage, guest: usize, life: usize) -> Result<(), Breach> {
        let (now, tick) = (stage.world.local_time(stage.hosts[guest]), stage.room().tick());
        let Some(guest) = stage.guest(guest) else { return Ok(()) };
        let life = &mut self.lives[life];
        if guest.mood == Mood::Asleep || !guest.client.is_playing() {
            return Ok(());
        }
        if let Some(pending) = guest.client.pending() {
            check_limit("pending inputs", pending.len(), PENDING_LIMIT)?;
        }
        life.check_ahead(guest, now)?;
        if tick.is_multiple_of(DRAW_EVERY) {
            guest.client.draw(now, &mut self.frame);
            life.check_drawn(self.frame.drawn_tick)?;
        }
        Ok(())
    }

    // --- the end -----------------------------------------------------------------------------

    /// All has been well for a while: everyone is in and agrees, or knows why not.
    pub(super) fn at_the_end(&mut self, stage: &mut Stage) -> Result<(), Breach> {
        let cards: Vec<MemberCard> = stage.room().members().collect();
        let mut owners = Vec::new();
        for guest in 0..self.running.len() {
            let Some(life) = self.running[guest] else { continue };
            if let Some(card) = self.check_in(stage, &cards, guest, life)? {
                owners.push(card.session);
                let agreed = self.check_agreement(stage, guest, life, card);
                excuse(stage, guest, agreed)?;
            }
        }
        let ghost = cards.iter().find(|card| card.present && !owners.contains(&card.session));
        match ghost {
            Some(card) => Err(Breach::Ghost { player: card.player }),
            None => Ok(()),
        }
    }

    /// The member that a guest is, if it is one.
    fn check_in<'a>(
        &self,
        stage: &mut Stage,
        cards: &'a [MemberCard],
        guest: usize,
        life: usize,
    ) -> Result<Option<&'a MemberCard>, Breach> {
        let (life, address) = (&self.lives[life], stage.addresses[guest]);
        let Some(guest) = stage.guest(guest) else { return Ok(None) };
        if guest.client.ended().is_some() {
            return Ok(None);
        }
        let session = guest.client.session();
        let card = cards.iter().find(|card| {
            let is_here = card.present && card.path.remote == address;
            is_here && (!life.is_native() || session == Some(card.session))
        });
        match card.filter(|_| guest.client.is_playing()) {
            Some(card) => Ok(Some(card)),
            None => Err(Breach::Stuck { who: life.who }),
        }
    }

    fn check_agreement(
        &mut self,
        stage: &mut Stage,
        guest: usize,
        life: usize,
        card: &MemberCard,
    ) -> Result<(), Breach> {
        let now = stage.world.local_time(stage.hosts[guest]);
        let tick = stage.room().tick();
        let world = stage.room().world().clone();
        let life = &self.lives[life];
        let Some(guest) = stage.guest(guest).filter(|_| life.is_native()) else { return Ok(()) };
        let who = life.who;
        let wrong = |what| Err(Breach::Disagreement { who, what });
        if guest.client.server_tick() + FRESH_TICKS < tick {
            return wrong("the time");
        }
        let chronicle = self.chronicles.last().expect("there is always a server");
        if chronicle.at(guest.client.server_tick()) != Some(guest.client.state()) {
            return wrong("what there is");
        }
        if life.plays_native() {
            let dot = world.dots.dots.iter().find(|dot| dot.player == card.player);
            let own = dot.map(|dot| [dot.x as f32, dot.y as f32]);
            if guest.client.predicted().map(|(_, place)| place) != own {
                return wrong("where it is itself");
            }
        }
        guest.client.draw(now, &mut self.frame);
        if !chronicle.shows(&self.frame) {
            return wrong("what it draws");
        }
        let (said, heard) = (guest.words, life.words_heard);
        if life.plays_native() && said != heard {
            return Err(Breach::LostWord { who, heard, said });
        }
        let raised = self.chronicles.last().map_or(0, Chronicle::raised_long_ago);
        match life.next_event {
            Some(expected) if expected < raised => Err(Breach::LostEvent { who, expected, raised }),
            _ => Ok(()),
        }
    }
}

/// What a guest's damaged datagrams may explain is no breach.
fn excuse(stage: &Stage, guest: usize, checked: Result<(), Breach>) -> Result<(), Breach> {
    match checked {
        Err(_) if stage.is_damaged(guest) => Ok(()),
        checked => checked,
    }
}

fn check_limit(what: &'static str, kept: usize, limit: usize) -> Result<(), Breach> {
    match kept <= limit {
        true => Ok(()),
        false => Err(Breach::OverLimit { what, kept, limit }),
    }
}

impl Chronicle {
    fn new() -> Self {
        let states = (0..TICKS_KEPT).map(|_| State::default()).collect();
        Chronicle { tick: 0, states, raised: vec![0; TICKS_KEPT] }
    }

    fn note(&mut self, state: &State, raised: u32) {
        let place = state.tick as usize % TICKS_KEPT;
        self.tick = state.tick;
        self.states[place].clone_from(state);
        self.raised[place] = raised;
    }

    fn at(&self, tick: u32) -> Option<&State> {
        let state = &self.states[tick as usize % TICKS_KEPT];
        (state.tick == tick).then_some(state)
    }

    /// Whether a frame shows what there was at one of the two ticks around it. Nobody moves any
    /// more, but a place may have been given up just now.
    fn shows(&self, frame: &Frame) -> bool {
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
        let around = [tick.floor(), tick.ceil()].map(|tick| self.at(tick as u32));
        around.into_iter().flatten().any(is_shown)
    }

    fn raised_long_ago(&self) -> u32 {
        let tick = self.tick.saturating_sub(ARRIVED_TICKS);
        self.at(tick).map_or(0, |_| self.raised[tick as usize % TICKS_KEPT])
    }
}

impl Seen {
    fn new(card: &MemberCard, before: Option<&Seen>, now: Time) -> Self {
        let absent_since = match card.present {
            true => None,
            false => before.and_then(|seen| seen.absent_since).or(Some(now)),
        };
        Seen {
            session: card.session,
            player: card.player,
            name: card.name,
            absent_since,
            ticks: card.ticks,
            ticks_without_input: card.ticks_without_input,
            held: before.map_or(Buttons::default(), |seen| seen.held),
        }
    }

    fn is_of(&self, card: &MemberCard) -> bool {
        (self.session, self.name) == (card.session, card.name)
    }
}
