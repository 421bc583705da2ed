//! Saves matches as they end. Players see the end once it is on the disk: a room holds it until then
//! ([`Room::holds_end`]), so a server that is killed loses no match that anyone saw finish.

use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use backspin::game::PlayerId;
use backspin::room::{BOT, Room};
use backspin::server::Server;
use backspin::time::Time;
use backspin_record::Recorded;
use tracing::warn;

use crate::games::AnyGame;
use crate::results::{Keeper, MatchResult, Outcome, PlayerResult};
use crate::utc;

/// Looks at the rooms and keeps what has been decided there.
pub(super) struct Results {
    keeper: Keeper,
    /// Since when each room plays.
    playing: HashMap<u32, Time>,
    /// Rooms whose players have not seen the end yet, and the number of the result.
    held: HashMap<u32, u64>,
}

/// A disk that takes longer does not keep players from seeing how their match ended.
pub(super) const HOLD_END: Duration = Duration::from_secs(2);

/// How a match stands.
pub(crate) enum Verdict {
    /// Nothing is played.
    Idle,
    Playing,
    Over(Outcome, Vec<Score>),
}

/// What one player has at the end.
pub(crate) struct Score {
    pub(crate) player: PlayerId,
    pub(crate) score: u32,
    pub(crate) won: bool,
}

impl Results {
    /// Keeps results in the file at `path`.
    pub(super) fn start(path: &Path) -> Result<Self, Box<dyn Error>> {
        Ok(Results { keeper: Keeper::start(path)?, playing: HashMap::new(), held: HashMap::new() })
    }

    /// Keeps what was decided since this was called last: once a tick is enough.
    pub(super) fn keep(&mut self, now: Time, server: &Server<AnyGame>) {
        for room in server.rooms() {
            let (game, verdict) = room.world().verdict();
            match verdict {
                Verdict::Idle => drop(self.playing.remove(&room.number())),
                Verdict::Playing => {
                    self.playing.entry(room.number()).or_insert(now);
                }
                Verdict::Over(outcome, scores) => {
                    let Some(began) = self.playing.remove(&room.number()) else { continue };
                    let number = self.keeper.keep(MatchResult {
                        game,
                        room: room.number(),
                        ended_ms: utc::unix_ms(),
                        seconds: now.since(began).as_secs_f64(),
                        outcome,
                        players: scores.iter().map(|score| player(room, score)).collect(),
                    });
                    if room.holds_end() {
                        self.held.insert(room.number(), number);
                    }
                }
            }
        }
        // Rooms also close in the middle of a match.
        if self.playing.len() > server.rooms().len() {
            let open: HashSet<u32> = server.rooms().iter().map(|room| room.number()).collect();
            self.playing.retain(|number, _| open.contains(number));
        }
    }

    /// Lets players see the ends of matches whose results are on the disk. Call it after every turn.
    pub(super) fn release(&mut self, now: Time, server: &mut Recorded<AnyGame>) {
        if self.held.is_empty() && server.server().holding_end().next().is_none() {
            return;
        }
        self.keep(now, server.server());
        let holding: Vec<(usize, u32)> =
            server.server().holding_end().map(|(slot, room)| (slot, room.number())).collect();
        for &(slot, number) in &holding {
            let result = self.held.get(&number);
            if result.is_none_or(|&result| self.keeper.is_settled(result)) {
                self.held.remove(&number);
                server.release_end(now, slot);
            }
        }
        self.held.retain(|number, _| {
            let is_held = holding.iter().any(|(_, held)| held == number);
            if !is_held {
                warn!(
                    "the players in room {number} saw the end of their match before it was on \
                     disk: {HOLD_END:?} was not enough"
                );
            }
            is_held
        });
    }

    /// Waits for what is not kept yet, until a time at the latest.
    pub(super) fn finish(self, until: Instant) {
        self.keeper.finish(until);
    }
}

fn player(room: &Room<AnyGame>, score: &Score) -> PlayerResult {
    let member = room.members().find(|member| member.player == score.player);
    let ms = |span: Duration| span.as_secs_f64() * 1_000.0;
    let name = match &member {
        Some(member) => member.name.to_string(),
        None if room.bots().contains(&score.player) => BOT.to_owned(),
        None => String::new(),
    };
    PlayerResult {
        name,
        score: score.score,
        won: score.won,
        round_trip_ms: member.as_ref().and_then(|member| member.rtt).map(ms),
        jitter_ms: member.as_ref().and_then(|member| member.jitter).map(ms),
        lost_pct: member.and_then(|member| member.loss).map(|loss| 100.0 * loss),
    }
}
