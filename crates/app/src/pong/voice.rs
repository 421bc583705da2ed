//! Pong without a face: what a script hears, what is read of it.

use std::error::Error;
use std::io;

use backspin::game::{Buttons, Game, PlayerId};
use backspin::replica::State;
use backspin_pong::{Bot, Level, Phase, Pong, Side, World};
use serde::Serialize;

use crate::script::{Lines, News, Tell, Voice};
use crate::seed;

/// Who plays here, and what was told.
pub(super) struct PongVoice {
    /// In the own place; else stdin says what is held.
    bot: Option<Bot>,
    held: Buttons,
    /// Against it, at a table of this machine alone.
    others: Vec<(PlayerId, Bot)>,
    score: [u8; 2],
    /// The newest state that was told.
    told: Option<Line>,
    is_over: bool,
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
    },
    GameOver {
        winner: u8,
        p1_score: u8,
        p2_score: u8,
    },
}

impl PongVoice {
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
        Ok(PongVoice { bot, held, others, score: [0, 0], told: None, is_over: false })
    }
}

impl Voice for PongVoice {
    type Game = Pong;

    fn players(&self) -> Vec<PlayerId> {
        std::iter::once(PlayerId(1)).chain(self.others.iter().map(|(player, _)| *player)).collect()
    }

    fn obey(&mut self, command: &str) -> Vec<u8> {
        match command {
            "up" => self.held = Buttons::UP,
            "down" => self.held = Buttons::DOWN,
            "still" => self.held = Buttons::default(),
            "again" => return Pong::AGAIN.to_vec(),
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
        if world.score != self.score {
            self.score = world.score;
            lines.say(&Line::Score { p1_score, p2_score })?;
        }
        let was_over = std::mem::replace(&mut self.is_over, world.phase == Phase::Over);
        if let (false, true, Some(winner)) = (was_over, self.is_over, world.winner()) {
            let winner = winner.index() as u8 + 1;
            lines.say(&Line::GameOver { winner, p1_score, p2_score })?;
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
            Line::Score { p1_score, p2_score } => Some(format!("{p1_score} : {p2_score}")),
            Line::GameOver { winner, p1_score, p2_score } => {
                Some(format!("player {winner} wins, {p1_score} : {p2_score}"))
            }
        }
    }
}
