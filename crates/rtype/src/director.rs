//! The server's side of the story: who comes when, and when a level is over.
//!
//! It acts at the end of every tick, after everything has moved and met, so that what a tick does
//! to ships never depends on what it alone knows. What enemies decide is in [`minds`], how they
//! come into the world in [`spawn`].

mod minds;
mod spawn;
#[cfg(test)]
mod tests;

use backspin::game::{Event, Reach, Turn};

use crate::boss::Boss;
use crate::chance::Chance;
use crate::difficulty::{Handicap, percent};
use crate::event;
use crate::level::Level;
use crate::mission::{Mission, Phase, Pilot};
use crate::rules::{Opening, RType};
use crate::world::World;

use spawn::Ids;

/// What the server knows and nobody else: chance, and how much of the level's list has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Director {
    chance: Chance,
    ids: Ids,
    /// Ticks of the level.
    clock: u32,
    /// How much of the level's list has come.
    cursor: usize,
    /// Ticks since the last of it.
    lull: u32,
    /// What everyone was told last: the phase and the level.
    told: (Phase, u8),
}

/// The boss waits for the last enemies at most so long: 10 s.
const LULL_TICKS: u32 = 600;
/// And for the dust to settle at least so long.
const LULL_LEAST: u32 = 90;

impl Director {
    pub(crate) fn new(seed: u64) -> Self {
        Director {
            chance: Chance::new(seed),
            ids: Ids::default(),
            clock: 0,
            cursor: 0,
            lull: 0,
            told: (Phase::Lobby, 1),
        }
    }
}

/// What the difficulty and the level make of enemies, in percent.
#[derive(Clone, Copy)]
struct Threat {
    health: i32,
    reload: i32,
    bullet_speed: i32,
}

impl RType {
    /// The end of a tick, on the server.
    pub(crate) fn direct(&self, world: &mut World, turn: &mut Turn<'_, RType>) {
        if world.director.is_none() {
            return;
        }
        // A level begins before its list is played on.
        self.tell_phase(world, turn);
        if let Some(level) = self.level(&world.mission) {
            let threat = Threat::new(world, level);
            match world.mission.phase {
                Phase::Playing if self.swarm > 0 => self.keep_swarm(world, threat),
                Phase::Playing => self.play_list(world, turn, level, threat),
                Phase::Boss => self.watch_boss(world, turn, level),
                _ => {}
            }
            self.let_think(world, turn, level, threat);
        }
        world.sort();
        self.close_chains(world, turn);
        self.judge_end(world);
        self.tell_phase(world, turn);
    }

    pub(crate) fn level(&self, mission: &Mission) -> Option<&Level> {
        self.levels.get(usize::from(mission.level).checked_sub(1)?)
    }

    /// Lets in what is due, and the boss when all have come.
    fn play_list(
        &self,
        world: &mut World,
        turn: &mut Turn<'_, RType>,
        level: &Level,
        threat: Threat,
    ) {
        let Some(director) = &mut world.director else { return };
        director.clock += 1;
        let (clock, first) = (director.clock, director.cursor);
        let due = level.spawns[first.min(level.spawns.len())..].iter();
        let due = due.take_while(|spawn| spawn.tick <= clock);
        for spawn in due {
            if spawn.wave > world.mission.wave {
                world.mission.wave = spawn.wave;
                tell(turn, event::WAVE, 0, spawn.wave.into());
            }
            world.add_spawn(spawn, threat);
            if let Some(director) = &mut world.director {
                director.cursor += 1;
            }
        }
        let is_empty = world.enemies.is_empty();
        let Some(director) = &mut world.director else { return };
        if director.cursor < level.spawns.len() {
            return;
        }
        director.lull += 1;
        if director.lull >= LULL_TICKS || is_empty && director.lull >= LULL_LEAST {
            let ships = world.pilots.len().max(1) as i32;
            // Each further ship makes it half as strong again.
            let health = percent(level.boss.health, threat.health) * (1 + ships) / 2;
            world.boss = Some(Boss::new(&level.boss, health));
            world.mission.enter(Phase::Boss, 0);
            world.mission.scroll = 0;
            tell(turn, event::BOSS, Boss::ID, 0);
        }
    }

    /// The boss' stages, and its end.
    fn watch_boss(&self, world: &mut World, turn: &mut Turn<'_, RType>, level: &Level) {
        let Some(boss) = &mut world.boss else { return };
        let stage = boss.due_stage(&level.boss);
        if boss.health > 0 {
            if stage > boss.stage {
                boss.stage = stage;
                tell(turn, event::BOSS, Boss::ID, stage.into());
            }
            return;
        }
        tell(turn, event::BOSS, Boss::ID, -1);
        world.sweep();
        world.add_team_score(level.boss.points);
        for pilot in world.pilots.iter().filter(|pilot| pilot.lives > 0) {
            tell(turn, event::SCORE, pilot.player.0, pilot.score);
        }
        tell(turn, event::SCORE, 0, world.mission.team_score);
        let is_last = usize::from(world.mission.level) >= self.levels.len().min(Level::LIMIT);
        match is_last {
            true => world.mission.enter(Phase::Victory, Mission::END_TICKS),
            false => world.mission.enter(Phase::LevelClear, Mission::CLEAR_TICKS),
        }
    }

    /// Chains that nothing was added to in time are over.
    fn close_chains(&self, world: &mut World, turn: &mut Turn<'_, RType>) {
        for pilot in &mut world.pilots {
            if pilot.ends_chain() {
                tell(turn, event::SCORE, pilot.player.0, pilot.score);
            }
        }
    }

    /// Nobody has a life left, or nobody is there any more.
    fn judge_end(&self, world: &mut World) {
        let mission = &mut world.mission;
        if world.pilots.is_empty() && mission.phase != Phase::Lobby {
            world.return_to_lobby();
        } else if mission.phase.is_on()
            && world.pilots.iter().all(|pilot| pilot.lives == 0 || pilot.is_waiting)
        {
            mission.enter(Phase::Defeat, Mission::END_TICKS);
            mission.scroll = 0;
        }
        let at_once = self.opening == Opening::AtOnce || self.swarm > 0;
        if at_once && world.mission.phase == Phase::Lobby && !world.pilots.is_empty() {
            world.mission.enter(Phase::Countdown, Opening::WARM_UP_TICKS);
        }
    }

    /// Says what everyone must know of a new phase; a level begins with its list.
    fn tell_phase(&self, world: &mut World, turn: &mut Turn<'_, RType>) {
        let now = (world.mission.phase, world.mission.level);
        let Some(director) = &mut world.director else { return };
        let then = std::mem::replace(&mut director.told, now);
        if then == now {
            return;
        }
        let (phase, level) = now;
        match phase {
            Phase::Playing => {
                (director.clock, director.cursor, director.lull) = (0, 0, 0);
                let scroll = self.level(&world.mission).map_or(0, |level| level.scroll);
                world.mission.scroll = scroll * crate::space::PX / 60;
                tell(turn, event::LEVEL, 0, level.into());
            }
            Phase::Victory => tell(turn, event::GAME_OVER, 0, 2),
            Phase::Defeat => tell(turn, event::GAME_OVER, 0, 0),
            Phase::Lobby | Phase::Countdown => tell(turn, event::LOBBY, 0, phase as i32),
            Phase::Boss | Phase::LevelClear => {}
        }
    }
}

impl Threat {
    fn new(world: &World, level: &Level) -> Self {
        let Handicap { health, reload, bullet_speed, .. } =
            world.mission.setup.difficulty.handicap();
        Threat {
            health: health * level.threat / 100,
            reload: reload * 100 / level.threat,
            bullet_speed,
        }
    }
}

impl World {
    pub(crate) fn add_team_score(&mut self, points: i32) {
        let team = &mut self.mission.team_score;
        *team = (*team + points).min(Pilot::SCORE_LIMIT);
    }
}

/// Tells everyone.
fn tell(turn: &mut Turn<'_, RType>, kind: u8, entity: u32, value: i32) {
    turn.raise(Event { kind, entity, value, reach: Reach::Everyone });
}
