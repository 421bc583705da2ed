//! Pong, as it is shown.

use backspin::client::Frame;
use backspin::game::{Buttons, Game, PlayerId};
use backspin::replica::State;
use backspin_pong::{
    BALL_IDS, BALL_SIZE, Bot, FIELD, Level, PADDLE_SIZE, Phase, Pong, Post, Side, UNITS, World,
};

use super::stage::{Stage, Standing, StandingPhase};
use super::{Look, Scene, Thing};

/// Ticks in a second.
const SECOND: u16 = 60;

/// The net's width in px.
const NET: f32 = 4.0;

impl Stage for Pong {
    type Bot = Bot;

    const AGAIN: &'static [u8] = Pong::AGAIN;

    const SIDES: &'static [&'static str] = &["Left", "Right"];

    fn scene(&self, frame: &Frame, own: Option<PlayerId>) -> Scene {
        let (width, height) = (px(FIELD.0), px(FIELD.1));
        let own = own.and_then(Post::of).unwrap_or(Post::LeftBack);
        let net = Thing { look: Look::Net, x: (width - NET) / 2.0, y: 0.0, width: NET, height };
        let thing = |drawn: &backspin::replica::Drawn| {
            let id = drawn.entity.id;
            let [first, second, ..] = drawn.fields;
            if BALL_IDS.contains(&id) {
                let (width, height) = (px(BALL_SIZE), px(BALL_SIZE));
                return Some(Thing { look: Look::Ball, x: first, y: second, width, height });
            }
            let post = Post::of_paddle(id)?;
            let look = if post.side() == own.side() { Look::OwnPaddle } else { Look::OtherPaddle };
            let (width, height) = (px(PADDLE_SIZE.0), px(PADDLE_SIZE.1));
            Some(Thing { look, x: px(post.x()), y: first, width, height })
        };
        let things = frame.entities.iter().filter_map(thing);
        Scene { width, height, things: std::iter::once(net).chain(things).collect() }
    }

    fn standing(&self, state: &State) -> Standing {
        let world = self.restore(state);
        let wishes = world.posts().filter(|post| world.wishes[post.index()]);
        let manned = |side: Side| world.posts().any(|post| post.side() == side);
        Standing {
            phase: match (world.phase, world.winner()) {
                (Phase::Waiting, _) => StandingPhase::Waiting,
                (Phase::Left, _) => StandingPhase::Left,
                (Phase::Countdown, _) => {
                    StandingPhase::Countdown(world.ticks_left.div_ceil(SECOND).max(1) as u8)
                }
                (Phase::Over, Some(winner)) => StandingPhase::Over { winner: winner.index() },
                (Phase::Playing | Phase::Over, _) => StandingPhase::Playing,
            },
            players: world.posts().map(|post| (post.player(), post.side().index())).collect(),
            points: world.score.to_vec(),
            wishes: wishes.map(Post::player).collect(),
            may_begin: world.doubles && manned(Side::Left) && manned(Side::Right),
        }
    }

    fn steer(bot: &mut Bot, seen: &World, player: PlayerId, tick: u32) -> Buttons {
        bot.buttons(seen, player, tick)
    }
}

/// A level in words.
pub(super) fn level_name(level: Level) -> &'static str {
    match level {
        Level::Easy => "easy",
        Level::Normal => "normal",
        Level::Hard => "hard",
    }
}

fn px(units: i32) -> f32 {
    units as f32 / UNITS as f32
}
