//! The promises that netcode stands on: the same run twice, worlds that come back from what was
//! sent of them, and exact prediction.

use backspin_rtype::{Opening, RType};
use backspin_sim::{Checked, Trial, check_rules, check_rules_with};

fn check(game: RType, trial: &Trial) -> Checked {
    let checked = check_rules_with(game, trial).unwrap_or_else(|error| panic!("{error}"));
    println!("{checked}");
    checked
}

#[test]
fn the_rules_hold_in_the_lobby() {
    let checked = check_rules::<RType>().unwrap_or_else(|error| panic!("{error}"));
    assert!(checked.entities > 0 && checked.events > 0);
}

#[test]
fn the_rules_hold_in_a_match() {
    let game = RType { opening: Opening::AtOnce, ..RType::default() };
    let checked = check(game, &Trial { seed: 115, seeds: 3, ticks: 3_000 });
    assert!(checked.events > 1_000, "{checked:?}");
}

#[test]
fn the_rules_hold_in_a_swarm() {
    let checked = check(
        RType { swarm: 64, ..RType::default() },
        &Trial { seed: 117, seeds: 3, ..Trial::default() },
    );
    assert!(checked.entities > 60 * checked.ticks, "{checked:?}");
}
