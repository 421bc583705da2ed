//! The game that is played in a chaos run: [`Dots`] as the day's [`Play`] has them, and a log of what the
//! room did to it.
//!
//! The log is the world's own and never sent: the checker reads it after every tick and learns what
//! was applied, heard and raised from the rules' side of the room, not from the room itself.

use super::letters::{self, Letter};
use super::play::Play;
use crate::dot::{self, Dot, Dots};
use backspin::channel::Delivery;
use backspin::game::{Buttons, Effects, Event, Game, GameId, PlayerId, Reach, Turn};
use backspin::replication::{Schema, State, View, Viewer};
use backspin::typed::RawMessage;
use backspin_classic::ClassicGame;

/// The rules: those of [`Dots`], with numbered events and letters now and then.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Probe {
    play: Play,
    dots: Dots,
}

/// The dots, and what happened to them.
#[derive(Debug, Default)]
pub(super) struct World {
    pub(super) dots: dot::World,
    pub(super) log: Log,
    /// What the swarm does follows from it; only the server has it.
    dice: u64,
    /// The id of the next that joins the swarm.
    next_id: u32,
}

/// What a room did to its world in the last tick.
#[derive(Debug, Default)]
pub(super) struct Log {
    /// Which tick that was; 0 before the first.
    pub(super) tick: u32,
    /// Who held what in it.
    pub(super) applied: Vec<(PlayerId, Buttons)>,
    /// At which time each was judged, in ticks before it.
    pub(super) backs: Vec<(PlayerId, f64)>,
    /// What was heard before it, and before the last few.
    pub(super) words: Vec<Word>,
    /// How many numbered events were raised so far: the number of the next.
    pub(super) raised: u32,
    /// All letters that were sent so far, by number.
    pub(super) letters: Vec<Letter>,
    /// What there was to be sent after it, or after the last that is shown.
    pub(super) shown: State,
    /// Someone who joined and was there already.
    pub(super) doubled: Option<PlayerId>,
}

/// Something that a player said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// Which tick came next.
    pub(super) tick: u32,
    /// Who said it, as the room knows.
    pub(super) player: PlayerId,
    /// Which run of which program, as the word says.
    pub(super) life: u32,
    /// The how many-th of its delivery it was; 0 is the first.
    pub(super) number: u32,
    pub(super) delivery: Delivery,
}

/// Words of so many ticks are kept: more than a room that was held up steps at once.
const WORDS_KEPT_TICKS: u32 = 16;

/// The kind of the numbered events.
const NUMBERED: u8 = 1;

/// Of a thousand ticks, in how many one of the swarm is destroyed and another comes.
const RENEWALS: u64 = 16;

/// The number of an event that the probe raised.
pub(super) fn number_of(event: &Event) -> Option<u32> {
    (event.kind == NUMBERED).then_some(event.value.cast_unsigned())
}

impl Clone for World {
    fn clone(&self) -> Self {
        // Nobody looks at the log of a world that was kept.
        World { dots: self.dots.clone(), ..World::default() }
    }

    fn clone_from(&mut self, source: &Self) {
        self.dots.clone_from(&source.dots);
    }
}

impl World {
    fn roll(&mut self, end: u64) -> u64 {
        // xorshift64*
        self.dice ^= self.dice >> 12;
        self.dice ^= self.dice << 25;
        self.dice ^= self.dice >> 27;
        (self.dice.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % end
    }

    fn roll_pace(&mut self) -> (i32, i32) {
        let most = 2 * Dots::STEP;
        let mut pace = || self.roll(2 * most as u64 + 1) as i32 - most;
        (pace(), pace())
    }

    /// Some of the swarm take a new course, and now and then one is destroyed and another comes.
    fn stir(&mut self, turns: u32) {
        for index in 0..self.dots.swarm.len() {
            if self.roll(1_000) < turns.into() {
                self.dots.swarm[index].moved = self.roll_pace();
            }
        }
        let len = self.dots.swarm.len() as u64;
        if len > 0 && self.roll(1_000) < RENEWALS {
            let goner = self.roll(len) as usize;
            self.dots.swarm.remove(goner);
            let (width, height) = Dots::FIELD;
            let (x, y) = (self.roll(width as u64) as i32, self.roll(height as u64) as i32);
            let (player, moved) = (PlayerId(self.next_id), self.roll_pace());
            self.next_id += 1;
            self.dots.swarm.push(Dot { player, x, y, moved });
        }
    }
}

impl Probe {
    pub(super) fn new(play: Play) -> Self {
        Probe { play, dots: Dots { swarm: play.swarm } }
    }

    fn move_dots(self, world: &mut World, turn: &Turn<'_, Probe>) {
        let mut none = Vec::new();
        let mut turn = Turn::new(turn.tick(), turn.inputs(), &[], &mut none);
        self.dots.step(&mut world.dots, &mut turn);
    }
}

/// How many events are raised in `tick`: four in a second, at uneven times and sometimes two at
/// once. Whoever is away for as long as a place is kept has fewer waiting than an outbox holds.
fn events_in(tick: u32) -> u32 {
    match tick.wrapping_mul(0x9E37_79B1) >> 26 {
        0 => 2,
        1..=3 => 1,
        _ => 0,
    }
}

impl Game for Probe {
    type World = World;
    type Input = Buttons;
    type Message = RawMessage;
    type JoinData = ();

    fn id(&self) -> GameId {
        GameId::new(*b"PROB", 1)
    }

    fn send_every(&self) -> u8 {
        self.play.every
    }

    fn byte_budget(&self) -> u32 {
        self.play.budget
    }

    fn visible(&self, world: &World, viewer: Viewer, view: &mut View) {
        if self.play.sight.is_none() {
            return view.everything();
        }
        let dots = &world.dots;
        let eye = match viewer {
            Viewer::Watcher => (0, 0),
            Viewer::Player(player) => {
                let own = dots.dots.iter().find(|dot| dot.player == player);
                own.map_or(Dots::start_of(player), |own| (own.x, own.y))
            }
        };
        for dot in dots.dots.iter().chain(&dots.swarm) {
            let id = dot.player.0;
            if let Some(priority) = self.play.priority(viewer, eye, id, (dot.x, dot.y)) {
                view.show(id, priority);
            }
        }
    }

    fn capacity(&self) -> u8 {
        self.dots.capacity()
    }

    fn schema(&self) -> &'static Schema {
        self.dots.schema()
    }

    fn begin(&self, seed: u64) -> World {
        let (dots, mut log) = (self.dots.begin(seed), Log::default());
        self.dots.capture(&dots, &mut log.shown);
        World {
            dots,
            log,
            dice: seed | 1,
            next_id: Dots::FIRST_OF_SWARM + u32::from(self.play.swarm),
        }
    }

    fn join(&self, world: &mut World, player: PlayerId, _: &()) {
        if world.dots.dots.iter().any(|dot| dot.player == player) {
            world.log.doubled = Some(player);
        }
        self.dots.join(&mut world.dots, player, &());
    }

    fn leave(&self, world: &mut World, player: PlayerId) {
        self.dots.leave(&mut world.dots, player);
    }

    fn step(&self, world: &mut World, turn: &mut Turn<'_, Self>) {
        world.stir(self.play.turns);
        self.move_dots(world, turn);
        let log = &mut world.log;
        log.tick = turn.tick();
        log.words.retain(|word| word.tick + WORDS_KEPT_TICKS > turn.tick());
        log.applied.clear();
        log.applied.extend(turn.inputs().iter().map(|input| (input.player, input.input.read())));
        log.backs.clear();
        log.backs.extend(
            turn.inputs()
                .iter()
                .filter_map(|input| Some((input.player, f64::from(turn.tick()) - input.drawn?))),
        );
        for _ in 0..events_in(turn.tick()) {
            let value = log.raised.cast_signed();
            turn.raise(Event { kind: NUMBERED, entity: 0, value, reach: Reach::Everyone });
            log.raised += 1;
        }
        let players: Vec<_> = world.dots.dots.iter().map(|dot| dot.player).collect();
        if let Some(letter) = Letter::draw(self.play, turn.tick(), log.raised, &players) {
            let bytes = letter.write(log.letters.len() as u32);
            // A letter that was refused to the rules was never sent.
            if turn.send(letter.to.to(), letter.delivery, &RawMessage(bytes)).is_ok() {
                log.letters.push(letter);
            }
        }
        if self.play.is_small() || self.play.shows(turn.tick()) {
            log.shown.clear(turn.tick());
            self.dots.capture(&world.dots, &mut log.shown);
        }
    }

    fn predict(&self, world: &mut World, turn: &mut Turn<'_, Self>) {
        self.move_dots(world, turn);
    }

    fn capture(&self, world: &World, state: &mut State) {
        self.dots.capture(&world.dots, state);
    }

    fn restore(&self, state: &State) -> World {
        World { dots: self.dots.restore(state), ..World::default() }
    }

    fn restore_into(&self, state: &State, world: &mut World) {
        self.dots.restore_into(state, &mut world.dots);
    }

    fn on_message(
        &self,
        world: &mut World,
        player: PlayerId,
        words: RawMessage,
        _: &mut Effects<'_, RawMessage>,
    ) {
        // What is damaged on the way says nothing; the gap that it leaves is seen.
        if let Some(letters::Numbered { author: life, number, delivery }) = letters::read(&words.0)
        {
            let tick = world.log.tick + 1;
            world.log.words.push(Word { tick, player, life, number, delivery });
        }
    }
}

impl ClassicGame for Probe {
    fn lan_state(&self, world: &World) -> Option<backspin_classic::wire::lan::StateUpdate> {
        self.dots.lan_state(&world.dots)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_outbox_overflows_while_a_place_is_kept() {
        // The longest silence of a chaos run, in ticks, wherever it begins.
        let away = super::super::rules::Rules::LONGEST_AWAY;
        let longest = 60 * away.as_secs() as u32 + 120;
        let raised = |from: u32| (from..from + longest).map(events_in).sum::<u32>();
        let most = (0..60 * 60).map(raised).max().unwrap();
        assert!(most < backspin::channel::QUEUE_MESSAGES as u32, "{most}");
        assert!((0..600).map(events_in).sum::<u32>() >= 30);
    }

    #[test]
    fn a_log_says_which_tick_came_after_a_word_and_forgets_old_ones() {
        let (probe, mut world, mut events) = (Probe::default(), World::default(), Vec::new());
        let mut none = Vec::new();
        let mut none = Effects::new(&mut none);
        let mut say = |world: &mut World, number| {
            let word = letters::word(7, number, Delivery::Reliable);
            probe.on_message(world, PlayerId(1), RawMessage(word), &mut none);
        };
        say(&mut world, 0);
        say(&mut world, 1);
        probe.step(&mut world, &mut Turn::new(1, &[], &[], &mut events));
        say(&mut world, 2);
        let words = |world: &World| -> Vec<_> {
            world.log.words.iter().map(|word| (word.tick, word.number)).collect()
        };
        assert_eq!(words(&world), [(1, 0), (1, 1), (2, 2)]);
        for tick in 2..=WORDS_KEPT_TICKS + 1 {
            probe.step(&mut world, &mut Turn::new(tick, &[], &[], &mut events));
        }
        assert_eq!(words(&world), [(2, 2)]);
    }
}
