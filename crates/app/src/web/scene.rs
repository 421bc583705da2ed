//! A room as the page draws it: things with a position and size, in px, and a line about the match. The page
//! knows shapes
//! and colours, not the rules.

use serde::Serialize;

use super::board::Scene;
use crate::games::{AppGame, Title, with_game};

/// A scene as JSON.
pub(super) fn told(scene: &Scene) -> String {
    let picture = match Title::of(scene.game) {
        Some(title) => with_game!(title, G => G::picture(&scene.state)),
        None => DrawnScene::default(),
    };
    let (tick, rate) = (scene.state.tick, scene.tick_rate);
    // Plain data: there is nothing in it that JSON has no word for.
    serde_json::to_string(&SceneMessage { tick, rate, picture }).unwrap_or_default()
}

#[derive(Serialize)]
struct SceneMessage {
    tick: u32,
    rate: u8,
    #[serde(flatten)]
    picture: DrawnScene,
}

/// What is drawn.
#[derive(Debug, Default, PartialEq, Serialize)]
pub(crate) struct DrawnScene {
    /// Width and height, in px.
    pub(crate) field: [i32; 2],
    /// How the match stands: the score, and what is going on.
    pub(crate) score: String,
    pub(crate) note: String,
    /// How far the ground has moved, in px.
    pub(crate) scrolled: i32,
    pub(crate) things: Vec<Thing>,
}

/// One thing. A row is half as long as an object would be, and there are hundreds a second.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Thing(
    pub(crate) &'static str,
    pub(crate) u32,
    pub(crate) f32,
    pub(crate) f32,
    pub(crate) i32,
    pub(crate) i32,
    pub(crate) i32,
);

impl Thing {
    /// A thing of a size in units, of which `unit` are a px; `look` tells those of a kind apart.
    pub(crate) fn new(
        kind: &'static str,
        id: u32,
        [x, y]: [i32; 2],
        [w, h]: [i32; 2],
        unit: i32,
        look: i32,
    ) -> Self {
        let px = |units: i32| (units as f32 / unit as f32 * 10.0).round() / 10.0;
        Thing(kind, id, px(x), px(y), w / unit, h / unit, look)
    }
}

#[cfg(test)]
mod tests {
    use backspin::game::Game;
    use backspin::replication::State;
    use backspin_pong::Pong;

    use super::*;

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
    }
}
