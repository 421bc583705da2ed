//! One run of one guest's program, as the checker knows it.

use std::collections::BTreeSet;

use super::breach::{Breach, Who, ensure};
use super::cast::Guest;
use super::chronicle::Chronicle;
use super::mailbox::Mailbox;
use super::scenario::GuestPlan;
use super::sight::Holdings;
use super::stage::name_of;
use backspin::client::ClientEvent;
use backspin::game::{Buttons, PlayerId};
use backspin::session::EndReason;
use backspin::time::Time;
use backspin::wire::Name;
use backspin::wire::native::{Role, SessionIndex};
use backspin_classic::Dialect;

/// What is known of a program, whether it still runs or not.
#[derive(Debug)]
pub(super) struct Life {
    pub(super) who: Who,
    pub(super) name: Name,
    pub(super) plan: GuestPlan,
    pub(super) fate: Fate,
    /// What the room said of its places.
    pub(super) admissions: Vec<Admission>,
    /// The number of the event that it is told next, once it is in.
    pub(super) next_event: Option<u32>,
    /// The letters that it gets, once it is in.
    pub(super) mailbox: Option<Mailbox>,
    /// How many of its words that must arrive the game has heard.
    pub(super) words_heard: u32,
    /// How many words it said that may be lost, and which of them the game has heard.
    pub(super) loose_said: u32,
    pub(super) loose_heard: BTreeSet<u32>,
    /// What it has of a world that is its own.
    pub(super) holdings: Holdings,
    /// When it came in, or came back.
    pub(super) seated_at: Time,
    /// How often it came back.
    pub(super) resumes: u32,
    inputs: Inputs,
    /// The tick of the snapshot that was looked at last.
    seen_tick: u32,
    clocks: Clocks,
}

/// What was done to a program, which explains its end.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fate {
    pub(super) left: bool,
    pub(super) kicked: bool,
    /// The server said goodbye, or was started anew.
    pub(super) forsaken: bool,
    /// A place of its own was given up.
    pub(super) freed: bool,
    /// More messages waited for it than are kept.
    pub(super) overrun: bool,
    /// The server has heard nothing of it for too long.
    pub(super) dropped: bool,
}

/// A place that was given to a program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Admission {
    pub(super) session: SessionIndex,
    pub(super) server: u32,
    /// The number of the room.
    pub(super) room: u32,
    pub(super) player: PlayerId,
    /// The number of the first event after that, and of the first letter.
    pub(super) first_event: u32,
    pub(super) first_letter: u32,
}

/// What a program made for which tick, as far as it can still matter.
#[derive(Debug)]
struct Inputs {
    ring: Vec<Option<(u32, Buttons)>>,
    /// The newest that was noted.
    newest: Option<u32>,
}

/// What the clocks of a seat showed last.
#[derive(Clone, Copy, Debug, Default)]
struct Clocks {
    ahead: Option<f64>,
    drawn: Option<f64>,
}

const INPUTS_KEPT: usize = 512;

impl Life {
    pub(super) fn new(who: Who, plan: GuestPlan) -> Self {
        Life {
            who,
            name: name_of(who.life),
            plan,
            fate: Fate::default(),
            admissions: Vec::new(),
            next_event: None,
            mailbox: None,
            words_heard: 0,
            loose_said: 0,
            loose_heard: BTreeSet::new(),
            holdings: Holdings::default(),
            seated_at: Time::ZERO,
            resumes: 0,
            inputs: Inputs { ring: vec![None; INPUTS_KEPT], newest: None },
            seen_tick: 0,
            clocks: Clocks::default(),
        }
    }

    pub(super) fn is_native(&self) -> bool {
        self.plan.dialect == Dialect::Native
    }

    pub(super) fn plays_native(&self) -> bool {
        self.is_native() && self.plan.role == Role::Play
    }

    /// What it made for `tick`.
    pub(super) fn made_for(&self, tick: u32) -> Option<Buttons> {
        let made = self.inputs.ring[tick as usize % INPUTS_KEPT];
        made.filter(|(made_for, _)| *made_for == tick).map(|(_, buttons)| buttons)
    }

    /// Takes what the client tells its screen.
    pub(super) fn hear(
        &mut self,
        now: Time,
        event: &ClientEvent,
        guest: &Guest,
        chronicles: &[Chronicle],
    ) -> Result<(), Breach> {
        match event {
            ClientEvent::Connected(_) => {
                self.begin_seat(now);
                let (session, room) = (guest.client.session(), guest.client.room());
                let mut admitted = self.admissions.iter().rev();
                let ours = admitted.find(|admission| {
                    (Some(admission.session), Some(admission.room)) == (session, room)
                });
                self.next_event = ours.map(|admission| admission.first_event);
                self.mailbox =
                    ours.map(|&Admission { server, room, player, first_letter, .. }| {
                        Mailbox::new((server, room), player, first_letter)
                    });
                // What was said in another room and had not arrived is not heard in this one.
                self.words_heard = guest.words;
            }
            ClientEvent::Resumed(_) => {
                self.begin_seat(now);
                self.resumes += 1;
            }
            ClientEvent::Game(event) => {
                if let (Some(came), Some(expected)) =
                    (super::probe::number_of(event), self.next_event)
                {
                    self.next_event = Some(expected + 1);
                    ensure(came == expected, Breach::WrongEvent { who: self.who, came, expected })?;
                }
            }
            ClientEvent::Message(bytes) => {
                if let Some(mailbox) = &mut self.mailbox {
                    return mailbox.take(self.who, &bytes.0, self.next_event, chronicles);
                }
            }
            ClientEvent::Ended(reason) if !self.explains(*reason) => {
                return Err(Breach::WrongReason { who: self.who, reason: *reason });
            }
            _ => {}
        }
        Ok(())
    }

    /// Whether something happened to it that ends so.
    fn explains(&self, reason: EndReason) -> bool {
        let Fate { left, kicked, forsaken, freed, overrun, dropped } = self.fate;
        match reason {
            EndReason::Left => left,
            EndReason::Kicked => kicked,
            EndReason::Stopped => forsaken,
            EndReason::SentToMenu => kicked || forsaken,
            EndReason::Backlog => overrun,
            // In `native` a player who is dropped comes back.
            EndReason::Silent => dropped && !self.is_native(),
            EndReason::PlaceGivenUp => freed || forsaken,
            EndReason::Full
            | EndReason::TooManyFromAddress
            | EndReason::NoAnswer { .. }
            | EndReason::Unreachable { .. }
            | EndReason::BrokenOff { .. }
            | EndReason::HostSilent { .. }
            | EndReason::NotResponding
            | EndReason::Stalled => true,
            _ => false,
        }
    }

    /// Clocks, inputs and what it has of the world begin anew; events, letters and words go on.
    fn begin_seat(&mut self, now: Time) {
        self.seated_at = now;
        self.holdings = Holdings::default();
        self.clocks = Clocks::default();
        self.inputs.newest = None;
        self.seen_tick = 0;
    }

    /// Notes the inputs that were made since this was called last.
    pub(super) fn note_inputs(&mut self, guest: &Guest) {
        let Some(pending) = guest.client.pending() else { return };
        let noted = self.inputs.newest;
        let is_new =
            |tick: u32| noted.is_none_or(|noted| tick.wrapping_sub(noted).cast_signed() > 0);
        for input in pending.iter().take_while(|input| is_new(input.tick)) {
            let made = (input.tick, input.input.read());
            self.inputs.ring[input.tick as usize % INPUTS_KEPT] = Some(made);
            if self.inputs.newest.is_none_or(|newest| input.tick > newest) {
                self.inputs.newest = Some(input.tick);
            }
        }
    }

    /// Whether the client's newest snapshot is another than before.
    pub(super) fn has_news(&mut self, tick: u32) -> bool {
        std::mem::replace(&mut self.seen_tick, tick) != tick
    }

    /// Looks at the clock that inputs are made by.
    pub(super) fn check_ahead(&mut self, guest: &Guest, now: Time) -> Result<(), Breach> {
        let shown = guest.client.ahead_tick(now);
        check_clock(self.who, "ahead", &mut self.clocks.ahead, shown)
    }

    /// Looks at the clock that others are drawn by.
    pub(super) fn check_drawn(&mut self, shown: Option<f64>) -> Result<(), Breach> {
        check_clock(self.who, "behind", &mut self.clocks.drawn, shown)
    }
}

/// Fractions may round either way.
const ROUNDING: f64 = 1e-6;

fn check_clock(
    who: Who,
    clock: &'static str,
    before: &mut Option<f64>,
    shown: Option<f64>,
) -> Result<(), Breach> {
    let Some(to) = shown else { return Ok(()) };
    match before.replace(to) {
        Some(from) if to < from - ROUNDING => Err(Breach::ClockBack { who, clock, from, to }),
        _ => Ok(()),
    }
}
