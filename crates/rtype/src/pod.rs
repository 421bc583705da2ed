//! The force: an indestructible pod that a ship wears in front or behind, or sends ahead.
//!
//! It follows its ship and its player's buttons alone, so it is predicted with them.

use backspin::game::PlayerId;

use crate::ship::Ship;
use crate::space::{FIELD, Moving, PX, Size};

/// A pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pod {
    /// Whose.
    pub player: PlayerId,
    /// Where.
    pub at: Moving,
    /// What it does.
    pub mode: PodMode,
}

/// What a pod does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PodMode {
    /// Rides on the ship's nose.
    Endpoint,
    /// Rides on its tail, and fires backwards.
    Back,
    /// Flies ahead, to the right.
    Ahead,
    /// Flies behind, to the left.
    Behind,
    /// Stands in the field.
    Waiting,
    /// Comes back.
    Returning,
}

impl PodMode {
    /// All of them, as they are numbered when sent.
    pub(crate) const ALL: [PodMode; 6] = [
        PodMode::Endpoint,
        PodMode::Back,
        PodMode::Ahead,
        PodMode::Behind,
        PodMode::Waiting,
        PodMode::Returning,
    ];
}

impl Pod {
    /// How large it is.
    pub const SIZE: Size = Size::px(18, 18);

    /// How fast it flies out, in 1/16 px a tick: 600 px/s.
    pub(crate) const LAUNCH_SPEED: i32 = 10 * PX;

    /// How fast it comes back on each axis: 480 px/s.
    pub(crate) const RETURN_SPEED: i32 = 8 * PX;

    /// It burns what it touches once in so many ticks.
    pub const BURN_TICKS: u32 = 6;

    /// The pod of `ship`, on its nose.
    pub(crate) fn new(ship: &Ship) -> Self {
        let (x, y) = Pod::seat(&ship.at, PodMode::Endpoint);
        let at = Moving { x, y, ..ship.at };
        Pod { player: ship.player, at, mode: PodMode::Endpoint }
    }

    /// The player has pressed shoot and charge together: send it off, or call it back.
    pub(crate) fn command(&mut self) {
        self.mode = match self.mode {
            PodMode::Endpoint => PodMode::Ahead,
            PodMode::Back => PodMode::Behind,
            _ => PodMode::Returning,
        };
    }

    /// The ship is lost: the pod waits for the next.
    pub(crate) fn let_go(&mut self) {
        self.mode = PodMode::Waiting;
        (self.at.vx, self.at.vy) = (0, 0);
    }

    /// One tick, after its ship has moved.
    pub(crate) fn fly(&mut self, ship: &Moving) {
        match self.mode {
            PodMode::Endpoint | PodMode::Back => {
                let (x, y) = Pod::seat(ship, self.mode);
                self.at.go_to(x, y);
            }
            PodMode::Ahead => self.launch(Pod::LAUNCH_SPEED),
            PodMode::Behind => self.launch(-Pod::LAUNCH_SPEED),
            PodMode::Waiting => (self.at.vx, self.at.vy) = (0, 0),
            PodMode::Returning => self.come_back(ship),
        }
    }

    fn launch(&mut self, speed: i32) {
        let x = (self.at.x + speed).clamp(0, FIELD.w - Pod::SIZE.w);
        self.at.go_to(x, self.at.y);
        if x == 0 || x == FIELD.w - Pod::SIZE.w {
            self.mode = PodMode::Waiting;
        }
    }

    fn come_back(&mut self, ship: &Moving) {
        let side = if self.at.x >= ship.x { PodMode::Endpoint } else { PodMode::Back };
        let seat = Pod::seat(ship, side);
        let step =
            |from: i32, to: i32| from + (to - from).clamp(-Pod::RETURN_SPEED, Pod::RETURN_SPEED);
        self.at.go_to(step(self.at.x, seat.0), step(self.at.y, seat.1));
        if (self.at.x, self.at.y) == seat {
            self.mode = side;
        }
    }

    /// Where it rides.
    fn seat(ship: &Moving, mode: PodMode) -> (i32, i32) {
        let x = match mode {
            PodMode::Back => ship.x - Pod::SIZE.w,
            _ => ship.x + Ship::SIZE.w,
        };
        (x, ship.y + (Ship::SIZE.h - Pod::SIZE.h) / 2)
    }

    /// Where its shots begin, and how fast they are.
    pub(crate) fn muzzle(&self) -> (i32, i32) {
        use crate::shot::Shot;
        match self.mode {
            PodMode::Back | PodMode::Behind => (self.at.x - Shot::SIZE.w, -Shot::SPEED),
            _ => (self.at.x + Pod::SIZE.w, Shot::SPEED),
        }
    }

    /// What it does to what it touches.
    pub(crate) fn burn(&self) -> i32 {
        match self.mode {
            PodMode::Ahead | PodMode::Behind => 3,
            _ => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ship_at(x: i32, y: i32) -> Ship {
        Ship { at: Moving::still(x * PX, y * PX), ..Ship::new(PlayerId(1)) }
    }

    #[test]
    fn it_rides_on_the_nose_as_fast_as_the_ship() {
        let mut ship = ship_at(100, 100);
        let mut pod = Pod::new(&ship);
        ship.at.go_to(ship.at.x + 40, ship.at.y - 40);
        pod.fly(&ship.at);
        assert_eq!((pod.at.vx, pod.at.vy), (40, -40));
        assert_eq!(pod.at.x, ship.at.x + Ship::SIZE.w);
    }

    #[test]
    fn sent_off_it_flies_to_the_edge_and_waits_until_it_is_called() {
        let ship = ship_at(100, 100);
        let mut pod = Pod::new(&ship);
        pod.command();
        (0..200).for_each(|_| pod.fly(&ship.at));
        assert_eq!((pod.mode, pod.at.x), (PodMode::Waiting, 982 * PX));
        pod.command();
        assert_eq!(pod.mode, PodMode::Returning);
        (0..200).for_each(|_| pod.fly(&ship.at));
        assert_eq!(pod.mode, PodMode::Endpoint);
    }

    #[test]
    fn called_from_behind_it_rides_on_the_tail() {
        let mut pod = Pod::new(&ship_at(100, 100));
        pod.command();
        pod.fly(&ship_at(100, 100).at);
        let ahead = ship_at(700, 300);
        pod.command();
        (0..200).for_each(|_| pod.fly(&ahead.at));
        assert_eq!(pod.mode, PodMode::Back);
        assert!(pod.at.x < ahead.at.x && pod.muzzle().1 < 0);
        pod.command();
        assert_eq!(pod.mode, PodMode::Behind);
    }
}
