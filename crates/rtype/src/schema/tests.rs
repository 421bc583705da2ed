use backspin::game::{Buttons, Game, PlayerId, PlayerInput, Turn};
use backspin::replication::{State, delta};

use super::*;
use crate::rules::RType;
use crate::ship::Refit;
use crate::world::World;

fn captured(world: &World, tick: u32) -> State {
    let mut state = State::new(tick);
    capture(world, &mut state);
    assert_eq!(state.refused(), None);
    state
}

fn started() -> World {
    let game = RType::default();
    let mut world = game.begin(1);
    (1..=4).for_each(|player| game.join(&mut world, PlayerId(player), &()));
    world.start();
    world
}

fn step(world: &mut World, tick: u32, buttons: Buttons) {
    let inputs = [1, 2, 3, 4].map(|player| PlayerInput::new(PlayerId(player), buttons));
    RType::default().step(world, &mut Turn::new(tick, &inputs, &[], &mut Vec::new()));
}

#[test]
fn everything_but_what_the_server_alone_knows_comes_back() {
    let mut world = started();
    world.ships[0].refit = Some((Refit::Speed, 17));
    world.ships[1].refit = Some((Refit::Weapon, 1));
    world.ships[2].gear.has_shield = true;
    let pod = Pod::new(&world.ships[3]);
    world.pods.push(pod);
    for tick in 1..400 {
        let charge = if tick % 60 < 50 { Buttons::CHARGE } else { Buttons::SHOOT };
        step(&mut world, tick, Buttons::DOWN | charge);
        let restored = RType::default().restore(&captured(&world, tick));
        let mut expected = world.clone();
        expected.director = None;
        expected.enemies.iter_mut().for_each(|enemy| enemy.mind = Default::default());
        assert_eq!(restored, expected, "tick {tick}");
    }
    assert!(!world.enemies.is_empty() && world.wave_came());
}

impl World {
    fn wave_came(&self) -> bool {
        self.mission.wave > 0
    }
}

#[test]
fn timers_and_what_flies_straight_cost_next_to_nothing() {
    let mut world = started();
    // All timers run: cooldown, charge, safety, refit.
    for ship in &mut world.ships {
        ship.refit = Some((Refit::Weapon, Ship::REFIT_TICKS));
        ship.safe = Ship::SAFE_TICKS;
    }
    world.mission.scroll = 16;
    step(&mut world, 1, Buttons::SHOOT);
    step(&mut world, 2, Buttons::CHARGE | Buttons::DOWN);
    let baseline = captured(&world, 2);
    (3..=11).for_each(|tick| step(&mut world, tick, Buttons::CHARGE | Buttons::DOWN));
    let mut out = [0; 1200];
    let now = captured(&world, 11);
    let len = delta::encode(&SCHEMA, Some(&baseline), &now, &mut out).unwrap();
    assert!(now.entities().len() >= 4 + 4 + 1 + 4 && len <= 2, "{len} bytes");
}
