//! The built-in game: a dot per player that moves. What the netcode is proved with until, and
//! beside, the real games.

use crate::game::{Buttons, Game, GameId, PlayerId};
use crate::wire::native::EntityState;

/// The rules.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dots;

impl Dots {
    /// The field, px.
    pub const FIELD: (i32, i32) = (1440, 900);

    /// How far a dot moves in a tick, px.
    pub const STEP: i32 = 5;
}

/// The dots, in the order they came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct World {
    /// Who is where.
    pub dots: Vec<Dot>,
}

/// One player's dot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dot {
    /// Whose.
    pub player: PlayerId,
    /// From the left, px.
    pub x: i32,
    /// From the top, px.
    pub y: i32,
    /// How far it moved in the last tick, px.
    pub moved: (i32, i32),
}

impl Game for Dots {
    type World = World;

    fn id(&self) -> GameId {
        GameId::new(*b"DOTS", 1)
    }

    fn capacity(&self) -> u8 {
        4
    }

    fn begin(&self, _seed: u64) -> World {
        World::default()
    }

    fn join(&self, world: &mut World, player: PlayerId) {
        let (width, height) = Dots::FIELD;
        let x = width / 5 * (1 + player.0 as i32 % 4);
        world.dots.push(Dot { player, x, y: height / 2, moved: (0, 0) });
    }

    fn leave(&self, world: &mut World, player: PlayerId) {
        world.dots.retain(|dot| dot.player != player);
    }

    fn step(&self, world: &mut World, inputs: &[(PlayerId, Buttons)]) {
        for dot in &mut world.dots {
            let held = inputs.iter().find(|(player, _)| *player == dot.player);
            let held = held.map_or(Buttons::default(), |(_, buttons)| *buttons);
            let axis = |less, more| {
                Dots::STEP * (i32::from(held.contains(more)) - i32::from(held.contains(less)))
            };
            let (width, height) = Dots::FIELD;
            let before = (dot.x, dot.y);
            dot.x = (dot.x + axis(Buttons::LEFT, Buttons::RIGHT)).clamp(0, width);
            dot.y = (dot.y + axis(Buttons::UP, Buttons::DOWN)).clamp(0, height);
            dot.moved = (dot.x - before.0, dot.y - before.1);
        }
    }

    fn entities(&self, world: &World, out: &mut Vec<EntityState>) {
        out.extend(world.dots.iter().map(|dot| EntityState {
            entity_id: dot.player.0,
            entity_type: 1,
            x: dot.x as f32,
            y: dot.y as f32,
            vx: (dot.moved.0 * 60) as i16,
            vy: (dot.moved.1 * 60) as i16,
            health: 1,
            flags: 0,
            last_ack_sequence: 0,
        }));
    }

    #[cfg(feature = "lan")]
    fn lan_state(&self, world: &World) -> Option<crate::wire::lan::StateUpdate> {
        let y = |i: usize| world.dots.get(i).map_or(390.0, |dot| dot.y as f32);
        Some(crate::wire::lan::StateUpdate {
            seq: 0,
            p1y: y(1),
            p2y: y(0),
            ballx: 710.0,
            bally: 440.0,
            ballvx: 0.0,
            ballvy: 0.0,
            p1: 0,
            p2: 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dot_goes_where_its_player_steers_and_stops_at_the_edge() {
        let mut world = Dots.begin(0);
        Dots.join(&mut world, PlayerId(1));
        Dots.join(&mut world, PlayerId(2));
        let before = world.clone();
        Dots.step(&mut world, &[(PlayerId(1), Buttons::UP)]);
        assert_eq!(world.dots[0].y, before.dots[0].y - Dots::STEP);
        assert_eq!(world.dots[1], before.dots[1]);
        for _ in 0..1000 {
            Dots.step(&mut world, &[(PlayerId(1), Buttons::UP), (PlayerId(2), Buttons::RIGHT)]);
        }
        assert_eq!((world.dots[0].y, world.dots[1].x), (0, Dots::FIELD.0));
    }

    #[test]
    fn who_leaves_takes_the_dot_along() {
        let mut world = Dots.begin(0);
        Dots.join(&mut world, PlayerId(1));
        Dots.leave(&mut world, PlayerId(1));
        assert_eq!(world, Dots.begin(0));
    }
}
