//! How Pong is shown.

use std::error::Error;

use backspin::game::{Buttons, Frame, Game, PlayerId};
use backspin::replication::{Drawn, State};
use backspin::wire::Name;
use backspin::typed::Message;
use backspin_pong::{Command, 
    Attendance, BALL_IDS, BALL_SIZE, Bot, FIELD, Level, PADDLE_SIZE, Phase, Pong, Position, Side,
    UNITS, World,
};

use crate::games::command::LEVELS;
use crate::screen::stage::{
    Happenings, Interlude, Names, Offer, Sight, Stage, Standing, StandingPhase, Way,
};
use crate::screen::{
    Banner, BurstKind, Controls, Cue, Hand, Lane, Launch, Look, Options, Row, Scene, Steers, Thing,
    Tone, sentence,
};
use crate::seed;

/// Ticks in a second.
const SECOND: u16 = 60;

/// The net's width in px.
const NET: f32 = 4.0;

impl Stage for Pong {
    type Bot = Bot;

    const SIDES: &'static [&'static str] = &["Left", "Right"];

    const WAYS: &'static [(&'static str, Way)] = &[
        ("Pong against an easy bot", Some(Level::Easy as u8)),
        ("Pong against a normal bot", Some(Level::Normal as u8)),
        ("Pong against a hard bot", Some(Level::Hard as u8)),
        ("Pong for two at one keyboard", None),
    ];

    const CONTROLS: Controls = Controls::Paddle;

    fn scene(&self, sight: &Sight<'_, Self>) -> Scene {
        let (width, height) = (px(FIELD.0), px(FIELD.1));
        let own = sight.own.and_then(Position::of).unwrap_or(Position::LeftBack);
        let net = Thing { look: Look::Net, x: (width - NET) / 2.0, y: 0.0, width: NET, height };
        let thing = |drawn: &Drawn| {
            let id = drawn.entity.id;
            let [first, second] = drawn.fields.first();
            if BALL_IDS.contains(&id) {
                let (width, height) = (px(BALL_SIZE), px(BALL_SIZE));
                return Some(Thing { look: Look::Ball, x: first, y: second, width, height });
            }
            let post = Position::of_paddle(id)?;
            let look = if post.side() == own.side() { Look::OwnPaddle } else { Look::OtherPaddle };
            let (width, height) = (px(PADDLE_SIZE.0), px(PADDLE_SIZE.1));
            Some(Thing { look, x: px(post.x()), y: first, width, height })
        };
        let things = sight.frame.entities.iter().filter_map(thing);
        let things = std::iter::once(net).chain(things).collect();
        Scene { width, height, things, ..Scene::default() }
    }

    /// A ball that turns has met something: a paddle where it turns to the side.
    fn happened(&self, before: &Sight<'_, Self>, now: &Sight<'_, Self>, out: &mut Happenings) {
        let Some((then, now)) = ball(before.frame).zip(ball(now.frame)) else { return };
        if then.entity.id != now.entity.id {
            return;
        }
        let turned = |field: usize| {
            let (then, now) = (then.entity.fields[field], now.entity.fields[field]);
            then.signum() * now.signum() < 0
        };
        let cue = match (turned(2), turned(3)) {
            (true, _) => Cue::Paddle,
            (false, true) => Cue::Wall,
            (false, false) => return,
        };
        let [x, y] = now.fields.first();
        out.cues.push(cue);
        out.bursts.push((BurstKind::Bounce, x + px(BALL_SIZE) / 2.0, y + px(BALL_SIZE) / 2.0));
    }

    fn progress(&self, _state: &State, world: &World) -> Standing {
        let wishes = world.posts().filter(|post| world.wishes[post.index()]);
        Standing {
            phase: phase(world),
            players: world.posts().map(|post| (post.player(), post.side().index())).collect(),
            points: world.score.to_vec(),
            wishes: wishes.map(Position::player).collect(),
        }
    }

    fn banner(&self, sight: &Sight<'_, Self>) -> Option<Banner> {
        match phase(sight.world) {
            StandingPhase::Countdown(seconds) => {
                Some(Banner { large: seconds.to_string(), text: Vec::new() })
            }
            StandingPhase::Left => Some(Banner {
                large: String::new(),
                text: vec!["The other player left. Waiting for another.".into()],
            }),
            _ => None,
        }
    }

    fn interlude(&self, world: &World, own: Option<PlayerId>, names: &Names) -> Option<Interlude> {
        let of = |attendance: Attendance| {
            let is = |post: &Position| world.attendance[post.side().index()] == attendance;
            world.posts().find(is).map(Position::player)
        };
        let (words, seconds) = match world.phase {
            Phase::Hold => {
                let quiet = of(Attendance::Quiet)?;
                let left = world.ticks_left.div_ceil(SECOND);
                let words = match own == Some(quiet) {
                    true => format!("Your input is not arriving. The ball waits ({left} s)."),
                    false => {
                        format!("{} is not responding. The ball waits ({left} s).", names.of(quiet))
                    }
                };
                (words, None)
            }
            Phase::Countdown => {
                let replaced = of(Attendance::Replaced).filter(|player| own != Some(*player))?;
                let words = format!("A bot plays for {}.", names.of(replaced));
                (words, Some(world.ticks_left.div_ceil(SECOND).max(1)))
            }
            _ => return None,
        };
        let is_here = |post: Position| world.attendance[post.side().index()] == Attendance::Here;
        let may_go_on =
            world.phase == Phase::Hold && own.and_then(Position::of).is_some_and(is_here);
        let offer = may_go_on.then(|| Offer {
            row: Row::new("Continue against a bot"),
            key: Some(('g', "continue against a bot")),
            words: Command::GoOn.to_vec(),
        });
        let mut text = vec![words];
        text.extend(offer.iter().map(|_| "G: continue against a bot".to_owned()));
        let large = seconds.map_or(String::new(), |seconds| seconds.to_string());
        Some(Interlude { banner: Banner { large, text }, offer })
    }

    /// A wish that was told keeps its line, so that the same key pressed twice does not leave the
    /// match.
    fn offers(&self, world: &World, own: Option<PlayerId>) -> Vec<Offer> {
        let manned = |side: Side| world.posts().any(|post| post.side() == side);
        let may_begin = world.doubles && manned(Side::Left) && manned(Side::Right);
        let text = match world.phase {
            Phase::Over => "Play again",
            Phase::Waiting if may_begin => "Start without waiting for more",
            _ => return Vec::new(),
        };
        let wished = own.and_then(Position::of).is_some_and(|post| world.wishes[post.index()]);
        let (text, words) = match wished {
            true => ("Waiting for the other side ...", Vec::new()),
            false => (text, Command::Again.to_vec()),
        };
        vec![Offer { row: Row::new(text), key: None, words }]
    }

    fn verdict(
        &self,
        world: &World,
        own: Option<PlayerId>,
        names: &Names,
    ) -> (String, Vec<(String, Tone)>) {
        let Some(winner) = world.winner() else { return Default::default() };
        let team = |side: Side| {
            let posts = world.posts().filter(|post| post.side() == side);
            let names: Vec<_> = posts.map(|post| names.of(post.player())).collect();
            names.join(" & ")
        };
        let title = match own.and_then(Position::of) {
            Some(post) if post.side() == winner => "You win!".to_owned(),
            Some(_) => "You lose".to_owned(),
            None => format!("{} wins", team(winner)),
        };
        // The player's own side comes first.
        let first = own.and_then(Position::of).map_or(Side::Left, Position::side);
        let points = |side: Side| world.score[side.index()];
        let (one, other) = (points(first), points(first.other()));
        let score = format!("{} {one} : {other} {}", team(first), team(first.other()));
        (title, vec![(score, Tone::Bright)])
    }

    fn players_alone(&self) -> u32 {
        self.capacity().into()
    }

    fn hands(
        &self,
        launch: &Launch,
        options: &Options,
        name: Name,
    ) -> Result<Vec<Hand<Pong>>, Box<dyn Error>> {
        let person = |player, name: &str, lane| Hand {
            player: PlayerId(player),
            name: name.to_owned(),
            steers: Steers::Person(lane),
        };
        let bot = |player, level| -> Result<Hand<Pong>, Box<dyn Error>> {
            let named = level_name(self::level(level));
            let name = format!("{} bot", sentence(named).trim_end_matches('.'));
            Ok(Hand { player: PlayerId(player), name, steers: Steers::Bot(Pong::bot(level)?) })
        };
        let (players, versus) = match launch {
            Launch::Local(_, way) => (self.players_alone(), *way),
            _ => (1, None),
        };
        let alone = players == 1 || versus.is_some();
        let mut hands = vec![match options.bot {
            Some(level) => bot(1, level)?,
            None if alone => person(1, &name.to_string(), Lane::Both),
            None => person(1, "Left", Lane::Left),
        }];
        for player in 2..=players {
            hands.push(match versus {
                Some(level) => bot(player, level)?,
                None if player == 2 => {
                    let lane = if options.bot.is_some() { Lane::Both } else { Lane::Right };
                    person(2, "Right", lane)
                }
                None => bot(player, Level::Normal as u8)?,
            });
        }
        Ok(hands)
    }

    fn bot(level: u8) -> Result<Bot, Box<dyn Error>> {
        Ok(Bot::new(self::level(level), seed::world()?))
    }

    fn steer(bot: &mut Bot, seen: &World, player: PlayerId, tick: u32) -> Buttons {
        bot.buttons(seen, player, tick)
    }
}

fn phase(world: &World) -> StandingPhase {
    match (world.phase, world.winner()) {
        (Phase::Waiting, _) => StandingPhase::Waiting,
        (Phase::Left, _) => StandingPhase::Left,
        (Phase::Countdown, _) => {
            StandingPhase::Countdown(world.ticks_left.div_ceil(SECOND).max(1) as u8)
        }
        (Phase::Over, Some(winner)) => StandingPhase::Over { winner: winner.index() },
        (Phase::Playing | Phase::Hold | Phase::Over, _) => StandingPhase::Playing,
    }
}

fn ball(frame: &Frame) -> Option<&Drawn> {
    frame.entities.iter().find(|drawn| BALL_IDS.contains(&drawn.entity.id))
}

/// The level with this number, or the hardest.
pub(super) fn level(number: u8) -> Level {
    Level::ALL.get(usize::from(number)).copied().unwrap_or(Level::Hard)
}

/// A level in words.
pub(super) fn level_name(level: Level) -> &'static str {
    LEVELS[level as usize]
}

fn px(units: i32) -> f32 {
    units as f32 / UNITS as f32
}
