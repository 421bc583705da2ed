//! A room as it is drawn by someone who watches it: things with a place and a size, in px, and a
//! line about how the match stands. The page knows shapes and colours, and nothing of the rules.

use std::sync::LazyLock;

use backspin::game::{Game, GameId};
use backspin::replica::{Entity, State};
use backspin_pong::{BALL_IDS, BALL_SIZE, PADDLE_SIZE, Phase, Pong, Side, UNITS};
use backspin_rtype::boss::Boss;
use backspin_rtype::enemy::Species;
use backspin_rtype::mission::{Mission, Phase as MissionPhase};
use backspin_rtype::pod::Pod;
use backspin_rtype::power_up::PowerUp;
use backspin_rtype::ship::Ship;
use backspin_rtype::shot::Shot;
use backspin_rtype::space::{self, PX, Size};
use backspin_rtype::{Bullet, RType, schema};
use serde::Serialize;

use super::board::Scene;

/// The rules that read a state; reading the levels once is enough.
static RTYPE: LazyLock<RType> = LazyLock::new(RType::default);

/// What a game is called.
pub(super) fn game_name(id: GameId) -> &'static str {
    match id {
        _ if id == Pong::default().id() => "Pong",
        _ if id == RTYPE.id() => "R-Type",
        _ => "another game",
    }
}

/// A scene as JSON.
pub(super) fn told(scene: &Scene) -> String {
    let picture = match game_name(scene.game) {
        "Pong" => pong(&scene.state),
        "R-Type" => rtype(&scene.state),
        _ => Picture::default(),
    };
    let (tick, rate) = (scene.state.tick, scene.tick_rate);
    // Plain data: there is nothing in it that JSON has no word for.
    serde_json::to_string(&Told { tick, rate, picture }).unwrap_or_default()
}

#[derive(Serialize)]
struct Told {
    tick: u32,
    rate: u8,
    #[serde(flatten)]
    picture: Picture,
}

/// What is drawn.
#[derive(Debug, Default, PartialEq, Serialize)]
struct Picture {
    /// Width and height, in px.
    field: [i32; 2],
    /// How the match stands: the score, and what is going on.
    score: String,
    note: String,
    /// How far the ground has moved, in px.
    scrolled: i32,
    things: Vec<Thing>,
}

/// One thing. A row is half as long as an object would be, and there are hundreds a second.
#[derive(Debug, PartialEq, Serialize)]
struct Thing(&'static str, u16, f32, f32, i32, i32, i32);

impl Thing {
    /// A thing of a size in units, of which `unit` are a px; `look` tells those of a kind apart.
    fn new(
        kind: &'static str,
        id: u16,
        [x, y]: [i32; 2],
        [w, h]: [i32; 2],
        unit: i32,
        look: i32,
    ) -> Self {
        let px = |units: i32| (units as f32 / unit as f32 * 10.0).round() / 10.0;
        Thing(kind, id, px(x), px(y), w / unit, h / unit, look)
    }
}

fn pong(state: &State) -> Picture {
    let world = Pong::default().restore(state);
    let thing = |kind, id, at, size, look| Thing::new(kind, id, at, size, UNITS, look);
    let paddles = world.posts().filter_map(|post| {
        let paddle = world.paddle(post.player())?;
        let (at, look) = ([post.x(), paddle.y], post.side().index());
        Some(thing("paddle", post.paddle_id(), at, PADDLE_SIZE.into(), look as i32))
    });
    let ball_id = BALL_IDS[usize::from(world.ball.which)];
    let ball = thing("ball", ball_id, [world.ball.x, world.ball.y], [BALL_SIZE; 2], 0);
    let [left, right] = world.score;
    let points = world.points;
    Picture {
        field: [backspin_pong::FIELD.0 / UNITS, backspin_pong::FIELD.1 / UNITS],
        score: format!("{left} : {right}"),
        note: match (world.phase, world.winner()) {
            (Phase::Waiting, _) => "waiting for players".to_owned(),
            (Phase::Left, _) => "a player has left".to_owned(),
            (Phase::Countdown, _) => "about to begin".to_owned(),
            (Phase::Hold, _) => "waiting for a quiet player".to_owned(),
            (Phase::Over, Some(Side::Left)) => "left has won".to_owned(),
            (Phase::Over, Some(Side::Right)) => "right has won".to_owned(),
            (Phase::Playing | Phase::Over, _) => format!("first to {points}"),
        },
        scrolled: 0,
        things: paddles.chain([ball]).collect(),
    }
}

fn rtype(state: &State) -> Picture {
    let mission = RTYPE.restore(state).mission;
    Picture {
        field: [space::FIELD.w / PX, space::FIELD.h / PX],
        score: format!("{} points", mission.team_score),
        note: rtype_note(&mission),
        scrolled: mission.distance / PX,
        things: state.entities().iter().filter_map(rtype_thing).collect(),
    }
}

fn rtype_note(mission: &Mission) -> String {
    let Mission { level, wave, .. } = *mission;
    match mission.phase {
        MissionPhase::Lobby => "in the lobby".to_owned(),
        MissionPhase::Countdown => "about to begin".to_owned(),
        MissionPhase::Playing => format!("level {level}, wave {wave}"),
        MissionPhase::Boss => format!("level {level}, the boss"),
        MissionPhase::LevelClear => format!("level {level} is done"),
        MissionPhase::Victory => "won".to_owned(),
        MissionPhase::Defeat => "lost".to_owned(),
    }
}

/// What has a place.
fn rtype_thing(entity: &Entity) -> Option<Thing> {
    let Entity { id, kind, fields } = *entity;
    let [x, y, ..] = fields;
    let species = || Species::ALL.get(usize::try_from(fields[5]).ok()?);
    let (kind, size, look): (_, Size, _) = match kind {
        // Ships that nothing can hurt blink.
        schema::SHIP if fields[8] > 0 => ("safe ship", Ship::SIZE, i32::from(id)),
        schema::SHIP => ("ship", Ship::SIZE, i32::from(id)),
        schema::POD => ("pod", Pod::SIZE, 0),
        schema::BOSS => ("boss", Boss::SIZE, health(fields[4], fields[5])),
        schema::ENEMY => ("enemy", species()?.size(), fields[5]),
        schema::BULLET => ("bullet", Bullet::SIZE, 0),
        schema::POWER_UP => ("power-up", PowerUp::SIZE, fields[4]),
        schema::SHOT | schema::TAIL_SHOT => ("shot", Shot::SIZE, 0),
        schema::HEAVY_SHOT => ("heavy shot", Shot::HEAVY_SIZE, 0),
        _ => return None,
    };
    Some(Thing::new(kind, id, [x, y], [size.w, size.h], PX, look))
}

/// What is left, in percent.
fn health(left: i32, full: i32) -> i32 {
    left * 100 / full.max(1)
}

#[cfg(test)]
mod tests {
    use backspin::game::{PlayerId, Turn};
    use backspin_rtype::Opening;

    use super::*;

    fn kinds(picture: &Picture) -> Vec<&'static str> {
        let mut kinds: Vec<_> = picture.things.iter().map(|thing| thing.0).collect();
        kinds.dedup();
        kinds
    }

    #[test]
    fn a_match_of_pong_is_paddles_a_ball_and_a_score() {
        let game = Pong::default();
        let mut world = game.begin(0);
        for player in [1, 2] {
            game.join(&mut world, PlayerId(player));
        }
        game.step(&mut world, &mut Turn::new(1, &[], &[], &mut Vec::new()));
        let mut state = State::new(1);
        game.capture(&world, &mut state);
        let picture = pong(&state);
        assert_eq!(kinds(&picture), ["paddle", "ball"]);
        assert_eq!(picture.field, [1440, 900]);
        assert_eq!((&*picture.score, &*picture.note), ("0 : 0", "about to begin"));
        let Thing(_, id, x, y, w, h, look) = picture.things[0];
        assert_eq!((id, x, y, w, h, look), (1, 50.0, 390.0, 20, 120, 0));
    }

    #[test]
    fn a_match_of_rtype_shows_everything_that_has_a_place() {
        let game = RType { opening: Opening::AtOnce, ..RType::default() };
        let (player, mut world) = (PlayerId(1), game.begin(7));
        game.join(&mut world, player);
        let mut seen = std::collections::BTreeSet::new();
        for tick in 1..=1_200 {
            let buttons = game.stand_in(&world, player).unwrap_or_default();
            let inputs = [backspin::game::PlayerInput { player, buttons, drawn: None }];
            game.step(&mut world, &mut Turn::new(tick, &inputs, &[], &mut Vec::new()));
            let mut state = State::new(tick);
            game.capture(&world, &mut state);
            let picture = rtype(&state);
            // All but a pilot and the mission.
            assert_eq!(picture.things.len() + 2, state.entities().len(), "tick {tick}");
            seen.extend(picture.things.iter().map(|thing| thing.0));
        }
        assert!(["enemy", "shot", "bullet"].iter().all(|kind| seen.contains(kind)), "{seen:?}");
        assert!(seen.contains("ship") || seen.contains("safe ship"), "{seen:?}");
    }

    #[test]
    fn a_scene_is_a_line_of_json() {
        let game = Pong::default();
        let mut state = State::new(9);
        game.capture(&game.begin(0), &mut state);
        let scene = Scene { game: game.id(), tick_rate: 60, state };
        let text = told(&scene);
        assert!(text.starts_with(r#"{"tick":9,"rate":60,"field":[1440,900],"#), "{text}");
        assert!(text.contains(r#"["ball",1000,710.0,440.0,20,20,0]"#), "{text}");
        assert!(!text.contains('\n'));
        assert_eq!(game_name(RType::default().id()), "R-Type");
    }
}
