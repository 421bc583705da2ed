//! From a room to a replay.

use super::{
    FORM, FRAME_LEN, Player, ROSTER_LIMIT, ReplayHeader, STATE_LIMIT, put_event, put_roster,
};
use crate::field::{put_bytes, put_varint};
use crate::frame::Framer;
use backspin::game::{Event, Game};
use backspin::replication::{Schema, State, delta};
use backspin::room::{BOT, Room};
use backspin::wire::native::{MAX_BASELINE_BACK, Role};
use backspin::wire::{Full, Name};

/// Writes a replay as the match goes.
///
/// After every turn, let it [follow](ReplayWriter::follow) the room and write out what
/// [`ReplayWriter::poll_bytes`] gives: all but the last second is there.
#[derive(Debug)]
pub struct ReplayWriter {
    schema: &'static Schema,
    tick_rate: u8,
    framer: Framer,
    /// The tick that the second began with, while one is being written.
    first: Option<u32>,
    /// The last state.
    last: Option<State>,
    roster: Vec<Player>,
    roster_changed: bool,
    /// Events since the last state.
    events: Vec<(u32, Event)>,
    /// What a state is written into: it grows with the states, up to [`STATE_LIMIT`].
    buffer: Vec<u8>,
    /// Events that were not kept.
    left_out: u64,
}

/// What a state is written into at first; most are far shorter.
const BUFFER_LEN: usize = 16 * 1024;

/// Events between two states; more are not kept, and counted.
const EVENT_LIMIT: usize = 1024;

impl ReplayWriter {
    /// A replay of `game` that begins now, in a room with this name; the wall clock shows
    /// `unix_ms`.
    pub fn new<G: Game>(game: &G, unix_ms: u64, room: Name) -> Self {
        let mut framer = Framer::new(FORM);
        ReplayHeader::of(game, unix_ms, room).encode(&mut framer.body);
        framer.seal();
        ReplayWriter {
            schema: game.schema(),
            tick_rate: game.tick_rate(),
            framer,
            first: None,
            last: None,
            roster: Vec::new(),
            roster_changed: false,
            events: Vec::new(),
            buffer: vec![0; BUFFER_LEN],
            left_out: 0,
        }
    }

    /// Takes what is new in a room: who plays, what happened, what there is to see. It takes the
    /// room's events, so that nobody else can.
    pub fn follow<G: Game>(&mut self, room: &mut Room<G>) {
        let players = room.members().filter(|member| member.role == Role::Play);
        let players = players.map(|card| Player { player: card.player, name: card.name });
        let bots = room.bots().iter().map(|&player| Player { player, name: Name::new(BOT) });
        self.handle_roster(players.chain(bots));
        while let Some((tick, event)) = room.poll_game_event() {
            self.handle_event(tick, event);
        }
        self.handle_state(room.state());
    }

    /// Who plays from the next state on.
    pub fn handle_roster(&mut self, players: impl Iterator<Item = Player>) {
        // There are no more in a room.
        let now: Vec<Player> = players.take(ROSTER_LIMIT).collect();
        self.roster_changed |= now != self.roster;
        self.roster = now;
    }

    /// Something happened in `tick`.
    pub fn handle_event(&mut self, tick: u32, event: Event) {
        match self.events.len() < EVENT_LIMIT {
            true => self.events.push((tick, event)),
            false => self.left_out += 1,
        }
    }

    /// What there was after a tick. One that is no newer than the last is known already.
    pub fn handle_state(&mut self, state: &State) {
        if self.last.as_ref().is_some_and(|last| state.tick <= last.tick) {
            return;
        }
        if self.last.is_none() {
            // What was still unread when the replay began belongs to nothing in it.
            self.events.retain(|(tick, _)| *tick >= state.tick);
        }
        let goes_on = self.first.is_some_and(|first| {
            state.tick - first < self.tick_rate.into() && self.framer.body.len() < FRAME_LEN
        });
        if !goes_on || self.write_delta(state).is_err() {
            let written = self.write_key(state);
            debug_assert!(written.is_ok(), "a state is longer than any can be");
        }
        self.write_news(state.tick);
        self.last.get_or_insert_default().clone_from(state);
    }

    /// How many events were left out, because there were more than 1024 between two states.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Moves what is complete to the end of `out`.
    pub fn poll_bytes(&mut self, out: &mut Vec<u8>) {
        self.framer.take(out);
    }

    /// Ends the replay, and moves the rest of it to the end of `out`.
    pub fn finish(mut self, out: &mut Vec<u8>) {
        self.framer.seal();
        self.framer.body.push(super::reader::LAST);
        self.framer.seal();
        self.framer.take(out);
    }

    /// Begins a second.
    fn write_key(&mut self, state: &State) -> Result<(), Full> {
        let len = encode(self.schema, None, state, &mut self.buffer)?;
        self.framer.seal();
        let out = &mut self.framer.body;
        out.push(super::reader::SECOND);
        put_varint(out, state.tick.into());
        put_roster(out, &self.roster);
        put_bytes(out, &self.buffer[..len]);
        self.roster_changed = false;
        self.first = Some(state.tick);
        Ok(())
    }

    fn write_delta(&mut self, state: &State) -> Result<(), Full> {
        let last = self.last.as_ref().ok_or(Full)?;
        let ticks = state.tick - last.tick;
        if ticks > MAX_BASELINE_BACK.into() {
            return Err(Full);
        }
        let len = encode(self.schema, Some(last), state, &mut self.buffer)?;
        let out = &mut self.framer.body;
        out.push(super::reader::STATE);
        put_varint(out, ticks.into());
        put_bytes(out, &self.buffer[..len]);
        Ok(())
    }

    /// What belongs to the state of `tick`.
    fn write_news(&mut self, tick: u32) {
        let out = &mut self.framer.body;
        for (then, event) in self.events.drain(..) {
            out.push(super::reader::EVENT);
            put_varint(out, tick.saturating_sub(then).into());
            put_event(out, &event);
        }
        if std::mem::take(&mut self.roster_changed) {
            out.push(super::reader::ROSTER);
            put_roster(out, &self.roster);
        }
    }
}

/// Writes a state into a buffer that grows until it fits.
fn encode(
    schema: &Schema,
    last: Option<&State>,
    state: &State,
    buffer: &mut Vec<u8>,
) -> Result<usize, Full> {
    loop {
        match delta::encode(schema, last, state, buffer) {
            Err(Full) if buffer.len() < STATE_LIMIT => {
                buffer.resize((buffer.len() * 2).min(STATE_LIMIT), 0);
            }
            written => return written,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Replay;
    use super::*;
    use backspin::game::{GameId, Turn};
    use backspin::game::{PlayerId, Reach};
    use backspin::replication::{ENTITY_LIMIT, Entity, Field, Kind, MAX_FIELDS, Motion, Step};
    use backspin_sim::dot::Dots;

    /// A replay of one state, before which all this happened.
    fn replay(events: usize, players: u32) -> Replay<Dots> {
        let game = Dots::default();
        let mut writer = ReplayWriter::new(&game, 0, Name::default());
        let player = |n| Player { player: PlayerId(n), name: Name::new("twin") };
        writer.handle_roster((1..=players).map(player));
        let event = Event { kind: 0, entity: 0, value: 0, reach: Reach::Everyone };
        (0..events).for_each(|_| writer.handle_event(7, event));
        writer.handle_state(&State::new(7));
        let mut bytes = Vec::new();
        writer.finish(&mut bytes);
        Replay::open(game, bytes).unwrap()
    }

    /// A world that is as large as there may be.
    #[derive(Clone, Debug)]
    struct Fullest;

    const WIDE: Field = Field {
        name: "value",
        min: i32::MIN,
        max: i32::MAX,
        step: Step::ONE,
        motion: Motion::Still,
    };
    static WIDEST: Schema = Schema::new(&[Kind { name: "thing", fields: &[WIDE; MAX_FIELDS] }]);

    impl Game for Fullest {
        type World = ();
        type Input = backspin::game::Buttons;
        type Message = ();
        type JoinData = ();

        fn id(&self) -> GameId {
            GameId::new(*b"FULL", 1)
        }

        fn capacity(&self) -> u8 {
            1
        }

        fn schema(&self) -> &'static Schema {
            &WIDEST
        }

        fn begin(&self, _seed: u64) {}

        fn join(&self, _: &mut (), _: PlayerId, _: &()) {}

        fn leave(&self, _world: &mut (), _player: PlayerId) {}

        fn step(&self, _world: &mut (), _turn: &mut Turn<'_, Self>) {}

        fn capture(&self, _world: &(), _state: &mut State) {}

        fn restore(&self, _state: &State) {}
    }

    /// Counts that nothing can foretell, in entities that are all new.
    fn fullest(tick: u32) -> State {
        let mut state = State::new(tick);
        let mut mixed = u64::from(tick);
        for number in 0..ENTITY_LIMIT as u32 {
            let counts = [(); MAX_FIELDS].map(|()| {
                mixed = mixed.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
                (mixed >> 32) as i32
            });
            let id = number * 100_000 + tick * 7;
            state.push(Entity::new(&WIDEST, id, 0, &counts)).unwrap();
        }
        state
    }

    #[test]
    fn the_fullest_worlds_that_there_may_be_are_in_the_replay_whole() {
        let mut writer = ReplayWriter::new(&Fullest, 0, Name::default());
        let states = [1, 2, 3].map(fullest);
        let mut bytes = Vec::new();
        states.iter().for_each(|state| {
            writer.handle_state(state);
            writer.poll_bytes(&mut bytes);
        });
        writer.finish(&mut bytes);
        assert!(bytes.len() > 3 * ENTITY_LIMIT * MAX_FIELDS * 4);
        let mut replay = Replay::open(Fullest, bytes).unwrap();
        for state in &states {
            assert_eq!(replay.seek(state.tick).digest(), state.digest());
        }
    }

    #[test]
    fn a_state_has_at_most_1024_events_and_255_players() {
        for (events, players) in [(1024, 255), (1025, 256)] {
            let replay = replay(events, players);
            assert_eq!((replay.events().len(), replay.roster_at(7).len()), (1024, 255));
        }
        let mut writer = ReplayWriter::new(&Dots::default(), 0, Name::default());
        let event = Event { kind: 0, entity: 0, value: 0, reach: Reach::Everyone };
        (0..1_030).for_each(|_| writer.handle_event(7, event));
        assert_eq!(writer.left_out(), 6);
    }
}
