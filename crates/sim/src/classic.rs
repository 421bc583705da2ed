//! The built-in game as the old dialects show it.

use backspin::game::Game;
use backspin::replication::{Entity, State};
use backspin_classic::EntityState;
use backspin_classic::wire::ack::entity_type;
use backspin_classic::wire::lan::StateUpdate;
use backspin_classic::{AckSight, ClassicGame, RtypeSight, RtypeThing};

use crate::dot::{Dots, FIELDS, SCHEMA, World};

impl ClassicGame for Dots {
    /// The first of the swarm is the ball.
    fn lan_state(&self, world: &World) -> Option<StateUpdate> {
        let y = |i: usize| world.dots.get(i).map_or(390.0, |dot| dot.y as f32);
        let ball = world.swarm.first();
        let at = ball.map_or((710, 440), |ball| (ball.x, ball.y));
        let moved = ball.map_or((0, 0), |ball| ball.moved);
        Some(StateUpdate {
            seq: 0,
            p1y: y(1),
            p2y: y(0),
            ballx: at.0 as f32,
            bally: at.1 as f32,
            ballvx: (moved.0 * 60) as f32,
            ballvy: (moved.1 * 60) as f32,
            p1: 0,
            p2: 0,
        })
    }

    fn read_lan(&self, update: &StateUpdate, state: &mut State) {
        let ball = [update.ballx, update.bally, update.ballvx, update.ballvy];
        for (id, values) in [
            (1, [50.0, update.p1y, 0.0, 0.0]),
            (2, [1370.0, update.p2y, 0.0, 0.0]),
            (Dots::FIRST_OF_SWARM, ball),
        ] {
            // Three ids, in order.
            let _ = state.push(read(id, values));
        }
    }

    fn read_rtype(&self, told: &RtypeSight<'_>, state: &mut State) {
        for RtypeThing { entity, slot } in told.things {
            let player = told.players.iter().find(|player| player.id == entity.id);
            let id = match (entity.id, player) {
                // Our own server's swarm is what it is.
                (id, _) if (Dots::FIRST_OF_SWARM..FOREIGN).contains(&id) => id,
                (_, Some(it)) => self.entity_of(it.player),
                _ => FOREIGN + u32::from(*slot),
            };
            // A state that is full has no room for more; that is all.
            let _ = state.push(read(id, [entity.x, entity.y, entity.vx, entity.vy]));
        }
    }

    fn read_ack(&self, told: &AckSight<'_>, state: &mut State) {
        let things = told.entities.iter().filter(|it| it.health > 0 || it.entity_id != told.own);
        for it in things.filter(|it| it.entity_type != entity_type::SCOREBOARD) {
            let id = match told.player_of(it) {
                Some(player) => self.entity_of(player),
                None => it.entity_id & 0xFFFF,
            };
            let _ = state.push(read(id, [it.x, it.y, f32::from(it.vx), f32::from(it.vy)]));
        }
    }

    /// A dot that is there lives.
    fn ack_entity(
        &self,
        _world: &World,
        _entity: &Entity,
        plain: EntityState,
    ) -> Option<EntityState> {
        Some(EntityState { health: 1, ..plain })
    }
}

/// Where things of other servers have their ids.
const FOREIGN: u32 = 0x8000;

/// A dot of a stranger's numbers: px, and px/s.
fn read(id: u32, values: [f32; 4]) -> Entity {
    let mut counts = [0; FIELDS.len()];
    for ((count, field), value) in counts.iter_mut().zip(FIELDS).zip(values) {
        *count = field.quantise(value);
    }
    Entity::new(&SCHEMA, id, 0, &counts)
}

#[cfg(test)]
mod tests {
    use backspin::game::PlayerId;
    use backspin_classic::RtypePlayer;
    use backspin_classic::wire::rtype;

    use super::*;
    use crate::dot::{Dot, World};

    fn two() -> World {
        let game = Dots::default();
        let mut world = game.begin(0);
        game.join(&mut world, PlayerId(1), &());
        game.join(&mut world, PlayerId(2), &());
        world
    }

    const HOSTILE: [f32; 6] = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e38, -1e38, -0.0];

    #[test]
    fn hostile_numbers_of_a_lan_host_are_brought_into_the_field() {
        let mut state = State::default();
        for value in HOSTILE {
            let update = StateUpdate {
                seq: 1,
                p1y: value,
                p2y: value,
                ballx: value,
                bally: value,
                ballvx: value,
                ballvy: value,
                p1: 255,
                p2: 255,
            };
            state.clear(0);
            Dots::default().read_lan(&update, &mut state);
            assert_eq!(state.entities().len(), 3);
            assert!(state.entities().iter().all(|entity| entity.conforms(&SCHEMA)), "{value}");
        }
    }

    #[test]
    fn hostile_numbers_of_an_rtype_server_are_brought_into_the_field_and_its_ids_out_of_ours() {
        let entity = |id, value| rtype::Entity {
            id,
            kind: rtype::Kind::Enemy,
            x: value,
            y: value,
            vx: value,
            vy: value,
            rgba: 0,
        };
        let mut state = State::default();
        for value in HOSTILE {
            state.clear(0);
            let ids = [0, 1, 65_535, 65_536, u32::MAX];
            let told = ids.map(|id| entity(id, value));
            Dots::default().read_rtype(&sight(&things(&told), &[]), &mut state);
            assert_eq!(state.entities().len(), ids.len());
            assert!(state.entities().iter().all(|entity| entity.conforms(&SCHEMA)), "{value}");
        }
    }

    fn things(told: &[rtype::Entity]) -> Vec<RtypeThing> {
        let thing = |(&entity, slot)| RtypeThing { entity, slot };
        told.iter().zip(0..).map(thing).collect()
    }

    fn player(player: PlayerId) -> RtypePlayer {
        RtypePlayer { id: player.0, player, lives: 0, score: 0 }
    }

    fn sight<'a>(things: &'a [RtypeThing], players: &'a [RtypePlayer]) -> RtypeSight<'a> {
        RtypeSight { things, players, lobby: None, over: None, team_score: 0 }
    }

    #[test]
    fn a_dot_reads_as_it_was_said() {
        let (game, world) = (Dots::default(), two());
        let said = |dot: &Dot| rtype::Entity {
            id: dot.player.0,
            kind: rtype::Kind::Player,
            x: dot.x as f32,
            y: dot.y as f32,
            vx: (dot.moved.0 * 60) as f32,
            vy: (dot.moved.1 * 60) as f32,
            rgba: 0,
        };
        let said: Vec<_> = world.dots.iter().map(said).collect();
        let mut state = State::default();
        let players: Vec<_> = world.dots.iter().map(|dot| player(dot.player)).collect();
        game.read_rtype(&sight(&things(&said), &players), &mut state);
        assert_eq!(game.restore(&state), world);
    }
}
