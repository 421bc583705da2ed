//! R-Type in scripts: what they read and write.

use std::io;

use backspin::client::RosterLine;
use backspin::game::{Buttons, Game, PlayerId};
use backspin_rtype::command::{Command, PHRASES, Setup};
use backspin_rtype::difficulty::Difficulty;
use backspin_rtype::mission::Phase;
use backspin_rtype::schema::MISSION_ID;
use backspin_rtype::{RType, World, bot};
use serde::Serialize;

use super::stage::{difficulty_name, words};
use crate::script::{Lines, News, ScriptGame, Steers, Tell};

/// The pod needs both buttons; this many looks are enough for a tick or two.
const POD_LOOKS: u32 = 8;

/// A wish that the host has not received is repeated after this many looks.
const WISH_EVERY: u32 = 100;

/// The players here, and what was reported last.
pub(super) struct RtypeScript {
    game: RType,
    steers: Steers,
    /// What stdin says is held.
    held: Buttons,
    /// How many more looks both buttons are held, for the pod.
    pod_looks: u32,
    /// Until a bot may say again that it is ready, or start.
    wish_in: u32,
    world: World,
    /// Whether the match itself is reported, not just what flies.
    has_mission: bool,
    /// How the match is to be set up, before the host's word is heard.
    wanted: Option<Setup>,
    told: Reported,
}

/// What was reported last.
#[derive(Default)]
struct Reported {
    tick: Option<u32>,
    roster: Vec<Card>,
    setup: Option<Setup>,
    level: Option<u8>,
    wave: u8,
    team_score: i32,
    is_over: bool,
}

/// A player, as a script reads it.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Card {
    player: u32,
    name: String,
    lives: u8,
    ready: bool,
    host: bool,
}

/// What happens in a match.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Line {
    /// The players and the match settings.
    Roster {
        players: Vec<Card>,
        difficulty: Option<&'static str>,
        base_lives: Option<u8>,
    },
    State {
        tick: u32,
        phase: Option<&'static str>,
        level: u8,
        wave: u8,
        ships: usize,
        enemies: usize,
        shots: usize,
        bullets: usize,
        boss_pct: Option<i32>,
        score: i32,
    },
    Lives {
        player: u32,
        lives: u8,
    },
    Score {
        team: i32,
        players: Vec<(u32, i32)>,
    },
    Wave {
        wave: u8,
        waves: u8,
    },
    Level {
        level: u8,
        name: String,
    },
    GameOver {
        victory: bool,
        level: u8,
        score: i32,
    },
}

impl RtypeScript {
    pub(super) fn new(game: RType, steers: Steers) -> Self {
        let world = game.begin(0);
        RtypeScript {
            game,
            steers,
            held: Buttons::default(),
            pod_looks: 0,
            wish_in: 0,
            world,
            has_mission: false,
            wanted: None,
            told: Reported::default(),
        }
    }

    /// Holds one of two opposite directions.
    fn go(&mut self, way: Buttons, other: Buttons) {
        self.held = Buttons(self.held.0 & !other.0) | way;
    }

    fn let_go(&mut self, buttons: Buttons) {
        self.held.0 &= !buttons.0;
    }

    /// What a bot has to say for the match to begin: that it is ready or, as host, that it starts.
    fn wish(&mut self, own: Option<PlayerId>) -> Vec<u8> {
        self.wish_in = self.wish_in.saturating_sub(1);
        if self.steers != Steers::Bot
            || self.wish_in > 0
            || !self.has_mission
            || self.world.mission.phase != Phase::Lobby
        {
            return Vec::new();
        }
        let mut others = self.world.players().filter(|card| Some(card.player) != own);
        let own = self.world.players().find(|card| Some(card.player) == own);
        let command = match own {
            Some(own) if own.is_host => {
                let has_others = others.next().is_some();
                let all_ready = self.world.players().all(|card| card.is_ready || card.is_host);
                (has_others && all_ready).then_some(Command::Start)
            }
            Some(own) if !own.is_ready => Some(Command::Ready(true)),
            _ => None,
        };
        let Some(command) = command else { return Vec::new() };
        self.wish_in = WISH_EVERY;
        words(command)
    }

    fn roster(&self, roster: &[RosterLine]) -> Vec<Card> {
        let name = |player: PlayerId| {
            let line = roster.iter().find(|line| line.player == player);
            line.map_or(String::new(), |line| line.name.to_string())
        };
        let cards = self.world.players().map(|card| Card {
            player: card.player.0,
            name: name(card.player),
            lives: card.lives,
            ready: card.is_ready,
            host: card.is_host,
        });
        // The old dialect has a roster of its own.
        let lines = roster.iter().filter(|_| !self.has_mission).map(|line| Card {
            player: line.player.0,
            name: line.name.to_string(),
            lives: line.lives,
            ready: false,
            host: false,
        });
        cards.chain(lines).collect()
    }

    fn tell_roster(&mut self, lines: &Lines, roster: &[RosterLine]) -> io::Result<()> {
        let is_named = |player| roster.iter().any(|line| line.player == player);
        if self.has_mission && !self.world.players().all(|card| is_named(card.player)) {
            // What they are called comes in a moment.
            return Ok(());
        }
        let players = self.roster(roster);
        let setup = self.has_mission.then_some(self.world.mission.setup);
        if players == self.told.roster && setup == self.told.setup {
            return Ok(());
        }
        for card in &players {
            let before = self.told.roster.iter().find(|it| it.player == card.player);
            if before.is_some_and(|it| it.lives != card.lives) {
                lines.say(&Line::Lives { player: card.player, lives: card.lives })?;
            }
        }
        self.told.roster.clone_from(&players);
        self.told.setup = setup;
        lines.say(&Line::Roster {
            players,
            difficulty: setup.map(|setup| difficulty_name(setup.difficulty)),
            base_lives: setup.map(|setup| setup.base_lives),
        })
    }

    fn tell_mission(&mut self, lines: &Lines) -> io::Result<()> {
        let mission = self.world.mission;
        let level = self.game.levels.get(usize::from(mission.level).saturating_sub(1));
        let is_on = mission.phase.is_on();
        if self.told.level != is_on.then_some(mission.level) {
            self.told.level = is_on.then_some(mission.level);
            self.told.wave = 0;
            if is_on {
                let name = level.map_or(String::new(), |level| level.name.clone());
                lines.say(&Line::Level { level: mission.level, name })?;
            }
        }
        if is_on && self.told.wave != mission.wave {
            self.told.wave = mission.wave;
            let waves = level.map_or(0, |level| level.waves);
            lines.say(&Line::Wave { wave: mission.wave, waves })?;
        }
        if self.told.team_score != mission.team_score {
            self.told.team_score = mission.team_score;
            let players = self.world.players().map(|card| (card.player.0, card.score)).collect();
            lines.say(&Line::Score { team: mission.team_score, players })?;
        }
        let is_over = matches!(mission.phase, Phase::Victory | Phase::Defeat);
        if !std::mem::replace(&mut self.told.is_over, is_over) && is_over {
            let victory = mission.phase == Phase::Victory;
            let (level, score) = (mission.level, mission.team_score);
            lines.say(&Line::GameOver { victory, level, score })?;
        }
        Ok(())
    }

    fn state(&self, tick: u32) -> Line {
        let (world, mission) = (&self.world, &self.world.mission);
        Line::State {
            tick,
            phase: self.has_mission.then(|| phase_name(mission.phase)),
            level: mission.level,
            wave: mission.wave,
            ships: world.ships().len(),
            enemies: world.enemies().len(),
            shots: world.shots().len(),
            bullets: world.bullets().len(),
            boss_pct: world.boss.map(|boss| 100 * boss.health.max(0) / boss.full.max(1)),
            score: mission.team_score,
        }
    }
}

impl ScriptGame for RtypeScript {
    type Game = RType;

    fn players(&self) -> Vec<PlayerId> {
        vec![PlayerId(1)]
    }

    fn obey(&mut self, command: &str) -> Vec<u8> {
        let setup = self.wanted.unwrap_or(self.world.mission.setup);
        let (word, number) = match command.split_once(' ') {
            Some((word, number)) => (word, number.trim().parse::<u8>().ok()),
            None => (command, None),
        };
        let configure = |setup| Some(Command::Configure(setup));
        let hard = |difficulty| configure(Setup { difficulty, ..setup });
        let said = match word {
            "ready" => Some(Command::Ready(true)),
            "unready" => Some(Command::Ready(false)),
            "start" => Some(Command::Start),
            "again" => Some(Command::Restart),
            "easy" => hard(Difficulty::Easy),
            "normal" => hard(Difficulty::Normal),
            "hard" => hard(Difficulty::Hard),
            "lives" => number
                .filter(|lives| (1..=Setup::LIVES_MAX).contains(lives))
                .and_then(|base_lives| configure(Setup { base_lives, ..setup })),
            "chat" => number
                .filter(|phrase| (1..=PHRASES.len()).contains(&usize::from(*phrase)))
                .map(|phrase| Command::Chat(phrase - 1)),
            _ => None,
        };
        if let Some(Command::Configure(setup)) = said {
            self.wanted = Some(setup);
        }
        match word {
            "up" => self.go(Buttons::UP, Buttons::DOWN),
            "down" => self.go(Buttons::DOWN, Buttons::UP),
            "left" => self.go(Buttons::LEFT, Buttons::RIGHT),
            "right" => self.go(Buttons::RIGHT, Buttons::LEFT),
            "still" => {
                self.let_go(Buttons::UP | Buttons::DOWN | Buttons::LEFT | Buttons::RIGHT);
            }
            "fire" => self.go(Buttons::SHOOT, Buttons::CHARGE),
            "hold" => self.go(Buttons::CHARGE, Buttons::SHOOT),
            "release" => self.let_go(Buttons::SHOOT | Buttons::CHARGE),
            "pod" => self.pod_looks = POD_LOOKS,
            _ => {}
        }
        said.map(words).unwrap_or_default()
    }

    fn has_eyes(&self) -> bool {
        self.steers == Steers::Bot
    }

    fn hold(&mut self, seen: &World, player: PlayerId, _tick: u32) -> Buttons {
        if self.steers == Steers::Bot && self.has_mission {
            return bot::hold(seen, player);
        }
        if self.steers == Steers::Bot {
            // The old dialect shows what flies and not the match; whoever sees nothing to fear or
            // to shoot has only wasted a shot.
            let mut seen = seen.clone();
            seen.mission.phase = Phase::Playing;
            return bot::hold(&seen, player);
        }
        if self.pod_looks == 0 {
            return self.held;
        }
        self.pod_looks -= 1;
        self.held | Buttons::SHOOT | Buttons::CHARGE
    }

    fn tell(&mut self, lines: &Lines, news: News<'_>) -> io::Result<Vec<u8>> {
        let tick = news.state.tick;
        self.game.restore_into(news.state, &mut self.world);
        self.has_mission = news.state.find(MISSION_ID).is_some();
        self.wanted.take_if(|wanted| *wanted == self.world.mission.setup);
        let words = self.wish(news.own);
        if self.told.tick == Some(tick) {
            return Ok(words);
        }
        self.told.tick = Some(tick);
        lines.say(&self.state(tick))?;
        self.tell_roster(lines, news.roster)?;
        if self.has_mission {
            self.tell_mission(lines)?;
        }
        Ok(words)
    }

    fn is_over(&self) -> bool {
        self.told.is_over
    }
}

fn phase_name(phase: Phase) -> &'static str {
    match phase {
        Phase::Lobby => "lobby",
        Phase::Countdown => "countdown",
        Phase::Playing => "playing",
        Phase::Boss => "boss",
        Phase::LevelClear => "level_clear",
        Phase::Victory => "victory",
        Phase::Defeat => "defeat",
    }
}

impl Tell for Line {
    fn text(&self) -> Option<String> {
        Some(match self {
            Line::State { .. } => return None,
            Line::Roster { players, .. } => {
                let one = |card: &Card| {
                    let mark = match card {
                        Card { host: true, .. } => ", host",
                        Card { ready: true, .. } => ", ready",
                        _ => "",
                    };
                    let name = if card.name.is_empty() { "a player" } else { &card.name };
                    format!("{name} ({} lives{mark})", card.lives)
                };
                let all: Vec<_> = players.iter().map(one).collect();
                format!("here: {}", all.join(", "))
            }
            Line::Lives { player, lives } => format!("player {player} has {lives} lives"),
            Line::Score { team, .. } => format!("score {team}"),
            Line::Wave { wave, waves } => format!("wave {wave} of {waves}"),
            Line::Level { level, name } => format!("level {level}: {name}"),
            Line::GameOver { victory: true, score, .. } => format!("victory, score {score}"),
            Line::GameOver { level, score, .. } => {
                format!("defeat in level {level}, score {score}")
            }
        })
    }
}
