//! From a replay to the screen.

use std::collections::HashSet;
use std::ops::RangeInclusive;

use super::{FORM, Player, ReplayError, ReplayHeader, event, fingerprint, roster};
use crate::field::{bytes, small, varint_upto};
use crate::frame::{Damage, Frames};
use backspin::client::Frame;
use backspin::game::{Event, Game};
use backspin::replication::{Drawn, Schema, State, delta, draw_between};
use backspin::wire::native::MAX_BASELINE_BACK;
use backspin::wire::{Malformed, Reader};

/// What a frame is.
pub(super) const SECOND: u8 = 1;
pub(super) const LAST: u8 = 2;

/// What a line is.
pub(super) const STATE: u8 = 1;
pub(super) const EVENT: u8 = 2;
pub(super) const ROSTER: u8 = 3;

/// A match that was recorded, to be looked at in any order.
///
/// It was read once from end to end when it was opened, so that nothing in it surprises a screen;
/// beside its bytes it keeps where each second begins, the events and who played.
#[derive(Debug)]
pub struct Replay<G: Game> {
    game: G,
    header: ReplayHeader,
    bytes: Vec<u8>,
    seconds: Vec<Second>,
    /// By their ticks.
    events: Vec<(u32, Event)>,
    /// Who plays, from which tick on.
    rosters: Vec<(u32, Vec<Player>)>,
    last: u32,
    damage: Option<Damage>,
    cursor: Cursor,
}

/// Where a second of the match is among the bytes.
#[derive(Clone, Copy, Debug)]
struct Second {
    first: u32,
    start: usize,
    len: usize,
}

/// Two states that follow each other, and where the next is.
#[derive(Debug, Default)]
struct Cursor {
    from: State,
    to: State,
    /// Whether there is a `to`: at the end there is not.
    goes_on: bool,
    /// The second that `from` is in, and the one that `to` is in.
    second: usize,
    to_second: usize,
    /// Where reading goes on behind `to` in its second.
    offset: usize,
    /// What a state is decoded into.
    spare: State,
}

/// What is read of a second, line by line.
struct Lines<'a> {
    r: Reader<'a>,
    tick: u32,
}

/// One line, with its tick.
enum Line<'a> {
    State { tick: u32, body: &'a [u8] },
    Event(u32, Event),
    Roster(Vec<Player>),
}

impl<G: Game> Replay<G> {
    /// Opens a replay of `game`. One that is not whole is refused.
    pub fn open(game: G, bytes: Vec<u8>) -> Result<Self, ReplayError> {
        let replay = Replay::salvage(game, bytes)?;
        match replay.damage {
            None => Ok(replay),
            Some(damage) => Err(damage.into()),
        }
    }

    /// Opens as much of a replay as is good; [`Replay::damage`] says what was not.
    pub fn salvage(game: G, bytes: Vec<u8>) -> Result<Self, ReplayError> {
        let header = ReplayHeader::read(&bytes)?;
        if header.game != game.id() {
            return Err(ReplayError::Game { found: header.game, here: game.id() });
        }
        if header.schema != fingerprint(game.schema()) {
            return Err(ReplayError::Schema(header.game));
        }
        let mut replay = Replay {
            game,
            header,
            bytes: Vec::new(),
            seconds: Vec::new(),
            events: Vec::new(),
            rosters: Vec::new(),
            last: 0,
            damage: None,
            cursor: Cursor::default(),
        };
        replay.damage = replay.read(&bytes).err();
        replay.events.sort_by_key(|(tick, _)| *tick);
        replay.bytes = bytes;
        match (replay.seconds.is_empty(), replay.damage) {
            (false, _) => {
                replay.jump(0);
                Ok(replay)
            }
            (true, None) => Err(ReplayError::Empty),
            (true, Some(damage)) => Err(damage.into()),
        }
    }

    /// What was played, when and where.
    pub fn header(&self) -> &ReplayHeader {
        &self.header
    }

    /// The rules.
    pub fn game(&self) -> &G {
        &self.game
    }

    /// Why the replay ends where it does, if it should go on.
    pub fn damage(&self) -> Option<Damage> {
        self.damage
    }

    /// The first and the last tick.
    pub fn ticks(&self) -> RangeInclusive<u32> {
        self.seconds.first().map_or(0, |second| second.first)..=self.last
    }

    /// How long it is, in ticks.
    pub fn len_ticks(&self) -> u32 {
        self.ticks().end() - self.ticks().start()
    }

    /// What there was after `tick`, or after the last tick before it that was recorded. Decodes at
    /// most a second of the match.
    pub fn seek(&mut self, tick: u32) -> &State {
        let second = self.seconds.partition_point(|second| second.first <= tick).saturating_sub(1);
        let Cursor { from, second: here, .. } = &self.cursor;
        if *here != second || from.tick > tick {
            self.jump(second);
        }
        while self.cursor.goes_on && self.cursor.to.tick <= tick {
            self.advance();
        }
        &self.cursor.from
    }

    /// What is on the screen at `tick`, which may lie between two.
    pub fn draw(&mut self, tick: f64, frame: &mut Frame) {
        let (first, last) = self.ticks().into_inner();
        let tick = tick.clamp(first.into(), last.into());
        self.seek(tick as u32);
        let Cursor { from, to, goes_on, .. } = &self.cursor;
        frame.clear();
        frame.drawn_tick = Some(tick);
        let to = goes_on.then_some(to);
        draw_between(self.game.schema(), from, to, tick, |entity, fields| {
            frame.entities.push(Drawn { entity: entity.clone(), fields });
        });
    }

    /// What happened after `a` and not after `b`: what a screen shows that was at `a` and is at
    /// `b` now.
    pub fn events_between(&self, a: f64, b: f64) -> &[(u32, Event)] {
        let upto = |tick: f64| self.events.partition_point(|(at, _)| f64::from(*at) <= tick);
        self.events.get(upto(a)..upto(b)).unwrap_or_default()
    }

    /// Everything that happened.
    pub fn events(&self) -> &[(u32, Event)] {
        &self.events
    }

    /// Who played in `tick`.
    pub fn roster_at(&self, tick: u32) -> &[Player] {
        let known = self.rosters.partition_point(|(from, _)| *from <= tick);
        known.checked_sub(1).map_or(&[], |index| &self.rosters[index].1[..])
    }

    /// Every player that there was, in the order in which they came.
    pub fn players(&self) -> Vec<Player> {
        let mut met = HashSet::new();
        let all = self.rosters.iter().flat_map(|(_, roster)| roster).copied();
        all.filter(|player| met.insert(*player)).collect()
    }

    /// Reads all frames, and keeps what is good.
    fn read(&mut self, bytes: &[u8]) -> Result<(), Damage> {
        let (mut frames, mut at) = (Frames::new(FORM), 0);
        let (mut state, mut spare) = (State::default(), State::default());
        while at < bytes.len() {
            let Some(frame) = frames.next(&bytes[at..])? else { break };
            at += frame.used;
            let place = frame.place;
            let start = at - frame.body.len();
            match frame.body {
                _ if place.number == 0 => {}
                [LAST] if at == bytes.len() => return Ok(()),
                [LAST] => return Err(Damage::Trailing { offset: frames.offset() }),
                body => self
                    .read_second(start, body, &mut state, &mut spare)
                    .map_err(|fault| Damage::Malformed { place, fault })?,
            }
        }
        Err(Damage::Cut { good: frames.offset() })
    }

    /// Reads a second to its end before it counts.
    fn read_second(
        &mut self,
        start: usize,
        body: &[u8],
        state: &mut State,
        spare: &mut State,
    ) -> Result<(), Malformed> {
        let (first, roster, mut lines) = Lines::begin(self.game.schema(), body, state)?;
        if !self.seconds.is_empty() && first <= self.last {
            return Err(Malformed::out_of_range("tick", first));
        }
        let (events, mut rosters) = (self.events.len(), vec![(first, roster)]);
        let mut read = || {
            while let Some(line) = lines.next()? {
                match line {
                    Line::State { tick, body } => {
                        delta::decode(self.game.schema(), Some(state), tick, body, spare)?;
                        std::mem::swap(state, spare);
                    }
                    Line::Event(tick, event) => self.events.push((tick, event)),
                    Line::Roster(roster) => rosters.push((lines.tick, roster)),
                }
            }
            Ok(())
        };
        if let Err(fault) = read() {
            self.events.truncate(events);
            return Err(fault);
        }
        for (tick, roster) in rosters {
            if self.rosters.last().is_none_or(|(_, last)| *last != roster) {
                self.rosters.push((tick, roster));
            }
        }
        self.last = state.tick;
        self.seconds.push(Second { first, start, len: body.len() });
        Ok(())
    }

    /// Goes to the first state of a second.
    fn jump(&mut self, second: usize) {
        let mut cursor = std::mem::take(&mut self.cursor);
        if let Some(offset) = self.load_key(second, &mut cursor.to) {
            cursor.to_second = second;
            cursor.offset = offset;
            cursor.goes_on = true;
        }
        self.cursor = cursor;
        self.advance();
    }

    /// Goes on by one state.
    fn advance(&mut self) {
        let mut cursor = std::mem::take(&mut self.cursor);
        std::mem::swap(&mut cursor.from, &mut cursor.to);
        cursor.second = cursor.to_second;
        cursor.goes_on = self.load_next(&mut cursor);
        self.cursor = cursor;
    }

    /// Reads the first state of a second; where its lines begin. The bytes were good when they were
    /// read for the first time.
    fn load_key(&self, second: usize, state: &mut State) -> Option<usize> {
        let body = self.body(second)?;
        let (_, _, lines) = Lines::begin(self.game.schema(), body, state).ok()?;
        Some(body.len() - lines.r.left())
    }

    /// Reads the state behind `from` into `to`, if there is one.
    fn load_next(&self, cursor: &mut Cursor) -> bool {
        let Some(body) = self.body(cursor.second) else { return false };
        let r = Reader::new(body.get(cursor.offset..).unwrap_or_default());
        let mut lines = Lines { r, tick: cursor.from.tick };
        while let Ok(Some(line)) = lines.next() {
            let Line::State { tick, body: delta } = line else { continue };
            let (schema, spare) = (self.game.schema(), &mut cursor.spare);
            cursor.offset = body.len() - lines.r.left();
            let decoded = delta::decode(schema, Some(&cursor.from), tick, delta, spare);
            std::mem::swap(&mut cursor.to, spare);
            return decoded.is_ok();
        }
        let Some(offset) = self.load_key(cursor.second + 1, &mut cursor.to) else { return false };
        cursor.to_second = cursor.second + 1;
        cursor.offset = offset;
        true
    }

    fn body(&self, second: usize) -> Option<&[u8]> {
        let Second { start, len, .. } = *self.seconds.get(second)?;
        self.bytes.get(start..start + len)
    }
}

impl<'a> Lines<'a> {
    /// Reads how a second begins: its first tick, who plays, and what there is, into `state`.
    fn begin(
        schema: &Schema,
        body: &'a [u8],
        state: &mut State,
    ) -> Result<(u32, Vec<Player>, Self), Malformed> {
        let mut r = Reader::new(body);
        match r.u8("frame")? {
            SECOND => {}
            other => return Err(Malformed::out_of_range("frame", other)),
        }
        let tick = small(&mut r, "tick")?;
        let roster = roster(&mut r)?;
        delta::decode(schema, None, tick, bytes(&mut r, "state")?, state)?;
        Ok((tick, roster, Lines { r, tick }))
    }

    fn next(&mut self) -> Result<Option<Line<'a>>, Malformed> {
        if self.r.left() == 0 {
            return Ok(None);
        }
        let r = &mut self.r;
        Ok(Some(match r.u8("line")? {
            STATE => {
                let ticks = varint_upto(r, "ticks", MAX_BASELINE_BACK.into())? as u32;
                let tick = self.tick.checked_add(ticks).filter(|_| ticks > 0);
                self.tick = tick.ok_or(Malformed::out_of_range("ticks", ticks))?;
                Line::State { tick: self.tick, body: bytes(r, "state")? }
            }
            EVENT => {
                let ticks = small::<u32>(r, "ticks")?;
                let tick = self.tick.checked_sub(ticks);
                let tick = tick.ok_or(Malformed::out_of_range("ticks", ticks))?;
                Line::Event(tick, event(r)?)
            }
            ROSTER => Line::Roster(roster(r)?),
            other => return Err(Malformed::out_of_range("line", other)),
        }))
    }
}
