//! What is drawn where states have no ticks: others by the time at which states arrive, the own
//! entity ahead of the server, by what was pressed.
//!
//! States are numbered as they come, and kept with the time that [`ArrivalClock`] stamps on them;
//! the picture draws between their numbers. Past the newest, a number more is a tick more.

use std::collections::VecDeque;
use std::time::Duration;

use backspin::client::{ClientCore, ClientEvent, Frame};
use backspin::game::{Buttons, Event, Game, PlayerId, Reach};
use backspin::replication::{Drawn, KEPT, SnapshotBuffer, State, UnackedPrediction};
use backspin::time::Time;
use backspin::timing::{ArrivalClock, Delay, LossMeter, Mark};
use backspin::typed::RawInput;

/// Of states that come faster than this, the newest in each such stretch is kept: all that are
/// kept reach back for three quarters of a second at least.
const FINEST_S: f64 = 0.012;

/// An input goes out so often.
const INPUT_PERIOD: Duration = Duration::from_nanos(1_000_000_000 / 60);

/// A client that was stopped for longer does not make up for the inputs it missed.
const CATCH_UP_LIMIT: u32 = 4;

/// What an old dialect keeps for drawing.
#[derive(Clone, Debug)]
pub struct LegacyPlayback<G: Game> {
    game: G,
    clock: ArrivalClock,
    loss: Option<LossMeter>,
    picture: SnapshotBuffer,
    /// The time of each state that is kept, by its number.
    stamps_s: [f64; KEPT],
    /// The newest state; its tick is its number here.
    state: State,
    /// When the last frame was, and the time that it drew.
    last_frame: Option<(Time, f64)>,
    own: Option<UnackedPrediction<G>>,
    last_input: Time,
    next_input: Time,
    happened: VecDeque<Event>,
}

impl<G: Game> LegacyPlayback<G> {
    /// Nothing has come yet.
    pub fn new(now: Time, game: G) -> Self {
        LegacyPlayback {
            game,
            clock: ArrivalClock::new(),
            loss: None,
            picture: SnapshotBuffer::default(),
            stamps_s: [0.0; KEPT],
            state: State::default(),
            last_frame: None,
            own: None,
            last_input: now,
            next_input: now,
            happened: VecDeque::new(),
        }
    }

    /// The rules.
    pub fn game(&self) -> &G {
        &self.game
    }

    /// The newest state.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// From one state to the next.
    pub fn period(&self) -> Option<Duration> {
        self.clock.period()
    }

    /// How far behind others are drawn, and why.
    pub fn delay(&self) -> Delay {
        let (total, interval) = (self.clock.delay(), self.clock.period().unwrap_or_default());
        let lost = self.loss.as_ref().map_or(0.0, LossMeter::share);
        Delay { total, jitter: total.saturating_sub(interval), interval, lost }
    }

    /// The newest input's number, and where the own entity is after it.
    pub fn predicted(&self) -> Option<(u32, [f32; 2])> {
        let (number, entity) = self.own.as_ref().filter(|own| self.has(own))?.newest()?;
        Some((number, self.game.schema().place_of(entity)?))
    }

    /// Whether the own entity is there: it may be dead.
    fn has(&self, own: &UnackedPrediction<G>) -> bool {
        self.state.find(own.own()).is_some()
    }

    // --- what comes in -----------------------------------------------------------------------

    /// Our thread was woken now.
    pub fn handle_wake(&mut self, now: Time) {
        self.clock.handle_wake(now);
    }

    /// Takes a state that came now, with what is known of when it was made: `read` writes it. Says
    /// whether it is newer than the newest.
    pub fn take(&mut self, now: Time, mark: Mark, read: impl FnOnce(&G, &mut State)) -> bool {
        if let Mark::Number(number) = mark {
            self.loss.get_or_insert_with(LossMeter::new).handle_arrival(number);
        }
        let Some(stamp_s) = self.clock.handle_state(now, mark) else { return false };
        let next = match self.picture.newest() {
            None => 0,
            Some(newest) if newest > 0 && stamp_s - self.stamp_s(newest - 1) < FINEST_S => newest,
            Some(newest) => newest.wrapping_add(1),
        };
        self.stamps_s[next as usize % KEPT] = stamp_s;
        self.state.tick = next;
        self.amend(read);
        true
    }

    /// The newest state, with what was added to it: `read` writes all of it.
    pub fn amend(&mut self, read: impl FnOnce(&G, &mut State)) {
        self.state.clear(self.state.tick);
        read(&self.game, &mut self.state);
        self.picture.keep(&self.state);
    }

    /// The newest state says where the own entity is. `rtt` is the round trip, where it is known.
    pub fn reconcile(&mut self, player: PlayerId, rtt: Option<Duration>) {
        let id = self.game.entity_of(player);
        if let Some(own) = self.own.as_mut().filter(|own| own.own() == id)
            && own.reconcile(&self.state)
        {
            return;
        }
        let lag = rtt.map(|rtt| rtt.div_duration_f32(INPUT_PERIOD));
        self.own = UnackedPrediction::new(self.game.clone(), player, &self.state, lag);
    }

    // --- what goes out -----------------------------------------------------------------------

    /// The server has let us in: inputs begin.
    pub fn begin(&mut self, now: Time) {
        self.next_input = now + INPUT_PERIOD;
    }

    /// When the next input is due.
    pub fn input_due(&self) -> Time {
        self.next_input
    }

    /// Makes the inputs that are due. The old dialects have no ticks: one comes every so often.
    pub fn make_inputs(&mut self, core: &mut ClientCore, now: Time, buttons: Buttons) {
        // A client that was stopped for a while does not run after the past.
        if now.since(self.next_input) > INPUT_PERIOD * CATCH_UP_LIMIT {
            self.next_input = now;
        }
        while self.next_input <= now {
            core.due.input = true;
            self.handle_input(self.next_input, buttons);
            self.next_input += INPUT_PERIOD;
            while let Some(event) = self.poll_event() {
                core.note(ClientEvent::Game(event));
            }
        }
    }

    /// An input was made.
    fn handle_input(&mut self, now: Time, buttons: Buttons) {
        self.last_input = now;
        let happened = &mut self.happened;
        if let Some(own) = &mut self.own {
            own.advance(RawInput::of(buttons), |event| happened.push_back(event));
        }
    }

    /// What happened in the last inputs, and is for the player who made them.
    fn poll_event(&mut self) -> Option<Event> {
        std::iter::from_fn(|| self.happened.pop_front()).find(|event| event.reach == Reach::Own)
    }

    // --- what is shown -----------------------------------------------------------------------

    /// What is on the screen at `now`: fills an empty frame.
    pub fn draw(&mut self, now: Time, frame: &mut Frame) {
        let Some(drawn_s) = self.clock.drawn(now) else { return };
        let last = self.last_frame.replace((now, drawn_s));
        let ms = last.map_or(0.0, |(then, _)| now.since(then).as_secs_f32() * 1e3);
        if let Some((_, last_s)) = last {
            self.picture.redate(self.number_at(last_s));
        }
        let number = self.number_at(drawn_s);
        let own_id = self.own.as_ref().map(UnackedPrediction::own);
        self.picture.draw(self.game.schema(), number, ms, |entity, fields| {
            if Some(entity.id) != own_id {
                frame.entities.push(Drawn { entity: entity.clone(), fields });
            }
        });
        let fraction = now.since(self.last_input).div_duration_f32(INPUT_PERIOD).min(1.0);
        let is_there = self.own.as_ref().is_some_and(|own| self.has(own));
        if let Some((entity, fields)) =
            self.own.as_mut().filter(|_| is_there).and_then(|own| own.draw(fraction, ms))
        {
            let place = frame.entities.partition_point(|drawn| drawn.entity.id < entity.id);
            frame.entities.insert(place, Drawn { entity: entity.clone(), fields });
        }
    }

    /// Whether nothing has come yet of the time that is drawn at `now`.
    pub fn is_starved(&self, now: Time) -> bool {
        match (self.clock.drawn(now), self.picture.newest()) {
            (Some(drawn_s), Some(newest)) => drawn_s > self.stamp_s(newest),
            _ => true,
        }
    }

    fn stamp_s(&self, number: u32) -> f64 {
        self.stamps_s[number as usize % KEPT]
    }

    /// The number, with its fraction, of what there was at `drawn_s`.
    fn number_at(&self, drawn_s: f64) -> f64 {
        let Some(newest) = self.picture.newest() else { return 0.0 };
        let past_s = drawn_s - self.stamp_s(newest);
        if past_s >= 0.0 {
            return f64::from(newest) + past_s * f64::from(self.game.tick_rate());
        }
        let oldest = newest.saturating_sub(KEPT as u32 - 1);
        for number in (oldest..newest).rev() {
            let (from_s, to_s) = (self.stamp_s(number), self.stamp_s(number + 1));
            if from_s <= drawn_s {
                return f64::from(number) + (drawn_s - from_s) / (to_s - from_s);
            }
        }
        f64::from(oldest)
    }
}

/// What the client of an old dialect leaves to its `playback`.
macro_rules! plays_back {
    () => {
        fn poll_timeout(&self) -> Time {
            self.playback.input_due()
        }

        fn handle_wake(&mut self, now: Time) {
            self.playback.handle_wake(now);
        }

        fn state(&self) -> &State {
            self.playback.state()
        }

        fn delay(&self) -> Delay {
            self.playback.delay()
        }

        fn predicted(&self) -> Option<(u32, [f32; 2])> {
            self.playback.predicted()
        }

        fn draw(&mut self, now: Time, frame: &mut Frame) {
            self.playback.draw(now, frame);
        }

        fn is_starved(&self, now: Time) -> bool {
            self.playback.is_starved(now)
        }
    };
}
pub(crate) use plays_back;
