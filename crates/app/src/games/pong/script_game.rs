//! Pong in scripts: what they read and write.

use std::error::Error;
use std::io;

use backspin::game::{Buttons, Game, PlayerId};
use backspin::replication::State;
use backspin::typed::Message;
use backspin_pong::{Command, Attendance, Bot, Level, Phase, Pong, Position, Side, World};
use serde::Serialize;

use crate::script::{Lines, News, ScriptGame, Tell};
use crate::seed;

/// Ticks in a second.
const SECOND: u16 = 60;

/// The players here, and what was reported last.
pub(super) struct PongScript {
    /// In the own place; else stdin says what is held.
    bot: Option<Bot>,
    held: Buttons,
    /// Against it, in a match on this machine alone.
    others: Vec<(PlayerId, Bot)>,
    score: [u8; 2],
    /// The newest state that was told.
    told: Option<Line>,
    is_over: bool,
    /// Whom the ball waits for.
    waits_for: Option<PlayerId>,
}

/// What happens in a match.
#[derive(PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Line {
    State {
        tick: u32,
        p1_y: f32,
        p2_y: f32,
        ball_x: f32,
        ball_y: f32,
        ball_vx: f32,
        ball_vy: f32,
        p1_score: u8,
        p2_score: u8,
    },
    Score {
        p1_score: u8,
        p2_score: u8,
        #[serde(skip)]
        names: [String; 2],
    },
    GameOver {
        winner: u8,
        p1_score: u8,
        p2_score: u8,
        #[serde(skip)]
        names: [String; 2],
    },
    /// The ball waits for a player who is not responding.
    Waiting {
        player: u32,
        seconds_left: u16,
        #[serde(skip)]
        name: String,
    },
    /// It no longer waits; a bot plays for this player, or everyone is back.
    GoesOn {
        bot_for: Option<u32>,
        #[serde(skip)]
        name: String,
    },
}

impl PongScript {
    /// A bot in the own place, and bots against it at a table of so many.
    pub(super) fn new(
        bot: Option<Level>,
        versus: Option<Level>,
        players: u32,
    ) -> Result<Self, Box<dyn Error>> {
        let new = |level| -> Result<Bot, Box<dyn Error>> { Ok(Bot::new(level, seed::world()?)) };
        let mut others = Vec::new();
        if let Some(level) = versus {
            for player in 2..=players {
                others.push((PlayerId(player), new(level)?));
            }
        }
        let (bot, held) = (bot.map(new).transpose()?, Buttons::default());
        Ok(PongScript {
            bot,
            held,
            others,
            score: [0, 0],
            told: None,
            is_over: false,
            waits_for: None,
        })
    }

    /// Says whom the ball waits for, and that it no longer does.
    fn tell_hold(&mut self, lines: &Lines, news: &News<'_>, world: &World) -> io::Result<()> {
        let of = |attendance: Attendance| {
            let is = |post: &Position| world.attendance[post.side().index()] == attendance;
            world.posts().find(is).map(Position::player)
        };
        let waits_for = of(Attendance::Quiet).filter(|_| world.phase == Phase::Hold);
        if waits_for == std::mem::replace(&mut self.waits_for, waits_for) {
            return Ok(());
        }
        match waits_for {
            Some(quiet) => {
                let (player, name) = (quiet.0, name_of(news, quiet));
                let seconds_left = world.ticks_left.div_ceil(SECOND);
                lines.say(&Line::Waiting { player, seconds_left, name })
            }
            None => {
                let bot = of(Attendance::Replaced);
                let name = bot.map_or(String::new(), |player| name_of(news, player));
                lines.say(&Line::GoesOn { bot_for: bot.map(|player| player.0), name })
            }
        }
    }
}

/// What a player is called.
fn name_of(news: &News<'_>, player: PlayerId) -> String {
    let line = news.roster.iter().find(|line| line.player == player);
    let name = line.map_or(String::new(), |line| line.name.to_string());
    if name.is_empty() { player.to_string() } else { name }
}

/// What a side is called.
fn team(news: &News<'_>, world: &World, side: Side) -> String {
    let posts = world.posts().filter(|post| post.side() == side);
    let names: Vec<_> = posts.map(|post| name_of(news, post.player())).collect();
    names.join(" & ")
}

impl ScriptGame for PongScript {
    type Game = Pong;

    fn players(&self) -> Vec<PlayerId> {
        std::iter::once(PlayerId(1)).chain(self.others.iter().map(|(player, _)| *player)).collect()
    }

    fn obey(&mut self, command: &str) -> Vec<u8> {
        match command {
            "up" => self.held = Buttons::UP,
            "down" => self.held = Buttons::DOWN,
            "still" => self.held = Buttons::default(),
            "again" => return Command::Again.to_vec(),
            "bot" => return Command::GoOn.to_vec(),
            _ => {}
        }
        Vec::new()
    }

    fn has_eyes(&self) -> bool {
        self.bot.is_some() || !self.others.is_empty()
    }

    fn hold(&mut self, seen: &World, player: PlayerId, tick: u32) -> Buttons {
        let other = self.others.iter_mut().find(|(other, _)| *other == player);
        match other.map(|(_, bot)| bot).or(self.bot.as_mut()) {
            Some(bot) => bot.buttons(seen, player, tick),
            None => self.held,
        }
    }

    fn tell(&mut self, lines: &Lines, news: News<'_>) -> io::Result<Vec<u8>> {
        let world = Pong::default().restore(news.state);
        let line = state(news.state, &world);
        // The tick alone does not tell: a quick host of the old dialect has several states in one.
        if self.told.as_ref() == Some(&line) {
            return Ok(Vec::new());
        }
        lines.say(self.told.insert(line))?;
        let [p1_score, p2_score] = world.score;
        let names = || [Side::Left, Side::Right].map(|side| team(&news, &world, side));
        if world.score != self.score {
            self.score = world.score;
            lines.say(&Line::Score { p1_score, p2_score, names: names() })?;
        }
        self.tell_hold(lines, &news, &world)?;
        let was_over = std::mem::replace(&mut self.is_over, world.phase == Phase::Over);
        if let (false, true, Some(winner)) = (was_over, self.is_over, world.winner()) {
            let winner = winner.index() as u8 + 1;
            lines.say(&Line::GameOver { winner, p1_score, p2_score, names: names() })?;
        }
        Ok(Vec::new())
    }

    fn is_over(&self) -> bool {
        self.is_over
    }
}

/// What a state says; in doubles the paddles at the back.
fn state(state: &State, world: &World) -> Line {
    let px = |units: i32| units as f32 / backspin_pong::UNITS as f32;
    let y = |side: Side| {
        let paddle = world.paddles[side.index()];
        px(paddle.map_or((backspin_pong::FIELD.1 - backspin_pong::PADDLE_SIZE.1) / 2, |it| it.y))
    };
    Line::State {
        tick: state.tick,
        p1_y: y(Side::Left),
        p2_y: y(Side::Right),
        ball_x: px(world.ball.x),
        ball_y: px(world.ball.y),
        ball_vx: world.ball.vx as f32,
        ball_vy: world.ball.vy as f32,
        p1_score: world.score[0],
        p2_score: world.score[1],
    }
}

impl Tell for Line {
    fn text(&self) -> Option<String> {
        match self {
            Line::State { .. } => None,
            Line::Score { p1_score, p2_score, names: [left, right] } => {
                Some(format!("{left} {p1_score} : {p2_score} {right}"))
            }
            Line::GameOver { winner, p1_score, p2_score, names: [left, right] } => {
                let wins = if *winner == 1 { left } else { right };
                Some(format!("{wins} wins, {left} {p1_score} : {p2_score} {right}"))
            }
            Line::Waiting { seconds_left, name, .. } => Some(format!(
                "{name} is not responding; the ball waits up to {seconds_left} s (\"bot\" \
                 continues against a bot)"
            )),
            Line::GoesOn { bot_for: Some(_), name } => Some(format!("a bot plays for {name}")),
            Line::GoesOn { .. } => Some("play continues".to_owned()),
        }
    }
}
