//! Looks on after every event of a run, from outside: what a client made, holds and was told
//! against what the rules were given, had and raised.
//!
//! Of the server it reads its list of members and the sizes of its tables, of a client what it
//! shows its player; all else is the checker's own record, or the probe's.

use super::breach::{Breach, Who, ensure};
use super::cast::Mood;
use super::chronicle::{Chronicle, Seen};
use super::life::{Admission, Life};
use super::sight::{Beholder, Holdings, Onlooker};
use super::stage::{Deed, Stage};
use backspin::channel::{Delivery, PENDING_LIMIT, QUEUE_MESSAGES};
use backspin::client::Frame;
use backspin::game::{Buttons, PlayerId};
use backspin::room::{MemberCard, RoomEvent};
use backspin::wire::Name;
use backspin::wire::native::{Datagram, Packet, Role};
use std::time::Duration;

/// What has been seen so far.
#[derive(Debug, Default)]
pub(super) struct Checker {
    /// Every program that was started, by its number.
    lives: Vec<Life>,
    /// The program that runs at each guest's.
    running: Vec<Option<usize>>,
    /// How many servers were started before the one that runs.
    server: u32,
    /// What every room of every server had.
    chronicles: Vec<Chronicle>,
    /// Who was let in as whom, in which room of which server.
    joined: Vec<((u32, u32, PlayerId), Name)>,
    /// Who reads along what is sent to each session.
    onlookers: Vec<Onlooker>,
    frame: Frame,
}

/// A roster that changed so long ago has arrived, over a good line.
const ROSTER_TOLD: Duration = Duration::from_millis(500);

/// After so long over a good line everything has found its pace.
const SETTLED: Duration = Duration::from_secs(2);

/// A client that is up to date is not further behind, once all is well.
const FRESH_TICKS: u32 = 30;

/// Screens are looked at once in so many ticks; those of a world that is not small cost more.
const DRAW_EVERY: u32 = 2;
const DRAW_LARGE_EVERY: u32 = 12;

/// A room that was held up steps no more at once; the rest is let go.
const CATCH_UP_TICKS: u32 = 5;

/// A room looks after absent players once a tick.
const PLACE_SLACK: Duration = Duration::from_millis(100);

impl Checker {
    pub(super) fn new(stage: &Stage) -> Self {
        Checker { running: vec![None; stage.hosts.len()], ..Checker::default() }
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
                self.server += 1;
                self.onlookers.clear();
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
        self.hear_rooms(stage)?;
        if let Some(breach) = stage.gate().audit.breach() {
            return Err(breach.clone());
        }
        for at in 0..stage.server().rooms().len() {
            let which = self.chronicle(stage.server().rooms()[at].number());
            if stage.server().rooms()[at].tick() == 0 {
                self.chronicles[which].note(&stage.server().rooms()[at].world().log);
            }
            if self.chronicles[which].tick != stage.server().rooms()[at].tick() {
                self.check_tick(stage, at, which)?;
            }
        }
        self.read_along(stage)?;
        for guest in 0..self.running.len() {
            if let Some(life) = self.running[guest] {
                let checked = self.check_guest(stage, guest, life);
                excuse(stage, guest, checked)?;
            }
        }
        Ok(())
    }

    /// Where the chronicle of a room of this server is; a new one if there is none.
    fn chronicle(&mut self, room: u32) -> usize {
        let server = self.server;
        let is_it = |chronicle: &Chronicle| (chronicle.server, chronicle.room) == (server, room);
        self.chronicles.iter().rposition(is_it).unwrap_or_else(|| {
            self.chronicles.push(Chronicle::new(server, room));
            self.chronicles.len() - 1
        })
    }

    // --- the server --------------------------------------------------------------------------

    /// Takes what rooms say of their members.
    fn hear_rooms(&mut self, stage: &mut Stage) -> Result<(), Breach> {
        let gate = stage.gate();
        gate.collect_events();
        for (number, event) in std::mem::take(&mut gate.events) {
            self.hear_room(stage, number, event);
        }
        let mut doubled = stage.server().rooms().iter().map(|room| room.world().log.doubled);
        let shared = doubled.find_map(|doubled| doubled);
        shared.map_or(Ok(()), |player| Err(Breach::SharedSlot { player }))
    }

    fn hear_room(&mut self, stage: &Stage, number: u32, event: RoomEvent) {
        let room = stage.server().rooms().iter().find(|room| room.number() == number);
        match (event, room) {
            (RoomEvent::Joined(player, name), Some(room)) => {
                let server = self.server;
                self.joined.push(((server, number, player), name));
                let log = &room.world().log;
                let Some(card) = room.members().find(|card| card.player == player) else { return };
                let session = card.session;
                // Someone else had this number before.
                self.onlookers.retain(|onlooker| onlooker.session != session);
                if let Some(life) = self.life_called(name) {
                    life.admissions.push(Admission {
                        session,
                        server,
                        room: number,
                        player,
                        first_event: log.raised,
                        first_letter: log.letters.len() as u32,
                    });
                }
            }
            (RoomEvent::Freed(player) | RoomEvent::Overrun(player), _) => {
                if let Some(life) = self.life_that_joined(number, player) {
                    match event {
                        RoomEvent::Freed(_) => life.fate.freed = true,
                        _ => life.fate.overrun = true,
                    }
                }
            }
            (RoomEvent::Dropped(player), _) => {
                // In `ack` a player is its address: what the program before is told, this one hears.
                let guest = self.life_that_joined(number, player).map(|life| life.who.guest);
                let is_theirs = |life: &&mut Life| Some(life.who.guest) == guest;
                self.lives.iter_mut().filter(is_theirs).for_each(|life| life.fate.dropped = true);
            }
            // A server that stood still reads what came meanwhile before it steps a tick: who came
            // back may be silent for too long by then, and away again.
            (RoomEvent::Resumed(player, _), Some(room)) => {
                let is_back = |card: &MemberCard| card.player == player && card.present;
                let back = room.members().find(is_back);
                let which = self.chronicle(number);
                if let Some(card) = back {
                    self.chronicles[which].note_return(&card);
                }
            }
            _ => {}
        }
    }

    /// Whoever was let in as this player last.
    fn life_that_joined(&mut self, room: u32, player: PlayerId) -> Option<&mut Life> {
        let place = (self.server, room, player);
        let (_, name) = self.joined.iter().rfind(|(joined, _)| *joined == place)?;
        self.life_called(*name)
    }

    /// Reads what is sent to whom of a world that is each one's own.
    fn read_along(&mut self, stage: &mut Stage) -> Result<(), Breach> {
        let play = stage.scenario().play;
        for (session, bytes) in std::mem::take(&mut stage.gate().views) {
            let Ok(Datagram { packet: Packet::ViewSnapshot(view), .. }) = Datagram::decode(&bytes)
            else {
                continue;
            };
            let mut rooms = stage.server().rooms().iter();
            let is_theirs = |card: &MemberCard| card.session == session;
            let found =
                rooms.find_map(|room| Some((room.number(), room.members().find(is_theirs)?)));
            let Some((room, card)) = found else { continue };
            let which = self.chronicle(room);
            let is_it = |onlooker: &Onlooker| onlooker.session == session;
            let at = self.onlookers.iter().position(is_it).unwrap_or_else(|| {
                self.onlookers.push(Onlooker::new(session));
                self.onlookers.len() - 1
            });
            let eyes = Beholder::new(play, card.role, card.player);
            self.onlookers[at].check(eyes, card.player, &view, &self.chronicles[which])?;
        }
        Ok(())
    }

    fn life_called(&mut self, name: Name) -> Option<&mut Life> {
        self.lives.iter_mut().find(|life| life.name == name)
    }

    /// A tick was stepped, or several by a room that was held up: looks at what it was given, and at
    /// what the server keeps.
    fn check_tick(&mut self, stage: &mut Stage, at: usize, which: usize) -> Result<(), Breach> {
        let room = &stage.server().rooms()[at];
        let log = &room.world().log;
        let (before, after) = (self.chronicles[which].tick, room.tick());
        ensure(before <= after && after == log.tick, Breach::LostTick { before, after })?;
        let ticks = after - before;
        ensure(ticks <= CATCH_UP_TICKS, Breach::Bunched { ticks })?;
        self.chronicles[which].note(log);
        self.check_members(stage, at, which, ticks)?;
        self.check_words(stage, at, which, before)?;
        self.check_tables(stage)?;
        for guest in 0..self.running.len() {
            if let Some(life) = self.running[guest] {
                self.check_clocks(stage, guest, life, after)?;
            }
        }
        Ok(())
    }

    fn check_members(
        &mut self,
        stage: &mut Stage,
        at: usize,
        which: usize,
        ticks: u32,
    ) -> Result<(), Breach> {
        let resume_for = stage.scenario().rules.resume_for;
        let cards: Vec<MemberCard> = stage.server().rooms()[at].members().collect();
        for (index, card) in cards.iter().enumerate() {
            let (player, session) = (card.player, card.session);
            let mut others = cards[..index].iter();
            ensure(others.all(|other| other.player != player), Breach::SharedSlot { player })?;
            let mut others = cards[..index].iter();
            ensure(others.all(|it| it.session != session), Breach::SharedSession { session })?;
            check_limit("messages for a member", card.messages_waiting, QUEUE_MESSAGES)?;
        }
        let now = stage.world.now();
        let before = std::mem::take(&mut self.chronicles[which].members);
        for card in &cards {
            let seen = before.iter().find(|seen| seen.is_of(card));
            let seen = Seen::new(card, seen, now);
            if let Some(since) = seen.absent_since
                && now.since(since) > resume_for + PLACE_SLACK
            {
                let span = now.since(since);
                return Err(Breach::KeptPlace { player: card.player, span });
            }
            self.chronicles[which].members.push(seen);
        }
        let names = |members: &[Seen]| -> Vec<_> {
            members.iter().map(|seen| (seen.player, seen.name)).collect()
        };
        if names(&before) != names(&self.chronicles[which].members) {
            self.chronicles[which].changed = now;
        }
        let room = &stage.server().rooms()[at];
        let tick = room.tick();
        for &(player, back) in &room.world().log.backs {
            let mut members = self.chronicles[which].members.iter_mut();
            let native = |seen: &Seen| {
                let card = cards.iter().find(|card| seen.is_of(card));
                card.is_some_and(|card| card.dialect == "native")
            };
            if let Some(seen) = members.find(|seen| seen.player == player && native(seen)) {
                seen.check_time(back, (tick, ticks))?;
            }
        }
        for &(player, buttons) in &room.world().log.applied {
            // Who was freed after the step has no card any more.
            let Some(index) = cards.iter().position(|card| card.player == player) else { continue };
            self.chronicles[which].members[index].held = buttons;
            let seen = before.iter().find(|seen| seen.is_of(&cards[index]));
            self.check_input(stage, seen, &cards[index], (tick, ticks), buttons)?;
        }
        Ok(())
    }

    /// A tick was given `applied` for a member: what the player made for it or, where the room says
    /// that there was nothing, what was held before or nothing.
    fn check_input(
        &mut self,
        stage: &Stage,
        before: Option<&Seen>,
        card: &MemberCard,
        (tick, ticks): (u32, u32),
        applied: Buttons,
    ) -> Result<(), Breach> {
        let Some(life) = self.life_called(card.name).filter(|life| life.plays_native()) else {
            return Ok(());
        };
        let counts = before.map_or((0, 0), |seen| (seen.ticks, seen.ticks_without_input));
        // What was held in between is not known where several ticks were stepped at once.
        let is_known = ticks == 1;
        let is_real = card.ticks > counts.0 && card.ticks_without_input == counts.1;
        let (who, held) = (life.who, before.map_or(Buttons::default(), |seen| seen.held));
        let checked = match life.made_for(tick) {
            made if is_real && made != Some(applied) => {
                Err(Breach::WrongInput { who, tick, applied, made })
            }
            _ if is_known && !is_real && applied != held && applied != Buttons::default() => {
                Err(Breach::WrongRepeat { who, tick, applied, before: held })
            }
            _ => Ok(()),
        };
        excuse(stage, who.guest, checked)
    }

    fn check_words(
        &mut self,
        stage: &Stage,
        at: usize,
        which: usize,
        before: u32,
    ) -> Result<(), Breach> {
        let words = &stage.server().rooms()[at].world().log.words;
        for word in words.iter().filter(|word| word.tick > before) {
            let player = word.player;
            let mut members = self.chronicles[which].members.iter();
            let Some(speaker) = members.find(|seen| seen.player == player) else { continue };
            let (name, role) = (speaker.name, speaker.role);
            let Some(life) = self.life_called(name) else {
                // A name can be damaged, too.
                match stage.is_anything_damaged() {
                    true => continue,
                    false => return Err(Breach::ForeignWord { player }),
                }
            };
            let (who, expected) = (life.who, life.words_heard);
            let checked = match (word.delivery, word.number) {
                _ if role == Role::Watch => Err(Breach::WatcherHeard { player }),
                _ if word.life != who.life => Err(Breach::ForeignWord { player }),
                (Delivery::Unreliable, number) if number >= life.loose_said => {
                    Err(Breach::ForeignWord { player })
                }
                (Delivery::Unreliable, number) => {
                    ensure(life.loose_heard.insert(number), Breach::WordTwice { who, number })
                }
                (Delivery::Reliable, came) if came != expected => {
                    Err(Breach::WrongWord { who, came, expected })
                }
                (Delivery::Reliable, _) => Ok(()),
            };
            life.words_heard += u32::from(word.delivery == Delivery::Reliable);
            excuse(stage, who.guest, checked)?;
        }
        Ok(())
    }

    fn check_tables(&mut self, stage: &mut Stage) -> Result<(), Breach> {
        let limits = stage.scenario().rules.limits;
        let gate = stage.gate();
        if let Some(excess) = gate.ledger.excess() {
            let super::ledger::Excess { address, got, sent } = excess;
            return Err(Breach::Unproved { address, got, sent });
        }
        let kept = gate.server.endpoint().kept();
        let members = gate.server.rooms().iter().map(|room| room.members_here()).sum();
        check_limit("sessions", kept.sessions, limits.sessions.into())?;
        check_limit("members", members, kept.sessions)?;
        check_limit("addresses", kept.addresses, 2 * kept.sessions)?;
        check_limit("tickets", kept.tickets, kept.sessions)?;
        check_limit("rooms", kept.rooms, limits.rooms.into())?;
        check_limit("streams", kept.streams, limits.streams)?;
        check_limit("tokens", kept.tokens, backspin_classic::rtype::TOKEN_LIMIT)
    }

    // --- the guests --------------------------------------------------------------------------

    /// Looks at what a client was told, made and holds.
    fn check_guest(&mut self, stage: &mut Stage, guest: usize, life: usize) -> Result<(), Breach> {
        let (now, play) = (stage.world.now(), stage.scenario().play);
        let calm_since = stage.scenario().heals;
        let Some(guest) = stage.guest(guest) else { return Ok(()) };
        let life = &mut self.lives[life];
        // All of it is taken, whatever is wrong with some of it.
        let mut heard = Ok(());
        while let Some(event) = guest.client.poll_event() {
            heard = heard.and(life.hear(now, &event, guest, &self.chronicles));
        }
        life.note_inputs(guest);
        life.loose_said = guest.loose_words;
        heard?;
        let tick = guest.client.server_tick();
        if !life.is_native() || !life.has_news(tick) || tick == 0 {
            return Ok(());
        }
        let (state, room) = (guest.client.state(), guest.client.room());
        let mut theirs = self.chronicles.iter().rev().filter(|its| Some(its.room) == room);
        if play.is_small() {
            let is_right = theirs.any(|chronicle| chronicle.at(tick) == Some(state));
            return ensure(is_right, Breach::WrongSnapshot { who: life.who, tick });
        }
        let Some(player) = guest.client.player() else { return Ok(()) };
        let eyes = Beholder::new(play, life.plan.role, player);
        let mut checked = Err(Breach::WrongSnapshot { who: life.who, tick });
        // What the server before this one has sent may come now.
        while checked.is_err()
            && let Some(chronicle) = theirs.next()
        {
            let found = life.holdings.check(life.who, eyes, state, chronicle);
            if found.is_ok() && now >= life.seated_at.max(calm_since) + SETTLED {
                life.holdings.check_ages(life.who, eyes, state, chronicle)?;
            }
            if found.is_err() {
                life.holdings = Holdings::default();
            }
            checked = found;
        }
        checked
    }

    fn check_clocks(
        &mut self,
        stage: &mut Stage,
        guest: usize,
        life: usize,
        tick: u32,
    ) -> Result<(), Breach> {
        let now = stage.world.local_time(stage.hosts[guest]);
        let is_small = stage.scenario().play.is_small();
        let draw_every = if is_small { DRAW_EVERY } else { DRAW_LARGE_EVERY };
        let Some(guest) = stage.guest(guest) else { return Ok(()) };
        let life = &mut self.lives[life];
        if guest.mood == Mood::Asleep || !guest.client.is_playing() {
            return Ok(());
        }
        if let Some(pending) = guest.client.pending() {
            check_limit("pending inputs", pending.len(), PENDING_LIMIT)?;
        }
        life.check_ahead(guest, now)?;
        if tick.is_multiple_of(draw_every) {
            guest.client.draw(now, &mut self.frame);
            life.check_drawn(self.frame.drawn_tick)?;
        }
        Ok(())
    }

    // --- the end -----------------------------------------------------------------------------

    /// All has been well for a while: everyone is in and agrees, or knows why not.
    pub(super) fn at_the_end(&mut self, stage: &mut Stage) -> Result<(), Breach> {
        let rooms = stage.server().rooms().iter();
        let cards: Vec<(usize, MemberCard)> = rooms
            .enumerate()
            .flat_map(|(at, room)| room.members().map(move |card| (at, card)))
            .collect();
        let mut owners = Vec::new();
        for guest in 0..self.running.len() {
            let Some(life) = self.running[guest] else { continue };
            if let Some((at, card)) = self.check_in(stage, &cards, guest, life)? {
                owners.push(card.session);
                let agreed = self.check_agreement(stage, guest, life, *at, card);
                excuse(stage, guest, agreed)?;
            }
        }
        // Who has never sent an input is waited for, a little: in `lan` a HELLO may name a port that a
        // NAT has given away.
        let is_claimed = |card: &MemberCard| card.dialect == "native" || card.inputs > 0;
        let is_ghost =
            |card: &MemberCard| card.present && is_claimed(card) && !owners.contains(&card.session);
        let ghost = cards.iter().find(|(_, card)| is_ghost(card));
        ghost.map_or(Ok(()), |(_, card)| Err(Breach::Ghost { player: card.player }))
    }

    /// The member that a guest is, if it is one.
    fn check_in<'a>(
        &self,
        stage: &mut Stage,
        cards: &'a [(usize, MemberCard)],
        guest: usize,
        life: usize,
    ) -> Result<Option<&'a (usize, MemberCard)>, Breach> {
        let (life, address) = (&self.lives[life], stage.addresses[guest]);
        let Some(guest) = stage.guest(guest) else { return Ok(None) };
        if guest.client.ended().is_some() {
            return Ok(None);
        }
        let session = guest.client.session();
        let card = cards.iter().find(|(_, card)| {
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
        at: usize,
        card: &MemberCard,
    ) -> Result<(), Breach> {
        let now = stage.world.local_time(stage.hosts[guest]);
        let (heals, ends) = (stage.scenario().heals, stage.scenario().ends);
        let play = stage.scenario().play;
        let is_small = play.is_small();
        let room = &stage.server().rooms()[at];
        let (tick, world) = (room.tick(), room.world().clone());
        let mut names: Vec<_> = room.members().map(|card| (card.player, card.name)).collect();
        names.sort_unstable_by_key(|(player, _)| *player);
        let which = self.chronicle(room.number());
        let life = &self.lives[life];
        let Some(guest) = stage.guest(guest).filter(|_| life.is_native()) else { return Ok(()) };
        let who = life.who;
        let agrees = |agrees, what| ensure(agrees, Breach::Disagreement { who, what });
        agrees(guest.client.server_tick() + FRESH_TICKS >= tick, "the time")?;
        let chronicle = &self.chronicles[which];
        let shown = chronicle.at(guest.client.server_tick());
        agrees(!is_small || shown == Some(guest.client.state()), "what there is")?;
        if life.plays_native() {
            let dot = world.dots.dots.iter().find(|dot| dot.player == card.player);
            let own = dot.map(|dot| [dot.x as f32, dot.y as f32]);
            let predicted = guest.client.predicted().map(|(_, place)| place);
            agrees(predicted == own, "where it is itself")?;
        }
        let roster = guest.client.roster().iter();
        let mut roster: Vec<_> = roster.map(|line| (line.player, line.name)).collect();
        roster.sort_unstable_by_key(|(player, _)| *player);
        // A roster is told a few times and then no more: it counts if it was over a good line.
        let is_told = heals < chronicle.changed && chronicle.changed + ROSTER_TOLD < ends;
        agrees(!is_told || roster == names, "who is here")?;
        guest.client.draw(now, &mut self.frame);
        agrees(!is_small || chronicle.shows(&self.frame, play.every), "what it draws")?;
        let (said, heard) = (guest.words, life.words_heard);
        ensure(!life.plays_native() || said == heard, Breach::LostWord { who, heard, said })?;
        if let Some(mailbox) = &life.mailbox {
            mailbox.check_all_came(who, &self.chronicles)?;
        }
        let raised = chronicle.raised_long_ago();
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
    ensure(kept <= limit, Breach::OverLimit { what, kept, limit })
}
