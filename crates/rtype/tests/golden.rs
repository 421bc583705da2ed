//! A run of the rules from the same seed and inputs gives the same digest on every run and every
//! machine, in debug and in release.

mod play;

use backspin::game::Buttons;
use backspin_rtype::{Opening, RType};
use play::Play;

/// The digest of all states of a run.
fn digest(game: RType, seed: u64, ticks: u32) -> u64 {
    let mut play = Play::new(game, seed, 4);
    play.back = Some(8.7);
    let (mut digest, mut script) = (0_u64, seed);
    for _ in 0..ticks {
        if play.tick.is_multiple_of(11) {
            script = script.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        }
        play.step(|_, _, player| Buttons((script >> (8 * player.0) & 63) as u16));
        digest = digest.rotate_left(5) ^ play.state().digest();
    }
    digest
}

/// Of levels and of a swarm. A change of these is a change of the rules: raise the version in
/// `Game::id` with it.
const GOLDEN: [u64; 2] = [6_452_734_684_955_794_398, 3_056_425_716_017_458_503];

#[test]
fn a_run_of_the_rules_has_the_digest_it_always_had() {
    let at_once = RType { opening: Opening::AtOnce, ..RType::default() };
    let swarm = RType { swarm: 64, ..RType::default() };
    let digests = [digest(at_once, 7, 6_000), digest(swarm, 7, 3_000)];
    assert_eq!(digests, GOLDEN);
}

#[test]
fn another_seed_is_another_run() {
    let game = RType { swarm: 8, ..RType::default() };
    assert_eq!(digest(game.clone(), 1, 600), digest(game.clone(), 1, 600));
    assert_ne!(digest(game.clone(), 1, 600), digest(game, 2, 600));
}
