//! Summarises a match replay.

use std::error::Error;
use std::io::{self, Read, Write};

use backspin::client::Frame;
use backspin::game::Game;
use backspin::replication::{Drawn, Schema};
use backspin_record::replay::{Replay, ReplayError, ReplayHeader};
use serde_json::json;

use super::Args;
use crate::games::AnyGame;
use crate::utc::Utc;

/// A match is held in memory; one of a day is far below this.
const LEN_LIMIT: u64 = 256 << 20;

/// How many entities are shown to people.
const SHOWN: usize = 20;

/// Prints what is in a replay.
pub(super) fn run(args: &Args, file: impl Read) -> Result<(), Box<dyn Error>> {
    let mut bytes = Vec::new();
    file.take(LEN_LIMIT + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LEN_LIMIT {
        let most = LEN_LIMIT >> 20;
        return Err(format!("it is longer than {most} MiB, more than any match needs").into());
    }
    let header = ReplayHeader::read(&bytes)?;
    let unknown = || format!("it is a replay of {}, which this program does not have", header.game);
    let game = AnyGame::of(header.game).ok_or_else(unknown)?;
    let mut replay = match args.salvage {
        true => Replay::salvage(game, bytes)?,
        false => Replay::open(game, bytes).map_err(refusal)?,
    };
    let (first, last) = replay.ticks().into_inner();
    let rate = f64::from(header.tick_rate);
    let at = args.at.map_or(last.into(), |seconds| f64::from(first) + seconds * rate);
    let mut frame = Frame::default();
    replay.draw(at, &mut frame);
    let seen = Seen { replay: &replay, frame: &frame, first, rate };
    let mut out = io::stdout().lock();
    if args.json {
        writeln!(out, "{}", seen.object())?
    } else {
        seen.tell(&mut out)?
    }
    Ok(())
}

fn refusal(error: ReplayError) -> Box<dyn Error> {
    match error {
        ReplayError::Damage(damage) if damage.good() > 0 => {
            format!("{damage}; --salvage shows the undamaged part").into()
        }
        other => other.into(),
    }
}

/// A replay, and what is there at one moment of it.
struct Seen<'a, G: Game> {
    replay: &'a Replay<G>,
    frame: &'a Frame,
    first: u32,
    rate: f64,
}

impl<G: Game> Seen<'_, G> {
    fn seconds(&self) -> f64 {
        f64::from(self.replay.len_ticks()) / self.rate
    }

    /// When it is, since the match began.
    fn at(&self) -> f64 {
        (self.frame.drawn_tick.unwrap_or_default() - f64::from(self.first)) / self.rate
    }

    fn tell(&self, out: &mut impl Write) -> io::Result<()> {
        let (replay, header) = (self.replay, self.replay.header());
        let when = Utc::from_unix_ms(header.unix_ms);
        writeln!(out, "match of {} in {}, recorded {when}", header.game, header.room)?;
        let (ticks, rate) = (replay.len_ticks(), header.tick_rate);
        writeln!(out, "  {:.3} s: {ticks} ticks at {rate} Hz", self.seconds())?;
        let players: Vec<_> = replay.players().iter().map(|p| p.name.to_string()).collect();
        writeln!(out, "  players: {}", players.join(", "))?;
        writeln!(out, "  events: {}", replay.events().len())?;
        if let Some(damage) = replay.damage() {
            writeln!(out, "  {damage}")?;
        }
        writeln!(out, "after {:.3} s:", self.at())?;
        let schema = replay.game().schema();
        for drawn in self.frame.entities.iter().take(SHOWN) {
            write!(out, "  {} {}:", kind_name(schema, drawn), drawn.entity.id)?;
            for (name, value) in fields(schema, drawn) {
                write!(out, " {name} {value}")?;
            }
            writeln!(out)?;
        }
        match self.frame.entities.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => writeln!(out, "  and {more} more"),
        }
    }

    fn object(&self) -> serde_json::Value {
        let (replay, header) = (self.replay, self.replay.header());
        let schema = replay.game().schema();
        let players: Vec<_> = replay
            .players()
            .iter()
            .map(|player| json!({ "player": player.player.0, "name": player.name.to_string() }))
            .collect();
        let entities: Vec<_> = self
            .frame
            .entities
            .iter()
            .map(|drawn| {
                let fields: serde_json::Map<_, _> = fields(schema, drawn)
                    .map(|(name, value)| (name.to_owned(), value.into()))
                    .collect();
                json!({ "id": drawn.entity.id, "kind": kind_name(schema, drawn), "fields": fields })
            })
            .collect();
        json!({
            "kind": "match_replay",
            "game": header.game.to_string(),
            "room": header.room.to_string(),
            "recorded_unix_ms": header.unix_ms,
            "tick_rate": header.tick_rate,
            "first_tick": self.first,
            "ticks": replay.len_ticks(),
            "seconds": self.seconds(),
            "players": players,
            "events": replay.events().len(),
            "damage": replay.damage().map(|damage| damage.to_string()),
            "at_seconds": self.at(),
            "entities": entities,
        })
    }
}

fn kind_name(schema: &Schema, drawn: &Drawn) -> &'static str {
    schema.kinds.get(usize::from(drawn.entity.kind)).map_or("?", |kind| kind.name)
}

/// What is drawn of an entity, by the names of its fields.
fn fields<'a>(schema: &Schema, drawn: &'a Drawn) -> impl Iterator<Item = (&'static str, f32)> + 'a {
    let kind = schema.kinds.get(usize::from(drawn.entity.kind));
    let fields = kind.map_or(&[][..], |kind| kind.fields);
    fields.iter().map(|field| field.name).zip(drawn.fields.iter().copied())
}
