//! The enemies: six species, each with its own way to fly and to fight.
//!
//! They fly straight and turn now and then, which is cheap to send. What one is about to do is
//! known to the server alone; the director lets it think after every tick.

use serde::Deserialize;

use crate::space::{Moving, PX, Size};

/// An enemy in the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Enemy {
    /// The same for as long as it lives.
    pub id: u32,
    /// What it is.
    pub species: Species,
    /// Where.
    pub at: Moving,
    /// What it takes to destroy it.
    pub health: i32,
    /// What the server knows of it.
    pub(crate) mind: Mind,
}

/// What an enemy is up to: not sent, and nothing in a world that was restored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mind {
    /// Ticks since it came.
    pub(crate) age: u32,
    /// Ticks until it fires.
    pub(crate) reload: u32,
    /// What it leaves behind.
    pub(crate) cargo: Option<crate::power_up::Bonus>,
}

/// The kinds of enemy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Species {
    /// Flies straight, fires straight ahead.
    Drone,
    /// Zigzags.
    Weaver,
    /// Comes in, stops, and dives at a ship.
    Diver,
    /// Moves with the ground, and aims.
    Turret,
    /// Large and slow; lets drones out.
    Carrier,
    /// Drifts, and bursts into splinters when a ship comes near.
    Mine,
}

/// What a species is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traits {
    /// How large it is.
    pub size: Size,
    /// Its health on normal.
    pub health: i32,
    /// What it is worth.
    pub points: i32,
    /// How fast it comes in, in 1/16 px a tick.
    pub speed: i32,
    /// Ticks between its shots, on normal; 0 is "never".
    pub reload_ticks: u32,
}

impl Species {
    /// All of them, as they are numbered when sent.
    pub const ALL: [Species; 6] = [
        Species::Drone,
        Species::Weaver,
        Species::Diver,
        Species::Turret,
        Species::Carrier,
        Species::Mine,
    ];

    /// What it is like.
    pub const fn traits(self) -> Traits {
        let (size, health, points, speed, reload_ticks) = match self {
            Species::Drone => (Size::px(28, 20), 1, 100, 48, 190),
            Species::Weaver => (Size::px(28, 24), 2, 150, 40, 170),
            Species::Diver => (Size::px(32, 18), 2, 200, 56, 0),
            Species::Turret => (Size::px(28, 28), 4, 250, 16, 130),
            Species::Carrier => (Size::px(72, 44), 18, 1_000, 20, 150),
            Species::Mine => (Size::px(24, 24), 3, 150, 24, 0),
        };
        Traits { size, health, points, speed, reload_ticks }
    }

    /// How large it is.
    pub const fn size(self) -> Size {
        self.traits().size
    }
}

/// What an enemy does beside flying on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    /// Fires straight to where it flies.
    Ahead,
    /// Fires at a ship.
    Aimed,
    /// Lets a drone out.
    Launch,
    /// Is gone in a ring of splinters.
    Burst,
}

/// A ship nearer than this sets a mine off.
const FUSE: i32 = 90 * PX;
/// A diver flies in for so long, and takes aim for so long.
const DIVE_AFTER: u32 = 50;
const DIVE_AIMS: u32 = 24;
const DIVE_SPEED: i32 = 7 * PX;
/// A weaver turns once in so many ticks.
const WEAVE_TICKS: u32 = 32;
/// A carrier comes in this far, and leaves after so long.
const CARRIER_X: i32 = 720 * PX;
const CARRIER_STAYS: u32 = 1_500;
const CARRIER_TURNS: u32 = 120;

impl Enemy {
    /// How large it is.
    pub fn size(&self) -> Size {
        self.species.size()
    }

    /// Decides how it flies on and what it does now. `prey` is the middle of the nearest ship.
    pub(crate) fn think(&mut self, prey: Option<(i32, i32)>) -> Option<Deed> {
        self.mind.age += 1;
        self.steer(prey);
        if self.species == Species::Mine {
            return self.is_set_off(prey).then_some(Deed::Burst);
        }
        let reload = self.mind.reload.checked_sub(1)?;
        self.mind.reload = reload;
        if reload > 0 {
            return None;
        }
        match self.species {
            Species::Turret => Some(Deed::Aimed),
            Species::Carrier => Some(Deed::Launch),
            _ => Some(Deed::Ahead),
        }
    }

    fn steer(&mut self, prey: Option<(i32, i32)>) {
        let age = self.mind.age;
        match self.species {
            Species::Weaver if age.is_multiple_of(WEAVE_TICKS) => self.at.vy = -self.at.vy,
            Species::Diver if age == DIVE_AFTER => (self.at.vx, self.at.vy) = (0, 0),
            Species::Diver if age == DIVE_AFTER + DIVE_AIMS => {
                let from = self.at.middle(self.size());
                let to = prey.unwrap_or((from.0 - 1, from.1));
                (self.at.vx, self.at.vy) = crate::space::aim(from, to, DIVE_SPEED);
            }
            Species::Carrier if age == CARRIER_STAYS => {
                (self.at.vx, self.at.vy) = (-Species::Carrier.traits().speed, 0);
            }
            Species::Carrier if age < CARRIER_STAYS => self.hover(),
            _ => {}
        }
    }

    fn hover(&mut self) {
        if self.at.x > CARRIER_X {
            return;
        }
        if self.at.vx != 0 {
            let down = self.at.y < crate::space::FIELD.h / 2;
            (self.at.vx, self.at.vy) = (0, if down { 8 } else { -8 });
        } else if self.mind.age.is_multiple_of(CARRIER_TURNS) {
            self.at.vy = -self.at.vy;
        }
    }

    fn is_set_off(&self, prey: Option<(i32, i32)>) -> bool {
        let (x, y) = self.at.middle(self.size());
        prey.is_some_and(|prey| (prey.0 - x).abs() < FUSE && (prey.1 - y).abs() < FUSE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn enemy(species: Species) -> Enemy {
        let Traits { speed, health, reload_ticks, .. } = species.traits();
        let at = Moving { x: 1000 * PX, y: 300 * PX, vx: -speed, vy: 0 };
        let mind = Mind { reload: reload_ticks, ..Mind::default() };
        Enemy { id: 256, species, at, health, mind }
    }

    fn live(enemy: &mut Enemy, prey: (i32, i32), ticks: u32) -> Vec<Deed> {
        let mut deeds = Vec::new();
        for _ in 0..ticks {
            enemy.at.go();
            deeds.extend(enemy.think(Some(prey)));
        }
        deeds
    }

    #[test]
    fn a_drone_flies_straight() {
        let mut drone = enemy(Species::Drone);
        live(&mut drone, (0, 0), 100);
        assert_eq!((drone.at.x, drone.at.y), (700 * PX, 300 * PX));
    }

    #[test]
    fn a_weaver_turns_and_comes_back() {
        let mut weaver = enemy(Species::Weaver);
        weaver.at.vy = 32;
        live(&mut weaver, (0, 0), WEAVE_TICKS);
        assert!(weaver.at.y > 300 * PX && weaver.at.vy == -32);
        live(&mut weaver, (0, 0), WEAVE_TICKS);
        assert_eq!((weaver.at.y, weaver.at.vy), (300 * PX, 32));
    }

    #[test]
    fn a_diver_stops_and_dives_at_the_ship() {
        let mut diver = enemy(Species::Diver);
        live(&mut diver, (0, 0), DIVE_AFTER);
        assert_eq!(diver.at.vx, 0);
        live(&mut diver, (0, 0), DIVE_AIMS);
        assert!(diver.at.vx < -80 && diver.at.vy < -20, "{:?}", diver.at);
    }

    #[test]
    fn a_turret_aims_a_carrier_launches_and_a_drone_fires_ahead() {
        for (species, deed) in [
            (Species::Turret, Deed::Aimed),
            (Species::Carrier, Deed::Launch),
            (Species::Drone, Deed::Ahead),
        ] {
            let mut enemy = enemy(species);
            let deeds = live(&mut enemy, (0, 0), species.traits().reload_ticks);
            assert_eq!(deeds, [deed]);
        }
    }

    #[test]
    fn a_carrier_stays_a_while_and_leaves() {
        let mut carrier = enemy(Species::Carrier);
        live(&mut carrier, (0, 0), 600);
        assert!(carrier.at.x > 700 * PX && carrier.at.vx == 0 && carrier.at.vy != 0);
        live(&mut carrier, (0, 0), CARRIER_STAYS);
        assert!(carrier.at.x < 300 * PX, "{:?}", carrier.at);
    }

    #[test]
    fn a_mine_bursts_near_a_ship_and_not_far_from_it() {
        let mut mine = enemy(Species::Mine);
        assert!(live(&mut mine, (500 * PX, 300 * PX), 100).is_empty());
        let near = (mine.at.x - 60 * PX, mine.at.y);
        assert_eq!(live(&mut mine, near, 1), [Deed::Burst]);
    }
}
