//! A match under way allocates nothing: proved by an allocator that counts.

#[path = "../../net/tests/counting/mod.rs"]
mod counting;
mod play;

use backspin::game::Game;
use backspin::replication::State;
use backspin_rtype::{Opening, RType};
use play::Play;

fn assert_steady(game: RType) {
    let mut play = Play::new(game, 3, 4);
    play.back = Some(9.4);
    let mut state = State::default();
    let mut restored = play.game.restore(&state);
    let mut tick = |play: &mut Play| {
        play.step_bots();
        state.clear(play.tick);
        play.game.capture(&play.world, &mut state);
        play.game.restore_into(&state, &mut restored);
    };
    // Until every buffer has grown.
    (0..9_000).for_each(|_| tick(&mut play));
    let before = counting::allocations();
    (0..4_000).for_each(|_| tick(&mut play));
    assert_eq!(counting::allocations() - before, 0);
}

#[test]
fn a_match_under_way_allocates_nothing() {
    assert_steady(RType { opening: Opening::AtOnce, ..RType::default() });
}

#[test]
fn a_swarm_under_way_allocates_nothing() {
    assert_steady(RType { swarm: 64, ..RType::default() });
}
