//! The world as `ack` has it: paddles, a ball and the scoreboard, in px and px/s. And the other way round.

use backspin::replication::{Entity, State};
use backspin_classic::EntityState;
use backspin_classic::wire::ack::entity_type;
use backspin_classic::{AckBoard, AckSight};

use crate::Pong;
use crate::field::{
    BALL_LOWEST, BALL_SPEED, BALL_START, OUT, PADDLE_LOWEST, PADDLE_SPEED, PADDLE_START, Position,
    UNITS,
};
use crate::schema::{self, BALL_IDS, is_ball, is_doubles};
use crate::world::{Ball, Paddle, Phase, World};

/// The flag of a ball that four play with.
const DOUBLES: u16 = 1;

/// What there is to say of a paddle or the ball.
pub(crate) fn shown(entity: &Entity, plain: EntityState) -> EntityState {
    let (entity_type, flags) = match is_ball(entity) {
        true => (entity_type::BALL, if is_doubles(entity) { DOUBLES } else { 0 }),
        false => (entity_type::PADDLE, 0),
    };
    EntityState { entity_type, health: 1, flags, ..plain }
}

/// The scores, left and right; in the place of lives, the points that win.
pub(crate) fn board(world: &World) -> AckBoard {
    let [left, right] = world.score.map(i32::from);
    AckBoard { scores: [left, right], lives: world.points.into(), phase: world.phase as u16 }
}

/// Writes what a server shows into an empty state. Its numbers may be anything.
pub(crate) fn read(told: &AckSight<'_>, state: &mut State) {
    let mut world = World {
        phase: Phase::ALL.get(usize::from(told.board.phase)).copied().unwrap_or(Phase::Playing),
        score: told.board.scores.map(|score| score.clamp(0, Pong::MAX_POINTS.into()) as u8),
        points: told.board.lives.clamp(1, Pong::MAX_POINTS.into()) as u8,
        ..World::default()
    };
    for entity in told.entities.iter().filter(|entity| entity.health > 0) {
        let speed = |velocity: i16, most: i32| i32::from(velocity).clamp(-most, most);
        match entity.entity_type {
            entity_type::PADDLE => {
                if let Some(post) = told.player_of(entity).and_then(Position::of) {
                    let y = units(entity.y, PADDLE_START, 0, PADDLE_LOWEST);
                    let vy = speed(entity.vy, PADDLE_SPEED);
                    world.paddles[post.index()] = Some(Paddle { y, vy });
                }
            }
            entity_type::BALL => {
                world.doubles = entity.flags & DOUBLES != 0;
                world.ball = Ball {
                    x: units(entity.x, BALL_START.0, OUT.0, OUT.1),
                    y: units(entity.y, BALL_START.1, 0, BALL_LOWEST),
                    vx: speed(entity.vx, BALL_SPEED.0),
                    vy: speed(entity.vy, BALL_SPEED.1),
                    which: entity.entity_id & 0xFFFF == BALL_IDS[1],
                };
            }
            _ => {}
        }
    }
    schema::capture(&world, state);
}

/// What is no number is where play begins.
fn units(px: f32, otherwise: i32, min: i32, max: i32) -> i32 {
    match px.is_nan() {
        true => otherwise,
        false => ((px * UNITS as f32).round() as i32).clamp(min, max),
    }
}

#[cfg(test)]
mod tests {
    use backspin::game::{Game, PlayerId, PlayerInput, Turn};
    use backspin_classic::FullForm;

    use super::*;

    /// What a server says of a world to the player on the right.
    fn told(world: &World, see: impl FnOnce(&AckSight<'_>)) {
        let mut state = State::new(0);
        schema::capture(world, &mut state);
        let full = FullForm::new(&schema::SCHEMA);
        let said = |entity: &Entity| Some(shown(entity, full.entity(entity)?));
        let entities: Vec<_> = state.entities().iter().filter_map(said).collect();
        let (player, board) = (PlayerId(2), board(world));
        see(&AckSight { player, own: 2, entities: &entities, board });
    }

    #[test]
    fn what_a_server_shows_of_a_match_comes_back_as_it_was() {
        let game = Pong { points: 7, countdown: 0, ..Pong::default() };
        let mut world = game.begin(0);
        (1..=2).for_each(|player| game.join(&mut world, PlayerId(player), &()));
        for tick in 1..600 {
            let inputs = [1, 2].map(|player| {
                let buttons = game.bot_input(&world, PlayerId(player)).unwrap_or_default();
                PlayerInput::new(PlayerId(player), buttons)
            });
            game.step(&mut world, &mut Turn::new(tick, &inputs, &[], &mut Vec::new()));
            told(&world, |told| {
                let mut state = State::new(0);
                read(told, &mut state);
                let seen = schema::restore(&state);
                assert_eq!((seen.phase, seen.score, seen.points), (world.phase, world.score, 7));
                assert_eq!((seen.ball, seen.paddles), (world.ball, world.paddles), "tick {tick}");
            });
        }
    }

    #[test]
    fn whatever_a_stranger_says_is_brought_into_the_field() {
        for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e38, -0.0] {
            let entity = |entity_id, entity_type| EntityState {
                entity_id,
                entity_type,
                x: value,
                y: value,
                vx: i16::MIN,
                vy: i16::MAX,
                health: 1,
                flags: 0xFFFF,
                last_ack_sequence: 0,
            };
            let entities = [entity(9, 16), entity(77, 16), entity(u32::MAX, 17), entity(1, 999)];
            let board = AckBoard { scores: [i32::MIN, i32::MAX], lives: 0, phase: 999 };
            let mut state = State::new(0);
            read(
                &AckSight { player: PlayerId(2), own: 77, entities: &entities, board },
                &mut state,
            );
            assert!(state.entities().iter().all(|it| it.conforms(&schema::SCHEMA)), "{value}");
            let seen = schema::restore(&state);
            assert!(seen.paddles[1].is_some() && seen.paddles[0].is_none());
            assert_eq!((seen.score, seen.points), ([0, 99], 1));
        }
    }
}
