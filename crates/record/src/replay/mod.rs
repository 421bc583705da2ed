//! A match replay: the states of one room, tick by tick, and what happened in them.
//!
//! [`ReplayWriter`] follows a room and appends; [`Replay`] shows it later, at any tick. A replay is made of
//! frames (see [the
//! module above](super)). The first says what was played; each of the others is a self-contained second of
//! the match, so
//! seeking decodes at most a second and a crash loses at most a second; the last marks the end.
//!
//! ```text
//! first   | game u32 | version u16 | tick_rate u8 | schema u64 | unix_ms | room's name |
//! second  | 1 | tick | roster | state | line ... |
//! last    | 2 |
//!
//! line    | 1 | ticks | state |                           this many ticks after the previous state
//!         | 2 | ticks | kind u8 | entity u32 | value i32 | reach u8 |   an event, this many ticks
//!                                                                       before the last state
//!         | 3 | roster |                                  who plays from the last state's tick on
//! roster  | count | player, name ... |
//! state   | len | body |                                  as in PROTOCOL.md 5.12
//! ```
//!
//! The first state of a second has no baseline, each other one has the state before it. Counts are varints, a
//! name follows
//! its length, everything else is big-endian.

mod reader;
mod writer;

use std::hash::Hasher;

use siphasher::sip::SipHasher24;
use thiserror::Error;

pub use reader::Replay;
pub use writer::ReplayWriter;

use super::field::{self, put_game, put_name, put_varint, small, varint, varint_upto};
use super::frame::{Damage, Form, Frames};
use backspin::game::{Event, Game, GameId, PlayerId, Reach};
use backspin::replication::{ENTITY_LIMIT, MAX_FIELDS, Motion, Schema};
use backspin::wire::{Malformed, Name, Reader};

pub(super) const FORM: Form =
    Form { letters: *b"BSREPLAY", version: 2, name: "match replay", frame_limit: FRAME_LIMIT };

/// No state is longer, whatever is in it: five bytes for a field, and 32 for an entity's id and kind, are
/// more than any takes.
const STATE_LIMIT: usize = ENTITY_LIMIT * (MAX_FIELDS * 5 + 32);

/// A frame with so many bytes is ended before its second is over.
const FRAME_LEN: usize = 256 * 1024;

/// The longest body of a frame: one more state, and what happened until then.
const FRAME_LIMIT: usize = FRAME_LEN + STATE_LIMIT + 64 * 1024;

/// What the first frame of a replay says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayHeader {
    /// What was played.
    pub game: GameId,
    /// Ticks per second.
    pub tick_rate: u8,
    /// Stands for the game's schema: two that differ have different numbers, but for chance.
    pub schema: u64,
    /// The wall clock's time at the start, in ms since 1970.
    pub unix_ms: u64,
    /// The room's name.
    pub room: Name,
}

/// Who plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Player {
    /// Who.
    pub player: PlayerId,
    /// Called.
    pub name: Name,
}

/// Players in a roster, at most.
const ROSTER_LIMIT: usize = 255;

/// Why a replay cannot be shown.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum ReplayError {
    /// The file is not whole.
    #[error(transparent)]
    Damage(#[from] Damage),
    /// It is of another game, or of another version of this one.
    #[error("it is a replay of {found}, and this is {here}; use the program that recorded it")]
    Game { found: GameId, here: GameId },
    /// The game has another schema, although the version is the same.
    #[error("it is of a {0} with different entities; use the program that recorded it")]
    Schema(GameId),
    /// It has no state in it.
    #[error("it is empty: nobody played")]
    Empty,
}

impl ReplayHeader {
    fn of<G: Game>(game: &G, unix_ms: u64, room: Name) -> Self {
        let schema = fingerprint(game.schema());
        ReplayHeader { game: game.id(), tick_rate: game.tick_rate(), schema, unix_ms, room }
    }

    /// What `bytes`, which begin like a replay, are a replay of.
    pub fn read(bytes: &[u8]) -> Result<Self, Damage> {
        let mut frames = Frames::new(FORM);
        let Some(frame) = frames.next(bytes)? else { return Err(Damage::Cut { good: 0 }) };
        let place = frame.place;
        ReplayHeader::decode(frame.body).map_err(|fault| Damage::Malformed { place, fault })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        let ReplayHeader { game, tick_rate, schema, unix_ms, room } = self;
        put_game(out, *game);
        out.push(*tick_rate);
        out.extend_from_slice(&schema.to_be_bytes());
        put_varint(out, *unix_ms);
        put_name(out, room);
    }

    fn decode(body: &[u8]) -> Result<Self, Malformed> {
        let mut r = Reader::new(body);
        let header = ReplayHeader {
            game: field::game(&mut r)?,
            tick_rate: match r.u8("tick_rate")? {
                0 => return Err(Malformed::out_of_range("tick_rate", 0)),
                rate => rate,
            },
            schema: r.u64_be("schema")?,
            unix_ms: varint(&mut r, "unix_ms")?,
            room: field::name(&mut r, "room")?,
        };
        r.finish("header")?;
        Ok(header)
    }
}

fn put_roster(out: &mut Vec<u8>, roster: &[Player]) {
    put_varint(out, roster.len() as u64);
    for Player { player, name } in roster {
        put_varint(out, player.0.into());
        put_name(out, name);
    }
}

fn roster(r: &mut Reader<'_>) -> Result<Vec<Player>, Malformed> {
    let count = varint_upto(r, "roster", ROSTER_LIMIT as u64)?;
    let mut roster = Vec::new();
    for _ in 0..count {
        let (player, name) = (PlayerId(small(r, "player")?), field::name(r, "name")?);
        roster.push(Player { player, name });
    }
    Ok(roster)
}

fn put_event(out: &mut Vec<u8>, event: &Event) {
    out.push(event.kind);
    out.extend_from_slice(&event.entity.to_be_bytes());
    out.extend_from_slice(&event.value.to_be_bytes());
    out.push(u8::from(event.reach == Reach::Everyone));
}

fn event(r: &mut Reader<'_>) -> Result<Event, Malformed> {
    Ok(Event {
        kind: r.u8("event")?,
        entity: r.u32_be("entity")?,
        value: r.u32_be("value")? as i32,
        reach: if r.flag("reach")? { Reach::Everyone } else { Reach::Own },
    })
}

/// A number that stands for a schema, the same on every machine.
fn fingerprint(schema: &Schema) -> u64 {
    let mut hasher = SipHasher24::new_with_key(b"backspin schema.");
    let mut text = |name: &str| {
        hasher.write(&(name.len() as u32).to_be_bytes());
        hasher.write(name.as_bytes());
    };
    for kind in schema.kinds {
        text(kind.name);
        for field in kind.fields {
            text(field.name);
            let (velocity, per_ticks) = match field.motion {
                Motion::Still => (u64::MAX, 0),
                Motion::Along { velocity, per_ticks } => (velocity as u64, per_ticks),
                Motion::Smooth => (u64::MAX, 1),
                Motion::Circular => (u64::MAX, 2),
                Motion::Teleport => (u64::MAX, 3),
            };
            let step = field.step;
            text(&format!(
                "{} {} {}/{} {velocity} {per_ticks}",
                field.min, field.max, step.numerator, step.denominator
            ));
        }
        text("");
    }
    hasher.finish()
}
