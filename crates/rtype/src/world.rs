//! Everything there is in a match: bounded, and kept in memory that is used again.
//!
//! A world that was restored from a state has no [`Director`]: what comes next is known to the
//! server alone.

use backspin::game::PlayerId;

use crate::boss::Boss;
use crate::director::Director;
use crate::enemy::Enemy;
use crate::mission::{Mission, Phase, Pilot};
use crate::pod::Pod;
use crate::power_up::PowerUp;
use crate::rules::RType;
use crate::ship::Ship;
use crate::shot::Shot;
use crate::space::{Moving, PX, Size};

/// Everything there is.
#[derive(Debug, PartialEq, Eq)]
pub struct World {
    /// Where the match stands.
    pub mission: Mission,
    // All lists are in the order of ids, and so of players.
    /// Who plays, by player.
    pub(crate) pilots: Vec<Pilot>,
    /// Their ships, those that are in the field.
    pub(crate) ships: Vec<Ship>,
    /// Their pods.
    pub(crate) pods: Vec<Pod>,
    pub(crate) shots: Vec<Shot>,
    pub(crate) enemies: Vec<Enemy>,
    pub(crate) bullets: Vec<Bullet>,
    pub(crate) power_ups: Vec<PowerUp>,
    /// What waits at the end.
    pub boss: Option<Boss>,
    /// What pods have caught lately. Known to the server alone.
    pub(crate) caught: Vec<Caught>,
    pub(crate) director: Option<Director>,
}

/// A bullet that a pod has caught, and that its player still sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Caught {
    pub(crate) player: PlayerId,
    pub(crate) bullet: u32,
    /// How long it is remembered.
    pub(crate) ticks: i32,
}

impl Caught {
    /// Longer than anything is rewound, with the tick before.
    pub(crate) const TICKS: i32 = RType::REWIND_TICKS + 2;

    /// As many as there may be bullets, for each player.
    pub(crate) const LIMIT: usize = World::PLAYER_LIMIT * World::BULLET_LIMIT;
}

/// What enemies fire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bullet {
    /// The same for as long as it flies.
    pub id: u32,
    /// Where.
    pub at: Moving,
}

impl Bullet {
    /// How large it is.
    pub const SIZE: Size = Size::px(8, 8);

    /// The fastest, in 1/16 px a tick.
    pub const SPEED_LIMIT: i32 = 8 * PX - 1;
}

/// A player's line in the list of players.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlayerCard {
    /// Who.
    pub player: PlayerId,
    /// Lives left.
    pub lives: u8,
    /// The score.
    pub score: i32,
    /// Ready for the match, or playing it.
    pub is_ready: bool,
    /// Whether the player may start the match and set it up.
    pub is_host: bool,
    /// Waits for the next match.
    pub is_waiting: bool,
}

impl World {
    /// Players in a match.
    pub const PLAYER_LIMIT: usize = 4;

    /// Enemies at a time.
    pub const ENEMY_LIMIT: usize = 64;

    /// Bullets at a time.
    pub const BULLET_LIMIT: usize = 128;

    /// Power-ups at a time.
    pub const POWER_UP_LIMIT: usize = 8;

    /// Shots at a time. Ships cannot reach it by shooting: a volley of 4 every 9 ticks is out of
    /// the field within 63.
    pub const SHOT_LIMIT: usize = World::PLAYER_LIMIT * 4 * 8;

    /// A world with memory for as much as it may ever hold.
    pub(crate) fn new(mission: Mission, director: Option<Director>) -> Self {
        World {
            mission,
            pilots: Vec::with_capacity(World::PLAYER_LIMIT),
            ships: Vec::with_capacity(World::PLAYER_LIMIT),
            pods: Vec::with_capacity(World::PLAYER_LIMIT),
            shots: Vec::with_capacity(World::SHOT_LIMIT),
            enemies: Vec::with_capacity(World::ENEMY_LIMIT),
            bullets: Vec::with_capacity(World::BULLET_LIMIT),
            power_ups: Vec::with_capacity(World::POWER_UP_LIMIT),
            boss: None,
            caught: Vec::new(),
            director,
        }
    }

    /// Who plays, by player: lives, score and marks.
    pub fn players(&self) -> impl Iterator<Item = PlayerCard> + '_ {
        self.pilots.iter().map(|pilot| PlayerCard {
            player: pilot.player,
            lives: pilot.lives.clamp(0, Pilot::LIVES_LIMIT) as u8,
            score: pilot.score,
            is_ready: pilot.is_ready,
            is_host: self.mission.host == Some(pilot.player),
            is_waiting: pilot.is_waiting,
        })
    }

    /// How a player does.
    pub fn pilot(&self, player: PlayerId) -> Option<&Pilot> {
        self.pilots.iter().find(|pilot| pilot.player == player)
    }

    /// A player's ship, while it is in the field.
    pub fn ship(&self, player: PlayerId) -> Option<&Ship> {
        self.ships.iter().find(|ship| ship.player == player)
    }

    /// Whether a player's ship is hit and soon gone.
    pub fn is_wreck(&self, player: PlayerId) -> bool {
        self.pilot(player).is_some_and(Pilot::is_wrecked)
    }

    /// A player's pod.
    pub fn pod(&self, player: PlayerId) -> Option<&Pod> {
        self.pods.iter().find(|pod| pod.player == player)
    }

    /// The ships in the field.
    pub fn ships(&self) -> &[Ship] {
        &self.ships
    }

    /// What the ships have fired.
    pub fn shots(&self) -> &[Shot] {
        &self.shots
    }

    /// The enemies.
    pub fn enemies(&self) -> &[Enemy] {
        &self.enemies
    }

    /// What they have fired.
    pub fn bullets(&self) -> &[Bullet] {
        &self.bullets
    }

    /// What there is to take.
    pub fn power_ups(&self) -> &[PowerUp] {
        &self.power_ups
    }

    pub(crate) fn pilot_mut(&mut self, player: PlayerId) -> Option<&mut Pilot> {
        self.pilots.iter_mut().find(|pilot| pilot.player == player)
    }

    /// Puts a plain ship where its player starts.
    pub(crate) fn launch(&mut self, player: PlayerId) {
        self.ships.retain(|ship| ship.player != player);
        self.ships.push(Ship::new(player));
        self.ships.sort_unstable_by_key(|ship| ship.player);
    }

    /// One tick of losing a ship: a wreck goes at last, and after a while comes another ship.
    pub(crate) fn replace_ship(&mut self, player: PlayerId) {
        let Some(pilot) = self.pilot_mut(player).filter(|pilot| pilot.away > 0) else { return };
        let was_wreck = pilot.is_wrecked();
        pilot.away -= 1;
        let (is_wreck, is_back) = (pilot.is_wrecked(), pilot.away == 0 && pilot.lives > 0);
        if was_wreck && !is_wreck {
            self.ships.retain(|ship| ship.player != player);
            self.pods.iter_mut().filter(|pod| pod.player == player).for_each(Pod::let_go);
        }
        if is_back {
            self.launch(player);
        }
    }

    /// Adds a shot in the order of ids.
    pub(crate) fn add_shot(&mut self, shot: Shot) {
        if self.shots.len() < World::SHOT_LIMIT {
            let place = self.shots.partition_point(|other| other.id < shot.id);
            self.shots.insert(place, shot);
        }
    }

    /// Brings what has come in this tick into the order of ids: who is hit first must not depend on
    /// whether the world was restored.
    pub(crate) fn sort(&mut self) {
        self.enemies.sort_unstable_by_key(|enemy| enemy.id);
        self.bullets.sort_unstable_by_key(|bullet| bullet.id);
        self.power_ups.sort_unstable_by_key(|power_up| power_up.id);
    }

    /// Takes everything out of the field but ships and pods.
    pub(crate) fn sweep(&mut self) {
        self.enemies.clear();
        self.bullets.clear();
        self.power_ups.clear();
        self.boss = None;
    }

    /// Gives everyone who plays a new ship, where the old one was if there is one, and takes all
    /// else out of the field.
    pub(crate) fn line_up(&mut self) {
        self.sweep();
        self.pods.clear();
        self.shots.clear();
        for pilot in &mut self.pilots {
            (pilot.is_waiting, pilot.away) = (false, 0);
            match self.ships.iter_mut().find(|ship| ship.player == pilot.player) {
                Some(ship) => *ship = Ship { at: ship.at, ..Ship::new(pilot.player) },
                None => self.ships.push(Ship::new(pilot.player)),
            }
        }
        self.ships.sort_unstable_by_key(|ship| ship.player);
    }

    /// The match begins: everyone with all lives and no score.
    pub(crate) fn start(&mut self) {
        let lives = self.starting_lives();
        for pilot in &mut self.pilots {
            let Pilot { player, is_ready, is_mute, is_absent, .. } = *pilot;
            *pilot = Pilot { is_ready, is_mute, is_absent, ..Pilot::new(player, lives) };
        }
        self.line_up();
        let Mission { level, wave, distance, team_score, .. } = &mut self.mission;
        (*level, *wave, *distance, *team_score) = (1, 0, 0, 0);
        self.mission.enter(Phase::Playing, 0);
    }

    /// The lives that a player starts with.
    pub(crate) fn starting_lives(&self) -> i32 {
        let setup = self.mission.setup;
        (i32::from(setup.base_lives) + setup.difficulty.handicap().lives)
            .clamp(1, Pilot::LIVES_LIMIT)
    }

    /// Everyone is back in the lobby, with the scores to be read.
    pub(crate) fn return_to_lobby(&mut self) {
        self.mission.enter(Phase::Lobby, 0);
        self.mission.scroll = 0;
        self.line_up();
        self.pilots.iter_mut().for_each(|pilot| pilot.is_ready = pilot.is_mute);
    }

    /// Everything that nobody steers flies on.
    pub(crate) fn drift(&mut self) {
        for enemy in &mut self.enemies {
            enemy.at.go();
        }
        for bullet in &mut self.bullets {
            bullet.at.go();
        }
        for power_up in &mut self.power_ups {
            power_up.at.go();
        }
        if let Some(boss) = &mut self.boss {
            boss.at.go();
        }
        self.enemies.retain(|enemy| !enemy.at.is_gone());
        self.bullets.retain(|bullet| !bullet.at.is_gone());
        self.power_ups.retain(|power_up| !power_up.at.is_gone());
        let Mission { distance, scroll, .. } = &mut self.mission;
        *distance = (*distance + *scroll).min(Mission::DISTANCE_LIMIT);
    }
}

impl Clone for World {
    fn clone(&self) -> Self {
        let mut world = World::new(self.mission, self.director);
        world.clone_from(self);
        world
    }

    /// Keeps the memory: the server remembers a world every tick.
    fn clone_from(&mut self, source: &Self) {
        self.mission = source.mission;
        self.pilots.clone_from(&source.pilots);
        self.ships.clone_from(&source.ships);
        self.pods.clone_from(&source.pods);
        self.shots.clone_from(&source.shots);
        self.enemies.clone_from(&source.enemies);
        self.bullets.clone_from(&source.bullets);
        self.power_ups.clone_from(&source.power_ups);
        self.boss = source.boss;
        self.caught.clone_from(&source.caught);
        self.director = source.director;
    }
}
