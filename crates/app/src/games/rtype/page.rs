//! R-Type on the operator's page.

use std::sync::LazyLock;

use backspin::game::Game;
use backspin::replication::{Entity, State};
use backspin_rtype::boss::Boss;
use backspin_rtype::enemy::Species;
use backspin_rtype::mission::{Mission, Phase};
use backspin_rtype::pod::Pod;
use backspin_rtype::power_up::PowerUp;
use backspin_rtype::ship::Ship;
use backspin_rtype::shot::Shot;
use backspin_rtype::space::{FIELD, PX, Size};
use backspin_rtype::{Bullet, RType, schema};

use crate::web::{DrawnScene, Thing};

/// The rules that read a state; reading the levels once is enough.
static RULES: LazyLock<RType> = LazyLock::new(RType::default);

pub(super) fn picture(state: &State) -> DrawnScene {
    let mission = RULES.restore(state).mission;
    DrawnScene {
        field: [FIELD.w / PX, FIELD.h / PX],
        score: format!("{} points", mission.team_score),
        note: note(&mission),
        scrolled: mission.distance / PX,
        things: state.entities().iter().filter_map(thing).collect(),
    }
}

fn note(mission: &Mission) -> String {
    let Mission { level, wave, .. } = *mission;
    match mission.phase {
        Phase::Lobby => "in the lobby".to_owned(),
        Phase::Countdown => "about to begin".to_owned(),
        Phase::Playing => format!("level {level}, wave {wave}"),
        Phase::Boss => format!("level {level}, the boss"),
        Phase::LevelClear => format!("level {level} cleared"),
        Phase::Victory => "won".to_owned(),
        Phase::Defeat => "lost".to_owned(),
    }
}

/// What has a place.
fn thing(entity: &Entity) -> Option<Thing> {
    let Entity { id, kind, fields } = entity;
    let [x, y] = fields.first();
    let species = || Species::ALL.get(usize::try_from(fields[5]).ok()?);
    let (kind, size, look): (_, Size, _) = match *kind {
        // Ships that nothing can hurt blink.
        schema::SHIP if fields[8] > 0 => ("safe ship", Ship::SIZE, id.cast_signed()),
        schema::SHIP => ("ship", Ship::SIZE, id.cast_signed()),
        schema::POD => ("pod", Pod::SIZE, 0),
        schema::BOSS => ("boss", Boss::SIZE, health(fields[4], fields[5])),
        schema::ENEMY => ("enemy", species()?.size(), fields[5]),
        schema::BULLET => ("bullet", Bullet::SIZE, 0),
        schema::POWER_UP => ("power-up", PowerUp::SIZE, fields[4]),
        schema::SHOT | schema::TAIL_SHOT => ("shot", Shot::SIZE, 0),
        schema::HEAVY_SHOT => ("heavy shot", Shot::HEAVY_SIZE, 0),
        _ => return None,
    };
    Some(Thing::new(kind, *id, [x, y], [size.w, size.h], PX, look))
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

    #[test]
    fn a_match_of_rtype_shows_everything_that_has_a_place() {
        let game = RType { opening: Opening::AtOnce, ..RType::default() };
        let (player, mut world) = (PlayerId(1), game.begin(7));
        game.join(&mut world, player, &());
        let mut seen = std::collections::BTreeSet::new();
        for tick in 1..=1_200 {
            let buttons = game.bot_input(&world, player).unwrap_or_default();
            let inputs = [backspin::game::PlayerInput::new(player, buttons)];
            game.step(&mut world, &mut Turn::new(tick, &inputs, &[], &mut Vec::new()));
            let mut state = State::new(tick);
            game.capture(&world, &mut state);
            let picture = picture(&state);
            // All but a pilot and the mission.
            assert_eq!(picture.things.len() + 2, state.entities().len(), "tick {tick}");
            seen.extend(picture.things.iter().map(|thing| thing.0));
        }
        assert!(["enemy", "shot", "bullet"].iter().all(|kind| seen.contains(kind)), "{seen:?}");
        assert!(seen.contains("ship") || seen.contains("safe ship"), "{seen:?}");
    }
}
