//! A match on one machine, without a network: two at one keyboard, or one against bots.
//!
//! The rules are stepped as a room steps them, every input counts at once, and what is drawn lies
//! between the last two ticks.

use std::collections::VecDeque;
use std::time::Duration;

use crate::client::Frame;
use crate::game::{Effects, Event, Game, Mail, PlayerId, PlayerInput, To, Turn};
use crate::replication::{Drawn, Entity, State, blend};
use crate::time::Time;
use crate::typed::{Message, RawInput};

/// Events and messages that nobody has read yet; older ones make room.
const EVENT_LIMIT: usize = 256;

/// A match that was held up for longer than so many ticks goes on from where it was.
const CATCH_UP_LIMIT: u32 = 4;

/// A match on one machine.
#[derive(Debug)]
pub struct Local<G: Game> {
    game: G,
    world: G::World,
    tick: u32,
    /// When the next tick is due; while the match is paused, how long it was still to wait.
    next: Next,
    inputs: Vec<PlayerInput>,
    before: State,
    newest: State,
    raised: Vec<Event>,
    events: VecDeque<Event>,
    mail: Mail,
    messages: VecDeque<G::Message>,
}

#[derive(Clone, Copy, Debug)]
enum Next {
    At(Time),
    Paused { left: Duration },
}

impl<G: Game> Local<G> {
    /// A match of `players` that begins at `now`.
    pub fn new(now: Time, game: G, seed: u64, players: impl IntoIterator<Item = PlayerId>) -> Self {
        let mut world = game.begin(seed);
        let mut inputs = Vec::new();
        for player in players {
            game.join(&mut world, player, &G::JoinData::default());
            inputs.push(PlayerInput::new(player, G::Input::default()));
        }
        let mut local = Local {
            game,
            world,
            tick: 0,
            next: Next::At(now),
            inputs,
            before: State::default(),
            newest: State::default(),
            raised: Vec::new(),
            events: VecDeque::new(),
            mail: Mail::default(),
            messages: VecDeque::new(),
        };
        local.next = Next::At(now + local.period());
        local.look();
        local.before.clone_from(&local.newest);
        local
    }

    /// The rules.
    pub fn game(&self) -> &G {
        &self.game
    }

    /// The world after the last tick.
    pub fn world(&self) -> &G::World {
        &self.world
    }

    /// The last tick.
    pub fn tick(&self) -> u32 {
        self.tick
    }

    /// What there is to see after the last tick.
    pub fn state(&self) -> &State {
        &self.newest
    }

    /// What a player holds from now on.
    pub fn press(&mut self, player: PlayerId, input: G::Input) {
        for held in self.inputs.iter_mut().filter(|held| held.player == player) {
            held.input = RawInput::of(input);
        }
    }

    /// What a player says to the game.
    pub fn say(&mut self, player: PlayerId, message: G::Message) {
        let mut effects = Effects::new(&mut self.raised).mailing(&mut self.mail);
        self.game.on_message(&mut self.world, player, message, &mut effects);
    }

    /// What happened since this was asked last.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// A message that the rules have sent to someone who plays here, since this was asked last.
    pub fn poll_message(&mut self) -> Option<G::Message> {
        self.messages.pop_front()
    }

    /// Stops the time of the match.
    pub fn pause(&mut self, now: Time) {
        if let Next::At(at) = self.next {
            self.next = Next::Paused { left: at.since(now) };
        }
    }

    /// Lets it go on.
    pub fn unpause(&mut self, now: Time) {
        if let Next::Paused { left } = self.next {
            self.next = Next::At(now + left);
        }
    }

    /// Whether it stands still.
    pub fn is_paused(&self) -> bool {
        matches!(self.next, Next::Paused { .. })
    }

    /// Steps the ticks that are due.
    pub fn handle_timeout(&mut self, now: Time) {
        let Next::At(mut next) = self.next else { return };
        let period = self.period();
        if next + period * CATCH_UP_LIMIT < now {
            next = now;
        }
        while next <= now {
            self.step();
            next += period;
        }
        self.next = Next::At(next);
    }

    /// When [`Local::handle_timeout`] is due; never while the match is paused.
    pub fn poll_timeout(&self) -> Option<Time> {
        match self.next {
            Next::At(at) => Some(at),
            Next::Paused { .. } => None,
        }
    }

    /// What is on the screen at `now`.
    pub fn draw(&self, now: Time, frame: &mut Frame) {
        let left = match self.next {
            Next::At(at) => at.since(now),
            Next::Paused { left } => left,
        };
        let fraction = 1.0 - left.div_duration_f32(self.period()).clamp(0.0, 1.0);
        let schema = self.game.schema();
        frame.clear();
        frame.drawn_tick = Some(f64::from(self.tick) - 1.0 + f64::from(fraction));
        frame.entities.extend(self.newest.entities().iter().map(|entity| {
            let before = self.before.find(entity.id).filter(|old| old.kind == entity.kind);
            let fields = blend(schema, before.unwrap_or(entity), entity, fraction);
            Drawn { entity: entity.clone(), fields }
        }));
        // What the last tick took away is drawn to its end.
        let gone = |entity: &&Entity| self.newest.find(entity.id).is_none();
        frame.entities.extend(self.before.entities().iter().filter(gone).map(|entity| {
            let fields = blend(schema, entity, &entity.extrapolate(schema, 1), fraction);
            Drawn { entity: entity.clone(), fields }
        }));
        frame.entities.sort_unstable_by_key(|drawn| drawn.entity.id);
    }

    fn period(&self) -> Duration {
        Duration::from_nanos(1_000_000_000 / u64::from(self.game.tick_rate()))
    }

    fn step(&mut self) {
        self.tick = self.tick.wrapping_add(1).max(1);
        let turn = Turn::new(self.tick, &self.inputs, &[], &mut self.raised);
        let mut turn = turn.mailing(&mut self.mail);
        self.game.step(&mut self.world, &mut turn);
        for event in self.raised.drain(..) {
            if self.events.len() == EVENT_LIMIT {
                self.events.pop_front();
            }
            self.events.push_back(event);
        }
        self.deliver();
        std::mem::swap(&mut self.before, &mut self.newest);
        self.look();
    }

    /// Hands over what the rules have sent: once, whoever of those who play here it is for.
    fn deliver(&mut self) {
        let is_here = |player: &PlayerId| self.inputs.iter().any(|input| input.player == *player);
        let letters = self.mail.letters().filter(|letter| match letter.to {
            To::Everyone => true,
            To::Player(player) => is_here(&player),
            To::Players(players) => players.iter().any(is_here),
        });
        for letter in letters {
            if self.messages.len() == EVENT_LIMIT {
                self.messages.pop_front();
            }
            self.messages.extend(G::Message::read(letter.message));
        }
        self.mail.clear();
    }

    fn look(&mut self) {
        self.newest.clear(self.tick);
        self.game.capture(&self.world, &mut self.newest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dot::Dots;
    use crate::game::Buttons;

    const ANN: PlayerId = PlayerId(1);

    fn at(ticks: u64) -> Time {
        Time::from_nanos(ticks * 1_000_000_000 / 60 + ticks)
    }

    fn local() -> Local<Dots> {
        Local::new(Time::ZERO, Dots::default(), 1, [ANN, PlayerId(2)])
    }

    fn x_drawn(local: &Local<Dots>, now: Time) -> f32 {
        let mut frame = Frame::default();
        local.draw(now, &mut frame);
        frame.entities[0].fields[0]
    }

    #[test]
    fn an_input_counts_in_the_next_tick_and_is_drawn_between_the_ticks() {
        let mut local = local();
        local.press(ANN, Buttons::RIGHT);
        let x = local.world().dots[0].x;
        local.handle_timeout(at(1));
        assert_eq!((local.tick(), local.world().dots[0].x), (1, x + Dots::STEP));
        let half = Duration::from_nanos(1_000_000_000 / 120);
        let drawn = x_drawn(&local, at(1) + half);
        assert!((drawn - (x as f32 + 2.5)).abs() < 0.05, "{drawn} for {x}");
    }

    #[test]
    fn a_pause_stops_time_and_skips_none() {
        let mut local = local();
        local.press(ANN, Buttons::RIGHT);
        local.handle_timeout(at(3));
        local.pause(at(3));
        local.handle_timeout(at(100));
        assert_eq!((local.tick(), local.is_paused(), local.poll_timeout()), (3, true, None));
        assert_eq!(x_drawn(&local, at(50)), x_drawn(&local, at(90)));
        local.unpause(at(100));
        local.handle_timeout(at(101));
        assert_eq!(local.tick(), 4);
    }

    #[test]
    fn a_machine_that_slept_does_not_run_after_the_past() {
        let mut local = local();
        local.handle_timeout(at(1));
        local.handle_timeout(at(1000));
        assert_eq!(local.tick(), 2);
    }
}
