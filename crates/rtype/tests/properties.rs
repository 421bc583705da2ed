//! Whatever players hold and say: the limits hold, everything stays where it can be sent, nothing
//! panics.

mod play;

use backspin::game::Effects;
use backspin::game::{Buttons, Game, PlayerId};
use backspin_rtype::command::Setup;
use backspin_rtype::difficulty::Difficulty;
use backspin_rtype::ship::Ship;
use backspin_rtype::space::FIELD;
use backspin_rtype::{Opening, RType, World};
use play::Play;
use proptest::prelude::*;

/// What the outside does.
#[derive(Clone, Debug)]
enum Deed {
    /// Everyone holds these for so long.
    Hold([u16; 4], u32),
    Join(u32),
    Leave(u32),
    Say(u32, Vec<u8>),
}

fn deed() -> impl Strategy<Value = Deed> {
    let words = prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..6),
        (1..6_u8, 0..3_u8, 0..8_u8, 0..2_u8).prop_map(|(a, b, c, d)| vec![a, b, c, d]),
        (1..6_u8, 0..2_u8).prop_map(|(a, b)| vec![a, b]),
        (1..6_u8).prop_map(|a| vec![a]),
    ];
    prop_oneof![
        6 => (any::<[u16; 4]>(), 1..200_u32).prop_map(|(held, ticks)| Deed::Hold(held, ticks)),
        1 => (0..10_u32).prop_map(Deed::Join),
        1 => (0..6_u32).prop_map(Deed::Leave),
        2 => (0..6_u32, words).prop_map(|(player, words)| Deed::Say(player, words)),
    ]
}

fn check(play: &Play) -> Result<(), TestCaseError> {
    let world = &play.world;
    prop_assert!(world.players().count() <= World::PLAYER_LIMIT);
    prop_assert!(world.enemies().len() <= World::ENEMY_LIMIT);
    prop_assert!(world.bullets().len() <= World::BULLET_LIMIT);
    prop_assert!(world.shots().len() < World::SHOT_LIMIT, "{} shots", world.shots().len());
    prop_assert!(world.power_ups().len() <= World::POWER_UP_LIMIT);
    for ship in world.ships() {
        prop_assert!((0..=FIELD.w - Ship::SIZE.w).contains(&ship.at.x));
        prop_assert!((0..=FIELD.h - Ship::SIZE.h).contains(&ship.at.y));
    }
    for enemy in world.enemies() {
        prop_assert!(enemy.health > 0);
    }
    // A restored world has this order, and who is hit first depends on it.
    prop_assert!(world.shots().is_sorted_by_key(|shot| shot.id));
    prop_assert!(world.enemies().is_sorted_by_key(|enemy| enemy.id));
    prop_assert!(world.bullets().is_sorted_by_key(|bullet| bullet.id));
    prop_assert!(world.power_ups().is_sorted_by_key(|power_up| power_up.id));
    // What does not fit its field is cut to it, and would come back as another.
    let state = play.state();
    prop_assert_eq!(state.refused(), None);
    let mut again = play.state();
    again.clear(play.tick);
    play.game.capture(&play.game.restore(&state), &mut again);
    prop_assert_eq!(state, again);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn whatever_players_do_the_limits_hold(
        deeds in proptest::collection::vec(deed(), 1..24),
        seed: u64,
        back in proptest::option::of(0.0..40.0_f64),
        difficulty in 0..3_usize,
        base_lives in 1..=6_u8,
        swarm in prop_oneof![3 => Just(0), 1 => any::<u16>()],
        at_once: bool,
    ) {
        let setup =
            Setup { difficulty: Difficulty::ALL[difficulty], base_lives, late_joining: true };
        let opening = if at_once { Opening::AtOnce } else { Opening::Lobby };
        let game = RType { opening, setup, swarm, ..RType::default() };
        let mut play = Play::new(game, seed, 2);
        play.back = back;
        let mut events = Vec::new();
        for deed in deeds {
            match deed {
                Deed::Hold(held, ticks) => {
                    for _ in 0..ticks {
                        play.step(|_, _, player| Buttons(held[player.0 as usize % 4]));
                    }
                }
                Deed::Join(player) => play.game.join(&mut play.world, PlayerId(player), &()),
                Deed::Leave(player) => play.game.leave(&mut play.world, PlayerId(player)),
                Deed::Say(player, words) => {
                    let effects = &mut Effects::new(&mut events);
                    let _ = play.game.handle_message(&mut play.world, PlayerId(player), &words, effects);
                }
            }
            check(&play)?;
        }
    }

    #[test]
    fn no_text_is_a_level_that_panics(text in "[a-z\\[\\]= \n\"0-9.#-]{0,200}") {
        let _ = backspin_rtype::level::Level::parse(&text);
    }
}
