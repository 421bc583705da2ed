//! Matches to draw in tests.

use backspin_rtype::enemy::Species;
use backspin_rtype::power_up::Bonus;

use crate::games::OwnLook;
use crate::games::rtype::{self, Ship};
use crate::screen::{Arena, Burst, BurstKind, Controls, Crew, Hud, Look, Scene, Thing};

/// A match of Pong with the ball at a place.
pub(in crate::desktop) fn pong(x: f32, y: f32, points: u8) -> Arena {
    let thing = |look, x, y, width, height| Thing { look, x, y, width, height };
    let things = vec![
        thing(Look::Net, 718.0, 0.0, 4.0, 900.0),
        thing(Look::OwnPaddle, 20.0, 300.0, 20.0, 120.0),
        thing(Look::OtherPaddle, 1400.0, 300.0, 20.0, 120.0),
        thing(Look::Ball, x, y, 20.0, 20.0),
    ];
    let scene = Scene { width: 1440.0, height: 900.0, things, ..Scene::default() };
    let sides = vec![("Ann".into(), 0), ("Ben".into(), points)];
    Arena { sides, persons: 1, scene, ..Arena::default() }
}

/// R-Type with everything at once: four ships, a boss, more enemies and bullets than ever.
pub(in crate::desktop) fn busy() -> Arena {
    let mut things = Vec::new();
    let mut put = |look: rtype::Look, n: usize, width, height| {
        let (x, y) = ((n * 137 % 960) as f32, (n * 89 % 580) as f32);
        let look = Look::Own(OwnLook::Rtype(look));
        things.push(Thing { look, x, y, width, height });
    };
    for (n, bonus) in Bonus::ALL.into_iter().enumerate() {
        put(rtype::Look::PowerUp(bonus), n, 16.0, 16.0);
    }
    put(rtype::Look::Boss { look: 2, stage: 1 }, 5, 110.0, 130.0);
    for n in 0..60 {
        put(rtype::Look::Enemy(Species::ALL[n % Species::ALL.len()]), n, 28.0, 24.0);
    }
    for n in 0..120 {
        put(rtype::Look::Shot { own: n % 4 == 0 }, n, 16.0, 4.0);
    }
    for n in 0..8 {
        put(rtype::Look::HeavyShot { own: n % 4 == 0 }, n, 28.0, 20.0);
    }
    for number in 0..4 {
        let own = number == 0;
        put(rtype::Look::Pod { number, own }, usize::from(number), 18.0, 18.0);
        let ship = Ship { number, own, shield: true, safe: own, charge: 80, tilt: 1 };
        put(rtype::Look::Ship(ship), usize::from(number) * 3, 20.0, 12.0);
    }
    for n in 0..200 {
        put(rtype::Look::Bullet, n, 8.0, 8.0);
    }
    let burst = |number: u32| Burst {
        number,
        kind: if number.is_multiple_of(9) { BurstKind::Boss } else { BurstKind::Enemy },
        x: (number * 97 % 1000) as f32,
        y: (number * 61 % 600) as f32,
        age: 0.0,
    };
    let scene = Scene {
        width: 1000.0,
        height: 600.0,
        scroll: 1234.0,
        things,
        bursts: (0..40).map(burst).collect(),
    };
    let crew = |number: u8| Crew {
        number,
        name: format!("Player {number}"),
        own: number == 0,
        lives: 3,
        score: 12_345,
        combo: 3,
        charge: 0.8,
        note: None,
    };
    let crew = (0..4).map(crew).collect();
    let hud = Some(Hud { crew, boss: Some(0.4), ..Hud::default() });
    Arena { hud, scene, persons: 1, controls: Controls::Ship, ..Arena::default() }
}
